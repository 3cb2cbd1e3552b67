//! Inputs of mean 0 and deviation 1, on which training makes larger steps.
//!
//! `x' = (x - mean) / deviation` is linear, so a trained network takes it into its first layer: `W'
//! = W / deviation`, `b' = b - W' mean`. What is written sees inputs as they are.

use crate::learn::{Mlp, Part};

/// Rows from which means and deviations are taken, spread evenly.
const ROWS: usize = 4096;

/// Added to a deviation, so that an input that never changes stays finite.
const LEAST: f32 = 1e-3;

/// Means and deviations of inputs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standard {
    mean: Vec<f32>,
    deviation: Vec<f32>,
}

impl Standard {
    /// Of some items, whose rows `write` appends.
    pub(super) fn of<T>(inputs: usize, items: &[T], write: impl Fn(&T, &mut Vec<f32>)) -> Self {
        let count = items.len().min(ROWS);
        let (mut sum, mut squares) = (vec![0.0_f64; inputs], vec![0.0_f64; inputs]);
        let mut row = Vec::with_capacity(inputs);
        for at in 0..count {
            row.clear();
            write(&items[at * items.len() / count], &mut row);
            for ((sum, squares), x) in sum.iter_mut().zip(&mut squares).zip(&row) {
                *sum += f64::from(*x);
                *squares += f64::from(*x) * f64::from(*x);
            }
        }
        let rows = count.max(1) as f64;
        let deviation = sum.iter().zip(&squares).map(|(sum, squares)| {
            let variance = squares / rows - (sum / rows).powi(2);
            variance.max(0.0).sqrt() as f32 + LEAST
        });
        Self {
            deviation: deviation.collect(),
            mean: sum.iter().map(|sum| (sum / rows) as f32).collect(),
        }
    }

    /// Standardises rows.
    pub(super) fn apply(&self, rows: &mut [f32]) {
        for row in rows.chunks_exact_mut(self.mean.len()) {
            for ((x, mean), deviation) in row.iter_mut().zip(&self.mean).zip(&self.deviation) {
                *x = (*x - mean) / deviation;
            }
        }
    }

    /// Makes a network that saw standardised rows see them as they are.
    pub(super) fn fold_into(&self, mlp: &mut Mlp) {
        let layer = &mut mlp.layers[0];
        let mut moved = Vec::with_capacity(layer.outputs);
        for weights in layer.part_mut(Part::Weight).chunks_exact_mut(self.mean.len()) {
            let mut sum = 0.0_f64;
            for ((weight, mean), deviation) in
                weights.iter_mut().zip(&self.mean).zip(&self.deviation)
            {
                *weight /= deviation;
                sum += f64::from(*weight) * f64::from(*mean);
            }
            moved.push(sum as f32);
        }
        layer.part_mut(Part::Bias).iter_mut().zip(moved).for_each(|(bias, by)| *bias -= by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Device, Tensor};
    use crate::learn::{Activation, Network, SplitMix64};

    #[test]
    fn a_folded_network_says_of_rows_what_it_said_of_standardised_ones() {
        let mut random = SplitMix64::new(2);
        let rows: Vec<[f32; 3]> =
            (0..50).map(|_| [9.0 * random.unit() + 4.0, random.unit() - 7.0, 2.5]).collect();
        let standard = Standard::of(3, &rows, |row, into| into.extend(row));
        let mut flat: Vec<f32> = rows.concat();
        let plain = Tensor::new(&[50, 3], flat.clone()).unwrap();
        standard.apply(&mut flat);
        let mean = flat.chunks_exact(3).map(|row| row[0]).sum::<f32>() / 50.0;
        assert!(mean.abs() < 1e-4 && flat[2] == 0.0, "{mean} {}", flat[2]);
        let mut mlp = Mlp::random(&[3, 4, 2], Activation::Prelu, &mut random);
        let run = |mlp: &Mlp, rows: &Tensor| {
            Network::new(mlp.clone(), &Device::cpu()).unwrap().run(rows).unwrap()
        };
        let before = run(&mlp, &Tensor::new(&[50, 3], flat).unwrap());
        standard.fold_into(&mut mlp);
        for (one, other) in before.iter().zip(run(&mlp, &plain)) {
            assert!((one - other).abs() < 1e-4, "{one} {other}");
        }
    }
}
