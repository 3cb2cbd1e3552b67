//! One kernel per file: what it computes, its shape checks, and its code for each device.
//!
//! The public function of a file takes the device first, checks its operands, and calls `cpu` or
//! `gpu`. The shader of `gpu` is the file of the same name in `shaders/`; what it binds is declared
//! beside it, and [`self_test`] runs it against `cpu`.

mod activation;
mod add;
mod attention;
mod attention_gpu;
mod attention_step;
mod attention_weights;
mod best_tokens;
mod blocks;
mod embedding;
mod embedding_blocks;
mod embedding_half;
mod finish_rows;
mod gated_half_rows;
mod gather;
mod half_rows;
mod heads;
mod layer_norm;
mod matmul;
mod matmul8;
mod matmul_blocks;
mod matmul_blocks_gpu;
mod matmul_cooperative;
mod matmul_half;
mod matmul_tiled;
mod matmul_wide;
mod matvec;
mod matvec_half;
mod norm_half_rows;
mod place_heads;
mod rms_norm;
mod rotate;
mod row_scores;
mod sample_tokens;
mod scatter;
mod self_test;
mod self_test_units;
mod span_maxima;
mod span_scores;
mod units_spelled_out;
mod weight;
mod word_pairs;

use super::gpu::Shader;
pub use activation::{Activation, activate, activate_gated};
pub use add::add;
pub use attention::{KeyList, attention};
pub use attention_weights::attention_weights;
pub(crate) use best_tokens::{ListId, list_id};
pub use best_tokens::{ScoredRow, TokenMask, TokenScore, best_tokens};
pub use blocks::Blocks;
pub use embedding::{Lookup, embedding};
pub use finish_rows::Sums;
pub use gated_half_rows::gated_half_rows;
pub use gather::gather;
pub use half_rows::{HalfRows, half_rows};
pub use heads::{DistanceBias, Heads};
pub use layer_norm::layer_norm;
pub use matmul::{matmul, matmul_into};
pub use matmul_tiled::product;
pub use matmul8::Quantized;
pub use norm_half_rows::{Stream, norm_half_rows};
pub use place_heads::{Placing, place_heads};
pub use rms_norm::rms_norm;
pub use rotate::{rotate, turns};
pub use row_scores::{ScoreOutput, row_scores};
pub use sample_tokens::{TokenDraw, sample_tokens};
pub use scatter::scatter;
pub use self_test::{KernelTest, self_test};
pub use span_maxima::{SpanRows, span_maxima};
pub use span_scores::{SpanCandidate, SpanHead, span_scores};
pub use weight::Weight;
pub(super) use weight::trusts_units;
pub use word_pairs::word_pairs;

/// Every shader, in order of names.
pub fn shaders() -> &'static [&'static Shader] {
    static SHADERS: [&Shader; 30] = [
        &activation::SHADER,
        &add::SHADER,
        &attention::SHADER,
        &attention_step::SHADER,
        &best_tokens::SHADER,
        &embedding::SHADER,
        &embedding_blocks::SHADER,
        &embedding_half::SHADER,
        &finish_rows::SHADER,
        &gated_half_rows::SHADER,
        &gather::SHADER,
        &half_rows::SHADER,
        &layer_norm::SHADER,
        &matmul_blocks_gpu::SHADER,
        &matmul_cooperative::SHADER,
        &matmul_half::SHADER,
        &matmul_tiled::SHADER,
        &matmul_wide::SHADER,
        &matvec::SHADER,
        &matvec_half::SHADER,
        &norm_half_rows::SHADER,
        &place_heads::SHADER,
        &rms_norm::SHADER,
        &rotate::SHADER,
        &row_scores::SHADER,
        &sample_tokens::SHADER,
        &scatter::SHADER,
        &span_maxima::SHADER,
        &span_scores::SHADER,
        &word_pairs::SHADER,
    ];
    &SHADERS
}
