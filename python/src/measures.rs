//! What there is to measure of a store's sets, proposals and files: `db.diversity`, `db.foreign`,
//! `db.proposal_decisions`, `db.measure_proposals`.

use std::path::PathBuf;

use fnstore::database::DatabaseError;
use fnstore::expand;
use fnstore::internals::exchange::open_lu_list;
use fnstore::internals::tag::Tagger;
use fnstore::lexicon::FileSubject;
use fnstore::proposals::{self, Proposals};
use fnstore::query::Expression;
use pyo3::prelude::*;

use crate::database::{Database, directories, pattern};
use crate::error::Result;
use crate::models::{Places, named};
use crate::proposals::{ranker, vectors};

/// How far the sentences of a round differ from their sources and from one another.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Diversity {
    /// None for all rounds together.
    round: Option<u16>,
    /// Generated sets.
    sets: u64,
    /// Mean BLEU of each sentence against the others of its seed and recipe; None where no seed
    /// has two.
    self_bleu: Option<f64>,
    /// Mean BLEU against the sentence that was rewritten.
    source_bleu: f64,
    /// Mean share of words that the source has not.
    changed_words: f64,
    /// Share of targets whose parts of speech are not the source's; None without a tagger.
    pos_changed: Option<f64>,
    /// Mean Jaccard distance of the tags.
    pos_jaccard: Option<f64>,
    /// The same, weighted by how often tags stand there.
    pos_weighted: Option<f64>,
}

#[pymethods]
impl Diversity {
    fn __repr__(&self) -> String {
        let round =
            self.round.map_or_else(|| "of all".to_owned(), |round| format!("round {round}"));
        format!("<Diversity {round}: source BLEU {:.3}>", self.source_bleu)
    }
}

impl From<expand::DiversityRow> for Diversity {
    fn from(of: expand::DiversityRow) -> Self {
        Self {
            round: of.round,
            sets: of.sets,
            self_bleu: of.self_bleu,
            source_bleu: of.source_bleu,
            changed_words: of.changed_words,
            pos_changed: of.pos_changed,
            pos_jaccard: of.pos_jaccard,
            pos_weighted: of.pos_weighted,
        }
    }
}

/// A piece of what a release's files hold beside FrameNet.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ForeignContent {
    release: String,
    /// What its file is about: frame, lu, document, top.
    kind: &'static str,
    /// Name of the frame, LU or document; of a file at the top its own.
    name: String,
    /// The element at which it stands.
    element: String,
    /// An attribute as `name=value`; an element or a text as it stands in its file.
    content: String,
}

#[pymethods]
impl ForeignContent {
    fn __repr__(&self) -> String {
        format!("<ForeignContent {} {}: {}>", self.kind, self.name, self.content)
    }
}

/// A decision on a proposal, which may have been taken back.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ProposalDecision {
    release: String,
    frame: String,
    /// Name of the proposed LU.
    lu: String,
    /// accept, reject, move, merge.
    verdict: &'static str,
    reviewer: String,
    /// When, in seconds since 1970 (UTC).
    time: u64,
    note: String,
    /// Frame that the sets went to.
    to_frame: Option<String>,
    /// LU that the sets went to.
    to_lu: Option<String>,
    /// Generated sets that the proposal had.
    sets: u64,
    /// Who took it back, when and why.
    undone_by: Option<String>,
    undone_at: Option<u64>,
    undone_note: Option<String>,
}

#[pymethods]
impl ProposalDecision {
    fn __repr__(&self) -> String {
        let Self { verdict, frame, lu, reviewer, .. } = self;
        let undone = if self.undone_by.is_some() { ", undone" } else { "" };
        format!("<ProposalDecision {verdict} {frame} {lu} by {reviewer}{undone}>")
    }
}

impl From<proposals::DecisionRecord> for ProposalDecision {
    fn from(of: proposals::DecisionRecord) -> Self {
        Self {
            release: of.release,
            frame: of.frame,
            lu: of.lu,
            verdict: of.verdict.as_str(),
            reviewer: of.reviewer,
            time: of.time,
            note: of.note,
            to_frame: of.to_frame,
            to_lu: of.to_lu,
            sets: of.sets,
            undone_by: of.undone_by,
            undone_at: of.undone_at,
            undone_note: of.undone_note,
        }
    }
}

/// What proposals find of LUs that were hidden from the lexicon.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct HiddenLus {
    /// Name of the frame; None for all frames of the list together.
    frame: Option<String>,
    hidden: usize,
    proposals: usize,
    /// Hidden LUs among the proposals.
    found: usize,
    recall: f64,
    /// Share of the hidden LUs among the ten best proposals of their frame.
    recall_at_10: f64,
    recall_at_50: f64,
    /// Share of the proposals that are hidden LUs; None without a proposal.
    precision: Option<f64>,
}

#[pymethods]
impl HiddenLus {
    fn __repr__(&self) -> String {
        let frame = self.frame.as_deref().unwrap_or("of all frames");
        format!("<HiddenLus {frame}: {} of {} found>", self.found, self.hidden)
    }
}

