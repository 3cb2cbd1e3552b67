"""How well vectors find the frames of lexical units.

Each LU is taken out of its frame and every frame is asked how near its LUs are: by the mean cosine of the three
nearest, as fnstore asks (Pennacchiotti, De Cao, Basili, Croce and Roth 2008, Automatic Induction of FrameNet Lexical
Units, section 4). The rank of the LU's own frame is what counts.
"""

import json
import re
from collections import defaultdict

import numpy

from .table import unit

NEAREST = 3
# Frames with fewer lemmas say little once one is taken out.
LEAST = 4


def lemma(name):
    """The lemma of an LU as running text in small letters, without remarks."""
    plain = name.rpartition(".")[0].replace("_", " ").lower()
    return " ".join(re.sub(r"\[.*?\]|\(.*?\)", " ", plain).split())


def lexicon(path):
    """The lemmas of each frame."""
    frames = defaultdict(set)
    with open(path, encoding="utf-8") as file:
        for record in map(json.loads, file):
            if lemma(record["name"]):
                frames[record["frame"]].add(lemma(record["name"]))
    return frames


def vector_of(phrase, rows, table):
    """A phrase's vector, or the mean of those of its words; None where none is known."""
    parts = [phrase] if phrase in rows else [part for part in re.split("[ -]", phrase) if any(map(str.isalpha, part))]
    known = [rows[part] for part in parts if part in rows]
    return unit(table[known].mean(0, keepdims=True))[0] if known else None


def measure(frames, words, table):
    rows = {word: row for row, word in enumerate(words)}
    frames = {name: lemmas for name, lemmas in frames.items() if len(lemmas) >= LEAST}
    lemmas = sorted(set().union(*frames.values()))
    vectors = {one: vector_of(one, rows, table) for one in lemmas}
    known = [one for one in lemmas if vectors[one] is not None]
    place = {one: at for at, one in enumerate(known)}
    cosines = numpy.stack([vectors[one] for one in known])
    cosines = cosines @ cosines.T
    numpy.fill_diagonal(cosines, -numpy.inf)
    scores = numpy.full((len(known), len(frames)), -numpy.inf)
    for column, members in enumerate(frames.values()):
        near = cosines[:, [place[one] for one in members if one in place]]
        near = numpy.sort(near, axis=1)[:, : -NEAREST - 1 : -1]
        real = numpy.isfinite(near)
        scores[:, column] = numpy.where(real, near, 0).sum(1) / numpy.maximum(real.sum(1), 1)
    asked = [(place[one], column) for column, of in enumerate(frames.values()) for one in of if one in place]
    ranks = numpy.array([1 + (scores[row] > scores[row, column]).sum() for row, column in asked])
    return {
        "frames": len(frames),
        "units": len(asked),
        "without a vector": sum(len(of) for of in frames.values()) - len(asked),
        "own frame first, %": round(100 * float((ranks == 1).mean()), 1),
        "own frame among ten, %": round(100 * float((ranks <= 10).mean()), 1),
        "mean reciprocal rank": round(float((1 / ranks).mean()), 3),
    }
