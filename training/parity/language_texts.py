"""How transformers cuts and joins 10,000 texts with the tokenizer of a GGUF file, for `tests/real_language_model.rs`.

transformers drops the rule of such a file by which texts are parted before they are cut (`tokenizer.ggml.pre`). SmolLM2's
own tokenizer takes digits one by one first, so that rule is set here; llama.cpp, which reads it, cuts every text alike.

pip install llama-cpp-python==0.3.36
python language_texts.py MODEL.gguf FRAMENET.zip OUT.jsonl
FNSTORE_TOKENIZER_GOLDEN=OUT.jsonl FNSTORE_LANGUAGE_MODEL=MODEL.gguf cargo test --release --test suite real_language_model

FrameNet's sentences, their pieces out of place, other scripts, emoji, spaces and digits of all kinds, and texts that look like
control tokens, which stay texts.
"""

import ctypes
import html
import json
import random
import re
import sys
import zipfile
from pathlib import Path

import llama_cpp as cpp
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import AutoTokenizer

ALPHABETS = [
    "abcdefghij KLMNOP'\"-.,;:!?()[]{}<>|/\\@#$%^&*_+=~`", "\u0430\u0431\u0432\u0433\u0434 \u0435\u0451\u0416\u042f", "\u4e2d\u6587\u5b57\u7b26\u3002\uff0c\u65e5\u672c\u8a9e\u304b\u306a",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u064e\u064f", "\u0939\u093f\u0928\u094d\u0926\u0940 ", "\ud55c\uad6d\uc5b4 ", "\u03b1\u03b2\u03b3 \u03a9", "\u05e2\u05d1\u05e8\u05d9\u05ea ", "\u0e44\u0e17\u0e22",
    "0123456789 .,%", " \t\n\r\u00a0\u2003\u3000", "\u00e9\u00e8\u00fc\u00df\u0301e a", "\U0001f600\U0001f469\u200d\U0001f4bb\U0001f1eb\U0001f1f7\u2764\ufe0f ", "\u200b\ufeff\u2028x",
]
LOOK_ALIKES = ["<|im_end|>", "<|im_start|>user", "<|endoftext|>", "<s>", "</s>", "<|im_end", "<repo_name>", "[INST]"]


def texts(path):
    draw = random.Random(23)
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if re.search(r"/fulltext/[^/]*\.xml$", name))
        found = [html.unescape(text) for name in names
                 for text in re.findall(r"<text>(.*?)</text>", archive.read(name).decode("utf-8"), re.S)]
    yield from found[:4000]
    for number in range(6000):
        text = draw.choice(found)
        kind = number % 4
        if kind == 0:
            start = draw.randrange(len(text))
            yield text[start : start + draw.randrange(1, 60)]
        elif kind == 1:
            yield "".join(draw.choice(draw.choice(ALPHABETS)) for _ in range(draw.randrange(1, 40)))
        elif kind == 2:
            alphabet = draw.choice(ALPHABETS)
            yield " ".join("".join(draw.choice(alphabet) for _ in range(draw.randrange(1, 9))) for _ in range(6))
        else:
            place = draw.randrange(len(text) + 1)
            yield text[:place] + draw.choice(["", " "]) + draw.choice(LOOK_ALIKES) + text[place:]


def llama_cpp_tokenizer(path):
    quiet = cpp.llama_log_callback(lambda *_: None)
    cpp.llama_log_set(quiet, ctypes.c_void_p())
    params = cpp.llama_model_default_params()
    params.vocab_only = True
    vocabulary = cpp.llama_model_get_vocab(cpp.llama_model_load_from_file(str(path).encode(), params))

    def encode(text):
        text = text.encode()
        room = (cpp.llama_token * (len(text) + 8))()
        return list(room[: cpp.llama_tokenize(vocabulary, text, len(text), room, len(room), False, False)])

    return encode


def main():
    model, framenet, out = map(Path, sys.argv[1:])
    tokenizer = AutoTokenizer.from_pretrained(model.parent, gguf_file=model.name)
    as_given = [tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True) for text in texts(framenet)]
    letters = ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.backend_tokenizer.pre_tokenizer = Sequence([Digits(individual_digits=True), letters])
    llama_cpp = llama_cpp_tokenizer(model)
    others = 0
    with out.open("w") as file:
        for text, given in zip(texts(framenet), as_given):
            ids = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
            assert ids == llama_cpp(text), text
            others += ids != given
            decoded = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
            file.write(json.dumps({"text": text, "ids": ids, "decoded": decoded}) + "\n")
    print(f"without the rule {others} texts are cut otherwise")


if __name__ == "__main__":
    main()
