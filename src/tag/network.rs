//! The network: a word's features in, a score for each tag out.
//!
//! ```text
//! z = W x + b                           W (H, D + 6)
//! h = max(0, z) + slope * min(0, z)     one slope, as PyTorch's PReLU
//! p = softmax(V h + c)                  V (T, H)
//! ```
//!
//! The loss is cross-entropy, averaged over the words of a batch. With `g = (p - y) / R` its derivative by
//! the scores of R words, the gradients are
//!
//! ```text
//! dV = g^T h     dc = sum of g     dh = g V     dz = dh where z > 0, else slope dh
//! dW = dz^T x    db = sum of dz    dslope = sum of dh z where z <= 0
//! ```

use crate::compute::kernels::{Weight, matmul};
use crate::compute::{ComputeError, Device, Tensor};
use crate::learn::{AdamW, Schedule, SplitMix64, Trained, product_of_columns, transposed};

/// The weights of a tagger, as they are trained and stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parameters {
    /// Number of inputs, D + 6.
    pub(super) inputs: usize,
    /// Number of hidden units H.
    pub(super) hidden: usize,
    /// Number of tags T.
    pub(super) tags: usize,
    /// (H, inputs).
    weight: Vec<f32>,
    /// (H).
    bias: Vec<f32>,
    /// Slope of PReLU below zero (1).
    slope: Vec<f32>,
    /// (T, H).
    output: Vec<f32>,
    /// (T).
    output_bias: Vec<f32>,
}

/// Number of tensors in [`Parameters::tensors`].
const TENSORS: usize = 5;

impl Parameters {
    /// Untrained weights, drawn as PyTorch draws them: uniform in `+-1/sqrt(inputs)`, slope 0.25.
    pub(super) fn random(
        inputs: usize,
        hidden: usize,
        tags: usize,
        random: &mut SplitMix64,
    ) -> Self {
        let mut draw = |count: usize, fan_in: usize| -> Vec<f32> {
            let bound = 1.0 / (fan_in as f32).sqrt();
            (0..count).map(|_| (2.0 * random.unit() - 1.0) * bound).collect()
        };
        Self {
            inputs,
            hidden,
            tags,
            weight: draw(hidden * inputs, inputs),
            bias: draw(hidden, inputs),
            slope: vec![0.25],
            output: draw(tags * hidden, hidden),
            output_bias: draw(tags, hidden),
        }
    }

    /// Weights read by their names and shapes.
    pub(super) fn read<E>(
        [inputs, hidden, tags]: [usize; 3],
        mut tensor: impl FnMut(&str, &[usize]) -> Result<Vec<f32>, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            inputs,
            hidden,
            tags,
            weight: tensor("hidden.weight", &[hidden, inputs])?,
            bias: tensor("hidden.bias", &[hidden])?,
            slope: tensor("prelu.weight", &[1])?,
            output: tensor("output.weight", &[tags, hidden])?,
            output_bias: tensor("output.bias", &[tags])?,
        })
    }

    /// Every tensor with its name in a file and its shape, in a fixed order.
    pub(super) fn tensors(&self) -> [(&'static str, Vec<usize>, &[f32]); TENSORS] {
        [
            ("hidden.weight", vec![self.hidden, self.inputs], &self.weight),
            ("hidden.bias", vec![self.hidden], &self.bias),
            ("prelu.weight", vec![1], &self.slope),
            ("output.weight", vec![self.tags, self.hidden], &self.output),
            ("output.bias", vec![self.tags], &self.output_bias),
        ]
    }

    /// An optimizer for these weights, before its first step.
    pub(super) fn optimizer(&self) -> AdamW {
        AdamW::new(self.tensors().map(|(_, _, values)| values.len()))
    }

    /// One step against gradients, which are in the order of [`tensors`](Self::tensors).
    pub(super) fn update(
        &mut self,
        adam: &mut AdamW,
        gradients: &[Vec<f32>; TENSORS],
        schedule: Schedule,
    ) {
        let tensors = [
            (&mut self.weight, true),
            (&mut self.bias, false),
            (&mut self.slope, false),
            (&mut self.output, true),
            (&mut self.output_bias, false),
        ];
        let trained = tensors.into_iter().zip(gradients);
        let trained =
            trained.map(|((values, decays), gradient)| Trained { values, gradient, decays });
        adam.update(trained, schedule);
    }

    fn prelu(&self, z: f32) -> f32 {
        if z > 0.0 { z } else { self.slope[0] * z }
    }
}

