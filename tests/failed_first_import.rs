//! A first import that fails removes the store that it made while nobody else can write it:
//! processes that wait for the lock beside it lose nothing that was acknowledged to them.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fnstore::database::{Database, DatabaseError};
use fnstore::store::StoreError;
use fnstore::transfer::ImportOptions;

use crate::mini;

/// Failing first imports, each beside processes that import.
const ROUNDS: usize = 12;

fn import(store: &Path, name: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["import", mini::framenet().to_str().unwrap(), "--release", name]).args(more);
    command.env("FNSTORE_DIR", store).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Tries again as long as another process has the lock, as scripts do.
fn import_at_last(store: &Path, name: &str) {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let code = import(store, name, &[]).status().unwrap().code();
        match code {
            Some(0) => return,
            Some(75) => assert!(Instant::now() < until, "the lock is never free"),
            code => panic!("{name}: {code:?}"),
        }
    }
}

fn end(mut child: Child) -> Option<i32> {
    child.wait().unwrap().code()
}

#[test]
fn processes_that_try_again_beside_a_failing_first_import_lose_nothing() {
    for round in 0..ROUNDS {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store");
        std::thread::scope(|scope| {
            let failing: Vec<Child> = (0..2)
                .map(|at| import(&store, &format!("failing-{at}"), &["--strict"]).spawn().unwrap())
                .collect();
            for name in ["one", "two"] {
                scope.spawn(|| import_at_last(&store, name));
            }
            for child in failing {
                let code = end(child);
                assert!(matches!(code, Some(65 | 75)), "round {round}: {code:?}");
            }
        });
        let database = Database::open(&store).unwrap();
        let mut names: Vec<String> =
            database.releases().unwrap().into_iter().map(|release| release.name).collect();
        names.sort();
        assert_eq!(names, ["one", "two"], "round {round}: an acknowledged import is lost");
        assert_eq!(mini::answers(&database, "").len(), 84, "round {round}");
    }
}

#[test]
fn only_a_store_that_this_handle_made_and_never_committed_to_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let names = || {
        let entries =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let strict = ImportOptions { strict: true, ..ImportOptions::default() };
    let database = Database::open_writer(dir.path()).unwrap();
    let refused = database.import(&mini::framenet(), &strict, &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("warnings count as errors"), "{refused}");
    assert!(database.discard_if_new().unwrap());
    assert_eq!(names(), ["writer.lock"]);
    let absent = Database::open(dir.path()).map(drop).unwrap_err();
    assert!(matches!(absent, DatabaseError::Store(StoreError::Absent { .. })), "{absent}");
    // Made, and committed to.
    let database = Database::open_writer(dir.path()).unwrap();
    mini::import(&database, &mini::framenet()).unwrap();
    assert!(!database.discard_if_new().unwrap());
    // There before, though empty of late.
    let database = Database::open_writer(dir.path()).unwrap();
    assert!(!database.discard_if_new().unwrap());
    assert_eq!(mini::answers(&Database::open(dir.path()).unwrap(), "").len(), 42);
    // A reader removes nothing.
    assert!(!Database::open(dir.path()).unwrap().discard_if_new().unwrap());
    assert_eq!(names(), ["db", "index", "writer.lock"]);
}
