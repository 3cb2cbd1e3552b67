"""A sheet of generated sentences with their frame elements, to be judged blind by two criteria, and its tally.

    python -m judge.generations --fnstore fnstore --store STORE --count 200 --out list.jsonl --sheet sheet.txt
    python -m judge.generations --score list.jsonl labels.tsv

The criteria are those of Cui and Swayamdipta (2024), table 9: is the sentence coherent, and do all frame elements keep
their types? A sentence is accepted if it satisfies both. The list holds `--count` sets by `fnstore generate --method
infill`, of each mode as many as of the others; a quarter of that number by `sister-lu`, of the same LUs where there are
such sets; as many human sets of the same frames; and half as many of these with the names of two frame elements
exchanged, which no judge should accept. Their order is random. Whoever judges reads the sheet, which does not say what
is what, and writes `number<TAB>y|n<TAB>y|n` a line: coherent, types kept.

Verdicts count only if human sentences are accepted in 90 % of cases or more, and exchanged ones in 15 % or fewer.
"""

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

from paraphrase.text import unspaced
from program import Program

from .__main__ import Lexicon, told_valid
from .shares import wilson

# Table 1 of the paper: accepted by people, before the filter and behind it.
PAPER = {
    "human": (1.0, 1.0),
    "sister-lu": (0.611, 0.686),
    "infill none": (0.594, 0.713),
    "infill fe": (0.711, 0.777),
    "infill frame-fe": (0.644, 0.704),
}


def elements(record):
    """The frame elements that stand in the text, (start, end, name), of the first layer."""
    found = [(*one["span"], one["name"]) for one in record["elements"] if one["span"] and one["rank"] == 1]
    return sorted(found)


def marked(text, targets, spans):
    """The sentence with its target in double brackets, and each frame element in brackets before its name."""
    marks = [(start, end, "[[", "]]") for start, end in targets]
    marks += [(start, end, "[", f"]<{name}>") for start, end, name in spans]
    written, last = "", 0
    for place in sorted({place for start, end, *_ in marks for place in (start, end)}):
        # What ends stands before what begins: inner marks end first, outer ones begin first.
        closing = sorted((mark for mark in marks if mark[1] == place), key=lambda mark: -mark[0])
        opening = sorted((mark for mark in marks if mark[0] == place), key=lambda mark: -mark[1])
        written += text[last:place] + "".join(mark[3] for mark in closing) + "".join(mark[2] for mark in opening)
        last = place
    return unspaced(written + text[last:])


def exchanged(spans):
    """The same spans with the names of two of them exchanged; nothing where all have one name."""
    names = [name for _, _, name in spans]
    for at, other in ((at, other) for at in range(len(names)) for other in range(at)):
        if names[at] != names[other]:
            names[at], names[other] = names[other], names[at]
            return [(start, end, name) for (start, end, _), name in zip(spans, names)]
    return None


def item(kind, record, lexicon, spans=None):
    return {
        "kind": kind,
        "set": record["id"],
        "frame": record["frame"],
        "lu": record["lu"],
        "definition": lexicon.definitions[record["frame"]],
        "text": marked(record["text"], record["targets"], spans or elements(record)),
    }


