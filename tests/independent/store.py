"""Builds what is exported: a release with imported, predicted, edited and generated sets.

What is written is known beforehand, or is taken from another output of the program than the exports, so that the
exports can be held to it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from expected import WORDS, SplitList, f32, on_span, order
from findings import Findings
from framenet import AnnotationSet, Label, Layer, Release
from program import Program

TEXTS = [
    "They checked the locks before dawn .",
    "She repaired the roof after the storm .",
    "We wandered through the old town until dark.",
    "The guards inspected every bag, and nobody complained.",
    "He said that the price rose by 5 % in May .",
    "Did you  buy the house that\tMary sold ?",
    "Caf\u00e9 owners \U0001f6b2 walked to the market \u2014 they bought fish .",
    "`` Nobody knew , '' he told us .",
    "The old bridge collapsed while the engineers examined it .",
    "Ana looked it over and gave it back .",
]

SPANS: list[dict[str, Any]] = [
    {
        "text": "Ana verified the lock .",
        "spans": [{"start": 4, "end": 12, "type": "check", "lemma": "verify", "pos": "v"}],
    },
    {
        "id": "two",
        "document": "notes",
        "split": "test",
        "text": "Ben checked , then rechecked \U0001f6b2 bikes",
        "spans": [
            {"start": 4, "end": 11, "type": "check"},
            {"start": 19, "end": 28, "type": "check"},
            {"start": 29, "end": 36, "type": "thing", "pos": "n"},
            {"start": 31, "end": 36, "type": "thing"},
        ],
    },
    {
        "id": "odd",
        "split": "dev",
        "text": 'e\u0301te\u0301 \u2028 "a",b | c\td\r\n  x ',
        "spans": [
            {"start": 0, "end": 5, "type": "season"},
            {"start": 8, "end": 13, "type": "quoted"},
            {"start": 10, "end": 12, "type": "inside"},
        ],
    },
    {"text": "Ana verified the lock .", "spans": []},
    {
        "text": "Ana verified the lock .",
        "spans": [{"start": 4, "end": 12, "type": "check"}, {"start": 4, "end": 12, "type": "check"}],
    },
]


# A frame of FrameNet's that the shipped models know, for releases that lack it.
STATEMENT = {
    "op": "add-frame",
    "as": "st",
    "name": "Statement",
    "elements": [{"name": name} for name in ("Speaker", "Message", "Addressee", "Topic")],
}
OWN_FRAMES = {"Proofreading", "Statement"}


@dataclass
class Built:
    """The releases in the store, and what is known of what was added."""

    main: Release
    spans: Release
    predicted: Release
    annotated: list[dict[str, Any]] = field(default_factory=list)
    edits: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Edited sets with what was edited of them."""
    before: dict[str, AnnotationSet] = field(default_factory=dict)
    added: list[dict[str, Any]] = field(default_factory=list)
    """Added sets: their text, and the line that added them."""
    judged: Counter[str] = field(default_factory=Counter)
    verified: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Lines that say what a verifier says of sets."""
    fold: SplitList | None = None
    renamed: set[int] = field(default_factory=set)
    """LUs whose name was edited: their targets are forms of the name before."""
    rejected: set[tuple[str, str]] = field(default_factory=set)
    """Frames and LUs that were proposed and rejected."""
    edition: set[str] = field(default_factory=set)
    """The sets of the edition, as its record lists them."""


def words(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in WORDS.finditer(text) if any(c.isalpha() for c in found.group())]


def editable(release: Release, origin: str) -> Iterator[AnnotationSet]:
    """Plain human sets: one target, FEs on the first rank, the only set of their sentence."""
    for id_ in sorted(release.sets, key=order):
        set_ = release.sets[id_]
        sentence = release.sentences[set_.sentence]
        is_plain = len(set_.targets) == 1 and all(rank == 1 for rank, _ in set_.elements())
        frame = release.frames[set_.frame[0]]
        if set_.origin == origin and set_.status == "MANUAL" and is_plain and frame.has_file:
            if len(words(sentence.text)) > 4 and (origin == "fulltext" or len(sentence.sets) == 1):
                yield set_


class Editor:
    """Writes the lines of a script, and makes the same edits in the release that exports are held to."""

    def __init__(self, built: Built):
        self.built, self.release = built, built.main
        self.lines: list[dict[str, Any]] = []

    def edit(self, set_: AnnotationSet, **changes: Any) -> None:
        self.lines.append({"op": "edit-set", "set": set_.id} | changes)
        self.built.edits[set_.id] = changes
        self.built.before[set_.id] = set_

    def free_word(self, set_: AnnotationSet, number: int = 0) -> list[int]:
        """A word of the sentence that the target is not."""
        text = self.release.sentences[set_.sentence].text
        target = set_.targets[0]
        free = [span for span in words(text) if span[1] <= target[0] or target[1] <= span[0]]
        return list(free[number % len(free)])

    def elements(self, set_: AnnotationSet) -> list[dict[str, Any]]:
        names = [name for _, name, _, core in self.release.frames[set_.frame[0]].elements if core != "Core-Unexpressed"]
        first = {"name": names[0], "span": self.free_word(set_), "gf": "Ext", "pt": "NP"}
        rest = [{"name": name, "ni": "DNI"} for name in names[1:2]]
        second = [{"name": names[0], "span": self.free_word(set_, 1), "rank": 2}]
        return [first, *rest, *second]

    def add(
        self, sentence: str, text: str, frame: str, lu: str, target: list[int], elements: list[dict[str, Any]]
    ) -> None:
        line = {
            "op": "add-set",
            "sentence": sentence,
            "frame": frame,
            "lu": lu,
            "targets": [target],
            "elements": elements,
        }
        self.lines.append(line)
        self.built.added.append({"text": text, "line": line})

    def script(self) -> list[dict[str, Any]]:
        release = self.release
        plain = editable(release, "exemplar")
        moved, labelled, gone, pieces, renamed = (next(plain) for _ in range(5))
        self.edit(moved, targets=[self.free_word(moved)])
        self.edit(labelled, elements=self.elements(labelled))
        self.edit(pieces, targets=sorted([self.free_word(pieces), list(pieces.targets[0])]))
        of_text = editable(release, "fulltext")
        moved_text, shared = next(of_text), next(of_text)
        self.edit(moved_text, targets=[self.free_word(moved_text, 1)])
        self.lines.append({"op": "remove-set", "set": gone.id, "cascade": True})
        del release.sets[gone.id]
        release.sentences[gone.sentence].sets.remove(gone.id)
        self.rename_element(renamed)
        self.rename_lu()
        self.additions(shared)
        for set_, score in ((moved, 80), (moved, 20), (shared, 55)):
            reviewer = f"r{score}"
            self.lines.append({"op": "judge", "set": set_.id, "score": score, "reviewer": reviewer})
            self.built.judged[set_.id] += 1
        return self.lines

    def rename_element(self, of: AnnotationSet) -> None:
        frame = self.release.frames[of.frame[0]]
        number, name, abbreviation, core = frame.elements[-1]
        new = f"{name}_again"
        self.lines.append({"op": "edit-element", "frame": frame.name, "element": name, "name": new})
        frame.elements[-1] = number, new, abbreviation, core
        for set_ in self.release.sets.values():
            if set_.frame[0] == frame.id:
                set_.layers = tuple(
                    Layer(
                        layer.name,
                        layer.rank,
                        tuple(label._replace(name=new) if label.fe == number else label for label in layer.labels),
                    )
                    if layer.name == "FE"
                    else layer
                    for layer in set_.layers
                )

    def rename_lu(self) -> None:
        """Renames an LU of few sets."""
        number = Counter(set_.lu[0] for set_ in self.release.sets.values() if set_.origin == "exemplar")
        lu = self.release.lexunits[min(number, key=lambda id_: (number[id_], id_))]
        lu.name = f"re{lu.name}"
        self.built.renamed.add(lu.id)
        self.lines.append(
            {"op": "edit-lu", "frame": lu.frame[1], "lu": lu.id, "name": lu.name, "definition": "renamed & edited"}
        )
        lu.definition = "renamed & edited"
        for set_ in self.release.sets.values():
            if set_.lu[0] == lu.id:
                set_.lu = lu.id, lu.name

    def additions(self, shared: AnnotationSet) -> None:
        text, other = "Ana proofread the two lists twice .", "Nobody \U0001f600 proofread  it\u2028here ."
        self.lines += [
            {
                "op": "add-frame",
                "as": "f",
                "name": "Proofreading",
                "elements": [{"name": "Proofreader"}, {"name": "Text", "core_type": "Peripheral"}],
            },
            {"op": "add-lu", "as": "l", "frame": "@f", "name": "proofread.v"},
            {"op": "add-document", "as": "d", "corpus": "OWN", "name": "Notes"},
            {"op": "add-sentence", "as": "s", "text": text, "document": "@d"},
            {"op": "add-sentence", "as": "t", "text": other},
        ]
        if all(frame.name != "Statement" for frame in self.release.frames.values()):
            self.lines.append(STATEMENT)
            self.lines += [{"op": "add-lu", "frame": "@st", "name": name} for name in ("say.v", "tell.v", "complain.v")]
        self.add(
            "@s",
            text,
            "@f",
            "@l",
            [4, 13],
            [
                {"name": "Proofreader", "span": [0, 3], "gf": "Ext", "pt": "NP"},
                {"name": "Text", "span": [14, 27], "gf": "Obj", "pt": "NP"},
            ],
        )
        self.add("@t", other, "@f", "@l", [9, 18], [{"name": "Text", "ni": "INI"}])
        sentence = self.release.sentences[shared.sentence]
        target = self.free_word(shared, 2)
        self.add(sentence.id, sentence.text, "@f", "@l", target, [])


def build(program: Program, release: Release, work: Path, is_whole: bool) -> Built:
    """Fills the store, which has the release. `is_whole` is a release of FrameNet's size."""
    built = Built(release, Release(name="spans"), Release(name="predicted"))
    findings = program.findings
    listed = program.records("release", "releases")
    release.name = listed[0]["name"] if listed else ""
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in SPANS)
    (work / "spans.jsonl").write_text(lines, encoding="utf-8", newline="\n")
    program.records("import-lines", "import", work / "spans.jsonl", "--release", "spans", "--spans")
    script = Editor(built).script()
    for line in script:
        program.schemas.check("edit", line, findings, str(line))
    (work / "edits.jsonl").write_text("".join(json.dumps(line) + "\n" for line in script), encoding="utf-8")
    named = ["--release", release.name]
    program.records("edited", "edit", work / "edits.jsonl", *named)
    (work / "texts.jsonl").write_text(
        "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(TEXTS)), encoding="utf-8"
    )
    built.annotated = program.records(
        "annotate", "annotate", work / "texts.jsonl", "--into", program.store, "--as", "predicted", *named
    )
    grow(program, built, work, is_whole)
    return built


