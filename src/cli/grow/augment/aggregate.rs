//! `fnstore augment aggregate`: one prediction from those of an item and its rewritings.

use std::path::PathBuf;

use crate::cli::options::named::named;
use anyhow::Context as _;
use fnstore::augment::{
    AggregateRule, AggregatedItem, Aggregates, Changes, PredictedItems, Prediction,
};
use serde::Serialize;

use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::print::output::{Output, tell};

/// Bring the predictions of an item and its rewritings together
///
/// Reads `id`, `variant`, `label` (the gold class), `split`, and the share of each class under its
/// name in `--classes`. Writes a JSON line for each item that is not in the split `dev`, with the
/// class that was found. The weights of variants are those with which most items of `dev` are
/// right.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Predictions to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Names of the classes
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', required = true)]
    classes: Vec<String>,

    /// Combine predictions by this rule
    #[arg(long, value_parser = named::<AggregateRule>(), default_value_t = AggregateRule::Weights)]
    by: AggregateRule,
}

/// What was found of an item as JSON.
#[derive(Debug, Serialize)]
struct Record<'a> {
    id: &'a str,
    label: &'a str,
    original: &'a str,
    found: &'a str,
    shares: &'a [f64],
}

/// Split and id of an item, its gold class, and a prediction.
type Line = ((String, String), usize, Prediction);

fn read(fields: &Fields, classes: &[String]) -> Result<Line, LineError> {
    let label = fields.required("label")?;
    let Some(class) = classes.iter().position(|class| class == label) else {
        let message = format!("`{label}` is no label: expected {}", classes.join(", "));
        return Err(LineError::new("E-label", message));
    };
    let share = |name: &String| {
        let text = fields.required(name)?;
        text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
            LineError::new("E-type", format!("`{name}` is `{text}`: expected a share, 0 to 1"))
        })
    };
    let shares = classes.iter().map(share).collect::<Result<Vec<f64>, _>>()?;
    let prediction = Prediction { variant: fields.required("variant")?.to_owned(), shares };
    let of = (fields.optional("split").to_owned(), fields.required("id")?.to_owned());
    Ok((of, class, prediction))
}

pub(super) fn run(args: &Args, output: &mut Output) -> anyhow::Result<Outcome> {
    let mut lines = TableLines::open(args.file.as_deref(), &["id", "variant", "label"])?;
    let mut items = PredictedItems::default();
    while let Some((_, (of, class, prediction))) =
        lines.next(|fields| read(fields, &args.classes))?
    {
        items.add(of, class, prediction);
    }
    let none = "no item is in the split `dev`, on which weights are searched";
    let Aggregates { items, weights, changes } = items.aggregate(args.by).context(none)?;
    let mut records = output.json_records()?;
    let name = |class: Option<usize>| class.map_or("", |class| args.classes[class].as_str());
    for AggregatedItem { id, class, original, found, shares } in &items {
        let (original, found) = (name(*original), name(*found));
        let (id, label, shares) = (id, name(Some(*class)), shares);
        records.record(&Record { id, label, original, found, shares })?;
    }
    records.end_records()?;
    for (variant, weight) in &weights {
        tell(&format!("weight of {variant}: {weight}"));
    }
    tell_changes(&changes);
    lines.finish("read")?;
    Ok(Outcome::of(!items.is_empty()))
}

/// Says how predictions change.
fn tell_changes(changes: &Changes) {
    let Changes { items, right_before, unchanged, wrong_to_right, right_to_wrong, wrong_to_wrong } =
        changes;
    tell(&format!(
        "right {} of {items}, {right_before} by the original alone; unchanged {unchanged}, wrong to \
         right {wrong_to_right}, right to wrong {right_to_wrong}, wrong to another {wrong_to_wrong}",
        changes.right_after()
    ));
}
