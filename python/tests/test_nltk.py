"""fnstore.nltk beside NLTK's own reader: the same objects, and NLTK's own doctests unchanged."""

from __future__ import annotations

import doctest
import importlib.util
import io
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fnstore
import fnstore.nltk
import nltk.corpus
import nltk.corpus.reader.framenet as nltks
import nltk.pathsec
import pytest
from conftest import FRAMENET, MINI

#: NLTK's corpus before anything has loaded it.
NLTKS_LOADER = nltk.corpus.framenet


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


@pytest.fixture(scope="session")
def written(db: fnstore.Database, tmp_path_factory: pytest.TempPathFactory) -> nltks.FramenetCorpusReader:
    """NLTK's own reader of the release as the store writes it to a directory, with the files of its own corpus."""
    place = tmp_path_factory.mktemp("written") / "framenet_v15"
    db.export(place, to="framenet-xml")
    nltk.data.path.insert(0, str(place))
    # What `nltk.corpus.framenet` is made of.
    fileids = object.__getattribute__(NLTKS_LOADER, "_LazyCorpusLoader__args")[0]
    return nltks.FramenetCorpusReader(str(place), fileids)


def test_files_are_those_that_nltk_reads_from_a_directory(
    own: fnstore.nltk.FramenetReader, written: nltks.FramenetCorpusReader
) -> None:
    place = Path(str(written.root))
    names = sorted(path.relative_to(place).as_posix() for path in place.rglob("*.xml"))
    assert len(names) > 20 and own.fileids() == written.fileids()
    assert own.raw() == written.raw()
    for name in names:
        assert own.raw(name) == written.raw(name) == (place / name).read_text(), name
        with own.open(name) as ours, written.open(name) as theirs:
            assert (ours.readline(), ours.tell(), ours.read()) == (theirs.readline(), theirs.tell(), theirs.read())
        assert own.abspath(name).open().read() == (place / name).read_bytes()
        assert own.abspath(name).file_size() == written.abspath(name).file_size()
        assert ElementTree.tostring(own.xml(name)) == ElementTree.tostring(written.xml(name))
    assert own.words("semTypes.xml") == written.words("semTypes.xml")
    listed = own.abspaths(include_encoding=True, include_fileid=True)
    assert [row[1:] for row in listed] == [row[1:] for row in written.abspaths(include_encoding=True, include_fileid=True)]


def test_files_that_are_not_there_are_not_found(own: fnstore.nltk.FramenetReader) -> None:
    for name in ("lu/lu1.xml", "README.txt", "../x", "/etc/passwd", "", "frame"):
        for read in (own.raw, own.xml, own.open, lambda name: own.abspath(name).open()):
            with pytest.raises(FileNotFoundError, match="no such file"):
                read(name)
    with pytest.raises(FileNotFoundError):
        own.license()


def test_a_use_of_the_directory_says_what_to_do_instead(
    own: fnstore.nltk.FramenetReader, tmp_path: Path
) -> None:
    uses: list[Callable[[], object]] = [
        lambda: os.path.join(own._root, "lu"),
        lambda: own.root + "/lu",
        lambda: Path(own.root),
        lambda: open(own.abspath("luIndex.xml")),
        lambda: nltks.FramenetCorpusReader(own.root, own.fileids()).frames(),
    ]
    for use in uses:
        with pytest.raises(fnstore.nltk.FramenetError, match=r"fn\.open\(name\).*fnstore\.nltk\.framenet\(store\).*db\.export"):
            use()
    with pytest.raises(fnstore.nltk.FramenetError, match="is no file"):
        own.root.open()


def test_a_reader_is_of_the_release_that_is_named(mini_store: Path, tmp_path: Path) -> None:
    with fnstore.open(shutil.copytree(mini_store, tmp_path / "store")) as db:
        db.import_release(shutil.copytree(MINI, tmp_path / "second"))
        with db.transaction("second") as edits:
            edits.add_frame("Peeling")
        with pytest.raises(fnstore.AmbiguousNameError):
            fnstore.nltk.framenet(db)
        with pytest.raises(fnstore.UnknownNameError):
            fnstore.nltk.framenet(db, "third")
        fn = fnstore.nltk.framenet(db, "second")
        assert "Peeling" in [frame.name for frame in fn.frames()] and fn.readme().startswith("second, read from ")
        fn = fnstore.nltk.framenet(db, "mini-framenet")
        assert "Peeling" not in [frame.name for frame in fn.frames()]
        assert fn.readme().startswith("mini-framenet, read from ") and "6 frames" in fn.readme()


