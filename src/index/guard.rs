//! Calls into Tantivy that may read a damaged file.
//!
//! Tantivy trusts its files: where one holds nonsense it returns an error, or it panics. Every call
//! that may read one goes through [`guarded`], which makes an [`IndexError`] of either, so that
//! this layer's errors are made in one place and no panic leaves it.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tantivy::TantivyError;
use tantivy::directory::error::OpenReadError;

use super::IndexError;
use crate::model::shortage;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Names of the threads that Tantivy starts, as they begin.
const THREADS: [&str; 3] = ["thrd-tantivy-", "merge_thread_", "segment_updater"];

/// Whether a panic of this thread, now, becomes an error, or ends a background merge that is done
/// again later. A program's panic hook need not print it.
#[must_use]
pub fn panics_are_caught() -> bool {
    let thread = std::thread::current();
    let of_tantivy = |name: &str| THREADS.iter().any(|start| name.starts_with(start));
    GUARDED.get() || thread.name().is_some_and(of_tantivy)
}

/// Runs what reads or writes the index in `path`.
///
/// A panic leaves nothing half done that is looked at again. Readers change nothing. A writer's
/// next commit fails, or is of what was added; the store's list of changes has the rest.
pub(super) fn guarded<T>(
    path: &Path,
    action: &'static str,
    work: impl FnOnce() -> tantivy::Result<T>,
) -> Result<T, IndexError> {
    caught(work).map_err(|error| {
        let path = path.to_owned();
        match error {
            // Threads of Tantivy hand on in words what kept them from writing.
            TantivyError::InternalError(reason) if shortage(&reason).is_none() => {
                IndexError::Damaged { path, action, reason }
            }
            error if is_damage(&error) => {
                IndexError::Damaged { path, action, reason: error.to_string() }
            }
            error => IndexError::Engine { path, action, reason: error.to_string() },
        }
    })
}

/// Runs what reads the index, with a panic as an internal error of Tantivy's.
///
/// Tantivy asks its queries from threads of its own, where a panic would end the process.
pub(super) fn caught<T>(work: impl FnOnce() -> tantivy::Result<T>) -> tantivy::Result<T> {
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let reason = format!("a panic: {}", text.unwrap_or("without a message"));
        Err(TantivyError::InternalError(reason))
    })
}

/// Whether an error says that the files are not what they should be; others say that they could not
/// be read or written.
fn is_damage(error: &TantivyError) -> bool {
    let content = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
    };
    match error {
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::IoError(io_error) => content(io_error),
        TantivyError::OpenReadError(_)
        | TantivyError::DataCorruption(_)
        | TantivyError::FieldNotFound(_)
        | TantivyError::SchemaError(_)
        | TantivyError::IncompatibleIndex(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Coded;

    #[test]
    fn a_panic_is_an_error_that_says_what_to_do() {
        let path = Path::new("index");
        let error = guarded(path, "searching", || -> tantivy::Result<()> {
            assert!(panics_are_caught());
            panic!("no block {}", 7)
        });
        assert_eq!(
            error.unwrap_err().to_string(),
            "the index in `index` is damaged (C-index-damaged): a panic: no block 7, while \
             searching; build it again"
        );
        assert!(!panics_are_caught());
        assert_eq!(guarded(path, "searching", || Ok(1)).unwrap(), 1);
    }

    #[test]
    fn a_lack_that_another_thread_told_of_is_no_damage() {
        let reason = "No space left on device (os error 28)".to_owned();
        let failed = || -> tantivy::Result<()> { Err(TantivyError::InternalError(reason)) };
        let error = guarded(Path::new("index"), "committing", failed).unwrap_err();
        assert_eq!(error.code(), Some("S-full"), "{error}");
    }

    #[test]
    fn a_guard_inside_another_leaves_it_in_place() {
        let path = Path::new("index");
        let outcome = guarded(path, "searching", || {
            let _ = guarded(path, "reading hits", || -> tantivy::Result<()> { panic!("inner") });
            Ok(panics_are_caught())
        });
        assert!(outcome.unwrap());
    }
}
