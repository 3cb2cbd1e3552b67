//! Every shader against the CPU code of its kernel, on numbers and shapes drawn by a seed.
//!
//! `fnstore gpu` runs it to say whether an adapter can be trusted; the tests run it with many
//! seeds. Shapes are no multiples of a tile, a workgroup or a vector, lists are of uneven length,
//! and some rows see nothing or numbers of 1e30.

use super::matmul_tiled::{self, Resident};
use super::self_test_units::{
    test_embedding_half, test_finish_rows, test_gated_half_rows, test_half_rows,
    test_matmul_cooperative, test_norm_half_rows, test_place_heads,
};
use super::{
    Activation, Blocks, DistanceBias, Heads, KeyList, Lookup, ScoreOutput, SpanCandidate, SpanHead,
    SpanRows, TokenDraw, TokenMask, Weight, activate, activate_gated, add, attention,
    attention_gpu, attention_step, best_tokens, embedding, gather, layer_norm, matmul, matmul_half,
    matmul_wide, matvec, matvec_half, product, rms_norm, rotate, row_scores, sample_tokens,
    scatter, shaders, span_maxima, span_scores, word_pairs,
};
use crate::engine::compute::gpu::Shader;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// How a shader did against the CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelTest {
    /// Name of the shader.
    pub kernel: &'static str,
    /// What it ran on, for people.
    pub shape: String,
    /// The largest difference, relative to what `tolerance` is relative to.
    pub largest_error: f32,
    /// The largest difference allowed.
    pub tolerance: f32,
    /// What the device answered instead of numbers.
    pub failure: Option<ComputeError>,
}

impl KernelTest {
    /// Whether the shader may be used.
    pub fn passed(&self) -> bool {
        self.failure.is_none() && self.largest_error <= self.tolerance
    }
}

/// Runs every shader that the adapter has what it takes for once on `device`, in order of their
/// names.
pub fn self_test(device: &Device, seed: u64) -> Vec<KernelTest> {
    let runs_here = |shader: &&&Shader| match device {
        Device::Gpu(gpu) => gpu.has(shader.needs),
        Device::Cpu { .. } => true,
    };
    shaders().iter().filter(runs_here).map(|shader| run(device, shader.name, seed)).collect()
}

fn run(device: &Device, kernel: &'static str, seed: u64) -> KernelTest {
    let mut draw = Draw(seed ^ 0x9e37_79b9_7f4a_7c15);
    let (tolerance, case): (f32, Case) = match kernel {
        "activation" => (2e-6, test_activation),
        "add" => (0.0, test_add),
        "attention" => (2e-5, test_attention),
        "attention_step" => (2e-5, test_attention_step),
        "best_tokens" => (5e-5, test_best_tokens),
        "embedding" => (1e-6, test_embedding),
        "embedding_blocks" => (1e-6, test_embedding_blocks),
        "embedding_half" => (9.8e-4, test_embedding_half),
        "finish_rows" => (1e-6, test_finish_rows),
        "gated_half_rows" => (9.8e-4, test_gated_half_rows),
        "gather" => (0.0, test_gather),
        // 16 bits are within 2^-11 of the nearest number, and within 2^-10 of its neighbour.
        "half_rows" => (9.8e-4, test_half_rows),
        "layer_norm" => (2e-5, test_layer_norm),
        "matmul_blocks" => (2e-5, test_matmul_blocks),
        // Operands of 16 bits are within 2^-11; terms of both signs leave a root of their number.
        "matmul_cooperative" => (2e-3, test_matmul_cooperative),
        "matmul_half" => (1e-3, test_matmul_half),
        "matmul_tiled" => (2e-5, test_matmul_tiled),
        "matmul_wide" => (2e-5, test_matmul_wide),
        "matvec" => (2e-5, test_matvec),
        "matvec_half" => (1e-3, test_matvec_half),
        "norm_half_rows" => (9.8e-4, test_norm_half_rows),
        "place_heads" => (2e-6, test_place_heads),
        "rms_norm" => (1e-5, test_rms_norm),
        "rotate" => (2e-6, test_rotate),
        "row_scores" => (1e-5, test_row_scores),
        "sample_tokens" => (5e-5, test_sample_tokens),
        "scatter" => (0.0, test_scatter),
        "span_maxima" => (1e-6, test_span_maxima),
        "span_scores" => (1e-5, test_span_scores),
        "word_pairs" => (1e-6, test_word_pairs),
        other => unreachable!("the shader `{other}` has no test"),
    };
    let mut test =
        KernelTest { kernel, shape: String::new(), largest_error: 0.0, tolerance, failure: None };
    match case(device, &mut draw) {
        Ok((shape, error)) => (test.shape, test.largest_error) = (shape, error),
        Err(failure) => test.failure = Some(failure),
    }
    test
}

