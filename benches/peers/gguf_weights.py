"""Weights of a GGUF file as numpy arrays in single precision, without a package for it.

Reads Q4_1, Q8_0, F16 and F32, which the language model's file holds. The format is GGUF, as llama.cpp writes it.
"""

import struct

import numpy as np

SIMPLE = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
# Bytes and numbers of a block, by GGUF's number of the type.
F32, F16, Q4_1, Q8_0 = 0, 1, 3, 8
BLOCKS = {F32: (4, 1), F16: (2, 1), Q4_1: (20, 32), Q8_0: (34, 32)}


class Header:
    """Reads the values of a header one after another."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        (value,) = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def string(self):
        length = self.number("Q")
        self.at += length
        return bytes(self.data[self.at - length : self.at]).decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            of, length = self.number("I"), self.number("Q")
            return [self.value(of) for _ in range(length)]
        return self.number(SIMPLE[kind])


def read(path):
    """What the file says of itself, and a function from a tensor's name to its array."""
    data = np.memmap(path, np.uint8, "r")
    header = Header(data)
    if header.number("I") != 0x46554747 or header.number("I") not in (2, 3):
        raise ValueError(f"{path} is no GGUF file of version 2 or 3")
    tensors, pairs = header.number("Q"), header.number("Q")
    facts = {}
    for _ in range(pairs):
        key = header.string()
        facts[key] = header.value(header.number("I"))
    table = {}
    for _ in range(tensors):
        name = header.string()
        shape = [header.number("Q") for _ in range(header.number("I"))][::-1]
        table[name] = (shape, header.number("I"), header.number("Q"))
    alignment = facts.get("general.alignment", 32)
    start = -(-header.at // alignment) * alignment

    def tensor(name):
        shape, kind, offset = table[name]
        if kind not in BLOCKS:
            raise ValueError(f"{name} is of a type that is not read: {kind}")
        size, numbers = BLOCKS[kind]
        blocks = int(np.prod(shape)) // numbers
        raw = np.asarray(data[start + offset : start + offset + blocks * size])
        return dequantised(raw, kind, size).reshape(shape)

    return facts, tensor


def dequantised(raw, kind, size):
    if kind == F32:
        return raw.view(np.float32)
    if kind == F16:
        return raw.view(np.float16).astype(np.float32)
    blocks = raw.reshape(-1, size)
    half = lambda first: blocks[:, first : first + 2].copy().view(np.float16).astype(np.float32)
    if kind == Q8_0:
        return half(0) * blocks[:, 2:].view(np.int8).astype(np.float32)
    quants = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], 1).astype(np.float32)
    return half(0) * quants + half(2)
