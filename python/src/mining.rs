//! `fnstore.mine` and what belongs to it: paraphrases in clusters of news, and what raters say of
//! them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use fnstore::internals::mine::{
    Article, COUNTS, Grouping, LABELS, Method, MineOptions, RatedPair, Unseen, day_of, draw,
    likenesses, mine, rater_agreement, ratings,
};
use pyo3::prelude::*;

use crate::error::{Fault, Result};
use crate::models::{named, refused};
use crate::number::Count;

/// Where a sentence of a pair stands: article, date, number of the sentence.
type Place = (String, String, usize);

/// Two sentences of a cluster that may be paraphrases.
#[pyclass(frozen, get_all, module = "fnstore", skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct MinedPair {
    /// As in m1.
    id: String,
    cluster: String,
    source: String,
    target: String,
    /// Article, date and number of the sentence, from 0.
    source_at: Place,
    target_at: Place,
    /// l12 or f2.
    method: &'static str,
    /// Edits between them, of l12.
    edits: Option<usize>,
    /// Different long words that both have, of f2.
    shared: Option<usize>,
    /// How much of the words' weight both have, 0 to 1, where `least` was given.
    likeness: Option<f64>,
}

#[pymethods]
impl MinedPair {
    fn __repr__(&self) -> String {
        format!("<MinedPair {}: {:?}, {:?}>", self.id, self.source, self.target)
    }
}

/// Finds pairs cluster after cluster, each pair once.
#[pyclass(frozen, module = "fnstore._fnstore")]
pub(crate) struct PairMiner {
    options: MineOptions,
    /// What was found before, and how many.
    found: Mutex<(Unseen, u64)>,
}

#[pymethods]
impl PairMiner {
    #[new]
    fn new(method: &str, edits: &str, limit: Count, replace: bool) -> Result<Self> {
        let (method, cost) = (named("method", method)?, named("edits", edits)?);
        let options = MineOptions { method, limit: limit.size(), cost, replace };
        Ok(Self { options, found: Mutex::default() })
    }

    /// The pairs of a cluster: its articles by name, date, parts, and whether parts are sentences.
    fn cluster(
        &self,
        py: Python<'_>,
        name: &str,
        articles: Vec<(String, String, Vec<String>, bool)>,
    ) -> Result<Vec<MinedPair>> {
        if let Some((_, date, ..)) =
            articles.iter().find(|(_, date, ..)| !date.is_empty() && day_of(date).is_none())
        {
            return Err(no_date(date));
        }
        let article = |(name, date, parts, is_split)| Article { name, date, parts, is_split };
        let articles: Vec<Article> = articles.into_iter().map(article).collect();
        py.detach(|| {
            let mined = mine(&articles, &self.options);
            let mut found = self.found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (unseen, count) = &mut *found;
            let mut pairs = Vec::new();
            for pair in mined.pairs {
                if unseen.is_new(&pair) {
                    *count += 1;
                    let [source_at, target_at] = pair.places.map(|place| {
                        let Article { name, date, .. } = &articles[place.article];
                        (name.clone(), date.clone(), place.sentence)
                    });
                    let method = if pair.distance.is_some() { Method::L12 } else { Method::F2 };
                    let [source, target] = pair.texts;
                    pairs.push(MinedPair {
                        id: format!("m{count}"),
                        cluster: name.to_owned(),
                        source,
                        target,
                        source_at,
                        target_at,
                        method: method.as_str(),
                        edits: pair.distance,
                        shared: pair.shared,
                        likeness: None,
                    });
                }
            }
            Ok(pairs)
        })
    }
}

/// Those of some pairs that are alike enough, with their likeness.
#[pyfunction]
pub(crate) fn _alike(
    py: Python<'_>,
    pairs: Vec<PyRef<'_, MinedPair>>,
    least: f64,
) -> Result<Vec<MinedPair>> {
    if !(0.0..=1.0).contains(&least) {
        let message = format!("`least` is {least}, expected a likeness, 0 to 1");
        return Err(Fault::new("QueryError", "E-value", &message, "give one of those"));
    }
    let pairs: Vec<MinedPair> = pairs.iter().map(|pair| MinedPair::clone(pair)).collect();
    Ok(py.detach(|| {
        let texts: Vec<[&str; 2]> =
            pairs.iter().map(|pair| [pair.source.as_str(), pair.target.as_str()]).collect();
        let likenesses = likenesses(&texts);
        let alike = pairs.into_iter().zip(likenesses).filter(|(_, likeness)| *likeness >= least);
        alike.map(|(pair, of)| MinedPair { likeness: Some(of), ..pair }).collect()
    }))
}

