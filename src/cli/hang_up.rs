//! Whether the reader of the output has ended, for a command that has nothing to write meanwhile.

use std::io;

use fnstore::database::Database;

/// Tells that a pipe which is written to has no reader any more.
///
/// A pipe says so to whoever is about to write. What is handed over here is the rest of a file that
/// was read to its end: nothing. Linux has the pipe looked at all the same. Elsewhere, and where
/// the output is no pipe, the next record tells.
#[derive(Debug)]
pub(super) struct HangUp {
    #[cfg(target_os = "linux")]
    pipe: Pipe,
}

impl HangUp {
    /// Watches the program's output, where it is a pipe.
    pub(super) fn new(database: &Database) -> Option<Self> {
        #[cfg(target_os = "linux")]
        return Pipe::of_output(database).map(|pipe| Self { pipe });
        #[cfg(not(target_os = "linux"))]
        return Some(database).and(None);
    }

    /// Fails when nobody reads the output any more.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`].
    pub(super) fn check(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        self.pipe.check()?;
        Ok(())
    }
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Pipe {
    /// Read to its end.
    file: std::fs::File,
    output: std::fs::File,
}

#[cfg(target_os = "linux")]
impl Pipe {
    fn of_output(database: &Database) -> Option<Self> {
        use std::io::Seek as _;
        use std::os::fd::AsFd as _;
        use std::os::unix::fs::FileTypeExt as _;
        let output = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
        if !output.metadata().ok()?.file_type().is_fifo() {
            return None;
        }
        // Any file of the store will do; an empty one would not be handed over at all.
        let mut file = std::fs::File::open(database.dir().join("db/CURRENT")).ok()?;
        file.seek(io::SeekFrom::End(0)).ok()?;
        Some(Self { file, output })
    }

    fn check(&self) -> io::Result<()> {
        io::copy(&mut &self.file, &mut &self.output).map(drop)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::io::{Seek as _, Write as _};
    use std::os::fd::OwnedFd;

    use super::*;

    #[test]
    fn a_pipe_without_a_reader_is_told_and_nothing_is_written_before() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"content").unwrap();
        file.seek(io::SeekFrom::End(0)).unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let pipe = Pipe { file, output: File::from(OwnedFd::from(writer)) };
        pipe.check().unwrap();
        (&pipe.output).write_all(b"x").unwrap();
        let mut read = [0; 9];
        let length = io::Read::read(&mut reader, &mut read).unwrap();
        assert_eq!(&read[..length], b"x");
        drop(reader);
        assert_eq!(pipe.check().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
