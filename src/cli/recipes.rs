//! `fnstore recipes`: by which settings and models generated sets were made.

use fnstore::database::Database;
use fnstore::search::StoredRecipe;
use serde::Serialize;
use serde_json::Value;

use super::output::{Format, grouped, tell};
use super::{Context, Outcome};

/// List the recipes of generated sentences, with all settings and models that their outputs depend on
///
/// `recipe=N` in a query finds the sets of one.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// A recipe as JSON; see `schema/recipe.schema.json`.
#[derive(Debug, Serialize)]
struct RecipeRecord {
    recipe: u32,
    fingerprint: String,
    sets: u64,
    settings: Value,
}

pub(super) fn run(_args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let database = Database::open(&context.store)?;
    let recipes = records(&database)?;
    let output = &mut context.output;
    let format = output.format_or(Format::Jsonl);
    match format {
        Format::Json | Format::Jsonl => {
            for recipe in &recipes {
                output.record(recipe, format)?;
            }
            output.end_records(format)?;
        }
        Format::Table => {
            for (at, recipe) in recipes.iter().enumerate() {
                if at > 0 {
                    output.line("")?;
                }
                let RecipeRecord { recipe: number, fingerprint, sets, settings } = recipe;
                let title = format!("recipe {number} ({fingerprint}): {} sets", grouped(*sets));
                output.heading(&title)?;
                for (name, value) in rows(settings, "settings") {
                    output.line(&format!("  {name:<20} {value}"))?;
                }
            }
        }
        Format::Csv | Format::Tsv => {
            output.fields(format, ["recipe", "fingerprint", "sets", "settings"])?;
            for RecipeRecord { recipe, fingerprint, sets, settings } in &recipes {
                let row = [recipe.to_string(), fingerprint.clone(), sets.to_string()];
                output.fields(format, row.into_iter().chain([settings.to_string()]))?;
            }
        }
    }
    if recipes.is_empty() {
        output.flush()?;
        tell("nothing was expanded here yet");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}

fn records(database: &Database) -> anyhow::Result<Vec<RecipeRecord>> {
    let record = |stored: StoredRecipe| {
        let StoredRecipe { id, fingerprint, settings, sets } = stored;
        // Other tools may describe theirs in words.
        let settings = match serde_json::from_str(&settings) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            _ => Value::String(settings),
        };
        RecipeRecord { recipe: id.0, fingerprint, sets, settings }
    };
    Ok(database.recipes()?.into_iter().map(record).collect())
}

/// Settings with their values, those of a group under the group's name.
fn rows(settings: &Value, name: &str) -> Vec<(String, String)> {
    let Value::Object(fields) = settings else {
        let text = settings.as_str().map_or_else(|| settings.to_string(), str::to_owned);
        return vec![(name.to_owned(), text)];
    };
    let mut all = Vec::new();
    for (field, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        for (inner, text) in rows(value, field) {
            let is_group = inner != *field;
            all.push((if is_group { format!("{field}.{inner}") } else { inner }, text));
        }
    }
    all
}
