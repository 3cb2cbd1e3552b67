"""Logits and beam searches of a tiny BART model."""

import torch
from transformers import BartConfig, BartForConditionalGeneration, GenerationConfig

import golden
from marian import EOS, PAD, bias, train


def build():
    """The tiny model: kept as it is once written, since training gives other bits elsewhere."""
    directory = golden.ROOT / "bart"
    if not (directory / "model.safetensors").exists():
        # As BART's own, decoding starts with the end token.
        config = BartConfig(
            vocab_size=95, d_model=40, encoder_layers=2, decoder_layers=3, encoder_attention_heads=4,
            decoder_attention_heads=5, encoder_ffn_dim=56, decoder_ffn_dim=72, max_position_embeddings=32,
            activation_function="gelu", pad_token_id=PAD, bos_token_id=2, eos_token_id=EOS,
            decoder_start_token_id=EOS, forced_eos_token_id=None, dropout=0.0,
        )
        torch.manual_seed(6)
        model = BartForConditionalGeneration(config)
        golden.fill(model, seed=6, spread=1.0)
        train(model)
        bias(model)
        model.generation_config = GenerationConfig(
            decoder_start_token_id=EOS, eos_token_id=EOS, pad_token_id=PAD
        )
        golden.save(model.half(), directory)
    return BartForConditionalGeneration.from_pretrained(directory, dtype=torch.float32).eval()
