//! Weights on their way: one step of training after another.

use crate::align::error::AlignError;
use crate::align::gradient::{AdamW, loss_and_gradients};
use crate::align::mlp::Parameters;
use crate::compute::{Device, Tensor};

/// Steps over which the learning rate rises to its full height.
const WARM_UP: usize = 100;

/// Share of a batch's statistics in the running ones (PyTorch's default).
const MOMENTUM: f32 = 0.1;

/// How large steps are.
#[derive(Debug, Clone, Copy)]
pub(in crate::align) struct Schedule {
    /// Learning rate after warm-up; it falls to zero over all steps.
    pub(in crate::align) rate: f32,
    /// Weight decay of the matrices.
    pub(in crate::align) decay: f32,
    /// Steps in all.
    pub(in crate::align) steps: usize,
}

/// The weights of a head and what its optimizer remembers.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::align) struct Learner {
    pub(in crate::align) parameters: Parameters,
    pub(in crate::align) adam: AdamW,
}

impl Learner {
    /// Untrained weights.
    pub(in crate::align) fn new(mut parameters: Parameters) -> Self {
        Self { adam: AdamW::new(&mut parameters), parameters }
    }

    /// Takes one step on rows of features and their labels, which are one or more; returns the loss.
    pub(in crate::align) fn step(
        &mut self,
        device: &Device,
        schedule: Schedule,
        rows: Vec<f32>,
        labels: &[f32],
    ) -> Result<f64, AlignError> {
        let rows = Tensor::new(&[labels.len(), self.parameters.inputs], rows)?;
        let pass = loss_and_gradients(device, &self.parameters, &rows, labels)?;
        let step = self.adam.steps() as usize;
        let warm = ((step + 1) as f32 / WARM_UP as f32).min(1.0);
        let rate = schedule.rate * warm * (1.0 - step as f32 / schedule.steps as f32);
        self.adam.update(&mut self.parameters, &pass.gradients, rate, schedule.decay);
        follow(&mut self.parameters.mean, &pass.mean, 1.0);
        // The running variance estimates the whole data's, so it is divided by rows - 1.
        let rows = labels.len() as f32;
        follow(&mut self.parameters.variance, &pass.variance, rows / (rows - 1.0).max(1.0));
        Ok(pass.loss)
    }
}

/// Moves running statistics towards a batch's.
fn follow(running: &mut [f32], batch: &[f32], scale: f32) {
    for (running, batch) in running.iter_mut().zip(batch) {
        *running += MOMENTUM * (scale * batch - *running);
    }
}
