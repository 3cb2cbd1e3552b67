//! How fast is a release imported, in files, sets and bytes a second, and how large does it become?
//! How long does a span take among thousands of one text?
//!
//! `cargo bench --profile release --bench import_throughput`; on FrameNet itself with
//! `FNSTORE_BENCH_RELEASE=fndata-1.5.zip`.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use fnstore::database::Database;
use fnstore::transfer::ImportOptions;

const MEGABYTE: f64 = 1e6;

fn main() -> Result<(), Box<dyn Error>> {
    let temporary = tempfile::tempdir()?;
    let release = match std::env::var_os("FNSTORE_BENCH_RELEASE").map(PathBuf::from) {
        Some(release) => release,
        None => {
            let release = temporary.path().join("generated");
            common::generate(&release)?;
            release
        }
    };
    let database = Database::open_writer(&temporary.path().join("store"))?;
    let mut files = 0;
    let started = Instant::now();
    let report = database.import(&release, &ImportOptions::default(), &mut |progress| {
        files = progress.files;
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let counts = report.release.counts;
    let sets = counts.exemplar_sets + counts.fulltext_sets;
    let megabytes = report.release.source_bytes as f64 / MEGABYTE;
    println!("import of {}", release.display());
    println!("{:<12} {:>12} {:>14}", "", "in all", "a second");
    for (what, number) in [("files", files as f64), ("frame sets", sets as f64), ("MB", megabytes)]
    {
        println!("{what:<12} {number:>12.0} {:>14.1}", number / seconds);
    }
    println!("{:<12} {seconds:>12.2}", "seconds");
    println!("{:<12} {:>12.1}", "MB on disk", report.disk_bytes as f64 / MEGABYTE);
    drop(database);
    println!("import of spans of one text");
    println!("{:<12} {:>12} {:>14}", "spans", "seconds", "us a span");
    for spans in [4_000, 20_000] {
        let seconds = one_text(spans)?;
        println!("{spans:<12} {seconds:>12.2} {:>14.1}", seconds * 1e6 / spans as f64);
    }
    Ok(())
}

/// Seconds that so many spans of one text take.
fn one_text(spans: usize) -> Result<f64, Box<dyn Error>> {
    const SENTENCE: &str = "They checked the old bridge and left again . ";
    let temporary = tempfile::tempdir()?;
    let file = temporary.path().join("spans.jsonl");
    let places = (0..spans).map(|number| {
        let start = number / 2 * SENTENCE.len() + if number % 2 == 0 { 5 } else { 32 };
        let (word, of) = if number % 2 == 0 { ("checked", "check") } else { ("left", "leave") };
        format!("{{\"start\":{start},\"end\":{},\"type\":\"{of}\"}}", start + word.len())
    });
    let places = places.collect::<Vec<_>>().join(",");
    let text = SENTENCE.repeat(spans.div_ceil(2));
    std::fs::write(&file, format!("{{\"text\":\"{text}\",\"spans\":[{places}]}}\n"))?;
    let database = Database::open_writer(&temporary.path().join("store"))?;
    let started = Instant::now();
    database.import_spans(&file, &ImportOptions::default(), &mut |_| {})?;
    Ok(started.elapsed().as_secs_f64())
}
