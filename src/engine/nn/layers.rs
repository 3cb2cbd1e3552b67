//! The parts that transformers are made of, each loaded by name and applied to a ragged batch.
//!
//! A block is attention or feed-forward with its residual sum and normalisation. The latter stands
//! after the sum as in BERT, Marian and BART, or before the block as in T5; see [`Residual`].

use std::borrow::Cow;
use std::sync::Arc;

use super::language_adapter::LanguageAdapter;
use super::shared_weights::SharedWeights;
use super::{NnError, Weights};
use crate::engine::compute::kernels::{
    Activation, DistanceBias, Heads, KeyList, Quantized, Weight, activate, activate_gated, add,
    attention, attention_weights, layer_norm, matmul, rms_norm,
};
use crate::engine::compute::{Device, Numbers, Tensor};

/// What a network's blocks are loaded from, and for.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerLoader<'a> {
    pub(super) weights: &'a Weights,
    pub(super) device: &'a Device,
    pub(super) numbers: Numbers,
    /// Differences that are computed beside the products of its matrices.
    pub(super) adapter: Option<&'a LanguageAdapter>,
    /// Weights that other networks of the same base have packed, where there may be any.
    pub(super) shared: Option<&'a SharedWeights>,
}

impl LayerLoader<'_> {
    /// A weight `[outputs, inputs]`, packed for products in the loader's numbers.
    pub(super) fn weight(&self, name: &str, shape: &[usize; 2]) -> Result<Arc<Weight>, NnError> {
        match self.shared {
            Some(shared) => shared.of(name, || self.packed(name, shape)),
            None => Ok(Arc::new(self.packed(name, shape)?)),
        }
    }

    fn packed(&self, name: &str, shape: &[usize; 2]) -> Result<Weight, NnError> {
        match self.numbers {
            Numbers::Int8 => {
                Ok(Weight::int8(self.device, &self.weights.quantized(name, shape)?).placed()?)
            }
            // What is unpacked is not rounded to blocks before.
            Numbers::Blocks if self.device.unpacks(self.numbers) => {
                Ok(Weight::unpacked(self.device, &self.weights.tensor(name, shape)?).placed()?)
            }
            Numbers::Blocks => {
                Ok(Weight::blocks(self.device, &self.weights.blocks(name, shape)?).placed()?)
            }
            Numbers::F32 => {
                Ok(Weight::new(self.device, &self.weights.tensor(name, shape)?).placed()?)
            }
        }
    }

    /// `NAME.weight` [outputs, inputs], and what the adapter adds to its products. Where the weight
    /// is unpacked, that is added to the weight instead, so that a product is one.
    fn adapted(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<(Arc<Weight>, Option<LowRank>), NnError> {
        let (weight, shape) = (format!("{name}.weight"), [outputs, inputs]);
        if !self.device.unpacks(self.numbers) {
            return Ok((self.weight(&weight, &shape)?, self.low_rank(name, inputs, outputs)?));
        }
        Ok((Arc::new(self.joined(&[(name, outputs)], inputs)?), None))
    }

    /// The rows of some weights `NAME.weight` [outputs, inputs] one below the other, and what the
    /// adapter adds to them: for a device that unpacks weights.
    pub(super) fn joined<N: AsRef<str>>(
        &self,
        parts: &[(N, usize)],
        inputs: usize,
    ) -> Result<Weight, NnError> {
        let host = self.device.host();
        let mut rows = Vec::new();
        for (name, outputs) in parts {
            let (name, outputs) = (name.as_ref(), *outputs);
            let mut part = self.weights.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
            let factors = self.adapter.map(|adapter| adapter.factors(name, inputs, outputs));
            if let Some((down, up)) = factors.transpose()?.flatten() {
                let down = Weight::new(&host, &down.transposed());
                add(&host, &mut part, &matmul(&host, &up, &down, None)?)?;
            }
            rows.extend(part.into_data());
        }
        let outputs = parts.iter().map(|(_, outputs)| outputs).sum();
        let weight = Tensor::new(&[outputs, inputs], rows)?;
        Ok(Weight::unpacked(self.device, &weight).placed()?)
    }

    /// The biases of some products, one after the other.
    pub(super) fn joined_bias<N: AsRef<str>>(
        &self,
        parts: &[(N, usize)],
    ) -> Result<Tensor, NnError> {
        let of_part = |(name, outputs): &(N, usize)| {
            self.weights.tensor(&format!("{}.bias", name.as_ref()), &[*outputs])
        };
        let biases: Vec<Tensor> = parts.iter().map(of_part).collect::<Result<_, _>>()?;
        let numbers: Vec<f32> = biases.into_iter().flat_map(Tensor::into_data).collect();
        Ok(Tensor::new(&[numbers.len()], numbers)?.to_device(self.device)?)
    }

    /// What the adapter adds to the products of `NAME.weight` [outputs, inputs].
    fn low_rank(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Option<LowRank>, NnError> {
        let factors = self.adapter.map(|adapter| adapter.factors(name, inputs, outputs));
        let Some((down, up)) = factors.transpose()?.flatten() else { return Ok(None) };
        let packed = |factor: &Tensor| {
            let weight = match self.numbers {
                Numbers::Int8 => Weight::int8(self.device, &Quantized::round(factor)?),
                _ => Weight::new(self.device, factor),
            };
            weight.placed()
        };
        Ok(Some(LowRank { down: packed(&down)?, up: packed(&up)? }))
    }
}

/// `up (down x)`: a difference to a product by few numbers  (Hu et al. 2021, LoRA, section 4.1).
#[derive(Debug)]
struct LowRank {
    /// [rank, inputs]
    down: Weight,
    /// [outputs, rank], with the adapter's scale.
    up: Weight,
}

/// `x W^T + b`, or without `b`
#[derive(Debug)]
pub(super) struct Linear {
    weight: Arc<Weight>,
    bias: Option<Tensor>,
    beside: Option<LowRank>,
}

impl Linear {
    /// Loads `NAME.weight` [outputs, inputs] and `NAME.bias` [outputs].
    pub(super) fn load(
        from: LayerLoader<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, NnError> {
        let (weight, beside) = from.adapted(name, inputs, outputs)?;
        let bias = from.weights.tensor(&format!("{name}.bias"), &[outputs])?;
        Ok(Self { weight, bias: Some(bias.to_device(from.device)?), beside })
    }

    /// Loads `NAME.weight` [outputs, inputs] alone.
    pub(super) fn load_bare(
        from: LayerLoader<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Self, NnError> {
        let (weight, beside) = from.adapted(name, inputs, outputs)?;
        Ok(Self { weight, bias: None, beside })
    }

    /// (R, inputs) to (R, outputs).
    pub(super) fn apply(&self, device: &Device, x: &Tensor) -> Result<Tensor, NnError> {
        let mut product = matmul(device, x, &self.weight, self.bias.as_ref())?;
        if let Some(LowRank { down, up }) = &self.beside {
            let narrow = matmul(device, x, down, None)?;
            add(device, &mut product, &matmul(device, &narrow, up, None)?)?;
        }
        Ok(product)
    }
}

/// Layer normalisation with gain and bias, or RMS normalisation, which has no bias.
#[derive(Debug)]
pub(super) struct Norm {
    gain: Tensor,
    bias: Option<Tensor>,
    eps: f32,
}

impl Norm {
    /// Loads `NAME.weight` and `NAME.bias` [width].
    pub(super) fn load(
        from: LayerLoader<'_>,
        name: &str,
        width: usize,
        eps: f32,
    ) -> Result<Self, NnError> {
        let vector = |part| from.weights.tensor(&format!("{name}.{part}"), &[width]);
        let gain = vector("weight")?.to_device(from.device)?;
        let bias = vector("bias")?.to_device(from.device)?;
        Ok(Self { gain, bias: Some(bias), eps })
    }

    /// Loads RMS normalisation, whose gain is made of `NAME.weight` [width], number by number.
    pub(super) fn load_rms(
        from: LayerLoader<'_>,
        name: &str,
        (width, eps): (usize, f32),
        gain: impl Fn(f32) -> f32,
    ) -> Result<Self, NnError> {
        let weight = from.weights.tensor(&format!("{name}.weight"), &[width])?.into_data();
        let gain = weight.into_iter().map(gain).collect();
        let gain = Tensor::new(&[width], gain)?.to_device(from.device)?;
        Ok(Self { gain, bias: None, eps })
    }

    /// Normalises `x + residual`.
    pub(super) fn apply(
        &self,
        device: &Device,
        mut x: Tensor,
        residual: Option<&Tensor>,
    ) -> Result<Tensor, NnError> {
        if let Some(bias) = &self.bias {
            layer_norm(device, &mut x, residual, &self.gain, bias, self.eps)?;
            return Ok(x);
        }
        if let Some(residual) = residual {
            add(device, &mut x, residual)?;
        }
        rms_norm(device, &mut x, &self.gain, self.eps)?;
        Ok(x)
    }
}

/// How a block joins what it works on.
#[derive(Debug)]
pub(super) enum Residual {
    /// `norm(x + block(x))`  (Vaswani et al. 2017, section 3.1: "post-norm").
    After(Norm),
    /// `x + block(norm(x))`  (Xiong et al. 2020: "pre-norm").
    Before(Norm),
    /// `x + after(block(before(x)))`  (Gemma Team 2024, Gemma 2, section 2).
    Around { before: Norm, after: Norm },
}

impl Residual {
    /// RMS normalisation before the block.
    pub(super) fn before(
        from: LayerLoader<'_>,
        norm: &str,
        width: usize,
        eps: f32,
    ) -> Result<Self, NnError> {
        Ok(Self::Before(Norm::load_rms(from, norm, (width, eps), |gain| gain)?))
    }

    /// What the block works on.
    pub(super) fn enter<'x>(
        &self,
        device: &Device,
        x: &'x Tensor,
    ) -> Result<Cow<'x, Tensor>, NnError> {
        match self {
            Self::After(_) => Ok(Cow::Borrowed(x)),
            Self::Before(norm) | Self::Around { before: norm, .. } => {
                Ok(Cow::Owned(norm.apply(device, x.clone(), None)?))
            }
        }
    }

    /// What comes out of the block, joined with what went in before [`enter`](Self::enter).
    pub(super) fn leave(
        &self,
        device: &Device,
        output: Tensor,
        x: &Tensor,
    ) -> Result<Tensor, NnError> {
        let mut output = match self {
            Self::After(norm) => return norm.apply(device, output, Some(x)),
            Self::Before(_) => output,
            Self::Around { after, .. } => after.apply(device, output, None)?,
        };
        add(device, &mut output, x)?;
        Ok(output)
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
    residual: Residual,
    heads: usize,
    is_scaled: bool,
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
    /// What scores take from the distance of key and query.
    pub(super) bias: Option<DistanceBias<'a>>,
}

impl Attention {
    /// Loads the block; `names` are full names without `.weight`.
    pub(super) fn load(
        from: LayerLoader<'_>,
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
            residual: Residual::After(Norm::load(from, names.norm, width, eps)?),
            heads,
            is_scaled: true,
        })
    }

    /// Loads a block of T5: no biases, scores that are not scaled, RMS normalisation before.
    pub(super) fn load_bare(
        from: LayerLoader<'_>,
        names: AttentionNames<'_>,
        (width, inner_size): (usize, usize),
        heads: usize,
        eps: f32,
    ) -> Result<Self, NnError> {
        let into = |name| Linear::load_bare(from, name, width, inner_size);
        Ok(Self {
            query: into(names.query)?,
            key: into(names.key)?,
            value: into(names.value)?,
            output: Linear::load_bare(from, names.output, inner_size, width)?,
            residual: Residual::before(from, names.norm, width, eps)?,
            heads,
            is_scaled: false,
        })
    }

    /// What the block works on; an own past or sentence is projected from this.
    pub(super) fn enter<'x>(
        &self,
        device: &Device,
        x: &'x Tensor,
    ) -> Result<Cow<'x, Tensor>, NnError> {
        self.residual.enter(device, x)
    }

    /// Keys and values of some states: twice (N, D).
    pub(super) fn project(
        &self,
        device: &Device,
        states: &Tensor,
    ) -> Result<(Tensor, Tensor), NnError> {
        Ok((self.key.apply(device, states)?, self.value.apply(device, states)?))
    }

    fn heads<'a>(&self, keys: &Keys<'a>) -> Heads<'a> {
        Heads { is_scaled: self.is_scaled, bias: keys.bias, ..Heads::from(self.heads) }
    }

    /// How much each row of `entered` looks at each of its keys, the mean over the heads.
    pub(super) fn weights(
        &self,
        device: &Device,
        entered: &Tensor,
        keys: Keys<'_>,
    ) -> Result<Vec<Vec<f32>>, NnError> {
        let queries = self.query.apply(device, entered)?;
        let heads = self.heads(&keys);
        Ok(attention_weights(device, &queries, keys.keys, keys.lists, keys.table, heads)?)
    }

    /// The block on `x`, of which [`enter`](Self::enter) made `entered`.
    pub(super) fn attend(
        &self,
        device: &Device,
        x: &Tensor,
        entered: &Tensor,
        keys: Keys<'_>,
    ) -> Result<Tensor, NnError> {
        let heads = self.heads(&keys);
        let Keys { keys, values, lists, table, .. } = keys;
        let queries = self.query.apply(device, entered)?;
        let mixed = attention(device, &queries, keys, values, lists, table, heads)?;
        let output = self.output.apply(device, &mixed)?;
        self.residual.leave(device, output, x)
    }
}

