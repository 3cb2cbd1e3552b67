"""Every export as FrameNet's XML, read back by NLTK's own reader: frames, LUs, exemplars and documents."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nltk
import nltk.corpus.reader.framenet as nltks
import pytest

ROOT = Path(__file__).resolve().parents[2]
MINI = ROOT / "tests/data/mini-framenet"
PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")

pytestmark = pytest.mark.skipif(not PROGRAM, reason="`make python` says where the program is")

#: Edits of FrameNet's sets and LUs, and what people add: sets with and without FEs and targets, on sentences of theirs,
#: of exemplars and of full text, in documents of theirs.
EDITS: list[dict[str, Any]] = [
    {"op": "add-frame", "name": "Zooming"},
    {"op": "add-lu", "frame": "Zooming", "name": "zoom.v"},
    {"op": "add-lu", "frame": "Checking", "name": "without sets.v"},
    {"op": "add-document", "as": "d", "corpus": "NOTES", "name": "Monday"},
    {"op": "add-sentence", "as": "s", "text": "She checked it .", "document": "@d"},
    {"op": "add-sentence", "as": "t", "text": "It zoomed in ."},
    {"op": "add-sentence", "text": "No set stands here .", "document": "@d"},
    {
        "op": "add-set", "sentence": "@s", "frame": "Checking", "lu": "verify.v", "targets": [[4, 11]],
        "elements": [
            {"name": "Checker", "span": [0, 3], "gf": "Ext", "pt": "NP"},
            {"name": "Matter", "span": [12, 14], "rank": 2},
            {"name": "Standard", "ni": "INI"},
        ],
    },
    {"op": "add-set", "sentence": "@t", "frame": "Zooming", "lu": "zoom.v", "targets": [[3, 9]]},
    {"op": "add-set", "sentence": "x5001", "frame": "Zooming", "lu": "zoom.v", "targets": [[0, 2]]},
    {"op": "add-set", "sentence": "f6002", "frame": "Zooming", "lu": "zoom.v", "targets": [[0, 2]]},
    {"op": "edit-set", "set": "x7002", "elements": []},
]  # fmt: skip

SPANS = (
    '{"text": "The clerk checked the bill .", "spans": [{"start": 10, "end": 17, "type": "Inspecting", '
    '"lemma": "check", "pos": "V"}], "document": "d"}\n'
)

#: LUs of these frames are named by no file of the release that sentences are annotated into.
NEWS = "They checked every boat .\nThe crew mended the ropes .\nNobody roamed the harbour .\n"


def run(store: Path, *arguments: object) -> str:
    """What the program prints."""
    command = [PROGRAM, *map(str, arguments), "--store", str(store)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small lexicon with edited and generated sets, and a release of span-labelled data."""
    folder = tmp_path_factory.mktemp("exports")
    store = folder / "store"
    run(store, "import", MINI)
    edits, spans = folder / "edits.jsonl", folder / "spans.jsonl"
    edits.write_text("".join(json.dumps(line) + "\n" for line in EDITS))
    spans.write_text(SPANS)
    run(store, "edit", edits)
    run(store, "import", spans, "--release", "spans")
    models = ("--models", ROOT / "models", "--model", "paraphrase", "--device", "cpu")
    few = ("--rounds", 2, "--beam", 4, "--candidates", 4, "--limit", 4)
    run(store, "expand", "frame=Checking", *models, *few)
    return store


@pytest.fixture(scope="session")
def news(store: Path) -> Path:
    """A store with a release of predicted sets."""
    text, into = store.parent / "news.txt", store.parent / "news"
    text.write_text(NEWS)
    models = ("--models", ROOT / "models", "--device", "cpu")
    run(store, "annotate", text, "--release", "mini-framenet", "--open", "--into", into, "--as", "news", *models)
    return into


def reader_of(directory: Path) -> nltks.FramenetCorpusReader:
    nltk.data.path.insert(0, str(directory))
    return nltks.FramenetCorpusReader(str(directory), [])


def exported(store: Path, folder: Path, *query: str) -> nltks.FramenetCorpusReader:
    run(store, "export", *query, "--to", "framenet-xml", folder)
    return reader_of(folder)


