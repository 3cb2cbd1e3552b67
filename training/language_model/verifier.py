"""Makes examples of a verifier's first question: does a word, in a sentence, evoke a frame?

    fnstore eval scratch --work SCRATCH --only prepare
    python -m language_model verifier --fnstore fnstore --store STORE --scratch SCRATCH/by-id/plan.json \
        --models ../models --base BASE --out WORK

STORE holds a FrameNet release alone. Right are annotated targets; wrong are the same targets under frames that are near by the
vectors of their LUs, under other frames of their lemma, and words of foreign frames in their place. Prompts are fnstore's own
(`passage.py`). So all LUs that a frame shows are its ten most annotated; examples of the shipped adapter drew two to ten.

Neither learnt from nor shown are the LUs that `judge.hidden` hides, and of the frames of `fnstore eval scratch` all LUs that it
does not give. Sentences of the documents that Das and Smith (2011) use for development and test are left out, wherever they
stand. WORK gets `shards/*.evokes.safetensors`, `dev.evokes.safetensors` (development documents), `held.hidden.safetensors`
(LUs that are not learnt from), `prompt.toml`, `answers.json` and `samples.evokes.txt`. `meaning` can add its examples to WORK.
"""

import argparse
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy

from judge import hidden
from program import Program
from vectors.table import read_table, unit

from .infill import key
from .passage import Question, asked, definition, lemma, listed, marked, most_annotated
from .yes_no import Writer

# Wrong examples for a right one, of which so many are of another frame of the lemma where there is one.
WRONG, AMBIGUOUS = 1.6, 0.3
# Of wrong ones, those of a near frame; the numbers of nearest frames that one is drawn from.
NEAR, NEAREST = 0.65, (5, 12, 39)
# Sentences with the word of a foreign frame in the target's place.
FOREIGN = 0.08
# Relations between frames, by which a word that evokes one may be said to evoke the other.
RELATED = {"Inheritance", "Perspective_on", "See_also", "Subframe", "ReFraming_Mapping"}
# Exemplars of an LU that are learnt from, and sets of a hidden one that are measured on.
MOST_OF_LU, MOST_OF_HIDDEN = 14, 2
DEV_SETS, HIDDEN_SETS = 400, 700
BLOCKS = 40


class Frames:
    """A release's frames, without the LUs that are neither learnt from nor shown."""

    def __init__(self, frames, units, relations, is_hidden):
        """Frames, LUs and relations as the program prints them."""
        self.is_hidden = is_hidden
        self.meanings = {frame["name"]: definition(frame["definition_text"]) for frame in frames}
        self.of_name, self.of_lemma, self.hidden_lemmas = defaultdict(set), defaultdict(set), set()
        self.shown, whole, self.related = defaultdict(list), Counter(), defaultdict(set)
        for lu in most_annotated(units):
            frame, name = lu["frame"], lu["name"]
            whole[frame] += 1
            self.of_name[name].add(frame)
            self.of_lemma[lemma(name).lower()].add(frame)
            if is_hidden(frame, name):
                self.hidden_lemmas.add((frame, lemma(name).lower()))
            else:
                self.shown[frame].append(lu)
        for relation in relations:
            if relation["kind"] in RELATED:
                self.related[relation["parent"]].add(relation["child"])
                self.related[relation["child"]].add(relation["parent"])
        # A frame of one LU would show none.
        self.names = sorted(frame for frame in self.meanings if whole[frame] > 1 and self.shown[frame])
        self.known, self.near = set(self.names), {}

    def place(self, words, table):
        """Finds each frame's nearest, by the mean vector of its LUs' first words."""
        at = {word: place for place, word in enumerate(words)}
        means = []
        for frame in self.names:
            heads = [lemma(lu["name"]).split(" ")[0].lower() for lu in self.shown[frame]]
            rows = [table[at[head]] for head in heads if head in at]
            means.append(numpy.mean(rows, 0) if rows else numpy.zeros(table.shape[1]))
        means = unit(numpy.array(means))
        order = numpy.argsort(-(means @ means.T), axis=1, kind="stable")
        for place, frame in enumerate(self.names):
            self.near[frame] = [self.names[other] for other in order[place, : NEAREST[-1] + 1] if other != place]

    def may_evoke(self, frame, name, other):
        """Whether a word of a frame may be said to evoke another one, too."""
        return other == frame or other in self.of_name[name] or other in self.related[frame]


