//! `fnstore_expander`: a recipe with its models open.

use std::ffi::{CString, c_char, c_void};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, TryLockError};

use fnstore::engine::{Device, DeviceChoice, GpuOptions};
use fnstore::expand::{
    self, ExpandError, ExpansionProgress, Guidance, Models, Phase, Recipe, RecipeSettings, Report,
    RewriterSource, RunOptions,
};
use fnstore::models::{default_rewriter, find};

use crate::boundary::{self, Handle, call, words};
use crate::database::{Database, Turn, last_revision};
use crate::error::{Error, Fault, Result};
use crate::query::{expression, set_id};

/// What a callback answers.
#[repr(C)]
#[allow(dead_code, reason = "C gives them by number")]
pub enum Stop {
    /// The run goes on.
    GoOn = 0,
    /// It ends when the rounds under way are finished and written.
    AfterRound = 1,
    /// It ends at once; the rounds under way are dropped.
    Now = 2,
}

/// How far an expansion is. Its texts live as long as the callback.
#[repr(C)]
pub struct Progress {
    /// `finding seeds` or `rewriting`.
    pub phase: *const c_char,
    /// The set of the last step that ended; null before the first one.
    pub seed: *const c_char,
    /// The last sentence that was made; null where this step made none, and where it holds NUL.
    pub text: *const c_char,
    /// Sets that are finished.
    pub seeds: u64,
    /// Sets that match.
    pub total: u64,
    /// Sentences written in this run.
    pub sentences: u64,
    /// Rounds that this run has behind it.
    pub rounds: u64,
    /// Rounds that were missing when it began.
    pub total_rounds: u64,
}

/// Told how far an expansion is, about ten times a second, on the thread that runs it. It
/// answers a `fnstore_stop`. It may read the database, not write it: that is refused with `F-busy`,
/// and so is a run of the same expander. It must not free what the run uses. It must not unwind: a
/// panic or an exception that leaves it ends the program.
pub type ExpandCallback =
    Option<extern "C-unwind" fn(progress: *const Progress, data: *mut c_void) -> i32>;

/// A recipe with its models open, for any number of runs. One run at a time: a second one is
/// refused with `F-busy`.
pub struct Expander(Mutex<expand::Expander>);

impl Handle for Expander {
    const KIND: &'static str = "expander";
}

/// The recipe of some settings with the models of a directory, and how far it is followed.
fn recipe(models: &str, settings: Option<&str>) -> Result<(Recipe, RunOptions)> {
    let settings: RecipeSettings = match settings {
        None => RecipeSettings::default(),
        Some(json) => serde_json::from_str(json).map_err(|error| {
            Fault::usage("F-settings", format!("cannot use the settings of the recipe: {error}"))
        })?,
    };
    let dirs = [PathBuf::from(models)];
    let name = PathBuf::from(default_rewriter(&dirs)?.0);
    let rewriter = find(&name, &dirs).ok_or_else(|| {
        let (name, searched) = (name.display().to_string(), dirs.to_vec());
        ExpandError::ModelMissing { name, searched }
    })?;
    let mut models = Models::search_with(RewriterSource::in_directory(rewriter, &dirs)?, &dirs)?;
    if settings.guide == Some(Guidance::None) {
        models.guide = None;
    }
    let (mut recipe, mut options) = (Recipe::new(models), RunOptions::default());
    settings.apply(&mut recipe, &mut options);
    recipe.check()?;
    options.check()?;
    Ok((recipe, options))
}

/// Opens the models of a directory. `settings` are those of a recipe as a JSON object, as in
/// `{"rounds": 1, "beam": 4}` (docs/concepts/recipes.md); null takes the defaults. `device` is
/// where the networks run, as in `cpu` or `auto`; null is the CPU. Null when it fails. The caller
/// frees it by `fnstore_expander_free`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_expander_open(
    models: *const c_char,
    settings: *const c_char,
    device: *const c_char,
    error: *mut *mut Error,
) -> *mut Expander {
    call(error, std::ptr::null_mut(), || {
        let settings = boundary::optional_text(settings, "settings")?;
        let device = boundary::optional_text(device, "device")?.unwrap_or("cpu");
        let (recipe, mut options) = recipe(boundary::text(models, "models")?, settings)?;
        let choice: DeviceChoice = device.parse().map_err(|_| {
            Fault::usage("F-device", format!("`{device}` is no device, expected `cpu` or `auto`"))
        })?;
        options.device = Device::open(&choice, &GpuOptions::default())?;
        let expander = expand::Expander::open(recipe, options)?;
        Ok(boundary::give(Expander(Mutex::new(expander))))
    })
}

/// Asks the caller's function. Rust ends the program where something would unwind out of an
/// `extern "C"` function.
extern "C" fn ask(
    callback: extern "C-unwind" fn(*const Progress, *mut c_void) -> i32,
    progress: &Progress,
    data: *mut c_void,
) -> i32 {
    callback(progress, data)
}

/// Tells the caller's function how far a run is.
fn tell(
    callback: ExpandCallback,
    data: *mut c_void,
    at: &ExpansionProgress,
) -> ControlFlow<expand::Stop> {
    let Some(callback) = callback else { return ControlFlow::Continue(()) };
    let seed = at.seed.map(|seed| words(seed.to_string()));
    let text = at.last.as_ref().and_then(|last| CString::new(&*last.sentence.text).ok());
    let pointer = |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |it| it.as_ptr());
    let phase = match at.phase {
        Phase::FindingSeeds => c"finding seeds",
        Phase::Rewriting => c"rewriting",
        _ => c"other",
    };
    let progress = Progress {
        phase: phase.as_ptr(),
        seed: pointer(&seed),
        text: pointer(&text),
        seeds: at.seeds,
        total: at.of,
        sentences: at.sentences,
        rounds: at.rounds,
        total_rounds: at.of_rounds,
    };
    match ask(callback, &progress, data) {
        0 => ControlFlow::Continue(()),
        1 => ControlFlow::Break(expand::Stop::AfterRound),
        _ => ControlFlow::Break(expand::Stop::Now),
    }
}

