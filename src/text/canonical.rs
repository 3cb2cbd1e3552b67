//! Canonical equivalence: one text in composed and in decomposed letters.
//!
//! An accented letter is one character, or a letter and a combining mark; readers cannot tell the
//! two apart (Unicode Standard, section 3.7). Releases have both. Texts stay as they are written;
//! whoever **compares** them composes both sides (NFC of UAX 15).

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

/// The text in composed letters (NFC), for comparison; most texts are so already.
///
/// ```
/// use fnstore::text::composed;
///
/// assert_eq!(composed("re\u{301}sume\u{301}"), "r\u{e9}sum\u{e9}");
/// ```
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// Whether two texts are canonically equivalent: the same letters, composed or not. Case counts.
///
/// ```
/// use fnstore::text::is_same;
///
/// assert!(is_same("caf\u{e9}", "cafe\u{301}") && !is_same("caf\u{e9}", "cafe"));
/// ```
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    one == other || (!(one.is_ascii() && other.is_ascii()) && composed(one) == composed(other))
}

/// Those that are called so: by the name as it is written, else by one that [is the same](is_same).
/// Whoever looks for the bearer of a name that somebody typed looks by this.
///
/// ```
/// use fnstore::text::called;
///
/// let names = ["caf\u{e9}", "cafe\u{301}"];
/// assert_eq!(called(&names, "cafe\u{301}", |name| name), [&names[1]]);
/// assert_eq!(called(&names[..1], "cafe\u{301}", |name| name), [&names[0]]);
/// ```
#[must_use]
pub fn called<T>(
    all: impl IntoIterator<Item = T>,
    name: &str,
    name_of: impl Fn(&T) -> &str,
) -> Vec<T> {
    let mut found: Vec<T> = all.into_iter().filter(|one| is_same(name_of(one), name)).collect();
    if found.iter().any(|one| name_of(one) == name) {
        found.retain(|one| name_of(one) == name);
    }
    found
}

/// Whether a letter is a combining mark of any script (Unicode's category M).
#[must_use]
pub fn is_combining_mark(letter: char) -> bool {
    !letter.is_ascii() && unicode_normalization::char::is_combining_mark(letter)
}

/// Where Unicode puts a combining mark among those of one letter, ascending; marks of one class
/// keep their order. Zero for what begins a letter anew and for marks that stay where they are.
#[must_use]
pub fn combining_class(letter: char) -> u8 {
    if letter < '\u{300}' {
        return 0;
    }
    unicode_normalization::char::canonical_combining_class(letter)
}

/// A letter as its base and its combining marks: one character for most letters.
pub fn decomposed_letter(letter: char) -> impl Iterator<Item = char> {
    std::iter::once(letter).nfd()
}

/// The letters and digits of a text without accents, compatible ones as one (NFKD): for loose
/// comparisons.
///
/// ```
/// use fnstore::text::bare_letters;
///
/// assert_eq!(bare_letters("Cr\u{e8}me, bru\u{302}l\u{e9}e"), "Cremebrulee");
/// ```
#[must_use]
pub fn bare_letters(text: &str) -> String {
    if text.is_ascii() {
        return text.chars().filter(char::is_ascii_alphanumeric).collect();
    }
    text.nfkd().filter(|letter| letter.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_in_another_order_are_the_same_letter() {
        // A dot below and one above.
        assert!(is_same("s\u{323}\u{307}", "s\u{307}\u{323}"));
        assert!(is_same("\u{1e69}", "s\u{307}\u{323}"));
        // Hebrew: composed letters that Unicode keeps apart in NFC.
        assert!(is_same("\u{fb2a}", "\u{5e9}\u{5c1}"));
        assert!(is_same("\u{ac00}", "\u{1100}\u{1161}"));
        assert!(!is_same("\u{fb01}", "fi"), "a ligature is compatible, not equivalent");
    }

    #[test]
    fn the_name_as_it_is_written_comes_first() {
        let names = ["s\u{323}\u{307}", "\u{1e69}", "s"];
        let found = |name| called(&names, name, |of| of).into_iter().copied().collect::<Vec<_>>();
        assert_eq!(found("\u{1e69}"), ["\u{1e69}"]);
        assert_eq!(found("s\u{307}\u{323}"), names[..2], "neither is written so");
        assert!(found("S").is_empty());
    }

    proptest! {
        #[test]
        fn composing_keeps_what_is_composed(text in "\\PC{0,12}") {
            let once = composed(&text).into_owned();
            prop_assert_eq!(composed(&once), once.as_str());
            prop_assert!(is_same(&text, &once));
            prop_assert!(is_same(&text, &text.chars().flat_map(decomposed_letter).collect::<String>()));
        }
    }
}
