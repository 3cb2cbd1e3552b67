"""Fits what a verifier's answers are worth: `calibration.toml` of its directory.

    python -m judge.calibrate --judged judge/verified.jsonl [--write DIR]

Each line of the file has a sentence's number, the log-odds of both answers to an output, and the share of judges who
say that it evokes the frame, and that it also keeps the meaning. Nobody was asked about the meaning of an output that
does not evoke the frame, so the second question is calibrated on those that do. The curve of a question is a logistic function; that
of the first does not reach 0 and 1, since some outputs get sure answers that are wrong. What is printed is the expected
calibration error (ten bins of equal width) in five folds by sentence, over several ways to make the folds.
"""

import argparse
import json
import math
import random
from pathlib import Path

import numpy as np

SEED = 1
FOLDS = 5
BINS = 10
# Of the first question's lapse rates: where they start, and how strongly they are held there.
LAPSE, HELD = 2.5, 0.0025


def logistic(value):
    return 1.0 / (1.0 + np.exp(-value))


class Curve:
    """floor + (ceiling - floor) * logistic(slope * log_odds + intercept)."""

    def __init__(self, lapses):
        self.lapses = lapses
        self.slope, self.intercept = 0.0, 0.0
        self.floor, self.ceiling = (-LAPSE, LAPSE) if lapses else (-math.inf, math.inf)

    def parameters(self):
        return np.array([self.slope, self.intercept, self.floor, self.ceiling][: 4 if self.lapses else 2])

    def take(self, parameters):
        self.slope, self.intercept = parameters[:2]
        if self.lapses:
            self.floor, self.ceiling = parameters[2:]

    def numbers(self):
        floor, ceiling = (float(logistic(self.floor)), float(logistic(self.ceiling))) if self.lapses else (0.0, 1.0)
        return {"floor": floor, "ceiling": ceiling, "slope": math.exp(self.slope), "intercept": float(self.intercept)}

    def probabilities(self, log_odds):
        of = self.numbers()
        return of["floor"] + (of["ceiling"] - of["floor"]) * logistic(of["slope"] * log_odds + of["intercept"])

    def loss(self, log_odds, shares):
        found = self.probabilities(log_odds).clip(1e-6, 1 - 1e-6)
        loss = -np.mean(shares * np.log(found) + (1 - shares) * np.log(1 - found))
        return loss + (HELD * ((self.floor + LAPSE) ** 2 + (self.ceiling - LAPSE) ** 2) if self.lapses else 0.0)

    def difference(self, at, place, log_odds, shares, step=1e-4):
        """How the loss changes along a parameter."""
        losses = []
        for sign in (1, -1):
            moved = at.copy()
            moved[place] += sign * step
            self.take(moved)
            losses.append(self.loss(log_odds, shares))
        return (losses[0] - losses[1]) / (2 * step)

    def fit(self, log_odds, shares, steps=1500, rate=0.05):
        """Adam on the mean cross-entropy; gradients by differences, since there are four parameters."""
        at = self.parameters()
        first, second = np.zeros_like(at), np.zeros_like(at)
        for step in range(1, steps):
            gradient = np.array([self.difference(at, place, log_odds, shares) for place in range(len(at))])
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            at -= rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
        self.take(at)
        return self


def calibration_error(found, shares):
    """Mean distance of what is said from what is right, by bins of what is said."""
    error = 0.0
    for lowest in range(BINS):
        inside = (found * BINS).astype(int).clip(0, BINS - 1) == lowest
        if inside.any():
            error += inside.mean() * abs(found[inside].mean() - shares[inside].mean())
    return error


def errors_in_folds(log_odds, shares, sentences, lapses, draws):
    """The calibration error of outputs whose sentences no fold's curve has seen, for several draws of the folds."""
    chance = random.Random(SEED)
    numbers = sorted(set(sentences))
    errors = []
    for _ in range(draws):
        chance.shuffle(numbers)
        fold = {number: place % FOLDS for place, number in enumerate(numbers)}
        of = np.array([fold[number] for number in sentences])
        found = np.empty_like(shares)
        for held in range(FOLDS):
            curve = Curve(lapses).fit(log_odds[of != held], shares[of != held])
            found[of == held] = curve.probabilities(log_odds[of == held])
        errors.append(calibration_error(found, shares))
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judged", type=Path, required=True)
    parser.add_argument("--write", type=Path, help="the verifier's directory, whose calibration.toml is written anew")
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.judged.read_text().splitlines()]
    tables = []
    for question, lapses in (("evokes", True), ("same_meaning", False)):
        of = rows if question == "evokes" else [row for row in rows if row["evokes_share"] > 0]
        log_odds = np.array([row[question] for row in of])
        shares = np.array([row[f"{question}_share"] for row in of])
        if question != "evokes":
            shares = shares / np.array([row["evokes_share"] for row in of])
        sentences = [row["sentence"] for row in of]
        errors = errors_in_folds(log_odds, shares, sentences, lapses, options.draws)
        curve = Curve(lapses).fit(log_odds, shares)
        plain = calibration_error(logistic(log_odds), shares)
        said = ", ".join(f"{error:.3f}" for error in errors)
        print(f"{question}: {len(of)} outputs, {shares.mean():.3f} right; error as it is {plain:.3f}, in folds {said}")
        lines = [f"{name} = {number:.3f}" for name, number in curve.numbers().items()]
        tables.append(f"\n[{question}]\n" + "\n".join(lines) + "\n")
    if options.write:
        path = options.write / "calibration.toml"
        head = path.read_text().split("\n[", 1)[0] if path.exists() else "format = 1\n"
        path.write_text(head + "".join(tables))
    else:
        print("".join(tables))


if __name__ == "__main__":
    main()
