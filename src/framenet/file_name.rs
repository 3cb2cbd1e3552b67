//! What an export calls the file of a frame, an LU or a document: safe, and not too long.

/// Bytes of a name that file systems take, `.xml` left out.
pub(crate) const LONGEST_STEM: usize = 255 - ".xml".len();

/// Hexadecimal digits that stand for the rest of a name that is cut.
const DIGITS: usize = 16;

/// A name for a file, without `.xml`. What could lead out of the folder, or hide the file, is
/// replaced. A name that is too long becomes its beginning and a hash of all of it.
#[must_use]
pub(crate) fn file_stem(name: &str) -> String {
    fitting(&safe(name))
}

/// A name without what could lead out of its folder, or hide the file.
#[must_use]
pub(crate) fn safe(name: &str) -> String {
    let safe = |letter: char| {
        if letter.is_control() || "/\\:*?\"<>|".contains(letter) { '_' } else { letter }
    };
    let mut stem: String = name.chars().map(safe).collect();
    if stem.is_empty() || stem.starts_with('.') {
        stem.insert(0, '_');
    }
    stem
}

/// A stem that file systems take.
#[must_use]
pub(crate) fn fitting(stem: &str) -> String {
    if stem.len() <= LONGEST_STEM {
        return stem.to_owned();
    }
    let begin = &stem[..stem.floor_char_boundary(LONGEST_STEM - 1 - DIGITS)];
    format!("{begin}~{}", &blake3::hash(stem.as_bytes()).to_hex()[..DIGITS])
}
