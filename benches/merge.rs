//! How fast do shards of an expansion come into store and index, and how much memory does that
//! take?
//!
//! `cargo bench --profile release --bench merge`; into FrameNet itself with
//! `FNSTORE_BENCH_RELEASE=fndata-1.5.zip`, so many made-up sets with `FNSTORE_BENCH_SETS=200000`,
//! in so many shards with `FNSTORE_BENCH_SHARDS=2`, kept in a directory with
//! `FNSTORE_BENCH_KEEP=DIR`, where a later run finds them. A merge of a hundred shards that is
//! killed once:
//! `FNSTORE_BENCH_SETS=20000000 FNSTORE_BENCH_SHARDS=100 FNSTORE_BENCH_KILL=50`.
//!
//! Each shard is merged by a process of its own, from its start to its end; then the first of them
//! once more, which writes nothing. The shard that `FNSTORE_BENCH_KILL` names is killed after half
//! of the time that the one before took, and merged again. The last line has the sum of the times,
//! the most memory of a process, and the most bytes of the store at any moment beside those that it
//! has in the end.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::synthetic::Synthetic;
use fnstore::database::{Database, Write};
use fnstore::exchange::jsonl::{JournalRecord, RecipeRecord, RecordWriter, ReleaseRecord, Scope};
use fnstore::expand::{Manifest, Shard};
use fnstore::internals::WithStore as _;
use fnstore::model::{AnnotationSetId, FrameId, LexUnit, LuId, RecipeId, Release};
use fnstore::transfer::ImportOptions;
use zstd::stream::AutoFinishEncoder;

const SETS: usize = 20_000;
const SHARDS: usize = 2;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let variable = |name: &str| std::env::var(name).ok();
    let number = |name: &str, otherwise: usize| -> Result<usize> {
        Ok(variable(name).map_or(Ok(otherwise), |text| text.parse())?)
    };
    let dir = variable("FNSTORE_BENCH_KEEP").map_or(temporary.path().to_owned(), PathBuf::from);
    fs::create_dir_all(&dir)?;
    let source = match variable("FNSTORE_BENCH_RELEASE") {
        Some(release) => release.into(),
        None => {
            let release = temporary.path().join("generated");
            common::generate(&release)?;
            release
        }
    };
    let (sets, shards) =
        (number("FNSTORE_BENCH_SETS", SETS)?, number("FNSTORE_BENCH_SHARDS", SHARDS)?);
    let (merged, base) = (dir.join("merged"), dir.join("base"));
    let import = |path: &Path| -> Result<(Database, Release)> {
        let database = Database::open_writer(path)?;
        let release = database.import(&source, &ImportOptions::default(), &mut |_| {})?.release;
        Ok((database, release))
    };
    import(&merged)?.0.store().compact()?;
    let files = match kept_shards(&dir, shards) {
        Ok(kept) => kept,
        Err(_) => {
            let (database, release) = import(&base)?;
            write_shards(&database, &release, (sets, shards), &dir)?
        }
    };
    let of_all: u64 = files.iter().map(|(_, count)| count).sum();
    println!("{of_all} made-up sets in {shards} shards into {}", source.display());
    println!(
        "{:<16} {:>9} {:>9} {:>14} {:>10} {:>10}",
        "shard", "sets", "seconds", "sets a second", "peak MB", "disk MB"
    );
    let killed = number("FNSTORE_BENCH_KILL", 0)?;
    let mut all = Merged::default();
    let mut last = Duration::ZERO;
    for (place, (file, count)) in (1..).zip(&files) {
        if place == killed {
            row("killed", 0, &all.add(merge(&merged, file, Some(last / 2))?));
        }
        let one = merge(&merged, file, None)?;
        last = one.time;
        row("new", *count, &all.add(one));
    }
    if let Some((file, count)) = files.first() {
        row("the first again", *count, &merge(&merged, file, None)?);
    }
    row("together", files.iter().map(|(_, count)| count).sum(), &all);
    println!("{:<16} {:>60.0} MB in the end", "", bytes_under(&merged) as f64 / 1e6);
    Ok(())
}

/// What merges have taken.
#[derive(Default, Clone, Copy)]
struct Merged {
    time: Duration,
    /// The most memory of a process, in bytes.
    peak: u64,
    /// The most bytes of the store at a moment.
    disk: u64,
}

impl Merged {
    /// Takes up one more; gives it back.
    fn add(&mut self, one: Self) -> Self {
        self.time += one.time;
        self.peak = self.peak.max(one.peak);
        self.disk = self.disk.max(one.disk);
        one
    }
}

fn row(name: &str, sets: u64, merged: &Merged) {
    let seconds = merged.time.as_secs_f64();
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    println!(
        "{name:<16} {sets:>9} {seconds:>9.2} {:>14.0} {:>10.0} {:>10.0}",
        sets as f64 / seconds,
        megabytes(merged.peak),
        megabytes(merged.disk)
    );
}

