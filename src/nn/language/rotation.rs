//! How fast the pairs of a head turn with the position, and what longer contexts change of it.

/// How fast the pairs of a head turn (Su et al. 2021, section 3.2.2): pair `i` of `n` by `base^(-i
/// / n)` radians a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation {
    /// The base, called theta in configurations.
    pub base: f32,
    /// What a longer context than the one of the first training asks for.
    pub scaling: RotationScaling,
}

/// How frequencies were changed for a longer context.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum RotationScaling {
    /// Not at all.
    None,
    /// All are divided by a factor  (Chen et al. 2023: position interpolation).
    Linear {
        /// The factor.
        factor: f32,
    },
    /// Those of long waves are divided by a factor, those of short ones are not, and between them
    /// it is mixed (Llama 3.1; `_compute_llama3_parameters` of transformers).
    Llama3 {
        /// The factor.
        factor: f32,
        /// Waves longer than `positions / low` are long.
        low: f32,
        /// Waves shorter than `positions / high` are short.
        high: f32,
        /// Positions of the first training.
        positions: f32,
    },
}

impl Rotation {
    /// The frequencies of heads of so many columns, in radians a position.
    #[must_use]
    pub fn frequencies(&self, columns: usize) -> Vec<f32> {
        let pairs = (0..columns / 2).map(|pair| {
            let exponent = (2 * pair) as f32 / columns as f32;
            self.scaling.of(1.0 / self.base.powf(exponent))
        });
        pairs.collect()
    }
}

impl RotationScaling {
    fn of(self, frequency: f32) -> f32 {
        match self {
            Self::None => frequency,
            Self::Linear { factor } => frequency / factor,
            Self::Llama3 { factor, low, high, positions } => {
                let wave = 2.0 * std::f32::consts::PI / frequency;
                if wave < positions / high {
                    frequency
                } else if wave > positions / low {
                    frequency / factor
                } else {
                    let share = (positions / wave - low) / (high - low);
                    (1.0 - share) * frequency / factor + share * frequency
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waves_are_stretched_and_short_ones_are_not() {
        let plain = Rotation { base: 10_000.0, scaling: RotationScaling::None };
        assert_eq!(plain.frequencies(4), [1.0, 0.01]);
        let linear = Rotation { scaling: RotationScaling::Linear { factor: 8.0 }, ..plain };
        assert_eq!(linear.frequencies(4), [0.125, 0.00125]);
        // transformers, _compute_llama3_parameters, base 500000, 16 columns.
        let scaling = RotationScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, positions: 64.0 };
        let found = Rotation { base: 500_000.0, scaling }.frequencies(16);
        let wanted = [
            1.0,
            0.079_403_01,
            0.004_700_754,
            9.115_832e-4,
            1.767_767e-4,
            3.428_102e-5,
            6.647_87e-6,
            1.289_173e-6,
        ];
        for (got, want) in found.iter().zip(wanted) {
            assert!((got - want).abs() < 2e-5 * want, "{found:?}");
        }
    }
}
