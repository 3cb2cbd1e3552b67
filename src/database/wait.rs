//! Waiting for commits, of this process or another.

use std::time::{Duration, Instant};

use super::{Database, Result};

/// Between two looks at what the writer acknowledged last: a file of a line.
const PAUSE: Duration = Duration::from_millis(10);

/// Between two looks at the store itself, for a writer that could not write that line.
const SELDOM: Duration = Duration::from_millis(500);

impl Database {
    /// Waits until something is committed after a revision, or time is over. Says whether
    /// [`changes`](Self::changes) gives anything.
    ///
    /// A commit of another process is noticed within some 10 ms, and the handle has moved on to it
    /// by then. Waiting reads one line of a file each time. A timeout of zero looks once. A
    /// [`snapshot`](Self::snapshot) sees none, and waits all the time.
    ///
    /// # Errors
    /// As [`changes`](Self::changes).
    pub fn wait_for_changes(&self, since: u64, timeout: Duration) -> Result<bool> {
        let begun = Instant::now();
        let mut seen = None;
        loop {
            let acknowledged = self.store.acknowledged();
            let is_new = |(before, at): &(Option<u64>, Instant)| {
                acknowledged != *before || at.elapsed() >= SELDOM
            };
            if seen.as_ref().is_none_or(is_new) {
                if self.changes(since)?.next().transpose()?.is_some() {
                    return Ok(true);
                }
                seen = Some((acknowledged, Instant::now()));
            }
            let left = timeout.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(PAUSE.min(left));
        }
    }
}
