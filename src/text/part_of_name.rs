//! Function words, and whether a target stands inside of a name. The words are of English.

use super::{fold, is_stop_word};
use crate::model::Span;

/// Function words beside those that [`is_stop_word`] knows: they are no LUs either, but an
/// expansion may ban them.
const FUNCTION_WORDS: [&str; 56] = [
    "although",
    "among",
    "anybody",
    "anyone",
    "anything",
    "because",
    "between",
    "ca",
    "cannot",
    "despite",
    "during",
    "each",
    "either",
    "else",
    "ever",
    "every",
    "everybody",
    "everyone",
    "everything",
    "except",
    "having",
    "herself",
    "himself",
    "however",
    "itself",
    "myself",
    "n't",
    "neither",
    "never",
    "nobody",
    "none",
    "nothing",
    "n\u{2019}t",
    "one",
    "onto",
    "ought",
    "ours",
    "ourselves",
    "per",
    "since",
    "somebody",
    "someone",
    "something",
    "theirs",
    "themselves",
    "though",
    "toward",
    "towards",
    "unless",
    "until",
    "whatever",
    "where",
    "whereas",
    "whether",
    "whom",
    "whose",
];

/// Whether a word is one of a closed class, or what is left of one, as `'s`.
pub(crate) fn is_function_word(word: &str) -> bool {
    is_stop_word(word)
        || FUNCTION_WORDS.binary_search(&fold(word).as_str()).is_ok()
        || word.starts_with(['\'', '\u{2019}'])
}

/// Whether a target is a part of a name: it is capitalised inside of the sentence, beside another
/// word that is.
pub(crate) fn is_in_name(text: &str, targets: &[Span]) -> bool {
    let ([first, ..], [.., last]) = (targets, targets) else { return false };
    let ends = (text.get(..first.start as usize), text.get(last.end as usize..));
    let (Some(before), Some(after)) = ends else { return false };
    // Headlines capitalise all words.
    let is_said = |word: &&str| word.chars().next().is_some_and(char::is_alphabetic);
    if !text.split_whitespace().filter(is_said).any(|word| !is_capital(word)) {
        return false;
    }
    let begins_sentence = |before: &str| !before.contains(char::is_alphanumeric);
    // A neighbour in a name stands a space away, without punctuation between.
    let left = before.strip_suffix(' ').and_then(|before| {
        let start = before.rfind(' ').map_or(0, |space| space + 1);
        Some(&before[start..]).filter(|_| !begins_sentence(&before[..start]))
    });
    let right = after.strip_prefix(' ').and_then(|after| after.split(' ').next());
    let is_name = |word: &str| is_capital(word) && !is_function_word(word);
    targets.iter().find_map(|target| target.of(text)).is_some_and(is_capital)
        && !begins_sentence(before)
        && (left.is_some_and(is_name) || right.is_some_and(is_name))
}

fn is_capital(word: &str) -> bool {
    word.chars().next().is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_is_capitalised_beside_another_capital() {
        assert!(FUNCTION_WORDS.is_sorted());
        let is_part = |text: &str, trigger: &str| {
            let start = text.find(trigger).unwrap();
            is_in_name(text, &[Span::new(start as u32, (start + trigger.len()) as u32)])
        };
        assert!(is_part("He sold a Van Gogh to them .", "Gogh"));
        assert!(is_part("They read the New York Times there .", "Times"));
        for (text, trigger) in [
            ("Times Square is empty .", "Times"),
            ("They read the Times there .", "Times"),
            ("New Times Come Soon", "Times"),
        ] {
            assert!(!is_part(text, trigger), "{text}");
        }
        assert!(!is_in_name("no target", &[]));
    }
}
