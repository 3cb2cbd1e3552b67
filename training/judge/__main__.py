"""Draws generated sentences to be judged blind, among human ones, and counts the verdicts.

    python -m judge --fnstore fnstore --store EXPANDED --out judged.jsonl --sheet sheet.txt
    python -m judge --score judged.jsonl labels.tsv

The question is that of Culkin et al. 2021: does the highlighted trigger, in this sentence, evoke the frame? The list
holds 200 generated sets, of every round as many as it has a share in the store; 50 human sets of the same frames; and
50 human sets under a frame that has nothing to do with theirs. Their order is random. Whoever judges reads the sheet,
which does not say what is what, and writes `number<TAB>y` or `number<TAB>n` a line. FrameNet's spacing is undone
everywhere, as it would give human sentences away.

With `--meaning` and `--meaning-sheet` a second question is asked of the same generated sets: does the new sentence say
what the source says, apart from the frame's other ways of saying it? Controls are sources beside themselves (`human`) and
beside an output of another seed (`foreign`).

Verdicts count only if human sentences are accepted in 90 % of cases or more, and foreign ones in 15 % or fewer.
"""

import argparse
import json
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from paraphrase.text import unspaced
from program import Program, drawn

from .shares import apportioned, wilson

GENERATED, HUMAN, FOREIGN = 200, 50, 50
# The paper's groups of rounds.
ROUNDS = [(1, 1), (2, 3), (4, 10)]
LEAST_HUMAN, MOST_FOREIGN = 0.90, 0.15


def definition(text):
    """A frame's definition without its examples and without the labels of frame elements."""
    lines = text.split("\n")
    lines = [line for line in lines if "[[" not in line] or lines[:1]
    return re.sub(r"\[\w+ ([^\]]*)\]", r"\1", lines[0])


def highlighted(record):
    """The sentence with its trigger in double brackets."""
    text = record["text"]
    for start, end in sorted(record["targets"], reverse=True):
        text = f"{text[:start]}[[{text[start:end]}]]{text[end:]}"
    return unspaced(text)


class Lexicon:
    """What is needed to tell frames apart."""

    def __init__(self, program):
        self.definitions = {frame["name"]: definition(frame["definition_text"]) for frame in program.run("frames")}
        self.related = defaultdict(set)
        for relation in program.run("relations"):
            self.related[relation["parent"]].add(relation["child"])
            self.related[relation["child"]].add(relation["parent"])
        self.lemmas = defaultdict(set)
        for unit in program.run("lus"):
            self.lemmas[unit["frame"]].add(unit["name"].rpartition(".")[0])

    def is_foreign(self, record, frame):
        """Whether a human set has nothing to do with a frame: another one, unrelated, whose word the frame lacks."""
        lemma = record["lu"].rpartition(".")[0]
        return (
            record["frame"] != frame
            and record["frame"] not in self.related[frame]
            and not self.related[frame] & self.related[record["frame"]]
            and lemma not in self.lemmas[frame]
        )


def draw(program, seed, places=None, where=""):
    """The list; of `places`, each (first, end), only seeds that stand there in the order in which `paraphrase evaluate`
    draws; of the outputs, only those that a query finds."""
    rng = random.Random(seed)
    lexicon = Lexicon(program)
    generated = program.query(f"origin=generated {where}")
    seeds = {record["generation"]["seed"] for record in generated}
    if places:
        exemplars = [record["id"] for record in program.run("query", "origin=exemplar", "--fields", "id")]
        order = drawn(exemplars, max(end for _, end in places), seed=1)
        taken = {name for first, end in places for name in order[first:end]}
        generated = [record for record in generated if record["generation"]["seed"] in taken]
    by_round = defaultdict(list)
    for record in generated:
        by_round[record["generation"]["round"]].append(record)
    numbers = apportioned({number: len(records) for number, records in by_round.items()}, GENERATED)
    generated = [record for number in sorted(numbers) for record in rng.sample(by_round[number], numbers[number])]
    items = [item("generated", record, record["frame"], lexicon) for record in generated]
    items += controls(program, generated, seeds, lexicon, rng)
    rng.shuffle(items)
    return [{"number": number, **one} for number, one in enumerate(items, 1)]


