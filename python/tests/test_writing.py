"""Transactions and expansion."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import fnstore
import pytest
from conftest import FRAMENET, MINI, MODELS

SETTINGS = {"model": "paraphrase", "models": MODELS, "beam": 4, "candidates": 4}


def test_edits_are_committed_together(own: fnstore.Database) -> None:
    with own.transaction(reviewer="eve") as edits:
        frame = edits.add_frame("Proofing", elements=["Proofer", "Proof"])
        lu = edits.add_lu(frame, "proof.v", definition="to read for errors")
        sentence = edits.add_sentence("Zo\u0065\u0301 proofed it twice .")
        made = edits.add_set(sentence, frame, lu, [(5, 12)], [{"name": "Proofer", "span": [0, 4], "gf": "Ext"}])
        edits.judge(made, 90, note="clear")
        assert own.count("trigger=proofed") == 0
    assert edits.revision is not None
    (found,) = own.query("frame=Proofing")
    assert (found.id, found.trigger, found.origin) == (made, "proofed", "user")
    assert found.element("Proofer") == "Zo\u0065\u0301"
    (judgement,) = found.judgements()
    assert (judgement.score, judgement.reviewer, judgement.note) == (90, "eve", "clear")


def test_many_writes_leave_no_more_files_open_than_some(own: fnstore.Database) -> None:
    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def write(number: int) -> None:
        with own.transaction() as edits:
            edits.add_frame(f"Proofing_{number}")
        assert own.frames(f"Proofing_{number}")

    for number in range(10):
        write(number)
    before = files()
    for number in range(10, 40):
        write(number)
    assert files() < before + 30


def test_changes_say_where_a_commit_ends_and_which_store_it_is(own: fnstore.Database, tmp_path: Path) -> None:
    (imported,) = own.changes()
    assert (imported.revision, imported.kind, imported.last) == (1, "release", True)
    assert own.id is not None and len(own.id) == 32
    assert own.generation is not None and len(own.generation) == 16
    with own.transaction() as edits:
        frame = edits.add_frame("Proofing")
        edits.add_lu(frame, "proof.v")
    changes = own.changes(1, generation=own.generation)
    assert [(of.kind, of.last) for of in changes] == [("frame", False), ("lu", True)]
    assert {of.revision for of in changes} == {own.revision}
    assert own.changes(own.revision, release="mini-framenet") == []
    for call in (lambda: own.changes(99), lambda: own.changes(generation="0" * 16)):
        with pytest.raises(fnstore.ReplacedError) as raised:
            call()
        assert raised.value.code in {"S-beyond", "S-replaced"}


def test_a_commit_is_taken_back_and_the_history_says_so(own: fnstore.Database) -> None:
    assert own.frames("Checking")
    with own.transaction() as edits:
        edits.remove("frame", frame="Checking", cascade=True)
    revision = own.revision
    assert not own.frames("Checking") and own.count("frame=Repairing") > 0
    assert own.undo(revision, note="the wrong frame") == revision + 1
    assert own.count("trigger=checked") == 7
    undone, removed, imported = own.history()
    assert (undone.undoes, undone.note, undone.can_undo) == ([revision], "the wrong frame", True)
    assert (removed.can_undo, imported.can_undo) == (True, False)
    with pytest.raises(fnstore.EditError) as raised:
        own.undo(1)
    assert raised.value.code == "E-undo"


def test_changes_of_a_query_come_with_their_records(own: fnstore.Database) -> None:
    with own.transaction(reviewer="kim") as edits:
        sentence = edits.add_sentence("They inspected it .")
        made = edits.add_set(sentence, "Checking", "inspect.v", [(5, 14)])
        edits.judge(made, 80)
    (change,) = own.changes(1, expression="lu=inspect.v", with_records=True)
    assert (change.action, change.kind, change.last) == ("added", "set", True)
    assert change.record is not None and change.record["id"] == made
    assert change.sentence_record is not None and change.sentence_record["text"] == "They inspected it ."
    assert own.changes(1, expression="lu=check.v") == []
    (judged,) = [of for of in own.changes(1, with_records=True) if of.kind == "judgement"]
    assert (judged.reviewer, judged.question) == ("kim", None)
    assert judged.record is not None and judged.record["score"] == 80
    assert judged.at is not None


def test_a_relative_path_stays_where_it_was(
    mini_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(mini_store, tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    db = fnstore.open("store")
    monkeypatch.chdir("/")
    with db.transaction() as edits:
        edits.add_frame("Proofing")
    assert db.frames("Proofing") and db.path.is_absolute()


def test_an_error_in_the_block_writes_nothing(own: fnstore.Database) -> None:
    with pytest.raises(KeyError):
        with own.transaction() as edits:
            edits.add_frame("Proofing")
            raise KeyError
    assert not own.frames("Proofing")
    with own.transaction() as edits:
        pass


def test_a_refused_edit_leaves_the_others(own: fnstore.Database) -> None:
    with own.transaction() as edits:
        edits.add_frame("Proofing")
        for call, code in [
            (lambda: edits.add_frame("Checking"), "E-value"),
            (lambda: edits.remove("lu", frame="Checking", lu=1001), "E-in-use"),
            (lambda: edits.edit("edit-lu", frame="Checking", lu=1001, nothing=1), "E-syntax"),
            (lambda: edits.edit("nothing"), "E-syntax"),
            (lambda: edits.judge("x1", 50), "E-value"),
        ]:
            with pytest.raises(fnstore.EditError) as raised:
                call()
            assert raised.value.code in {code, "E-absent"} and raised.value.advice
        with pytest.raises(fnstore.EditError) as unknown:
            edits.add_lu("Cheking", "x.v")
        assert unknown.value.nearest == "Checking"
    assert own.frame("Proofing").fes == []
    with pytest.raises(fnstore.ClosedError):
        edits.add_frame("Another")


def test_expansion_goes_on_where_it_was_stopped(mini_store: Path, grown: fnstore.Database, tmp_path: Path) -> None:
    db = fnstore.open(shutil.copytree(mini_store, tmp_path / "store"))
    told: list[fnstore.Progress] = []

    def stop(at: fnstore.Progress) -> None:
        told.append(at)
        if at.sentences >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.expand("frame=Checking", rounds=2, progress=stop, **SETTINGS)
    written = db.count("origin=generated")
    assert written >= 2 and told[-1].of > 1
    report = db.expand("frame=Checking", rounds=2, **SETTINGS)
    assert report.sentences + written == db.count("origin=generated")
    again = db.expand("frame=Checking", rounds=2, **SETTINGS)
    assert again.sentences == 0 and again.done_before == again.seeds
    # A run that was stopped writes what one in one go writes.
    assert {of.id for of in db.query("origin=generated")} == {of.id for of in grown.query("origin=generated")}


def test_ctrl_c_ends_an_expansion_between_rounds(own: fnstore.Database) -> None:
    query = "lu=inspect.v or lu=examine.v"
    program = (
        "import fnstore, sys\n"
        f"db = fnstore.open({str(own.path)!r})\n"
        f"settings = dict(model='paraphrase', models={str(MODELS)!r}, beam=8, candidates=8)\n"
        f"db.expand({query!r}, rounds=3, progress=lambda at: print(at.sentences, flush=True), **settings)\n"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=own.path.parent
    )
    assert run.stdout is not None
    # The first line tells of the start, when nothing is written yet.
    assert any(int(line) > 0 for line in run.stdout)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors and run.returncode != 0
    own.refresh()
    written = own.count("origin=generated")
    report = own.expand(query, rounds=3, model="paraphrase", models=MODELS, beam=8, candidates=8)
    assert 0 < written and 0 < report.sentences == own.count("origin=generated") - written


def test_wrong_wishes_of_an_expansion(own: fnstore.Database, tmp_path: Path) -> None:
    for wishes, kind in [
        ({"rounds": 0, "models": MODELS, "model": "paraphrase"}, fnstore.ExpandError),
        ({"raunds": 1, "models": MODELS, "model": "paraphrase"}, fnstore.ExpandError),
        ({"recipe": "nothing", "models": MODELS, "model": "paraphrase"}, fnstore.ExpandError),
        ({"models": tmp_path}, fnstore.ModelMissingError),
        ({"models": MODELS, "model": "nothing"}, fnstore.ModelMissingError),
    ]:
        with pytest.raises(kind) as raised:
            own.expand("frame=Checking", **wishes)  # type: ignore[arg-type]
        assert raised.value.code and raised.value.advice
    with pytest.raises(fnstore.UnknownNameError) as unknown:
        own.expand("frame=Cheking", **SETTINGS)  # type: ignore[arg-type]
    assert unknown.value.nearest == "Checking"
    assert own.count("origin=generated") == 0


def test_progress_of_an_import(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with fnstore.create(tmp_path / "store") as db:
        report = db.import_release(MINI, progress=lambda files, of: told.append((files, of)))
    assert report.counts["frames"] == 6 and told[-1][0] == told[-1][1] > 20


@pytest.mark.parametrize("raised", [ZeroDivisionError, KeyboardInterrupt])
def test_an_import_that_is_stopped_leaves_the_store_as_it_was(
    own: fnstore.Database, raised: type[BaseException]
) -> None:
    before, told = own.count(), []

    def stop(files: int, of: int) -> None:
        told.append((files, of))
        if files:
            raise raised

    with pytest.raises(raised):
        own.import_release(MINI, release="again", progress=stop)
    # Stopped at once, not at the end.
    assert len(told) == 2 and 0 < told[1][0] < told[1][1]
    assert len(own.releases()) == 1 and own.count() == before
    own.import_release(MINI, release="again")
    assert len(own.releases()) == 2 and own.count() == 2 * before


def test_ctrl_c_ends_an_import_soon(tmp_path: Path) -> None:
    if not FRAMENET.is_file():
        pytest.skip(f"there is no {FRAMENET}")
    program = (
        "import fnstore\n"
        f"with fnstore.create({str(tmp_path / 'store')!r}) as db:\n"
        f"    db.import_release({str(FRAMENET)!r}, progress=lambda files, of: print(files, flush=True))\n"
    )
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert any(int(line) > 0 for line in run.stdout)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors and run.returncode != 0
    with fnstore.open(tmp_path / "store") as db:
        assert db.releases() == [] and db.count() == 0
