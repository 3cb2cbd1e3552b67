//! Two directions trained together, and the links that both together give.

use std::ops::ControlFlow;

use super::bitext::{Pair, SentencePair, Vocabulary};
use super::directed::{Directed, Model, Training};
use super::links::{Link, Links};
use super::positions::Posteriors;
use super::symmetry::{Symmetrization, symmetrize};
use super::table::Prior;
use crate::model::OutOfRange;

/// How a word aligner is trained, and how its two directions are combined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The model.
    pub model: Model,
    /// Iterations of expectation maximisation; the hidden Markov model has as many of Model 1
    /// before.
    pub iterations: usize,
    /// Share of words that nothing explains, where the other side has words for all. Model 1 learns
    /// it and takes no notice of this.
    pub null: f64,
    /// Pseudo-count of every pair of words that stand together; 0 is plain maximum likelihood.
    pub alpha: f64,
    /// The prior that a word is rewritten as itself: how many times likelier than another word, and
    /// its pseudo-count. Words that begin alike get a part of it. 0 for pairs of two languages.
    pub identity: f64,
    /// How the two directions are combined.
    pub symmetrization: Symmetrization,
    /// Posterior from which on [`Symmetrization::Agreement`] takes a link.
    pub threshold: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: Model::default(),
            iterations: 5,
            null: 0.2,
            alpha: 0.01,
            identity: 20.0,
            symmetrization: Symmetrization::default(),
            threshold: 0.3,
        }
    }
}

impl Settings {
    /// Refuses numbers that are no shares or weights.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        let is_weight = |weight: f64| weight >= 0.0 && weight.is_finite();
        let (share, weight) = ("a number from 0 to 1", "a number from 0");
        for (field, number, holds, expected) in [
            ("null", self.null, is_share(self.null), share),
            ("identity", self.identity, is_weight(self.identity), weight),
            ("alpha", self.alpha, is_weight(self.alpha), weight),
            ("threshold", self.threshold, is_share(self.threshold), share),
        ] {
            if !holds {
                return Err(OutOfRange {
                    field: field.to_owned(),
                    found: number.to_string(),
                    expected,
                });
            }
        }
        Ok(())
    }
}

/// How far training is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordProgress {
    /// Iterations done, in both directions.
    pub done: usize,
    /// Iterations in all.
    pub total: usize,
}

/// A word aligner for the pairs that it was trained on.
///
/// The models know only the words of their pairs. So what is to be aligned is part of what they are
/// trained on, without its gold links.
///
/// ```
/// use fnstore::align::words::{SentencePair, Settings, WordAligner};
///
/// let words = |text: &str| text.split(' ').map(str::to_owned).collect();
/// let pairs: Vec<SentencePair> = [("the car stopped", "the auto stopped"), ("a car", "a auto")]
///     .map(|(source, target)| SentencePair {
///         source: words(source),
///         target: words(target),
///         ..SentencePair::default()
///     })
///     .to_vec();
/// let aligner = WordAligner::train(&pairs, Settings::default(), |_| {});
/// assert_eq!(aligner.align(0).to_string(), "0-0 1-1 2-2");
/// ```
#[derive(Debug)]
pub struct WordAligner {
    pairs: Vec<Pair>,
    forward: Directed,
    /// Reads every pair the other way round.
    backward: Directed,
    settings: Settings,
}

impl WordAligner {
    /// Trains on sentence pairs. Every thread count gives the same numbers.
    #[must_use]
    pub fn train(
        pairs: &[SentencePair],
        settings: Settings,
        mut progress: impl FnMut(WordProgress),
    ) -> Self {
        let go_on = |at| {
            progress(at);
            ControlFlow::Continue(())
        };
        Self::train_until(pairs, settings, go_on).expect("nobody stops it")
    }

    /// As [`train`](Self::train); none where `progress` answers `Break`.
    #[must_use]
    pub fn train_until(
        pairs: &[SentencePair],
        settings: Settings,
        mut progress: impl FnMut(WordProgress) -> ControlFlow<()>,
    ) -> Option<Self> {
        let mut vocabulary = Vocabulary::new();
        let pairs: Vec<Pair> = pairs.iter().map(|pair| vocabulary.intern(pair)).collect();
        let training = Training {
            model: settings.model,
            iterations: settings.iterations,
            null: settings.null,
            prior: Prior { alpha: settings.alpha, identity: settings.identity },
        };
        let stages = if settings.model == Model::Hmm { 2 } else { 1 };
        let total = 2 * stages * settings.iterations;
        let mut done = 0;
        let mut tick = || {
            done += 1;
            progress(WordProgress { done, total })
        };
        let forward = Directed::train(&pairs, &vocabulary, training, &mut tick)?;
        let flipped: Vec<Pair> = pairs.iter().map(Pair::flipped).collect();
        let backward = Directed::train(&flipped, &vocabulary, training, &mut tick)?;
        Some(Self { pairs, forward, backward, settings })
    }

    /// Number of pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The links of the pair at index `pair`, combined as the settings say.
    ///
    /// # Panics
    /// When there is no such pair.
    #[must_use]
    pub fn align(&self, pair: usize) -> Links {
        self.align_by(pair, self.settings.symmetrization)
    }