def pieces(fn: nltks.FramenetCorpusReader) -> Iterator[tuple[tuple[str, object], Callable[[], object]]]:
    """Every frame, LU and document, each read and printed."""

    def whole_lu(id: int) -> object:
        lu = fn.lu(id)
        assert lu.frame.lexUnit[lu.name].ID is not None
        sets = [(sentence, made) for sentence in lu.exemplars for made in sentence.annotationSet]
        return [str(lu), str(lu.exemplars), *(str(of) for pair in sets for of in pair)]

    def whole_document(id: int) -> object:
        document = fn.doc(id)
        sets = [made for sentence in document.sentence for made in sentence.annotationSet[1:]]
        # A document itself is not printed: NLTK asks for its name, which those of FrameNet 1.5 do not have.
        return [*map(str, document.sentence), *map(str, sets)]

    for id in fn.frame_ids_and_names():
        yield ("frame", id), lambda id=id: str(fn.frame(id))  # type: ignore[misc]
    for id in fn.lu_ids_and_names():
        yield ("lu", id), lambda id=id: whole_lu(id)  # type: ignore[misc]
    for row in fn.docs_metadata():
        yield ("document", row.ID), lambda id=row.ID: whole_document(id)  # type: ignore[misc]
    yield ("list", "frame relations"), lambda: [str(of) for of in fn.frame_relations()]
    yield ("list", "FE relations"), lambda: [str(of) for of in fn.fe_relations()]
    yield ("list", "indexes"), fn.buildindexes


def faults(fn: nltks.FramenetCorpusReader) -> dict[tuple[str, object], str]:
    """What NLTK cannot read, and why."""
    found = {}
    for name, read in pieces(fn):
        try:
            read()
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    return found


def evoking(fn: nltks.FramenetCorpusReader) -> list[int]:
    """Numbers of the sets that mark a target, among the exemplars that NLTK can read."""
    found = []
    for id in fn.lu_ids_and_names():
        try:
            exemplars = fn.lu(id).exemplars
        except AssertionError:
            continue
        found += [made.ID for sentence in exemplars for made in sentence.annotationSet if "Target" in made]
    return found


@pytest.fixture(scope="session")
def odd() -> dict[tuple[str, object], str]:
    """What NLTK cannot read of the small lexicon itself, which has a case of each oddity of FrameNet."""
    return faults(reader_of(MINI))


def test_a_release_with_edited_and_generated_sets(
    store: Path, odd: dict[tuple[str, object], str], tmp_path: Path
) -> None:
    fn = exported(store, tmp_path / "whole", "release=mini-framenet")
    found = faults(fn)
    assert {name: why for name, why in found.items() if name not in odd} == {}
    human = reader_of(MINI)
    assert [of.name for of in fn.semtypes()] == [of.name for of in human.semtypes()]
    assert set(fn.frame_ids_and_names()) > set(human.frame_ids_and_names())
    documents = [{row.filename for row in of.docs_metadata()} for of in (fn, human)]
    assert documents[0] == documents[1] | {"NOTES__Monday.xml"}
    made = set(evoking(fn)) - set(evoking(human))
    read = "release=mini-framenet " + " ".join(f"lu!={fn.lu(id).name}" for kind, id in odd if kind == "lu")
    counts = [run(store, "query", f"{read} origin={of}", "--count") for of in ("generated", "user")]
    assert min(map(int, counts)) > 0
    assert len(made) == sum(map(int, counts))
    # An edit that leaves a set without FEs leaves it readable.
    (edited,) = [of for of in fn.lu(1001).exemplars for of in of.annotationSet if of.ID == 7002]
    assert edited.FE == ([], {})


@pytest.mark.parametrize("query", ["origin=generated", "frame=Checking", "origin=user", "origin=fulltext"])
def test_a_part(store: Path, odd: dict[tuple[str, object], str], tmp_path: Path, query: str) -> None:
    found = faults(exported(store, tmp_path / "part", "release=mini-framenet", query))
    assert {name: why for name, why in found.items() if name not in odd} == {}


def test_imported_spans(store: Path, tmp_path: Path) -> None:
    fn = exported(store, tmp_path / "spans", "release=spans")
    assert faults(fn) == {}
    (sentence,) = fn.lus("check.v")[0].exemplars
    (start, end), = sentence.frameAnnotation.Target
    assert sentence.text[start:end] == "checked"
    assert sentence.frameAnnotation.FE == ([], {})


def test_predicted_sets(news: Path, tmp_path: Path) -> None:
    fn = exported(news, tmp_path / "news")
    assert faults(fn) == {}
    assert len(evoking(fn)) == int(run(news, "query", "--count")) > 0
    for frame in fn.frames():
        assert len(frame.lexUnit) > 0
