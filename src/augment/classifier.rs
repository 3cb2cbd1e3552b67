//! A small classifier of entailment pairs, trained on their features.

use std::convert::Infallible;

use super::aggregate::best_class;
use super::entailment::PairFeatures;
use crate::engine::{ComputeError, Device, Tensor};
use crate::learn::{
    Activation, Labels, Mlp, Network, NetworkError, SplitMix64, Task, TrainerOptions,
    TrainingProgress, TrainingState, softmax,
};

/// Pairs that are classified together; bounds memory, not results.
const CHUNK: usize = 1024;

/// How to train a classifier.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifierOptions {
    /// Hidden units.
    pub hidden: usize,
    /// What every trainer is told; a step looks at `batch` pairs.
    pub training: TrainerOptions,
}

impl Default for ClassifierOptions {
    fn default() -> Self {
        Self {
            hidden: 16,
            training: TrainerOptions {
                epochs: 30,
                // Few pairs and a slow start: the first epochs without gain would end it too soon.
                patience: 30,
                batch: 32,
                learning_rate: 2e-3,
                weight_decay: 0.01,
                seed: 1,
            },
        }
    }
}

/// Pairs with their classes, as places among features.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Examples {
    /// The rows of the pairs.
    pub rows: Vec<usize>,
    /// Their classes, counted from 0.
    pub classes: Vec<usize>,
}

impl Examples {
    /// Adds a pair.
    pub fn push(&mut self, row: usize, class: usize) {
        self.rows.push(row);
        self.classes.push(class);
    }
}

/// A trained classifier.
#[derive(Debug, Clone)]
pub struct Classifier {
    network: Network,
}

/// Classes are learnt from examples, and the epoch that is kept is chosen on others.
struct Classes<'a> {
    device: &'a Device,
    features: &'a PairFeatures,
    train: &'a Examples,
    dev: &'a Examples,
}

impl Task for Classes<'_> {
    /// Pairs that are right.
    type Dev = usize;
    type Error = NetworkError;

    fn rows(
        &self,
        items: &[usize],
        _random: &mut SplitMix64,
    ) -> Result<(Vec<f32>, Labels), NetworkError> {
        let rows = items.iter().flat_map(|item| self.features.row(self.train.rows[*item]));
        let labels = items.iter().map(|item| self.train.classes[*item]).collect();
        Ok((rows.copied().collect(), Labels::Classes(labels)))
    }

    fn measure(&self, mlp: &Mlp) -> Result<usize, NetworkError> {
        let classifier = Classifier { network: Network::new(mlp.clone(), self.device)? };
        let shares = classifier.shares(self.features, &self.dev.rows)?;
        let is_right = |(shares, class): &(&Vec<f64>, &usize)| best_class(shares) == Some(**class);
        Ok(shares.iter().zip(&self.dev.classes).filter(is_right).count())
    }

    fn is_gain(dev: &usize, best: &usize) -> bool {
        dev > best
    }
}

impl Classifier {
    /// Trains a classifier of so many classes; of its epochs the one is kept that is right most
    /// often on `dev`.
    ///
    /// The same options and examples give the same weights on any number of threads.
    ///
    /// # Errors
    /// When a kernel refuses its operands.
    pub fn train(
        options: &ClassifierOptions,
        features: &PairFeatures,
        classes: usize,
        train: &Examples,
        dev: &Examples,
        device: &Device,
    ) -> Result<Self, NetworkError> {
        let sizes = [features.width, options.hidden.max(1), classes];
        let (seed, items) = (options.training.seed, train.rows.len());
        let mut state = TrainingState::begin(&sizes, Activation::Prelu, seed, items);
        let task = Classes { device, features, train, dev };
        let mut progress = |_: TrainingProgress<usize, Infallible>| ();
        state.train(&task, &options.training, device, &mut |_| Ok(()), &mut progress)?;
        Ok(Self { network: Network::new(state.best, device)? })
    }

    /// The share of each class, for the pairs of some rows.
    ///
    /// # Errors
    /// When a kernel refuses its operands.
    pub fn shares(
        &self,
        features: &PairFeatures,
        rows: &[usize],
    ) -> Result<Vec<Vec<f64>>, ComputeError> {
        let mut shares = Vec::with_capacity(rows.len());
        for rows in rows.chunks(CHUNK) {
            let data = rows.iter().flat_map(|row| features.row(*row)).copied().collect();
            let mut scores =
                self.network.run(&Tensor::new(&[rows.len(), features.width], data)?)?;
            for scores in scores.chunks_exact_mut(self.network.mlp().outputs()) {
                softmax(scores);
                shares.push(scores.iter().map(|share| f64::from(*share)).collect());
            }
        }
        Ok(shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows whose class is that of their greatest number.
    fn examples(count: usize, seed: u64) -> (PairFeatures, Examples) {
        let mut random = SplitMix64::new(seed);
        let mut features = PairFeatures { width: 3, ..PairFeatures::default() };
        let mut examples = Examples::default();
        for at in 0..count {
            let row: Vec<f32> = (0..3).map(|_| 2.0 * random.unit() - 1.0).collect();
            let shares: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
            examples.push(at, best_class(&shares).unwrap());
            features.rows.extend(row);
        }
        (features, examples)
    }

    fn train(seed: u64, threads: usize) -> (Classifier, PairFeatures, Examples) {
        let (features, mut train) = examples(400, 5);
        let dev =
            Examples { rows: train.rows.split_off(300), classes: train.classes.split_off(300) };
        let mut options = ClassifierOptions { hidden: 8, ..ClassifierOptions::default() };
        (options.training.learning_rate, options.training.seed) = (1e-2, seed);
        let device = Device::Cpu { threads };
        let classifier = Classifier::train(&options, &features, 3, &train, &dev, &device).unwrap();
        (classifier, features, dev)
    }

    #[test]
    fn a_rule_is_learnt_and_shares_add_up_to_one() {
        let (classifier, features, dev) = train(1, 1);
        let shares = classifier.shares(&features, &dev.rows).unwrap();
        let right = shares.iter().zip(&dev.classes).filter(|(s, c)| best_class(s) == Some(**c));
        assert!(right.count() > 90);
        for shares in &shares {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{shares:?}");
        }
        assert_eq!(classifier.shares(&features, &[]).unwrap(), [[0.0; 0]; 0]);
    }

    #[test]
    fn a_seed_gives_the_same_shares_on_any_number_of_threads() {
        let shares = |seed, threads| {
            let (classifier, features, dev) = train(seed, threads);
            classifier.shares(&features, &dev.rows).unwrap()
        };
        assert_eq!(shares(1, 1), shares(1, 3));
        assert_ne!(shares(1, 1), shares(2, 1));
    }
}
