"""llama.cpp on a GPU beside `cargo bench --bench language_model`, by the Vulkan wheel of cyllama.

    PYTHON benches/peers/language_model_cyllama.py MODEL.gguf [--sentences 32,256] [--layers 99] [--threads 8]

It has no beams: each sequence takes tokens that are given, and shares the prompt's cells with the others of its sentence,
which is the least that a search does. Eight sequences are one sentence; logits are fetched at each step.
"""

import argparse
import time

import cyllama.llama.llama_cpp as cpp

PROMPT, STEPS, BEAM, RUNS = 40, 25, 8, 3


def context_for(model, sequences, threads):
    params = cpp.LlamaContextParams()
    params.n_ctx = 80 * sequences
    params.n_batch = params.n_ubatch = max(512, sequences)
    params.n_seq_max = sequences
    params.n_threads = params.n_threads_batch = threads
    params.kv_unified = True
    return cpp.LlamaContext(model, params, False)


def seconds(context, sequences):
    """Seconds of the prompts and of the steps."""
    context.kv_cache_clear()
    begin = time.perf_counter()
    for first in range(0, sequences, BEAM):
        own = list(range(first, min(first + BEAM, sequences)))
        batch = cpp.LlamaBatch(n_tokens=PROMPT, embd=0, n_seq_max=BEAM)
        for at in range(PROMPT):
            batch.add(1000 + (first * PROMPT + at) * 7919 % 40_000, at, own, at == PROMPT - 1)
        context.decode(batch)
    context.synchronize()
    prompted = time.perf_counter()
    for step in range(STEPS):
        batch = cpp.LlamaBatch(n_tokens=sequences, embd=0, n_seq_max=1)
        for sequence in range(sequences):
            batch.add(5000 + 13 * sequence + step, PROMPT + step, [sequence], True)
        context.decode(batch)
        context.synchronize()
    return prompted - begin, time.perf_counter() - prompted


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--sentences", default="32,256")
    parser.add_argument("--layers", type=int, default=99, help="layers on the GPU")
    parser.add_argument("--threads", type=int, default=8)
    args = parser.parse_args()
    cpp.llama_backend_init()
    cpp.ggml_backend_load_all()
    print("backends:", cpp.ggml_backend_reg_names(), flush=True)
    params = cpp.LlamaModelParams()
    params.n_gpu_layers = args.layers
    model = cpp.LlamaModel(args.model, params, False)
    for sentences in map(int, args.sentences.split(",")):
        context = context_for(model, sentences * BEAM, args.threads)
        prompts, steps = min((seconds(context, sentences * BEAM) for _ in range(RUNS)), key=sum)
        rate, tokens = sentences / (prompts + steps), sentences * BEAM * STEPS / steps
        print(f"{sentences} sentences: {rate:.2f} sentences/s, {tokens:.0f} tokens/s without prompts", flush=True)
        context.close()


if __name__ == "__main__":
    main()
