"""``python -m fnstore`` is the program."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import fnstore
import pytest
from conftest import MINI, MODELS

PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")


def is_built_in() -> bool:
    environment = {key: value for key, value in os.environ.items() if key != "FNSTORE_PROGRAM"} | {"PATH": "/nowhere"}
    command = [sys.executable, "-m", "fnstore", "--version"]
    return subprocess.run(command, capture_output=True, env=environment, check=False).returncode == 0


IS_BUILT_IN = is_built_in()


@pytest.fixture(autouse=True)
def _needs_a_program(request: pytest.FixtureRequest) -> None:
    if not IS_BUILT_IN and not PROGRAM and "no_program" not in request.node.name:
        pytest.skip("the package was built without the program, and `make python` says where there is one")


def run(*words: str | Path, env: dict[str, str] | None = None, by: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [by] if by else [sys.executable, "-m", "fnstore"]
    environment = {**os.environ, **(env or {})}
    return subprocess.run([*command, *words], capture_output=True, text=True, env=environment, check=False)


def test_it_imports_queries_and_says_how_it_ended(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run("import", MINI, "--store", store).returncode == 0
    found = run("query", "frame=Checking trigger=look*", "--count", "--store", store)
    assert (found.returncode, found.stdout) == (0, "3\n")
    with fnstore.open(store) as db:
        assert db.query("frame=Checking trigger=look*").count() == 3
    assert run("query", "frame=Checking trigger=nothing", "--store", store).returncode == 1
    wrong = run("query", "frame=Cheking", "--store", store)
    assert wrong.returncode == 2 and "did you mean `Checking`?" in wrong.stderr
    assert run("releases", "--store", tmp_path / "none").returncode == 66
    usage = run("qery")
    assert usage.returncode == 2 and "Usage: fnstore" in usage.stderr
    told = run("--errors", "json", "releases", "--store", tmp_path / "none")
    assert told.stderr.splitlines()[-1].startswith('{"kind"')


def test_it_is_of_the_packages_version() -> None:
    assert run("--version").stdout == f"fnstore {fnstore.__version__}\n"


@pytest.mark.skipif(IS_BUILT_IN, reason="the program is built in")
def test_where_there_is_no_program_the_error_says_how_to_get_one() -> None:
    told = run("--version", env={"PATH": "/nowhere", "FNSTORE_PROGRAM": ""})
    assert told.returncode == 1 and "hint: install the program" in told.stderr and not told.stdout


@pytest.mark.skipif(not PROGRAM, reason="`make python` says where the program is")
def test_it_says_what_the_program_says(mini_store: Path) -> None:
    for words in (["--help"], ["query", "--help"], ["completions", "bash"], ["query", "frame=Checking", "--format", "jsonl"]):
        ours, own = (run(*words, "--store", str(mini_store), by=by) for by in (None, PROGRAM))
        assert (ours.returncode, ours.stdout, ours.stderr) == (own.returncode, own.stdout, own.stderr), words


def test_words_that_are_no_unicode_go_through(tmp_path: Path) -> None:
    store = os.fsdecode(bytes(tmp_path) + b"/st\xffore")
    assert run("import", MINI, "--store", store).returncode == 0
    assert run("query", "frame=Checking", "--count", "--store", store).stdout == "27\n"


def test_it_finds_the_models_of_the_package(tmp_path: Path) -> None:
    package = tmp_path / "site/fnstore_models"
    shutil.copytree(MODELS / "tagger", package / "tagger")
    (package / "__init__.py").write_text("")
    path = os.pathsep.join([str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    listed = run("model", "list", env={"PYTHONPATH": path, "FNSTORE_MODELS": "", "FNSTORE_CACHE": str(tmp_path)})
    assert listed.returncode == 0 and str(package) in listed.stdout, listed.stderr


def test_a_signal_ends_it(mini_store: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        command = [sys.executable, "-m", "fnstore", "changes", "--follow", "--store", str(mini_store)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
            assert follower.stdout is not None and follower.stdout.readline()
            begun = time.monotonic()
            follower.send_signal(number)
            follower.stdout.read()
            assert follower.wait(20) in (-number, 128 + number) and time.monotonic() - begun < 10


def test_a_reader_that_has_enough_is_no_error(mini_store: Path) -> None:
    command = f"'{sys.executable}' -m fnstore query --format jsonl --store '{mini_store}' | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0" and done.stderr == ""
