//! What can go wrong in a store; RocksDB's errors are turned into these here and nowhere else.
//!
//! Every message ends in its code. What a check would find has the check's code (`C-...`); the
//! others begin with `S-`. `schema/check.md` lists both.

use std::path::PathBuf;

use super::lock::Holder;
use super::record::{LIMIT, Unwritable};
use super::row_fault::record_name;
use crate::model::{Coded as _, ErrorKind, Trouble, coded, hexadecimal, shortage};
use crate::text::shortened;

/// A store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store at the path.
    #[error(
        "there is no store in `{}`; make one, or name another (S-absent)",
        path.display()
    )]
    Absent {
        /// The path.
        path: PathBuf,
    },
    /// Something else is at the path.
    #[error("`{}` is no store: {reason} (S-not-a-store)", path.display())]
    NotAStore {
        /// The path.
        path: PathBuf,
        /// What is there, and what was expected.
        reason: String,
    },
    /// The store is not the one that somebody has followed: a restore has taken its place, or lost
    /// commits were accepted.
    #[error(
        "the store in `{}` was replaced: what was followed is generation {followed}, and it is {} \
         now; read it anew, from revision 0 on (S-replaced)",
        path.display(),
        found.as_deref().unwrap_or("one without a generation")
    )]
    Replaced {
        /// The store's directory.
        path: PathBuf,
        /// The generation that was followed.
        followed: String,
        /// The store's own, where it has one.
        found: Option<String>,
    },
    /// Changes are asked for since a revision that the store has not reached.
    #[error(
        "revision {since} is not in the store in `{}`, whose last one is {last}: it is another \
         store's, or this one was replaced; read it anew, from revision 0 on (S-beyond)",
        path.display()
    )]
    BeyondEnd {
        /// The store's directory.
        path: PathBuf,
        /// The revision asked for.
        since: u64,
        /// The store's last one.
        last: u64,
    },
    /// Another process is writing.
    #[error(
        "the store in `{}` is being written by {holder}; wait until that ends (S-locked)",
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
        "the store in `{}` has format {}.{} (last written by fnstore {written_by}), this build \
         reads format {}.{}; {} ({})",
        path.display(),
        found.0,
        found.1,
        supported.0,
        supported.1,
        way_over(*found, *supported, written_by),
        format_code(*found, *supported)
    )]
    Format {
        /// The path.
        path: PathBuf,
        /// The store's format, major and minor.
        found: (u16, u16),
        /// What this build reads.
        supported: (u16, u16),
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
         log that held the commits between is damaged; restore a backup, or build the index anew to \
         go on with what is left (C-commits-lost)",
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
        of_engine(.action, .reason).code.unwrap_or_default()
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
         restore a backup (C-open)",
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
        "damaged {family} record {}: {reason}; remove it, or restore a backup (C-record)",
        place(.name, .key)
    )]
    Damaged {
        /// The column family.
        family: &'static str,
        /// The record as its key names it, as in `set x12`; empty where the key tells nothing.
        name: String,
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
    /// A record could not be read again.
    #[error(
        "the {family} record of `{}` could not be read again: {reason}; nothing was written \
         (E-record)",
        shortened(.name)
    )]
    Invalid {
        /// The column family.
        family: &'static str,
        /// What the record is called: a name or an id.
        name: String,
        /// What its reader would say.
        reason: String,
    },
    /// A write needs the writer's handle.
    #[error("the store was opened for reading; edit it, or open it for writing (S-read-only)")]
    ReadOnly,
}

/// What was being done when a store did not open.
pub(super) const OPENING: &str = "opening the store";

/// What RocksDB's words tell of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Room, files or memory are short, and the code; what was written before is as it was.
    Resource(&'static str),
    /// Another program has RocksDB's own lock.
    Lock,
    /// A file is gone, or is not what was written.
    Damage,
    Other,
}

