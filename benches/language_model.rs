//! How fast does a language model write? Sentences a second of searches side by side: beam 8,
//! exactly 25 tokens, since the end is masked, prompts of 40 tokens whose first 12 are the same.
//!
//! `FNSTORE_BENCH_GGUF=SmolLM2-135M-Instruct.Q4_1.gguf cargo bench --bench language_model`
//!
//! `FNSTORE_BENCH_ADAPTER` names an adapter's directory.
//! `FNSTORE_BENCH_NUMBERS` (blocks, int8, f32) and `FNSTORE_BENCH_THREADS` say how to compute,
//! `FNSTORE_BENCH_SOURCES` how many sentences there are, `FNSTORE_BENCH_BEAM` how wide a search is,
//! `FNSTORE_DEVICE` on which device. `FNSTORE_BENCH_SMALL=1` takes prompts of 8 tokens and 2 steps,
//! for software adapters. `FNSTORE_GPU_PROFILE=1` adds the time of every kernel in the last run.
//! Beside the time on the wall it tells the processor's, which other work on the machine does not
//! add to, and the most memory.
//! `benches/peers/language_model.py` runs the same beside llama.cpp.

#[path = "common/profile.rs"]
mod profile;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use fnstore::engine::{
    AvoidTokens, BeamSettings, Constraint, Device, DeviceChoice, GpuOptions, LanguageAdapter,
    LanguageModel, LengthLimit, Numbers, Scheduler, StepNetwork,
};

const ALIKE: u32 = 12;

/// What is searched for.
struct Work {
    sources: usize,
    beam: usize,
    /// Tokens of a prompt, and of what follows it.
    prompt: u32,
    steps: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(path) = std::env::var_os("FNSTORE_BENCH_GGUF") else {
        eprintln!("FNSTORE_BENCH_GGUF names no model: nothing to measure");
        return Ok(());
    };
    let number = |name: &str, default: usize| -> Result<usize, Box<dyn Error>> {
        Ok(std::env::var(name).map_or(Ok(default), |value| value.parse())?)
    };
    let numbers: Numbers =
        std::env::var("FNSTORE_BENCH_NUMBERS").as_deref().unwrap_or("blocks").parse()?;
    let choice: DeviceChoice =
        std::env::var("FNSTORE_DEVICE").as_deref().unwrap_or("cpu").parse()?;
    let options = GpuOptions {
        tune: true,
        units: std::env::var("FNSTORE_GPU_COOPERATIVE").as_deref() != Ok("0"),
        profile: profile::is_wanted(),
        ..GpuOptions::default()
    };
    let device = match Device::open(&choice, &options)? {
        Device::Cpu { threads } => {
            Device::Cpu { threads: number("FNSTORE_BENCH_THREADS", threads)? }
        }
        other => other,
    };
    let small = std::env::var_os("FNSTORE_BENCH_SMALL").is_some();
    let (prompt, steps) = if small { (8, 2) } else { (40, 25) };
    let (sources, beam) = (number("FNSTORE_BENCH_SOURCES", 32)?, number("FNSTORE_BENCH_BEAM", 8)?);
    let work = Work { sources, beam, prompt, steps };
    let begin = Instant::now();
    let adapter = std::env::var_os("FNSTORE_BENCH_ADAPTER").filter(|path| !path.is_empty());
    let adapter = adapter.map(|path| LanguageAdapter::read(Path::new(&path))).transpose()?;
    let mut model =
        LanguageModel::open_with(path.as_ref(), adapter.map(Arc::new), &device, numbers)?;
    eprintln!("loaded in {:.1} s, {} MiB", begin.elapsed().as_secs_f64(), most_memory());
    for _ in 0..number("FNSTORE_BENCH_REPEATS", 3)? {
        profile::restart(&device);
        let (begin, before) = (Instant::now(), processor_seconds());
        let most_cached = search(&mut model, &work)?;
        let (wall, busy) = (begin.elapsed().as_secs_f64(), processor_seconds() - before);
        eprintln!(
            "{}: {:.2} sentences/s, {:.0} tokens/s, {:.2} s of processor time a sentence, {} MiB of keys, \
             {} MiB at most",
            device.format(numbers),
            sources as f64 / wall,
            (sources * beam * steps) as f64 / wall,
            busy / sources as f64,
            most_cached >> 20,
            most_memory(),
        );
    }
    profile::tell(&device, &format!("{numbers}: {sources} sentences x beam {beam}"))
}

/// Searches for what follows each prompt; returns the most bytes of keys and values.
fn search(model: &mut LanguageModel, work: &Work) -> Result<usize, Box<dyn Error>> {
    let &Work { sources, beam, prompt, steps } = work;
    let settings = BeamSettings {
        beam_size: beam,
        n_best: beam,
        length_limit: LengthLimit::tokens(steps),
        ..BeamSettings::default()
    };
    let tokens = Some(Arc::new(AvoidTokens::new([[model.eos_token()]])?));
    let mut scheduler = Scheduler::new(sources * beam);
    for source in 0..sources as u32 {
        let token = |at: u32| {
            let drawn = if at < ALIKE {
                at
            } else {
                (source * prompt + at).wrapping_mul(2_654_435_761) >> 8
            };
            1000 + drawn % 40_000
        };
        let source = scheduler.add_source((0..prompt).map(token).collect());
        let constraint = Constraint { tokens: tokens.clone(), ..Constraint::default() };
        scheduler.submit(source, constraint, settings)?;
    }
    let (mut most_cached, mut outputs) = (0, 0);
    while !scheduler.is_idle() {
        let finished = scheduler.step(model)?;
        most_cached = most_cached.max(model.cached_bytes());
        for finished in finished {
            outputs += finished.hypotheses.len();
            scheduler.release(finished.source, model);
        }
    }
    assert_eq!(outputs, sources * beam, "every search gives its beam");
    Ok(most_cached)
}

/// Seconds that all threads of this process computed, where the system tells; else 0.
fn processor_seconds() -> f64 {
    /// Ticks a second of every Linux on the processors that Rust builds for.
    const TICKS: f64 = 100.0;
    let Ok(text) = std::fs::read_to_string("/proc/self/stat") else { return 0.0 };
    // The name, in parentheses, may hold anything; the 12th and 13th fields after it are ticks.
    let after = text.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks =
        after.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// The most MiB of memory that this process had, where the system tells; else 0.
fn most_memory() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else { return 0 };
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
