//! A network at work: rows of inputs forwards, and the gradients of its weights backwards.
//!
//! With `g` the derivative of the loss by the outputs of a layer with weight `W`, inputs `x` and
//! `R` rows:
//!
//! ```text
//! dW = g^T x     db = sum of g     dx = g W
//! ```
//!
//! Behind batch normalisation (Ioffe and Szegedy 2015, section 3), with `u` the values that it
//! normalised:
//!
//! ```text
//! dgamma = sum of g u     dbeta = sum of g
//! dh = gamma / sqrt(variance + EPSILON) * (g - dbeta / R - u dgamma / R)
//! dz = dh where z > 0, else slope dh     dslope = sum of dh z where z <= 0
//! ```
//!
//! Dropout (Srivastava et al. 2014) takes hidden values away while a network learns and divides
//! those that stay by the share that stays, so that a trained network runs as it is. `mask` has 0
//! or that factor for each hidden value, forwards and backwards.
//!
//! Sums over rows go in the order of the rows, and the kernels add in one order: a step gives the
//! same bits on any number of threads.

use super::mlp::{Activation, EPSILON, Layer, Mlp, Part};
use super::products::{product_of_columns, transposed};
use super::{AdamW, Labels, Schedule, SplitMix64, Trained};
use crate::engine::kernels::{Weight, matmul};
use crate::engine::{ComputeError, Device, Tensor};

/// Outputs from which on a layer is worth a kernel's packing; narrower ones are summed here.
const WORTH_A_KERNEL: usize = 16;

/// Share of a batch's statistics in the running ones (PyTorch's default).
const MOMENTUM: f32 = 0.1;

/// Weights, arranged for products on a device.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    device: Device,
    mlp: Mlp,
    /// The weight and bias of each layer; none where its products are summed here.
    packed: Vec<Option<(Weight, Tensor)>>,
}

/// What a hidden layer makes of some rows.
struct Hidden {
    /// Its sums (R, H).
    z: Vec<f32>,
    /// How it normalises.
    norm: Option<Norm>,
    /// What each value is multiplied by (R, H); none without dropout.
    mask: Option<Vec<f32>>,
    /// What the next layer sees (R, H).
    output: Tensor,
}

/// How the values of a batch were normalised.
struct Norm {
    mean: Vec<f32>,
    variance: Vec<f32>,
    /// One over the root of the variance (H).
    inverse: Vec<f32>,
    /// The normalised values, before scale and shift (R, H).
    values: Vec<f32>,
}

/// What some rows teach.
#[derive(Debug)]
pub(crate) struct Lesson {
    /// As [`Labels::loss`] has it.
    pub(crate) loss: f64,
    /// Of the tensors that are trained, in their order.
    pub(crate) gradients: Vec<Vec<f32>>,
    /// Mean and variance of the values of each hidden layer that is normalised.
    statistics: Vec<Option<[Vec<f32>; 2]>>,
    rows: usize,
}

impl Network {
    /// Arranges weights.
    pub(crate) fn new(mlp: Mlp, device: &Device) -> Result<Self, ComputeError> {
        let pack = |layer: &Layer| {
            if layer.outputs < WORTH_A_KERNEL {
                return Ok(None);
            }
            let weight = Tensor::new(&[layer.outputs, layer.inputs], layer[Part::Weight].to_vec())?;
            let bias = Tensor::new(&[layer.outputs], layer[Part::Bias].to_vec())?;
            Ok(Some((Weight::new(device, &weight), bias)))
        };
        let packed = mlp.layers.iter().map(pack).collect::<Result<_, ComputeError>>()?;
        Ok(Self { device: device.clone(), mlp, packed })
    }

    /// The weights.
    pub(crate) fn mlp(&self) -> &Mlp {
        &self.mlp
    }

