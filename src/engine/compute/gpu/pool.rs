//! Buffers of a GPU that come back when nobody holds them any more.
//!
//! A network's step allocates the same sizes again and again. Sizes are rounded up to a few
//! classes. So a step of a slightly larger batch finds the buffers of the one before, and their
//! bind groups.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::faults::Faults;
use crate::engine::compute::ComputeError;

/// Smallest buffer; a binding must hold something.
const SMALLEST: u64 = 256;

/// Memory of the device, shared by clones.
#[derive(Clone)]
pub(in crate::engine::compute) struct Buffer {
    inner: Arc<Held>,
}

struct Held {
    raw: wgpu::Buffer,
    pool: Arc<Pool>,
}

impl Buffer {
    /// The buffer itself.
    pub(super) fn raw(&self) -> &wgpu::Buffer {
        &self.inner.raw
    }

    /// Size in bytes, at least what was asked for.
    pub(super) fn bytes(&self) -> u64 {
        self.inner.raw.size()
    }

    /// Whether nobody else holds it, so that it may be written in place.
    pub(in crate::engine::compute) fn is_unshared(&self) -> bool {
        Arc::strong_count(&self.inner) == 1
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes())
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.pool.give_back(self.raw.clone());
    }
}

/// The buffers of one device that nobody uses.
pub(super) struct Pool {
    device: wgpu::Device,
    faults: Arc<Faults>,
    /// Largest buffer that the device makes.
    largest: u64,
    /// Bytes that all buffers together may take, where a test says so.
    allowance: Option<u64>,
    free: Mutex<Free>,
    /// Bind groups by what they bind; they keep their buffers alive, so they go when memory is
    /// short.
    groups: Mutex<HashMap<GroupKey, wgpu::BindGroup>>,
}

/// A shader's name, then what it binds: buffer, first byte, number of bytes.
pub(super) type GroupKey = (&'static str, Vec<(wgpu::Buffer, u64, u64)>);

/// Bind groups that are kept; a step of a network has about a hundred.
const MOST_GROUPS: usize = 4096;

#[derive(Default)]
struct Free {
    by_size: HashMap<u64, Vec<wgpu::Buffer>>,
    /// Bytes of all buffers, free or held.
    total: u64,
}

impl Pool {
    pub(super) fn new(
        device: wgpu::Device,
        faults: Arc<Faults>,
        largest: u64,
        allowance: Option<u64>,
    ) -> Self {
        let (free, groups) = (Mutex::default(), Mutex::default());
        Self { device, faults, largest, allowance, free, groups }
    }

    /// The bind group of a key, made when it is not there.
    pub(super) fn group(
        &self,
        key: GroupKey,
        make: impl FnOnce() -> wgpu::BindGroup,
    ) -> wgpu::BindGroup {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if groups.len() >= MOST_GROUPS {
            groups.clear();
        }
        groups.entry(key).or_insert_with(make).clone()
    }

    /// A buffer of at least so many bytes; what it holds is left over from an earlier use.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> Result<Buffer, ComputeError> {
        self.faults.check()?;
        let size = class(bytes);
        let found = self.lock().by_size.get_mut(&size).and_then(Vec::pop);
        let raw = match found {
            Some(raw) => raw,
            None => self.create(size.min(self.largest).max(bytes))?,
        };
        Ok(Buffer { inner: Arc::new(Held { raw, pool: Arc::clone(self) }) })
    }

    /// Lets go of every buffer that nobody uses.
    pub(super) fn trim(&self) {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut free = self.lock();
        let dropped: u64 =
            free.by_size.iter().map(|(size, buffers)| size * buffers.len() as u64).sum();
        free.by_size.clear();
        free.total -= dropped;
    }

    fn create(&self, size: u64) -> Result<wgpu::Buffer, ComputeError> {
        if size > self.largest {
            return Err(ComputeError::Memory { bytes: size, limit: self.largest });
        }
        let room = |pool: &Self| {
            pool.allowance.is_none_or(|allowance| pool.lock().total + size <= allowance)
        };
        if !room(self) {
            self.trim();
        }
        if !room(self) {
            return Err(ComputeError::Memory { bytes: size, limit: self.allowance.unwrap_or(0) });
        }
        let raw = self.make(size).or_else(|_| {
            // What lies unused may be what is missing.
            self.trim();
            self.make(size)
        })?;
        self.lock().total += size;
        Ok(raw)
    }

    fn make(&self, size: u64) -> Result<wgpu::Buffer, ComputeError> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let label = Some("tensor");
        let raw = self.device.create_buffer(&wgpu::BufferDescriptor {
            label,
            size,
            usage,
            mapped_at_creation: false,
        });
        match self.faults.take_memory() {
            true => Err(ComputeError::Memory { bytes: size, limit: self.largest }),
            false => Ok(raw),
        }
    }

    fn give_back(&self, raw: wgpu::Buffer) {
        let size = raw.size();
        let mut free = self.lock();
        if size == class(size) {
            free.by_size.entry(size).or_default().push(raw);
        } else {
            free.total -= size;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Free> {
        // A panic in between leaves at worst a buffer that is made again.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size that a request is rounded up to: four steps for each doubling.
fn class(bytes: u64) -> u64 {
    let bytes = bytes.max(SMALLEST);
    let step = (1 << bytes.ilog2()) / 4;
    bytes.div_ceil(step) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_is_asked_for_and_waste_at_most_a_quarter() {
        for bytes in (1..5000).chain([1 << 20, (1 << 30) + 1]) {
            let size = class(bytes);
            assert!(size >= bytes && size.is_multiple_of(4), "{bytes} {size}");
            assert!(size <= (bytes + bytes / 4).max(SMALLEST) + 64, "{bytes} {size}");
            assert_eq!(class(size), size);
        }
    }
}
