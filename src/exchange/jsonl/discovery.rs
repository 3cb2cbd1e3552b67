//! What searches found of words, as JSON.

use serde::{Deserialize, Serialize};

use super::Checked;
use super::annotation::SpanRecord;
use super::recorded::Recorded;
use crate::exchange::error::Fault;
use crate::model::{
    AnnotationSetId, Discovery, FoundSentence, FrameId, LuId, RefusedWord, Span, is_name,
};
use crate::text::CharIndex;

record! {
    /// What a search found of a word, and the name of its frame; without a name the search itself.
    (Discovery, String) [(Discovery {
        frame, name, lu, score, evokes, slot, support, likeness, sources, sentences, refused,
        candidates, asked, verifier, time
    }, frame_name)]
    as DiscoveryRecord of Discovery {
        frame: (FrameId, String) = (frame, frame_name),
        lu: (LuId, String) = (lu, name),
        score: f32 = score,
        evokes: Option<f32> = evokes,
        slot: Option<f32> = slot,
        support: f32 = support,
        likeness: Option<f32> = likeness,
        sources: Vec<String> = sources,
        sentences: Vec<FoundSentence> = sentences,
        refused: Vec<RefusedWord> = refused,
        candidates: u32 = candidates,
        asked: u32 = asked,
        verifier: [u8; 16] = verifier,
        time: u64 = time,
    }
}

record! {
    RefusedWord as RefusedRecord { name: String, reason: String, by: String }
}

record! {
    FoundSentence [FoundSentence { text, target, evokes, made_of, place }] as FoundRecord {
        sentence: Marked = (Marked { text, target }),
        evokes: Option<f32> = evokes,
        made_of: Option<AnnotationSetId> = made_of,
        place: String = place,
    }
}

/// A text with a span.
pub(super) struct Marked {
    text: String,
    target: Span,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkedRecord {
    text: String,
    target: SpanRecord,
}

impl Recorded for Marked {
    type Record = MarkedRecord;

    fn into_record(self) -> MarkedRecord {
        let Self { text, target } = self;
        // The target of a found sentence is a part of it; what a damaged row says is none.
        let written = SpanRecord::new(target, &CharIndex::new(&text), &text);
        let target = written.unwrap_or_else(|_| SpanRecord::empty());
        MarkedRecord { text, target }
    }

    fn from_record(MarkedRecord { text, target }: MarkedRecord) -> Checked<Self> {
        let target = target.into_model(&CharIndex::new(&text), &text)?;
        Ok(Self { text, target })
    }
}

/// Whether what was found is within its ranges.
pub(super) fn check_discovery(found: &Discovery) -> Checked<()> {
    let answers = found.sentences.iter().map(|of| ("sentences", of.evokes));
    let own = [("score", Some(found.score)), ("evokes", found.evokes)];
    for (field, value) in own.into_iter().chain(answers) {
        if let Some(value) = value.filter(|value| !(0.0..=1.0).contains(value)) {
            return Err(Fault::value(field, value, "a number from 0 to 1"));
        }
    }
    if !found.name.is_empty() && !is_name(&found.name) {
        return Err(Fault::value("lu", &found.name, "a name without control characters"));
    }
    Ok(())
}
