//! Functions of the caller that are told how far something is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::boundary::said;
use crate::error::{Fault, Result};

/// Asks a caller's function, until it unwinds: what it threw is an error of the call that asked it.
#[derive(Default)]
pub(crate) struct Told(Option<Fault>);

impl Told {
    /// What the function answers; `stop` once it has unwound.
    pub(crate) fn ask<T>(&mut self, function: impl FnOnce() -> T, stop: T) -> T {
        if self.0.is_some() {
            return stop;
        }
        catch_unwind(AssertUnwindSafe(function)).unwrap_or_else(|panic| {
            let message = format!("the callback panicked: {}", said(&*panic));
            self.0 = Some(Fault::new("F-callback", message));
            stop
        })
    }

    /// Fails with what the function threw.
    pub(crate) fn check(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
