"""Writes the words that a rewriter may write: those that stand often enough in the texts it learns from.

    python -m paraphrase words --data DIR --out models/paraphrase/words.txt
    python -m paraphrase words --data DIR --least 2 --least-of-people 1 --both-sides \\
        --with models/word-vectors/words.txt --out models/rewriter/words.txt

A word is a run of letters, counted where it is written small, so names are none of them; fnstore lets an output hold
the words of this list and those of its source. Machines invent words, so a word must also stand in text that people
wrote: the targets that are references, post-edits or translations of books, and the sources that people wrote, too.
"""

import argparse
import lzma
import re
from collections import Counter
from pathlib import Path

from .prepare import GROUPS

# Groups whose sources people wrote, too, and groups whose targets they wrote.
HUMAN_SOURCES = {"tatoeba-pivot", "onestop-english", "parasci", "wikisplit-small", "bible-modern"}
HUMAN = {"wmt-official-ref", "mlqe-mt-pe"} | HUMAN_SOURCES
SOURCE, TARGET = 0, 1
RUN = re.compile(r"[^\W_]+")
# What is always written large, and the halves of clitics.
ALWAYS = {"i", "s", "t", "re", "ve", "ll", "d", "m", "n", "o"}


def count(lines, side=TARGET):
    """How often each word stands on a side of the pairs, written small."""
    return Counter(word for line in lines for word in RUN.findall(line.split("\t")[side]) if word.islower())


def known(counts, of_people, least=4, least_of_people=2):
    """The words of the list, ascending."""
    often = {word for word, number in counts.items() if number >= least and of_people[word] >= least_of_people}
    return sorted(word for word in often | ALWAYS if word.isalpha())


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase words", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of train-*.tsv.xz")
    parser.add_argument("--least", type=int, default=4, help="a word stands so often (4)")
    parser.add_argument("--least-of-people", type=int, default=2, help="and so often in what people wrote (2)")
    parser.add_argument("--both-sides", action="store_true", help="count sources, too")
    parser.add_argument("--with", dest="others", type=Path, help="a list of words that are known, too")
    parser.add_argument("--out", type=Path, required=True, help="the list to write, a word a line")
    given = parser.parse_args(arguments)
    counts, of_people = Counter(), Counter()
    for group in GROUPS:
        for side, human in [(SOURCE, HUMAN_SOURCES), (TARGET, HUMAN)][0 if given.both_sides else 1 :]:
            with lzma.open(given.data / f"train-{group}.tsv.xz", "rt", encoding="utf-8") as lines:
                found = count(lines, side)
            counts.update(found)
            if group in human:
                of_people.update(found)
    words = set(known(counts, of_people, given.least, given.least_of_people))
    if given.others:
        words |= {word for word in given.others.read_text(encoding="utf-8").split() if word.isalpha()}
    given.out.write_text("\n".join(sorted(words)) + "\n", encoding="utf-8")
    print(f"{len(words)} words of {len(counts)}")
