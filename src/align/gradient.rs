//! One training pass of the head: loss, gradients and batch statistics.
//!
//! The loss is binary cross-entropy against soft labels, averaged over the rows of a batch.
//! With `g` the loss's derivative by the logits, `x` the normalised hidden values, and
//!
//! ```text
//! A_u = sum over rows of g x_u          B = sum over rows of g
//! ```
//!
//! the gradients behind batch normalisation (Ioffe and Szegedy 2015, section 3) become
//!
//! ```text
//! dv = gamma A + beta B     dgamma = v A     dbeta = v B     dc = B
//! dh = gamma v / sqrt(variance + EPSILON) * (g - B / R - x A / R)
//! ```

use super::mlp::{EPSILON, Parameters};
use crate::compute::kernels::{Weight, matmul};
use crate::compute::{ComputeError, Device, Tensor};
use crate::learn::{AdamW, Schedule, Trained, product_of_columns, sigmoid, softplus};

/// Number of tensors that training changes, the first of [`Parameters::tensors`].
pub(super) const TRAINED: usize = 7;

/// What one batch teaches.
#[derive(Debug)]
pub(super) struct Pass {
    /// Mean binary cross-entropy, natural log.
    pub(super) loss: f64,
    /// Gradients in the order of [`Parameters::trainable`].
    pub(super) gradients: [Vec<f32>; TRAINED],
    /// Mean of each hidden value over the batch (H).
    pub(super) mean: Vec<f32>,
    /// Variance of each hidden value over the batch (H), divided by the number of rows.
    pub(super) variance: Vec<f32>,
}

impl Parameters {
    /// The tensors that training changes; running statistics are not among them.
    pub(super) fn trainable(&mut self) -> [&mut Vec<f32>; TRAINED] {
        [
            &mut self.weight,
            &mut self.bias,
            &mut self.slope,
            &mut self.gamma,
            &mut self.beta,
            &mut self.output,
            &mut self.output_bias,
        ]
    }

    /// An optimizer for these weights, before its first step.
    pub(super) fn optimizer(&mut self) -> AdamW {
        AdamW::new(self.trainable().map(|tensor| tensor.len()))
    }

    /// One step against the gradients.
    pub(super) fn update(
        &mut self,
        adam: &mut AdamW,
        gradients: &[Vec<f32>; TRAINED],
        schedule: Schedule,
    ) {
        /// Indices of the two matrices in [`Parameters::trainable`].
        const MATRICES: [usize; 2] = [0, 5];
        let tensors = self.trainable().into_iter().zip(gradients).enumerate();
        let tensors = tensors.map(|(at, (values, gradient))| Trained {
            values,
            gradient,
            decays: MATRICES.contains(&at),
        });
        adam.update(tensors, schedule);
    }
}

/// Runs a batch of `inputs` (R, 2 D + 4) with labels in [0, 1] forwards and backwards.
pub(super) fn loss_and_gradients(
    device: &Device,
    parameters: &Parameters,
    inputs: &Tensor,
    labels: &[f32],
) -> Result<Pass, ComputeError> {
    let (rows, hidden) = (inputs.rows(), parameters.hidden);
    // 1. z, h and the statistics of h.
    let weight = Tensor::new(&[hidden, parameters.inputs], parameters.weight.clone())?;
    let bias = Tensor::new(&[hidden], parameters.bias.clone())?;
    let z = matmul(device, inputs, &Weight::new(device, &weight), Some(&bias))?;
    let z = z.to_host()?.into_data();
    let slope = parameters.slope[0];
    let prelu = |z: f32| if z > 0.0 { z } else { slope * z };
    let mean = column_means(hidden, rows, z.chunks_exact(hidden), |_, z| prelu(z));
    let variance = column_means(hidden, rows, z.chunks_exact(hidden), |unit, z| {
        let distance = prelu(z) - mean[unit];
        distance * distance
    });
    let inverse: Vec<f32> = variance.iter().map(|v| 1.0 / (v + EPSILON).sqrt()).collect();

    // 2. Logits, loss and its derivative.
    let (mut loss, mut derivative) = (0.0_f64, Vec::with_capacity(rows));
    for (z, &label) in z.chunks_exact(hidden).zip(labels) {
        let mut logit = parameters.output_bias[0];
        for unit in 0..hidden {
            let x = (prelu(z[unit]) - mean[unit]) * inverse[unit];
            logit += parameters.output[unit] * (parameters.gamma[unit] * x + parameters.beta[unit]);
        }
        loss += f64::from(softplus(logit) - label * logit) / rows as f64;
        derivative.push((sigmoid(logit) - label) / rows as f32);
    }

    // 3. A and B of the module's formulas.
    let b: f32 = derivative.iter().sum();
    let mut a = vec![0.0; hidden];
    for (z, g) in z.chunks_exact(hidden).zip(&derivative) {
        for unit in 0..hidden {
            a[unit] += g * (prelu(z[unit]) - mean[unit]) * inverse[unit];
        }
    }

    // 4. Back through normalisation and PReLU: `delta` is the derivative by z.
    let mut delta = z;
    let mut d_slope = 0.0;
    let mut d_bias = vec![0.0; hidden];
    let mean_b = b / rows as f32;
    for (z, g) in delta.chunks_exact_mut(hidden).zip(&derivative) {
        for unit in 0..hidden {
            let x = (prelu(z[unit]) - mean[unit]) * inverse[unit];
            let scale = parameters.gamma[unit] * parameters.output[unit] * inverse[unit];
            let d_h = scale * (g - mean_b - x * a[unit] / rows as f32);
            let below = z[unit] <= 0.0;
            d_slope += if below { d_h * z[unit] } else { 0.0 };
            z[unit] = if below { slope * d_h } else { d_h };
            d_bias[unit] += z[unit];
        }
    }
    let d_weight = product_of_columns(device, &delta, hidden, inputs)?;
    let per_unit = |f: &dyn Fn(usize) -> f32| (0..hidden).map(f).collect::<Vec<f32>>();
    let gradients = [
        d_weight,
        d_bias,
        vec![d_slope],
        per_unit(&|u| parameters.output[u] * a[u]),
        per_unit(&|u| parameters.output[u] * b),
        per_unit(&|u| parameters.gamma[u] * a[u] + parameters.beta[u] * b),
        vec![b],
    ];
    Ok(Pass { loss, gradients, mean, variance })
}

