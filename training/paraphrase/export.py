"""Writes a run's averaged weights as a model directory that fnstore reads.

8-bit with a scale a row by default (`training/quantize.py` holds the layout), which is what is shipped; `--f32` copies what
`transformers` loads. The config names the mark of words to avoid, so that fnstore knows to set it. The tokenizer gets a
normaliser: the model learned from ASCII punctuation alone, and would read typographic signs as bytes that it never saw.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import quantize

from .text import PUNCTUATION
from .tokenizer import AVOID


def reading_typographic_signs(tokenizer):
    """A tokenizer's JSON, with what `normalise` does to punctuation as its normaliser."""
    replace = lambda sign, ascii: {"type": "Replace", "pattern": {"String": chr(sign)}, "content": ascii}
    steps = [replace(sign, ascii) for sign, ascii in sorted(PUNCTUATION.items())]
    return tokenizer | {"normalizer": {"type": "Sequence", "normalizers": steps}}


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
    tokenizer = reading_typographic_signs(json.loads((given.run / "tokenizer.json").read_text(encoding="utf-8")))
    (given.to / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    if given.check:
        quantize.check(given.to, tensors, small, given.check, 300)
