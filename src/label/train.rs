//! Training of a labeller on a frozen encoder.
//!
//! The loss of a target is the negative log-likelihood of its annotated segmentation under the
//! scores of all (`segments.rs`), which is exact: its derivative by a span's score for an FE is
//! the probability of that span and FE, less one where it is annotated. A labeller that is to
//! classify given spans learns from the annotated ones and as many others (`span_labels.rs`).
//! States are computed anew in each epoch, so memory does not grow with the data. Exemplars are
//! learnt from in the first epochs alone: they are many, and full text is what the labeller is for.
//! After each epoch the labeller is measured on development data; the best epoch's weights are
//! kept.
//!
//! The same options and data give the same weights for any number of threads.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::data::{LabelledSentence, LabelledTarget};
use super::elements::{FoundElement, FrameElements, Inventory};
use super::encode::states;
use super::labeller::{found, is_used_once, span_of};
use super::measure::{DevFigures, Measure};
use super::model::{FEATURES, Goal, LabellerConfig, LabellerTraining, WRITE, write};
use super::network::{
    Dropout, FrameVectors, Parameters, Part, Question, Shape, Slopes, products, scores, span_sums,
    words_gradient, words_weight,
};
use super::segments::{Spans, likelihood};
use super::span_labels;
use crate::engine::kernels::Weight;
use crate::engine::{BertConfig, ComputeError, Device, NnError, Tensor};
use crate::learn::{
    Artefact as _, Checkpoint, NetworkError, Schedule, SmallNetwork, SplitMix64, TooManyPieces,
    Trained, TrainerOptions, TrainingProgress, TrainingState, WordEncoder,
};

/// Steps whose states are computed together.
const STEPS_AT_ONCE: usize = 64;

/// Longest gradient that a step follows; a longer one is cut to it.
const LONGEST_GRADIENT: f32 = 5.0;

/// How to train.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Directory of the encoder.
    pub encoder: PathBuf,
    /// What it is to say.
    pub goal: Goal,
    /// Layer of the encoder whose states are read, from 1; none for the last two, side by side.
    pub layer: Option<usize>,
    /// Directory of the labeller, made if need be.
    pub out: PathBuf,
    /// Number of hidden units.
    pub hidden: usize,
    /// Words of the longest FE.
    pub longest: usize,
    /// Share of inputs and hidden values that a step leaves out.
    pub dropout: f32,
    /// Epochs in which the exemplars are learnt from.
    pub exemplar_epochs: usize,
    /// What every trainer is told; a step looks at `batch` sentences.
    pub training: TrainerOptions,
    /// File in which a killed run leaves what it did.
    pub checkpoint: Option<PathBuf>,
}

impl Options {
    /// The settings that the shipped labeller was trained with.
    #[must_use]
    pub fn new(encoder: PathBuf, out: PathBuf) -> Self {
        Self {
            encoder,
            goal: Goal::default(),
            layer: None,
            out,
            hidden: 192,
            longest: 25,
            dropout: 0.2,
            exemplar_epochs: 2,
            training: TrainerOptions {
                epochs: 3,
                patience: 3,
                batch: 6,
                learning_rate: 1e-3,
                weight_decay: 0.01,
                seed: 1,
            },
            checkpoint: None,
        }
    }
}

/// What to learn from, and what to choose the epoch on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Data {
    /// Learnt from in every epoch.
    pub full_text: Vec<LabelledSentence>,
    /// Learnt from in the first epochs.
    pub exemplars: Vec<LabelledSentence>,
    /// What the epoch is chosen on.
    pub dev: Vec<LabelledSentence>,
}

/// Where the training of a labeller is.
type State = TrainingState<DevFigures, Parameters>;

/// What hears how far training is; what may be left out are sentences, by id.
type Progress<'a> = &'a mut dyn FnMut(TrainingProgress<DevFigures, String>);

