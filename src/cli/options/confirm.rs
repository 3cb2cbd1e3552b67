//! Questions before what cannot be taken back.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::bail;

/// Asks on a terminal whether to do something, as in `remove 3 records`; without one, `--yes` is
/// needed.
pub(crate) fn is_confirmed(what: &str) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("would {what}; say `--yes`, as there is no terminal to ask on");
    }
    let mut stderr = io::stderr();
    write!(stderr, "{what}? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
