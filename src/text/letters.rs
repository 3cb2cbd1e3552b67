//! Letters as readers see them.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::model::Span;

/// The letters of a text as readers see them, in order: extended grapheme clusters of UAX 29. An
/// accent belongs to its letter, a family of emoji is one letter, and so is a line end of two
/// characters.
///
/// ```
/// use fnstore::text::letters;
///
/// let spans: Vec<_> = letters("e\u{301}\r\n").into_iter().map(|it| (it.start, it.end)).collect();
/// assert_eq!(spans, [(0, 3), (3, 5)]);
/// ```
///
/// # Panics
/// If the text is 4 GiB long or longer: spans hold `u32`.
#[must_use]
pub fn letters(text: &str) -> Vec<Span> {
    assert!(u32::try_from(text.len()).is_ok(), "a sentence is shorter than 4 GiB");
    let letters = text.grapheme_indices(true);
    letters.map(|(at, letter)| Span::new(at as u32, (at + letter.len()) as u32)).collect()
}