/// Trains a labeller, writes it to [`Options::out`], and returns its configuration. Sentences that
/// are too long for the encoder are left out and counted there.
///
/// # Errors
/// When the training or development data has no annotated FEs, the encoder cannot be read, the
/// labeller cannot be written, or the checkpoint is of another run.
pub fn run(
    options: &Options,
    inventory: &Inventory,
    data: &Data,
    device: &Device,
    progress: Progress<'_>,
) -> Result<LabellerConfig, NetworkError> {
    let out = LabellerConfig::prepare(&options.out, WRITE)?;
    let (fit, state) = fit(options, inventory, data, device, progress)?;
    let name = options.encoder.file_name().map(|name| name.to_string_lossy().into_owned());
    let counts = |sentences: &[LabelledSentence]| {
        let [targets, elements] = LabelledSentence::counts(sentences);
        [sentences.len(), targets, elements]
    };
    let settings = &options.training;
    let config = LabellerConfig {
        format: LabellerConfig::FORMAT,
        encoder: name.unwrap_or_default(),
        encoder_fingerprint: fit.encoder.fingerprint(),
        layers: fit.layers,
        width: state.best.shape.width,
        hidden: state.best.shape.hidden,
        features: FEATURES.to_owned(),
        goal: options.goal,
        longest: options.longest,
        frames: inventory.frames().map(|(name, _)| name.to_owned()).collect(),
        training: LabellerTraining {
            full_text: counts(&data.full_text),
            exemplars: counts(&data.exemplars),
            exemplar_epochs: options.exemplar_epochs,
            left_out: fit.left_out,
            epoch: state.best_epoch,
            epochs: settings.epochs.max(1),
            batch: settings.batch,
            dropout: options.dropout,
            learning_rate: settings.learning_rate,
            weight_decay: settings.weight_decay,
            seed: settings.seed,
        },
        dev: state.best_dev,
    };
    write(out, &config, &state.best, inventory)?;
    Ok(config)
}

/// Trains a labeller that is not written, and says how it does on some sentences: the development
/// data, unless others are given. [`Options::out`] is not read.
///
/// # Errors
/// As [`run`].
pub(crate) fn trial(
    options: &Options,
    inventory: &Inventory,
    data: &Data,
    measured: Option<&[LabelledSentence]>,
    device: &Device,
) -> Result<DevFigures, NetworkError> {
    let (mut fit, state) = fit(options, inventory, data, device, &mut |_| ())?;
    let Some(measured) = measured else { return Ok(state.best_dev) };
    let [kept] = fit.that_fit([measured], &mut |_| ())?;
    Ok(fit.measure(&state.best, &kept)?.all)
}

/// One training run.
struct Fit<'a> {
    options: &'a Options,
    inventory: &'a Inventory,
    device: &'a Device,
    /// Where everything but the encoder runs.
    host: Device,
    encoder: WordEncoder,
    layers: Vec<usize>,
    /// Sentences that are too long.
    left_out: usize,
}

/// Trains to the last epoch.
fn fit<'a>(
    options: &'a Options,
    inventory: &'a Inventory,
    data: &Data,
    device: &'a Device,
    progress: Progress<'_>,
) -> Result<(Fit<'a>, State), NetworkError> {
    let training = [&data.full_text[..], &data.exemplars].concat();
    let there = [&training, &data.dev].map(|part| LabelledSentence::counts(part)[1] > 0);
    SmallNetwork::Labeller.require_data("set with annotated FEs", there)?;
    let last = BertConfig::read(&options.encoder).map_err(NnError::from)?.layers;
    let layers = options.layer.map_or_else(|| vec![last.saturating_sub(1), last], |one| vec![one]);
    let encoder =
        WordEncoder::open_layers::<NetworkError>(&options.encoder, &layers, None, device)?;
    let mut fit =
        Fit { options, inventory, device, host: device.host(), encoder, layers, left_out: 0 };
    let kept_in = options.checkpoint.as_ref().map(|path| Checkpoint::new(path, fit.made_of(data)));
    let resumed = kept_in.as_ref().map(|kept_in| kept_in.resumed((), progress));
    let mut state = resumed.transpose()?.flatten().unwrap_or_else(|| fit.start());
    let kept = fit.that_fit([&data.full_text, &data.exemplars, &data.dev], progress)?;
    fit.train(&mut state, &kept, kept_in.as_ref(), progress)?;
    Ok((fit, state))
}

