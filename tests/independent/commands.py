"""Every other command that prints JSON: its records follow their schemas.

What a command prints is checked by the tests of that command; here only the form of it, over a store with sets of
every origin. `UNSEEN` lists the schemas of commands that train or ask a server, which take minutes.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from expected import order
from findings import Findings
from program import Program
from store import TEXTS, Built

ROOT = Path(__file__).resolve().parents[2]

# Schemas of what takes minutes, a server or a graphics card, fails, or takes back what is compared; `tests/` checks these
# records.
UNSEEN = {
    "attest",
    "eval-fes",
    "eval-frames",
    "eval-generation",
    "eval-lexicon",
    "eval-nli",
    "eval-parser",
    "eval-scratch",
    "error",
    "experiment",
    "gpu",
    "proposal-ranker",
    "substitutes",
    "score",
    "question",
    "resource",
    "eval-filter",
    "train-choice",
    "undone",
    "verify",
}
# What only stands in files of releases with oddities of their own.
OF_RELEASES = {"foreign", "jsonl-foreign", "jsonl-element", "jsonl-written-number", "leak", "propagation"}

ORIGINS = ("exemplar", "fulltext", "imported", "user", "generated", "predicted")

PAIRS = "the judge confirmed it\tthe judge verified it\nshe confirmed the date\tshe verified the date\n"
GOLD: dict[str, Any] = {"source": "they confirmed it", "target": "they verified it", "sure": [[0, 0], [1, 1], [2, 2]]}
SPAN: dict[str, Any] = {
    "id": "1",
    "source": ["she", "confirmed", "the", "date"],
    "source_span": [1, 2],
    "target": ["she", "verified", "the", "date"],
    "target_span": [1, 2],
    "changed": True,
}
ALIGN: list[dict[str, Any]] = [
    {
        "id": 7,
        "source": "they checked the lock twice",
        "span": [5, 12],
        "target": "the lock was inspected twice by them",
    },
    {"source": ["they", "checked", "it"], "span": [1, 2], "target": ["it", "was", "inspected"]},
    {"source": "she carried the plan out", "span": [[4, 11], [21, 24]], "target": "she executed the plan"},
    {"id": 8, "source": "odd", "span": [0, 9], "target": "odd"},
]
PARAPHRASE: list[dict[str, Any]] = [
    {"id": 1, "text": "They checked the bill.", "avoid": ["checked"], "require": [["bill", "invoice"]]},
    {"text": ""},
    {"text": "The guards inspected every bag."},
]
ARTICLES = (
    "cluster\tarticle\tdate\ttext\n"
    "fire\ta\t2004-08-23\tA fire destroyed the old mill on Monday. Nobody was hurt.\n"
    "fire\tb\t2004-08-24\tThe old mill was destroyed by a fire. Nobody was injured.\n"
)
ENTAILMENT = (
    "split\tid\tlabel\tpremise\thypothesis\n"
    "train\t1\tentailment\tThe police arrested two men in the city.\tTwo men were arrested.\n"
)


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def check(program: Program, built: Built, work: Path) -> None:
    files = work / "files"
    files.mkdir(exist_ok=True)
    reading(program, built)
    counting(program, built)
    checking(program, work)
    texts(program, files)
    people(program, built, files)
    changing(program, built, work, files)
    wordnets(program, built, work)
    seen = {area.removeprefix("schema ") for area in program.findings.compared if area.startswith("schema ")}
    known = {name.removesuffix(".schema.json") for name in program.schemas.documents}
    for name in sorted(known - seen - UNSEEN - OF_RELEASES):
        program.findings.add("schemas", "no record of this schema was seen", name)


def wordnets(program: Program, built: Built, work: Path) -> None:
    """A WordNet stands beside the releases, and leads to new LUs."""
    for other in ("mini-wordnet", "mini-verbnet", "mini-propbank", "mini-semlink"):
        program.records("import-resource", "import", ROOT / "tests/data" / other)
    program.records("predicate", "predicates", "check")
    program.records("synset", "synsets", "inspect")
    name, names = built.main.name, {frame.name for frame in built.main.frames.values()}
    frame = next(frame for frame in ("Checking", "Scrutiny") if frame in names)
    (work / "no-models").mkdir(exist_ok=True)
    program.records("discover", "discover", frame, "--release", name, "--models", work / "no-models", "--least", "0")
    for record in program.run("export", f"release={name}", "--to", "jsonl").records():
        if record["kind"] == "discovery":
            program.schemas.check("jsonl-discovery", record, program.findings, "export")
    program.records("link", "link", frame, "--release", name)
    for record in program.run("export", f"release={name}", "--to", "jsonl").records():
        if record["kind"] == "links":
            program.schemas.check("jsonl-links", record, program.findings, "export")
    program.records("links", "links", frame, "--release", name)
    for other in ("wordnet-0.1", "mini-verbnet", "mini-propbank", "mini-semlink"):
        program.run("releases", "remove", other, "--yes")


def reading(program: Program, built: Built) -> None:
    main, of = built.main, ["--release", built.main.name]
    frame = main.frame_named("Proofreading").name
    sample = main.sets[min(main.sets, key=order)]
    generated = next((id_ for id_, set_ in main.sets.items() if set_.origin == "generated"), sample.id)
    predicted = next(iter(built.predicted.sets), sample.id)
    for set_ in (sample.id, generated, predicted, next(iter(built.edits))):
        program.records("hit", "show", "set", set_)
    for kind, schema, name in (
        ("frame", "frame", sample.frame[1]),
        ("frame", "frame", frame),
        ("lu", "lexunit", sample.lu[1]),
        ("lu", "lexunit", "proofread.v"),
        ("sentence", "sentence", sample.sentence),
        ("document", "document", "*"),
    ):
        program.records(schema, "show", kind, name, *(of if kind != "sentence" else []))
    for schema, arguments in (
        ("frames", ["frames"]),
        ("lus", ["lus", "--include-status", "Problem"]),
        ("fes", ["fes"]),
        ("relations", ["relations"]),
        ("fe-relations", ["relations", "--fes"]),
        ("relation-kinds", ["relations", "--kinds"]),
        ("tree", ["relations", "--tree", "*", "--kind", "*"]),
        ("tree", ["semtypes", "--tree"]),
        ("semtypes", ["semtypes"]),
        ("valence", ["valence", sample.lu[1], "--sets"]),
        ("valence", ["valence", "*", "--over", f"release={main.name} frame={sample.frame[1]}"]),
        ("stats", ["stats"]),
        ("growth", ["stats", "growth", f"release={main.name}"]),
    ):
        program.records(schema, *arguments, *of)
    program.records("difference", "releases", "diff", main.name, "spans")
    program.records("propagation", "semtypes", "--propagate", *of, expect=(0, 1))
    program.records("diversity", "stats", "diversity", f"release={main.name} origin=generated")
    program.records("agreement", "stats", "agreement", expect=(0, 1))
    for by in ("origin", "split", "doc", "frame", "fe", "flag", "round", "edition"):
        program.records(
            "count", "query", f"release={main.name} (origin=generated or frame={sample.frame[1]})", "--count-by", by
        )
    program.records("plan", "query", f"release={main.name} origin=generated aligner>=0.1", "--explain")
    program.records("recipe", "recipes")
    program.records("foreign", "foreign", *of, expect=(0, 1))
    program.records("proposal", "proposals", "--with-decided", f"release={main.name}", expect=(0, 1))
    program.records("proposal-decision", "proposals", "decisions", *of, expect=(0, 1))
    program.records("edition", "edition", "list", *of)
    program.records("edition", "edition", "show", "v1", *of)


def counting(program: Program, built: Built) -> None:
    """What is counted is what there is."""
    listed = {record["name"]: record for record in program.records("release", "releases")}
    for release in (built.main, built.spans, built.predicted):
        area, of = (
            f"counts of {release.name if release is not built.main else 'the release'}",
            ["--release", release.name],
        )
        origins: dict[int, Counter[str]] = {id_: Counter() for id_ in release.lexunits}
        for set_ in release.sets.values():
            origins[set_.lu[0]][set_.origin] += 1
        lus = program.records("lus", "lus", "--include-status", "Problem", *of)
        program.findings.same(area, "LUs", release.name, sorted(lu["id"] for lu in lus), sorted(origins))
        for lu in lus:
            found = {name: lu.get(name) for name in ORIGINS}
            wanted = {name: origins.get(lu["id"], Counter())[name] for name in ORIGINS}
            program.findings.same(area, "sets of an LU by origin", lu["name"], found, wanted)
        frames = program.records("frames", "frames", *of)
        program.findings.same(area, "frames", release.name, sorted(of["id"] for of in frames), sorted(release.frames))
        proposed = sum(lu.status == "Proposed" for lu in release.lexunits.values())
        counts = {
            "frames": len(release.frames),
            "lexunits": len(release.lexunits) - proposed,
            "proposed": proposed,
            "sets": len(release.sets),
            "sentences": len(release.sentences),
        }
        found = {name: listed.get(release.name, {}).get(name) for name in counts}
        program.findings.same(area, "releases", release.name, found, counts)
        program.findings.count(area, len(lus) + len(frames))


def checking(program: Program, work: Path) -> None:
    program.records("change", "changes")
    program.records("history", "history")
    program.records("sentences", "sentences", "--limit", "50")
    found = program.records("check", "check", "--deep")
    for record in found:
        program.findings.same("commands", "findings of a deep check", "check --deep", record.get("findings", []), [])
    program.records("leak", "check", "--leaks", "--split-list", work / "fold.tsv", expect=(0, 1))
    program.records("reindex", "reindex")
    program.records("backup", "backup", work / "backup")
    for record in program.records("model", "model", "list"):
        program.findings.same("commands", "a model has a name", str(record), "name" in record, True)
    program.records("model-check", "model", "verify", "tagger")


def texts(program: Program, files: Path) -> None:
    """Commands over sentences and pairs."""

    def written(name: str, text: str) -> Path:
        path = files / name
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    some = lines([{"id": number, "text": text} for number, text in enumerate(TEXTS[:4])])
    pairs = written("pairs.tsv", PAIRS)
    program.records("tag", "tag", given=some)
    for line in PARAPHRASE[:1]:
        program.schemas.check("paraphrase-request", line, program.findings, str(line))
    program.records(
        "paraphrase", "paraphrase", "--model", "paraphrase", "--beam", "2", given=lines(PARAPHRASE), expect=(0, 65)
    )
    for line in ALIGN[:3]:
        program.schemas.check("align-request", line, program.findings, str(line))
    program.records("align-spans", "align", "spans", "--runners-up", "2", given=lines(ALIGN), expect=(0, 65))
    program.records("align-words", "align", "words", pairs, "--train", pairs)
    gold, spans = written("gold.jsonl", lines([GOLD])), written("spans.jsonl", lines([SPAN]))
    program.records("link-error-rate", "eval", "words", "--data", gold, "--train", pairs)
    program.records("span-cover", "eval", "words", "--spans", spans, "--train", pairs)
    program.records("eval-aligner", "eval", "aligner", "--data", spans)
    tagged = ROOT / "tests/data/tagging"
    program.records("eval-tagger", "eval", "tagger", "--data", tagged / "dev.jsonl", "--train", tagged / "train.jsonl")
    mined = program.records("mined-pair", "mine", given=ARTICLES)
    (files / "mined.jsonl").write_text(lines(mined), encoding="utf-8")
    drawn = program.run("mine", "sample", "--count", "2", given=lines(mined)).records()
    judged = written("judged.jsonl", lines([of | {"label": "paraphrase", "phrasal": 1} for of in drawn]))
    program.records("mine-tally", "mine", "tally", judged)
    program.records("augmented", "augment", "nli", "--model", "paraphrase", "--beam", "2", given=ENTAILMENT)
    system = written(
        "system.tsv", "source\ttarget\n" + "".join(f"Line {n} ended.\tLine {n} came to an end.\n" for n in range(12))
    )
    sheet = program.records("rewriting-judgement", "judge", "sample", system, "--count", "10", "--checks", "2")
    filled = [of | {"similarity": 100 if of["source"] == of["target"] else 80, "ungrammatical": False} for of in sheet]
    program.records("rewriter-figures", "judge", "tally", written("rater.jsonl", lines(filled)), "--system", system)


def people(program: Program, built: Built, files: Path) -> None:
    """Tasks for annotators, and their answers."""
    frame = built.main.sets[min(built.main.sets, key=order)].frame[1]
    expression = f"release={built.main.name} frame={frame}"
    path = files / "tasks.jsonl"
    path.unlink(missing_ok=True)
    program.report(expression, "--to", "alignment-task", path)
    tasks = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    for task in tasks:
        program.schemas.check("alignment-task", task, program.findings, task["id"])
        start, end = task["span"]
        program.findings.same("alignment-task", "trigger", task["id"], task["sentence"][start:end], task["trigger"])
    answers = [{"id": of["id"], "annotator": who, "span": [0, 2]} for of in tasks for who in ("ann", "bob")]
    for answer in answers:
        program.schemas.check("alignment-answer", answer, program.findings, answer["id"])
    (files / "answers.jsonl").write_text(lines(answers), encoding="utf-8")
    to = files / "trained.jsonl"
    to.unlink(missing_ok=True)
    program.records("align-answers", "align", "answers", files / "answers.jsonl", "--tasks", path, "--to", to)
    hidden = files / "hidden.tsv"
    hidden.write_text(f"{frame}\tvet.v\n", encoding="utf-8")
    program.records("proposals-eval", "proposals", "eval", "--hidden", hidden, expect=(0, 1))


def changing(program: Program, built: Built, work: Path, files: Path) -> None:
    """What changes the store, last."""
    name, of = built.main.name, ["--release", built.main.name]
    if (files / "mined.jsonl").stat().st_size:
        program.records("import-lines", "import", files / "mined.jsonl", "--release", "news")
    seed = next(id_ for id_ in sorted(built.main.sets, key=order) if built.main.sets[id_].origin == "exemplar")
    shard = files / "1-of-1.zst"
    for path in (shard, Path(f"{shard}.manifest.json")):
        path.unlink(missing_ok=True)
    expand = ["expand", f"id={seed}", "--rounds", "1", "--beam", "2", "--candidates", "2", "--model", "paraphrase", "--carry", "target"]
    program.run(*expand, "--shard", "1/1", "--out", shard, expect=(0, 1))
    manifest = Path(f"{shard}.manifest.json")
    if manifest.is_file():
        program.schemas.check("shard-manifest", json.loads(manifest.read_text()), program.findings, manifest.name)
        program.records("shards-status", "merge", "--status", files)
        program.records("merge", "merge", shard)
    generated = [id_ for id_, set_ in built.main.sets.items() if set_.origin == "generated" and id_ in built.edition]
    if generated:
        publishing(program, built, files)
        program.run("delete", f"id={generated[0]}", "--yes")
        program.records("edition-change", "edition", "verify", "v1", *of, expect=(0, 1))
        gone = program.run("export", f"release={name} edition=v1", "--to", "csv", "-", expect=(0, 1, 2))
        if gone.code == 0:
            program.findings.add("editions", "an edition that lost sets is exported without a word", gone.err[:200])
    several = program.run("export", "origin!=generated", "--to", "conll", "-", expect=(0, 2))
    if several.code == 0:
        program.findings.add("exports", "sets of several releases are mixed", several.err[:300])
    program.run("releases", "remove", "predicted", "--yes")
    check_backup(program, work, program.findings)


def publishing(program: Program, built: Built, files: Path) -> None:
    """An edition that promises something, and one as a data set."""
    name, of = built.main.name, ["--release", built.main.name]
    ids = [id_ for id_, set_ in built.main.sets.items() if set_.origin == "generated"]
    judged = files / "promised.jsonl"
    judged.write_text(lines([{"set": id_, "score": 100, "reviewer": "zoe"} for id_ in ids]), encoding="utf-8")
    program.run("judge", "--from", judged, *of)
    asked = [f"release={name} origin=generated", "--precision", "0.4", "--rank", "aligner"]
    program.records("edition", "edition", "create", "promised", *asked)
    program.records("edition", "edition", "cut", "promised")
    program.records("edition-check", "edition", "verify", "promised", "--judgements", expect=(0, 1))
    data_set = files / "data-set"
    shutil.rmtree(data_set, ignore_errors=True)
    # One with sets of LUs that were rejected is not published.
    program.run("edition", "create", "whole", f"release={name} origin!=generated origin!=carried")
    program.records("published", "edition", "publish", "whole", data_set, "--licence", "cc0-1.0", *of)


def check_backup(program: Program, work: Path, findings: Findings) -> None:
    """A backup restores to the same records."""
    manifest = next((work / "backup").rglob("*.json"), None)
    if manifest is not None:
        program.schemas.check("backup", json.loads(manifest.read_text()), findings, manifest.name)
