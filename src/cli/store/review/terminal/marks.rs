//! What can be moved of an annotation set on a terminal: its target, then each frame element.

use fnstore::model::Span;
use fnstore::review::{SpanEdit, View};

use super::screen::{BOLD, DIM, Look, PLAIN, Screen, TARGET};

/// What the target is called beside the FEs.
const TARGET_NAME: &str = "the target";

/// The marks of an annotation set, one of which is moved.
pub(super) struct Marks {
    text: String,
    /// The target, then the FEs: name and spans.
    all: Vec<(String, Vec<Span>)>,
    at: usize,
    /// How the mark is moved.
    pub(super) edit: SpanEdit,
}

impl Marks {
    /// Begins with the target; `None` where there is none.
    pub(super) fn of(view: &View) -> Option<Self> {
        let text = view.output.text.clone();
        let edit = SpanEdit::new(&text, &view.output.targets)?;
        let mut all = vec![(TARGET_NAME.to_owned(), view.output.targets.clone())];
        all.extend(view.elements().map(|(name, span)| (name.to_owned(), vec![span])));
        Some(Self { text, all, at: 0, edit })
    }

    /// Goes on to the next mark. What was moved of this one and not saved goes back.
    pub(super) fn next(&mut self) {
        let next = (self.at + 1) % self.all.len();
        if let Some(edit) = SpanEdit::new(&self.text, &self.all[next].1) {
            (self.at, self.edit) = (next, edit);
        }
    }

    /// The place of the FE that is moved; `None` for the target.
    pub(super) fn element(&self) -> Option<usize> {
        self.at.checked_sub(1)
    }

    /// The sentence with the mark: a bracket stands at the end that a key moves.
    pub(super) fn draw(&self, screen: &mut Screen, before: &str) {
        let (piece, is_end) = self.edit.at();
        let text = &self.text;
        let mut pieces = vec![(before, DIM)];
        let mut from = 0;
        for (number, span) in self.edit.pieces().iter().enumerate() {
            let look = if number == piece { TARGET } else { Look { is_underlined: true, ..BOLD } };
            pieces.push((text.get(from..span.start as usize).unwrap_or_default(), PLAIN));
            if number == piece && !is_end {
                pieces.push(("[", BOLD));
            }
            pieces.push((span.of(text).unwrap_or_default(), look));
            if number == piece && is_end {
                pieces.push(("]", BOLD));
            }
            from = span.end as usize;
        }
        pieces.push((text.get(from..).unwrap_or_default(), PLAIN));
        screen.paragraph(&pieces);
        let end = if is_end { "end of " } else { "start of " };
        screen.paragraph(&[(end, DIM), (&self.all[self.at].0, BOLD)]);
    }
}
