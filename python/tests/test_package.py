"""The package: types, stubs, size, speed of the import, and what it is built from."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import fnstore
import pytest
from conftest import MINI, ROOT


needs_wheels = pytest.mark.skipif("FNSTORE_WHEELS" not in os.environ, reason="`make python` says where the wheels are")


PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")

#: What has types of its own; `nltk.py` and `_pandas.py` call what has none, NLTK and pyarrow.
PYRIGHT = ["_fnstore.pyi", "__init__.py", "__main__.py", "_edits.py", "_errors.py", "_fetch.py", "_fetching.py",
           "_models.py", "_texts.py", "_views.py"]  # fmt: skip


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


def test_the_package_and_its_use_pass_pyright(tmp_path: Path) -> None:
    use = tmp_path / "use.py"
    use.write_text(
        "import fnstore\n"
        "db = fnstore.open('store')\n"
        "for of in db.query('frame=Checking'):\n"
        "    print(of.elements[0].span, of.trigger.upper())\n"
        "for rewriting in fnstore.paraphrase(['They checked it.'], avoid=['checked'], n_best=1):\n"
        "    print([of.text for of in rewriting.paraphrases])\n"
        "print([of.total_triggers for of in db.growth('frame=Checking')], db.growth().svgs[0])\n"
        "db.query('frame=Checking').to_polars(['lu']).height\n"
    )
    strict = tmp_path / "pyrightconfig.json"
    files = [use, *(ROOT / "python/fnstore" / name for name in PYRIGHT)]
    include = [os.path.relpath(file, tmp_path) for file in files]
    strict.write_text(json.dumps({"include": include, "typeCheckingMode": "strict", "reportMissingModuleSource": False}))
    command = ["-m", "pyright", "--outputjson", "--project", str(strict), "--pythonpath", sys.executable]
    said = json.loads(subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False).stdout)
    found = [f"{of['file']}:{of['range']['start']['line']}: {of['message']}" for of in said["generalDiagnostics"]]
    assert said["summary"]["filesAnalyzed"] == len(files) and not found, found


def test_the_stubs_are_what_the_module_has(tmp_path: Path) -> None:
    run(sys.executable, "-m", "mypy.stubtest", "fnstore._fnstore", at=tmp_path)


def test_the_import_waits_for_no_table_library(tmp_path: Path) -> None:
    code = "import sys, fnstore; print({'IPython', 'numpy', 'pandas', 'polars', 'pyarrow'} & sys.modules.keys())"
    assert run(sys.executable, "-c", code, at=tmp_path).strip() == "set()"


@needs_wheels
def test_the_wheels_are_small() -> None:
    sizes = {wheel.name.split("-")[0]: wheel.stat().st_size for wheel in Path(os.environ["FNSTORE_WHEELS"]).glob("*.whl")}
    print({name: f"{size / 1e6:.1f} MB" for name, size in sizes.items()})
    assert sizes["fnstore"] <= 20e6 and sizes["fnstore_models"] <= 54e6


def wheel(name: str) -> Path:
    (found,) = Path(os.environ["FNSTORE_WHEELS"]).glob(f"{name}-*.whl")
    return found


@needs_wheels
def test_the_wheel_runs_where_its_name_says(tmp_path: Path) -> None:
    """What auditwheel reads out of the library is the tag in the wheel's name."""
    tags = wheel("fnstore").stem.split("-")
    assert tags[2:4] == ["cp311", "abi3"], tags
    said = " ".join(run(sys.executable, "-m", "auditwheel", "show", str(wheel("fnstore")), at=tmp_path).split())
    (tag,) = re.findall(r'following platform tag: "(manylinux_\d+_\d+_\w+)"', said)
    assert tags[4].split(".")[0] == tag, said


def pythons() -> list[str]:
    """The interpreters from 3.11 on that are at hand."""
    named = [shutil.which(f"python3.{minor}") for minor in range(11, 30)]
    kept = sorted(map(str, (Path.home() / ".pyenv/versions").glob("3.*/bin/python")))
    ask = "import sys, venv, ensurepip; print(sys.version_info >= (3, 11), sys.version, sys.base_prefix)"
    found = {}
    for place in filter(None, [sys.executable, *named, *kept]):
        said = subprocess.run([place, "-c", ask], capture_output=True, text=True, check=False).stdout
        if said.startswith("True"):
            found.setdefault(said, place)
    return list(found.values())


@needs_wheels
@pytest.mark.parametrize("python", pythons())
def test_the_wheel_is_installed_in_an_empty_environment(python: str, tmp_path: Path) -> None:
    run(python, "-m", "venv", str(tmp_path / "venv"), at=tmp_path)
    own = str(tmp_path / "venv/bin/python")
    run(own, "-m", "pip", "install", "--quiet", "--no-index", str(wheel("fnstore")), at=tmp_path)
    code = (
        "import fnstore; db = fnstore.create('store'); db.import_release(%r); print(db.count(), fnstore.__version__)"
        % str(MINI)
    )
    # Isolated: what the tests run with is no part of it.
    assert run(own, "-I", "-c", code, at=tmp_path) == f"42 {fnstore.__version__}\n"
    if PROGRAM:
        assert run(own, "-I", "-m", "fnstore", "--store", "store", "query", "--count", at=tmp_path) == "42\n"


def test_the_source_distribution_has_what_it_is_built_from(tmp_path: Path) -> None:
    maturin = Path(sys.executable).with_name("maturin")
    run(str(maturin), "sdist", "--out", str(tmp_path))
    (archive,) = tmp_path.glob("*.tar.gz")
    assert archive.stat().st_size < 10e6
    with tarfile.open(archive) as file:
        held = {name.partition("/")[2] for name in file.getnames()}
        file.extractall(tmp_path, filter="data")
    tracked = run("git", "ls-files", "src", "shaders", "python/src", "python/program", "build.rs", at=ROOT).split()
    # The package itself lies at the top there, beside its build backend.
    package = run("git", "ls-files", "fnstore", "build_backend.py").split()
    assert {*tracked, *package} <= held, {*tracked, *package} - held
    # cargo reads every manifest and finds each crate and target.
    at = archive.with_name(archive.name.removesuffix(".tar.gz"))
    listed = run("cargo", "metadata", "--offline", "--format-version=1", at=at / "python")
    assert '"fnstore-program"' in listed


@needs_wheels
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
