"""How large are the wheels, how long does `import fnstore` take, and how many annotation sets a second reach Arrow?

    make figures-python FRAMENET=fndata-1.5.zip

builds the wheels, makes the store of `make figures` where there is none, and runs this. Each row is the best and the
median of RUNS fresh processes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
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


def seconds_of_import() -> float:
    code = "import time; a = time.perf_counter(); import fnstore; print(time.perf_counter() - a)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("store", help="a store with many annotation sets")
    parser.add_argument("--query", default="", help="which of them; default all")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--wheels", type=Path, help="directory of the wheels")
    parser.add_argument("--question", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.question:
        ask(given.store, given.query, given.question)
        return
    for wheel in sorted(given.wheels.glob("fnstore*.whl")) if given.wheels else []:
        print(f"{wheel.name:<56} {wheel.stat().st_size / 1e6:>8.1f} MB")
    times = [1000 * seconds_of_import() for _ in range(20)]
    print(f"{'import fnstore, best and median of 20':<56} {min(times):>8.1f} {statistics.median(times):>8.1f} ms")
    print(f"\n{os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
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
