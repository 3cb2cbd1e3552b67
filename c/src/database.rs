//! `fnstore_database`: a store, opened to read or to write.

use std::ffi::{c_char, c_void};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use fnstore::database;
use fnstore::internals::WithStore as _;
use fnstore::model::Release;
use fnstore::transfer::ImportOptions;
use serde_json::{Map, json};

use crate::boundary::{self, Handle, call};
use crate::callback::Told;
use crate::error::{Error, Fault, Result};

/// What a store is opened for.
#[repr(C)]
#[allow(dead_code, reason = "C gives them by number")]
pub enum OpenMode {
    /// To read, beside a writer or alone. What is written by such a handle, as by `fnstore_edit`,
    /// takes the writer's lock for that long.
    Read = 0,
    /// To write a store that is there; the lock is held until it is closed.
    Write = 1,
    /// As `FNSTORE_OPEN_MODE_WRITE`, and a store is made where nothing is.
    Create = 2,
}

/// A store. Every thread may use it, also at once.
pub struct Database {
    open: Arc<database::Database>,
    /// Commits by this handle, one at a time: each has its author.
    saving: Mutex<()>,
}

impl Handle for Database {
    const KIND: &'static str = "database";
}

impl Database {
    /// The store.
    pub(crate) fn get(&self) -> Result<Arc<database::Database>> {
        Ok(Arc::clone(&self.open))
    }

    /// Does something with a writer: this handle if it is one, else one for that long. One without
    /// the index is opened sooner.
    pub(crate) fn write<T>(
        &self,
        with_index: bool,
        work: impl FnOnce(&database::Database) -> Result<T>,
    ) -> Result<T> {
        let open = self.get()?;
        if open.store().is_writer() {
            return work(&open);
        }
        let writer = match with_index {
            true => database::Database::open_existing_writer(open.dir())?,
            false => database::Database::open_editor(open.dir())?,
        };
        let done = work(&writer);
        writer.close()?;
        open.refresh()?;
        done
    }

    /// As [`write`](Self::write), signed by an author; no other commit of this handle comes
    /// between.
    pub(crate) fn save<T>(
        &self,
        author: Option<&str>,
        work: impl FnOnce(&database::Database) -> Result<T>,
    ) -> Result<T> {
        let _turn = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        self.write(false, |writer| {
            writer.set_author(author.unwrap_or_default());
            work(writer)
        })
    }
}

/// The release of a name, or the only one.
pub(crate) fn release(database: &database::Database, name: Option<&str>) -> Result<Release> {
    if let Some(name) = name {
        return Ok(database.release(name)?);
    }
    let mut releases = database.releases()?;
    match (releases.pop(), releases.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(Fault::new("Q-unknown-release", "the store holds no release")),
        (Some(_), false) => {
            let message = "the store holds several releases, expected the name of one";
            Err(Fault::usage("F-release", message))
        }
    }
}

/// Opens the store of a directory; `mode` is a `fnstore_open_mode`. Gives null when it fails. The
/// caller closes it by `fnstore_close`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_open(
    path: *const c_char,
    mode: u32,
    error: *mut *mut Error,
) -> *mut Database {
    call(error, std::ptr::null_mut(), || {
        let path = Path::new(boundary::text(path, "path")?);
        let open = match mode {
            0 => database::Database::open(path)?,
            1 => database::Database::open_existing_writer(path)?,
            2 => database::Database::open_writer(path)?,
            other => {
                let message = format!("{other} is no mode, expected a `fnstore_open_mode`");
                return Err(Fault::usage("F-number", message));
            }
        };
        let open = Arc::new(open);
        Ok(boundary::give(Database { open, saving: Mutex::default() }))
    })
}

/// Closes a store and frees its handle; null is nothing. Lists of answers and feeds that are still
/// open keep what they read from: a writer's lock goes with the last of its lists of answers.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_close(database: *mut Database) {
    boundary::take(database);
}

/// Number of the last commit, to `revision`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_revision(
    database: *const Database,
    revision: *mut u64,
    error: *mut *mut Error,
) -> bool {
    call(error, false, || {
        let open = boundary::borrow(database)?.get()?;
        open.refresh()?;
        boundary::put(revision, open.revision()?);
        Ok(true)
    })
}

/// The generation of the store, which a restore changes: revisions can be compared within one
/// alone. The caller frees it. Gives null when it fails, and of a store that no writer has opened
/// since stores have generations.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_generation(
    database: *const Database,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let identity = boundary::borrow(database)?.get()?.identity()?;
        let generation = identity.map(|identity| identity.generation);
        Ok(generation.map_or(std::ptr::null_mut(), boundary::give_text))
    })
}

/// Told how many of how many files are read, on the thread of the import. Another answer than 0
/// ends the import; nothing is in the store then.
pub type ImportCallback =
    Option<extern "C-unwind" fn(files: u64, of: u64, data: *mut c_void) -> i32>;

/// Imports a FrameNet release from a zip file or a directory, all of it or nothing. `release` names
/// it, `language` is its language (as in `en`); null takes what the files say. Gives a report as
/// JSON, which the caller frees: `release`, `counts`, `warnings`. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_import(
    database: *const Database,
    path: *const c_char,
    release: *const c_char,
    language: *const c_char,
    callback: ImportCallback,
    data: *mut c_void,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let database = boundary::borrow(database)?;
        let path = Path::new(boundary::text(path, "path")?);
        let options = ImportOptions {
            release: boundary::optional_text(release, "release")?.map(str::to_owned),
            language: boundary::optional_text(language, "language")?.map(str::to_owned),
            ..ImportOptions::default()
        };
        let mut told = Told::default();
        let report = database.write(true, |writer| {
            Ok(writer.import_with(path, &options, &mut |at| {
                let Some(callback) = callback else { return ControlFlow::Continue(()) };
                match told.ask(|| callback(at.files as u64, at.of as u64, data), 1) {
                    0 => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            })?)
        });
        told.check()?;
        let report = report?;
        let counts: Map<_, _> = report
            .release
            .counts
            .named()
            .into_iter()
            .map(|(kind, count)| (kind.to_owned(), count.into()))
            .collect();
        let warnings: Map<_, _> = report
            .warnings
            .iter()
            .map(|(code, count, _)| (code.to_string(), count.into()))
            .collect();
        let report = json!({
            "release": report.release.name, "counts": counts, "warnings": warnings,
        });
        Ok(boundary::give_text(report.to_string()))
    })
}
