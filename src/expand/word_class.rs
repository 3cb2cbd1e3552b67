//! The part of speech of a new trigger in its sentence, and whether it is the seed's.
//!
//! A word of another part of speech in a trigger's place makes a sentence that nobody would write:
//! `the accurately answer`. Which part of speech a word has, its sentence decides, so a tagger
//! reads it.

use super::ExpandError;
use super::Result;
use crate::model::{Pos, Span};
use crate::tag::Tagger;
use crate::text::words;

/// Whether the words of a span have a tag that a part of speech may have. Yes where that cannot be
/// said: for parts of speech that are no content words, and for sentences that are too long for the
/// tagger.
pub(crate) fn fits(tagger: &Tagger, text: &str, targets: &[Span], pos: Pos) -> Result<bool> {
    if tags_of(pos).is_none() {
        return Ok(true);
    }
    Ok(tags(tagger, text, targets)?.is_none_or(|tags| may_be(&tags, pos)))
}

/// The part of speech of the words of a span: `pos` where they [may have it](fits), else that of a
/// tag of theirs.
pub(crate) fn of(tagger: &Tagger, text: &str, targets: &[Span], pos: Pos) -> Result<Pos> {
    if tags_of(pos).is_none() {
        return Ok(pos);
    }
    let Some(tags) = tags(tagger, text, targets)? else { return Ok(pos) };
    let others = [Pos::Verb, Pos::Noun, Pos::Adjective, Pos::Adverb];
    let found = std::iter::once(pos).chain(others).find(|pos| may_be(&tags, *pos));
    Ok(found.unwrap_or(pos))
}

/// The tags of the words of a span; none of a sentence that is too long for the tagger.
fn tags<'t>(tagger: &'t Tagger, text: &str, targets: &[Span]) -> Result<Option<Vec<&'t str>>> {
    let spans = words(text);
    let sentence: Vec<&str> = spans.iter().filter_map(|span| span.of(text)).collect();
    let mut tagged = tagger.tag_each(&[sentence]).map_err(|source| ExpandError::Tag { source })?;
    let Some(Ok(tagged)) = tagged.pop() else { return Ok(None) };
    let is_target = |word: &Span| targets.iter().any(|target| target.overlaps(*word));
    let of_target = spans.iter().zip(&tagged).filter(|(word, _)| is_target(word));
    Ok(Some(of_target.map(|(_, tag)| tag.name).collect()))
}

/// Whether one of the tags is one of a part of speech.
fn may_be(tags: &[&str], pos: Pos) -> bool {
    let of_pos = tags_of(pos).unwrap_or_default();
    tags.iter().any(|tag| of_pos.iter().any(|of| tag.starts_with(of)))
}

/// How the Penn Treebank's tags of a part of speech begin. Participles are adjectives where an
/// adjective stands; modals are verbs in FrameNet, and many determiners and numbers adjectives.
fn tags_of(pos: Pos) -> Option<&'static [&'static str]> {
    match pos {
        Pos::Noun => Some(&["NN"]),
        Pos::Verb => Some(&["VB", "MD"]),
        Pos::Adjective => Some(&["JJ", "VBN", "VBG", "DT", "PDT", "CD"]),
        Pos::Adverb => Some(&["RB", "WRB", "RP"]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::engine::Device;

    #[test]
    fn a_trigger_of_another_part_of_speech_does_not_fit() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let at = |name: &str| models.join(name);
        let tagger = Tagger::open(&at("tagger"), &at("aligner-encoder"), &Device::cpu()).unwrap();
        let text = "They quickly checked the accurate report .";
        let fits =
            |from: u32, to: u32, pos| fits(&tagger, text, &[Span::new(from, to)], pos).unwrap();
        let (quickly, checked, accurate, report) = ((5, 12), (13, 20), (25, 33), (34, 40));
        for (right, span) in [
            (Pos::Adverb, quickly),
            (Pos::Verb, checked),
            (Pos::Adjective, accurate),
            (Pos::Noun, report),
        ] {
            assert!(fits(span.0, span.1, right), "{right:?}");
        }
        assert!(!fits(checked.0, checked.1, Pos::Noun));
        assert!(!fits(report.0, report.1, Pos::Verb));
        assert!(!fits(quickly.0, quickly.1, Pos::Adjective));
        assert!(fits(quickly.0, quickly.1, Pos::Idiom), "no class of content words");
        assert!(fits(quickly.0, checked.1, Pos::Verb), "one of its words does");
        let of = |span: (u32, u32), pos| {
            super::of(&tagger, text, &[Span::new(span.0, span.1)], pos).unwrap()
        };
        for (span, pos, expected) in [
            (quickly, Pos::Adjective, Pos::Adverb),
            (report, Pos::Verb, Pos::Noun),
            (checked, Pos::Noun, Pos::Verb),
            (accurate, Pos::Adjective, Pos::Adjective),
            (quickly, Pos::Idiom, Pos::Idiom),
        ] {
            assert_eq!(of(span, pos), expected, "{span:?}");
        }
        let modal = super::fits(&tagger, "They must leave .", &[Span::new(5, 9)], Pos::Verb);
        assert!(modal.unwrap());
        let long = "word ".repeat(600);
        assert!(super::fits(&tagger, &long, &[Span::new(0, 4)], Pos::Verb).unwrap(), "too long");
    }
}
