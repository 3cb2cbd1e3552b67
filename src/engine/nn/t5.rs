//! The parts of a T5 model: how its files name them, and the buckets of its distances.
//!
//! Raffel et al. 2020, section 2.1; T5 1.1 and Flan-T5 have a gated activation and an output
//! projection of their own. Names and details as in `T5ForConditionalGeneration`.

use super::layers::{
    Attention, AttentionNames, DecoderLayer, EncoderLayer, FeedForward, FeedForwardNames,
    LayerLoader, Norm, Residual,
};
use super::seq2seq_config::{Buckets, Seq2SeqConfig, StackConfig};
use super::stack::{Distances, Stack};
use super::{NnError, Weights};
use crate::engine::compute::Tensor;

/// Names of the tokens' table and of the output projection.
pub(super) fn table_names(
    weights: &Weights,
    config: &Seq2SeqConfig,
) -> (&'static str, &'static str) {
    const TOKENS: &str = "shared.weight";
    const PROJECTION: &str = "lm_head.weight";
    let is_table = config.tied_projection && !weights.contains(PROJECTION);
    (TOKENS, if is_table { TOKENS } else { PROJECTION })
}

fn load_attention(
    from: LayerLoader<'_>,
    (layer, block): (&str, &str),
    config: &Seq2SeqConfig,
    stack: &StackConfig,
) -> Result<Attention, NnError> {
    let name = |part: &str| format!("{layer}.{block}.{part}");
    let names = AttentionNames {
        query: &name("q"),
        key: &name("k"),
        value: &name("v"),
        output: &name("o"),
        norm: &format!("{layer}.layer_norm"),
    };
    let sizes = (config.hidden_size, stack.attention_size);
    Attention::load_bare(from, names, sizes, stack.heads, config.eps)
}

fn load_feed_forward(
    from: LayerLoader<'_>,
    layer: &str,
    config: &Seq2SeqConfig,
    stack: &StackConfig,
) -> Result<FeedForward, NnError> {
    let name = |part: &str| format!("{layer}.DenseReluDense.{part}");
    let (inner, factor) = match config.is_gated {
        true => (name("wi_0"), Some(name("wi_1"))),
        false => (name("wi"), None),
    };
    let names = FeedForwardNames { inner: &inner, outer: &name("wo") };
    let sizes = (config.hidden_size, stack.inner_size);
    let norm = format!("{layer}.layer_norm");
    let residual = Residual::before(from, &norm, config.hidden_size, config.eps)?;
    FeedForward::load_bare(from, names, factor.as_deref(), sizes, config.activation, residual)
}

pub(super) fn load_encoder(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
) -> Result<Stack<EncoderLayer>, NnError> {
    let stack = &config.encoder;
    let layers = (0..stack.layers).map(|number| {
        let layer = |part: usize| format!("encoder.block.{number}.layer.{part}");
        Ok(EncoderLayer {
            attention: load_attention(from, (&layer(0), "SelfAttention"), config, stack)?,
            feed_forward: load_feed_forward(from, &layer(1), config, stack)?,
        })
    });
    Ok(Stack {
        positions: None,
        distances: load_distances(from, config, "encoder")?,
        entry: None,
        layers: layers.collect::<Result<_, NnError>>()?,
        exit: Some(load_exit(from, config, "encoder", 1.0)?),
    })
}

pub(super) fn load_decoder(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
) -> Result<Stack<DecoderLayer>, NnError> {
    let stack = &config.decoder;
    let layers = (0..stack.layers).map(|number| {
        let layer = |part: usize| format!("decoder.block.{number}.layer.{part}");
        Ok(DecoderLayer {
            own: load_attention(from, (&layer(0), "SelfAttention"), config, stack)?,
            source: load_attention(from, (&layer(1), "EncDecAttention"), config, stack)?,
            feed_forward: load_feed_forward(from, &layer(2), config, stack)?,
        })
    });
    Ok(Stack {
        positions: None,
        distances: load_distances(from, config, "decoder")?,
        entry: None,
        layers: layers.collect::<Result<_, NnError>>()?,
        // The projection takes its input scaled; the last normalisation's gain does it for nothing.
        exit: Some(load_exit(from, config, "decoder", config.output_scale)?),
    })
}

fn load_exit(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
    stack: &str,
    factor: f32,
) -> Result<Norm, NnError> {
    let name = format!("{stack}.final_layer_norm");
    Norm::load_rms(from, &name, (config.hidden_size, config.eps), |gain| gain * factor)
}

/// The first layer's biases, which all layers of a stack share, spread over every distance that its
/// positions allow.
fn load_distances(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
    name: &str,
) -> Result<Option<Distances>, NnError> {
    let Some(buckets) = config.buckets else { return Ok(None) };
    let is_encoder = name == "encoder";
    let heads = if is_encoder { config.encoder.heads } else { config.decoder.heads };
    let name = format!("{name}.block.0.layer.0.SelfAttention.relative_attention_bias.weight");
    let by_bucket = from.weights.tensor(&name, &[buckets.count, heads])?;
    let most = config.max_length as i64;
    // A decoder sees no key that stands after its query.
    let distances = 1 - most..if is_encoder { most } else { 1 };
    let columns: Vec<usize> =
        distances.clone().map(|distance| buckets.of(distance, is_encoder)).collect();
    let of_head = |head: usize| columns.iter().map(move |bucket| (*bucket, head));
    let cells = (0..heads).flat_map(of_head);
    let numbers = cells.map(|(bucket, head)| by_bucket.row(bucket)[head]).collect();
    let by_distance = Tensor::new(&[heads, columns.len()], numbers)?.to_device(from.device)?;
    Ok(Some(Distances { by_distance, zero: config.max_length - 1 }))
}

impl Buckets {
    /// The bucket of a distance, key minus query. Half of the buckets hold one distance each, the
    /// others ever more, in steps of equal ratio.
    fn of(self, distance: i64, both_directions: bool) -> usize {
        let (count, offset) = match both_directions {
            true => (self.count / 2, if distance > 0 { self.count / 2 } else { 0 }),
            false => (self.count, 0),
        };
        let distance = distance.unsigned_abs() as usize;
        let single = count / 2;
        if distance < single {
            return offset + distance;
        }
        // In f32, as it was trained: the borders between buckets must fall where they fell.
        let ratio = (distance as f32 / single as f32).ln();
        let all = (self.max_distance as f64 / single as f64).ln() as f32;
        let step = (ratio / all * (count - single) as f32) as usize;
        offset + (single + step).min(count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_fall_into_the_published_buckets() {
        // transformers: T5Attention._relative_position_bucket, 32 buckets, most 128.
        let buckets = Buckets { count: 32, max_distance: 128 };
        let both: Vec<usize> = [-200, -128, -64, -20, -9, -8, -7, -1, 0, 1, 7, 8, 12, 40, 127, 500]
            .iter()
            .map(|distance| buckets.of(*distance, true))
            .collect();
        assert_eq!(both, [15, 15, 14, 10, 8, 8, 7, 1, 0, 17, 23, 24, 25, 28, 31, 31]);
        let past: Vec<usize> = [-300, -128, -64, -40, -20, -17, -16, -15, -3, 0]
            .iter()
            .map(|distance| buckets.of(*distance, false))
            .collect();
        assert_eq!(past, [31, 31, 26, 23, 17, 16, 16, 15, 3, 0]);
    }
}
