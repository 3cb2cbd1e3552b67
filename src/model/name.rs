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

/// Whether XML 1.0 has a character: any but the control characters other than tab, line feed and
/// carriage return, and U+FFFE and U+FFFF.
#[must_use]
pub fn is_xml(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// Whether a text can be the name of an element or an attribute in XML 1.0, fifth edition,
/// production 5.
///
/// ```
/// use fnstore::model::is_xml_name;
///
/// assert!(is_xml_name("cBy") && is_xml_name("x:\u{e9}-1"));
/// assert!(!is_xml_name("") && !is_xml_name("1a") && !is_xml_name("a b") && !is_xml_name("a>"));
/// ```
#[must_use]
pub fn is_xml_name(text: &str) -> bool {
    let begins = |letter: char| {
        matches!(
            letter,
            ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}'
                | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}'
                | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
                | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
                | '\u{10000}'..='\u{effff}'
        )
    };
    let follows = |letter: char| {
        begins(letter)
            || matches!(
                letter,
                '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}'
            )
    };
    text.chars().next().is_some_and(begins) && text.chars().all(follows)
}

/// Whether a character is invisible in a line of output, or changes how the rest of it shows. These
/// are control characters, zero-width spaces and marks of the direction of writing. Joiners
/// (U+200C, U+200D), which Persian and Hindi write with, are none.
#[must_use]
pub fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'
                | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}
