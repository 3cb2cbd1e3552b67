//! How long does a query take as a process of its own, from its start to its end, all answers read?
//!
//! `FNSTORE_BENCH_STORE=STORE cargo bench --profile release --bench fresh_process`, for other
//! queries with `FNSTORE_BENCH_QUERY=EXPRESSION`; without a store, on one of a generated release.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

use std::error::Error;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::BenchStore;

/// The median of so many runs is shown, and the best, after one that warms the file cache.
const RUNS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let bench = BenchStore::open()?;
    println!("queries as processes of their own on {}, {RUNS} runs each", bench.what);
    println!("{:<40} {:>8} {:>10} {:>10}", "", "answers", "median ms", "best ms");
    for query in queries(&bench) {
        let mut times = Vec::new();
        let mut answers = 0;
        for _ in 0..=RUNS {
            let started = Instant::now();
            let output = Command::new(env!("CARGO_BIN_EXE_fnstore"))
                .arg("--store")
                .arg(&bench.path)
                .args(["--format", "jsonl", "query"])
                .args(query.split(' '))
                .stderr(Stdio::null())
                .output()?;
            times.push(started.elapsed());
            answers = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        }
        times.remove(0);
        times.sort_unstable();
        let (best, median) = (millis(times[0]), millis(times[RUNS / 2]));
        println!("{query:<40} {answers:>8} {median:>10.1} {best:>10.1}");
    }
    Ok(())
}

/// A frame with and without a limit, and the beginning of a trigger.
fn queries(bench: &BenchStore) -> Vec<String> {
    if let Ok(query) = std::env::var("FNSTORE_BENCH_QUERY") {
        return vec![query];
    }
    let (frame, trigger) = if bench.is_generated() {
        ("Frame_7", "trigger=ba*")
    } else {
        ("Verification", "trigger=corroborat*")
    };
    vec![format!("frame={frame} --limit 50"), format!("frame={frame}"), trigger.to_owned()]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
