//! What word links say of a source span and a candidate.
//!
//! A linker scores every word of a sentence against every word of its paraphrase
//! ([`linker`](super::linker)). A word of the paraphrase *answers* to a span as surely as to the
//! word of it that it is linked best with. The ten cues of a candidate are
//!
//! ```text
//! first, last      how surely its first and its last word answer
//! before, after    how surely the words beside it do; 0 where there is none
//! left, right      how surely any word to its left does, any to its right
//! inside           the mean over its words
//! answered         of each word of the span the best link into the candidate; the mean over the span
//! answered outside the same for links out of it
//! elsewhere        of each word of the candidate the best link to a word beside the span; their mean
//! ```

use super::candidates::WordSpan;

/// Names of the cues, as a head's configuration lists them.
pub(super) const LINK_CUES: [&str; 10] = [
    "link_first",
    "link_last",
    "link_before",
    "link_after",
    "link_left",
    "link_right",
    "link_inside",
    "link_answered",
    "link_answered_outside",
    "link_elsewhere",
];

/// How surely the words of a sentence and of its paraphrase are linked, in [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LinkScores {
    /// Words of the sentence N and of the paraphrase M.
    pub(super) sizes: [usize; 2],
    /// (N, M)
    scores: Vec<f32>,
}

impl LinkScores {
    /// Scores (N, M).
    pub(super) fn new(sizes: [usize; 2], scores: Vec<f32>) -> Self {
        assert_eq!(scores.len(), sizes[0] * sizes[1], "a score for each pair of words");
        Self { sizes, scores }
    }

    /// The scores of a word of the sentence.
    pub(super) fn of_word(&self, word: usize) -> &[f32] {
        &self.scores[word * self.sizes[1]..][..self.sizes[1]]
    }

    /// What the cues of all candidates of a source span have in common.
    pub(super) fn of_span(&self, span: WordSpan) -> SpanLinks<'_> {
        let words = span.range();
        let best = |of: &mut dyn Iterator<Item = usize>| {
            let mut best = vec![0.0_f32; self.sizes[1]];
            for word in of {
                let scores = self.of_word(word);
                best.iter_mut().zip(scores).for_each(|(best, score)| *best = best.max(*score));
            }
            best
        };
        let answers = best(&mut words.clone());
        let others = best(&mut (0..self.sizes[0]).filter(|word| !words.contains(word)));
        let outside = words.map(|word| Outside::new(self.of_word(word))).collect();
        SpanLinks { links: self, span, around: Outside::new(&answers), answers, others, outside }
    }
}

/// The highest of some numbers before and from each place on, so that the highest outside a
/// candidate costs nothing.
#[derive(Debug)]
struct Outside {
    left: Vec<f32>,
    right: Vec<f32>,
}

impl Outside {
    fn new(numbers: &[f32]) -> Self {
        let highest = |highest: &mut f32, number: &f32| {
            *highest = highest.max(*number);
            Some(*highest)
        };
        let mut left = vec![0.0];
        left.extend(numbers.iter().scan(0.0, highest));
        let mut right = vec![0.0];
        right.extend(numbers.iter().rev().scan(0.0, highest));
        right.reverse();
        Self { left, right }
    }

    /// The highest to the left of a candidate and to its right.
    fn of(&self, candidate: WordSpan) -> [f32; 2] {
        [self.left[candidate.start as usize], self.right[candidate.end as usize]]
    }
}

/// A source span and the links of its sentence.
#[derive(Debug)]
pub(super) struct SpanLinks<'a> {
    links: &'a LinkScores,
    span: WordSpan,
    /// How surely each word of the paraphrase answers to the span, and to a word beside it (M).
    answers: Vec<f32>,
    others: Vec<f32>,
    around: Outside,
    /// Of each word of the span.
    outside: Vec<Outside>,
}

impl SpanLinks<'_> {
    /// The cues of a candidate.
    pub(super) fn cues(&self, candidate: WordSpan) -> [f32; LINK_CUES.len()] {
        let inside = candidate.range();
        let beside = |at: Option<usize>| at.and_then(|at| self.answers.get(at)).map_or(0.0, |x| *x);
        let mean = |numbers: &[f32]| numbers.iter().sum::<f32>() / numbers.len() as f32;
        let highest = |numbers: &[f32]| numbers.iter().copied().fold(0.0, f32::max);
        let [left, right] = self.around.of(candidate);
        let (mut answered, mut outside) = (0.0, 0.0);
        for (word, around) in self.span.range().zip(&self.outside) {
            answered += highest(&self.links.of_word(word)[inside.clone()]);
            let [left, right] = around.of(candidate);
            outside += left.max(right);
        }
        let words = self.span.len() as f32;
        [
            self.answers[inside.start],
            self.answers[inside.end - 1],
            beside(inside.start.checked_sub(1)),
            beside(Some(inside.end)),
            left,
            right,
            mean(&self.answers[inside.clone()]),
            answered / words,
            outside / words,
            mean(&self.others[inside]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cues(span: WordSpan, candidate: WordSpan) -> [f32; LINK_CUES.len()] {
        #[rustfmt::skip]
        let scores = vec![
            0.5, 0.0,  0.25, 0.0,
            0.0, 0.75, 0.0,  0.125,
            0.0, 0.5,  0.0,  1.0,
        ];
        LinkScores::new([3, 4], scores).of_span(span).cues(candidate)
    }

    #[test]
    fn cues_are_those_worked_by_hand() {
        // The words of the paraphrase answer to the first two by 0.5, 0.75, 0.25 and 0.125.
        let found = cues(WordSpan::new(0, 2), WordSpan::new(1, 3));
        let (answered, outside) = ((0.25 + 0.75) / 2.0, (0.5 + 0.125) / 2.0);
        assert_eq!(found, [0.75, 0.25, 0.5, 0.125, 0.5, 0.125, 0.5, answered, outside, 0.25]);
    }

    #[test]
    fn nothing_stands_beside_the_whole_sentence() {
        let found = cues(WordSpan::new(0, 3), WordSpan::new(0, 4));
        assert_eq!((found[2], found[3], found[4], found[5]), (0.0, 0.0, 0.0, 0.0));
        assert_eq!((found[8], found[9]), (0.0, 0.0));
    }
}
