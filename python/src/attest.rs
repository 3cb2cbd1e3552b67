//! `db.attest(...)`: sentences of a corpus for lexical units that have none.

use std::path::{Path, PathBuf};

use fnstore::database::DatabaseError;
use fnstore::discover::{self, AttestOptions, Attester, Corpus};
use fnstore::expand::FrameModels;
use fnstore::generate::Lacking;
use fnstore::identify::FrameIdentifier;
use fnstore::internals::label::Labeller;
use fnstore::internals::tag::Tagger;
use fnstore::internals::verify::Verifier;
use fnstore::models::VERIFIER;
use fnstore::query::Expression;
use pyo3::prelude::*;

use crate::database::{Database, directories};
use crate::discover::at_hand;
use crate::error::{Fault, Result};
use crate::expand::Teller;
use crate::models::{Places, of_some};
use crate::number::Count;

/// The labeller of frame elements, unless another one is named.
const LABELLER: &str = "fes";

/// What became of LUs without sentences.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct AttestationReport {
    /// LUs without sentences that match.
    lus: u64,
    /// Those that were looked for in the corpus.
    looked_at: u64,
    /// Those that the limit left to a later call.
    left: u64,
    /// Those of which the corpus has sentences that can be asked about.
    in_corpus: u64,
    /// Those that got a sentence.
    given: u64,
    sentences: u64,
    /// Sentences that the verifier was asked about.
    asked: u64,
    /// Those in which it finds the frame too unlikely, or another one that has the word likelier.
    unlikely: u64,
    nearer: u64,
    /// Those that are too long for it.
    unread: u64,
    /// Sentences in which the word is part of a name, or of another part of speech.
    in_names: u64,
    of_other_pos: u64,
    /// Sentences in which the frame model finds the frame too unlikely, and those kept of which it
    /// cannot say it.
    unfit: u64,
    without_fit: u64,
    seconds: f64,
}

#[pymethods]
impl AttestationReport {
    fn __repr__(&self) -> String {
        format!(
            "<AttestationReport {} sentences for {} of {} LUs>",
            self.sentences, self.given, self.lus
        )
    }
}

impl From<discover::AttestReport> for AttestationReport {
    fn from(of: discover::AttestReport) -> Self {
        Self {
            lus: of.lexunits,
            looked_at: of.looked_at,
            left: of.left,
            in_corpus: of.in_corpus,
            given: of.given,
            sentences: of.sentences,
            asked: of.asked,
            unlikely: of.unlikely,
            nearer: of.nearer,
            unread: of.unread,
            in_names: of.in_names,
            of_other_pos: of.of_other_pos,
            unfit: of.unfit,
            without_fit: of.without_fit,
            seconds: of.elapsed.as_secs_f64(),
        }
    }
}

/// The models that an attestation asks.
struct Models {
    verifier: Verifier,
    labeller: Option<Labeller>,
    tagger: Option<Tagger>,
    identifier: Option<FrameIdentifier>,
}

impl Models {
    fn open(places: &Places, verifier: &Path, labeller: Option<&Path>) -> Result<Self> {
        let (adapter, base) = places.verifier(verifier)?;
        let at = (&places.device, places.numbers);
        let verifier = Verifier::open_beside(None, (&adapter, &base), at)?;
        let labeller = labeller.map(|name| -> Result<Labeller> {
            let model = places.model(name)?;
            Ok(Labeller::open(&model, &places.encoder(None, &model)?, &places.device)?)
        });
        let tagger = || -> Result<Tagger> {
            let model = places.model(Path::new("tagger"))?;
            Ok(Tagger::open(&model, &places.encoder(None, &model)?, &places.device)?)
        };
        let identifier = FrameModels::search(&places.dirs)
            .map(|of| FrameIdentifier::open(&of.identifier, &of.encoder, &places.device));
        let (labeller, identifier) = (labeller.transpose()?, identifier.transpose()?);
        Ok(Self { verifier, labeller, tagger: at_hand(tagger())?, identifier })
    }
}

#[pymethods]
impl Database {
    /// Gives sentences of a corpus to the LUs without any that an expression over LUs finds, as
    /// `fnstore attest` does: sets of the origin `predicted`, with the verifier's answers. progress
    /// is called with the LUs that were looked for, and their number. What was written when it is
    /// stopped stays. limit is how many LUs get sentences.
    #[pyo3(signature = (corpus, expression="", *, lacking="annotation", keep=Count(5),
                        candidates=Count(10), least=0.5, limit=None,
                        verifier=PathBuf::from(VERIFIER), labeller=PathBuf::from(LABELLER),
                        no_fes=false, models=None, device="cpu", numbers=None, any_language=false,
                        progress=None),
           text_signature = "($self, corpus, expression='', *, lacking='annotation', keep=5, \
                             candidates=10, least=0.5, limit=None, verifier='verifier', \
                             labeller='fes', no_fes=False, models=None, device='cpu', \
                             numbers=None, any_language=False, progress=None)")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn attest(
        &self,
        py: Python<'_>,
        corpus: PathBuf,
        expression: &str,
        lacking: &str,
        keep: Count,
        candidates: Count,
        least: f32,
        limit: Option<Count>,
        verifier: PathBuf,
        labeller: PathBuf,
        no_fes: bool,
        models: Option<PathBuf>,
        device: &str,
        numbers: Option<&str>,
        any_language: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<AttestationReport> {
        let dirs = directories(py, models)?;
        let limit = limit.map(|limit| limit.size());
        let options = AttestOptions {
            lacking: of_some("lacking", lacking, &[Lacking::Annotation, Lacking::Exemplars])?,
            keep: keep.size(),
            candidates: candidates.size(),
            least,
            limit,
        };
        let is_zero = options.keep == 0 || options.candidates == 0 || limit == Some(0);
        if is_zero || !(0.0..=1.0).contains(&least) {
            let message = "keep, candidates and limit are at least 1, and least is from 0 to 1";
            let advice = "give numbers in that range";
            return Err(Fault::new("NumberError", "E-number", message, advice).raise());
        }
        let mut teller = Teller::new(progress);
        let report = py.detach(|| {
            let expression = Expression::parse(expression).map_err(DatabaseError::from)?;
            let corpus = Corpus::open(&corpus)?;
            let places = Places::new(dirs, device, numbers)?;
            let labeller = (!no_fes).then_some(labeller.as_path());
            let Models { verifier, labeller, tagger, identifier } =
                Models::open(&places, &verifier, labeller)?;
            self.handle.write(|database| {
                database.allow_any_language(any_language);
                let models = (verifier, labeller);
                let attester = Attester::new(database, &corpus, models, options);
                let attester = attester.with_tagger(tagger);
                let mut attester = attester.with_frame_model(identifier.as_ref());
                let report = attester.run(&expression, &mut |at| {
                    let told = (at.looked_at, at.lexunits);
                    teller.tell(|function| function.call1(told).map(drop))
                });
                Ok(AttestationReport::from(report?))
            })
        });
        teller.end()?;
        Ok(report?)
    }
}
