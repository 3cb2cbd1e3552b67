"""fnstore beside what one would use instead: NLTK's FrameNet reader and SQLite with FTS5.

    run.py --fnstore BINARY --framenet fndata-1.5.zip [--synthetic STORE] --cache DIRECTORY [--runs N]

prints a Markdown table for docs/results/; everything in it is measured in this one run. Each figure is of
a process of its own, from its start to its end, its output read and thrown away: the median of several
runs one after the other, after one that warms the file cache. The SQLite databases hold the rows that
`fnstore query` prints for the two stores (FrameNet 1.5, and FrameNet 1.5 with synthetic generated
sets), ready to be printed; NLTK reads the release as it comes. The cache directory keeps the release
unpacked for NLTK, and whatever this run has made.
"""

import argparse
import itertools
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
# What takes a second or more is run fewer times, and what takes a minute once.
SLOW_RUNS, SLOW_SECONDS = 3, 1.0
ONCE_SECONDS = 60.0

# Rows in order of fnstore's keys, so that a frame's lie together; the index of words keeps no text of
# its own, which the records have.
SCHEMA = """
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE annotation (
    number INTEGER PRIMARY KEY, id TEXT, frame TEXT, lu TEXT, origin TEXT, round INTEGER,
    paraphrase REAL, aligner REAL, record TEXT
);
CREATE VIRTUAL TABLE word USING fts5 (trigger, text, content = '', tokenize = 'unicode61');
"""
INDEXES = """
CREATE UNIQUE INDEX by_id ON annotation (id);
CREATE INDEX by_frame ON annotation (frame);
CREATE INDEX by_lu ON annotation (lu);
"""


def build_sqlite(fnstore, store, path):
    """Fills a database with the rows of a store; gives the seconds of SQLite's own part."""
    Path(path).unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    command = [fnstore, "--store", store, "--format", "jsonl", "query"]
    seconds = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        lines = enumerate(process.stdout, start=1)
        while chunk := list(itertools.islice(lines, 10_000)):
            rows, words = [], []
            for number, line in chunk:
                hit = json.loads(line)
                generation = hit.get("generation") or {}
                rows.append((
                    number, f"{hit['release']}/{hit['id']}", hit["frame"], hit["lu"], hit["origin"],
                    generation.get("round"), generation.get("paraphrase"),
                    generation.get("aligner"), line.decode(),
                ))
                words.append((number, hit["trigger"], hit["text"]))
            started = time.perf_counter()
            database.executemany("INSERT INTO annotation VALUES (?,?,?,?,?,?,?,?,?)", rows)
            database.executemany("INSERT INTO word (rowid, trigger, text) VALUES (?,?,?)", words)
            seconds += time.perf_counter() - started
    if process.returncode != 0:
        raise SystemExit(f"`fnstore query` of {store} ended with {process.returncode}")
    started = time.perf_counter()
    database.executescript(INDEXES)
    database.commit()
    database.close()
    return seconds + time.perf_counter() - started


