//! Lexical substitution: the new trigger alone, put into the old sentence.
//!
//! It tells what of a gain is due to new words and what to new sentences. A substitution is kept if
//! it changes no part of speech of the sentence (Culkin et al. 2021, section 6.3, drop some 35 %).

use super::Result;
use crate::identify::FrameSentence;
use crate::model::Span;
use crate::tag::Tagger;
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

/// Which of some sentences have the parts of speech of the sentences that they were made of, word
/// for word. One that is too long for the tagger has not.
pub(super) fn same_tags(tagger: &Tagger, pairs: &[(&str, &str)]) -> Result<Vec<bool>> {
    let cut = |text| -> Vec<&str> { words(text).iter().filter_map(|word| word.of(text)).collect() };
    let [old, new] = [
        pairs.iter().map(|(old, _)| cut(*old)).collect::<Vec<_>>(),
        pairs.iter().map(|(_, new)| cut(*new)).collect::<Vec<_>>(),
    ];
    let (old, new) = (tagger.tag_each(&old)?, tagger.tag_each(&new)?);
    let same = old.iter().zip(&new).map(|pair| match pair {
        (Ok(old), Ok(new)) => old.iter().map(|tag| tag.name).eq(new.iter().map(|tag| tag.name)),
        _ => false,
    });
    Ok(same.collect())
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
}
