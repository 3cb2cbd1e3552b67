"""Blocks of each quantised format of GGUF with the numbers that the package `gguf` reads from them."""

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

import golden

# Where a block's 16-bit scales stand, by byte.
SCALES = {
    "Q4_0": (0,), "Q4_1": (0, 2), "Q5_0": (0,), "Q5_1": (0, 2), "Q8_0": (0,), "Q4_K": (0, 2), "Q5_K": (0, 2),
    "Q6_K": (208,),
}


def blocks():
    """Two blocks of every format, of random bits; only their scales are numbers that are finite."""
    random = numpy.random.Generator(numpy.random.PCG64(23))
    cases = []
    for name, scales in SCALES.items():
        kind = GGMLQuantizationType[name]
        _, size = GGML_QUANT_SIZES[kind]
        block = random.integers(0, 256, (2, size), dtype=numpy.uint8)
        for row in block:
            for at in scales:
                scale = numpy.float16(random.integers(-2000, 2000) / 4096)
                row[at : at + 2] = numpy.frombuffer(scale.tobytes(), dtype=numpy.uint8)
        values = dequantize(block, kind).reshape(-1)
        cases.append({
            "format": int(kind), "name": name, "bytes": block.reshape(-1).tolist(),
            "values": [float(value) for value in values],
        })
    golden.write("gguf_blocks.json", "blocks of GGUF formats, and their numbers in f32", cases)
