"""The package: types, stubs, size, speed of the import, and what it is built from."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import fnstore
import pytest
from conftest import ROOT


def run(*command: str, at: Path = ROOT / "python") -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=at)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_says_its_version() -> None:
    assert fnstore.__version__ == version("fnstore")
    assert not hasattr(fnstore, "_version_")


def test_the_package_and_its_use_are_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use = tmp_path / "use.py"
    use.write_text(
        "import fnstore\n"
        "db = fnstore.open('store')\n"
        "for of in db.query('frame=Checking'):\n"
        "    reveal_type(of.elements[0].span)\n"
        "with db.transaction() as edits:\n"
        "    reveal_type(edits.add_frame('X'))\n"
        "db.query(3)\n"
    )
    # Pandas' and polars' types are read once for both.
    monkeypatch.setenv("MYPY_CACHE_DIR", str(tmp_path / "cache"))
    run(sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "fnstore")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(use)], capture_output=True, text=True, cwd=tmp_path
    )
    assert "tuple[int, int] | None" in done.stdout and 'Revealed type is "str"' in done.stdout, done.stdout
    assert 'has incompatible type "int"; expected "str"' in done.stdout and "Found 1 error" in done.stdout


def test_the_stubs_are_what_the_module_has(tmp_path: Path) -> None:
    run(sys.executable, "-m", "mypy.stubtest", "fnstore._fnstore", at=tmp_path)


def test_the_import_waits_for_no_table_library(tmp_path: Path) -> None:
    code = "import sys, fnstore; print({'IPython', 'numpy', 'pandas', 'polars', 'pyarrow'} & sys.modules.keys())"
    assert run(sys.executable, "-c", code, at=tmp_path).strip() == "set()"


@pytest.mark.skipif("FNSTORE_WHEELS" not in os.environ, reason="`make python` says where the wheels are")
def test_the_wheels_are_small() -> None:
    sizes = {wheel.name.split("-")[0]: wheel.stat().st_size for wheel in Path(os.environ["FNSTORE_WHEELS"]).glob("*.whl")}
    print({name: f"{size / 1e6:.1f} MB" for name, size in sizes.items()})
    assert sizes["fnstore"] <= 20e6 and sizes["fnstore_models"] <= 54e6


@pytest.mark.skipif("FNSTORE_WHEELS" not in os.environ, reason="`make python` says where the wheels are")
def test_the_wheel_of_models_has_every_model_whole() -> None:
    (wheel,) = Path(os.environ["FNSTORE_WHEELS"]).glob("fnstore_models-*.whl")
    with zipfile.ZipFile(wheel) as file:
        held = {name.removeprefix("fnstore_models/") for name in file.namelist()}
    models = ROOT / "models"
    own = {path.relative_to(models).as_posix() for path in models.glob("*/*")}
    assert {"rewriter", "infill", "verifier", "frames", "fes"} <= {name.split("/")[0] for name in own}
    assert own <= held, own - held


def test_what_the_bindings_add_is_free_to_use() -> None:
    own, core = (
        set(run("cargo", "tree", "--locked", "--offline", "--prefix=none", "--no-dedupe", "--format={p}:{l}", at=at).split("\n"))
        for at in (ROOT / "python", ROOT)
    )
    added = {line for line in own - core if not line.startswith("fnstore")}
    assert any(line.startswith("pyo3 ") for line in added) and len(added) < 10, added
    for line in added:
        assert "MIT" in line or "Apache-2.0" in line, line


def test_what_is_heavy_is_compiled_for_both_crates_alike() -> None:
    """Else RocksDB, Tantivy and wgpu would be compiled twice."""
    features = (
        {
            line.partition(" (*)")[0]
            for line in run("cargo", "tree", "--locked", "--offline", "--prefix=none", "--edges=no-dev", "--format={p} {f}", at=at).split("\n")
        }
        for at in (ROOT / "python", ROOT)
    )
    own, core = features
    assert len(core) > 200 and core <= own
