//! Moving the ends of a target by words and by letters.

use std::collections::BTreeSet;

use crate::model::Span;
use crate::text::{letters, words};

/// How far a key moves an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the next word.
    Word,
    /// To the next letter, as readers see letters.
    Letter,
}

/// The words at which the ends of a target may stop: the span aligner's, but that no letter is cut,
/// as an emoji of several signs.
#[must_use]
pub fn whole_words(text: &str) -> Vec<Span> {
    let starts: BTreeSet<u32> = letters(text).into_iter().map(|letter| letter.start).collect();
    let mut whole: Vec<Span> = Vec::new();
    for word in words(text) {
        match whole.last_mut() {
            Some(last) if !starts.contains(&word.start) => last.end = word.end,
            _ => whole.push(word),
        }
    }
    whole
}

/// A target whose ends are moved. Pieces stay in order, hold text, and never meet one another's
/// inside.
#[derive(Debug, Clone)]
pub struct SpanEdit {
    pieces: Vec<Span>,
    piece: usize,
    is_end: bool,
    words: Vec<Span>,
    letters: Vec<Span>,
    length: u32,
}

impl SpanEdit {
    /// Starts at the end of the first piece; none where there is no piece.
    #[must_use]
    pub fn new(text: &str, targets: &[Span]) -> Option<Self> {
        targets.first()?;
        Some(Self {
            pieces: targets.to_vec(),
            piece: 0,
            is_end: true,
            words: whole_words(text),
            letters: letters(text),
            length: text.len() as u32,
        })
    }

    /// The pieces as they are now, in bytes.
    #[must_use]
    pub fn pieces(&self) -> &[Span] {
        &self.pieces
    }

    /// Which piece is moved, and whether its end is, rather than its start.
    #[must_use]
    pub fn at(&self) -> (usize, bool) {
        (self.piece, self.is_end)
    }

    /// Goes to the other end of the piece.
    pub fn other_end(&mut self) {
        self.is_end = !self.is_end;
    }

    /// Goes to the next piece, or the one before.
    pub fn other_piece(&mut self, forward: bool) {
        let count = self.pieces.len();
        self.piece = (self.piece + if forward { 1 } else { count - 1 }) % count;
    }

    /// Moves the end; where nothing is left to move over it stays, and `false` says so.
    pub fn step(&mut self, forward: bool, step: Step) -> bool {
        let span = self.pieces[self.piece];
        let at = if self.is_end { span.end } else { span.start };
        let units = if step == Step::Word { &self.words } else { &self.letters };
        let mut stops = units.iter().map(|unit| if self.is_end { unit.end } else { unit.start });
        let to = if forward {
            stops.find(|stop| *stop > at)
        } else {
            stops.rev().find(|stop| *stop < at)
        };
        let before = self.piece.checked_sub(1).map_or(0, |before| self.pieces[before].end);
        let after = self.pieces.get(self.piece + 1).map_or(self.length, |after| after.start);
        match to {
            Some(to) if self.is_end && to > span.start && to <= after => {
                self.pieces[self.piece].end = to;
                true
            }
            Some(to) if !self.is_end && to < span.end && to >= before => {
                self.pieces[self.piece].start = to;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "He cafe\u{301}s \u{1F469}\u{200D}\u{1F52C} figures\r\nand so on .";

    fn shown(edit: &SpanEdit) -> Vec<&'static str> {
        edit.pieces().iter().map(|piece| piece.of(ODD).unwrap()).collect()
    }

    #[test]
    fn ends_stop_at_words_and_at_letters_as_readers_see_them() {
        let mut edit = SpanEdit::new(ODD, &[Span::new(3, 10)]).unwrap();
        for (forward, step, expected) in [
            (false, Step::Letter, "cafe\u{301}"),
            (false, Step::Letter, "caf"),
            (true, Step::Letter, "cafe\u{301}"),
            (true, Step::Word, "cafe\u{301}s"),
            (true, Step::Letter, "cafe\u{301}s "),
            (true, Step::Letter, "cafe\u{301}s \u{1F469}\u{200D}\u{1F52C}"),
            (true, Step::Word, "cafe\u{301}s \u{1F469}\u{200D}\u{1F52C} figures"),
            (true, Step::Letter, "cafe\u{301}s \u{1F469}\u{200D}\u{1F52C} figures\r\n"),
        ] {
            edit.step(forward, step);
            assert_eq!(shown(&edit), [expected]);
        }
        edit.other_end();
        for _ in 0..9 {
            edit.step(true, Step::Word);
        }
        assert_eq!(shown(&edit), ["figures\r\n"], "a piece holds text");
        for _ in 0..99 {
            edit.step(false, Step::Letter);
        }
        assert_eq!(edit.pieces()[0].start, 0);
    }

    #[test]
    fn pieces_do_not_run_into_each_other() {
        let mut edit = SpanEdit::new(ODD, &[Span::new(0, 2), Span::new(3, 10)]).unwrap();
        edit.step(true, Step::Word);
        assert_eq!(shown(&edit)[0], "He");
        assert!(edit.step(true, Step::Letter));
        assert_eq!(shown(&edit)[0], "He ");
        assert!(!edit.step(true, Step::Letter));
        assert_eq!(shown(&edit)[0], "He ");
        edit.other_piece(true);
        edit.other_end();
        edit.step(false, Step::Word);
        assert_eq!((edit.at(), shown(&edit)[1]), ((1, false), "cafe\u{301}s"));
        edit.other_piece(true);
        assert_eq!(edit.at().0, 0);
        assert!(SpanEdit::new(ODD, &[]).is_none());
    }
}
