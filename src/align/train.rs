//! Training of a head on a frozen encoder.
//!
//! Culkin et al. 2021, section 4.1: binary cross-entropy against soft labels `2^-d`, where `d` is
//! the distance of a candidate to the gold span in words. The data is encoded once and its states
//! stay in memory. A step looks at a few items and, of each, at the candidates near the gold span
//! and a random sample of the others. After each epoch the head is measured on development data;
//! the best epoch's weights are kept, and the threshold is tuned there.
//!
//! The same options give the same weights for any number of threads: numbers are drawn from one
//! seeded generator, and the kernels sum in one order.

use std::path::PathBuf;

use super::aligner::{is_candidate, word_pair};
use super::candidates::{WordSpan, candidates};
use super::data::{AlignedSpan, distinct_pairs};
use super::encode::PairEncoder;
use super::error::AlignError;
use super::features::{CUES, PairStates};
use super::gradient::{AdamW, loss_and_gradients};
use super::head::{Head, HeadConfig, TrainingRecord};
use super::metrics::{Report, best_threshold};
use super::mlp::{Parameters, Question, Scored, Scorer, best};
use super::random::SplitMix64;
use crate::compute::{Device, Tensor};

/// Candidates within this distance of the gold span are always looked at: their labels are not
/// yet near zero.
const NEAR: u32 = 3;

/// Steps over which the learning rate rises to its full height.
const WARM_UP: usize = 100;

/// Share of a batch's statistics in the running ones (PyTorch's default).
const MOMENTUM: f32 = 0.1;

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
    /// Number of hidden units; `None` for half the number of inputs, as in the paper.
    pub hidden: Option<usize>,
    /// Most passes over the data.
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
            hidden: None,
            epochs: 16,
            patience: 3,
            batch: 32,
            sample: 60,
            learning_rate: 2e-3,
            weight_decay: 0.01,
            seed: 1,
        }
    }
}

/// What training has just done.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// So many sentence pairs are encoded.
    Encoded {
        /// Pairs finished.
        done: usize,
        /// Pairs in all.
        total: usize,
    },
    /// An epoch is over.
    Epoch {
        /// Its number, from 1.
        epoch: usize,
        /// Mean loss over its steps, natural log.
        loss: f64,
        /// Counts on the development data, nothing held back by a threshold.
        dev: Report,
    },
}

/// Data ready for training.
struct Encoded {
    items: Vec<AlignedSpan>,
    pairs: Vec<PairStates>,
    pair_of: Vec<usize>,
}

