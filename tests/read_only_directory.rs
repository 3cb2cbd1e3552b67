//! A store on a disk that cannot be written is read; a writer says so, and works once the disk can
//! be.
//!
//! The disk is a small file system in memory, mounted read-only for a while, in a name space of the
//! test's own.

use std::process::Command;

use crate::cli_program::mini_framenet;

/// Arguments: the program, the release, a directory to mount on.
const SCRIPT: &str = r#"
set -u
fnstore=$0 release=$1 dir=$2
mount -t tmpfs -o size=64m none "$dir" || exit 99
export FNSTORE_DIR=$dir/store
"$fnstore" import "$release" --release first >/dev/null || exit 98
mount -o remount,ro "$dir" || exit 99
echo "count $("$fnstore" query --count)"
"$fnstore" check --deep && echo "check passed"
for command in "import $release --release second" reindex "restore $dir/none"; do
    "$fnstore" $command 2>&1 | sed "s/^/${command%% *}: /"
done
FNSTORE_DIR=$dir/new "$fnstore" import "$release" 2>&1 | sed 's/^/new: /'
[ -e "$dir/new" ] || echo "nothing new"
mount -o remount,rw "$dir"
"$fnstore" import "$release" --release second >/dev/null && echo "import worked"
FNSTORE_DIR=$dir/new "$fnstore" import "$release" >/dev/null && echo "first import worked"
echo "count $("$fnstore" query --count)"
"$fnstore" check --deep && echo "check passed again"
"#;

#[test]
fn a_directory_that_cannot_be_written_is_read_and_is_written_later() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", SCRIPT])
        .arg(env!("CARGO_BIN_EXE_fnstore"))
        .arg(mini_framenet())
        .arg(dir.path())
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(99) => output,
        _ => {
            skipped!("no name space of its own to mount in");
            return;
        }
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    let has = |line: &str| assert!(lines.contains(&line), "no `{line}` in {text}");
    has("count 42");
    has("check passed");
    for command in ["import", "reindex", "new"] {
        let start = format!("{command}: error: ");
        let line = lines.iter().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("no error of `{command}` in {text}"));
        assert!(line.contains("Read-only file system"), "{line}");
        assert!(line.contains("(S-io)"), "{line}");
    }
    for line in
        ["nothing new", "import worked", "first import worked", "count 84", "check passed again"]
    {
        has(line);
    }
}
