"""Writes an adapter in 4 bits, from one in 8 bits or in floats.

    python -m language_model blocks --adapter ../models/rewriter --to DIR

A matrix is U8: rows of blocks of 18 bytes, each for 32 numbers of a row, as GGUF's Q4_0 has them. A block is a scale (F16,
little-endian) and 32 numbers from 0 to 15, of which byte i has the i-th in its lower half and the one 16 after it in its
upper half: `W[r, c] = scale * (q - 8)`. Of a block the scale is taken that loses least squares, among some. A matrix whose
rows are no whole blocks becomes F16.
"""

import argparse
import shutil
from pathlib import Path

import numpy
from safetensors.numpy import load_file, save_file

WEIGHTS = "adapter_model.safetensors"
NUMBERS, ZERO, SCALE_BYTES = 32, 8, 2
BYTES = SCALE_BYTES + NUMBERS // 2
# What the largest number of a block is tried to be rounded from; at either sign it may be at the longer end.
LARGEST = [sign * size / 4 for size in range(22, 39) for sign in (1, -1)]


def rounded(blocks, scales):
    """The nearest integers, less ZERO, of blocks (N, NUMBERS) by scales (N)."""
    steps = numpy.where(scales == 0, 1, scales)[:, None]
    return numpy.clip(numpy.round(blocks / steps), -ZERO, ZERO - 1)


def scales_of(blocks):
    """A scale for each of blocks (N, NUMBERS), as its 16 bits have it."""
    largest = blocks[numpy.arange(len(blocks)), numpy.abs(blocks).argmax(1)]
    best, least = numpy.zeros_like(largest), (blocks**2).sum(1)
    for size in LARGEST:
        integers = rounded(blocks, largest / numpy.float32(size))
        # With these integers this scale loses least.
        squares = numpy.maximum((integers**2).sum(1), 1)
        scales = ((integers * blocks).sum(1) / squares).astype(numpy.float16).astype(numpy.float32)
        lost = ((blocks - scales[:, None] * rounded(blocks, scales)) ** 2).sum(1)
        better = lost < least
        best[better], least[better] = scales[better], lost[better]
    return best


def packed(matrix):
    """A matrix (rows, columns) as bytes; in F16 where its rows are no whole blocks."""
    if matrix.shape[1] % NUMBERS:
        return matrix.astype(numpy.float16)
    blocks = numpy.ascontiguousarray(matrix, numpy.float32).reshape(-1, NUMBERS)
    scales = scales_of(blocks)
    integers = (rounded(blocks, scales) + ZERO).astype(numpy.uint8)
    halves = integers[:, : NUMBERS // 2] | integers[:, NUMBERS // 2 :] << 4
    found = numpy.concatenate([scales.astype("<f2")[:, None].view(numpy.uint8), halves], 1)
    return numpy.ascontiguousarray(found.reshape(len(matrix), -1))


def unpacked(found):
    """The matrix of bytes (rows, blocks * BYTES)."""
    blocks = found.reshape(-1, BYTES)
    scales = numpy.ascontiguousarray(blocks[:, :SCALE_BYTES]).view("<f2").astype(numpy.float32)
    halves = blocks[:, SCALE_BYTES:]
    integers = numpy.concatenate([halves & 15, halves >> 4], 1).astype(numpy.float32) - ZERO
    return (scales * integers).reshape(len(found), -1)


def matrices(path):
    """The matrices of an adapter's file in F32, by name, whatever they are stored in."""
    stored, found = load_file(path), {}
    for name, tensor in stored.items():
        if tensor.dtype == numpy.int8:
            found[name] = tensor * stored[f"{name}.scale"][:, None]
        elif tensor.dtype == numpy.uint8:
            found[name] = unpacked(tensor)
        elif not name.endswith(".scale"):
            found[name] = tensor.astype(numpy.float32)
    return found


def write(path, tensors):
    """Writes matrices, by name, in 4 bits."""
    save_file({name: packed(tensor) for name, tensor in sorted(tensors.items())}, path, metadata={"format": "pt"})
    path.chmod(0o644)


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model blocks", description=__doc__.split("\n")[0])
    parser.add_argument("--adapter", type=Path, required=True, metavar="DIR")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="made as a copy but for the weights")
    given = parser.parse_args(arguments)
    before = matrices(given.adapter / WEIGHTS)
    # Its sums would be those of the other weights.
    shutil.copytree(given.adapter, given.to, ignore=shutil.ignore_patterns(WEIGHTS, "BLAKE3SUMS"), dirs_exist_ok=True)
    write(given.to / WEIGHTS, before)
    after, size = matrices(given.to / WEIGHTS), (given.to / WEIGHTS).stat().st_size
    squares = sum((matrix**2).sum(dtype=float) for matrix in before.values())
    lost = sum(((after[name] - matrix) ** 2).sum(dtype=float) for name, matrix in before.items())
    print(f"{given.to}: {size / 1e6:.2f} MB, relative error {(lost / squares) ** 0.5:.4f}")
