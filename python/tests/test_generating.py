"""Sentences for LUs that have none."""

from __future__ import annotations

import fnstore
import pytest
from conftest import BASE, MODELS


def test_lus_without_sentences_get_those_of_their_sisters(own: fnstore.Database) -> None:
    with own.transaction() as edits:
        edits.add_lu("Checking", "peruse.v")
    told: list[tuple[int, int]] = []
    report = own.generate(
        "lu=peruse.v", model="none", models=MODELS, progress=lambda at: told.append((at.lus, at.of))
    )
    assert (report.lus, report.given, report.sentences, report.done_before) == (1, 1, 1, 0) and told[-1] == (1, 1)
    (made,) = own.query("lu=peruse.v origin=generated")
    assert "perus" in made.trigger and made.text[slice(*made.targets[0])] == made.trigger
    again = own.generate("lu=peruse.v", model="none", models=MODELS)
    assert (again.done_before, again.sentences) == (1, 0)


def test_what_is_wrong_with_a_generation_is_told(own: fnstore.Database) -> None:
    for wrong, error in [
        ({"method": "copy"}, fnstore.QueryError),
        ({"mode": "all"}, fnstore.QueryError),
        ({"sisters": "any"}, fnstore.QueryError),
        ({"lacking": "words"}, fnstore.QueryError),
        ({"sisters": "own"}, fnstore.ExpandError),
        ({"least": 2.0}, fnstore.ExpandError),
        ({"least": 0.5}, fnstore.ExpandError),
        ({"limit": -1}, fnstore.NumberError),
        ({"verifier": "nothing"}, fnstore.ModelMissingError),
        ({"method": "infill", "model": "none"}, fnstore.ModelMissingError),
        ({"method": "infill", "model": None, "ranker": "x"}, fnstore.ExpandError),
        ({"method": "infill", "model": "nothing"}, fnstore.ModelMissingError),
    ]:
        with pytest.raises(error):
            own.generate("frame=Checking", **{"model": "none", "models": MODELS, **wrong})
    with pytest.raises(fnstore.UnknownNameError):
        own.generate("frame=Cheking", model="none", models=MODELS)


@pytest.mark.skipif(not BASE.is_dir(), reason=f"`make rewriter` fetches {BASE}")
def test_frame_elements_get_other_words(own: fnstore.Database) -> None:
    with own.transaction() as edits:
        edits.add_lu("Checking", "peruse.v")
    report = own.generate(
        "lu=peruse.v", method="infill", sources=1, candidates=1, verifier="none", models=BASE.parent
    )
    assert report.lus == 1 and report.given + sum(report.skipped.values()) == 1