def sqlite_task(path, what, value):
    """One question to a database; prints the records as fnstore does."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    select = "SELECT record FROM annotation"
    queries = {
        "id": f"{select} WHERE id = ?",
        "limit": f"{select} WHERE frame = ? LIMIT 50",
        "frame": f"{select} WHERE frame = ?",
        "lu": f"{select} WHERE lu = ?",
        "trigger": f"{select} WHERE number IN (SELECT rowid FROM word WHERE word MATCH ?)",
    }
    if what == "trigger":
        value = f"trigger : {value}*"
    rows = database.execute(queries[what], (value,)) if value else database.execute(select)
    write = sys.stdout.write
    for (record,) in rows:
        write(record)


def nltk_task(what):
    """One question to NLTK's reader; prints a line for each set. It gives exemplars by LU; its reading of
    full text ends in an error at an LU whose frame release 1.5 does not have, and its reading of an LU at a
    label that is there twice: such an LU has no sets here."""
    from nltk.corpus import framenet15
    from nltk.corpus.reader.framenet import FramenetError

    if what == "open":
        print(framenet15.frame(FRAME).name)
        return
    if what == "all":
        units = framenet15.lus()
    elif what == "lu":
        units = framenet15.lus(f"^{LU.replace('.', '[.]')}$")
    else:
        units = framenet15.frame(FRAME).lexUnit.values()

    def exemplars():
        for unit in units:
            try:
                yield from unit.exemplars
            except (FramenetError, AssertionError) as error:
                print(unit.name, error, file=sys.stderr)

    for sentence in itertools.islice(exemplars(), 50 if what == "limit" else None):
        print(sentence.text, sentence.Target)


class Measure:
    """Runs commands as processes of their own."""

    def __init__(self, runs, environment):
        self.runs = runs
        self.environment = environment

    def once(self, command):
        """Seconds, megabytes resident at most, and lines printed."""
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment)
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: process.stdout.read(1 << 20), b""))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        if process.returncode != 0:
            raise SystemExit(f"failed: {' '.join(map(str, command))}")
        return seconds, usage.ru_maxrss / 1000, lines

    def median(self, command):
        """As `once`, with the median of the seconds and the most megabytes of several runs."""
        measured = [self.once(command)]
        runs = self.runs
        while len(measured) <= runs and measured[-1][0] < ONCE_SECONDS:
            if measured[-1][0] >= SLOW_SECONDS:
                runs = min(runs, SLOW_RUNS)
            measured.append(self.once(command))
        times, memory, lines = zip(*measured)
        return statistics.median(times[1:] or times), max(memory), lines[-1]


def shown(seconds):
    if seconds >= SLOW_SECONDS:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.{1 if seconds < 0.1 else 0}f} ms"


def directory_bytes(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def unpack(framenet, cache):
    """The directory that NLTK wants, made once."""
    release = cache / "nltk_data" / "corpora" / "framenet_v15"
    if not release.exists():
        unpacked = cache / "unpacked"
        shutil.rmtree(unpacked, ignore_errors=True)
        with zipfile.ZipFile(framenet) as archive:
            archive.extractall(unpacked)
        release.parent.mkdir(parents=True, exist_ok=True)
        next(unpacked.rglob("frameIndex.xml")).parent.rename(release)
        shutil.rmtree(unpacked, ignore_errors=True)
    return release


def questions(fnstore, store):
    """Name, description, fnstore's arguments, and the value that SQLite is asked for."""
    command = [fnstore, "--store", store, "--format", "jsonl", "query", f"frame={FRAME}", "--limit", "1"]
    hit = json.loads(subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    one, key = f"id={hit['id']}", f"{hit['release']}/{hit['id']}"
    return [
        ("id", f"one set by its id (`{one}`)", [one], key),
        ("limit", f"50 sets of a frame (`frame={FRAME} --limit 50`)",
         [f"frame={FRAME}", "--limit", "50"], FRAME),
        ("frame", f"all sets of a frame (`frame={FRAME}`)", [f"frame={FRAME}"], FRAME),
        ("lu", f"all sets of an LU (`lu={LU}`)", [f"lu={LU}"], LU),
        ("trigger", f"triggers that begin so (`trigger={TRIGGER}*`)", [f"trigger={TRIGGER}*"], TRIGGER),
        ("all", "every set, printed", [], ""),
    ]


def row(*cells):
    print(f"| {' | '.join(cells)} |", flush=True)


def compare(name, store, database, release, args, measure):
    """The rows of one store; `release` is what NLTK reads, `None` where it cannot."""
    script = [sys.executable, __file__]
    if release:
        shutil.rmtree(store, ignore_errors=True)
        seconds, memory, _ = measure.once([args.fnstore, "--store", store, "import", args.framenet])
        making, taking = [f"{shown(seconds)} from the zip file"], [f"{memory:.0f} MB"]
    else:
        making, taking = ["by a load"], ["-"]
    build = [*script, "--build", args.fnstore, store, database]
    built = subprocess.run(build, check=True, stdout=subprocess.PIPE, text=True).stdout
    seconds, memory = map(float, built.split())
    making.append(f"{shown(seconds)} from ready rows")
    taking.append(f"{memory:.0f} MB")
    if release:
        seconds, memory, _ = measure.median([*script, "--task", "nltk", "open"])
        making.append(f"{shown(seconds)} at each start")
        taking.append(f"{memory:.0f} MB")
    else:
        making.append("-")
        taking.append("-")
    row("import, or first open", name, *making)
    row("its memory", name, *taking)
    sizes = [directory_bytes(store), database.stat().st_size, release and directory_bytes(release)]
    row("on disk", name, *(f"{size / 1e6:.0f} MB" if size else "-" for size in sizes))
    resident = {}
    for what, question, arguments, value in questions(args.fnstore, store):
        with_nltk = release and what in ("limit", "frame", "lu", "all")
        commands = [
            [args.fnstore, "--store", store, "--format", "jsonl", "query", *arguments],
            [*script, "--task", "sqlite", what, database, value],
            [*script, "--task", "nltk", what] if with_nltk else None,
        ]
        measured = [command and measure.median(command) for command in commands]
        row(question, name, *(
            f"{shown(found[0])}, {found[2]:,} found" if found else "-" for found in measured))
        resident[what] = [f"{found[1]:.0f} MB" if found else "-" for found in measured]
    row("memory, all sets of a frame", name, *resident["frame"])
    row("memory, every set, printed", name, *resident["all"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fnstore", type=Path, required=True)
    parser.add_argument("--framenet", type=Path, required=True)
    parser.add_argument("--synthetic", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=RUNS)
    args = parser.parse_args()
    args.cache.mkdir(parents=True, exist_ok=True)
    release = unpack(args.framenet, args.cache)
    # The directory that holds `corpora/`.
    environment = {**os.environ, "NLTK_DATA": str(release.parent.parent)}
    measure = Measure(args.runs, environment)
    row("question", "data", "fnstore", "SQLite, FTS5", "NLTK, exemplars")
    row("---", "---", "---", "---", "---")
    cache = args.cache
    compare("FrameNet 1.5", cache / "framenet", cache / "framenet.sqlite", release, args, measure)
    if args.synthetic:
        database = cache / "synthetic.sqlite"
        compare("with generated sets", args.synthetic, database, None, args, measure)
    start, memory, _ = measure.median([sys.executable, "-c", "import sqlite3"])
    print(f"\nOf each of SQLite's and NLTK's times, {shown(start)} are Python's own start, and {memory:.0f} MB.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        import resource

        spent = build_sqlite(*sys.argv[2:])
        print(f"{spent:.2f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.1f}")
    elif sys.argv[1:2] == ["--task"]:
        kind, what, *rest = sys.argv[2:]
        sqlite_task(rest[0], what, rest[1]) if kind == "sqlite" else nltk_task(what)
    else:
        main()
