"""Beam outputs of the rewriter as training targets: sequence-level distillation (Kim and Rush 2016) from itself.

    python -m paraphrase distil --fnstore fnstore --models ../models --pairs WORK/pairs.tsv --count 12000 --out outputs.tsv

Sources of the mix are rewritten by the program as expansion does it, with one content word banned in all its forms that
the reference does without. A line of OUT is source, reference, output; `ablation --outputs` trains on either.
"""

import argparse
import random
from pathlib import Path

from program import Program

from .batches import read_pairs
from .marks import avoidable
from .measures import Morphology, holds
from .prepare import GROUPS


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase distil", description=__doc__.split("\n")[0])
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.tsv of `prepare`")
    parser.add_argument("--morphology", type=Path, required=True, help="UniMorph's table, for the forms of a word")
    parser.add_argument("--count", type=int, default=12_000, help="how many sources to rewrite")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    rng = random.Random(given.seed)
    pairs = [pair for pair in read_pairs(given.pairs) if GROUPS[pair[2]]["oriented"]]
    morphology = Morphology(given.morphology, [])
    chosen = []
    for source, reference, _ in rng.sample(pairs, min(len(pairs), given.count)):
        places = avoidable(source, reference)
        if places:
            forms = morphology.all_forms(source[slice(*rng.choice(places))].lower())
            chosen.append((source, reference, [form for form in forms if not holds(reference, form)]))
    chosen = [one for one in chosen if one[2]]
    outputs = Program(given.fnstore, models=given.models).paraphrase(
        [{"text": source, "avoid": avoid} for source, _, avoid in chosen]
    )
    lines = [(source, reference, output) for (source, reference, _), output in zip(chosen, outputs) if output]
    given.out.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} outputs of {len(chosen)} sources")
