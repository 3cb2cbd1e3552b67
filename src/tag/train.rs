//! Training of a tagger on a frozen encoder.
//!
//! Cross-entropy over words. Each sentence is shown twice, as it is written and in small letters, so that the
//! tagger can do without capitals. The data is encoded once and its features stay in memory (about 1.6 kB a
//! word for an encoder 384 wide, twice). After each epoch the tagger is measured on development data, written
//! both ways; the best epoch's weights are kept.
//!
//! The same options and data give the same weights for any number of threads.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::TagError;
use super::features::{WRITING, features};
use super::measure::Accuracy;
use super::model::{FEATURES, FORMAT, TaggerConfig, TaggerTraining, prepare, write};
use super::network::{Network, Parameters};
use super::sentence::TaggedSentence;
use crate::compute::{Device, Tensor};
use crate::learn::{Schedule, SplitMix64, WordEncoder};

/// Sentences that are encoded before their features are laid down.
const SENTENCES_AT_ONCE: usize = 512;

/// Words that are tagged together when the development data is measured; bounds memory, not results.
const CHUNK: usize = 4096;

/// How to train.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last layer.
    pub layer: Option<usize>,
    /// Directory of the tagger, made if need be.
    pub out: PathBuf,
    /// Number of hidden units.
    pub hidden: usize,
    /// Most passes over the data; one at least is made.
    pub epochs: usize,
    /// Passes without gain on the development data after which training stops.
    pub patience: usize,
    /// Words per step.
    pub batch: usize,
    /// Learning rate after warm-up; it falls to zero over all epochs.
    pub learning_rate: f32,
    /// Weight decay of the matrices.
    pub weight_decay: f32,
    /// Seed of weights and order.
    pub seed: u64,
}

impl Options {
    /// The settings that the shipped tagger was trained with.
    #[must_use]
    pub fn new(encoder: PathBuf, out: PathBuf) -> Self {
        Self {
            encoder,
            layer: Some(2),
            out,
            hidden: 48,
            epochs: 8,
            patience: 3,
            batch: 256,
            learning_rate: 2e-3,
            weight_decay: 0.01,
            seed: 1,
        }
    }
}

/// Words of the development data that are tagged rightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DevAccuracy {
    /// In sentences as they are written.
    pub written: Accuracy,
    /// In the same sentences in small letters.
    pub lowercase: Accuracy,
}

impl DevAccuracy {
    fn right(&self) -> u64 {
        self.written.right + self.lowercase.right
    }
}

/// What training has just done; sentences that are left out are counted in the configuration.
pub type Progress = crate::learn::Progress<DevAccuracy, Infallible>;

/// Words ready for training: their features, (N, D + 6), and the numbers of their tags.
#[derive(Debug, Clone, Default)]
struct Encoded {
    rows: Vec<f32>,
    labels: Vec<usize>,
}

