//! Reads of the lexicon. Records are JSON: a frame has parts within parts, for which structs would
//! take a page of accessors.

use std::ffi::c_char;

use fnstore::database::DatabaseError;
use fnstore::lexicon::{Lexicon, RecordKey};
use fnstore::query::{Case, Pattern};
use fnstore::store::Subject;

use crate::boundary::{self, call};
use crate::database::{Database, release};
use crate::error::{Error, Fault, Result};
use crate::lines::Lines;

/// What a lexicon lists.
#[repr(C)]
#[allow(dead_code, reason = "C gives them by number")]
pub enum LexiconKind {
    /// Frames, each with its FEs.
    Frames = 0,
    /// LUs.
    Lus = 1,
    /// Relations between frames, each with those of its FEs.
    Relations = 2,
    /// Semantic types.
    SemTypes = 3,
    /// Documents.
    Documents = 4,
}

fn subjects(lexicon: &Lexicon<'_>, kind: u32, names: &Pattern) -> Result<Vec<Subject>> {
    let failed = <Fault as From<DatabaseError>>::from;
    let subjects: Result<Vec<Subject>> = match kind {
        0 => {
            let rows = lexicon.find_frames(names)?;
            rows.map(|row| row.map(|row| Subject::Frame(row.id)).map_err(failed)).collect()
        }
        1 => {
            let rows = lexicon.find_lus(names)?;
            let lu = |row: fnstore::model::LexUnit| Subject::LexUnit(row.frame, row.id);
            rows.map(|row| row.map(lu).map_err(failed)).collect()
        }
        2 => {
            let rows = lexicon.relations()?;
            rows.map(|row| row.map(|row| Subject::Relation(row.id)).map_err(failed)).collect()
        }
        3 => {
            let rows = lexicon.semtypes()?;
            rows.map(|row| row.map(|row| Subject::SemType(row.id)).map_err(failed)).collect()
        }
        4 => {
            let rows = lexicon.find_documents(names)?;
            let document = |row: fnstore::model::Document| Subject::Document(row.corpus, row.id);
            rows.map(|row| row.map(document).map_err(failed)).collect()
        }
        other => {
            let message = format!("{other} is no kind, expected a `fnstore_lexicon_kind`");
            Err(Fault::usage("F-number", message))
        }
    };
    subjects
}

/// Names as the query language writes them: exact, or with `*` and `?`.
fn pattern(names: Option<&str>) -> Pattern {
    Pattern::wildcard(names.unwrap_or("*"), Case::Fold)
}

/// What a release holds of a kind (a `fnstore_lexicon_kind`), as lines of JSON in the form of
/// `schema/exchange.md`. `names` narrows frames, LUs and documents by name, with `*` and `?`; null
/// is all of them. `release` is its name; null is the only one. All are in memory. The caller frees
/// the list by `fnstore_lines_free`. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_lexicon(
    database: *const Database,
    release_name: *const c_char,
    kind: u32,
    names: *const c_char,
    error: *mut *mut Error,
) -> *mut Lines {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let named = boundary::optional_text(release_name, "release")?;
        let names = pattern(boundary::optional_text(names, "pattern")?);
        open.refresh()?;
        let lexicon = open.lexicon(release(&open, named)?.id)?;
        let (id, mut lines) = (lexicon.release().id, open.record_lines()?);
        let all = subjects(&lexicon, kind, &names)?;
        let all = all.iter().filter_map(|subject| lines.line(id, subject).transpose());
        let all = all.collect::<std::result::Result<Vec<String>, _>>()?;
        Ok(boundary::give(all.into_iter().collect::<Lines>()))
    })
}

/// The releases of a store as lines of JSON: `id`, `name`, `language`, `source`, `imported`. The
/// caller frees the list by `fnstore_lines_free`. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_releases(
    database: *const Database,
    error: *mut *mut Error,
) -> *mut Lines {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        open.refresh()?;
        let releases = open.releases()?;
        let lines = releases.iter().map(|of| {
            let line = serde_json::json!({
                "id": of.id.0, "name": of.name, "language": of.language, "source": of.source,
                "imported": of.imported,
            });
            line.to_string()
        });
        Ok(boundary::give(lines.collect::<Lines>()))
    })
}

/// A record as its line of an export, which the caller frees.
fn line(
    open: &fnstore::Database,
    release: fnstore::model::ReleaseId,
    subject: &Subject,
) -> Result<*mut c_char> {
    let line = open.record_lines()?.line(release, subject)?;
    line.map_or(Ok(std::ptr::null_mut()), boundary::give_text)
}

/// The one frame of a name, with its FEs, as a line of JSON, which the caller frees. Several are an
/// error, and `release` narrows; it may be null. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_frame(
    database: *const Database,
    release: *const c_char,
    name: *const c_char,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let release = boundary::optional_text(release, "release")?;
        open.refresh()?;
        let (lexicon, frame) =
            open.the_frame(RecordKey::Name(boundary::text(name, "name")?), release)?;
        line(&open, lexicon.release().id, &Subject::Frame(frame.id))
    })
}

/// The one LU of a name, as in `check.v`, as a line of JSON, which the caller frees. Several are an
/// error, and `release` and `frame`, a name, narrow; both may be null. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_lu(
    database: *const Database,
    release: *const c_char,
    frame: *const c_char,
    name: *const c_char,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let release = boundary::optional_text(release, "release")?;
        let frame = boundary::optional_text(frame, "frame")?.map(RecordKey::Name);
        open.refresh()?;
        let (lexicon, lu) =
            open.the_lu(RecordKey::Name(boundary::text(name, "name")?), frame, release)?;
        line(&open, lexicon.release().id, &Subject::LexUnit(lu.frame, lu.id))
    })
}