def controls(program, generated, seeds, lexicon, rng):
    """Human sets under the frames of generated ones: their own frames, then foreign ones. No seed is among them."""
    human = program.run("query", "origin=exemplar status=MANUAL", "--fields", "id,frame,lu")
    human = [record for record in human if record["id"] not in seeds]
    rng.shuffle(human)
    frames = [record["frame"] for record in rng.sample(generated, len(generated))]
    chosen = []
    for kind, count, fits in (
        ("human", HUMAN, lambda record, frame: record["frame"] == frame),
        ("foreign", FOREIGN, lexicon.is_foreign),
    ):
        for _ in range(count):
            # A frame may have no exemplar but its seed.
            while frames and not any(fits(record, frames[0]) for record in human):
                frames.pop(0)
            if not frames:
                break
            at = next(at for at, record in enumerate(human) if fits(record, frames[0]))
            chosen.append((kind, frames.pop(0), human.pop(at)["id"]))
    records = {record["id"]: record for record in program.sets([name for _, _, name in chosen])}
    return [item(kind, records[name], frame, lexicon) for kind, frame, name in chosen]


def item(kind, record, frame, lexicon):
    return {
        "kind": kind,
        "round": record["generation"]["round"] if kind == "generated" else None,
        "set": record["id"],
        "frame": frame,
        "definition": lexicon.definitions[frame],
        "text": highlighted(record),
    }


def meanings(program, items, seed):
    """The generated sets of a list beside their sources, with controls, for the question of meaning."""
    rng = random.Random(seed)
    outputs = [one for one in items if one["kind"] == "generated"]
    seeds = {record["id"]: record["generation"]["seed"] for record in program.sets([one["set"] for one in outputs])}
    sources = {record["id"]: highlighted(record) for record in program.sets(sorted(set(seeds.values())))}

    def pair(kind, one, text):
        source = sources[seeds[one["set"]]]
        return {"kind": kind, "round": one["round"] if kind == "generated" else None, "set": one["set"],
                "frame": one["frame"], "definition": one["definition"], "source": source, "text": text}  # fmt: skip

    pairs = [pair("generated", one, one["text"]) for one in outputs]
    pairs += [pair("human", one, sources[seeds[one["set"]]]) for one in rng.sample(outputs, min(HUMAN, len(outputs)))]
    for one in rng.sample(outputs, min(FOREIGN, len(outputs))):
        others = [other for other in outputs if seeds[other["set"]] != seeds[one["set"]]]
        if others:
            pairs.append(pair("foreign", one, rng.choice(others)["text"]))
    rng.shuffle(pairs)
    return [{"number": number, **one} for number, one in enumerate(pairs, 1)]


def meaning_sheet(pairs):
    """What a judge of meaning sees."""
    return "".join(
        f"{one['number']}. {one['frame']}: {one['definition']}\n    A: {one['source']}\n    B: {one['text']}\n\n"
        for one in pairs
    )


def sheet(items):
    """What a judge sees."""
    return "".join(f"{one['number']}. {one['frame']}: {one['definition']}\n    {one['text']}\n\n" for one in items)


def read_labels(path, items):
    labels = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        number, _, verdict = line.strip().partition("\t")
        if not number.isdigit() or verdict not in ("y", "n"):
            sys.exit(f"{path}: `{line}` is no verdict; expected `number<TAB>y` or `number<TAB>n`")
        labels[int(number)] = verdict == "y"
    unjudged = [one["number"] for one in items if one["number"] not in labels]
    if unjudged:
        sys.exit(f"{path}: no verdict on {len(unjudged)} of {len(items)} sentences, the first of them {unjudged[0]}")
    return labels


