//! What one step looks at: some candidates of some items, and what each of them is to score.

use super::{Encoded, Options};
use crate::align::candidates::{WordSpan, candidates};
use crate::align::head::Labels;
use crate::learn::SplitMix64;

/// Candidates within this distance of the gold span are always looked at: their soft labels are not
/// yet near zero.
const NEAR: u32 = 3;

/// Features and labels of the candidates that a step looks at.
pub(super) fn sample(
    options: &Options,
    data: &Encoded,
    items: &[usize],
    random: &mut SplitMix64,
) -> (Vec<f32>, Vec<f32>) {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for &at in items {
        let item = &data.items[at];
        let states = &data.pairs[data.pair_of[at]];
        let all = candidates(item.source_span.len(), item.target.len() as u32, options.k);
        let near =
            |span: &WordSpan| item.target_span.is_some_and(|gold| span.distance(gold) <= NEAR);
        let (mut looked_at, mut others): (Vec<_>, Vec<_>) = all.partition(near);
        random.shuffle(&mut others);
        others.truncate(options.sample.saturating_sub(looked_at.len()));
        looked_at.extend(others);
        for candidate in looked_at {
            let start = rows.len();
            rows.resize(start + states.inputs(), 0.0);
            states.features(item.source_span, candidate, &mut rows[start..]);
            options.features.mask(states.width(), &mut rows[start..]);
            labels.push(label(options.labels, candidate, item.target_span));
        }
    }
    (rows, labels)
}

/// What a candidate is to score; 0 where nothing answers.
fn label(labels: Labels, candidate: WordSpan, gold: Option<WordSpan>) -> f32 {
    let Some(gold) = gold else { return 0.0 };
    match labels {
        Labels::Soft => (-(candidate.distance(gold) as f32)).exp2(),
        Labels::Hard => f32::from(u8::from(candidate == gold)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{options, shifted_copies};
    use super::*;
    use crate::align::features::{CUES, Features};

    #[test]
    fn soft_labels_halve_with_every_word_of_distance_and_hard_ones_know_the_gold_span_only() {
        let gold = Some(WordSpan::new(2, 4));
        for (start, end, soft, hard) in [(2, 4, 1.0, 1.0), (1, 4, 0.5, 0.0), (3, 6, 0.125, 0.0)] {
            let span = WordSpan::new(start, end);
            assert_eq!(label(Labels::Soft, span, gold), soft);
            assert_eq!(label(Labels::Hard, span, gold), hard);
            assert_eq!(label(Labels::Soft, span, None), 0.0);
        }
    }

    #[test]
    fn a_step_looks_at_the_gold_span_and_at_no_more_candidates_than_asked() {
        let data = shifted_copies(&mut SplitMix64::new(23), 3);
        let mut options = options();
        options.sample = 20;
        let (rows, labels) = sample(&options, &data, &[0, 1, 2], &mut SplitMix64::new(1));
        assert_eq!(labels.iter().filter(|&&label| label == 1.0).count(), 3);
        assert_eq!(rows.len(), labels.len() * (2 * 8 + CUES));
        assert!(labels.len() <= 60);
    }

    #[test]
    fn features_that_are_off_are_not_in_the_rows() {
        let data = shifted_copies(&mut SplitMix64::new(23), 3);
        let mut options = options();
        options.features = Features { cue: true, ..Features::NONE };
        let (rows, _) = sample(&options, &data, &[0, 1, 2], &mut SplitMix64::new(1));
        for row in rows.chunks(2 * 8 + CUES) {
            assert!(row[..16].iter().all(|x| *x == 0.0) && row[16..].iter().any(|x| *x > 0.0));
        }
    }
}
