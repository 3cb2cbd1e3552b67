//! What lies on a device and is made anew where that is lost.
//!
//! Weights are in files or on the host, so nothing is lost with a device but the call that was on
//! its way, and that is made again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{ComputeError, Device};

/// An error that may be a device's.
pub(crate) trait DeviceError {
    /// What went wrong in a kernel or on a device, if it did there.
    fn of_device(&self) -> Option<&ComputeError>;

    /// Whether the device was lost.
    fn is_loss(&self) -> bool {
        matches!(self.of_device(), Some(ComputeError::Lost { .. }))
    }

    /// Whether the device had no room or refused.
    fn is_refusal(&self) -> bool {
        matches!(self.of_device(), Some(ComputeError::Memory { .. } | ComputeError::Gpu { .. }))
    }
}

impl DeviceError for ComputeError {
    fn of_device(&self) -> Option<&Self> {
        Some(self)
    }
}

/// Puts something onto a device, or onto the one that follows where that is lost on the way.
pub(crate) fn place_on<T, E: DeviceError>(
    device: &Device,
    place: impl Fn(&Device) -> Result<T, E>,
) -> Result<(Device, T), E> {
    let mut device = device.clone();
    loop {
        match place(&device) {
            Err(error) if error.is_loss() => device = device.renewed(),
            other => return other.map(|placed| (device, placed)),
        }
    }
}

/// Puts something that lay on a lost device onto the one that follows, and onto the CPU where that
/// cannot take it: it may have come together bit by bit.
pub(crate) fn place_after<T, E: DeviceError>(
    lost: &Device,
    place: impl Fn(&Device) -> Result<T, E>,
) -> Result<(Device, T), E> {
    match place_on(&lost.renewed(), &place) {
        Err(error) if error.is_refusal() => {
            lost.tell("the GPU opened anew cannot take what lay on the one that was lost; the CPU takes over");
            place_on(&lost.host(), place)
        }
        other => other,
    }
}

/// Something on a device; whoever uses it knows how to put it onto another one.
#[derive(Debug)]
pub(crate) struct Renewable<T> {
    current: Mutex<(Device, Arc<T>)>,
}

impl<T> Clone for Renewable<T> {
    fn clone(&self) -> Self {
        Self { current: Mutex::new(self.current().clone()) }
    }
}

impl<T> Renewable<T> {
    /// Puts it onto a device.
    pub(crate) fn open<E: DeviceError>(
        device: &Device,
        place: impl Fn(&Device) -> Result<T, E>,
    ) -> Result<Self, E> {
        let (device, placed) = place_on(device, place)?;
        Ok(Self { current: Mutex::new((device, Arc::new(placed))) })
    }

    /// The device that it is on.
    pub(crate) fn device(&self) -> Device {
        self.current().0.clone()
    }

    fn current(&self) -> MutexGuard<'_, (Device, Arc<T>)> {
        // A pair is replaced whole; it is in order whoever panicked.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does work that changes nothing when it fails: where the device is lost, `place` puts
    /// everything onto the one that follows, and the work is done again. The CPU, which ends the
    /// line, is never lost.
    ///
    /// `part` is the device to work with as long as it is the CPU, a part of its threads perhaps.
    pub(crate) fn run<R, E: DeviceError>(
        &self,
        part: &Device,
        place: impl Fn(&Device) -> Result<T, E>,
        work: impl Fn(&Device, &T) -> Result<R, E>,
    ) -> Result<R, E> {
        loop {
            let (device, placed) = self.current().clone();
            let at = match (&device, part) {
                (Device::Cpu { .. }, Device::Cpu { .. }) => part,
                (current, _) => current,
            };
            match work(at, &placed) {
                Err(error) if error.is_loss() => {}
                other => return other,
            }
            let mut current = self.current();
            // Of several threads that met the loss the first one sees to it.
            if current.0 == device {
                let (next, placed) = place_after(&device, &place)?;
                *current = (next, Arc::new(placed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_fails_otherwise_is_not_done_again() {
        let three = Renewable::open(&Device::cpu(), |_| Ok::<_, ComputeError>(3)).unwrap();
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
