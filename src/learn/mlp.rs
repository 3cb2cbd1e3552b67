//! A feed-forward network: its weights, what they are called in a file, and how they begin.
//!
//! ```text
//! z = W x + b                                                every layer
//! h = max(0, z) + slope * min(0, z)                          hidden layers
//! n = gamma * (h - mean) / sqrt(variance + EPSILON) + beta   normalised hidden layers
//! ```
//!
//! A ReLU has the slope 0, a PReLU learns one for the layer. Names and shapes are those of
//! PyTorch's modules: `hidden.weight` (H, I), `hidden.bias`, `prelu.weight` (1), `norm.weight`,
//! `norm.bias`, `norm.running_mean`, `norm.running_var` (H), `output.weight` (O, H), `output.bias`.
//! Several hidden layers are numbered: `hidden.0.weight`.

use std::ops::Index;

use super::SplitMix64;
use crate::engine::{NamedTensor, Weights, WeightsError};

/// Added to a variance before its root is taken (PyTorch's default).
pub(crate) const EPSILON: f32 = 1e-5;

/// Weights that a training changes and a checkpoint keeps.
pub(crate) trait Weighted: Clone {
    /// What is told of them beside their sizes.
    type Kind: Copy;

    /// What the tensors' shapes follow from.
    fn sizes(&self) -> Vec<usize>;

    /// Weights of a file, whose names there begin with `prefix`.
    fn read(
        weights: &Weights,
        prefix: &str,
        sizes: &[usize],
        kind: Self::Kind,
    ) -> Result<Self, WeightsError>;

    /// Every tensor with its name in a file, after `prefix`, and its shape, in a fixed order: first
    /// those that are trained.
    fn tensors(&self, prefix: &str) -> Vec<NamedTensor<'_>>;

    /// Numbers in each tensor that training changes.
    fn lengths(&self) -> Vec<usize>;
}

/// What follows the sums of a hidden layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    Relu,
    Prelu,
    /// PReLU, then batch normalisation.
    NormalisedPrelu,
}

/// What a tensor is to its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Weight,
    Bias,
    Slope,
    Gamma,
    Beta,
    /// Running mean and variance of the hidden values.
    Mean,
    Variance,
}

impl Part {
    /// Running statistics follow the data, not a gradient.
    fn is_trained(self) -> bool {
        !matches!(self, Self::Mean | Self::Variance)
    }
}

/// A tensor of a layer.
#[derive(Debug, Clone, PartialEq)]
struct Parameter {
    part: Part,
    /// Its name in a file.
    name: String,
    shape: Vec<usize>,
    values: Vec<f32>,
}

/// One layer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layer {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// None for the last layer, whose outputs are its sums.
    pub(crate) activation: Option<Activation>,
    parameters: Vec<Parameter>,
}

impl Index<Part> for Layer {
    type Output = [f32];

    /// Empty where the layer has no such tensor.
    fn index(&self, part: Part) -> &[f32] {
        let found = self.parameters.iter().find(|parameter| parameter.part == part);
        found.map_or(&[], |parameter| &parameter.values)
    }
}

impl Layer {
    /// A layer whose tensors are empty yet.
    fn new([inputs, outputs]: [usize; 2], activation: Option<Activation>, number: &str) -> Self {
        let parameter = |part, module: &str, tensor: &str, shape: &[usize]| Parameter {
            part,
            name: format!("{module}{number}.{tensor}"),
            shape: shape.to_vec(),
            values: Vec::new(),
        };
        let linear = if activation.is_some() { "hidden" } else { "output" };
        let mut parameters = vec![
            parameter(Part::Weight, linear, "weight", &[outputs, inputs]),
            parameter(Part::Bias, linear, "bias", &[outputs]),
        ];
        if matches!(activation, Some(Activation::Prelu | Activation::NormalisedPrelu)) {
            parameters.push(parameter(Part::Slope, "prelu", "weight", &[1]));
        }
        if activation == Some(Activation::NormalisedPrelu) {
            parameters.extend([
                parameter(Part::Gamma, "norm", "weight", &[outputs]),
                parameter(Part::Beta, "norm", "bias", &[outputs]),
                parameter(Part::Mean, "norm", "running_mean", &[outputs]),
                parameter(Part::Variance, "norm", "running_var", &[outputs]),
            ]);
        }
        Self { inputs, outputs, activation, parameters }
    }

    /// What a hidden value below zero is multiplied by.
    pub(crate) fn slope(&self) -> f32 {
        self[Part::Slope].first().copied().unwrap_or(0.0)
    }

    /// A tensor to be changed, empty where the layer has no such tensor.
    pub(crate) fn part_mut(&mut self, part: Part) -> &mut [f32] {
        let found = self.parameters.iter_mut().find(|parameter| parameter.part == part);
        found.map_or(&mut [], |parameter| &mut parameter.values)
    }
}

/// The weights of a network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mlp {
    /// One hidden layer or more, and the output.
    pub(crate) layers: Vec<Layer>,
}

impl Mlp {
    /// Untrained weights, drawn as PyTorch draws them: uniform in `+-1/sqrt(inputs)`, slope 0.25.
    /// `sizes` are the numbers of inputs, of each layer's hidden units, and of outputs.
    pub(crate) fn random(sizes: &[usize], activation: Activation, random: &mut SplitMix64) -> Self {
        let mut mlp = Self::empty(sizes, activation);
        for layer in &mut mlp.layers {
            let bound = 1.0 / (layer.inputs as f32).sqrt();
            for Parameter { part, shape, values, .. } in &mut layer.parameters {
                let mut value = || match part {
                    Part::Weight | Part::Bias => (2.0 * random.unit() - 1.0) * bound,
                    Part::Slope => 0.25,
                    Part::Gamma | Part::Variance => 1.0,
                    Part::Beta | Part::Mean => 0.0,
                };
                *values = (0..shape.iter().product()).map(|_| value()).collect();
            }
        }
        mlp
    }

