"""What `prepare` wrote, as tensors; batches of it.

Frames are numbered by name, and NULL is the number after the last.
"""

import json
from dataclasses import dataclass

import torch
from safetensors import safe_open

from vectors.table import read_table

from .spans import MAX_WORDS, all_spans, labelled

CHARACTERS = 16  # of a word that are read, from its start
ALPHABET = 128  # 0 is no character, 1 one that is not ASCII


@dataclass
class Batch:
    """B sentences of at most L words, S starts, N spans."""

    lengths: torch.Tensor  # (B)
    states: torch.Tensor  # (B, L, D)
    vectors: torch.Tensor  # (B, L), rows of the table
    tags: torch.Tensor  # (B, L)
    spellings: torch.Tensor  # (W, CHARACTERS) of the W different words
    words: torch.Tensor  # (B, L), rows of `spellings`
    starts: torch.Tensor  # (S), word of a span's start in the flattened B x L
    spans: torch.Tensor  # (N), place of a span in the flattened S x MAX_WORDS, by its length
    labels: torch.Tensor  # (N)


def spelling(word):
    codes = [ord(letter) if 1 < ord(letter) < ALPHABET else 1 for letter in word[:CHARACTERS]]
    return codes + [0] * (CHARACTERS - len(codes))


def standard(rows):
    """Rows whose numbers have mean 0 and deviation 1."""
    return (rows - rows.mean(0)) / rows.std(0)


def padded(rows):
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


class Corpus:
    def __init__(self, work, vectors, layers):
        with open(work / "sentences.jsonl", encoding="utf-8") as lines:
            self.sentences = [json.loads(line) for line in lines]
        self.lexicon = json.loads((work / "lexicon.json").read_text(encoding="utf-8"))
        # What is only measured names no output: its frames cannot be known before.
        learned = {to["frame"] for row in self.sentences if row["part"] not in ("dev", "test") for to in row["targets"]}
        self.frames = sorted(learned.union(*self.lexicon.values()))
        self.number = {frame: at for at, frame in enumerate(self.frames)}
        self.null = len(self.frames)
        self.tags = {tag: at + 1 for at, tag in enumerate(sorted({tag for row in self.sentences for tag in row["tags"]}))}
        known, table = read_table(vectors)
        # Row 0 is of words that are not in the table.
        self.table = torch.cat([torch.zeros(1, table.shape[1]), standard(torch.tensor(table, dtype=torch.float32))])
        row = {word: at + 1 for at, word in enumerate(known)}
        self.rows = [torch.tensor([row.get(word.lower(), 0) for word in of["words"]]) for of in self.sentences]
        with safe_open(work / "states.safetensors", "pt") as file:
            states = file.get_tensor("states")
        states = standard(states[:, layers].flatten(1).float()).half()
        self.states = states.split([len(of["words"]) for of in self.sentences])

    def part(self, *names):
        """Places of the sentences of some parts."""
        return [at for at, of in enumerate(self.sentences) if of["part"] in names]

    def learned(self, at):
        """The spans of a sentence that are learned from, with their labels."""
        of = self.sentences[at]
        targets = [(*to["words"][:2], self.number[to["frame"]]) for to in of["targets"] if to["words"]]
        spans = labelled(len(of["words"]), of["whole"], targets)
        return [(*span, self.null if frame is None else frame) for *span, frame in spans]

    def searched(self, at):
        """All spans of a sentence, unlabelled."""
        return [(*span, self.null) for span in all_spans(len(self.sentences[at]["words"]))]

    def batch(self, places, spans):
        """A batch of sentences and their spans (first, length, label)."""
        longest = max(len(self.sentences[at]["words"]) for at in places)
        types, words = {}, []
        for at in places:
            words.append(torch.tensor([types.setdefault(word, len(types)) for word in self.sentences[at]["words"]]))
        starts, within, labels = {}, [], []
        for row, of in enumerate(spans):
            for first, length, label in of:
                start = starts.setdefault(row * longest + first, len(starts))
                within.append(start * MAX_WORDS + length - 1)
                labels.append(label)
        return Batch(
            lengths=torch.tensor([len(of) for of in words]),
            states=padded([self.states[at] for at in places]).float(),
            vectors=padded([self.rows[at] for at in places]),
            tags=padded([torch.tensor([self.tags[tag] for tag in self.sentences[at]["tags"]]) for at in places]),
            spellings=torch.tensor([spelling(word) for word in types]),
            words=padded(words),
            starts=torch.tensor(list(starts)),
            spans=torch.tensor(within),
            labels=torch.tensor(labels),
        )