/// Mean over the rows of a function of each element.
fn column_means<'a>(
    width: usize,
    rows: usize,
    matrix: impl Iterator<Item = &'a [f32]>,
    value: impl Fn(usize, f32) -> f32,
) -> Vec<f32> {
    let mut sums = vec![0.0_f32; width];
    for row in matrix {
        for column in 0..width {
            sums[column] += value(column, row[column]);
        }
    }
    sums.iter().map(|sum| sum / rows as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::SplitMix64;

    fn batch(random: &mut SplitMix64, rows: usize, width: usize) -> (Tensor, Vec<f32>) {
        let data = (0..rows * width).map(|_| 2.0 * random.unit() - 1.0).collect();
        let labels = (0..rows).map(|_| random.unit()).collect();
        (Tensor::new(&[rows, width], data).unwrap(), labels)
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let mut random = SplitMix64::new(11);
        let device = Device::cpu();
        let mut parameters = Parameters::random(6, 4, &mut random);
        parameters.beta.iter_mut().for_each(|beta| *beta = random.unit());
        parameters.gamma.iter_mut().for_each(|gamma| *gamma = 0.5 + random.unit());
        let (inputs, labels) = batch(&mut random, 9, 6);
        let pass = loss_and_gradients(&device, &parameters, &inputs, &labels).unwrap();
        for tensor in 0..7 {
            for element in 0..pass.gradients[tensor].len() {
                let loss_at = |offset: f32| {
                    let mut moved = parameters.clone();
                    moved.trainable()[tensor][element] += offset;
                    loss_and_gradients(&device, &moved, &inputs, &labels).unwrap().loss
                };
                let step = 2e-3;
                let slope = (loss_at(step) - loss_at(-step)) / f64::from(2.0 * step);
                let gradient = f64::from(pass.gradients[tensor][element]);
                assert!(
                    (slope - gradient).abs() < 2e-3,
                    "tensor {tensor}, element {element}: {slope} {gradient}"
                );
            }
        }
    }

    #[test]
    fn the_loss_of_even_odds_is_the_logarithm_of_two() {
        let mut random = SplitMix64::new(2);
        let mut parameters = Parameters::random(5, 3, &mut random);
        parameters.output.fill(0.0);
        parameters.output_bias.fill(0.0);
        let (inputs, labels) = batch(&mut random, 4, 5);
        let pass = loss_and_gradients(&Device::cpu(), &parameters, &inputs, &labels).unwrap();
        assert!((pass.loss - std::f64::consts::LN_2).abs() < 1e-6);
    }

    #[test]
    fn steps_against_the_gradient_lower_the_loss() {
        let mut random = SplitMix64::new(4);
        let mut parameters = Parameters::random(8, 16, &mut random);
        let (inputs, labels) = batch(&mut random, 12, 8);
        let labels: Vec<f32> = labels.iter().map(|label| label.round()).collect();
        let mut adam = parameters.optimizer();
        let schedule = Schedule { rate: 0.05, decay: 0.0, steps: 500 };
        let device = Device::cpu();
        let first = loss_and_gradients(&device, &parameters, &inputs, &labels).unwrap().loss;
        for _ in 0..300 {
            let pass = loss_and_gradients(&device, &parameters, &inputs, &labels).unwrap();
            parameters.update(&mut adam, &pass.gradients, schedule);
        }
        let last = loss_and_gradients(&device, &parameters, &inputs, &labels).unwrap().loss;
        assert!(last < 0.05 && last < first / 5.0, "{first} {last}");
    }
}
