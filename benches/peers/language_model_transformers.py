"""transformers beside `cargo bench --bench language_model`: the same model, beam and steps, in half precision on a GPU.

    PYTHON benches/peers/language_model_transformers.py MODEL.gguf [--sentences 32,256]

Prompts of 40 tokens, exactly 25 new tokens, beam 8, all eight outputs. The best of a few runs counts. Needs numpy, and
torch and transformers with CUDA or ROCm; on the CPU it computes in single precision.
"""

import argparse
import time

import gguf_weights
import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

PROMPT, STEPS, BEAM, RUNS = 40, 25, 8, 3
# The names of a layer's matrices in a GGUF file and in transformers.
MATRICES = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


def halves(matrix, heads):
    """Rows of queries and keys in the order of transformers, which turns halves of a head where GGUF turns neighbours."""
    return matrix.reshape(heads, -1, 2, matrix.shape[1]).swapaxes(1, 2).reshape(matrix.shape)


def load(path, device, dtype):
    facts, tensor = gguf_weights.read(path)
    fact = lambda name: facts["llama." + name]
    heads, kv_heads = fact("attention.head_count"), fact("attention.head_count_kv")
    embedding = tensor("token_embd.weight")
    config = LlamaConfig(
        vocab_size=embedding.shape[0],
        hidden_size=fact("embedding_length"),
        intermediate_size=fact("feed_forward_length"),
        num_hidden_layers=fact("block_count"),
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=fact("context_length"),
        rms_norm_eps=fact("attention.layer_norm_rms_epsilon"),
        rope_theta=fact("rope.freq_base"),
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
        attn_implementation="sdpa",
    )
    weights = {"model.embed_tokens.weight": embedding, "lm_head.weight": embedding, "model.norm.weight": tensor("output_norm.weight")}
    turned = {"attn_q": heads, "attn_k": kv_heads}
    for layer in range(config.num_hidden_layers):
        for theirs, name in MATRICES.items():
            matrix = tensor(f"blk.{layer}.{theirs}.weight")
            matrix = halves(matrix, turned[theirs]) if theirs in turned else matrix
            weights[f"model.layers.{layer}.{name}.weight"] = matrix
    model = LlamaForCausalLM(config).to(dtype)
    model.load_state_dict({name: torch.from_numpy(np.array(weight)).to(dtype) for name, weight in weights.items()})
    return model.to(device).eval()


def seconds(model, sentences, device):
    prompts = torch.randint(1000, 40_000, (sentences, PROMPT), device=device)
    begin = time.perf_counter()
    with torch.inference_mode():
        model.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            num_beams=BEAM,
            num_return_sequences=BEAM,
            min_new_tokens=STEPS,
            max_new_tokens=STEPS,
            do_sample=False,
        )
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--sentences", default="32,256")
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.float16 if device.type == "cuda" else torch.float32
    model = load(args.model, device, dtype)
    where = torch.cuda.get_device_name() if device.type == "cuda" else "the CPU"
    print(f"transformers on {where}, torch {torch.__version__}, {dtype}", flush=True)
    for sentences in map(int, args.sentences.split(",")):
        best = min(seconds(model, sentences, device) for _ in range(RUNS))
        rate, tokens = sentences / best, sentences * BEAM * STEPS / best
        print(f"{sentences} sentences: {rate:.2f} sentences/s, {tokens:.0f} tokens/s", flush=True)


if __name__ == "__main__":
    main()
