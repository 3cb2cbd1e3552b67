"""WordNet 3.0 and the forms of words: what may stand for a word, and what is near it.

Read are Princeton's files `data.*`, `index.*` and `cntlist.rev`, as Debian's package `wordnet-base` has them in
/usr/share/wordnet.
"""

import lzma
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from .lexicon import IRREGULAR

HERE = "/usr/share/wordnet"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
# Parts of speech of WordNet that a tag of the Penn Treebank has.
OF_TAG = {
    "NN": "n", "NNS": "n", "VB": "v", "VBP": "v", "VBZ": "v", "VBD": "v", "VBN": "v", "VBG": "v", "JJ": "a", "RB": "r",
}  # fmt: skip
# What UniMorph calls the form of a verb's tag.
FEATURES = {"VBZ": "V;3;SG;PRS", "VBD": "V;PST", "VBN": "V;V.PTCP;PST", "VBG": "V;V.PTCP;PRS"}
# Plurals and their nouns; the others of these are degrees of adjectives.
PLURALS = {noun: plural for plural, noun in IRREGULAR.items() if noun not in ("good", "bad")}
ENDINGS = (("ies", "y"), ("ses", "s"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("s", ""))
# How much a word of a sense counts, and a word of a synset that a pointer leads to; senses further down count half each.
OWN, ALIKE, SENSES = 3.0, {"@": 1.0, "~": 0.7, "&": 1.5, "^": 0.5, "*": 0.4}, 4
# Of a word's uses in the counted texts, so many have its first sense if that one goes without saying.
DOMINANT = 0.6


@dataclass(frozen=True)
class Synset:
    """Words that have a sense in common; (sign, offset, part of speech) of the synsets that it points to; its definition;
    and the number of its lexicographer's file, which is a broad class such as `noun.person`."""

    words: tuple
    pointers: tuple
    definition: str
    file: int


def is_plain(word):
    """Whether it is one word of letters, of three or more."""
    return word.isascii() and word.isalpha() and len(word) > 2


def article(tokens, at):
    """Has the article before a place agree with the word that stands there now."""
    if at and tokens[at - 1].lower() in ("a", "an"):
        right = "an" if tokens[at][0].lower() in "aeiou" else "a"
        tokens[at - 1] = right if tokens[at - 1].islower() else right.capitalize()


class WordNet:
    def __init__(self, directory=HERE):
        directory = Path(directory)
        for name in ["cntlist.rev", *(f"{kind}.{part}" for kind in ("data", "index") for part in FILES.values())]:
            if not (directory / name).exists():
                raise SystemExit(f"no {name} in {directory}: WordNet 3.0's files are those of Debian's package wordnet-base")
        self.senses, self.synsets, self.uses = {}, {}, defaultdict(dict)
        for pos, name in FILES.items():
            self.read_data(directory / f"data.{name}", pos)
            self.read_index(directory / f"index.{name}", pos)
        self.read_counts(directory / "cntlist.rev")

    def read_data(self, path, pos):
        for line in lines_of(path):
            fields, _, gloss = line.partition(" | ")
            fields = fields.split()
            count = int(fields[3], 16)
            words = tuple(fields[4 + 2 * place].split("(")[0].lower() for place in range(count))
            at, pointers = 4 + 2 * count, []
            for place in range(int(fields[at])):
                sign, offset, to, _ = fields[at + 1 + 4 * place : at + 5 + 4 * place]
                pointers.append((sign, int(offset), "a" if to == "s" else to))
            definition = gloss.split(";")[0].strip()
            self.synsets[pos, int(fields[0])] = Synset(words, tuple(pointers), definition, int(fields[1]))

    def read_index(self, path, pos):
        for line in lines_of(path):
            fields = line.split()
            self.senses[fields[0], pos] = [int(offset) for offset in fields[len(fields) - int(fields[2]) :]]

    def read_counts(self, path):
        for line in lines_of(path):
            key, sense, count = line.split()
            lemma, _, rest = key.rpartition("%")
            self.uses[lemma, "nvara"[int(rest[0]) - 1]][int(sense) - 1] = int(count)

    def synsets_of(self, lemma, pos):
        """The synsets of a word, the sense that is used most first."""
        return [self.synsets[pos, offset] for offset in self.senses.get((lemma, pos), ())]

    def count(self, lemma, pos):
        """How often a word stands in the counted texts."""
        return sum(self.uses.get((lemma, pos), {}).values())

    def first_sense(self, lemma, pos):
        """The synset that a word has nearly always; None if there is none."""
        found, uses = self.synsets_of(lemma, pos), self.uses.get((lemma, pos), {})
        whole = sum(uses.values())
        goes_without_saying = len(found) == 1 or (whole > 0 and uses.get(0, 0) / whole >= DOMINANT)
        return found[0] if found and goes_without_saying else None

    def linked(self, synset, pos, signs):
        """The synsets of a part of speech that pointers of these signs lead to."""
        return [self.synsets[to, at] for sign, at, to in synset.pointers if sign in signs and to == pos]

    def alike(self, lemma, pos):
        """The words that may stand for a word, and how much speaks for each."""
        found = defaultdict(float)
        for rank, synset in enumerate(self.synsets_of(lemma, pos)[:SENSES]):
            share = 0.5**rank
            for word in synset.words:
                found[word] += OWN * share
            for sign, weight in ALIKE.items():
                for other in self.linked(synset, pos, sign):
                    for word in other.words:
                        found[word] += weight * share
        found.pop(lemma, None)
        return {word: weight for word, weight in found.items() if is_plain(word)}


def lines_of(path):
    """The lines of one of WordNet's files without its licence, which is indented."""
    with open(path, encoding="latin1") as file:
        for line in file:
            if not line.startswith("  "):
                yield line.rstrip("\n")


class Forms:
    """A word's lemma by its tag, and a lemma's form for a tag."""

    def __init__(self, table, wordnet):
        self.wordnet, self.of, self.lemmas = wordnet, defaultdict(dict), defaultdict(set)
        with lzma.open(table, "rt", encoding="utf-8") as lines:
            for line in lines:
                lemma, form, features = [*line.rstrip("\n").split("\t"), "", ""][:3]
                if lemma and features:
                    self.of[lemma].setdefault(features, form)
                    self.lemmas[form].add(lemma)

    def lemma(self, word, tag):
        """The lemma that WordNet has for a word; None when there is none."""
        pos = OF_TAG.get(tag)
        candidates = [word]
        if pos == "v":
            candidates = sorted(self.lemmas.get(word, ())) or [word]
        elif tag == "NNS":
            candidates = [IRREGULAR.get(word, "")]
            candidates += [word.removesuffix(ending) + instead for ending, instead in ENDINGS if word.endswith(ending)]
        known = [lemma for lemma in candidates if (lemma, pos) in self.wordnet.senses]
        if pos == "v":
            known.sort(key=lambda lemma: -self.wordnet.count(lemma, pos))
        return known[0] if known else None

    def form(self, lemma, tag):
        """The form of a lemma that a tag asks for; None when it is not known."""
        if tag in FEATURES:
            return self.of.get(lemma, {}).get(FEATURES[tag])
        if tag == "NNS":
            if lemma in PLURALS:
                return PLURALS[lemma]
            if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
                return lemma[:-1] + "ies"
            return lemma + ("es" if lemma.endswith(("s", "x", "z", "ch", "sh")) else "s")
        return lemma
