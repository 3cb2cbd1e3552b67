//! Letter case: the variants in which one phrase may be written, and folding for comparison.
//!
//! Names, patterns, index terms and sort orders all fold by [`fold`] and [`fold_letter`]: what is
//! found under a folded name also matches the name. Folding composes letters, so that composed and
//! decomposed spellings are one.

use super::{called, composed, is_same};

/// The Greek small sigma at the end of a word, and the one elsewhere.
const SIGMAS: [char; 2] = ['\u{3c2}', '\u{3c3}'];

/// The text in lower case and in composed letters, for comparison without regard to case.
///
/// Unicode's simple lower-casing of each letter of the composed text, with the Greek final sigma as
/// any other sigma. It keeps the number of words and is idempotent; it does not equate `ss` and
/// sharp s.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let folded: String = composed(text).chars().flat_map(fold_letter).collect();
    // A few letters are composed in lower case alone, as `h` with a line below.
    match composed(&folded) {
        std::borrow::Cow::Owned(composed) => composed,
        std::borrow::Cow::Borrowed(_) => folded,
    }
}

/// As [`called`], and where none is called so, those that are in other letter case.
#[must_use]
pub fn called_in_any_case<T>(
    all: impl IntoIterator<Item = T>,
    name: &str,
    name_of: impl Fn(&T) -> &str,
) -> Vec<T> {
    let folded = fold(name);
    let alike = all.into_iter().filter(|one| fold(name_of(one)) == folded).collect::<Vec<_>>();
    match alike.iter().any(|one| is_same(name_of(one), name)) {
        true => called(alike, name, name_of),
        false => alike,
    }
}

/// What one character of a composed text becomes in [`fold`], whatever stands beside it: one
/// character, or two for the capital I with a dot.
pub fn fold_letter(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().map(|lower| if lower == SIGMAS[0] { SIGMAS[1] } else { lower })
}

/// The text with its first letter in upper case and the others as they are.
#[must_use]
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The text with the first letter of every space-separated word in upper case.
#[must_use]
pub fn title_case(text: &str) -> String {
    text.split(' ').map(capitalize).collect::<Vec<_>>().join(" ")
}

/// A phrase as written, in lower case, Capitalised, Title Case and UPPER case, without repeats.
///
/// ```
/// use fnstore::text::case_variants;
///
/// let variants = case_variants("carry out");
/// assert_eq!(variants, ["carry out", "Carry out", "Carry Out", "CARRY OUT"]);
/// ```
#[must_use]
pub fn case_variants(phrase: &str) -> Vec<String> {
    let lower = phrase.to_lowercase();
    let mut variants = vec![phrase.to_owned()];
    for variant in [capitalize(&lower), title_case(&lower), lower.to_uppercase()] {
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    if !variants.contains(&lower) {
        variants.insert(1, lower);
    }
    variants
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_mixed_case_phrase_keeps_its_own_spelling_first() {
        assert_eq!(case_variants("McCoy"), ["McCoy", "mccoy", "Mccoy", "MCCOY"]);
        assert_eq!(case_variants(""), [""]);
    }

    #[test]
    fn composed_and_decomposed_letters_fold_to_the_same() {
        assert_eq!(fold("RE\u{301}SUM\u{c9}"), "r\u{e9}sum\u{e9}");
        // No capital is composed here.
        assert_eq!(fold("H\u{331}a"), fold("\u{1e96}a"));
    }

    #[test]
    fn letters_beyond_ascii_change_case_too() {
        assert_eq!(capitalize("\u{e9}t\u{e9}"), "\u{c9}t\u{e9}");
        assert_eq!(fold("\u{39f}\u{394}\u{39f}\u{3a3}"), fold("\u{3bf}\u{3b4}\u{3bf}\u{3c2}"));
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "\\PC{0,20}") {
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }

        #[test]
        fn folding_letters_is_folding_the_text(text in "(\\PC|[A-Za-z]|\u{3a3}|\u{3c2}|\u{130}){0,20}") {
            let letters: String = composed(&text).chars().flat_map(fold_letter).collect();
            prop_assert_eq!(fold(&text), composed(&letters));
        }

        #[test]
        fn equivalent_texts_fold_to_the_same(
            text in "([A-Za-z]|[\u{c0}-\u{17f}]|[\u{1e00}-\u{1eff}]|[\u{300}-\u{331}]){0,8}",
        ) {
            use super::super::decomposed_letter;
            let decomposed: String = text.chars().flat_map(decomposed_letter).collect();
            prop_assert_eq!(fold(&decomposed), fold(&text));
            prop_assert_eq!(fold(&fold(&text)), fold(&text));
        }

        #[test]
        fn every_variant_of_ascii_text_folds_to_the_same(text in "[A-Za-z ]{0,12}") {
            for variant in case_variants(&text) {
                prop_assert_eq!(fold(&variant), fold(&text));
            }
        }
    }
}
