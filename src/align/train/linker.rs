//! Training of a linker on gold links.
//!
//! Binary cross-entropy: 1 for a sure link, one half for a possible one, else 0. A step looks at a
//! few sentence pairs. Of each it takes all linked words, the nearest words that are not linked
//! (which are easily taken for links), and some others. After each epoch the links of development
//! data are found under every pair of thresholds; the epoch and thresholds of the lowest error rate
//! are kept. Steps are those of the span aligner's training.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::LeftOut;
use crate::align::dataset::Dataset;
use crate::align::encode::PairEncoder;
use crate::align::error::AlignError;
use crate::align::link_features::{PairFeatures, WordPairs};
use crate::align::link_network::{LinkerPart, WordScorer};
use crate::align::linker::{LinkerConfig, LinkerTraining, encode};
use crate::align::scorer::ACTIVATION;
use crate::align::trained;
use crate::align::words::{ErrorRate, Link, LinkCounts, SentencePair};
use crate::engine::{ComputeError, Device};
use crate::learn::{
    Artefact as _, Labels, Mlp, SplitMix64, Task, TrainerOptions, TrainingProgress, TrainingState,
};

/// Score of a possible link.
const POSSIBLE: f32 = 0.5;

/// Nearest words without a link that a step looks at for each word.
const NEAREST: usize = 3;

/// Thresholds that are tried, and those for words that are each the other's best. They reach far
/// up: a step looks at more links than a sentence has among its words, so scores are too high.
const THRESHOLDS: [f32; 10] = [0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.96];
const MUTUAL: [f32; 7] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0];

/// What to train on, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Files of sentence pairs with gold links, as [`read_pairs`](crate::align::words::read_pairs)
    /// takes them.
    pub data: Vec<PathBuf>,
    /// Development data: chooses the epoch and the thresholds.
    pub dev: Vec<PathBuf>,
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// Layer of the encoder whose states are read, from 1; 0 is the embeddings, none the last.
    pub layer: Option<usize>,
    /// Directory of the linker, made if need be; an earlier head or linker is replaced.
    pub out: PathBuf,
    /// Number of hidden units.
    pub hidden: usize,
    /// How many words without a link a step looks at for each word, the nearest not counted.
    pub sample: usize,
    /// What every trainer is told; a step looks at `batch` sentence pairs.
    pub training: TrainerOptions,
}

impl Options {
    /// The defaults for some data.
    #[must_use]
    pub fn new(data: Vec<PathBuf>, dev: Vec<PathBuf>, encoder: PathBuf, out: PathBuf) -> Self {
        Self {
            data,
            dev,
            encoder,
            layer: None,
            out,
            hidden: 96,
            sample: 3,
            training: TrainerOptions {
                epochs: 6,
                patience: 3,
                batch: 16,
                learning_rate: 1e-3,
                weight_decay: 0.05,
                seed: 1,
            },
        }
    }
}

/// Sentence pairs ready for training.
struct Encoded {
    pairs: Vec<SentencePair>,
    features: Vec<PairFeatures>,
}