def draw(program, count, seed):
    """The list."""
    rng = random.Random(seed)
    lexicon = Lexicon(program)
    settings = {recipe["recipe"]: recipe["settings"] for recipe in program.run("recipes")}
    by_mode = defaultdict(list)
    for record in program.query("method=infill"):
        by_mode[settings[record["generation"]["recipe"]]["mode"]].append(record)
    if not by_mode:
        sys.exit("the store has no sets of `method=infill`; expected those of `fnstore generate --method infill`")
    numbers = equal_shares({mode: len(records) for mode, records in by_mode.items()}, count)
    infill = {mode: rng.sample(by_mode[mode], numbers[mode]) for mode in sorted(by_mode)}
    items = [item(f"infill {mode}", record, lexicon) for mode, records in infill.items() for record in records]
    lus = {(record["frame"], record["lu"]) for records in infill.values() for record in records}
    items += controls(program, lus, max(1, count // 4), lexicon, rng)
    rng.shuffle(items)
    return [{"number": number, **one} for number, one in enumerate(items, 1)]


def equal_shares(sizes, total):
    """How many to draw of each part: as many of one as of the others, as far as they go."""
    numbers = dict.fromkeys(sizes, 0)
    while (left := total - sum(numbers.values())) > 0:
        open_parts = sorted(name for name in sizes if numbers[name] < sizes[name])
        if not open_parts:
            break
        for at, name in enumerate(open_parts):
            share = left // len(open_parts) + (at < left % len(open_parts))
            numbers[name] = min(sizes[name], numbers[name] + share)
    return numbers


def controls(program, lus, count, lexicon, rng):
    """Sets by `sister-lu`, of these LUs first; human sets of their frames; and some of these with two names exchanged."""
    sisters = program.query("method=sister-lu")
    rng.shuffle(sisters)
    sisters.sort(key=lambda record: (record["frame"], record["lu"]) not in lus)
    items = [item("sister-lu", record, lexicon) for record in sisters[:count]]
    frames = {frame for frame, _ in lus}
    human = program.run("query", "origin=exemplar status=MANUAL", "--fields", "id,frame")
    human = [record["id"] for record in human if record["frame"] in frames]
    # More than are wanted, as some have no frame elements, or none to exchange.
    human = program.sets(rng.sample(human, min(len(human), 8 * count)))
    rng.shuffle(human)
    human = [record for record in human if elements(record)]
    items += [item("human", record, lexicon) for record in human[:count]]
    others = ((record, exchanged(elements(record))) for record in human[count:])
    others = [(record, spans) for record, spans in others if spans]
    items += [item("exchanged", record, lexicon, spans) for record, spans in others[: max(1, count // 2)]]
    return items


def sheet(items):
    """What a judge sees."""
    return "".join(
        f"{one['number']}. {one['frame']} ({one['lu']}): {one['definition']}\n    {one['text']}\n\n" for one in items
    )


def read_labels(path, items):
    """Number to (coherent, types kept)."""
    labels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        number, *verdicts = line.strip().split("\t")
        if not number.isdigit() or len(verdicts) != 2 or not {"y", "n"}.issuperset(verdicts):
            sys.exit(f"{path}: `{line}` is no verdict; expected `number<TAB>y|n<TAB>y|n`: coherent, types kept")
        labels[int(number)] = tuple(verdict == "y" for verdict in verdicts)
    unjudged = [one["number"] for one in items if one["number"] not in labels]
    if unjudged:
        sys.exit(f"{path}: no verdict on {len(unjudged)} of {len(items)} sentences, the first of them {unjudged[0]}")
    return labels


def score(items, labels):
    """Kind to [judged, coherent, types kept, both]."""
    rows = {kind: [0, 0, 0, 0] for kind in ["human", "exchanged", "sister-lu"]}
    for one in sorted(items, key=lambda one: one["kind"]):
        coherent, kept = labels[one["number"]]
        row = rows.setdefault(one["kind"], [0, 0, 0, 0])
        for at, verdict in enumerate((True, coherent, kept, coherent and kept)):
            row[at] += verdict
    return rows


def print_score(items, labels):
    rows = score(items, labels)
    print(f"{'':<18} {'judged':>6} {'coherent':>9} {'types':>7} {'accepted':>9}  95 % interval     paper, filtered")
    for kind, (judged, coherent, kept, both) in rows.items():
        if not judged:
            continue
        low, high = wilson(both, judged)
        paper = "  ".join(f"{share:.1%}" for share in PAPER.get(kind, ()))
        shares = f"{coherent / judged:9.1%} {kept / judged:7.1%} {both / judged:9.1%}"
        print(f"{kind:<18} {judged:6} {shares}  {low:6.1%} to {high:6.1%}  {paper}".rstrip())
    accepted = {kind: both / max(1, judged) for kind, (judged, _, _, both) in rows.items()}
    return told_valid(accepted["human"], "exchanged", accepted["exchanged"])


def main():
    parser = argparse.ArgumentParser(prog="judge.generations", description=__doc__.split("\n")[0])
    parser.add_argument("--score", nargs=2, type=Path, metavar=("LIST", "LABELS"), help="count verdicts")
    parser.add_argument("--fnstore", type=Path, help="the program")
    parser.add_argument("--store", type=Path, help="with sets that `fnstore generate` wrote by both methods")
    parser.add_argument("--count", type=int, default=200, help="sets by `infill` to draw")
    parser.add_argument("--out", type=Path, help="list to write, with what is what")
    parser.add_argument("--sheet", type=Path, help="list to write for judges, without")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.score:
        items = [json.loads(line) for line in given.score[0].read_text(encoding="utf-8").splitlines()]
        sys.exit(0 if print_score(items, read_labels(given.score[1], items)) else 1)
    if not all((given.fnstore, given.store, given.out, given.sheet)) or given.count < 1:
        parser.error("--fnstore, --store, --out and --sheet are needed to draw, --score to count")
    items = draw(Program(given.fnstore, given.store), given.count, given.seed)
    given.out.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    given.sheet.write_text(sheet(items), encoding="utf-8")
    print(", ".join(f"{count} {kind}" for kind, count in sorted(Counter(one["kind"] for one in items).items())))


if __name__ == "__main__":
    main()
