"""The JSON schemas of schema/, by a validator from PyPI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs

from findings import Findings


class Schemas:
    """Validators by the name of their file, and how many records each has seen."""

    def __init__(self, folder: Path):
        files = sorted(folder.glob("*.schema.json"))
        self.documents = {path.name: json.loads(path.read_text()) for path in files}
        self.registry = jsonschema_rs.Registry(
            [(f"json-schema:///{name}", self.absolute(document)) for name, document in self.documents.items()]
        )
        self.validators: dict[str, Any] = {}

    def absolute(self, of: Any) -> Any:
        """A schema whose references to other files lead into the registry."""
        if isinstance(of, list):
            return [self.absolute(one) for one in of]
        if not isinstance(of, dict):
            return of
        known = {key: self.absolute(value) for key, value in of.items() if key != "$id"}
        reference = known.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            known["$ref"] = f"json-schema:///{reference}"
        return known

    def validator(self, name: str) -> Any:
        if name not in self.validators:
            document = {"$ref": f"json-schema:///{name}.schema.json"}
            self.validators[name] = jsonschema_rs.Draft202012Validator(document, registry=self.registry)
        return self.validators[name]

    def check(self, name: str, record: Any, findings: Findings, where: str = "") -> None:
        """Checks a record; `name` is its schema's file without the endings."""
        findings.count(f"schema {name}")
        if f"{name}.schema.json" not in self.documents:
            findings.add(f"schema {name}", "no such schema", where)
            return
        validator = self.validator(name)
        if not validator.is_valid(record):
            for error in validator.iter_errors(record):
                place = "/".join(map(str, error.instance_path))
                findings.add(f"schema {name}", "breaks its schema", f"{where} at {place}: {error.message[:300]}")
