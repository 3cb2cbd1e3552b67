"""Editions: made, shown, verified, asked for and deleted."""

from __future__ import annotations

from pathlib import Path

import fnstore
import pytest
from conftest import MODELS


def test_an_edition_holds_what_a_query_found(own: fnstore.Database) -> None:
    edition = own.create_edition("checks", "frame=Checking")
    assert (edition.sets, edition.release, edition.split_list) == (own.count("frame=Checking"), "mini-framenet", None)
    assert [of.name for of in own.editions()] == ["checks"] == [of.name for of in own.editions("mini-framenet")]
    assert own.edition("checks").blake3 == edition.blake3
    assert [of.id for of in edition.query("lu=look*")] == [of.id for of in own.query("edition=checks lu=look*")]
    changes = edition.verify()
    assert changes and (changes.removed, changes.changed, changes.added, changes.unanswered) == ([], [], [], None)
    assert edition.delete() == own.revision and own.editions() == []


def test_a_later_edit_is_told_by_the_set(own: fnstore.Database) -> None:
    edition = own.create_edition("checks", "frame=Checking", release="mini-framenet")
    first = own.query("frame=Checking").first()
    assert first is not None
    with own.transaction() as edits:
        edits.remove("set", set=first.id)
        sentence = edits.add_sentence("She inspected it .")
        edits.add_set(sentence, "Checking", "inspect.v", [(4, 13)])
    changes = edition.verify()
    assert not changes and changes.removed == [first.id] and len(changes.added) == 1


def test_an_edition_of_a_sample_is_the_same_for_a_seed(own: fnstore.Database) -> None:
    first, same, other = (
        own.create_edition(name, "frame=Checking", sample=3, per="lu", seed=seed)
        for name, seed in [("a", 7), ("b", 7), ("c", 8)]
    )
    assert first.blake3 == same.blake3 and {first.sets, other.sets} != {0}
    query = own.query("frame=Checking").sample(3, per="lu", seed=7)
    assert sorted(of.id for of in query) == sorted(of.id for of in first.query())


def test_an_edition_knows_the_list_that_it_was_read_under(own: fnstore.Database, tmp_path: Path) -> None:
    (tmp_path / "fold.tsv").write_text("exemplars\t*\ttrain\nlu\tinspect.v\ttest\n")
    under = own.with_split_list(tmp_path / "fold.tsv")
    edition = under.create_edition("test", "split=test")
    assert edition.split_list == "fold" and edition.sets == under.count("split=test") > 0
    own.refresh()
    assert own.edition("test").verify().added == []


def test_what_is_wrong_is_told_and_nothing_is_written(own: fnstore.Database) -> None:
    before = own.revision
    for call, error in [
        (lambda: own.create_edition("a", "frame=Cheking"), fnstore.UnknownNameError),
        (lambda: own.create_edition("a", "origin=generated"), fnstore.EditError),
        (lambda: own.create_edition("", "frame=Checking"), fnstore.EditError),
        (lambda: own.create_edition("a", "frame=Checking", sample=-1), fnstore.NumberError),
        (lambda: own.create_edition("a", "frame=Checking", sample=1, per="nothing"), fnstore.QueryError),
        (lambda: own.edition("none"), fnstore.UnknownNameError),
        (lambda: own.editions("none"), fnstore.UnknownNameError),
    ]:
        with pytest.raises(error) as raised:
            call()
        assert raised.value.code and raised.value.advice, raised.value
    assert own.revision == before
    edition = own.create_edition("a", "frame=Checking")
    edition.delete()
    with pytest.raises(fnstore.UnknownNameError):
        edition.verify()


def test_a_promise_is_cut_by_judgements_and_checked(own: fnstore.Database) -> None:
    grown = own
    grown.expand("frame=Checking", rounds=1, model="paraphrase", models=MODELS, beam=4, candidates=4)
    ids = [of.id for of in grown.query("origin=generated")]
    edition = grown.create_edition("right", "origin=generated", precision=0.5, rank="aligner", confidence=0.9)
    (group,) = edition.promise()
    assert (edition.sets, edition.precision, group.candidates, group.judged) == (0, 0.5, len(ids), 0)
    assert group.left > 0 and group.score is None
    with grown.transaction() as edits:
        for id_ in ids:
            edits.judge(id_, 100, reviewer="kim")
    edition = edition.cut()
    assert edition.sets == len(ids) == grown.count("edition=right")
    assert [of.verdict for of in edition.check()] == ["kept"]
    assert [of.right for of in edition.check({id_: 0 for id_ in ids})] == [0]
    by_round = grown.create_edition("rounds", "origin=generated", precision=0.5, rank="aligner", by="round")
    assert by_round.promise()[0].group == "round=1"
    plain = grown.create_edition("plain", "origin=generated")
    for call in [
        plain.cut,
        plain.check,
        lambda: edition.check({"1": 3}),
        lambda: edition.check({ids[0]: 101}),
        lambda: grown.create_edition("a", "origin=generated", precision=1.5),
        lambda: grown.create_edition("a", "origin=generated", precision=0.5, by="frame"),  # type: ignore[arg-type]
        lambda: grown.create_edition("a", "origin=generated", rank="aligner"),
    ]:
        with pytest.raises(fnstore.EditError):
            call()


def test_a_published_edition_loads_in_datasets_and_polars(own: fnstore.Database, tmp_path: Path) -> None:
    datasets, polars = pytest.importorskip("datasets"), pytest.importorskip("polars")
    (tmp_path / "fold.tsv").write_text("lu\tinspect.v\ttest\nlu\texamine.v\tdev\n")
    edition = own.with_split_list(tmp_path / "fold.tsv").create_edition("checks", "frame=Checking")
    published = edition.publish(tmp_path / "checks", licence="cc0-1.0", sensitive=["Brakes"])
    assert (published.licence, set(published.parts)) == ("cc0-1.0", {"train", "dev", "test"})
    parts = datasets.load_dataset(str(tmp_path / "checks"), cache_dir=str(tmp_path / "cache"))
    assert {name: len(part) for name, part in parts.items()} == {
        name: sentences for name, (sentences, _) in published.parts.items()
    }
    assert parts["train"].features == parts["test"].features and parts["test"][0]["sets"][0]["frame"] == "Checking"
    sets = {name: sum(len(row["sets"]) for row in part) for name, part in parts.items()}
    assert sets == {name: sets for name, (_, sets) in published.parts.items()}
    read = polars.read_parquet(tmp_path / "checks/data/test.parquet")
    assert read.height == published.parts["test"][0]
    assert published.flagged and "flagged.tsv" in published.files
    with pytest.raises(fnstore.ExistsError):
        edition.publish(tmp_path / "checks", licence="cc0-1.0")
    with pytest.raises(fnstore.EditError, match="licence"):
        edition.publish(tmp_path / "other")
    assert not (tmp_path / "other").exists()
