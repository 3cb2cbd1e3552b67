//! Weights on their way: one step of training after another.

use crate::align::error::AlignError;
use crate::align::gradient::loss_and_gradients;
use crate::align::mlp::Parameters;
use crate::compute::{Device, Tensor};
use crate::learn::{AdamW, Schedule};

/// Share of a batch's statistics in the running ones (PyTorch's default).
const MOMENTUM: f32 = 0.1;

/// The weights of a head and what its optimizer remembers.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::align) struct Learner {
    pub(in crate::align) parameters: Parameters,
    pub(in crate::align) adam: AdamW,
}

impl Learner {
    /// Untrained weights.
    pub(in crate::align) fn new(mut parameters: Parameters) -> Self {
        Self { adam: parameters.optimizer(), parameters }
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
        self.parameters.update(&mut self.adam, &pass.gradients, schedule);
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
