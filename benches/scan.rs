//! How long does a pass over every frame-evoking annotation set take: the sets alone, and with the
//! text of their sentences, through the store and as answers of a query? And how long do answers,
//! exports, checks and growth take by one thread and by all of them?
//!
//! `cargo bench --profile release --bench scan`; on FrameNet itself with
//! `FNSTORE_BENCH_STORE=STORE`. The most memory of the process so far stands behind each row.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

use std::error::Error;
use std::time::{Duration, Instant};

use common::BenchStore;
use fnstore::database::{Database, DatabaseError};
use fnstore::internals::WithStore as _;
use fnstore::query::Expression;
use fnstore::upkeep::CheckOptions;

/// The best of so many passes counts: other work on the machine only ever adds time.
const REPEATS: usize = 3;

fn main() -> Result<()> {
    let bench = BenchStore::open().map_err(|error| error.to_string())?;
    let database = Database::open(&bench.path)?;
    println!("a pass over all frame sets of {}", bench.what);
    println!("{:<34} {:>9} {:>10} {:>12} {:>8}", "", "sets", "seconds", "sets/second", "peak MB");
    row("sets alone (Store)", || pass_over_sets(&database))?;
    row("sets, texts looked up (Store)", || pass_with_texts(&database))?;
    row("answers of `()` (Database)", || pass_over_answers(&database, ""))?;
    row("answers of `text~\"zzz\"`", || pass_over_answers(&database, "text~zzz"))?;
    let all = std::thread::available_parallelism()?.get();
    for threads in [1, all] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let row = |name: &str, pass: fn(&Database) -> Result<usize>| {
            row(&format!("{name}, {threads} threads"), || pool.install(|| pass(&database)))
        };
        row("answers of `()` folded", fold)?;
        row("answers of `text~\"zzz\"` folded", fold_few)?;
        row("JSON lines", export_lines)?;
        row("CSV", export_csv)?;
        row("growth", grow)?;
        row("check", check)?;
    }
    Ok(())
}

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn folded(database: &Database, query: &str) -> Result<usize> {
    let mut answers = 0;
    let add = |some: &mut usize, answer| {
        std::hint::black_box(answer);
        *some += 1;
        Ok::<_, DatabaseError>(())
    };
    let take = |some| {
        answers += some;
        Ok(())
    };
    database.fold_answers(&Expression::parse(query)?, || 0, add, take)?;
    Ok(answers)
}

fn fold(database: &Database) -> Result<usize> {
    folded(database, "")
}

fn fold_few(database: &Database) -> Result<usize> {
    folded(database, "text~zzz")
}

fn export_lines(database: &Database) -> Result<usize> {
    let written = database.export_jsonl(&Expression::Everything, false, &mut std::io::sink())?;
    let sets = written.into_iter().flat_map(|export| export.records).map(|(_, records)| records);
    Ok(sets.sum::<u64>() as usize)
}

fn export_csv(database: &Database) -> Result<usize> {
    Ok(database.export_csv(&Expression::Everything, &mut std::io::sink())?.sets as usize)
}

fn grow(database: &Database) -> Result<usize> {
    let release = database.releases()?.into_iter().next().ok_or("there is a release")?;
    let growth = database.lexicon(release.name.as_str())?.growth(&Expression::Everything)?;
    Ok(growth.iter().map(|round| round.sets as usize).sum())
}

fn check(database: &Database) -> Result<usize> {
    let report = database.check(CheckOptions::default(), &mut |_| {})?;
    Ok(report.rows.values().sum::<u64>() as usize)
}

/// The most memory that the process has had, in megabytes, where the system says so.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .map_or(0, |kb: u64| kb / 1000)
}

fn row(name: &str, pass: impl Fn() -> Result<usize>) -> Result<()> {
    let mut best = Duration::MAX;
    let mut sets = 0;
    for _ in 0..REPEATS {
        let started = Instant::now();
        sets = pass()?;
        best = best.min(started.elapsed());
    }
    let seconds = best.as_secs_f64();
    let rate = sets as f64 / seconds;
    println!("{name:<34} {sets:>9} {seconds:>10.3} {rate:>12.0} {:>8}", peak());
    Ok(())
}

fn pass_over_sets(database: &Database) -> Result<usize> {
    let mut sets = 0;
    for release in database.releases()? {
        for set in database.store().annotation_sets(release.id)? {
            std::hint::black_box(set?);
            sets += 1;
        }
    }
    Ok(sets)
}

fn pass_with_texts(database: &Database) -> Result<usize> {
    let store = database.store();
    let mut sets = 0;
    for release in database.releases()? {
        for set in store.annotation_sets(release.id)? {
            std::hint::black_box(store.sentence(release.id, set?.sentence)?);
            sets += 1;
        }
    }
    Ok(sets)
}

fn pass_over_answers(database: &Database, query: &str) -> Result<usize> {
    let mut answers = 0;
    for answer in database.query(&Expression::parse(query)?)? {
        std::hint::black_box(answer?);
        answers += 1;
    }
    Ok(answers)
}
