//! What the scorer sees of a source span and a candidate.
//!
//! Culkin et al. 2021, section 4.1: both spans are mean-pooled over the encoder's states, and a
//! pair is the concatenation of
//!
//! ```text
//! Df   s - c            D numbers    difference
//! Mx   max(s, c)        D numbers    element by element
//! Cue  start, length    4 numbers    of the source span, then of the candidate
//! ```
//!
//! so 2 D + 4 numbers: 772 for an encoder 384 wide. Starts and lengths count words and are divided
//! by [`CUE_SCALE`]. Where a linker stands beside the head, what it says follows ([`LINK_CUES`]),
//! which the paper has not. A span's mean runs over the *pieces* of its words; words are only the
//! units that spans are made of.

use super::candidates::WordSpan;
use super::link_scores::{LINK_CUES, LinkScores};

/// Which features a head looks at, for the rows of the paper's Table 2; all of them by default.
///
/// What is switched off is zero in every row, so a head's layout is the same for all choices.
///
/// ```
/// use fnstore::align::Features;
///
/// let cue = Features { cue: true, ..Features::NONE };
/// assert_eq!(Features::from_names(&cue.names()), Some(cue));
/// assert_eq!(Features::default().names().len(), 6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Df: the difference of the two means.
    pub difference: bool,
    /// Mx: the maximum of the two means, element by element.
    pub maximum: bool,
    /// Cue: start and length of both spans.
    pub cue: bool,
}

impl Default for Features {
    fn default() -> Self {
        Self { difference: true, maximum: true, cue: true }
    }
}

impl Features {
    /// No feature at all, to switch on what is wanted.
    pub const NONE: Self = Self { difference: false, maximum: false, cue: false };

    const DIFFERENCE: &'static [&'static str] = &["difference"];
    const MAXIMUM: &'static [&'static str] = &["maximum"];
    const CUE: &'static [&'static str] =
        &["source_start", "source_length", "candidate_start", "candidate_length"];

    /// The names of the features that are on, in the order of the inputs, as a head's configuration
    /// lists them.
    #[must_use]
    pub fn names(self) -> Vec<&'static str> {
        let groups = [
            (self.difference, Self::DIFFERENCE),
            (self.maximum, Self::MAXIMUM),
            (self.cue, Self::CUE),
        ];
        groups.into_iter().filter(|(on, _)| *on).flat_map(|(_, names)| names).copied().collect()
    }

    /// The features of these names; none when the names are not those of a choice of features.
    #[must_use]
    pub fn from_names<S: AsRef<str>>(names: &[S]) -> Option<Self> {
        let has = |group: &[&str]| names.iter().any(|name| name.as_ref() == group[0]);
        let features = Self {
            difference: has(Self::DIFFERENCE),
            maximum: has(Self::MAXIMUM),
            cue: has(Self::CUE),
        };
        features.names().iter().copied().eq(names.iter().map(AsRef::as_ref)).then_some(features)
    }

    /// Makes zero what is switched off, in a row of features of states `width` wide. What word
    /// links say stays: it is there when there are any.
    pub(super) fn mask(self, width: usize, row: &mut [f32]) {
        let (difference, rest) = row.split_at_mut(width);
        let (maximum, rest) = rest.split_at_mut(width);
        let cue = &mut rest[..CUES];
        let parts = [(self.difference, difference), (self.maximum, maximum), (self.cue, cue)];
        for (on, part) in parts {
            if !on {
                part.fill(0.0);
            }
        }
    }
}

/// Numbers in a row of features of states `width` wide, with or without word links.
pub(super) fn inputs(width: usize, linked: bool) -> usize {
    2 * width + CUES + if linked { LINK_CUES.len() } else { 0 }
}

/// Number of positional cues.
pub(super) const CUES: usize = 4;

/// Divisor of the cues, which brings typical word positions near the size of encoder states.
pub(super) const CUE_SCALE: f32 = 10.0;

