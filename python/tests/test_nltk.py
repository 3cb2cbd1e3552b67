"""fnstore.nltk beside NLTK's own reader: the same objects, and NLTK's own doctests unchanged."""

from __future__ import annotations

import doctest
import importlib.util
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fnstore
import fnstore.nltk
import nltk.corpus
import nltk.corpus.reader.framenet as nltks
import nltk.pathsec
import pytest
from conftest import FRAMENET, MINI

def outcome(call: Callable[[], object]) -> object:
    """What a call gives, or the kind of error that it ends with."""
    try:
        return call()
    except Exception as error:
        return type(error)


def plain(thing: Any, depth: int = 5) -> Any:
    """An object of NLTK's as plain data, down to a depth: objects lead to each other in circles."""
    if depth == 0:
        return thing.get("ID", thing.get("name")) if isinstance(thing, dict) else "..."
    if isinstance(thing, dict):
        kept = {key: thing[key] for key in thing if key not in {"_ascii", "URL", "subCorpus", "exemplars"}}
        return {key: plain(value, depth - 1) for key, value in sorted(kept.items(), key=lambda of: str(of[0]))}
    if isinstance(thing, (list, tuple)) or hasattr(thing, "_data"):
        return [plain(of, depth - 1) for of in thing]
    return thing


@pytest.fixture(scope="session")
def own(mini_store: Path) -> fnstore.nltk.FramenetReader:
    return fnstore.nltk.framenet(mini_store)


@pytest.fixture(scope="session")
def nltks_own(tmp_path_factory: pytest.TempPathFactory) -> nltks.FramenetCorpusReader:
    return reader_of(MINI)


def reader_of(directory: Path) -> nltks.FramenetCorpusReader:
    nltk.data.path.insert(0, str(directory))
    return nltks.FramenetCorpusReader(str(directory), [])


def test_the_small_lexicon_reads_as_by_nltk(
    own: fnstore.nltk.FramenetReader, nltks_own: nltks.FramenetCorpusReader
) -> None:
    compared = 0
    for read in calls(nltks_own):
        theirs, ours = outcome(lambda: plain(read(nltks_own))), outcome(lambda: plain(read(own)))
        # Where NLTK fails on odd data, the store may know better.
        if isinstance(theirs, type):
            continue
        assert ours == theirs
        compared += 1
    assert compared > 30


def calls(reader: nltks.FramenetCorpusReader) -> Iterator[Callable[[Any], object]]:
    """Every frame, LU, document and listing."""
    for name in ("frame_ids_and_names", "lu_ids_and_names", "frame_relations", "fe_relations", "semtypes"):
        yield lambda fn, name=name: getattr(fn, name)()
    yield lambda fn: sorted(fn.frame_relation_types(), key=lambda of: str(of.ID))
    yield lambda fn: fn.docs_metadata()
    for id in reader.frame_ids_and_names():
        yield lambda fn, id=id: fn.frame(id)
    for id in reader.lu_ids_and_names():
        yield lambda fn, id=id: fn.lu(id)
        yield lambda fn, id=id: list(fn.lu(id).exemplars)
        yield lambda fn, id=id: [str(of) for of in fn.lu(id).exemplars]
    for row in reader.docs_metadata():
        yield lambda fn, id=row.ID: fn.doc(id)
        yield lambda fn, id=row.ID: [str(of) for of in fn.doc(id).sentence]


def test_annotation_of_frames_that_no_file_has_is_read(own: fnstore.nltk.FramenetReader) -> None:
    documents = [own.doc(row.ID) for row in own.docs_metadata()]
    sets = [made for document in documents for sentence in document.sentence for made in sentence.annotationSet[1:]]
    (named,) = [made for made in sets if made.frame.name == "Draft_sewing"]
    assert (named.LU.name, named.LU.frame.FE) == (named.luName, {})
    assert "Draft_sewing" not in [frame.name for frame in own.frames()]
    assert len(own.annotations(exemplars=False)) == len(sets)
    assert len(own.annotations()) > len(sets)


def test_generated_sentences_stand_among_the_exemplars(grown: fnstore.Database) -> None:
    made = grown.query("origin=generated lu_status!=Proposed lu!=check.v").first()
    assert made is not None
    fn = fnstore.nltk.framenet(grown, generated=True)
    lu = fn.lu(grown.lu(made.lu, frame=made.frame).id)
    (subcorpus,) = [of for of in lu.subCorpus if of.name == "generated"]
    assert made.text in {sentence.text for sentence in subcorpus.sentence}
    for sentence in subcorpus.sentence:
        assert "[text] + [Target] + [FE]" in str(sentence)
    human = fnstore.nltk.framenet(grown)
    assert "generated" not in {of.name for of in human.lu(lu.ID).subCorpus}


def test_nltks_errors_stay_nltks(own: fnstore.nltk.FramenetReader) -> None:
    for call in (lambda: own.frame("Cheking"), lambda: own.frame_by_id(1)):
        assert outcome(call) in {fnstore.nltk.FramenetError, KeyError}
    assert "store" in own.readme()


class Kept(doctest.DocTestRunner):
    """Runs doctests and keeps which examples fail."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        self.failed: set[tuple[str, str]] = set()

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        self.failed.add((test.name, example.source))

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        self.failed.add((test.name, example.source))


def run_doctests() -> tuple[set[tuple[str, str]], int]:
    """NLTK's own doctests of FrameNet, as they stand in its package: which fail, of how many."""
    runner, examples = Kept(), 0
    tests = list(doctest.DocTestFinder().find(nltks))
    spec = importlib.util.find_spec("nltk.test")
    assert spec is not None and spec.submodule_search_locations
    page = Path(spec.submodule_search_locations[0]) / "framenet.doctest"
    tests.append(doctest.DocTestParser().get_doctest(page.read_text(), {}, page.name, str(page), 0))
    for test in tests:
        examples += len(test.examples)
        runner.run(test, out=io.StringIO().write)
    return runner.failed, examples


def test_nltks_own_doctests_run_unchanged(framenet: fnstore.Database, tmp_path: Path) -> None:
    with zipfile.ZipFile(FRAMENET) as archive:
        archive.extractall(tmp_path)
    theirs_before = nltk.corpus.framenet
    try:
        nltk.corpus.framenet = reader_of(tmp_path / "fndata-1.5")
        theirs, examples = run_doctests()
        fnstore.nltk.install(framenet)
        ours, _ = run_doctests()
    finally:
        nltk.corpus.framenet = theirs_before
    assert examples > 100
    print(f"{examples} examples; NLTK fails in {sorted(theirs)}, fnstore in {sorted(ours)}")
    assert ours <= theirs, sorted(ours - theirs)
