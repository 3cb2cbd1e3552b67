//! A first import that is interrupted says what it leaves.

#![cfg(unix)]

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::cli_program::{fnstore_in, mini_framenet};

#[test]
fn ctrl_c_ends_an_import_and_says_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    // Texts enough for the import to be at work when it is interrupted.
    let texts = dir.path().join("texts.jsonl");
    let line = |at: u32| {
        format!(
            "{{\"text\": \"text {at}\", \"spans\": [{{\"start\": 0, \"end\": 4, \"type\": \"T\"}}]}}\n"
        )
    };
    std::fs::write(&texts, (0..200_000).map(line).collect::<String>()).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .args(["import", "--spans", texts.to_str().unwrap()])
        .env("FNSTORE_DIR", &store)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It handles the signal from before it takes the lock. The store is made then, and empty.
    while !fnstore_in(&store, &["releases"]).stderr.starts_with("the store is empty") {
        std::thread::sleep(Duration::from_millis(2));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(
        said.contains("interrupted; nothing was imported, unless `fnstore releases`"),
        "{said}"
    );
    assert!(said.contains("; an empty store may be left"), "{said}");
    assert_eq!(fnstore_in(&store, &["releases"]).stdout, "");
    // Whoever asks it is told why nothing is found.
    for asked in [&["query", "frame=Checking"][..], &["query", "--count"], &["show", "frame", "X"]]
    {
        let ran = fnstore_in(&store, asked);
        assert_ne!(ran.code, Some(0), "{asked:?}");
        assert!(ran.stderr.starts_with("the store is empty; `fnstore import PATH`"), "{ran:?}");
    }
    let again = fnstore_in(&store, &["import", mini_framenet().to_str().unwrap()]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(fnstore_in(&store, &["query", "--count"]).stdout, "42\n");
    let check = fnstore_in(&store, &["check", "--deep", "--format", "table"]);
    assert!(check.stdout.contains("nothing is wrong"), "{check:?}");
    assert!(!check.stdout.contains("unfinished import"), "{check:?}");
}
