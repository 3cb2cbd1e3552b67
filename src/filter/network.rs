//! The network: two hidden layers of ten units and a sigmoid (Culkin et al. 2021, section 6.1),
//! over inputs that are standardised: `x = (inputs - mean) / sd`, both of the training data. An
//! input that is not known counts as its mean.
//!
//! The paper does not name the hidden layers' activation; ReLU is our reading.

use crate::engine::{ComputeError, Device, NamedTensor, Tensor, Weights, WeightsError};
use crate::learn::{Activation, Mlp, Network, Weighted as _, sigmoid};

/// Units of either hidden layer.
const HIDDEN: usize = 10;

const MEAN: &str = "inputs.mean";
const DEVIATION: &str = "inputs.sd";

/// What follows the sums of the hidden layers.
pub(super) const ACTIVATION: Activation = Activation::Relu;

/// The network's inputs, units and outputs.
pub(super) fn sizes(inputs: usize) -> [usize; 4] {
    [inputs, HIDDEN, HIDDEN, 1]
}

/// How each input varies in the training data.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standard {
    /// Mean of each input (I) where it is known.
    mean: Vec<f32>,
    /// Its standard deviation there (I); 1 where it never varies.
    deviation: Vec<f32>,
}

impl Standard {
    /// That of some rows of inputs.
    pub(super) fn of(data: &[Vec<Option<f32>>]) -> Self {
        let inputs = data.first().map_or(0, Vec::len);
        let column = |at: usize| data.iter().filter_map(move |row| row[at].map(f64::from));
        let count = |at| column(at).count().max(1) as f64;
        let mean: Vec<f64> = (0..inputs).map(|at| column(at).sum::<f64>() / count(at)).collect();
        let deviation = (0..inputs).map(|at| {
            let squares: f64 = column(at).map(|value| (value - mean[at]).powi(2)).sum();
            let deviation = (squares / count(at)).sqrt() as f32;
            if deviation > 0.0 { deviation } else { 1.0 }
        });
        Self {
            deviation: deviation.collect(),
            mean: mean.iter().map(|mean| *mean as f32).collect(),
        }
    }

    /// Mean of each input (I).
    pub(super) fn means(&self) -> &[f32] {
        &self.mean
    }

    /// Bias and weights of inputs as they are, for those of inputs that are standardised so.
    pub(super) fn undone<const I: usize>(&self, bias: f32, weights: [f32; I]) -> (f32, [f32; I]) {
        let scaled = std::array::from_fn(|at| weights[at] / self.deviation[at]);
        let shift: f32 = self.mean.iter().zip(scaled).map(|(mean, weight)| mean * weight).sum();
        (bias - shift, scaled)
    }

    /// Inputs in standard deviations from their means.
    pub(super) fn apply(&self, inputs: &[Option<f32>]) -> Vec<f32> {
        let scales = self.mean.iter().zip(&self.deviation);
        let standard = |(value, (mean, sd)): (&Option<f32>, (&f32, &f32))| {
            value.map_or(0.0, |value| (value - mean) / sd)
        };
        inputs.iter().zip(scales).map(standard).collect()
    }
}

/// One network of a classifier.
#[derive(Debug, Clone)]
pub(super) struct Member {
    standard: Standard,
    network: Network,
}

impl Member {
    /// Weights for inputs that are standardised so.
    pub(super) fn new(standard: Standard, mlp: Mlp) -> Result<Self, ComputeError> {
        Ok(Self { standard, network: Network::new(mlp, &Device::Cpu { threads: 1 })? })
    }

    /// Weights of a file; `prefix` tells the networks there apart.
    pub(super) fn read(
        weights: &Weights,
        prefix: &str,
        inputs: usize,
    ) -> Result<Self, WeightsError> {
        let vector = |name: &str| {
            weights.tensor(&format!("{prefix}{name}"), &[inputs]).map(Tensor::into_data)
        };
        let standard = Standard { mean: vector(MEAN)?, deviation: vector(DEVIATION)? };
        let mlp = Mlp::read(weights, prefix, &sizes(inputs), ACTIVATION)?;
        Ok(Self::new(standard, mlp).expect("the shapes are those of the network"))
    }

    /// Whether inputs can be standardised by it; weights that are not finite are no safetensors
    /// that are read.
    pub(super) fn is_sound(&self) -> bool {
        let Standard { mean, deviation } = &self.standard;
        mean.iter().all(|mean| mean.is_finite())
            && deviation.iter().all(|sd| sd.is_finite() && *sd > 0.0)
    }

    /// Every tensor with its name and shape.
    pub(super) fn tensors(&self, prefix: &str) -> Vec<NamedTensor<'_>> {
        let Standard { mean, deviation } = &self.standard;
        let vectors = [(MEAN, mean), (DEVIATION, deviation)];
        let mut tensors: Vec<NamedTensor<'_>> = vectors
            .map(|(name, values)| (format!("{prefix}{name}"), vec![values.len()], &values[..]))
            .into();
        tensors.extend(self.network.mlp().tensors(prefix));
        tensors
    }

    /// Score of a row of inputs, in `[0, 1]`.
    pub(super) fn score(&self, inputs: &[Option<f32>]) -> f32 {
        let row = Tensor::new(&[1, inputs.len()], self.standard.apply(inputs));
        let logit = row.and_then(|row| self.network.run(&row));
        sigmoid(logit.expect("a row has the network's inputs")[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_standardised_and_one_that_never_varies_counts_nothing() {
        let data = [[1.0, 0.5, 3.0], [4.0, 0.25, 3.0], [2.0, 0.75, 3.0]];
        let data = data.map(|row| row.map(Some).to_vec());
        let row = [4.0, 0.5, 3.0].map(Some);
        let [a, b, c] = Standard::of(&data).apply(&row)[..] else { panic!() };
        assert!((a - 5.0 / 14.0_f32.sqrt()).abs() < 1e-5, "{a}");
        assert!(b.abs() < 1e-6 && c == 0.0);
    }

    #[test]
    fn an_input_that_is_not_known_counts_as_the_mean_of_those_that_are() {
        let known = [vec![Some(1.0)], vec![Some(4.0)]];
        let standard = Standard::of(&[known.to_vec(), vec![vec![None]; 3]].concat());
        assert_eq!(standard, Standard::of(&known));
        assert_eq!(standard.apply(&[None]), standard.apply(&[Some(2.5)]));
        assert_eq!(Standard::of(&[vec![None]]).apply(&[Some(7.0)]), [7.0]);
    }
}
