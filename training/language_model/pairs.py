"""Which pairs are learned from, and which side is written.

Targets are by people; what machines wrote is read only as source (Hu et al. 2019, section 4). Where people wrote both
sides, either is the target. Two systems' translations of a segment are left out. The filters are those of
`paraphrase prepare`, with other bounds and for Latin letters of all kinds.
"""

import json
import random
import re
import unicodedata
from collections import Counter

from paraphrase.prepare import TEXT_REPEATS, Repeats, fault, lines
from paraphrase.text import jaccard, normalise, words

# Files, and whether people wrote both sides. `most`: at most this many pairs are kept, None for all.
SETS = {
    "wmt-official-ref": {"both": False, "most": 80_000},
    "mlqe-mt-pe": {"both": False, "most": 4_000},
    "tatoeba-pivot": {"both": True, "most": 8_000},
    "onestop-english": {"both": True, "most": 3_000},
    "bible-modern": {"both": True, "most": 6_000},
}
BOUNDS = {"length": (5, 40), "ratio": 1 / 0.7, "overlap": 0.25}
CLOSEST = 0.8
# Clitics and marks that stand apart, as no target is to have them.
LOOSE = re.compile(r" (?:'(?:s|t|re|ve|ll|d|m)\b|n't\b|[,.;:?!)](?: |$))")
# Latin letters beyond ASCII, as in names.
ALLOWED = re.compile(r"[ -~\u00a1-\u024f]*")


def folded(text):
    """Without accents, as far as Unicode takes letters apart."""
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def refusal(source, target):
    """Why a pair is not learned from; None when it is."""
    if not (ALLOWED.fullmatch(source) and ALLOWED.fullmatch(target)):
        return "odd signs"
    if LOOSE.search(target):
        return "loose marks"
    plain = folded(source), folded(target)
    if Counter(sign for sign in target if not sign.isascii()) - Counter(sign for sign in source if not sign.isascii()):
        return "letters that the source does not have"
    ascii_only = [text.encode("ascii", "replace").decode() for text in plain]
    if jaccard(*(set(words(text)) for text in ascii_only)) > CLOSEST:
        return "too close"
    return fault(*ascii_only, **BOUNDS)


def mined(path):
    """The pairs that `fnstore mine` wrote as JSON lines."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            pair = json.loads(line)
            yield normalise(pair["source"]), normalise(pair["target"])


def of_set(read, use, reserved, repeats, rng):
    """The pairs that are learned from, and how many were refused for each reason."""
    kept, report, read = [], Counter(), list(read)
    rng.shuffle(read)
    for source, target in read:
        if len(kept) == use["most"]:
            break
        if use["both"] and rng.random() < 0.5:
            source, target = target, source
        reason = "in dev or test" if source in reserved or target in reserved else refusal(source, target)
        reason = reason or repeats.fault(source, target)
        report[reason or "kept"] += 1
        if reason is None:
            repeats.add(source, target)
            kept.append((source, target))
    return kept, dict(report)


def selected(data, seed, of_news=(), of_sets=SETS, text_repeats=TEXT_REPEATS):
    """All pairs in random order as (source, target, set), and a report. `of_news` are files of mined pairs, of whose two
    sentences, both by people, either is the target. No text stands in more than `text_repeats` pairs."""
    rng, repeats, pairs, report = random.Random(seed), Repeats(text_repeats), [], {}
    reserved = {text for name in ("dev", "test") for pair in lines(data / f"{name}.tsv.xz") for text in pair}
    sets = [(name, lines(data / f"train-{name}.tsv.xz"), use) for name, use in of_sets.items()]
    sets += [(f"mined-{path.name}", mined(path), {"both": True, "most": None}) for path in of_news]
    for name, read, use in sets:
        kept, report[name] = of_set(read, use, reserved, repeats, rng)
        print(name, report[name], flush=True)
        pairs += [(source, target, name) for source, target in kept]
    rng.shuffle(pairs)
    return pairs, report


def development(data, count):
    """The first pairs of the development file that pass the same filters."""
    passed = ((source, target, "dev") for source, target in lines(data / "dev.tsv.xz") if refusal(source, target) is None)
    return [pair for _, pair in zip(range(count), passed)]
