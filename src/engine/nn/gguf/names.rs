//! What GGUF files call tensors, and what Hugging Face's do.
//!
//! The network is loaded by the names of Hugging Face, so that weights, adapters and messages use
//! one set of names. Source: `gguf-py/gguf/tensor_mapping.py` of llama.cpp.

/// Parts of a layer, `blk.N.PART` and `model.layers.N.PART`.
const PARTS: [(&str, &str); 12] = [
    ("attn_norm", "input_layernorm"),
    ("attn_q", "self_attn.q_proj"),
    ("attn_k", "self_attn.k_proj"),
    ("attn_v", "self_attn.v_proj"),
    ("attn_output", "self_attn.o_proj"),
    ("attn_q_norm", "self_attn.q_norm"),
    ("attn_k_norm", "self_attn.k_norm"),
    ("ffn_gate", "mlp.gate_proj"),
    ("ffn_up", "mlp.up_proj"),
    ("ffn_down", "mlp.down_proj"),
    ("post_attention_norm", "post_attention_layernorm"),
    ("post_ffw_norm", "post_feedforward_layernorm"),
];

/// What stands outside the layers.
const WHOLE: [(&str, &str); 3] =
    [("token_embd", "model.embed_tokens"), ("output_norm", "model.norm"), ("output", "lm_head")];

/// The name in Hugging Face's files of a tensor of a GGUF file; a name that has none stays.
///
/// A layer's norm before its feed-forward block is the second of two norms, or the third of four.
pub(in crate::engine::nn) fn hugging_face_name(name: &str, has_four_norms: bool) -> String {
    let renamed = || {
        let (stem, kind) = name.rsplit_once('.')?;
        if let Some((_, whole)) = WHOLE.iter().find(|(known, _)| *known == stem) {
            return Some(format!("{whole}.{kind}"));
        }
        let (layer, part) = stem.strip_prefix("blk.")?.split_once('.')?;
        let part = match part {
            "ffn_norm" if has_four_norms => "pre_feedforward_layernorm",
            "ffn_norm" => "post_attention_layernorm",
            part => PARTS.iter().find(|(known, _)| *known == part)?.1,
        };
        Some(format!("model.layers.{layer}.{part}.{kind}"))
    };
    renamed().unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hugging_face() {
        for (name, want) in [
            ("token_embd.weight", "model.embed_tokens.weight"),
            ("output.weight", "lm_head.weight"),
            ("blk.11.attn_k.bias", "model.layers.11.self_attn.k_proj.bias"),
            ("blk.0.ffn_norm.weight", "model.layers.0.post_attention_layernorm.weight"),
            ("rope_freqs.weight", "rope_freqs.weight"),
            ("blk.0.ssm_a", "blk.0.ssm_a"),
            ("odd", "odd"),
        ] {
            assert_eq!(hugging_face_name(name, false), want);
        }
        let fourth = hugging_face_name("blk.0.ffn_norm.weight", true);
        assert_eq!(fourth, "model.layers.0.pre_feedforward_layernorm.weight");
    }
}
