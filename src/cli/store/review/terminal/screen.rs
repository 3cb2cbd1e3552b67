//! Rows of a terminal: texts wrapped at words, each stretch with its look.

use std::io::{self, Write};

use crossterm::cursor::MoveTo;
use crossterm::queue;
use crossterm::style::{Attribute, Color, Print, SetAttribute, SetForegroundColor};
use crossterm::terminal::{Clear, ClearType};
use fnstore::text::{letters, visible};
use unicode_width::UnicodeWidthStr as _;

/// Colours of frame elements, in turn.
const COLOURS: [Color; 6] =
    [Color::Cyan, Color::Yellow, Color::Green, Color::Magenta, Color::Blue, Color::Red];

/// How a stretch looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Look {
    pub(super) is_reversed: bool,
    pub(super) is_underlined: bool,
    pub(super) is_bold: bool,
    pub(super) is_dim: bool,
    /// The place of a frame element in its frame.
    pub(super) element: Option<usize>,
}

pub(super) const PLAIN: Look =
    Look { is_reversed: false, is_underlined: false, is_bold: false, is_dim: false, element: None };
pub(super) const DIM: Look = Look { is_dim: true, ..PLAIN };
pub(super) const BOLD: Look = Look { is_bold: true, ..PLAIN };
pub(super) const TARGET: Look = Look { is_reversed: true, ..PLAIN };

type Row = Vec<(String, Look)>;

/// What is to be shown; what does not fit below is left out.
pub(super) struct Screen {
    columns: usize,
    rows: Vec<Row>,
}

impl Screen {
    pub(super) fn new(columns: u16) -> Self {
        Self { columns: usize::from(columns).max(20), rows: Vec::new() }
    }

    pub(super) fn blank(&mut self) {
        self.rows.push(Row::new());
    }

    pub(super) fn line(&mut self, text: &str, look: Look) {
        self.paragraph(&[(text, look)]);
    }

    /// A text in pieces, wrapped at words.
    pub(super) fn paragraph(&mut self, pieces: &[(&str, Look)]) {
        let mut wrapped = Wrapped { columns: self.columns, ..Wrapped::default() };
        for (text, look) in pieces {
            let text = visible(text);
            for span in letters(&text) {
                wrapped.take(span.of(&text).unwrap_or_default(), *look);
            }
        }
        self.rows.extend(wrapped.finish());
    }

    /// A text in pieces on one row, cut where the row ends.
    pub(super) fn row(&mut self, pieces: &[(&str, Look)]) {
        let (mut row, mut used) = (Row::new(), 0);
        'row: for (text, look) in pieces {
            let text = visible(text).replace(['\n', '\t'], " ");
            for span in letters(&text) {
                let letter = span.of(&text).unwrap_or_default();
                used += letter.width();
                if used > self.columns {
                    break 'row;
                }
                add(&mut row, letter, *look);
            }
        }
        self.rows.push(row);
    }

    /// Draws the first rows over what stands on the terminal.
    pub(super) fn draw(&self, out: &mut impl Write, rows: u16) -> io::Result<()> {
        queue!(out, Clear(ClearType::All))?;
        for (number, row) in (0..rows).zip(&self.rows) {
            queue!(out, MoveTo(0, number))?;
            for (text, look) in row {
                for (is_set, attribute) in [
                    (look.is_reversed, Attribute::Reverse),
                    (look.is_underlined, Attribute::Underlined),
                    (look.is_bold, Attribute::Bold),
                    (look.is_dim, Attribute::Dim),
                ] {
                    if is_set {
                        queue!(out, SetAttribute(attribute))?;
                    }
                }
                if let Some(element) = look.element {
                    queue!(out, SetForegroundColor(COLOURS[element % COLOURS.len()]))?;
                }
                queue!(out, Print(text), SetAttribute(Attribute::Reset))?;
            }
        }
        out.flush()
    }
}

fn add(row: &mut Row, letter: &str, look: Look) {
    match row.last_mut() {
        Some((text, last)) if *last == look => text.push_str(letter),
        _ => row.push((letter.to_owned(), look)),
    }
}

/// A paragraph while it is wrapped.
#[derive(Default)]
struct Wrapped {
    columns: usize,
    rows: Vec<Row>,
    row: Row,
    used: usize,
    /// Letters of a word that has not ended.
    word: Vec<(String, Look)>,
    width: usize,
}

impl Wrapped {
    fn take(&mut self, letter: &str, look: Look) {
        if letter.ends_with('\n') {
            self.end_word();
            self.end_row();
        } else if letter == " " || letter == "\t" {
            self.end_word();
            if self.used < self.columns {
                add(&mut self.row, " ", look);
                self.used += 1;
            }
        } else {
            // A word longer than a row goes on in the next.
            if self.width + letter.width() > self.columns {
                self.end_word();
                self.end_row();
            }
            self.width += letter.width();
            self.word.push((letter.to_owned(), look));
        }
    }

    fn end_word(&mut self) {
        if self.used + self.width > self.columns {
            self.end_row();
        }
        for (letter, look) in self.word.drain(..) {
            add(&mut self.row, &letter, look);
        }
        self.used += std::mem::take(&mut self.width);
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
        self.used = 0;
    }

    fn finish(mut self) -> Vec<Row> {
        self.end_word();
        self.end_row();
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: u16, pieces: &[(&str, Look)]) -> Vec<String> {
        let mut screen = Screen::new(columns);
        screen.paragraph(pieces);
        screen.rows.iter().map(|row| row.iter().map(|(text, _)| text.as_str()).collect()).collect()
    }

    #[test]
    fn texts_are_wrapped_at_words_and_long_words_anywhere() {
        let pieces = [("They check", PLAIN), ("ed", TARGET), (" all the ropes of it", PLAIN)];
        assert_eq!(rows(20, &pieces), ["They checked all the", "ropes of it"]);
        let long = "x".repeat(45);
        assert_eq!(rows(20, &[("a ", PLAIN), (&long, PLAIN)])[1].len(), 20);
        // Of a letter and its accent, or of what takes two columns, nothing is parted.
        assert_eq!(rows(20, &[(&"\u{4e16}".repeat(11), PLAIN)])[0].chars().count(), 10);
        assert_eq!(rows(20, &[("one\r\ntwo", PLAIN)]), ["one<U+000D>", "two"]);
    }
}
