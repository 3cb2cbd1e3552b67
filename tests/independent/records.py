"""JSON lines of a release, compared record by record with what they must say."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from expected import order
from findings import Findings
from framenet import AnnotationSet, Document, Frame, Label, Layer, LexUnit, Release, Sentence, SentenceLayers
from schemas import Schemas


@dataclass
class Extra:
    """What a file holds beside the release that it is compared with."""

    release: Release = field(default_factory=Release)
    counts: Counter[str] = field(default_factory=Counter)
    scope: str = ""
    judgements: list[dict[str, Any]] = field(default_factory=list)
    verifications: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    editions: list[dict[str, Any]] = field(default_factory=list)
    recipes: list[dict[str, Any]] = field(default_factory=list)


class Comparison:
    """One file and the release that it must hold. What `is_part` leaves out is no difference."""

    def __init__(self, expected: Release, schemas: Schemas, findings: Findings, area: str, is_part: bool = False):
        self.expected, self.schemas, self.findings, self.area = expected, schemas, findings, area
        self.is_part = is_part
        self.extra = Extra()
        self.seen: dict[str, set[Any]] = {kind: set() for kind in KINDS}
        self.missing: dict[str, set[Any]] = {kind: set() for kind in KINDS}
        self.text: dict[str, str] = {}

    def run(self, path: Path) -> Extra:
        last: dict[str, Any] = {}
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines):
                record = json.loads(line)
                kind = record["kind"]
                self.extra.counts[kind] += 1
                where = f"{path.name}:{number + 1}"
                self.schemas.check(f"jsonl-{kind.replace('_', '-')}", record, self.findings, where)
                take = getattr(self, f"take_{kind}", None)
                if take is not None:
                    take(record)
                last = record
        records = sum(self.extra.counts.values()) - 1
        self.findings.same(self.area, "last line", path.name, last, {"kind": "end", "records": records})
        if not self.is_part:
            for kind, name in KINDS.items():
                self.missing[kind] = getattr(self.expected, name).keys() - self.seen[kind]
                for missing in self.missing[kind]:
                    self.findings.add(self.area, f"{kind} missing", str(missing))
        return self.extra

    def compare(self, kind: str, key: Any, found: Any, expected: dict[Any, Any], rest: dict[Any, Any]) -> None:
        self.findings.count(f"{self.area} {kind}")
        if key in self.seen[kind]:
            self.findings.add(self.area, f"{kind} repeated", str(key))
        self.seen[kind].add(key)
        known = expected.get(key)
        if known is None:
            rest[key] = found
        elif known != found:
            for name in found.__slots__:
                one, other = getattr(found, name), getattr(known, name)
                if name in ("sets", "layers") and kind == "sentence":
                    continue
                self.findings.same(self.area, f"{kind} {name}", str(key), one, other)

    def take_header(self, record: dict[str, Any]) -> None:
        self.findings.same(self.area, "offset unit", "header", record["offset_unit"], "codepoint")

    def take_release(self, record: dict[str, Any]) -> None:
        self.extra.release.name, self.extra.scope = record["name"], record["scope"]

    def take_frame(self, record: dict[str, Any]) -> None:
        elements = [(of["id"], of["name"], of["abbreviation"], of["core_type"]) for of in record["elements"]]
        frame = Frame(record["id"], record["name"], record["definition"], elements, record["has_file"])
        self.compare("frame", frame.id, frame, self.expected.frames, self.extra.release.frames)

    def take_lexunit(self, record: dict[str, Any]) -> None:
        lu = LexUnit(
            record["id"],
            record["name"],
            record["pos"],
            record["status"],
            record["definition"],
            named(record["frame"]),
            record["in_frame_file"],
            record["has_file"],
        )
        self.compare("lexunit", lu.id, lu, self.expected.lexunits, self.extra.release.lexunits)

    def take_relation(self, record: dict[str, Any]) -> None:
        relation = record["type"], record["parent"]["name"], record["child"]["name"]
        self.findings.count(f"{self.area} relation")
        self.seen["relation"].add(record["id"])
        known = self.expected.relations.get(record["id"])
        if known is None:
            self.extra.release.relations[record["id"]] = relation
        else:
            self.findings.same(self.area, "relation", str(record["id"]), relation, known)

    def take_sem_type(self, record: dict[str, Any]) -> None:
        self.seen["sem_type"].add(record["id"])
        known = self.expected.sem_types.get(record["id"])
        if known is not None:
            self.findings.same(self.area, "semantic type", str(record["id"]), record["name"], known)

    def take_sentence(self, record: dict[str, Any]) -> None:
        id_, text = record["id"], record["text"]
        self.text = {id_: text}
        if id_ not in self.expected.sentences:
            # A number with two texts: the later one's id is fnstore's own.
            for renamed, known in self.expected.renamed.items():
                if known == (f"{id_[0]}{record['xml_id']}", text):
                    rename(self.expected, renamed, id_)
                    break
        sentence = Sentence(id_, text, record["occurrences"])
        expected = self.expected.sentences.get(id_)
        if expected is not None:
            sentence.sets, sentence.layers = expected.sets, expected.layers
            if self.is_part and expected.occurrences != sentence.occurrences:
                # A part lists the places that are in the file.
                if all(one in expected.occurrences for one in sentence.occurrences):
                    sentence.occurrences = expected.occurrences
        self.compare("sentence", id_, sentence, self.expected.sentences, self.extra.release.sentences)

    def take_set(self, record: dict[str, Any]) -> None:
        text = self.text.get(record["sentence"])
        if text is None:
            self.findings.add(self.area, "set does not follow its sentence", record["id"])
            return
        set_ = AnnotationSet(
            record["id"],
            record["sentence"],
            named(record["frame"]),
            named(record["lu"]),
            record["status"],
            record["created"],
            record["fe_status"],
            tuple(self.span(of, text, record["id"]) for of in record["targets"]),
            self.layers(record, text),
            record["provenance"],
        )
        self.compare("set", set_.id, set_, self.expected.sets, self.extra.release.sets)

    def take_layers(self, record: dict[str, Any]) -> None:
        text = self.text.get(record["sentence"], "")
        construction = named(record["construction"]) if record["construction"] else None
        layers = SentenceLayers(
            record["id"],
            record["sentence"],
            construction,
            record["status"],
            record["created"],
            record["listed_under"],
            self.layers(record, text),
        )
        known = self.expected.layers.get(layers.id)
        if self.is_part and known and set(layers.listed_under) <= set(known.listed_under):
            layers.listed_under = known.listed_under
        self.compare("layers", layers.id, layers, self.expected.layers, self.extra.release.layers)

    def take_document(self, record: dict[str, Any]) -> None:
        document = Document(
            named(record["corpus"]),
            record["id"],
            record["name"],
            record.get("description"),
            record["file"],
            record["sentences"],
        )
        known = self.expected.documents.get((document.corpus[0], document.id))
        if self.is_part and known and set(document.sentences) <= set(known.sentences):
            document.sentences = known.sentences
        place = document.corpus[0], document.id
        if known is None and place in self.expected.headers:
            names = document.corpus[1], document.name
            self.findings.same(self.area, "source of exemplars", str(place), names, self.expected.headers[place])
        self.compare("document", place, document, self.expected.documents, self.extra.release.documents)

    def take_judgement(self, record: dict[str, Any]) -> None:
        self.extra.judgements.append(record)

    def take_verification(self, record: dict[str, Any]) -> None:
        self.extra.verifications.append(record)

    def take_decisions(self, record: dict[str, Any]) -> None:
        self.extra.decisions.append(record)

    def take_edition(self, record: dict[str, Any]) -> None:
        self.extra.editions.append(record)

    def take_recipe(self, record: dict[str, Any]) -> None:
        self.extra.recipes.append(record)

    def span(self, of: dict[str, Any], text: str, where: str) -> tuple[int, int]:
        span = of["start"], of["end"]
        self.findings.same(self.area, "text of a span", where, of["text"], text[span[0] : span[1]])
        return span

    def layers(self, record: dict[str, Any], text: str) -> tuple[Layer, ...]:
        def label(of: dict[str, Any]) -> Label:
            colors = (of["colors"]["fg"], of["colors"]["bg"]) if "colors" in of else None
            span = self.span(of["span"], text, record["id"]) if "span" in of else None
            return Label(of["name"], span, of.get("ni"), of.get("fe"), of.get("annotator", ""), colors)

        return tuple(
            Layer(of["name"], of["rank"], tuple(label(one) for one in of["labels"])) for of in record["layers"]
        )


KINDS = {
    "frame": "frames",
    "lexunit": "lexunits",
    "relation": "relations",
    "sem_type": "sem_types",
    "sentence": "sentences",
    "set": "sets",
    "layers": "layers",
    "document": "documents",
}


def named(record: dict[str, Any]) -> tuple[int, str]:
    return record["id"], record["name"]


def rename(release: Release, old: str, new: str) -> None:
    """Gives a sentence the id that fnstore made for it."""
    sentence = release.sentences.pop(old)
    del release.renamed[old]
    sentence.id = new
    release.sentences[new] = sentence
    for one in sentence.sets:
        release.sets[one].sentence = new
    for one in sentence.layers:
        release.layers[one].sentence = new
    for document in release.documents.values():
        document.sentences = [new if one == old else one for one in document.sentences]


def adopt(release: Release, extra: Extra) -> None:
    """Takes what a file holds beside a release into it, so that other formats can be compared with it."""
    release.name = release.name or extra.release.name
    release.frames |= extra.release.frames
    release.lexunits |= extra.release.lexunits
    release.documents |= extra.release.documents
    release.relations |= extra.release.relations
    release.sentences |= extra.release.sentences
    release.layers |= extra.release.layers
    for set_ in extra.release.sets.values():
        release.sets[set_.id] = set_
        release.sentences[set_.sentence].sets.append(set_.id)
        release.sentences[set_.sentence].sets.sort(key=order)
    for layers in extra.release.layers.values():
        release.sentences[layers.sentence].layers.append(layers.id)
