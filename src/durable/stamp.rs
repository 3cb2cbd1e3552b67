//! Whether a file is still the one that was opened.

use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Size of a file, and when it was written: equal as long as nobody writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    bytes: u64,
    written: Option<SystemTime>,
}

impl Stamp {
    /// The stamp of a file as it is now.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        Ok(Self { bytes: metadata.len(), written: metadata.modified().ok() })
    }
}
