"""The exports that are read as whole records: FrameNet's XML, hits of queries, Arrow, data of filters."""

from __future__ import annotations

import csv
import io
import json
import math
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import expected
from findings import Findings
from formats import Export, as_number, cell
from framenet import AnnotationSet, Release, read_release


def check_import(report: dict[str, Any], release: Release, findings: Findings) -> None:
    """The report of an import counts what the XML has."""
    sets = list(release.sets.values())
    counts = {
        "frames": len(release.frames),
        "lexunits": len(release.lexunits),
        "lu_files": sum(lu.has_file for lu in release.lexunits.values()),
        "documents": len(release.documents),
        "frame_relations": len(release.relations),
        "sem_types": len(release.sem_types),
        "exemplar_sets": sum(set_.origin == "exemplar" for set_ in sets),
        "fulltext_sets": sum(set_.origin == "fulltext" for set_ in sets),
        "construction_sets": sum(of.construction is not None for of in release.layers.values()),
        "sentence_layer_sets": sum(of.construction is None for of in release.layers.values()),
        "sentence_occurrences": sum(len(of.occurrences) for of in release.sentences.values()),
        "sentences": len(release.sentences),
    }
    for name, count in counts.items():
        findings.same("report of the import", name, "counts", report["counts"].get(name), count)
    statuses = Counter(f"{set_.origin}/{set_.status}" for set_ in sets)
    findings.same("report of the import", "statuses", "statuses", report["statuses"], dict(statuses))
    findings.count("report of the import", len(counts) + len(statuses))


def check_untouched(source: Path, written: Path, is_exact: bool, findings: Findings) -> None:
    """The XML of a release that nobody touched is the release, byte by byte if the import says so."""
    area = "framenet-xml of the release as it came"
    names = {
        path.relative_to(source) for folder in ("frame", "lu", "fulltext") for path in (source / folder).glob("*.xml")
    }
    names |= {path.relative_to(source) for path in source.glob("*.xml")}
    found = {path.relative_to(written) for path in written.rglob("*.xml")}
    findings.same(area, "files", "all", sorted(map(str, found ^ names))[:5], [])
    for name in names & found:
        findings.count(f"{area}: files")
        if (source / name).read_bytes() == (written / name).read_bytes():
            continue
        if is_exact or tree(source / name) != tree(written / name):
            findings.add(area, "content of a file", str(name))


def tree(path: Path) -> Any:
    """An XML file without its white space, comments and instructions."""

    def of(element: ET.Element) -> Any:
        text = (element.text or "").strip() if len(element) else element.text or ""
        # Of semantic types, which FrameNet puts in two places, the order says nothing.
        children = sorted(element, key=lambda child: not child.tag.endswith("semType"))
        return element.tag, element.attrib, text, [of(child) for child in children]

    return of(ET.parse(path).getroot())


def check_xml(export: Export, folder: Path) -> None:
    """The XML of a release with sets of every origin, read as the release was."""
    found, conflicts = read_release(folder)
    export.same("ids of two things", export.area, [of for of in conflicts if of.startswith("two sets x")][:5], [])
    rejected = export.rejected()
    sets = {id_ for id_ in export.sets if export.release.sets[id_].lu[0] not in rejected}
    export.same("sets missing", export.area, sorted(sets - found.sets.keys())[:5], [])
    export.same("sets too many", export.area, sorted(found.sets.keys() - sets)[:5], [])
    for id_ in sets & found.sets.keys():
        compare_sets(export, found, found.sets[id_], export.release.sets[id_])
    export.findings.count(f"{export.area} sets", len(sets))
    check_xml_lexicon(export, found, {export.release.sets[id_].lu[0] for id_ in sets}, rejected)
    records = export.report["records"]
    export.same("sets in the report", export.area, records.get("set"), len(found.sets))
    documents = sum(bool(document.file) for document in found.documents.values())
    export.same("documents in the report", export.area, records.get("document"), documents)


def check_xml_lexicon(export: Export, found: Release, of_sets: set[int], rejected: set[int]) -> None:
    """Frames with their FEs and LUs: all in a whole release, those of the sets in a part."""
    is_whole = export.report["scope"] == "whole"
    written = {lu.id: (lu.name, lu.status, lu.frame[0]) for lu in found.lexunits.values() if lu.in_frame_file}
    for lu in export.release.lexunits.values():
        is_wanted = lu.id in of_sets or is_whole and lu.in_frame_file
        # LUs that only a full text names have no place in a frame's file.
        is_known = lu.in_frame_file or lu.has_file or lu.status or export.release.name == "predicted"
        if is_wanted and is_known and lu.id not in rejected:
            export.same("LU of a frame's file", lu.name, written.get(lu.id), (lu.name, lu.status, lu.frame[0]))
            export.findings.count(f"{export.area} LUs")
    frames = {export.release.lexunits[lu].frame[0] for lu in of_sets}
    for id_, frame in export.release.frames.items():
        if id_ in found.frames and found.frames[id_].has_file:
            export.same("FEs of a frame", frame.name, found.frames[id_].elements, frame.elements)
            export.findings.count(f"{export.area} frames")
        elif frame.has_file and (is_whole or id_ in frames):
            export.findings.add(export.area, "frame missing", frame.name)


