//! Proposals: lexical units that expansions propose, with what speaks for them, and what a reviewer
//! decides of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fnstore::align::encoder_of;
use fnstore::database::DatabaseError;
use fnstore::edit::Fate;
use fnstore::engine::Device;
use fnstore::expand::{ExpandError, WORD_VECTORS, refit_sets};
use fnstore::identify::FrameIdentifier;
use fnstore::lexicon::RecordKey;
use fnstore::model::{AnnotationSetId, Reviewed};
use fnstore::models::find;
use fnstore::proposals::{self, ProposalError, Proposals, Ranker, WordVectors};
use fnstore::query::Expression;
use pyo3::prelude::*;

use crate::changes::parsed;
use crate::error::Result;
use crate::handle::Handle;
use crate::html;

/// The shipped frame model: it is asked again about sets that a decision gives another frame.
const IDENTIFIER: &str = "frames";

/// A set that attests a proposal.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct Attestation {
    /// Its id, as in `gx12`.
    set: String,
    text: String,
    /// The words of the target.
    trigger: String,
    round: u16,
    /// The aligner's score.
    aligner: f32,
    /// What the precision filter says, if it was asked.
    p: Option<f32>,
}

#[pymethods]
impl Attestation {
    fn __repr__(&self) -> String {
        format!("<Attestation {} {:?}: {}>", self.set, self.trigger, self.text)
    }
}

/// A lexical unit that generated sets attest and its frame lacks.
#[pyclass(frozen, module = "fnstore")]
pub(crate) struct Proposal {
    handle: Arc<Handle>,
    models: Vec<PathBuf>,
    found: proposals::Proposal,
}

#[pymethods]
impl Proposal {
    fn __repr__(&self) -> String {
        let proposals::Proposal { frame_name, name, score, evidence, .. } = &self.found;
        format!("<Proposal {frame_name} {name}: {score:.2}, {} sets>", evidence.sets)
    }

    fn _repr_html_(&self) -> String {
        html::proposal(&self.found)
    }

    #[getter]
    fn release(&self) -> &str {
        &self.found.release_name
    }

    #[getter]
    fn frame(&self) -> &str {
        &self.found.frame_name
    }

    /// Its name, as in `vet.v`.
    #[getter]
    fn lu(&self) -> &str {
        &self.found.name
    }

    /// How likely it is to be accepted, 0 to 1.
    #[getter]
    fn score(&self) -> f32 {
        self.found.score
    }

    /// Generated sets that attest it.
    #[getter]
    fn sets(&self) -> u32 {
        self.found.evidence.sets
    }

    /// Mean probability that its targets evoke the frame, if a verifier was asked.
    #[getter]
    fn evokes(&self) -> Option<f32> {
        self.found.evidence.evokes
    }

    /// The best of its sets.
    #[getter]
    fn sentences(&self) -> Vec<Attestation> {
        let sentence = |of: &proposals::Attestation| Attestation {
            set: of.set.to_string(),
            text: of.text.clone(),
            trigger: of.trigger.clone(),
            round: of.round,
            aligner: of.aligner,
            p: of.p,
        };
        self.found.sentences.iter().map(sentence).collect()
    }

    /// Other frames that have an LU of its lemma.
    #[getter]
    fn other_frames(&self) -> Vec<String> {
        self.found.other_frames.clone()
    }

    /// The LUs of its frame that are most like it, each with the cosine of both vectors.
    #[getter]
    fn nearest(&self) -> Vec<(String, f32)> {
        self.found.nearest.iter().map(|near| (near.lu.clone(), near.cosine)).collect()
    }

    /// The decision that stands: `accept`, `reject`, `move` or `merge`.
    #[getter]
    fn decided(&self) -> Option<&'static str> {
        self.found.decided.as_ref().map(|decision| decision.verdict.as_str())
    }

    /// Why it is no proposal, although sets stand under it.
    #[getter]
    fn refused(&self) -> Option<&'static str> {
        self.found.refused.map(|refused| refused.as_str())
    }

    /// All of it, in the form that `fnstore proposals` prints as JSON.
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let json = serde_json::to_string(&self.found).unwrap_or_default();
        parsed(py, Some(&json))
    }

    /// Makes it an LU of its frame, which keeps its sets.
    #[pyo3(signature = (*, reviewer=None, note=String::new()),
           text_signature = "($self, *, reviewer=None, note='')")]
    fn accept(&self, py: Python<'_>, reviewer: Option<String>, note: String) -> Result<()> {
        py.detach(|| self.decide(|_| Ok(Fate::Accept), signed(reviewer, note)).map(drop))
    }

    /// Lists it no more; its sets stay.
    #[pyo3(signature = (*, reviewer=None, note=String::new()),
           text_signature = "($self, *, reviewer=None, note='')")]
    fn reject(&self, py: Python<'_>, reviewer: Option<String>, note: String) -> Result<()> {
        py.detach(|| self.decide(|_| Ok(Fate::Reject), signed(reviewer, note)).map(drop))
    }

    /// Gives its sets to the LU of its name in another frame, which is made if the frame has none.
    /// Gives how many.
    #[pyo3(name = "move", signature = (frame, *, reviewer=None, note=String::new()),
           text_signature = "($self, frame, *, reviewer=None, note='')")]
    fn move_to(
        &self,
        py: Python<'_>,
        frame: &str,
        reviewer: Option<String>,
        note: String,
    ) -> Result<u64> {
        let to = |database: &fnstore::Database| {
            let key = RecordKey::Name(frame);
            Ok(Fate::Move(database.the_frame(key, Some(&self.found.release_name))?.1.id))
        };
        py.detach(|| self.decide(to, signed(reviewer, note)))
    }

    /// Gives its sets to another LU of its frame, by its name. Gives how many.
    #[pyo3(signature = (lu, *, reviewer=None, note=String::new()),
           text_signature = "($self, lu, *, reviewer=None, note='')")]
    fn merge(
        &self,
        py: Python<'_>,
        lu: &str,
        reviewer: Option<String>,
        note: String,
    ) -> Result<u64> {
        let into = |database: &fnstore::Database| {
            let frame = RecordKey::Number(self.found.frame.0);
            let (key, release) = (RecordKey::Name(lu), Some(self.found.release_name.as_str()));
            Ok(Fate::Merge(database.the_lu(key, Some(frame), release)?.1.id))
        };
        py.detach(|| self.decide(into, signed(reviewer, note)))
    }

    /// Takes back the decision that stands. Gives how many sets came back.
    #[pyo3(signature = (*, reviewer=None, note=String::new()),
           text_signature = "($self, *, reviewer=None, note='')")]
    fn undo(&self, py: Python<'_>, reviewer: Option<String>, note: String) -> Result<u64> {
        py.detach(|| {
            let (release, of) = (self.found.release, (self.found.frame, self.found.name.as_str()));
            self.handle.write(|database| {
                let proposals = Proposals::new(database, None, Ranker::default());
                let (_, back) = proposals.undo(release, of, signed(reviewer, note))?;
                self.ask_again(database, &back.unfitted)?;
                Ok(back.sets)
            })
        })
    }
}