/// Runs a kernel on both devices: the shape, and the largest difference.
type Case = fn(&Device, &mut Draw) -> Result<(String, f32), ComputeError>;

/// The same kernel on the CPU and on the device, and the largest difference relative to `scale`.
pub(super) fn compare(
    device: &Device,
    scale: f32,
    kernel: impl Fn(&Device) -> Result<Tensor, ComputeError>,
) -> Result<f32, ComputeError> {
    let wanted = kernel(&Device::cpu())?;
    let found = kernel(device)?.to_host()?;
    if found.shape() != wanted.shape() {
        return Ok(f32::INFINITY);
    }
    Ok(largest(found.data(), wanted.data()) / scale)
}

/// The largest difference; infinite where a number is not finite.
pub(super) fn largest(found: &[f32], wanted: &[f32]) -> f32 {
    let differences = found.iter().zip(wanted).map(|(found, wanted)| match found.is_finite() {
        true => (found - wanted).abs(),
        false => f32::INFINITY,
    });
    differences.fold(if found.len() == wanted.len() { 0.0 } else { f32::INFINITY }, f32::max)
}

fn test_matmul_tiled(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (shape, of_weight) = linear(device, draw, [1, 200], matmul_tiled::tiled, false)?;
    let (rows, inputs, outputs) = (draw.size(1, 100), draw.size(1, 90), draw.size(1, 90));
    let (batch, transposed) = (draw.size(1, 4), draw.below(2) == 0);
    let left = draw.tensor(&[batch, rows, inputs]);
    let right = match transposed {
        true => draw.tensor(&[batch, outputs, inputs]),
        false => draw.tensor(&[batch, inputs, outputs]),
    };
    let scale = (inputs as f32).sqrt();
    let of_batch = compare(device, scale, |device| product(device, &left, &right, transposed))?;
    Ok((shape, of_weight.max(of_batch)))
}

fn test_matmul_wide(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    linear(device, draw, [1, 300], matmul_wide::gpu, false)
}

/// The difference to the product in f32 of what the blocks stand for: a GPU does not round the
/// input.
fn test_matmul_blocks(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, inputs, outputs) = (draw.size(1, 40), draw.size(1, 700), draw.size(1, 200));
    let input = draw.tensor(&[rows, inputs]);
    let bias = draw.tensor(&[outputs]);
    let bias = (draw.below(4) > 0).then_some(&bias);
    let (blocks, group) = draw.blocks(inputs, outputs)?;
    let error = compare(device, (inputs as f32).sqrt(), |device| match device {
        Device::Gpu(_) => matmul(device, &input, &Weight::packed(device, &blocks), bias),
        Device::Cpu { .. } => matmul(device, &input, &Weight::new(device, &blocks.to_f32()), bias),
    })?;
    Ok((format!("{rows} x {inputs} x {outputs}, groups of {group}"), error))
}

fn test_matmul_half(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    linear(device, draw, [1, 200], matmul_half::gpu, true)
}

fn test_matvec(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    linear(device, draw, [1, 40], matvec::gpu, false)
}

fn test_matvec_half(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    linear(device, draw, [1, 40], matvec_half::gpu, true)
}

/// A product with a weight by one shader; the difference is relative to the root of the number of
/// terms.
fn linear(
    device: &Device,
    draw: &mut Draw,
    [fewest, most]: [usize; 2],
    run: fn(matmul_tiled::Block<'_>) -> Result<(), ComputeError>,
    half: bool,
) -> Result<(String, f32), ComputeError> {
    let (rows, inputs, outputs) = (draw.size(fewest, most), draw.size(1, 700), draw.size(1, 200));
    let (input, weight) = (draw.tensor(&[rows, inputs]), draw.tensor(&[outputs, inputs]));
    let bias = draw.tensor(&[outputs]);
    let bias = (draw.below(4) > 0).then_some(&bias);
    let error = compare(device, (inputs as f32).sqrt(), |device| match device {
        Device::Gpu(gpu) => {
            let weight = Resident::new(&gpu.with_half(half), &weight);
            matmul_tiled::by(run, &weight, &input, bias)
        }
        Device::Cpu { .. } => matmul(device, &input, &Weight::new(device, &weight), bias),
    })?;
    Ok((format!("{rows} x {inputs} x {outputs}"), error))
}

fn test_embedding(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, width) = (draw.size(1, 90), draw.size(1, 70));
    let (words, positions) = (draw.tensor(&[50, width]), draw.tensor(&[20, width]));
    let (of_words, of_positions) = (draw.ids(rows, 50), draw.ids(rows, 20));
    let lookups = [
        Lookup { table: &words, ids: &of_words, scale: 22.6 },
        Lookup { table: &positions, ids: &of_positions, scale: 1.0 },
    ];
    let error = compare(device, 22.6, |device| embedding(device, &lookups))?;
    Ok((format!("{rows} x {width}"), error))
}

