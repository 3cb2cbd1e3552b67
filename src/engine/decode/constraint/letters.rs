//! How a text is read when words are banned: as folded letters with word boundaries between them.
//!
//! Bytes become letters, letters become **symbols**:
//!
//! - case is folded per letter as lower(upper(c)), which takes `S`, `s` and U+017F together, the
//!   three sigmas, and sharp s with `ss`;
//! - a run of white space reads as one space, at the start of the text as nothing;
//! - letters that print nothing (soft hyphen, zero-width space and joiners, byte order mark,
//!   selectors of a letter's shape) are skipped, so that a word cannot hide behind them;
//! - a combining mark belongs to the letter before it. Behind a word letter it is a letter of that
//!   word. Behind a sign it makes the sign a [`MARKED`] one, whichever marks they are. Behind white
//!   space it stands on nothing and is skipped;
//! - a [`BOUNDARY`] stands wherever a word letter meets another letter or the text's start or end.
//!   A *word letter* is alphanumeric in Unicode's sense or a mark behind one; apostrophe, hyphen
//!   and underscore are not, so a ban of `confirm` covers `confirm's` and `re-confirm` too.
//!
//! With boundaries written out, "occurs as a word" is plain substring search. Folding decomposes
//! letters into bases and combining marks, so composed and decomposed spellings read alike. Symbols
//! come in the order in which the marks are written; `marks.rs` puts them into Unicode's order.

use super::marks::Marks;
use crate::text::{decomposed_letter, is_combining_mark};

/// The symbol between a word letter and what is none. Above every letter.
pub(super) const BOUNDARY: u32 = 0x11_0000;

/// The symbol behind a sign that has combining marks.
pub(super) const MARKED: u32 = 0x11_0001;

/// The iota below Greek vowels, a mark that becomes a letter in upper case.
const IOTA_BELOW: char = '\u{345}';

/// What the letter before the current position was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum After {
    /// White space, or nothing yet.
    #[default]
    Space,
    /// A word letter.
    Word,
    /// Anything else.
    Other,
    /// Anything else, with combining marks.
    Marked,
}

/// Whether a folded letter belongs to a word, a mark to the one before it.
pub(super) fn is_word_letter(letter: char) -> bool {
    letter.is_alphanumeric() || is_combining_mark(letter)
}

/// Letters that print nothing: those that Unicode lets a font ignore, but for Hangul's fillers.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The letters of several bytes of which the first are these, ascending.
pub(super) fn letters_from(begun: &[u8]) -> impl Iterator<Item = char> {
    let (bits, bytes): (u8, usize) = match begun.first() {
        Some(0xc2..=0xdf) => (0x1f, 2),
        Some(0xe0..=0xef) => (0x0f, 3),
        Some(0xf0..=0xf4) => (0x07, 4),
        _ => (0, 0),
    };
    let rest = begun.iter().skip(1).map(|byte| byte & 0x3f);
    let lead = begun.first().map(|byte| byte & bits);
    let first = lead.into_iter().chain(rest).fold(0, |all, bits| all << 6 | u32::from(bits));
    let open = (begun.len()..bytes).fold(0, |open, _| open + 6);
    // Surrogates, numbers beyond the last letter, and what fewer bytes would spell are none.
    let range = first << open..(first + 1) << open;
    range.filter_map(char::from_u32).filter(move |letter| letter.len_utf8() == bytes)
}

/// The folded letters of a letter, marks apart: none when it is invisible. Marks stay what they
/// are.
pub(super) fn fold(letter: char) -> impl Iterator<Item = char> {
    let letter = if letter.is_whitespace() { ' ' } else { letter };
    let letters = (!is_invisible(letter)).then_some(letter).into_iter().flat_map(decomposed_letter);
    letters.flat_map(|letter| {
        let mark = Some(letter).filter(|letter| *letter == IOTA_BELOW);
        let cased = Some(letter).filter(|letter| *letter != IOTA_BELOW).into_iter();
        let cased = cased.flat_map(char::to_uppercase).flat_map(char::to_lowercase);
        mark.into_iter().chain(cased.flat_map(decomposed_letter))
    })
}