/// Bytes of all files under a directory; one that goes meanwhile has none.
fn bytes_under(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(of) if of.is_dir() => bytes_under(&entry.path()),
        Ok(of) => of.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

/// Times that a merge's memory is looked at between two looks at the disk.
const LOOKS: u32 = 40;

/// Merges a file by a process of its own, which is killed after a time if there is one.
fn merge(store: &Path, file: &Path, killed_after: Option<Duration>) -> Result<Merged> {
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .env("FNSTORE_DIR", store)
        .arg("merge")
        .arg(file)
        .stdout(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut merged = Merged::default();
    for look in 0_u32.. {
        // The kernel keeps the highest, so that looking now and then misses little.
        let high = fs::read_to_string(&status).ok().and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
        merged.peak = merged.peak.max(high.unwrap_or(0) * 1024);
        if look % LOOKS == 0 {
            merged.disk = merged.disk.max(bytes_under(store));
        }
        if killed_after.is_some_and(|after| begun.elapsed() >= after) {
            child.kill()?;
            child.wait()?;
            break;
        }
        if let Some(ended) = child.try_wait()? {
            if !ended.success() {
                return Err(format!("the merge of {} failed", file.display()).into());
            }
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    merged.time = begun.elapsed();
    merged.disk = merged.disk.max(bytes_under(store));
    Ok(merged)
}

/// The shards that an earlier run left, with their sets.
fn kept_shards(dir: &Path, shards: usize) -> Result<Vec<(PathBuf, u64)>> {
    let of_shard = |number| {
        let file = dir.join(format!("{number}-of-{shards}.zst"));
        let manifest: Manifest = serde_json::from_slice(&fs::read(Manifest::place(&file))?)?;
        Ok((file, manifest.sets))
    };
    (1..=shards).map(of_shard).collect()
}

/// A shard being written.
struct Open {
    file: PathBuf,
    lines: RecordWriter<AutoFinishEncoder<'static, BufWriter<File>>>,
    lexunits: HashSet<(FrameId, LuId)>,
    recipes: HashSet<RecipeId>,
    seeds: u64,
    sets: u64,
}

/// Writes made-up sets as shards: a chain to each in turn. Gives the files with their sets.
fn write_shards(
    database: &Database,
    release: &Release,
    (sets, shards): (usize, usize),
    dir: &Path,
) -> Result<Vec<(PathBuf, u64)>> {
    let mut open = Vec::new();
    for number in 1..=shards {
        let file = dir.join(format!("{number}-of-{shards}.zst"));
        let out = zstd::Encoder::new(BufWriter::new(File::create(&file)?), 3)?.auto_finish();
        let lines = RecordWriter::new(out, &ReleaseRecord::new(release, Scope::Additions))?;
        let (lexunits, recipes) = (HashSet::new(), HashSet::new());
        open.push(Open { file, lines, lexunits, recipes, seeds: 0, sets: 0 });
    }
    let mut synthetic = Synthetic::new(database, release.id, sets)?;
    let mut turn = 0;
    while let Some(write) = synthetic.frame()? {
        write_frame(database, release, write, &mut open, &mut turn)?;
    }
    let finish = |(number, open): (usize, Open)| -> Result<(PathBuf, u64)> {
        let Open { file, lines, sets, seeds, .. } = open;
        lines.finish()?;
        let bytes = fs::read(&file)?;
        let number = u32::try_from(number + 1)?;
        let manifest = Manifest {
            fnstore: env!("CARGO_PKG_VERSION").to_owned(),
            release: release.name.clone(),
            // Finds no seeds, so that none are compared.
            query: "round=1".to_owned(),
            all_seeds: blake3::hash(b"").to_hex().to_string(),
            left_in_all: 0,
            seeds_in_all: 0,
            revision: 0,
            recipe: String::new(),
            rounds: 10,
            shard: Shard { number, of: u32::try_from(shards)? },
            seeds,
            sets,
            lexunits: 0,
            bytes: bytes.len() as u64,
            blake3: blake3::hash(&bytes).to_hex().to_string(),
        };
        fs::write(Manifest::place(&file), serde_json::to_vec(&manifest)?)?;
        Ok((file, sets))
    };
    open.into_iter().enumerate().map(finish).collect()
}

fn write_frame(
    database: &Database,
    release: &Release,
    write: Write,
    open: &mut [Open],
    turn: &mut usize,
) -> Result<()> {
    let Write { lexunits, sentences, sets, journal, .. } = write;
    let store = database.store();
    let mut units: HashMap<(FrameId, LuId), LexUnit> =
        lexunits.into_iter().map(|unit| ((unit.frame, unit.id), unit)).collect();
    let proposed: HashSet<_> = units.keys().copied().collect();
    let mut rows: HashMap<AnnotationSetId, _> =
        sets.into_iter().zip(sentences).map(|(set, sentence)| (set.id, (sentence, set))).collect();
    let recipes = store.recipes()?;
    for row in journal {
        let at = *turn % open.len();
        *turn += 1;
        let to = &mut open[at];
        let (_, print, description) =
            recipes.iter().find(|(id, ..)| *id == row.recipe).ok_or("a recipe is gone")?;
        let recipe = RecipeRecord::new(*print, description.clone());
        if to.recipes.insert(row.recipe) {
            to.lines.recipe(row.recipe, &recipe)?;
        }
        for id in &row.entry.chain {
            let Some((sentence, set)) = rows.remove(id) else { continue };
            let key = (set.frame, set.lu);
            if let Entry::Vacant(place) = units.entry(key) {
                place.insert(store.lexunit(release.id, key.0, key.1)?.ok_or("an LU is gone")?);
            }
            let frame =
                store.frame(release.id, key.0)?.map_or_else(String::new, |frame| frame.name);
            let unit = &units[&key];
            if proposed.contains(&key) && to.lexunits.insert(key) {
                to.lines.lexunit(unit.clone(), &frame)?;
            }
            let text = sentence.text.clone();
            to.lines.sentence(sentence)?;
            to.lines.set(set, &frame, &unit.name, &text)?;
            to.sets += 1;
        }
        let (entry, recipe) = (row.entry, recipe.name().to_owned());
        let record =
            JournalRecord::new(row.seed, row.target, recipe, entry.round, entry.end, entry.chain);
        to.lines.journal(&record)?;
        to.seeds += 1;
    }
    Ok(())
}
