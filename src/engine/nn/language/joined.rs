//! A layer for matrix units: products that read the same rows are one, and what lies between two
//! products is one pass that leaves rows of 16 bits.
//!
//! Ten calls take the place of some thirty. Sums of a block join the stream when the next
//! normalisation reads it. It is the layer of Llama and Qwen 2; models that normalise heads or
//! blocks otherwise take the plain one.

use super::LanguageConfig;
use crate::engine::compute::kernels::{
    Activation, Heads, KeyList, Placing, Stream, Weight, attention, gated_half_rows, half_rows,
    norm_half_rows, place_heads,
};
use crate::engine::compute::{Device, Gpu, Tensor};
use crate::engine::nn::NnError;
use crate::engine::nn::layers::LayerLoader;

/// A layer whose products are joined.
#[derive(Debug)]
pub(super) struct JoinedLayer {
    /// Gain before attention (D).
    before_attention: Tensor,
    /// Queries, keys and values.
    projections: Weight,
    bias: Option<Tensor>,
    output: Weight,
    /// Gain before the feed-forward block (D).
    before_feed_forward: Tensor,
    /// Gates, then factors.
    inner: Weight,
    outer: Weight,
    eps: f32,
    heads: Heads<'static>,
}

/// Where the rows of a step stand, and the keys that they see.
pub(super) struct Seen<'a> {
    pub(super) placing: Placing<'a>,
    pub(super) lists: &'a [KeyList],
    pub(super) table: Option<&'a [u32]>,
}

/// Largest number of a normalised row that 16 bits hold.
const MOST: f32 = 65504.0;

impl JoinedLayer {
    /// Loads a layer, where it has this form and its device unpacks weights.
    pub(super) fn load(
        from: LayerLoader<'_>,
        config: &LanguageConfig,
        number: usize,
    ) -> Result<Option<Self>, NnError> {
        let name = |part: &str| format!("model.layers.{number}.{part}");
        let [query, key, value] =
            ["q", "k", "v"].map(|part| name(&format!("self_attn.{part}_proj")));
        let output = name("self_attn.o_proj");
        let has_bias = |name: &String| from.weights.contains(&format!("{name}.bias"));
        if !from.device.unpacks(from.numbers)
            || config.layout.has_head_norms()
            || config.has_four_norms()
            || config.activation != Activation::Swish
            || has_bias(&output)
        {
            return Ok(None);
        }
        let (width, inner) = (config.hidden_size, config.inner_size);
        let (of_queries, of_keys) = (config.query_size(), config.key_size());
        let gain = |part: &str| {
            let weight = from.weights.tensor(&format!("{}.weight", name(part)), &[width])?;
            let gain = weight.into_data().into_iter().map(|gain| gain + config.gain_offset);
            Ok::<_, NnError>(Tensor::new(&[width], gain.collect())?)
        };
        let gains = [gain("input_layernorm")?, gain("post_attention_layernorm")?];
        let largest =
            |gain: &Tensor| gain.data().iter().fold(0.0, |most: f32, x| most.max(x.abs()));
        if gains.iter().any(|gain| largest(gain) * (width as f32).sqrt() > MOST) {
            return Ok(None);
        }
        let projections = [(&query, of_queries), (&key, of_keys), (&value, of_keys)];
        let bias = match [&query, &key, &value].map(has_bias) {
            [false, false, false] => None,
            [true, true, true] => Some(from.joined_bias(&projections)?),
            _ => return Ok(None),
        };
        let [before_attention, before_feed_forward] = gains;
        let (gate, up) = (name("mlp.gate_proj"), name("mlp.up_proj"));
        Ok(Some(Self {
            before_attention: before_attention.to_device(from.device)?,
            projections: from.joined(&projections, width)?,
            bias,
            output: from.joined(&[(&output, width)], of_queries)?,
            before_feed_forward: before_feed_forward.to_device(from.device)?,
            inner: from.joined(&[(&gate, inner), (&up, inner)], width)?,
            outer: from.joined(&[(&name("mlp.down_proj"), width)], inner)?,
            eps: config.eps,
            heads: Heads { sharing: config.heads / config.key_heads, ..Heads::from(config.heads) },
        }))
    }

    /// The layer on a stream of rows, whose keys and values go to two tables (N, K).
    pub(super) fn apply(
        &self,
        gpu: &Gpu,
        stream: &mut Stream,
        seen: Seen<'_>,
        (keys, values): (&mut Tensor, &mut Tensor),
    ) -> Result<(), NnError> {
        let device = Device::Gpu(gpu.clone());
        let entered = norm_half_rows(gpu, stream, &self.before_attention, self.eps)?;
        let placing = Placing { bias: self.bias.as_ref(), ..seen.placing };
        let queries = place_heads(&self.projections.sums(&entered)?, placing, keys, values)?;
        let Seen { lists, table, .. } = seen;
        let mixed = attention(&device, &queries, keys, values, lists, table, self.heads)?;
        stream.join(self.output.sums(&half_rows(gpu, &mixed)?)?);
        let entered = norm_half_rows(gpu, stream, &self.before_feed_forward, self.eps)?;
        let inner = gated_half_rows(&self.inner.sums(&entered)?)?;
        stream.join(self.outer.sums(&inner)?);
        Ok(())
    }
}
