//! How fast the pairs of a head turn with the position, and what longer contexts change of it.

use crate::engine::compute::kernels::turns;
use crate::engine::compute::{ComputeError, Device, Tensor};

/// Positions that a table begins with; it doubles when a text gets longer.
const POSITIONS: usize = 1024;

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

/// Cosines and sines of the first positions, in the memory of a device.
#[derive(Debug)]
pub(super) struct TurnTable {
    frequencies: Vec<f32>,
    most: usize,
    /// (N, C)
    turns: Tensor,
}

impl TurnTable {
    /// A table for such frequencies, in radians a position, and at most so many positions.
    pub(super) fn new(
        device: &Device,
        frequencies: Vec<f32>,
        most: usize,
    ) -> Result<Self, ComputeError> {
        let turns = first_turns(device, &frequencies, POSITIONS.min(most))?;
        Ok(Self { frequencies, most, turns })
    }

    /// The table, with a row for each of some positions.
    pub(super) fn covering(
        &mut self,
        device: &Device,
        positions: &[u32],
    ) -> Result<&Tensor, ComputeError> {
        let rows = positions.iter().max().map_or(0, |last| *last as usize + 1);
        if rows > self.turns.rows() {
            let wanted = rows.next_power_of_two().min(self.most).max(rows);
            self.turns = first_turns(device, &self.frequencies, wanted)?;
        }
        Ok(&self.turns)
    }
}

fn first_turns(
    device: &Device,
    frequencies: &[f32],
    positions: usize,
) -> Result<Tensor, ComputeError> {
    let positions: Vec<u32> = (0..positions as u32).collect();
    turns(device, frequencies, &positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_grows_with_the_positions_and_no_further_than_it_may() {
        let device = Device::Cpu { threads: 1 };
        let mut table = TurnTable::new(&device, vec![0.5, 0.01], 3000).unwrap();
        let first = table.covering(&device, &[7, 1023, 0]).unwrap().clone();
        assert_eq!(first.shape(), [1024, 4]);
        for (position, rows) in [(1024, 2048), (900, 2048), (2048, 3000), (2999, 3000)] {
            let table = table.covering(&device, &[3, position]).unwrap();
            assert_eq!(table.shape(), [rows, 4]);
            assert_eq!(table.data()[..4096], first.data()[..]);
        }
        let alone = turns(&device, &[0.5, 0.01], &[2998]).unwrap();
        assert_eq!(table.covering(&device, &[]).unwrap().row(2998), alone.data());
        let small = TurnTable::new(&device, vec![0.5], 9).unwrap();
        assert_eq!(small.turns.rows(), 9);
    }

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
