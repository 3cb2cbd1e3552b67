//! Number formats of GGUF tensors, and what their blocks are made of.
//!
//! A block is 32 numbers, or 256 for the formats named `K`, with scales of their own. The formulas
//! are those of `ggml-quants.c` (`dequantize_row_*`), operation by operation, so that the numbers
//! are the same bits. In a block of 32 the lower halves of its bytes are the first 16 numbers.

#![allow(clippy::little_endian_bytes, reason = "GGUF is little-endian by definition")]

use half::f16;
use safetensors::Dtype;

use super::rows::RowOrder;
use crate::engine::compute::ComputeError;
use crate::engine::compute::kernels::Blocks;

/// How a tensor's numbers are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::nn) enum TensorFormat {
    /// Number by number.
    Plain(Dtype),
    /// Block by block.
    Blocks(BlockFormat),
}

/// A format whose numbers share scales, block by block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the formats' own names")]
pub(in crate::engine::nn) enum BlockFormat {
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q4_K,
    Q5_K,
    Q6_K,
}

/// Formats that are not decoded, by their numbers in files, for messages.
const UNKNOWN: [(u32, &str); 22] = [
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
    (40, "NVFP4"),
];

impl TensorFormat {
    /// The format of a number in a file; for one that is not decoded its name, where it has one.
    pub(super) fn of(number: u32) -> Result<Self, Option<&'static str>> {
        use BlockFormat::{Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0};
        Ok(match number {
            0 => Self::Plain(Dtype::F32),
            1 => Self::Plain(Dtype::F16),
            2 => Self::Blocks(Q4_0),
            3 => Self::Blocks(Q4_1),
            6 => Self::Blocks(Q5_0),
            7 => Self::Blocks(Q5_1),
            8 => Self::Blocks(Q8_0),
            12 => Self::Blocks(Q4_K),
            13 => Self::Blocks(Q5_K),
            14 => Self::Blocks(Q6_K),
            30 => Self::Plain(Dtype::BF16),
            _ => {
                let name = UNKNOWN.iter().find(|(known, _)| *known == number);
                return Err(name.map(|(_, name)| *name));
            }
        })
    }

    /// The format and the shape of a matrix that a safetensors file stores as rows of bytes: whole
    /// blocks of Q4_0, which no type of that format names.
    pub(in crate::engine::nn) fn of_rows(bytes: &[usize]) -> Option<(Self, Vec<usize>)> {
        let format = BlockFormat::Q4_0;
        let (numbers, block_bytes) = format.block();
        match bytes {
            [rows, row] if *rows > 0 && *row > 0 && row % block_bytes == 0 => {
                let width = (row / block_bytes).checked_mul(numbers)?;
                Some((Self::Blocks(format), vec![*rows, width]))
            }
            _ => None,
        }
    }

    /// Numbers of a block, and its bytes.
    pub(super) fn block(self) -> (usize, usize) {
        match self {
            Self::Plain(Dtype::F32) => (1, 4),
            Self::Plain(_) => (1, 2),
            Self::Blocks(format) => format.block(),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Plain(Dtype::F32) => "F32",
            Self::Plain(Dtype::F16) => "F16",
            Self::Plain(_) => "BF16",
            Self::Blocks(format) => format.name(),
        }
    }
}

impl std::fmt::Debug for TensorFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(format) => format.fmt(f),
            Self::Blocks(format) => format.fmt(f),
        }
    }
}

