"""Runs the program, and checks every JSON record that it prints."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from findings import Findings
from schemas import Schemas


@dataclass
class Ran:
    code: int
    out: bytes
    err: str

    def records(self) -> list[Any]:
        """What was printed, a JSON value a line."""
        return [json.loads(line) for line in self.out.decode().split("\n") if line]


@dataclass
class Program:
    """The program with a store, and what its records are held to."""

    path: Path
    store: Path
    schemas: Schemas
    findings: Findings
    models: Path | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def run(self, *arguments: str | Path, given: str | None = None, expect: tuple[int, ...] = (0,)) -> Ran:
        """Runs a command; another exit code than those expected is a finding."""
        begun = time.monotonic()
        environment = os.environ | {"FNSTORE_DIR": str(self.store), "NO_COLOR": "1"}
        if self.models is not None:
            environment["FNSTORE_MODELS"] = str(self.models)
        words = [str(self.path), *map(str, arguments)]
        done = subprocess.run(words, input=(given or "").encode(), capture_output=True, env=environment, check=False)
        self.seconds[" ".join(words[1:3])] = self.seconds.get(" ".join(words[1:3]), 0.0) + time.monotonic() - begun
        ran = Ran(done.returncode, done.stdout, done.stderr.decode(errors="replace"))
        if ran.code not in expect:
            said = ran.err.strip().splitlines()[-3:]
            self.findings.add("commands", f"exit code {ran.code}", f"{' '.join(words[1:])}: {said}")
        return ran

    def records(
        self, schema: str, *arguments: str | Path, given: str | None = None, expect: tuple[int, ...] = (0,)
    ) -> list[Any]:
        """Runs a command in `--format jsonl`; each record follows the schema."""
        ran = self.run(*arguments, "--format", "jsonl", given=given, expect=expect)
        records = ran.records() if ran.code in (0, 1, 65) else []
        for record in records:
            self.schemas.check(schema, record, self.findings, " ".join(map(str, arguments))[:200])
        if not records and 0 in expect and len(expect) == 1:
            self.findings.add("commands", "no record", " ".join(map(str, arguments)))
        return records

    def report(self, *arguments: str | Path) -> dict[str, Any]:
        """Runs an export into a file; gives its report."""
        records = self.records("export", "export", *arguments)
        return records[0] if records else {"records": {}, "losses": {}}