fn test_embedding_blocks(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, width, table_rows) = (draw.size(1, 90), draw.size(1, 300), draw.size(1, 90));
    let (blocks, group) = draw.blocks(width, table_rows)?;
    let ids = draw.ids(rows, table_rows);
    let error = compare(device, 22.6, |device| {
        Weight::packed(device, &blocks).look_up(device, &ids, 22.6)
    })?;
    Ok((format!("{rows} x {width}, groups of {group}"), error))
}

fn test_layer_norm(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, width) = (draw.size(1, 60), draw.size(2, 600));
    let (input, residual) = (draw.tensor(&[rows, width]), draw.tensor(&[rows, width]));
    let (gain, bias) = (draw.tensor(&[width]), draw.tensor(&[width]));
    let residual = (draw.below(3) > 0).then_some(&residual);
    let error = compare(device, 1.0, |device| {
        let mut output = input.clone();
        layer_norm(device, &mut output, residual, &gain, &bias, 1e-5)?;
        Ok(output)
    })?;
    Ok((format!("{rows} x {width}"), error))
}

fn test_rms_norm(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, width) = (draw.size(1, 60), draw.size(1, 600));
    let (input, gain) = (draw.tensor(&[rows, width]), draw.tensor(&[width]));
    let error = compare(device, 1.0, |device| {
        let mut output = input.clone();
        rms_norm(device, &mut output, &gain, 1e-6)?;
        Ok(output)
    })?;
    Ok((format!("{rows} x {width}"), error))
}

fn test_rotate(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, heads, columns) = (draw.size(1, 60), draw.size(1, 5), 2 * draw.size(1, 40));
    let (input, turns) = (draw.tensor(&[rows, heads * columns]), draw.tensor(&[50, columns]));
    let positions = draw.ids(rows, 50);
    let error = compare(device, 1.0, |device| {
        let mut output = input.clone();
        rotate(device, &mut output, &turns, &positions)?;
        Ok(output)
    })?;
    Ok((format!("{rows} x {heads} heads of {columns}"), error))
}

fn test_activation(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, width) = (draw.size(1, 60), draw.size(1, 90));
    let mut input = draw.tensor(&[rows, width]);
    input.data_mut().iter_mut().for_each(|x| *x *= 6.0);
    // Far outside every function's bend.
    input.data_mut()[0] = -30.0;
    let factor = draw.tensor(&[rows, width]);
    let mut error: f32 = 0.0;
    for function in [Activation::Relu, Activation::Gelu, Activation::Swish, Activation::GeluTanh] {
        error = error.max(compare(device, 6.0, |device| {
            let mut output = input.clone();
            activate(device, function, &mut output)?;
            Ok(output)
        })?);
        error = error.max(compare(device, 6.0, |device| {
            let mut output = input.clone();
            activate_gated(device, function, &mut output, &factor)?;
            Ok(output)
        })?);
    }
    Ok((format!("{rows} x {width}"), error))
}

fn test_add(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, width) = (draw.size(1, 60), draw.size(1, 200));
    let (tensor, other) = (draw.tensor(&[rows, width]), draw.tensor(&[rows, width]));
    let error = compare(device, 1.0, |device| {
        let mut sum = tensor.clone();
        add(device, &mut sum, &other)?;
        Ok(sum)
    })?;
    Ok((format!("{rows} x {width}"), error))
}

fn test_attention(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let columns = draw.size(1, 100);
    attended(device, draw, columns, &attention::SHADER, &[false, true])
}

fn test_attention_step(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let columns = 4 * draw.size(1, 64);
    attended(device, draw, columns, &attention_step::SHADER, &[true])
}