impl<'a> Fit<'a> {
    /// Trains epoch by epoch, to the last or until none is better for a while.
    fn train(
        &self,
        state: &mut State,
        kept: &[Vec<&LabelledSentence>; 3],
        kept_in: Option<&Checkpoint>,
        progress: Progress<'_>,
    ) -> Result<(), NetworkError> {
        let training = &self.options.training;
        let steps = |epoch| self.items(kept, epoch).len().div_ceil(training.batch.max(1));
        let schedule = Schedule {
            rate: training.learning_rate,
            decay: training.weight_decay,
            steps: (1..=training.epochs.max(1)).map(steps).sum(),
        };
        // Without the exemplars an epoch is another thing, so what came before them does not end
        // the run.
        let least = self.options.exemplar_epochs + training.patience.max(1);
        let pass = |state: &mut State, progress: Progress<'_>| {
            let items = self.items(kept, state.epoch + 1);
            let loss = self.epoch(state, &items, schedule, progress)?;
            Ok((loss, self.measure(&state.now, &kept[2])?.all))
        };
        let mut save = |state: &State| Ok(kept_in.map_or(Ok(()), |kept_in| kept_in.write(state))?);
        state.epochs(training, least, pass, |dev, best| dev.f1() > best.f1(), &mut save, progress)
    }

    /// Untrained weights.
    fn start(&self) -> State {
        let mut random = SplitMix64::new(self.options.training.seed);
        let shape = Shape {
            width: self.encoder.width() * self.layers.len(),
            hidden: self.options.hidden.max(1),
            frames: self.inventory.frames().len(),
            elements: self.inventory.keys,
        };
        State::new(Parameters::random(shape, &mut random), random, 0)
    }

    /// All that the weights depend on.
    fn made_of(&self, data: &Data) -> Value {
        let hash = |sentences: &[LabelledSentence]| {
            let mut hasher = blake3::Hasher::new();
            for sentence in sentences {
                hasher.update(format!("{sentence:?}").as_bytes());
            }
            hasher.finalize().to_string()
        };
        let options = &self.options;
        json!({
            "device": if matches!(self.device, Device::Cpu { .. }) { "cpu" } else { "gpu" },
            "encoder": self.encoder.fingerprint(),
            "layers": self.layers,
            "frames": blake3::hash(format!("{:?}", self.inventory).as_bytes()).to_string(),
            "full_text": hash(&data.full_text),
            "exemplars": hash(&data.exemplars),
            "dev": hash(&data.dev),
            "goal": options.goal,
            "hidden": options.hidden,
            "longest": options.longest,
            // A number that is read back from JSON may differ in its last bit; its text does not.
            "dropout": format!("{:?}", options.dropout),
            "exemplar_epochs": options.exemplar_epochs,
            "epochs": options.training.epochs,
            "patience": options.training.patience,
            "batch": options.training.batch,
            "learning_rate": format!("{:?}", options.training.learning_rate),
            "weight_decay": format!("{:?}", options.training.weight_decay),
            "seed": options.training.seed,
        })
    }

    /// The sentences of each part that the encoder takes.
    fn that_fit<'d, const N: usize>(
        &mut self,
        parts: [&'d [LabelledSentence]; N],
        progress: Progress<'_>,
    ) -> Result<[Vec<&'d LabelledSentence>; N], NetworkError> {
        let mut kept = [const { Vec::new() }; N];
        for (part, kept) in parts.into_iter().zip(&mut kept) {
            for sentence in part {
                match self.encoder.cut(&sentence.words(), None)? {
                    Ok(_) => kept.push(sentence),
                    Err(TooManyPieces { pieces, .. }) => {
                        self.left_out += 1;
                        let sentence = format!("sentence {} ({pieces} pieces)", sentence.id);
                        progress(TrainingProgress::LeftOut(sentence));
                    }
                }
            }
        }
        Ok(kept)
    }

    /// What an epoch, from 1, learns from.
    fn items<'d>(
        &self,
        kept: &[Vec<&'d LabelledSentence>; 3],
        epoch: usize,
    ) -> Vec<&'d LabelledSentence> {
        let mut items = kept[0].clone();
        if epoch <= self.options.exemplar_epochs {
            items.extend(&kept[1]);
        }
        items
    }

    /// The states of sentences that the encoder takes, in order.
    fn states(&self, sentences: &[&LabelledSentence]) -> Result<Vec<Tensor>, NetworkError> {
        let words: Vec<Vec<&str>> = sentences.iter().map(|sentence| sentence.words()).collect();
        let states = states(&self.encoder, &words)?.into_iter();
        Ok(states.map(|states| states.expect("long sentences are left out")).collect())
    }

    /// One pass over some sentences in random order; returns the mean loss of a target.
    fn epoch(
        &self,
        state: &mut State,
        items: &[&LabelledSentence],
        schedule: Schedule,
        progress: Progress<'_>,
    ) -> Result<f64, NetworkError> {
        let batch = self.options.training.batch.max(1);
        let (epoch, total) = (state.epoch + 1, items.len().div_ceil(batch));
        let mut order = items.to_vec();
        state.random.shuffle(&mut order);
        let mut gradients = Parameters::zeros(state.now.shape);
        let (mut losses, mut targets, mut done) = (0.0, 0, 0);
        for chunk in order.chunks(batch * STEPS_AT_ONCE) {
            let states = self.states(chunk)?;
            for (sentences, states) in chunk.chunks(batch).zip(states.chunks(batch)) {
                let seed = state.random.next();
                let lesson = self.learn(&state.now, &mut gradients, sentences, states, seed)?;
                losses += lesson.0;
                targets += lesson.1;
                let of_tensors = state.now.tensors.iter_mut().zip(&gradients.tensors);
                let trained = of_tensors.zip(Part::ALL).map(|((values, gradient), part)| Trained {
                    values,
                    gradient,
                    decays: part.decays(),
                });
                state.adam.update(trained, schedule);
                done += 1;
                progress(TrainingProgress::Step { epoch, done, total });
            }
        }
        Ok(losses / targets.max(1) as f64)
    }

    /// Fills `gradients` with what some sentences teach; returns the loss and the number of
    /// targets.
    fn learn(
        &self,
        now: &Parameters,
        gradients: &mut Parameters,
        sentences: &[&LabelledSentence],
        states: &[Tensor],
        seed: u64,
    ) -> Result<(f64, usize), NetworkError> {
        let width = now.shape.width;
        let mut inputs: Vec<f32> = states.iter().flat_map(Tensor::data).copied().collect();
        Dropout::new(self.options.dropout, seed).apply(&mut inputs);
        let inputs = Tensor::new(&[inputs.len() / width, width], inputs)?;
        let products = products(&self.host, &words_weight(&self.host, now)?, &inputs)?;
        let starts: Vec<usize> = states
            .iter()
            .scan(0, |next, states| {
                *next += states.rows();
                Some(*next - states.rows())
            })
            .collect();
        let learnt = self.host.share(sentences.len(), |_, at| {
            let rows = starts[at]..starts[at] + states[at].rows();
            let width = products.width();
            let products = &products.data()[rows.start * width..rows.end * width];
            self.learn_sentence(now, sentences[at], products, seed ^ (at as u64 + 1))
        });
        let learnt = learnt.into_iter().collect::<Result<Vec<(Slopes, f64)>, ComputeError>>()?;
        let targets: usize = sentences.iter().map(|sentence| sentence.targets.len()).sum();
        let share = 1.0 / targets as f32;
        gradients.tensors.iter_mut().for_each(|tensor| tensor.fill(0.0));
        let mut of_products = Vec::with_capacity(products.data().len());
        let mut loss = 0.0;
        for (slopes, of_sentence) in &learnt {
            slopes.add_to(gradients, share);
            of_products.extend(slopes.products.iter().map(|slope| slope * share));
            loss += of_sentence;
        }
        gradients.tensors[Part::Words as usize] =
            words_gradient(&self.host, &of_products, &inputs, now.shape.hidden)?;
        cut_short(gradients);
        Ok((loss, targets))
    }

    /// What a sentence teaches, and its loss; `products` are of its words.
    fn learn_sentence(
        &self,
        now: &Parameters,
        sentence: &LabelledSentence,
        products: &[f32],
        seed: u64,
    ) -> Result<(Slopes, f64), ComputeError> {
        let spans = Spans::new(sentence.words.len(), self.options.longest);
        let sums = span_sums(now, products, spans);
        let mut slopes = Slopes::new(now.shape, spans);
        let mut dropout = Dropout::new(self.options.dropout, seed);
        let mut random = SplitMix64::new(seed);
        let mut loss = 0.0;
        for gold in &sentence.targets {
            let Some(frame) = self.inventory.frame(&gold.frame) else { continue };
            let vectors = FrameVectors::of(now, frame);
            let asked = Question { target: &gold.target, vectors: &vectors };
            let labels = frame.elements.len();
            let slope = |scores: &mut [f32]| match self.options.goal {
                Goal::Segmentation => {
                    likelihood(spans, scores, labels, &golden(spans, gold, frame))
                }
                Goal::GivenSpans => {
                    let given = span_labels::questions(sentence, gold, &mut random);
                    span_labels::likelihood(
                        scores,
                        labels,
                        &span_labels::numbered(&given, spans, frame),
                    )
                }
            };
            loss +=
                slopes.learn(now, products, &sums, spans, &asked, frame, &mut dropout, slope)?;
        }
        slopes.end(spans);
        Ok((slopes, loss))
    }

    /// How weights do on sentences.
    fn measure(
        &self,
        now: &Parameters,
        sentences: &[&LabelledSentence],
    ) -> Result<Measure, NetworkError> {
        let mut measure = Measure::default();
        let weight = words_weight(&self.host, now)?;
        for chunk in sentences.chunks(self.options.training.batch.max(1) * STEPS_AT_ONCE) {
            let states = self.states(chunk)?;
            let found = self.host.share(chunk.len(), |device, at| {
                self.found(device, (now, &weight), chunk[at], &states[at])
            });
            for (sentence, found) in chunk.iter().zip(found) {
                for (gold, found) in sentence.targets.iter().zip(found?) {
                    measure.add(self.inventory, sentence, gold, &found);
                }
            }
        }
        Ok(measure)
    }

    /// The FEs of each target of a sentence.
    fn found(
        &self,
        device: &Device,
        (now, weight): (&Parameters, &Weight),
        sentence: &LabelledSentence,
        states: &Tensor,
    ) -> Result<Vec<Vec<FoundElement>>, ComputeError> {
        let spans = Spans::new(sentence.words.len(), self.options.longest);
        let products = products(device, weight, states)?.into_data();
        let sums = span_sums(now, &products, spans);
        let of_target = |gold: &LabelledTarget| {
            let Some(frame) = self.inventory.frame(&gold.frame) else { return Ok(Vec::new()) };
            let vectors = FrameVectors::of(now, frame);
            let asked = Question { target: &gold.target, vectors: &vectors };
            if self.options.goal == Goal::GivenSpans {
                let scores = scores(now, &products, &sums, spans, &asked)?;
                return Ok(read(sentence, gold, (spans, &scores), frame));
            }
            let once: Vec<bool> =
                frame.elements.iter().map(|element| is_used_once(element.core_type)).collect();
            let found = found(now, (&products, &sums, spans), &asked, &once)?.into_iter();
            let found = found.map(|(words, label, score)| FoundElement {
                name: frame.elements[label].name.clone(),
                span: span_of(&sentence.words, &words),
                score,
            });
            Ok(found.collect())
        };
        sentence.targets.iter().map(of_target).collect()
    }
}