def seeds(built: Built, is_whole: bool) -> list[str]:
    """A few human sets to expand: of every part of the full text, and exemplars."""
    release = built.main
    if not is_whole:
        return [f"frame={release.sets['x7002'].frame[1]}" if "x7002" in release.sets else "origin=fulltext"]
    found: list[str] = []
    stems = ("KBEval__MIT", "ANC__IntroHongKong", "NTI__Syria_NuclearOverview", "ANC__HistoryOfJerusalem")
    for document in release.documents.values():
        if document.file in stems:
            of_document = [
                id_
                for sentence in document.sentences
                for id_ in release.sentences[sentence].sets
                if release.sets[id_].lu[1].endswith(".v")
                and len(release.sets[id_].targets) == 1
                and id_ not in built.edits
            ]
            found += of_document[:2]
    exemplars = (set_.id for set_ in editable(release, "exemplar") if set_.lu[1].endswith(".v"))
    found += [id_ for id_ in exemplars if id_ not in built.edits][5:400:100]
    return [" or ".join(f"id={id_}" for id_ in found)]


def verify(program: Program, built: Built, work: Path, sets: list[str]) -> None:
    """Brings answers of a verifier into the store, as an export of another store would."""
    exported = program.run("export", f"release={built.main.name} origin=generated", "--to", "jsonl")
    *lines, last = exported.out.decode().splitlines()
    for number, set_ in enumerate(sets):
        reverse = {"score": 1.5 - number / 8, "tokens": 9, "rewriter": "05" * 16}
        built.verified[set_] = {
            "kind": "verification",
            "set": set_,
            "evokes": 0.25 + number / 7 if number != 1 else None,
            "same_meaning": number / 9,
            "reverse": reverse if number != 2 else None,
            "verifier": "07" * 16,
            "asked": f"{number:02}" * 16,
        }
    end = json.loads(last)
    end["records"] += len(built.verified)
    lines += [json.dumps(record) for record in (*built.verified.values(), end)]
    file = work / "verified.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    program.run("import", file)


