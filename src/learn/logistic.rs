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

#[cfg(test)]
mod tests {
    use super::*;

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