    fn empty(sizes: &[usize], activation: Activation) -> Self {
        let last = sizes.len() - 2;
        let layer = |(at, sizes): (usize, &[usize])| {
            let number = if at < last && last > 1 { format!(".{at}") } else { String::new() };
            Layer::new([sizes[0], sizes[1]], (at < last).then_some(activation), &number)
        };
        Self { layers: sizes.windows(2).enumerate().map(layer).collect() }
    }

    /// Number of inputs.
    pub(crate) fn inputs(&self) -> usize {
        self.layers[0].inputs
    }

    /// Number of units of the first hidden layer.
    pub(crate) fn hidden(&self) -> usize {
        self.layers[0].outputs
    }

    /// Number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.layers[self.layers.len() - 1].outputs
    }

    /// The tensors that training changes, and whether each decays: matrices do, not biases, slopes
    /// and scales.
    pub(crate) fn trained_mut(&mut self) -> impl Iterator<Item = (&mut Vec<f32>, bool)> {
        let all = self.layers.iter_mut().flat_map(|layer| &mut layer.parameters);
        all.filter(|one| one.part.is_trained())
            .map(|one| (&mut one.values, one.part == Part::Weight))
    }
}

impl Weighted for Mlp {
    type Kind = Activation;

    /// The numbers of inputs, of each layer's hidden units, and of outputs.
    fn sizes(&self) -> Vec<usize> {
        self.layers.iter().map(|layer| layer.inputs).chain([self.outputs()]).collect()
    }

    fn read(
        weights: &Weights,
        prefix: &str,
        sizes: &[usize],
        activation: Activation,
    ) -> Result<Self, WeightsError> {
        let mut mlp = Self::empty(sizes, activation);
        for Parameter { name, shape, values, .. } in
            mlp.layers.iter_mut().flat_map(|layer| &mut layer.parameters)
        {
            *values = weights.tensor(&format!("{prefix}{name}"), shape)?.into_data();
        }
        Ok(mlp)
    }

    fn tensors(&self, prefix: &str) -> Vec<NamedTensor<'_>> {
        let all = || self.layers.iter().flat_map(|layer| &layer.parameters);
        let of = |is_trained| all().filter(move |one| one.part.is_trained() == is_trained);
        let ordered = of(true).chain(of(false));
        ordered
            .map(|one| (format!("{prefix}{}", one.name), one.shape.clone(), &one.values[..]))
            .collect()
    }

    fn lengths(&self) -> Vec<usize> {
        let all = self.layers.iter().flat_map(|layer| &layer.parameters);
        all.filter(|one| one.part.is_trained()).map(|one| one.values.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::write_weights;

    fn names(sizes: &[usize], activation: Activation) -> Vec<String> {
        let mlp = Mlp::random(sizes, activation, &mut SplitMix64::new(1));
        let name = |(name, shape, values): NamedTensor<'_>| {
            assert_eq!(values.len(), shape.iter().product::<usize>(), "{name}");
            format!("{name} {shape:?}")
        };
        mlp.tensors("").into_iter().map(name).collect()
    }

    #[test]
    fn tensors_are_named_as_in_the_files_and_those_that_are_trained_come_first() {
        let normalised = [
            "hidden.weight [3, 4]",
            "hidden.bias [3]",
            "prelu.weight [1]",
            "norm.weight [3]",
            "norm.bias [3]",
            "output.weight [1, 3]",
            "output.bias [1]",
            "norm.running_mean [3]",
            "norm.running_var [3]",
        ];
        assert_eq!(names(&[4, 3, 1], Activation::NormalisedPrelu), normalised);
        let two = [
            "hidden.0.weight [3, 4]",
            "hidden.0.bias [3]",
            "hidden.1.weight [2, 3]",
            "hidden.1.bias [2]",
            "output.weight [1, 2]",
            "output.bias [1]",
        ];
        assert_eq!(names(&[4, 3, 2, 1], Activation::Relu), two);
        assert_eq!(names(&[4, 3, 5], Activation::Prelu).len(), 5);
    }

    #[test]
    fn weights_are_read_back_by_name_and_shape() {
        for activation in [Activation::Relu, Activation::Prelu, Activation::NormalisedPrelu] {
            let sizes = [4, 3, 2, 5];
            let mlp = Mlp::random(&sizes, activation, &mut SplitMix64::new(3));
            let folder = tempfile::tempdir().unwrap();
            write_weights(folder.path(), &mlp.tensors("p.")).unwrap();
            let weights = Weights::open(folder.path()).unwrap();
            assert_eq!(Mlp::read(&weights, "p.", &sizes, activation).unwrap(), mlp);
            let error = Mlp::read(&weights, "q.", &sizes, activation).unwrap_err();
            assert!(error.to_string().contains("q.hidden.0.weight"), "{error}");
            // A configuration that names far too many units takes no memory.
            let error = Mlp::read(&weights, "p.", &[4, 1 << 60, 2, 5], activation).unwrap_err();
            assert!(error.to_string().contains("p.hidden.0.weight"), "{error}");
        }
    }
}
