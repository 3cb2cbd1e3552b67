"""A FrameNet release as its XML has it, read with the standard library alone.

Nothing here comes from fnstore: the rules are those that FrameNet's own readers follow. Offsets count code
points of a sentence's text; `end` is exclusive here, inclusive in the files.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

# Numbers from here on are the store's own: tag in the top byte, number below.
OWN_IDS = 1 << 56
SPACES = "xfig"
Span = tuple[int, int]


class Label(NamedTuple):
    """A label: what it is called, and where it stands or why it stands nowhere."""

    name: str
    span: Span | None
    ni: str | None = None
    fe: int | None = None
    annotator: str = ""
    colors: tuple[str, str] | None = None


class Layer(NamedTuple):
    name: str
    rank: int
    labels: tuple[Label, ...]


@dataclass(slots=True)
class AnnotationSet:
    """An annotation set that evokes a frame."""

    id: str
    sentence: str
    frame: tuple[int, str]
    lu: tuple[int, str]
    status: str
    created: str
    fe_status: str
    targets: tuple[Span, ...]
    layers: tuple[Layer, ...]
    provenance: dict[str, Any]

    @property
    def origin(self) -> str:
        return str(self.provenance["origin"])

    def elements(self) -> Iterator[tuple[int, Label]]:
        """Its FE labels, each with the rank of its layer."""
        for layer in self.layers:
            if layer.name == "FE":
                for label in layer.labels:
                    yield layer.rank, label


@dataclass(slots=True)
class SentenceLayers:
    """Layers over a sentence that evoke no frame: parts of speech, names, constructions."""

    id: str
    sentence: str
    construction: tuple[int, str] | None
    status: str
    created: str
    listed_under: list[int]
    layers: tuple[Layer, ...]


@dataclass(slots=True)
class Sentence:
    id: str
    text: str
    occurrences: list[dict[str, Any]]
    sets: list[str] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Frame:
    id: int
    name: str
    definition: str
    elements: list[tuple[int, str, str, str]]
    """Number, name, abbreviation and core type of each FE."""
    has_file: bool = True

    def core_types(self) -> dict[str, str]:
        return {name: core for _, name, _, core in self.elements}


@dataclass(slots=True)
class LexUnit:
    id: int
    name: str
    pos: str
    status: str
    definition: str
    frame: tuple[int, str]
    in_frame_file: bool = False
    has_file: bool = False


@dataclass(slots=True)
class Document:
    corpus: tuple[int, str]
    id: int
    name: str
    description: str | None
    file: str
    sentences: list[str] = field(default_factory=list)


@dataclass
class Release:
    """What the files say, by id. Sentences and sets are `x` (lu/) or `f` (fulltext/) and their number."""

    name: str = ""
    frames: dict[int, Frame] = field(default_factory=dict)
    lexunits: dict[int, LexUnit] = field(default_factory=dict)
    documents: dict[tuple[int, int], Document] = field(default_factory=dict)
    headers: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)
    """What LU files call corpora and documents."""
    sentences: dict[str, Sentence] = field(default_factory=dict)
    sets: dict[str, AnnotationSet] = field(default_factory=dict)
    layers: dict[str, SentenceLayers] = field(default_factory=dict)
    relations: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    sem_types: dict[int, str] = field(default_factory=dict)
    lexicon: dict[str, tuple[int, ...]] = field(default_factory=dict)
    renamed: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Sentences whose number an earlier text has: the id given here, and number and text."""

    def frame_named(self, name: str) -> Frame:
        return next(frame for frame in self.frames.values() if frame.name == name)

    def sets_of(self, sentence: str) -> list[AnnotationSet]:
        return [self.sets[one] for one in self.sentences[sentence].sets]

    def core_types(self, set_: AnnotationSet) -> dict[str, str]:
        frame = self.frames.get(set_.frame[0])
        return frame.core_types() if frame else {}


