//! The epochs: a head from random weights to its best ones.

use super::learner::Learner;
use super::sample::sample;
use super::{Encoded, Options, Progress};
use crate::align::aligner::is_candidate;
use crate::align::error::AlignError;
use crate::align::features::{PairStates, inputs};
use crate::align::metrics::Report;
use crate::align::mlp::{Parameters, Question, Scored, Scorer, best};
use crate::compute::Device;
use crate::learn::{Schedule, SplitMix64};

/// All that the epochs to come depend on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub(super) learner: Learner,
    pub(super) random: SplitMix64,
    /// The order of the items in the last epoch, which the next one shuffles.
    pub(super) order: Vec<usize>,
    /// Epochs done.
    pub(super) epoch: usize,
    /// The weights that did best on the development data.
    pub(super) best: Parameters,
    /// The epoch that they are of, 0 before the first.
    pub(super) best_epoch: usize,
    /// How they did.
    pub(super) best_dev: Report,
}

impl State {
    /// Before the first epoch.
    pub(super) fn new(options: &Options, width: usize, items: usize) -> Self {
        let mut random = SplitMix64::new(options.settings.seed);
        let inputs = inputs(width, options.linker.is_some());
        let hidden = options.settings.hidden.unwrap_or(inputs / 2);
        let mut parameters = Parameters::random(inputs, hidden, &mut random);
        // What is off has no weight, so a scorer need not know of it.
        parameters
            .weight
            .chunks_exact_mut(inputs)
            .for_each(|row| options.features.mask(width, row));
        Self {
            best: parameters.clone(),
            learner: Learner::new(parameters),
            random,
            order: (0..items).collect(),
            epoch: 0,
            best_epoch: 0,
            best_dev: Report::default(),
        }
    }

    /// Whether no further epoch is wanted.
    fn is_done(&self, options: &Options) -> bool {
        self.epoch >= options.settings.epochs.max(1)
            || self.epoch - self.best_epoch >= options.settings.patience.max(1)
    }
}

/// Trains on, from a state to the last epoch, and returns that. `save` gets the state after each epoch.
pub(super) fn fit(
    options: &Options,
    device: &Device,
    mut state: State,
    [data, dev]: [&Encoded; 2],
    save: &mut dyn FnMut(&State) -> Result<(), AlignError>,
    progress: &mut dyn FnMut(Progress<Report>),
) -> Result<State, AlignError> {
    let total = data.items.len().div_ceil(options.settings.batch.max(1));
    let schedule = Schedule {
        rate: options.settings.learning_rate,
        decay: options.settings.weight_decay,
        steps: options.settings.epochs.max(1) * total,
    };
    while !state.is_done(options) {
        let epoch = state.epoch + 1;
        let State { learner, random, order, .. } = &mut state;
        random.shuffle(order);
        let mut losses = Vec::new();
        for (step, items) in order.chunks(options.settings.batch.max(1)).enumerate() {
            let (rows, labels) = sample(options, data, items, random);
            if !labels.is_empty() {
                losses.push(learner.step(device, schedule, rows, &labels)?);
            }
            progress(Progress::Step { epoch, done: step + 1, total });
        }
        let answers = answers(&learner.parameters, options.k, device, dev)?;
        let dev = report(&answers, dev, options.k, 0.0);
        state.epoch = epoch;
        if state.best_epoch == 0 || dev.all.soft.f1() > state.best_dev.all.soft.f1() {
            state.best = state.learner.parameters.clone();
            (state.best_epoch, state.best_dev) = (epoch, dev);
        }
        save(&state)?;
        let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
        progress(Progress::Epoch { epoch, loss, dev });
    }
    Ok(state)
}

