//! Training: options that every trainer has, and the one loop of epochs and steps.

use super::network::Dropout;
use super::{
    Activation, AdamW, Labels, Mlp, Network, Schedule, SplitMix64, TrainingProgress, Weighted,
};
use crate::engine::{ComputeError, Device, Tensor};

/// How a network is trained: what every trainer is told.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainerOptions {
    /// Most passes over the data; one at least is made.
    pub epochs: usize,
    /// Passes without gain on the development data after which training stops.
    pub patience: usize,
    /// Items per step.
    pub batch: usize,
    /// Learning rate after warm-up; it falls to zero over all epochs.
    pub learning_rate: f32,
    /// Weight decay of the matrices.
    pub weight_decay: f32,
    /// Seed of weights, order and samples.
    pub seed: u64,
}

/// What a network learns.
pub(crate) trait Task {
    /// What is measured on development data.
    type Dev: Clone + Default;
    /// What can go wrong.
    type Error: From<ComputeError>;

    /// The rows of features that a step on some items looks at, one after the other, and their
    /// labels; a step without a row is passed over.
    fn rows(
        &self,
        items: &[usize],
        random: &mut SplitMix64,
    ) -> Result<(Vec<f32>, Labels), Self::Error>;

    /// Share of the hidden values that each step goes without, in [0, 1).
    fn dropout(&self) -> f32 {
        0.0
    }

    /// How weights do on the development data.
    fn measure(&self, mlp: &Mlp) -> Result<Self::Dev, Self::Error>;

    /// Whether weights that did so on the development data replace the best before them.
    fn is_gain(dev: &Self::Dev, best: &Self::Dev) -> bool;
}

/// All that the epochs to come depend on; `D` is measured on development data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainingState<D, N = Mlp> {
    pub(crate) now: N,
    pub(crate) adam: AdamW,
    pub(crate) random: SplitMix64,
    /// The order of the items in the last epoch, which the next one shuffles; empty where each
    /// epoch has items of its own.
    pub(crate) order: Vec<usize>,
    /// Epochs done.
    pub(crate) epoch: usize,
    /// The weights that did best on the development data.
    pub(crate) best: N,
    /// The epoch that they are of, 0 before the first.
    pub(crate) best_epoch: usize,
    /// How they did.
    pub(crate) best_dev: D,
}

/// Fits weights by steps that each look at all rows, in their own order: sums go by it. There are
/// as many steps as epochs, nothing is measured in between, and the last weights are kept.
pub(crate) fn fit(
    mut mlp: Mlp,
    rows: Vec<f32>,
    labels: &Labels,
    options: &TrainerOptions,
) -> Result<Mlp, ComputeError> {
    let rows = Tensor::new(&[labels.len(), mlp.inputs()], rows)?;
    let mut adam = AdamW::new(mlp.lengths());
    let steps = options.epochs.max(1);
    let schedule = Schedule { rate: options.learning_rate, decay: options.weight_decay, steps };
    let random = &mut SplitMix64::new(options.seed);
    for _ in 0..steps {
        let network = Network::new(mlp.clone(), &Device::Cpu { threads: 1 })?;
        let lesson = network.learn(&rows, labels, Dropout { share: 0.0, random })?;
        mlp.follow(&lesson, &mut adam, schedule);
    }
    Ok(mlp)
}

impl<D: Clone + Default, N: Weighted> TrainingState<D, N> {
    /// Before the first epoch; `random` is what the weights were drawn from.
    pub(crate) fn new(now: N, random: SplitMix64, items: usize) -> Self {
        Self {
            best: now.clone(),
            adam: AdamW::new(now.lengths()),
            now,
            random,
            order: (0..items).collect(),
            epoch: 0,
            best_epoch: 0,
            best_dev: D::default(),
        }
    }

    /// Goes on to the last epoch, or until none was better for a while; the first `least` are made
    /// in any case. `pass` goes over the data once: it gives the mean loss, and how the weights do
    /// then. `save` gets the state after each epoch.
    pub(crate) fn epochs<E, L, P>(
        &mut self,
        options: &TrainerOptions,
        least: usize,
        mut pass: P,
        is_gain: fn(&D, &D) -> bool,
        save: &mut dyn FnMut(&Self) -> Result<(), E>,
        progress: &mut dyn FnMut(TrainingProgress<D, L>),
    ) -> Result<(), E>
    where
        P: FnMut(&mut Self, &mut dyn FnMut(TrainingProgress<D, L>)) -> Result<(f64, D), E>,
    {
        let (epochs, patience) = (options.epochs.max(1), options.patience.max(1));
        while self.epoch < epochs && (self.epoch < least || self.epoch - self.best_epoch < patience)
        {
            let (loss, dev) = pass(self, progress)?;
            self.epoch += 1;
            if self.best_epoch == 0 || is_gain(&dev, &self.best_dev) {
                (self.best, self.best_epoch) = (self.now.clone(), self.epoch);
                self.best_dev = dev.clone();
            }
            save(self)?;
            progress(TrainingProgress::Epoch { epoch: self.epoch, loss, dev });
        }
        Ok(())
    }
}

impl<D: Clone + Default> TrainingState<D> {
    /// Before the first epoch of a network of these sizes, from the weights of a seed.
    pub(crate) fn begin(sizes: &[usize], activation: Activation, seed: u64, items: usize) -> Self {
        let mut random = SplitMix64::new(seed);
        let mlp = Mlp::random(sizes, activation, &mut random);
        Self::new(mlp, random, items)
    }

    /// Trains on, to the last epoch. `save` gets the state after each of them.
    pub(crate) fn train<T: Task<Dev = D>, L>(
        &mut self,
        task: &T,
        options: &TrainerOptions,
        device: &Device,
        save: &mut dyn FnMut(&Self) -> Result<(), T::Error>,
        progress: &mut dyn FnMut(TrainingProgress<D, L>),
    ) -> Result<(), T::Error> {
        let batch = options.batch.max(1);
        let total = self.order.len().div_ceil(batch);
        let schedule = Schedule {
            rate: options.learning_rate,
            decay: options.weight_decay,
            steps: options.epochs.max(1) * total,
        };
        let pass = |state: &mut Self, progress: &mut dyn FnMut(TrainingProgress<D, L>)| {
            let epoch = state.epoch + 1;
            state.random.shuffle(&mut state.order);
            let mut losses = Vec::new();
            for (step, items) in state.order.chunks(batch).enumerate() {
                let (rows, labels) = task.rows(items, &mut state.random)?;
                if labels.len() > 0 {
                    let rows = Tensor::new(&[labels.len(), state.now.inputs()], rows)?;
                    let dropout = Dropout { share: task.dropout(), random: &mut state.random };
                    let network = Network::new(state.now.clone(), device)?;
                    let lesson = network.learn(&rows, &labels, dropout)?;
                    state.now.follow(&lesson, &mut state.adam, schedule);
                    losses.push(lesson.loss);
                }
                progress(TrainingProgress::Step { epoch, done: step + 1, total });
            }
            let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
            Ok((loss, task.measure(&state.now)?))
        };
        self.epochs(options, 0, pass, T::is_gain, save, progress)
    }
}
