"""Writing golden files that stay the same on every machine.

Sums of floats differ in their last bits between processors, so a file whose numbers all agree
with the fresh ones within TOLERANCE is left alone; `git diff` then shows real changes only.
"""

import json
from pathlib import Path

import numpy
import safetensors
import tokenizers
import torch
import transformers

ROOT = Path(__file__).resolve().parents[2] / "tests" / "data" / "parity"
TOLERANCE = 2e-5


def versions():
    modules = [numpy, safetensors, tokenizers, torch, transformers]
    return {module.__name__: module.__version__.split("+")[0] for module in modules}


def rounded(values, digits=6):
    """Nested lists of a tensor's numbers."""
    if isinstance(values, torch.Tensor):
        values = values.tolist()
    if isinstance(values, list):
        return [rounded(value, digits) for value in values]
    return round(values, digits) + 0.0  # no negative zero


def agree(old, new):
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(agree(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(agree, old, new))
    if isinstance(old, float) and isinstance(new, (float, int)):
        return abs(old - new) <= TOLERANCE * max(1.0, abs(old))
    return old == new


def write(name, what, cases):
    path = ROOT / name
    record = {"about": what, "versions": versions(), "cases": cases}
    if path.exists() and agree(json.loads(path.read_text()), record):
        print(f"{name}: unchanged")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    head = json.dumps({key: record[key] for key in ("about", "versions")})[1:-1]
    path.write_text("{" + head + ', "cases": [\n' + lines + "\n]}\n")
    print(f"{name}: written")


def fill(model, seed, spread):
    """Uniform weights from a seed, with exact arithmetic: the same bits everywhere.

    Matrices get `spread / sqrt(columns)`, far more than a fresh model has, so that attention and
    outputs are peaked and a mistake shows.
    """
    random = numpy.random.Generator(numpy.random.PCG64(seed))
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            uniform = random.integers(-(2**15), 2**15, tuple(parameter.shape)) / 2**15
            values = torch.tensor(uniform, dtype=torch.float32)
            is_norm = "norm" in name.lower()
            if is_norm and name.endswith("weight"):
                parameter.copy_(1.0 + 0.25 * values)
            elif parameter.dim() < 2:
                parameter.copy_(0.25 * values)
            else:
                parameter.copy_(values * (2.0 ** round(numpy.log2(spread / parameter.shape[-1] ** 0.5))))


def save(model, directory):
    """Saves weights and configuration, without the line that names the library's version."""
    directory.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(directory)
    (directory / "model.safetensors").chmod(0o644)
    for name in ("config.json", "generation_config.json"):
        path = directory / name
        if path.exists():
            config = json.loads(path.read_text())
            config.pop("transformers_version", None)
            path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
