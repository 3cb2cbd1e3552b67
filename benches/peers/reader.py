"""`fnstore.nltk` beside NLTK's own FrameNet reader: the same calls, over a store and over the unpacked release.

    reader.py --framenet fndata-1.5.zip [--store STORE] [--runs N]

runs with a Python that has NLTK and fnstore, and prints a Markdown table. Each figure is of a process of its own, from the
reader being made to the last answer, median of RUNS; both readers' answers are compared by a sum of what they print.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

#: Uses in the manner of public scripts. Each gives what is compared.
USES = {
    "one frame, its FEs and LUs": "f = fn.frame('Verification'); out([sorted(f.FE), sorted(f.lexUnit), f.definition])",
    "frames by a pattern": "out([f.name for f in fn.frames(r'(?i)^make')])",
    "frames of a lemma": "out(sorted(f.name for f in fn.frames_by_lemma(r'^check')))",
    "all LUs by name": "out(sorted(fn.lu_ids_and_names().values()))",
    "LUs by a pattern": "out([(l.ID, l.name, l.definition) for l in fn.lus(r'(?i)^conf')])",
    "one LU's exemplars": "out([s.text for s in fn.lu(10331 if 10331 in fn.lu_ids_and_names() else 2).exemplars])",
    "exemplars of a frame with an FE": "out([(s.text, s.Target) for s in fn.exemplars(frame='Verification', fe='Inspector')])",
    "exemplars by a pattern": "out([(s.text, s.FE[0]) for s in fn.exemplars(r'^confirm\\\\.v$')])",
    "frame relations": "out([str(r) for r in fn.frame_relations()])",
    "FE relations": "out(len(fn.fe_relations()))",
    "FEs by a name": "out(sorted((f.name, f.frame.name) for f in fn.fes(r'^Inspector$')))",
    "semantic types": "out(sorted(t.name for t in fn.semtypes()))",
    "semantic types propagated": "fn.propagate_semtypes(); out(1)",
    "one document": "d = fn.doc(sorted(row.ID for row in fn.docs_metadata())[3]); out([s.text for s in d.sentence])",
    "documents' metadata": "out(sorted(row.ID for row in fn.docs_metadata()))",
    "every frame": "out([(f.name, len(f.FE), len(f.lexUnit)) for f in fn.frames()])",
    "full-text sentences of 20 documents": (
        "out(sum(len(s.annotationSet) for d in fn.docs_metadata()[:20] for s in fn.doc(d.ID).sentence))"
    ),
    "exemplars of 300 LUs": "out(sum(len(fn.lu(i).exemplars) for i in sorted(fn.lu_ids_and_names())[:300]))",
}

ONE = """
import hashlib, json, sys, time
import nltk.corpus.reader.framenet
use, kind, place, release = sys.argv[1:5]
if kind == 'nltk':
    import nltk
    nltk.data.path.insert(0, place)
else:
    import fnstore.nltk
said = hashlib.sha256()
def out(what):
    said.update(json.dumps(what, default=str).encode())
begun = time.perf_counter()
if kind == 'nltk':
    fn = nltk.corpus.reader.framenet.FramenetCorpusReader(place, [])
else:
    fn = fnstore.nltk.framenet(place, release)
try:
    exec(use)
except Exception as error:
    said.update(b'failed')
    print(json.dumps([None, f'{type(error).__name__}: {error}'[:60]]))
else:
    print(json.dumps([time.perf_counter() - begun, said.hexdigest()]))
"""


def ask(use: str, kind: str, place: Path, release: str) -> tuple[float | None, str]:
    command = [sys.executable, "-c", ONE, use, kind, str(place), release]
    seconds, said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return seconds, said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--framenet", type=Path, required=True)
    parser.add_argument("--store", type=Path, help="a store of that release; made anew without")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        with zipfile.ZipFile(given.framenet) as archive:
            archive.extractall(made)
        directory = next(path.parent for path in Path(made).rglob("frameIndex.xml"))
        store = given.store or Path(made) / "store"
        import fnstore

        if given.store is None:
            fnstore.create(store).import_release(given.framenet)
        release = fnstore.open(store).releases()[0].name
        print(f"load average {os.getloadavg()[0]:.1f}\n\n| use | NLTK | fnstore.nltk | NLTK / fnstore | same answer |")
        print("| --- | ---: | ---: | ---: | --- |")
        totals = [0.0, 0.0]
        for name, use in USES.items():
            runs = [[ask(use, kind, place, release) for kind, place in (("nltk", directory), ("fnstore", store))] for _ in range(given.runs)]
            theirs, ours = ([run[at] for run in runs] for at in (0, 1))
            if theirs[0][0] is None or ours[0][0] is None:
                said = [f"{median(of):.2f} s" if of[0][0] is not None else f"fails: {of[0][1]}" for of in (theirs, ours)]
                print(f"| {name} | {said[0]} | {said[1]} | | |", flush=True)
                continue
            one, other = median(theirs), median(ours)
            totals = [totals[0] + one, totals[1] + other]
            same = "yes" if theirs[0][1] == ours[0][1] else "no"
            print(f"| {name} | {one:.2f} s | {other:.2f} s | {one / other:.1f} | {same} |", flush=True)
        print(f"| all of them | {totals[0]:.1f} s | {totals[1]:.1f} s | {totals[0] / totals[1]:.1f} | |")


def median(runs: list[tuple[float | None, str]]) -> float:
    return statistics.median(seconds for seconds, _ in runs if seconds is not None)


if __name__ == "__main__":
    main()
