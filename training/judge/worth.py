"""Fits what `fnstore generate` ranks candidates by: a logistic model of whether a strict judge accepts one.

    python -m judge.worth --data judge/worth.jsonl

Prints the weights of `src/generate/candidate_ranker.rs`, and the mean of each input. Then it says what cross-validated probabilities are
worth: the area under the ROC curve, and the share accepted of those that score best. Both are of all inputs, and of the
likelihoods and the number of blanks alone. Ten parts are cut by LUs. The penalty is half the squared length of the weights of
standardised inputs.
"""

import argparse
import hashlib
import json
from math import log
from pathlib import Path

import numpy

from .inputs import area

FOLDS = 10
LEAST_FIT = 1e-3
INPUTS = {
    "surprise": lambda one: one["surprise"],
    "gain": lambda one: one["gain"],
    "word": lambda one: one["words"],
    "blank": lambda one: one["blanks"],
    "read": lambda one: sum(log(read) for read in one["read"]),
    "fit": lambda one: log(max(one["fit"], LEAST_FIT)),
}


def logistic(inputs, labels):
    """Bias and weights by Newton's method."""
    mean, deviation = inputs.mean(0), inputs.std(0)
    rows = numpy.column_stack([numpy.ones(len(inputs)), (inputs - mean) / deviation])
    penalty = numpy.diag([0.0] + [1.0] * inputs.shape[1])
    weights = numpy.zeros(rows.shape[1])
    for _ in range(30):
        told = 1 / (1 + numpy.exp(-rows @ weights))
        slope = rows.T @ (told - labels) + penalty @ weights
        bend = rows.T @ (rows * (told * (1 - told))[:, None]) + penalty
        weights -= numpy.linalg.solve(bend, slope)
    plain = weights[1:] / deviation
    return weights[0] - plain @ mean, plain


def cross_validated(inputs, labels, parts):
    """The probability of each candidate by weights that were fitted on other LUs."""
    told = numpy.zeros(len(labels))
    for part in range(FOLDS):
        bias, weights = logistic(inputs[parts != part], labels[parts != part])
        told[parts == part] = 1 / (1 + numpy.exp(-bias - inputs[parts == part] @ weights))
    return told


def main():
    parser = argparse.ArgumentParser(prog="judge.worth", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    data = [json.loads(line) for line in given.data.read_text(encoding="utf-8").splitlines()]
    labels = numpy.array([one["coherent"] and one["types"] for one in data], float)
    parts = numpy.array([int(hashlib.md5(one["lu"].encode()).hexdigest(), 16) % FOLDS for one in data])
    inputs = numpy.array([[value(one) for value in INPUTS.values()] for one in data])
    bias, weights = logistic(inputs, labels)
    print(f"{len(data)} candidates, {labels.mean():.1%} accepted; bias {bias:.3f}")
    for name, weight, mean in zip(INPUTS, weights, inputs.mean(0)):
        print(f"{name:9} weight {weight:7.3f}   mean {mean:7.3f}")
    for what, names in (("all", list(INPUTS)), ("likelihoods, blanks", ["surprise", "gain", "blank"])):
        told = cross_validated(inputs[:, [list(INPUTS).index(name) for name in names]], labels, parts)
        best = labels[numpy.argsort(-told)]
        shares = ", ".join(f"{best[: int(len(best) * share)].mean():.0%} of the best {share:.0%}" for share in (0.1, 0.2, 0.5))
        print(f"{what}: area {area(told, labels):.3f}; accepted {shares}")


if __name__ == "__main__":
    main()