impl BlockFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_0 => "Q5_0",
            Self::Q5_1 => "Q5_1",
            Self::Q8_0 => "Q8_0",
            Self::Q4_K => "Q4_K",
            Self::Q5_K => "Q5_K",
            Self::Q6_K => "Q6_K",
        }
    }

    /// Numbers of a block, and its bytes.
    fn block(self) -> (usize, usize) {
        match self {
            Self::Q4_0 => (32, 18),
            Self::Q4_1 => (32, 20),
            Self::Q5_0 => (32, 22),
            Self::Q5_1 => (32, 24),
            Self::Q8_0 => (32, 34),
            Self::Q4_K => (256, 144),
            Self::Q5_K => (256, 176),
            Self::Q6_K => (256, 210),
        }
    }

    /// Numbers that share a scale.
    fn group(self) -> usize {
        if self == Self::Q6_K { 16 } else { 32 }
    }

    /// The integer that stands for zero, where a block has no least number of its own.
    fn zero(self) -> u8 {
        match self {
            Self::Q4_0 => 8,
            Self::Q5_0 => 16,
            Self::Q6_K => 32,
            Self::Q8_0 => 128,
            Self::Q4_1 | Self::Q5_1 | Self::Q4_K | Self::Q5_K => 0,
        }
    }

    /// The numbers of whole blocks.
    pub(in crate::engine::nn) fn decode(self, bytes: &[u8]) -> Vec<f32> {
        self.matrix(bytes, bytes.len() / self.block().1 * self.block().0, RowOrder::AsTheyStand)
            .map_or_else(|_| Vec::new(), |matrix| matrix.to_f32().into_data())
    }

    /// Whole blocks as a matrix of rows of `inputs` numbers, whose rows are put in order.
    pub(in crate::engine::nn) fn matrix(
        self,
        bytes: &[u8],
        inputs: usize,
        order: RowOrder,
    ) -> Result<Blocks, ComputeError> {
        let (numbers, block_bytes) = self.block();
        let count = bytes.len() / block_bytes * numbers;
        let mut parts = Parts {
            quants: Vec::with_capacity(count),
            scales: Vec::with_capacity(count / self.group()),
            least: Vec::new(),
        };
        let unpack: fn(&[u8], &mut Parts) = match self {
            Self::Q4_0 => q4_0,
            Self::Q4_1 => q4_1,
            Self::Q5_0 => q5_0,
            Self::Q5_1 => q5_1,
            Self::Q8_0 => q8_0,
            Self::Q4_K => q4_k,
            Self::Q5_K => q5_k,
            Self::Q6_K => q6_k,
        };
        bytes.chunks_exact(block_bytes).for_each(|block| unpack(block, &mut parts));
        let rows = count.checked_div(inputs).unwrap_or(0);
        let of_groups = [rows, inputs / self.group()];
        Blocks::new(
            inputs,
            (self.group(), self.zero()),
            order.restore(parts.quants, &[rows, inputs]),
            order.restore(parts.scales, &of_groups),
            match parts.least.is_empty() {
                true => parts.least,
                false => order.restore(parts.least, &of_groups),
            },
        )
    }
}

/// What blocks are made of: `scale * (quant - zero) + least`, a scale and a least number for each
/// group.
struct Parts {
    quants: Vec<u8>,
    scales: Vec<f32>,
    least: Vec<f32>,
}

impl Parts {
    /// Sixteen bytes: the lower halves of all, then the upper ones.
    fn halves(&mut self, bytes: &[u8]) {
        self.quants.extend(bytes.iter().map(|byte| byte & 15));
        self.quants.extend(bytes.iter().map(|byte| byte >> 4));
    }
}

