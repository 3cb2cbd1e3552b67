//! Expansions and merges that are killed at random moments, again and again, end with the bytes of
//! a run that nobody disturbed. `FNSTORE_FULL_CRASH=1` kills each of them a hundred times.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fnstore::database::Database;
use fnstore::expand::{Manifest, Shard};
use fnstore::internals::WithStore as _;

use crate::cli_program::{Ran, fnstore_in, new_store};
use crate::crash::{SETS_A_WRITE, synthetic};
use crate::{generated, mini};

/// How often the process is killed.
fn kills() -> usize {
    if std::env::var_os("FNSTORE_FULL_CRASH").is_some() { 100 } else { 3 }
}

/// Kills of one store, after which the command comes to its end.
const KILLS_A_STORE: usize = 6;

fn ok(ran: Ran) -> Ran {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

fn export(store: &Path) -> String {
    ok(fnstore_in(store, &["export", "--to", "jsonl"])).stdout
}

/// A moment before a time, another one each time.
fn moment_before(time: Duration) -> Duration {
    let share = RandomState::new().hash_one(0) as f64 / u64::MAX as f64;
    time.mul_f64(share)
}

/// Runs the program and kills it after a time; whether it was killed before its end.
fn is_killed(store: &Path, arguments: &[&str], after: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .env("FNSTORE_DIR", store)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

/// Kills a command on copies of a store, and lets it come to its end, until it was killed often
/// enough. After each kill `is_whole` looks at the store. Gives what a run without a kill exports.
fn ends_alike(base: &Path, arguments: &[&str], is_whole: impl Fn(&Path)) -> String {
    let dir = tempfile::tempdir().unwrap();
    let undisturbed = dir.path().join("undisturbed");
    mini::copy(base, &undisturbed);
    let begun = Instant::now();
    ok(fnstore_in(&undisturbed, arguments));
    let (time, expected) = (begun.elapsed(), export(&undisturbed));
    assert!(expected != export(base), "the command writes something");
    let (mut killed, mut turn) = (0, 0);
    loop {
        turn += 1;
        let store = dir.path().join(format!("killed-{turn}"));
        mini::copy(base, &store);
        let before = killed;
        while killed < kills() && killed - before < KILLS_A_STORE {
            if !is_killed(&store, arguments, moment_before(time)) {
                break;
            }
            killed += 1;
            is_whole(&store);
        }
        ok(fnstore_in(&store, arguments));
        assert!(export(&store) == expected, "after {} kills", killed - before);
        is_whole(&store);
        fs::remove_dir_all(&store).unwrap();
        if killed >= kills() {
            return expected;
        }
    }
}

fn checked(store: &Path) {
    ok(fnstore_in(store, &["check", "--deep"]));
}

#[test]
fn an_expansion_that_is_killed_again_and_again_ends_with_the_bytes_of_one_run() {
    let base = new_store();
    let expand = ["expand", "lu=inspect.v or lu=audit.v or lu=check.v", "--model", "paraphrase"];
    let more = ["--beam", "4", "--rounds", "3"];
    ends_alike(base.path(), &[&expand[..], &more].concat(), checked);
}

#[test]
fn carried_sets_are_all_there_after_kills_too() {
    let base = new_store();
    let expand = ["expand", "origin=fulltext", "--model", "paraphrase", "--carry", "all"];
    let more = ["--beam", "4", "--rounds", "3"];
    let exported = ends_alike(base.path(), &[&expand[..], &more].concat(), checked);
    assert!(exported.contains("\"origin\":\"carried\""), "no set was carried");
}

/// Files of shards with some thousand made-up sets each, and their manifests.
fn made_up_shards(base: &Path, dir: &Path) -> Vec<PathBuf> {
    const SHARDS: u32 = 3;
    const WRITES: u64 = 40;
    let shard = |number: u32| {
        let store = dir.join(format!("store-{number}"));
        mini::copy(base, &store);
        let database = Database::open_writer(&store).unwrap();
        let release = database.release("mini-framenet").unwrap();
        generated::write(&database, release.id);
        let recipe = database.store().recipe([7; 16], "{}").unwrap();
        let first = u64::from(number) * WRITES;
        for write in first..first + WRITES {
            database.write(release.id, &synthetic(&database, &release, recipe, write)).unwrap();
        }
        let mut lines = Vec::new();
        database.export_jsonl(&"origin=generated".parse().unwrap(), false, &mut lines).unwrap();
        let file = dir.join(format!("{number}.jsonl"));
        fs::write(&file, &lines).unwrap();
        let manifest = Manifest {
            fnstore: String::new(),
            release: release.name,
            query: "frame=Checking".to_owned(),
            all_seeds: String::new(),
            seeds_in_all: 0,
            left_in_all: 0,
            revision: 0,
            recipe: "07".repeat(16),
            rounds: 1,
            shard: Shard { number, of: SHARDS },
            seeds: 1,
            sets: WRITES * SETS_A_WRITE,
            lexunits: 1,
            bytes: lines.len() as u64,
            blake3: blake3::hash(&lines).to_hex().to_string(),
        };
        fs::write(Manifest::place(&file), serde_json::to_vec(&manifest).unwrap()).unwrap();
        file
    };
    (1..=SHARDS).map(shard).collect()
}

#[test]
fn a_merge_that_is_killed_again_and_again_ends_with_the_bytes_of_one_merge() {
    let (base, dir) = (new_store(), tempfile::tempdir().unwrap());
    let files = made_up_shards(base.path(), dir.path());
    let count = |store: &Path| -> u64 {
        let ran = fnstore_in(store, &["query", "origin=generated", "--count"]);
        ran.stdout.trim().parse().unwrap_or_else(|_| panic!("{ran:?}"))
    };
    // Whole shards, one after the other.
    let mut counts = BTreeSet::from([count(base.path())]);
    let stepwise = dir.path().join("stepwise");
    mini::copy(base.path(), &stepwise);
    for file in &files {
        ok(fnstore_in(&stepwise, &["merge", "--mixed", file.to_str().unwrap()]));
        counts.insert(count(&stepwise));
    }
    assert_eq!(counts.len(), 1 + files.len());
    let names = files.iter().map(|file| file.to_str().unwrap());
    let merge: Vec<&str> = ["merge", "--mixed"].into_iter().chain(names).collect();
    ends_alike(base.path(), &merge, |store| {
        checked(store);
        let count = count(store);
        assert!(counts.contains(&count), "a shard is half there: {count} of {counts:?}");
    });
}
