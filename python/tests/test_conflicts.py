"""Arguments that do not go together are refused, as the program refuses their options."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import fnstore
import pytest
from conftest import MODELS

PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")
SERVER: dict[str, Any] = {"endpoint": fnstore.Server("http://127.0.0.1:9/v1", tries=1, answers="none"), "model": "small"}
ASKS = ["--endpoint", "http://127.0.0.1:9/v1", "--model", "small"]
OUT = Path("part.zst")
SHARD: dict[str, Any] = {"shard": "1/2", "out": OUT}
PART = ["--shard", "1/2", "--out", str(OUT)]

#: Arguments of `expand`, the options of the program, the code, what is named.
EXPANSIONS: list[tuple[dict[str, Any], list[str], str, str]] = [
    ({**SHARD, "limit": 3}, [*PART, "--limit", "3"], "X-shard", "limit=3"),
    ({**SHARD, "redo": True}, [*PART, "--redo"], "X-shard", "redo=True"),
    ({**SHARD, "from_sisters": True}, [*PART, "--from-sisters"], "X-shard", "from_sisters=True"),
    ({**SHARD, **SERVER}, [*PART, *ASKS], "X-shard", "endpoint=Server"),
    ({"shard": "1/2", "dry_run": True, "limit": 3}, ["--shard", "1/2", "--dry-run", "--limit", "3"], "X-shard", "limit=3"),
    ({"dry_run": True, "redo": True}, ["--dry-run", "--redo"], "X-setting", "redo=True"),
    ({"dry_run": True, **SERVER}, ["--dry-run", *ASKS], "X-setting", "dry_run=True"),
    ({"beam": 2, **SERVER}, ["--beam", "2", *ASKS], "X-setting", "beam=2"),
    ({"words": "any", **SERVER}, ["--words", "any", *ASKS], "X-setting", "words=any"),
    ({"reword": 0.5, **SERVER}, ["--reword", "0.5", *ASKS], "X-setting", "reword=0.5"),
    ({"filter": "none", **SERVER}, ["--filter", "none", *ASKS], "X-setting", "filter=none"),
    ({"from_sisters": True, "sample": 2}, ["--from-sisters", "--sample", "2"], "X-setting", "from_sisters=True"),
]


def refused_by_the_program(db: fnstore.Database, command: str, words: list[str]) -> bool:
    if not PROGRAM:
        pytest.skip("`make python` says where the program is")
    line = [PROGRAM, "--store", str(db.path), command, "frame=Checking", *words]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    return done.returncode == 2 and "cannot be used with" in done.stderr


@pytest.mark.parametrize(("arguments", "words", "code", "named"), EXPANSIONS)
def test_an_expansion_refuses_what_the_program_does(
    own: fnstore.Database, arguments: dict[str, Any], words: list[str], code: str, named: str
) -> None:
    with pytest.raises(fnstore.ExpandError) as raised:
        own.expand("frame=Checking", **{"model": "paraphrase", "models": MODELS, **arguments})
    assert raised.value.code == code and named in str(raised.value) and raised.value.advice
    assert not OUT.exists() and own.count("origin=generated") == 0
    assert refused_by_the_program(own, "expand", words)


def test_a_generation_refuses_what_the_program_does(own: fnstore.Database) -> None:
    with pytest.raises(fnstore.ExpandError, match="dry_run=True") as raised:
        own.generate("frame=Checking", dry_run=True, models=MODELS, **SERVER)
    assert raised.value.code == "X-setting"
    assert refused_by_the_program(own, "generate", ["--dry-run", *ASKS])


def test_what_goes_together_is_no_conflict(own: fnstore.Database) -> None:
    refused = pytest.raises(fnstore.ModelMissingError)
    for arguments in ({"shard": "1/2", "dry_run": True}, {"redo": True, "limit": 1}, {"from_sisters": True, "limit": 1}):
        with refused:
            own.expand("frame=Checking", model="nothing", models=MODELS, **arguments)  # type: ignore[arg-type]


def test_a_status_of_a_server_refuses_what_it_does_not_read(own: fnstore.Database) -> None:
    with pytest.raises(fnstore.ExpandError, match="beam=2"):
        own.expansion_status("frame=Checking", beam=2, **SERVER)
