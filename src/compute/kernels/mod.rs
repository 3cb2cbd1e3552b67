//! One kernel per file: what it computes, its shape checks, and its code for each device.
//!
//! The public function of a file takes the device first, checks its operands, and calls `cpu`.

mod activation;
mod attention;
mod attention_weights;
mod best_tokens;
mod embedding;
mod layer_norm;
mod matmul;
mod matmul8;
mod sample_tokens;
mod scatter;

pub use activation::{Activation, activate};
pub use attention::{KeyList, attention};
pub use attention_weights::attention_weights;
pub use best_tokens::{ScoredRow, TokenMask, TokenScore, best_tokens};
pub use embedding::{Lookup, embedding};
pub use layer_norm::layer_norm;
pub use matmul::{Weight, matmul, matmul_into};
pub use matmul8::Quantized;
pub use sample_tokens::{TokenDraw, sample_tokens};
pub use scatter::scatter;
