//! Given spans: which FE of the frame each is, or none.
//!
//! The FEs and "not an FE", whose score is 0, share the probability of a span:
//!
//! ```text
//! P(label) = exp(score(label)) / (1 + sum over labels of exp(score))
//! ```
//!
//! A network that was trained on this question answers it better than one that was trained to find
//! the spans, which learns most from where spans end. Cui and Swayamdipta (2024), section 3.3
//! and appendix D: labels are the FEs and "Not an FE".

use std::ops::Range;

use super::data::{LabelledSentence, LabelledTarget};
use super::elements::FrameElements;
use super::segments::Spans;
use crate::learn::SplitMix64;

/// Words of the longest span that is drawn.
const LONGEST_DRAWN: u64 = 8;

/// What a span is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    /// Place of the likeliest FE in the frame; none if it is likelier that the span is not an FE.
    pub(super) label: Option<usize>,
    /// Probability of that.
    pub(super) score: f32,
    /// Probability that the span is not an FE.
    pub(super) not_an_element: f32,
}

impl Reading {
    /// Of a span's scores for the FEs of the frame.
    pub(super) fn of(scores: &[f32]) -> Self {
        let (shares, not_an_element) = shares(scores);
        let best = shares.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other));
        match best.filter(|(_, share)| *share > not_an_element) {
            Some((label, score)) => Self { label: Some(label), score, not_an_element },
            None => Self { label: None, score: not_an_element, not_an_element },
        }
    }
}

/// The probabilities of the FEs, and that of "not an FE".
fn shares(scores: &[f32]) -> (impl Iterator<Item = f32> + '_, f32) {
    let most = scores.iter().fold(0.0_f32, |most, score| most.max(*score));
    let none = (-most).exp();
    let whole = none + scores.iter().map(|score| (score - most).exp()).sum::<f32>();
    (scores.iter().map(move |score| (score - most).exp() / whole), none / whole)
}

/// A span with the place of its FE in the frame, or none.
pub(super) type SpanLabel = (usize, Option<usize>);

/// Negative log-likelihood of what some spans are. `scores`, (S, K) of K FEs, become its
/// derivatives by them.
pub(super) fn likelihood(scores: &mut [f32], labels: usize, given: &[SpanLabel]) -> f64 {
    let mut slopes = vec![0.0; scores.len()];
    let mut loss = 0.0;
    for &(span, label) in given {
        let row = span * labels..(span + 1) * labels;
        let (shares, none) = shares(&scores[row.clone()]);
        for ((slope, share), at) in slopes[row].iter_mut().zip(shares).zip(0..) {
            let is_right = label == Some(at);
            *slope += share - f32::from(u8::from(is_right));
            if is_right {
                loss -= f64::from(share.max(f32::MIN_POSITIVE)).ln();
            }
        }
        if label.is_none() {
            loss -= f64::from(none.max(f32::MIN_POSITIVE)).ln();
        }
    }
    scores.copy_from_slice(&slopes);
    loss
}

/// The words to learn from or to be asked of at a target: those of its FEs with their names, and as
/// many that are no FE of it. Of these, FEs of the sentence's other targets come first, which are
/// phrases as well; the rest are drawn.
pub(super) fn questions<'a>(
    sentence: &LabelledSentence,
    target: &'a LabelledTarget,
    random: &mut SplitMix64,
) -> Vec<(Range<usize>, Option<&'a str>)> {
    let mut asked: Vec<(Range<usize>, Option<&str>)> =
        target.learnt.iter().map(|(words, name)| (words.clone(), Some(&**name))).collect();
    let of_others = sentence.targets.iter().flat_map(|other| &other.learnt);
    let mut phrases: Vec<Range<usize>> = of_others.map(|(words, _)| words.clone()).collect();
    random.shuffle(&mut phrases);
    let wanted = target.learnt.len().max(1);
    let drawn: Vec<Range<usize>> = (0..wanted)
        .map(|_| {
            let words = sentence.words.len() as u64;
            let first = random.next() % words;
            let end = (first + 1 + random.next() % LONGEST_DRAWN).min(words);
            first as usize..end as usize
        })
        .collect();
    // Every other one is drawn, so that both kinds are known.
    let from_phrases = phrases.into_iter().take(wanted.div_ceil(2));
    for words in from_phrases.chain(drawn) {
        let is_other = asked.iter().all(|(other, _)| *other != words) && words != target.target;
        if is_other && asked.len() < target.learnt.len() + wanted {
            asked.push((words, None));
        }
    }
    asked
}

/// The same by numbers of spans and places of FEs; what the frame or the longest span does not
/// allow is left out.
pub(super) fn numbered(
    asked: &[(Range<usize>, Option<&str>)],
    spans: Spans,
    frame: &FrameElements,
) -> Vec<SpanLabel> {
    let numbered = asked.iter().filter_map(|(words, name)| {
        let span = spans.number(words.start, words.end - 1)?;
        match name {
            Some(name) => Some((span, Some(frame.place(name)?))),
            None => Some((span, None)),
        }
    });
    numbered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_likelier_than_none_is_an_element() {
        let sum = 1.0 + 2.0_f32.exp() + 1.0_f32.exp();
        let read = Reading::of(&[1.0, 2.0]);
        assert_eq!(read.label, Some(1));
        assert!((read.score - 2.0_f32.exp() / sum).abs() < 1e-6);
        assert!((read.not_an_element - 1.0 / sum).abs() < 1e-6);
        let none = Reading::of(&[-0.5, -2.0]);
        assert_eq!((none.label, none.score), (None, none.not_an_element));
        assert_eq!(Reading::of(&[]), Reading { label: None, score: 1.0, not_an_element: 1.0 });
        // Scores far apart stay numbers.
        assert_eq!(Reading::of(&[500.0, -500.0]).score, 1.0);
    }

    #[test]
    fn the_loss_is_the_surprise_and_its_slopes_are_its_differences() {
        let scores = [0.3, -0.7, 1.1, 0.2, 0.0, -1.0];
        let given = [(0, Some(1)), (2, None), (0, Some(1))];
        let loss = |scores: &[f32]| likelihood(&mut scores.to_vec(), 2, &given);
        let mut slopes = scores;
        let at_once = likelihood(&mut slopes, 2, &given);
        let share = |of: f32, a: f32, b: f32| f64::from(of.exp() / (1.0 + a.exp() + b.exp())).ln();
        let by_hand = -2.0 * share(-0.7, 0.3, -0.7) - share(0.0, 0.0, -1.0);
        assert!((at_once - by_hand).abs() < 1e-6);
        assert_eq!(slopes[2..4], [0.0, 0.0], "nobody asks of the second span");
        for at in 0..scores.len() {
            let moved = |by: f32| {
                let mut scores = scores;
                scores[at] += by;
                loss(&scores)
            };
            let difference = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            assert!((difference - f64::from(slopes[at])).abs() < 1e-3, "{at}");
        }
    }
}
