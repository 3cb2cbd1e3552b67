//! What a verifier's first question holds. Training writes the same
//! (`training/language_model/passage.py`); the shipped adapter's drew by chance what are rules
//! here.

use crate::model::Span;
use crate::text::{CharIndex, natural_spacing, plain_definition};

/// Words of a sentence on each side of the marked ones.
const WORDS_BESIDE: usize = 25;
/// Code points from the first part of a target to the last, within which all is one marked phrase.
const NEAR: u32 = 40;
/// Lines and words of a definition.
const DEFINITION_LINES: usize = 2;
const DEFINITION_WORDS: usize = 45;
/// What stands for words that were cut.
const CUT: &str = "...";

/// The beginning of a frame's definition: without examples, names of FEs and brackets.
pub(super) fn definition(text: &str) -> String {
    let plain = plain_definition(text);
    let lines = plain.split('\n').filter(|line| !line.trim().is_empty() && !line.contains("[["));
    let kept: Vec<&str> = lines.take(DEFINITION_LINES).collect();
    let unnamed = without_element_names(&kept.join(" ")).replace(['[', ']'], "");
    unnamed.split_whitespace().take(DEFINITION_WORDS).collect::<Vec<_>>().join(" ")
}

/// A text in which `[Name words]` is `words`.
fn without_element_names(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, inside) = (&rest[..open], &rest[open + 1..]);
        out.push_str(before);
        match named_words(inside) {
            Some((words, after)) => {
                out.push_str(words);
                rest = after;
            }
            None => {
                out.push('[');
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

/// What follows the name of `Name words]`, and what follows the bracket.
fn named_words(inside: &str) -> Option<(&str, &str)> {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '-');
    let name = inside.find(|c: char| !is_of_name(c))?;
    if !inside.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let words = inside[name..].strip_prefix(' ')?;
    let end = words.find(['[', ']'])?;
    words[end..].strip_prefix(']').map(|after| (&words[..end], after))
}

/// The lemma of an LU's name, as in `tear up` of `tear up.v` or `rest` of `rest (of).n`: without
/// part of speech and what stands in parentheses.
pub(super) fn lemma(lexunit: &str) -> String {
    let name = lexunit.rsplit_once('.').map_or(lexunit, |(name, _)| name);
    let mut lemma = String::new();
    let mut rest = name;
    while let Some(open) = rest.find('(') {
        let Some(close) = rest[open..].find(')') else { break };
        lemma.push_str(rest[..open].trim_end());
        rest = &rest[open + close + 1..];
    }
    lemma + rest
}

/// A sentence with its target between asterisks, in natural spacing, and the target's words; none
/// for a target without words.
///
/// Of more than 50 words beside it, 25 stand on each side. The parts of a target that lie near each
/// other are marked as one phrase; of others the first is.
pub(super) fn marked(text: &str, targets: &[Span]) -> Option<(String, String)> {
    // Other tools list the parts of a target in any order.
    let first = targets.iter().min()?;
    let last = targets.iter().max_by_key(|part| part.end)?;
    let index = CharIndex::new(text);
    let place = |at: u32| index.to_chars(Span::new(first.start, at)).ok();
    let is_near = place(last.end).is_some_and(|span| span.end - span.start < NEAR);
    let end = if is_near { last.end } else { first.end };
    let word = Span::new(first.start, end).of(text)?;
    if word.trim().is_empty() {
        return None;
    }
    let mut left: Vec<&str> = text[..first.start as usize].split_whitespace().collect();
    let mut right: Vec<&str> = text[end as usize..].split_whitespace().collect();
    if left.len() + right.len() > 2 * WORDS_BESIDE {
        if left.len() > WORDS_BESIDE {
            left.drain(..left.len() - WORDS_BESIDE);
            left.insert(0, CUT);
        }
        if right.len() > WORDS_BESIDE {
            right.truncate(WORDS_BESIDE);
            right.push(CUT);
        }
    }
    let sentence = format!("{} *{word}* {}", left.join(" "), right.join(" "));
    Some((natural_spacing(sentence.trim()), word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_its_first_words_without_names_and_examples() {
        let text = "An <fen>Agent</fen> tears [Whole the paper] or [it] up.\n\n<ex>[[They]] tore</ex>\nMore.\n\nNo";
        assert_eq!(definition(text), "An Agent tears the paper or it up. More.");
        assert_eq!(definition(&"word ".repeat(3000)).split(' ').count(), 45);
        assert_eq!(definition(" \n"), "");
    }

    #[test]
    fn a_lemma_has_no_part_of_speech_and_no_parentheses() {
        for (name, wanted) in
            [("tear up.v", "tear up"), ("rest (of).n", "rest"), ("a.m..n", "a.m."), ("x", "x")]
        {
            assert_eq!(lemma(name), wanted);
        }
    }

    #[test]
    fn a_target_is_marked_with_25_words_on_each_side() {
        let span = |start, end| Span::new(start, end);
        let found = marked("They tore it up , he said .", &[span(5, 9), span(13, 15)]).unwrap();
        assert_eq!(found, ("They *tore it up*, he said.".to_owned(), "tore it up".to_owned()));
        let far = format!("They tore {} up .", "x".repeat(60));
        let (sentence, word) = marked(&far, &[span(5, 9), span(71, 73)]).unwrap();
        assert!(sentence.starts_with("They *tore* xxx") && word == "tore", "{sentence}");
        let long = format!("{}tore {}", "a ".repeat(40), "b ".repeat(12));
        let (sentence, _) = marked(&long, &[span(80, 84)]).unwrap();
        assert_eq!(sentence.matches("a ").count(), 25);
        assert!(
            sentence.starts_with("... a a") && sentence.ends_with("*tore* b b b b b b b b b b b b")
        );
        assert_eq!(marked("They tore", &[]), None);
        assert_eq!(marked("They  tore", &[span(4, 5)]), None);
    }
}
