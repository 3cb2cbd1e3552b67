//! Lexical substitution: the new trigger alone, put into the old sentence.
//!
//! It tells what of a gain is due to new words and what to new sentences. A substitution is kept if
//! the new trigger has the parts of speech of the old one (Culkin et al. 2021, section 6.3, drop
//! some 35 %). What the rest of the sentence is tagged as does not matter.

use super::Result;
use crate::identify::FrameSentence;
use crate::model::Span;
use crate::tag::{Tag, Tagger};
use crate::text::words;

/// The seed's sentence with the trigger of a generated one in the place of its own; `None` where
/// the seed is not in the sentence, or both triggers are the same. The target of a discontinuous
/// seed goes from its first to its last character.
pub(super) fn substituted(
    generated: &FrameSentence,
    seed: &FrameSentence,
) -> Option<FrameSentence> {
    let target = generated.targets.first()?;
    let made = target.made?;
    let old = seed.targets.iter().find(|old| old.set == made.seed)?;
    let (trigger, replaced) = (target.span.of(&generated.text)?, old.span.of(&seed.text)?);
    if trigger == replaced {
        return None;
    }
    let (start, end) = (old.span.start, old.span.end);
    let text = [&seed.text[..start as usize], trigger, &seed.text[end as usize..]].concat();
    let mut target = target.clone();
    target.span = Span::new(start, start + target.span.len());
    Some(FrameSentence { id: generated.id, text, is_whole: false, targets: vec![target] })
}

/// A text and the place of a trigger in it.
pub(super) type Triggered<'a> = (&'a str, Span);

/// Which new triggers have the parts of speech of the old ones, word for word; pairs are old and
/// new. One whose sentence is too long for the tagger has not.
pub(super) fn same_tags(tagger: &Tagger, pairs: &[[Triggered<'_>; 2]]) -> Result<Vec<bool>> {
    let of_side = |side: usize| trigger_tags(tagger, pairs.iter().map(move |pair| pair[side]));
    let (old, new) = (of_side(0)?, of_side(1)?);
    let same = old.into_iter().zip(new).map(|(old, new)| old.is_some() && old == new);
    Ok(same.collect())
}

/// The tags of the words of each trigger; none where the sentence is too long.
fn trigger_tags<'t, 'a>(
    tagger: &'t Tagger,
    triggers: impl Iterator<Item = Triggered<'a>>,
) -> Result<Vec<Option<Vec<&'t str>>>> {
    let triggers: Vec<Triggered<'_>> = triggers.collect();
    let cut: Vec<Vec<Span>> = triggers.iter().map(|(text, _)| words(text)).collect();
    let texts = triggers.iter().zip(&cut);
    let texts = texts.map(|((text, _), cut)| cut.iter().filter_map(|word| word.of(text)).collect());
    let texts: Vec<Vec<&str>> = texts.collect();
    let tagged = tagger.tag_each(&texts)?.into_iter().zip(triggers.iter().zip(&cut));
    let of_triggers = tagged
        .map(|(tags, ((_, trigger), cut))| tags.ok().map(|tags| covered(*trigger, cut, &tags)));
    Ok(of_triggers.collect())
}

/// The tags of the words that a trigger covers.
fn covered<'t>(trigger: Span, words: &[Span], tags: &[Tag<'t>]) -> Vec<&'t str> {
    let covered = words.iter().zip(tags).filter(|(word, _)| word.overlaps(trigger));
    covered.map(|(_, tag)| tag.name).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::identify::{Made, Target};
    use crate::model::{AnnotationSetId, IdSpace, SentenceId};

    fn sentence(number: u64, text: &str, span: (u32, u32), made: Option<u64>) -> FrameSentence {
        let seed = |number| AnnotationSetId::new(IdSpace::FullText, number);
        let target = Target {
            set: seed(number),
            span: Span::new(span.0, span.1),
            frame: Arc::from("Checking"),
            lexunit: Arc::from("check.v"),
            created: String::new(),
            made: made.map(|made| Made { seed: seed(made), precision: None, recall: None }),
        };
        let id = SentenceId::new(IdSpace::FullText, number);
        FrameSentence { id, text: text.to_owned(), is_whole: true, targets: vec![target] }
    }

    #[test]
    fn the_new_trigger_takes_the_old_ones_place() {
        let seed = sentence(1, "They checked it twice .", (5, 12), None);
        let generated = sentence(9, "It was looked over by them .", (7, 18), Some(1));
        let new = substituted(&generated, &seed).unwrap();
        assert_eq!(new.text, "They looked over it twice .");
        let target = &new.targets[0];
        assert_eq!(target.span.of(&new.text), Some("looked over"));
        assert!(!new.is_whole && target.made.is_some());
        let other = sentence(9, "It was looked over .", (7, 18), Some(2));
        assert_eq!(substituted(&other, &seed), None, "the seed stands elsewhere");
        let same = sentence(9, "He checked them .", (3, 10), Some(1));
        assert_eq!(substituted(&same, &seed), None);
    }

    #[test]
    fn the_tags_of_a_trigger_are_those_of_its_words_alone() {
        let tags_at = |text: &str, names: &[&'static str], (start, end)| {
            let tags: Vec<Tag<'_>> =
                names.iter().copied().map(|name| Tag { name, score: 0.9 }).collect();
            covered(Span::new(start, end), &words(text), &tags)
        };
        let old = tags_at("They checked it .", &["PRP", "VBD", "PRP", "."], (5, 12));
        let other = tags_at("Nobody checked it .", &["NN", "VBD", "PRP", "."], (7, 14));
        assert_eq!((&*old, &*other), (&["VBD"][..], &["VBD"][..]), "the rest may differ");
        let names = ["PRP", "VBD", "RP", "PRP", "."];
        assert_eq!(tags_at("They looked over it .", &names, (5, 16)), ["VBD", "RP"]);
    }
}
