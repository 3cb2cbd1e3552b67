//! The parts that transformers are made of, each loaded by name and applied to a ragged batch.
//!
//! Blocks normalise after the residual sum ("post-norm"), as BERT and Marian do:
//! `x = norm(x + block(x))`  (Vaswani et al. 2017, section 3.1).

use super::{NnError, Weights};
use crate::compute::kernels::{
    Activation, KeyList, Weight, activate, attention, attention_weights, layer_norm, matmul,
};
use crate::compute::{Device, Numbers, Tensor};

/// What a network's blocks are loaded from, and for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loader<'a> {
    pub(super) weights: &'a Weights,
    pub(super) device: &'a Device,
    pub(super) numbers: Numbers,
}

impl Loader<'_> {
    /// A weight `[outputs, inputs]`, packed for products in the loader's numbers.
    pub(super) fn weight(&self, name: &str, shape: &[usize; 2]) -> Result<Weight, NnError> {
        match self.numbers {
            Numbers::Int8 => Ok(Weight::int8(self.device, &self.weights.quantized(name, shape)?)),
            _ => Ok(Weight::new(self.device, &self.weights.tensor(name, shape)?)),
        }
    }
}

/// `x W^T + b`
#[derive(Debug)]
pub(super) struct Linear {
    weight: Weight,
    bias: Tensor,
}

impl Linear {
    /// Loads `NAME.weight` [outputs, inputs] and `NAME.bias` [outputs].
    pub(super) fn load(
        from: Loader<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, NnError> {
        let weight = from.weight(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = from.weights.tensor(&format!("{name}.bias"), &[outputs])?;
        Ok(Self { weight, bias: bias.to_device(from.device)? })
    }

    /// (R, inputs) to (R, outputs).
    pub(super) fn apply(&self, device: &Device, x: &Tensor) -> Result<Tensor, NnError> {
        Ok(matmul(device, x, &self.weight, Some(&self.bias))?)
    }
}

/// Layer normalisation with gain and bias.
#[derive(Debug)]
pub(super) struct Norm {
    gain: Tensor,
    bias: Tensor,
    eps: f32,
}

impl Norm {
    /// Loads `NAME.weight` and `NAME.bias` [width].
    pub(super) fn load(
        from: Loader<'_>,
        name: &str,
        width: usize,
        eps: f32,
    ) -> Result<Self, NnError> {
        let vector = |part| from.weights.tensor(&format!("{name}.{part}"), &[width]);
        let gain = vector("weight")?.to_device(from.device)?;
        let bias = vector("bias")?.to_device(from.device)?;
        Ok(Self { gain, bias, eps })
    }

    /// Normalises `x + residual`.
    pub(super) fn apply(
        &self,
        device: &Device,
        mut x: Tensor,
        residual: Option<&Tensor>,
    ) -> Result<Tensor, NnError> {
        layer_norm(device, &mut x, residual, &self.gain, &self.bias, self.eps)?;
        Ok(x)
    }
}

/// Where an attention block's tensors are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttentionNames<'a> {
    pub(super) query: &'a str,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
    pub(super) output: &'a str,
    pub(super) norm: &'a str,
}

/// Attention with its projections, residual sum and normalisation.
#[derive(Debug)]
pub(super) struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    norm: Norm,
    heads: usize,
}

/// The keys that each query row sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys<'a> {
    /// (N, D)
    pub(super) keys: &'a Tensor,
    /// (N, D)
    pub(super) values: &'a Tensor,
    /// One list per query row.
    pub(super) lists: &'a [KeyList],
    /// Row numbers that the lists run over; without one they run over the rows themselves.
    pub(super) table: Option<&'a [u32]>,
}

impl Attention {
    /// Loads the block; `names` are full names without `.weight`.
    pub(super) fn load(
        from: Loader<'_>,
        names: AttentionNames<'_>,
        width: usize,
        heads: usize,
        eps: f32,
    ) -> Result<Self, NnError> {
        let linear = |name| Linear::load(from, name, width, width);
        Ok(Self {
            query: linear(names.query)?,
            key: linear(names.key)?,
            value: linear(names.value)?,
            output: linear(names.output)?,
            norm: Norm::load(from, names.norm, width, eps)?,
            heads,
        })
    }

