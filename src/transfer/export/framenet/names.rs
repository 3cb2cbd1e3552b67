//! Names for the files of an export: safe, not too long, and the same in every export of a release.
//!
//! They are given in order of ids before anything is written, so they do not depend on which thread
//! comes first. An import takes what a file is about from its content, never from its name.

use std::collections::{HashMap, HashSet};

use super::Exporter;
use crate::database::Result;
use crate::framenet::{fitting, safe};
use crate::model::{CorpusId, Document, DocumentId, FrameId, LuId, NumberKind};

/// The names of an export's files, each below its folder.
#[derive(Default)]
pub(super) struct FileNames {
    frames: HashMap<FrameId, String>,
    lexunits: HashMap<(FrameId, LuId), String>,
    documents: HashMap<(CorpusId, DocumentId), String>,
    /// Frames with a file only for LUs whose sets came later.
    later: HashSet<FrameId>,
    taken: HashSet<String>,
}

impl FileNames {
    pub(super) fn frame(&self, frame: FrameId) -> String {
        self.frames.get(&frame).cloned().unwrap_or_default()
    }

    /// Whether the release itself has no file for a frame.
    pub(super) fn is_later(&self, frame: FrameId) -> bool {
        self.later.contains(&frame)
    }

    pub(super) fn lexunit(&self, frame: FrameId, lu: LuId) -> String {
        self.lexunits.get(&(frame, lu)).cloned().unwrap_or_default()
    }

    pub(super) fn document(&self, corpus: CorpusId, document: DocumentId) -> String {
        self.documents.get(&(corpus, document)).cloned().unwrap_or_default()
    }

    /// A name for a file of `folder` that no other has; what could lead out of the folder, or hide
    /// the file, is replaced.
    fn take(&mut self, folder: &str, stem: &str) -> String {
        let mut stem = safe(stem);
        let mut name = format!("{folder}/{}.xml", fitting(&stem));
        // Some file systems take capitals and small letters for the same.
        while !self.taken.insert(name.to_lowercase()) {
            stem.push('_');
            name = format!("{folder}/{}.xml", fitting(&stem));
        }
        name
    }
}

impl Exporter<'_> {
    /// Gives every frame, LU and document with a file its name; of those that would have the same,
    /// the one with the lowest id comes first.
    pub(super) fn name_files(&mut self) -> Result<()> {
        let mut names = FileNames::default();
        // An index may list a frame of the same name that has no file; it gets one only for LUs
        // with sets that came later.
        let mut later = Vec::new();
        for frame in self.store.frames(self.release.id)? {
            let frame = frame?;
            if frame.has_file {
                let file = names.take("frame", &frame.name);
                names.frames.insert(frame.id, file);
            } else if self.has_frame_file(&frame)? {
                later.push(frame);
            }
        }
        for frame in later {
            let file = names.take("frame", &frame.name);
            names.frames.insert(frame.id, file);
            names.later.insert(frame.id);
        }
        let mut lexunits: Vec<(FrameId, LuId)> = self.lexunits.keys().copied().collect();
        // The first of those that share an id comes first again.
        lexunits.sort_by_key(|(frame, lu)| {
            (self.numbers.is_told_apart(NumberKind::LexUnit, lu.0.into()), *frame, *lu)
        });
        let mut seen: HashMap<String, FrameId> = HashMap::new();
        let mut shared: HashSet<String> = HashSet::new();
        for (frame, lu) in &lexunits {
            let written = self.written(NumberKind::LexUnit, lu.0);
            if *seen.entry(written.clone()).or_insert(*frame) != *frame {
                shared.insert(written);
            }
        }
        for (frame, lu) in lexunits {
            let written = self.written(NumberKind::LexUnit, lu.0);
            // Of an id of several frames the file needs the frame in its name.
            let stem = if shared.contains(&written) {
                format!("lu{written}_{frame}")
            } else {
                format!("lu{written}")
            };
            let file = names.take("lu", &stem);
            names.lexunits.insert((frame, lu), file);
        }
        for (key, document) in &self.documents {
            if super::has_file(document) {
                let file = names.take("fulltext", &stem_of(document));
                names.documents.insert(*key, file);
            }
        }
        self.files = names;
        Ok(())
    }
}

/// What the file of a document was called, or would be.
fn stem_of(document: &Document) -> String {
    match document.file.as_str() {
        "" => format!("{}__{}", document.corpus_name, document.name),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framenet::LONGEST_STEM;

    #[test]
    fn no_name_leads_out_of_its_folder_or_stands_for_two_files() {
        let mut names = FileNames::default();
        assert_eq!(names.take("frame", "../x"), "frame/_.._x.xml");
        assert_eq!(names.take("frame", "Checking"), "frame/Checking.xml");
        assert_eq!(names.take("frame", "checking"), "frame/checking_.xml");
        assert_eq!(names.take("lu", ""), "lu/_.xml");
    }

    #[test]
    fn names_that_are_too_long_are_cut_and_stay_different() {
        let mut names = FileNames::default();
        let long = "s".repeat(LONGEST_STEM);
        assert_eq!(names.take("frame", &long), format!("frame/{long}.xml"));
        // The letters of a word in Greek take two bytes each: none is cut in half.
        for beginning in ["s", "\u{3bb}"] {
            let (one, other) = (format!("{}a", beginning.repeat(300)), beginning.repeat(300));
            let taken = [&one, &other, &one].map(|stem| names.take("frame", stem));
            let different: HashSet<&String> = taken.iter().collect();
            assert_eq!(different.len(), 3, "{taken:?}");
            for name in &taken {
                let bytes = name.len() - "frame/".len();
                assert!((250..=255).contains(&bytes), "{bytes} bytes: {name}");
            }
            let mut again = FileNames::default();
            assert_eq!(again.take("frame", &one), taken[0], "a name does not depend on others");
        }
    }
}
