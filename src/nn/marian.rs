//! The layers of a Marian model: how its files name them, and its positions.

use super::layers::{
    Attention, AttentionNames, EncoderLayer, FeedForward, FeedForwardNames, Loader,
};
use super::{NnError, Seq2SeqConfig};
use crate::compute::Tensor;

/// PyTorch's default, which Hugging Face's Marian does not override.
const NORM_EPS: f32 = 1e-5;

/// One layer of a decoder.
#[derive(Debug)]
pub(super) struct DecoderLayer {
    pub(super) own: Attention,
    pub(super) source: Attention,
    pub(super) feed_forward: FeedForward,
}

/// Sinusoidal positions (positions, D): sines in the first half of the columns, cosines in the
/// second. `angle(p, i) = p / 10000^(2i / D)`  (Vaswani et al. 2017, section 3.5; the order of
/// columns is Marian's).
pub(super) fn sinusoids(positions: usize, width: usize) -> Tensor {
    let mut table = Vec::with_capacity(positions * width);
    let sines = width.div_ceil(2);
    for position in 0..positions {
        let angle = |i: usize| position as f64 / 10000f64.powf(2.0 * i as f64 / width as f64);
        table.extend((0..sines).map(|i| angle(i).sin() as f32));
        table.extend((0..width - sines).map(|i| angle(i).cos() as f32));
    }
    Tensor::new(&[positions, width], table).expect("one number per position and column")
}

fn attention_names(prefix: &str, norm: &str) -> [String; 5] {
    let name = |part: &str| format!("{prefix}.{part}");
    [name("q_proj"), name("k_proj"), name("v_proj"), name("out_proj"), norm.to_owned()]
}

fn load_attention(
    from: Loader<'_>,
    prefix: &str,
    (width, heads): (usize, usize),
) -> Result<Attention, NnError> {
    let [query, key, value, output, norm] =
        &attention_names(prefix, &format!("{prefix}_layer_norm"));
    let names = AttentionNames { query, key, value, output, norm };
    Attention::load(from, names, width, heads, NORM_EPS)
}

fn load_feed_forward(
    from: Loader<'_>,
    layer: &str,
    config: &Seq2SeqConfig,
    inner_size: usize,
) -> Result<FeedForward, NnError> {
    let name = |part: &str| format!("{layer}.{part}");
    let (inner, outer, norm) = (&name("fc1"), &name("fc2"), &name("final_layer_norm"));
    let names = FeedForwardNames { inner, outer, norm };
    let sizes = (config.hidden_size, inner_size);
    FeedForward::load(from, names, sizes, config.activation, NORM_EPS)
}

pub(super) fn load_encoder_layer(
    from: Loader<'_>,
    config: &Seq2SeqConfig,
    number: usize,
) -> Result<EncoderLayer, NnError> {
    let layer = format!("model.encoder.layers.{number}");
    let sizes = (config.hidden_size, config.encoder.heads);
    let inner_size = config.encoder.inner_size;
    Ok(EncoderLayer {
        attention: load_attention(from, &format!("{layer}.self_attn"), sizes)?,
        feed_forward: load_feed_forward(from, &layer, config, inner_size)?,
    })
}

pub(super) fn load_decoder_layer(
    from: Loader<'_>,
    config: &Seq2SeqConfig,
    number: usize,
) -> Result<DecoderLayer, NnError> {
    let layer = format!("model.decoder.layers.{number}");
    let sizes = (config.hidden_size, config.decoder.heads);
    let inner_size = config.decoder.inner_size;
    Ok(DecoderLayer {
        own: load_attention(from, &format!("{layer}.self_attn"), sizes)?,
        source: load_attention(from, &format!("{layer}.encoder_attn"), sizes)?,
        feed_forward: load_feed_forward(from, &layer, config, inner_size)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_stand_before_cosines() {
        let table = sinusoids(2, 4);
        assert_eq!(table.row(0), [0.0, 0.0, 1.0, 1.0]);
        let want = [1f64.sin(), 0.01f64.sin(), 1f64.cos(), 0.01f64.cos()].map(|x| x as f32);
        assert_eq!(table.row(1), want);
        // An odd width has one sine more.
        assert_eq!(sinusoids(1, 5).row(0), [0.0, 0.0, 0.0, 1.0, 1.0]);
    }
}
