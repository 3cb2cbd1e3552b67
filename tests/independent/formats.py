"""Readers of the formats that hold less than the store, each compared with the release.

Every reader is written after schema/exchange.md alone: none knows how fnstore writes.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import expected
from expected import SplitList, Tokens, order
from findings import Findings
from framenet import AnnotationSet, Release, Sentence
from schemas import Schemas
from store import Built

csv.field_size_limit(1 << 27)

# Columns of a parse that nobody made.
BLANK = ["_"] * 5

# Words whose lemmas rules alone get wrong.
KNOWN = {
    "added": ("v", "add"),
    "adding": ("v", "add"),
    "murmured": ("v", "murmur"),
    "tiptoed": ("v", "tiptoe"),
    "gas": ("n", "gas"),
    "specimen": ("n", "specimen"),
    "omen": ("n", "omen"),
    "canvas": ("n", "canvas"),
    "bias": ("n", "bias"),
    "opera": ("n", "opera"),
    "honest": ("aj", "honest"),
    "modest": ("aj", "modest"),
}


@dataclass
class Export:
    """What was exported: which sets of which release, under which list of parts, with which report."""

    area: str
    release: Release
    sets: set[str]
    by: SplitList | None
    report: dict[str, Any]
    built: Built
    schemas: Schemas
    findings: Findings
    left_out: int = 0
    """Sets of LUs that were rejected, which what a parser learns from has not."""

    def rejected(self) -> set[int]:
        """The LUs that were rejected."""
        lexunits = self.release.lexunits.values()
        return {lu.id for lu in lexunits if (lu.frame[1], lu.name) in self.built.rejected}

    def leave_out_rejected(self) -> None:
        rejected = self.rejected()
        kept = {id_ for id_ in self.sets if self.release.sets[id_].lu[0] not in rejected}
        self.left_out, self.sets = len(self.sets) - len(kept), kept

    def sentences(self) -> Iterator[tuple[Sentence, list[AnnotationSet]]]:
        """The sentences in order of id, each with its sets in order of id."""
        found: dict[str, list[str]] = {}
        for one in self.sets:
            found.setdefault(self.release.sets[one].sentence, []).append(one)
        for sentence in sorted(found, key=order):
            ids = sorted(found[sentence], key=order)
            yield self.release.sentences[sentence], [self.release.sets[one] for one in ids]

    def same(self, kind: str, where: str, one: object, other: object) -> bool:
        return self.findings.same(self.area, kind, where, one, other)

    def check_report(self, format_: str, sets: Iterable[str], sentences: int, losses: Counter[str]) -> None:
        """The report counts what was written, and what was lost."""
        written = list(sets)
        self.same(
            "records in the report", self.area, self.report["records"], {"set": len(written), "sentence": sentences}
        )
        losses["lu-rejected"] = self.left_out
        losses["judgements"] = sum(self.built.judged[id_] for id_ in written)
        losses["verifications"] = sum(id_ in self.built.verified for id_ in written)
        found, lost = {name: of["count"] for name, of in self.report["losses"].items()}, expected.kept(losses, format_)
        for name in sorted(found.keys() | lost.keys()):
            self.same(f"loss {name} in the report", self.area, found.get(name, 0), lost.get(name, 0))


def blocks(path: Path) -> Iterator[list[list[str]]]:
    """The blocks of a file of tokens: a line of columns for each token."""
    block: list[list[str]] = []
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            line = line.removesuffix("\n")
            if line:
                block.append(line.split("\t"))
            else:
                yield block
                block = []
    if block:
        yield block


class TokenFile:
    """What the first twelve columns of conll and bios say of a sentence."""

    def __init__(self, export: Export, is_bios: bool):
        self.export, self.is_bios = export, is_bios

    def tokens(self, block: list[list[str]], sentence: Sentence, number: int) -> Tokens | None:
        """The tokens of a block, if they are those of the sentence."""
        export, where = self.export, sentence.id
        tokens = Tokens(sentence.text, [line[1] for line in block])
        if tokens.error is not None:
            export.findings.add(export.area, "tokens", f"{where}: {tokens.error}")
            return None
        export.findings.count(f"{export.area} tokens", len(block))
        labels = expected.pos_labels(export.release, sentence)
        tags = expected.tags(labels, tokens)
        sentence_number = str(number)
        for place, (line, possible) in enumerate(zip(block, tags, strict=True)):
            tag = line[5]
            before = str(place + 1), "_", "_" if self.is_bios else tag, sentence_number
            if (line[0], line[2], line[4], line[6]) != before or line[7:12] != BLANK:
                detail = [before[0], line[1], "_", line[3], before[2], tag, sentence_number, *BLANK]
                export.same("first columns", f"{where} token {place + 1}", line[:12], detail)
            if not labels:
                # No layer of the release: a tagger's tags, which are of the Penn Treebank.
                if tag == "_":
                    export.findings.add(export.area, "no tag", f"{where} {line[1]!r}")
            elif tag not in (possible or {"_"}):
                export.same("tag", f"{where} token {place + 1} {line[1]!r}", tag, possible)
            if line[1] in KNOWN and tag[0].lower() in KNOWN[line[1]][0]:
                export.same("lemma", f"{where} {line[1]!r} {tag}", line[3], KNOWN[line[1]][1])
            if not line[3] or line[3] != line[3].lower() or line[3] == "_" and line[1] != "_":
                export.findings.add(export.area, "no lemma in small letters", f"{where} {line[1]!r}: {line[3]!r}")
        return tokens

    def lemma(
        self, block: list[list[str]], set_: AnnotationSet, targets: list[int], given: dict[int, list[str]]
    ) -> None:
        """The lemmas of a target's words are those of its LU; `given` are the words of all targets."""
        _, _, pos = set_.lu[1].rpartition(".")
        words = expected.unit_words(set_)
        is_changed = set_.id in self.export.built.edits or set_.lu[0] in self.export.built.renamed
        # Span-labelled data without parts of speech names LUs by the form.
        if is_changed or pos == "x" or len(targets) != len(words):
            return
        for place, word in zip(targets, words, strict=True):
            line = block[place]
            # People may give a word to any LU; the LU's own words are what is asked about.
            if not word.isalpha() or set_.origin == "user" and not line[1].startswith(word[:3]):
                continue
            self.export.findings.count(f"{self.export.area} lemmas of targets")
            if line[3] != expected.closest(line[1].lower(), given[place]):
                detail = f"{set_.id} {line[1]!r} {line[5]} of {set_.lu[1]}: {line[3]!r}"
                self.export.findings.add(self.export.area, f"lemma of a {set_.origin} target", detail)


