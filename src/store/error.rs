//! What can go wrong in a store; RocksDB's errors are turned into these here and nowhere else.
//!
//! Every message ends in its code. What a check would find has the check's code (`C-...`); the
//! others begin with `S-`. `schema/check.md` lists both.

use std::path::PathBuf;

use super::lock::Holder;
use super::record::{LIMIT, TooLarge};
use crate::model::hexadecimal;
use crate::text::shortened;

/// A store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store at the path.
    #[error(
        "there is no store in `{}`; make one with `fnstore import PATH`, or name another \
         (S-absent)",
        path.display()
    )]
    Absent {
        /// The path.
        path: PathBuf,
    },
    /// Another process is writing.
    #[error(
        "the store in `{}` is being written by {holder}; wait until it ends (S-locked)",
        path.display()
    )]
    Locked {
        /// The path.
        path: PathBuf,
        /// Who holds it.
        holder: Holder,
    },
    /// The store's format is not one that this build reads.
    #[error(
        "the store in `{}` has format {found} (last written by fnstore {written_by}), this build \
         reads format {supported}; use fnstore {written_by} or newer (S-format)",
        path.display()
    )]
    Format {
        /// The path.
        path: PathBuf,
        /// The store's format, `major.minor`.
        found: String,
        /// What this build reads.
        supported: String,
        /// The version that wrote the store last.
        written_by: String,
    },
    /// A link lies among the files of the store.
    #[error(
        "`{}` is a link, and a store is made of files of its own; remove the link, or copy the \
         store with its files (S-link)",
        path.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A file of the store cannot be read or written.
    #[error("cannot use `{}` (S-io)", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A reader has no place for its temporary files.
    #[error(
        "cannot make a reader's directory in `{}`; name a directory that can be written in the \
         variable `TMPDIR` (S-scratch)",
        path.display()
    )]
    Scratch {
        /// Where it was to be made.
        path: PathBuf,
        /// Why it was not.
        source: std::io::Error,
    },
    /// Commits that were acknowledged are not in the store.
    #[error(
        "the store in `{}` is at revision {found}, and revision {acknowledged} was acknowledged: the \
         log that held the commits between is damaged; restore a backup with `fnstore restore DIR`, \
         or go on with what is left by `fnstore reindex` (C-commits-lost)",
        path.display()
    )]
    CommitsLost {
        /// The store's directory.
        path: PathBuf,
        /// The store's revision.
        found: u64,
        /// The last revision that a writer acknowledged.
        acknowledged: u64,
    },
    /// The storage engine failed.
    #[error(
        "the storage engine failed while {action}: {reason}{} ({})",
        advice(.reason),
        engine_code(.action, .reason)
    )]
    Engine {
        /// What was being done.
        action: &'static str,
        /// The engine's own words.
        reason: String,
    },
    /// A file is missing or cannot be opened without which rows cannot be read.
    #[error(
        "rows of `{family}` are lost: `{}` is missing or damaged, or another table of that family; \
         restore a backup with `fnstore restore DIR` (C-open)",
        path.display()
    )]
    FileLost {
        /// The file, or one of those that it keeps from being read.
        path: PathBuf,
        /// The column family whose rows were in it.
        family: String,
    },
    /// A key or a record is not what the format says.
    #[error(
        "damaged {family} record {key}: {reason}; `fnstore check` lists what is damaged, and \
         `fnstore restore DIR` brings a backup back (C-record)"
    )]
    Damaged {
        /// The column family.
        family: &'static str,
        /// The key, hexadecimal.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A record is so large that it could not be read again.
    #[error(
        "the {family} record of `{}` has {bytes} bytes, and takes more than {limit} MiB \
         when it is read; spread {} (E-record-size)",
        shortened(.name),
        several(.family)
    )]
    TooLarge {
        /// The column family.
        family: &'static str,
        /// What the record is called: a name or an id.
        name: String,
        /// Bytes of its value.
        bytes: usize,
        /// MiB that a record may take.
        limit: usize,
    },
    /// A write needs the writer's handle.
    #[error("the store was opened for reading; open it for writing (S-read-only)")]
    ReadOnly,
}

/// What was being done when a store did not open.
pub(super) const OPENING: &str = "opening the store";

