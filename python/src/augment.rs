//! Training data of other tasks, rewritten: `fnstore.augment_nli` and its kin.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fnstore::internals::augment::{
    AggregateRule, AggregatedItem, Aggregates, AugmentError, AugmentItem, AugmentTask, Copies,
    PredictedItems, Prediction, RememberingRewriter,
};
use fnstore::internals::engine::BeamSettings;
use fnstore::internals::paraphrase::{Crew, Request, Settings, base_of};
use fnstore::models::default_rewriter;
use pyo3::prelude::*;

use crate::error::{Fault, Result};
use crate::expand::Teller;
use crate::models::{Places, named, refused};

/// An item: id, split, label, its two texts, and what a candidate must keep.
type Item = (String, String, String, (String, String), String);

/// Requests after which Ctrl-C is looked for.
const BATCH: usize = 16;

/// A variant: number of the item, what is new of it, its two texts.
type Made = (usize, &'static str, (String, String));

/// How a task is rewritten.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AugmentOptions {
    task: String,
    shared: bool,
    ban: usize,
    jaccard: f64,
    most: usize,
    copies: String,
    rewrites: Option<PathBuf>,
    beam: usize,
    model: Option<PathBuf>,
    device: String,
    numbers: Option<String>,
}

fn wrong(message: &str) -> Fault {
    Fault::new("QueryError", "E-value", message, "give one of those")
}

impl From<AugmentError> for Fault {
    fn from(error: AugmentError) -> Self {
        match error {
            AugmentError::Paraphrase(error) => error.into(),
            error => {
                let advice = "give rewrites=FILE, a file that fnstore wrote and may write";
                Self::of("ImportFailedError", &error, "E-rewrites", advice)
            }
        }
    }
}

impl AugmentOptions {
    fn task(&self) -> Result<AugmentTask> {
        Ok(match self.task.as_str() {
            "nli" => AugmentTask::Entailment { shared: self.shared },
            "qa" if (2..=4).contains(&self.ban) => AugmentTask::Answers { ban: self.ban },
            "qa" => return Err(wrong(&format!("`ban` is {}, expected 2 to 4", self.ban))),
            _ => {
                let copies: std::result::Result<Copies, String> = self.copies.parse();
                let copies = copies
                    .map_err(|why| wrong(&format!("`copies` is `{}`: {why}", self.copies)))?;
                AugmentTask::Translation { jaccard: self.jaccard, most: self.most, copies }
            }
        })
    }

    fn rewriter(&self, dirs: Vec<PathBuf>, n_best: usize) -> Result<RememberingRewriter> {
        let places = Places::new(dirs, &self.device, self.numbers.as_deref())?;
        let name = match &self.model {
            Some(name) => name.clone(),
            None => default_rewriter(&places.dirs)?.0.into(),
        };
        let place = places.model(&name)?;
        let base = base_of(&place, &places.dirs)?;
        let crew = Crew::open_with(&place, base.as_deref(), &places.device, places.numbers)?;
        let beam = BeamSettings { beam_size: self.beam, n_best, ..BeamSettings::default() };
        let settings = Settings { beam, ..Settings::default() };
        let file = self.rewrites.as_deref();
        let rewriter = RememberingRewriter::new(crew, settings, places.numbers, file)?;
        Ok(rewriter.in_batches_of(BATCH))
    }
}

/// The variants of items.
#[pyfunction]
pub(crate) fn _augmented(
    py: Python<'_>,
    items: Vec<Item>,
    dirs: Vec<PathBuf>,
    options: AugmentOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<Made>> {
    let task = options.task()?;
    let mut teller = Teller::new(progress);
    let made = py.detach(|| -> Result<_> {
        let item = |(id, split, label, texts, answer): Item| {
            let texts = texts.into();
            AugmentItem { id, split, label, texts, answer }
        };
        let items: Vec<AugmentItem> = items.into_iter().map(item).collect();
        let mut rewriter = options.rewriter(dirs, task.texts())?;
        let requests = task.requests(&items);
        let all: Vec<Request> = requests.iter().flatten().cloned().collect();
        let found = rewriter.rewrite(&all, &mut |done, of| {
            teller.tell(|function| function.call1((done, of)).map(drop))
        })?;
        // After Ctrl-C there is none, and what it raised is told.
        let mut found = found.unwrap_or_else(|| vec![Vec::new(); all.len()]).into_iter();
        let found: Vec<_> =
            requests.iter().map(|of| found.by_ref().take(of.len()).collect()).collect();
        let variants = task.variants(&items, &found).into_iter();
        Ok(variants.map(|of| (of.item, of.variant, of.texts.into())).collect())
    });
    teller.end()?;
    Ok(made?)
}

/// Predictions of an item and its rewritings, brought together.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct AggregatedPredictions {
    /// By item: id, its label, the class by the original alone, the class that was found, shares.
    rows: Vec<(String, String, String, String, Vec<f64>)>,
    /// Of each variant.
    weights: BTreeMap<String, f64>,
    items: u64,
    right: u64,
    /// By the original alone.
    right_before: u64,
    wrong_to_right: u64,
    right_to_wrong: u64,
}

#[pymethods]
impl AggregatedPredictions {
    fn __repr__(&self) -> String {
        format!("<AggregatedPredictions: {} of {} right>", self.right, self.items)
    }
}

/// A prediction: id, variant, label, split, shares of the classes.
type Predicted = (String, String, String, String, Vec<f64>);

/// Brings predictions together, by weights that are searched on the split dev, or the maximum.
#[pyfunction]
pub(crate) fn _aggregated(
    py: Python<'_>,
    predictions: Vec<Predicted>,
    classes: Vec<String>,
    by: &str,
) -> Result<AggregatedPredictions> {
    let rule: AggregateRule = named("by", by)?;
    py.detach(|| aggregated(predictions, &classes, rule))
}

fn aggregated(
    predictions: Vec<Predicted>,
    classes: &[String],
    rule: AggregateRule,
) -> Result<AggregatedPredictions> {
    let mut items = PredictedItems::default();
    for (id, variant, label, split, shares) in predictions {
        let Some(class) = classes.iter().position(|class| *class == label) else {
            let message = format!("`{label}` is no label: expected {}", classes.join(", "));
            return Err(refused("E-label", &message));
        };
        if shares.len() != classes.len() || !shares.iter().all(|of| (0.0..=1.0).contains(of)) {
            return Err(refused("E-type", "expected the share of each class, 0 to 1"));
        }
        items.add((split, id), class, Prediction { variant, shares });
    }
    let Some(Aggregates { items, weights, changes }) = items.aggregate(rule) else {
        let message = "no item is in the split `dev`, on which weights are searched";
        return Err(wrong(message).advise("give some, or by=\"max\""));
    };
    let name = |class: Option<usize>| class.map_or_else(String::new, |at| classes[at].clone());
    let row = |of: AggregatedItem| {
        (of.id, name(Some(of.class)), name(of.original), name(of.found), of.shares)
    };
    Ok(AggregatedPredictions {
        rows: items.into_iter().map(row).collect(),
        weights,
        items: changes.items,
        right: changes.right_after(),
        right_before: changes.right_before,
        wrong_to_right: changes.wrong_to_right,
        right_to_wrong: changes.right_to_wrong,
    })
}
