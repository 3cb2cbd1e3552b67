"""Reads a store, and writes what training reads: words, parts of speech, targets, and the encoder's frozen states.

    python -m frame_identification prepare --fnstore fnstore --store STORE --models ../models --out WORK --generated ''

WORK gets `sentences.jsonl`, `states.safetensors` (a row a word, in their order: the states of the word's first piece in
every layer, embeddings first) and `lexicon.json`. Words and tags are those of `fnstore tag`.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from encoder.export import opened
from memory import keep_memory
from program import Program

from . import data
from .spans import covered, places

BATCH = 32


def tagged(program, models, sentences):
    """Words and tags of each sentence; None for one that is too long for the encoder."""
    lines = "".join(json.dumps({"id": at, "text": sentence.text}) + "\n" for at, sentence in enumerate(sentences))
    rows = program.run("tag", "--models", models, "--threads", 1, text=lines, store=False, accepted=(0, 65))
    return [None if "error" in row else (row["words"], row["tags"]) for row in rows]


def records(part, sentences, tags):
    """What is written of the sentences that have tags. A target whose words are too many has none."""
    for sentence, words in zip(sentences, tags):
        if words is None:
            continue
        stand = places(sentence.text, words[0])
        targets = [
            {"words": covered(stand, to.start, to.end), "frame": to.frame, "lu": to.lexunit, "set": to.set, "seed": to.seed}
            for to in sentence.targets
        ]
        yield {"part": part, "id": sentence.id, "whole": sentence.whole, "words": words[0], "tags": words[1], "targets": targets}


@torch.inference_mode()
def states(encoder, tokenizer, sentences):
    """The states of the first piece of each word in every layer, (words, layers, width) for each sentence, in f16. A word
    without a piece has zeros."""
    cut = [tokenizer.encode(words, is_pretokenized=True) for words in sentences]
    found = [None] * len(sentences)
    order = sorted(range(len(cut)), key=lambda at: len(cut[at].ids))
    for begin in range(0, len(order), BATCH):
        group = order[begin : begin + BATCH]
        ids = torch.zeros(len(group), len(cut[group[-1]].ids), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, at in enumerate(group):
            ids[row, : len(cut[at].ids)], mask[row, : len(cut[at].ids)] = torch.tensor(cut[at].ids), 1
        layers = encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
        hidden = torch.stack(layers, 2).half()
        for row, at in enumerate(group):
            found[at] = hidden.new_zeros(len(sentences[at]), *hidden.shape[2:])
            # Backwards, so that a word's first piece is written last.
            for piece, word in reversed(list(enumerate(cut[at].word_ids))):
                if word is not None:
                    found[at][word] = hidden[row, piece]
    return found


def main(arguments):
    parser = argparse.ArgumentParser(prog="frame_identification prepare", description=__doc__.split("\n")[0])
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True, help="directory with aligner-encoder and tagger")
    parser.add_argument("--out", type=Path, required=True, metavar="WORK")
    parser.add_argument("--within", default="", metavar="QUERY", help="training documents; all by default")
    parser.add_argument("--generated", metavar="QUERY", help="generated sets that may be added, '' for all; none by default")
    parser.add_argument("--exemplars", metavar="QUERY", help="exemplars to learn from, '' for all; none by default")
    given = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(1)
    program = Program(given.fnstore, given.store)
    given.out.mkdir(parents=True, exist_ok=True)
    rows, left_out = [], Counter()
    for part, sentences in data.parts(program, given.within and f"({given.within})", given.generated, given.exemplars).items():
        if not sentences:
            parser.error(f"no annotation set of the part `{part}` has a target: check --within, --generated, --exemplars")
        tags = tagged(program, given.models, sentences)
        rows += records(part, sentences, tags)
        left_out[part] = tags.count(None)
    encoder = opened(given.models / "aligner-encoder").cpu().eval()
    tokenizer = Tokenizer.from_file(str(given.models / "aligner-encoder" / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    encoded = torch.cat(states(encoder, tokenizer, [row["words"] for row in rows]))
    save_file({"states": encoded}, given.out / "states.safetensors")
    (given.out / "lexicon.json").write_text(json.dumps(data.lexicon(program)), encoding="utf-8")
    with open(given.out / "sentences.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    for part, sentences in Counter(row["part"] for row in rows).items():
        targets = sum(len(row["targets"]) for row in rows if row["part"] == part)
        print(json.dumps({"part": part, "sentences": sentences, "targets": targets, "too_long": left_out[part]}))