def check_tokens(export: Export, path: Path, format_: str) -> None:
    """CoNLL and BIOS: a block for each set."""
    file = TokenFile(export, format_ == "bios")
    losses: Counter[str] = Counter()
    of_file, written, sentences = blocks(path), list[str](), 0
    for sentence, sets in export.sentences():
        losses["no-target"] += sum(not set_.targets for set_ in sets)
        with_target = [set_ for set_ in sets if set_.targets]
        for place, set_ in enumerate(with_target):
            block = next(of_file, None)
            if block is None:
                export.findings.add(export.area, "blocks missing", f"from {set_.id} on")
                return
            tokens = file.tokens(block, sentence, sentences)
            if tokens is None:
                continue
            given = expected.given_words(sets, tokens)
            if place == 0:
                losses["white-space"] += not tokens.is_spaced(sentence.text)
                losses["no-tags"] += all(line[5] == "_" for line in block)
            check_block(export, file, block, set_, tokens, given)
            losses += expected.losses_of_tokens(export.release, set_, tokens)
            written.append(set_.id)
        sentences += bool(with_target)
    if (rest := next(of_file, None)) is not None:
        export.findings.add(export.area, "more blocks than sets", str(rest[:2]))
    export.findings.count(f"{export.area} sets", len(written))
    export.check_report(format_, written, sentences, losses)