/// What the annotated spans of a target and some others are read as, without those that are read as
/// no FE. The others are the same in every epoch.
fn read(
    sentence: &LabelledSentence,
    gold: &LabelledTarget,
    (spans, scores): (Spans, &[f32]),
    frame: &FrameElements,
) -> Vec<FoundElement> {
    let labels = frame.elements.len();
    let asked = span_labels::questions(sentence, gold, &mut SplitMix64::new(gold.set.number()));
    let read = asked.into_iter().filter_map(|(words, _)| {
        let span = spans.number(words.start, words.end - 1)?;
        let reading = span_labels::Reading::of(&scores[span * labels..][..labels]);
        let name = frame.elements[reading.label?].name.clone();
        Some(FoundElement { name, span: span_of(&sentence.words, &words), score: reading.score })
    });
    read.collect()
}

/// The annotated segments that can be learnt: numbers of spans and of the frame's FEs.
fn golden(spans: Spans, gold: &LabelledTarget, frame: &FrameElements) -> Vec<(usize, usize)> {
    let known = gold.learnt.iter().filter_map(|(words, name)| {
        Some((spans.number(words.start, words.end - 1)?, frame.place(name)?))
    });
    known.collect()
}

/// Cuts gradients to the longest that a step follows.
fn cut_short(gradients: &mut Parameters) {
    let square = |tensor: &Vec<f32>| tensor.iter().map(|x| f64::from(x * x)).sum::<f64>();
    let length = gradients.tensors.iter().map(square).sum::<f64>().sqrt() as f32;
    if length > LONGEST_GRADIENT {
        let factor = LONGEST_GRADIENT / length;
        gradients.tensors.iter_mut().flatten().for_each(|x| *x *= factor);
    }
}