/// What an expander does in a database.
type Work<'w> = &'w mut dyn FnMut(
    &mut expand::Expander,
    &fnstore::database::Database,
    &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<expand::Stop>,
) -> Result<Report>;

fn run(
    (expander, database): (*mut Expander, *mut Database),
    author: *const c_char,
    (callback, data): (ExpandCallback, *mut c_void),
    revision: *mut u64,
    work: Work<'_>,
) -> Result<*mut c_char> {
    let (expander, database) = (boundary::borrow(expander)?, boundary::borrow(database)?);
    let author = boundary::optional_text(author, "author")?;
    let mut expander = match expander.0.try_lock() {
        Ok(expander) => expander,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            return Err(Fault::busy("this expander is running, expected one run at a time"));
        }
    };
    let (report, committed) = database.write(Turn::Run, author, |writer| {
        let report = work(&mut expander, writer, &mut |at| tell(callback, data, at))?;
        Ok((report, last_revision(writer)))
    })?;
    let report = serde_json::to_string(&report)
        .map_err(|error| Fault::new("F-json", format!("cannot write the report: {error}")))?;
    boundary::put(revision, committed);
    boundary::give_text(report)
}

/// Writes new annotated sentences from every human set for which a query holds; null is all sets. A
/// run that was stopped is gone on with by the next one. `author` says who runs it, and `callback`
/// is told how far it is; both may be null. The number of the store's last commit then goes to
/// `revision`, which may be null. Gives a report as JSON (`schema/expand.schema.json`), which the
/// caller frees. Null when it fails. While it runs, another write by this handle is refused with
/// `F-busy`.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_expand(
    expander: *mut Expander,
    database: *mut Database,
    query: *const c_char,
    author: *const c_char,
    callback: ExpandCallback,
    data: *mut c_void,
    revision: *mut u64,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let (query, of) = (expression(query)?, (expander, database));
        run(of, author, (callback, data), revision, &mut |expander, writer, progress| {
            Ok(expander.run(writer, &query, progress)?)
        })
    })
}

/// As `fnstore_expand`, of one set. `release` is the name of its release; null is the only one.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_expand_set(
    expander: *mut Expander,
    database: *mut Database,
    release: *const c_char,
    set: *const c_char,
    author: *const c_char,
    callback: ExpandCallback,
    data: *mut c_void,
    revision: *mut u64,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let release = boundary::optional_text(release, "release")?;
        let (set, of) = (set_id(set)?, (expander, database));
        run(of, author, (callback, data), revision, &mut |expander, writer, progress| {
            let release = crate::database::release(writer, release)?.id;
            Ok(expander.run_set(writer, (release, set), progress)?)
        })
    })
}

/// Frees an expander and closes its models; null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_expander_free(expander: *mut Expander) {
    boundary::take(expander);
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::ptr::{null, null_mut};

    use super::*;
    use crate::database::{fnstore_import, fnstore_open};
    use crate::error::{fnstore_error_code, fnstore_error_free};

    extern "C-unwind" fn panics(_files: u64, _total: u64, _data: *mut c_void) -> i32 {
        panic!("of the caller")
    }

    extern "C-unwind" fn panics_later(_at: *const Progress, _data: *mut c_void) -> i32 {
        panic!("of the caller")
    }

    /// The variable that tells a child which callback panics.
    const CHILD: &str = "FNSTORE_TEST_PANICS";

    /// What the child does: a callback panics, and nothing goes on behind it.
    fn panic_in(callback: &str) {
        if callback == "expand" {
            let progress = Progress {
                phase: c"".as_ptr(),
                seed: null(),
                text: null(),
                seeds: 0,
                total: 0,
                sentences: 0,
                rounds: 0,
                total_rounds: 0,
            };
            let _ = call(null_mut(), 0, || Ok(ask(panics_later, &progress, null_mut())));
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = CString::new(dir.path().to_str().unwrap()).unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/mini-framenet");
        let release = CString::new(mini).unwrap();
        let open = fnstore_open(path.as_ptr(), 2, null_mut());
        let (none, data) = (null(), null_mut());
        fnstore_import(
            open,
            release.as_ptr(),
            none,
            none,
            none,
            Some(panics),
            data,
            null_mut(),
            null_mut(),
        );
    }

    #[test]
    fn a_callback_that_unwinds_ends_the_program() {
        if let Ok(callback) = std::env::var(CHILD) {
            return panic_in(&callback);
        }
        for callback in ["import", "expand"] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "expand::tests::a_callback_that_unwinds_ends_the_program"]);
            let output = child.arg("--nocapture").env(CHILD, callback).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("of the caller"), "{said}");
            assert!(said.contains("cannot unwind"), "{said}");
            #[cfg(unix)]
            assert_eq!(std::os::unix::process::ExitStatusExt::signal(&output.status), Some(6));
        }
    }

    #[test]
    fn a_panic_of_the_library_is_an_error() {
        let mut error = null_mut();
        let given = call(&mut error, 7, || -> Result<i32> { panic!("a mistake") });
        let code = boundary::text(fnstore_error_code(error), "code").unwrap().to_owned();
        fnstore_error_free(error);
        assert_eq!((given, code.as_str()), (7, "F-panic"));
    }
}
