"""What each part of the recipe is worth: the same steps from the same weights, with one part left out.

    python -m paraphrase ablation --work WORK --run RUN --steps 300 --dev DEV --out report.json

Every row goes on from RUN, which is not changed, with the learning rate falling to zero over the steps, and reads the
same pairs in the same order. What is measured is the mean negative log-likelihood of a piece (natural log) of the
development pairs' second texts: of their sources as they are, spaced as FrameNet spaces, and with one word marked that
the target lacks. So few steps tell what a part does, not how far it would lead; and
they tell it of the last weights, since the average of some 2,000 steps hardly moves.

`--outputs` (of `distil`) adds two rows: beam outputs as targets, and for the same sources the references.
"""

import argparse
import functools
import itertools
import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import torch
from tokenizers import Tokenizer

from memory import keep_memory

from . import batches, train
from .marks import avoidable, corrupt, is_close, mark
from .prepare import lines
from .text import spaced

# Name, and what is otherwise than in the recipe.
ROWS = [
    ("the recipe", {}),
    ("without label smoothing", {"smoothing": 0.0}),
    ("without marks", {"marked_share": 0.0, "with_close": False}),
    ("without close pairs", {"with_close": False}),
    ("without spacing", {"spaced_share": 0.0}),
]
# A line of `distil` is source, reference, output.
OUTPUT_ROWS = [("references of the rewritten sources", 1), ("beam outputs in their place", 2)]
# A group of `prepare` whose first text is always the source.
ORIENTED = "wmt-official-ref"


def dev_sets(path):
    """The development pairs in three readings."""
    pairs = list(itertools.islice(lines(path), train.DEV_PAIRS))
    rng = random.Random("marks")
    marked = [(mark(source, [rng.choice(places)]), target) for source, target in pairs if (places := avoidable(source, target))]
    return {"plain": pairs, "spaced": [(spaced(source), target) for source, target in pairs], "marked": marked}


def learn(given, tokenizer, pairs, row):
    """The weights after the steps of one row: averaged, and the last ones."""
    train.SMOOTHING = row.get("smoothing", 0.1)
    shares = {name: row[name] for name in ("marked_share", "spaced_share") if name in row}
    batches.corrupt = functools.partial(corrupt, **shares)
    if not row.get("with_close", True):
        pairs = [pair for pair in pairs if not is_close(*pair[:2])]
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(given.run / "state.pt", scratch)
        run = train.Run(Path(scratch), "small", tokenizer, torch.device("cpu"), None)
        shape, first = train.PRESETS[run.preset], run.step
        run.model.train()
        stream = batches.batches(pairs, tokenizer, 1, run.chunk, shape["budget"])
        for _, sources, targets in itertools.islice(stream, given.steps):
            left = 1 - (run.step - first) / given.steps
            run.learn(sources, targets, train.rate_at(run.step + 1, shape["rate"], left))
        run.save()
        averaged = train.MarianMTModel.from_pretrained(Path(scratch) / "model", dtype=torch.float32)
    return averaged, run.model


def measured(model, tokenizer, sets):
    return {name: round(train.dev_loss(model, tokenizer, pairs, torch.device("cpu")), 4) for name, pairs in sets.items()}


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase ablation", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="directory with pairs.tsv and tokenizer.json")
    parser.add_argument("--run", type=Path, required=True, help="the training run to go on from; it is not changed")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--dev", type=Path, required=True, help="development pairs (dev.tsv.xz)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--outputs", type=Path, help="beam outputs, written by `distil`")
    parser.add_argument("--rows", nargs="*", help="rows to measure [default: all]")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(given.threads)
    tokenizer = Tokenizer.from_file(str(given.work / "tokenizer.json"))
    pairs, sets = batches.read_pairs(given.work / "pairs.tsv"), dev_sets(given.dev)
    rows = [(name, pairs, row) for name, row in ROWS]
    if given.outputs:
        rewritten = batches.read_pairs(given.outputs)
        rows += [(name, [(line[0], line[column], ORIENTED) for line in rewritten], {}) for name, column in OUTPUT_ROWS]
    report = {}
    for name, pairs, row in rows:
        if given.rows and name not in given.rows:
            continue
        averaged, last = learn(given, tokenizer, pairs, row)
        report[name] = {"averaged": measured(averaged, tokenizer, sets), "last": measured(last, tokenizer, sets)}
        given.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        print(name, report[name], flush=True)
