//! Many trainings on sentences that are encoded once, as experiments need them.
//!
//! The frames, the lexicon and the development data are those of every training; what is learnt
//! from is chosen for each of them. States of all sentences stay in memory: some 2 KB a word with
//! the shipped encoder.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::super::candidates::Candidates;
use super::super::corpus::{Answers, Encoded, encode_each};
use super::super::data::FrameSentence;
use super::super::features::Shape;
use super::super::measure::Figures;
use super::super::scorer::{CandidateSpan, Scorer, Search};
use super::{Data, FitOptions, Fitted, Lessons, fit};
use crate::engine::Device;
use crate::learn::{NetworkError, WordEncoder};

/// Sentences ready for any number of trainings.
pub(crate) struct Trials {
    shape: Shape,
    frames: usize,
    /// Those to learn from; none in the place of one that is too long.
    pool: Vec<Option<Arc<Encoded>>>,
    dev: Arc<Vec<Encoded>>,
    measured: Arc<Vec<Encoded>>,
    fingerprint: String,
    device: Device,
}

/// A trained network, and what it is measured by.
pub(crate) struct Trial<'a> {
    trials: &'a Trials,
    scorer: Scorer,
    /// How it does on the sentences that measure.
    pub(crate) figures: Figures,
}

impl Trials {
    /// Encodes sentences by some layers of an encoder. `data.train` are all that any training may
    /// learn from; `measured` are none for the development data. Without LUs in `data` any span may
    /// be a target. `done` hears how many sentences of how many are finished.
    ///
    /// # Errors
    /// When the pool or the development data has no target, both share a sentence, or the encoder
    /// fails.
    pub(crate) fn encode(
        (encoder, layers): (&Path, &[usize]),
        data: Data<'_>,
        measured: Option<&[FrameSentence]>,
        device: &Device,
        done: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, NetworkError> {
        data.check()?;
        let encoder = WordEncoder::open_layers::<NetworkError>(encoder, layers, None, device)?;
        let names = data.frames();
        let frames: HashMap<&str, usize> =
            names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let lexunits = data.lexunits.iter().map(|(frame, name)| (&**frame, &**name));
        let candidates = Candidates::new(&names, lexunits, data.morphology);
        let total = data.train.len() + data.dev.len() + measured.map_or(0, <[_]>::len);
        let mut before = 0;
        let mut ready = |sentences: &[FrameSentence], search| -> Result<_, NetworkError> {
            let asked = (&candidates, search);
            let mut tell = |finished| done(before + finished, total);
            let encoded =
                encode_each(&encoder, layers.len(), sentences, &frames, asked, &mut tell)?;
            before += sentences.len();
            Ok(encoded)
        };
        // Without LUs no span to learn from is a form of one: negatives are drawn from all spans.
        let pool = ready(data.train, Search::Lexicon)?;
        let pool = pool.into_iter().map(|of| of.map(Arc::new)).collect();
        let search = if data.lexunits.is_empty() { Search::Open } else { Search::Lexicon };
        let mut whole = |sentences: &[FrameSentence]| -> Result<Arc<Vec<Encoded>>, NetworkError> {
            Ok(Arc::new(ready(sentences, search)?.into_iter().flatten().collect()))
        };
        let dev = whole(data.dev)?;
        let measured = measured.map_or_else(|| Ok(Arc::clone(&dev)), whole)?;
        Ok(Self {
            shape: Shape { width: encoder.width(), layers: layers.len() },
            frames: names.len(),
            pool,
            dev,
            measured,
            fingerprint: encoder.fingerprint(),
            device: device.clone(),
        })
    }

    /// The fingerprint of the encoder.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Trains on the sentences of the pool at some places and measures the network. Sentences that
    /// are too long are passed over.
    ///
    /// # Errors
    /// When a kernel fails.
    pub(crate) fn train(
        &self,
        places: &[usize],
        options: &FitOptions,
    ) -> Result<Trial<'_>, NetworkError> {
        let train = places.iter().filter_map(|at| self.pool[*at].clone()).collect();
        let lessons = Lessons::new(self.shape, self.frames, train, Arc::clone(&self.dev));
        let mut keep = |_: &_| Ok(());
        let Fitted { mlp, bias, .. } =
            fit(options, &lessons, None, &self.device, &mut keep, &mut |_| ())?;
        let scorer = Scorer::new(mlp, self.shape, &self.device)?;
        let mut figures = Figures::default();
        let answers = Answers::of(&scorer, &self.measured, Search::Lexicon)?;
        answers.add_to(&mut figures, bias, &lessons.seen);
        Ok(Trial { trials: self, scorer, figures })
    }
}

impl Trial<'_> {
    /// Whether the network gives the first target of each of some sentences of the pool its frame,
    /// with the lexicon as a preference. One that is too long, or whose target has too many words,
    /// is not given it.
    ///
    /// # Errors
    /// When a kernel fails.
    pub(crate) fn agrees(&self, places: &[usize]) -> Result<Vec<bool>, NetworkError> {
        let encoded = places.iter().map(|at| self.trials.pool[*at].as_ref());
        let encoded: Vec<Option<&Arc<Encoded>>> = encoded.collect();
        let asked = encoded.iter().flatten().map(|of| {
            let first = of.targets.first().and_then(|target| target.candidate.clone());
            (&of.states, first.into_iter().collect::<Vec<CandidateSpan>>())
        });
        let mut scored = self.scorer.score(asked.collect())?.into_iter();
        let agrees = encoded.iter().map(|of| {
            let (Some(of), Some(scored)) = (of, of.and_then(|_| scored.next())) else {
                return false;
            };
            let gold = of.targets.first().and_then(|target| target.frame);
            scored.first().is_some_and(|scored| Some(scored.best(Search::Open)) == gold)
        });
        Ok(agrees.collect())
    }
}
