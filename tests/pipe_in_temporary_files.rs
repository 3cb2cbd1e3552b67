//! Whatever another user puts among the temporary files, a reader neither waits for it nor follows
//! it.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli_program::new_store;

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_a_link_or_a_directory_in_the_place_of_an_owner_holds_no_reader_up() {
    let (store, temporary) = (new_store(), tempfile::tempdir().unwrap());
    let named = |name: &str| temporary.path().join(format!("fnstore-reader-{name}"));
    pipe(&named("itself"));
    for name in ["pipe", "link", "link-to-pipe", "directory"] {
        fs::create_dir(named(name)).unwrap();
    }
    pipe(&named("pipe").join("owner"));
    fs::create_dir(named("directory").join("owner")).unwrap();
    fs::write(temporary.path().join("mine"), "mine").unwrap();
    symlink(temporary.path().join("mine"), named("link").join("owner")).unwrap();
    symlink(named("pipe").join("owner"), named("link-to-pipe").join("owner")).unwrap();
    symlink(named("pipe"), named("linked")).unwrap();
    let before = fs::read_dir(temporary.path()).unwrap().count();

    let mut reader = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .args(["query", "--count"])
        .env("FNSTORE_DIR", store.path())
        .env("TMPDIR", temporary.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while reader.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            reader.kill().unwrap();
            panic!("the reader waits");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(reader.wait_with_output().unwrap().stdout, b"42\n");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), before, "nothing was removed");
    assert_eq!(fs::read_to_string(temporary.path().join("mine")).unwrap(), "mine");
}
