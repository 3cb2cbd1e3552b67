"""Hides LUs of a lexicon, so that an expansion can be asked to find them again.

    python -m judge.hidden --fnstore fnstore --store STORE --out DIR

A fifth of the LUs with exemplars of 160 frames are hidden: of 100 frames to measure on, of 60 to fit a ranker on. The frames
are drawn from those with ten such LUs or more. DIR gets `edits.jsonl`, a script for `fnstore edit` that removes these LUs with
all their annotation; `hidden-test.tsv` and `hidden-fit.tsv` for `fnstore proposals eval --hidden`; and `seeds-test.txt` and
`seeds-fit.txt`, queries for at most 20 exemplars of the other LUs of each frame, of as many LUs as there are.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

from program import Program

FRAMES = {"test": 100, "fit": 60}
LEAST_UNITS, HIDDEN, SEEDS, SEED = 10, 5, 20, 2026


def seeds_of(units):
    """Exemplars of LUs in turn, up to the number wanted."""
    taken, turn = [], 0
    while len(taken) < SEEDS and any(len(exemplars) > turn for exemplars in units):
        taken += [exemplars[turn] for exemplars in units if len(exemplars) > turn]
        turn += 1
    return taken[:SEEDS]


def plan(units, exemplars, rng):
    """Of each part: (frame, names of hidden LUs, seeds) of its frames."""
    big = sorted(frame for frame, names in units.items() if len(names) >= LEAST_UNITS)
    rng.shuffle(big)
    parts, first = {}, 0
    for part, count in FRAMES.items():
        parts[part], first = sorted(big[first : first + count]), first + count
    planned = defaultdict(list)
    for part, frames in parts.items():
        for frame in frames:
            names = sorted(units[frame])
            rng.shuffle(names)
            count = max(1, round(len(names) / HIDDEN))
            others = []
            for name in names[count:]:
                own = sorted(exemplars[frame, name])
                rng.shuffle(own)
                others.append(own)
            rng.shuffle(others)
            planned[part].append((frame, names[:count], seeds_of(others)))
    return planned


def lexicon_of(program):
    """Of a store's LUs with exemplars: ids of exemplars and numbers of LUs by (frame, name), and names by frame."""
    exemplars, numbers, units = defaultdict(list), defaultdict(list), defaultdict(set)
    for record in program.run("query", "origin=exemplar", "--fields", "id,frame,lu"):
        exemplars[record["frame"], record["lu"]].append(record["id"])
    for unit in program.run("lus"):
        # Two LUs of a frame may have one name; they are hidden together.
        numbers[unit["frame"], unit["name"]].append(unit["id"])
        if (unit["frame"], unit["name"]) in exemplars:
            units[unit["frame"]].add(unit["name"])
    return exemplars, numbers, units


def main():
    parser = argparse.ArgumentParser(prog="judge.hidden", description=__doc__.split("\n")[0])
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument("--store", type=Path, required=True, help="with a release; it is only read")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    given = parser.parse_args()
    program = Program(given.fnstore, given.store)
    given.out.mkdir(parents=True, exist_ok=True)
    exemplars, numbers, units = lexicon_of(program)
    edits = []
    for part, frames in plan(units, exemplars, random.Random(SEED)).items():
        hidden = [(frame, name) for frame, names, _ in frames for name in names]
        lines = "".join(f"{frame}\t{name}\n" for frame, name in hidden)
        (given.out / f"hidden-{part}.tsv").write_text(lines, encoding="utf-8")
        query = " or ".join(f"id={name}" for _, _, seeds in frames for name in seeds)
        (given.out / f"seeds-{part}.txt").write_text(query + "\n", encoding="utf-8")
        for frame, name in hidden:
            edits += [{"op": "remove-lu", "frame": frame, "lu": lu, "cascade": True} for lu in numbers[frame, name]]
    (given.out / "edits.jsonl").write_text("".join(json.dumps(edit) + "\n" for edit in edits), encoding="utf-8")


if __name__ == "__main__":
    main()
