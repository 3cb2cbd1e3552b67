"""What does Python cost: wheels, import, a first answer, sets a second into Arrow, `annotate` beside the program, a store
that is opened and closed again and again?

    make figures-python FRAMENET=fndata-1.5.zip

builds the wheels and the program, makes the store of `make figures` where there is none, and runs this. Each row is the
best and the median of RUNS fresh processes, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

#: A question to the store by what it measures; each is asked by a process of its own.
QUESTIONS = {
    "into Arrow, all columns": "batches(query)",
    "into Arrow, without texts": "batches(query.to_arrow(WITHOUT_TEXTS))",
    "into a polars.DataFrame, all columns": "query.to_polars().height",
    "as typed objects": "sum(1 for _ in query)",
}

#: Columns that need no sentence.
WITHOUT_TEXTS = ["release", "id", "frame", "lu", "origin", "status", "seed", "round", "paraphrase", "aligner", "p", "r", "flags"]


def batches(table: object) -> int:
    """Rows of all batches; each is let go once it is there."""
    import pyarrow

    return sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(table))


def ask(store: str, expression: str, question: str) -> None:
    """One process: prints sets, seconds and peak memory."""
    import resource

    import fnstore

    query = fnstore.open(store).query(expression)
    begun = time.perf_counter()
    sets = eval(QUESTIONS[question], globals(), {"query": query})
    seconds = time.perf_counter() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([sets, seconds, peak]))


def seconds_of(code: str, *words: str) -> float:
    """What a fresh process prints."""
    command = [sys.executable, "-c", code, *words]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


IMPORT = "import time; a = time.perf_counter(); import fnstore; print(time.perf_counter() - a)"

#: Opens a store and asks for the first set of a frame; the import stands before it.
FIRST = """
import sys, time, fnstore
begun = time.perf_counter()
assert fnstore.open(sys.argv[1]).query(sys.argv[2]).first() is not None
print(time.perf_counter() - begun)
"""

#: Annotates the lines of a file, as the program does, from the process's start to its end.
ANNOTATE = """
import sys, fnstore
texts = open(sys.argv[2], encoding="utf-8").read().splitlines()
found = sum(1 for _ in fnstore.open(sys.argv[1]).annotate(texts, models=sys.argv[3]))
assert found == len(texts)
"""

#: Opens a store, asks, and closes it, again and again: memory, files and threads after a tenth and at the end.
REOPEN = """
import gc, os, sys, fnstore
def held():
    gc.collect()
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return [int(lines["VmRSS"].split()[0]) / 1024, len(os.listdir("/proc/self/fd")), int(lines["Threads"])]
times = int(sys.argv[3])
for number in range(1, times + 1):
    with fnstore.open(sys.argv[1]) as db:
        assert db.query(sys.argv[2]).first() is not None
    if number in (times // 10, times):
        print(*held())
"""


def row(name: str, seconds: list[float], unit: str = "ms", times: float = 1000.0) -> None:
    best, median = times * min(seconds), times * statistics.median(seconds)
    print(f"{name:<64} {best:>8.1f} {median:>8.1f} {unit}", flush=True)


def beside_the_program(store: str, program: str, models: str, count: int, runs: int) -> None:
    """`annotate` of the same texts by the program and from Python, in turn: on the wall, and of all cores."""
    import resource

    import fnstore

    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "texts"
        sets = fnstore.open(store).query("origin=exemplar").sample(count)
        file.write_text("".join(f"{of.text}\n" for of in sets), encoding="utf-8")
        own = [program, "annotate", "--store", store, "--models", models, "--device", "cpu", "--format", "jsonl"]
        theirs = [sys.executable, "-c", ANNOTATE, store, str(file), models]
        seconds: dict[str, list[float]] = {"program": [], "Python": []}
        of_cores: dict[str, list[float]] = {"program": [], "Python": []}
        for _ in range(runs):
            for name, command in (("program", own), ("Python", theirs)):
                with open(file, "rb") as texts:
                    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                    subprocess.run(command, check=True, stdin=texts, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    seconds[name].append(time.perf_counter() - begun)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    of_cores[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        for name in seconds:
            row(f"annotate, {count:,} sentences, {name}", seconds[name], "s", 1.0)
            row(f"annotate, {count:,} sentences, {name}, seconds of cores", of_cores[name], "s", 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", help="a store with many annotation sets")
    parser.add_argument("--query", default="", help="which of them; default all")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--wheels", type=Path, help="directory of the wheels")
    parser.add_argument("--first", default="frame=Verification", help="what is asked of a store that was just opened")
    parser.add_argument("--program", help="the program, to annotate beside it")
    parser.add_argument("--models", default="models")
    parser.add_argument("--texts", type=int, default=2000, help="sentences that are annotated")
    parser.add_argument("--opens", type=int, default=10_000, help="how often a store is opened and closed; 0 for not at all")
    parser.add_argument("--question", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.question:
        ask(given.store, given.query, given.question)
        return
    for wheel in sorted(given.wheels.glob("fnstore*.whl")) if given.wheels else []:
        print(f"{wheel.name:<56} {wheel.stat().st_size / 1e6:>8.1f} MB")
    print(f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    print(f"{'':<64} {'best':>8} {'median':>8}")
    row("import fnstore, of 20", [seconds_of(IMPORT) for _ in range(20)])
    row(f"open, and the first answer to {given.first}, of 20", [seconds_of(FIRST, given.store, given.first) for _ in range(20)])
    if given.program:
        beside_the_program(given.store, given.program, given.models, given.texts, given.runs)
    if given.opens:
        command = [sys.executable, "-c", REOPEN, given.store, given.first, str(given.opens)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        for times, line in zip((given.opens // 10, given.opens), lines, strict=True):
            memory, files, threads = line.split()
            print(f"opened and closed {times:,} times: {float(memory):.1f} MB, {files} open files, {threads} threads")
    print(f"\nload average {os.getloadavg()[0]:.1f}")
    print(f"{'sets a second':<40} {'sets':>10} {'best':>10} {'median':>10} {'peak memory':>12}")
    for question in QUESTIONS:
        command = [sys.executable, __file__, given.store, "--query", given.query, "--question", question]
        runs = [
            json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(given.runs)
        ]
        rates = [sets / seconds for sets, seconds, _ in runs]
        peak = max(peak for _, _, peak in runs)
        print(f"{question:<40} {runs[0][0]:>10,} {max(rates):>10,.0f} {statistics.median(rates):>10,.0f} {peak:>9,.0f} MB")


if __name__ == "__main__":
    main()
