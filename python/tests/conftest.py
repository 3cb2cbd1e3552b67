"""Stores for the tests: the small lexicon of tests/data, and FrameNet 1.5 where it is at hand."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import fnstore
import pytest

ROOT = Path(__file__).resolve().parents[2]
MINI = ROOT / "tests/data/mini-framenet"
#: As in the Makefile.
FRAMENET = ROOT / os.environ.get("FRAMENET", "../shared/data/fndata-1.5.zip")
MODELS = ROOT / "models"
_CACHE = Path(os.environ.get("FNSTORE_CACHE") or Path.home() / ".cache/fnstore")
#: As `make rewriter` fetches it.
BASE = _CACHE / "models/SmolLM2-135M-Instruct"


@pytest.fixture(scope="session")
def mini_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the small lexicon, not to be written to."""
    path = tmp_path_factory.mktemp("mini") / "store"
    with fnstore.create(path) as db:
        db.import_release(MINI)
    return path


@pytest.fixture(scope="session")
def db(mini_store: Path) -> fnstore.Database:
    """The small lexicon, open for reading."""
    return fnstore.open(mini_store)


@pytest.fixture
def own(mini_store: Path, tmp_path: Path) -> fnstore.Database:
    """The small lexicon in a store of the test's own."""
    return fnstore.open(shutil.copytree(mini_store, tmp_path / "store"))


@pytest.fixture(scope="session")
def framenet(tmp_path_factory: pytest.TempPathFactory) -> fnstore.Database:
    """FrameNet 1.5, where it is at hand."""
    if not FRAMENET.is_file():
        pytest.skip(f"there is no {FRAMENET}")
    db = fnstore.create(tmp_path_factory.mktemp("framenet") / "store")
    db.import_release(FRAMENET)
    return db


@pytest.fixture(scope="session")
def grown(mini_store: Path, tmp_path_factory: pytest.TempPathFactory) -> fnstore.Database:
    """The small lexicon with two rounds of expansion, not to be written to."""
    db = fnstore.open(shutil.copytree(mini_store, tmp_path_factory.mktemp("grown") / "store"))
    db.expand("frame=Checking", rounds=2, model="paraphrase", models=MODELS, beam=4, candidates=4)
    return db
