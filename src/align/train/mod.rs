//! Training of a head on a frozen encoder; `linker.rs` has that of a linker. Only the command line
//! imports what is here.
//!
//! Culkin et al. 2021, section 4.1: binary cross-entropy against soft labels `2^-d`, where `d` is
//! the distance of a candidate to the gold span in words. The data is encoded once and its states
//! stay in memory. A step looks at a few items and, of each, at the candidates near the gold span
//! and a random sample of the others (`sample.rs`). After each epoch the head is measured on
//! development data; the best epoch's weights are kept, and the threshold is tuned there
//! (`fit.rs`). What an epoch leaves behind can be kept in a file, from which a run that was killed
//! goes on (`checkpoint.rs`).
//!
//! The same options give the same weights for any number of threads, however often a run was
//! stopped. Numbers are drawn from one seeded generator, and the kernels sum in one order. A GPU's
//! order is another, so a run stays on the device that it began on.

mod checkpoint;
mod fit;
pub mod linker;
mod sample;

use std::fmt;
use std::path::{Path, PathBuf};

use checkpoint::checkpoint;
use fit::{State, answers, fit, report, start};

use super::aligner::{first_of, is_candidate};
use super::data::{AlignedSpan, distinct_pairs};
use super::dataset::Dataset;
use super::encode::PairEncoder;
use super::error::{AlignError, FileLine, TooLong};
use super::features::{Features, PairStates};
use super::head::{HeadConfig, Labels, TrainingRecord};
use super::link_network::LinkNetwork;
use super::link_scores::LINK_CUES;
use super::linked::LinkedEncoder;
use super::linker::for_head;
use super::metrics::{AlignmentReport, best_threshold};
use super::trained;
use crate::align::scorer::ACTIVATION;
use crate::engine::Device;
use crate::learn::{Mlp, TrainerOptions, TrainingProgress};

/// What to train on, and how.
///
/// ```
/// use fnstore::align::train::Options;
///
/// let mut options =
///     Options::new("train.jsonl".into(), "dev.jsonl".into(), "encoder".into(), "head".into());
/// options.training.epochs = 3;
/// assert_eq!(options.k, 5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Training data, as [`AlignedSpan::read`] takes it.
    pub data: PathBuf,
    /// Development data: chooses the epoch and the threshold.
    pub dev: PathBuf,
    /// Most words by which a candidate may be longer or shorter than the source span.
    pub k: u32,
    /// What the head looks at.
    pub features: Features,
    /// What a candidate near the gold span is to score.
    pub labels: Labels,
    /// Directory of a linker that reads the same states; the head sees what it says, and keeps it.
    pub linker: Option<PathBuf>,
    /// File that keeps what each epoch leaves behind. When it is there, training resumes from it.
    pub checkpoint: Option<PathBuf>,
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last.
    pub layer: Option<usize>,
    /// Directory of the head, made if need be; an earlier head or linker is replaced.
    pub out: PathBuf,
    /// Number of hidden units; `None` for half the number of inputs (whatever features are on), as
    /// in the paper.
    pub hidden: Option<usize>,
    /// How many candidates of an item a step looks at, at most.
    pub sample: usize,
    /// What every trainer is told; a step looks at `batch` items.
    pub training: TrainerOptions,
}

impl Options {
    /// The settings that the shipped head was trained with.
    #[must_use]
    pub fn new(data: PathBuf, dev: PathBuf, encoder: PathBuf, out: PathBuf) -> Self {
        Self {
            data,
            dev,
            k: 5,
            features: Features::default(),
            labels: Labels::default(),
            linker: None,
            checkpoint: None,
            encoder,
            layer: None,
            out,
            hidden: None,
            sample: 60,
            training: TrainerOptions {
                epochs: 16,
                patience: 3,
                batch: 32,
                learning_rate: 2e-3,
                weight_decay: 0.01,
                seed: 1,
            },
        }
    }
}