/// Attention by one shader, over paths through a table of rows or runs of rows.
fn attended(
    device: &Device,
    draw: &mut Draw,
    columns: usize,
    shader: &'static Shader,
    through_table: &[bool],
) -> Result<(String, f32), ComputeError> {
    let (key_heads, sharing) = (draw.size(1, 4), draw.size(1, 3));
    let (heads, key_width) = (key_heads * sharing, key_heads * columns);
    let (rows, known) = (draw.size(1, 40), draw.size(1, 180));
    let queries = draw.tensor(&[rows, key_width * sharing]);
    let (keys, values) = (draw.tensor(&[known, key_width]), draw.tensor(&[known, key_width]));
    let table = {
        let entries = draw.size(1, 200);
        draw.ids(entries, known)
    };
    let mut error: f32 = 0.0;
    let biases = {
        let distances = 2 * known.max(table.len());
        draw.tensor(&[heads, distances])
    };
    let run = |device: &Device, lists: &[KeyList], table: Option<&[u32]>, heads: Heads<'_>| {
        match device {
            Device::Gpu(gpu) => {
                let params =
                    attention::Params { keys: &keys, values: &values, table, heads: &heads };
                attention_gpu::by(shader, gpu, &queries, lists, &params)
            }
            Device::Cpu { .. } => {
                attention::attention(device, &queries, &keys, &values, lists, table, heads)
            }
        }
    };
    for table in through_table.iter().map(|through| through.then_some(table.as_slice())) {
        let entries = table.map_or(known, <[u32]>::len);
        let mut list = || {
            let start = draw.below(entries);
            KeyList { start: start as u32, len: 1 + draw.below(entries - start) as u32 }
        };
        let lists: Vec<KeyList> = (0..rows).map(|_| list()).collect();
        let bare = Heads { sharing, ..Heads::from(heads) };
        error = error.max(compare(device, 1.0, |device| run(device, &lists, table, bare))?);
        // Zero lies in the middle, so every position of a key in a list may be that of the query.
        let positions: Vec<u32> =
            lists.iter().map(|list| draw.below(list.len as usize) as u32).collect();
        error = error.max(compare(device, 1.0, |device| {
            let by_distance = &biases.clone().to_device(device)?;
            let zero = biases.width() / 2;
            let bias = Some(DistanceBias { by_distance, zero, positions: &positions });
            run(device, &lists, table, Heads { bias, is_scaled: false, ..bare })
        })?);
    }
    let heads = format!("{heads} heads of {columns}, {key_heads} of keys");
    Ok((format!("{rows} queries, {known} keys, {heads}"), error))
}

fn test_gather(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, known, width) = (draw.size(1, 90), draw.size(1, 90), draw.size(1, 70));
    let (table, at) = (draw.tensor(&[known, width]), draw.ids(rows, known));
    let error = compare(device, 1.0, |device| gather(device, &table, &at))?;
    Ok((format!("{rows} of {known} x {width}"), error))
}

fn test_scatter(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (known, width) = (draw.size(2, 90), draw.size(1, 70));
    // Every other row, so that no two land in one place.
    let at: Vec<u32> = (0..known as u32).step_by(2).collect();
    let (table, rows) = (draw.tensor(&[known, width]), draw.tensor(&[at.len(), width]));
    let error = compare(device, 1.0, |device| {
        let mut output = table.clone();
        scatter(device, &rows, &at, &mut output)?;
        Ok(output)
    })?;
    Ok((format!("{} to {known} x {width}", at.len()), error))
}

