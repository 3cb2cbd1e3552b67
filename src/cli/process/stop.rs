//! Ctrl-C and SIGTERM: they end a command at once, or the first after the work in flight, the
//! second at once. Whatever the command has under a passing name goes with it. SIGHUP stays what
//! the system makes of it, so that a command under `nohup` goes on.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::Context as _;
use fnstore::durable;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::cli::print::output::tell;

/// What a signal does.
#[derive(Clone)]
enum Mode {
    /// It ends the command, and says what that leaves. What is given puts things right before.
    AtOnce(fn(), &'static str),
    /// The first raises the flag and says what is done before the end; the second ends the command.
    Finishing(&'static str, Arc<AtomicBool>),
}

static MODE: Mutex<Option<Mode>> = Mutex::new(None);

/// The last signal that came.
static SIGNAL: AtomicI32 = AtomicI32::new(SIGINT);

fn mode() -> std::sync::MutexGuard<'static, Option<Mode>> {
    MODE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Ends the command at a signal from now on, and says what that leaves.
pub(crate) fn at_once(what_is_left: &'static str) -> anyhow::Result<()> {
    at_once_after(|| {}, what_is_left)
}

/// As [`at_once`], and puts things right before.
pub(crate) fn at_once_after(put_right: fn(), what_is_left: &'static str) -> anyhow::Result<()> {
    set(Mode::AtOnce(put_right, what_is_left))
}

/// Whether a signal came from now on; `finishing` says what is done before the end.
pub(crate) fn on_interrupt(finishing: &'static str) -> anyhow::Result<impl Fn() -> bool> {
    let stop = Arc::new(AtomicBool::new(false));
    set(Mode::Finishing(finishing, Arc::clone(&stop)))?;
    Ok(move || stop.load(Ordering::Relaxed))
}

/// Has a signal remove what is not whole, for a command that writes files and says no more of it.
pub(crate) fn clean_up() -> anyhow::Result<()> {
    if mode().is_some() { Ok(()) } else { at_once("interrupted; no file was written") }
}

/// The exit code of a command that a signal ended: 128 and the signal's number.
pub(crate) fn exit_code() -> u8 {
    match SIGNAL.load(Ordering::Relaxed) {
        SIGTERM => 143,
        _ => 130,
    }
}

fn set(new: Mode) -> anyhow::Result<()> {
    static IS_HANDLED: OnceLock<Result<(), io::Error>> = OnceLock::new();
    *mode() = Some(new);
    match IS_HANDLED.get_or_init(listen) {
        Ok(()) => Ok(()),
        Err(error) => Err(anyhow::anyhow!("{error}")).context("cannot handle signals"),
    }
}

/// Has a file that reaches the limit on its size give an error, as a full disk does. Unhandled, the
/// signal for it kills the process.
#[cfg(unix)]
pub(crate) fn outlive_size_limits() {
    // Where that fails the signal stays what it is.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

#[cfg(not(unix))]
pub(crate) fn outlive_size_limits() {}

/// Has a thread handle the signals, one after another.
#[cfg(unix)]
fn listen() -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let forever = move || signals.forever().for_each(handle);
    std::thread::Builder::new().name("signals".to_owned()).spawn(forever)?;
    Ok(())
}

/// As above, where no signals can be waited for: a thread looks for them.
#[cfg(not(unix))]
fn listen() -> io::Result<()> {
    use std::time::Duration;
    let came = [SIGINT, SIGTERM].map(|signal| (signal, Arc::new(AtomicBool::new(false))));
    for (signal, flag) in &came {
        signal_hook::flag::register(*signal, Arc::clone(flag))?;
    }
    let forever = move || loop {
        std::thread::sleep(Duration::from_millis(50));
        let came = came.iter().filter(|(_, flag)| flag.swap(false, Ordering::Relaxed));
        came.for_each(|(signal, _)| handle(*signal));
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(forever)?;
    Ok(())
}

fn handle(signal: i32) {
    SIGNAL.store(signal, Ordering::Relaxed);
    let asked = mode().clone();
    match asked {
        Some(Mode::Finishing(finishing, raised)) if !raised.swap(true, Ordering::Relaxed) => {
            let second = if signal == SIGINT { "press Ctrl-C again" } else { "signal again" };
            tell(&format!("{finishing}; {second} to stop at once"));
            return;
        }
        Some(Mode::AtOnce(put_right, what_is_left)) => {
            put_right();
            tell(what_is_left);
        }
        _ => {}
    }
    durable::abandon();
    std::process::exit(exit_code().into());
}
