"""Takes a GGUF file apart into a directory that `transformers` reads.

    python -m language_model unpack --gguf ~/.cache/fnstore/models/SmolLM2-135M-Instruct/*.gguf --out BASE

The weights are those of the file, dequantised to f32: an adapter has to fit the weights that fnstore runs, not those that
the file was made from. `base.json` beside them names the file and its fingerprint.
"""

import argparse
import json
from pathlib import Path

import blake3
import gguf
import torch
from tokenizers import pre_tokenizers
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM


def fingerprint(path):
    """BLAKE3 of a GGUF file's tensors, as they lie in it, whatever their order and the file's metadata.

    Hashed are fields, each after its length in bytes as a big-endian u64: the words `fnstore gguf tensors 1`, then, by
    ascending name, each tensor's name, its type and dimensions as `Q4_1 [576, 1536]` in the file's order, and its bytes.
    """
    hasher = blake3.blake3()

    def field(content):
        hasher.update(len(content).to_bytes(8, "big"))
        hasher.update(content)

    field(b"fnstore gguf tensors 1")
    for tensor in sorted(gguf.GGUFReader(path).tensors, key=lambda tensor: tensor.name):
        field(tensor.name.encode())
        field(f"{tensor.tensor_type.name} {[int(size) for size in tensor.shape]}".encode())
        field(tensor.data.tobytes())
    return hasher.hexdigest()


# GGUF's names of tensors and those of `transformers`.
NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
}


def name_of(name):
    """What `transformers` calls a tensor of a GGUF file, as in blk.3.attn_q.weight."""
    *layer, part, weight = name.split(".")
    return ".".join([*(["model.layers", layer[1]] if layer else []), NAMES[part], weight])


def halves(weight, heads):
    """Rows of queries or keys as `transformers` has them, the two halves of a head's rotated dimensions one after the
    other; GGUF has them in pairs."""
    return weight.view(heads, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


def configuration(reader):
    def of(key):
        return reader.fields[key].contents()

    assert of("general.architecture") == "llama", of("general.architecture")
    return LlamaConfig(
        vocab_size=len(reader.fields["tokenizer.ggml.tokens"].data),
        hidden_size=of("llama.embedding_length"),
        intermediate_size=of("llama.feed_forward_length"),
        num_hidden_layers=of("llama.block_count"),
        num_attention_heads=of("llama.attention.head_count"),
        num_key_value_heads=of("llama.attention.head_count_kv"),
        max_position_embeddings=of("llama.context_length"),
        rms_norm_eps=of("llama.attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": of("llama.rope.freq_base")},
        bos_token_id=of("tokenizer.ggml.bos_token_id"),
        eos_token_id=of("tokenizer.ggml.eos_token_id"),
        pad_token_id=of("tokenizer.ggml.padding_token_id"),
        tie_word_embeddings=True,
    )


def unpack(path, out):
    reader = gguf.GGUFReader(path)
    config = configuration(reader)
    tensors = {}
    for tensor in reader.tensors:
        weight = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
        if ".attn_q." in tensor.name:
            weight = halves(weight, config.num_attention_heads)
        if ".attn_k." in tensor.name:
            weight = halves(weight, config.num_key_value_heads)
        tensors[name_of(tensor.name)] = weight
    model = LlamaForCausalLM(config)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    model.load_state_dict(tensors)
    model.save_pretrained(out)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # `tokenizer.ggml.pre` says smollm: digits stand alone, then GPT-2's words; `transformers` reads the latter only.
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    tokenizer.save_pretrained(out)
    (out / "base.json").write_text(json.dumps({"file": path.name, "fingerprint": fingerprint(path)}, indent=2) + "\n")


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model unpack", description=__doc__.split("\n")[0])
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    unpack(given.gguf, given.out)
