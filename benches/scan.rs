//! How long does a pass over every frame-evoking annotation set take: the sets alone, and with the
//! text of their sentences, through the store and as answers of a query?
//!
//! `cargo bench --profile release --bench scan`; on FrameNet itself with
//! `FNSTORE_BENCH_STORE=STORE`.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

use std::error::Error;
use std::time::{Duration, Instant};

use common::BenchStore;
use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::query::Expression;

/// The best of so many passes counts: other work on the machine only ever adds time.
const REPEATS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let bench = BenchStore::open()?;
    let database = Database::open(&bench.path)?;
    println!("a pass over all frame sets of {}", bench.what);
    println!("{:<34} {:>9} {:>10} {:>12}", "", "sets", "seconds", "sets/second");
    row("sets alone (Store)", || pass_over_sets(&database))?;
    row("sets, texts looked up (Store)", || pass_with_texts(&database))?;
    row("answers of `()` (Database)", || pass_over_answers(&database, ""))?;
    row("answers of `text~\"zzz\"`", || pass_over_answers(&database, "text~zzz"))?;
    Ok(())
}

fn row(name: &str, pass: impl Fn() -> Result<usize, Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let mut best = Duration::MAX;
    let mut sets = 0;
    for _ in 0..REPEATS {
        let started = Instant::now();
        sets = pass()?;
        best = best.min(started.elapsed());
    }
    let seconds = best.as_secs_f64();
    println!("{name:<34} {sets:>9} {seconds:>10.3} {:>12.0}", sets as f64 / seconds);
    Ok(())
}

fn pass_over_sets(database: &Database) -> Result<usize, Box<dyn Error>> {
    let mut sets = 0;
    for release in database.releases()? {
        for set in database.store().annotation_sets(release.id)? {
            std::hint::black_box(set?);
            sets += 1;
        }
    }
    Ok(sets)
}

fn pass_with_texts(database: &Database) -> Result<usize, Box<dyn Error>> {
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

fn pass_over_answers(database: &Database, query: &str) -> Result<usize, Box<dyn Error>> {
    let mut answers = 0;
    for answer in database.query(&Expression::parse(query)?)? {
        std::hint::black_box(answer?);
        answers += 1;
    }
    Ok(answers)
}
