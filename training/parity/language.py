"""Logits of tiny decoder-only models, and ids of tokenizers, from transformers; the same weights and vocabularies as GGUF.

Tensors have the names, rows and gains that `convert_hf_to_gguf.py` of llama.cpp gives them.
"""

import json
import sys
from pathlib import Path

import gguf
import torch
from safetensors import safe_open
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Regex
from transformers import (
    AutoModelForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, GenerationConfig, LlamaConfig, LlamaForCausalLM, Qwen2Config,
    Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM,
)
from transformers.convert_slow_tokenizer import generate_merges

import golden

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import quantize
from language_model.unpack import fingerprint

# Heads of no multiple of 16, queries in groups of two and three.
SHAPE = {
    "vocab_size": 61, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 4, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "bos_token_id": 1,
    "eos_token_id": 2, "pad_token_id": 2,
}
LLAMA_3 = {
    "rope_type": "llama3", "rope_theta": 1000.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
# The vocabulary of the tokenizer below goes with it.
LLAMA = {**SHAPE, "vocab_size": 320, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6}
MODELS = {
    "llama": (LlamaForCausalLM, LlamaConfig(**LLAMA, tie_word_embeddings=True), gguf.MODEL_ARCH.LLAMA),
    "llama3": (LlamaForCausalLM, LlamaConfig(**{**SHAPE, "rope_parameters": LLAMA_3}), gguf.MODEL_ARCH.LLAMA),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**SHAPE), gguf.MODEL_ARCH.QWEN2),
    "qwen3": (
        Qwen3ForCausalLM, Qwen3Config(**{**SHAPE, "head_dim": 8, "tie_word_embeddings": True}), gguf.MODEL_ARCH.QWEN3,
    ),
    # Seven layers, so that the sixth sees everything; a window that the longest sequence leaves.
    "gemma3": (
        Gemma3ForCausalLM,
        Gemma3TextConfig(**{
            **SHAPE, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 7, "num_attention_heads": 2,
            "num_key_value_heads": 1, "head_dim": 8, "query_pre_attn_scalar": 8, "sliding_window": 5,
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
        }),
        gguf.MODEL_ARCH.GEMMA3,
    ),
}

SAMPLE = """They checked the locks. The old man didn't check it, and he'd never seen 1234 of them in 2024!
She's said: "we'll tear the envelope open" -- naïve café, 中文, \t tabs and   spaces\n\n  and lines; x_y = f(3) + 10%.
The metropolis was ambiguous; witnesses were unable to corroborate his account of the events."""
TEXTS = [
    "They checked the locks.", " a leading space", "trailing space ", "", " ", "\n", "don't DON'T we'll I'd he's",
    "1234567890 12 3", "price: $1,234.56 (10%)", "tabs\tand\r\nlines\n\n\n  indented", "many     spaces",
    "naïve café résumé", "e\u0301 decomposed", "中文字符 and 日本語", "emoji 😀👍🏽 done", "a<|im_end|>b <|im_start|> c",
    "<s> and </s> and <unk>", "ALL CAPS Mixed Case", "under_score and-hyphen", "\u00a0non-breaking\u2003wide",
    "Привет, мир!", "x=1;y=2", "'s 't 're", "...!!!???", "the the the", "Sebastián",
]
WORDS = {
    "llama-bpe": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
CONTROLS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6


def cutter(words):
    """How the `tokenizer.json` of a model whose words are named so cuts a text."""
    if words == "gpt-2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    if words == "smollm":
        digits = pre_tokenizers.Digits(individual_digits=True)
        return pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    split = pre_tokenizers.Split(Regex(WORDS[words]), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def byte_level(words, size):
    tokenizer = Tokenizer(models.BPE(ignore_merges=words == "llama-bpe"))
    tokenizer.pre_tokenizer = cutter(words)
    tokenizer.decoder = decoders.ByteLevel()
    if words == "qwen2":
        tokenizer.normalizer = normalizers.NFC()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=CONTROLS, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([SAMPLE] * 3, trainer)
    return tokenizer


def scored(size):
    """SentencePiece's form: a score for each piece, and merges that transformers makes of them."""
    space = "▁"
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizers.Sequence([normalizers.Prepend(space), normalizers.Replace(" ", space)])
    trained.pre_tokenizer = pre_tokenizers.Split(space, "merged_with_next")
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<unk>"], show_progress=False)
    trained.train_from_iterator(SAMPLE.split("\n"), trainer)
    learnt = sorted(trained.get_vocab(), key=trained.get_vocab().get)[1:]
    joined = [piece for piece in learnt if len(piece) > 1]
    letters = [piece for piece in learnt if len(piece) == 1]
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *joined, *letters]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(learnt)]
    scores = [0.0] * 259 + [-float(rank) for rank in range(len(learnt))]
    vocab = {piece: number for number, piece in enumerate(pieces)}
    normal = {piece: score for piece, kind, score in zip(pieces, kinds, scores) if kind == NORMAL}
    merges = generate_merges(vocab, normal)
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = trained.normalizer
    tokenizer.decoder = decoders.Sequence([
        decoders.Replace(space, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0),
    ])
    tokenizer.add_special_tokens([AddedToken(piece) for piece in pieces[:3]])
    return tokenizer, pieces, kinds, scores