fn fault(reason: &str) -> Fault {
    let has = |words: &[&str]| words.iter().any(|words| reason.contains(words));
    if let Some(code) = shortage(reason) {
        Fault::Resource(code)
    } else if has(&["While lock file", "lock hold by"]) {
        Fault::Lock
    } else if reason.starts_with("Corruption")
        || has(&["No such file or directory", "Input/output error"])
    {
        Fault::Damage
    } else {
        Fault::Other
    }
}

fn advice(reason: &str) -> &'static str {
    match fault(reason) {
        Fault::Damage => "; check the store, and restore a backup",
        Fault::Lock => "; another program has it open, wait until that ends",
        Fault::Resource(_) | Fault::Other => "",
    }
}

/// How what a store of another format holds comes to this build.
fn way_over(found: (u16, u16), supported: (u16, u16), written_by: &str) -> String {
    if found > supported {
        return format!("use fnstore {written_by} or newer");
    }
    "export each of its releases as JSON lines with the program that wrote it, and import them into \
     a new store"
        .to_owned()
}

/// The code of a store of another format: only of an older one its program can make an export.
fn format_code(found: (u16, u16), supported: (u16, u16)) -> &'static str {
    if found < supported { "S-outdated" } else { "S-format" }
}

/// How a record is named.
fn place(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("of {name} (key {key})") }
}

/// The trouble that RocksDB tells of.
fn of_engine(action: &str, reason: &str) -> Trouble {
    match (fault(reason), action == OPENING) {
        (Fault::Damage, true) => ErrorKind::Failed.coded("C-open"),
        (Fault::Damage, false) => ErrorKind::Failed.coded("C-unreadable"),
        (Fault::Lock, _) => ErrorKind::Locked.coded("S-locked"),
        (Fault::Resource(code), _) => ErrorKind::Full.coded(code),
        (Fault::Other, _) => ErrorKind::Failed.coded("S-engine"),
    }
}

// Every message ends in the code.
coded!(StoreError {
    Self::Absent { .. } => NoStore.coded("S-absent"),
    Self::NotAStore { .. } => Failed.coded("S-not-a-store"),
    Self::Replaced { .. } => Replaced.coded("S-replaced"),
    Self::BeyondEnd { .. } => Replaced.coded("S-beyond"),
    Self::Locked { .. } => Locked.coded("S-locked"),
    Self::Format { found, supported, .. } => Failed.coded(format_code(*found, *supported)),
    Self::Link { .. } => Failed.coded("S-link"),
    Self::Io { source, .. } => source.trouble().or(Failed.coded("S-io")),
    Self::Scratch { .. } => Failed.coded("S-scratch"),
    Self::CommitsLost { .. } => Failed.coded("C-commits-lost"),
    Self::Engine { action, reason } => of_engine(action, reason),
    Self::FileLost { .. } => Failed.coded("C-open"),
    Self::Damaged { .. } => Failed.coded("C-record"),
    Self::TooLarge { .. } => BadInput.coded("E-record-size"),
    Self::Invalid { .. } => BadInput.coded("E-record"),
    Self::ReadOnly => Failed.coded("S-read-only"),
});

