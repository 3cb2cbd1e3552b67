"""The examples of the pages and the notebook are what happens."""

from __future__ import annotations

import doctest
import io
import shutil
from pathlib import Path

import nbformat
import pytest
from conftest import MINI, MODELS, ROOT
from nbclient import NotebookClient

#: Each notebook, and how many pictures it keeps.
NOTEBOOKS = {"first-steps": 3, "training-data": 3, "filter": 2}


@pytest.mark.parametrize("name", ["guides/python.md", "reference/python.md"])
def test_the_examples_of_a_page_are_real(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(MINI, tmp_path / "mini-framenet")
    (tmp_path / "models").symlink_to(MODELS)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / name).read_text()
    blocks = [block.partition("```")[0] for block in page.split("```python\n")[1:]]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    out = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=out.write)
    assert runner.failures == 0 and runner.tries > 10, out.getvalue()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_shows_what_it_keeps(name: str) -> None:
    place = ROOT / f"docs/notebooks/{name}.ipynb"
    kept, fresh = (nbformat.read(place, as_version=4) for _ in range(2))
    NotebookClient(fresh, timeout=300, resources={"metadata": {"path": str(place.parent)}}).execute()
    pictures = 0
    for before, after in zip(kept.cells, fresh.cells, strict=True):
        for one, other in zip(before.get("outputs", []), after.get("outputs", []), strict=True):
            assert one.output_type == other.output_type
            assert one.get("data", {}).keys() == other.get("data", {}).keys()
            pictures += len({"image/png", "image/svg+xml"} & one.get("data", {}).keys())
    assert pictures == NOTEBOOKS[name]


def test_every_notebook_is_run() -> None:
    assert {place.stem for place in (ROOT / "docs/notebooks").glob("*.ipynb")} == set(NOTEBOOKS)
