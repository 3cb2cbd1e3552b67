"""Instances for the span aligner that manual word alignments do not hold of themselves.

    python -m alignment.instances --data DIR --out DIR [--apart FILE ...]

`--data` holds `spans/{train,dev,test}.jsonl` (source span, aligned target span) and `words/*.jsonl` (tokens, sure
and possible links). Written are, with their counts on stdout:

- `{train,dev,test}.jsonl`: the spans, and among them instances *without* an aligned span: content words of the
  source that have no link at all. In the crowd data of Culkin et al. 2021 (section 4.1) 9 % of the items are such.
  Texts of MSR-RTE are left out, where the target is a short hypothesis and most words have no link.
- `{dev,test}.trigger.jsonl`: a part of these that is shaped like triggers. The paper's source spans average 1.53
  tokens and 34 % of them have several; ours are longer. Spans are drawn so that length 1 has 66 %, and lengths 2 to 4,
  tilted exponentially, average what the rest must;
- `apart.jsonl`, with `--apart`: the spans of the training data whose sentence pairs stand in those files of word alignments.
  `train.jsonl` has none of these pairs, so that a corpus can be learnt from in part and measured on the rest.

What is drawn depends on an instance's own id and span only, so that more data changes no choice.
"""

import argparse
import hashlib
import json
import math
import re
import sys
from pathlib import Path

from paraphrase.text import FUNCTION_WORDS

PARTS = ["train", "dev", "test"]
NULL_SHARE = 0.09
SINGLE_SHARE = 0.66
MEAN_LENGTH = 1.53
WITHOUT_NULLS = "msr-rte"
CONTENT_WORD = re.compile(r"[A-Za-z][a-z]{2,}")


def draw(instance):
    """A number of [0, 1) that depends on the instance alone."""
    key = f"{instance['id']} {instance['source_span']}"
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(path, instances):
    with open(path, "w", encoding="utf-8") as out:
        for instance in instances:
            out.write(json.dumps(instance, ensure_ascii=False) + "\n")


def unlinked(path):
    """An instance for every content word of a source that has no link."""
    corpus, part = path.name.split(".")[:2]
    for pair in read(path):
        linked = {source for source, _ in pair["sure"] + pair["possible"]}
        for at, word in enumerate(pair["source"]):
            if at not in linked and CONTENT_WORD.fullmatch(word) and word.lower() not in FUNCTION_WORDS:
                yield part, {
                    "id": f"{corpus}/{pair['id']}",
                    "source": pair["source"],
                    "source_span": [at, at + 1],
                    "target": pair["target"],
                    "target_span": None,
                    "changed": True,
                }


def with_nulls(spans, nulls):
    """The spans and as many of the instances without a target as make up their share."""
    wanted = round(len(spans) * NULL_SHARE / (1 - NULL_SHARE))
    return spans + sorted(nulls, key=draw)[:wanted]


def length(instance):
    start, end = instance["source_span"]
    return end - start


def tilted(counts):
    """Shares of lengths 2, 3, ... that average what MEAN_LENGTH asks for, as near to `counts` as an
    exponential tilt comes."""
    mean = (MEAN_LENGTH - SINGLE_SHARE) / (1 - SINGLE_SHARE)
    low, high = -10.0, 10.0
    for _ in range(100):
        tilt = (low + high) / 2
        weights = {k: n * math.exp(tilt * k) for k, n in counts.items()}
        total = sum(weights.values())
        if sum(k * w for k, w in weights.items()) / total < mean:
            low = tilt
        else:
            high = tilt
    return {k: (1 - SINGLE_SHARE) * w / total for k, w in weights.items()}


def trigger_shaped(instances):
    """The instances of each length that are drawn first, as many as its share allows."""
    groups = {}
    for instance in instances:
        groups.setdefault(length(instance), []).append(instance)
    shares = {1: SINGLE_SHARE, **tilted({k: len(group) for k, group in groups.items() if k > 1})}
    size = min(len(group) / shares[k] for k, group in groups.items())
    kept = []
    for k, group in groups.items():
        kept += sorted(group, key=draw)[: int(size * shares[k])]
    return kept


def pair(one):
    return tuple(one["source"]), tuple(one["target"])


def set_apart(instances, files):
    """The instances of pairs that stand in none of the files, and the spans with an answer of those that do."""
    pairs = {pair(one) for file in files for one in read(file)}
    kept = [instance for instance in instances if pair(instance) not in pairs]
    return kept, [instance for instance in instances if pair(instance) in pairs and instance["target_span"]]


def describe(name, instances):
    lengths = [length(instance) for instance in instances]
    nulls = sum(instance["target_span"] is None for instance in instances)
    several = sum(k > 1 for k in lengths)
    print(
        f"{name}: {len(instances)} instances, {nulls / len(instances):.1%} without an aligned span, "
        f"{sum(lengths) / len(lengths):.2f} words, {several / len(lengths):.1%} with several"
    )


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--apart", type=Path, nargs="*", default=[], metavar="FILE", help="word alignments of pairs to leave out of train")
    args = parser.parse_args(arguments)
    nulls = {part: [] for part in PARTS}
    for path in sorted((args.data / "words").glob("*.jsonl")):
        if not path.name.startswith(WITHOUT_NULLS):
            for part, instance in unlinked(path):
                nulls[part].append(instance)
    args.out.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        instances = with_nulls(read(args.data / "spans" / f"{part}.jsonl"), nulls[part])
        # By sentence pair, as they came; whoever trains shuffles.
        instances.sort(key=lambda instance: instance["id"])
        if part == "train":
            instances, apart = set_apart(instances, args.apart)
            if args.apart and not apart:
                raise SystemExit("no pair of the training data stands in the files of --apart")
            # What an earlier call set apart is trained on now, unless this one says otherwise.
            (args.out / "apart.jsonl").unlink(missing_ok=True)
            if apart:
                write(args.out / "apart.jsonl", apart)
                describe("apart", apart)
        write(args.out / f"{part}.jsonl", instances)
        describe(part, instances)
        if part != "train":
            shaped = trigger_shaped(instances)
            shaped.sort(key=lambda instance: instance["id"])
            write(args.out / f"{part}.trigger.jsonl", shaped)
            describe(f"{part}, shaped like triggers", shaped)


if __name__ == "__main__":
    main(sys.argv[1:])
