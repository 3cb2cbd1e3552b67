"""Logits and beam searches of tiny T5 models: the first T5's layout, and that of T5 1.1 and Flan-T5."""

import json
import string

import torch
from transformers import GenerationConfig, T5Config, T5ForConditionalGeneration

import golden
from marian import EOS, PAD, train

# No size is a multiple of 16, heads are wider or narrower than the model together, the stacks differ in depth, and
# sentences of the goldens reach into the buckets of several distances.
SHAPE = {
    "vocab_size": 95, "d_model": 40, "d_ff": 56, "num_layers": 2, "num_decoder_layers": 3,
    "relative_attention_num_buckets": 8, "relative_attention_max_distance": 10, "dropout_rate": 0.0,
    "pad_token_id": PAD, "eos_token_id": EOS, "decoder_start_token_id": PAD,
}


def build(name):
    """The tiny model: kept as it is once written, since training gives other bits elsewhere."""
    directory = golden.ROOT / name
    if not (directory / "model.safetensors").exists():
        own = {
            # Products with a bare ReLU; the table of tokens is the output projection, scaled.
            "t5": {"d_kv": 10, "num_heads": 3, "feed_forward_proj": "relu"},
            # A gate with GELU's approximation; an output projection of its own.
            "flan-t5": {"d_kv": 6, "num_heads": 7, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
        }
        torch.manual_seed(5)
        model = T5ForConditionalGeneration(T5Config(**SHAPE, **own[name]))
        if name == "flan-t5":
            model.config.tie_word_embeddings = False
            model.lm_head.weight = torch.nn.Parameter(model.shared.weight.detach().clone())
        golden.fill(model, seed=5, spread=1.0)
        train(model)
        model.generation_config = GenerationConfig(
            decoder_start_token_id=PAD, eos_token_id=EOS, pad_token_id=PAD
        )
        golden.save(model.half(), directory)
    model = T5ForConditionalGeneration.from_pretrained(directory, dtype=torch.float32).eval()
    # The cache of transformers 5 has as many layers as the encoder.
    model.generation_config.use_cache = False
    assert (model.lm_head.weight is model.shared.weight) == (name == "t5")
    return model


def tokenizer():
    """A vocabulary of letters with five sentinels, numbered from the end as T5's are."""
    marks = ".,;:!?'\"()-<>/+_&$%*"
    pieces = ["\u2581", *string.ascii_letters, *string.digits, *marks, "\u00e9", "\u2581the", "\u2581a", "\u2581of"]
    vocabulary = [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]]
    vocabulary += [[piece, -1.0 - len(piece.strip("\u2581")) / 8] for piece in pieces]
    specials = ["<pad>", "</s>", "<unk>", *(f"<extra_id_{number}>" for number in reversed(range(5)))]
    ids = [0, 1, 2, *range(len(vocabulary), SHAPE["vocab_size"])]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    text = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    record = {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": id, "content": token, **flags} for id, token in zip(ids, specials, strict=True)],
        "normalizer": {"type": "NFKC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        ]},
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [
            text, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ]},
        "model": {"type": "Unigram", "unk_id": 2, "vocab": vocabulary, "byte_fallback": False},
    }
    (golden.ROOT / "t5" / "tokenizer.json").write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n")
