"""Checks, backups and a verifier's answers."""

from __future__ import annotations

import shutil
from pathlib import Path

import fnstore
import pytest
from conftest import BASE, MODELS


@pytest.mark.parametrize("deep", [False, True])
def test_a_whole_store_has_no_findings(db: fnstore.Database, deep: bool) -> None:
    told: list[int] = []
    report = db.check(deep=deep, progress=told.append)
    assert report and not report.findings
    assert report.revision == db.revision and report.index_entries == db.count()
    assert sum(report.rows.values()) >= max(told, default=0)


def test_a_finding_says_what_is_wrong_and_how_often(own: fnstore.Database) -> None:
    shutil.rmtree(Path(own.path) / "index")
    report = own.check()
    assert not report
    assert [(of.code, of.count) for of in report.findings] == [("C-index-absent", 1)]
    assert report.findings[0].meaning and report.findings[0].examples


def test_an_error_of_ones_own_progress_comes_back(db: fnstore.Database) -> None:
    with pytest.raises(ZeroDivisionError):
        db.check(progress=lambda _: 1 // 0)


def test_a_backup_is_the_store_at_one_moment(own: fnstore.Database, tmp_path: Path) -> None:
    report = own.backup(tmp_path / "backup")
    assert report.revision == own.revision and report.releases == [of.name for of in own.releases()]
    assert report.bytes == sum(file.stat().st_size for file in (tmp_path / "backup" / "db").iterdir())
    with pytest.raises(fnstore.StoreError):
        own.backup(tmp_path / "backup")


def test_a_verifier_that_is_not_at_hand_is_told_of(own: fnstore.Database, tmp_path: Path) -> None:
    with pytest.raises(fnstore.ModelMissingError) as error:
        own.verify("frame=Checking", models=tmp_path)
    assert "verifier" in str(error.value)
    with pytest.raises(fnstore.UnknownNameError):
        own.verify("frame=Nowhere", models=tmp_path)


@pytest.mark.skipif(not BASE.is_dir(), reason="the language model is not at hand")
def test_what_a_verifier_says_is_stored_once(own: fnstore.Database, tmp_path: Path) -> None:
    models = tmp_path / "models"
    shutil.copytree(MODELS, models)
    (models / BASE.name).symlink_to(BASE)
    told: list[int] = []
    report = own.verify("frame=Checking", models=models, progress=told.append)
    assert report.sets == own.count("frame=Checking") == report.written + report.without
    assert own.count("frame=Checking evokes>=0") == report.written > 0 and told
    assert own.verify("frame=Checking", models=models).written == 0
