//! What a path holds that is to be imported.

use std::io;
use std::path::Path;

use crate::lexica::kind_at;
use crate::model::ResourceKind;
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
    /// A lexicon of another kind than FrameNet's.
    Resource(ResourceKind),
}

/// Bytes of a file that are looked at to tell what it is.
const LOOKED_AT: u64 = 4096;

impl ImportKind {
    /// What a path holds: JSON lines by its name or its first character.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        if let Some(kind) = kind_at(path) {
            return Ok(Self::Resource(kind));
        }
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
        Ok(Self::Framenet)
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
        assert_eq!(of(&data.join("mini-wordnet")), ImportKind::Resource(ResourceKind::Wordnet));
        for (name, kind) in [
            ("mini-verbnet", ResourceKind::Verbnet),
            ("mini-propbank", ResourceKind::Propbank),
            ("mini-semlink", ResourceKind::Mappings),
            ("mini-semlink/vn-fn2.json", ResourceKind::Mappings),
        ] {
            assert_eq!(of(&data.join(name)), ImportKind::Resource(kind), "{name}");
        }
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
