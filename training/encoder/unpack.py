"""Takes an aligner apart that `export` wrote, so that `align` can go on from it.

    python -m encoder unpack --encoder models/aligner-encoder --head models/aligner --out DIR

DIR has the rounded weights as `align` leaves its own in `best/`: what `--encoder`, `--tuned`, `--teachers` and `--aligner` read.
"""

import argparse
import json
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file

from .export import fingerprint, opened
from .head import EPSILON


def main(arguments):
    parser = argparse.ArgumentParser(prog="encoder unpack", description=__doc__.split("\n")[0])
    parser.add_argument("--encoder", type=Path, required=True, help="directory that `export` wrote")
    parser.add_argument("--head", type=Path, required=True, help="directory that `export` wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    given = parser.parse_args(arguments)
    config = json.loads((given.head / "config.json").read_text())
    tensors = load_file(given.head / "model.safetensors")
    if config["encoder_fingerprint"] != fingerprint(given.encoder):
        parser.error(f"--head: {given.head} is of another encoder, {config['encoder']}")
    if "layer" in config or any(name.startswith("adapter.") for name in tensors):
        parser.error(f"--head: {given.head} reads a part of its encoder, or has an adapter for it; only whole encoders can be gone on with")
    if bool((tensors["norm.running_var"] - (1 - EPSILON)).abs().max() > 1e-6):
        parser.error(f"--head: {given.head} has a batch normalisation of its own; `align` trains without one")
    given.out.mkdir(parents=True, exist_ok=True)
    opened(given.encoder).save_pretrained(given.out)
    shutil.copyfile(given.encoder / "tokenizer.json", given.out / "tokenizer.json")
    of_linker = {name.removeprefix("linker."): tensor for name, tensor in tensors.items() if name.startswith("linker.")}
    of_head = {name: tensor for name, tensor in tensors.items() if not name.startswith("linker.")}
    save_file(of_head, given.out / "head.safetensors")
    if of_linker:
        save_file(of_linker, given.out / "linker.safetensors")
