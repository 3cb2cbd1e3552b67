"""``progress=True``: by tqdm where it is installed, else in a line on stderr."""

from __future__ import annotations

import sys
import types
from typing import Any

import fnstore
import pytest
from conftest import MODELS

#: More than are tagged together.
TEXTS = ["They checked it.", "We looked it over."] * 40


class Tqdm:
    """Notes what it is told."""

    made: list[Tqdm] = []

    def __init__(self, total: int | None) -> None:
        self.total, self.n, self.closed = total, 0, False
        Tqdm.made.append(self)

    def update(self, more: int) -> None:
        self.n += more

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def with_tqdm(monkeypatch: pytest.MonkeyPatch) -> type[Tqdm]:
    module: Any = types.ModuleType("tqdm.auto")
    module.tqdm = Tqdm
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    Tqdm.made = []
    return Tqdm


def test_tqdm_shows_progress_where_it_is_installed(own: fnstore.Database, with_tqdm: type[Tqdm]) -> None:
    assert len(list(fnstore.tag(TEXTS, models=MODELS, progress=True))) == len(TEXTS)
    own.check(progress=True)
    with own.transaction() as edits:
        edits.add_lu("Checking", "peruse.v")
    own.generate("lu=peruse.v", model="none", models=MODELS, progress=True)
    tagged, checked, *generated = with_tqdm.made
    assert (tagged.n, tagged.total, tagged.closed) == (len(TEXTS), None, True)
    assert checked.n > 0 and checked.closed
    assert generated and all(of.closed and of.total is not None for of in generated)


def test_a_line_shows_progress_without_tqdm(
    own: fnstore.Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    list(fnstore.tag(TEXTS, models=MODELS, progress=True))
    assert capsys.readouterr().err.endswith(f"\r{len(TEXTS)}\n")
    own.expand("frame=Checking lu=inspect.v", model="paraphrase", models=MODELS, dry_run=True,
               progress=True, rounds=1, beam=2, candidates=2, guide="none", choice="fewest-failed-checks")
    list(fnstore.tag(TEXTS, models=MODELS, progress=False))
    assert " of " in capsys.readouterr().err


def test_a_bar_is_closed_after_an_error(with_tqdm: type[Tqdm]) -> None:
    with pytest.raises(fnstore.TextError):
        list(fnstore.tag([*TEXTS, " "], models=MODELS, progress=True))
    (made,) = with_tqdm.made
    assert made.closed and made.n == 64