    /// Keys and values of some states: twice (N, D).
    pub(super) fn project(
        &self,
        device: &Device,
        states: &Tensor,
    ) -> Result<(Tensor, Tensor), NnError> {
        Ok((self.key.apply(device, states)?, self.value.apply(device, states)?))
    }

    /// How much each row of `x` looks at each of its keys, the mean over the heads.
    pub(super) fn weights(
        &self,
        device: &Device,
        x: &Tensor,
        keys: Keys<'_>,
    ) -> Result<Vec<Vec<f32>>, NnError> {
        let Keys { keys, lists, table, .. } = keys;
        let queries = self.query.apply(device, x)?;
        Ok(attention_weights(device, &queries, keys, lists, table, self.heads)?)
    }

    /// `norm(x + attention(x over keys))`
    pub(super) fn attend(
        &self,
        device: &Device,
        x: &Tensor,
        keys: Keys<'_>,
    ) -> Result<Tensor, NnError> {
        let Keys { keys, values, lists, table } = keys;
        let queries = self.query.apply(device, x)?;
        let mixed = attention(device, &queries, keys, values, lists, table, self.heads)?;
        let output = self.output.apply(device, &mixed)?;
        self.norm.apply(device, output, Some(x))
    }
}

/// Two products with an activation between, residual sum and normalisation.
#[derive(Debug)]
pub(super) struct FeedForward {
    inner: Linear,
    outer: Linear,
    norm: Norm,
    activation: Activation,
}

/// Where a feed-forward block's tensors are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeedForwardNames<'a> {
    pub(super) inner: &'a str,
    pub(super) outer: &'a str,
    pub(super) norm: &'a str,
}

impl FeedForward {
    /// Loads the block; `names` are full names without `.weight`.
    pub(super) fn load(
        from: Loader<'_>,
        names: FeedForwardNames<'_>,
        (width, inner_size): (usize, usize),
        activation: Activation,
        eps: f32,
    ) -> Result<Self, NnError> {
        Ok(Self {
            inner: Linear::load(from, names.inner, width, inner_size)?,
            outer: Linear::load(from, names.outer, inner_size, width)?,
            norm: Norm::load(from, names.norm, width, eps)?,
            activation,
        })
    }

    /// `norm(x + outer(activation(inner(x))))`
    pub(super) fn apply(&self, device: &Device, x: &Tensor) -> Result<Tensor, NnError> {
        let mut inner = self.inner.apply(device, x)?;
        activate(device, self.activation, &mut inner)?;
        let output = self.outer.apply(device, &inner)?;
        self.norm.apply(device, output, Some(x))
    }
}

/// One layer of an encoder: every row attends to all rows of its sequence.
#[derive(Debug)]
pub(super) struct EncoderLayer {
    pub(super) attention: Attention,
    pub(super) feed_forward: FeedForward,
}

impl EncoderLayer {
    /// (R, D) to (R, D); `lists` name each row's sequence.
    pub(super) fn apply(
        &self,
        device: &Device,
        x: &Tensor,
        lists: &[KeyList],
    ) -> Result<Tensor, NnError> {
        let (keys, values) = self.attention.project(device, x)?;
        let keys = Keys { keys: &keys, values: &values, lists, table: None };
        let x = self.attention.attend(device, x, keys)?;
        self.feed_forward.apply(device, &x)
    }
}

/// For sequences that stand one after another: the whole sequence as the key list of each row.
pub(super) fn sequence_lists(lengths: impl Iterator<Item = usize>) -> Vec<KeyList> {
    let mut lists = Vec::new();
    for len in lengths {
        let list = KeyList { start: lists.len() as u32, len: len as u32 };
        lists.extend(std::iter::repeat_n(list, len));
    }
    lists
}

/// Positions 0, 1, 2, ... of each sequence.
pub(super) fn sequence_positions(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    lengths.flat_map(|len| 0..len as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_sequence_share_its_key_list() {
        let lists = sequence_lists([2, 1].into_iter());
        let first = KeyList { start: 0, len: 2 };
        assert_eq!(lists, [first, first, KeyList { start: 2, len: 1 }]);
        assert_eq!(sequence_positions([2, 1, 3].into_iter()), [0, 1, 0, 0, 1, 2]);
    }
}
