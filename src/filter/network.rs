//! The network: two hidden layers of ten units and a sigmoid (Culkin et al. 2021, section 6.1).
//!
//! ```text
//! x = (inputs - mean) / sd              standardised over the training data
//! a = max(0, W1 x + b1)                 W1 (10, I)
//! b = max(0, W2 a + b2)                 W2 (10, 10)
//! p = sigmoid(w3 . b + b3)              w3 (10)
//! ```
//!
//! The paper does not name the hidden layers' activation; ReLU is our reading.

use crate::learn::{SplitMix64, Trained, sigmoid, softplus};
use crate::nn::NamedTensor;

/// Units of either hidden layer.
pub(super) const HIDDEN: usize = 10;

/// Names of the trained tensors, in their order.
const NAMES: [&str; 6] = [
    "hidden.0.weight",
    "hidden.0.bias",
    "hidden.1.weight",
    "hidden.1.bias",
    "output.weight",
    "output.bias",
];
const MEAN: &str = "inputs.mean";
const DEVIATION: &str = "inputs.sd";

/// The weights of one network.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Network {
    /// Mean of each input (I).
    mean: Vec<f32>,
    /// Its standard deviation (I); 1 where it never varies.
    deviation: Vec<f32>,
    /// W1, b1, W2, b2, w3, b3.
    tensors: [Vec<f32>; 6],
}

/// What a pass computes on its way.
struct Pass {
    first: [f32; HIDDEN],
    second: [f32; HIDDEN],
    /// Before the sigmoid.
    logit: f32,
}

/// Gradients of [`Network::tensors`], one after the other.
pub(super) type Gradient = [Vec<f32>; 6];

impl Network {
    /// Untrained weights, drawn as PyTorch draws them, over inputs that are standardised by those of the training data.
    pub(super) fn random(data: &[Vec<f32>], random: &mut SplitMix64) -> Self {
        let inputs = data.first().map_or(0, Vec::len);
        let column = |at: usize| data.iter().map(move |row| f64::from(row[at]));
        let count = data.len().max(1) as f64;
        let mean: Vec<f64> = (0..inputs).map(|at| column(at).sum::<f64>() / count).collect();
        let deviation = (0..inputs).map(|at| {
            let squares: f64 = column(at).map(|value| (value - mean[at]).powi(2)).sum();
            let deviation = (squares / count).sqrt() as f32;
            if deviation > 0.0 { deviation } else { 1.0 }
        });
        let mut draw = |count: usize, fan_in: usize| -> Vec<f32> {
            let bound = 1.0 / (fan_in as f32).sqrt();
            (0..count).map(|_| (2.0 * random.unit() - 1.0) * bound).collect()
        };
        Self {
            deviation: deviation.collect(),
            mean: mean.iter().map(|mean| *mean as f32).collect(),
            tensors: [
                draw(HIDDEN * inputs, inputs),
                draw(HIDDEN, inputs),
                draw(HIDDEN * HIDDEN, HIDDEN),
                draw(HIDDEN, HIDDEN),
                draw(HIDDEN, HIDDEN),
                draw(1, HIDDEN),
            ],
        }
    }

    /// Weights read by name and shape; `prefix` tells the networks of a file apart.
    pub(super) fn read<E>(
        prefix: &str,
        inputs: usize,
        mut tensor: impl FnMut(&str, &[usize]) -> Result<Vec<f32>, E>,
    ) -> Result<Self, E> {
        let mut read = |name: &str, shape: &[usize]| tensor(&format!("{prefix}.{name}"), shape);
        let (mean, deviation) = (read(MEAN, &[inputs])?, read(DEVIATION, &[inputs])?);
        let mut tensors = <[Vec<f32>; 6]>::default();
        for ((tensor, name), shape) in tensors.iter_mut().zip(NAMES).zip(shapes(inputs)) {
            *tensor = read(name, &shape)?;
        }
        Ok(Self { mean, deviation, tensors })
    }

    /// Whether inputs can be standardised by it; weights that are not finite are no safetensors that are read.
    pub(super) fn is_sound(&self) -> bool {
        self.mean.iter().all(|mean| mean.is_finite())
            && self.deviation.iter().all(|sd| sd.is_finite() && *sd > 0.0)
    }

