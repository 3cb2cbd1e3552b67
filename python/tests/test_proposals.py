"""Proposals: what speaks for them, and what becomes of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import fnstore
import pytest
from conftest import MODELS

PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")


@pytest.fixture
def own_grown(grown: fnstore.Database, tmp_path: Path) -> fnstore.Database:
    """The grown lexicon in a store of the test's own."""
    return fnstore.open(shutil.copytree(grown.path, tmp_path / "store"))


def listed(db: fnstore.Database, **options: bool) -> list[tuple[str, str]]:
    return [(of.frame, of.lu) for of in db.proposals(models=MODELS, **options)]


@pytest.mark.skipif(not PROGRAM, reason="`make python` says where the program is")
def test_proposals_are_those_that_the_program_lists(grown: fnstore.Database) -> None:
    found = grown.proposals(models=MODELS)
    command = [PROGRAM, "--store", str(grown.path), "--format", "json", "proposals", "--models", str(MODELS)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert [of.record() for of in found] == json.loads(printed)
    assert found
    for of in found:
        assert 0 <= of.score <= 1 and of.sets >= 1 and of.decided is None and of.refused is None
        assert all(word in attested.text for attested in of.sentences for word in attested.trigger.split(" "))


def test_a_limit_gives_the_first(grown: fnstore.Database) -> None:
    assert listed(grown)[:2] == [(of.frame, of.lu) for of in grown.proposals(limit=2, models=MODELS)]


def test_words_without_content_come_last_and_say_why(grown: fnstore.Database) -> None:
    found = grown.proposals(with_refused=True, models=MODELS)
    proposed = len(listed(grown))
    assert all(of.refused is None for of in found[:proposed])
    assert all(of.refused for of in found[proposed:])


def test_an_accepted_one_is_an_lu_until_that_is_undone(own_grown: fnstore.Database) -> None:
    first = own_grown.proposals(limit=1, models=MODELS)[0]
    name = (first.frame, first.lu)
    first.accept(reviewer="eve", note="clear")
    assert [lu.status for lu in own_grown.lus(first.lu)] == ["Accepted"]
    assert name not in listed(own_grown)
    decided = {(of.frame, of.lu): of.decided for of in own_grown.proposals(with_decided=True, models=MODELS)}
    assert decided[name] == "accept"
    with pytest.raises(fnstore.EditError) as error:
        first.reject()
    assert error.value.code.startswith("E-")
    first.undo(reviewer="eve")
    assert name in listed(own_grown)


def test_a_rejected_one_is_not_listed_again(own_grown: fnstore.Database) -> None:
    first = own_grown.proposals(limit=1, models=MODELS)[0]
    first.reject(note="another sense")
    assert (first.frame, first.lu) not in listed(own_grown)


def test_a_moved_one_takes_its_sets_to_another_frame(own_grown: fnstore.Database) -> None:
    first = own_grown.proposals(limit=1, models=MODELS)[0]
    other = next(frame.name for frame in own_grown.frames() if frame.name != first.frame)
    assert own_grown.count(f"frame={other} origin=generated") == 0
    assert first.move(other) == first.sets == own_grown.count(f"frame={other} origin=generated")
    with pytest.raises(fnstore.UnknownNameError):
        own_grown.proposals(models=MODELS)[0].move("Nowhere")


def test_a_notebook_shows_what_speaks_for_one(grown: fnstore.Database) -> None:
    first = grown.proposals(limit=1, models=MODELS)[0]
    html = first._repr_html_()
    assert f"<b>{first.lu}</b>" in html
    assert html.count("<li>") == len(first.sentences) > 0
    assert all(f"<b>{word}</b>" in html for word in first.sentences[0].trigger.split(" "))
