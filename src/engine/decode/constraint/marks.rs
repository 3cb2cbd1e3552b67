//! The combining marks of a letter in the order of Unicode, whatever order they are written in.
//!
//! A dot below and a circumflex are the same letter in either order (Unicode Standard, section
//! 3.11, D108). So marks are kept until the next letter shows that there are no more. They are
//! sorted by class, and marks of one class stay in their order.
//!
//! Of more than [`MOST`] marks the first ones of that order count. A state stays small, and
//! equivalent texts still read alike.

use crate::text::combining_class;

/// Marks of one letter that count. Pointed Hebrew with accents has five.
const MOST: usize = 6;

/// The marks since the last letter, in order. U+0000 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Marks([char; MOST]);

impl Marks {
    /// Reads a symbol as it is written: keeps a mark, emits the marks before anything else.
    pub(super) fn read(mut self, symbol: u32, mut emit: impl FnMut(u32)) -> Self {
        match char::from_u32(symbol).filter(|letter| combining_class(*letter) != 0) {
            Some(mark) => {
                self.insert(mark);
                self
            }
            None => {
                self.end(&mut emit);
                emit(symbol);
                Self::default()
            }
        }
    }

    /// Reads the end of the text: emits the marks.
    pub(super) fn end(self, emit: impl FnMut(u32)) {
        self.0.into_iter().take_while(|mark| *mark != '\0').map(u32::from).for_each(emit);
    }

    fn insert(&mut self, mut mark: char) {
        let class = combining_class(mark);
        let before = |other: &char| *other != '\0' && combining_class(*other) <= class;
        let at = self.0.partition_point(before);
        for place in &mut self.0[at..] {
            std::mem::swap(place, &mut mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(text: &str) -> String {
        let mut symbols = Vec::new();
        let marks = text.chars().fold(Marks::default(), |marks, letter| {
            marks.read(u32::from(letter), |symbol| symbols.push(symbol))
        });
        marks.end(|symbol| symbols.push(symbol));
        symbols.into_iter().map(|symbol| char::from_u32(symbol).unwrap()).collect()
    }

    #[test]
    fn marks_are_sorted_by_class_between_letters() {
        assert_eq!(ordered("e\u{302}\u{323}s\u{301}"), "e\u{323}\u{302}s\u{301}");
        assert_eq!(ordered("e\u{302}\u{301}"), "e\u{302}\u{301}", "of one class");
        // A vowel sign of class 0 between marks.
        assert_eq!(ordered("\u{915}\u{94d}\u{93e}\u{93c}"), "\u{915}\u{94d}\u{93e}\u{93c}");
    }

    #[test]
    fn of_too_many_marks_the_first_in_order_count() {
        let above = "\u{301}".repeat(MOST);
        let below = "\u{323}";
        let left = format!("e{below}{}s", "\u{301}".repeat(MOST - 1));
        assert_eq!(ordered(&format!("e{above}{below}s")), left);
        assert_eq!(ordered(&format!("e{below}{above}s")), left);
    }
}
