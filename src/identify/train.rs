//! Training of a frame model on a frozen encoder.
//!
//! Cross-entropy over all frames and NULL at spans. Full text gives targets and negatives: the
//! forms of LUs that are no targets, and a sample of its other spans. Exemplars and generated
//! sentences give their target alone (Culkin et al. 2021, section 6.3). Labels are smoothed on
//! negatives only, and each step goes without a share of the hidden values. The data is encoded
//! once and its states stay in memory. After each epoch the model is measured on development data;
//! the best epoch's weights are kept.
//!
//! The same options and data give the same weights for any number of threads.

mod trials;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::candidates::Candidates;
use super::corpus::{Answers, Encoded, encode};
use super::data::FrameSentence;
use super::features::{Shape, WordSpan};
use super::measure::{Figures, LexunitName};
use super::model::{ACTIVATION, FEATURES, FrameConfig, FrameTraining, WRITE, write};
use super::scorer::{CandidateSpan, Scorer, Search};
use super::standard::Standard;
use crate::engine::Device;
use crate::learn::{
    Artefact as _, Checkpoint, Choice, Labels, Mlp, NetworkError, SmallNetwork, SplitMix64, Task,
    TrainerOptions, TrainingProgress, TrainingState, WordEncoder,
};
use crate::text::Morphology;
pub(crate) use trials::Trials;

/// How to train.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// Layers of the encoder whose states are read, ascending, from 1; 0 is the embeddings.
    pub layers: Vec<usize>,
    /// Directory of the model, made if need be.
    pub out: PathBuf,
    /// File that keeps what each epoch leaves behind. When it is there, training resumes from it.
    pub checkpoint: Option<PathBuf>,
    /// How to fit the network.
    pub fit: FitOptions,
}

/// How to fit the network to encoded sentences.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// Number of hidden units.
    pub hidden: usize,
    /// Share of a negative's label that is spread over the frames.
    pub smoothing: f32,
    /// Share of the hidden values that each step goes without, below 1.
    pub dropout: f32,
    /// Share of the spans of full text that are no forms of LUs to learn from.
    pub others: f32,
    /// How much a target of an exemplar or a generated sentence counts; one of full text counts 1.
    pub partial: f32,
    /// What every trainer is told; a step looks at `batch` spans.
    pub training: TrainerOptions,
}

impl Options {
    /// The settings that the shipped model was trained with.
    #[must_use]
    pub fn new(encoder: PathBuf, out: PathBuf) -> Self {
        Self {
            encoder,
            layers: vec![0, 1, 2, 3],
            out,
            checkpoint: None,
            fit: FitOptions::default(),
        }
    }
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            hidden: 512,
            smoothing: 0.2,
            dropout: 0.3,
            others: 0.1,
            partial: 1.0,
            training: TrainerOptions {
                epochs: 5,
                patience: 3,
                batch: 256,
                learning_rate: 1e-3,
                weight_decay: 0.01,
                seed: 1,
            },
        }
    }
}

/// What to learn from and to be measured on.
#[derive(Debug, Clone, Copy)]
pub struct Data<'a> {
    /// Sentences to learn from.
    pub train: &'a [FrameSentence],
    /// Sentences that choose the epoch and the bias of NULL.
    pub dev: &'a [FrameSentence],
    /// The lexicon's LUs, names of frame and LU.
    pub lexunits: &'a [LexunitName],
    /// How their words are inflected.
    pub morphology: &'a Morphology,
}

impl Data<'_> {
    /// The frames that can be learnt or meant, by name.
    pub(super) fn frames(&self) -> Vec<String> {
        let targets = self.train.iter().flat_map(|sentence| &sentence.targets);
        let of_lexicon = self.lexunits.iter().map(|(frame, _)| &**frame);
        let names: BTreeSet<&str> =
            targets.map(|target| &*target.frame).chain(of_lexicon).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// Both parts have targets and share no sentence.
    pub(super) fn check(&self) -> Result<(), NetworkError> {
        let has_target = |sentences: &[FrameSentence]| {
            sentences.iter().any(|sentence| !sentence.targets.is_empty())
        };
        let there = [self.train, self.dev].map(has_target);
        SmallNetwork::FrameModel.require_data("sentence with a target", there)?;
        let dev = FrameSentence::texts(self.dev);
        let train = FrameSentence::texts(self.train);
        match train.intersection(&dev).count() {
            0 => Ok(()),
            shared => Err(NetworkError::Leak { shared }),
        }
    }
}

