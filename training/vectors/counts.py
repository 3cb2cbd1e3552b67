"""Vectors of words from the words around them."""

import array
import glob
import lzma
import re

import numpy
from scipy import sparse

WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|[.,;:?!]")
WINDOW = 5
DIMENSIONS = 300
# Context words are drawn towards the rare ones, which would else be overrated (Levy et al. 2015, section 3.2).
SMOOTHING = 0.75
# Beyond the dimensions that are kept; makes the random projection exact enough in three steps.
SPARE, STEPS = 20, 3
CHUNK = 5_000_000
# In the running text: what no word has.
END = -1


def read_words(directory):
    """All different sentences of the pairs as numbers of words, -1 after each, and the words, in order of first use."""
    numbers, seen, text = {}, set(), array.array("i")
    for path in sorted(glob.glob(f"{directory}/train-*.tsv.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                for sentence in line.rstrip("\n").split("\t")[:2]:
                    if sentence not in seen:
                        seen.add(sentence)
                        text.extend(numbers.setdefault(word, len(numbers)) for word in WORD.findall(sentence.lower()))
                        text.append(END)
    return numpy.frombuffer(text, dtype=numpy.int32), list(numbers)


def similar_contexts(text, words, least):
    """The words that occur `least` times, the most frequent first, and their vectors (V, DIMENSIONS)."""
    counts = numpy.bincount(text[text != END], minlength=len(words))
    kept = numpy.flatnonzero(counts >= least)
    kept = kept[numpy.argsort(-counts[kept], kind="stable")]
    rare, end = len(kept), len(kept) + 1
    renumbered = numpy.full(len(words) + 1, rare)
    renumbered[kept] = numpy.arange(len(kept))
    renumbered[END] = end
    near = neighbours(renumbered[text], len(kept))
    return [words[number] for number in kept], factors(mutual_information(near))


def neighbours(text, size):
    """How often two words stand within WINDOW words of each other in one sentence, the nearer the heavier (V, V)."""
    sentence = numpy.cumsum(text == size + 1)
    total = sparse.csr_matrix((size, size), dtype=numpy.float32)
    for distance in range(1, WINDOW + 1):
        left, right = text[:-distance], text[distance:]
        together = (left < size) & (right < size) & (sentence[:-distance] == sentence[distance:])
        left, right = left[together], right[together]
        weight = (WINDOW + 1 - distance) / WINDOW
        for at in range(0, len(left), CHUNK):
            places = left[at : at + CHUNK], right[at : at + CHUNK]
            weights = numpy.full(len(places[0]), weight, dtype=numpy.float32)
            total = total + sparse.coo_matrix((weights, places), shape=(size, size)).tocsr()
    return (total + total.T).tocoo()


def mutual_information(near):
    words = numpy.asarray(near.sum(1)).ravel()
    contexts = words**SMOOTHING
    contexts /= contexts.sum()
    values = numpy.log(near.data / (words[near.row] * contexts[near.col]))
    kept = values > 0
    values, rows, columns = values[kept].astype(numpy.float32), near.row[kept], near.col[kept]
    return sparse.coo_matrix((values, (rows, columns)), shape=near.shape).tocsr()


def factors(matrix):
    """The left singular vectors times the roots of their values (Halko, Martinsson and Tropp 2011, algorithm 4.4)."""
    rng = numpy.random.default_rng(1)
    basis = rng.standard_normal((matrix.shape[0], DIMENSIONS + SPARE)).astype(numpy.float32)
    for _ in range(STEPS):
        basis, _ = numpy.linalg.qr(matrix @ basis)
        basis, _ = numpy.linalg.qr(matrix.T @ basis)
    left, values, _ = numpy.linalg.svd(matrix @ basis, full_matrices=False)
    return left[:, :DIMENSIONS] * numpy.sqrt(values[:DIMENSIONS])
