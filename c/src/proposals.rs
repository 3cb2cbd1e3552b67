//! Proposed LUs: listed and decided on.

use std::ffi::c_char;

use fnstore::edit::Fate;
use fnstore::lexicon::RecordKey;
use fnstore::model::Reviewed;
use fnstore::proposals::{Proposals, Ranker};

use crate::boundary::{self, call};
use crate::database::{Database, Turn, last_revision};
use crate::edit::now;
use crate::error::{Error, Fault};
use crate::lines::{Lines, written};
use crate::query::expression;

/// What is decided on a proposal.
#[repr(C)]
#[allow(dead_code, reason = "C gives them by number")]
pub enum Verdict {
    /// It becomes an LU of its frame, with its sentences.
    Accept = 0,
    /// It is not listed again.
    Reject = 1,
}

/// The LUs that the generated sets of a query propose, the likeliest first, as lines of JSON
/// (`schema/proposal.schema.json`). Null is all sets. `with_decided` lists those, too, on
/// which somebody decided. The caller frees the list by `fnstore_lines_free`. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_proposals(
    database: *const Database,
    query: *const c_char,
    with_decided: bool,
    error: *mut *mut Error,
) -> *mut Lines {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let open = database.get();
        let proposals = Proposals::new(&open, None, Ranker::default());
        let listed = proposals.list(&expression(query)?, with_decided)?;
        let lines = listed.iter().map(|of| written(serde_json::to_string(of)));
        Ok(boundary::give(lines.collect::<Lines>()))
    })
}

/// Decides on a proposal: `frame` and `lu` are its names, `verdict` is a `fnstore_verdict`,
/// `reviewer` says who decides. `release` narrows and may be null, as may `note`, which says why.
/// `author` says who commits; null is the reviewer. The number of the commit, which takes the
/// decision back by `fnstore_undo`, goes to `revision`, which may be null. False when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_decide(
    database: *mut Database,
    release: *const c_char,
    frame: *const c_char,
    lu: *const c_char,
    verdict: u32,
    reviewer: *const c_char,
    note: *const c_char,
    author: *const c_char,
    revision: *mut u64,
    error: *mut *mut Error,
) -> bool {
    call(error, false, || {
        let database = boundary::borrow(database)?;
        let release = boundary::optional_text(release, "release")?;
        let (frame, lu) = (boundary::text(frame, "frame")?, boundary::text(lu, "lu")?);
        let reviewer = boundary::text(reviewer, "reviewer")?;
        let note = boundary::optional_text(note, "note")?.unwrap_or_default().to_owned();
        let fate = match verdict {
            0 => Fate::Accept,
            1 => Fate::Reject,
            other => {
                let message = format!("{other} is no verdict, expected a `fnstore_verdict`");
                return Err(Fault::usage("F-number", message));
            }
        };
        let author = boundary::optional_text(author, "author")?.unwrap_or(reviewer);
        let committed = database.write(Turn::Commit, Some(author), |writer| {
            let (lexicon, frame) = writer.the_frame(RecordKey::Name(frame), release)?;
            let by = Reviewed { reviewer: reviewer.to_owned(), time: now(), note };
            let proposals = Proposals::new(writer, None, Ranker::default());
            proposals.decide(lexicon.release().id, (frame.id, lu), fate, by)?;
            Ok(last_revision(writer))
        })?;
        boundary::put(revision, committed);
        Ok(true)
    })
}
