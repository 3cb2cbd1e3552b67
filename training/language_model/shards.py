"""Tokenised examples in files, and the order in which they are learned from.

A shard is a safetensors file: `tokens` (U16) of all examples, one after the other; `starts` (I32), where each begins, and
the end of the last; `prompts` (I16), how many of its tokens are the prompt. What follows a prompt is learned.

Shards are read one after the other in the order of their names, each shuffled; those that were added meanwhile are found
when a run gets there. `draw-0.block-003.evokes.safetensors` is a part of `draw-0.block-003.safetensors`, which is read with
its other parts as one. What was read is known from the names of the shards and a number of batches, so a resumed run reads
what an uninterrupted one would have read.
"""

import random
from pathlib import Path

import numpy
import torch
from safetensors.numpy import load_file, save_file

IGNORED = -100
# Lengths are rounded up to a multiple of this: each new shape costs a CPU seconds.
STEP = 16
LONGEST = 176


def write(path, examples, longest=LONGEST):
    """Writes examples, (prompt's tokens, answer's tokens); those that are too long are left out. Gives their number."""
    examples = [(prompt, answer) for prompt, answer in examples if len(prompt) + len(answer) <= longest]
    lengths = [len(prompt) + len(answer) for prompt, answer in examples]
    tensors = {
        "tokens": numpy.array([token for prompt, answer in examples for token in prompt + answer], dtype=numpy.uint16),
        "starts": numpy.cumsum([0, *lengths], dtype=numpy.int32),
        "prompts": numpy.array([len(prompt) for prompt, _ in examples], dtype=numpy.int16),
    }
    partial = Path(f"{path}.tmp")
    save_file(tensors, partial)
    partial.rename(path)
    return len(examples)


def deal(work, part, examples, blocks, longest=LONGEST):
    """Writes examples as a part of so many blocks, in their order and over those that were there. Gives their number."""
    for path in (work / "shards").glob(f"draw-0.block-*.{part}.safetensors"):
        path.unlink()
    size, count = -(-len(examples) // blocks), 0
    for block in range(blocks):
        path = work / "shards" / f"draw-0.block-{block:03}.{part}.safetensors"
        count += write(path, examples[block * size :][:size], longest)
    return count


class Shard:
    def __init__(self, *paths):
        """The examples of one file after those of the other."""
        files = [load_file(path) for path in paths]
        self.tokens = numpy.concatenate([file["tokens"] for file in files])
        self.prompts = numpy.concatenate([file["prompts"] for file in files])
        lengths = numpy.concatenate([numpy.diff(file["starts"]) for file in files])
        self.starts = numpy.concatenate([[0], numpy.cumsum(lengths)])

    def __len__(self):
        return len(self.prompts)

    def length(self, place):
        return int(self.starts[place + 1] - self.starts[place])

    def groups(self, budget):
        """Places of examples of like length, of which each group has at most `budget` tokens, padding among them; all but
        the last have as many as fit."""
        order, groups = sorted(range(len(self)), key=self.length, reverse=True), []
        while order:
            count = max(1, budget // padded(self.length(order[0])))
            groups.append(order[:count])
            order = order[count:]
        return groups

    def batch(self, places):
        """(tokens, labels), both (B, N). Labels are the tokens that are learned, at their own places; the others are ignored."""
        places = numpy.asarray(places)
        starts, lengths = self.starts[places, None], (self.starts[places + 1] - self.starts[places])[:, None]
        columns = numpy.arange(padded(lengths.max()))[None]
        inside = columns < lengths
        ids = self.tokens[numpy.minimum(starts + columns, len(self.tokens) - 1)].astype(numpy.int64)
        tokens = numpy.where(inside, ids, 0)
        labels = numpy.where(inside & (columns >= self.prompts[places, None]), ids, IGNORED)
        return torch.from_numpy(tokens), torch.from_numpy(labels)


def padded(length):
    return -(-length // STEP) * STEP


def block_of(name):
    """The block that a file is a part of."""
    return ".".join([*name.split(".")[:2], "safetensors"])


class Order:
    """Batches without end. `state` says how far they were read."""

    def __init__(self, directory, seed, budget, state=None):
        self.directory, self.seed, self.budget = directory, seed, budget
        self.state = {"passes": 0, "read": [], "shard": None, "batch": 0, "budget": None} | (state or {})
        # Batches of another size are other batches: their shard is begun anew.
        if self.state["budget"] != budget:
            self.state |= {"batch": 0, "budget": budget}

    def next_shard(self):
        names = sorted({block_of(path.name) for path in self.directory.glob("draw-*.safetensors")})
        if not names:
            raise FileNotFoundError(f"no draw-*.safetensors in {self.directory}: run `prepare` first")
        if not set(names) - set(self.state["read"]):
            self.state["passes"] += 1
            self.state["read"] = []
        return next(name for name in names if name not in self.state["read"])

    def batches(self):
        while True:
            if self.state["shard"] is None:
                self.state |= {"shard": self.next_shard(), "batch": 0}
            block = self.state["shard"].removesuffix("safetensors")
            shard = Shard(*sorted(self.directory.glob(f"{block}*safetensors")))
            groups = shard.groups(self.budget)
            random.Random(f"{self.seed}/{self.state['passes']}/{self.state['shard']}").shuffle(groups)
            for group in groups[self.state["batch"] :]:
                self.state["batch"] += 1
                yield shard.batch(group)
            self.state["read"].append(self.state["shard"])
            self.state["shard"] = None