    /// The outputs (R, O) of rows of inputs (R, I), the same bits for a row in any company.
    pub(crate) fn run(&self, rows: &Tensor) -> Result<Vec<f32>, ComputeError> {
        Ok(self.forwards(rows, None)?.1)
    }

    /// Runs rows of inputs forwards and backwards.
    pub(crate) fn learn(
        &self,
        rows: &Tensor,
        labels: &Labels,
        dropout: Dropout<'_>,
    ) -> Result<Lesson, ComputeError> {
        let (hidden, mut g) = self.forwards(rows, Some(dropout))?;
        let loss = labels.loss(&mut g);
        // From the last layer to the first, so gradients are gathered the other way round.
        let mut gradients = Vec::new();
        for (at, layer) in self.mlp.layers.iter().enumerate().rev() {
            if let Some(made) = hidden.get(at) {
                made.mask.iter().for_each(|mask| multiply(&mut g, mask));
                if let Some(norm) = &made.norm {
                    let (gamma, beta) = norm.backwards(layer, &mut g);
                    gradients.extend([beta, gamma]);
                }
                let slope = through_activation(layer, &made.z, &mut g);
                gradients.extend((!layer[Part::Slope].is_empty()).then(|| vec![slope]));
            }
            let below = at.checked_sub(1).map_or(rows, |below| &hidden[below].output);
            gradients.push(sums_of_columns(&g, layer.outputs));
            gradients.push(self.weight_gradient(at, &g, below)?);
            if at > 0 {
                g = self.backwards(at, g)?;
            }
        }
        gradients.reverse();
        let statistics = hidden.into_iter().map(|made| Some(made.norm?.into_statistics()));
        Ok(Lesson { loss, gradients, statistics: statistics.collect(), rows: labels.len() })
    }

    /// What each hidden layer makes of rows, and the outputs. `learning` is there while the network
    /// learns.
    fn forwards(
        &self,
        rows: &Tensor,
        mut learning: Option<Dropout<'_>>,
    ) -> Result<(Vec<Hidden>, Vec<f32>), ComputeError> {
        let mut hidden: Vec<Hidden> = Vec::with_capacity(self.mlp.layers.len());
        for (at, layer) in self.mlp.layers.iter().enumerate() {
            let z = self.sums(at, hidden.last().map_or(rows, |below| &below.output))?;
            let Some(activation) = layer.activation else { return Ok((hidden, z)) };
            let slope = layer.slope();
            let mut h: Vec<f32> = z.iter().map(|&z| if z > 0.0 { z } else { slope * z }).collect();
            let norm = (activation == Activation::NormalisedPrelu).then(|| {
                let norm = Norm::of(layer, &h, learning.is_some());
                let scales = layer[Part::Gamma].iter().zip(&layer[Part::Beta]).cycle();
                for ((h, u), (gamma, beta)) in h.iter_mut().zip(&norm.values).zip(scales) {
                    *h = gamma * u + beta;
                }
                norm
            });
            let mask = learning.as_mut().and_then(|dropout| dropout.mask(h.len()));
            mask.iter().for_each(|mask| multiply(&mut h, mask));
            let output = Tensor::new(&[rows.rows(), layer.outputs], h)?;
            hidden.push(Hidden { z, norm, mask, output });
        }
        unreachable!("the last layer has no activation")
    }

    /// `W x + b` of a layer, (R, O).
    fn sums(&self, at: usize, input: &Tensor) -> Result<Vec<f32>, ComputeError> {
        if let Some((weight, bias)) = &self.packed[at] {
            return Ok(matmul(&self.device, input, weight, Some(bias))?.to_host()?.into_data());
        }
        let layer = &self.mlp.layers[at];
        let mut sums = Vec::with_capacity(input.rows() * layer.outputs);
        for row in input.data().chunks_exact(layer.inputs) {
            let units = layer[Part::Weight].chunks_exact(layer.inputs).zip(&layer[Part::Bias]);
            sums.extend(units.map(|(weights, bias)| bias + dot(weights, row)));
        }
        Ok(sums)
    }

