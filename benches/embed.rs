//! What does a tool wait for that holds a store: the first answer, all answers as owned values, a
//! save, an undo? And how much does the history of edits take?
//!
//! `FNSTORE_BENCH_STORE=STORE cargo bench --profile release --bench embed` on a copy of the store;
//! without one, on a generated release.

#![allow(clippy::print_stdout, reason = "a bench prints what it measured")]

#[allow(dead_code, reason = "each bench uses a part of it")]
mod common;

/// As in the program, and as the guide says to a tool.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::BenchStore;
use fnstore::database::DatabaseError;
use fnstore::internals::WithStore as _;
use fnstore::model::AnnotationSet;
use fnstore::query::Selection;
use fnstore::{Database, Expression, Release};

/// The median of so many runs is shown.
const RUNS: usize = 21;

/// Records of the commit that is undone.
const EDITED: usize = 10_000;

/// Says to this program that it is a process of its own, which holds nothing yet, and what it
/// measures.
const ALONE: &str = "FNSTORE_BENCH_ALONE";

fn main() -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    if let Ok(what) = std::env::var(ALONE) {
        let store = std::env::args_os().nth(1).ok_or("a store is named")?;
        return alone(&what, Path::new(&store), begun);
    }
    let bench = BenchStore::open()?;
    let copy = tempfile::tempdir()?;
    let store = copy.path().join("store");
    copy_folder(&bench.path, &store)?;
    println!("on {}", bench.what);
    first_answers(&store)?;
    for what in [ONE_THREAD, ALL_THREADS] {
        print!("{}", in_process(what, &store)?);
    }
    saves(&store)?;
    undo(&store)
}

const FIRST: &str = "first answer";
const ONE_THREAD: &str = "all answers by one thread";
const ALL_THREADS: &str = "all answers by all threads";

/// What a process of its own measures.
fn alone(what: &str, store: &Path, begun: Instant) -> Result<(), Box<dyn Error>> {
    let database = Arc::new(Database::open(store)?);
    match what {
        FIRST => {
            database.query(&Expression::parse("")?)?.next().ok_or("the store is empty")??;
            println!("{}", begun.elapsed().as_micros());
            Ok(())
        }
        ONE_THREAD => by_one_thread(&database),
        _ => by_all_threads(&database),
    }
}

/// What a process of its own prints.
fn in_process(what: &str, store: &Path) -> Result<String, Box<dyn Error>> {
    let exe = std::env::current_exe()?;
    let output = Command::new(exe).env(ALONE, what).arg(store).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Opening and one answer, in processes of their own.
fn first_answers(store: &Path) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let micros: u64 = in_process(FIRST, store)?.trim().parse()?;
        times.push(Duration::from_micros(micros));
    }
    println!("open and first answer, a fresh process: {:.1} ms", median(times));
    Ok(())
}

/// All answers that own their hold on the store, one after the other.
fn by_one_thread(database: &Arc<Database>) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let (mut count, mut letters) = (0_u64, 0_usize);
    for answer in database.answers(&Expression::parse("")?, &Selection::default())? {
        letters += answer?.sentence.text.len();
        count += 1;
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!("{count} owned answers ({letters} bytes of text): {seconds:.2} s, {}", memory());
    Ok(())
}

/// All answers as owned values, in order, made by all threads.
fn by_all_threads(database: &Database) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let (mut count, mut letters) = (0_u64, 0_usize);
    database.fold_answers(
        &Expression::parse("")?,
        Vec::new,
        |some, answer| {
            some.push(answer);
            Ok::<_, DatabaseError>(())
        },
        |some| {
            count += some.len() as u64;
            letters += some.iter().map(|answer| answer.sentence.text.len()).sum::<usize>();
            Ok(())
        },
    )?;
    let (seconds, threads) = (begun.elapsed().as_secs_f64(), rayon::current_num_threads());
    println!(
        "{count} owned answers ({letters} bytes of text), by {threads} threads: {seconds:.2} s, {}",
        memory()
    );
    Ok(())
}

