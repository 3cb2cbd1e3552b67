"""Trains the unigram tokenizer: cased, no normaliser, bytes as a last resort.

The trainer of `tokenizers` makes no byte pieces, so `<0x00>` to `<0xFF>` join its vocabulary as ordinary pieces with
a very low score, and byte fallback is switched on. Law: decode(encode(x)) == x for every UTF-8 text that
neither starts with a space nor holds U+2581, SentencePiece's own sign for a space (`training/test_training.py`).

`<avoid>` is a special token: it stands before a word of the source that must not come back (see marks.py).
"""

import argparse
import json
import random
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

SPECIAL = ["<pad>", "</s>", "<unk>"]
AVOID = "<avoid>"
# Far below every learned piece's, so that bytes are used only where nothing else fits.
BYTE_SCORE = -100.0


def skeleton(model):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def train(texts, size):
    learner = skeleton(models.Unigram())
    learned = size - 256 - 1
    trainer = trainers.UnigramTrainer(
        vocab_size=learned, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    learner.train_from_iterator(texts, trainer)
    vocabulary = json.loads(learner.to_str())["model"]["vocab"]
    vocabulary = [(piece, score) for piece, score in vocabulary]
    vocabulary += [(f"<0x{byte:02X}>", BYTE_SCORE) for byte in range(256)]
    tokenizer = skeleton(models.Unigram(vocabulary, SPECIAL.index("<unk>"), True))
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.add_special_tokens([AddedToken(AVOID, lstrip=True, special=True)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", SPECIAL.index("</s>"))]
    )
    return tokenizer


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase tokenizer", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="directory that `prepare` wrote")
    parser.add_argument("--size", type=int, default=16000, help="pieces, special tokens included")
    parser.add_argument("--sentences", type=int, default=400_000, help="how many to learn from")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with open(given.work / "pairs.tsv", encoding="utf-8") as file:
        texts = [text for line in file for text in line.split("\t")[:2]]
    texts = random.Random(given.seed).sample(texts, min(given.sentences, len(texts)))
    tokenizer = train(texts, given.size)
    tokenizer.save(str(given.work / "tokenizer.json"))
    pieces = tokenizer.encode_batch(texts[:2000])
    spread = sum(len(encoding.ids) - 1 for encoding in pieces) / sum(len(text.split()) for text in texts[:2000])
    print(f"{tokenizer.get_vocab_size()} pieces, {spread:.2f} a word")
