"""A sheet of proposed LUs with their sentences, to be judged blind, and its tally.

    python -m judge.proposals --fnstore fnstore --store STORE --count 200 --out list.jsonl --sheet sheet.txt
    python -m judge.proposals --score list.jsonl labels.tsv
    python -m judge.proposals --decide list.jsonl labels.tsv --fnstore fnstore --store STORE

The question is a lexicographer's: is this word, in the sense of one of these sentences or more, an LU of the frame? The list
holds the `--count` proposals that `fnstore proposals` puts first, or as many drawn at random (`--drawn`); a quarter of that
number of the frames' own LUs with human sentences; and as many LUs with human sentences under a frame that has nothing to
do with theirs. Their order is random. Whoever judges reads the sheet, which does not say what is what, and writes
`number<TAB>y` or `number<TAB>n` a line. `--decide` takes the verdicts over into the store, for `fnstore train proposals`.

Verdicts count only if the frames' own LUs are accepted in 90 % of cases or more, and foreign ones in 15 % or fewer.
"""

import argparse
import json
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from program import Program

from .__main__ import Lexicon, highlighted, print_score, read_labels


def item(kind, frame, lu, records, lexicon, **more):
    return {
        "kind": kind,
        "round": None,
        "frame": frame,
        "lu": lu,
        "definition": lexicon.definitions[frame],
        "sentences": [highlighted(record) for record in records],
        **more,
    }


def draw(program, given):
    """The list."""
    rng = random.Random(given.seed)
    lexicon = Lexicon(program)
    ranking = ["--ranker", given.ranker] if given.ranker else []
    proposals = program.run("proposals", *given.expression, *ranking)
    frames = set(given.frames.read_text(encoding="utf-8").split()) if given.frames else None
    ranked = [one for one in proposals if frames is None or one["frame"] in frames]
    ranked = [{**one, "rank": rank} for rank, one in enumerate(ranked, 1)]
    chosen = rng.sample(ranked, min(len(ranked), given.count)) if given.drawn else ranked[: given.count]
    sets = {record["id"]: record for record in program.sets([of["set"] for one in chosen for of in one["sentences"]])}
    items = [
        item("generated", one["frame"], one["lu"], [sets[of["set"]] for of in one["sentences"]], lexicon,
             rank=one["rank"], score=one["score"])
        for one in chosen
    ]  # fmt: skip
    # Controls show as many sentences as proposals do: their number shall give nothing away.
    numbers = [len(one["sentences"]) for one in items]
    items += controls(program, [one["frame"] for one in chosen], max(1, given.count // 4), numbers, lexicon, rng)
    rng.shuffle(items)
    return [{"number": number, **one} for number, one in enumerate(items, 1)]


def controls(program, frames, count, numbers, lexicon, rng):
    """LUs with human sentences under their own frames, and under foreign ones."""
    by_unit = defaultdict(list)
    for record in program.run("query", "origin=exemplar status=MANUAL", "--fields", "id,frame,lu"):
        by_unit[record["frame"], record["lu"]].append(record["id"])
    units = sorted(by_unit)
    rng.shuffle(units)
    chosen = []
    for kind, fits in (
        ("human", lambda unit, frame: unit[0] == frame),
        ("foreign", lambda unit, frame: lexicon.is_foreign({"frame": unit[0], "lu": unit[1]}, frame)),
    ):
        for frame in rng.sample(sorted(set(frames)), min(count, len(set(frames)))):
            at = next((at for at, unit in enumerate(units) if fits(unit, frame)), None)
            if at is not None:
                chosen.append((kind, frame, units.pop(at)))
    taken = {unit: rng.sample(by_unit[unit], min(rng.choice(numbers), len(by_unit[unit]))) for _, _, unit in chosen}
    sets = {record["id"]: record for record in program.sets([name for names in taken.values() for name in names])}
    return [item(kind, frame, unit[1], [sets[name] for name in taken[unit]], lexicon) for kind, frame, unit in chosen]


def sheet(items):
    """What a judge sees."""
    def lines(one):
        sentences = "".join(f"    {text}\n" for text in one["sentences"])
        return f"{one['number']}. {one['lu']} in {one['frame']}: {one['definition']}\n{sentences}\n"

    return "".join(map(lines, items))


def print_tops(items, labels):
    """Shares of the proposals that rank first."""
    ranked = sorted((one["rank"], labels[one["number"]]) for one in items if one["kind"] == "generated")
    for count in (50, 100, 200, 400):
        top = [accepted for rank, accepted in ranked if rank <= count]
        if len(top) == count:
            print(f"  the first {count:<6} {sum(top) / count:6.1%}")


def decide(given, items, labels):
    """Verdicts as decisions in the store."""
    for one in items:
        if one["kind"] == "generated":
            verdict = "accept" if labels[one["number"]] else "reject"
            command = [given.fnstore, "proposals", verdict, one["frame"], one["lu"], "--reviewer", given.reviewer]
            subprocess.run([*map(str, command), "--store", str(given.store)], check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(prog="judge.proposals", description=__doc__.split("\n")[0])
    parser.add_argument("expression", nargs="*", metavar="EXPR", help="proposals of the sets that a query finds; of all by default")
    parser.add_argument("--score", nargs=2, type=Path, metavar=("LIST", "LABELS"), help="count verdicts")
    parser.add_argument("--decide", nargs=2, type=Path, metavar=("LIST", "LABELS"), help="write verdicts into the store")
    parser.add_argument("--reviewer", default="judge", help="whose decisions they are")
    parser.add_argument("--fnstore", type=Path, help="the program")
    parser.add_argument("--store", type=Path, help="with sets that `fnstore expand` wrote")
    parser.add_argument("--ranker", type=Path, help="file of `fnstore train proposals` to rank by")
    parser.add_argument("--frames", type=Path, help="file with names of frames: proposals for others are left out")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--drawn", action="store_true", help="draw proposals at random, not the first")
    parser.add_argument("--out", type=Path, help="list to write, with what is what")
    parser.add_argument("--sheet", type=Path, help="list to write for judges, without")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.score or given.decide:
        path, labels = given.score or given.decide
        items = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        labels = read_labels(labels, items)
        if given.decide:
            sys.exit(decide(given, items, labels))
        is_valid = print_score(items, labels)
        print_tops(items, labels)
        sys.exit(0 if is_valid else 1)
    if not all((given.fnstore, given.store, given.out, given.sheet)):
        parser.error("--fnstore, --store, --out and --sheet are needed to draw, --score to count, --decide to take over")
    items = draw(Program(given.fnstore, given.store), given)
    given.out.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    given.sheet.write_text(sheet(items), encoding="utf-8")


if __name__ == "__main__":
    main()