def test_either_of_nltks_corpora_is_replaced(mini_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for corpus in ("framenet", "framenet15"):
        monkeypatch.setattr(nltk.corpus, corpus, None)
        reader = fnstore.nltk.install(mini_store, corpus=corpus)
        assert getattr(nltk.corpus, corpus) is reader
    with pytest.raises(ValueError, match="framenet and framenet15"):
        fnstore.nltk.install(mini_store, corpus="framenet17")


@pytest.fixture(scope="session")
def linked(mini_store: Path, tmp_path_factory: pytest.TempPathFactory) -> fnstore.Database:
    """The small lexicon with the other small lexicons, linked."""
    db = fnstore.open(shutil.copytree(mini_store, tmp_path_factory.mktemp("linked") / "store"))
    for name in ("mini-wordnet", "mini-verbnet", "mini-propbank", "mini-semlink"):
        db.import_release(MINI.parent / name)
    db.link()
    return db


def test_objects_have_the_links_of_the_store(linked: fnstore.Database) -> None:
    fn = fnstore.nltk.framenet(linked, "mini-framenet")
    frame = fn.frame("Checking")
    for of, wanted in (
        (fn.lu(1002), linked.links("Checking", lu="inspect.v")),
        (frame.lexUnit["inspect.v"], linked.links("Checking", lu="inspect.v")),
        (frame.FE["Checker"], [of for of in linked.links("Checking") if (of.kind, of.name) == ("fe", "Checker")]),
        (frame, linked.links("Checking", by_frame=True)),
    ):
        found = fn.links(of)
        assert [(link.resource, link.target, link.score) for link in found] == [
            (link.resource, link.target, link.score) for link in wanted
        ]
        assert found and set(found[0]) == {"resource", "target", "role", "score", "source", "accepted"}
    roles = {(of.resource, of.target, of.role) for of in fn.links(frame.FE["Checker"])}
    assert ("mini-verbnet", "check-35.9", "Agent") in roles
    assert {of.id for of in linked.links("Checking", lu="inspect.v")} == {1002}
    assert {of.id for of in linked.links("Checking", by_frame=True)} == {frame.ID}


def test_links_have_what_people_decided(linked: fnstore.Database, tmp_path: Path) -> None:
    with fnstore.open(shutil.copytree(linked.path, tmp_path / "store")) as db:
        first, second = db.links("Checking", lu="inspect.v")[:2]
        first.reject(reviewer="kim")
        second.accept(reviewer="kim")
        fn = fnstore.nltk.framenet(db, "mini-framenet")
        lu = fn.lu(1002)
        assert first.target not in [link.target for link in fn.links(lu)]
        decided = {link.target: link.accepted for link in fn.links(lu, with_rejected=True)}
        assert (decided[first.target], decided[second.target]) == (False, True)


def test_lus_of_one_name_have_their_own_links(linked: fnstore.Database, tmp_path: Path) -> None:
    with fnstore.open(shutil.copytree(linked.path, tmp_path / "store")) as db:
        assert {link.id for link in db.links("Checking", lu="check.v")} == {1001, 1007}
        for link in db.links("Checking", lu="check.v"):
            if link.id == 1007:
                link.reject(reviewer="kim")
        fn = fnstore.nltk.framenet(db, "mini-framenet")
        of_first = [link.target for link in db.links("Checking", lu="check.v")]
        assert of_first and [link.target for link in fn.links(fn.lu(1001))] == of_first
        assert fn.links(fn.lu(1007)) == []
        assert {link.accepted for link in fn.links(fn.lu(1007), with_rejected=True)} == {False}


def test_links_are_found_by_the_number_that_files_write(tmp_path: Path) -> None:
    # The store gives such numbers itself, so this one is kept as a text.
    renumbered = shutil.copytree(MINI, tmp_path / "renumbered")
    for file in renumbered.rglob("*.xml"):
        file.write_bytes(file.read_bytes().replace(b'ID="2001"', b'ID="3000002001"'))
    with fnstore.create(tmp_path / "store") as db:
        db.import_release(renumbered)
        for name in ("mini-wordnet", "mini-verbnet", "mini-propbank", "mini-semlink"):
            db.import_release(MINI.parent / name)
        db.link()
        wanted = [link for link in db.links("Checking") if (link.kind, link.name) == ("fe", "Checker")]
        fn = fnstore.nltk.framenet(db, "renumbered")
        checker = fn.frame("Checking").FE["Checker"]
        assert checker.ID == 3000002001 and checker.ID not in {link.id for link in wanted}
        assert wanted and [link.target for link in fn.links(checker)] == [link.target for link in wanted]


def test_links_are_of_lus_fes_and_frames_alone(
    linked: fnstore.Database, own: fnstore.nltk.FramenetReader
) -> None:
    fn = fnstore.nltk.framenet(linked, "mini-framenet")
    for other in (fn.semtypes()[0], fn.lu(1002).exemplars[0], "inspect.v", None, {}):
        with pytest.raises(fnstore.nltk.FramenetError, match="an LU, an FE or a frame"):
            fn.links(other)
    assert own.links(own.lu(1002)) == [] == own.links(own.frame("Checking"))


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
