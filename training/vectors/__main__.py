"""Makes the word vectors by which an expansion knows words that may evoke a frame.

    fnstore lus --format jsonl > lus.jsonl
    python -m vectors --data ../../shared/data/paraphrase --lexicon lus.jsonl --teacher TEACHER \\
        --out ../models/word-vectors

What is learned from: (1) how often words stand near each other in our text, as positive pointwise mutual
information in 300 dimensions (Levy, Goldberg and Dagan 2015, section 2); (2) what a teacher, a sentence encoder, makes
of each word by itself. Both are joined, reduced to the directions in which they vary most, and rounded to 8 bits. Words
are those of our text that occur often enough, and the lemmas of the lexicon.

Ends with the figures of `python -m vectors --measure`: how well the vectors find the frames of LUs.
"""

import argparse
import json
import time
from pathlib import Path

import numpy

from .counts import read_words, similar_contexts
from .measure import lexicon, measure
from .table import reduce, read_table, unit, write_table
from .teacher import states

# Words that occur less often have no contexts to speak of.
LEAST = 8
# How much contexts weigh beside the teacher; see models/word-vectors/MODEL_CARD.md.
CONTEXTS = 0.7
DIMENSIONS = 128


def main():
    parser = argparse.ArgumentParser(prog="vectors", description=__doc__.split("\n")[0])
    parser.add_argument("--lexicon", type=Path, required=True, help="LUs as `fnstore lus --format jsonl` lists them")
    parser.add_argument("--data", type=Path, help="directory of train-*.tsv.xz")
    parser.add_argument("--teacher", type=Path, help="all-MiniLM-L6-v2 (`make minilm`)")
    parser.add_argument("--out", type=Path, required=True, help="model directory; with --measure one that is there")
    parser.add_argument("--measure", action="store_true", help="make nothing")
    given = parser.parse_args()
    frames = lexicon(given.lexicon)
    if not given.measure:
        if not (given.data and given.teacher):
            parser.error("--data and --teacher are needed to make vectors")
        make(given, frames)
    words, table = read_table(given.out)
    print(json.dumps(measure(frames, words, table), indent=1))


def make(given, frames):
    began = time.time()
    words, contexts = similar_contexts(*read_words(given.data), LEAST)
    say(began, f"{len(words)} words in {contexts.shape[1]} dimensions of contexts")
    words += sorted(set().union(*frames.values()) - set(words))
    taught = unit(centred(states(words, given.teacher)))
    say(began, f"{len(words)} words by the teacher")
    joined = numpy.zeros((len(words), taught.shape[1] + contexts.shape[1]), dtype=numpy.float32)
    joined[:, : taught.shape[1]] = taught
    joined[: len(contexts), taught.shape[1] :] = CONTEXTS * unit(centred(contexts))
    write_table(given.out, words, reduce(unit(joined), DIMENSIONS))
    say(began, f"wrote {given.out}")


def centred(table):
    return table - table.mean(0)


def say(began, text):
    print(f"{time.time() - began:6.0f} s  {text}", flush=True)


if __name__ == "__main__":
    main()
