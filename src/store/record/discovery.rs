//! The record of what a search found of a word in a frame.

use crate::model::{Discovery, FoundSentence, FrameId, RefusedWord};

fields! {
    Discovery {
        lu, score, evokes, slot, support, likeness, sources, sentences, refused, candidates, asked,
        verifier, time;
        absent frame: FrameId(0), name: String::new()
    }
    FoundSentence { text, target, evokes, made_of, place }
    RefusedWord { name, reason, by }
}

/// A record with something in every field.
#[cfg(test)]
pub(super) fn discovery() -> Discovery {
    use crate::model::{AnnotationSetId, IdSpace, LuId, Span};
    let sentence = |made_of, place: &str| FoundSentence {
        text: "Zo\u{e9} vetted it .".to_owned(),
        target: Span::new(5, 11),
        evokes: Some(0.75),
        made_of,
        place: place.to_owned(),
    };
    let exemplar = AnnotationSetId::new(IdSpace::Exemplar, 7012);
    let (name, reason, by) = ("roam.v".into(), "nearer-frame".into(), "Roaming".into());
    Discovery {
        frame: FrameId(102),
        name: "vet.v".to_owned(),
        lu: LuId(1 << 31),
        score: 0.5,
        evokes: Some(0.75),
        slot: Some(-1.5),
        support: 1.25,
        likeness: None,
        sources: vec!["synonym of examine.v".to_owned()],
        sentences: vec![sentence(None, "c.txt:3"), sentence(Some(exemplar), "")],
        refused: vec![RefusedWord { name, reason, by }],
        candidates: 9,
        asked: 2,
        verifier: [9; 16],
        time: 1_700_000_000,
    }
}
