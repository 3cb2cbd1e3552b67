//! `fnstore_database`: a store, opened to read or to write.

use std::ffi::{c_char, c_void};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use fnstore::database;
use fnstore::internals::WithStore as _;
use fnstore::model::Release;
use fnstore::transfer::{ImportOptions, ImportReport};
use serde_json::{Map, json};

use crate::boundary::{self, Handle, call};
use crate::error::{Error, Fault, Result};

/// What a store is opened for.
#[repr(C)]
#[allow(dead_code, reason = "C gives them by number")]
pub enum OpenMode {
    /// To read, beside a writer or alone. What is written by such a handle, as by `fnstore_edit`,
    /// takes the writer's lock for that long, or as `fnstore_keep_writer` says.
    Read = 0,
    /// To write a store that is there; the lock is held until it is closed.
    Write = 1,
    /// As `FNSTORE_OPEN_MODE_WRITE`, and a store is made where nothing is.
    Create = 2,
}

/// A store. Every thread may use it, also at once.
pub struct Database {
    open: Arc<database::Database>,
    /// Who writes by this handle, one at a time: each commit has its author.
    turn: Mutex<Turn>,
    is_free: Condvar,
}

/// Who writes by a handle.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    #[default]
    Nobody,
    /// A commit; another waits for it.
    Commit,
    /// What takes long and calls back, as an import: another is refused, for it may come from the
    /// callback, which would wait for itself.
    Run,
}

/// The turn to write, until it is dropped.
struct Writing<'d>(&'d Database);

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        *self.0.turn.lock().unwrap_or_else(PoisonError::into_inner) = Turn::Nobody;
        self.0.is_free.notify_one();
    }
}

impl Handle for Database {
    const KIND: &'static str = "database";
}

/// What still reads from it needs no writer.
impl Drop for Database {
    fn drop(&mut self) {
        self.open.release_writer();
    }
}

impl Database {
    /// The store.
    pub(crate) fn get(&self) -> Arc<database::Database> {
        Arc::clone(&self.open)
    }

    /// Takes the turn to write.
    fn take_turn(&self, turn: Turn) -> Result<Writing<'_>> {
        let mut now = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        while *now != Turn::Nobody {
            if *now == Turn::Run || turn == Turn::Run {
                return Err(Fault::busy(
                    "this database is written by another call, expected to write it when that call \
                     has ended; a callback may read, not write",
                ));
            }
            now = self.is_free.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        *now = turn;
        Ok(Writing(self))
    }

    /// Does something with a writer: this handle if it is one, else one for that long. What is
    /// committed is signed by the author; nothing else is written by this handle meanwhile.
    pub(crate) fn write<T>(
        &self,
        turn: Turn,
        author: Option<&str>,
        work: impl FnOnce(&database::Database) -> Result<T>,
    ) -> Result<T> {
        let _turn = self.take_turn(turn)?;
        let open = self.get();
        let signed = |writer: &database::Database| {
            writer.set_author(author.unwrap_or_default());
            work(writer)
        };
        if turn == Turn::Commit || open.store().is_writer() {
            return open.edit(signed);
        }
        open.release_writer();
        let writer = database::Database::open_existing_writer(open.dir())?;
        let done = signed(&writer);
        // What was committed stays so, whatever fails from here on: the next writer brings the
        // index up, the next read sees what is there. And what failed first is what there is to
        // say.
        let _ = writer.close();
        let _ = open.refresh();
        done
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
        Ok(boundary::give(Database { open, turn: Mutex::default(), is_free: Condvar::new() }))
    })
}

/// How long the writer stays open behind each edit, undo or decision by a handle that was opened to
/// read, in milliseconds. The next one within that time costs a commit alone, and others get
/// `S-locked` meanwhile. 0, as it is at first, closes it at once.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_keep_writer(database: *const Database, milliseconds: u64) {
    boundary::read(database, (), |database| {
        database.get().keep_writer(Duration::from_millis(milliseconds));
    });
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
        let database = boundary::borrow(database)?;
        let open = database.get();
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
        let database = boundary::borrow(database)?;
        let identity = database.get().identity()?;
        let generation = identity.map(|identity| identity.generation);
        generation.map_or(Ok(std::ptr::null_mut()), boundary::give_text)
    })
}

/// Told how many of how many files are read, on the thread of the import. Another answer than 0
/// ends the import, with the error `E-stopped`; nothing is in the store then. It may read the
/// database, not write it: that is refused with `F-busy`. It must not unwind: a panic or an
/// exception that leaves it ends the program.
pub type ImportCallback =
    Option<extern "C-unwind" fn(files: u64, total: u64, data: *mut c_void) -> i32>;

/// Asks the caller's function. Rust ends the program where something would unwind out of an
/// `extern "C"` function.
extern "C" fn ask(
    callback: extern "C-unwind" fn(u64, u64, *mut c_void) -> i32,
    files: u64,
    total: u64,
    data: *mut c_void,
) -> i32 {
    callback(files, total, data)
}

/// Imports a FrameNet release from a zip file or a directory, all of it or nothing. `release` names
/// it, `language` is its language (as in `en`); null takes what the files say. `author` says who
/// imports, and `callback` is told how far it is; both may be null. The number of the commit goes
/// to `revision`, which may be null. Gives a report as JSON, which the caller frees: `release`,
/// `counts`, `warnings`. Null when it fails. While it runs, another write by this handle is refused
/// with `F-busy`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_import(
    database: *mut Database,
    path: *const c_char,
    release: *const c_char,
    language: *const c_char,
    author: *const c_char,
    callback: ImportCallback,
    data: *mut c_void,
    revision: *mut u64,
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
        let author = boundary::optional_text(author, "author")?;
        let (report, committed) = database.write(Turn::Run, author, |writer| {
            let report = writer.import_with(path, &options, &mut |at| {
                let Some(callback) = callback else { return ControlFlow::Continue(()) };
                match ask(callback, at.files as u64, at.of as u64, data) {
                    0 => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            })?;
            Ok((report, last_revision(writer)))
        })?;
        boundary::put(revision, committed);
        boundary::give_text(import_report(&report))
    })
}

/// Number of the last commit, after one of this handle: a commit that is in is told in any case.
pub(crate) fn last_revision(writer: &database::Database) -> u64 {
    writer.revision().unwrap_or_default()
}

fn import_report(report: &ImportReport) -> String {
    let counts: Map<_, _> = report
        .release
        .counts
        .named()
        .into_iter()
        .map(|(kind, count)| (kind.to_owned(), count.into()))
        .collect();
    let warnings: Map<_, _> =
        report.warnings.iter().map(|(code, count, _)| (code.to_string(), count.into())).collect();
    json!({"release": report.release.name, "counts": counts, "warnings": warnings}).to_string()
}
