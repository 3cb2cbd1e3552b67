"""An adapter as fnstore reads it: a directory with

- `adapter_model.safetensors`: of each adapted matrix W (out x in) of the base, by the names of `transformers`,
  `NAME.lora_A.weight` (I8, rank x in) and `NAME.lora_B.weight` (I8, out x rank), each with `.scale` (F32, one number a row):
  A[r, c] = A8[r, c] * scale[r]. In 4 bits they are U8, without `.scale` (`blocks.py` says how).
  W + lora_alpha / r * B @ A is what is multiplied. Rows of q_proj and k_proj are ordered as `transformers` orders them,
  halves of the rotated dimensions one after the other; GGUF has them in pairs (`unpack.py`);
- `adapter_config.json`: `r`, `lora_alpha`, `target_modules` and `base_model_name_or_path` as PEFT names them; the
  fingerprint of the base's tensors (`unpack.py` says of what); and how the adapter was trained;
- `prompt.toml`: how it is asked.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import quantize

from . import blocks
from .lora import MODULES, SCALE, put, rank_of
from .prompt import HERE as PROMPT

WEIGHTS, CONFIG = blocks.WEIGHTS, "adapter_config.json"
# Sizes of a number in which an adapter can be written.
BITS = (4, 8)


def prompt_of(work):
    """The prompt that the examples of a directory were written by."""
    own = work / "prompt.toml"
    return own if own.exists() else PROMPT


def write(directory, base, tensors, training, prompt=PROMPT, bits=8):
    """Writes an adapter over one that was there, with its prompt. Other files of the directory stay."""
    partial = directory.with_name(directory.name + ".tmp")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(directory, partial) if directory.exists() else partial.mkdir(parents=True)
    if bits == 4:
        blocks.write(partial / WEIGHTS, {name: tensor.float().numpy() for name, tensor in tensors.items()})
    else:
        quantize.save(dict(sorted(quantize.quantize(tensors).items())), partial / WEIGHTS)
    of_base = json.loads((base / "base.json").read_text())
    config = {
        "format": 1,
        "peft_type": "LORA",
        "base_model_name_or_path": of_base["file"],
        "base_fingerprint": of_base["fingerprint"],
        "r": rank_of(tensors),
        "lora_alpha": rank_of(tensors) * SCALE,
        "target_modules": list(MODULES),
        "training": training,
    }
    (partial / CONFIG).write_text(json.dumps(config, indent=2) + "\n")
    shutil.copyfile(prompt, partial / "prompt.toml")
    shutil.rmtree(directory, ignore_errors=True)
    os.replace(partial, directory)


def read(directory, base, adapted):
    """Gives an adapted model the values of an adapter; returns its configuration."""
    config = json.loads((directory / CONFIG).read_text())
    ours = json.loads((base / "base.json").read_text())["fingerprint"]
    if config["base_fingerprint"] != ours:
        raise ValueError(f"{directory / CONFIG}: base_fingerprint is {config['base_fingerprint']}, that of {base} is {ours}")
    put(adapted, {name: torch.from_numpy(matrix) for name, matrix in blocks.matrices(directory / WEIGHTS).items()})
    return config