impl StoreError {
    /// Whether it says that what was written is not there or not as it was written. Other errors
    /// say nothing of that.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        self.code().is_some_and(|code| code.starts_with("C-"))
    }

    pub(super) fn engine(action: &'static str) -> impl Fn(rocksdb::Error) -> Self {
        move |error| Self::Engine { action, reason: error.into_string() }
    }

    pub(super) fn unwritable(family: &'static str, name: impl ToString, why: Unwritable) -> Self {
        match why {
            Unwritable::Large { bytes } => {
                Self::TooLarge { family, name: name.to_string(), bytes, limit: LIMIT >> 20 }
            }
            Unwritable::Refused(reason) => Self::invalid(family, name, reason),
        }
    }

    pub(super) fn damaged(family: &'static str, key: &[u8], reason: impl ToString) -> Self {
        let name = record_name(family, key).unwrap_or_default();
        Self::Damaged { family, name, key: hexadecimal(key), reason: reason.to_string() }
    }

    pub(super) fn invalid(
        family: &'static str,
        name: impl ToString,
        reason: impl ToString,
    ) -> Self {
        Self::Invalid { family, name: name.to_string(), reason: reason.to_string() }
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
            StoreError::NotAStore { path: path(), reason: "it is a file".to_owned() },
            StoreError::Replaced { path: path(), followed: "0f".to_owned(), found: None },
            StoreError::BeyondEnd { path: path(), since: 9, last: 2 },
            StoreError::Locked { path: path(), holder: Holder::default() },
            StoreError::Format {
                path: path(),
                found: (2, 0),
                supported: (1, 2),
                written_by: "9.0.0".to_owned(),
            },
            StoreError::Format {
                path: path(),
                found: (1, 0),
                supported: (2, 0),
                written_by: "0.1.0".to_owned(),
            },
            StoreError::Io { path: path(), source: io() },
            StoreError::Scratch { path: path(), source: io() },
            StoreError::CommitsLost { path: path(), found: 1, acknowledged: 2 },
            engine(OPENING, "Corruption: bad magic number"),
            engine("scanning records", "Corruption: block checksum mismatch"),
            engine(
                OPENING,
                "IO error: No such file or directory: While opening db/MANIFEST-000005",
            ),
            engine("committing", "IO error: No space left on device: While appending to db/7.log"),
            engine(OPENING, "IO error: While open a file for lock: db/LOCK: Too many open files"),
            engine(OPENING, "IO error: While lock file: db/LOCK: Resource temporarily unavailable"),
            engine("committing", "Invalid argument: as nobody foresaw"),
            StoreError::FileLost { path: path(), family: "frame".to_owned() },
            StoreError::damaged("frame", &[1, 2], "no record"),
            StoreError::unwritable("document", "train", Unwritable::Large { bytes: 1 << 30 }),
            StoreError::invalid("annotation", "i1", "a span from 5 to 2"),
            StoreError::ReadOnly,
        ]
    }

    #[test]
    fn every_message_ends_in_its_code_and_the_schema_page_lists_it() {
        let page = include_str!("../../schema/check.md");
        for error in one_of_each() {
            let (message, code) = (error.to_string(), error.code().unwrap());
            assert!(message.ends_with(&format!(" ({code})")), "{message}");
            assert!(page.contains(&format!("| `{code}` | ")), "schema/check.md lacks {code}");
        }
    }

    #[test]
    fn damage_is_told_with_what_helps() {
        for error in one_of_each() {
            let message = error.to_string();
            let is_told = message.contains("restore a backup");
            assert_eq!(is_told, error.is_damage(), "{message}");
        }
    }

    #[test]
    fn errors_of_the_engine_are_told_apart_by_what_helps() {
        let engine = |error: &StoreError| matches!(error, StoreError::Engine { .. });
        let codes: Vec<_> =
            one_of_each().iter().filter(|it| engine(it)).filter_map(|it| it.code()).collect();
        let damage = ["C-open", "C-unreadable", "C-open"];
        assert_eq!(
            codes,
            [&damage[..], &["S-full", "S-open-files", "S-locked", "S-engine"]].concat()
        );
    }

    #[test]
    fn a_damaged_record_is_named_by_its_key() {
        let key = [0, 1, 2, 0, 0, 0, 0, 0, 0, 7];
        let error = StoreError::damaged("set_location", &key, "empty").to_string();
        let expected = "damaged set_location record of set i7 (key 00010200000000000007): empty; ";
        assert!(error.starts_with(expected), "{error}");
        let error = StoreError::damaged("frame", &[9], "no key").to_string();
        assert!(error.starts_with("damaged frame record 09: no key; "), "{error}");
    }
}
