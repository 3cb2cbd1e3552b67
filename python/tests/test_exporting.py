"""`db.export(...)` writes what the command writes; `db.with_split_list(...)` says which part sets belong to."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import warnings
from pathlib import Path

import fnstore
import polars
import pytest

PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")


def by_command(db: fnstore.Database, *arguments: object) -> None:
    command = [PROGRAM, "export", *map(str, arguments), "--store", str(db.path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)


@pytest.mark.skipif(not PROGRAM, reason="`make python` says where the program is")
@pytest.mark.parametrize("to", ["jsonl", "csv"])
def test_a_file_is_that_of_the_command(db: fnstore.Database, tmp_path: Path, to: str) -> None:
    report = db.export(tmp_path / "ours", "frame=Checking", to=to)
    by_command(db, "frame=Checking", "--to", to, tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert report.records["set"] == db.count("frame=Checking") and report.leaking == 0


@pytest.mark.skipif(not PROGRAM, reason="`make python` says where the program is")
def test_a_sample_is_that_of_the_command(db: fnstore.Database, tmp_path: Path) -> None:
    db.export(tmp_path / "ours", to="csv", sample=2, per="frame", seed=9)
    by_command(db, "--sample", 2, "--per", "frame", "--seed", 9, "--to", "csv", tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize("to", ["conll", "bios", "conllu-plus", "training-conll", "training-bios", "parquet", "framenet-xml", "semafor"])
def test_every_format_is_written(db: fnstore.Database, tmp_path: Path, to: str) -> None:
    report = db.export(tmp_path / "out", "origin=fulltext", to=to)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written and all(path.stat().st_size > 0 for path in written)
    assert report.records["set"] > 0 and "set" in repr(report)


def test_datasets_and_polars_load_the_parts_as_they_are(
    db: fnstore.Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "fold.tsv").write_text("exemplars\t*\ttrain\nlu\tinspect.v\ttest\n")
    fold = db.with_split_list(tmp_path / "fold.tsv")
    (tmp_path / "parts").mkdir()
    written = {
        part: fold.export(
            tmp_path / "parts" / f"{part}.parquet", f"split={part}", to="parquet", training=True, no_leaks=True
        ).records
        for part in ("train", "test")
    }
    loaded = importlib.import_module("datasets").load_dataset(str(tmp_path / "parts"), cache_dir=str(tmp_path / "cache"))
    assert {part: len(loaded[part]) for part in loaded} == {part: of["sentence"] for part, of in written.items()}
    assert set(loaded["train"]["split"]) == {"train"} and isinstance(loaded["train"][0]["sets"][0]["frame"], str)
    sets = polars.read_parquet(tmp_path / "parts" / "train.parquet").explode("sets").unnest("sets", separator=".")
    assert len(sets) == written["train"]["set"] and sets.schema["sets.fes_complete"] == polars.Boolean


def test_records_for_training_have_parts_under_a_list_and_no_leaks(db: fnstore.Database, tmp_path: Path) -> None:
    # Sentence 5001 illustrates both LUs, so it stands in both parts.
    (tmp_path / "fold.tsv").write_text("exemplars\t*\ttrain\nlu\tinspect.v\ttest\n")
    fold = db.with_split_list(tmp_path / "fold.tsv")
    assert fold.count("split=train") + fold.count("split=test") == db.count("origin=exemplar") + db.count("origin=fulltext")
    assert fold.query("split=test origin=exemplar").count_by("lu").keys() == {"inspect.v"}
    with pytest.warns(UserWarning, match="1 training sentence stands in dev or test, too; no_leaks=True"):
        assert fold.export(tmp_path / "leaks", "split=train", to="jsonl", training=True).leaking == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = fold.export(tmp_path / "train", "split=train", to="jsonl", training=True, no_leaks=True)
    assert report.leaking == 1
    records = [json.loads(line) for line in (tmp_path / "train").read_text().splitlines()]
    assert records and {record["split"] for record in records} == {"train"}
    assert "x5001" not in {record["sentence"] for record in records}
    assert db.count("split=test") == 0, "the handle that it was made of has no list"


def test_a_row_of_parquet_is_a_sentence_with_all_of_its_sets(grown: fnstore.Database, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    query = "origin=fulltext or origin=generated"
    grown.export(tmp_path / "sets.parquet", query, to="parquet", training=True, spacing="natural")
    grown.export(tmp_path / "sets.jsonl", query, to="jsonl", training=True, spacing="natural")
    records = [json.loads(line) for line in (tmp_path / "sets.jsonl").read_text().splitlines()]
    rows = polars.read_parquet(tmp_path / "sets.parquet")
    assert rows.columns == list(records[0]) and rows.rows(named=True) == records
    carried = grown.count("origin=carried")
    assert carried > 0 and sum(map(len, rows["sets"])) == grown.count(query) + carried, "they go along"
    with pytest.raises(fnstore.QueryError, match="there is no spacing `wide`"):
        grown.export(tmp_path / "out", to="jsonl", training=True, spacing="wide")
    for to in ("csv", "training-conll"):
        with pytest.raises(fnstore.QueryError, match=f'`spacing` is for to="conllu-plus".*, found to="{to}"'):
            grown.export(tmp_path / "out", to=to, training=to != "csv", spacing="natural")


def test_what_is_wrong_is_told(db: fnstore.Database, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine")
    with pytest.raises(fnstore.ExistsError, match="force=True"):
        db.export(tmp_path / "there", to="csv")
    assert (tmp_path / "there").read_text() == "mine"
    db.export(tmp_path / "there", to="csv", force=True)
    with pytest.raises(fnstore.QueryError, match="jsonl, framenet-xml"):
        db.export(tmp_path / "out", to="xlsx")
    with pytest.raises(fnstore.QueryError, match='(?s)`training` is for to="jsonl" and to="parquet", found to="csv".*conllu-plus'):
        db.export(tmp_path / "out", to="csv", training=True)
    with pytest.raises(fnstore.QueryError, match='`with_base` is for to="jsonl", found to="parquet"'):
        db.export(tmp_path / "out", to="parquet", with_base=True)
    with pytest.raises(fnstore.QueryError, match="`training` and `with_base` exclude each other"):
        db.export(tmp_path / "out", to="jsonl", training=True, with_base=True)
    with pytest.raises(fnstore.QueryError, match="replaces nothing, found force=True"):
        db.export(tmp_path / "xml", to="framenet-xml", force=True)
    with pytest.raises(fnstore.QueryError, match="stands for all that people added"):
        db.export(tmp_path / "out", "origin=user", to="jsonl", no_leaks=True)
    with pytest.raises(fnstore.QueryError, match="did you mean `frame`"):
        db.export(tmp_path / "out", to="csv", sample=1, per="fram")
    with pytest.raises(fnstore.QueryError, match="may not read files"):
        db.query("id=@ids.txt")
    assert db.export(tmp_path / "out", "trigger=nowhere", to="csv").records == {}
    assert not (tmp_path / "out").exists()
    (tmp_path / "fold.tsv").write_text("lu\tinspekt.v\ttest\n")
    with pytest.warns(UserWarning, match=r"inspekt\.v"):
        db.with_split_list(tmp_path / "fold.tsv")
    with pytest.raises(fnstore.Error, match="E-missing"):
        db.with_split_list(tmp_path / "fold.tsv", strict=True)
