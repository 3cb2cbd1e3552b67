"""Writes a run's adapter as fnstore reads it (`adapter.py` says how), and measures what rounding costs.

    python -m language_model export --base BASE --work WORK --run RUN --to ../models/rewriter

The best adapter is taken, with the least loss on the development examples, not the last. It lies in RUN/best, too, exported
already, but the loss of rounding was not measured there.
"""

import argparse
from pathlib import Path

import torch

from . import adapter
from .lora import put, rank_of
from .train import Held, dev_loss, opened


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model export", description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--work", type=Path, required=True, help="directory that `prepare` wrote")
    parser.add_argument("--run", type=Path, required=True, help="directory of `train`")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")
    parser.add_argument("--bits", type=int, choices=adapter.BITS, default=4, help="of a number")
    parser.add_argument("--batch", type=int, default=2048, help="tokens that are measured at once")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args(arguments)
    device, dev = torch.device(given.device), Held(given.work, given.batch).dev
    best = torch.load(given.run / "state.pt", map_location="cpu", weights_only=True)["best"]
    model, adapted = opened(given.base, device, torch.bfloat16, rank_of(best["adapter"]))
    put(adapted, best["adapter"])
    exact = dev_loss(model, dev, given.batch, device)
    tensors, facts = best["adapter"], best["training"]
    adapter.write(given.to, given.base, tensors, facts, adapter.prompt_of(given.work), given.bits)
    adapter.read(given.to, given.base, adapted)
    rounded = dev_loss(model, dev, given.batch, device)
    size = sum(path.stat().st_size for path in given.to.iterdir())
    losses = f"dev loss {exact:.4f}, in {given.bits} bits {rounded:.4f}"
    print(f"best of the run, after {facts['tokens']} tokens: {losses}; {size / 1e6:.1f} MB in {given.to}")