fn test_best_tokens(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, tokens, top) = (draw.size(1, 24), draw.size(1, 900), draw.size(1, 24));
    // Quarter steps: tokens tie exactly or are far apart, so both devices must agree on the order.
    let mut logits = draw.tensor(&[rows, tokens]);
    logits.data_mut().iter_mut().for_each(|x| *x = (*x * 40.0).round() / 4.0);
    logits.data_mut()[0] = -1e30;
    let scores: Vec<f32> = (0..rows).map(|_| -(draw.below(80) as f32) / 8.0).collect();
    let mut lists: Vec<(Vec<u32>, Vec<u32>, bool)> = (0..rows)
        .map(|_| {
            let share = 1 + draw.below(6);
            let banned = (0..tokens as u32).filter(|_| draw.below(share) == 1).collect();
            let extras = draw.below(4);
            (banned, draw.ids(extras, tokens), draw.below(2) == 0)
        })
        .collect();
    // One row that may take nothing.
    lists[rows - 1].0 = (0..tokens as u32).collect();
    let masks: Vec<TokenMask<'_>> = lists
        .iter()
        .map(|(banned, extra, renormalize)| TokenMask { banned, extra, renormalize: *renormalize })
        .collect();
    let wanted = best_tokens(&Device::cpu(), &logits, &scores, &masks, top)?;
    let found = best_tokens(device, &logits, &scores, &masks, top)?;
    let mut error: f32 = if found.len() == wanted.len() { 0.0 } else { f32::INFINITY };
    for (found, wanted) in found.iter().zip(&wanted) {
        let pairs =
            found.best.iter().chain(&found.extra).zip(wanted.best.iter().chain(&wanted.extra));
        let same_length =
            found.best.len() == wanted.best.len() && found.is_finite == wanted.is_finite;
        let same = same_length && pairs.clone().all(|(a, b)| a.token == b.token);
        // A row that may take nothing counts from -1e30, where steps are far apart.
        let relative =
            pairs.map(|(a, b)| (a.log_prob - b.log_prob).abs() / b.log_prob.abs().max(10.0));
        error = relative.fold(if same { error } else { f32::INFINITY }, f32::max);
    }
    Ok((format!("{top} of {rows} x {tokens}"), error))
}

fn test_sample_tokens(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, tokens) = (draw.size(1, 24), draw.size(1, 900));
    // Quarter steps, so that logits tie exactly or are far apart.
    let mut logits = draw.tensor(&[rows, tokens]);
    logits.data_mut().iter_mut().for_each(|x| *x = (*x * 20.0).round() / 4.0);
    logits.data_mut()[0] = -1e30;
    let mut lists: Vec<(Vec<u32>, bool)> = (0..rows)
        .map(|_| {
            let share = 1 + draw.below(6);
            let banned = (0..tokens as u32).filter(|_| draw.below(share) == 1).collect();
            (banned, draw.below(2) == 0)
        })
        .collect();
    // One row that may take nothing.
    lists[rows - 1].0 = (0..tokens as u32).collect();
    let masks: Vec<TokenMask<'_>> = lists
        .iter()
        .map(|(banned, renormalize)| TokenMask { banned, extra: &[], renormalize: *renormalize })
        .collect();
    let cut = |draw: &mut Draw| if draw.below(2) == 0 { draw.below(tokens + 9) } else { 0 };
    let draws: Vec<TokenDraw> = (0..rows)
        .map(|_| TokenDraw {
            temperature: 1.1 + draw.number(),
            top_k: cut(draw),
            top_p: (0.8 + draw.number()).clamp(0.01, 1.0),
            uniform: (draw.number().abs() + 1e-3).min(0.999),
        })
        .collect();
    // A sum may pass its goal a token earlier or later where it all but meets it.
    let drawn_at = |change: f32| {
        let near = |draw: &TokenDraw| TokenDraw { uniform: draw.uniform + change, ..*draw };
        let draws: Vec<TokenDraw> = draws.iter().map(near).collect();
        sample_tokens(&Device::cpu(), &logits, &masks, &draws)
    };
    let wanted = [drawn_at(0.0)?, drawn_at(-1e-5)?, drawn_at(1e-5)?];
    let found = sample_tokens(device, &logits, &masks, &draws)?;
    let mut error: f32 = 0.0;
    for (row, found) in found.iter().enumerate() {
        let difference = wanted.iter().filter_map(|wanted| match (found, wanted[row]) {
            (None, None) => Some(0.0),
            (Some(a), Some(b)) if a.token == b.token => Some((a.log_prob - b.log_prob).abs()),
            _ => None,
        });
        error = error.max(difference.fold(f32::INFINITY, f32::min));
    }
    Ok((format!("{rows} x {tokens}"), error))
}

fn test_span_maxima(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, known, width) = (draw.size(1, 60), draw.size(2, 40), draw.size(1, 70));
    let sums = draw.tensor(&[known, width]);
    let mut span = || {
        let start = draw.below(known - 1);
        let end = start + 1 + draw.below(known - 1 - start);
        SpanRows { start: start as u32, end: end as u32, weight: 1.0 / (end - start) as f32 }
    };
    let pairs: Vec<[SpanRows; 2]> = (0..rows).map(|_| [span(), span()]).collect();
    let error = compare(device, 2.0, |device| span_maxima(device, &sums, &pairs))?;
    Ok((format!("{rows} x {width}"), error))
}

