//! What a head learns: from random weights to its best ones.

use super::sample::sample;
use super::{Encoded, LeftOut, Options};
use crate::align::aligner::is_candidate;
use crate::align::error::AlignError;
use crate::align::features::{PairStates, inputs};
use crate::align::metrics::AlignmentReport;
use crate::align::scorer::{ACTIVATION, Question, Scored, Scorer, best};
use crate::engine::Device;
use crate::learn::{Labels, Mlp, Part, SplitMix64, Task, TrainingProgress, TrainingState};

/// Where the training of a head is.
pub(super) type State = TrainingState<AlignmentReport>;

/// Before the first epoch, for states `width` wide.
pub(super) fn start(options: &Options, width: usize, items: usize) -> State {
    let inputs = inputs(width, options.linker.is_some());
    let sizes = [inputs, options.hidden.unwrap_or(inputs / 2), 1];
    let mut state = State::begin(&sizes, ACTIVATION, options.training.seed, items);
    // What is off has no weight, so a scorer need not know of it.
    let rows = state.now.layers[0].part_mut(Part::Weight).chunks_exact_mut(inputs);
    rows.for_each(|row| options.features.mask(width, row));
    state.best = state.now.clone();
    state
}

/// A head learns which spans answer.
struct Spans<'a> {
    options: &'a Options,
    device: &'a Device,
    data: &'a Encoded,
    dev: &'a Encoded,
}

impl Task for Spans<'_> {
    type Dev = AlignmentReport;
    type Error = AlignError;

    fn rows(
        &self,
        items: &[usize],
        random: &mut SplitMix64,
    ) -> Result<(Vec<f32>, Labels), AlignError> {
        let (rows, labels) = sample(self.options, self.data, items, random);
        Ok((rows, Labels::scores(&labels)))
    }

    fn measure(&self, mlp: &Mlp) -> Result<AlignmentReport, AlignError> {
        let answers = answers(mlp, self.options.k, self.device, self.dev)?;
        Ok(report(&answers, self.dev, self.options.k, 0.0))
    }

    fn is_gain(dev: &AlignmentReport, best: &AlignmentReport) -> bool {
        dev.all.soft.f1() > best.all.soft.f1()
    }
}

/// Trains on, from a state to the last epoch, and returns that. `save` gets the state after each
/// epoch.
pub(super) fn fit(
    options: &Options,
    device: &Device,
    mut state: State,
    [data, dev]: [&Encoded; 2],
    save: &mut dyn FnMut(&State) -> Result<(), AlignError>,
    progress: &mut dyn FnMut(TrainingProgress<AlignmentReport, LeftOut>),
) -> Result<State, AlignError> {
    let task = Spans { options, device, data, dev };
    state.train(&task, &options.training, device, save, progress)?;
    Ok(state)
}

/// The best candidate of every item.
pub(super) fn answers(
    mlp: &Mlp,
    k: u32,
    device: &Device,
    data: &Encoded,
) -> Result<Vec<Option<Scored>>, AlignError> {
    let width = data.pairs.first().map_or(0, PairStates::width);
    let scorer = Scorer::new(mlp.clone(), width, k, device)?;
    let questions: Vec<Question<'_>> = data
        .items
        .iter()
        .zip(&data.pair_of)
        .map(|(item, &pair)| Question { states: &data.pairs[pair], span: item.source_span })
        .collect();
    Ok(scorer.score(&questions)?.iter().map(best).collect())
}

/// How well answers do, those scored below the threshold not given.
pub(super) fn report(
    answers: &[Option<Scored>],
    data: &Encoded,
    k: u32,
    threshold: f32,
) -> AlignmentReport {
    let mut report = AlignmentReport::default();
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
        let state = start(options, 8, data.items.len());
        let mut progress = |progress| {
            if let TrainingProgress::Epoch { loss, .. } = progress {
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
        options.training.epochs = 2;
        let train = |threads| train(&options, &Device::Cpu { threads }, &data).0;
        assert_eq!(train(1), train(3));
    }

    #[test]
    fn what_is_off_keeps_no_weight_and_is_not_learnt_from() {
        let data = shifted_copies(&mut SplitMix64::new(21), 40);
        let mut options = options();
        options.features = Features { cue: true, ..Features::NONE };
        let (state, _) = train(&options, &Device::cpu(), &data);
        for row in state.best.layers[0][Part::Weight].chunks(20) {
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
            options.training.epochs = epochs;
            train(&options, &Device::cpu(), &data).0
        };
        assert_eq!(of_epochs(0), of_epochs(1));
        assert!(of_epochs(0).best.layers[0][Part::Weight].iter().all(|weight| weight.is_finite()));
    }

    #[test]
    fn training_stops_when_nothing_is_gained_any_more() {
        let data = shifted_copies(&mut SplitMix64::new(21), 6);
        let mut options = options();
        (options.training.epochs, options.training.patience, options.training.learning_rate) =
            (9, 2, 0.0);
        let (state, losses) = train(&options, &Device::cpu(), &data);
        assert!(state.epoch < 9 && losses.len() == state.epoch);
        assert_eq!(state.epoch, state.best_epoch + 2);
    }
}