/// As [`fold`], of a letter of one byte: most letters are, and the tables of Unicode are slow.
fn fold_ascii(letter: u8) -> char {
    let letter = char::from(letter);
    if letter.is_whitespace() { ' ' } else { letter.to_ascii_lowercase() }
}

impl After {
    /// Reads one folded letter: emits its symbols and returns what comes after it.
    pub(super) fn read(self, letter: char, mut emit: impl FnMut(u32)) -> Self {
        let now = match letter {
            ' ' => Self::Space,
            letter if is_combining_mark(letter) => return self.read_mark(letter, emit),
            letter if letter.is_alphanumeric() => Self::Word,
            _ => Self::Other,
        };
        if self == Self::Space && now == Self::Space {
            return self;
        }
        if (self == Self::Word) != (now == Self::Word) {
            emit(BOUNDARY);
        }
        emit(u32::from(letter));
        now
    }

    fn read_mark(self, mark: char, mut emit: impl FnMut(u32)) -> Self {
        match self {
            Self::Space | Self::Marked => self,
            Self::Word => {
                emit(u32::from(mark));
                self
            }
            Self::Other => {
                emit(MARKED);
                Self::Marked
            }
        }
    }

    /// Reads the end of the text.
    pub(super) fn end(self, mut emit: impl FnMut(u32)) {
        if self == Self::Word {
            emit(BOUNDARY);
        }
    }
}

/// The symbols of a whole text, its end included, with each letter's marks in Unicode's order: the
/// same for all texts that are canonically equivalent. White space around the text is left out.
pub(super) fn symbols(text: &str) -> Vec<u32> {
    symbols_with_places(text).map(|(symbol, _)| symbol).collect()
}

/// Those symbols, each with the byte of the text at which the letter stands that it came with; a
/// boundary comes with the letter after it, and so do marks.
pub(super) fn symbols_with_places(text: &str) -> impl Iterator<Item = (u32, usize)> {
    let mut symbols = Vec::with_capacity(text.len() + 8);
    let mut marks = Marks::default();
    for (symbol, place) in written(text) {
        marks = marks.read(symbol, |symbol| symbols.push((symbol, place)));
    }
    marks.end(|symbol| symbols.push((symbol, text.len())));
    symbols.into_iter()
}

/// The symbols of a whole text with the marks as they are written.
pub(super) fn symbols_as_written(text: &str) -> Vec<u32> {
    written(text).map(|(symbol, _)| symbol).collect()
}

fn written(text: &str) -> impl Iterator<Item = (u32, usize)> {
    let mut symbols = Vec::with_capacity(text.len() + 8);
    let mut after = After::default();
    for (at, letter) in text.char_indices() {
        for folded in fold(letter) {
            after = after.read(folded, |symbol| symbols.push((symbol, at)));
        }
    }
    after.end(|symbol| symbols.push((symbol, text.len())));
    let is_space = |last: &mut (u32, usize)| last.0 == u32::from(b' ');
    symbols.pop_if(is_space);
    symbols.into_iter()
}

/// A place in a text that arrives token by token: what came before, and the bytes of a letter that
/// is still incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct TextState {
    pub(super) after: After,
    pending: [u8; 3],
    pending_len: u8,
}

/// The bytes read so far can begin no letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IllFormed;

impl TextState {
    /// Whether the bytes read so far end between two letters.
    pub(super) fn is_complete(self) -> bool {
        self.pending_len == 0
    }

    /// The bytes of a letter that is still incomplete.
    pub(super) fn begun(&self) -> &[u8] {
        &self.pending[..usize::from(self.pending_len)]
    }

