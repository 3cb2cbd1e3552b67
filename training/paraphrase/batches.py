"""Batches without end: pairs shuffled, corrupted, cut into pieces, and gathered by length.

The stream is a function of (pairs, seed, number of the chunk), so a resumed run reads what an unbroken one
would have read next.
"""

import random

import torch

from .marks import corrupt
from .prepare import GROUPS

CHUNK = 20_000
MAX_PIECES = 80
IGNORED = -100


def read_pairs(path):
    with open(path, encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file]


def chunks(pairs, seed, start, change):
    """(number, texts) of every chunk from number `start` on; `change` makes texts of a pair and a random source."""
    per_epoch = -(-len(pairs) // CHUNK)
    number, order, epoch = start, None, None
    while True:
        if epoch != number // per_epoch:
            epoch = number // per_epoch
            order = list(range(len(pairs)))
            random.Random(f"{seed}/{epoch}").shuffle(order)
        rng = random.Random(f"{seed}/chunk {number}")
        place = number % per_epoch * CHUNK
        yield number, [change(pairs[index], rng) for index in order[place : place + CHUNK]]
        number += 1


def oriented(pair, rng):
    source, target, group = pair
    if not GROUPS[group]["oriented"] and rng.random() < 0.5:
        source, target = target, source
    return corrupt(source, target, rng), target


def grouped(lengths, budget, most):
    """Numbers of texts, those of like length together, so many that length x number stays within the budget;
    texts longer than `most` are left out."""
    groups, group = [], []
    for i in sorted((i for i in range(len(lengths)) if lengths[i] <= most), key=lengths.__getitem__):
        if group and lengths[i] * (len(group) + 1) > budget:
            groups.append(group)
            group = []
        group.append(i)
    return groups + [group] if group else groups


def batches(pairs, tokenizer, seed, start, budget):
    """(number of the chunk, sources (B, S), targets (B, T)), padded; `budget` bounds B * max(S, T)."""
    for number, texts in chunks(pairs, seed, start, oriented):
        sources = [encoding.ids for encoding in tokenizer.encode_batch([source for source, _ in texts])]
        targets = [encoding.ids for encoding in tokenizer.encode_batch([target for _, target in texts])]
        lengths = [max(len(source), len(target)) for source, target in zip(sources, targets)]
        groups = grouped(lengths, budget, MAX_PIECES)
        random.Random(f"{seed}/order {number}").shuffle(groups)
        for group in groups:
            yield number, padded([sources[i] for i in group], 0), padded([targets[i] for i in group], IGNORED)


def padded(rows, filler):
    result = torch.full((len(rows), max(map(len, rows))), filler, dtype=torch.long)
    for row, ids in zip(result, rows):
        row[: len(ids)] = torch.tensor(ids)
    return result
