//! Values as messages repeat them.

use std::fmt;

/// Most characters of a value that a message repeats.
const SHOWN: usize = 60;

/// A value for a message: in one line, and cut after 60 characters.
///
/// ```
/// use fnstore::text::shortened;
///
/// assert_eq!(shortened("a\nb"), "a b");
/// assert_eq!(shortened("x".repeat(70)), format!("{}...", "x".repeat(60)));
/// ```
#[must_use]
pub fn shortened(value: impl fmt::Display) -> String {
    let value = value.to_string();
    let mut shown: String = value.chars().take(SHOWN).collect();
    if shown.len() < value.len() {
        shown.push_str("...");
    }
    shown.replace(['\n', '\r', '\t'], " ")
}
