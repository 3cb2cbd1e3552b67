"""fnstore beside what one would use instead: NLTK's FrameNet reader and SQLite with FTS5.

    run.py --fnstore BINARY --framenet fndata-1.5.zip --synthetic STORE --cache DIRECTORY

prints a Markdown table. Each figure is of a process of its own, from its start to its end: the
median of several runs one after the other, after one that warms the file cache. The SQLite
databases hold the rows that `fnstore query` prints for the two stores (FrameNet 1.5, and FrameNet
1.5 with synthetic generated sets); NLTK reads the release as it comes. What is made on the way
stays in the cache directory and is used again.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
import zipfile
from pathlib import Path

FRAME = "Verification"
LU = "confirm.v"
TRIGGER = "corroborat"
RUNS = 20
# What takes a second or more is run fewer times.
SLOW_RUNS = 3
SLOW_SECONDS = 1.0

SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE annotation (
    id TEXT PRIMARY KEY, frame TEXT, lu TEXT, trigger TEXT, origin TEXT, round INTEGER,
    paraphrase REAL, aligner REAL, record TEXT
) WITHOUT ROWID;
CREATE VIRTUAL TABLE word USING fts5 (id UNINDEXED, trigger, text, tokenize = 'unicode61');
"""
INDEXES = """
CREATE INDEX by_frame ON annotation (frame);
CREATE INDEX by_lu ON annotation (lu);
"""


def build_sqlite(fnstore, store, path):
    """Fills a database with the rows of a store; gives the seconds of SQLite's own part."""
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    command = [fnstore, "--store", store, "--format", "jsonl", "query"]
    seconds = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        rows, words = [], []

        def insert():
            database.executemany("INSERT INTO annotation VALUES (?,?,?,?,?,?,?,?,?)", rows)
            database.executemany("INSERT INTO word VALUES (?,?,?)", words)
            rows.clear()
            words.clear()

        for line in process.stdout:
            hit = json.loads(line)
            generation = hit.get("generation") or {}
            key = f"{hit['release']}/{hit['id']}"
            trigger = hit["trigger"]
            rows.append((
                key, hit["frame"], hit["lu"], trigger, hit["origin"], generation.get("round"),
                generation.get("paraphrase"), generation.get("aligner"), line.decode(),
            ))
            words.append((key, trigger, hit["text"]))
            if len(rows) == 10_000:
                started = time.perf_counter()
                insert()
                seconds += time.perf_counter() - started
    started = time.perf_counter()
    insert()
    database.executescript(INDEXES)
    database.commit()
    database.close()
    return seconds + time.perf_counter() - started


def sqlite_task(path, what):
    """One question to a database; prints the records as fnstore does."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    queries = {
        "limit": ("SELECT record FROM annotation WHERE frame = ? LIMIT 50", FRAME),
        "frame": ("SELECT record FROM annotation WHERE frame = ?", FRAME),
        "lu": ("SELECT record FROM annotation WHERE lu = ?", LU),
        "trigger": (
            "SELECT record FROM annotation WHERE id IN "
            "(SELECT id FROM word WHERE word MATCH ?)",
            f"trigger : {TRIGGER}*",
        ),
    }
    if what == "all":
        rows = database.execute("SELECT record FROM annotation")
    else:
        query, value = queries[what]
        rows = database.execute(query, (value,))
    write = sys.stdout.write
    for (record,) in rows:
        write(record)


def nltk_task(what):
    """One question to NLTK's reader; prints a line for each set. It has exemplars by LU only."""
    from nltk.corpus import framenet15

    units = []
    if what == "frame":
        units = framenet15.frame(FRAME).lexUnit.values()
    elif what == "lu":
        units = framenet15.lus(f"^{LU.replace('.', '[.]')}$")
    for unit in units:
        for sentence in unit.exemplars:
            print(sentence.text, sentence.Target)


def measure(command, environment=None):
    """Median seconds, megabytes resident at most, and lines printed."""
    times, memory, lines = [], 0.0, 0
    runs = RUNS
    while len(times) <= runs:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: process.stdout.read(1 << 20), b""))
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.perf_counter() - started)
        memory = max(memory, usage.ru_maxrss / 1000)
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit(f"failed: {' '.join(map(str, command))}")
        if times[-1] >= SLOW_SECONDS:
            runs = SLOW_RUNS
    return statistics.median(times[1:]), memory, lines