def compare_sets(export: Export, found: Release, one: AnnotationSet, other: AnnotationSet) -> None:
    for name in ("frame", "lu", "status", "targets"):
        export.same(f"set {name}", one.id, getattr(one, name), getattr(other, name))
    texts = found.sentences[one.sentence].text, export.release.sentences[other.sentence].text
    export.same("text", one.id, *texts)
    # A set without FEs has an empty FE layer for its readers.
    layers = [layer for layer in one.layers if layer.labels], [layer for layer in other.layers if layer.labels]
    export.same("layers", one.id, *layers)
    if not any(layer.name == "FE" for layer in one.layers):
        export.findings.add(export.area, "set without an FE layer", one.id)


def hit_of(export: Export, set_: AnnotationSet) -> dict[str, Any]:
    """What a query prints of a set."""
    release = export.release
    text = release.sentences[set_.sentence].text
    place = expected.listing(release, set_)
    document = release.documents.get(place) if place else None
    return {
        "release": release.name,
        "id": set_.id,
        "frame": set_.frame[1],
        "lu": set_.lu[1],
        "trigger": expected.trigger(set_, text),
        "sentence": set_.sentence,
        "text": text,
        "offset_unit": "codepoint",
        "targets": [list(span) for span in set_.targets],
        "elements": elements_of(set_, text),
        "origin": set_.origin,
        "status": set_.status,
        "fe_status": set_.fe_status,
        "document": expected.document_name(release, set_),
        "split": expected.split(release, set_, export.by),
        "document_description": document.description if document else None,
        "frame_fit": expected.scores(set_)["frame_fit"],
    }


def elements_of(set_: AnnotationSet, text: str) -> list[dict[str, Any]]:
    return [
        {
            "name": label.name,
            "rank": rank,
            "span": list(label.span) if label.span else None,
            "ni": label.ni,
            "gf": expected.on_span(set_, "GF", rank, label.span),
            "pt": expected.on_span(set_, "PT", rank, label.span),
            "text": text[slice(*label.span)] if label.span else None,
        }
        for rank, label in set_.elements()
    ]


def check_hits(export: Export, lines: bytes) -> None:
    """The hits of a query."""
    seen = set()
    for line in lines.decode().split("\n"):
        if not line:
            continue
        hit = json.loads(line)
        export.schemas.check("hit", hit, export.findings, hit["id"])
        seen.add(hit["id"])
        set_ = export.release.sets.get(hit["id"])
        if set_ is None:
            export.findings.add(export.area, "set too many", hit["id"])
            continue
        for name, value in hit_of(export, set_).items():
            found = hit.get(name)
            if name == "frame_fit":
                found = expected.f32(found)
            export.same(f"field {name}", hit["id"], found, value)
        said = export.built.verified.get(hit["id"])
        found = {name: expected.f32(value) for name, value in (hit.get("verification") or {}).items() if name != "verifier"}
        export.same("field verification", hit["id"], found, expected.answers(said) if said else {})
        made = hit["generation"] or {}
        for name in ("seed", "source", "target", "round", "rank", "method", "flags", "chain"):
            if name in made or set_.origin == "generated" and name in ("seed", "round", "method", "flags"):
                export.same(f"generation {name}", hit["id"], made.get(name), set_.provenance.get(name))
    export.findings.count(f"{export.area} sets", len(seen))
    export.same("sets", export.area, sorted(seen ^ export.sets)[:5], [])


def guarded(text: object) -> object:
    """Text in the tables of commands, exports apart (docs/reference/commands.md, *spreadsheets*): an apostrophe stands
    before what a spreadsheet would run, and before apostrophes that would be taken for it."""
    assert isinstance(text, str)
    is_run = text.lstrip("'")[:1] in ("=", "+", "-", "@", "\t", "\r") and len(text) > 1
    return f"'{text}" if is_run and as_number(text) is None else text


def check_hit_table(export: Export, text: str) -> None:
    """The table of a query: a header, and a line for each set."""
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    seen = set()
    for row in reader:
        id_ = row.get("id") or row.get("set") or ""
        seen.add(id_)
        set_ = export.release.sets.get(id_)
        if set_ is None:
            continue
        hit = hit_of(export, set_)
        for name in ("release", "frame", "lu", "trigger", "sentence", "text", "origin", "status", "document"):
            if name in row:
                export.same(f"column {name}", id_, row[name], guarded(cell(hit[name], is_text=True)))
    export.findings.count(f"{export.area} sets", len(seen))
    export.same("sets", export.area, sorted(seen ^ export.sets)[:5], [])


