//! Texts with some spans replaced, and where everything else went.

use crate::model::{Extent, Label, Layer, Span};

/// Replacements in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Edits(Vec<(Span, String)>);

impl Edits {
    /// Replacements of spans that do not overlap.
    pub(super) fn new(mut edits: Vec<(Span, String)>) -> Self {
        edits.sort_unstable();
        debug_assert!(edits.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
        Self(edits)
    }

    /// The text with the replacements.
    pub(super) fn text(&self, text: &str) -> String {
        let (mut edited, mut from) = (String::with_capacity(text.len()), 0);
        for (span, words) in &self.0 {
            edited.push_str(&text[from..span.start as usize]);
            edited.push_str(words);
            from = span.end as usize;
        }
        edited.push_str(&text[from..]);
        edited
    }

    /// Where a span went. One that cuts a replaced span holds all that took its place.
    pub(super) fn span(&self, span: Span) -> Span {
        Span::new(self.place(span.start, false), self.place(span.end, true))
    }

    fn place(&self, at: u32, is_end: bool) -> u32 {
        let mut moved = i64::from(at);
        for (span, words) in &self.0 {
            let grown = words.len() as i64 - i64::from(span.len());
            if span.end <= at {
                moved += grown;
            } else if span.start < at {
                let inside = i64::from(at - span.start);
                moved += if is_end { words.len() as i64 - inside } else { -inside };
            }
        }
        u32::try_from(moved).expect("a place in the edited text")
    }

    /// Layers over the edited text. Labels lose their annotator: no person put them there.
    pub(super) fn layers(&self, layers: &[Layer]) -> Vec<Layer> {
        let moved = |label: &Label| {
            let extent = match label.extent {
                Extent::Overt(span) => Extent::Overt(self.span(span)),
                ref other => other.clone(),
            };
            Label { extent, annotator: String::new(), ..label.clone() }
        };
        let layers = layers.iter().map(|layer| {
            let labels = layer.labels.iter().map(moved).collect();
            Layer { labels, ..layer.clone() }
        });
        layers.collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_before_around_inside_and_behind_a_replacement_are_moved() {
        let text = "an inspector checks it";
        let edits = Edits::new(vec![
            (Span::new(13, 19), "looks over".to_owned()),
            (Span::new(0, 2), "a".to_owned()),
        ]);
        let edited = edits.text(text);
        assert_eq!(edited, "a inspector looks over it");
        for (start, end, expected) in [
            (0, 2, "a"),
            (0, 12, "a inspector"),
            (3, 12, "inspector"),
            (13, 19, "looks over"),
            (14, 16, "looks over"),
            (3, 22, "inspector looks over it"),
            (20, 22, "it"),
        ] {
            assert_eq!(edits.span(Span::new(start, end)).of(&edited), Some(expected));
        }
    }

    proptest! {
        #[test]
        fn what_no_replacement_touches_keeps_its_words(
            (before, old, between, other, after) in
                ("[a-z ]{0,6}", "[a-z]{1,5}", "[a-z ]{1,6}", "[a-z]{1,5}", "[a-z ]{0,6}"),
            (new, newer) in ("[a-z ]{0,9}", "[a-z ]{0,9}"),
        ) {
            let text = format!("{before}{old}{between}{other}{after}");
            let at = |from: usize, words: &str| Span::new(from as u32, (from + words.len()) as u32);
            let first = at(before.len(), &old);
            let gap = at(first.end as usize, &between);
            let second = at(gap.end as usize, &other);
            let edits = Edits::new(vec![(second, newer.clone()), (first, new.clone())]);
            let edited = edits.text(&text);
            prop_assert_eq!(&edited, &format!("{before}{new}{between}{newer}{after}"));
            for (span, words) in [(first, &new), (gap, &between), (second, &newer)] {
                prop_assert_eq!(edits.span(span).of(&edited), Some(words.as_str()));
            }
            prop_assert_eq!(edits.span(at(0, &text)), at(0, &edited));
        }
    }
}
