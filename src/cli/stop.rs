//! Ctrl-C: it ends a command at once, or the first after the work in flight, the second at once.
//! Whatever the command has under a passing name goes with it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context as _;
use fnstore::durable;

use super::output::tell;

/// What Ctrl-C does.
#[derive(Clone)]
enum Mode {
    /// It ends the command, and says what that leaves.
    AtOnce(&'static str),
    /// The first raises the flag and says what is done before the end; the second ends the command.
    Finishing(&'static str, Arc<AtomicBool>),
}

static MODE: Mutex<Option<Mode>> = Mutex::new(None);

fn mode() -> std::sync::MutexGuard<'static, Option<Mode>> {
    MODE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Ends the command when Ctrl-C is pressed from now on, and says what that leaves.
pub(super) fn at_once(what_is_left: &'static str) -> anyhow::Result<()> {
    set(Mode::AtOnce(what_is_left))
}

/// Whether Ctrl-C was pressed from now on; `finishing` says what is done before the end.
pub(super) fn on_interrupt(finishing: &'static str) -> anyhow::Result<impl Fn() -> bool> {
    let stop = Arc::new(AtomicBool::new(false));
    set(Mode::Finishing(finishing, Arc::clone(&stop)))?;
    Ok(move || stop.load(Ordering::Relaxed))
}

/// Has Ctrl-C remove what is not whole, for a command that writes files and says no more of it.
pub(super) fn clean_up() -> anyhow::Result<()> {
    if mode().is_some() { Ok(()) } else { at_once("interrupted; no file was written") }
}

fn set(new: Mode) -> anyhow::Result<()> {
    static IS_HANDLED: OnceLock<Result<(), ctrlc::Error>> = OnceLock::new();
    *mode() = Some(new);
    let outcome = IS_HANDLED.get_or_init(|| ctrlc::set_handler(handle));
    match outcome {
        Ok(()) => Ok(()),
        Err(error) => Err(anyhow::anyhow!("{error}")).context("cannot handle Ctrl-C"),
    }
}

fn handle() {
    let asked = mode().clone();
    match asked {
        Some(Mode::Finishing(finishing, raised)) if !raised.swap(true, Ordering::Relaxed) => {
            tell(&format!("{finishing}; press Ctrl-C again to stop at once"));
            return;
        }
        Some(Mode::AtOnce(what_is_left)) => tell(what_is_left),
        _ => {}
    }
    durable::abandon();
    std::process::exit(130);
}
