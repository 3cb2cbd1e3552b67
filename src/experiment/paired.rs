//! The paired t-test: whether two arms differ over the same draws.

/// What the test says of pairs of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedTest {
    /// Mean of the differences over its standard error; infinite where all differences are one
    /// number other than 0.
    pub t: f64,
    /// Degrees of freedom: pairs less one.
    pub degrees: usize,
    /// Probability of a `t` that is as far from 0, either way, if there is no difference.
    pub p: f64,
}

/// Compares numbers in pairs, the second with the first (two-sided); `None` for fewer than two
/// pairs.
///
/// ```
/// use fnstore::experiment::paired_t;
/// // Differences 1, 2, 3: mean 2, standard error 1 / sqrt(3).
/// let test = paired_t(&[5.0, 5.0, 5.0], &[6.0, 7.0, 8.0]).expect("there are three pairs");
/// assert!((test.t - 2.0 * 3.0_f64.sqrt()).abs() < 1e-12);
/// assert!((test.p - 0.074_18).abs() < 1e-5);
/// ```
///
/// # Panics
/// When there are not as many of one as of the other.
#[must_use]
pub fn paired_t(one: &[f64], other: &[f64]) -> Option<PairedTest> {
    assert_eq!(one.len(), other.len(), "numbers come in pairs");
    if one.len() < 2 {
        return None;
    }
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| other - one).collect();
    let (mean, deviation) = (mean(&differences), deviation(&differences).unwrap_or_default());
    let degrees = one.len() - 1;
    let error = deviation / (one.len() as f64).sqrt();
    let t = if mean == 0.0 { 0.0 } else { mean / error };
    Some(PairedTest { t, degrees, p: 1.0 - within(t.abs(), degrees) })
}

pub(super) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

/// The standard deviation of a sample (divided by n - 1); `None` for fewer than two numbers.
pub(super) fn deviation(numbers: &[f64]) -> Option<f64> {
    let mean = mean(numbers);
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (numbers.len() > 1).then(|| (squares / (numbers.len() - 1) as f64).sqrt())
}

/// Probability that Student's t lies within `-t..t`; a finite sum for whole degrees of freedom
/// (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).
fn within(t: f64, degrees: usize) -> f64 {
    let angle = (t / (degrees as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    // Odd: cos + 2/3 cos^3 + ...; even: 1 + 1/2 cos^2 + ...; each term follows from the one before.
    let first = if is_odd { cosine } else { 1.0 };
    let (mut term, mut sum) = (first, 0.0);
    let mut next = if is_odd { 2 } else { 1 };
    for _ in 0..degrees / 2 {
        sum += term;
        term *= f64::from(next) / f64::from(next + 1) * cosine.powi(2);
        next += 2;
    }
    if is_odd { (angle + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_that_of_printed_tables() {
        // Two-sided 5 % points; the first two follow from closed forms, too.
        let points = [
            (1, 12.706_2),
            (2, 4.302_65),
            (3, 3.182_45),
            (4, 2.776_45),
            (9, 2.262_16),
            (30, 2.042_27),
        ];
        for (degrees, t) in points {
            assert!((1.0 - within(t, degrees) - 0.05).abs() < 2e-6, "{degrees}");
        }
        assert!((within(1.0, 1) - 0.5).abs() < 1e-12);
        assert!((within(2.0_f64.sqrt(), 2) - 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(within(0.0, 4), 0.0);
    }

    #[test]
    fn pairs_without_spread_and_single_pairs_are_told_as_they_are() {
        assert_eq!(paired_t(&[1.0], &[2.0]), None);
        let same = paired_t(&[1.0, 2.0], &[1.0, 2.0]).unwrap();
        assert_eq!((same.t, same.p), (0.0, 1.0));
        let moved = paired_t(&[1.0, 2.0], &[2.0, 3.0]).unwrap();
        assert!(moved.t.is_infinite() && moved.p.abs() < 1e-12);
        let down = paired_t(&[2.0, 4.0], &[1.0, 1.0]).unwrap();
        // Differences -1 and -3: mean -2, standard error 1.
        assert!((down.t + 2.0).abs() < 1e-12);
        assert!((down.p - (1.0 - 2.0_f64.atan() * std::f64::consts::FRAC_2_PI)).abs() < 1e-12);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
        assert_eq!(deviation(&[1.0]), None);
    }
}
