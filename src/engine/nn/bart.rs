//! The parts of a BART and of a Marian model: how their files name them, and their positions.
//! Marian's layout in `transformers` came from BART's, and differs only in what happens to
//! embeddings.

use super::layers::{
    Attention, AttentionNames, DecoderLayer, EncoderLayer, FeedForward, FeedForwardNames,
    LayerLoader, Norm, Residual,
};
use super::seq2seq_config::{Layout, Seq2SeqConfig, StackConfig};
use super::stack::Stack;
use super::{NnError, Weights};
use crate::engine::compute::Tensor;

/// Rows of BART's table before position 0.
const OFFSET: usize = 2;

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

fn load_attention(
    from: LayerLoader<'_>,
    prefix: &str,
    (width, heads, eps): (usize, usize, f32),
) -> Result<Attention, NnError> {
    let name = |part: &str| format!("{prefix}.{part}");
    let names = AttentionNames {
        query: &name("q_proj"),
        key: &name("k_proj"),
        value: &name("v_proj"),
        output: &name("out_proj"),
        norm: &format!("{prefix}_layer_norm"),
    };
    Attention::load(from, names, width, heads, eps)
}

fn load_feed_forward(
    from: LayerLoader<'_>,
    layer: &str,
    config: &Seq2SeqConfig,
    inner_size: usize,
) -> Result<FeedForward, NnError> {
    let name = |part: &str| format!("{layer}.{part}");
    let names = FeedForwardNames { inner: &name("fc1"), outer: &name("fc2") };
    let norm = Norm::load(from, &name("final_layer_norm"), config.hidden_size, config.eps)?;
    let sizes = (config.hidden_size, inner_size);
    FeedForward::load(from, names, sizes, config.activation, Residual::After(norm))
}

fn load_encoder_layer(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
    number: usize,
) -> Result<EncoderLayer, NnError> {
    let layer = format!("model.encoder.layers.{number}");
    let StackConfig { heads, inner_size, .. } = config.encoder;
    let sizes = (config.hidden_size, heads, config.eps);
    Ok(EncoderLayer {
        attention: load_attention(from, &format!("{layer}.self_attn"), sizes)?,
        feed_forward: load_feed_forward(from, &layer, config, inner_size)?,
    })
}

fn load_decoder_layer(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
    number: usize,
) -> Result<DecoderLayer, NnError> {
    let layer = format!("model.decoder.layers.{number}");
    let StackConfig { heads, inner_size, .. } = config.decoder;
    let sizes = (config.hidden_size, heads, config.eps);
    Ok(DecoderLayer {
        own: load_attention(from, &format!("{layer}.self_attn"), sizes)?,
        source: load_attention(from, &format!("{layer}.encoder_attn"), sizes)?,
        feed_forward: load_feed_forward(from, &layer, config, inner_size)?,
    })
}

/// Position embeddings (positions, D) of one stack.
fn load_positions(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
    stack: &str,
) -> Result<Tensor, NnError> {
    let (rows, width) = (config.max_length, config.hidden_size);
    let positions = match config.layout {
        Layout::Bart => {
            let name = format!("model.{stack}.embed_positions.weight");
            let table = from.weights.tensor(&name, &[OFFSET + rows, width])?;
            Tensor::new(&[rows, width], table.data()[OFFSET * width..].to_vec())?
        }
        _ => sinusoids(rows, width),
    };
    Ok(positions.to_device(from.device)?)
}

/// What BART does to embeddings before the first layer.
fn load_entry(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
    stack: &str,
) -> Result<Option<Norm>, NnError> {
    let name = format!("model.{stack}.layernorm_embedding");
    let norm = (config.layout == Layout::Bart)
        .then(|| Norm::load(from, &name, config.hidden_size, config.eps));
    norm.transpose()
}

pub(super) fn load_encoder(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
) -> Result<Stack<EncoderLayer>, NnError> {
    let layers = (0..config.encoder.layers).map(|n| load_encoder_layer(from, config, n));
    Ok(Stack {
        positions: Some(load_positions(from, config, "encoder")?),
        distances: None,
        entry: load_entry(from, config, "encoder")?,
        layers: layers.collect::<Result<_, _>>()?,
        exit: None,
    })
}

pub(super) fn load_decoder(
    from: LayerLoader<'_>,
    config: &Seq2SeqConfig,
) -> Result<Stack<DecoderLayer>, NnError> {
    let layers = (0..config.decoder.layers).map(|n| load_decoder_layer(from, config, n));
    Ok(Stack {
        positions: Some(load_positions(from, config, "decoder")?),
        distances: None,
        entry: load_entry(from, config, "decoder")?,
        layers: layers.collect::<Result<_, _>>()?,
        exit: None,
    })
}

/// Names of the source tokens' table, of the target tokens' where they have one of their own, and
/// of the output projection.
pub(super) fn table_names(
    config: &Seq2SeqConfig,
) -> (&'static str, Option<&'static str>, &'static str) {
    let (source, target) = match config.shared_tokens {
        true => ("model.shared.weight", None),
        false => ("model.encoder.embed_tokens.weight", Some("model.decoder.embed_tokens.weight")),
    };
    let projection = match config.tied_projection {
        true => target.unwrap_or(source),
        false => "lm_head.weight",
    };
    (source, target, projection)
}

/// The bias of the logits (1, V); Marian always has one, and BART's exports may leave out the
/// zeros.
pub(super) fn load_logits_bias(
    weights: &Weights,
    config: &Seq2SeqConfig,
) -> Result<Option<Tensor>, NnError> {
    const NAME: &str = "final_logits_bias";
    if config.layout == Layout::Bart && !weights.contains(NAME) {
        return Ok(None);
    }
    Ok(Some(weights.tensor(NAME, &[1, config.vocab_size])?))
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
