//! What a write's records must find, in the write itself or in the release: frames, LUs, sentences,
//! and the text that spans lie in. Without them a set could not be shown, nor the rest exported.

use std::collections::HashMap;

use super::{EditError, Result, Write};
use crate::model::{
    AnnotationSet, Extent, FrameId, IdSpace, LexUnit, LuId, ReleaseId, Sentence, SentenceId, Span,
};
use crate::store::Store;

/// Looks at a write before it is put into a batch.
pub(super) struct WriteCheck<'a> {
    store: &'a Store,
    release: ReleaseId,
    sentences: HashMap<SentenceId, &'a Sentence>,
    /// Frames that were looked up, and whether they are there.
    frames: HashMap<FrameId, bool>,
    /// So for LUs; those of the write are there.
    lexunits: HashMap<(FrameId, LuId), bool>,
}

impl<'a> WriteCheck<'a> {
    pub(super) fn new(store: &'a Store, release: ReleaseId, write: &'a Write) -> Self {
        let sentences = write.sentences.iter().map(|sentence| (sentence.id, sentence)).collect();
        let lexunits = write.lexunits.iter().map(|lu| ((lu.frame, lu.id), true)).collect();
        Self { store, release, sentences, frames: HashMap::new(), lexunits }
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

    /// That a set's LU and sentence are there, and its spans in the sentence's text.
    pub(super) fn set(&mut self, set: &AnnotationSet) -> Result<()> {
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
                let there = self.store.sentence(self.release, set.sentence)?;
                let absent = || EditError::absent("sentence", set.sentence);
                spans_lie_in(set, &there.ok_or_else(absent)?.text)
            }
        }
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