/// The weights, arranged for products.
#[derive(Debug)]
pub(super) struct Network {
    device: Device,
    parameters: Parameters,
    hidden: Weight,
    bias: Tensor,
    output: Weight,
    output_bias: Tensor,
}

/// What a network makes of some words.
struct Values {
    /// (R, H).
    z: Vec<f32>,
    /// (R, H).
    h: Vec<f32>,
    /// (R, T), each row a distribution.
    shares: Vec<f32>,
}

impl Network {
    /// Arranges weights.
    pub(super) fn new(parameters: Parameters, device: &Device) -> Result<Self, ComputeError> {
        let Parameters { inputs, hidden, tags, .. } = parameters;
        let weight = Tensor::new(&[hidden, inputs], parameters.weight.clone())?;
        let output = Tensor::new(&[tags, hidden], parameters.output.clone())?;
        Ok(Self {
            device: device.clone(),
            hidden: Weight::new(device, &weight),
            bias: Tensor::new(&[hidden], parameters.bias.clone())?,
            output: Weight::new(device, &output),
            output_bias: Tensor::new(&[tags], parameters.output_bias.clone())?,
            parameters,
        })
    }

    /// The number of the likeliest tag of each row of features, (R, D + 6), and its share; of equals the
    /// first. A row's answer has the same bits in any company.
    pub(super) fn best(&self, rows: Vec<f32>) -> Result<Vec<(usize, f32)>, ComputeError> {
        let count = rows.len() / self.parameters.inputs;
        if count == 0 {
            return Ok(Vec::new());
        }
        let rows = Tensor::new(&[count, self.parameters.inputs], rows)?;
        let shares = self.run(&rows)?.shares;
        let best = |shares: &[f32]| {
            let mut best = (0, shares[0]);
            for (tag, &share) in shares.iter().enumerate() {
                if share > best.1 {
                    best = (tag, share);
                }
            }
            best
        };
        Ok(shares.chunks_exact(self.parameters.tags).map(best).collect())
    }

    fn run(&self, rows: &Tensor) -> Result<Values, ComputeError> {
        let z = matmul(&self.device, rows, &self.hidden, Some(&self.bias))?;
        let z = z.to_host()?.into_data();
        let h: Vec<f32> = z.iter().map(|&z| self.parameters.prelu(z)).collect();
        let input = Tensor::new(&[rows.rows(), self.parameters.hidden], h)?;
        let scores = matmul(&self.device, &input, &self.output, Some(&self.output_bias))?;
        let mut shares = scores.to_host()?.into_data();
        shares.chunks_exact_mut(self.parameters.tags).for_each(softmax);
        Ok(Values { z, h: input.into_data(), shares })
    }

    /// Runs a batch of `rows` (R, D + 6) forwards and backwards; a word's label is the number of its tag.
    /// Gives the mean loss (natural log) and the gradients in the order of [`Parameters::tensors`].
    pub(super) fn loss_and_gradients(
        &self,
        rows: &Tensor,
        labels: &[usize],
    ) -> Result<(f64, [Vec<f32>; TENSORS]), ComputeError> {
        let Parameters { hidden, tags, .. } = self.parameters;
        let count = labels.len();
        let Values { mut z, h, shares } = self.run(rows)?;
        // 1. The loss, and g in the place of the shares.
        let (mut loss, mut g) = (0.0_f64, shares);
        for (g, &label) in g.chunks_exact_mut(tags).zip(labels) {
            loss -= f64::from(g[label].max(f32::MIN_POSITIVE)).ln() / count as f64;
            g[label] -= 1.0;
            g.iter_mut().for_each(|g| *g /= count as f32);
        }
        // 2. The gradients of the output.
        let input = Tensor::new(&[count, hidden], h)?;
        let d_output = product_of_columns(&self.device, &g, tags, &input)?;
        let d_output_bias = sums_of_columns(&g, tags);
        // 3. Back through the output and PReLU: dz in the place of z.
        let back = Tensor::new(&[hidden, tags], transposed(&self.parameters.output, hidden))?;
        let g = Tensor::new(&[count, tags], g)?;
        let d_h = matmul(&self.device, &g, &Weight::new(&self.device, &back), None)?;
        let slope = self.parameters.slope[0];
        let mut d_slope = 0.0;
        for (z, &d_h) in z.iter_mut().zip(d_h.to_host()?.data()) {
            let is_below = *z <= 0.0;
            d_slope += if is_below { d_h * *z } else { 0.0 };
            *z = if is_below { slope * d_h } else { d_h };
        }
        // 4. The gradients of the hidden layer.
        let d_weight = product_of_columns(&self.device, &z, hidden, rows)?;
        let d_bias = sums_of_columns(&z, hidden);
        Ok((loss, [d_weight, d_bias, vec![d_slope], d_output, d_output_bias]))
    }
}

