//! Places in a file, as messages name them, and what may stand at one.

use super::FramenetError;
use crate::model::is_xml;

/// Most elements inside one another: FrameNet's own files have nine.
pub(super) const MAX_DEPTH: usize = 64;

/// Most elements of a file; FrameNet's largest have some 100,000.
pub(super) const MAX_ELEMENTS: usize = 1 << 20;

/// Most elements inside one another in what FrameNet does not know: with FrameNet's own around it,
/// a file that is written from it can be read again.
pub(super) const MAX_FOREIGN_DEPTH: usize = MAX_DEPTH - 16;

/// A place in a file.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) file: &'a str,
    pub(super) content: &'a str,
    pub(super) offset: usize,
    /// An earlier place with the line breaks before it, so that nothing is counted twice.
    counted: (usize, usize),
}

impl<'a> At<'a> {
    pub(super) fn start(file: &'a str, content: &'a str) -> Self {
        Self { file, content, offset: 0, counted: (0, 0) }
    }

    pub(super) fn line(&self) -> usize {
        1 + self.breaks()
    }

    /// Line breaks before the place.
    fn breaks(&self) -> usize {
        let end = self.offset.min(self.content.len());
        let (start, before) = if end >= self.counted.0 { self.counted } else { (0, 0) };
        let bytes = &self.content.as_bytes()[start..end];
        before + bytes.iter().filter(|&&byte| byte == b'\n').count()
    }

    pub(super) fn advance(&mut self, offset: usize) {
        self.offset = offset.min(self.content.len());
    }

    /// The line of a place, from 1. Counts on from the place that was asked for last.
    pub(super) fn line_of(&mut self, place: usize) -> usize {
        let there = self.moved(place);
        self.counted = (place.min(self.content.len()), there.breaks());
        1 + self.counted.1
    }

    pub(super) fn too_many_elements(&self) -> FramenetError {
        let (file, line) = (self.file.to_owned(), self.line());
        FramenetError::TooManyElements { file, line, limit: MAX_ELEMENTS }
    }

    /// Another place of the file.
    pub(super) fn moved(&self, offset: usize) -> Self {
        Self { offset, ..*self }
    }

    pub(super) fn malformed(&self, reason: impl ToString) -> FramenetError {
        FramenetError::Xml {
            file: self.file.to_owned(),
            line: self.line(),
            reason: reason.to_string(),
        }
    }
}

/// Where the tag begins that is read next at a place; white space may stand before it.
pub(super) fn tag_at(content: &str, place: usize) -> usize {
    let rest = content.get(place..).unwrap_or_default();
    place + (rest.len() - rest.trim_start().len())
}

/// What a message shows of a text, which may be most of a file.
pub(super) fn start_of(text: &str) -> &str {
    const SHOWN: usize = 60;
    text.char_indices().nth(SHOWN).map_or(text, |(end, _)| &text[..end])
}

/// Where a text has a character that XML does not have.
pub(super) fn not_xml(text: &str) -> Option<usize> {
    // Only control characters, and U+FFFE and U+FFFF, which begin with EF BF.
    let is_suspect =
        |byte: u8| (byte < b' ') & !matches!(byte, b'\t' | b'\n' | b'\r') | (byte == 0xef);
    // Whole blocks, without an early end inside of one, are looked at some bytes at a time.
    let mut blocks = text.as_bytes().chunks(256);
    if !blocks.any(|block| block.iter().fold(false, |is_odd, byte| is_odd | is_suspect(*byte))) {
        return None;
    }
    text.char_indices().find(|(_, letter)| !is_xml(*letter)).map(|(offset, _)| offset)
}

pub(super) fn no_xml(letter: char) -> String {
    format!("the character U+{:04X}, which XML does not have", u32::from(letter))
}