/// An item that is too long for the encoder, and is neither trained on nor measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Where it stands.
    pub line: FileLine,
    /// How long it is.
    pub why: TooLong,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.why)
    }
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
/// tuned threshold and the counts on the development data. Items that are too long for the encoder
/// are left out.
///
/// # Errors
/// When data or encoder cannot be read, nothing can be learnt from the data, the checkpoint is of
/// another run, or the head cannot be written.
pub fn run(
    options: &Options,
    device: &Device,
    progress: &mut dyn FnMut(TrainingProgress<AlignmentReport, LeftOut>),
) -> Result<HeadConfig, AlignError> {
    // 1. Read everything, and try what is to be written, before the long part starts.
    let out = trained::prepare(&options.out)?;
    let name = trained::encoder_name(&options.encoder)?;
    let data = Dataset::<AlignedSpan>::read(&options.data)?;
    let dev = Dataset::<AlignedSpan>::read(&options.dev)?;
    has_answer(&data, &options.data, options.k)?;
    has_answer(&dev, &options.dev, options.k)?;
    let layer = options.layer;
    let encoder = PairEncoder::open(&options.encoder, layer, None, device)?;
    let linker = options.linker.as_ref().map(|linker| for_head(linker, &encoder, layer, device));
    let encoder = LinkedEncoder::new(encoder, linker.transpose()?);
    let checkpoint = options.checkpoint.as_ref().map(|path| {
        let linker = encoder.linker().map(LinkNetwork::fingerprint);
        let of_data = [data.items(), dev.items()];
        checkpoint(path, options, device, (encoder.fingerprint(), linker), of_data)
    });
    let resumed = checkpoint.as_ref().map(|from| from.resumed(ACTIVATION, progress));
    let state = resumed.transpose()?.flatten();

    // 2. Encode both data sets.
    let (of_data, of_dev) =
        (distinct_pairs(data.items()).0.len(), distinct_pairs(dev.items()).0.len());
    let total = of_data + of_dev;
    let mut encode = |data, path, before| -> Result<Encoded, AlignError> {
        let (data, pairs) = encode(&encoder, data, [before, total], progress)?;
        // What is left may have nothing to learn from.
        has_answer(&data, path, options.k)?;
        Ok(Encoded::new(data.into_items(), pairs))
    };
    let data = encode(data, &options.data, 0)?;
    let dev = encode(dev, &options.dev, of_data)?;

    // 3. Train, tune the threshold, write.
    let state = state.unwrap_or_else(|| start(options, encoder.width(), data.items.len()));
    let mut save = |state: &State| Ok(checkpoint.as_ref().map_or(Ok(()), |to| to.write(state))?);
    let State { best: mlp, best_epoch: epoch, .. } =
        fit(options, device, state, [&data, &dev], &mut save, progress)?;
    let config = measured(options, (name, &encoder), (&mlp, epoch), [&data, &dev], device)?;
    trained::write(out, &config, &mlp, encoder.linker())?;
    Ok(config)
}

/// What is written beside a head: how it was made, its threshold, and how well it does.
fn measured(
    options: &Options,
    (name, encoder): (String, &LinkedEncoder),
    (mlp, epoch): (&Mlp, usize),
    [data, dev]: [&Encoded; 2],
    device: &Device,
) -> Result<HeadConfig, AlignError> {
    let answers = answers(mlp, options.k, device, dev)?;
    let scored: Vec<(f32, bool)> = answers
        .iter()
        .zip(&dev.items)
        .filter_map(|(answer, item)| {
            answer.map(|(span, score)| (score, Some(span) == item.target_span))
        })
        .collect();
    let gold = dev.items.iter().filter(|item| item.target_span.is_some()).count();
    let threshold = best_threshold(&scored, gold as u64).0;
    let mut config = HeadConfig::current(name, encoder.fingerprint(), encoder.width());
    config.layer = options.layer;
    let of_links: &[&str] = if encoder.linker().is_some() { &LINK_CUES } else { &[] };
    let names = options.features.names();
    config.features = names.iter().chain(of_links).map(|name| (*name).to_owned()).collect();
    config.hidden = mlp.hidden();
    config.k = options.k;
    config.threshold = threshold;
    config.linker = encoder.linker().map(|linker| linker.part().clone());
    config.training = TrainingRecord {
        items: data.items.len(),
        labels: options.labels,
        epoch,
        batch: options.training.batch,
        sample: options.sample,
        learning_rate: options.training.learning_rate,
        weight_decay: options.training.weight_decay,
        seed: options.training.seed,
    };
    config.dev = report(&answers, dev, options.k, 0.0);
    config.dev_at_threshold = report(&answers, dev, options.k, threshold);
    Ok(config)
}

