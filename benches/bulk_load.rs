//! How fast are generated annotation sets loaded into store and index, and how many bytes does each
//! of them take there, family by family?
//!
//! `cargo bench --profile release --bench bulk_load`; on FrameNet itself with
//! `FNSTORE_BENCH_RELEASE=fndata-1.5.zip`, so many sets with `FNSTORE_BENCH_SETS=2000000`, into a
//! store that stays with `FNSTORE_BENCH_KEEP=STORE`.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::synthetic::Synthetic;
use fnstore::database::{Database, Write};
use fnstore::internals::WithStore as _;
use fnstore::model::ReleaseId;
use fnstore::transfer::ImportOptions;

/// Sets where `FNSTORE_BENCH_SETS` does not say.
const SETS: usize = 20_000;
/// Sets of one commit, at least.
const COMMIT: usize = 16_000;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Bytes and rows of each part of the store and each kind of file of the index.
type Sizes = BTreeMap<String, (u64, u64)>;

fn main() -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let release = match variable("FNSTORE_BENCH_RELEASE") {
        Some(release) => release,
        None => {
            let release = temporary.path().join("generated");
            common::generate(&release)?;
            release
        }
    };
    let path = variable("FNSTORE_BENCH_KEEP").unwrap_or_else(|| temporary.path().join("store"));
    let wanted = match std::env::var("FNSTORE_BENCH_SETS") {
        Ok(sets) => sets.parse()?,
        Err(_) => SETS,
    };
    let database = Database::open_writer(&path)?;
    let release = database.import(&release, &ImportOptions::default(), &mut |_| {})?.release;
    database.store().compact()?;
    let before = sizes(&database, &path)?;

    let (sets, loading, whole) = load(&database, release.id, wanted)?;
    println!("a load of {sets} generated sets into {}", release.name);
    for (what, time) in [("load", loading), ("with the generator", whole)] {
        let seconds = time.as_secs_f64();
        println!("{what:<22} {seconds:>9.2} s {:>12.0} sets/second", sets as f64 / seconds);
    }
    let after = sizes(&database, &path)?;
    println!("\n{:<22} {:>11} {:>12} {:>12}", "bytes", "rows", "all", "a set");
    let mut all = 0.0;
    for (name, (rows, bytes)) in &after {
        let old = before.get(name).map_or(0, |(_, bytes)| *bytes);
        let each = (*bytes as f64 - old as f64) / sets as f64;
        all += each;
        println!("{name:<22} {rows:>11} {bytes:>12} {each:>12.1}");
    }
    println!("{:<22} {:>11} {:>12} {all:>12.1}", "together", "", database.disk_bytes());
    Ok(())
}

/// Loads so many sets; gives their number, the time inside the load alone, and all the time, which
/// making the sets takes a part of while the index's threads work on.
fn load(
    database: &Database,
    release: ReleaseId,
    wanted: usize,
) -> Result<(u64, Duration, Duration)> {
    let mut synthetic = Synthetic::new(database, release, wanted)?;
    let started = Instant::now();
    let mut loading = Duration::ZERO;
    let mut loader = database.loader(release)?;
    let mut waiting = Write::default();
    loop {
        let frame = synthetic.frame()?;
        let is_last = frame.is_none();
        waiting.append(frame.unwrap_or_default());
        if waiting.sets.len() >= COMMIT || is_last {
            let entered = Instant::now();
            loader.write(&std::mem::take(&mut waiting))?;
            loading += entered.elapsed();
        }
        if is_last {
            break;
        }
    }
    let entered = Instant::now();
    let report = loader.finish()?;
    loading += entered.elapsed();
    Ok((report.sets, loading, started.elapsed()))
}

fn sizes(database: &Database, path: &Path) -> Result<Sizes> {
    let mut sizes = Sizes::new();
    for size in database.store().family_sizes()? {
        sizes.insert(format!("store {}", size.family), (size.rows, size.bytes));
    }
    for entry in std::fs::read_dir(path.join("index"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
        sizes.entry(format!("index {kind}")).or_default().1 += entry.metadata()?.len();
    }
    Ok(sizes)
}