impl From<proposals::HiddenRecord> for HiddenLus {
    fn from(of: proposals::HiddenRecord) -> Self {
        Self {
            frame: of.frame,
            hidden: of.hidden,
            proposals: of.proposals,
            found: of.found,
            recall: of.recall,
            recall_at_10: of.recall_at_10,
            recall_at_50: of.recall_at_50,
            precision: of.precision,
        }
    }
}

/// Hidden LUs: names of frames and LUs, or a file of such.
#[derive(FromPyObject)]
pub(crate) enum Hidden {
    Pairs(Vec<(String, String)>),
    File(PathBuf),
}

#[pymethods]
impl Database {
    /// How far generated sentences differ from their sources and from one another, round by round
    /// and over all rounds.
    #[pyo3(signature = (expression="", *, no_pos=false, tagger=PathBuf::from("tagger"),
                        encoder=None, models=None, device="cpu", any_language=false),
           text_signature = "($self, expression='', *, no_pos=False, tagger='tagger', \
                             encoder=None, models=None, device='cpu', any_language=False)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn diversity(
        &self,
        py: Python<'_>,
        expression: &str,
        no_pos: bool,
        tagger: PathBuf,
        encoder: Option<PathBuf>,
        models: Option<PathBuf>,
        device: &str,
        any_language: bool,
    ) -> PyResult<Vec<Diversity>> {
        let dirs = directories(py, models)?;
        let rows = py.detach(|| -> Result<_> {
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            self.handle.get()?.count(&expression)?;
            let tagger = match no_pos {
                true => None,
                false => {
                    let places = Places::new(dirs, device, None)?;
                    let tagger = places.model(&tagger)?;
                    let encoder = places.encoder(encoder.as_deref(), &tagger)?;
                    Some(Tagger::open(&tagger, &encoder, &places.device)?)
                }
            };
            self.handle.read_for(&expression, |database| {
                database.allow_any_language(any_language);
                Ok(expand::diversity(database, &expression, tagger.as_ref())?)
            })
        })?;
        Ok(rows.into_iter().map(Diversity::from).collect())
    }

    /// What the files of releases hold beside FrameNet. A pattern narrows it, as `sure=*`, or `~`
    /// and a regular expression; so does the kind of file: frame, lu, document, top.
    #[pyo3(signature = (content=None, *, kind=None, release=None))]
    fn foreign(
        &self,
        py: Python<'_>,
        content: Option<&str>,
        kind: Option<&str>,
        release: Option<&str>,
    ) -> PyResult<Vec<ForeignContent>> {
        let wanted = pattern(content)?;
        let kind: Option<FileSubject> = kind.map(|kind| named("kind", kind)).transpose()?;
        Ok(py.detach(|| {
            self.each(release, |home, lexicon| {
                let mut found = Vec::new();
                for row in lexicon.all_foreign()? {
                    let (file, foreign) = row?;
                    let of = FileSubject::of(file);
                    if kind.is_some_and(|kind| kind != of) {
                        continue;
                    }
                    let name = lexicon.subject_name(file)?;
                    let texts = foreign
                        .places
                        .iter()
                        .flat_map(|place| place.texts().map(|text| (place.element.clone(), text)));
                    let texts = texts.filter(|(_, content)| wanted.matches(content));
                    found.extend(texts.map(|(element, content)| ForeignContent {
                        release: home.release.name.clone(),
                        kind: of.as_str(),
                        name: name.clone(),
                        element: element.to_string(),
                        content,
                    }));
                }
                Ok(found)
            })
        })?)
    }

    /// All decisions on proposals, also those that were undone.
    #[pyo3(signature = (release=None))]
    fn proposal_decisions(
        &self,
        py: Python<'_>,
        release: Option<&str>,
    ) -> PyResult<Vec<ProposalDecision>> {
        let rows = py.detach(|| -> Result<_> {
            let database = self.handle.get()?;
            let releases = match release {
                Some(name) => vec![database.release(name)?],
                None => database.releases()?,
            };
            Ok(proposals::decisions(&database, &releases)?)
        })?;
        Ok(rows.into_iter().map(ProposalDecision::from).collect())
    }

    /// What proposals find of LUs that were hidden from the lexicon: of each frame, and at the end
    /// of all of them. hidden has pairs of a frame's and an LU's name, or is a file of such lines.
    #[pyo3(signature = (expression="", *, hidden, ranker=None, models=None))]
    fn measure_proposals(
        &self,
        py: Python<'_>,
        expression: &str,
        hidden: Hidden,
        ranker: Option<PathBuf>,
        models: Option<PathBuf>,
    ) -> PyResult<Vec<HiddenLus>> {
        let dirs = directories(py, models)?;
        let rows = py.detach(|| -> Result<_> {
            let hidden = match hidden {
                Hidden::Pairs(pairs) => pairs,
                Hidden::File(path) => open_lu_list(&path).map_err(DatabaseError::from)?,
            };
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            let (ranker, vectors) = (self::ranker(ranker.as_deref())?, vectors(&dirs)?);
            self.handle.read_for(&expression, |database| {
                let proposals = Proposals::new(database, vectors.as_ref(), ranker);
                Ok(proposals.measure(&expression, &hidden)?)
            })
        })?;
        Ok(rows.into_iter().map(HiddenLus::from).collect())
    }
}