/// An edited set beside a reader: through a writer or an editor that stays open, and through an
/// editor that is opened for it.
fn saves(store: &Path) -> Result<(), Box<dyn Error>> {
    let reader = Database::open(store)?;
    for (what, open) in [
        ("a writer that stays open", Database::open_existing_writer as fn(&Path) -> _),
        ("an editor that stays open", Database::open_editor),
    ] {
        let database = open(store)?;
        let (release, set) = first_sets(&database, 1)?.remove(0);
        let mut times = Vec::new();
        for run in 0..RUNS {
            let begun = Instant::now();
            edit(&database, &release, &[(run, &set)])?;
            times.push(begun.elapsed());
            reader.refresh()?;
        }
        println!("a save through {what}: {:.1} ms", median(times));
    }
    let mut times = Vec::new();
    let (release, set) = first_sets(&reader, 1)?.remove(0);
    for run in 0..RUNS {
        let begun = Instant::now();
        edit(&Database::open_editor(store)?, &release, &[(run, &set)])?;
        times.push(begun.elapsed());
        reader.refresh()?;
    }
    println!("a save through an editor opened for it: {:.1} ms", median(times));
    kept_saves(store)
}

/// Edits through a reader's handle that keeps its editor, the first of which opens it.
fn kept_saves(store: &Path) -> Result<(), Box<dyn Error>> {
    let reader = Database::open(store)?;
    reader.keep_writer(Duration::from_secs(60));
    let (release, set) = first_sets(&reader, 1)?.remove(0);
    let mut times = Vec::new();
    for run in 0..RUNS {
        let begun = Instant::now();
        reader.edit(|editor| edit(editor, &release, &[(run, &set)]))?;
        times.push(begun.elapsed());
    }
    println!("the first save through a reader: {:.1} ms", median(vec![times.remove(0)]));
    println!("a save through a reader that keeps its editor: {:.1} ms", median(times));
    Ok(())
}

/// A commit of many records and its undo, and what both leave on the disk.
fn undo(store: &Path) -> Result<(), Box<dyn Error>> {
    let database = Database::open_existing_writer(store)?;
    let sets = first_sets(&database, EDITED)?;
    let release = sets[0].0.clone();
    let of_one: Vec<_> = sets.iter().filter(|(of, _)| of.id == release.id).collect();
    let numbered: Vec<_> = of_one.iter().enumerate().map(|(at, (_, set))| (at, set)).collect();
    let before = history(&database)?;
    edit(&database, &release, &numbered)?;
    let revision = database.revision()?;
    let begun = Instant::now();
    database.undo(&[revision], "a measurement")?;
    let seconds = begun.elapsed().as_secs_f64();
    println!("undo of {} edited sets: {seconds:.2} s", numbered.len());
    // Both commits keep what each set held before.
    let kept = history(&database)?.saturating_sub(before) / 2;
    let changed = packed(&database, "annotation")? * numbered.len() as u64;
    println!("history of a commit: {kept} bytes, packed; its {changed} bytes of sets, packed");
    Ok(())
}

/// Bytes of the families that keep what was, once they are packed.
fn history(database: &Database) -> Result<u64, Box<dyn Error>> {
    database.store().compact()?;
    let sizes = database.store().family_sizes()?.into_iter();
    Ok(sizes.filter(|of| ["before", "commit"].contains(&of.family)).map(|of| of.bytes).sum())
}

/// Bytes of a row of a family, on average.
fn packed(database: &Database, family: &str) -> Result<u64, Box<dyn Error>> {
    let mut sizes = database.store().family_sizes()?.into_iter();
    let of = sizes.find(|of| of.family == family).ok_or("no such family")?;
    Ok(of.bytes / of.rows.max(1))
}

/// Gives sets another status each, in one commit.
fn edit(
    database: &Database,
    release: &Release,
    sets: &[(usize, &AnnotationSet)],
) -> Result<(), Box<dyn Error>> {
    let mut edits = database.transaction(release)?;
    for (number, set) in sets {
        let status = format!("MANUAL{number}");
        edits.set_annotation_set(AnnotationSet { status, ..(*set).clone() })?;
    }
    edits.commit()?;
    Ok(())
}

/// The first sets of a store, with their releases.
fn first_sets(
    database: &Database,
    most: usize,
) -> Result<Vec<(Release, AnnotationSet)>, Box<dyn Error>> {
    let query = Expression::parse("origin!=generated")?;
    let answers = database.query(&query)?.without_sentences().take(most);
    answers
        .map(|answer| answer.map(|of| ((*of.release).clone(), of.set)).map_err(Into::into))
        .collect()
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &place)?,
            false => drop(fs::copy(entry.path(), place)?),
        }
    }
    Ok(())
}

/// The most memory that this process had, where the system tells.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(String::new, |most| format!("at most {}", most.trim()))
}

/// The median, in milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
