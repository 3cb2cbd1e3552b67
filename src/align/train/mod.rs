//! Training of a head on a frozen encoder.
//!
//! Culkin et al. 2021, section 4.1: binary cross-entropy against soft labels `2^-d`, where `d` is
//! the distance of a candidate to the gold span in words. The data is encoded once and its states
//! stay in memory. A step looks at a few items and, of each, at the candidates near the gold span
//! and a random sample of the others (`sample.rs`). After each epoch the head is measured on
//! development data; the best epoch's weights are kept, and the threshold is tuned there (`fit.rs`).
//! What an epoch leaves behind can be kept in a file, from which a run that was killed goes on
//! (`checkpoint.rs`).
//!
//! The same options give the same weights for any number of threads, and however often a run was
//! stopped: numbers are drawn from one seeded generator, and the kernels sum in one order.

mod checkpoint;
mod fit;
mod learner;
mod sample;

use std::path::{Path, PathBuf};

use checkpoint::Checkpoint;
use fit::{State, answers, fit, report};
pub(super) use learner::{Learner, Schedule};

use super::aligner::{is_candidate, word_pair};
use super::data::{AlignedSpan, distinct_pairs};
use super::encode::PairEncoder;
use super::error::AlignError;
use super::features::{Features, PairStates};
use super::head::{Head, HeadConfig, Labels, TrainingRecord};
use super::metrics::{Report, best_threshold};
use crate::compute::Device;

/// What to train on, and how.
///
/// ```
/// use fnstore::align::train::Options;
///
/// let mut options =
///     Options::new("train.jsonl".into(), "dev.jsonl".into(), "encoder".into(), "head".into());
/// options.epochs = 3;
/// assert_eq!(options.k, 5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Training data, as [`AlignedSpan::read`] takes it.
    pub data: PathBuf,
    /// Development data: chooses the epoch and the threshold.
    pub dev: PathBuf,
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// Directory of the head, made if need be.
    pub out: PathBuf,
    /// Most words by which a candidate may be longer or shorter than the source span.
    pub k: u32,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last layer.
    pub layer: Option<usize>,
    /// What the head looks at.
    pub features: Features,
    /// What a candidate near the gold span is to score.
    pub labels: Labels,
    /// Number of hidden units; `None` for half the number of inputs (whatever features are on), as in
    /// the paper.
    pub hidden: Option<usize>,
    /// Most passes over the data; one at least is made.
    pub epochs: usize,
    /// Passes without gain on the development data after which training stops.
    pub patience: usize,
    /// Items per step.
    pub batch: usize,
    /// Most candidates of an item that one step looks at.
    pub sample: usize,
    /// Learning rate after warm-up; it falls to zero over all epochs.
    pub learning_rate: f32,
    /// Weight decay of the matrices.
    pub weight_decay: f32,
    /// Seed of weights, order and samples.
    pub seed: u64,
    /// File that keeps what each epoch leaves behind. When it is there, training goes on from it.
    pub checkpoint: Option<PathBuf>,
}

impl Options {
    /// The settings that the shipped head was trained with.
    #[must_use]
    pub fn new(data: PathBuf, dev: PathBuf, encoder: PathBuf, out: PathBuf) -> Self {
        Self {
            data,
            dev,
            encoder,
            out,
            k: 5,
            layer: None,
            features: Features::default(),
            labels: Labels::default(),
            hidden: None,
            epochs: 16,
            patience: 3,
            batch: 32,
            sample: 60,
            learning_rate: 2e-3,
            weight_decay: 0.01,
            seed: 1,
            checkpoint: None,
        }
    }
}

/// What training has just done; a head's says of the development data its counts with nothing held back
/// by a threshold, a linker's its links under the best thresholds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Progress<D> {
    /// So many sentence pairs are encoded.
    Encoded {
        /// Pairs finished.
        done: usize,
        /// Pairs in all.
        total: usize,
    },
    /// Training goes on from a checkpoint.
    Resumed {
        /// The last epoch that is done.
        epoch: usize,
    },
    /// A step of an epoch is taken.
    Step {
        /// Number of the epoch, from 1.
        epoch: usize,
        /// Steps done in it.
        done: usize,
        /// Steps in it.
        total: usize,
    },
    /// An epoch is over.
    Epoch {
        /// Its number, from 1.
        epoch: usize,
        /// Mean loss over its steps, natural log.
        loss: f64,
        /// What the development data says of it.
        dev: D,
    },
}

/// Data ready for training.
struct Encoded {
    items: Vec<AlignedSpan>,
    /// States of the distinct pairs.
    pairs: Vec<PairStates>,
    /// The pair of each item.
    pair_of: Vec<usize>,
}

