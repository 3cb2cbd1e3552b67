//! A file that one process has for itself.

use std::fs::{File, TryLockError};
use std::ops::Deref;

/// An open file that nobody else locks until this is dropped. The lock is the operating system's,
/// so it ends with its process however that ends.
#[derive(Debug)]
pub struct LockedFile(File);

impl LockedFile {
    /// Locks an open file; gives it back where that fails.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] when somebody else has it locked; another when it cannot be
    /// locked, as on a file system without locks.
    pub fn lock(file: File) -> Result<Self, (File, TryLockError)> {
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(error) => Err((file, error)),
        }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing alone is not enough: a process that another thread is about to start has the file
        // as well, and would hold the lock until it runs its program.
        let _ = self.0.unlock();
    }
}