/// The 16-bit number at a byte of a block.
fn scale(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

/// `d * (q - 8)`
fn q4_0(block: &[u8], parts: &mut Parts) {
    parts.scales.push(scale(block, 0));
    parts.halves(&block[2..]);
}

/// `d * q + m`
fn q4_1(block: &[u8], parts: &mut Parts) {
    parts.scales.push(scale(block, 0));
    parts.least.push(scale(block, 2));
    parts.halves(&block[4..]);
}

/// Numbers of 5 bits, whose fifth bits stand by themselves.
fn fives(high: &[u8], low: &[u8], parts: &mut Parts) {
    let high = u32::from_le_bytes([high[0], high[1], high[2], high[3]]);
    let first = parts.quants.len();
    parts.halves(low);
    for (i, quant) in parts.quants[first..].iter_mut().enumerate() {
        *quant |= ((high >> i & 1) << 4) as u8;
    }
}

/// `d * (q - 16)`
fn q5_0(block: &[u8], parts: &mut Parts) {
    parts.scales.push(scale(block, 0));
    fives(&block[2..6], &block[6..], parts);
}

/// `d * q + m`
fn q5_1(block: &[u8], parts: &mut Parts) {
    parts.scales.push(scale(block, 0));
    parts.least.push(scale(block, 2));
    fives(&block[4..8], &block[8..], parts);
}

/// `d * q` of numbers with a sign.
fn q8_0(block: &[u8], parts: &mut Parts) {
    parts.scales.push(scale(block, 0));
    parts.quants.extend(block[2..].iter().map(|q| q ^ 128));
}

/// Scale and minimum of one of the eight groups of a block, 6 bits each, packed into twelve bytes.
fn group(packed: &[u8], group: usize) -> (f32, f32) {
    let (scale, least) = if group < 4 {
        (packed[group] & 63, packed[group + 4] & 63)
    } else {
        let high = |byte: u8| byte >> 6 << 4;
        let low = packed[group + 4];
        (low & 15 | high(packed[group - 4]), low >> 4 | high(packed[group]))
    };
    (f32::from(scale), f32::from(least))
}

/// `d * scale * q - m * least`, in eight groups of 32.
fn q4_k(block: &[u8], parts: &mut Parts) {
    groups_of_32(block, &block[16..], |_, _| 0, parts);
}

/// As Q4_K with a fifth bit: bit `g` of byte `i` belongs to number `i` of group `g`.
fn q5_k(block: &[u8], parts: &mut Parts) {
    let high = &block[16..48];
    groups_of_32(block, &block[48..], |group, i| (high[i] >> group & 1) << 4, parts);
}

fn groups_of_32(block: &[u8], low: &[u8], high: impl Fn(usize, usize) -> u8, parts: &mut Parts) {
    let (d, m, packed) = (scale(block, 0), scale(block, 2), &block[4..16]);
    for number in 0..8 {
        let (scale, least) = group(packed, number);
        parts.scales.push(d * scale);
        parts.least.push(-(m * least));
        // Two groups share 32 bytes: one has the lower halves, the next the upper ones.
        let low = low[number / 2 * 32..][..32].iter().enumerate();
        parts.quants.extend(low.map(|(i, byte)| byte >> (number % 2 * 4) & 15 | high(number, i)));
    }
}

/// `d * scale * (q - 32)` with a scale for each 16 numbers; q has 4 bits in one place and 2 in
/// another.
fn q6_k(block: &[u8], parts: &mut Parts) {
    let d = scale(block, 208);
    parts.scales.extend(block[192..208].iter().map(|scale| d * f32::from(scale.cast_signed())));
    for half in 0..2 {
        let low = &block[half * 64..][..64];
        let high = &block[128 + half * 32..][..32];
        for i in 0..128 {
            let (quarter, l) = (i / 32, i % 32);
            let low = low[quarter % 2 * 32 + l] >> (quarter / 2 * 4) & 15;
            let high = high[l] >> (2 * quarter) & 3;
            parts.quants.push(low | high << 4);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Case {
        format: u32,
        name: String,
        bytes: Vec<u8>,
        values: Vec<f32>,
    }

    /// Written by training/parity/gguf_blocks.py with the package `gguf`.
    #[test]
    fn blocks_decode_to_the_numbers_of_gguf() {
        #[derive(Deserialize)]
        struct Golden {
            cases: Vec<Case>,
        }
        let golden = include_str!("../../../../tests/data/parity/gguf_blocks.json");
        let Golden { cases } = serde_json::from_str(golden).unwrap();
        assert_eq!(cases.len(), 8);
        for Case { format, name, bytes, values } in cases {
            let format = TensorFormat::of(format).unwrap();
            assert_eq!(format!("{format:?}"), name);
            let TensorFormat::Blocks(blocks) = format else { panic!("{name} has blocks") };
            let decoded = blocks.decode(&bytes);
            assert_eq!(decoded.len(), values.len(), "{name}");
            for (i, (got, want)) in decoded.iter().zip(&values).enumerate() {
                assert_eq!(got.to_bits(), want.to_bits(), "{name}, number {i}: {got}, not {want}");
            }
        }
    }

    #[test]
    fn formats_that_are_not_decoded_are_named() {
        assert_eq!(TensorFormat::of(10), Err(Some("Q2_K")));
        assert_eq!(TensorFormat::of(4), Err(None));
        assert_eq!(TensorFormat::of(u32::MAX), Err(None));
    }
}