def check_block(
    export: Export,
    file: TokenFile,
    block: list[list[str]],
    set_: AnnotationSet,
    tokens: Tokens,
    given: dict[int, list[str]],
) -> None:
    targets, roles = expected.target_tokens(set_, tokens), expected.roles(set_, tokens)
    core_types = export.release.core_types(set_)
    file.lemma(block, set_, targets, given)
    for place, (line, role) in enumerate(zip(block, roles, strict=True)):
        names = [set_.lu[1], set_.frame[1]] if place in targets else ["_", "_"]
        rest = [*names, role]
        if file.is_bios:
            rest.append("_" if role == "O" else core_types.get(role[2:], "_"))
        if line[12:] != rest:
            export.same("frame, LU and FE", f"{set_.id} token {place + 1} {line[1]!r}", line[12:], rest)


def check_training_tokens(export: Export, path: Path, format_: str) -> None:
    """Training records over tokens: a block for each sentence."""
    file = TokenFile(export, format_ == "training-bios")
    losses: Counter[str] = Counter()
    of_file, written, sentences = blocks(path), list[str](), 0
    for sentence, sets in export.sentences():
        if not any(set_.targets for set_ in sets):
            losses["no-target"] += len(sets)
            continue
        block = next(of_file, None)
        if block is None:
            export.findings.add(export.area, "blocks missing", f"from {sentence.id} on")
            return
        tokens = file.tokens(block, sentence, sentences)
        sentences += 1
        if tokens is None:
            continue
        losses["white-space"] += not tokens.is_spaced(sentence.text)
        losses["no-tags"] += all(line[5] == "_" for line in block)
        columns, in_order = [], sorted(sets, key=lambda of: (of.targets[:1], order(of.id)))
        given = expected.given_words(in_order, tokens)
        for set_ in in_order:
            losses += expected.losses_of_tokens(export.release, set_, tokens)
            if targets := expected.target_tokens(set_, tokens):
                columns.append((set_, targets, expected.roles(set_, tokens)))
                file.lemma(block, set_, targets, given)
        columns.sort(key=lambda of: of[1][0])
        written += [set_.id for set_, _, _ in columns]
        check_training_block(file, block, sentence, tokens, columns, {set_.id for set_ in sets})
    if (rest := next(of_file, None)) is not None:
        export.findings.add(export.area, "more blocks than sentences", str(rest[:2]))
    export.findings.count(f"{export.area} sets", len(written))
    export.check_report(format_, written, sentences, losses)


def check_training_block(
    file: TokenFile,
    block: list[list[str]],
    sentence: Sentence,
    tokens: Tokens,
    columns: list[tuple[AnnotationSet, list[int], list[str]]],
    sets: set[str],
) -> None:
    export = file.export
    points = expected.unknown_points(export.release, sentence, sets)
    for place, line in enumerate(block):
        start, end = tokens.spans[place]
        evoked = [(number + 1, set_) for number, (set_, targets, _) in enumerate(columns) if place in targets]
        # A target whose other frame is left out has both.
        mask = ["?"] if any(point in points for point in range(start, end)) else []
        values = (
            [*(set_.lu[1] for _, set_ in evoked), *mask],
            [*(set_.frame[1] for _, set_ in evoked), *mask],
            [str(number) for number, _ in evoked],
        )
        rest = ["|".join(value) or "_" for value in values]
        for set_, _, roles in columns:
            role = roles[place] if roles[place] != "O" or expected.has_all_elements(export.release, set_) else "?"
            rest.append(role)
            if file.is_bios:
                rest.append("_" if role in "O?" else export.release.core_types(set_).get(role[2:], "_"))
        if line[12:] != rest:
            export.same("frames and FEs", f"{sentence.id} token {place + 1} {line[1]!r}", line[12:], rest)


def check_training(export: Export, path: Path) -> None:
    """Training records as JSON lines."""
    losses: Counter[str] = Counter()
    found = (json.loads(line) for line in path.open(encoding="utf-8", newline="\n"))
    sentences = 0
    for sentence, sets in export.sentences():
        record = next(found, None)
        if record is None:
            export.findings.add(export.area, "records missing", f"from {sentence.id} on")
            return
        export.schemas.check("training-sentence", record, export.findings, sentence.id)
        check_sentence(export, record, sentence, sets)
        losses["no-tags"] += bool(record["tokens"]) and all(of["tag"] is None for of in record["tokens"])
        sentences += 1
        for set_ in sets:
            losses += expected.losses_of_set(export.release, set_)
    if (rest := next(found, None)) is not None:
        export.findings.add(export.area, "more records than sentences", str(rest)[:200])
    export.findings.count(f"{export.area} sets", len(export.sets))
    export.check_report("training jsonl", export.sets, sentences, losses)