ARROW = {
    "release",
    "id",
    "frame",
    "lu",
    "trigger",
    "text",
    "targets",
    "elements",
    "origin",
    "status",
    "document",
    "split",
    "seed",
    "round",
    "paraphrase",
    "aligner",
    "p",
    "r",
    "flags",
}


def check_arrow(export: Export, store: Path, expression: str) -> bool:
    """What the Python package gives as Arrow and pandas; False where it is not installed."""
    try:
        import fnstore
        import pyarrow
    except ImportError:
        return False
    with_list = {} if export.by is None else {"split_list": export.by.name}
    if with_list:
        return True
    query = fnstore.open(store).query(expression)
    table = pyarrow.table(query.to_arrow())
    table.validate(full=True)
    export.same("columns", export.area, sorted(ARROW - set(table.column_names)), [])
    seen = set()
    for batch in table.to_batches(10_000):
        for row in batch.to_pylist():
            seen.add(row["id"])
            set_ = export.release.sets.get(row["id"])
            if set_ is not None:
                compare_arrow(export, row, set_)
    export.findings.count(f"{export.area} sets", len(seen))
    export.same("sets", export.area, sorted(seen ^ export.sets)[:5], [])
    check_pandas(export, query)
    return True


def compare_arrow(export: Export, row: dict[str, Any], set_: AnnotationSet) -> None:
    text, hit = export.release.sentences[set_.sentence].text, hit_of(export, set_)
    for name in ("release", "frame", "lu", "trigger", "sentence", "text", "origin", "status", "fe_status", "document"):
        if name in row:
            export.same(f"column {name}", set_.id, row[name], hit[name])
    if "split" in row:
        export.same("column split", set_.id, row["split"], expected.split(export.release, set_))
    targets = [(of["start"], of["end"]) for of in row["targets"]]
    export.same("column targets", set_.id, targets, list(set_.targets))
    elements = [
        (of["name"], of["rank"], of["start"], of["end"], of["ni"], of["gf"], of["pt"]) for of in row["elements"]
    ]
    wanted = [
        (of["name"], of["rank"], *(of["span"] or (None, None)), of["ni"], of["gf"], of["pt"])
        for of in elements_of(set_, text)
    ]
    export.same("column elements", set_.id, elements, wanted)
    made = set_.origin == "generated"
    export.same("column seed", set_.id, row["seed"], set_.provenance.get("seed") if made else None)
    export.same("column round", set_.id, row["round"], set_.provenance.get("round") if made else None)
    export.same("column flags", set_.id, list(row["flags"] or []), set_.provenance.get("flags", []) if made else [])
    for name, value in expected.scores(set_).items():
        if name in row:
            found = as_number(row[name])
            found = None if found is None or math.isnan(found) else found
            export.same(f"column {name}", set_.id, found, value)


def check_pandas(export: Export, query: Any) -> None:
    """In a data frame spans are integers, and what is missing is missing."""
    try:
        import pandas
    except ImportError:
        return
    frame = query.to_pandas()
    export.same("rows of the data frame", export.area, len(frame), len(export.sets))
    for name in ("round",):
        kinds = pandas.api.types.is_integer_dtype(frame[name].dtype)
        export.same(f"type of {name}", export.area, bool(kinds), True)
    for elements in frame["elements"]:
        for of in elements:
            for edge in ("start", "end"):
                if isinstance(of[edge], float):
                    export.findings.add(export.area, "offset is a float", str(of))
                    return


def check_filter_data(export: Export, path: Path) -> None:
    """What a filter learns from: a line for each generated set."""
    seen: Counter[str] = Counter()
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            record = json.loads(line)
            export.schemas.check("filter-data", record, export.findings, record["set"])
            seen[record["set"]] += 1
            set_ = export.release.sets.get(record["set"])
            if set_ is None:
                continue
            made, seed = set_.provenance, export.release.sets.get(set_.provenance["seed"])
            known = {
                "release": export.release.name,
                "seed": made["seed"],
                "round": made["round"],
                "sentence": seed.sentence if seed else None,
                "judgements": export.built.judged[set_.id],
            }
            for name, value in known.items():
                found = len(record[name]) if name == "judgements" else record[name]
                export.same(f"field {name}", set_.id, found, value)
            for name in ("paraphrase", "aligner"):
                export.same(f"field {name}", set_.id, expected.f32(record[name]), expected.f32(made[name]))
            lu = export.release.lexunits[set_.lu[0]]
            export.same("field proposed", set_.id, record["proposed"], lu.status == "Proposed")
    sets = [export.release.sets[id_] for id_ in export.sets if export.release.sets[id_].origin == "generated"]
    generated = {set_.id for set_ in sets if set_.provenance["paraphrase"] is not None}
    lost = export.report["losses"].get("unscored", {"count": 0})
    export.same("loss unscored in the report", export.area, lost["count"], len(sets) - len(generated))
    export.findings.count(f"{export.area} sets", sum(seen.values()))
    export.same("sets", export.area, sorted(seen.keys() ^ generated)[:5], [])
    export.same("records in the report", export.area, export.report["records"], {"set": len(generated)})
