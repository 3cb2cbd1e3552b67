"""What there is to measure: generated sentences, foreign content, decisions, hidden LUs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import fnstore
import pytest
from conftest import MINI, MODELS

PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")


def printed(db: fnstore.Database, *words: str) -> list[dict[str, object]]:
    """What the program prints of a store, a record a line."""
    if not PROGRAM:
        pytest.skip("`make python` says where the program is")
    command = [PROGRAM, "--store", str(db.path), "--format", "jsonl", *words]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def as_record(of: object, fields: dict[str, object]) -> dict[str, object]:
    return {name: getattr(of, name) for name in fields}


def test_diversity_is_that_of_the_program(grown: fnstore.Database) -> None:
    rows = grown.diversity("frame=Checking", models=MODELS)
    records = printed(grown, "stats", "diversity", "frame=Checking", "--models", str(MODELS))
    assert len(rows) > 1 and rows[-1].round is None and rows[-1].pos_changed is not None
    for row, record in zip(rows, records, strict=True):
        assert as_record(row, record) == pytest.approx(record)
    (*_, last) = grown.diversity(no_pos=True)
    assert last.pos_changed is None and 0 <= last.source_bleu <= 1
    assert grown.diversity("origin=exemplar", no_pos=True) == []
    with pytest.raises(fnstore.UnknownNameError):
        grown.diversity("frame=Cheking", no_pos=True)
    with pytest.raises(fnstore.ModelMissingError):
        grown.diversity(tagger="nothing", models=MODELS)


def test_diversity_of_an_edition_is_read_under_its_split_list(grown: fnstore.Database, tmp_path: Path) -> None:
    db = fnstore.open(shutil.copytree(grown.path, tmp_path / "store"))
    (tmp_path / "fold.tsv").write_text("exemplars\t*\ttrain\nlu\tinspect.v\ttest\n")
    edition = db.with_split_list(tmp_path / "fold.tsv").create_edition("all", "origin=generated")
    assert edition.split_list == "fold"
    db.refresh()
    found = {split: db.diversity(f"edition=all split={split}", no_pos=True) for split in ("train", "test")}
    sets = {split: rows[-1].sets for split, rows in found.items()}
    assert 0 < sets["test"] < sum(sets.values())
    for split, rows in found.items():
        records = printed(db, "stats", "diversity", f"edition=all split={split}", "--no-pos")
        assert [row.sets for row in rows] == [record["sets"] for record in records]


def test_foreign_content_is_listed(tmp_path: Path) -> None:
    lexicon = shutil.copytree(MINI, tmp_path / "lexicon")
    file = lexicon / "frame/Checking.xml"
    file.write_text(file.read_text().replace("<frame ", '<frame xmlns:x="urn:x" x:sure="yes" ', 1))
    db = fnstore.create(tmp_path / "store")
    db.import_release(lexicon)
    assert [(of.kind, of.name, of.content) for of in db.foreign("*sure=*")] == [("frame", "Checking", "x:sure=yes")]
    records = printed(db, "foreign")
    assert [as_record(of, record) for of, record in zip(db.foreign(), records, strict=True)] == records
    assert db.foreign("~sure", kind="lu") == []
    with pytest.raises(fnstore.QueryError, match="expected one of frame, lu, document, top"):
        db.foreign(kind="word")  # type: ignore[arg-type]


def test_decisions_on_proposals_are_listed_with_those_that_were_undone(
    grown: fnstore.Database, tmp_path: Path
) -> None:
    db = fnstore.open(shutil.copytree(grown.path, tmp_path / "store"))
    assert db.proposal_decisions() == []
    first, second = db.proposals(models=MODELS, limit=2)
    first.accept(reviewer="kim", note="clear")
    second.reject(reviewer="lee")
    second.undo(reviewer="kim", note="hasty")
    found = {of.lu: of for of in db.proposal_decisions()}
    assert (found[first.lu].verdict, found[first.lu].note, found[first.lu].undone_by) == ("accept", "clear", None)
    assert (found[second.lu].verdict, found[second.lu].undone_by, found[second.lu].undone_note) == (
        "reject",
        "kim",
        "hasty",
    )
    records = printed(db, "proposals", "decisions")
    rows = db.proposal_decisions(db.releases()[0].name)
    assert [as_record(row, record) for row, record in zip(rows, records, strict=True)] == records
    with pytest.raises(fnstore.UnknownNameError):
        db.proposal_decisions("nothing")


def test_proposals_are_measured_against_hidden_lus(grown: fnstore.Database, tmp_path: Path) -> None:
    (first, *_) = grown.proposals(models=MODELS)
    hidden = [(first.frame, first.lu), (first.frame, "peruse.v")]
    of_frame, of_all = grown.measure_proposals(hidden=hidden, models=MODELS)
    assert (of_frame.frame, of_all.frame) == (first.frame, None)
    assert (of_frame.hidden, of_frame.found, of_frame.recall, of_frame.recall_at_10) == (2, 1, 0.5, 0.5)
    file = tmp_path / "hidden.tsv"
    file.write_text("".join(f"{frame}\t{lu}\n" for frame, lu in hidden))
    again = grown.measure_proposals(hidden=file, models=MODELS)
    records = printed(grown, "proposals", "eval", "--hidden", str(file), "--models", str(MODELS))
    assert [as_record(row, record) for row, record in zip(again, records, strict=True)] == records
    with pytest.raises(fnstore.Error) as raised:
        grown.measure_proposals(hidden=[("Checking", "inspect.v")], models=MODELS)
    assert raised.value.code == "E-not-hidden" and "hidden" in raised.value.advice


def test_a_dry_run_says_what_is_left_and_writes_nothing(own: fnstore.Database) -> None:
    with own.transaction() as edits:
        edits.add_lu("Checking", "peruse.v")
    revision = own.revision
    would = own.generate("lu=peruse.v", dry_run=True, model="none", models=MODELS)
    assert (would.lus, would.left, would.sentences, own.revision) == (1, 1, 0, revision)
    assert would.left_seconds is not None and would.left_seconds > 0
    assert own.generate("lu=peruse.v", model="none", models=MODELS).left_seconds is None
    seeds = "frame=Checking lu=inspect.v"
    options = {"rounds": 1, "beam": 2, "candidates": 2, "guide": "none", "choice": "fewest-failed-checks"}
    asked = own.expand(seeds, model="paraphrase", models=MODELS, dry_run=True, **options)
    assert own.count("origin=generated lu=inspect.v") == 0 and asked.sentences == 0 and asked.recipe is None
    assert asked.left == asked.left_rounds == asked.seeds > 0 and (asked.left_seconds or 0) > 0
    (status,) = own.expansion_status(seeds, model="paraphrase", models=MODELS, **options)
    assert (status.frame, status.seeds, status.done, status.rounds_missing) == ("Checking", asked.seeds, 0, asked.seeds)
    done = own.expand(seeds, model="paraphrase", models=MODELS, limit=1, **options)
    assert done.left_seconds is None and done.recipe is not None
    (status,) = own.expansion_status(seeds, model="paraphrase", models=MODELS, **options)
    assert status.done + sum(status.ended.values()) == 1
