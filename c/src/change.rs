//! `fnstore_change`: what a commit did to a record.

use std::ffi::{CStr, CString, c_char};
use std::sync::OnceLock;

use fnstore::database::Database;
use fnstore::store;
use fnstore::transfer::{ChangeRecord, RecordLines};

use crate::boundary::{self, Handle, terminated, words};
use crate::error::Result;
use crate::lines::written;

/// What a commit did to a record. It depends on nothing: it may outlive the feed and the database,
/// and any thread may read it. Its texts live as long as it does.
pub struct Change {
    revision: u64,
    release: u32,
    action: CString,
    kind: CString,
    id: CString,
    key: CString,
    sentence: Option<CString>,
    reviewer: Option<CString>,
    is_last: bool,
    record: Option<CString>,
    sentence_record: Option<CString>,
    told: ChangeRecord,
    /// Written when it is first asked for.
    json: OnceLock<CString>,
}

impl Handle for Change {
    const KIND: &'static str = "change";
}

impl Change {
    fn new(told: ChangeRecord) -> Result<Self> {
        let change = &told.change;
        let (release, subject) = (change.release, &change.subject);
        let id = subject.id().unwrap_or_else(|| release.to_string());
        let reviewer = subject.reviewer().map(|name| terminated(name, "reviewer's name"));
        Ok(Self {
            revision: change.revision,
            release: release.0.into(),
            action: terminated(change.action.as_str(), "action")?,
            kind: terminated(subject.kind().as_str(), "kind")?,
            key: terminated(RecordLines::key(release, subject), "key of a record")?,
            id: terminated(id, "id of a record")?,
            sentence: subject.sentence().map(|id| words(id.to_string())),
            reviewer: reviewer.transpose()?,
            is_last: change.is_last,
            record: told.record.clone().map(words),
            sentence_record: told.sentence_record.clone().map(words),
            told,
            json: OnceLock::new(),
        })
    }

    /// Changes with their records, where these are wanted.
    pub(crate) fn all(
        database: &Database,
        changes: impl Iterator<Item = store::Change>,
        with_records: bool,
    ) -> Result<Vec<Self>> {
        let records = database.change_records(changes.map(Ok), with_records)?;
        records.map(|record| Self::new(record?)).collect()
    }
}

fn pointer(text: Option<&CStr>) -> *const c_char {
    text.map_or(std::ptr::null(), CStr::as_ptr)
}

/// Number of the commit.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_revision(change: *const Change) -> u64 {
    boundary::read(change, 0, |change| change.revision)
}

/// Whether it is the last change of its commit: then the commit is whole, and its revision is what
/// a follower remembers.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_is_last(change: *const Change) -> bool {
    boundary::read(change, false, |change| change.is_last)
}

/// Number of the release.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_release(change: *const Change) -> u32 {
    boundary::read(change, 0, |change| change.release)
}

/// `added`, `edited` or `removed`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_action(change: *const Change) -> *const c_char {
    boundary::read(change, c"".as_ptr(), |change| change.action.as_ptr())
}

/// What it is: `release`, `semtype`, `frame`, `relation`, `lu`, `document`, `sentence`, `layers`,
/// `set`, `judgement`, `verification`, `decision` or `edition`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_kind(change: *const Change) -> *const c_char {
    boundary::read(change, c"".as_ptr(), |change| change.kind.as_ptr())
}

/// Its id: of a judgement and a verification the set's, of a decision the LU's name.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_id(change: *const Change) -> *const c_char {
    boundary::read(change, c"".as_ptr(), |change| change.id.as_ptr())
}

/// What tells the record from every other one of the store: release, kind, id and what else it
/// takes, parted by slashes. There is no tab and no end of a line in it.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_key(change: *const Change) -> *const c_char {
    boundary::read(change, c"".as_ptr(), |change| change.key.as_ptr())
}

/// The sentence of a set or of layers; null of another.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_sentence(change: *const Change) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(change, none, |change| pointer(change.sentence.as_deref()))
}

/// Whose judgement it is; null of another.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_reviewer(change: *const Change) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(change, none, |change| pointer(change.reviewer.as_deref()))
}

/// The record as it is now, as a line of JSON (`schema/exchange.md`); null where it is gone, of a
/// release, and in a feed without records.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_record(change: *const Change) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(change, none, |change| pointer(change.record.as_deref()))
}

/// The sentence of a set, likewise: a set of a bulk write stands for its sentence, too.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_sentence_record(change: *const Change) -> *const c_char {
    let none = std::ptr::null();
    boundary::read(change, none, |change| pointer(change.sentence_record.as_deref()))
}

/// The change as the JSON that `fnstore changes` prints (`schema/change.schema.json`): with who
/// committed it, when and why, and with the records, where these are wanted. It lives as long as
/// the change.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_json(change: *const Change) -> *const c_char {
    let json = |told| words(written(serde_json::to_string(told)));
    boundary::read(change, c"".as_ptr(), |change| {
        change.json.get_or_init(|| json(&change.told)).as_ptr()
    })
}

/// Frees a change; null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_change_free(change: *mut Change) {
    boundary::take(change);
}
