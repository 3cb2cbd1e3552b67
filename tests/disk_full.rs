//! A disk that fills up ends a command with an error that says so; the store is as it was, and the
//! next command works once there is room.
//!
//! The disk is a small file system in memory, in a name space of the test's own. Where that is not
//! allowed a limit on the size of files (`RLIMIT_FSIZE`) stands in for it, which is tested in any
//! case.

use std::ffi::OsStr;
use std::process::Command;

use crate::cli_program::{fnstore, mini_framenet};

/// Arguments: the program, the release, a directory to mount on, the KiB that are left after the
/// first import, and what is imported until the disk is full.
const SCRIPT: &str = r#"
set -u
fnstore=$0 release=$1 dir=$2 left=$3
shift 3
mount -t tmpfs -o size=64m none "$dir" || exit 99
export FNSTORE_DIR=$dir/store
"$fnstore" import "$release" --release first >/dev/null || exit 98
used=$(df -k --output=used "$dir" | tail -n 1)
mount -o remount,size=$((used + left))k "$dir" || exit 99
for turn in $(seq 1000); do
    before=$("$fnstore" query --count)
    "$fnstore" import "$@" --release "turn-$turn" >/dev/null 2>/dev/shm/fnstore-$$
    code=$?
    [ $code = 0 ] || break
done
echo "code $code"
sed 's/^/message /' /dev/shm/fnstore-$$; rm /dev/shm/fnstore-$$
[ "$("$fnstore" query --count)" = "$before" ] && echo "count as before"
"$fnstore" check --deep && echo "check passed"
mount -o remount,size=64m "$dir"
"$fnstore" import "$release" --release later >/dev/null && echo "later import worked"
[ "$("$fnstore" query --count)" = "$((before + 42))" ] && echo "count has grown"
"$fnstore" check --deep && echo "check passed again"
"#;

/// Arguments: the program, the release, the store's directory, the KiB that a file may have, and
/// what is imported with it.
const LIMITED: &str = r#"
set -u
fnstore=$0 release=$1 dir=$2 limit=$3
shift 3
export FNSTORE_DIR=$dir/store
"$fnstore" import "$release" --release first >/dev/null || exit 98
before=$("$fnstore" query --count)
# In units of 512 bytes; without the signal, writing fails as on a full disk.
(trap '' XFSZ; ulimit -f $((limit * 2)); exec "$fnstore" import "$@") >/dev/null 2>"$dir/said"
echo "code $?"
sed 's/^/message /' "$dir/said"
[ "$("$fnstore" query --count)" = "$before" ] && echo "count as before"
"$fnstore" check --deep && echo "check passed"
"$fnstore" import "$release" --release later >/dev/null && echo "later import worked"
[ "$("$fnstore" query --count)" = "$((before + 42))" ] && echo "count has grown"
"$fnstore" check --deep && echo "check passed again"
"#;

/// What the scripts print when all is well, from the error on.
fn assert_as_it_was(text: &str, error: &str, hint: &str) {
    assert!(text.starts_with("code 74\nmessage error: "), "{text}");
    assert!(text.contains(error), "{text}");
    assert!(text.contains(&format!("message hint: {hint}")), "{text}");
    for line in [
        "count as before",
        "check passed",
        "later import worked",
        "count has grown",
        "check passed again",
    ] {
        assert!(text.lines().any(|printed| printed == line), "no `{line}` in {text}");
    }
}

/// Fills a disk with imports until one fails; says whether that was to be had here.
fn fill(left: u32, imported: &[&OsStr]) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", SCRIPT])
        .arg(env!("CARGO_BIN_EXE_fnstore"))
        .arg(mini_framenet())
        .arg(dir.path())
        .arg(left.to_string())
        .args(imported)
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(99) => output,
        _ => {
            skipped!("no name space of its own to mount in; files are limited instead");
            return false;
        }
    };
    println!("{imported:?} into a file system in memory with {left} KiB left");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_as_it_was(&text, "No space left on device", "free some space and run it again");
    true
}

