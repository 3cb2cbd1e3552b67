//! Values as messages repeat them.

use std::fmt;

use super::visible;

/// Most characters of a value that a message repeats.
const SHOWN: usize = 60;

/// A value for a message: in one line, cut after 60 characters, without control characters.
///
/// ```
/// use fnstore::text::shortened;
///
/// assert_eq!(shortened("a\nb\0"), "a b<U+0000>");
/// assert_eq!(shortened("x".repeat(70)), format!("{}...", "x".repeat(60)));
/// ```
#[must_use]
pub fn shortened(value: impl fmt::Display) -> String {
    let value = value.to_string();
    let mut shown: String = value.chars().take(SHOWN).collect();
    if shown.len() < value.len() {
        shown.push_str("...");
    }
    visible(&shown.replace(['\n', '\r', '\t'], " ")).into_owned()
}