    /// Every tensor with its name and shape.
    pub(super) fn named<'a>(&'a self, names: &'a [String; 8]) -> [NamedTensor<'a>; 8] {
        let inputs = self.mean.len();
        let [a, b, c, d, e, f] = shapes(inputs);
        let shapes = [vec![inputs], vec![inputs], a, b, c, d, e, f];
        let [a, b, c, d, e, f] = &self.tensors;
        let tensors = [&self.mean, &self.deviation, a, b, c, d, e, f];
        let mut all = names.iter().zip(shapes).zip(tensors);
        std::array::from_fn(|_| {
            let ((name, shape), tensor) = all.next().expect("there are eight of each");
            (name.as_str(), shape, tensor.as_slice())
        })
    }

    /// Names of [`named`](Self::named), one for each tensor.
    pub(super) fn names(prefix: &str) -> [String; 8] {
        let mut names = [MEAN, DEVIATION].into_iter().chain(NAMES);
        std::array::from_fn(|_| format!("{prefix}.{}", names.next().expect("there are eight")))
    }

    /// Score of a row of inputs, in `[0, 1]`.
    pub(super) fn score(&self, inputs: &[f32]) -> f32 {
        sigmoid(self.pass(&self.standardised(inputs)).logit)
    }

    pub(super) fn standardised(&self, inputs: &[f32]) -> Vec<f32> {
        let scales = self.mean.iter().zip(&self.deviation);
        inputs.iter().zip(scales).map(|(value, (mean, sd))| (value - mean) / sd).collect()
    }

    fn pass(&self, x: &[f32]) -> Pass {
        let [w1, b1, w2, b2, w3, b3] = &self.tensors;
        let first = std::array::from_fn(|unit| {
            (b1[unit] + dot(&w1[unit * x.len()..][..x.len()], x)).max(0.0)
        });
        let second = std::array::from_fn(|unit| {
            (b2[unit] + dot(&w2[unit * HIDDEN..][..HIDDEN], &first)).max(0.0)
        });
        Pass { first, second, logit: b3[0] + dot(w3, &second) }
    }

    /// Adds the gradient of an output's weighted cross-entropy; gives the loss. `x` is standardised.
    pub(super) fn learn(&self, x: &[f32], label: bool, weight: f32, into: &mut Gradient) -> f32 {
        let Pass { first, second, logit } = self.pass(x);
        let [_, _, w2, _, w3, _] = &self.tensors;
        let of_logit = weight * (sigmoid(logit) - f32::from(u8::from(label)));
        let through = |active: f32, gradient: f32| if active > 0.0 { gradient } else { 0.0 };
        let of_second: [f32; HIDDEN] =
            std::array::from_fn(|unit| through(second[unit], of_logit * w3[unit]));
        let of_first: [f32; HIDDEN] = std::array::from_fn(|unit| {
            let sum = (0..HIDDEN).map(|above| of_second[above] * w2[above * HIDDEN + unit]).sum();
            through(first[unit], sum)
        });
        let [w1, b1, w2, b2, w3, b3] = into;
        add_outer(w1, &of_first, x);
        add_outer(w2, &of_second, &first);
        add_outer(w3, &[of_logit], &second);
        for (gradient, of) in [(b1, &of_first[..]), (b2, &of_second), (b3, &[of_logit])] {
            gradient.iter_mut().zip(of).for_each(|(gradient, of)| *gradient += of);
        }
        weight * softplus(if label { -logit } else { logit })
    }

    /// The tensors and their gradients, for a step. Matrices decay, biases do not.
    pub(super) fn trained<'a>(
        &'a mut self,
        gradient: &'a Gradient,
    ) -> impl Iterator<Item = Trained<'a>> {
        let both = self.tensors.iter_mut().zip(gradient).enumerate();
        both.map(|(at, (values, gradient))| Trained { values, gradient, decays: at % 2 == 0 })
    }

    /// Numbers in each tensor.
    pub(super) fn lengths(&self) -> [usize; 6] {
        std::array::from_fn(|at| self.tensors[at].len())
    }
}

/// Shapes of the trained tensors.
fn shapes(inputs: usize) -> [Vec<usize>; 6] {
    [
        vec![HIDDEN, inputs],
        vec![HIDDEN],
        vec![HIDDEN, HIDDEN],
        vec![HIDDEN],
        vec![1, HIDDEN],
        vec![1],
    ]
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds `rows columns^T`.
fn add_outer(into: &mut [f32], rows: &[f32], columns: &[f32]) {
    for (into, row) in into.chunks_exact_mut(columns.len()).zip(rows) {
        into.iter_mut().zip(columns).for_each(|(into, column)| *into += row * column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        let data = [vec![1.0, 0.5, 3.0], vec![4.0, 0.25, 3.0], vec![2.0, 0.75, 3.0]];
        Network::random(&data, &mut SplitMix64::new(3))
    }

    fn zeros(network: &Network) -> Gradient {
        network.lengths().map(|length| vec![0.0; length])
    }

    #[test]
    fn inputs_are_standardised_and_one_that_never_varies_counts_nothing() {
        let network = network();
        let [a, b, c] = network.standardised(&[4.0, 0.5, 3.0])[..] else { panic!() };
        assert!((a - 5.0 / 14.0_f32.sqrt()).abs() < 1e-5, "{a}");
        assert!(b.abs() < 1e-6 && c == 0.0);
    }

    #[test]
    fn gradients_are_those_of_the_loss() {
        let network = network();
        for (label, weight) in [(true, 0.3), (false, 1.0)] {
            let x = [0.4, -1.2, 0.7];
            let mut gradient = zeros(&network);
            let loss = network.learn(&x, label, weight, &mut gradient);
            let p = sigmoid(network.pass(&x).logit);
            let expected = -weight * (if label { p } else { 1.0 - p }).ln();
            assert!((loss - expected).abs() < 1e-5);
            for (tensor, gradient) in gradient.iter().enumerate() {
                for (at, gradient) in gradient.iter().enumerate() {
                    let moved = |by: f32| {
                        let mut network = network.clone();
                        network.tensors[tensor][at] += by;
                        network.learn(&x, label, weight, &mut zeros(&network))
                    };
                    let slope = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                    assert!((slope - gradient).abs() < 1e-3, "{tensor} {at}: {slope} {gradient}");
                }
            }
        }
    }

    #[test]
    fn a_loss_is_finite_however_sure_the_network_is() {
        let mut network = network();
        network.tensors[5][0] = 1e4;
        let loss = network.learn(&[0.0; 3], false, 1.0, &mut zeros(&network));
        assert!(loss.is_finite() && loss > 9e3, "{loss}");
    }

    #[test]
    fn weights_are_read_back_by_name() {
        let network = network();
        let names = Network::names("p");
        let named = network.named(&names);
        assert_eq!(named[0].0, "p.inputs.mean");
        let read = Network::read("p", 3, |name, shape| {
            let (_, there, data) =
                named.iter().find(|(named, ..)| *named == name).ok_or_else(|| name.to_owned())?;
            assert_eq!(there, shape);
            Ok::<_, String>(data.to_vec())
        });
        assert_eq!(read.unwrap(), network);
    }
}