def grow(program: Program, built: Built, work: Path, is_whole: bool) -> None:
    """Generates, scores, judges and decides; freezes an edition."""
    name = built.main.name
    # What is carried along stands in no expectation here: `tests/carried_sets.rs` compares it.
    search = ["--model", "paraphrase", "--beam", "4", "--candidates", "4", "--carry", "target"]
    expression = f"release={name} ({seeds(built, is_whole)[0]}) (origin=exemplar or origin=fulltext)"
    program.records("expand-estimate", "expand", expression, "--rounds", "2", *search, "--dry-run")
    program.records("expand", "expand", expression, "--rounds", "2", *search)
    program.records("expand-status", "expand", expression, "--rounds", "2", *search, "--status")
    if is_whole:
        # FrameNet's frames have LUs for every guided sentence. Without a guide some stand under LUs that are proposed.
        program.records("expand", "expand", expression, "--rounds", "1", *search, "--guide", "none")
    lacking = "pos=v" if is_whole else "frame=Checking"
    program.records("generate-estimate", "generate", f"release={name} {lacking}", "--model", "none", "--dry-run")
    program.records(
        "generate", "generate", f"release={name} {lacking}", "--model", "none", "--limit", "2", expect=(0, 1, 2)
    )
    hits = program.records("hit", "query", f"release={name} origin=generated")
    for number, hit in enumerate(hits[:6]):
        program.run("judge", hit["id"], str(40 + number * 10), "--reviewer", "kim")
        program.records("judgement", "judge", hit["id"])
        built.judged[hit["id"]] += 1
    verify(program, built, work, [hit["id"] for hit in hits[:4]])
    program.records("fit", "fit", f"release={name} origin=generated")
    program.records("filter", "filter", f"release={name} origin=generated", expect=(0, 1))
    decide(program, name)
    built.fold = fold(built)
    (work / "fold.tsv").write_text(built.fold.lines(), encoding="utf-8")
    frame = next(iter(built.main.sets.values())).frame[1]
    program.records(
        "edition",
        "edition",
        "create",
        "v1",
        f"release={name} (origin=generated or frame={frame})",
        "--split-list",
        work / "fold.tsv",
    )


