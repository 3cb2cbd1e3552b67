"""Bad input: every error is typed and has a code and an advice."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import fnstore
import pytest
from conftest import MINI


def refused(kind: type[fnstore.Error], call: Callable[[], object]) -> fnstore.Error:
    with pytest.raises(kind) as raised:
        call()
    error = raised.value
    assert error.code and error.advice, str(error)
    assert "fnstore.Error" in {f"{of.__module__.partition('.')[0]}.{of.__name__}" for of in type(error).__mro__}
    return error


def test_a_path_that_is_no_store(tmp_path: Path) -> None:
    error = refused(fnstore.AbsentError, lambda: fnstore.open(tmp_path))
    assert error.code == "S-absent" and "fnstore.create" in error.advice
    assert isinstance(error, FileNotFoundError)
    file = tmp_path / "file"
    file.write_text("x")
    refused(fnstore.StoreError, lambda: fnstore.open(file))
    refused(fnstore.StoreError, lambda: fnstore.create(file))
    error = refused(fnstore.StoreError, lambda: fnstore.create(tmp_path))
    assert error.code == "S-not-a-store" and not isinstance(error, fnstore.AbsentError)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_store_that_is_there_is_not_made_again(own: fnstore.Database, tmp_path: Path) -> None:
    path, count = tmp_path / "made", own.count()
    with fnstore.create(path) as db:
        db.import_release(MINI)
    error = refused(fnstore.ExistsError, lambda: fnstore.create(path))
    assert error.code == "S-exists" and isinstance(error, FileExistsError) and "exist_ok" in error.advice
    with fnstore.create(path, exist_ok=True) as db:
        assert db.count() == count


def test_numbers_out_of_range(db: fnstore.Database) -> None:
    query = db.query()
    for number in (-1, 1 << 64):
        for call in (
            lambda number=number: db.query(limit=number),
            lambda number=number: db.query(offset=number),
            lambda number=number: query.limit(number),
            lambda number=number: query.offset(number),
            lambda number=number: db.changes(number),
            lambda number=number: db.expand("frame=Checking", limit=number),
        ):
            error = refused(fnstore.NumberError, call)
            assert error.code == "E-number" and isinstance(error, ValueError) and str(number) in str(error)
        for call in (lambda number=number: db.frame(number), lambda number=number: db.lu(number)):
            assert f"`{number}`" in str(refused(fnstore.UnknownNameError, call))


def test_a_typo_names_what_was_meant(db: fnstore.Database) -> None:
    assert refused(fnstore.UnknownNameError, lambda: db.query("frame=Cheking")).nearest == "Checking"
    assert refused(fnstore.QueryError, lambda: db.query("fram=Checking")).nearest == "frame"
    assert refused(fnstore.UnknownNameError, lambda: db.frame("Cheking")).nearest == "Checking"
    assert refused(fnstore.UnknownNameError, lambda: db.lu("inspct.v")).nearest == "inspect.v"
    assert refused(fnstore.UnknownNameError, lambda: db.frame("Checking").fe("Mater")).nearest == "Matter"
    assert refused(fnstore.UnknownNameError, lambda: db.frames(release="mini")).nearest == "mini-framenet"
    assert refused(fnstore.UnknownNameError, lambda: db.frame(1)).nearest is None
    refused(fnstore.UnknownNameError, lambda: db.annotation_set("nothing"))
    error = refused(fnstore.QueryError, lambda: db.query("frame=Checking and and"))
    assert isinstance(error, fnstore.QueryError) and error.column is not None and error.column > 1
    refused(fnstore.QueryError, lambda: db.query("frame=Checking").sort("fram"))
    refused(fnstore.QueryError, lambda: db.query("frame=Checking").count_by("nothing"))
    refused(fnstore.QueryError, lambda: db.query("frame=Checking").to_arrow(["nothing"]))
    refused(fnstore.QueryError, lambda: db.frames("~("))


def test_of_several_none_is_picked(own: fnstore.Database) -> None:
    own.import_release(MINI, release="second")
    for call, count in (
        (lambda: own.frame("Checking"), 2),
        (lambda: own.frame(102), 2),
        (lambda: own.lu("inspect.v"), 2),
        (lambda: own.lu(1002), 2),
        (lambda: own.lu("inspect.v", frame="Checking"), 2),
        (lambda: own.annotation_set("x7002"), 2),
        (lambda: own.transaction(), 2),
    ):
        error = refused(fnstore.AmbiguousNameError, call)
        assert isinstance(error, fnstore.AmbiguousNameError) and isinstance(error, LookupError)
        assert error.code == "Q-ambiguous" and len(error.choices) == count and "release=" in error.advice
        assert all("second" in choice or "mini-framenet" in choice for choice in error.choices)
    assert own.frame("Checking", release="second").release == "second"
    assert own.lu(1002, release="second").name == "inspect.v"
    assert own.annotation_set("x7002", release="second").release == "second"
    of_frame = [lu for lu in own.lus("check.v", release="second") if lu.frame == "Checking"]
    several = len(own.lus("check.v", release="second")) > 1
    if several:
        refused(fnstore.AmbiguousNameError, lambda: own.lu("check.v", release="second"))
    if len(of_frame) == 1:
        assert own.lu("check.v", "second", frame="Checking").id == of_frame[0].id
        assert own.lu("check.v", "second", frame=102).id == of_frame[0].id
    refused(fnstore.UnknownNameError, lambda: own.lu("check.v", frame="Roming"))
    refused(fnstore.UnknownNameError, lambda: own.frame("Checking", release="secnd"))
    # Calls that give all give all.
    assert len(own.frames("Checking")) == own.count("id=x7002") == 2


def test_an_element_on_several_spans_is_no_one_text(db: fnstore.Database) -> None:
    repeated = one = 0
    for of in db.query():
        for name in {element.name for element in of.elements}:
            spans = {element.span: element.text for element in of.elements if element.name == name and element.span}
            if len(spans) > 1:
                repeated += 1
                error = refused(fnstore.AmbiguousNameError, lambda of=of, name=name: of.element(name))
                assert len(error.choices) == len(spans) and "elements" in error.advice  # type: ignore[attr-defined]
            else:
                one += 1
                assert of.element(name) == next(iter(spans.values()), None)
    assert repeated and one and db.annotation_set("x7002").element("Nothing") is None


def test_a_closed_handle(mini_store: Path) -> None:
    with fnstore.open(mini_store) as db:
        frame, query = db.frame("Checking"), db.query("frame=Checking")
        answers = iter(query)
        next(answers)
    assert db.closed and "closed" in repr(db)
    for call in (db.frames, lambda: frame.lus, query.count, lambda: next(answers), query.first, db.transaction):
        assert refused(fnstore.ClosedError, call).code == "S-closed"
    assert frame.name == "Checking"
    db.close()


def test_pickling_is_refused_with_advice(db: fnstore.Database) -> None:
    query = db.query("frame=Checking")
    for of in (db, query, iter(query), query.first(), query.to_arrow(), db.frame("Checking"), db.lu("inspect.v"), db.releases()[0]):
        error = refused(fnstore.PickleError, lambda of=of: pickle.dumps(of))
        assert isinstance(error, TypeError)


def test_wrong_types(db: fnstore.Database) -> None:
    for call in (lambda: db.query(3), lambda: db.frame([]), lambda: db.query(limit="x"), lambda: fnstore.open(None)):
        with pytest.raises(TypeError):
            call()  # type: ignore[no-untyped-call]


def test_two_threads_share_a_store_and_a_query(db: fnstore.Database) -> None:
    expected = sorted(of.id for of in db.query())
    answers, found, failed = iter(db.query()), [], []

    def read() -> None:
        try:
            for of in answers:
                found.append(of.id)
                assert db.frame(of.frame).name == of.frame
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and sorted(found) == expected


def test_a_second_writer_is_told_who_holds_the_lock(own: fnstore.Database) -> None:
    with own.transaction():
        error = refused(fnstore.LockedError, own.transaction)
        assert error.code == "S-locked"
        assert own.count("frame=Checking") > 0
    with own.transaction():
        pass


def test_a_release_that_is_none_and_one_that_is_there(own: fnstore.Database, tmp_path: Path) -> None:
    before = own.count()
    refused(fnstore.ImportFailedError, lambda: own.import_release(tmp_path / "nothing.zip"))
    (tmp_path / "empty").mkdir()
    refused(fnstore.ImportFailedError, lambda: own.import_release(tmp_path / "empty"))
    assert "release=" in refused(fnstore.ImportFailedError, lambda: own.import_release(MINI)).advice
    report = own.import_release(MINI, release="again", progress=lambda files, of: None)
    assert report.release == "again" and report.warnings and own.count() == 2 * before
    assert "release=" in refused(fnstore.AmbiguousNameError, own.transaction).advice
