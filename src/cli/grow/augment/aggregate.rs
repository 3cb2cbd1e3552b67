//! `fnstore augment aggregate`: one prediction from those of an item and its rewritings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::cli::options::named::named;
use anyhow::ensure;
use fnstore::augment::{Changes, Prediction, best_class, combine, max_vote, search_weights};
use fnstore::named;
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
    #[arg(long, value_parser = named::<By>(), default_value_t = By::Weights)]
    by: By,
}

named! {
    enum By {
        /// The sum of their shares, with weights searched on `dev`
        Weights => "weights",
        /// The greatest share that any gives a class
        Max => "max",
    }
}

/// The predictions of an item's variants.
struct Item {
    id: String,
    split: String,
    class: usize,
    predictions: Vec<Prediction>,
}

/// What was found of an item as JSON.
#[derive(Debug, Serialize)]
struct Record<'a> {
    id: &'a str,
    label: &'a str,
    original: &'a str,
    found: &'a str,
    shares: Vec<f64>,
}

fn read(fields: &Fields, classes: &[String]) -> Result<Item, LineError> {
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
    Ok(Item {
        id: fields.required("id")?.to_owned(),
        split: fields.optional("split").to_owned(),
        class,
        predictions: vec![prediction],
    })
}

pub(super) fn run(args: &Args, output: &mut Output) -> anyhow::Result<Outcome> {
    let mut lines = TableLines::open(args.file.as_deref(), &["id", "variant", "label"])?;
    let mut items: BTreeMap<(String, String), Item> = BTreeMap::new();
    while let Some((_, item)) = lines.next(|fields| read(fields, &args.classes))? {
        match items.get_mut(&(item.split.clone(), item.id.clone())) {
            Some(known) => known.predictions.extend(item.predictions),
            None => drop(items.insert((item.split.clone(), item.id.clone()), item)),
        }
    }
    let (dev, test): (Vec<Item>, Vec<Item>) =
        items.into_values().partition(|item| item.split == "dev");
    let weights = match args.by {
        By::Max => BTreeMap::new(),
        By::Weights => {
            ensure!(
                !dev.is_empty(),
                "no item is in the split `dev`, on which weights are searched"
            );
            let known: Vec<(Vec<Prediction>, usize)> =
                dev.into_iter().map(|item| (item.predictions, item.class)).collect();
            search_weights(&known)
        }
    };
    let mut records = output.json_records()?;
    let mut changes = Changes::default();
    let name = |class: Option<usize>| class.map_or("", |class| args.classes[class].as_str());
    for Item { id, class, predictions, .. } in &test {
        let original = predictions.iter().find(|one| one.variant == "original");
        let original = original.and_then(|one| best_class(&one.shares));
        let shares = match args.by {
            By::Max => max_vote(predictions),
            By::Weights => combine(predictions, &weights).unwrap_or_default(),
        };
        let found = best_class(&shares);
        changes.add(original, found, *class);
        let (original, found) = (name(original), name(found));
        let label = name(Some(*class));
        records.record(&Record { id, label, original, found, shares })?;
    }
    records.end_records()?;
    for (variant, weight) in &weights {
        tell(&format!("weight of {variant}: {weight}"));
    }
    tell_changes(&changes);
    lines.finish("read")?;
    Ok(Outcome::of(!test.is_empty()))
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
