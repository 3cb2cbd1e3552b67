"""A table of word vectors as fnstore reads it."""

import json
import sys
from pathlib import Path

import numpy
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from quantize import dequantize, quantize, read, save

NAME = "vectors.weight"


def unit(table):
    """The rows at length 1."""
    return table / numpy.maximum(numpy.linalg.norm(table, axis=1, keepdims=True), 1e-9)


def reduce(table, dimensions):
    """The rows by the directions in which they vary most, at length 1."""
    table = table - table.mean(0)
    _, directions = numpy.linalg.eigh(table.T @ table)
    return unit(table @ directions[:, ::-1][:, :dimensions])


def write_table(directory, words, table):
    directory.mkdir(parents=True, exist_ok=True)
    tensors = quantize({NAME: torch.tensor(numpy.ascontiguousarray(table))})
    save(tensors, directory / "model.safetensors")
    (directory / "words.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    config = {"model_type": "word-vectors", "format": 1, "words": len(words), "dimensions": table.shape[1]}
    (directory / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def read_table(directory):
    """Words and their vectors at length 1."""
    table = dequantize(read(directory))[NAME].numpy()
    return (directory / "words.txt").read_text(encoding="utf-8").splitlines(), unit(table)
