//! `fnstore recipes`: by which settings and models generated sets were made, and the recipes that
//! have a name.

use fnstore::database::Database;
use fnstore::expand::RecipeSettings;
use fnstore::model::{Hex32, RulesStanding};
use fnstore::search::StoredRecipe;
use serde::Serialize;
use serde_json::Value;

use crate::cli::print::output::{Format, Output, counted};
use crate::cli::print::render::Block;
use crate::cli::{Context, Outcome};

/// List the recipes (settings and models) of generated sentences
///
/// The query `recipe=N` finds the annotation sets of one recipe.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print a recipe for `expand --recipe` as its TOML file
    Show(ShowArgs),
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Name of the recipe, or its file [default: lists the names]
    #[arg(value_name = "NAME|FILE")]
    name: Option<String>,
}

/// A recipe as JSON; see `schema/recipe.schema.json`.
#[derive(Debug, Serialize)]
struct RecipeRecord {
    recipe: u32,
    fingerprint: Hex32,
    sets: u64,
    rules: RulesStanding,
    settings: Value,
}

impl Block for RecipeRecord {
    const COLUMNS: &'static [&'static str] =
        &["recipe", "fingerprint", "sets", "rules", "settings"];

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let Self { recipe, fingerprint, sets, rules, settings } = self;
        let rules = match rules {
            RulesStanding::Current => "",
            RulesStanding::Earlier => ", earlier rules",
            RulesStanding::Foreign => ", rules of another tool",
        };
        let sets = counted(*sets, "set");
        output.heading(&format!("recipe {recipe} ({fingerprint}): {sets}{rules}"))?;
        for (name, value) in rows(settings, "settings") {
            output.line(&format!("  {name:<20} {value}"))?;
        }
        Ok(())
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(Command::Show(args)) = args.command {
        return show(args.name.as_deref(), &mut context.output);
    }
    let database = Database::open(&context.store)?;
    let recipes = records(&database)?;
    let mut records = context.output.records(Format::Jsonl);
    recipes.iter().try_for_each(|recipe| records.spaced_block(recipe))?;
    records.end_blocks::<RecipeRecord>()?;
    Outcome::or_tell(!recipes.is_empty(), "nothing was expanded here yet", &mut context.output)
}

/// Writes a recipe's file as it stands, or a line for each that has a name.
fn show(name: Option<&str>, output: &mut Output) -> anyhow::Result<Outcome> {
    if let Some(name) = name {
        RecipeSettings::text(name)?.lines().try_for_each(|line| output.line(line))?;
        return Ok(Outcome::Done);
    }
    for name in RecipeSettings::NAMES {
        let text = RecipeSettings::text(name)?;
        let about = text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']);
        output.line(&format!("{name:<16}{about}"))?;
    }
    Ok(Outcome::Done)
}

fn records(database: &Database) -> anyhow::Result<Vec<RecipeRecord>> {
    let record = |stored: StoredRecipe| {
        let StoredRecipe { id, fingerprint, settings, rules, sets } = stored;
        // Other tools may describe theirs in words.
        let settings = match serde_json::from_str(&settings) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            _ => Value::String(settings),
        };
        RecipeRecord { recipe: id.0, fingerprint, sets, rules, settings }
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
