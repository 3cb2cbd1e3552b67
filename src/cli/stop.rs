//! Ctrl-C: it ends a command at once, or the first after the work in flight, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use super::output::tell;

/// Ends the command when Ctrl-C is pressed from now on, and says what that leaves.
pub(super) fn at_once(what_is_left: &'static str) -> anyhow::Result<()> {
    let end = move || {
        tell(what_is_left);
        std::process::exit(130);
    };
    ctrlc::set_handler(end).context("cannot handle Ctrl-C")
}

/// Whether Ctrl-C was pressed from now on; `finishing` says what is done before the end.
pub(super) fn on_interrupt(finishing: &'static str) -> anyhow::Result<impl Fn() -> bool> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        tell(&format!("{finishing}; press Ctrl-C again to stop at once"));
    })
    .context("cannot handle Ctrl-C")?;
    Ok(move || stop.load(Ordering::Relaxed))
}
