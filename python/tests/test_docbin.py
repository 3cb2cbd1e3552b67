"""`examples/docbin.py` writes training records as spaCy's DocBin; and spaCy reads it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import fnstore
from conftest import ROOT

SCRIPT = ROOT / "examples/docbin.py"


def words_of(text: str) -> str:
    return "".join(text.split())


def test_a_doc_says_what_its_record_says(grown: fnstore.Database, tmp_path: Path) -> None:
    tokens = importlib.import_module("spacy.tokens")
    vocab = importlib.import_module("spacy.vocab").Vocab()
    (tmp_path / "fold.tsv").write_text("exemplars\t*\ttrain\nlu\tinspect.v\ttest\n")
    fold = grown.with_split_list(tmp_path / "fold.tsv")
    file = tmp_path / "sentences.jsonl"
    fold.export(file, to="jsonl", training=True, spacing="natural", no_leaks=True)
    run = [sys.executable, str(SCRIPT), str(file), str(tmp_path / "parts")]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    parts: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        parts.setdefault(record["split"] or "none", []).append(record)
    assert {"train", "test"} <= parts.keys()
    overlaps = masked = 0
    for name, records in parts.items():
        assert f"{name}.spacy\t{len(records)}\n" in said
        docs = list(tokens.DocBin().from_disk(tmp_path / "parts" / f"{name}.spacy").get_docs(vocab))
        assert [doc.user_data["sentence"] for doc in docs] == [record["sentence"] for record in records]
        for doc, record in zip(docs, records, strict=True):
            assert [token.text for token in doc] == [token["text"] for token in record["tokens"]]
            assert [token.lemma_ for token in doc] == [token["lemma"] for token in record["tokens"]]
            assert words_of(doc.text) == words_of(record["text"])
            targets = [(of["id"], of["frame"], words_of(at["text"])) for of in record["sets"] for at in of["targets"]]
            found = [(span.id_, span.label_, words_of(span.text)) for span in doc.spans["targets"]]
            assert found == [of for of in targets if of[2]]
            fes = [
                (of["id"], f"{of['frame']}:{fe['name']}", words_of(fe["span"]["text"]))
                for of in record["sets"]
                for fe in of["elements"]
                if fe["span"] and words_of(fe["span"]["text"])
            ]
            spans = [(span.id_, span.label_, words_of(span.text)) for span in doc.spans["fes"]]
            # A span may end inside a token, which is all in the Doc's.
            assert [of[:2] for of in spans] == [of[:2] for of in fes]
            assert all(one[2] in other[2] for one, other in zip(fes, spans, strict=True))
            assert len(doc.ents) <= len(found) and {of.label_ for of in doc.ents} <= {of["frame"] for of in record["sets"]}
            overlaps += len(found) - len(doc.ents)
            in_target = {token.i for span in doc.ents for token in span}
            for token, place in zip(doc, record["tokens"], strict=True):
                inside = [at for at in record["unannotated"] if at["start"] < place["end"] and place["start"] < at["end"]]
                if token.i in in_target:
                    assert token.ent_iob_ in "BI"
                elif inside:
                    assert token.ent_iob_ == "", "missing: `ner` learns nothing from it"
                    masked += 1
                elif not any(token in span for span in doc.spans["targets"]):
                    assert token.ent_iob_ == "O"
    assert masked > 0
