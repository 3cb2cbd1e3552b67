"""Filters the raw pairs and writes the mix that `train` reads.

The filters of Hu et al. (2019), section 4, are the start: ASCII after punctuation is normalised, token Jaccard
0.25 to 0.65. Pairs that are closer stay too when a word of each stands for another: they show best how one word is
replaced and the rest kept, and are only learned from with marks (marks.py). Beyond them: numbers and names must agree; pairs that differ in inflection and function words only,
repeated templates and openings, and sentences that stand in many pairs go; no text of the dev or test file may appear.
What each rule took is printed and written beside the pairs.

Output, in OUT: `pairs.tsv` (source, target, group), `heldout.txt` (targets that the rewriter never sees; the
language model that measures fluency is trained on them), `report.json`.
"""

import argparse
import hashlib
import json
import lzma
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

from .marks import CLOSE, avoidable, is_close
from .text import FUNCTION_WORDS, NUMBER, jaccard, normalise, same_lemma, words

# Files, and how their pairs are used. `oriented`: machine text first, human text second, and only so.
# `share`: which part of the pairs that pass is kept. Two systems' outputs weigh less than a human's words;
# lower-case science and split sentences are a pinch of variety.
GROUPS = {
    "wmt-official-ref": {"oriented": True, "share": 1.0},
    "mlqe-mt-pe": {"oriented": True, "share": 1.0},
    "tatoeba-pivot": {"oriented": False, "share": 1.0},
    "onestop-english": {"oriented": False, "share": 1.0},
    "wmt-official-sys": {"oriented": False, "share": 0.8},
    "wmt-testsuite-a": {"oriented": False, "share": 0.7},
    "wmt-testsuite-b": {"oriented": False, "share": 0.7},
    "parasci": {"oriented": False, "share": 0.3},
    "wikisplit-small": {"oriented": False, "share": 0.5},
    "bible-modern": {"oriented": False, "share": 1.0},
}
BIBLE_SHARE = 0.15
JACCARD = (0.25, CLOSE)
# Of the closer pairs of a file, at most so many as a part of the others.
CLOSE_SHARE = 1.0
WORDS = (4, 45)
LENGTH_RATIO = 1.6
# More different sentences than this that are equal but for numbers and capitalised words: a template.
TEMPLATE_REPEATS = 4
# Test suites and contracts begin alike: more different targets than this with the same first words are too many.
OPENING_WORDS = 5
OPENING_REPEATS = 30
# Of a segment that many systems translated, every two outputs are a pair; a text stands in no more pairs than this.
TEXT_REPEATS = 8
HELD_OUT_EVERY = 8


def names(text):
    """Words with a capital that do not start the text."""
    return set(re.findall(r"(?<=[a-z,;] )[A-Z][a-z]+", text))


def template(text):
    return re.sub(r"\b[A-Z][A-Za-z']*|[0-9]+", "X", text)


def opening(text):
    return " ".join(words(text)[:OPENING_WORDS])


def is_near_copy(a, b):
    """Whether every content word of each list of words has a form in the other."""
    return all(
        word in FUNCTION_WORDS or any(same_lemma(word, other) for other in others)
        for ours, others in ((a, b), (b, a))
        for word in ours
    )


def fault(source, target, length=WORDS, ratio=LENGTH_RATIO, overlap=JACCARD[0]):
    """Why a pair is of no use; None when it is. Bounds: words of a text, the longer's to the shorter's, token Jaccard."""
    if not (source.isascii() and target.isascii()):
        return "not ASCII"
    a, b = words(source), words(target)
    if not (length[0] <= len(a) <= length[1] and length[0] <= len(b) <= length[1]):
        return "length"
    if max(len(a), len(b)) > ratio * min(len(a), len(b)):
        return "length ratio"
    if jaccard(set(a), set(b)) < overlap:
        return "word overlap"
    if is_near_copy(set(a), set(b)):
        return "near copy"
    if Counter(NUMBER.findall(source)) != Counter(NUMBER.findall(target)):
        return "numbers"
    of_source, of_target = names(source), names(target)
    if of_source and of_target and jaccard(of_source, of_target) < 0.5:
        return "names"
    if len(re.findall(r"[^A-Za-z0-9 '\",.;:?!()\-$%&/]", source + target)) > 2:
        return "odd signs"
    if is_close(source, target) and not (avoidable(source, target) and avoidable(target, source)):
        return "nothing replaced"
    return None