/// Encoder states of one sentence, summed so that the mean of any span costs one subtraction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SentenceStates {
    width: usize,
    /// (words + 1, D): row `w` is the sum of the states of all pieces of the words before `w`.
    sums: Vec<f32>,
    /// Number of pieces of the words before `w`.
    pieces: Vec<u32>,
}

impl SentenceStates {
    /// Sums the states of pieces, given in order with the word that each belongs to.
    ///
    /// A word without pieces (the tokenizer may drop one) has no state and adds nothing to a mean.
    pub(super) fn new<'a>(
        width: usize,
        words: usize,
        states: impl Iterator<Item = (usize, &'a [f32])>,
    ) -> Self {
        let mut sums = vec![0.0; (words + 1) * width];
        let mut pieces = vec![0; words + 1];
        for (word, state) in states {
            pieces[word + 1] += 1;
            let row = &mut sums[(word + 1) * width..(word + 2) * width];
            row.iter_mut().zip(state).for_each(|(sum, x)| *sum += x);
        }
        for word in 0..words {
            pieces[word + 1] += pieces[word];
            let (before, after) = sums.split_at_mut((word + 1) * width);
            let previous = &before[word * width..];
            after[..width].iter_mut().zip(previous).for_each(|(sum, x)| *sum += x);
        }
        Self { width, sums, pieces }
    }

    /// Width D of a state.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Number of words.
    pub(super) fn words(&self) -> u32 {
        self.pieces.len() as u32 - 1
    }

    /// All rows of sums, `(words + 1, D)`.
    pub(super) fn sums(&self) -> &[f32] {
        &self.sums
    }

    /// One over the number of pieces in a span; 1 when it has none, so that its mean is zero.
    pub(super) fn weight(&self, span: WordSpan) -> f32 {
        let pieces = self.pieces[span.end as usize] - self.pieces[span.start as usize];
        1.0 / pieces.max(1) as f32
    }

    /// Writes the mean state of a span into `mean` (D numbers).
    pub(super) fn mean(&self, span: WordSpan, mean: &mut [f32]) {
        let weight = self.weight(span);
        let row = |word: u32| &self.sums[word as usize * self.width..][..self.width];
        for ((mean, start), end) in mean.iter_mut().zip(row(span.start)).zip(row(span.end)) {
            *mean = (end - start) * weight;
        }
    }
}

/// Encoder states of a sentence and its paraphrase, encoded together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PairStates {
    pub(super) source: SentenceStates,
    pub(super) target: SentenceStates,
    /// What a linker says of their words, where one was asked.
    pub(super) links: Option<LinkScores>,
}

impl PairStates {
    /// Width D of the encoder's states.
    pub(super) fn width(&self) -> usize {
        self.source.width()
    }

    /// Numbers in a row of features.
    pub(super) fn inputs(&self) -> usize {
        inputs(self.width(), self.links.is_some())
    }

    /// Writes the features of a source span and a candidate into `row`.
    pub(super) fn features(&self, span: WordSpan, candidate: WordSpan, row: &mut [f32]) {
        let width = self.width();
        let (difference, rest) = row.split_at_mut(width);
        let (maximum, rest) = rest.split_at_mut(width);
        self.source.mean(span, difference);
        self.target.mean(candidate, maximum);
        for (d, m) in difference.iter_mut().zip(maximum) {
            (*d, *m) = (*d - *m, d.max(*m));
        }
        let (positions, of_links) = rest.split_at_mut(CUES);
        positions.copy_from_slice(&cues(span, candidate));
        if let Some(links) = &self.links {
            of_links.copy_from_slice(&links.of_span(span).cues(candidate));
        }
    }
}