def write_byte_level(writer, tokenizer, words):
    vocab = tokenizer.get_vocab()
    pieces = sorted(vocab, key=vocab.get)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(words)
    writer.add_token_list(pieces)
    writer.add_token_types([CONTROL if piece in CONTROLS else NORMAL for piece in pieces])
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def vocabularies():
    """A GGUF file without tensors for each kind of tokenizer, and the ids of texts."""
    (golden.ROOT / "tokenizers").mkdir(parents=True, exist_ok=True)
    cases = []
    for name in ("gpt-2", "smollm", "llama-bpe", "qwen2", "scores"):
        writer = gguf.GGUFWriter(golden.ROOT / "tokenizers" / f"{name}.gguf", "llama")
        if name == "scores":
            tokenizer, pieces, kinds, scores = scored(400)
            writer.add_tokenizer_model("llama")
            writer.add_token_list(pieces)
            writer.add_token_types(kinds)
            writer.add_token_scores(scores)
        else:
            tokenizer = byte_level(name, 400)
            write_byte_level(writer, tokenizer, name)
        finish(writer)
        # A control token that a text spells stays text.
        tokenizer.encode_special_tokens = True
        for text in TEXTS:
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            cases.append({"file": f"{name}.gguf", "text": text, "ids": ids, "decoded": tokenizer.decode(ids)})
    golden.write("tokenizers/ids.json", "ids of texts by tokenizers whose vocabularies the GGUF files hold", cases)


def halves_in_turn(weight, heads):
    """`LlamaModel.permute` of convert_hf_to_gguf.py."""
    shape = weight.shape
    return weight.reshape(heads, 2, shape[0] // heads // 2, *shape[1:]).swapaxes(1, 2).reshape(shape)


def write_gguf(name, model, config, architecture):
    family = gguf.MODEL_ARCH_NAMES[architecture]
    writer = gguf.GGUFWriter(golden.ROOT / name / "model.gguf", family)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    rope = config.rope_parameters.get("full_attention", config.rope_parameters)
    writer.add_rope_freq_base(rope["rope_theta"])
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["factor"])
    if name == "gemma3":
        writer.add_sliding_window(config.sliding_window)
    if name == "llama":
        write_byte_level(writer, byte_level("smollm", config.vocab_size), "smollm")
    else:
        writer.add_bos_token_id(config.bos_token_id)
        writer.add_eos_token_id(config.eos_token_id)
    names = gguf.get_tensor_name_map(architecture, config.num_hidden_layers)
    for tensor, weight in model.state_dict().items():
        if tensor == "lm_head.weight" and config.tie_word_embeddings:
            continue
        weight = weight.float().numpy()
        if family == "llama" and tensor.endswith(("q_proj.weight", "k_proj.weight")):
            is_query = tensor.endswith("q_proj.weight")
            weight = halves_in_turn(weight, config.num_attention_heads if is_query else config.num_key_value_heads)
        if name == "gemma3" and tensor.endswith("norm.weight"):
            weight = weight + 1.0
        kind = "float32" if weight.ndim == 1 else "float16"
        writer.add_tensor(names.get_name(tensor, try_suffixes=(".weight", ".bias")), weight.astype(kind))
    if rope["rope_type"] == "llama3":
        plain = 1.0 / rope["rope_theta"] ** (torch.arange(0, config.head_dim, 2).float() / config.head_dim)
        writer.add_tensor("rope_freqs.weight", (plain / model.model.rotary_emb.inv_freq).numpy())
    finish(writer)