/// Trains a frame model, writes it to [`Options::out`], and returns its configuration. Sentences
/// that are too long for the encoder are left out and counted there.
///
/// # Errors
/// When the training or development data has no target, both share a sentence, the encoder cannot
/// be read, the checkpoint is of another run, or the model cannot be written.
pub fn run(
    options: &Options,
    data: Data<'_>,
    device: &Device,
    progress: &mut dyn FnMut(TrainingProgress<Figures, Infallible>),
) -> Result<FrameConfig, NetworkError> {
    data.check()?;
    let out = FrameConfig::prepare(&options.out, WRITE)?;
    let encoder =
        WordEncoder::open_layers::<NetworkError>(&options.encoder, &options.layers, None, device)?;
    let checkpoint =
        options.checkpoint.as_ref().map(|path| checkpoint(path, options, &encoder, data, device));
    let resumed = checkpoint.as_ref().map(|from| from.resumed(ACTIVATION, progress));
    let begun = resumed.transpose()?.flatten();
    let frames = data.frames();
    let lessons = Lessons::encode(&encoder, options.layers.len(), data, &frames, progress)?;
    let mut save = |state: &TrainingState<Figures>| {
        Ok(checkpoint.as_ref().map_or(Ok(()), |checkpoint| checkpoint.write(state))?)
    };
    let fitted = fit(&options.fit, &lessons, begun, device, &mut save, progress)?;
    let name = options.encoder.file_name().map(|name| name.to_string_lossy().into_owned());
    let whole = lessons.train.iter().filter(|sentence| sentence.is_whole).count();
    let config = FrameConfig {
        format: FrameConfig::FORMAT,
        encoder: name.unwrap_or_default(),
        encoder_fingerprint: encoder.fingerprint(),
        layers: options.layers.clone(),
        width: encoder.width(),
        hidden: fitted.mlp.hidden(),
        features: FEATURES.to_owned(),
        null_bias: fitted.bias,
        frames,
        training: FrameTraining {
            whole,
            partial: lessons.train.len() - whole,
            targets: lessons.train.iter().map(|sentence| sentence.targets.len()).sum(),
            left_out: lessons.left_out,
            epoch: fitted.epoch,
            epochs: options.fit.training.epochs.max(1),
            batch: options.fit.training.batch,
            smoothing: options.fit.smoothing,
            dropout: options.fit.dropout,
            learning_rate: options.fit.training.learning_rate,
            weight_decay: options.fit.training.weight_decay,
            seed: options.fit.training.seed,
        },
        dev: fitted.dev,
    };
    write(out, &config, &fitted.mlp)?;
    Ok(config)
}

/// The checkpoint of a run.
fn checkpoint(
    path: &std::path::Path,
    options: &Options,
    encoder: &WordEncoder,
    data: Data<'_>,
    device: &Device,
) -> Checkpoint {
    // A number that is read back from JSON may differ in its last bit; its text does not.
    let exactly = |rate: f32| format!("{rate:?}");
    let fit = &options.fit;
    let run = json!({
        "device": match device {
            Device::Cpu { .. } => "cpu",
            Device::Gpu(_) => "gpu",
        },
        "encoder": encoder.fingerprint(),
        "layers": options.layers,
        "data": FrameSentence::fingerprint(data.train),
        "dev": FrameSentence::fingerprint(data.dev),
        "hidden": fit.hidden,
        "smoothing": exactly(fit.smoothing),
        "dropout": exactly(fit.dropout),
        "others": exactly(fit.others),
        "partial": exactly(fit.partial),
        "epochs": fit.training.epochs,
        "patience": fit.training.patience,
        "batch": fit.training.batch,
        "learning_rate": exactly(fit.training.learning_rate),
        "weight_decay": exactly(fit.training.weight_decay),
        "seed": fit.training.seed,
    });
    Checkpoint::new(path, run)
}

