//! Whether the reader of the output has ended, for a command that has nothing to write meanwhile.

use std::io;

/// Tells that a pipe or a socket which is written to has no reader any more. It says so to whoever
/// is about to write, and to whoever watches it; nothing is written here.
#[derive(Debug)]
pub(crate) struct HangUp {
    #[cfg(unix)]
    watched: unix::Watched,
}

impl HangUp {
    /// Watches the program's output; `None` where it is nothing that a reader can leave.
    pub(crate) fn new() -> Option<Self> {
        #[cfg(unix)]
        return unix::Watched::output().ok().map(|watched| Self { watched });
        #[cfg(not(unix))]
        return None;
    }

    /// Fails when nobody reads the output any more.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`].
    pub(crate) fn check(&mut self) -> io::Result<()> {
        #[cfg(unix)]
        self.watched.check()?;
        Ok(())
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd as _, AsRawFd as _};
    use std::time::Duration;

    use mio::unix::SourceFd;
    use mio::{Events, Interest, Poll, Token};

    #[derive(Debug)]
    pub(super) struct Watched {
        /// A handle of its own: the number stays the output's as long as it is watched.
        _output: File,
        poll: Poll,
        events: Events,
    }

    impl Watched {
        pub(super) fn output() -> io::Result<Self> {
            Self::of(File::from(io::stdout().as_fd().try_clone_to_owned()?))
        }

        /// Fails for files, which nobody leaves.
        pub(super) fn of(output: File) -> io::Result<Self> {
            let (poll, events) = (Poll::new()?, Events::with_capacity(4));
            let fd = output.as_raw_fd();
            poll.registry().register(&mut SourceFd(&fd), Token(0), Interest::WRITABLE)?;
            Ok(Self { _output: output, poll, events })
        }

        pub(super) fn check(&mut self) -> io::Result<()> {
            self.poll.poll(&mut self.events, Some(Duration::ZERO))?;
            match self.events.iter().any(|event| event.is_error() || event.is_write_closed()) {
                true => Err(io::ErrorKind::BrokenPipe.into()),
                false => Ok(()),
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use std::io::{Read as _, Write as _};
        use std::os::fd::OwnedFd;

        use super::*;

        #[test]
        fn a_pipe_without_a_reader_is_told_and_nothing_is_written_before() {
            let (mut reader, mut writer) = io::pipe().unwrap();
            let mut watched =
                Watched::of(File::from(OwnedFd::from(writer.try_clone().unwrap()))).unwrap();
            watched.check().unwrap();
            writer.write_all(b"x").unwrap();
            watched.check().unwrap();
            let mut read = [0; 9];
            let length = reader.read(&mut read).unwrap();
            assert_eq!(&read[..length], b"x");
            drop(reader);
            assert_eq!(watched.check().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }

        #[test]
        fn a_socket_without_a_reader_is_told() {
            let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
            let mut watched = Watched::of(File::from(OwnedFd::from(one))).unwrap();
            watched.check().unwrap();
            drop(other);
            assert_eq!(watched.check().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        }

        #[test]
        fn a_file_has_no_reader_that_could_leave() {
            assert!(Watched::of(tempfile::tempfile().unwrap()).is_err());
        }
    }
}