fn test_span_scores(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, known, hidden) = (draw.size(1, 60), draw.size(1, 40), draw.size(1, 150));
    let (differences, maxima) = (draw.tensor(&[known, hidden]), draw.tensor(&[rows, hidden]));
    let cues = draw.size(0, 20);
    let units = draw.tensor(&[2 + cues, hidden]);
    let mut candidate = || SpanCandidate {
        source: draw.below(known) as u32,
        before: draw.below(known) as u32,
        after: draw.below(known) as u32,
        weight: draw.number(),
    };
    let candidates: Vec<SpanCandidate> = (0..rows).map(|_| candidate()).collect();
    let of_candidates: Vec<f32> = (0..rows * cues).map(|_| draw.number()).collect();
    let error = compare(device, 1.0, |device| {
        let head = SpanHead::new(device, units.clone(), 0.25, -0.5)?;
        let scores =
            span_scores(device, &head, &differences, &maxima, &candidates, &of_candidates)?;
        Tensor::new(&[rows], scores)
    })?;
    Ok((format!("{rows} of {hidden} units, {cues} cues"), error))
}

fn test_row_scores(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, hidden) = (draw.size(1, 100), draw.size(1, 150));
    let (z, weight) = (draw.tensor(&[rows, hidden]), draw.tensor(&[1, hidden]));
    let error = compare(device, 1.0, |device| {
        let output = ScoreOutput::new(device, weight.data().to_vec(), 0.25, -0.5)?;
        let z = z.clone().to_device(device)?;
        Tensor::new(&[rows], row_scores(device, &output, &z)?)
    })?;
    Ok((format!("{rows} of {hidden} units"), error))
}

fn test_word_pairs(device: &Device, draw: &mut Draw) -> Result<(String, f32), ComputeError> {
    let (rows, known, width) = (draw.size(1, 60), draw.size(1, 40), draw.size(1, 70));
    let states = draw.tensor(&[known, width]);
    let pairs: Vec<[u32; 2]> =
        (0..rows).map(|_| [draw.below(known) as u32, draw.below(known) as u32]).collect();
    let cues = draw.size(0, 20);
    let of_pairs: Vec<f32> = (0..rows * cues).map(|_| draw.number()).collect();
    let error = compare(device, 2.0, |device| word_pairs(device, &states, &pairs, &of_pairs))?;
    Ok((format!("{rows} x {width}, {cues} cues"), error))
}

/// Numbers of a test: splitmix64 (Steele, Lea and Flood 2014).
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// A size of `from..=to`.
    pub(super) fn size(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to + 1 - from)
    }

    /// A number of [-1, 1).
    pub(super) fn number(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    pub(super) fn tensor(&mut self, shape: &[usize]) -> Tensor {
        let data = (0..shape.iter().product()).map(|_| self.number()).collect();
        Tensor::new(shape, data).expect("as many numbers as the shape asks for")
    }

    /// A matrix in blocks, and how many numbers of it share a scale.
    fn blocks(&mut self, inputs: usize, outputs: usize) -> Result<(Blocks, usize), ComputeError> {
        let (most, group, zero) =
            [(16, 32, 8), (16, 32, 0), (64, 16, 32), (256, 32, 128)][self.below(4)];
        let groups = outputs * inputs.div_ceil(group);
        let quants = (0..outputs * inputs).map(|_| self.below(most) as u8).collect();
        let scales = (0..groups).map(|_| self.number() / most as f32).collect();
        let least = if zero > 0 { 0 } else { groups };
        let least = (0..least).map(|_| self.number()).collect();
        Ok((Blocks::new(inputs, (group, zero), quants, scales, least)?, group))
    }

    pub(super) fn ids(&mut self, count: usize, end: usize) -> Vec<u32> {
        (0..count).map(|_| self.below(end) as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_compares_the_cpu_with_itself_passes() {
        for seed in 0..20 {
            for test in self_test(&Device::Cpu { threads: 1 }, seed) {
                assert!(test.passed(), "{test:?}");
                assert!(!test.shape.is_empty());
            }
        }
    }

    #[test]
    fn differences_and_numbers_that_are_none_are_seen() {
        assert_eq!(largest(&[1.0, 2.0], &[1.0, 2.5]), 0.5);
        assert_eq!(largest(&[f32::NAN], &[0.0]), f32::INFINITY);
        assert_eq!(largest(&[], &[0.0]), f32::INFINITY);
    }
}