/// Checks that some item's gold span is among its candidates: else there is nothing to learn or to
/// measure.
fn has_answer(data: &Dataset<AlignedSpan>, path: &Path, k: u32) -> Result<(), AlignError> {
    if data.items().iter().any(|item| is_candidate(item, k)) {
        return Ok(());
    }
    let none = "no `target_span` within k words of its `source_span` in length";
    Err(data.lacks(path, format!("the end of the data and {none} (k = {k})")))
}

/// Encodes a data set, of `total` pairs those after the first `before`, and leaves out what is too
/// long.
fn encode(
    encoder: &LinkedEncoder,
    mut data: Dataset<AlignedSpan>,
    [before, total]: [usize; 2],
    progress: &mut dyn FnMut(TrainingProgress<AlignmentReport, LeftOut>),
) -> Result<(Dataset<AlignedSpan>, Vec<PairStates>), AlignError> {
    let (pairs, pair_of) = distinct_pairs(data.items());
    let words: Vec<_> = pairs.into_iter().map(AlignedSpan::words).collect();
    let mut done = |done| progress(TrainingProgress::Encoded { done: before + done, total });
    let states = encoder
        .encode_those_that_fit(&words, &mut done)
        .map_err(|error| data.blame(error.of_request(|pair| first_of(pair, &pair_of))))?;
    for (line, &pair) in data.lines().iter().zip(&pair_of) {
        if let Err(why) = states[pair] {
            progress(TrainingProgress::LeftOut(LeftOut { line: line.clone(), why }));
        }
    }
    let mut pair_of = pair_of.iter();
    data.retain(|_| pair_of.next().is_some_and(|&pair| states[pair].is_ok()));
    Ok((data, states.into_iter().flatten().collect()))
}

impl Encoded {
    /// Items, and the states of their distinct pairs in order of first mention.
    fn new(items: Vec<AlignedSpan>, pairs: Vec<PairStates>) -> Self {
        let pair_of = distinct_pairs(&items).1;
        Self { items, pairs, pair_of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::candidates::WordSpan;
    use crate::align::scorer::tests::random_pair;
    use crate::learn::SplitMix64;

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
        let file = tempfile::NamedTempFile::new().unwrap();
        let check = |items: &[AlignedSpan], k| {
            let lines = items.iter().map(|item| serde_json::to_string(item).unwrap() + "\n\n");
            std::fs::write(file.path(), lines.collect::<String>()).unwrap();
            has_answer(&Dataset::<AlignedSpan>::read(file.path())?, file.path(), k)
        };
        assert!(check(&items, 6).is_ok());
        let error = check(&items, 5).unwrap_err().to_string();
        assert!(error.contains("` line 3: ") && error.contains("`target_span`"), "{error}");
        assert!(error.contains("k = 5"), "{error}");
        let error = check(&items[..1], 9).unwrap_err().to_string();
        assert!(error.contains("` line 1: ") && error.contains("k = 9"), "{error}");
        let error = check(&[], 9).unwrap_err().to_string();
        assert!(error.contains("` line 1: "), "{error}");
    }

    pub(super) fn options() -> Options {
        let mut options = Options::new("".into(), "".into(), "".into(), "".into());
        (options.training.epochs, options.training.patience, options.training.batch) = (30, 30, 8);
        (options.hidden, options.training.learning_rate) = (Some(24), 1e-2);
        options
    }
}
