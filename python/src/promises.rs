//! What editions promise, and editions as data sets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use fnstore::exchange::WordTagger;
use fnstore::model::{AnnotationSetId, Named as _, PromiseGroups};
use fnstore::promise::{self, PromiseRequest, check_promise_by};
use fnstore::publish::{self, Publishing};
use fnstore::tag::Tagger;
use fnstore::text::fold;
use pyo3::prelude::*;

use crate::database::directories;
use crate::editions::Edition;
use crate::error::{Fault, Result};
use crate::export::fields;
use crate::models::Places;

/// How a promise stands in a group, by the judgements that are there now.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct PromiseStanding {
    /// What the group's sets have in common, as a query; empty where there is one group.
    group: String,
    /// Sets that the edition may hold.
    candidates: u64,
    /// Candidates whose judgements count.
    judged: u64,
    /// Of these, right ones.
    right: u64,
    /// Candidates up to the cut that the edition was made with.
    kept: u64,
    /// Candidates up to the cut that judgements allow now.
    sets: u64,
    /// The least score up to that cut.
    score: Option<f32>,
    /// Lower bound of the share of right sets up to it.
    lower: Option<f32>,
    /// Judgements that are still worth making, about.
    left: u64,
}

impl From<promise::PromiseStanding> for PromiseStanding {
    fn from(of: promise::PromiseStanding) -> Self {
        let promise::PromiseStanding {
            group,
            candidates,
            judged,
            right,
            kept,
            sets,
            score,
            lower,
            left,
        } = of;
        Self { group, candidates, judged, right, kept, sets, score, lower, left }
    }
}

#[pymethods]
impl PromiseStanding {
    fn __repr__(&self) -> String {
        let Self { candidates, sets, left, .. } = self;
        format!("<PromiseStanding {sets} of {candidates} candidates, about {left} to judge>")
    }
}

/// How a promise fares in a group.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct PromiseCheck {
    /// What the group's sets have in common, as a query.
    group: String,
    /// Sets whose judgements count.
    judged: u64,
    /// Of these, right ones.
    right: u64,
    /// Lower end of the interval of the share of right sets.
    lower: f64,
    upper: f64,
    /// kept, broken or open.
    verdict: String,
}

impl From<promise::PromiseCheck> for PromiseCheck {
    fn from(of: promise::PromiseCheck) -> Self {
        let promise::PromiseCheck { group, judged, right, lower, upper, verdict, .. } = of;
        Self { group, judged, right, lower, upper, verdict: verdict.as_str().to_owned() }
    }
}

#[pymethods]
impl PromiseCheck {
    fn __repr__(&self) -> String {
        let Self { judged, right, verdict, .. } = self;
        format!("<PromiseCheck {verdict}: {right} of {judged} right>")
    }
}

/// A data set that was written.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct PublishedEdition {
    /// Where it lies.
    directory: PathBuf,
    /// Rows and annotation sets of train, dev and test.
    parts: BTreeMap<String, (u64, u64)>,
    /// Training sets that were left out because their sentences stand in another part.
    leaking: u64,
    /// Sets with one of the words that were given.
    flagged: Option<u64>,
    licence: String,
    /// Hash of each file.
    files: BTreeMap<String, String>,
}

#[pymethods]
impl PublishedEdition {
    fn __repr__(&self) -> String {
        let sets: u64 = self.parts.values().map(|(_, sets)| sets).sum();
        format!("<PublishedEdition {sets} sets in {}>", self.directory.display())
    }
}

/// What `create_edition` is asked to promise.
pub(crate) fn request(
    precision: Option<f64>,
    confidence: f64,
    rank: Option<&str>,
    by: Option<&str>,
) -> Result<Option<PromiseRequest>> {
    let wrong = |field: &str, found: &str, expected: &str| {
        let message = format!("`{field}` is {found}, expected {expected}");
        Fault::new("EditError", "E-value", &message, "give one of them")
    };
    let Some(precision) = precision else {
        if let Some(given) = rank.or(by) {
            return Err(wrong("precision", "None", &format!("a share, since `{given}` is given")));
        }
        return Ok(None);
    };
    let ranks = rank.map(fields).transpose()?.unwrap_or_default();
    if ranks.len() > 1 {
        return Err(wrong("rank", rank.unwrap_or_default(), "one field"));
    }
    let by = by.map(|by| {
        let names: Vec<&str> = PromiseGroups::ALL.iter().map(|of| of.name()).collect();
        PromiseGroups::parse(by).ok_or_else(|| wrong("by", by, &names.join(" or ")))
    });
    let (rank, by) = (ranks.first().copied(), by.transpose()?);
    Ok(Some(PromiseRequest { precision, confidence, rank, by }))
}

