"""Writes a run's adapter as fnstore reads it (`adapter.py` says how), and measures what 8 bits cost.

    python -m language_model export --base BASE --work WORK --run RUN --to ../models/rewriter

The last adapter is taken. That with the least loss on the development pairs lies in RUN/best, exported already.
"""

import argparse
from pathlib import Path

import torch

from . import adapter
from .lora import put
from .shards import Shard
from .train import dev_loss, opened


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model export", description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--work", type=Path, required=True, help="directory that `prepare` wrote")
    parser.add_argument("--run", type=Path, required=True, help="directory of `train`")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR")
    parser.add_argument("--batch", type=int, default=2048, help="tokens that are measured at once")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args(arguments)
    device, dev = torch.device(given.device), Shard(given.work / "dev.safetensors")
    state = torch.load(given.run / "state.pt", map_location="cpu", weights_only=True)
    model, adapted = opened(given.base, device, torch.bfloat16)
    put(adapted, state["adapter"])
    exact = dev_loss(model, dev, given.batch, device)
    facts = state["training"] | {"dev_loss": round(exact, 4)}
    adapter.write(given.to, given.base, state["adapter"], facts, adapter.prompt_of(given.work))
    adapter.read(given.to, given.base, adapted)
    rounded = dev_loss(model, dev, given.batch, device)
    size = sum(path.stat().st_size for path in given.to.iterdir())
    print(f"{state['tokens']} tokens: dev loss {exact:.4f}, in 8 bits {rounded:.4f}; {size / 1e6:.1f} MB in {given.to}")