/// Trains a head, writes it to [`Options::out`], and returns its configuration, which holds the
/// tuned threshold and the counts on the development data.
///
/// # Errors
/// When data or encoder cannot be read, a pair is too long for the encoder, the checkpoint is of
/// another run, or the head cannot be written.
pub fn run(
    options: &Options,
    device: &Device,
    progress: &mut dyn FnMut(Progress<Report>),
) -> Result<HeadConfig, AlignError> {
    // 1. Read everything before the long part starts.
    let data = AlignedSpan::read(&options.data)?;
    let dev = AlignedSpan::read(&options.dev)?;
    for (items, path) in [(&data, &options.data), (&dev, &options.dev)] {
        has_answer(items, path, options.k)?;
    }
    let encoder = PairEncoder::open(&options.encoder, options.layer, None, device)?;
    let checkpoint = options
        .checkpoint
        .as_ref()
        .map(|path| Checkpoint::new(path, options, &encoder.fingerprint(), [&data, &dev]));
    let state = match &checkpoint {
        Some(checkpoint) => checkpoint.read()?,
        None => None,
    };
    let state = state.unwrap_or_else(|| State::new(options, encoder.width(), data.len()));
    if state.epoch > 0 {
        progress(Progress::Resumed { epoch: state.epoch });
    }

    // 2. Encode both data sets.
    let (train_pairs, dev_pairs) = (distinct_pairs(&data).0.len(), distinct_pairs(&dev).0.len());
    let total = train_pairs + dev_pairs;
    let data = encode(&encoder, data, &mut |done| progress(Progress::Encoded { done, total }))?;
    let dev = encode(&encoder, dev, &mut |done| {
        progress(Progress::Encoded { done: train_pairs + done, total });
    })?;

    // 3. Train, tune the threshold, write.
    let mut save = |state: &State| checkpoint.as_ref().map_or(Ok(()), |to| to.write(state));
    let State { best: parameters, best_epoch: epoch, .. } =
        fit(options, device, state, [&data, &dev], &mut save, progress)?;
    let answers = answers(&parameters, options.k, device, &dev)?;
    let scored: Vec<(f32, bool)> = answers
        .iter()
        .zip(&dev.items)
        .filter_map(|(answer, item)| {
            answer.map(|(span, score)| (score, Some(span) == item.target_span))
        })
        .collect();
    let gold = dev.items.iter().filter(|item| item.target_span.is_some()).count();
    let threshold = best_threshold(&scored, gold as u64).0;
    let name = options.encoder.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut config =
        HeadConfig::current(name.unwrap_or_default(), encoder.fingerprint(), encoder.width());
    config.layer = options.layer;
    config.features = options.features.names().into_iter().map(str::to_owned).collect();
    config.hidden = parameters.hidden;
    config.k = options.k;
    config.threshold = threshold;
    config.training = TrainingRecord {
        items: data.items.len(),
        labels: options.labels,
        epoch,
        batch: options.batch,
        sample: options.sample,
        learning_rate: options.learning_rate,
        weight_decay: options.weight_decay,
        seed: options.seed,
    };
    config.dev = report(&answers, &dev, options.k, 0.0);
    config.dev_at_threshold = report(&answers, &dev, options.k, threshold);
    let head = Head { config, parameters };
    head.write(&options.out)?;
    Ok(head.config)
}

/// Checks that some item's gold span is among its candidates: else there is nothing to learn or to
/// measure.
fn has_answer(items: &[AlignedSpan], path: &Path, k: u32) -> Result<(), AlignError> {
    if items.iter().any(|item| is_candidate(item, k)) {
        return Ok(());
    }
    let none = "no `target_span` within k words of its `source_span` in length";
    Err(AlignError::Content {
        path: path.to_owned(),
        line: items.len().max(1),
        found: format!("the end of the file and {none} (k = {k})"),
        expected: "at least one",
    })
}

fn encode(
    encoder: &PairEncoder,
    items: Vec<AlignedSpan>,
    done: &mut dyn FnMut(usize),
) -> Result<Encoded, AlignError> {
    let (pairs, pair_of) = distinct_pairs(&items);
    let words: Vec<_> = pairs.into_iter().map(word_pair).collect();
    let pairs = encoder.encode(&words, done)?;
    Ok(Encoded { items, pairs, pair_of })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::candidates::WordSpan;
    use crate::align::mlp::tests::random_pair;
    use crate::align::random::SplitMix64;

    /// Items whose answer can be read off the states: the target repeats the source, shifted.
    pub(super) fn shifted_copies(random: &mut SplitMix64, count: usize) -> Encoded {
        let (width, words) = (8, 9);
        let mut data = Encoded { items: Vec::new(), pairs: Vec::new(), pair_of: Vec::new() };
        for at in 0..count {
            let mut pair = random_pair(random, width, words, words);
            pair.target = pair.source.clone();
            data.pairs.push(pair);
            let start = random.below(words - 1) as u32;
            let span = WordSpan::new(start, start + 1 + random.below(2) as u32);
            data.items.push(AlignedSpan {
                id: at.to_string(),
                source: vec![String::new(); words],
                source_span: span,
                target: vec![String::new(); words],
                target_span: Some(span),
                changed: true,
            });
            data.pair_of.push(at);
        }
        data
    }

    #[test]
    fn data_whose_spans_are_all_out_of_reach_is_refused_with_the_reach() {
        let mut items = shifted_copies(&mut SplitMix64::new(1), 2).items;
        items[0].target_span = None;
        (items[1].source_span, items[1].target_span) =
            (WordSpan::new(0, 1), Some(WordSpan::new(0, 7)));
        let check = |items: &[AlignedSpan], k| has_answer(items, "dev.jsonl".as_ref(), k);
        assert!(check(&items, 6).is_ok());
        let error = check(&items, 5).unwrap_err().to_string();
        assert!(error.contains("`dev.jsonl`") && error.contains("`target_span`"), "{error}");
        assert!(error.contains("k = 5"), "{error}");
        assert!(check(&items[..1], 9).is_err() && check(&[], 9).is_err());
    }

    pub(super) fn options() -> Options {
        let mut options = Options::new("".into(), "".into(), "".into(), "".into());
        (options.epochs, options.patience, options.batch) = (30, 30, 8);
        (options.hidden, options.learning_rate) = (Some(24), 1e-2);
        options
    }
}