class Drawer:
    """Draws examples of annotation sets: (prompt, whether it is right)."""

    def __init__(self, frames, question):
        self.frames, self.question = frames, question

    def ask(self, frame, found, name):
        """The question whether what was marked evokes a frame; the LU of that name is not shown."""
        lemmas = listed(self.frames.shown[frame], name)
        return asked(self.question, frame, self.frames.meanings[frame], lemmas, *found)

    def is_of_use(self, record):
        return bool(record["lu"]) and record["frame"] in self.frames.known and marked(record["text"], record["targets"]) is not None

    def wrong_frame(self, frame, name, rng):
        """A frame that a word does not evoke; None when the draw finds none."""
        frames = self.frames
        if rng.random() < AMBIGUOUS:
            of_lemma = lemma(name).lower()
            others = sorted(frames.of_lemma[of_lemma] & frames.known - frames.related[frame] - {frame})
            others = [other for other in others if (other, of_lemma) not in frames.hidden_lemmas]
            if others:
                return rng.choice(others)
        drawn = frames.near[frame][: rng.choice(NEAREST)] if rng.random() < NEAR else rng.sample(frames.names, min(8, len(frames.names)))
        drawn = [other for other in drawn if not frames.may_evoke(frame, name, other)]
        return rng.choice(drawn) if drawn else None

    def foreign(self, record, rng):
        """The sentence with a word of another frame in the target's place; None when the word may evoke the frame."""
        frames, frame = self.frames, record["frame"]
        other = rng.choice(frames.names)
        name = rng.choice(frames.shown[other])["name"]
        word = lemma(name)
        if other in frames.related[frame] or frame in frames.of_lemma[word.lower()]:
            return None
        return self.ask(frame, marked(record["text"], record["targets"], word), name)

    def learned(self, records, rng):
        """Examples to learn from: of each record a right one and about `WRONG` wrong ones."""
        for record in records:
            frame, name = record["frame"], record["lu"]
            found = marked(record["text"], record["targets"])
            yield self.ask(frame, found, name), True
            for _ in range(int(WRONG) + (rng.random() < WRONG % 1)):
                other = self.wrong_frame(frame, name, rng)
                if other:
                    yield self.ask(other, found, name), False
            foreign = self.foreign(record, rng) if rng.random() < FOREIGN else None
            if foreign:
                yield foreign, False

    def measured(self, records, rng):
        """Examples to measure on: of each record a right one and a wrong one."""
        for record in records:
            found = marked(record["text"], record["targets"])
            yield self.ask(record["frame"], found, record["lu"]), True
            other = self.wrong_frame(record["frame"], record["lu"], rng)
            if other:
                yield self.ask(other, found, record["lu"]), False


def parted(records, is_hidden, held_out):
    """Sets to learn from, and sets of hidden LUs; of each LU not too many. Held-out sentences are in neither."""
    learned, of_hidden, count = [], [], Counter()
    for record in records:
        unit = record["frame"], record["lu"]
        if key(record["text"]) in held_out:
            continue
        if is_hidden(*unit):
            if count[unit] < MOST_OF_HIDDEN:
                of_hidden.append(record)
                count[unit] += 1
        elif record["origin"] != "exemplar":
            learned.append(record)
        elif count[unit] < MOST_OF_LU:
            learned.append(record)
            count[unit] += 1
    return learned, of_hidden


def hiding(program, plan):
    """Whether an LU, (frame, name), is neither learnt from nor shown."""
    exemplars, _, units = hidden.lexicon_of(program)
    planned = hidden.plan(units, exemplars, random.Random(hidden.SEED))
    names = {(frame, name) for part in planned.values() for frame, of_frame, _ in part for name in of_frame}
    given = {frame["name"]: {lu["name"] for lu in frame["seeds"]} for frame in plan["frames"]}

    def is_hidden(frame, name):
        return name not in given[frame] if frame in given else (frame, name) in names

    return is_hidden


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model verifier", description=__doc__.split("\n")[0])
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument("--store", type=Path, required=True, help="with a FrameNet release; it is only read")
    parser.add_argument("--scratch", type=Path, required=True, metavar="PLAN", help="plan.json of `fnstore eval scratch`")
    parser.add_argument("--models", type=Path, required=True, help="directory with word-vectors")
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="WORK")
    parser.add_argument("--sets", type=int, help="annotation sets to learn from; all by default")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="files of examples, as many as `meaning` writes")
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args(arguments)
    program, rng = Program(given.fnstore, given.store), random.Random(given.seed)
    is_hidden = hiding(program, json.loads(given.scratch.read_text(encoding="utf-8")))
    frames = Frames(program.run("frames"), program.run("lus"), program.run("relations"), is_hidden)
    frames.place(*read_table(given.models / "word-vectors"))
    question = Question("evokes")
    drawer, writer = Drawer(frames, question), Writer(given.out, given.base, question)
    dev, test = (program.query(f"origin=fulltext split={part}") for part in ("dev", "test"))
    if not (dev and test):
        raise SystemExit(f"{given.store} has no full text of development and test documents, which are to be left out")
    held_out = {key(record["text"]) for record in (*dev, *test)}
    records = program.query("origin=exemplar or split=train")
    rng.shuffle(records)
    learned, of_hidden = ([*filter(drawer.is_of_use, part)] for part in parted(records, is_hidden, held_out))
    print(f"{len(learned[: given.sets])} sets to learn from, {len(of_hidden)} of hidden LUs", flush=True)
    examples = list(drawer.learned(learned[: given.sets], rng))
    rng.shuffle(examples)
    writer.learned("evokes", examples, given.blocks)
    # Hidden LUs stay out of what chooses the best adapter, too.
    dev = [record for record in dev if drawer.is_of_use(record) and not is_hidden(record["frame"], record["lu"])]
    for name, part, most in (("dev.evokes", dev, DEV_SETS), ("held.hidden", of_hidden, HIDDEN_SETS)):
        draw = random.Random(f"{given.seed}/{name}")
        writer.held_out(name, list(drawer.measured(draw.sample(part, min(most, len(part))), draw)))
