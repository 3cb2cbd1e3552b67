//! How fast are the shaders? Products of large matrices in GFLOP/s, products with few rows in GB/s
//! of weight read, one decoder's step in milliseconds with its calls, and a rewriter of the paper's
//! shape in sentences a second.
//!
//! `cargo bench --bench gpu`; the device is the best GPU or what `FNSTORE_DEVICE` names, `cpu` too.
//! `FNSTORE_BENCH_SMALL=1` takes small shapes, for software adapters. Times are the least of a few
//! runs; the device is idle before each. `FNSTORE_GPU_PROFILE=1` adds the time of every kernel; for
//! the rewriter it is that of the last run.

#[path = "common/profile.rs"]
mod profile;

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use fnstore::engine::kernels::{Weight, matmul};
use fnstore::engine::{
    Device, DeviceChoice, EncoderDecoder, Gpu, GpuOptions, NamedTensor, Needs, Numbers, RowMask,
    StepNetwork, StepRow, Tensor, write_weights,
};
use serde_json::json;

/// A rewriter of the paper's kind: six layers that encode, of width 512 and eight heads (Hu et al.
/// 2019, section 4, followed by Culkin et al. 2021, section 3); four that decode, as theirs.
const PAPER: Shape = Shape { layers: [6, 4], heads: 8, width: 512, inner: 2048, tokens: 16_000 };
/// One that a software adapter takes a step of in a second or so.
const SMALL: Shape = Shape { layers: [2, 2], heads: 4, width: 128, inner: 256, tokens: 2000 };

const REPEATS: usize = 5;

#[derive(Clone, Copy)]
struct Shape {
    layers: [usize; 2],
    heads: usize,
    width: usize,
    inner: usize,
    tokens: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let small = std::env::var_os("FNSTORE_BENCH_SMALL").is_some();
    let choice: DeviceChoice = std::env::var("FNSTORE_DEVICE").unwrap_or_default().parse()?;
    let choice =
        if choice == DeviceChoice::Named(String::new()) { DeviceChoice::Auto } else { choice };
    for (half, units) in [(false, false), (true, false), (true, true)] {
        let options = GpuOptions {
            half,
            units,
            tune: true,
            profile: profile::is_wanted(),
            ..GpuOptions::default()
        };
        let device = Device::open(&choice, &options)?;
        match &device {
            Device::Gpu(gpu) if half && !gpu.keeps_half() => continue,
            Device::Gpu(gpu) if units && !gpu.has(Needs::MatrixUnits) => continue,
            Device::Cpu { .. } if half => continue,
            Device::Gpu(gpu) => {
                let units = device.format(Numbers::F32) == "f16-units";
                eprintln!("{}, 16-bit weights: {half}, matrix units: {units}", gpu.adapter().name)
            }
            _ => eprintln!("the CPU"),
        }
        products(&device, small)?;
        few_rows(&device, small)?;
        profile::tell(&device, "products")?;
        rewriter(&device, if small { SMALL } else { PAPER }, small)?;
    }
    Ok(())
}

/// Waits for all that was asked of a device.
fn finish(device: &Device) -> Result<(), Box<dyn Error>> {
    if let Device::Gpu(gpu) = device {
        gpu.finish()?;
    }
    Ok(())
}

/// Seconds that a call takes, the least of a few times several.
fn seconds(
    device: &Device,
    calls: usize,
    mut call: impl FnMut() -> Result<(), Box<dyn Error>>,
) -> Result<f64, Box<dyn Error>> {
    call()?;
    finish(device)?;
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let begin = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        finish(device)?;
        best = best.min(begin.elapsed().as_secs_f64() / calls as f64);
    }
    Ok(best)
}

fn products(device: &Device, small: bool) -> Result<(), Box<dyn Error>> {
    for size in if small { vec![256, 512] } else { vec![512, 1024, 2048, 4096, 8192] } {
        let input = random(size, size, 1)?.to_device(device)?;
        let weight = Weight::new(device, &random(size, size, 2)?);
        let calls = if size >= 4096 || small { 2 } else { 16 };
        let time = seconds(device, calls, || {
            matmul(device, &input, &weight, None)?;
            Ok(())
        })?;
        let rate = 2.0 * (size as f64).powi(3) / time / 1e9;
        eprintln!("product {size} x {size} x {size}: {rate:.0} GFLOP/s");
    }
    Ok(())
}

fn few_rows(device: &Device, small: bool) -> Result<(), Box<dyn Error>> {
    // 512 MB of weights, more than any cache holds; 16-bit ones take half.
    let (outputs, inputs) = if small { (2048, 1024) } else { (32_768, 4096) };
    let weight = Weight::new(device, &random(outputs, inputs, 3)?);
    let bytes = match device {
        Device::Gpu(gpu) if gpu.keeps_half() => 2 * outputs * inputs,
        _ => 4 * outputs * inputs,
    };
    for rows in [1, 4, 20] {
        let input = random(rows, inputs, 4)?.to_device(device)?;
        let time = seconds(device, 4, || {
            matmul(device, &input, &weight, None)?;
            Ok(())
        })?;
        let (megabytes, rate) = (bytes / 1_000_000, bytes as f64 / time / 1e9);
        eprintln!("product of {rows} rows with {megabytes} MB: {rate:.0} GB/s");
    }
    Ok(())
}

