//! How many files the program may open.

/// The most that macOS takes for a process, whatever it says.
#[cfg(target_os = "macos")]
const MOST: u64 = 10_240;

/// Raises the soft limit on open files to the hard one: a reader keeps all files of a store open,
/// and a shell's soft limit is often 1,024 or 256. Where that fails the limit stays.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) fn raise_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    #[cfg(target_os = "macos")]
    {
        limit.current = Some(limit.maximum.map_or(MOST, |maximum| maximum.min(MOST)));
    }
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn raise_limit() {}
