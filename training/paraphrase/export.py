"""Writes a run's averaged weights as a model directory that fnstore reads.

8-bit with a scale a row by default (`training/quantize.py` holds the layout), which is what is shipped; `--f32` copies what
`transformers` loads. The config names the mark of words to avoid, so that fnstore knows to set it.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import quantize

from .tokenizer import AVOID


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase export", description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--f32", action="store_true")
    parser.add_argument("--check", type=Path, help="pairs to measure the loss of 8 bits on")
    given = parser.parse_args(arguments)
    given.to.mkdir(parents=True, exist_ok=True)
    tensors = quantize.read(given.run / "model")
    small = tensors if given.f32 else quantize.quantize(tensors)
    quantize.write(small, given.to)
    config = json.loads((given.run / "model" / "config.json").read_text())
    config["avoid_token"] = AVOID
    (given.to / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    shutil.copyfile(given.run / "model" / "generation_config.json", given.to / "generation_config.json")
    shutil.copyfile(given.run / "tokenizer.json", given.to / "tokenizer.json")
    if given.check:
        quantize.check(given.to, tensors, small, given.check, 300)