/// The positional cues of a source span and a candidate.
pub(super) fn cues(span: WordSpan, candidate: WordSpan) -> [f32; CUES] {
    [span.start, span.len(), candidate.start, candidate.len()].map(|n| n as f32 / CUE_SCALE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn features_of_a_small_pair_are_those_worked_by_hand() {
        // Source: word 0 of two pieces, word 1 of one. Target: one word of one piece.
        let states = PairStates {
            source: SentenceStates::new(
                2,
                2,
                [(0, &[1.0, 0.0][..]), (0, &[3.0, 2.0]), (1, &[5.0, 4.0])].into_iter(),
            ),
            target: SentenceStates::new(2, 1, [(0, &[1.0, 3.0][..])].into_iter()),
            links: None,
        };
        let mut row = [0.0; 8];
        states.features(WordSpan::new(0, 1), WordSpan::new(0, 1), &mut row);
        // s = (2, 1), c = (1, 3).
        assert_eq!(row, [1.0, -2.0, 2.0, 3.0, 0.0, 0.1, 0.0, 0.1]);
        // What links say of the span comes last.
        let links = LinkScores::new([2, 1], vec![0.5, 0.25]);
        let linked = PairStates { links: Some(links.clone()), ..states.clone() };
        let mut longer = vec![0.0; linked.inputs()];
        linked.features(WordSpan::new(0, 1), WordSpan::new(0, 1), &mut longer);
        assert_eq!(longer[..8], row);
        let span = WordSpan::new(0, 1);
        assert_eq!(longer[8..], links.of_span(span).cues(span));
        // Three pieces in two words: the mean weighs pieces.
        let mut mean = [0.0; 2];
        states.source.mean(WordSpan::new(0, 2), &mut mean);
        assert_eq!(mean, [3.0, 2.0]);
    }

    #[test]
    fn features_that_are_off_are_zero() {
        let all = Features::default();
        let mut row = [1.0; 10];
        all.mask(3, &mut row);
        assert_eq!(row, [1.0; 10]);
        Features { maximum: false, ..all }.mask(3, &mut row);
        assert_eq!(row, [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
        Features { cue: true, ..Features::NONE }.mask(3, &mut row);
        assert_eq!(row[..6], [0.0; 6]);
    }

    #[test]
    fn only_whole_groups_of_features_in_their_order_are_a_choice() {
        assert_eq!(Features::from_names(&["difference", "maximum"]).map(|f| f.cue), Some(false));
        for names in [&["maximum", "difference"][..], &["source_start"], &["mean"]] {
            assert_eq!(Features::from_names(names), None, "{names:?}");
        }
    }

    #[test]
    fn a_word_without_pieces_has_a_mean_of_zero() {
        let states = SentenceStates::new(2, 2, [(1, &[1.0, 2.0][..])].into_iter());
        let mut mean = [9.0; 2];
        states.mean(WordSpan::new(0, 1), &mut mean);
        assert_eq!(mean, [0.0, 0.0]);
        states.mean(WordSpan::new(0, 2), &mut mean);
        assert_eq!(mean, [1.0, 2.0]);
    }

    proptest! {
        #[test]
        fn pooled_means_equal_the_mean_over_the_pieces_of_the_span(
            words in proptest::collection::vec(
                proptest::collection::vec(proptest::array::uniform3(-2.0_f32..2.0), 0..4), 1..10),
            a in 0_usize..10, b in 0_usize..10,
        ) {
            let pieces = words.iter().enumerate()
                .flat_map(|(word, states)| states.iter().map(move |state| (word, &state[..])));
            let pooled = SentenceStates::new(3, words.len(), pieces);
            let (a, b) = (a % words.len(), b % words.len());
            let (a, b) = (a.min(b), a.max(b) + 1);
            let mut mean = [0.0; 3];
            pooled.mean(WordSpan::new(a as u32, b as u32), &mut mean);
            let inside: Vec<_> = words[a..b].iter().flatten().collect();
            for column in 0..3 {
                let sum: f32 = inside.iter().map(|state| state[column]).sum();
                let naive = sum / inside.len().max(1) as f32;
                prop_assert!((mean[column] - naive).abs() < 1e-5);
            }
        }
    }
}
