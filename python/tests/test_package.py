"""The package: types, stubs, size, speed of the import, and what it is built from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT


def run(*command: str, at: Path = ROOT / "python") -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=at)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_and_its_use_are_typed(tmp_path: Path) -> None:
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
    run(sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "fnstore")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(use)], capture_output=True, text=True, cwd=tmp_path
    )
    assert "tuple[int, int] | None" in done.stdout and 'Revealed type is "str"' in done.stdout, done.stdout
    assert 'has incompatible type "int"; expected "str"' in done.stdout and "Found 1 error" in done.stdout


def test_the_stubs_are_what_the_module_has(tmp_path: Path) -> None:
    run(sys.executable, "-m", "mypy.stubtest", "fnstore._fnstore", at=tmp_path)


def test_the_import_takes_less_than_50_milliseconds(tmp_path: Path) -> None:
    code = "import time; a = time.perf_counter(); import fnstore; print(time.perf_counter() - a)"
    seconds = min(float(run(sys.executable, "-c", code, at=tmp_path)) for _ in range(5))
    print(f"import fnstore: {1000 * seconds:.1f} ms")
    assert seconds < 0.05


@pytest.mark.skipif("FNSTORE_WHEELS" not in os.environ, reason="`make python` says where the wheels are")
def test_the_wheels_are_small() -> None:
    sizes = {wheel.name.split("-")[0]: wheel.stat().st_size for wheel in Path(os.environ["FNSTORE_WHEELS"]).glob("*.whl")}
    print({name: f"{size / 1e6:.1f} MB" for name, size in sizes.items()})
    assert sizes["fnstore"] <= 20e6 and sum(sizes.values()) <= 65e6 and sizes["fnstore_models"] <= 45e6


def lock(place: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for package in tomllib.loads(place.read_text())["package"]:
        found.setdefault(package["name"], set()).add(package["version"])
    return found


def test_both_crates_lock_the_same_versions() -> None:
    """Else RocksDB, Tantivy and wgpu would be compiled twice."""
    main, own = lock(ROOT / "Cargo.lock"), lock(ROOT / "python/Cargo.lock")
    shared = main.keys() & own.keys()
    assert len(shared) > 200
    assert {name: own[name] - main[name] for name in shared if own[name] - main[name]} == {}
    ours = tomllib.loads((ROOT / "python/Cargo.toml").read_text())
    theirs = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert ours["profile"] == theirs["profile"] and ours["package"]["version"] == theirs["package"]["version"]


def test_what_the_bindings_add_is_free_to_use() -> None:
    done = run("cargo", "metadata", "--format-version", "1", "--locked", "--offline")
    packages: list[dict[str, Any]] = json.loads(done)["packages"]
    added = {of["name"]: of["license"] for of in packages if of["name"] not in lock(ROOT / "Cargo.lock")}
    assert "pyo3" in added
    for name, licence in added.items():
        assert "MIT" in licence or "Apache-2.0" in licence, name
