//! Training of a tagger on a frozen encoder.
//!
//! Cross-entropy over words. Each sentence is shown twice, as it is written and in small letters,
//! so that the tagger can do without capitals. The data is encoded once and its features stay in
//! memory (about 1.6 kB a word for an encoder 384 wide, twice). After each epoch the tagger is
//! measured on development data, written both ways; the best epoch's weights are kept.
//!
//! The same options and data give the same weights for any number of threads.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::PathBuf;

use super::features::{WRITING, features};
use super::measure::{Accuracy, DevAccuracy};
use super::model::{ACTIVATION, FEATURES, TaggerConfig, TaggerTraining, WRITE, write};
use super::sentence::TaggedSentence;
use super::tagger::best_tags;
use crate::engine::Device;
use crate::learn::{
    Artefact as _, Labels, Mlp, Network, NetworkError, SmallNetwork, SplitMix64, Task,
    TrainerOptions, TrainingProgress, TrainingState, WordEncoder,
};

/// Sentences that are encoded before their features are laid down.
const SENTENCES_AT_ONCE: usize = 512;

/// Words of development data that are tagged together; bounds memory, not results.
const CHUNK: usize = 4096;

/// How to train.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last.
    pub layer: Option<usize>,
    /// Directory of the tagger, made if need be.
    pub out: PathBuf,
    /// Number of hidden units.
    pub hidden: usize,
    /// What every trainer is told; a step looks at `batch` words.
    pub training: TrainerOptions,
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
            training: TrainerOptions {
                epochs: 8,
                patience: 3,
                batch: 256,
                learning_rate: 2e-3,
                weight_decay: 0.01,
                seed: 1,
            },
        }
    }
}

/// Words ready for training: their features, (N, D + 6), and the numbers of their tags.
#[derive(Debug, Clone, Default)]
struct Encoded {
    rows: Vec<f32>,
    labels: Vec<usize>,
}

/// Trains a tagger, writes it to [`Options::out`], and returns its configuration. Sentences that
/// are too long for the encoder are left out and counted there.
///
/// # Errors
/// When the training or development data has no tag, the encoder cannot be read, or the tagger
/// cannot be written.
pub fn run(
    options: &Options,
    data: &[TaggedSentence],
    dev: &[TaggedSentence],
    device: &Device,
    progress: &mut dyn FnMut(TrainingProgress<DevAccuracy, Infallible>),
) -> Result<TaggerConfig, NetworkError> {
    let there = [data, dev].map(|part| part.iter().any(TaggedSentence::has_tag));
    SmallNetwork::Tagger.require_data("word with a tag", there)?;
    let out = TaggerConfig::prepare(&options.out, WRITE)?;
    let tags: BTreeSet<&str> =
        data.iter().flat_map(|sentence| &sentence.tags).flatten().map(String::as_str).collect();
    let tags: Vec<&str> = tags.into_iter().collect();
    let encoder = WordEncoder::open::<NetworkError>(&options.encoder, options.layer, None, device)?;

    let encoded = encode_both_ways(&encoder, [data, dev], &tags, progress)?;

    let inputs = encoder.width() + WRITING;
    let TrainingState { best, best_epoch: epoch, best_dev: dev, .. } =
        fit(options, device, [inputs, tags.len()], &encoded.words, &encoded.dev_words, progress)?;
    let name = options.encoder.file_name().map(|name| name.to_string_lossy().into_owned());
    let config = TaggerConfig {
        format: TaggerConfig::FORMAT,
        encoder: name.unwrap_or_default(),
        encoder_fingerprint: encoder.fingerprint(),
        layer: options.layer,
        width: encoder.width(),
        hidden: best.hidden(),
        features: FEATURES.to_owned(),
        tags: tags.into_iter().map(str::to_owned).collect(),
        training: TaggerTraining {
            sentences: data.len(),
            words: encoded.tagged,
            // Each of them was too long both ways.
            left_out: encoded.left_out / 2,
            epoch,
            epochs: options.training.epochs.max(1),
            batch: options.training.batch,
            learning_rate: options.training.learning_rate,
            weight_decay: options.training.weight_decay,
            seed: options.training.seed,
        },
        dev,
    };
    write(out, &config, &best)?;
    Ok(config)
}

/// All words, as they are written and in small letters.
struct BothWays {
    words: Encoded,
    /// Those of the development data, each way.
    dev_words: [Encoded; 2],
    /// Words of the training data with a tag.
    tagged: usize,
    /// Sentences that are too long, each way.
    left_out: usize,
}

fn encode_both_ways(
    encoder: &WordEncoder,
    [data, dev]: [&[TaggedSentence]; 2],
    tags: &[&str],
    progress: &mut dyn FnMut(TrainingProgress<DevAccuracy, Infallible>),
) -> Result<BothWays, NetworkError> {
    let lower = |sentences: &[TaggedSentence]| -> Vec<TaggedSentence> {
        sentences.iter().map(|sentence| sentence.lowercase().unwrap_or(sentence.clone())).collect()
    };
    let (data_lower, dev_lower) = (lower(data), lower(dev));
    let total = 2 * (data.len() + dev.len());
    let (mut before, mut left_out) = (0, 0);
    let mut ready =
        |sentences: &[TaggedSentence], into: &mut Encoded| -> Result<(), NetworkError> {
            for sentences in sentences.chunks(SENTENCES_AT_ONCE) {
                left_out += encode(encoder, sentences, tags, into)?;
                before += sentences.len();
                progress(TrainingProgress::Encoded { done: before, total });
            }
            Ok(())
        };
    let (mut words, mut dev_words) = (Encoded::default(), [Encoded::default(), Encoded::default()]);
    ready(data, &mut words)?;
    let tagged = words.labels.len();
    ready(&data_lower, &mut words)?;
    ready(dev, &mut dev_words[0])?;
    ready(&dev_lower, &mut dev_words[1])?;
    Ok(BothWays { words, dev_words, tagged, left_out })
}

