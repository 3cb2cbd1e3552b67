//! A model of one direction: how the words of a sentence become those of its paraphrase.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::bitext::{NULL, Pair, Vocabulary};
use super::positions::{Expected, Positions, Posteriors};
use super::table::{Prior, Table};
use crate::model::named;

/// Which model explains words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Model {
    /// IBM Model 1: any word may explain any other, wherever it stands.
    Model1,
    /// Model 2 as fast_align has it: words near the diagonal explain more gladly.
    Diagonal,
    /// The hidden Markov model, begun from Model 1: a word is explained near where the one before
    /// it was.
    #[default]
    Hmm,
}

named! {
    /// A model that aligns words, by its name.
    pub enum ModelName {
        /// IBM Model 1
        Model1 => "model1",
        /// Model 2 with fast_align's diagonal
        FastAlign => "fast-align",
        /// The hidden Markov model
        Hmm => "hmm",
        /// No training: words whose encoder states are each other's nearest
        Embeddings => "embeddings",
        /// What `fnstore train words` has learnt from gold links
        Linker => "linker",
    }
}

impl ModelName {
    /// The model that is trained on pairs without links, if it is one.
    #[must_use]
    pub fn statistical(self) -> Option<Model> {
        match self {
            Self::Model1 => Some(Model::Model1),
            Self::FastAlign => Some(Model::Diagonal),
            Self::Hmm => Some(Model::Hmm),
            Self::Embeddings | Self::Linker => None,
        }
    }

    /// The models that read a setting of this name: the others take no notice of it.
    #[must_use]
    pub fn readers_of(setting: &str) -> &'static [Self] {
        match setting {
            "null" => &[Self::FastAlign, Self::Hmm],
            "linker" => &[Self::Linker],
            "layer" => &[Self::Embeddings],
            "encoder" | "models" | "device" => &[Self::Embeddings, Self::Linker],
            _ => &[Self::Model1, Self::FastAlign, Self::Hmm],
        }
    }
}

/// Longest side of a training pair.
pub const MAX_LENGTH: usize = 100;

/// Pairs whose expectations are summed before they are added to the others', in order.
const BATCH: usize = 256;

/// What one direction is trained with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Training {
    pub(super) model: Model,
    pub(super) iterations: usize,
    pub(super) null: f64,
    pub(super) prior: Prior,
}

#[derive(Debug)]
pub(super) struct Directed {
    table: Table,
    positions: Positions,
}

impl Directed {
    /// Trains on `pairs` whose words have numbers in `vocabulary`. `done` hears of each iteration;
    /// where it answers `Break`, there is no model.
    pub(super) fn train(
        pairs: &[Pair],
        vocabulary: &Vocabulary,
        training: Training,
        mut done: impl FnMut() -> ControlFlow<()>,
    ) -> Option<Self> {
        let table = Table::new(pairs, vocabulary, training.prior);
        let mut model = Self { table, positions: Positions::Uniform };
        let stages = match training.model {
            Model::Model1 => vec![Positions::Uniform],
            Model::Diagonal => vec![Positions::diagonal(training.null)],
            Model::Hmm => vec![Positions::Uniform, Positions::jumps(training.null)],
        };
        for positions in stages {
            model.positions = positions;
            for _ in 0..training.iterations {
                model.iterate(pairs, vocabulary);
                if done().is_break() {
                    return None;
                }
            }
        }
        Some(model)
    }

    /// One step of expectation maximisation.
    fn iterate(&mut self, pairs: &[Pair], vocabulary: &Vocabulary) {
        let batches: Vec<Expected> = pairs
            .par_chunks(BATCH)
            .map(|batch| {
                let mut expected = Expected::default();
                for pair in batch {
                    self.expect(pair, &mut expected);
                }
                expected
            })
            .collect();
        let mut expected = Expected::default();
        batches.iter().for_each(|batch| expected.add(batch));
        self.table.maximize(vocabulary);
        self.positions.maximize(&expected);
    }

    fn expect(&self, pair: &Pair, expected: &mut Expected) {
        let entries = self.entries(pair);
        let posteriors = self.weigh(pair, &entries, expected);
        let width = pair.source.len() + 1;
        for (j, entries) in entries.chunks(width).enumerate() {
            for (entry, share) in entries.iter().zip(posteriors.row(j)) {
                if let Some(entry) = entry {
                    self.table.count(*entry, *share);
                }
            }
        }
    }

