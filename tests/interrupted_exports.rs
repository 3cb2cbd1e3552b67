//! Exports that are ended, killed or started twice: what they leave, and what the next one finds.

#![cfg(unix)]

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli_program::{Ran, fnstore, new_store};

/// An export that takes its time, as a rewriter makes its tasks: under way, its file is begun.
fn slow_export(store: &Path, to: &Path) -> Child {
    slow_export_by(Command::new(env!("CARGO_BIN_EXE_fnstore")), store, to)
}

fn slow_export_by(mut command: Command, store: &Path, to: &Path) -> Child {
    let arguments = ["export", "--to", "alignment-task"];
    command.env("FNSTORE_DIR", store).args(arguments).arg(to);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while passing(to.parent().unwrap()).is_empty() {
        assert!(Instant::now() < end, "no file was begun");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// The passing names in a folder.
fn passing(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

fn signal(child: &Child, signal: &str) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn ctrl_c_and_sigterm_remove_what_is_not_whole() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let child = slow_export(store.path(), &folder.path().join("tasks"));
        signal(&child, name);
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(code), "{name}: {ran:?}");
        assert!(ran.stderr.contains("interrupted; no file was written"), "{name}: {}", ran.stderr);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn a_hang_up_ends_an_export_that_nohup_does_not_shield() {
    use std::os::unix::process::ExitStatusExt as _;
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    let place = folder.path().join("tasks");
    let mut child = slow_export(store.path(), &place);
    signal(&child, "-HUP");
    assert_eq!(child.wait().unwrap().signal(), Some(1));
    assert!(!place.exists());

    // In a folder of its own: what the first left there would pass for a file that the second
    // began, and the signal would come before `nohup` shields.
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("tasks");
    let mut nohup = Command::new("nohup");
    nohup.arg(env!("CARGO_BIN_EXE_fnstore")).stdin(Stdio::null());
    let child = slow_export_by(nohup, store.path(), &place);
    signal(&child, "-HUP");
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(place.is_file());
}

#[test]
fn what_a_killed_export_left_is_removed_by_the_next_into_the_folder() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    for kill in ["-KILL", "-HUP"] {
        let mut child = slow_export(store.path(), &folder.path().join("tasks"));
        signal(&child, kill);
        child.wait().unwrap();
        let other = folder.path().join("other.csv");
        let to = ["export", "--force", "--to", "csv", other.to_str().unwrap()];
        assert_eq!(fnstore(&to).code, Some(0));
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!((left.len(), passing(folder.path()).len()), (1, 0), "{kill}: {left:?}");
    }
}

#[test]
fn a_second_export_to_the_same_place_is_refused_and_others_are_not() {
    let (store, folder) = (new_store(), tempfile::tempdir().unwrap());
    let place = folder.path().join("tasks");
    let mut child = slow_export(store.path(), &place);
    for force in [&[][..], &["--force"]] {
        let to = ["export", "--to", "csv", place.to_str().unwrap()];
        let ran = fnstore(&[&to, force].concat());
        assert_eq!(ran.code, Some(75), "{ran:?}");
        assert!(ran.stderr.contains("another process writes it"), "{}", ran.stderr);
        assert!(ran.stderr.contains("(X-locked)"), "{}", ran.stderr);
    }
    let other = folder.path().join("other.csv");
    let to = ["export", "--to", "csv", other.to_str().unwrap()];
    assert_eq!(fnstore(&to).code, Some(0));
    assert_eq!(passing(folder.path()).len(), 1, "the first goes on");
    child.kill().unwrap();
    child.wait().unwrap();
    let to = ["export", "--to", "csv", place.to_str().unwrap()];
    assert_eq!(fnstore(&to).code, Some(0), "nobody writes it any more");
    assert_eq!(passing(folder.path()).len(), 0);
}

#[test]
fn a_directory_that_a_killed_export_left_is_removed_and_one_being_written_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let [left, written] = ["aB3xYz", "0123456789abcdef"].map(|letters| {
        let directory = folder.path().join(format!(".fnstore-export-{letters}"));
        std::fs::create_dir_all(directory.join("frame")).unwrap();
        std::fs::write(directory.join("frame/x.xml"), "<frame/>").unwrap();
        directory
    });
    let lock = File::open(&written).unwrap();
    lock.lock().unwrap();
    let place = folder.path().join("fndata");
    let to = ["export", "--to", "framenet-xml", place.to_str().unwrap()];
    assert_eq!(fnstore(&to).code, Some(0));
    assert!(!left.exists() && written.is_dir());
    assert!(place.join("frameIndex.xml").is_file());
}