def logits():
    for name, (kind, config, architecture) in MODELS.items():
        directory = golden.ROOT / name
        if not (directory / "model.safetensors").exists():
            torch.manual_seed(7)
            model = kind(config)
            golden.fill(model, seed=11, spread=1.0)
            model.generation_config = GenerationConfig(bos_token_id=1, eos_token_id=2, pad_token_id=2)
            golden.save(model.half(), directory)
        model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32).eval()
        config = model.config
        write_gguf(name, model, config, architecture)
        cases = []
        for length, step in ((1, 5), (2, 3), (11, 7), (23, 13)):
            ids = [(3 + place * step) % config.vocab_size for place in range(length)]
            with torch.no_grad():
                found = model(torch.tensor([ids]), use_cache=False).logits[0]
            cases.append({"ids": ids, "logits": golden.rounded(found, 5)})
        golden.write(f"{name}/logits.json", "logits after each token of some sequences", cases)


def adapted():
    """Logits of the tiny Llama with an adapter in 8 bits: the differences are added to the matrices, without PEFT."""
    directory, rank, alpha = golden.ROOT / "lora", 4, 8.0
    directory.mkdir(exist_ok=True)
    model = AutoModelForCausalLM.from_pretrained(golden.ROOT / "llama", dtype=torch.float32).eval()
    matrices = {name: part for name, part in model.named_modules() if name.endswith("_proj")}
    if not (directory / "adapter_model.safetensors").exists():
        random, tensors = torch.Generator().manual_seed(3), {}
        for name, part in matrices.items():
            out, into = part.weight.shape
            tensors[f"{name}.lora_A.weight"] = torch.rand(rank, into, generator=random) - 0.5
            tensors[f"{name}.lora_B.weight"] = torch.rand(out, rank, generator=random) - 0.5
        quantize.save(dict(sorted(quantize.quantize(tensors).items())), directory / "adapter_model.safetensors")
    config = {
        "format": 1, "peft_type": "LORA", "base_model_name_or_path": "model.gguf",
        "base_fingerprint": fingerprint(golden.ROOT / "llama" / "model.gguf"), "r": rank, "lora_alpha": alpha,
    }
    (directory / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
    with safe_open(directory / "adapter_model.safetensors", "pt") as file:
        tensors = quantize.dequantize({name: file.get_tensor(name) for name in file.keys()})
    for name, part in matrices.items():
        part.weight.data += alpha / rank * tensors[f"{name}.lora_B.weight"] @ tensors[f"{name}.lora_A.weight"]
    cases = []
    for length, step in ((1, 5), (11, 7), (23, 13)):
        ids = [(3 + place * step) % model.config.vocab_size for place in range(length)]
        with torch.no_grad():
            found = model(torch.tensor([ids]), use_cache=False).logits[0]
        cases.append({"ids": ids, "logits": golden.rounded(found, 5)})
    golden.write("lora/logits.json", "logits of the tiny Llama with an adapter", cases)