def shown(seconds):
    return f"{seconds * 1000:.0f} ms" if seconds < SLOW_SECONDS else f"{seconds:.1f} s"


def directory_bytes(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def prepare(args):
    """Makes what is not in the cache: FrameNet's store, NLTK's directory, the databases."""
    cache = args.cache
    cache.mkdir(parents=True, exist_ok=True)
    nltk_data = cache / "nltk_data" / "corpora" / "framenet_v15"
    if not nltk_data.exists():
        unpacked = cache / "unpacked"
        shutil.rmtree(unpacked, ignore_errors=True)
        with zipfile.ZipFile(args.framenet) as archive:
            archive.extractall(unpacked)
        root = next(unpacked.rglob("frameIndex.xml")).parent
        nltk_data.parent.mkdir(parents=True, exist_ok=True)
        root.rename(nltk_data)
        shutil.rmtree(unpacked, ignore_errors=True)
    store = cache / "framenet"
    shutil.rmtree(store, ignore_errors=True)
    started = time.perf_counter()
    subprocess.run(
        [args.fnstore, "--store", store, "import", args.framenet], check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    imported = time.perf_counter() - started
    stores = {"FrameNet 1.5": store}
    if args.synthetic:
        stores["with synthetic sets"] = args.synthetic
    databases, built = {}, {}
    for name, path in stores.items():
        databases[name] = cache / f"{path.name}.sqlite"
        stamp = databases[name].with_suffix(".seconds")
        if not stamp.exists():
            # A process of its own: what this one has taken counts as its children's memory, too.
            build = [sys.executable, __file__, "--build", args.fnstore, path, databases[name]]
            stamp.write_bytes(subprocess.run(build, check=True, stdout=subprocess.PIPE).stdout)
        built[name] = float(stamp.read_text())
    return stores, databases, built, imported


QUESTIONS = [
    ("limit", f"50 sets of a frame (`frame={FRAME} --limit 50`)", [f"frame={FRAME}", "--limit", "50"]),
    ("frame", f"all sets of a frame (`frame={FRAME}`)", [f"frame={FRAME}"]),
    ("lu", f"all sets of an LU (`lu={LU}`)", [f"lu={LU}"]),
    ("trigger", f"triggers that begin so (`trigger={TRIGGER}*`)", [f"trigger={TRIGGER}*"]),
    ("all", "every set, printed", []),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fnstore", type=Path, required=True)
    parser.add_argument("--framenet", type=Path, required=True)
    parser.add_argument("--synthetic", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    args = parser.parse_args()
    stores, databases, built, imported = prepare(args)
    environment = {**os.environ, "NLTK_DATA": str(args.cache / "nltk_data")}

    print("| question | data | fnstore | SQLite, FTS5 | NLTK |")
    print("| --- | --- | --- | --- | --- |")
    for name, store in stores.items():
        first = name == "FrameNet 1.5"
        sizes = [directory_bytes(store), databases[name].stat().st_size]
        sizes.append(directory_bytes(args.cache / "nltk_data") if first else None)
        cells = [f"{size / 1e6:.0f} MB" if size else "-" for size in sizes]
        print(f"| size on disk | {name} | {' | '.join(cells)} |")
        seconds = shown(imported) if first else "see the load"
        print(f"| making it | {name} | {seconds} | {shown(built[name])} from ready rows | "
              f"{'nothing to make' if first else '-'} |")
        for what, question, arguments in QUESTIONS:
            python = [sys.executable, __file__, "--task"]
            commands = [
                [args.fnstore, "--store", store, "--format", "jsonl", "query", *arguments],
                [*python, "sqlite", what, databases[name]],
                [*python, "nltk", what] if first and what in ("frame", "lu") else None,
            ]
            cells = []
            for command in commands:
                if command is None:
                    cells.append("-")
                    continue
                seconds, memory, lines = measure(command, environment)
                cells.append(f"{shown(seconds)}, {memory:.0f} MB, {lines:,} sets")
            print(f"| {question} | {name} | {' | '.join(cells)} |", flush=True)
    start, _, _ = measure([sys.executable, "-c", "import sqlite3"])
    print(f"\nPython alone, with `import sqlite3`: {shown(start)}.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        print(f"{build_sqlite(*map(Path, sys.argv[2:])):.1f}")
    elif sys.argv[1:2] == ["--task"]:
        kind, what, *rest = sys.argv[2:]
        sqlite_task(rest[0], what) if kind == "sqlite" else nltk_task(what)
    else:
        main()