    /// The links of the pair at index `pair`, combined in another way than the settings say.
    ///
    /// # Panics
    /// When there is no such pair.
    #[must_use]
    pub fn align_by(&self, pair: usize, how: Symmetrization) -> Links {
        let pair = &self.pairs[pair];
        let forward = self.forward.posteriors(pair);
        let backward = self.backward.posteriors(&pair.flipped());
        if how == Symmetrization::Agreement {
            return agreed(pair, &forward, &backward, self.settings.threshold);
        }
        let forward = best(&forward, pair.target.len());
        symmetrize(how, &forward, &best(&backward, pair.source.len()).flipped())
    }
}

/// Each of `words` explained by what has the greatest share in it; of equals the first, null before
/// all.
fn best(posteriors: &Posteriors, words: usize) -> Links {
    let link = |j: usize| {
        let row = posteriors.row(j);
        let best = (1..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best });
        (best > 0).then(|| Link { source: best as u32 - 1, target: j as u32 })
    };
    (0..words).filter_map(link).collect()
}

/// Links where the geometric mean of the two posteriors reaches the threshold.
fn agreed(pair: &Pair, forward: &Posteriors, backward: &Posteriors, threshold: f64) -> Links {
    let mut links = Vec::new();
    for source in 0..pair.source.len() {
        for target in 0..pair.target.len() {
            let shares = forward.row(target)[source + 1] * backward.row(source)[target + 1];
            if shares.sqrt() >= threshold {
                links.push(Link { source: source as u32, target: target as u32 });
            }
        }
    }
    Links::from(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(texts: &[(&str, &str)]) -> Vec<SentencePair> {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let pair = |(source, target): &(&str, &str)| SentencePair {
            source: words(source),
            target: words(target),
            ..SentencePair::default()
        };
        texts.iter().map(pair).collect()
    }

    const TEXTS: [(&str, &str); 4] = [
        ("the judge confirmed it", "the judge verified it"),
        ("she confirmed the date", "she verified the date"),
        ("they confirmed", "they verified"),
        ("the date was wrong", "wrong was the date"),
    ];

    #[test]
    fn numbers_out_of_their_ranges_are_refused() {
        let usual = Settings::default();
        assert_eq!(usual.check(), Ok(()));
        assert_eq!(Settings { null: 1.0, identity: 0.0, threshold: 0.0, ..usual }.check(), Ok(()));
        for (field, wrong) in [
            ("null", Settings { null: 2.0, ..usual }),
            ("null", Settings { null: f64::NAN, ..usual }),
            ("identity", Settings { identity: -1.0, ..usual }),
            ("identity", Settings { identity: f64::INFINITY, ..usual }),
            ("alpha", Settings { alpha: -0.1, ..usual }),
            ("threshold", Settings { threshold: -1.0, ..usual }),
        ] {
            assert_eq!(wrong.check().unwrap_err().field, field);
        }
    }

    #[test]
    fn whoever_is_told_can_stop_the_training() {
        let mut told = 0;
        let stopped = WordAligner::train_until(&pairs(&TEXTS), Settings::default(), |at| {
            told = at.done;
            if at.done == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(stopped.is_none());
        assert_eq!(told, 3);
    }

    #[test]
    fn synonyms_are_learnt_and_equal_words_found_in_another_order() {
        for model in [Model::Model1, Model::Diagonal, Model::Hmm] {
            let settings = Settings { model, ..Settings::default() };
            let aligner = WordAligner::train(&pairs(&TEXTS), settings, |_| {});
            assert_eq!(aligner.align(1).to_string(), "0-0 1-1 2-2 3-3", "{model:?}");
        }
        let settings = Settings { model: Model::Model1, ..Settings::default() };
        let aligner = WordAligner::train(&pairs(&TEXTS), settings, |_| {});
        assert_eq!(aligner.align(3).to_string(), "0-2 1-3 2-1 3-0");
    }

    #[test]
    fn each_word_of_the_explained_side_has_one_link_at_most() {
        let aligner = WordAligner::train(&pairs(&TEXTS), Settings::default(), |_| {});
        for pair in 0..aligner.len() {
            let forward = aligner.align_by(pair, Symmetrization::Forward);
            let mut targets: Vec<u32> = forward.iter().map(|link| link.target).collect();
            targets.sort_unstable();
            let distinct = targets.windows(2).all(|two| two[0] < two[1]);
            assert!(distinct, "{forward}");
        }
    }

    #[test]
    fn pairs_without_words_have_no_links() {
        let texts = [("", ""), ("a", ""), ("", "b"), ("a b", "a b")];
        for model in [Model::Model1, Model::Diagonal, Model::Hmm] {
            let settings = Settings { model, ..Settings::default() };
            let aligner = WordAligner::train(&pairs(&texts), settings, |_| {});
            let links = (0..aligner.len()).map(|pair| aligner.align(pair).to_string());
            let links: Vec<String> = links.collect();
            assert_eq!(links, ["", "", "", "0-0 1-1"], "{model:?}");
        }
        assert!(WordAligner::train(&[], Settings::default(), |_| {}).is_empty());
    }

    #[test]
    fn progress_counts_both_directions_and_stages() {
        let mut seen = Vec::new();
        let settings = Settings { iterations: 2, ..Settings::default() };
        let _ = WordAligner::train(&pairs(&TEXTS), settings, |at| seen.push((at.done, at.total)));
        assert_eq!(seen, (1..=8).map(|done| (done, 8)).collect::<Vec<_>>());
    }
}