/// A beam of 20 for some sentences at once, 25 steps each, the end not allowed.
fn rewriter(device: &Device, shape: Shape, small: bool) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    write_model(directory.path(), shape)?;
    let mut network = EncoderDecoder::open(directory.path(), device)?;
    let gpu = match device {
        Device::Gpu(gpu) => Some(gpu),
        _ => None,
    };
    for sentences in if small { vec![1, 4] } else { vec![1, 16, 64, 256] } {
        let (mut best, mut step_calls) = (f64::INFINITY, 0);
        for _ in 0..2 {
            profile::restart(device);
            let begin = Instant::now();
            step_calls = decode(&mut network, sentences, shape.tokens, gpu)?;
            best = best.min(begin.elapsed().as_secs_f64());
        }
        eprintln!(
            "rewriter, {sentences} sentences x beam {BEAM}, {STEPS} steps: {:.2} sentences/s, \
             {:.2} ms a step, {step_calls} calls of shaders in the last step",
            sentences as f64 / best,
            1e3 * best / STEPS as f64,
        );
        profile::tell(device, &format!("rewriter, {sentences} sentences x beam {BEAM}"))?;
    }
    Ok(())
}

const BEAM: usize = 20;
const STEPS: usize = 25;
/// Tokens of a source, the end counted.
const SOURCE: u32 = 25;

/// Rewrites some sentences side by side; returns the calls of the last step.
fn decode(
    network: &mut EncoderDecoder,
    sentences: usize,
    tokens: usize,
    gpu: Option<&Gpu>,
) -> Result<u64, Box<dyn Error>> {
    let source = |n: u32| -> Vec<u32> {
        (1..SOURCE).map(|k| 2 + (n * 977 + k * 131) % (tokens as u32 - 2)).chain([1]).collect()
    };
    let sources: Vec<Vec<u32>> = (0..sentences as u32).map(source).collect();
    let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
    let slots = network.open(&sources)?;
    let first = |slot: &_| StepRow { slot: *slot, parent: None, token: 0, score: 0.0 };
    let mut rows: Vec<StepRow> = slots.iter().map(first).collect();
    let mut calls = 0;
    for _ in 0..STEPS {
        let mask = |row| RowMask { row, eos_allowed: false, ..RowMask::default() };
        let masks: Vec<RowMask> = (0..rows.len() as u32).map(mask).collect();
        let before = gpu.map_or(0, Gpu::dispatches);
        let found = network.step(&rows, &masks, 2 * BEAM)?;
        calls = gpu.map_or(0, Gpu::dispatches) - before;
        let next = found.iter().flat_map(|of_slot| {
            of_slot.best.iter().take(BEAM).map(|best| StepRow {
                slot: of_slot.slot,
                parent: Some(best.parent),
                token: best.token,
                score: best.log_prob,
            })
        });
        rows = next.collect();
    }
    slots.iter().for_each(|slot| network.close(*slot));
    Ok(calls)
}

fn random(rows: usize, width: usize, seed: u64) -> Result<Tensor, Box<dyn Error>> {
    Ok(Tensor::new(&[rows, width], numbers(rows * width, seed))?)
}

/// Numbers of [-0.05, 0.05).
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32 / 10.0 - 0.05
    };
    (0..count).map(|_| next()).collect()
}

/// A model directory of random weights in the Marian layout.
fn write_model(directory: &Path, shape: Shape) -> Result<(), Box<dyn Error>> {
    let Shape { layers: [encoder, decoder], heads, width, inner, tokens } = shape;
    let config = json!({
        "model_type": "marian", "activation_function": "relu", "d_model": width,
        "encoder_layers": encoder, "decoder_layers": decoder,
        "encoder_attention_heads": heads, "decoder_attention_heads": heads,
        "encoder_ffn_dim": inner, "decoder_ffn_dim": inner,
        "vocab_size": tokens, "decoder_vocab_size": tokens, "decoder_start_token_id": 0,
        "eos_token_id": 1, "pad_token_id": 0, "max_position_embeddings": 128,
        "scale_embedding": true, "share_encoder_decoder_embeddings": true,
        "tie_word_embeddings": true,
    });
    std::fs::write(directory.join("config.json"), config.to_string())?;
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = vec![
        ("model.shared.weight".to_owned(), vec![tokens, width], numbers(tokens * width, 5)),
        ("final_logits_bias".to_owned(), vec![1, tokens], vec![0.0; tokens]),
    ];
    for (side, layers) in [("encoder", encoder), ("decoder", decoder)] {
        for layer in 0..layers {
            let prefix = format!("model.{side}.layers.{layer}");
            let blocks: &[&str] =
                if side == "encoder" { &["self_attn"] } else { &["self_attn", "encoder_attn"] };
            let mut linear = |name: String, outputs: usize, inputs: usize| {
                let seed = tensors.len() as u64;
                let weight = numbers(outputs * inputs, seed);
                tensors.push((format!("{name}.weight"), vec![outputs, inputs], weight));
                tensors.push((format!("{name}.bias"), vec![outputs], vec![0.0; outputs]));
            };
            let mut norms = vec![format!("{prefix}.final_layer_norm")];
            for block in blocks {
                for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
                    linear(format!("{prefix}.{block}.{part}"), width, width);
                }
                norms.push(format!("{prefix}.{block}_layer_norm"));
            }
            linear(format!("{prefix}.fc1"), inner, width);
            linear(format!("{prefix}.fc2"), width, inner);
            for norm in norms {
                tensors.push((format!("{norm}.weight"), vec![width], vec![1.0; width]));
                tensors.push((format!("{norm}.bias"), vec![width], vec![0.0; width]));
            }
        }
    }
    let views: Vec<NamedTensor<'_>> = tensors
        .iter()
        .map(|(name, shape, numbers)| (name.clone(), shape.clone(), numbers.as_slice()))
        .collect();
    Ok(write_weights(directory, &views)?)
}
