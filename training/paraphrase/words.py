"""Writes the words that a rewriter may write: those that stand often enough in the texts it learns from.

    python -m paraphrase words --data DIR --out models/paraphrase/words.txt

A word is a run of letters, counted where it is written small, so names are none of them; fnstore lets an output hold
the words of this list and those of its source. Machines invent words, so a word must also stand in text that people
wrote: the targets that are references, post-edits or translations of books.
"""

import argparse
import lzma
import re
from collections import Counter
from pathlib import Path

from .prepare import GROUPS

# Groups whose targets people wrote.
HUMAN = {"wmt-official-ref", "mlqe-mt-pe", "tatoeba-pivot", "onestop-english", "parasci", "wikisplit-small", "bible-modern"}
LEAST = 4
LEAST_HUMAN = 2
RUN = re.compile(r"[^\W_]+")
# What is always written large, and the halves of clitics.
ALWAYS = {"i", "s", "t", "re", "ve", "ll", "d", "m", "n", "o"}


def count(lines):
    """How often each word stands in the targets, written small."""
    return Counter(word for line in lines for word in RUN.findall(line.split("\t")[1]) if word.islower())


def known(counts, of_people):
    """The words of the list, ascending."""
    often = {word for word, number in counts.items() if number >= LEAST and of_people[word] >= LEAST_HUMAN}
    return sorted(word for word in often | ALWAYS if word.isalpha())


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase words", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of train-*.tsv.xz")
    parser.add_argument("--out", type=Path, required=True, help="the list to write, a word a line")
    given = parser.parse_args(arguments)
    counts, of_people = Counter(), Counter()
    for group in GROUPS:
        with lzma.open(given.data / f"train-{group}.tsv.xz", "rt", encoding="utf-8") as lines:
            found = count(lines)
        counts.update(found)
        if group in HUMAN:
            of_people.update(found)
    words = known(counts, of_people)
    given.out.write_text("\n".join(words) + "\n", encoding="utf-8")
    print(f"{len(words)} words of {len(counts)}")