def decide(program: Program, name: str) -> None:
    """Accepts, rejects and moves what was proposed."""
    proposals = program.records("proposal", "proposals", f"release={name}", expect=(0, 1))
    reviewer = ["--reviewer", "kim", "--release", name]
    for number, of in enumerate(proposals[:3]):
        which = ["accept", "reject", "move"][number]
        more = [
            "--to",
            next(other["frame"] for other in [*proposals, {"frame": "Proofreading"}] if other["frame"] != of["frame"]),
        ]
        decision = ["proposals", which, of["frame"], of["lu"], *(more if which == "move" else []), *reviewer]
        program.records("proposal-decided", *decision)


def fold(built: Built) -> SplitList:
    """A split list that names something of every kind."""
    release = built.main
    documents = [document.file or document.name for document in release.documents.values() if document.file]
    exemplars = [set_ for set_ in editable(release, "exemplar") if set_.id not in built.edits]
    lu, sentence = exemplars[0], exemplars[-1]
    return SplitList(
        "fold",
        {documents[0]: "dev"},
        {f"{lu.frame[1]}/{lu.lu[1]}": "test", exemplars[len(exemplars) // 2].lu[1]: "dev"},
        {sentence.sentence: "test"},
        "train",
    )


# ---- What was added is what was asked for.


def element_of(label: Label, rank: int, set_: AnnotationSet) -> dict[str, Any]:
    """An FE label as a line of a script has it."""
    found: dict[str, Any] = {"name": label.name}
    if label.span:
        found["span"] = list(label.span)
    if label.ni:
        found["ni"] = label.ni
    for name, layer in (("gf", "GF"), ("pt", "PT")):
        if (value := on_span(set_, layer, rank, label.span)) is not None:
            found[name] = value
    if rank != 1:
        found["rank"] = rank
    return found


def check_edited(built: Built, found: dict[str, AnnotationSet], findings: Findings) -> None:
    """An edited set is as before but for what was edited."""
    for id_, changes in built.edits.items():
        set_, before = found.get(id_), built.before[id_]
        findings.count("edited sets")
        if set_ is None:
            findings.add("edited sets", "missing", id_)
            continue
        targets = tuple(tuple(span) for span in changes["targets"]) if "targets" in changes else before.targets
        findings.same("edited sets", "targets", id_, set_.targets, targets)
        of_layer = tuple(
            label.span for layer in set_.layers if layer.name == "Target" for label in layer.labels if label.span
        )
        findings.same("edited sets", "target layer", id_, tuple(sorted(of_layer)), targets)
        wanted = changes.get("elements") or [element_of(label, rank, before) for rank, label in before.elements()]
        elements = [element_of(label, rank, set_) for rank, label in set_.elements()]
        findings.same("edited sets", "elements", id_, by_name(elements), by_name(wanted))
        kept = ("sentence", "frame", "lu", "provenance", "fe_status", "status", "created")
        for name in kept:
            findings.same("edited sets", name, id_, getattr(set_, name), getattr(before, name))
        for layer in before.layers:
            if layer.name not in ("Target", "FE", "GF", "PT") and layer.labels:
                findings.same("edited sets", f"layer {layer.name}", id_, layer in set_.layers, True)


def by_name(elements: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(element, sort_keys=True) for element in elements)


def check_added(built: Built, release: Release, findings: Findings) -> None:
    """Each line that added a set has one."""
    users = [set_ for set_ in release.sets.values() if set_.origin == "user"]
    found = Counter(
        (
            release.sentences[set_.sentence].text,
            set_.targets,
            *by_name([element_of(l, r, set_) for r, l in set_.elements()]),
        )
        for set_ in users
    )
    wanted = Counter(
        (of["text"], tuple(tuple(span) for span in of["line"]["targets"]), *by_name(of["line"]["elements"]))
        for of in built.added
    )
    findings.count("added sets", len(users))
    findings.same("added sets", "text, targets and FEs", "all", sorted((found - wanted)), sorted(wanted - found))
    for set_ in users:
        findings.same(
            "added sets", "frame and LU", set_.id, (set_.frame[1], set_.lu[1]), ("Proofreading", "proofread.v")
        )


def check_spans(release: Release, findings: Findings) -> None:
    """Span-labelled data came in as it was."""
    found: Counter[tuple[Any, ...]] = Counter(
        (release.sentences[set_.sentence].text, set_.targets, set_.frame[1], set_.fe_status, set_.origin)
        for set_ in release.sets.values()
    )
    wanted: Counter[tuple[Any, ...]] = Counter(
        (line["text"], ((span["start"], span["end"]),), span["type"], "unknown", "imported")
        for line in SPANS
        for span in line["spans"]
    )
    findings.count("imported sets", sum(found.values()))
    findings.same("imported sets", "text, target and type", "all", sorted(found - wanted), sorted(wanted - found))
    texts = Counter(sentence.text for sentence in release.sentences.values())
    findings.same("imported sets", "sentences", "all", texts, Counter(str(line["text"]) for line in SPANS))


def check_predicted(built: Built, release: Release, findings: Findings) -> None:
    """What `annotate` wrote into the store is what it printed."""

    def of_set(set_: AnnotationSet) -> tuple[Any, ...]:
        text, made = release.sentences[set_.sentence].text, set_.provenance
        elements = tuple(sorted((label.name, label.span) for _, label in set_.elements()))
        runners = tuple((of["frame"], f32(of["probability"])) for of in made["runners_up"])
        return text, set_.frame[1], set_.targets, elements, f32(made["fit"]["probability"]), runners

    def of_line(line: dict[str, Any], of: dict[str, Any]) -> tuple[Any, ...]:
        elements = tuple(sorted((fe["name"], (fe["start"], fe["end"])) for fe in of["fes"]))
        runners = tuple((one["frame"], f32(one["score"])) for one in of["runners_up"])
        return line["text"], of["frame"], ((of["start"], of["end"]),), elements, f32(of["score"]), runners

    found = Counter(of_set(set_) for set_ in release.sets.values())
    wanted = Counter(of_line(line, of) for line in built.annotated for of in line.get("targets", []))
    findings.count("predicted sets", sum(found.values()))
    findings.same("predicted sets", "what annotate prints", "all", sorted(found - wanted), sorted(wanted - found))
    lus = {set_.lu[1] for set_ in release.sets.values()}
    printed = {of["lu"] for line in built.annotated for of in line.get("targets", []) if of["lu"]}
    findings.same("predicted sets", "LUs", "all", sorted(printed - lus), [])


def check_generated(release: Release, findings: Findings) -> None:
    """Generated sets refer to what there is, and their FEs are of their seeds."""
    for set_ in release.sets.values():
        if set_.origin != "generated":
            continue
        findings.count("generated sets")
        made, area = set_.provenance, "generated sets"
        seed, source = release.sets.get(made["seed"]), release.sets.get(made["source"])
        if seed is None or source is None:
            findings.add(area, "seed or source missing", set_.id)
            continue
        findings.same(area, "seed is human", set_.id, seed.origin in ("exemplar", "fulltext", "user"), True)
        before = source.provenance["round"] if source.origin == "generated" else 0
        findings.same(area, "round follows its source", set_.id, made["round"] > before, True)
        findings.same(area, "number begins with its frame's", set_.id, set_.id[0], "g")
        if set_.frame != seed.frame:
            # A decision moved it; its FEs are those of another frame.
            continue
        names = {label.name for _, label in seed.elements() if label.span}
        carried = [of["name"] for of in made.get("elements", [])]
        findings.same(area, "FEs of the seed", set_.id, sorted(set(carried) - names), [])
        lost = any("score" not in of for of in made.get("elements", []))
        findings.same(area, "flag lost-fe", set_.id, "lost-fe" in made["flags"], lost)
        own = Counter(label.name for _, label in set_.elements() if label.span)
        scored = Counter(of["name"] for of in made.get("elements", []) if "score" in of)
        if made["method"] == "paraphrase" and made.get("elements") is not None:
            findings.same(area, "FEs found", set_.id, own, scored)
        findings.same(area, "targets", set_.id, len(set_.targets) > 0, True)
        text = release.sentences[set_.sentence].text
        if made["method"] == "paraphrase":
            findings.same(area, "white space", set_.id, re.search(r"^\s|\s$|\s\s", text), None)
