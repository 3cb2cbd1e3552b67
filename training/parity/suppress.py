"""Beam searches of the tiny Marian model in CTranslate2, with `suppress_sequences`.

CTranslate2 suppresses before the softmax, so its scores are renormalised; it stops as soon as
`round(beam_size * patience)` outputs are finished. By default it never ends at the first step, so
`min_decoding_length` is 0 here. Every token has a name that is its id.
"""

import itertools
import tempfile
from pathlib import Path

import ctranslate2
import numpy
from ctranslate2.converters.transformers import BartLoader

import golden
from marian import PAD, SOURCES


class Loader(BartLoader):
    """Marian's layout without its habit of an all-zero start: this model's start has an embedding."""

    def get_model_spec(self, model):
        model.config.normalize_before = False
        model.config.normalize_embedding = False
        spec = super().get_model_spec(model)
        spec.decoder.num_heads = numpy.dtype("int16").type(model.config.decoder_attention_heads)
        return spec


def convert(model, directory):
    """Writes a model in the format of CTranslate2; works for random weights, needs no tokenizer."""
    spec = Loader().get_model_spec(model)
    vocabulary = names(range(model.config.vocab_size))
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.config.add_source_eos = False
    spec.config.eos_token = str(model.config.eos_token_id)
    spec.config.unk_token = str(model.config.pad_token_id)
    spec.config.bos_token = str(model.config.pad_token_id)
    spec.config.decoder_start_token = str(model.config.decoder_start_token_id)
    spec.validate()
    spec.optimize(quantization="float32")
    spec.save(str(directory))


def searches(model):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model"
        path.mkdir()
        convert(model, path)
        translator = ctranslate2.Translator(str(path), device="cpu", intra_threads=1)
        cases = [
            search(translator, *case)
            for case in itertools.product(SOURCES, (2, 5), (0.5, 1.0), (1.0, 2.0), (3, 16))
        ]
    golden.write("marian/suppress.json", "CTranslate2 translate_batch(suppress_sequences=..)", cases)


def names(tokens):
    return [str(token) for token in tokens]


def ids(names):
    return [int(name) for name in names]


def search(translator, source, beam_size, length_penalty, patience, max_length):
    def outputs_without(banned):
        return translator.translate_batch(
            [names(source)], beam_size=beam_size, num_hypotheses=beam_size, patience=patience,
            length_penalty=length_penalty, max_decoding_length=max_length, return_scores=True,
            suppress_sequences=[names(phrase) for phrase in banned], min_decoding_length=0,
        )[0]

    # Ban the second token of the best output, and the first two of the last.
    free = outputs_without([[PAD]])
    banned = [[PAD], ids(free.hypotheses[0])[:2][-1:], ids(free.hypotheses[-1])[:2]]
    banned = [phrase for phrase in banned if phrase]
    result = outputs_without(banned)
    outputs = [
        {"tokens": ids(tokens), "score": golden.rounded(score)}
        for tokens, score in zip(result.hypotheses, result.scores)
    ]
    return {
        "source": source, "beam_size": beam_size, "suppress_sequences": banned,
        "max_decoding_length": max_length, "length_penalty": length_penalty, "patience": patience,
        "outputs": outputs,
    }
