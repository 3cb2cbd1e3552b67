//! Memory that RocksDB has given back.
//!
//! RocksDB has the system's allocator. That of glibc keeps what is freed apart by threads, so that
//! a commit of a hundred megabytes, which several threads write to files, leaves two hundred more.

#![allow(unsafe_code, reason = "the system's allocator is told how to keep freed memory")]

/// From now on all threads take what any of them has given back. It costs time where many of them
/// read at once, and nothing where one reads a file into the store.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn share() {
    // SAFETY: the call takes no pointer, and a value that it does not know changes nothing.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share() {}