/// Trains a linker, writes it to [`Options::out`], and returns its configuration. Pairs that are
/// too long for the encoder are left out.
///
/// # Errors
/// When data or encoder cannot be read, the data has no link, or the linker cannot be written.
pub fn run(
    options: &Options,
    device: &Device,
    progress: &mut dyn FnMut(TrainingProgress<LinkCounts, LeftOut>),
) -> Result<LinkerConfig, AlignError> {
    // Whatever may be wrong is found before the long part starts.
    let out = trained::prepare(&options.out)?;
    let name = trained::encoder_name(&options.encoder)?;
    let (data, dev) = (linked(&options.data)?, linked(&options.dev)?);
    let encoder = PairEncoder::open(&options.encoder, options.layer, None, device)?;
    let (of_data, total) = (data.len(), data.len() + dev.len());
    let mut ready = |data: Dataset<SentencePair>, before, files| -> Result<Encoded, AlignError> {
        let mut done = |done| progress(TrainingProgress::Encoded { done: before + done, total });
        let features =
            encode(&encoder, data.items(), &mut done).map_err(|error| data.blame(error))?;
        for (line, features) in data.lines().iter().zip(&features) {
            if let Err(why) = *features {
                progress(TrainingProgress::LeftOut(LeftOut { line: line.clone(), why }));
            }
        }
        let mut fits = features.iter().map(Result::is_ok);
        let mut data = data;
        data.retain(|_| fits.next().unwrap_or(false));
        // What is left may have nothing to learn from.
        has_link(&data, files)?;
        let features = features.into_iter().flatten().collect();
        Ok(Encoded { pairs: data.into_items(), features })
    };
    let data = ready(data, 0, &options.data)?;
    let dev = ready(dev, of_data, &options.dev)?;
    let state = fit(options, device, encoder.width(), [&data, &dev], progress)?;
    let (part, counts) = tune(&state.best, device, &dev)?;
    let config = LinkerConfig {
        format: LinkerConfig::FORMAT,
        encoder: name,
        encoder_fingerprint: encoder.fingerprint(),
        layer: options.layer,
        width: encoder.width(),
        part,
        training: LinkerTraining {
            pairs: data.pairs.len(),
            epoch: state.best_epoch,
            batch: options.training.batch,
            sample: options.sample,
            learning_rate: options.training.learning_rate,
            weight_decay: options.training.weight_decay,
            seed: options.training.seed,
        },
        dev: counts,
    };
    trained::write(out, &config, &state.best, None)?;
    Ok(config)
}

/// The pairs of files that have words on both sides; an error when none of them has a link.
fn linked(files: &[PathBuf]) -> Result<Dataset<SentencePair>, AlignError> {
    let mut pairs = Dataset::default();
    for file in files {
        pairs.append(Dataset::<SentencePair>::read(file)?);
    }
    pairs.retain(|pair: &SentencePair| !pair.source.is_empty() && !pair.target.is_empty());
    has_link(&pairs, files)?;
    Ok(pairs)
}

fn has_link(pairs: &Dataset<SentencePair>, files: &[PathBuf]) -> Result<(), AlignError> {
    if pairs.items().iter().any(|pair| !pair.sure.is_empty()) {
        return Ok(());
    }
    let file = files.first().map_or(Path::new(""), PathBuf::as_path);
    Err(pairs.lacks(file, "the end of the data and no `sure` link".to_owned()))
}

/// A linker learns which words are linked.
struct Linking<'a> {
    options: &'a Options,
    device: &'a Device,
    data: &'a Encoded,
    dev: &'a Encoded,
}

impl Task for Linking<'_> {
    type Dev = LinkCounts;
    type Error = AlignError;

    fn rows(
        &self,
        items: &[usize],
        random: &mut SplitMix64,
    ) -> Result<(Vec<f32>, Labels), AlignError> {
        let (rows, labels) = sample(self.options, self.data, items, random)?;
        Ok((rows, Labels::scores(&labels)))
    }

    fn measure(&self, mlp: &Mlp) -> Result<LinkCounts, AlignError> {
        Ok(tune(mlp, self.device, self.dev)?.1)
    }

    fn is_gain(dev: &LinkCounts, best: &LinkCounts) -> bool {
        dev.error_rate() < best.error_rate()
    }
}

/// The weights that do best on the development data.
fn fit(
    options: &Options,
    device: &Device,
    width: usize,
    [data, dev]: [&Encoded; 2],
    progress: &mut dyn FnMut(TrainingProgress<LinkCounts, LeftOut>),
) -> Result<TrainingState<LinkCounts>, AlignError> {
    let sizes = [PairFeatures::inputs(width), options.hidden.max(1), 1];
    let (seed, items) = (options.training.seed, data.pairs.len());
    let mut state = TrainingState::begin(&sizes, ACTIVATION, seed, items);
    let task = Linking { options, device, data, dev };
    state.train(&task, &options.training, device, &mut |_| Ok(()), progress)?;
    Ok(state)
}

