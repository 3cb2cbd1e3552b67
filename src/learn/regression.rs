//! Logistic regression: a network without a hidden layer.

use super::mlp::{Activation, Mlp, Weighted};
use super::{Labels, SplitMix64, TrainerOptions, fit};

/// How a regression is fitted. A little weight decay keeps weights finite where there is little to
/// learn from.
const REGRESSION: TrainerOptions = TrainerOptions {
    epochs: 400,
    patience: usize::MAX,
    batch: usize::MAX,
    learning_rate: 0.05,
    weight_decay: 0.05,
    seed: 1,
};

/// Bias and weights of a logistic regression on rows (N, I) with labels (N) of 0 and 1. The same
/// rows give the same weights everywhere.
pub(crate) fn logistic_regression<const I: usize>(
    rows: &[[f32; I]],
    labels: &[f32],
) -> (f32, [f32; I]) {
    let mlp = Mlp::random(&[I, 1], Activation::Relu, &mut SplitMix64::new(REGRESSION.seed));
    let fitted = fit(mlp, rows.concat(), &Labels::scores(labels), &REGRESSION);
    let (mut bias, mut weights) = (0.0, [0.0; I]);
    for (name, _, values) in fitted.expect("rows have the inputs' width").tensors("") {
        match name.ends_with("bias") {
            true => bias = values[0],
            false => weights.copy_from_slice(values),
        }
    }
    (bias, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_what_decides() {
        let rows: Vec<[f32; 2]> =
            (0..200).map(|at| [f32::from(at as u8 % 2), (at / 2 % 2) as f32]).collect();
        let labels: Vec<f32> = rows.iter().map(|[decides, _]| *decides).collect();
        let (bias, [decides, other]) = logistic_regression(&rows, &labels);
        assert!(decides > 4.0 && other.abs() < 0.5 && bias < -1.0, "{bias} {decides} {other}");
    }
}
