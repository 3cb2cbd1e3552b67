"""What do a verifier's answers add to the ranking of proposals?

    python -m judge.answers --proposals judge/proposals.jsonl
    python -m judge.answers --proposals proposals.jsonl --hidden hidden-test.tsv [--weight W]

The file is what `fnstore proposals --format jsonl` prints after `fnstore verify`. Its lines have the member `accepted`, or
`--hidden` names LUs that `judge.hidden` removed: then a proposal is right if its LU was among them, and words count as wrong
that FrameNet lacks, also where they fit. Two rankings are compared: the score without the answers, and with them. `--weight`
is that of `evokes` in the ranking that printed the file (0: none, the default); it is taken out of the score. What is
"held out" is measured on frames that the fit did not see.
"""

import argparse
import hashlib
import json
import math
from pathlib import Path

import numpy

from . import worth
from .inputs import area, gain

FIRST = (50, 100, 200)


def log_odds(share):
    return math.log(share / (1 - share))


def answer(proposal):
    """The input `evokes` of the ranker (`src/proposals/rank.rs`): an undecided answer counts beside those that were given."""
    asked = proposal.get("verified", 0)
    return log_odds((proposal.get("evokes", 0.0) * asked + 0.5) / (asked + 1))


def held_out(columns, labels, frames):
    """Scores of each proposal by fits on other frames."""
    parts = numpy.array([int(hashlib.md5(frame.encode()).hexdigest(), 16) % worth.FOLDS for frame in frames])
    return worth.cross_validated(numpy.stack(columns, axis=1), labels, parts)


def told(name, scores, labels):
    ranked = labels[numpy.argsort(-scores, kind="stable")]
    shares = "  ".join(f"{ranked[:first].mean():6.1%}" for first in FIRST if len(ranked) >= first)
    print(f"{name:<34} {area(scores, labels):.3f}   {shares}")


def main():
    parser = argparse.ArgumentParser(prog="judge.answers", description=__doc__.split("\n")[0])
    parser.add_argument("--proposals", type=Path, required=True)
    parser.add_argument("--hidden", type=Path)
    parser.add_argument("--weight", type=float, default=0.0)
    given = parser.parse_args()
    proposals = [json.loads(line) for line in given.proposals.read_text(encoding="utf-8").splitlines()]
    if given.hidden:
        hidden = {tuple(line.lower().split("\t")) for line in given.hidden.read_text(encoding="utf-8").splitlines()}
        frames_of_hidden = {frame for frame, _ in hidden}
        proposals = [one for one in proposals if one["frame"].lower() in frames_of_hidden]
        labels = numpy.array([(one["frame"].lower(), one["lu"].lower()) in hidden for one in proposals], float)
    else:
        labels = numpy.array([one["accepted"] for one in proposals], float)
    answers = numpy.array([answer(one) for one in proposals])
    plain = numpy.array([log_odds(one["score"]) for one in proposals]) - given.weight * answers
    asked = sum("evokes" in one for one in proposals)
    print(f"{len(proposals)} proposals, {asked} with answers, {labels.sum():.0f} right")
    print(f"{'':<34} order   right of the first {', '.join(map(str, FIRST))}")
    frames = [one["frame"] for one in proposals]
    told("score without answers", plain, labels)
    told("answers alone", answers, labels)
    told("score and answers, weight 1", plain + answers, labels)
    told("score, held out", held_out([plain], labels, frames), labels)
    shares = numpy.array([one.get("evokes_share", 0.5) for one in proposals])
    for name, columns in (("mean", [answers]), ("share above .5", [shares]), ("mean and share", [answers, shares])):
        told(f"score and {name}, held out", held_out([plain, *columns], labels, frames), labels)
    low, high = gain(plain, plain + answers, labels)
    print(f"gain with weight 1: {area(plain + answers, labels) - area(plain, labels):+.3f} (95 %: {low:+.3f} to {high:+.3f})")
    _, weights = worth.logistic(numpy.stack([plain, answers], axis=1), labels)
    print(f"fitted on all: weight of the score {weights[0]:.2f}, of evokes {weights[1]:.2f} (ratio {weights[1] / weights[0]:.2f})")


if __name__ == "__main__":
    main()
