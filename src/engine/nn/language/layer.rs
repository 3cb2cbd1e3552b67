//! One layer of a decoder-only network: attention over its past, then a gated feed-forward block.

use std::borrow::Cow;

use super::LanguageConfig;
use crate::engine::compute::kernels::{Heads, attention, rotate};
use crate::engine::compute::{Device, Tensor};
use crate::engine::nn::NnError;
use crate::engine::nn::layers::{
    FeedForward, FeedForwardNames, Keys, LayerLoader, Linear, Norm, Residual,
};

/// A layer, and the blocks it is made of.
#[derive(Debug)]
pub(super) struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    /// Normalise each head.
    query_norm: Option<Norm>,
    key_norm: Option<Norm>,
    residual: Residual,
    feed_forward: FeedForward,
    heads: Heads<'static>,
    head_columns: usize,
}

/// What a layer makes of its rows before they look at keys; (R, heads * C) and twice (R, key heads
/// * C).
#[derive(Debug)]
pub(super) struct Projected {
    pub(super) queries: Tensor,
    pub(super) keys: Tensor,
    pub(super) values: Tensor,
}

impl Layer {
    pub(super) fn load(
        from: LayerLoader<'_>,
        config: &LanguageConfig,
        number: usize,
    ) -> Result<Self, NnError> {
        let name = |part: &str| format!("model.layers.{number}.{part}");
        let linear = |part: &str, inputs, outputs, has_bias: bool| {
            let name = name(&format!("self_attn.{part}_proj"));
            match has_bias || from.weights.contains(&format!("{name}.bias")) {
                true => Linear::load(from, &name, inputs, outputs),
                false => Linear::load_bare(from, &name, inputs, outputs),
            }
        };
        let norm = |part: &str, width, factor: f32| {
            let offset = config.gain_offset;
            let gain = move |gain: f32| (gain + offset) * factor;
            Norm::load_rms(from, &name(part), (width, config.eps), gain)
        };
        let (width, columns) = (config.hidden_size, config.head_columns);
        let has_head_norms = config.layout.has_head_norms();
        let head_norm =
            |part: &str, factor| has_head_norms.then(|| norm(part, columns, factor)).transpose();
        let (inner, outer) = (name("mlp.gate_proj"), name("mlp.down_proj"));
        let (before, after) = residuals(config, |part| norm(part, width, 1.0))?;
        Ok(Self {
            query: linear("q", width, config.query_size(), config.has_biases)?,
            key: linear("k", width, config.key_size(), config.has_biases)?,
            value: linear("v", width, config.key_size(), config.has_biases)?,
            output: linear("o", config.query_size(), width, false)?,
            // The norm's gain scales scores for nothing.
            query_norm: head_norm("self_attn.q_norm", config.score_factor)?,
            key_norm: head_norm("self_attn.k_norm", 1.0)?,
            residual: before,
            feed_forward: FeedForward::load_bare(
                from,
                FeedForwardNames { inner: &inner, outer: &outer },
                Some(&name("mlp.up_proj")),
                (width, config.inner_size),
                config.activation,
                after,
            )?,
            heads: Heads { sharing: config.heads / config.key_heads, ..Heads::from(config.heads) },
            head_columns: columns,
        })
    }

    /// What attention works on.
    pub(super) fn enter<'x>(
        &self,
        device: &Device,
        x: &'x Tensor,
    ) -> Result<Cow<'x, Tensor>, NnError> {
        self.residual.enter(device, x)
    }

    /// Queries, keys and values of rows, which turn by the rows of `turns` (N, C) at `positions`.
    pub(super) fn project(
        &self,
        device: &Device,
        entered: &Tensor,
        (turns, positions): (&Tensor, &[u32]),
    ) -> Result<Projected, NnError> {
        let turned = |linear: &Linear, norm: Option<&Norm>| {
            let mut heads = linear.apply(device, entered)?;
            if let Some(norm) = norm {
                heads = self.normalise_heads(device, heads, norm)?;
            }
            rotate(device, &mut heads, turns, positions)?;
            Ok::<_, NnError>(heads)
        };
        Ok(Projected {
            queries: turned(&self.query, self.query_norm.as_ref())?,
            keys: turned(&self.key, self.key_norm.as_ref())?,
            values: self.value.apply(device, entered)?,
        })
    }

    fn normalise_heads(
        &self,
        device: &Device,
        rows: Tensor,
        norm: &Norm,
    ) -> Result<Tensor, NnError> {
        let (count, width) = (rows.rows(), rows.width());
        let heads = rows.reshaped(&[count * (width / self.head_columns), self.head_columns])?;
        Ok(norm.apply(device, heads, None)?.reshaped(&[count, width])?)
    }

    /// The layer on `x`, whose rows ask by `queries` and see `keys`: (R, D).
    pub(super) fn attend(
        &self,
        device: &Device,
        x: &Tensor,
        queries: &Tensor,
        keys: Keys<'_>,
    ) -> Result<Tensor, NnError> {
        let Keys { keys, values, lists, table, .. } = keys;
        let mixed = attention(device, queries, keys, values, lists, table, self.heads)?;
        let output = self.output.apply(device, &mixed)?;
        let x = self.residual.leave(device, output, x)?;
        self.feed_forward.apply(device, &x)
    }
}

/// How the two blocks of a layer join it: with a norm before each, or with one on both sides.
fn residuals(
    config: &LanguageConfig,
    norm: impl Fn(&str) -> Result<Norm, NnError>,
) -> Result<(Residual, Residual), NnError> {
    if !config.has_four_norms() {
        return Ok((
            Residual::Before(norm("input_layernorm")?),
            Residual::Before(norm("post_attention_layernorm")?),
        ));
    }
    let around = |before, after| {
        Ok::<_, NnError>(Residual::Around { before: norm(before)?, after: norm(after)? })
    };
    Ok((
        around("input_layernorm", "post_attention_layernorm")?,
        around("pre_feedforward_layernorm", "post_feedforward_layernorm")?,
    ))
}
