"""Writes the golden files of tests/data/parity: what transformers computes, for the Rust tests.

    python -m venv VENV && VENV/bin/pip install -r training/parity/requirements.txt
    VENV/bin/python training/parity/run.py

all-MiniLM-L6-v2 is looked for under $FNSTORE_MODELS, else ~/.cache/fnstore/models.
"""

import sys

sys.dont_write_bytecode = True  # leave no caches in the tree

import torch

import aligner
import bart
import beam
import bert
import gguf_blocks
import language
import marian
import rewriter_tokenizer
import suppress
import t5

if __name__ == "__main__":
    torch.set_num_threads(1)  # one order of sums
    bert.tiny()
    bert.minilm()
    aligner.shipped()
    model = marian.build()
    marian.logits(model)
    marian.searches(model)
    beam.settings(model)
    suppress.searches(model)
    for name, model in {"bart": bart.build(), "t5": t5.build("t5"), "flan-t5": t5.build("flan-t5")}.items():
        marian.logits(model, name)
        marian.searches(model, name, beam_sizes=(2, 5))
    t5.tokenizer()
    rewriter_tokenizer.build()
    gguf_blocks.blocks()
    language.vocabularies()
    language.logits()
    language.adapted()
