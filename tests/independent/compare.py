#!/usr/bin/env python3
"""Compares every export of a release with the release's own XML, and every JSON record with its schema.

    compare.py --fnstore PROGRAM --release DIRECTORY|ZIP [--work DIRECTORY] [--models DIRECTORY] [--jobs N]

A store is made of the release, with imported, edited, predicted and generated sets. Each format is exported, read by
a reader of its own, and compared. Nothing is shared with fnstore: README.md says what is compared with what. Prints
how much was compared and what differs; ends with 1 if anything does.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import shutil
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import commands
import formats
import others
import store
from expected import SplitList, f32, order, split
from findings import Findings
from formats import Export
from framenet import AnnotationSet, Release, read_release
from program import Program
from records import Comparison, Extra, adopt
from schemas import Schemas

ROOT = Path(__file__).resolve().parents[2]
# A release with more sets than this is of FrameNet's size.
WHOLE = 10_000


@dataclass
class Selection:
    """What one expression finds."""

    name: str
    expression: list[str]
    release: Release
    sets: set[str]
    by: SplitList | None = None


@dataclass
class Job:
    """One format of one selection."""

    format: str
    selection: Selection


# What the processes that compare have from their parent.
PROGRAM: Program
BUILT: store.Built
WORK: Path
JOBS: list[Job] = []


def unpacked(release: Path, work: Path) -> Path:
    """The directory of a release, unpacked if it is an archive."""
    if release.is_dir():
        return release
    target = work / "release"
    with zipfile.ZipFile(release) as archive:
        archive.extractall(target)
    found = next(target.rglob("frameIndex.xml"), None)
    if found is None:
        sys.exit(f"{release} holds no frameIndex.xml: expected a FrameNet release")
    return found.parent


def check_records(built: store.Built, program: Program, work: Path) -> None:
    """Compares JSON lines of every release with what went in; takes over what was added."""
    for release in (built.main, built.spans, built.predicted):
        path = work / f"release-{release.name}.jsonl"
        path.unlink(missing_ok=True)
        report = program.report(f"release={release.name}", "--to", "jsonl", path)
        area = f"jsonl of {release.name if release is not built.main else 'the release'}"
        if release is built.main:
            # What was edited is compared with the edits.
            for id_ in built.edits:
                built.before[id_] = release.sets.pop(id_)
        comparison = Comparison(release, program.schemas, program.findings, area)
        extra = comparison.run(path)
        program.findings.same(area, "scope", path.name, extra.scope, "whole")
        counts = {kind: count for kind, count in extra.counts.items() if kind not in ("header", "release", "end")}
        program.findings.same(area, "records in the report", path.name, report["records"], counts)
        if release is built.main:
            check_main(built, extra, program.findings)
            # What is missing was said; other formats need not say it again.
            for id_ in comparison.missing["set"]:
                release.sentences[release.sets.pop(id_).sentence].sets.remove(id_)
        adopt_edited(built, release, extra)
        path.unlink()
    store.check_added(built, built.main, program.findings)
    store.check_generated(built.main, program.findings)
    store.check_spans(built.spans, program.findings)
    store.check_predicted(built, built.predicted, program.findings)


def single(record: dict[str, Any]) -> dict[str, Any]:
    """A line about a set, its numbers as floats of 32 bits hold them."""
    rounded = {name: f32(value) if isinstance(value, float) else value for name, value in record.items()}
    reverse = rounded["reverse"]
    return rounded | {"reverse": reverse and reverse | {"score": f32(reverse["score"])}}


def check_main(built: store.Built, extra: Extra, findings: Findings) -> None:
    store.check_edited(built, extra.release.sets, findings)
    humans = [id_ for id_, set_ in extra.release.sets.items() if set_.origin in ("exemplar", "fulltext")]
    findings.same(
        "jsonl of the release", "human sets that the XML lacks", "all", sorted(set(humans) - built.edits.keys()), []
    )
    own = [id_ for id_, frame in extra.release.frames.items() if frame.name not in store.OWN_FRAMES]
    findings.same("jsonl of the release", "frames that the XML lacks", "all", own, [])
    judged = {(of["set"], of["reviewer"]) for of in extra.judgements}
    findings.same("jsonl of the release", "judgements", "all", len(judged), sum(built.judged.values()))
    said = {record["set"]: single(record) for record in extra.verifications}
    wanted = {set_: single(record) for set_, record in built.verified.items()}
    findings.same("jsonl of the release", "verifications", "all", said, wanted)
    built.edition = {one.split()[0] for of in extra.editions for one in of["sets"]}
    built.rejected = {
        (of["frame"]["name"], of["lu"]) for of in extra.decisions if of["history"][-1]["verdict"] == "reject"
    }


def adopt_edited(built: store.Built, release: Release, extra: Extra) -> None:
    edited = {id_: extra.release.sets.pop(id_) for id_ in list(extra.release.sets) if id_ in built.edits}
    adopt(release, extra)
    release.sets |= edited


def selections(built: store.Built) -> list[Selection]:
    """The queries whose answers are exported."""
    main, found = built.main, []

    def select(name: str, expression: str, holds: Callable[[AnnotationSet], bool], by: SplitList | None = None) -> None:
        sets = {id_ for id_, set_ in main.sets.items() if holds(set_)}
        more = [] if by is None else ["--split-list", str(WORK / f"{by.name}.tsv")]
        found.append(Selection(name, [f"release={main.name} {expression}".strip(), *more], main, sets, by))

    test = "test" if any(split(main, set_) == "test" for set_ in main.sets.values()) else "train"
    frame = main.sets[min(main.sets, key=order)].frame[1]
    element = next(label.name for set_ in main.sets.values() for _, label in set_.elements())
    select("all sets", "", lambda of: True)
    select("generated sets", "origin=generated", lambda of: of.origin == "generated")
    select("full text", f"origin=fulltext split={test}", lambda of: of.origin == "fulltext" and split(main, of) == test)
    # `pos` asks the LU's name: FrameNet 1.5 has `come together.v`, of a verb and an adverb, under POS="A".
    select("verbs", "pos=v origin=fulltext", lambda of: of.origin == "fulltext" and of.lu[1].endswith(".v"))
    select("one frame", f"frame={frame}", lambda of: of.frame[1] == frame)
    select(
        "one FE",
        f"fe={element} frame={frame}",
        lambda of: of.frame[1] == frame and any(label.name == element for _, label in of.elements()),
    )
    if (fold := built.fold) is not None:
        select("a list's test part", "split=test", lambda of: split(main, of, fold) == "test", fold)
        select("a list's dev part", "split=dev", lambda of: split(main, of, fold) == "dev", fold)
    for release in (built.spans, built.predicted):
        found.append(Selection(f"{release.name} sets", [f"release={release.name}"], release, set(release.sets)))
    edition = select_edition(built)
    return [of for of in [*found, edition] if of.sets]


def select_edition(built: store.Built) -> Selection:
    """An edition is exported with its own list of parts."""
    sets = {id_ for id_ in built.edition if id_ in built.main.sets}
    return Selection("an edition", [f"release={built.main.name} edition=v1"], built.main, sets, built.fold)


FORMATS = (
    "conll",
    "bios",
    "semafor",
    "csv",
    "parquet",
    "jsonl",
    "training jsonl",
    "training-conll",
    "training-bios",
    "filter-data",
    "framenet-xml",
    "hits",
    "table of hits",
    "arrow",
)


def jobs(of: list[Selection]) -> list[Job]:
    found = []
    for selection in of:
        for format_ in FORMATS:
            if format_ == "filter-data" and not any(
                selection.release.sets[id_].origin == "generated" for id_ in selection.sets
            ):
                continue
            found.append(Job(format_, selection))
    # The longest first.
    return sorted(found, key=lambda job: -len(job.selection.sets))


def run_job(number: int) -> tuple[Findings, float]:
    """Exports and compares; findings travel back to the parent, with the seconds that it took."""
    findings, begun, job = Findings(), time.monotonic(), JOBS[number]
    program = replace(PROGRAM, findings=findings)
    selection, format_ = job.selection, job.format
    area = f"{format_} of {selection.name}"
    path = Path(tempfile.mkdtemp(dir=WORK)) / "export"
    try:
        check_job(program, selection, format_, area, path)
    except Exception:
        findings.add(area, "the comparison failed", traceback.format_exc()[-1500:])
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)
    return findings, time.monotonic() - begun


def check_job(program: Program, selection: Selection, format_: str, area: str, path: Path) -> None:
    made = Export(area, selection.release, selection.sets, selection.by, {}, BUILT, program.schemas, program.findings)
    if format_ == "hits":
        others.check_hits(made, program.run("query", *selection.expression, "--format", "jsonl").out)
        return
    if format_ == "table of hits":
        others.check_hit_table(made, program.run("query", *selection.expression, "--format", "csv").out.decode())
        return
    if format_ == "arrow":
        others.check_arrow(made, program.store, selection.expression[0])
        return
    name = format_.removeprefix("training ")
    more = ["--training"] if name != format_ else []
    made.report = program.report(*selection.expression, "--to", name, path, *more)
    if format_.startswith("training") or format_ in ("conll", "bios", "semafor"):
        made.leave_out_rejected()
    check = {
        "csv": formats.check_csv,
        "parquet": formats.check_parquet,
        "semafor": formats.check_semafor,
        "filter-data": others.check_filter_data,
        "framenet-xml": others.check_xml,
        "training jsonl": formats.check_training,
        "jsonl": check_part,
    }.get(format_)
    if check is not None:
        check(made, path)
    elif format_.startswith("training-"):
        formats.check_training_tokens(made, path, format_)
    else:
        formats.check_tokens(made, path, format_)


def check_part(export: Export, path: Path) -> None:
    """JSON lines of a part: every set that was asked for, as the release has it."""
    comparison = Comparison(export.release, export.schemas, export.findings, export.area, is_part=True)
    extra = comparison.run(path)
    export.same("sets missing", export.area, sorted(export.sets - comparison.seen["set"])[:5], [])
    export.same("sets that nothing has", export.area, sorted(extra.release.sets), [])
    counts = {kind: count for kind, count in extra.counts.items() if kind not in ("header", "release", "end")}
    export.same("records in the report", export.area, export.report["records"], counts)
    more = len(comparison.seen["set"] - export.sets)
    export.same("origins in the report", export.area, export.report.get("origins"), more)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument(
        "--release", type=Path, default=ROOT / "tests/data/mini-framenet", help="a directory or an archive"
    )
    parser.add_argument("--work", type=Path, help="directory for the store and the exports [default: a temporary one]")
    parser.add_argument("--models", type=Path, help="models beside those of the checkout")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    parser.add_argument("--only", help="only formats and selections whose name contains this")
    parser.add_argument("--no-commands", action="store_true", help="leave out the records of the other commands")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        work = args.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        return compare(args, work)


def compare(args: argparse.Namespace, work: Path) -> int:
    global PROGRAM, BUILT, WORK
    begun, WORK = time.monotonic(), work
    # Nothing here is cyclic, and there are millions of labels.
    gc.disable()
    source = unpacked(args.release, work)
    findings, schemas = Findings(), Schemas(ROOT / "schema")
    release, conflicts = read_release(source)
    findings.same("the XML", "ids of two things", str(source), conflicts[:5], [])
    say(begun, f"the XML has {len(release.sets):,} sets over {len(release.sentences):,} sentences")
    for name in ("store", "untouched", "files", "backup"):
        shutil.rmtree(work / name, ignore_errors=True)
    PROGRAM = Program(args.fnstore.resolve(), work / "store", schemas, findings, args.models)
    reports = PROGRAM.records("import", "import", source)
    for report in reports:
        others.check_import(report, release, findings)
    untouched = work / "untouched"
    PROGRAM.report("--to", "framenet-xml", untouched)
    is_exact = all(of["code"] != "W-written-otherwise" for report in reports for of in report["warnings"])
    others.check_untouched(source, untouched, is_exact, findings)
    shutil.rmtree(untouched, ignore_errors=True)
    say(begun, "the XML as it came was compared")
    BUILT = store.build(PROGRAM, release, work, len(release.sets) > WHOLE)
    say(begun, "the store has imported, edited, predicted and generated sets")
    check_records(BUILT, PROGRAM, work)
    say(begun, "JSON lines were compared")
    for job in jobs(selections(BUILT)):
        if args.only is None or args.only in f"{job.format} of {job.selection.name}":
            JOBS.append(job)
    gc.freeze()
    with ProcessPoolExecutor(args.jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        took: dict[str, float] = {}
        for job, (of_job, seconds) in zip(JOBS, pool.map(run_job, range(len(JOBS))), strict=True):
            findings.merge(of_job)
            took[job.format] = took.get(job.format, 0.0) + seconds
    say(
        begun,
        "seconds: " + ", ".join(f"{name} {took[name]:.0f}" for name in sorted(took, key=lambda name: -took[name])),
    )
    say(begun, f"{len(JOBS)} exports were compared")
    if not args.no_commands:
        commands.check(PROGRAM, BUILT, work)
        say(begun, "the records of the other commands were checked")
    print("\n".join(findings.lines()))
    differing = sum(findings.counts.values())
    print(f"{differing:,} differences in {len(findings.counts)} kinds; {time.monotonic() - begun:.0f} s")
    return 1 if differing else 0


def say(begun: float, what: str) -> None:
    print(f"{time.monotonic() - begun:6.1f} s  {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
