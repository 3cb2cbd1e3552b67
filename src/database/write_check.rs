//! What a write's records must find, in the write itself or in the release: frames, LUs, sentences,
//! and the text that spans lie in. Without them a set could not be shown, nor the rest exported.

use std::collections::HashMap;

use super::reindex::LastSentence;
use super::{EditError, Result, Write};
use crate::model::{
    AnnotationSet, Extent, FrameId, IdSpace, LexUnit, LuId, OutOfRange, ReleaseId, Sentence,
    SentenceId, Span, Verification,
};
use crate::store::Store;

/// Looks at a write before it is put into a batch.
pub(super) struct WriteCheck<'a> {
    store: &'a Store,
    release: ReleaseId,
    sentences: HashMap<SentenceId, &'a Sentence>,
    /// The last sentence that was read because the write does not bring it along.
    stored: LastSentence,
    /// Frames that were looked up, and whether they are there.
    frames: HashMap<FrameId, bool>,
    /// So for LUs; those of the write are there.
    lexunits: HashMap<(FrameId, LuId), bool>,
}

impl<'a> WriteCheck<'a> {
    pub(super) fn new(store: &'a Store, release: ReleaseId, write: &'a Write) -> Self {
        let sentences = write.sentences.iter().map(|sentence| (sentence.id, sentence)).collect();
        let lexunits = write.lexunits.iter().map(|lu| ((lu.frame, lu.id), true)).collect();
        let stored = LastSentence::default();
        Self { store, release, sentences, stored, frames: HashMap::new(), lexunits }
    }

    /// That an LU's frame is there.
    pub(super) fn lexunit(&mut self, lu: &LexUnit) -> Result<()> {
        let is_there = match self.frames.get(&lu.frame) {
            Some(known) => *known,
            None => self.store.frame(self.release, lu.frame)?.is_some(),
        };
        self.frames.insert(lu.frame, is_there);
        if is_there { Ok(()) } else { Err(EditError::absent("frame", lu.frame).into()) }
    }

    /// That a sentence has the text which it had: spans count on it. Generated ones are named by
    /// what they are made of, and not looked up.
    pub(super) fn sentence(&self, sentence: &Sentence, there: Option<&Sentence>) -> Result<()> {
        let Some(there) = there.filter(|there| there.text != sentence.text) else { return Ok(()) };
        let expected = format!("`{}`, the text of {}", there.text, there.id);
        Err(EditError::value("text", &sentence.text, expected).into())
    }

    /// That a set's LU and sentence are there, its spans in the sentence's text, and its numbers in
    /// their ranges.
    pub(super) fn set(&mut self, set: &AnnotationSet) -> Result<()> {
        set.provenance.check_ranges().map_err(|OutOfRange { field, found, expected }| {
            EditError::value(
                field,
                found,
                format!("{expected}, in the provenance of set {}", set.id),
            )
        })?;
        let key = (set.frame, set.lu);
        let is_there = match self.lexunits.get(&key) {
            Some(known) => *known,
            None => self.store.lexunit(self.release, set.frame, set.lu)?.is_some(),
        };
        self.lexunits.insert(key, is_there);
        if !is_there {
            let id = format!("{} of frame {}", set.lu, set.frame);
            return Err(EditError::absent("LU", id).into());
        }
        match self.sentences.get(&set.sentence) {
            Some(sentence) => spans_lie_in(set, &sentence.text),
            None => {
                let there = self.stored.of(self.store, self.release, set)?;
                let absent = || EditError::absent("sentence", set.sentence);
                spans_lie_in(set, &there.ok_or_else(absent)?.text)
            }
        }
    }
}

impl WriteCheck<'_> {
    /// That the set of an answer is there, in the release or among those of the write, and the
    /// answer's numbers in their ranges.
    pub(super) fn verification(&self, of: &Verification, write: &Write) -> Result<()> {
        of.check_ranges().map_err(|OutOfRange { field, found, expected }| {
            let expected = format!("{expected}, in the verification of set {}", of.set);
            EditError::value(field, found, expected)
        })?;
        let is_there = write.sets.iter().any(|set| set.id == of.set)
            || self.store.set_location(self.release, of.set)?.is_some();
        if is_there { Ok(()) } else { Err(EditError::absent("annotation set", of.set).into()) }
    }
}

/// That every span of a set lies on character boundaries of a text.
fn spans_lie_in(set: &AnnotationSet, text: &str) -> Result<()> {
    let check = |span: &Span, field: &dyn Fn() -> String| {
        let is_boundary = |at: u32| text.is_char_boundary(at as usize);
        if span.start <= span.end && is_boundary(span.start) && is_boundary(span.end) {
            return Ok(());
        }
        let value = format!("{}..{}", span.start, span.end);
        let expected = format!(
            "a span on character boundaries of the {} bytes of {}, that of set {}",
            text.len(),
            set.sentence,
            set.id
        );
        Err(EditError::value(field(), value, expected))
    };
    for (at, span) in set.targets.iter().enumerate() {
        check(span, &|| format!("targets[{at}]"))?;
    }
    for (layer_at, layer) in set.layers.iter().enumerate() {
        for (at, label) in layer.labels.iter().enumerate() {
            if let Extent::Overt(span) = &label.extent {
                check(span, &|| format!("layers[{layer_at}].labels[{at}].span"))?;
            }
        }
    }
    Ok(())
}

/// Whether a sentence of this id is looked up before it is written.
pub(super) fn is_looked_up(sentence: SentenceId) -> bool {
    sentence.space() != IdSpace::Generated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Database;
    use crate::transfer::ImportOptions;

    #[test]
    fn a_sentence_is_read_once_for_the_sets_of_it_that_follow_each_other() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        let options = ImportOptions::default();
        let release = database.import(mini.as_ref(), &options, &mut |_| {}).unwrap().release.id;
        let sets = database.store().annotation_sets(release).unwrap();
        let sets: Vec<AnnotationSet> = sets.map(std::result::Result::unwrap).collect();
        let one = &sets[0];
        let other = sets.iter().find(|set| set.sentence != one.sentence).unwrap();
        let write = Write::default();
        let mut check = WriteCheck::new(database.store(), release, &write);
        for set in [one, one, one, other, other] {
            check.set(set).unwrap();
        }
        assert_eq!(check.stored.reads, 2);
    }
}