    /// The shares that null (column 0) and the words of the sentence have in each word of the
    /// paraphrase.
    pub(super) fn posteriors(&self, pair: &Pair) -> Posteriors {
        self.weigh(pair, &self.entries(pair), &mut Expected::default())
    }

    fn weigh(&self, pair: &Pair, entries: &[Option<usize>], expected: &mut Expected) -> Posteriors {
        let chance = |entry: &Option<usize>| entry.map_or(0.0, |at| self.table.probability(at));
        let emissions: Vec<f64> = entries.iter().map(chance).collect();
        self.positions.posteriors(pair.source.len(), &emissions, expected)
    }

    /// The table's entries of a pair: a row for each word of the paraphrase, null first.
    fn entries(&self, pair: &Pair) -> Vec<Option<usize>> {
        let sources = || std::iter::once(NULL).chain(pair.source.iter().copied());
        let row = |target: &u32| {
            let target = *target;
            sources().map(move |source| self.table.entry(source, target))
        };
        pair.target.iter().flat_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "the house", "the book", "a book" in numbers, as in every textbook: das Haus, das Buch, ein
    /// Buch.
    fn textbook() -> Vec<Pair> {
        let pair = |source: [u32; 2], target: [u32; 2]| Pair {
            source: source.to_vec(),
            target: target.to_vec(),
        };
        vec![pair([1, 2], [5, 6]), pair([1, 3], [5, 7]), pair([4, 3], [8, 7])]
    }

    fn trained(model: Model, iterations: usize) -> Directed {
        let prior = Prior { alpha: 0.0, identity: 0.0 };
        let training = Training { model, iterations, null: 0.08, prior };
        let go_on = || ControlFlow::Continue(());
        Directed::train(&textbook(), &Vocabulary::of_strangers(8), training, go_on).unwrap()
    }

    #[test]
    fn two_iterations_of_model_1_give_the_figures_worked_out_by_hand() {
        let chance = |model: &Directed, source: u32, target: u32| {
            model.table.probability(model.table.entry(source, target).unwrap())
        };
        // First: null and both words of the sentence have a third of each word. So "das" (1) counts
        // 1/3 of "the" twice and of "house" and "book" once.
        let first = trained(Model::Model1, 1);
        assert!((chance(&first, 1, 5) - 0.5).abs() < 1e-6);
        assert!((chance(&first, 1, 6) - 0.25).abs() < 1e-6);
        assert!((chance(&first, 2, 5) - 0.5).abs() < 1e-6);
        assert!((chance(&first, NULL, 5) - 1.0 / 3.0).abs() < 1e-6);
        // Then "house" (6) of the first pair: null 1/6, das 1/4, Haus 1/2.
        let shares = first.posteriors(&textbook()[0]);
        for (share, want) in shares.row(1).iter().zip([2.0 / 11.0, 3.0 / 11.0, 6.0 / 11.0]) {
            assert!((share - want).abs() < 1e-6, "{share} {want}");
        }
    }

    #[test]
    fn every_model_learns_the_textbook_words() {
        for model in [Model::Model1, Model::Diagonal, Model::Hmm] {
            let trained = trained(model, 30);
            for (pair, want) in textbook().iter().zip([[1, 2], [1, 2], [1, 2]]) {
                for (j, word) in want.into_iter().enumerate() {
                    let posteriors = trained.posteriors(pair);
                    let row = &posteriors.row(j)[1..];
                    assert!(row[word - 1] > row[2 - word], "{model:?} {row:?}");
                }
            }
        }
    }

    #[test]
    fn the_order_of_work_changes_no_bit() {
        let many: Vec<Pair> = textbook().into_iter().cycle().take(3 * BATCH).collect();
        let training = Training {
            model: Model::Hmm,
            iterations: 3,
            null: 0.08,
            prior: Prior { alpha: 0.01, identity: 1.0 },
        };
        let train = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let vocabulary = Vocabulary::of_strangers(8);
            pool.install(|| {
                let go_on = || ControlFlow::Continue(());
                let trained = Directed::train(&many, &vocabulary, training, go_on).unwrap();
                trained.posteriors(&many[1])
            })
        };
        assert_eq!(train(1), train(3));
    }
}
