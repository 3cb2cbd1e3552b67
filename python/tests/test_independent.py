"""The script that compares every export with the XML and the schemas finds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MINI, MODELS, ROOT

PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")
COMPARE = ROOT / "tests/independent/compare.py"


@pytest.mark.skipif(not PROGRAM, reason="`make python` says where the program is")
def test_every_export_of_the_small_lexicon_says_what_its_xml_says(tmp_path: Path) -> None:
    arguments = ["--fnstore", PROGRAM, "--release", MINI, "--models", MODELS, "--work", tmp_path]
    done = subprocess.run([sys.executable, "-B", COMPARE, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 differences" in done.stdout and "arrow of all sets sets: " in done.stdout, done.stdout