/// Two products with an activation between, residual sum and normalisation. A third product may
/// join the activation as a factor.
#[derive(Debug)]
pub(super) struct FeedForward {
    inner: Linear,
    factor: Option<Linear>,
    outer: Linear,
    residual: Residual,
    activation: Activation,
}

/// Where a feed-forward block's tensors are found.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeedForwardNames<'a> {
    pub(super) inner: &'a str,
    pub(super) outer: &'a str,
}

impl FeedForward {
    /// Loads the block; `names` are full names without `.weight`.
    pub(super) fn load(
        from: LayerLoader<'_>,
        names: FeedForwardNames<'_>,
        (width, inner_size): (usize, usize),
        activation: Activation,
        residual: Residual,
    ) -> Result<Self, NnError> {
        Ok(Self {
            inner: Linear::load(from, names.inner, width, inner_size)?,
            factor: None,
            outer: Linear::load(from, names.outer, inner_size, width)?,
            residual,
            activation,
        })
    }

    /// Loads a block without biases, with a factor where it has a name: that of T5 and of language
    /// models.
    pub(super) fn load_bare(
        from: LayerLoader<'_>,
        names: FeedForwardNames<'_>,
        factor: Option<&str>,
        (width, inner_size): (usize, usize),
        activation: Activation,
        residual: Residual,
    ) -> Result<Self, NnError> {
        let into = |name| Linear::load_bare(from, name, width, inner_size);
        Ok(Self {
            inner: into(names.inner)?,
            factor: factor.map(into).transpose()?,
            outer: Linear::load_bare(from, names.outer, inner_size, width)?,
            residual,
            activation,
        })
    }

