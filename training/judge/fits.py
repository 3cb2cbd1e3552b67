"""How well frame fit tells accepted outputs from refused ones, and human sentences from unrelated ones.

    python -m judge.fits judge/frame-fits.tsv

A line is a judged sentence: its kind, frame and round, whether the frame has an LU whose forms stand in the trigger, how many
judges accepted and refused it, and the probability of its frame at its trigger by `models/frames`. The sentences are those of
all lists that `training/judge/` held so far.
"""

import csv
import sys

import numpy

from .inputs import area


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    for name, kinds in [("outputs", {"generated"}), ("human and unrelated", {"human", "foreign"})]:
        told = [row for row in rows if row["kind"] in kinds]
        accepted = numpy.array([int(row["accepted"]) >= int(row["refused"]) for row in told], int)
        fits = numpy.array([float(row["frame_fit"]) for row in told])
        print(f"{name}: {accepted.sum()} accepted, {len(told) - accepted.sum()} refused, area {area(fits, accepted):.3f}")
    for listed in ("yes", "no"):
        outputs = [row for row in rows if row["listed"] == listed]
        for least in (0, 0.01, 0.1, 0.5, 0.9):
            told = [row for row in outputs if float(row["frame_fit"]) >= least]
            accepted = sum(int(row["accepted"]) >= int(row["refused"]) for row in told)
            print(f"LU listed: {listed}, frame_fit>={least}: {accepted} of {len(told)} accepted, {accepted / len(told):.1%}")


if __name__ == "__main__":
    main()