def score(items, labels):
    """(name, accepted, judged) of every share."""
    groups = [("human", lambda one: one["kind"] == "human"), ("foreign", lambda one: one["kind"] == "foreign")]
    groups += [("generated", lambda one: one["kind"] == "generated")]
    # A list of one round has nothing of the others.
    rounds = {one["round"] for one in items if one["kind"] == "generated"}
    for first, last in ROUNDS:
        if rounds.isdisjoint(range(first, last + 1)):
            continue
        name = f"  round {first}" if first == last else f"  rounds {first} to {last}"
        groups.append((name, lambda one, a=first, b=last: one["kind"] == "generated" and a <= one["round"] <= b))
    rows = []
    for name, belongs in groups:
        verdicts = Counter(labels[one["number"]] for one in items if belongs(one))
        rows.append((name, verdicts[True], verdicts.total()))
    return rows


def told_valid(human, name, wrong):
    """Prints whether verdicts count, by the shares of controls that were accepted: human ones, and those of a name."""
    valid = human >= LEAST_HUMAN and wrong <= MOST_FOREIGN
    wanted = f"human must be {LEAST_HUMAN:.0%} or more, {name} {MOST_FOREIGN:.0%} or less"
    print("valid" if valid else f"not valid: {wanted}")
    return valid


def print_score(items, labels):
    rows = score(items, labels)
    for name, accepted, judged in rows:
        low, high = wilson(accepted, judged)
        share = accepted / judged if judged else float("nan")
        print(f"{name:<18} {share:6.1%}  ({accepted} of {judged}; 95 % interval {low:.1%} to {high:.1%})")
    shares = {name: accepted / max(1, judged) for name, accepted, judged in rows}
    return told_valid(shares["human"], "foreign", shares["foreign"])


def main():
    parser = argparse.ArgumentParser(prog="judge", description=__doc__.split("\n")[0])
    parser.add_argument("--score", nargs=2, type=Path, metavar=("LIST", "LABELS"), help="count verdicts")
    parser.add_argument("--fnstore", type=Path, help="the program")
    parser.add_argument("--store", type=Path, help="with sets that `fnstore expand` wrote, ten rounds")
    parser.add_argument("--out", type=Path, help="list to write, with what is what")
    parser.add_argument("--sheet", type=Path, help="list to write for judges, without")
    parser.add_argument("--meaning", type=Path, help="list of the same sets beside their sources")
    parser.add_argument("--meaning-sheet", type=Path, help="the same for judges")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--places", nargs=2, type=int, metavar=("FIRST", "END"), action="append",
        help="take exemplars of these places of the draw of `paraphrase evaluate` alone, seed 1, counted from 0; may be repeated",
    )  # fmt: skip
    parser.add_argument("--where", default="", metavar="EXPR", help="take outputs that this query finds alone")
    given = parser.parse_args()
    if given.score:
        items = [json.loads(line) for line in given.score[0].read_text(encoding="utf-8").splitlines()]
        sys.exit(0 if print_score(items, read_labels(given.score[1], items)) else 1)
    if not all((given.fnstore, given.store, given.out, given.sheet)):
        parser.error("--fnstore, --store, --out and --sheet are needed to draw, --score to count")
    items = draw(Program(given.fnstore, given.store), given.seed, given.places, given.where)
    given.out.write_text("".join(json.dumps(one) + "\n" for one in items), encoding="utf-8")
    given.sheet.write_text(sheet(items), encoding="utf-8")
    if given.meaning and given.meaning_sheet:
        pairs = meanings(Program(given.fnstore, given.store), items, given.seed)
        given.meaning.write_text("".join(json.dumps(one) + "\n" for one in pairs), encoding="utf-8")
        given.meaning_sheet.write_text(meaning_sheet(pairs), encoding="utf-8")
    kinds = Counter(one["kind"] for one in items)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))


if __name__ == "__main__":
    main()