/// Rows and labels of the word pairs that a step looks at.
fn sample(
    options: &Options,
    data: &Encoded,
    chosen: &[usize],
    random: &mut SplitMix64,
) -> Result<(Vec<f32>, Vec<f32>), ComputeError> {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for &at in chosen {
        let (pair, features) = (&data.pairs[at], &data.features[at]);
        let words: Vec<_> = looked_at(options, pair, features, random).into_iter().collect();
        rows.extend_from_slice(features.rows(&words)?.data());
        for (source, target) in words {
            let link = Link { source: source as u32, target: target as u32 };
            labels.push(match (pair.sure.contains(link), pair.possible.contains(link)) {
                (true, _) => 1.0,
                (false, true) => POSSIBLE,
                (false, false) => 0.0,
            });
        }
    }
    Ok((rows, labels))
}

/// Linked words, the nearest words without a link on both sides, and some others.
fn looked_at(
    options: &Options,
    pair: &SentencePair,
    features: &PairFeatures,
    random: &mut SplitMix64,
) -> BTreeSet<(usize, usize)> {
    let [rows, columns] = features.sizes;
    let links = pair.sure.iter().chain(pair.possible.iter());
    let linked: BTreeSet<(usize, usize)> =
        links.map(|link| (link.source as usize, link.target as usize)).collect();
    let nearest = |words: &mut dyn Iterator<Item = (usize, usize)>| {
        let mut words: Vec<(usize, usize)> = words.filter(|two| !linked.contains(two)).collect();
        words.sort_by(|a, b| features.cosine(b.0, b.1).total_cmp(&features.cosine(a.0, a.1)));
        words.truncate(NEAREST);
        words
    };
    let mut all = linked.clone();
    all.extend((0..rows).flat_map(|i| nearest(&mut (0..columns).map(|j| (i, j)))));
    all.extend((0..columns).flat_map(|j| nearest(&mut (0..rows).map(|i| (i, j)))));
    for _ in 0..options.sample * (rows + columns) {
        all.insert((random.below(rows), random.below(columns)));
    }
    all
}

