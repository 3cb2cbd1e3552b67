//! Attention on a GPU for a decoder's step: one query for each list, a few dozens of keys.
//!
//! [`attention_gpu`](super::attention_gpu) chooses between this shader and that of
//! [`attention`](super::attention).

shader!("attention_step", 64, Nothing, super::attention::SHADER.bindings);

/// Whether the shader takes heads of so many columns: it reads vectors of four numbers.
pub(super) fn takes(columns: usize) -> bool {
    columns.is_multiple_of(4)
}