/// Whether RocksDB's words say that a file is not what was written.
fn is_damage(reason: &str) -> bool {
    reason.starts_with("Corruption")
}

fn advice(reason: &str) -> &'static str {
    if !is_damage(reason) {
        return "";
    }
    "; `fnstore check` says what is damaged, and `fnstore restore DIR` brings a backup back"
}

fn engine_code(action: &str, reason: &str) -> &'static str {
    match (is_damage(reason), action == OPENING) {
        (true, true) => "C-open",
        (true, false) => "C-unreadable",
        (false, _) => "S-engine",
    }
}

impl StoreError {
    /// The code that the message ends in, as in `S-locked`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Absent { .. } => "S-absent",
            Self::Locked { .. } => "S-locked",
            Self::Format { .. } => "S-format",
            Self::Link { .. } => "S-link",
            Self::Io { .. } => "S-io",
            Self::Scratch { .. } => "S-scratch",
            Self::CommitsLost { .. } => "C-commits-lost",
            Self::Engine { action, reason } => engine_code(action, reason),
            Self::FileLost { .. } => "C-open",
            Self::Damaged { .. } => "C-record",
            Self::TooLarge { .. } => "E-record-size",
            Self::ReadOnly => "S-read-only",
        }
    }

    pub(super) fn engine(action: &'static str) -> impl Fn(rocksdb::Error) -> Self {
        move |error| Self::Engine { action, reason: error.into_string() }
    }

    pub(super) fn too_large(family: &'static str, name: impl ToString, large: TooLarge) -> Self {
        let TooLarge { bytes } = large;
        Self::TooLarge { family, name: name.to_string(), bytes, limit: LIMIT >> 20 }
    }

    pub(super) fn damaged(family: &'static str, key: &[u8], reason: impl ToString) -> Self {
        Self::Damaged { family, key: hexadecimal(key), reason: reason.to_string() }
    }
}

/// What is to be spread over several records where one is too large.
fn several(family: &str) -> &'static str {
    match family {
        "document" => "its sentences over several documents",
        "lexunit" => "its valence patterns over several lexical units",
        "sentence" => "its text over several sentences",
        "annotation" | "sentence_layers" => "its labels over several annotation sets",
        _ => "what it holds over several records",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_of_each() -> Vec<StoreError> {
        let path = || PathBuf::from("store");
        let io = || std::io::Error::other("why");
        let engine =
            |action, reason: &str| StoreError::Engine { action, reason: reason.to_owned() };
        vec![
            StoreError::Absent { path: path() },
            StoreError::Locked { path: path(), holder: Holder::default() },
            StoreError::Format {
                path: path(),
                found: "2.0".to_owned(),
                supported: "1.2".to_owned(),
                written_by: "9.0.0".to_owned(),
            },
            StoreError::Io { path: path(), source: io() },
            StoreError::Scratch { path: path(), source: io() },
            StoreError::CommitsLost { path: path(), found: 1, acknowledged: 2 },
            engine(OPENING, "Corruption: bad magic number"),
            engine("scanning records", "Corruption: block checksum mismatch"),
            engine("committing", "IO error: No space left on device"),
            StoreError::FileLost { path: path(), family: "frame".to_owned() },
            StoreError::damaged("frame", &[1, 2], "no record"),
            StoreError::too_large("document", "train", TooLarge { bytes: 1 << 30 }),
            StoreError::ReadOnly,
        ]
    }

    #[test]
    fn every_message_ends_in_its_code_and_the_schema_page_lists_it() {
        let page = include_str!("../../schema/check.md");
        for error in one_of_each() {
            let (message, code) = (error.to_string(), error.code());
            assert!(message.ends_with(&format!(" ({code})")), "{message}");
            assert!(page.contains(&format!("| `{code}` | ")), "schema/check.md lacks {code}");
        }
    }

    #[test]
    fn damage_is_told_with_what_helps() {
        for error in one_of_each() {
            let message = error.to_string();
            let helps = ["`fnstore check`", "`fnstore restore DIR`"];
            let is_told = helps.iter().any(|command| message.contains(command));
            assert_eq!(is_told, error.code().starts_with("C-"), "{message}");
        }
    }
}