#[pymethods]
impl Edition {
    /// How its promise stands by the judgements of now, group by group; empty where it promises
    /// nothing.
    fn promise(&self, py: Python<'_>) -> Result<Vec<PromiseStanding>> {
        py.detach(|| {
            let standings = self.read(|database, id, of| Ok(database.promise_standing(id, of)?))?;
            Ok(standings.into_iter().map(PromiseStanding::from).collect())
        })
    }

    /// Holds the sets that the judgements of now speak for, and gives the edition as it is then.
    fn cut(&self, py: Python<'_>) -> Result<Self> {
        py.detach(|| {
            self.handle.write(|database| {
                let (release, edition) = database.edition(Some(&self.release), &self.name)?;
                require_promise(&edition)?;
                let edition = database.cut_edition(release, edition)?;
                let mut edits = database.transaction(release)?;
                edits.set_edition(edition.clone())?;
                edits.commit()?;
                Ok(Self::new(&self.handle, self.release.clone(), &edition))
            })
        })
    }

    /// Whether its promise is kept, group by group: by the judgements in the store, or by scores of
    /// a random sample of its sets, from 0 to 100 by id.
    #[pyo3(signature = (judgements=None))]
    fn check(
        &self,
        py: Python<'_>,
        judgements: Option<BTreeMap<String, u8>>,
    ) -> Result<Vec<PromiseCheck>> {
        py.detach(|| {
            let database = self.handle.get()?;
            let (release, edition) = database.edition(Some(&self.release), &self.name)?;
            require_promise(&edition)?;
            let Some(judgements) = judgements else {
                let checks = database.check_promise(release, &edition)?;
                return Ok(checks.into_iter().map(PromiseCheck::from).collect());
            };
            let mut scores = Vec::new();
            for (id, score) in judgements {
                let set = AnnotationSetId::of_written(&id).filter(|_| score <= 100);
                let set = set.ok_or_else(|| {
                    let message = format!("{score} of `{id}`: expected 0 to 100 of an id");
                    Fault::new("EditError", "E-value", &message, "give scores by id, as g1024")
                })?;
                scores.push((set, score));
            }
            let (checks, _) = check_promise_by(&edition, &scores);
            Ok(checks.into_iter().map(PromiseCheck::from).collect())
        })
    }

    /// Writes it as a data set that `datasets` and polars load, into a directory that is not there
    /// or is empty: training records in three parts, the sets without loss, FrameNet's XML, a card,
    /// and checksums. licence is the release's, as `cc-by-4.0`. Sets whose sentences have one of
    /// the words in sensitive are listed. With tagger, the tagger of that name tags every token.
    #[pyo3(signature = (directory, *, licence=None, sensitive=None, tagger=None, encoder=None,
                        models=None, device="cpu"))]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn publish(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        licence: Option<String>,
        sensitive: Option<Vec<String>>,
        tagger: Option<PathBuf>,
        encoder: Option<PathBuf>,
        models: Option<PathBuf>,
        device: &str,
    ) -> PyResult<PublishedEdition> {
        let dirs = tagger.is_some().then(|| directories(py, models)).transpose()?;
        let words: Option<BTreeSet<String>> =
            sensitive.map(|words| words.iter().map(|word| fold(word)).collect());
        let published = py.detach(|| -> Result<publish::Published> {
            let tagger = match (&tagger, dirs) {
                (Some(name), Some(dirs)) => {
                    let places = Places::new(dirs, device, None)?;
                    let model = places.model(name)?;
                    let encoder = places.encoder(encoder.as_deref(), &model)?;
                    Some(Tagger::open(&model, &encoder, &places.device)?)
                }
                _ => None,
            };
            self.read(|database, _, edition| {
                let asked = Publishing {
                    release: &database.release(&self.release)?,
                    edition,
                    licence: licence.as_deref(),
                    sensitive: words.as_ref(),
                    tagger: tagger.as_ref().map(|tagger| tagger as &dyn WordTagger),
                };
                Ok(database.publish(&directory, &asked, &mut |_| {})?)
            })
        })?;
        let publish::Published { directory, parts, leaking, flagged, licence, files, .. } =
            published;
        let parts = parts.into_iter();
        let parts = parts.map(|part| (part.split.as_str().to_owned(), (part.sentences, part.sets)));
        let files = files.into_iter().map(|file| (file.path, file.blake3));
        let (parts, files) = (parts.collect(), files.collect());
        Ok(PublishedEdition { directory, parts, leaking, flagged, licence, files })
    }
}

fn require_promise(edition: &fnstore::model::Edition) -> Result<()> {
    if edition.promise.is_some() {
        return Ok(());
    }
    let message = format!("edition `{}` promises nothing", edition.name);
    Err(Fault::new("EditError", "E-value", &message, "give create_edition a precision"))
}
