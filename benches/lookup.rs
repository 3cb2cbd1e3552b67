//! How long does a query take in a process that is already running, how long to open the store, and
//! how long to read one annotation set by its id?
//!
//! `cargo bench --profile release --bench lookup`; on FrameNet itself with
//! `FNSTORE_BENCH_STORE=STORE` and, in place of the first frame and its first LU,
//! `FNSTORE_BENCH_QUERY=EXPRESSION`.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use common::BenchStore;
use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::query::Expression;

/// The median of so many runs is shown.
const REPEATS: usize = 25;
/// Sets that are read by id, and how far apart they lie.
const READ: usize = 500;
const APART: usize = 331;

fn main() -> Result<(), Box<dyn Error>> {
    let bench = BenchStore::open()?;
    let queries = queries(&bench.path)?;
    println!("queries on {}", bench.what);
    println!("{:<48} {:>8} {:>10} {:>10}", "", "answers", "open ms", "query ms");
    for query in queries {
        let expression = Expression::parse(&query)?;
        let (mut opening, mut asking) = (Vec::new(), Vec::new());
        let mut answers = 0;
        for _ in 0..REPEATS {
            let started = Instant::now();
            let database = Database::open(&bench.path)?;
            opening.push(started.elapsed());
            let started = Instant::now();
            answers = database.query(&expression)?.collect::<Result<Vec<_>, _>>()?.len();
            asking.push(started.elapsed());
        }
        println!("{query:<48} {answers:>8} {:>10.2} {:>10.2}", median(opening), median(asking));
    }
    point_reads(&Database::open(&bench.path)?)
}

/// Reads sets from all over the store, one by one and often enough that their blocks are in memory.
fn point_reads(database: &Database) -> Result<(), Box<dyn Error>> {
    let store = database.store();
    let mut ids = Vec::new();
    for release in database.releases()? {
        for set in store.annotation_sets(release.id)?.step_by(APART).take(READ) {
            ids.push((release.id, set?.id));
        }
    }
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let started = Instant::now();
        for (release, id) in &ids {
            std::hint::black_box(store.annotation_set(*release, *id)?);
        }
        times.push(started.elapsed() / u32::try_from(ids.len().max(1))?);
    }
    println!("one set by its id, of {} apart: {:.1} microseconds", ids.len(), median(times) * 1e3);
    Ok(())
}

/// A frame, an LU, a trigger and an FE: each narrows the search in another way.
fn queries(path: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    if let Ok(query) = std::env::var("FNSTORE_BENCH_QUERY") {
        return Ok(vec![query]);
    }
    let database = Database::open(path)?;
    let first = database.query(&Expression::parse("")?)?.next().ok_or("the store is empty")??;
    let trigger = first.trigger().replace(' ', "\\ ");
    Ok(vec![
        format!("frame={}", first.frame),
        format!("lu=\"{}\"", first.lexunit),
        format!("trigger={trigger}"),
        format!("frame={} text~\"[aeiou]{{3}}\"", first.frame),
    ])
}

/// The median in milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}