/// Trains a tagger, writes it to [`Options::out`], and returns its configuration. Sentences that are too long
/// for the encoder are left out and counted there.
///
/// # Errors
/// When the training or development data has no tag, the encoder cannot be read, or the tagger cannot be
/// written.
pub fn run(
    options: &Options,
    data: &[TaggedSentence],
    dev: &[TaggedSentence],
    device: &Device,
    progress: &mut dyn FnMut(Progress),
) -> Result<TaggerConfig, TagError> {
    for (sentences, part) in [(data, "training"), (dev, "development")] {
        if !sentences.iter().any(TaggedSentence::has_tag) {
            return Err(TagError::NoTags { part });
        }
    }
    let out = prepare(&options.out)?;
    let tags: BTreeSet<&str> =
        data.iter().flat_map(|sentence| &sentence.tags).flatten().map(String::as_str).collect();
    let tags: Vec<&str> = tags.into_iter().collect();
    let encoder = WordEncoder::open::<TagError>(&options.encoder, options.layer, None, device)?;

    // 1. Encode everything, as it is written and in small letters.
    let lower = |sentences: &[TaggedSentence]| -> Vec<TaggedSentence> {
        sentences.iter().map(|sentence| sentence.lowercase().unwrap_or(sentence.clone())).collect()
    };
    let (data_lower, dev_lower) = (lower(data), lower(dev));
    let total = 2 * (data.len() + dev.len());
    let (mut before, mut left_out) = (0, 0);
    let mut ready = |sentences: &[TaggedSentence], into: &mut Encoded| -> Result<(), TagError> {
        for sentences in sentences.chunks(SENTENCES_AT_ONCE) {
            left_out += encode(&encoder, sentences, &tags, into)?;
            before += sentences.len();
            progress(Progress::Encoded { done: before, total });
        }
        Ok(())
    };
    let (mut words, mut dev_words) = (Encoded::default(), [Encoded::default(), Encoded::default()]);
    ready(data, &mut words)?;
    let tagged = words.labels.len();
    ready(&data_lower, &mut words)?;
    ready(dev, &mut dev_words[0])?;
    ready(&dev_lower, &mut dev_words[1])?;

    // 2. Train and write.
    let inputs = encoder.width() + WRITING;
    let best = fit(options, device, [inputs, tags.len()], &words, &dev_words, progress)?;
    let name = options.encoder.file_name().map(|name| name.to_string_lossy().into_owned());
    let config = TaggerConfig {
        format: FORMAT,
        encoder: name.unwrap_or_default(),
        encoder_fingerprint: encoder.fingerprint(),
        layer: options.layer,
        width: encoder.width(),
        hidden: best.parameters.hidden,
        features: FEATURES.to_owned(),
        tags: tags.into_iter().map(str::to_owned).collect(),
        training: TaggerTraining {
            sentences: data.len(),
            words: tagged,
            // Each of them was too long both ways.
            left_out: left_out / 2,
            epoch: best.epoch,
            epochs: options.epochs.max(1),
            batch: options.batch,
            learning_rate: options.learning_rate,
            weight_decay: options.weight_decay,
            seed: options.seed,
        },
        dev: best.dev,
    };
    write(out, &config, &best.parameters)?;
    Ok(config)
}

/// Lays down the features and labels of the tagged words; returns how many sentences are too long. A tag that
/// is none of `tags`, as development data may have, gets a number that no answer has.
fn encode(
    encoder: &WordEncoder,
    sentences: &[TaggedSentence],
    tags: &[&str],
    into: &mut Encoded,
) -> Result<usize, TagError> {
    let words: Vec<Vec<&str>> = sentences.iter().map(TaggedSentence::words).collect();
    let inputs = encoder.width() + WRITING;
    let mut left_out = 0;
    for (rows, sentence) in features(encoder, &words, 0)?.iter().zip(sentences) {
        let Ok(rows) = rows else {
            left_out += 1;
            continue;
        };
        for (row, tag) in rows.chunks_exact(inputs).zip(&sentence.tags) {
            let Some(tag) = tag else { continue };
            into.rows.extend_from_slice(row);
            into.labels.push(tags.binary_search(&tag.as_str()).unwrap_or(tags.len()));
        }
    }
    Ok(left_out)
}

/// The weights that did best on the development data.
#[derive(Debug, PartialEq)]
struct Best {
    parameters: Parameters,
    epoch: usize,
    dev: DevAccuracy,
}

fn fit(
    options: &Options,
    device: &Device,
    [inputs, tags]: [usize; 2],
    data: &Encoded,
    dev: &[Encoded; 2],
    progress: &mut dyn FnMut(Progress),
) -> Result<Best, TagError> {
    let mut random = SplitMix64::new(options.seed);
    let mut parameters = Parameters::random(inputs, options.hidden.max(1), tags, &mut random);
    let mut adam = parameters.optimizer();
    let (batch, epochs) = (options.batch.max(1), options.epochs.max(1));
    let total = data.labels.len().div_ceil(batch);
    let schedule = Schedule {
        rate: options.learning_rate,
        decay: options.weight_decay,
        steps: epochs * total,
    };
    let mut order: Vec<usize> = (0..data.labels.len()).collect();
    let mut best: Option<Best> = None;
    for epoch in 1..=epochs {
        random.shuffle(&mut order);
        let mut sum = 0.0;
        for (step, chosen) in order.chunks(batch).enumerate() {
            let rows = chosen.iter().flat_map(|at| &data.rows[at * inputs..][..inputs]);
            let rows = Tensor::new(&[chosen.len(), inputs], rows.copied().collect())?;
            let labels: Vec<usize> = chosen.iter().map(|at| data.labels[*at]).collect();
            let network = Network::new(parameters.clone(), device)?;
            let (loss, gradients) = network.loss_and_gradients(&rows, &labels)?;
            parameters.update(&mut adam, &gradients, schedule);
            sum += loss;
            progress(Progress::Step { epoch, done: step + 1, total });
        }
        let network = Network::new(parameters.clone(), device)?;
        let [written, lowercase] = dev;
        let dev = DevAccuracy {
            written: accuracy(&network, inputs, written)?,
            lowercase: accuracy(&network, inputs, lowercase)?,
        };
        progress(Progress::Epoch { epoch, loss: sum / total.max(1) as f64, dev });
        if best.as_ref().is_none_or(|best| dev.right() > best.dev.right()) {
            best = Some(Best { parameters: parameters.clone(), epoch, dev });
        } else if best.as_ref().is_some_and(|best| epoch - best.epoch >= options.patience) {
            break;
        }
    }
    Ok(best.expect("there is a first epoch"))
}