/// The best candidate of every item.
pub(super) fn answers(
    parameters: &Parameters,
    k: u32,
    device: &Device,
    data: &Encoded,
) -> Result<Vec<Option<Scored>>, AlignError> {
    let width = data.pairs.first().map_or(0, PairStates::width);
    let scorer = Scorer::new(parameters, width, k, device)?;
    let questions: Vec<Question<'_>> = data
        .items
        .iter()
        .zip(&data.pair_of)
        .map(|(item, &pair)| Question { states: &data.pairs[pair], span: item.source_span })
        .collect();
    Ok(scorer.score(&questions)?.iter().map(best).collect())
}

/// How well answers do, those scored below the threshold not given.
pub(super) fn report(answers: &[Option<Scored>], data: &Encoded, k: u32, threshold: f32) -> Report {
    let mut report = Report::default();
    for (answer, item) in answers.iter().zip(&data.items) {
        let found = answer.filter(|(_, score)| *score >= threshold).map(|(span, _)| span);
        report.add(found, item.target_span, item.changed, is_candidate(item, k));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::super::tests::{options, shifted_copies};
    use super::*;
    use crate::align::features::Features;

    fn train(options: &Options, device: &Device, data: &Encoded) -> (State, Vec<f64>) {
        let mut losses = Vec::new();
        let state = State::new(options, 8, data.items.len());
        let mut progress = |progress| {
            if let Progress::Epoch { loss, .. } = progress {
                losses.push(loss);
            }
        };
        let state = fit(options, device, state, [data, data], &mut |_| Ok(()), &mut progress);
        (state.unwrap(), losses)
    }

    #[test]
    fn a_small_data_set_is_learnt_by_heart() {
        let data = shifted_copies(&mut SplitMix64::new(21), 40);
        let (state, losses) = train(&options(), &Device::cpu(), &data);
        let answers = answers(&state.best, 5, &Device::cpu(), &data).unwrap();
        let report = report(&answers, &data, 5, 0.0);
        assert!(state.best_epoch >= 1 && losses[losses.len() - 1] < losses[0]);
        assert!(report.all.exact.f1() > 0.95, "{report:?}");
        assert_eq!((report, report.covered), (state.best_dev, 40));
    }

    #[test]
    fn the_same_seed_gives_the_same_weights_on_any_number_of_threads() {
        let data = shifted_copies(&mut SplitMix64::new(22), 12);
        let mut options = options();
        options.settings.epochs = 2;
        let train = |threads| train(&options, &Device::Cpu { threads }, &data).0;
        assert_eq!(train(1), train(3));
    }

    #[test]
    fn what_is_off_keeps_no_weight_and_is_not_learnt_from() {
        let data = shifted_copies(&mut SplitMix64::new(21), 40);
        let mut options = options();
        options.features = Features { cue: true, ..Features::NONE };
        let (state, _) = train(&options, &Device::cpu(), &data);
        for row in state.best.weight.chunks(20) {
            assert!(row[..16].iter().all(|weight| *weight == 0.0));
        }
        // Spans stand where they stood, which the cues say; one guess in forty would be right.
        assert!(state.best_dev.all.exact.f1() > 0.2, "{:?}", state.best_dev);
    }

    #[test]
    fn one_epoch_is_the_least() {
        let data = shifted_copies(&mut SplitMix64::new(22), 12);
        let of_epochs = |epochs| {
            let mut options = options();
            options.settings.epochs = epochs;
            train(&options, &Device::cpu(), &data).0
        };
        assert_eq!(of_epochs(0), of_epochs(1));
        assert!(of_epochs(0).best.weight.iter().all(|weight| weight.is_finite()));
    }

    #[test]
    fn training_stops_when_nothing_is_gained_any_more() {
        let data = shifted_copies(&mut SplitMix64::new(21), 6);
        let mut options = options();
        (options.settings.epochs, options.settings.patience, options.settings.learning_rate) =
            (9, 2, 0.0);
        let (state, losses) = train(&options, &Device::cpu(), &data);
        assert!(state.epoch < 9 && losses.len() == state.epoch);
        assert_eq!(state.epoch, state.best_epoch + 2);
    }
}
