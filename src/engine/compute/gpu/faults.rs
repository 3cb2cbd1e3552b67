//! What goes wrong on a device beside the calls that cause it.
//!
//! wgpu reports errors through callbacks. They are kept here, and the next call that can fail
//! returns them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::engine::compute::ComputeError;

/// Errors of one device that have not been returned yet.
#[derive(Default)]
pub(super) struct Faults {
    adapter: String,
    /// The device is gone, and why.
    lost: Mutex<Option<String>>,
    /// An allocation failed.
    memory: AtomicBool,
    /// Any other error, the first of them.
    other: Mutex<Option<String>>,
}

impl Faults {
    pub(super) fn new(adapter: &str) -> Self {
        Self { adapter: adapter.to_owned(), ..Self::default() }
    }

    /// The device is lost.
    pub(super) fn lose(&self, reason: String) {
        lock(&self.lost).get_or_insert(reason);
    }

    /// An error that no call returned.
    pub(super) fn add(&self, error: &wgpu::Error) {
        match error {
            wgpu::Error::OutOfMemory { .. } => self.memory.store(true, Ordering::Relaxed),
            other => {
                lock(&self.other).get_or_insert_with(|| other.to_string());
            }
        }
    }

    /// Whether an allocation failed since the last call.
    pub(super) fn take_memory(&self) -> bool {
        self.memory.swap(false, Ordering::Relaxed)
    }

    /// An error of the device that has no kind of its own.
    pub(super) fn unknown(&self, reason: String) -> ComputeError {
        ComputeError::Gpu { adapter: self.adapter.clone(), reason }
    }

    /// The error that waits, if there is one. A lost device stays lost.
    pub(super) fn check(&self) -> Result<(), ComputeError> {
        let adapter = || self.adapter.clone();
        if let Some(reason) = &*lock(&self.lost) {
            return Err(ComputeError::Lost { adapter: adapter(), reason: reason.clone() });
        }
        if self.take_memory() {
            return Err(ComputeError::Memory { bytes: 0, limit: 0 });
        }
        match lock(&self.other).take() {
            Some(reason) => Err(self.unknown(reason)),
            None => Ok(()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept here is one value; it is whole whoever panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_device_stays_lost_and_another_error_is_told_once() {
        let faults = Faults::new("x");
        assert!(faults.check().is_ok());
        *lock(&faults.other) = Some("odd".to_owned());
        assert!(matches!(faults.check(), Err(ComputeError::Gpu { .. })));
        assert!(faults.check().is_ok());
        faults.lose("pulled out".to_owned());
        faults.lose("again".to_owned());
        for _ in 0..2 {
            let message = faults.check().unwrap_err().to_string();
            assert!(message.contains("`x`") && message.contains("pulled out"), "{message}");
        }
    }
}
