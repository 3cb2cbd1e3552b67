//! The program, run as its user runs it, on a store of its own. Holds no test.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli_schema::faults_in;

/// The release that these tests import.
pub(crate) fn mini_framenet() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet")
}

/// What a run printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The JSON document that it printed, which the schema describes.
    pub(crate) fn document(&self, schema: &str) -> Value {
        let document = serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("{self:?}"));
        assert_eq!(faults_in(schema, &document), Vec::<String>::new());
        document
    }

    /// The records of JSON lines.
    pub(crate) fn records(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Runs the program on the store in `dir`.
pub(crate) fn fnstore_in(dir: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env_remove("NO_COLOR").env("FNSTORE_DIR", dir).args(arguments);
    Ran::of(command.output().unwrap())
}

/// Runs the program on a store that holds the mini lexicon and that no test writes.
pub(crate) fn fnstore(arguments: &[&str]) -> Ran {
    static STORE: OnceLock<PathBuf> = OnceLock::new();
    let dir = STORE.get_or_init(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-store");
        let _ = std::fs::remove_dir_all(&dir);
        import(&dir);
        dir
    });
    fnstore_in(dir, arguments)
}

/// A new store that holds the mini lexicon, for tests that write.
pub(crate) fn new_store() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    import(dir.path());
    dir
}

fn import(dir: &Path) {
    let ran = fnstore_in(dir, &["import", mini_framenet().to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}
