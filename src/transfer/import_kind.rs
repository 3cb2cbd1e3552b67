//! What a path holds that is to be imported.

use std::io;
use std::path::Path;

use crate::lexica::WordnetFiles;
use crate::text::input::{self, Form};

/// What an import reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    /// A release: FrameNet's XML.
    Framenet,
    /// The records of an export.
    Records,
    /// Texts with labelled spans.
    Spans,
    /// A WordNet.
    Wordnet,
}

/// Bytes of a file that are looked at to tell what it is.
const LOOKED_AT: u64 = 4096;

impl ImportKind {
    /// What a path holds: JSON lines by its name or its first character.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        if path.is_file() {
            let start = input::beginning(path, LOOKED_AT)?;
            if start.starts_with('{') || Form::of_name(path) == Some(Form::Json) {
                // A record of an export begins with its kind; a span-labelled text has no such
                // key.
                let key = start.trim_start_matches('{').trim_start();
                let is_record = key.starts_with("\"kind\"");
                return Ok(if is_record { Self::Records } else { Self::Spans });
            }
        }
        Ok(if WordnetFiles::are_at(path) { Self::Wordnet } else { Self::Framenet })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_by_their_first_and_the_rest_by_what_is_there() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let of = |path: &Path| ImportKind::of(path).unwrap();
        assert_eq!(of(&data.join("mini-framenet")), ImportKind::Framenet);
        assert_eq!(of(&data.join("mini-wordnet")), ImportKind::Wordnet);
        let dir = tempfile::tempdir().unwrap();
        let file = |text: &str| {
            let path = dir.path().join("lines");
            std::fs::write(&path, text).unwrap();
            path
        };
        assert_eq!(of(&file("{ \"kind\": \"release\"}\n")), ImportKind::Records);
        assert_eq!(of(&file("{\"text\": \"a\", \"spans\": []}\n")), ImportKind::Spans);
        assert_eq!(of(&file("a")), ImportKind::Framenet);
        assert_eq!(of(Path::new("nothing")), ImportKind::Framenet);
    }
}
