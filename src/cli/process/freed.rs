//! Memory that was freed, and that allocators keep.
//!
//! RocksDB has the system's allocator. That of glibc keeps what is freed apart by threads, so that
//! a commit of a hundred megabytes, which several threads write to files, leaves two hundred more.
//! The program's own keeps pages for a while that nothing stands in: after a shard was read, a
//! hundred megabytes beside what the commit needs.

#![allow(unsafe_code, reason = "allocators are told how to keep freed memory")]

use std::ffi::{c_int, c_long};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::{
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{Builder, JoinHandle},
    time::Duration,
};

/// Bytes from which on glibc takes a block from the system, and gives it back at once. Left to
/// itself it raises them to what was freed last: the tables in which RocksDB gathers rows.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED: c_int = 256 << 10;

/// `mi_option_purge_delay` of `mimalloc.h`: milliseconds until empty pages are given back.
const PURGE_DELAY: c_int = 15;

unsafe extern "C" {
    /// Of mimalloc, the program's allocator.
    fn mi_option_set(option: c_int, value: c_long);
}

/// How often glibc gives back what lies free between blocks that are in use: packing files leaves
/// two hundred megabytes of it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TRIM: Duration = Duration::from_millis(200);

/// While it lives, memory that is given back goes to the system.
pub(crate) struct GivingBack {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

/// From now on what is given back goes to the system, and all threads take what any of them has
/// given back. It costs time where many of them read at once, and nothing where one reads a file
/// into the store.
pub(crate) fn give_back() -> GivingBack {
    // SAFETY: the call takes no pointer, and a value that it does not know changes nothing.
    unsafe { mi_option_set(PURGE_DELAY, 0) };
    GivingBack {
        #[cfg(all(target_os = "linux", target_env = "gnu"))]
        thread: trimming(),
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trimming() -> Option<(Sender<()>, JoinHandle<()>)> {
    // SAFETY: as above, for both.
    unsafe {
        let _ = libc::mallopt(libc::M_ARENA_MAX, 1);
        let _ = libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
    }
    let (sender, receiver) = channel();
    let trim = move || {
        while receiver.recv_timeout(TRIM) == Err(RecvTimeoutError::Timeout) {
            // SAFETY: the call takes no pointer, and locks what it works on.
            let _ = unsafe { libc::malloc_trim(0) };
        }
    };
    // Without the thread more memory is taken, and nothing else.
    let thread = Builder::new().name("give back".to_owned()).spawn(trim).ok()?;
    Some((sender, thread))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
impl Drop for GivingBack {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