fn accuracy(network: &Network, inputs: usize, data: &Encoded) -> Result<Accuracy, TagError> {
    let mut accuracy = Accuracy::default();
    let chunks = data.rows.chunks(CHUNK * inputs).zip(data.labels.chunks(CHUNK));
    for (rows, labels) in chunks {
        for ((found, _), label) in network.best(rows.to_vec())?.into_iter().zip(labels) {
            accuracy.add(found == *label);
        }
    }
    Ok(accuracy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words whose tag can be read off their first three numbers.
    fn words(count: usize, seed: u64) -> Encoded {
        let mut random = SplitMix64::new(seed);
        let mut data = Encoded::default();
        for _ in 0..count {
            let tag = random.below(3);
            let number = |at: usize| f32::from(u8::from(at == tag));
            data.rows.extend((0..8).map(|at| number(at) + 0.4 * random.unit()));
            data.labels.push(tag);
        }
        data
    }

    fn train(options: &Options, threads: usize) -> (Best, Vec<f64>) {
        let (data, dev) = (words(300, 1), [words(90, 2), words(90, 3)]);
        let mut losses = Vec::new();
        let mut progress = |progress| {
            if let Progress::Epoch { loss, .. } = progress {
                losses.push(loss);
            }
        };
        let device = Device::Cpu { threads };
        let best = fit(options, &device, [8, 3], &data, &dev, &mut progress);
        (best.unwrap(), losses)
    }

    fn options() -> Options {
        let mut options = Options::new("".into(), "".into());
        (options.hidden, options.batch, options.learning_rate) = (6, 16, 2e-2);
        options
    }

    #[test]
    fn a_rule_is_learnt_and_holds_for_new_words() {
        let (best, losses) = train(&options(), 1);
        assert!(losses[losses.len() - 1] < losses[0] / 2.0, "{losses:?}");
        assert!(best.dev.written.share() > 0.95, "{:?}", best.dev);
        assert_eq!((best.dev.written.words, best.dev.lowercase.words), (90, 90));
    }

    #[test]
    fn the_same_seed_gives_the_same_weights_on_any_number_of_threads() {
        assert_eq!(train(&options(), 1), train(&options(), 3));
        let other = Options { seed: 2, ..options() };
        assert_ne!(train(&options(), 1).0.parameters, train(&other, 1).0.parameters);
    }

    #[test]
    fn training_stops_when_nothing_is_gained_any_more() {
        let still = Options { learning_rate: 0.0, epochs: 9, patience: 2, ..options() };
        let (best, losses) = train(&still, 1);
        assert_eq!((best.epoch, losses.len()), (1, 3));
        let (_, losses) = train(&Options { epochs: 0, ..options() }, 1);
        assert_eq!(losses.len(), 1, "one epoch is the least");
    }

    #[test]
    fn data_without_a_tag_is_refused_before_the_encoder_is_opened() {
        let tagged = TaggedSentence { words: vec!["a".into()], tags: vec![Some("DT".into())] };
        let bare = TaggedSentence { words: vec!["a".into()], tags: vec![None] };
        for (data, dev, says) in
            [(&bare, &tagged, "training data"), (&tagged, &bare, "development data")]
        {
            let (data, dev) = (std::slice::from_ref(data), std::slice::from_ref(dev));
            let error = run(&options(), data, dev, &Device::cpu(), &mut |_| ()).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
