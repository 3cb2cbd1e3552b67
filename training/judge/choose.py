"""Says how often the output that a rule chooses is right, and writes the outputs for `fnstore train choice`.

    python -m judge.choose --scored judge/scored.jsonl [--data judge/choice.jsonl --verifier ../models/verifier]

Each line of the file is an output: its sentence's number, the verdict (`bad`, `meaning`: it evokes the frame and says
something else, `ok`), and what models say of it. What is printed is how often the output that a rule chooses is right;
the weights of a fold's sentences are fitted on the others, over several draws of the folds.
"""

import argparse
import json
import random
import tomllib
from pathlib import Path

import numpy as np

SEED, FOLDS, DRAWS = 0, 5, 20
# The ridge on weights of standardised inputs.
RIDGE = 0.5
INPUTS = ["log_prob", "aligner", "reverse", "reverse_token", "evokes", "same_meaning"]


def inputs(row):
    return [
        row["log_prob"] / row["tokens"],
        np.log(max(row["aligner"], 1e-4)),
        row["reverse"],
        row["reverse"] / row["reverse_tokens"],
        row["evokes"],
        row["same_meaning"],
    ]


def logistic(values, labels):
    """Weights and bias by Newton's method, for the inputs as they are."""
    mean, deviation = values.mean(0), values.std(0)
    scaled = np.c_[(values - mean) / deviation, np.ones(len(values))]
    weights, ridge = np.zeros(scaled.shape[1]), RIDGE * np.eye(scaled.shape[1])
    ridge[-1, -1] = 1e-6
    for _ in range(50):
        found = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (found - labels) + ridge @ weights
        weights -= np.linalg.solve((scaled * (found * (1 - found))[:, None]).T @ scaled + ridge, slope)
    own = weights[:-1] / deviation
    return own, weights[-1] - own @ mean


def probability(values, line):
    weights, bias = line
    return 1 / (1 + np.exp(-(values @ weights + bias)))


def cross_validated(values, labels, sentences, columns):
    """What each output is worth by weights that have not seen its sentence, once a draw of the folds."""
    numbers = np.unique(sentences)
    chance = random.Random(SEED)
    for _ in range(DRAWS):
        chance.shuffle(numbers)
        worth = np.zeros(len(sentences))
        for fold in range(FOLDS):
            held = np.isin(sentences, numbers[fold::FOLDS])
            for label in labels:
                line = logistic(values[~held][:, columns], label[~held])
                worth[held] += probability(values[held][:, columns], line)
        yield worth


def right(worth, cheap, labels, sentences, most):
    """How often the best of the `most` likeliest outputs of a sentence evokes the frame, and also says the same."""
    chosen = []
    for number in np.unique(sentences):
        of = np.flatnonzero(sentences == number)
        of = of[np.argsort(-cheap[of], kind="stable")][:most]
        chosen.append(of[np.argmax(worth[of])])
    return [label[chosen].mean() for label in labels]


def filter_data(place, row, curves):
    """An output as `fnstore export --to filter-data` writes it. Its LU is not known."""
    evokes, same_meaning = (calibrated(row[name], curves[name]) for name in ("evokes", "same_meaning"))
    sentence = f"s{row['sentence']}"
    return {
        "release": "candidates",
        "set": f"o{place:03}",
        "seed": sentence,
        "sentence": sentence,
        "round": 1,
        "paraphrase": round(-row["log_prob"] / row["tokens"], 5),
        "aligner": row["aligner"],
        "proposed": False,
        "frames": 0,
        "evokes": evokes,
        "same_meaning": same_meaning,
        "reverse": round(-row["reverse"] / row["reverse_tokens"], 5),
        "reverse_tokens": row["reverse_tokens"],
        "judgements": [0 if row["verdict"] == "bad" else 100],
        "meaning_judgements": [] if row["verdict"] == "bad" else [100 if row["verdict"] == "ok" else 0],
    }


def calibrated(log_odds, curve):
    share = 1 / (1 + np.exp(-(curve["slope"] * log_odds + curve["intercept"])))
    return round(curve["floor"] + (curve["ceiling"] - curve["floor"]) * share, 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scored", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="write the outputs to this file, as `fnstore train choice` reads them")
    parser.add_argument("--verifier", type=Path, default=Path("../models/verifier"), help="whose answers are calibrated")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.scored.read_text().splitlines()]
    sentences = np.array([row["sentence"] for row in rows])
    labels = [np.array([row["verdict"] in kinds for row in rows], float) for kinds in (("meaning", "ok"), ("ok",))]
    values = np.array([inputs(row) for row in rows])
    cheap = np.array([row["log_prob"] for row in rows]) + values[:, 1]
    of_beam = -np.arange(len(rows), dtype=float)
    best = labels[0] + labels[1]
    for name, worth in (("first", of_beam), ("likeliest", cheap), ("aligner", values[:, 1]), ("the best there is", best)):
        print(f"{name:28}", *(f"{share:.3f}" for share in right(worth, cheap, labels, sentences, len(rows))))
    every = list(range(len(INPUTS)))
    for name, columns in (("judged", every), ("verifier alone", [4, 5]), ("without reverse", [0, 1, 4, 5])):
        for most in (8, 4, 3, 2):
            draws = cross_validated(values, labels, sentences, columns)
            shares = np.mean([right(worth, cheap, labels, sentences, most) for worth in draws], 0)
            print(f"{name + ', of ' + str(most):28}", *(f"{share:.3f}" for share in shares))
    if options.data:
        curves = tomllib.loads((options.verifier / "calibration.toml").read_text())
        lines = [json.dumps(filter_data(place, row, curves)) for place, row in enumerate(rows)]
        options.data.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