    /// `g W` of a layer, (R, I).
    fn backwards(&self, at: usize, g: Vec<f32>) -> Result<Vec<f32>, ComputeError> {
        let layer = &self.mlp.layers[at];
        let (inputs, outputs) = (layer.inputs, layer.outputs);
        if self.packed[at].is_some() {
            let weight = Tensor::new(&[inputs, outputs], transposed(&layer[Part::Weight], inputs))?;
            let g = Tensor::new(&[g.len() / outputs, outputs], g)?;
            let below = matmul(&self.device, &g, &Weight::new(&self.device, &weight), None)?;
            return Ok(below.to_host()?.into_data());
        }
        let mut below = vec![0.0; g.len() / outputs * inputs];
        for (below, g) in below.chunks_exact_mut(inputs).zip(g.chunks_exact(outputs)) {
            for (weights, g) in layer[Part::Weight].chunks_exact(inputs).zip(g) {
                below.iter_mut().zip(weights).for_each(|(below, weight)| *below += g * weight);
            }
        }
        Ok(below)
    }

    /// `g^T x` of a layer, (O, I).
    fn weight_gradient(
        &self,
        at: usize,
        g: &[f32],
        input: &Tensor,
    ) -> Result<Vec<f32>, ComputeError> {
        let layer = &self.mlp.layers[at];
        if self.packed[at].is_some() {
            return product_of_columns(&self.device, g, layer.outputs, input);
        }
        let mut gradient = vec![0.0; layer.outputs * layer.inputs];
        for (row, g) in input.data().chunks_exact(layer.inputs).zip(g.chunks_exact(layer.outputs)) {
            for (gradient, g) in gradient.chunks_exact_mut(layer.inputs).zip(g) {
                gradient.iter_mut().zip(row).for_each(|(gradient, x)| *gradient += g * x);
            }
        }
        Ok(gradient)
    }
}

/// Which hidden values a step goes without.
pub(crate) struct Dropout<'a> {
    /// Share of them, in [0, 1).
    pub(crate) share: f32,
    /// Draws them; untouched where the share is 0.
    pub(crate) random: &'a mut SplitMix64,
}

impl Dropout<'_> {
    /// What so many hidden values are multiplied by.
    fn mask(&mut self, values: usize) -> Option<Vec<f32>> {
        let kept = 1.0 / (1.0 - self.share);
        let mut factor = || if self.random.unit() < self.share { 0.0 } else { kept };
        (self.share > 0.0).then(|| (0..values).map(|_| factor()).collect())
    }
}

impl Norm {
    /// Normalises hidden values (R, H) by their own statistics, or by the running ones.
    fn of(layer: &Layer, h: &[f32], by_their_own: bool) -> Self {
        let (width, rows) = (layer.outputs, h.len() / layer.outputs);
        let mean_of = |sums: Vec<f32>| sums.iter().map(|sum| sum / rows as f32).collect();
        let (mean, variance): (Vec<f32>, Vec<f32>) = if by_their_own {
            let mean: Vec<f32> = mean_of(sums_of_columns(h, width));
            let squares = h.iter().zip(mean.iter().cycle()).map(|(h, mean)| (h - mean).powi(2));
            let variance = mean_of(sums_of_columns(&squares.collect::<Vec<f32>>(), width));
            (mean, variance)
        } else {
            (layer[Part::Mean].to_vec(), layer[Part::Variance].to_vec())
        };
        let inverse: Vec<f32> = variance.iter().map(|v| 1.0 / (v + EPSILON).sqrt()).collect();
        let scales = mean.iter().zip(&inverse).cycle();
        let values =
            h.iter().zip(scales).map(|(h, (mean, inverse))| (h - mean) * inverse).collect();
        Self { mean, variance, inverse, values }
    }

