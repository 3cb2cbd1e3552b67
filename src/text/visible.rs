//! Characters that a terminal obeys instead of showing them, made visible.
//!
//! A text may hold escape sequences, which recolour or rewrite the screen, and marks that turn the
//! direction of what follows. For reading they become their code points, as in `<U+001B>`. Line
//! feeds and tabs stay: they lay a text out and do nothing else.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with its control characters (C0 but for line feed and tab, DEL, C1) and those that
/// override the direction of writing as their code points.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    replaced(text, |letter, shown| write!(shown, "<U+{:04X}>", u32::from(letter)))
}

/// The same for JSON, in which such characters stand inside strings alone: as the escapes of JSON,
/// which mean the same.
#[must_use]
pub fn visible_in_json(json: &str) -> Cow<'_, str> {
    replaced(json, |letter, shown| write!(shown, "\\u{:04x}", u32::from(letter)))
}

fn replaced(text: &str, write: impl Fn(char, &mut String) -> std::fmt::Result) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        if is_obeyed(letter) {
            // Writing into a string cannot fail.
            let _ = write(letter, &mut shown);
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal obeys the character. All of them are in Unicode's first plane.
fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        // Embeddings, overrides and isolates, with their ends.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        letter => letter.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_becomes_its_code_point() {
        assert_eq!(visible("a\x1b[31mb\x07\r"), "a<U+001B>[31mb<U+0007><U+000D>");
        assert_eq!(
            visible("\u{7f}\u{9b}2J\u{202e}x\u{2069}"),
            "<U+007F><U+009B>2J<U+202E>x<U+2069>"
        );
        let plain = "one\n\ttwo \u{e9}\u{200f}\u{1f6b2}";
        assert!(matches!(visible(plain), Cow::Borrowed(shown) if shown == plain));
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let text = "a\u{1b}\u{7f}\u{9b}\u{202e}\u{e9}\\";
        let json = serde_json::to_string(text).unwrap();
        let shown = visible_in_json(&json);
        assert_eq!(shown, "\"a\\u001b\\u007f\\u009b\\u202e\u{e9}\\\\\"");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }
}
