//! What lies on a device and is made anew where that is lost.
//!
//! Weights are in files or on the host, so nothing is lost with a device but the call that was on its way, and that
//! is made again.

use std::sync::{Arc, Mutex, PoisonError};

use super::{ComputeError, Device};

/// An error that may say that a device was lost.
pub(crate) trait MayBeLoss {
    /// Whether it does.
    fn is_loss(&self) -> bool;
}

impl MayBeLoss for ComputeError {
    fn is_loss(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}

/// Something on a device, and how to put it onto another is known to whoever uses it.
#[derive(Debug)]
pub(crate) struct Renewable<T> {
    current: Mutex<(Device, Arc<T>)>,
}

impl<T> Clone for Renewable<T> {
    fn clone(&self) -> Self {
        Self { current: Mutex::new(self.current()) }
    }
}

impl<T> Renewable<T> {
    /// What lies on `device`.
    pub(crate) fn new(device: &Device, placed: T) -> Self {
        Self { current: Mutex::new((device.clone(), Arc::new(placed))) }
    }

    /// The device that it is on.
    pub(crate) fn device(&self) -> Device {
        self.current().0
    }

    fn current(&self) -> (Device, Arc<T>) {
        // A pair is replaced whole; it is in order whoever panicked.
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Does work that changes nothing when it fails: where the device is lost, `place` puts everything onto the one
    /// that follows, and the work is done again. The CPU, which ends the line, is never lost.
    ///
    /// `part` is the device to work with as long as it is the CPU, a part of its threads perhaps.
    pub(crate) fn run<R, E: MayBeLoss>(
        &self,
        part: &Device,
        place: impl Fn(&Device) -> Result<T, E>,
        work: impl Fn(&Device, &T) -> Result<R, E>,
    ) -> Result<R, E> {
        let (mut device, mut placed) = self.current();
        loop {
            let at = match (&device, part) {
                (Device::Cpu { .. }, Device::Cpu { .. }) => part,
                (current, _) => current,
            };
            match work(at, &placed) {
                Err(error) if error.is_loss() => {}
                other => return other,
            }
            placed = loop {
                device = device.renewed();
                match place(&device) {
                    Err(error) if error.is_loss() => {}
                    other => break Arc::new(other?),
                }
            };
            let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            *current = (device.clone(), Arc::clone(&placed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_fails_otherwise_is_not_done_again() {
        let three = Renewable::new(&Device::cpu(), 3);
        let place = |_: &Device| -> Result<i32, ComputeError> { panic!("nothing was lost") };
        let one = Device::Cpu { threads: 1 };
        let found = three.run(&one, place, |at, three| {
            assert_eq!(*at, one);
            Ok(three + 1)
        });
        assert_eq!(found.ok(), Some(4));
        let full = ComputeError::Memory { bytes: 2, limit: 1 };
        let found = three.run(&one, place, |_, _| -> Result<i32, _> { Err(full.clone()) });
        assert_eq!(found, Err(full));
    }
}