/// Encoded sentences, ready for training.
pub(super) struct Lessons {
    pub(super) shape: Shape,
    /// Number of frames; NULL's output comes after them.
    pub(super) frames: usize,
    pub(super) train: Vec<Arc<Encoded>>,
    pub(super) dev: Arc<Vec<Encoded>>,
    /// LUs of the targets of full text to learn from.
    pub(super) seen: HashSet<LexunitName>,
    pub(super) left_out: usize,
}

impl Lessons {
    fn encode(
        encoder: &WordEncoder,
        layers: usize,
        data: Data<'_>,
        frames: &[String],
        progress: &mut dyn FnMut(TrainingProgress<Figures, Infallible>),
    ) -> Result<Self, NetworkError> {
        let number: HashMap<&str, usize> =
            frames.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let lexunits = data.lexunits.iter().map(|(frame, name)| (&**frame, &**name));
        let candidates = Candidates::new(frames, lexunits, data.morphology);
        let total = data.train.len() + data.dev.len();
        let (mut before, mut left_out) = (0, 0);
        let mut ready = |sentences: &[FrameSentence]| -> Result<Vec<Encoded>, NetworkError> {
            let mut tell =
                |done| progress(TrainingProgress::Encoded { done: before + done, total });
            let (encoded, too_long) = encode(
                encoder,
                layers,
                sentences,
                &number,
                (&candidates, Search::Lexicon),
                &mut tell,
            )?;
            before += sentences.len();
            left_out += too_long;
            Ok(encoded)
        };
        let (train, dev) = (ready(data.train)?, ready(data.dev)?);
        let shape = Shape { width: encoder.width(), layers };
        let train = train.into_iter().map(Arc::new).collect();
        Ok(Self { left_out, ..Self::new(shape, frames.len(), train, Arc::new(dev)) })
    }

    /// Of sentences that are encoded.
    pub(super) fn new(
        shape: Shape,
        frames: usize,
        train: Vec<Arc<Encoded>>,
        dev: Arc<Vec<Encoded>>,
    ) -> Self {
        let of_texts = train.iter().filter(|sentence| sentence.is_whole);
        let targets = of_texts.flat_map(|sentence| &sentence.targets);
        let seen = targets.map(|target| target.lexunit.clone()).collect();
        Self { shape, frames, train, dev, seen, left_out: 0 }
    }
}

/// A span to learn.
#[derive(Debug, Clone, Copy)]
struct Item {
    /// Index of its sentence.
    sentence: usize,
    span: WordSpan,
    is_known: bool,
    /// Number of its frame, or of NULL.
    label: usize,
    weight: f32,
}

/// The spans to learn from some sentences: targets, and of whole sentences the negatives. Spans
/// that are no forms of LUs are many and nearly all told at a glance, so a share of them is drawn.
fn items(options: &FitOptions, train: &[Arc<Encoded>], null: usize) -> Vec<Item> {
    let mut items = Vec::new();
    let mut random = SplitMix64::new(options.training.seed);
    for (sentence, of) in train.iter().enumerate() {
        let mut taken = HashSet::new();
        for target in &of.targets {
            let Some(CandidateSpan { span, candidates, .. }) = &target.candidate else { continue };
            taken.insert(*span);
            let Some(label) = target.frame.filter(|_| target.exact.is_some()) else { continue };
            let weight = if of.is_whole { 1.0 } else { options.partial };
            let is_known = !candidates.is_empty();
            items.push(Item { sentence, span: *span, is_known, label, weight });
        }
        let negatives = of.known.iter().filter(|asked| !taken.contains(&asked.span));
        let negative = |span| Item { sentence, span, is_known: true, label: null, weight: 1.0 };
        items.extend(negatives.map(|asked| negative(asked.span)));
        if of.is_whole {
            taken.extend(of.known.iter().map(|asked| asked.span));
            let others = WordSpan::all(of.states.words()).filter(|span| !taken.contains(span));
            let others = others.filter(|_| random.unit() < options.others);
            items.extend(others.map(|span| Item { is_known: false, ..negative(span) }));
        }
    }
    items
}