/// Makes shares of scores.
fn softmax(scores: &mut [f32]) {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - highest).exp());
    let sum: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|share| *share /= sum);
}

/// The sum over the rows of a matrix.
fn sums_of_columns(matrix: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0; width];
    for row in matrix.chunks_exact(width) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of features, their labels, and weights for them.
    fn batch(random: &mut SplitMix64, rows: usize) -> (Tensor, Vec<usize>, Parameters) {
        let parameters = Parameters::random(6, 4, 3, random);
        let data = (0..rows * 6).map(|_| 2.0 * random.unit() - 1.0).collect();
        let labels = (0..rows).map(|_| random.below(3)).collect();
        (Tensor::new(&[rows, 6], data).unwrap(), labels, parameters)
    }

    fn pass(parameters: &Parameters, rows: &Tensor, labels: &[usize]) -> (f64, [Vec<f32>; 5]) {
        let network = Network::new(parameters.clone(), &Device::cpu()).unwrap();
        network.loss_and_gradients(rows, labels).unwrap()
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let (rows, labels, parameters) = batch(&mut SplitMix64::new(5), 9);
        let (_, gradients) = pass(&parameters, &rows, &labels);
        for (tensor, gradient) in gradients.iter().enumerate() {
            for (element, &gradient) in gradient.iter().enumerate() {
                let loss_at = |offset: f32| {
                    let mut moved = parameters.clone();
                    let tensors = [
                        &mut moved.weight,
                        &mut moved.bias,
                        &mut moved.slope,
                        &mut moved.output,
                        &mut moved.output_bias,
                    ];
                    tensors.into_iter().nth(tensor).unwrap()[element] += offset;
                    pass(&moved, &rows, &labels).0
                };
                let slope = (loss_at(2e-3) - loss_at(-2e-3)) / 4e-3;
                let difference = (slope - f64::from(gradient)).abs();
                assert!(difference < 2e-3, "tensor {tensor}, {element}: {slope} {gradient}");
            }
        }
    }

    #[test]
    fn the_loss_of_even_shares_is_the_logarithm_of_the_number_of_tags() {
        let (rows, labels, mut parameters) = batch(&mut SplitMix64::new(2), 5);
        parameters.output.fill(0.0);
        parameters.output_bias.fill(0.0);
        let (loss, _) = pass(&parameters, &rows, &labels);
        assert!((loss - 3.0_f64.ln()).abs() < 1e-6, "{loss}");
    }

    #[test]
    fn steps_against_the_gradient_lower_the_loss() {
        let (rows, labels, mut parameters) = batch(&mut SplitMix64::new(3), 12);
        let mut adam = parameters.optimizer();
        let schedule = Schedule { rate: 0.1, decay: 0.0, steps: 600 };
        let first = pass(&parameters, &rows, &labels).0;
        for _ in 0..300 {
            let (_, gradients) = pass(&parameters, &rows, &labels);
            parameters.update(&mut adam, &gradients, schedule);
        }
        let last = pass(&parameters, &rows, &labels).0;
        assert!(last < first / 5.0, "{first} {last}");
    }

    #[test]
    fn a_word_is_tagged_alike_alone_and_in_company() {
        let (rows, _, parameters) = batch(&mut SplitMix64::new(4), 40);
        let network = Network::new(parameters, &Device::cpu()).unwrap();
        let together = network.best(rows.data().to_vec()).unwrap();
        for (at, together) in together.iter().enumerate() {
            assert_eq!(network.best(rows.row(at).to_vec()).unwrap(), [*together]);
            assert!(together.1 > 1.0 / 3.0 && together.1 <= 1.0);
        }
        assert_eq!(network.best(Vec::new()).unwrap(), []);
    }
}
