//! Edits: scripts, commits taken back, who committed.

use std::ffi::c_char;
use std::time::{SystemTime, UNIX_EPOCH};

use fnstore::edit::Script;

use crate::boundary::{self, call};
use crate::database::{Database, Turn, release};
use crate::error::{Error, Fault, Result};
use crate::lines::{Lines, written};

/// Seconds since 1970 (UTC).
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Does a script of edits, one a line of JSON (`schema/edit.md`), and commits all of it or nothing.
/// `script` has so many bytes of UTF-8, without NUL;
/// the spans in it count code points. `release` is its name; null is the only one.
/// `author` and `note` say who edits and why, and may be null. The number of the commit goes to
/// `revision`, which may be null. Gives what each line did (`schema/edited.schema.json`), with the
/// ids of what it added; the caller frees it by `fnstore_lines_free`. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_edit(
    database: *mut Database,
    release: *const c_char,
    script: *const c_char,
    length: usize,
    author: *const c_char,
    note: *const c_char,
    revision: *mut u64,
    error: *mut *mut Error,
) -> *mut Lines {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let named = boundary::optional_text(release, "release")?;
        let script = boundary::sized_text(script, length, "script")?;
        let author = boundary::optional_text(author, "author")?;
        let note = boundary::optional_text(note, "note")?;
        let (done, committed) = database
            .write(Turn::Commit, author, |writer| edit(writer, named, script, (author, note)))?;
        boundary::put(revision, committed);
        Ok(boundary::give(done))
    })
}

fn edit(
    writer: &fnstore::database::Database,
    named: Option<&str>,
    script: &str,
    (author, note): (Option<&str>, Option<&str>),
) -> Result<(Lines, u64)> {
    let mut edits = writer.transaction(release(writer, named)?.id)?;
    edits.explain(note.unwrap_or_default());
    let mut all = Vec::new();
    Script::new(&mut edits, author.map(str::to_owned), now())
        .edit(script.as_bytes(), &mut |done| all.push(written(serde_json::to_string(&done))))?;
    Ok((all.into_iter().collect(), edits.commit()?))
}

/// Takes back commits, all of them or none: records become what they were before. `count` is how
/// many there are in `revisions`, at least 1. The commit that does it goes to `revision`, the
/// number of records to `records`; both may be null. False when it fails: what has changed since is
/// named.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_undo(
    database: *mut Database,
    revisions: *const u64,
    count: usize,
    author: *const c_char,
    note: *const c_char,
    revision: *mut u64,
    records: *mut u64,
    error: *mut *mut Error,
) -> bool {
    call(error, false, || {
        let database = boundary::borrow(database)?;
        let revisions = boundary::numbers(revisions, count, "list of revisions")?;
        if revisions.is_empty() {
            let message = "the list of revisions is empty, expected at least one";
            return Err(Fault::usage("F-number", message));
        }
        let author = boundary::optional_text(author, "author")?;
        let note = boundary::optional_text(note, "note")?.unwrap_or_default();
        let undone =
            database.write(Turn::Commit, author, |writer| Ok(writer.undo(revisions, note)?))?;
        boundary::put(revision, undone.revision);
        boundary::put(records, undone.records);
        Ok(true)
    })
}

/// Who committed, when and why, the last commit first (`schema/history.schema.json`); at most so
/// many, 0 gives all. The caller frees it by `fnstore_lines_free`. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_history(
    database: *const Database,
    limit: usize,
    error: *mut *mut Error,
) -> *mut Lines {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let limit = if limit == 0 { usize::MAX } else { limit };
        let lines = open.commits()?.take(limit);
        let lines = lines.map(|made| Ok(written(serde_json::to_string(&made?))));
        Ok(boundary::give(lines.collect::<Result<Lines>>()?))
    })
}