/// Trains a head, writes it to [`Options::out`], and returns its configuration, which holds the
/// tuned threshold and the counts on the development data.
///
/// # Errors
/// When data or encoder cannot be read, a pair is too long for the encoder, or the head cannot be
/// written.
pub fn run(
    options: &Options,
    device: &Device,
    progress: &mut dyn FnMut(Progress),
) -> Result<HeadConfig, AlignError> {
    // 1. Read everything before the long part starts.
    let data = AlignedSpan::read(&options.data)?;
    let dev = AlignedSpan::read(&options.dev)?;
    for (items, path) in [(&data, &options.data), (&dev, &options.dev)] {
        if items.iter().all(|item| item.target_span.is_none()) {
            return Err(AlignError::Content {
                path: path.clone(),
                line: items.len().max(1),
                found: "the end of the file and no `target_span`".to_owned(),
                expected: "at least one aligned span",
            });
        }
    }
    let encoder = PairEncoder::open(&options.encoder, device)?;

    // 2. Encode both data sets.
    let (train_pairs, dev_pairs) = (distinct_pairs(&data).0.len(), distinct_pairs(&dev).0.len());
    let total = train_pairs + dev_pairs;
    let data = encode(&encoder, data, &mut |done| progress(Progress::Encoded { done, total }))?;
    let dev = encode(&encoder, dev, &mut |done| {
        progress(Progress::Encoded { done: train_pairs + done, total });
    })?;

    // 3. Train, tune the threshold, write.
    let (parameters, epoch) = fit(options, device, encoder.width(), &data, &dev, progress)?;
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
    config.hidden = parameters.hidden;
    config.k = options.k;
    config.threshold = threshold;
    config.training = TrainingRecord {
        items: data.items.len(),
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

/// Trains from random weights; returns the weights of the best epoch and its number.
fn fit(
    options: &Options,
    device: &Device,
    width: usize,
    data: &Encoded,
    dev: &Encoded,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Parameters, usize), AlignError> {
    let mut random = SplitMix64::new(options.seed);
    let inputs = 2 * width + CUES;
    let mut parameters =
        Parameters::random(inputs, options.hidden.unwrap_or(inputs / 2), &mut random);
    let mut adam = AdamW::new(&mut parameters);
    let batch = options.batch.max(1);
    let steps = options.epochs * data.items.len().div_ceil(batch);
    let mut step = 0;
    let mut order: Vec<usize> = (0..data.items.len()).collect();
    let (mut kept, mut kept_epoch, mut kept_f1) = (parameters.clone(), 0, -1.0);
    for epoch in 1..=options.epochs {
        random.shuffle(&mut order);
        let mut losses = Vec::new();
        for items in order.chunks(batch) {
            let (rows, labels) = sample(options, data, items, &mut random);
            if labels.is_empty() {
                continue;
            }
            let rows = Tensor::new(&[labels.len(), inputs], rows)?;
            let pass = loss_and_gradients(device, &parameters, &rows, &labels)?;
            let warm = ((step + 1) as f32 / WARM_UP as f32).min(1.0);
            let rate = options.learning_rate * warm * (1.0 - step as f32 / steps as f32);
            adam.update(&mut parameters, &pass.gradients, rate, options.weight_decay);
            follow(&mut parameters.mean, &pass.mean, 1.0);
            // The running variance estimates the whole data's, so it is divided by rows - 1.
            let rows = labels.len() as f32;
            follow(&mut parameters.variance, &pass.variance, rows / (rows - 1.0).max(1.0));
            losses.push(pass.loss);
            step += 1;
        }
        let answers = answers(&parameters, options.k, device, dev)?;
        let dev = report(&answers, dev, options.k, 0.0);
        let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        progress(Progress::Epoch { epoch, loss, dev });
        let f1 = dev.all.soft.f1();
        if f1 > kept_f1 {
            (kept, kept_epoch, kept_f1) = (parameters.clone(), epoch, f1);
        } else if epoch - kept_epoch >= options.patience {
            break;
        }
    }
    Ok((kept, kept_epoch))
}

/// Moves running statistics towards a batch's.
fn follow(running: &mut [f32], batch: &[f32], scale: f32) {
    for (running, batch) in running.iter_mut().zip(batch) {
        *running += MOMENTUM * (scale * batch - *running);
    }
}

/// Features and labels of the candidates that a step looks at.
fn sample(
    options: &Options,
    data: &Encoded,
    items: &[usize],
    random: &mut SplitMix64,
) -> (Vec<f32>, Vec<f32>) {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for &at in items {
        let item = &data.items[at];
        let states = &data.pairs[data.pair_of[at]];
        let all = candidates(item.source_span.len(), item.target.len() as u32, options.k);
        let near =
            |span: &WordSpan| item.target_span.is_some_and(|gold| span.distance(gold) <= NEAR);
        let (mut looked_at, mut others): (Vec<_>, Vec<_>) = all.partition(near);
        random.shuffle(&mut others);
        others.truncate(options.sample.saturating_sub(looked_at.len()));
        looked_at.extend(others);
        for candidate in looked_at {
            let start = rows.len();
            rows.resize(start + 2 * states.width() + CUES, 0.0);
            states.features(item.source_span, candidate, &mut rows[start..]);
            labels.push(soft_label(candidate, item.target_span));
        }
    }
    (rows, labels)
}

/// `2^-d` (Culkin et al. 2021, section 4.1); 0 where nothing answers.
fn soft_label(candidate: WordSpan, gold: Option<WordSpan>) -> f32 {
    gold.map_or(0.0, |gold| (-(candidate.distance(gold) as f32)).exp2())
}

/// The best candidate of every item.
fn answers(
    parameters: &Parameters,
    k: u32,
    device: &Device,
    data: &Encoded,
) -> Result<Vec<Option<Scored>>, AlignError> {
    let scorer = Scorer::new(parameters, k, device)?;
    let questions: Vec<Question<'_>> = data
        .items
        .iter()
        .zip(&data.pair_of)
        .map(|(item, &pair)| Question { states: &data.pairs[pair], span: item.source_span })
        .collect();
    Ok(scorer.score(&questions)?.iter().map(best).collect())
}

fn report(answers: &[Option<Scored>], data: &Encoded, k: u32, threshold: f32) -> Report {
    let mut report = Report::default();
    for (answer, item) in answers.iter().zip(&data.items) {
        let found = answer.filter(|(_, score)| *score >= threshold).map(|(span, _)| span);
        report.add(found, item.target_span, item.changed, is_candidate(item, k));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::mlp::tests::random_pair;

    /// Items whose answer can be read off the states: the target repeats the source, shifted.
    fn shifted_copies(random: &mut SplitMix64, count: usize) -> Encoded {
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

    fn options() -> Options {
        let mut options = Options::new("".into(), "".into(), "".into(), "".into());
        (options.epochs, options.patience, options.batch) = (30, 30, 8);
        (options.hidden, options.learning_rate) = (Some(24), 1e-2);
        options
    }

    #[test]
    fn a_small_data_set_is_learnt_by_heart() {
        let data = shifted_copies(&mut SplitMix64::new(21), 40);
        let mut losses = Vec::new();
        let (parameters, epoch) =
            fit(&options(), &Device::cpu(), 8, &data, &data, &mut |progress| {
                if let Progress::Epoch { loss, .. } = progress {
                    losses.push(loss);
                }
            })
            .unwrap();
        let answers = answers(&parameters, 5, &Device::cpu(), &data).unwrap();
        let report = report(&answers, &data, 5, 0.0);
        assert!(epoch >= 1 && losses[losses.len() - 1] < losses[0]);
        assert!(report.all.exact.f1() > 0.95, "{report:?}");
        assert_eq!(report.covered, 40);
    }

    #[test]
    fn the_same_seed_gives_the_same_weights_on_any_number_of_threads() {
        let data = shifted_copies(&mut SplitMix64::new(22), 12);
        let mut options = options();
        options.epochs = 2;
        let train = |threads| {
            fit(&options, &Device::Cpu { threads }, 8, &data, &data, &mut |_| ()).unwrap().0
        };
        assert_eq!(train(1), train(3));
    }

    #[test]
    fn labels_halve_with_every_word_of_distance() {
        let gold = Some(WordSpan::new(2, 4));
        assert_eq!(soft_label(WordSpan::new(2, 4), gold), 1.0);
        assert_eq!(soft_label(WordSpan::new(1, 4), gold), 0.5);
        assert_eq!(soft_label(WordSpan::new(3, 6), gold), 0.125);
        assert_eq!(soft_label(WordSpan::new(3, 6), None), 0.0);
    }

    #[test]
    fn a_step_looks_at_the_gold_span_and_at_no_more_candidates_than_asked() {
        let data = shifted_copies(&mut SplitMix64::new(23), 3);
        let mut options = options();
        options.sample = 20;
        let (rows, labels) = sample(&options, &data, &[0, 1, 2], &mut SplitMix64::new(1));
        assert_eq!(labels.iter().filter(|&&label| label == 1.0).count(), 3);
        assert_eq!(rows.len(), labels.len() * (2 * 8 + CUES));
        assert!(labels.len() <= 60);
    }
}