/// A network fitted to lessons.
pub(super) struct Fitted {
    pub(super) mlp: Mlp,
    pub(super) bias: f32,
    pub(super) epoch: usize,
    pub(super) dev: Figures,
}

/// A frame model learns spans.
struct Spans<'a> {
    options: &'a FitOptions,
    lessons: &'a Lessons,
    items: &'a [Item],
    standard: &'a Standard,
    device: &'a Device,
}

impl Task for Spans<'_> {
    type Dev = Figures;
    type Error = NetworkError;

    fn rows(
        &self,
        items: &[usize],
        _: &mut SplitMix64,
    ) -> Result<(Vec<f32>, Labels), NetworkError> {
        let null = self.lessons.frames;
        let mut rows = Vec::with_capacity(items.len() * self.lessons.shape.inputs());
        let mut choices = Vec::with_capacity(items.len());
        for at in items {
            let item = self.items[*at];
            let states = &self.lessons.train[item.sentence].states;
            states.write_row(&[item.span], item.is_known, &mut rows);
            choices.push(Choice {
                label: item.label,
                among: Vec::new(),
                weight: item.weight,
                smoothing: if item.label == null { self.options.smoothing } else { 0.0 },
            });
        }
        self.standard.apply(&mut rows);
        Ok((rows, Labels::Choices(choices)))
    }

    fn dropout(&self) -> f32 {
        self.options.dropout
    }

    fn measure(&self, mlp: &Mlp) -> Result<Figures, NetworkError> {
        Ok(self.tuned(mlp)?.1)
    }

    fn is_gain(dev: &Figures, best: &Figures) -> bool {
        dev.merit() > best.merit()
    }
}

impl Spans<'_> {
    /// The bias of NULL that suits weights best, and how they do with it on the development data.
    fn tuned(&self, mlp: &Mlp) -> Result<(f32, Figures), NetworkError> {
        let mut mlp = mlp.clone();
        self.standard.fold_into(&mut mlp);
        let scorer = Scorer::new(mlp, self.lessons.shape, self.device)?;
        Ok(Answers::of(&scorer, &self.lessons.dev, Search::Lexicon)?.tuned(&self.lessons.seen))
    }
}

/// Fits a network to lessons: the weights that do best on the development data, for inputs as they
/// are.
pub(super) fn fit(
    options: &FitOptions,
    lessons: &Lessons,
    begun: Option<TrainingState<Figures>>,
    device: &Device,
    save: &mut dyn FnMut(&TrainingState<Figures>) -> Result<(), NetworkError>,
    progress: &mut dyn FnMut(TrainingProgress<Figures, Infallible>),
) -> Result<Fitted, NetworkError> {
    let items = items(options, &lessons.train, lessons.frames);
    let inputs = lessons.shape.inputs();
    let standard = Standard::of(inputs, &items, |item, row| {
        lessons.train[item.sentence].states.write_row(&[item.span], item.is_known, row);
    });
    let mut state = begun.unwrap_or_else(|| {
        let sizes = [inputs, options.hidden.max(1), lessons.frames + 1];
        TrainingState::begin(&sizes, ACTIVATION, options.training.seed, items.len())
    });
    let task = Spans { options, lessons, items: &items, standard: &standard, device };
    state.train(&task, &options.training, device, save, progress)?;
    let (bias, dev) = task.tuned(&state.best)?;
    let mut mlp = state.best;
    standard.fold_into(&mut mlp);
    Ok(Fitted { mlp, bias, epoch: state.best_epoch, dev })
}