/// The thresholds of the lowest error rate, and the links found under them.
fn tune(mlp: &Mlp, device: &Device, dev: &Encoded) -> Result<(LinkerPart, LinkCounts), AlignError> {
    let part = |thresholds| LinkerPart::new(mlp.hidden(), thresholds);
    let mut tried: Vec<LinkerPart> = THRESHOLDS
        .into_iter()
        .flat_map(|threshold| MUTUAL.map(|mutual| part([threshold, mutual])))
        .collect();
    let scorer = WordScorer::new(mlp.clone(), device)?;
    let mut rates = vec![ErrorRate::default(); tried.len()];
    for (pair, features) in dev.pairs.iter().zip(&dev.features) {
        for scores in scorer.score(device, &WordPairs::of(std::slice::from_ref(features))?)? {
            for (part, rate) in tried.iter().zip(&mut rates) {
                rate.add(pair, &part.links(&scores));
            }
        }
    }
    let best = (0..tried.len())
        .min_by(|a, b| rates[*a].all.error_rate().total_cmp(&rates[*b].all.error_rate()));
    let best = best.expect("thresholds are tried");
    Ok((tried.swap_remove(best), rates[best].all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::features::{PairStates, SentenceStates};
    use crate::learn::Part;

    /// Pairs whose target is the source in another order; equal words have equal states.
    fn shuffled(count: usize) -> Encoded {
        let mut random = SplitMix64::new(5);
        let width = 8;
        let states: Vec<Vec<f32>> =
            (0..30).map(|_| (0..width).map(|_| 2.0 * random.unit() - 1.0).collect()).collect();
        let side = |words: &[usize]| {
            let states = words.iter().enumerate().map(|(at, word)| (at, states[*word].as_slice()));
            SentenceStates::new(width, words.len(), states)
        };
        // No word is spelt as another one: the states have to tell.
        let spelt = |words: &[usize], first: char| -> Vec<String> {
            words.iter().map(|word| format!("{first}{word}")).collect()
        };
        let mut data = Encoded { pairs: Vec::new(), features: Vec::new() };
        for _ in 0..count {
            let mut all: Vec<usize> = (0..30).collect();
            random.shuffle(&mut all);
            let source = all[..6].to_vec();
            let mut order: Vec<usize> = (0..6).collect();
            random.shuffle(&mut order);
            let target: Vec<usize> = order.iter().map(|at| source[*at]).collect();
            let links = order.iter().enumerate();
            let sure = links.map(|(j, i)| Link { source: *i as u32, target: j as u32 }).collect();
            let states = PairStates { source: side(&source), target: side(&target), links: None };
            let (source, target) = (spelt(&source, 's'), spelt(&target, 't'));
            data.features.push(PairFeatures::new(&states, &source, &target).unwrap());
            data.pairs.push(SentencePair { source, target, sure, ..SentencePair::default() });
        }
        data
    }

    fn options() -> Options {
        let mut options = Options::new(vec![], vec![], "".into(), "".into());
        (options.hidden, options.training.epochs, options.training.batch) = (16, 12, 4);
        options.training.learning_rate = 1e-2;
        options
    }

    #[test]
    fn words_are_linked_by_their_states() {
        let (data, dev) = (shuffled(60), shuffled(20));
        let mut losses = Vec::new();
        let best = fit(&options(), &Device::cpu(), 8, [&data, &dev], &mut |at| {
            if let TrainingProgress::Epoch { loss, .. } = at {
                losses.push(loss);
            }
        })
        .unwrap();
        assert!(best.best_dev.error_rate() < 0.05, "{:?}", best.best_dev);
        assert!(losses[losses.len() - 1] < losses[0] / 2.0, "{losses:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_weights_on_any_number_of_threads() {
        let data = shuffled(10);
        let mut options = options();
        options.training.epochs = 2;
        let train = |threads| {
            let device = Device::Cpu { threads };
            fit(&options, &device, 8, [&data, &data], &mut |_| ()).unwrap()
        };
        assert_eq!(train(1), train(3));
    }

    #[test]
    fn one_epoch_is_the_least() {
        let data = shuffled(4);
        let train = |epochs| {
            let mut options = options();
            options.training.epochs = epochs;
            fit(&options, &Device::cpu(), 8, [&data, &data], &mut |_| ()).unwrap().best
        };
        assert_eq!(train(0), train(1));
        assert!(train(0).layers[0][Part::Weight].iter().all(|weight| weight.is_finite()));
    }

    #[test]
    fn a_step_looks_at_every_link_and_possible_ones_are_half_right() {
        let mut data = shuffled(1);
        let pair = &mut data.pairs[0];
        let links: Vec<Link> = pair.sure.iter().collect();
        pair.sure = links[1..].iter().copied().collect();
        pair.possible = links[..1].iter().copied().collect();
        let (rows, labels) = sample(&options(), &data, &[0], &mut SplitMix64::new(1)).unwrap();
        assert_eq!(rows.len(), labels.len() * PairFeatures::inputs(8));
        let of = |label: f32| labels.iter().filter(|x| **x == label).count();
        assert_eq!((of(1.0), of(POSSIBLE)), (5, 1));
        assert!(of(0.0) >= 6, "the nearest words without a link");
    }

    #[test]
    fn data_without_a_link_is_refused() {
        let file = tempfile::NamedTempFile::with_suffix(".jsonl").unwrap();
        std::fs::write(file.path(), r#"{"source": "a", "target": "b"}"#).unwrap();
        let error = linked(&[file.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("no `sure` link"), "{error}");
    }
}