impl Proposal {
    fn decide(
        &self,
        fate: impl FnOnce(&fnstore::Database) -> Result<Fate>,
        by: Reviewed,
    ) -> Result<u64> {
        let proposals::Proposal { release, frame, name, .. } = &self.found;
        let vectors = vectors(&self.models)?;
        self.handle.write(|database| {
            let proposals = Proposals::new(database, vectors.as_ref(), Ranker::default());
            let fate = fate(database)?;
            let moved = proposals.decide(*release, (*frame, name), fate, by)?;
            self.ask_again(database, &moved.unfitted)?;
            Ok(moved.sets)
        })
    }
}

impl Proposal {
    /// Says how likely the frames are that a decision gave sets, where the frame model is at hand.
    fn ask_again(&self, database: &fnstore::Database, sets: &[AnnotationSetId]) -> Result<()> {
        let Some(model) = (!sets.is_empty()).then(|| find(IDENTIFIER.as_ref(), &self.models))
        else {
            return Ok(());
        };
        let encoder = model.as_deref().and_then(|model| encoder_of(model, &self.models).ok());
        if let (Some(model), Some(encoder)) = (model, encoder) {
            let identifier = FrameIdentifier::open(&model, &encoder, &Device::cpu());
            let identifier = identifier.map_err(ExpandError::from)?;
            refit_sets(database, self.found.release, sets, &identifier)?;
        }
        Ok(())
    }
}

/// Who decides, now and why.
pub(crate) fn signed(reviewer: Option<String>, note: String) -> Reviewed {
    let named =
        ["FNSTORE_AUTHOR", "USER", "LOGNAME"].iter().filter_map(|name| std::env::var(name).ok());
    let reviewer = reviewer.or_else(|| named.into_iter().find(|name| !name.trim().is_empty()));
    let reviewer = reviewer.unwrap_or_else(|| "reviewer".to_owned());
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Reviewed { reviewer, time: now.map_or(0, |since| since.as_secs()), note }
}

/// The word vectors, where they are at hand.
pub(crate) fn vectors(models: &[PathBuf]) -> Result<Option<WordVectors>> {
    let place = find(Path::new(WORD_VECTORS), models);
    let vectors = place.map(|place| WordVectors::open(&place)).transpose();
    Ok(vectors.map_err(ExpandError::from)?)
}

/// The ranker of a file, or the usual one.
pub(crate) fn ranker(file: Option<&Path>) -> Result<Ranker> {
    let ranker = file.map(Ranker::open).transpose();
    Ok(ranker.map_err(ProposalError::from)?.unwrap_or_default())
}

/// What `db.proposals` is asked for beside the expression.
pub(crate) struct Wishes {
    pub(crate) limit: Option<usize>,
    pub(crate) with_decided: bool,
    pub(crate) with_refused: bool,
    pub(crate) ranker: Option<PathBuf>,
    pub(crate) models: Vec<PathBuf>,
}

/// The proposals of the generated sets for which an expression holds, the likeliest first, then
/// what is refused.
pub(crate) fn list(
    handle: &Arc<Handle>,
    expression: &str,
    wishes: Wishes,
) -> Result<Vec<Proposal>> {
    let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
    let database = handle.get()?;
    let vectors = vectors(&wishes.models)?;
    let ranker = ranker(wishes.ranker.as_deref())?;
    let proposals = Proposals::new(&database, vectors.as_ref(), ranker);
    let mut found = match wishes.limit {
        Some(limit) if !wishes.with_refused => {
            proposals.best(&expression, wishes.with_decided, limit)?.proposals
        }
        _ => {
            let mut listed = proposals.list_apart(&expression, wishes.with_decided)?;
            if wishes.with_refused {
                listed.proposals.append(&mut listed.refused);
            }
            listed.proposals
        }
    };
    found.truncate(wishes.limit.unwrap_or(usize::MAX));
    let proposal =
        |found| Proposal { handle: Arc::clone(handle), models: wishes.models.clone(), found };
    Ok(found.into_iter().map(proposal).collect())
}