fn no_date(date: &str) -> Fault {
    refused("E-date", &format!("`{date}` is no date: expected one as 2004-08-23"))
}

/// Articles, by day and text, in the order of their clusters: the place of each, and its cluster.
#[pyfunction]
pub(crate) fn _grouped(
    py: Python<'_>,
    articles: Vec<(String, String)>,
    threshold: f64,
    days: u32,
) -> Result<Vec<(usize, usize)>> {
    if !(0.0..=1.0).contains(&threshold) {
        let message = format!("`threshold` is {threshold}, expected a cosine, 0 to 1");
        return Err(Fault::new("QueryError", "E-value", &message, "give one of those"));
    }
    let day = |(date, _): &(String, String)| day_of(date).ok_or_else(|| no_date(date));
    let dates = articles.iter().map(day).collect::<Result<Vec<u32>>>()?;
    py.detach(|| {
        let texts = articles.iter().zip(dates).map(|((_, text), day)| (day, text.as_str()));
        let texts: Vec<(u32, &str)> = texts.collect();
        Ok(Grouping { threshold, days }.in_order(&texts))
    })
}

/// What was rated: what the first rater says, what the second says, what is estimated.
type RatedRow = (String, Option<f64>, Option<f64>, Option<f64>);

/// What raters said of pairs: shares of labels, and counts of differences.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Ratings {
    /// By what was rated: what the first rater says, what the second says, what is estimated.
    rows: Vec<RatedRow>,
    /// Pairs that both labelled.
    shared: usize,
    /// Share of them that have one label; None where there is none.
    agreed: Option<f64>,
    /// Cohen's kappa of the same.
    kappa: Option<f64>,
}

#[pymethods]
impl Ratings {
    fn __repr__(&self) -> String {
        format!("<Ratings, {} pairs labelled twice>", self.shared)
    }
}

/// A pair with what a rater says: id, source, target, label, counts.
type Rated = (String, String, String, String, BTreeMap<String, Option<u32>>);

fn rated((id, source, target, label, counts): Rated) -> Result<RatedPair> {
    if !label.is_empty() && !LABELS.contains(&label.as_str()) {
        let message = format!("`{label}` is no label: expected {}", LABELS.join(", "));
        return Err(refused("E-label", &message));
    }
    if let Some(other) = counts.keys().find(|name| !COUNTS.contains(&name.as_str())) {
        let message = format!("`{other}` is not counted: expected {}", COUNTS.join(", "));
        return Err(refused("E-key", &message));
    }
    let count = |name: &'static str| (name, counts.get(name).copied().flatten());
    Ok(RatedPair { id, source, target, label, counts: COUNTS.into_iter().map(count).collect() })
}

fn all_rated(pairs: Vec<Rated>) -> Result<Vec<RatedPair>> {
    pairs.into_iter().map(rated).collect()
}

/// Names of what raters count.
#[pyfunction]
pub(crate) fn _rated_counts() -> Vec<&'static str> {
    COUNTS.to_vec()
}

/// The pairs that a seed draws: id, source, target.
#[pyfunction]
pub(crate) fn _drawn(
    py: Python<'_>,
    pairs: Vec<(String, String, String)>,
    count: Count,
    seed: Count,
) -> Result<Vec<(String, String, String)>> {
    let none = || (String::new(), BTreeMap::new());
    let pairs = pairs.into_iter().map(|(id, source, target)| {
        let (label, counts) = none();
        (id, source, target, label, counts)
    });
    let pairs = all_rated(pairs.collect())?;
    let drawn = py.detach(|| draw(pairs, count.size(), seed.0));
    Ok(drawn.into_iter().map(|of| (of.id, of.source, of.target)).collect())
}

/// What raters said.
#[pyfunction]
pub(crate) fn _ratings(py: Python<'_>, first: Vec<Rated>, second: Vec<Rated>) -> Result<Ratings> {
    let (first, second) = (all_rated(first)?, all_rated(second)?);
    let ids = |pairs: &[RatedPair]| pairs.iter().map(|pair| pair.id.clone()).collect::<Vec<_>>();
    if !second.is_empty() && ids(&first) != ids(&second) {
        let message = "the two raters have different pairs";
        return Err(refused("E-id", message).advise("give the same sample, rated twice"));
    }
    let (rows, agreement) =
        py.detach(|| (ratings(&first, &second), rater_agreement(&first, &second)));
    Ok(Ratings {
        rows: rows.into_iter().map(|of| (of.what, of.first, of.second, of.estimate)).collect(),
        shared: agreement.map_or(0, |of| of.pairs),
        agreed: agreement.map(|of| of.agreed),
        kappa: agreement.map(|of| of.kappa),
    })
}