    /// The gradients of scale and shift; `g` becomes that of what was normalised.
    fn backwards(&self, layer: &Layer, g: &mut [f32]) -> (Vec<f32>, Vec<f32>) {
        let (width, rows) = (layer.outputs, (g.len() / layer.outputs) as f32);
        let scales: Vec<f32> = layer[Part::Gamma]
            .iter()
            .zip(&self.inverse)
            .map(|(gamma, root)| gamma * root)
            .collect();
        let products: Vec<f32> = g.iter().zip(&self.values).map(|(g, u)| g * u).collect();
        let (gamma, beta) = (sums_of_columns(&products, width), sums_of_columns(g, width));
        for (g, u) in g.chunks_exact_mut(width).zip(self.values.chunks_exact(width)) {
            for unit in 0..width {
                g[unit] =
                    scales[unit] * (g[unit] - beta[unit] / rows - u[unit] * gamma[unit] / rows);
            }
        }
        (gamma, beta)
    }

    fn into_statistics(self) -> [Vec<f32>; 2] {
        [self.mean, self.variance]
    }
}

/// The gradient of the slope; `g` becomes that of the sums `z`.
fn through_activation(layer: &Layer, z: &[f32], g: &mut [f32]) -> f32 {
    let slope = layer.slope();
    let mut gradient = 0.0;
    for (g, &z) in g.iter_mut().zip(z) {
        if z <= 0.0 {
            gradient += *g * z;
            *g *= slope;
        }
    }
    gradient
}

impl Mlp {
    /// Moves the weights one step against the gradients, and the running statistics towards those
    /// of the rows.
    pub(crate) fn follow(&mut self, lesson: &Lesson, adam: &mut AdamW, schedule: Schedule) {
        let trained = self.trained_mut().zip(&lesson.gradients);
        let trained =
            trained.map(|((values, decays), gradient)| Trained { values, gradient, decays });
        adam.update(trained, schedule);
        // The running variance estimates the whole data's, so it is divided by rows - 1.
        let rows = lesson.rows as f32;
        let scales = [(Part::Mean, 1.0), (Part::Variance, rows / (rows - 1.0).max(1.0))];
        for (layer, statistics) in self.layers.iter_mut().zip(&lesson.statistics) {
            for ((part, scale), batch) in scales.into_iter().zip(statistics.iter().flatten()) {
                for (running, batch) in layer.part_mut(part).iter_mut().zip(batch) {
                    *running += MOMENTUM * (scale * batch - *running);
                }
            }
        }
    }
}

