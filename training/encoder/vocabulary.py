"""Cuts the student's vocabulary from text: WordPiece, lower case, BERT's own words.

Words are cut exactly as the teacher's tokenizer cuts them, so that the two differ in pieces only and can be
compared word by word.
"""

import argparse
import random
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from paraphrase.text import spaced

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
# Latin letters beyond ASCII lose their accents on the way in; these are what is left.
BEYOND_ASCII = "\u00a3\u00a7\u00b0\u00df\u00e6\u00f8\u20ac\u2013\u2014\u2018\u2019\u201c\u201d\u2026"
ALPHABET = [chr(code) for code in range(0x21, 0x7F)] + list(BEYOND_ASCII)


def train(texts, size):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=SPECIAL,
        initial_alphabet=ALPHABET,
        limit_alphabet=len(ALPHABET),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, SPECIAL.index(token)) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def main(arguments):
    parser = argparse.ArgumentParser(prog="encoder vocabulary", description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.tsv that `paraphrase prepare` wrote")
    parser.add_argument("--out", type=Path, required=True, help="tokenizer.json to write")
    parser.add_argument("--size", type=int, default=12_000, help="pieces, special tokens included")
    parser.add_argument("--sentences", type=int, default=400_000, help="how many to learn from")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    with open(given.pairs, encoding="utf-8") as file:
        texts = [text for line in file for text in line.split("\t")[:2]]
    texts = random.Random(given.seed).sample(texts, min(given.sentences, len(texts)))
    # FrameNet and the alignment data write clitics apart (`could n't`).
    texts = [spaced(text) if number % 3 == 0 else text for number, text in enumerate(texts)]
    tokenizer = train(texts, given.size)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(given.out))
    sample = tokenizer.encode_batch(texts[:2000], add_special_tokens=False)
    pieces = sum(len(encoding.ids) for encoding in sample)
    words = sum(len(set(encoding.word_ids)) for encoding in sample)
    print(f"{tokenizer.get_vocab_size()} pieces, {pieces / words:.2f} a word")
