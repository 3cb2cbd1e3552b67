//! `--threads`: how many threads compute, in every command.

use std::process::{Command, Stdio};

use crate::cli_program::{fnstore, fnstore_in, mini_framenet, new_store};

#[test]
fn no_threads_are_refused_wherever_they_are_asked_for() {
    for threads in ["0", "many", "70000"] {
        let ran = fnstore(&["query", "--count", "--threads", threads]);
        assert_eq!(ran.code, Some(2), "{threads}");
        assert!(ran.stderr.contains("--threads <N>"), "{}", ran.stderr);
    }
    let output = Command::new(env!("CARGO_BIN_EXE_fnstore"))
        .env("FNSTORE_THREADS", "0")
        .args(["releases", "--store", new_store().path().to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("0 is not in 1..=1024"));
}

#[test]
fn results_are_the_same_for_any_number() {
    let of = |threads: &str| {
        let dir = tempfile::tempdir().unwrap();
        let release = mini_framenet();
        let import = ["import", release.to_str().unwrap(), "--threads", threads];
        assert_eq!(fnstore_in(dir.path(), &import).code, Some(0));
        fnstore_in(dir.path(), &["query", "--threads", threads]).stdout
    };
    assert_eq!(of("1"), of("3"));
}

/// Threads of a process that are named as those of the pool are.
#[cfg(target_os = "linux")]
fn computing(process: u32) -> usize {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("compute-")).count()
}

#[cfg(target_os = "linux")]
#[test]
fn the_pool_has_as_many_threads_as_were_asked_for() {
    let store = new_store();
    for (variable, option, expected) in [("3", None, 3), ("3", Some("5"), 5)] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fnstore"))
            .env("FNSTORE_DIR", store.path())
            .env("FNSTORE_THREADS", variable)
            .args(["edit", "-"])
            .args(option.iter().flat_map(|threads| ["--threads", threads]))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It waits for its script, with the pool made.
        let mut tries = 0;
        while computing(child.id()) != expected && tries < 500 {
            std::thread::sleep(std::time::Duration::from_millis(10));
            tries += 1;
        }
        assert_eq!(computing(child.id()), expected);
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
}
