"""What llama.cpp says of a language model on FrameNet's sentences, for `tests/real_language_model.rs`.

pip install llama-cpp-python==0.3.36
python language_llama_cpp.py MODEL.gguf FRAMENET.zip OUT.json [--positions 10000] [--keys-in-f32]
FNSTORE_LANGUAGE_GOLDEN=OUT.json FNSTORE_LANGUAGE_MODEL=MODEL.gguf cargo test --release --test suite real_language_model

Sentences follow each other in sequences of 128 tokens. For each token but the last the file has the best next one, how
far the second best is behind, and the log-probability of the one that follows.
"""

import argparse
import ctypes
import html
import json
import re
import zipfile

import llama_cpp as cpp
import numpy as np

LENGTH = 128


def sentences(path):
    with zipfile.ZipFile(path) as archive:
        for name in sorted(name for name in archive.namelist() if re.search(r"/fulltext/[^/]*\.xml$", name)):
            yield from (html.unescape(text) for text in
                        re.findall(r"<text>(.*?)</text>", archive.read(name).decode("utf-8"), re.S))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("framenet")
    parser.add_argument("out")
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--keys-in-f32", action="store_true", help="keys and values in f32, no flash attention")
    arguments = parser.parse_args()
    quiet = cpp.llama_log_callback(lambda *_: None)
    cpp.llama_log_set(quiet, ctypes.c_void_p())
    model = cpp.llama_model_load_from_file(arguments.model.encode(), cpp.llama_model_default_params())
    vocabulary = cpp.llama_model_get_vocab(model)
    size = cpp.llama_vocab_n_tokens(vocabulary)
    text = "\n".join(sentences(arguments.framenet))[: 40 * arguments.positions].encode()
    room = (cpp.llama_token * len(text))()
    count = cpp.llama_tokenize(vocabulary, text, len(text), room, len(text), False, False)
    # A sequence begins after another text.
    tokens, between = list(room[:count]), cpp.llama_vocab_bos(vocabulary)
    params = cpp.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = LENGTH
    # Its threads wait for each other by spinning: on a busy machine one is faster.
    params.n_threads = params.n_threads_batch = 1
    if arguments.keys_in_f32:
        params.type_k = params.type_v = 0
        params.flash_attn_type = cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED
    context = cpp.llama_init_from_model(model, params)
    batch = cpp.llama_batch_init(LENGTH, 0, 1)
    golden = {"sequences": [], "best": [], "margins": [], "log_probs": []}
    own = LENGTH - 1
    for number in range(-(-arguments.positions // own)):
        ids = [between] + tokens[number * own : (number + 1) * own]
        cpp.llama_memory_clear(cpp.llama_get_memory(context), True)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, i, 1, 0
            batch.logits[i] = 1
        assert cpp.llama_decode(context, batch) == 0
        logits = np.ctypeslib.as_array(cpp.llama_get_logits(context), shape=(len(ids), size))[:-1].astype(np.float64)
        two = np.partition(logits, -2, axis=1)[:, -2:]
        normalizer = np.log(np.exp(logits - two[:, 1:]).sum(axis=1)) + two[:, 1]
        golden["sequences"].append(ids)
        golden["best"].append(logits.argmax(axis=1).tolist())
        golden["margins"].append([round(float(margin), 5) for margin in two[:, 1] - two[:, 0]])
        golden["log_probs"].append([round(float(p), 6) for p in logits[np.arange(len(ids) - 1), ids[1:]] - normalizer])
    with open(arguments.out, "w") as out:
        json.dump(golden, out)
    flat = sum(golden["log_probs"], [])
    print(f"{len(flat)} positions, perplexity {np.exp(-np.mean(flat)):.4f}")


if __name__ == "__main__":
    main()