def tag_of(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def children(element: ET.Element, name: str) -> Iterator[ET.Element]:
    for child in element:
        if isinstance(child.tag, str) and tag_of(child) == name:
            yield child


def first(element: ET.Element, name: str) -> ET.Element | None:
    return next(children(element, name), None)


def text_of(element: ET.Element | None) -> str:
    return "" if element is None else (element.text or "")


def own_id(number: str, space: str) -> str:
    """An id as fnstore writes it: numbers of its own carry their space in the top byte."""
    value = int(number)
    return f"{SPACES[value >> 56]}{value & (OWN_IDS - 1)}" if value >= OWN_IDS else f"{space}{value}"


class Reader:
    """Reads the files of a release from a directory; `conflicts` are the ids that stand for two things."""

    def __init__(self, root: Path):
        self.root = root
        self.conflicts: list[str] = []
        self.release = Release()
        self.places: dict[tuple[str, str], str] = {}

    def read(self) -> Release:
        for path in sorted((self.root / "frame").glob("*.xml")):
            self.frame(ET.parse(path).getroot())
        for path in sorted((self.root / "lu").glob("lu*.xml"), key=lambda path: (len(path.name), path.name)):
            self.lexunit(ET.parse(path).getroot())
        for path in sorted((self.root / "fulltext").glob("*.xml")):
            self.fulltext(path.stem, ET.parse(path).getroot())
        self.top_files()
        return self.release

    def frame(self, root: ET.Element) -> None:
        elements = [
            (int(fe.attrib["ID"]), fe.attrib["name"], fe.get("abbrev", ""), fe.get("coreType", ""))
            for fe in children(root, "FE")
        ]
        frame = Frame(int(root.attrib["ID"]), root.attrib["name"], text_of(first(root, "definition")), elements)
        self.release.frames[frame.id] = frame
        for lu in children(root, "lexUnit"):
            self.release.lexunits[int(lu.attrib["ID"])] = LexUnit(
                int(lu.attrib["ID"]),
                lu.attrib["name"],
                lu.get("POS", ""),
                lu.get("status", ""),
                text_of(first(lu, "definition")),
                (frame.id, frame.name),
                in_frame_file=True,
            )

    def lexunit(self, root: ET.Element) -> None:
        number, frame = int(root.attrib["ID"]), (int(root.attrib["frameID"]), root.attrib["frame"])
        lu = self.release.lexunits.setdefault(
            number,
            LexUnit(
                number,
                root.attrib["name"],
                root.get("POS", ""),
                root.get("status", ""),
                text_of(first(root, "definition")),
                frame,
            ),
        )
        lu.has_file = True
        for header in children(root, "header"):
            for corpus in children(header, "corpus"):
                for document in children(corpus, "document"):
                    place = (int(corpus.attrib["ID"]), int(document.attrib["ID"]))
                    name = document.get("name", document.get("description", ""))
                    self.release.headers.setdefault(place, (corpus.get("name", ""), name))
        for subcorpus in children(root, "subCorpus"):
            name = subcorpus.get("name", "")
            for element in children(subcorpus, "sentence"):
                sentence = self.sentence("x", element, {"lu": number, "subcorpus": name})
                for of in children(element, "annotationSet"):
                    self.annotation(sentence, "x", of, (lu, name))

    def fulltext(self, stem: str, root: ET.Element) -> None:
        header = first(root, "header")
        corpus = first(header, "corpus") if header is not None else None
        assert corpus is not None, f"{stem}: no corpus"
        of = first(corpus, "document")
        assert of is not None, f"{stem}: no document"
        name = of.get("name", of.get("description", ""))
        description = of.get("description") if of.get("name") is not None else None
        place = (int(corpus.attrib["ID"]), int(of.attrib["ID"]))
        document = Document((place[0], corpus.get("name", "")), place[1], name, description, stem)
        self.release.documents[place] = document
        for element in children(root, "sentence"):
            sentence = self.sentence("f", element, {})
            document.sentences.append(sentence.id)
            for annotation in children(element, "annotationSet"):
                self.annotation(sentence, "f", annotation, place)

    def sentence(self, space: str, element: ET.Element, occurrence: dict[str, Any]) -> Sentence:
        text = text_of(first(element, "text"))
        number = element.attrib["ID"]
        names = {
            "corpID": "corpus",
            "docID": "document",
            "paragNo": "paragraph",
            "sentNo": "number",
            "aPos": "position",
        }
        occurrence |= {known: int(element.attrib[name]) for name, known in names.items() if name in element.attrib}
        written = own_id(number, space)
        found = self.places.get((written, text))
        if found is None:
            found = written
            if written in self.release.sentences:
                # The number has another text already: the later one gets an id that its reader finds by text.
                found = f"{written}#{len(self.release.renamed) + 1}"
                self.release.renamed[found] = (written, text)
            self.places[written, text] = found
            self.release.sentences[found] = Sentence(found, text, [])
        sentence = self.release.sentences[found]
        sentence.occurrences.append(occurrence)
        return sentence

    def annotation(
        self, sentence: Sentence, space: str, element: ET.Element, place: tuple[LexUnit, str] | tuple[int, int]
    ) -> None:
        get, text = element.attrib.get, sentence.text
        layers = tuple(
            Layer(sys.intern(layer.get("name", "")), int(layer.get("rank", "1")), read_labels(layer, len(text)))
            for layer in children(element, "layer")
        )
        spans = sorted(
            {label.span for layer in layers if layer.name == "Target" for label in layer.labels if label.span}
        )
        lu = place[0] if isinstance(place[0], LexUnit) else None
        status = get("status", "")
        names_frame = get("frameID") is not None or get("frameName") is not None
        # Sets of sentence layers are UNANN and have no target; an LU's file names no frame at its sets.
        evokes = names_frame or (lu is not None and get("cxnID") is None and (status != "UNANN" or bool(spans)))
        written = own_id(element.attrib["ID"], space)
        if not evokes:
            self.sentence_layers(sentence, written, element, layers, lu)
            return
        if names_frame:
            frame, unit = self.named(int(get("frameID", "0")), get("frameName", "")), self.unit(element)
        else:
            assert lu is not None
            frame, unit = lu.frame, (lu.id, lu.name)
        if lu is not None:
            provenance: dict[str, Any] = {"origin": "exemplar", "lu": lu.id, "subcorpus": place[1]}
        else:
            provenance = {"origin": "fulltext", "corpus": place[0], "document": place[1]}
        if written in self.release.sets:
            self.conflicts.append(f"two sets {written}")
        self.release.sets[written] = AnnotationSet(
            written,
            sentence.id,
            frame,
            unit,
            status,
            get("cDate", ""),
            "unannotated" if status == "UNANN" else "annotated",
            tuple(spans),
            layers,
            provenance,
        )
        sentence.sets.append(written)

    def named(self, number: int, name: str) -> tuple[int, str]:
        frame = self.release.frames.setdefault(number, Frame(number, name, "", [], has_file=False))
        return frame.id, frame.name

    def unit(self, element: ET.Element) -> tuple[int, str]:
        number, name = int(element.attrib["luID"]), element.get("luName", "")
        known = self.release.lexunits.setdefault(
            number,
            LexUnit(
                number,
                name,
                name.rpartition(".")[2].upper(),
                "",
                "",
                (int(element.attrib["frameID"]), element.get("frameName", "")),
            ),
        )
        return known.id, known.name

    def sentence_layers(
        self, sentence: Sentence, written: str, element: ET.Element, layers: tuple[Layer, ...], lu: LexUnit | None
    ) -> None:
        known = self.release.layers.get(written)
        if known is None:
            get = element.attrib.get
            construction = (int(get("cxnID", "0")), get("cxnName", "")) if get("cxnID") is not None else None
            known = SentenceLayers(written, sentence.id, construction, get("status", ""), get("cDate", ""), [], layers)
            self.release.layers[written] = known
            sentence.layers.append(written)
        if (known.sentence, known.layers) != (sentence.id, layers):
            self.conflicts.append(f"two sets of layers {written}")
        if lu is not None and lu.id not in known.listed_under:
            known.listed_under.append(lu.id)

    def top_files(self) -> None:
        relations = self.root / "frRelation.xml"
        if relations.is_file():
            for kind in children(ET.parse(relations).getroot(), "frameRelationType"):
                for one in children(kind, "frameRelation"):
                    sides = one.get("superFrameName", ""), one.get("subFrameName", "")
                    self.release.relations[int(one.attrib["ID"])] = (kind.get("name", ""), *sides)
        types = self.root / "semTypes.xml"
        if types.is_file():
            for one in children(ET.parse(types).getroot(), "semType"):
                self.release.sem_types[int(one.attrib["ID"])] = one.get("name", "")


def read_labels(layer: ET.Element, length: int) -> tuple[Label, ...]:
    labels = []
    for element in layer:
        get = element.attrib.get
        start, end, ni = get("start"), get("end"), get("itype")
        span = None
        if start is not None and end is not None and ni is None:
            place = (int(start), int(end) + 1)
            # What lies outside its sentence covers nothing. A label of nothing, which ends one before its start, has a
            # place all the same: punctuation that the sentence writes in one with the word before.
            span = place if 0 <= place[0] <= place[1] <= length else None
        fe, fg, bg = get("feID"), get("fgColor"), get("bgColor")
        labels.append(
            Label(
                sys.intern(get("name", "")),
                span,
                ni,
                int(fe) if fe is not None else None,
                sys.intern(get("cBy", "")),
                (sys.intern(fg or ""), sys.intern(bg or "")) if fg is not None or bg is not None else None,
            )
        )
    return tuple(labels)


def read_release(root: Path) -> tuple[Release, list[str]]:
    """The release in a directory, and which ids stand for two things in it."""
    reader = Reader(root)
    return reader.read(), reader.conflicts
