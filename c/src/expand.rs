//! `fnstore_expander`: a recipe with its models open.

use std::ffi::{CString, c_char, c_void};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, TryLockError};

use fnstore::compute::{Device, DeviceChoice, GpuOptions};
use fnstore::expand::{
    self, ExpandError, ExpansionProgress, Guidance, Models, Phase, Recipe, RecipeSettings, Report,
    RewriterSource, RunOptions,
};
use fnstore::models::{default_rewriter, find};

use crate::boundary::{self, Handle, call, terminated};
use crate::callback::Told;
use crate::database::Database;
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
    /// The last sentence that was made; null where this step made none.
    pub text: *const c_char,
    /// Sets that are finished.
    pub seeds: u64,
    /// Sets that match.
    pub of: u64,
    /// Sentences written in this run.
    pub sentences: u64,
    /// Rounds that this run has behind it.
    pub rounds: u64,
    /// Rounds that were missing when it began.
    pub of_rounds: u64,
}

/// Told how far an expansion is, at least ten times a second, on the thread that runs it. It
/// answers a `fnstore_stop`. It may call functions of the library, but neither run the same
/// expander nor free what the run uses.
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

/// Asks the caller's function.
fn ask(
    callback: ExpandCallback,
    data: *mut c_void,
    told: &mut Told,
    at: &ExpansionProgress,
) -> ControlFlow<expand::Stop> {
    let Some(callback) = callback else { return ControlFlow::Continue(()) };
    let seed = at.seed.map(|seed| terminated(seed.to_string()));
    let text = at.last.as_ref().map(|last| terminated(last.sentence.text.as_str()));
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
        of: at.of,
        sentences: at.sentences,
        rounds: at.rounds,
        of_rounds: at.of_rounds,
    };
    match told.ask(|| callback(&progress, data), 2) {
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
    (expander, database): (*const Expander, *const Database),
    (callback, data): (ExpandCallback, *mut c_void),
    work: Work<'_>,
) -> Result<*mut c_char> {
    let (expander, database) = (boundary::borrow(expander)?, boundary::borrow(database)?);
    let mut expander = match expander.0.try_lock() {
        Ok(expander) => expander,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            return Err(Fault::usage(
                "F-busy",
                "this expander is running, expected one run at a time",
            ));
        }
    };
    let mut told = Told::default();
    let report = database.write(true, |writer| {
        work(&mut expander, writer, &mut |at| ask(callback, data, &mut told, at))
    });
    told.check()?;
    let report = serde_json::to_string(&report?)
        .map_err(|error| Fault::new("F-json", format!("cannot write the report: {error}")))?;
    Ok(boundary::give_text(report))
}

/// Writes new annotated sentences from every human set for which a query holds; null is all sets. A
/// run that was stopped is gone on with by the next one. `callback` may be null. Gives a report as
/// JSON (`schema/expand.schema.json`), which the caller frees. Null when it fails.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_expand(
    expander: *const Expander,
    database: *const Database,
    query: *const c_char,
    callback: ExpandCallback,
    data: *mut c_void,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let query = expression(query)?;
        run((expander, database), (callback, data), &mut |expander, writer, progress| {
            Ok(expander.run(writer, &query, progress)?)
        })
    })
}

/// As `fnstore_expand`, of one set. `release` is the name of its release; null is the only one.
#[unsafe(no_mangle)]
pub extern "C" fn fnstore_expand_set(
    expander: *const Expander,
    database: *const Database,
    release: *const c_char,
    set: *const c_char,
    callback: ExpandCallback,
    data: *mut c_void,
    error: *mut *mut Error,
) -> *mut c_char {
    call(error, std::ptr::null_mut(), || {
        let release = boundary::optional_text(release, "release")?;
        let set = set_id(set)?;
        run((expander, database), (callback, data), &mut |expander, writer, progress| {
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
    use std::ptr::null_mut;

    use fnstore::database;
    use fnstore::transfer::ImportOptions;

    use super::*;
    use crate::boundary::give;
    use crate::database::{fnstore_close, fnstore_import, fnstore_open};
    use crate::error::{fnstore_error_code, fnstore_error_free};

    extern "C-unwind" fn panics(_files: u64, _of: u64, _data: *mut c_void) -> i32 {
        panic!("of the caller")
    }

    extern "C-unwind" fn panics_later(_at: *const Progress, _data: *mut c_void) -> i32 {
        panic!("of the caller")
    }

    /// The code of an error, which is freed.
    fn code(error: *mut Error) -> String {
        let code = boundary::text(fnstore_error_code(error), "code").unwrap().to_owned();
        fnstore_error_free(error);
        code
    }

    #[test]
    fn what_a_callback_throws_is_an_error_and_the_handle_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = CString::new(dir.path().to_str().unwrap()).unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/mini-framenet");
        let release = CString::new(mini).unwrap();
        let mut error = null_mut();
        let open = fnstore_open(path.as_ptr(), 2, &mut error);
        let import = |callback, error: &mut *mut Error| {
            let (name, language) = (c"mini".as_ptr(), c"en".as_ptr());
            fnstore_import(open, release.as_ptr(), name, language, callback, null_mut(), error)
        };
        assert!(import(Some(panics), &mut error).is_null());
        assert_eq!(code(error), "F-callback");
        let report = import(None, &mut error);
        assert!(!report.is_null() && error.is_null());
        boundary::take_text(report);
        fnstore_close(open);
        assert!(
            database::Database::open(dir.path()).is_ok_and(|it| it.releases().unwrap().len() == 1)
        );
    }

    #[test]
    fn a_run_whose_callback_throws_ends_with_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/mini-framenet");
        let writer = database::Database::open_writer(dir.path()).unwrap();
        writer.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {}).unwrap();
        writer.close().unwrap();
        let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../models");
        let (recipe, options) = recipe(models, Some(r#"{"rounds": 1, "beam": 2}"#)).unwrap();
        let expander = give(Expander(Mutex::new(expand::Expander::open(recipe, options).unwrap())));
        let path = CString::new(dir.path().to_str().unwrap()).unwrap();
        let mut error = null_mut();
        let open = fnstore_open(path.as_ptr(), 1, &mut error);
        let query = c"lu=audit.v".as_ptr();
        let report =
            fnstore_expand(expander, open, query, Some(panics_later), null_mut(), &mut error);
        assert!(report.is_null());
        assert_eq!(code(error), "F-callback");
        fnstore_expander_free(expander);
        fnstore_close(open);
    }

    #[test]
    fn a_panic_of_the_library_is_an_error() {
        let mut error = null_mut();
        let given = call(&mut error, 7, || -> Result<i32> { panic!("a mistake") });
        assert_eq!((given, code(error).as_str()), (7, "F-panic"));
    }
}
