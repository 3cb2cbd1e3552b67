//! How fast is the span aligner? Pairs of sentences a second, and the spans and candidates that
//! this comes to: 30 words a side, one span for each content word of the sentence, so that fifteen
//! spans or so share the pair's one pass through the encoder.
//!
//! `FNSTORE_MODELS=DIR cargo bench --profile release --bench align`, where DIR holds the encoder
//! that the head names; `FNSTORE_BENCH_HEAD` names another head than the shipped one. Two threads
//! of the CPU, or as many as `FNSTORE_BENCH_THREADS` says; `FNSTORE_DEVICE=gpu` takes a GPU.
//! `FNSTORE_BENCH_SMALL=1` takes few pairs, for software adapters. The best of a few runs counts:
//! other work on the machine only ever adds time. Prints a JSON object. `FNSTORE_GPU_PROFILE=1`
//! tells the time of every kernel beside it.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[path = "common/profile.rs"]
mod profile;

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fnstore::align::{AlignedSpan, Aligner, WordSpan, candidates, encoder_of};
use fnstore::engine::{Device, DeviceChoice, GpuOptions, Tokenizer};
use serde_json::json;

const PAIRS: usize = 256;
/// Pairs under `FNSTORE_BENCH_SMALL`.
const FEW: usize = 8;
const WORDS: usize = 30;
const REPEATS: usize = 5;
/// One target word in so many is not that of the sentence.
const CHANGED: u32 = 4;

const FUNCTION_WORDS: [&str; 16] = [
    "the", "of", "to", "and", "a", "in", "that", "is", "was", "for", "on", "with", "as", "by",
    "at", "it",
];
/// Some are one piece to an encoder, some several.
const CONTENT_WORDS: [&str; 32] = [
    "government",
    "minister",
    "confirmed",
    "report",
    "yesterday",
    "economic",
    "growth",
    "officials",
    "corroborated",
    "negotiations",
    "company",
    "announced",
    "thousands",
    "workers",
    "unemployment",
    "region",
    "president",
    "rejected",
    "proposal",
    "agreement",
    "inspectors",
    "verified",
    "weapons",
    "disarmament",
    "committee",
    "substantial",
    "evidence",
    "suspended",
    "shipments",
    "demonstrators",
    "gathered",
    "capital",
];

fn main() -> Result<(), Box<dyn Error>> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let head = std::env::var_os("FNSTORE_BENCH_HEAD")
        .map_or_else(|| checkout.join("models/aligner"), PathBuf::from);
    let models = std::env::var_os("FNSTORE_MODELS").ok_or("FNSTORE_MODELS names no directory")?;
    let encoder = encoder_of(&head, &[PathBuf::from(models)])?;
    let (device, name) = device()?;
    let aligner = Aligner::open(&head, &encoder, &device)?;
    let pairs = if std::env::var_os("FNSTORE_BENCH_SMALL").is_some() { FEW } else { PAIRS };
    let items = items(pairs);

    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        profile::restart(&device);
        let started = Instant::now();
        let answers = aligner.predict(&items)?;
        best = best.min(started.elapsed().as_secs_f64());
        assert!(answers.iter().all(|answer| matches!(answer, Ok(Some(_)))), "each span is found");
    }
    let scored: usize = items.iter().map(|item| candidates_of(item, aligner.config().k)).sum();
    let rate = |count: usize| (10.0 * count as f64 / best).round() / 10.0;
    println!(
        "{}",
        json!({
            "bench": "align",
            "encoder": aligner.config().encoder,
            "layer": aligner.config().layer,
            "device": name,
            "words_a_side": WORDS,
            "pieces_a_pair": mean_pieces(&items, &encoder)?,
            "spans_a_pair": items.len() as f64 / pairs as f64,
            "pairs_per_second": rate(pairs),
            "spans_per_second": rate(items.len()),
            "candidates_per_second": rate(scored),
        })
    );
    profile::tell(&device, &format!("{pairs} pairs of sentences"))
}

/// Where to run, and how the output calls it.
fn device() -> Result<(Device, String), Box<dyn Error>> {
    let choice = std::env::var("FNSTORE_DEVICE").unwrap_or_else(|_| "cpu".to_owned()).parse()?;
    let device = match choice {
        DeviceChoice::Cpu => {
            let threads = std::env::var("FNSTORE_BENCH_THREADS").unwrap_or_else(|_| "2".to_owned());
            Device::Cpu { threads: threads.parse()? }
        }
        choice => {
            let profile = profile::is_wanted();
            Device::open(&choice, &GpuOptions { tune: true, profile, ..GpuOptions::default() })?
        }
    };
    let name = match &device {
        Device::Gpu(gpu) => gpu.adapter().name.clone(),
        Device::Cpu { threads } => format!("cpu, {threads} threads"),
        _ => return Err("FNSTORE_DEVICE names no device that this bench knows".into()),
    };
    Ok((device, name))
}

/// A span for each content word of each sentence, pair by pair.
fn items(pairs: usize) -> Vec<AlignedSpan> {
    let mut random = 1_u32;
    let mut below = |bound: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % bound
    };
    let mut items = Vec::new();
    for pair in 0..pairs {
        let mut word = || match below(2) {
            0 => FUNCTION_WORDS[below(16) as usize].to_owned(),
            _ => CONTENT_WORDS[below(32) as usize].to_owned(),
        };
        let source: Vec<String> = (0..WORDS).map(|_| word()).collect();
        let other: Vec<String> = (0..WORDS).map(|_| word()).collect();
        let words = source.iter().zip(other);
        let target: Vec<String> = words
            .map(|(same, other)| if below(CHANGED) == 0 { other } else { same.clone() })
            .collect();
        for at in 0..WORDS {
            if CONTENT_WORDS.contains(&source[at].as_str()) {
                items.push(AlignedSpan {
                    id: pair.to_string(),
                    source: source.clone(),
                    source_span: WordSpan::new(at as u32, at as u32 + 1),
                    target: target.clone(),
                    target_span: None,
                    changed: true,
                });
            }
        }
    }
    items
}

fn candidates_of(item: &AlignedSpan, k: u32) -> usize {
    candidates(item.source_span.len(), item.target.len() as u32, k).count()
}

/// Pieces that the encoder sees of a pair, special tokens counted.
fn mean_pieces(items: &[AlignedSpan], encoder: &Path) -> Result<f64, Box<dyn Error>> {
    fn words(words: &[String]) -> Vec<&str> {
        words.iter().map(String::as_str).collect()
    }
    let tokenizer = Tokenizer::open(encoder)?;
    let pairs: BTreeSet<_> = items.iter().map(|item| (&item.source, &item.target)).collect();
    let mut pieces = 0;
    for (source, target) in &pairs {
        pieces += tokenizer.encode_words(&words(source), Some(&words(target)))?.ids.len();
    }
    Ok(pieces as f64 / pairs.len() as f64)
}