def check_sentence(export: Export, record: dict[str, Any], sentence: Sentence, sets: list[AnnotationSet]) -> None:
    text, where = sentence.text, sentence.id
    parts = {expected.split(export.release, set_, export.by) for set_ in sets}
    known = {
        "release": export.release.name,
        "sentence": sentence.id,
        "offset_unit": "codepoint",
        "text": text,
        "split": parts.pop() if len(parts) == 1 else None,
    }
    for name, value in known.items():
        export.same(name, where, record.get(name), value)
    for of in record["unannotated"]:
        export.same("text of a stretch", where, of["text"], text[of["start"] : of["end"]])
    stretches = [(of["start"], of["end"]) for of in record["unannotated"]]
    export.same("order of the mask", where, stretches, sorted(stretches))
    points = [point for start, end in stretches for point in range(start, end)]
    unknown = sorted(expected.unknown_points(export.release, sentence, {set_.id for set_ in sets}))
    export.same("mask", where, points, unknown)
    words = [text[of["start"] : of["end"]] for of in record["tokens"]]
    export.same("words of the tokens", where, [of["text"] for of in record["tokens"]], words)
    tokens = Tokens(text, words)
    export.same("tokens", where, (tokens.error, tokens.spans), (None, [(of["start"], of["end"]) for of in record["tokens"]]))
    of_record = {of["id"]: of for of in record["sets"]}
    in_order = [set_.id for set_ in sorted(sets, key=lambda of: (of.targets[:1], order(of.id)))]
    if not export.same("sets", where, list(of_record), in_order):
        return
    for set_ in sets:
        check_training_set(export, of_record[set_.id], set_, text)


def check_training_set(export: Export, of: dict[str, Any], set_: AnnotationSet, text: str) -> None:
    core_types = export.release.core_types(set_)
    known = {
        "origin": set_.origin,
        "status": set_.status,
        "frame": set_.frame[1],
        "frame_id": set_.frame[0],
        "lu": set_.lu[1],
        "lu_id": set_.lu[0],
        "lu_status": export.release.lexunits[set_.lu[0]].status,
        "fe_status": set_.fe_status,
        "fes_complete": expected.has_all_elements(export.release, set_),
        "seed": set_.provenance.get("seed") if set_.origin == "generated" else None,
        "round": set_.provenance.get("round") if set_.origin == "generated" else None,
        "targets": [spelled(span, text) for span in set_.targets],
    }
    for name, value in known.items():
        export.same(name, set_.id, of.get(name), value)
    elements = [
        {
            "name": label.name,
            "core_type": core_types.get(label.name),
            "rank": rank,
            "span": spelled(label.span, text) if label.span else None,
            "null_instantiation": label.ni,
        }
        for rank, label in set_.elements()
        if label.span or label.ni is not None
    ]
    export.same(
        "elements",
        set_.id,
        [{name: one.get(name) for name in elements[0]} for one in of["elements"]] if elements else of["elements"],
        elements,
    )


def spelled(span: tuple[int, int], text: str) -> dict[str, object]:
    return {"start": span[0], "end": span[1], "text": text[span[0] : span[1]]}


