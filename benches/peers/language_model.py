"""llama.cpp beside `cargo bench --bench language_model`: tokens a second that it decodes with many sequences.

pip install llama-cpp-python==0.3.36
python benches/peers/language_model.py MODEL.gguf

It has no beams: each sequence goes on with its own best token, and shares the prompt's cells with the others of its
sentence, which is the least that a search does. Eight sequences are one sentence.
"""

import ctypes
import os
import resource
import sys
import time

import llama_cpp as cpp
import numpy as np

PROMPT, STEPS, BEAM = 40, 25, 8


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def fill(batch, rows):
    """Rows are (token, position, sequences)."""
    batch.n_tokens = len(rows)
    for i, (token, position, sequences) in enumerate(rows):
        batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, len(sequences)
        for j, sequence in enumerate(sequences):
            batch.seq_id[i][j] = sequence
        batch.logits[i] = 1


def measure(model, sequences, threads):
    params = cpp.llama_context_default_params()
    params.n_ctx = (PROMPT + STEPS + 1) * sequences
    params.n_batch = params.n_ubatch = 512
    params.n_seq_max = sequences
    params.n_threads = params.n_threads_batch = threads
    params.kv_unified = True
    context = cpp.llama_init_from_model(model, params)
    vocabulary = cpp.llama_vocab_n_tokens(cpp.llama_model_get_vocab(model))
    batch = cpp.llama_batch_init(512, 0, sequences)
    begin, before = time.time(), processor_seconds()
    for first in range(0, sequences, BEAM):
        own = list(range(first, min(first + BEAM, sequences)))
        prompt = [1000 + (first * PROMPT + at) * 7919 % 40_000 for at in range(PROMPT)]
        fill(batch, [(token, at, own) for at, token in enumerate(prompt)])
        assert cpp.llama_decode(context, batch) == 0
    prefilled = time.time()
    tokens = [5000 + 13 * sequence for sequence in range(sequences)]
    for step in range(STEPS):
        fill(batch, [(tokens[s], PROMPT + step, [s]) for s in range(sequences)])
        assert cpp.llama_decode(context, batch) == 0
        logits = cpp.llama_get_logits(context)
        rows = np.ctypeslib.as_array(logits, shape=(sequences, vocabulary))
        tokens = [int(token) for token in rows.argmax(axis=1)]
    end, busy = time.time(), processor_seconds() - before
    print(f"{sequences} sequences: {sequences * STEPS / (end - prefilled):.0f} tokens/s decoded, "
          f"{sequences / BEAM / (end - begin):.2f} sentences/s with their prompts, "
          f"{busy / (sequences / BEAM):.2f} s of processor time a sentence", flush=True)
    cpp.llama_batch_free(batch)
    cpp.llama_free(context)


def main():
    quiet = cpp.llama_log_callback(lambda *_: None)
    cpp.llama_log_set(quiet, ctypes.c_void_p())
    model = cpp.llama_model_load_from_file(sys.argv[1].encode(), cpp.llama_model_default_params())
    for sequences in [8, 64, 256]:
        measure(model, sequences, int(os.environ.get("FNSTORE_BENCH_THREADS", os.cpu_count())))


main()
