//! Training: options that every trainer has, and the one loop of epochs and steps.

use super::network::Dropout;
use super::{AdamW, Labels, Mlp, Network, Schedule, SplitMix64, TrainingProgress};
use crate::compute::{ComputeError, Device, Tensor};

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

/// All that the epochs to come depend on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainingState<D> {
    pub(crate) mlp: Mlp,
    pub(crate) adam: AdamW,
    pub(crate) random: SplitMix64,
    /// The order of the items in the last epoch, which the next one shuffles.
    pub(crate) order: Vec<usize>,
    /// Epochs done.
    pub(crate) epoch: usize,
    /// The weights that did best on the development data.
    pub(crate) best: Mlp,
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

impl<D: Clone + Default> TrainingState<D> {
    /// Before the first epoch; `random` is what the weights were drawn from.
    pub(crate) fn new(mlp: Mlp, random: SplitMix64, items: usize) -> Self {
        Self {
            best: mlp.clone(),
            adam: AdamW::new(mlp.lengths()),
            mlp,
            random,
            order: (0..items).collect(),
            epoch: 0,
            best_epoch: 0,
            best_dev: D::default(),
        }
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
        let (batch, epochs) = (options.batch.max(1), options.epochs.max(1));
        let total = self.order.len().div_ceil(batch);
        let schedule = Schedule {
            rate: options.learning_rate,
            decay: options.weight_decay,
            steps: epochs * total,
        };
        while self.epoch < epochs && self.epoch - self.best_epoch < options.patience.max(1) {
            let epoch = self.epoch + 1;
            self.random.shuffle(&mut self.order);
            let mut losses = Vec::new();
            for (step, items) in self.order.chunks(batch).enumerate() {
                let (rows, labels) = task.rows(items, &mut self.random)?;
                if labels.len() > 0 {
                    let rows = Tensor::new(&[labels.len(), self.mlp.inputs()], rows)?;
                    let dropout = Dropout { share: task.dropout(), random: &mut self.random };
                    let network = Network::new(self.mlp.clone(), device)?;
                    let lesson = network.learn(&rows, &labels, dropout)?;
                    self.mlp.follow(&lesson, &mut self.adam, schedule);
                    losses.push(lesson.loss);
                }
                progress(TrainingProgress::Step { epoch, done: step + 1, total });
            }
            let dev = task.measure(&self.mlp)?;
            self.epoch = epoch;
            if self.best_epoch == 0 || T::is_gain(&dev, &self.best_dev) {
                (self.best, self.best_epoch) = (self.mlp.clone(), epoch);
                self.best_dev = dev.clone();
            }
            save(self)?;
            let loss = losses.iter().sum::<f64>() / losses.len().max(1) as f64;
            progress(TrainingProgress::Epoch { epoch, loss, dev });
        }
        Ok(())
    }
}