def check_semafor(export: Export, prefix: Path) -> None:
    """SEMAFOR's three files."""

    def lines(ending: str) -> Iterator[str]:
        with Path(f"{prefix}.{ending}").open(encoding="utf-8", newline="\n") as of_file:
            for line in of_file:
                yield line.removesuffix("\n")

    elements, texts, tokenized = lines("frame.elements"), lines("sentences"), lines("sentences.tokenized")
    losses: Counter[str] = Counter()
    written, number = list[str](), -1
    for number, (sentence, sets) in enumerate(export.sentences()):
        text = next(texts, None)
        plain = sentence.text.strip(expected.WHITE).translate(str.maketrans("\n\r\t", "   "))
        export.same("text", sentence.id, text, plain)
        tokens = Tokens(sentence.text, next(tokenized, "").split(" "))
        if tokens.error is not None:
            export.findings.add(export.area, "tokens", tokens.error)
            continue
        losses["white-space"] += not tokens.is_spaced(sentence.text)
        for set_ in sets:
            losses += expected.losses_of_tokens(export.release, set_, tokens)
            targets = expected.target_tokens(set_, tokens)
            if not targets:
                continue
            written.append(set_.id)
            of_set = expected.token_elements(set_, tokens)
            words = [sentence.text[slice(*tokens.spans[place])] for place in targets]
            line = [
                "1",
                "0.0",
                str(len(of_set) + 1),
                set_.frame[1],
                set_.lu[1],
                "_".join(map(str, targets)),
                " ".join(words),
                str(number),
            ]
            for name, covered in of_set:
                last = covered.stop - 1
                line += [name, str(last) if covered.start == last else f"{covered.start}:{last}"]
            export.same("line", set_.id, next(elements, "").split("\t"), line)
    for rest in (next(elements, None), next(texts, None), next(tokenized, None)):
        if rest is not None:
            export.findings.add(export.area, "more lines than expected", rest)
    export.findings.count(f"{export.area} sets", len(written))
    export.check_report("semafor", written, number + 1, losses)


def check_rows(export: Export, found: Iterable[dict[str, Any]], columns: list[str], is_text: bool) -> None:
    """CSV (`is_text`: a missing value is an empty one) and Parquet: a row for each FE label."""
    known = ROW_COLUMNS
    export.same("columns missing", export.area, sorted(set(known) - set(columns)), [])
    export.same("columns unknown", export.area, sorted(set(columns) - set(known)), [])
    shared = [name for name in columns if name in known]
    losses: Counter[str] = Counter()
    rows: dict[str, list[tuple[object, ...]]] = {}
    for row in found:
        rows.setdefault(row["set"], []).append(tuple(row[name] for name in shared))
    export.same("sets missing", export.area, sorted(export.sets - rows.keys())[:5], [])
    export.same("sets too many", export.area, sorted(rows.keys() - export.sets)[:5], [])
    for id_ in export.sets & rows.keys():
        set_ = export.release.sets[id_]
        losses += expected.losses_of_set(export.release, set_)
        said = expected.answers(export.built.verified.get(id_))
        wanted = [
            tuple(cell((row | said)[name], is_text) for name in shared)
            for row in expected.rows(export.release, set_, export.by)
        ]
        if wanted == rows[id_]:
            continue
        if not export.same("number of rows", id_, len(rows[id_]), len(wanted)):
            continue
        for number, (one, other) in enumerate(zip(rows[id_], wanted, strict=True)):
            for name, value, right in zip(shared, one, other, strict=True):
                if value != right and not (
                    is_text and as_number(value) is not None and as_number(value) == as_number(right)
                ):
                    export.same(f"column {name}", f"{id_} row {number + 1}", value, right)
    export.findings.count(f"{export.area} rows", sum(map(len, rows.values())))
    sentences = {export.release.sets[id_].sentence for id_ in export.sets}
    export.check_report("tables", export.sets, len(sentences), losses)


def cell(value: object, is_text: bool) -> object:
    return ("" if value is None else str(value)) if is_text else value


def as_number(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


ROW_COLUMNS = [
    "release",
    "set",
    "origin",
    "status",
    "fe_status",
    "frame",
    "lu",
    "sentence",
    "document",
    "split",
    "text",
    "trigger",
    "targets",
    "fe",
    "core_type",
    "rank",
    "start",
    "end",
    "fe_text",
    "ni",
    "gf",
    "pt",
    "seed",
    "round",
    "flags",
    "paraphrase",
    "aligner",
    "p",
    "r",
    "frame_fit",
    "evokes",
    "same_meaning",
    "reverse",
]


def check_csv(export: Export, path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines, strict=True)
        check_rows(export, reader, list(reader.fieldnames or []), is_text=True)


def check_parquet(export: Export, path: Path) -> None:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(path)
    batches = (batch.to_pylist() for batch in file.iter_batches(20_000))
    check_rows(export, (row for batch in batches for row in batch), file.schema_arrow.names, is_text=False)
