//! A disk that fills up ends a command with an error that says so; the store is as it was, and the next
//! command works once there is room.
//!
//! The disk is a small file system in memory, in a name space of the test's own.

use std::process::Command;

use crate::cli_program::mini_framenet;

/// Arguments: the program, the release, a directory to mount on, the KiB that are left after the
/// first import.
const SCRIPT: &str = r#"
set -u
fnstore=$0 release=$1 dir=$2 left=$3
mount -t tmpfs -o size=64m none "$dir" || exit 99
export FNSTORE_DIR=$dir/store
"$fnstore" import "$release" --release first >/dev/null || exit 98
used=$(df -k --output=used "$dir" | tail -n 1)
mount -o remount,size=$((used + left))k "$dir" || exit 99
for turn in $(seq 1000); do
    before=$("$fnstore" query --count)
    "$fnstore" import "$release" --release "turn-$turn" >/dev/null 2>/dev/shm/fnstore-$$
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

#[test]
fn a_full_disk_is_an_error_that_leaves_the_store_as_it_was() {
    // So little that the store does not open, and so much that it fills up in the middle of one of
    // several imports, in the store's files or the index's.
    for left in [8, 72, 160, 200, 330] {
        let dir = tempfile::tempdir().unwrap();
        let output = Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-c", SCRIPT])
            .arg(env!("CARGO_BIN_EXE_fnstore"))
            .arg(mini_framenet())
            .arg(dir.path())
            .arg(left.to_string())
            .output();
        let output = match output {
            Ok(output) if output.status.code() != Some(99) => output,
            _ => {
                println!("skipped: no name space of its own to mount in");
                return;
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.starts_with("code 2\nmessage error: "), "{left}: {output:?}");
        assert!(text.contains("No space left on device"), "{left}: {text}");
        assert!(text.contains("message hint: free some space and run it again"), "{left}: {text}");
        for line in [
            "count as before",
            "check passed",
            "later import worked",
            "count has grown",
            "check passed again",
        ] {
            assert!(text.lines().any(|printed| printed == line), "{left}: no `{line}` in {text}");
        }
    }
}
