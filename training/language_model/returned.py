"""Examples of outputs and the human sentences that they were made of: the output is read, and the person's sentence is the answer.

    fnstore query 'origin=generated p>=0.7824' --format jsonl > outputs.jsonl
    fnstore query 'origin=exemplar or split=train' --format jsonl > sets.jsonl
    fnstore lus --format jsonl > lus.jsonl
    python -m language_model returned --outputs outputs.jsonl --sets sets.jsonl --lus lus.jsonl --without-frames FILE \
        --data ../../shared/data --models ../models --base BASE --pairs WORK --out RETURNED

Rejection sampling, with people's words as targets (Hu et al. 2019, section 4): of an output that the filter keeps, the
trigger is avoided, and the seed has another LU of the frame in its place. So a model learns which words may stand in a
word's place, and to keep the rest. Words of other LUs of the frame are avoided beside, as in later rounds.

Each file of examples holds as many of these as of the pairs that `prepare` wrote to WORK, files of one draw in turn.
Outputs for frames in the file of --without-frames are never learned from; half of the development examples are theirs.
`train --from ADAPTER --work RETURNED` goes on from an adapter.
"""

import argparse
import json
import random
import shutil
from collections import defaultdict
from pathlib import Path

from paraphrase.text import jaccard, spaced, unspaced, words

from .examples import SPACED, in_framenets_spacing
from .lexicon import Lexicon
from .prepare import encoded, opened_tokenizer
from .prompt import HERE, Request, Template
from .shards import Shard, write

BLOCK, DEV_EXAMPLES = 2_500, 300
# Examples with all forms of the trigger, with other LUs, and the most of these; with hints, and the
# most of these.
FORMS, BESIDE, MOST_BESIDE = 0.5, 0.4, 8
HINT, FITTING, MOST_HINTS = 0.2, 0.7, 6
# Outputs that share less with their source say something else.
LEAST_ALIKE = 0.35
FLAWS = {"copy", "duplicate", "weak-alignment", "unmet", "unknown-word"}


class Returned:
    """Draws an example of an output and its seed."""

    def __init__(self, lexicon, lus):
        self.lexicon, self.lemmas = lexicon, defaultdict(list)
        for unit in lus:
            self.lemmas[unit["frame"]].append(unit["name"].rpartition(".")[0])

    def draw(self, output, seed, rng):
        """(request, answer), or None."""
        source, answer = unspaced(spaced(output["text"])), unspaced(spaced(seed["text"]))
        if jaccard(set(words(source)), set(words(answer))) < LEAST_ALIKE:
            return None
        taken = set().union(*(self.lexicon.family(word) for word in words(answer)))
        trigger = output["trigger"]
        if any(self.lexicon.family(word) & taken for word in words(trigger)[:1]):
            return None
        beside = [lemma for lemma in self.lemmas[output["frame"]] if lemma.isascii() and lemma.replace(" ", "").isalpha()]
        beside = [lemma for lemma in beside if not any(self.lexicon.family(word) & taken for word in lemma.split())]
        avoid = [trigger]
        if rng.random() < FORMS and " " not in trigger:
            avoid += [form for form in self.lexicon.forms(trigger) if form != trigger]
        if rng.random() < BESIDE:
            others = rng.sample(beside, min(len(beside), rng.randint(1, MOST_BESIDE)))
            avoid += [other if " " in other else rng.choice(self.lexicon.forms(other)) for other in others]
        hint = []
        if rng.random() < HINT:
            hint = rng.sample(beside, min(len(beside), rng.randint(0, MOST_HINTS)))
            hint = [lemma for lemma in hint if lemma not in avoid]
            if rng.random() < FITTING:
                hint.append(seed["lu"].rpartition(".")[0])
            rng.shuffle(hint)
        if rng.random() < SPACED:
            source = in_framenets_spacing(source, rng)
        return Request(source, list(dict.fromkeys(rng.sample(avoid, len(avoid)))), [], hint), answer


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def examples_of(shard):
    """The examples of a file, as `write` takes them."""
    for place in range(len(shard)):
        ids = shard.tokens[shard.starts[place] : shard.starts[place + 1]].tolist()
        yield ids[: shard.prompts[place]], ids[shard.prompts[place] :]


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model returned", description=__doc__.split("\n")[0])
    parser.add_argument("--outputs", type=Path, required=True, help="JSON lines of generated sets that a filter keeps")
    parser.add_argument("--sets", type=Path, required=True, help="JSON lines of human sets, their seeds among them")
    parser.add_argument("--lus", type=Path, required=True, help="JSON lines of `fnstore lus`")
    parser.add_argument("--without-frames", type=Path, help="names of frames that are not learned from, one a line")
    parser.add_argument("--data", type=Path, required=True, help="directory with morphology/")
    parser.add_argument("--models", type=Path, required=True, help="directory with word-vectors")
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--pairs", type=Path, required=True, metavar="WORK", help="directory that `prepare` wrote")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="leave out the first N files of pairs")
    parser.add_argument("--out", type=Path, required=True, metavar="RETURNED")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    (given.out / "shards").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE, given.out / "prompt.toml")
    rng = random.Random(given.seed)
    lexicon = Lexicon.read(given.data / "morphology/unimorph-english.tsv.xz", given.models / "word-vectors")
    drawer, template, tokenizer = Returned(lexicon, read(given.lus)), Template(), opened_tokenizer(given.base)
    without = set(given.without_frames.read_text(encoding="utf-8").split("\n")) if given.without_frames else set()
    seeds = {record["id"]: record for record in read(given.sets)}
    learned, held_out = [], []
    for output in read(given.outputs):
        made = output["generation"]
        if made["seed"] in seeds and not FLAWS & set(made["flags"]):
            example = drawer.draw(output, seeds[made["seed"]], random.Random(f"{given.seed}/{output['id']}"))
            if example:
                (held_out if output["frame"] in without else learned).append(example)
    rng.shuffle(learned)
    rng.shuffle(held_out)
    pairs = Shard(given.pairs / "dev.safetensors")
    count = write(given.out / "dev.safetensors", [*examples_of(pairs), *encoded(held_out[:DEV_EXAMPLES], template, tokenizer)])
    print(f"dev: {count} examples, {len(pairs)} of them pairs", flush=True)
    files = sorted((given.pairs / "shards").glob("draw-0.block-*.safetensors"))[given.first :]
    for block in range(-(-len(learned) // BLOCK)):
        part = encoded(learned[block * BLOCK :][:BLOCK], template, tokenizer)
        others = list(examples_of(Shard(files[block % len(files)])))
        others = rng.sample(others, min(len(others), len(part)))
        count = write(given.out / "shards" / f"draw-0.block-{block:03}.safetensors", [*part, *others])
        print(f"block {block}: {count} examples, {len(part)} outputs", flush=True)
    samples = [f"{template.write(request)} {answer}\n" for request, answer in learned[:60]]
    (given.out / "samples.txt").write_text("\n".join(samples), encoding="utf-8")
