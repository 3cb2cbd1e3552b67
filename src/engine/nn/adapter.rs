//! Low-rank adapters: small differences to the weights of a network that stays as it is.
//!
//! To a matrix `[O, I]` a product `up [O, R] x down [R, I]` is added, to a vector a difference of
//! its own. (Hu et al. 2021, LoRA: Low-Rank Adaptation of Large Language Models, section 4.1,
//! without its scale.) So what was trained can be given away without the weights that it was
//! trained on. The tensors `adapter.NAME.up`, `adapter.NAME.down` and `adapter.NAME.delta` lie in a
//! weights file, beside whatever else it holds; NAME is the adapted tensor's, less a prefix
//! `bert.`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::{Weights, WeightsError};

/// What the names of an adapter's tensors begin with.
const PREFIX: &str = "adapter.";

/// Differences to the weights of a network, by the names of its tensors.
#[derive(Debug)]
pub struct Adapter {
    weights: Weights,
    /// Shapes of the adapted tensors.
    shapes: BTreeMap<String, Vec<usize>>,
}

impl Adapter {
    /// The adapter among the weights in a directory; none where there is no tensor of one.
    ///
    /// # Errors
    /// When the weights cannot be read, or the parts of a difference do not belong together.
    pub fn read(directory: &Path) -> Result<Option<Arc<Self>>, WeightsError> {
        let weights = Weights::open(directory)?;
        let mut shapes = BTreeMap::new();
        for (tensor, shape) in weights.shapes() {
            let Some(part) = tensor.strip_prefix(PREFIX) else { continue };
            if let Some(name) = part.strip_suffix(".delta") {
                shapes.insert(name.to_owned(), shape.to_vec());
                continue;
            }
            // Each of the two factors is read with the other: a factor alone, and any other name,
            // is an error.
            let name = part.strip_suffix(".up").or(part.strip_suffix(".down")).unwrap_or(part);
            let of = |factor: &str| format!("{PREFIX}{name}.{factor}");
            let size = |factor, axis: usize| {
                weights.shape(&of(factor)).and_then(|shape| shape.get(axis).copied()).unwrap_or(0)
            };
            let (outputs, rank, inputs) = (size("up", 0), size("up", 1), size("down", 1));
            weights.tensor(&of("up"), &[outputs, rank])?;
            weights.tensor(&of("down"), &[rank, inputs])?;
            shapes.insert(name.to_owned(), vec![outputs, inputs]);
        }
        Ok((!shapes.is_empty()).then(|| Arc::new(Self { weights, shapes })))
    }

    /// Names and shapes of the tensors that it changes.
    pub(super) fn adapted(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.shapes.iter().map(|(name, shape)| (name.as_str(), shape.as_slice()))
    }

    /// Whether it has a difference to a tensor.
    pub(super) fn changes(&self, name: &str) -> bool {
        self.shapes.contains_key(name.strip_prefix("bert.").unwrap_or(name))
    }

    /// Adds its difference, if it has one, to a tensor that was read.
    pub(super) fn add(&self, name: &str, values: &mut [f32]) -> Result<(), WeightsError> {
        let name = name.strip_prefix("bert.").unwrap_or(name);
        let Some(shape) = self.shapes.get(name) else { return Ok(()) };
        let part = |part: &str| format!("{PREFIX}{name}.{part}");
        let delta = part("delta");
        if self.weights.contains(&delta) {
            let delta = self.weights.tensor(&delta, shape)?;
            values.iter_mut().zip(delta.data()).for_each(|(value, more)| *value += more);
            return Ok(());
        }
        let (outputs, inputs) = (shape[0], shape[1]);
        let rank = self.weights.shape(&part("down")).map_or(0, |shape| shape[0]);
        let up = self.weights.tensor(&part("up"), &[outputs, rank])?;
        let down = self.weights.tensor(&part("down"), &[rank, inputs])?;
        for (row, factors) in values.chunks_mut(inputs).zip(up.data().chunks(rank.max(1))) {
            for (factor, from) in factors.iter().zip(down.data().chunks(inputs)) {
                row.iter_mut().zip(from).for_each(|(value, more)| *value += factor * more);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::compute::Tensor;
    use crate::engine::nn::write_weights;

    fn tensor(shape: &[usize], values: &[f32]) -> Tensor {
        Tensor::new(shape, values.to_vec()).unwrap()
    }

    fn written(tensors: &[(&str, Tensor)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let named = tensors
            .iter()
            .map(|(name, tensor)| ((*name).to_owned(), tensor.shape().to_vec(), tensor.data()));
        write_weights(dir.path(), &named.collect::<Vec<_>>()).unwrap();
        dir
    }

    fn base() -> tempfile::TempDir {
        written(&[
            ("bert.a.weight", tensor(&[2, 3], &[1., 2., 3., 4., 5., 6.])),
            ("bert.a.bias", tensor(&[2], &[1., 1.])),
            ("bert.b.bias", tensor(&[2], &[7., 8.])),
        ])
    }

    fn adapted(adapter: &[(&str, Tensor)]) -> Result<Weights, WeightsError> {
        let adapter = Adapter::read(written(adapter).path())?;
        Weights::open(base().path())?.adapted(adapter)
    }

    fn up() -> (&'static str, Tensor) {
        ("adapter.a.weight.up", tensor(&[2, 1], &[1., 10.]))
    }

    #[test]
    fn a_matrix_gets_a_product_and_a_vector_a_difference() {
        let weights = adapted(&[
            up(),
            ("adapter.a.weight.down", tensor(&[1, 3], &[1., 0., -1.])),
            ("adapter.a.bias.delta", tensor(&[2], &[0.5, -0.5])),
            ("hidden.weight", tensor(&[1], &[3.])),
        ])
        .unwrap();
        let read = |name, shape: &[usize]| weights.tensor(name, shape).unwrap().into_data();
        assert_eq!(read("bert.a.weight", &[2, 3]), [2., 2., 2., 14., 5., -4.]);
        assert_eq!(read("bert.a.bias", &[2]), [1.5, 0.5]);
        assert_eq!(read("bert.b.bias", &[2]), [7., 8.]);
    }

    #[test]
    fn weights_without_an_adapter_have_none() {
        assert!(Adapter::read(base().path()).unwrap().is_none());
    }

    #[test]
    fn an_adapter_of_another_network_or_half_of_one_is_refused() {
        let message = |tensors: &[(&str, Tensor)]| adapted(tensors).unwrap_err().to_string();
        let lone = message(&[up()]);
        assert!(lone.contains("no tensor `adapter.a.weight.down`"), "{lone}");
        let other = message(&[("adapter.c.bias.delta", tensor(&[2], &[1., 1.]))]);
        assert!(other.contains("no tensor `c.bias`"), "{other}");
        let wide = message(&[up(), ("adapter.a.weight.down", tensor(&[1, 4], &[1.; 4]))]);
        assert!(wide.contains("`bert.a.weight` has shape [2, 3], expected [2, 4]"), "{wide}");
        let odd = message(&[("adapter.a.weight", tensor(&[2], &[1., 1.]))]);
        assert!(odd.contains("no tensor `adapter.a.weight.up`"), "{odd}");
    }
}
