"""What is an input worth to a filter? The area under the ROC curve of cross-validated scores, with and without it.

    python -m judge.inputs --data judge/filter-fit.jsonl --without paraphrase aligner proposed frames --more frame_fit

The data is that of `fnstore export --to filter-data`, judged. The network is that of `fnstore train filter` in PyTorch: two
hidden layers of 10 units, five of them averaged, an accepted output weighing as much as a refused one. Ten parts are cut by
the seed's sentence. The interval is of the difference over 2,000 draws of the outputs with replacement.
"""

import argparse
import hashlib
import json
import math
from pathlib import Path

import numpy
import torch
from scipy.stats import rankdata

FOLDS, MEMBERS, DRAWS = 10, 5, 2000


def area(scores, labels):
    """The share of pairs of an accepted and a refused output in which the accepted one scores higher; half for a tie."""
    accepted = labels.sum()
    ranks = rankdata(scores)[labels == 1].sum()
    return (ranks - accepted * (accepted + 1) / 2) / (accepted * (len(labels) - accepted))


def value(output, name):
    return math.log1p(output["frames"]) if name == "frames" else float(output[name])


def network(width):
    layers = [torch.nn.Linear(width, 10), torch.nn.ReLU(), torch.nn.Linear(10, 10), torch.nn.ReLU(), torch.nn.Linear(10, 1)]
    return torch.nn.Sequential(*layers)


def cross_validated(outputs, labels, names, steps):
    """The score of each output by networks that learned from other parts."""
    inputs = numpy.array([[value(output, name) for name in names] for output in outputs], numpy.float32)
    parts = numpy.array([int(hashlib.md5(output["sentence"].encode()).hexdigest(), 16) % FOLDS for output in outputs])
    scores = numpy.zeros(len(labels))
    for part in range(FOLDS):
        seen = parts != part
        mean, deviation = inputs[seen].mean(0), inputs[seen].std(0) + 1e-6
        rows, wanted = torch.tensor((inputs - mean) / deviation), torch.tensor(labels[seen], dtype=torch.float32)
        weight = torch.where(wanted == 1, float((wanted == 0).sum() / (wanted == 1).sum()), 1.0)
        for seed in range(MEMBERS):
            torch.manual_seed(seed)
            member = network(len(names))
            optimiser = torch.optim.AdamW(member.parameters(), lr=0.01, weight_decay=0.1)
            for _ in range(steps):
                optimiser.zero_grad()
                told = member(rows[seen])[:, 0]
                torch.nn.functional.binary_cross_entropy_with_logits(told, wanted, weight=weight).backward()
                optimiser.step()
            with torch.no_grad():
                scores[~seen] += torch.sigmoid(member(rows[~seen])[:, 0]).numpy() / MEMBERS
    return scores


def gain(without, more, labels):
    """The 95 % interval of what the area gains."""
    rng, found = numpy.random.default_rng(1), []
    while len(found) < DRAWS:
        drawn = rng.integers(0, len(labels), len(labels))
        if 0 < labels[drawn].sum() < len(labels):
            found.append(area(more[drawn], labels[drawn]) - area(without[drawn], labels[drawn]))
    return numpy.percentile(found, [2.5, 97.5])


def main():
    parser = argparse.ArgumentParser(prog="judge.inputs", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--without", nargs="+", required=True, help="inputs that both have")
    parser.add_argument("--more", required=True, help="the input in question")
    parser.add_argument("--steps", type=int, nargs="+", default=[50, 150])
    given = parser.parse_args()
    torch.set_num_threads(1)
    lines = [json.loads(line) for line in given.data.read_text(encoding="utf-8").splitlines()]
    outputs = [line for line in lines if line["judgements"] and line.get(given.more) is not None]
    labels = numpy.array([sum(line["judgements"]) / len(line["judgements"]) >= 50 for line in outputs], float)
    print(f"{len(labels)} outputs, {labels.mean():.1%} accepted")
    for name in [*given.without, given.more]:
        print(f"{name:<12} alone {area(numpy.array([value(output, name) for output in outputs]), labels):.3f}")
    for steps in given.steps:
        without = cross_validated(outputs, labels, given.without, steps)
        more = cross_validated(outputs, labels, [*given.without, given.more], steps)
        low, high = gain(without, more, labels)
        print(f"{steps} steps: {area(without, labels):.3f}, with {given.more} {area(more, labels):.3f} ({low:+.3f} to {high:+.3f})")


if __name__ == "__main__":
    main()
