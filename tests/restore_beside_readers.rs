//! Whoever opens a store while a restore replaces it finds the old one or the new one, whole.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fnstore::database::Database;
use fnstore::upkeep::restore;

use crate::cli_program::{fnstore_in, mini_framenet, new_store};
use crate::mini;

/// Makes two backups of one store: one with a release and one with two.
fn backups(store: &Path, folder: &Path) {
    let backup = |name: &str| {
        let ran = fnstore_in(store, &["backup", folder.join(name).to_str().unwrap()]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    };
    backup("one");
    let release = mini_framenet();
    let ran = fnstore_in(store, &["import", release.to_str().unwrap(), "--release", "second"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    backup("two");
}

#[test]
fn readers_see_one_of_the_two_stores() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    backups(store.path(), folder.path());
    let content = |name: &str| {
        let place = folder.path().join(format!("{name}-restored"));
        restore(&folder.path().join(name), &place).unwrap();
        mini::content(&Database::open(&place).unwrap())
    };
    let expected = [content("one"), content("two")];
    let is_over = AtomicBool::new(false);
    let looks = std::thread::scope(|scope| {
        let reader = || {
            let mut looks = BTreeMap::new();
            let mut old: Option<Database> = None;
            while !is_over.load(Ordering::Relaxed) {
                let database = Database::open(store.path()).unwrap();
                let seen = mini::content(&database);
                let which = expected.iter().position(|content| *content == seen);
                *looks.entry(which.expect("a mixture of both")).or_insert(0) += 1;
                // The index, where one is found, is of the store that is read.
                let sets = mini::answers(&database, "trigger=look*").len();
                assert!([3, 6].contains(&sets), "{sets}");
                // A handle that lives on moves to what is there now.
                if let Some(old) = old.replace(database) {
                    old.refresh().unwrap();
                    assert!(expected.contains(&mini::content(&old)), "a mixture of both");
                }
            }
            looks
        };
        let readers = [scope.spawn(reader), scope.spawn(reader)];
        for turn in 0..30 {
            let backup = folder.path().join(if turn % 2 == 0 { "one" } else { "two" });
            let outcome = restore(&backup, store.path());
            if outcome.is_err() {
                is_over.store(true, Ordering::Relaxed);
            }
            outcome.unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        readers.map(|reader| reader.join().unwrap())
    });
    assert!(looks.iter().any(|looks| looks.len() == 2), "both were seen: {looks:?}");
}

/// A restore whose every sync takes a while, and readers beside it; `inject` makes system calls
/// fail.
fn restore_slowly(inject: &[&str]) {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    backups(store.path(), folder.path());
    let mut restore = Command::new("strace");
    restore.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync,renameat2"]);
    restore.args(["-e", "inject=fsync,fdatasync:delay_enter=100000"]).args(inject);
    restore.arg(env!("CARGO_BIN_EXE_fnstore")).args(["restore", "--yes"]);
    restore.arg(folder.path().join("one"));
    restore.env("FNSTORE_DIR", store.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut restore = match restore.spawn() {
        Ok(restore) => restore,
        Err(error) => {
            skipped!("`strace` does not run: {error}");
            return;
        }
    };
    let begun = Instant::now();
    let mut seen = BTreeMap::new();
    while restore.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(300), "the restore does not end");
        let ran = fnstore_in(store.path(), &["query", "--count"]);
        let error = if ran.code == Some(0) { String::new() } else { ran.stderr };
        *seen.entry(ran.stdout + &error).or_insert(0) += 1;
    }
    let output = restore.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && said.contains("PTRACE") {
        skipped!("`strace` may not trace here: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let strange: Vec<_> =
        seen.keys().filter(|count| !["42\n", "84\n"].contains(&count.as_str())).collect();
    assert!(strange.is_empty(), "{seen:?}");
    assert!(seen.contains_key("84\n"), "no reader came before the end: {seen:?}");
    assert_eq!(fnstore_in(store.path(), &["query", "--count"]).stdout, "42\n");
}

#[test]
fn readers_beside_a_slow_restore_find_a_store_at_every_moment() {
    restore_slowly(&[]);
}

#[test]
fn readers_wait_where_two_names_cannot_be_exchanged() {
    restore_slowly(&["-e", "inject=renameat2:error=EINVAL"]);
}
