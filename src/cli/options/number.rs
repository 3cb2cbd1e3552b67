//! Numbers on the command line that have bounds.
//!
//! Each function is the `value_parser` of an argument; what it says stands behind the argument and
//! the value in the message.

use std::str::FromStr;

/// A score or a share, 0 to 1.
pub(crate) fn share<N: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    within(text, |share| (N::from(0)..=N::from(1)).contains(share), "a number from 0 to 1")
}

/// A share that leaves something, 0 to below 1.
pub(crate) fn dropout(text: &str) -> Result<f32, String> {
    within(text, |share: &f32| (0.0..1.0).contains(share), "a number from 0 to below 1")
}

/// A weight, 0 or more and not infinite.
pub(crate) fn weight(text: &str) -> Result<f64, String> {
    within(text, |weight: &f64| *weight >= 0.0 && weight.is_finite(), "a number from 0")
}

/// A learning rate, above 0 and at most 1.
pub(crate) fn learning_rate(text: &str) -> Result<f32, String> {
    within(text, |rate: &f32| *rate > 0.0 && *rate <= 1.0, "a number above 0 and at most 1")
}

fn within<N: FromStr>(
    text: &str,
    holds: impl FnOnce(&N) -> bool,
    expected: &str,
) -> Result<N, String> {
    text.parse().ok().filter(holds).ok_or_else(|| format!("expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_bounds_are_refused_and_the_bounds_are_not() {
        for (text, is_share, is_weight, is_rate) in [
            ("0", true, true, false),
            ("0.015", true, true, true),
            ("1", true, true, true),
            ("1.5", false, true, false),
            ("-1", false, false, false),
            ("nan", false, false, false),
            ("inf", false, false, false),
            ("-inf", false, false, false),
            ("", false, false, false),
            ("half", false, false, false),
        ] {
            assert_eq!(share::<f32>(text).is_ok(), is_share, "{text}");
            assert_eq!(share::<f64>(text).is_ok(), is_share, "{text}");
            assert_eq!(dropout(text).is_ok(), is_share && text != "1", "{text}");
            assert_eq!(weight(text).is_ok(), is_weight, "{text}");
            assert_eq!(learning_rate(text).is_ok(), is_rate, "{text}");
        }
        assert_eq!(learning_rate("0"), Err("expected a number above 0 and at most 1".to_owned()));
    }
}