#[test]
fn a_full_disk_is_an_error_that_leaves_the_store_as_it_was() {
    // So little that the store does not open, and so much that it fills up in the middle of one of
    // several imports, in the store's files or the index's.
    let release = mini_framenet();
    for left in [8, 72, 160, 200, 330] {
        if !fill(left, &[release.as_os_str()]) {
            return;
        }
    }
}

#[test]
fn a_full_disk_ends_imports_of_other_formats_alike() {
    let dir = tempfile::tempdir().unwrap();
    let (lines, texts) = (dir.path().join("release.jsonl"), dir.path().join("texts.jsonl"));
    let ran = fnstore(&["export", "--to", "jsonl", lines.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    std::fs::write(&texts, labelled_texts(800)).unwrap();
    for left in [72, 200, 330] {
        if !(fill(left, &[lines.as_os_str()])
            && fill(left, &[OsStr::new("--spans"), texts.as_os_str()]))
        {
            return;
        }
    }
}

/// Arguments: the program, the release, a directory to mount on, the KiB of the disk at first.
const FIRST: &str = r#"
set -u
fnstore=$0 release=$1 dir=$2 size=$3
mount -t tmpfs -o size=${size}k none "$dir" || exit 99
export FNSTORE_DIR=$dir/store
"$fnstore" import "$release" --release first >/dev/null 2>/dev/shm/fnstore-$$
echo "code $?"
sed 's/^/message /' /dev/shm/fnstore-$$; rm /dev/shm/fnstore-$$
"$fnstore" query --count 2>&1 | sed 's/^/query /'
ls "$dir/store" | sed 's/^/left /'
mount -o remount,size=64m "$dir"
"$fnstore" import "$release" --release first >/dev/null && echo "later import worked"
echo "count $("$fnstore" query --count)"
"$fnstore" check --deep && echo "check passed"
"#;

#[test]
fn a_first_import_that_fills_the_disk_leaves_no_store() {
    for size in [40, 100, 150, 170, 200] {
        let dir = tempfile::tempdir().unwrap();
        let output = Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-c", FIRST])
            .arg(env!("CARGO_BIN_EXE_fnstore"))
            .arg(mini_framenet())
            .arg(dir.path())
            .arg(size.to_string())
            .output();
        let output = match output {
            Ok(output) if output.status.code() != Some(99) => output,
            _ => {
                skipped!("no name space of its own to mount in");
                return;
            }
        };
        println!("a file system in memory of {size} KiB");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with("code 74\nmessage error: "), "{text}");
        assert!(text.contains("No space left on device"), "{text}");
        assert!(text.contains("message hint: free some space and run it again"), "{text}");
        assert!(text.contains("query error: there is no store in"), "{text}");
        let left: Vec<&str> = text.lines().filter(|line| line.starts_with("left ")).collect();
        assert!(left.iter().all(|name| *name != "left index"), "{text}");
        for line in ["later import worked", "count 42", "check passed"] {
            assert!(text.lines().any(|printed| printed == line), "no `{line}` in {text}");
        }
    }
}

/// Span-labelled texts of words that no two share, so that files get long.
fn labelled_texts(number: u64) -> String {
    let word = |at: u64| format!("{:x}", at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let text = |at: u64| (0..6).map(|turn| word(at * 6 + turn)).collect::<Vec<_>>().join(" ");
    let span = r#"{"start": 0, "end": 3, "type": "T"}"#;
    (1..=number)
        .map(|at| format!("{{\"text\": \"{}\", \"spans\": [{span}]}}\n", text(at)))
        .collect()
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_is_an_error_that_leaves_the_store_as_it_was() {
    // Shorter than what opening the store writes, and than a table of what is imported.
    for limit in [2, 24, 112, 300] {
        let dir = tempfile::tempdir().unwrap();
        let texts = dir.path().join("texts.jsonl");
        std::fs::write(&texts, labelled_texts(6_000)).unwrap();
        let output = Command::new("sh")
            .args(["-c", LIMITED])
            .arg(env!("CARGO_BIN_EXE_fnstore"))
            .arg(mini_framenet())
            .arg(dir.path())
            .args([&limit.to_string(), "--spans", "--release", "turn"])
            .arg(&texts)
            .output()
            .unwrap();
        println!("files of {limit} KiB at most");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_as_it_was(&text, "File too large", "raise the limit on the size of files");
    }
}
