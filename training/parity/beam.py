"""Beam searches of the tiny Marian model under every way of stopping and ranking."""

import itertools

import torch

import golden
from marian import EOS, PAD, SOURCES

EARLY_STOPPING = (False, True, "never")
LENGTH_PENALTIES = (0.0, 0.5, 2.0)
LIMITS = (3, 16)  # the first cuts every output that does not end at once


def settings(model):
    cases = [
        search(model, *case)
        for case in itertools.product(
            SOURCES[:1] + SOURCES[4:], (2, 5), LENGTH_PENALTIES, EARLY_STOPPING, LIMITS
        )
    ]
    golden.write("marian/beam_settings.json", "generate(early_stopping=.., length_penalty=..)", cases)


def search(model, source, beam_size, length_penalty, early_stopping, max_new_tokens):
    banned = [[PAD], [source[0]], source[1:3]]
    with torch.inference_mode():
        result = model.generate(
            torch.tensor([source]), num_beams=beam_size, num_return_sequences=beam_size,
            bad_words_ids=banned, max_new_tokens=max_new_tokens, length_penalty=length_penalty,
            early_stopping=early_stopping, do_sample=False, return_dict_in_generate=True,
            output_scores=True,
        )
    outputs = [
        {"tokens": trimmed(sequence[1:]), "score": golden.rounded(score)}
        for sequence, score in zip(result.sequences.tolist(), result.sequences_scores.tolist())
    ]
    return {
        "source": source, "beam_size": beam_size, "bad_words_ids": banned,
        "max_new_tokens": max_new_tokens, "length_penalty": length_penalty,
        "early_stopping": early_stopping, "outputs": outputs,
    }


def trimmed(tokens):
    """Up to the end, or without the padding after an output that was cut; PAD itself is banned."""
    if EOS in tokens:
        return tokens[: tokens.index(EOS) + 1]
    return [token for token in tokens if token != PAD]
