//! What can be a name.

/// Whether a text can name a record or a release: it is not white space alone, and holds no control
/// character.
///
/// Names stand in keys, where a zero byte ends them, in queries, and in lines of output.
///
/// ```
/// use fnstore::model::is_name;
///
/// assert!(is_name("Cause_to_be_included") && is_name("sales pitch.n"));
/// assert!(!is_name("") && !is_name(" ") && !is_name("two\nlines") && !is_name("zero\0"));
/// ```
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(char::is_control)
}
