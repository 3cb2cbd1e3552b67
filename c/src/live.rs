//! What C holds, by address: where handles are checked, what is freed twice, freed while a function
//! uses it, or of another kind, is told. The memory of what was freed is not used again there.
//!
//! They are where the variable `FNSTORE_CHECK_HANDLES` is set when the first handle is given, and in
//! every debug build. Elsewhere the caller is trusted.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

pub(crate) enum Removed {
    /// Its memory may be used again.
    Free,
    /// The table still knows its address.
    Keep,
}

struct Held {
    kind: &'static str,
    is_open: bool,
    /// Calls that use it now.
    uses: usize,
}

type Table = HashMap<usize, Held>;

/// `None` where nothing is checked.
static HELD: LazyLock<Option<Mutex<Table>>> = LazyLock::new(|| {
    let is_asked_for = std::env::var_os("FNSTORE_CHECK_HANDLES").is_some_and(|set| !set.is_empty());
    (cfg!(debug_assertions) || is_asked_for).then(Mutex::default)
});

fn held() -> Option<MutexGuard<'static, Table>> {
    HELD.as_ref().map(|held| held.lock().unwrap_or_else(PoisonError::into_inner))
}

pub(crate) fn add(given: *const c_void, kind: &'static str) {
    if let Some(mut held) = held() {
        held.insert(given.addr(), Held { kind, is_open: true, uses: 0 });
    }
}

/// Whether it may be used as what it is said to be; [`end_use`] follows then.
pub(crate) fn begin_use(given: *const c_void, kind: &str) -> bool {
    let Some(mut held) = held() else { return true };
    let known = held.get_mut(&given.addr()).filter(|it| it.kind == kind && it.is_open);
    known.map(|it| it.uses += 1).is_some()
}

pub(crate) fn end_use(given: *const c_void) {
    if let Some(it) = held().as_mut().and_then(|held| held.get_mut(&given.addr())) {
        it.uses -= 1;
    }
}

pub(crate) fn remove(given: *const c_void, kind: &str) -> Removed {
    let Some(mut held) = held() else { return Removed::Free };
    match held.get_mut(&given.addr()) {
        Some(it) if it.kind == kind && it.is_open && it.uses == 0 => it.is_open = false,
        Some(Held { kind: of, is_open: false, .. }) => end(&format!("a {of} is freed twice")),
        Some(Held { kind: of, .. }) if *of != kind => {
            end(&format!("a {of} is freed as a {kind}"));
        }
        Some(_) => end(&format!("a {kind} is freed while it is used")),
        None => end(&format!("what is freed as a {kind} was never given")),
    }
    Removed::Keep
}

fn end(message: &str) -> ! {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "fnstore: {message}");
    std::process::abort()
}
