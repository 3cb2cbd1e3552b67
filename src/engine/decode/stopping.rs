//! Work that somebody may stop between its steps.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Asked between two steps of long work whether it goes on.
pub type GoesOn<'a> = dyn FnMut() -> ControlFlow<()> + 'a;

/// The answer of whoever stops nothing.
pub fn always() -> impl FnMut() -> ControlFlow<()> {
    || ControlFlow::Continue(())
}

/// How often somebody is asked at most.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks somebody whether work goes on, at most ten times a second however short its steps are.
pub struct Paced {
    last: Instant,
}

impl Paced {
    /// Nobody was asked yet, and is asked after the first pause.
    #[must_use]
    pub fn new() -> Self {
        Self { last: Instant::now() }
    }

    /// Asks if the last time was long ago.
    pub fn ask(&mut self, ask: impl FnOnce() -> ControlFlow<()>) -> ControlFlow<()> {
        if self.last.elapsed() < PAUSE {
            return ControlFlow::Continue(());
        }
        let answer = ask();
        self.last = Instant::now();
        answer
    }
}

impl Default for Paced {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_asked_before_a_pause_is_over() {
        let long_ago = Instant::now().checked_sub(PAUSE);
        let mut paced = Paced { last: long_ago.expect("the machine runs for longer") };
        assert!(paced.ask(|| ControlFlow::Break(())).is_break());
        // In an hour: however slow the machine is, no pause is over.
        let mut paced = Paced { last: Instant::now() + Duration::from_secs(3600) };
        assert!(paced.ask(|| unreachable!("asked too early")).is_continue());
    }
}
