"""Where models are looked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fnstore import _models


def test_the_variable_lists_directories_and_absent_ones_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    monkeypatch.setenv("FNSTORE_MODELS", os.pathsep.join(["", str(one), str(two)]))
    with pytest.warns(UserWarning, match=f"names {two}, which is no directory"):
        assert _models.directories()[:2] == [one, two]