    /// Reads the bytes of one token.
    pub(super) fn read(
        mut self,
        bytes: &[u8],
        mut emit: impl FnMut(u32),
    ) -> Result<Self, IllFormed> {
        for &byte in bytes {
            let held = usize::from(self.pending_len);
            if held == 0 && byte.is_ascii() {
                self.after = self.after.read(fold_ascii(byte), &mut emit);
                continue;
            }
            let mut letter = [0; 4];
            letter[..held].copy_from_slice(&self.pending[..held]);
            letter[held] = byte;
            match std::str::from_utf8(&letter[..=held]) {
                Ok(text) => {
                    self.pending_len = 0;
                    self.pending = [0; 3];
                    for folded in text.chars().flat_map(fold) {
                        self.after = self.after.read(folded, &mut emit);
                    }
                }
                Err(error) if error.error_len().is_none() => {
                    self.pending[held] = byte;
                    self.pending_len += 1;
                }
                Err(_) => return Err(IllFormed),
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        symbols(text)
            .into_iter()
            .map(|symbol| if symbol == BOUNDARY { '|' } else { char::from_u32(symbol).unwrap() })
            .collect()
    }

    #[test]
    fn boundaries_stand_around_words() {
        assert_eq!(shown("Confirm it, please"), "|confirm| |it|, |please|");
        assert_eq!(shown("'s"), "'|s|");
        assert_eq!(shown("..."), "...");
    }

    #[test]
    fn white_space_reads_as_one_space_and_its_ends_as_nothing() {
        assert_eq!(shown("  take\t\n place "), "|take| |place|");
        assert_eq!(shown(" \n "), "");
    }

    #[test]
    fn case_is_folded_beyond_ascii() {
        assert_eq!(shown("\u{c9}t\u{e9}"), shown("\u{e9}T\u{c9}"));
        assert_eq!(shown("Stra\u{df}e"), shown("STRASSE"));
        assert_eq!(shown("\u{3a3}\u{3c3}\u{3c2}"), "|\u{3c3}\u{3c3}\u{3c3}|");
        assert_eq!(shown("\u{17f}ea"), "|sea|");
    }

    #[test]
    fn letters_of_one_byte_are_folded_as_all_are() {
        for letter in 0..=127 {
            assert_eq!([fold_ascii(letter)], *fold(char::from(letter)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn invisible_letters_are_skipped_and_combining_marks_belong_to_words() {
        assert_eq!(shown("con\u{ad}fi\u{200b}rm"), "|confirm|");
        assert_eq!(shown("cafe\u{301}s"), "|cafe\u{301}s|");
        assert_eq!(shown("CAF\u{c9}s"), "|cafe\u{301}s|");
    }

    #[test]
    fn marks_of_every_script_belong_to_words() {
        // The mark of a voiced kana; a nukta and a virama.
        assert_eq!(shown("\u{304c}\u{304d}"), "|\u{304b}\u{3099}\u{304d}|");
        assert_eq!(shown("\u{958}\u{94d}\u{924}"), "|\u{915}\u{93c}\u{94d}\u{924}|");
        assert_eq!(shown("\u{2764}\u{fe0f}x"), "\u{2764}|x|", "a symbol's selector");
        assert_eq!(shown("con\u{fe0f}fi\u{202a}rm"), "|confirm|");
    }

    #[test]
    fn marks_of_signs_are_letters_of_no_word() {
        let marked = char::from(b'+');
        let shown = |text: &str| {
            let symbols = symbols(text).into_iter();
            let letters = symbols.map(|symbol| match symbol {
                BOUNDARY => '|',
                MARKED => marked,
                letter => char::from_u32(letter).unwrap(),
            });
            letters.collect::<String>()
        };
        // A sign that is not equal, composed and in two characters.
        assert_eq!(shown("\u{2260}x"), "=+|x|");
        assert_eq!(shown("=\u{338}x"), "=+|x|");
        assert_eq!(shown("-\u{301}\u{323}x\u{301}-x"), "-+|x\u{301}|-|x|");
        assert_eq!(shown("a \u{301}x"), "|a| |x|", "on nothing");
        assert_eq!(shown("\u{301} x \u{301}"), "|x|", "on nothing, at the ends");
    }

    #[test]
    fn marks_come_in_the_order_of_unicode() {
        assert_eq!(shown("e\u{302}\u{323}"), "|e\u{323}\u{302}|");
        assert_eq!(shown("\u{ea}\u{323}s"), "|e\u{323}\u{302}s|");
        assert_eq!(shown("e\u{302}\u{34f}\u{323}"), "|e\u{323}\u{302}|", "what is invisible");
        assert_eq!(shown("e\u{302}\u{301}"), "|e\u{302}\u{301}|", "two above the letter");
        assert_eq!(symbols_as_written("\u{ea}\u{323}").len(), 5);
        assert_ne!(symbols_as_written("\u{ea}\u{323}"), symbols("\u{ea}\u{323}"));
    }

    #[test]
    fn folding_makes_no_mark_of_a_letter_and_no_letter_of_a_mark() {
        for letter in '\0'..=char::MAX {
            let class = crate::text::combining_class;
            assert!(class(letter) == 0 || is_combining_mark(letter), "{letter:?}");
            for part in decomposed_letter(letter).filter(|part| !is_invisible(*part)) {
                match class(part) {
                    0 => assert!(fold(part).all(|folded| class(folded) == 0), "{part:?}"),
                    _ => assert!(fold(part).eq([part]), "{part:?}"),
                }
            }
        }
    }

    #[test]
    fn letters_are_found_by_their_first_bytes() {
        let all = ('\u{80}'..=char::MAX).filter(|letter| letter.len_utf8() > 1);
        let mut by_bytes: std::collections::BTreeMap<Vec<u8>, Vec<char>> = Default::default();
        for letter in all {
            let mut bytes = [0; 4];
            let bytes = letter.encode_utf8(&mut bytes).as_bytes();
            for begun in 1..bytes.len() {
                by_bytes.entry(bytes[..begun].to_vec()).or_default().push(letter);
            }
        }
        for (begun, letters) in by_bytes {
            assert!(letters_from(&begun).eq(letters), "{begun:x?}");
        }
        assert_eq!(letters_from(&[0xff]).next(), None);
    }

    #[test]
    fn a_letter_may_arrive_byte_by_byte() {
        let mut seen = Vec::new();
        let mut state = TextState::default();
        for byte in "\u{c9}".bytes() {
            state = state.read(&[byte], |symbol| seen.push(symbol)).unwrap();
        }
        assert!(state.is_complete());
        assert_eq!(seen, [BOUNDARY, u32::from(b'e'), 0x301]);
    }

    #[test]
    fn bytes_that_begin_no_letter_are_ill_formed() {
        let start = TextState::default();
        assert_eq!(start.read(&[0xff], |_| ()), Err(IllFormed));
        let half = start.read(&[0xc3], |_| ()).unwrap();
        assert!(!half.is_complete());
        assert_eq!(half.read(b"a", |_| ()), Err(IllFormed));
    }

    /// A text of a few letters with several marks of different classes, and an equivalent one.
    fn equivalent() -> impl Strategy<Value = (String, String)> {
        let letters = "[aE\u{ea}\u{2260}\u{1fb4}\u{304b}\u{304c}\u{5e9}=.\u{ac01} ]";
        let marks = "[\u{301}\u{302}\u{307}\u{323}\u{338}\u{345}\u{3099}\u{5c1}\u{34f}]{0,8}";
        prop::collection::vec((letters, marks), 0..5).prop_map(|letters| {
            let text: String = letters.into_iter().flat_map(|(l, m)| [l, m]).collect();
            let other = crate::text::composed(&text).into_owned();
            (text, other)
        })
    }

    proptest! {
        #[test]
        fn equivalent_texts_have_the_same_symbols((text, composed) in equivalent()) {
            let sorted: String = composed.chars().flat_map(decomposed_letter).collect();
            prop_assert!(crate::text::is_same(&text, &composed));
            prop_assert_eq!(symbols(&text), symbols(&composed));
            prop_assert_eq!(symbols(&text), symbols(&sorted));
        }

        #[test]
        fn reading_in_pieces_is_reading_at_once(text in "\\PC{0,12}", cut in 0usize..40) {
            let cut = cut.min(text.len());
            let mut pieces = Vec::new();
            let half = TextState::default().read(&text.as_bytes()[..cut], |s| pieces.push(s));
            half.unwrap().read(&text.as_bytes()[cut..], |s| pieces.push(s)).unwrap();
            let mut whole = Vec::new();
            TextState::default().read(text.as_bytes(), |s| whole.push(s)).unwrap();
            prop_assert_eq!(pieces, whole);
        }
    }
}
