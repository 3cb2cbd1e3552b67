//! The logistic function and its integral: what networks of one output say, and its cost.

/// `1 / (1 + e^-logit)`.
pub(crate) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// `ln (1 + e^x)`: of a logit `x` it is `-ln (1 - sigmoid(x))`, of `-x` `-ln sigmoid(x)`, without
/// the sigmoid's rounding to 0 and 1. Binary cross-entropy against a label `y` is `softplus(x) - y
/// x`.
pub(crate) fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Share of pairs of a right and a wrong one of which the right one scores higher, ties counting
/// half: the area under the ROC curve. 0 where there are none of either.
pub(crate) fn order(scored: impl Iterator<Item = (f32, bool)>) -> f64 {
    let (right, wrong): (Vec<_>, Vec<_>) = scored.partition(|(_, is_right)| *is_right);
    let (mut ordered, mut pairs) = (0.0, 0.0);
    for (right, _) in &right {
        for (wrong, _) in &wrong {
            ordered += if right > wrong { 1.0 } else { f64::from(u8::from(right == wrong)) / 2.0 };
            pairs += 1.0;
        }
    }
    if pairs > 0.0 { ordered / pairs } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_counts_pairs_and_ties_for_half() {
        let of = |scored: &[(f32, bool)]| order(scored.iter().copied());
        assert_eq!(of(&[(0.9, true), (0.5, false), (0.9, false), (0.1, false)]), 2.5 / 3.0);
        assert_eq!([of(&[]), of(&[(1.0, true)])], [0.0; 2]);
    }

    #[test]
    fn softplus_is_what_a_sigmoid_costs_also_where_that_is_rounded() {
        for x in [-3.0_f32, -0.5, 0.0, 0.5, 3.0] {
            assert!((softplus(x) + (1.0 - sigmoid(x)).ln()).abs() < 1e-6, "{x}");
            assert!((softplus(-x) + sigmoid(x).ln()).abs() < 1e-6, "{x}");
        }
        assert_eq!((sigmoid(100.0), softplus(100.0), softplus(-200.0)), (1.0, 100.0, 0.0));
        assert!(softplus(-20.0) > 0.0);
    }
}
