//! Files that are mapped into memory, of which little stays there.
//!
//! Whoever reads all of an index, as a merge of its segments or an audit does, would have all of
//! its bytes in memory at the end. The system could take them back and does so only in need. Here
//! they go whenever some have been handed out, and five times a second while a file is written: a
//! merge reads for minutes what was handed out at its beginning. What is read again comes from the
//! system's cache.

#![allow(unsafe_code, reason = "the system is told which pages of a mapped file are not needed")]

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::Builder;
use std::time::Duration;

use tantivy::HasLen;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{Directory as _, FileHandle, MmapDirectory, OwnedBytes};

/// Bytes that are handed out before pages go.
const ROOM: usize = if cfg!(test) { 1 << 12 } else { 64 << 20 };

/// How often pages go while a file is written.
const PULSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 200 });

/// The mapped files of a directory.
#[derive(Debug, Clone, Default)]
pub(super) struct MappedFiles(Arc<Files>);

#[derive(Debug, Default)]
struct Files {
    handed_out: AtomicUsize,
    open: Mutex<Vec<Weak<dyn FileHandle>>>,
    beat: Mutex<Beat>,
}

/// Whether pages go now and then.
#[derive(Debug, Default)]
struct Beat {
    pulse: Weak<Pulse>,
    /// Whether a thread has them go; it may outlive a pulse, and then finds the next one.
    has_thread: bool,
}

/// While one lives, pages go five times a second.
#[derive(Debug)]
pub(super) struct Pulse(());

impl MappedFiles {
    /// Maps a file.
    pub(super) fn open(
        &self,
        directory: &MmapDirectory,
        path: &Path,
    ) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let file = directory.get_file_handle(path)?;
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|file| file.strong_count() > 0);
        open.push(Arc::downgrade(&file));
        Ok(Arc::new(MappedFile { file, files: Arc::clone(&self.0) }))
    }

    /// Has pages go as long as any of what this returns is there.
    pub(super) fn pulse(&self) -> Arc<Pulse> {
        let mut beat = self.0.beat();
        if let Some(pulse) = beat.pulse.upgrade() {
            return pulse;
        }
        let pulse = Arc::new(Pulse(()));
        beat.pulse = Arc::downgrade(&pulse);
        if !beat.has_thread {
            let files = Arc::clone(&self.0);
            // Without the thread more memory is taken, and nothing else.
            let thread = Builder::new().name("mapped pages".to_owned());
            beat.has_thread = thread.spawn(move || files.let_go_in_turn()).is_ok();
        }
        pulse
    }
}

impl Files {
    /// Takes note of bytes that are handed out.
    fn hand_out(&self, bytes: usize) {
        let before = self.handed_out.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) < ROOM {
            return;
        }
        self.let_all_go();
    }

    fn beat(&self) -> MutexGuard<'_, Beat> {
        self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has pages go now and then, until no file is written.
    fn let_go_in_turn(&self) {
        loop {
            std::thread::sleep(PULSE);
            let mut beat = self.beat();
            if beat.pulse.strong_count() == 0 {
                beat.has_thread = false;
                return;
            }
            drop(beat);
            self.let_all_go();
        }
    }

    fn let_all_go(&self) {
        self.handed_out.store(0, Ordering::Relaxed);
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for file in open.iter().filter_map(Weak::upgrade) {
            if let Ok(bytes) = file.read_bytes(0..file.len()) {
                let_go(&bytes);
            }
        }
    }
}

/// Has the pages of a mapped file go. They are read again when they are looked at.
#[cfg(target_os = "linux")]
fn let_go(file: &OwnedBytes) {
    let (start, bytes) = (file.as_slice().as_ptr(), file.len());
    // A file is mapped from its first byte on: whatever does not begin with a page is none.
    if bytes == 0 || !(start as usize).is_multiple_of(PAGE) {
        return;
    }
    // SAFETY: `MappedFiles` has files of `MmapDirectory` alone, which are mapped for reading and
    // stay mapped as long as `file` is there. Whoever looks at them finds the file's bytes, before
    // and after. A system that refuses leaves them where they are.
    let _ = unsafe { libc::madvise(start.cast_mut().cast(), bytes, libc::MADV_DONTNEED) };
}

#[cfg(not(target_os = "linux"))]
fn let_go(_file: &OwnedBytes) {}

/// The least size of a page.
#[cfg(target_os = "linux")]
const PAGE: usize = 4096;

struct MappedFile {
    file: Arc<dyn FileHandle>,
    files: Arc<Files>,
}

impl fmt::Debug for MappedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.fmt(formatter)
    }
}

impl HasLen for MappedFile {
    fn len(&self) -> usize {
        self.file.len()
    }
}

impl FileHandle for MappedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        self.files.hand_out(range.len());
        self.file.read_bytes(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_serves_all_pulses_and_ends_after_the_last() {
        let files = MappedFiles::default();
        for _ in 0..100 {
            let (first, second) = (files.pulse(), files.pulse());
            assert!(Arc::ptr_eq(&first, &second));
            assert!(Arc::strong_count(&files.0) <= 2, "a thread holds the files");
        }
        let ends = (0..1000).any(|_| {
            std::thread::sleep(PULSE);
            Arc::strong_count(&files.0) == 1
        });
        assert!(ends && !files.0.beat().has_thread);
        let _pulse = files.pulse();
        assert!(files.0.beat().has_thread);
    }

    #[test]
    fn bytes_that_were_handed_out_are_forgotten_while_a_file_is_written() {
        let files = MappedFiles::default();
        let _pulse = files.pulse();
        files.0.hand_out(ROOM / 2);
        let is_forgotten = (0..1000).any(|_| {
            std::thread::sleep(PULSE);
            files.0.handed_out.load(Ordering::Relaxed) == 0
        });
        assert!(is_forgotten);
    }

    #[test]
    fn what_was_handed_out_stays_what_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let content: Vec<u8> = (0..5 * ROOM).map(|number| (number % 251) as u8).collect();
        std::fs::write(dir.path().join("file"), &content).unwrap();
        let directory = MmapDirectory::open(dir.path()).unwrap();
        let files = MappedFiles::default();
        let file = files.open(&directory, Path::new("file")).unwrap();
        let _pulse = files.pulse();
        let starts: Vec<usize> = (0..content.len() - 999).step_by(777).collect();
        let handed: Vec<_> =
            starts.iter().map(|start| file.read_bytes(*start..*start + 999).unwrap()).collect();
        assert!(handed.iter().map(|bytes| bytes.len()).sum::<usize>() > 5 * ROOM);
        for (start, bytes) in starts.into_iter().zip(handed) {
            assert_eq!(bytes.as_slice(), &content[start..start + 999]);
        }
    }
}