/// Lays down the features and labels of the tagged words; returns how many sentences are too long.
/// A tag that is none of `tags`, as development data may have, gets a number that no answer has.
fn encode(
    encoder: &WordEncoder,
    sentences: &[TaggedSentence],
    tags: &[&str],
    into: &mut Encoded,
) -> Result<usize, NetworkError> {
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

/// A tagger learns the tags of words.
struct Tagging<'a> {
    device: &'a Device,
    inputs: usize,
    data: &'a Encoded,
    dev: &'a [Encoded; 2],
}

impl Task for Tagging<'_> {
    type Dev = DevAccuracy;
    type Error = NetworkError;

    fn rows(
        &self,
        items: &[usize],
        _random: &mut SplitMix64,
    ) -> Result<(Vec<f32>, Labels), NetworkError> {
        let rows = items.iter().flat_map(|at| &self.data.rows[at * self.inputs..][..self.inputs]);
        let labels = items.iter().map(|at| self.data.labels[*at]).collect();
        Ok((rows.copied().collect(), Labels::Classes(labels)))
    }

    fn measure(&self, mlp: &Mlp) -> Result<DevAccuracy, NetworkError> {
        let network = Network::new(mlp.clone(), self.device)?;
        let [written, lowercase] = self.dev;
        Ok(DevAccuracy {
            written: accuracy(&network, self.inputs, written)?,
            lowercase: accuracy(&network, self.inputs, lowercase)?,
        })
    }

    fn is_gain(dev: &DevAccuracy, best: &DevAccuracy) -> bool {
        dev.right() > best.right()
    }
}

/// The weights that do best on the development data.
fn fit(
    options: &Options,
    device: &Device,
    [inputs, tags]: [usize; 2],
    data: &Encoded,
    dev: &[Encoded; 2],
    progress: &mut dyn FnMut(TrainingProgress<DevAccuracy, Infallible>),
) -> Result<TrainingState<DevAccuracy>, NetworkError> {
    let (sizes, seed) = ([inputs, options.hidden.max(1), tags], options.training.seed);
    let mut state = TrainingState::begin(&sizes, ACTIVATION, seed, data.labels.len());
    let task = Tagging { device, inputs, data, dev };
    state.train(&task, &options.training, device, &mut |_| Ok(()), progress)?;
    Ok(state)
}

fn accuracy(network: &Network, inputs: usize, data: &Encoded) -> Result<Accuracy, NetworkError> {
    let mut accuracy = Accuracy::default();
    let chunks = data.rows.chunks(CHUNK * inputs).zip(data.labels.chunks(CHUNK));
    for (rows, labels) in chunks {
        for ((found, _), label) in best_tags(network, rows.to_vec())?.into_iter().zip(labels) {
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

    fn train(options: &Options, threads: usize) -> (TrainingState<DevAccuracy>, Vec<f64>) {
        let (data, dev) = (words(300, 1), [words(90, 2), words(90, 3)]);
        let mut losses = Vec::new();
        let mut progress = |progress| {
            if let TrainingProgress::Epoch { loss, .. } = progress {
                losses.push(loss);
            }
        };
        let device = Device::Cpu { threads };
        let best = fit(options, &device, [8, 3], &data, &dev, &mut progress);
        (best.unwrap(), losses)
    }

    fn options() -> Options {
        let mut options = Options::new("".into(), "".into());
        options.hidden = 6;
        (options.training.batch, options.training.learning_rate) = (16, 2e-2);
        options
    }

    #[test]
    fn a_rule_is_learnt_and_holds_for_new_words() {
        let (best, losses) = train(&options(), 1);
        assert!(losses[losses.len() - 1] < losses[0] / 2.0, "{losses:?}");
        assert!(best.best_dev.written.share() > 0.95, "{:?}", best.best_dev);
        assert_eq!((best.best_dev.written.words, best.best_dev.lowercase.words), (90, 90));
    }

    #[test]
    fn the_same_seed_gives_the_same_weights_on_any_number_of_threads() {
        assert_eq!(train(&options(), 1), train(&options(), 3));
        let mut other = options();
        other.training.seed = 2;
        assert_ne!(train(&options(), 1).0.best, train(&other, 1).0.best);
    }

    #[test]
    fn training_stops_when_nothing_is_gained_any_more() {
        let mut still = options();
        let training = &mut still.training;
        (training.learning_rate, training.epochs, training.patience) = (0.0, 9, 2);
        let (best, losses) = train(&still, 1);
        assert_eq!((best.best_epoch, losses.len()), (1, 3));
        still.training.epochs = 0;
        let (_, losses) = train(&still, 1);
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