fn multiply(values: &mut [f32], mask: &[f32]) {
    values.iter_mut().zip(mask).for_each(|(value, factor)| *value *= factor);
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
    use crate::learn::{SplitMix64, Weighted as _};

    /// Networks of every kind, above and below the width that a kernel is worth.
    fn networks(random: &mut SplitMix64) -> Vec<Mlp> {
        let kinds = [
            (&[6, 4, 1][..], Activation::NormalisedPrelu),
            (&[6, 18, 1], Activation::NormalisedPrelu),
            (&[6, 5, 3], Activation::Prelu),
            (&[6, 17, 19], Activation::Prelu),
            (&[6, 5, 4, 1], Activation::Relu),
            (&[6, 5, 4, 1], Activation::NormalisedPrelu),
        ];
        let network = |(sizes, activation): (&[usize], Activation)| {
            let mut mlp = Mlp::random(sizes, activation, random);
            for layer in &mut mlp.layers {
                for part in [Part::Gamma, Part::Beta, Part::Mean, Part::Variance] {
                    let values = layer.part_mut(part).iter_mut();
                    values.for_each(|value| *value = 0.5 + random.unit());
                }
            }
            mlp
        };
        kinds.into_iter().map(network).collect()
    }

    fn batch(random: &mut SplitMix64, rows: usize, mlp: &Mlp) -> (Tensor, Labels) {
        let width = mlp.inputs();
        let data = (0..rows * width).map(|_| 2.0 * random.unit() - 1.0).collect();
        let labels = if mlp.outputs() == 1 {
            let label = |_| (random.unit(), 0.5 * random.unit());
            Labels::Scores((0..rows).map(label).collect())
        } else {
            Labels::Classes((0..rows).map(|_| random.below(mlp.outputs())).collect())
        };
        (Tensor::new(&[rows, width], data).unwrap(), labels)
    }

    /// Draws the same values away at each call.
    fn learn_without(mlp: &Mlp, rows: &Tensor, labels: &Labels, share: f32) -> Lesson {
        let random = &mut SplitMix64::new(12);
        let network = Network::new(mlp.clone(), &Device::cpu()).unwrap();
        network.learn(rows, labels, Dropout { share, random }).unwrap()
    }

    fn learn(mlp: &Mlp, rows: &Tensor, labels: &Labels) -> Lesson {
        learn_without(mlp, rows, labels, 0.0)
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let mut random = SplitMix64::new(11);
        for mlp in networks(&mut random) {
            let (rows, labels) = batch(&mut random, 9, &mlp);
            let gradients = learn(&mlp, &rows, &labels).gradients;
            assert!(gradients.iter().map(Vec::len).eq(mlp.lengths()));
            for (tensor, gradient) in gradients.iter().enumerate() {
                for (element, gradient) in gradient.iter().enumerate() {
                    let loss_at = |offset: f32| {
                        let mut moved = mlp.clone();
                        moved.trained_mut().nth(tensor).unwrap().0[element] += offset;
                        learn(&moved, &rows, &labels).loss
                    };
                    let slope = (loss_at(1e-3) - loss_at(-1e-3)) / 2e-3;
                    let difference = (slope - f64::from(*gradient)).abs();
                    assert!(difference < 4e-3, "{tensor}, {element}: {slope} {gradient}");
                }
            }
        }
    }

    #[test]
    fn dropout_takes_its_share_and_keeps_the_mean() {
        let mut random = SplitMix64::new(8);
        let mut dropout = Dropout { share: 0.25, random: &mut random };
        let mask = dropout.mask(40_000).unwrap();
        let gone = mask.iter().filter(|factor| **factor == 0.0).count();
        assert!((9_700..10_300).contains(&gone), "{gone}");
        assert!(mask.iter().all(|factor| *factor == 0.0 || *factor == 1.0 / 0.75));
        let before = random.state();
        assert_eq!(Dropout { share: 0.0, random: &mut random }.mask(5), None);
        assert_eq!(random.state(), before, "nothing is drawn where nothing is dropped");
    }

    #[test]
    fn a_row_with_dropout_teaches_what_a_network_with_its_mask_in_the_weights_does() {
        let mut random = SplitMix64::new(13);
        let mlp = Mlp::random(&[6, 17, 19], Activation::Prelu, &mut random);
        let (rows, labels) = batch(&mut random, 1, &mlp);
        let mask = Dropout { share: 0.4, random: &mut SplitMix64::new(12) }.mask(17).unwrap();
        let masked = |weights: &mut [f32]| {
            weights.chunks_exact_mut(17).for_each(|row| multiply(row, &mask));
        };
        let mut other = mlp.clone();
        masked(other.layers[1].part_mut(Part::Weight));
        let lesson = learn_without(&mlp, &rows, &labels, 0.4);
        let mut expected = learn(&other, &rows, &labels);
        // Weights and bias of the hidden layer, its slope, then the weights of the outputs.
        masked(&mut expected.gradients[3]);
        assert!((lesson.loss - expected.loss).abs() < 1e-5);
        for (found, expected) in lesson.gradients.iter().zip(&expected.gradients) {
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
    }

    #[test]
    fn steps_against_the_gradient_lower_the_loss() {
        let mut random = SplitMix64::new(4);
        for mut mlp in networks(&mut random) {
            let (rows, labels) = batch(&mut random, 12, &mlp);
            let labels = match labels {
                Labels::Scores(all) => {
                    Labels::scores(&all.iter().map(|(label, _)| label.round()).collect::<Vec<_>>())
                }
                others => others,
            };
            let mut adam = AdamW::new(mlp.lengths());
            let schedule = Schedule { rate: 0.05, decay: 0.0, steps: 500 };
            let first = learn(&mlp, &rows, &labels).loss;
            for _ in 0..300 {
                let lesson = learn(&mlp, &rows, &labels);
                mlp.follow(&lesson, &mut adam, schedule);
            }
            let last = learn(&mlp, &rows, &labels).loss;
            assert!(last < first / 4.0, "{first} {last}");
        }
    }

    #[test]
    fn a_row_gives_the_same_bits_alone_and_in_company() {
        let mut random = SplitMix64::new(5);
        for mlp in networks(&mut random) {
            let (rows, _) = batch(&mut random, 40, &mlp);
            let network = Network::new(mlp, &Device::cpu()).unwrap();
            let together = network.run(&rows).unwrap();
            for (at, together) in together.chunks_exact(network.mlp().outputs()).enumerate() {
                let alone = Tensor::new(&[1, rows.width()], rows.row(at).to_vec()).unwrap();
                assert_eq!(network.run(&alone).unwrap(), together);
            }
        }
    }

    #[test]
    fn a_narrow_layer_is_summed_as_a_wide_one_is() {
        // The same units twice, so that a kernel takes them, beside one half of them, which are
        // summed here.
        let mut random = SplitMix64::new(6);
        let narrow = Mlp::random(&[6, 9, 1], Activation::Prelu, &mut random);
        let mut wide = Mlp::random(&[6, 18, 1], Activation::Prelu, &mut random);
        for part in [Part::Weight, Part::Bias] {
            let twice = [&narrow.layers[0][part]; 2].concat();
            wide.layers[0].part_mut(part).copy_from_slice(&twice);
        }
        let halves: Vec<f32> = narrow.layers[1][Part::Weight].iter().map(|w| w / 2.0).collect();
        let output = &mut wide.layers[1];
        output.part_mut(Part::Weight).copy_from_slice(&[&halves[..]; 2].concat());
        output.part_mut(Part::Bias).copy_from_slice(&narrow.layers[1][Part::Bias]);
        let (rows, _) = batch(&mut random, 20, &narrow);
        let run =
            |mlp: &Mlp| Network::new(mlp.clone(), &Device::cpu()).unwrap().run(&rows).unwrap();
        for (narrow, wide) in run(&narrow).into_iter().zip(run(&wide)) {
            assert!((narrow - wide).abs() < 1e-5, "{narrow} {wide}");
        }
    }

    #[test]
    fn running_statistics_go_a_tenth_of_the_way_to_those_of_the_rows() {
        let mut random = SplitMix64::new(7);
        let mut mlp = Mlp::random(&[1, 1, 1], Activation::NormalisedPrelu, &mut random);
        mlp.layers[0].part_mut(Part::Weight).fill(1.0);
        mlp.layers[0].part_mut(Part::Bias).fill(0.0);
        let rows = Tensor::new(&[2, 1], vec![1.0, 3.0]).unwrap();
        let lesson = learn(&mlp, &rows, &Labels::scores(&[0.0, 1.0]));
        let mut adam = AdamW::new(mlp.lengths());
        mlp.follow(&lesson, &mut adam, Schedule { rate: 0.1, decay: 0.0, steps: 10 });
        // The batch has a mean of 2 and, divided by one row, a variance of 2.
        assert!((mlp.layers[0][Part::Mean][0] - 0.2).abs() < 1e-6);
        assert!((mlp.layers[0][Part::Variance][0] - 1.1).abs() < 1e-6);
    }
}