def lines(path):
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            columns = line.rstrip("\n").split("\t")
            if len(columns) >= 2:
                yield normalise(columns[0]), normalise(columns[1])


class Repeats:
    """What was kept so far, and what would repeat it too often."""

    def __init__(self, text_repeats=TEXT_REPEATS):
        self.text_repeats = text_repeats
        self.pairs, self.texts = set(), Counter()
        self.shapes, self.openings = defaultdict(set), defaultdict(set)

    def fault(self, source, target):
        for alike, most, reason in (
            (self.shapes[template(target)], TEMPLATE_REPEATS, "template"),
            (self.openings[opening(target)], OPENING_REPEATS, "opening"),
        ):
            if target not in alike and len(alike) >= most:
                return reason
        if self.key(source, target) in self.pairs:
            return "repeated"
        if max(self.texts[source], self.texts[target]) >= self.text_repeats:
            return "text repeated"
        return None

    def add(self, source, target):
        self.shapes[template(target)].add(target)
        self.openings[opening(target)].add(target)
        self.texts.update((source, target))
        self.pairs.add(self.key(source, target))

    def key(self, source, target):
        return hashlib.blake2b("\t".join(sorted((source, target))).encode(), digest_size=8).digest()


def read_group(path, reserved, repeats, report):
    """The pairs of a file that pass, each once in either order."""
    kept = []
    for source, target in lines(path):
        report["read"] += 1
        reason = fault(source, target)
        if reason is None and (source in reserved or target in reserved):
            reason = "in dev or test"
        reason = reason or repeats.fault(source, target)
        if reason is not None:
            report[reason] += 1
            continue
        repeats.add(source, target)
        kept.append((source, target))
    report["kept"] = len(kept)
    return kept


def held_out(target):
    """Whether a target belongs to the part that no rewriter sees: decided by the text alone, so that
    equal targets fall on the same side."""
    return hashlib.blake2b(target.encode(), digest_size=2).digest()[0] % HELD_OUT_EVERY == 0


def prepare(data, out, seed):
    rng = random.Random(seed)
    reserved = {text for name in ("dev", "test") for pair in lines(data / f"{name}.tsv.xz") for text in pair}
    repeats, mix, heldout, report = Repeats(), [], [], {}
    for group, use in GROUPS.items():
        counts = Counter()
        pairs = read_group(data / f"train-{group}.tsv.xz", reserved, repeats, counts)
        rng.shuffle(pairs)
        close = [pair for pair in pairs if is_close(*pair)]
        pairs = [pair for pair in pairs if not is_close(*pair)]
        pairs = pairs[: round(len(pairs) * use["share"])]
        close = close[: round(len(pairs) * CLOSE_SHARE)]
        counts["close"] = len(close)
        pairs += close
        if group == "bible-modern":
            rng.shuffle(pairs)
            pairs = pairs[: round(len(mix) * BIBLE_SHARE / (1 - BIBLE_SHARE))]
        heldout += [target for _, target in pairs if held_out(target)]
        pairs = [pair for pair in pairs if not held_out(pair[1]) and not held_out(pair[0])]
        counts["used"] = len(pairs)
        report[group] = dict(counts)
        print(group, dict(counts), flush=True)
        mix += [(source, target, group) for source, target in pairs]
    rng.shuffle(mix)
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "pairs.tsv", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{source}\t{target}\t{group}\n" for source, target, group in mix)
    with open(out / "heldout.txt", "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{text}\n" for text in sorted(set(heldout)))
    report["pairs"], report["held out"] = len(mix), len(set(heldout))
    (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    print(f"{len(mix)} pairs, {len(set(heldout))} sentences held out")


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase prepare", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the raw pairs, *.tsv.xz")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    prepare(given.data, given.out, given.seed)