    /// The block on `x`: `outer(activation(inner(x)))`, or `outer(activation(inner(x)) *
    /// factor(x))`.
    pub(super) fn apply(&self, device: &Device, x: &Tensor) -> Result<Tensor, NnError> {
        let entered = self.residual.enter(device, x)?;
        let mut inner = self.inner.apply(device, &entered)?;
        match &self.factor {
            Some(factor) => {
                let factor = factor.apply(device, &entered)?;
                activate_gated(device, self.activation, &mut inner, &factor)?;
            }
            None => activate(device, self.activation, &mut inner)?,
        }
        let output = self.outer.apply(device, &inner)?;
        self.residual.leave(device, output, x)
    }
}

/// One layer of an encoder: every row attends to all rows of its sequence.
#[derive(Debug)]
pub(super) struct EncoderLayer {
    pub(super) attention: Attention,
    pub(super) feed_forward: FeedForward,
}

impl EncoderLayer {
    /// (R, D) to (R, D); `lists` name each row's sequence, `bias` what its distances add.
    pub(super) fn apply(
        &self,
        device: &Device,
        x: &Tensor,
        lists: &[KeyList],
        bias: Option<DistanceBias<'_>>,
    ) -> Result<Tensor, NnError> {
        let entered = self.attention.enter(device, x)?;
        let (keys, values) = self.attention.project(device, &entered)?;
        let keys = Keys { keys: &keys, values: &values, lists, table: None, bias };
        let x = self.attention.attend(device, x, &entered, keys)?;
        self.feed_forward.apply(device, &x)
    }
}

/// One layer of a decoder: its past, the source, then a feed-forward block.
#[derive(Debug)]
pub(super) struct DecoderLayer {
    pub(super) own: Attention,
    pub(super) source: Attention,
    pub(super) feed_forward: FeedForward,
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
