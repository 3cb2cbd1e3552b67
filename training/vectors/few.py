"""How many of a frame's LUs are near three of them: what `expand --recipe scratch` may ask for.

    python -m vectors.few --release fndata-1.5.zip --vectors ../models/word-vectors

The frames are the earliest with four annotated LUs or more, behind the first twenty, which the experiment from scratch
(`fnstore eval scratch`) is measured on. Of each the three earliest LUs are given.
"""

import argparse
import re
import xml.etree.ElementTree as ET
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from safetensors import safe_open

NAMESPACE = "{http://framenet.icsi.berkeley.edu}"
SKIPPED, FRAMES, GIVEN, MOST = 20, 60, 3, 100


def instant(date):
    month, day, year, *time, zone = re.match(r"(\d+)/(\d+)/(\d+) (\d+):(\d+):(\d+) (\w+)", date).groups()
    return datetime(*map(int, (year, month, day, *time))) + timedelta(hours={"PST": 8, "PDT": 7}[zone])


def frames(release):
    """Lemmas of the annotated LUs of each frame, the earliest first."""
    found = []
    with zipfile.ZipFile(release) as files:
        for name in files.namelist():
            if "/frame/" not in name or not name.endswith(".xml"):
                continue
            frame = ET.fromstring(files.read(name))
            units = [
                (instant(unit.get("cDate")), int(unit.get("ID")), unit.get("name").rpartition(".")[0].lower())
                for unit in frame.findall(NAMESPACE + "lexUnit")
                if int(unit.find(NAMESPACE + "sentenceCount").get("annotated")) > 0
            ]
            if len(units) > GIVEN:
                found.append((instant(frame.get("cDate")), int(frame.get("ID")), [lemma for *_, lemma in sorted(units)]))
    return [lemmas for *_, lemmas in sorted(found)][SKIPPED : SKIPPED + FRAMES]


def table(directory):
    """The words of the table's text, with their directions; the lemmas of a lexicon behind them are left out."""
    words = (directory / "words.txt").read_text(encoding="utf-8").splitlines()
    kept = max(at for at in range(len(words) - 1) if words[at] > words[at + 1]) + 1
    with safe_open(directory / "model.safetensors", "np") as weights:
        vectors = weights.get_tensor("vectors.weight").astype(np.float32)[:kept]
    return words[:kept], vectors / (np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)


def main():
    parser = argparse.ArgumentParser(prog="vectors.few", description=__doc__.split("\n")[0])
    parser.add_argument("--release", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, required=True)
    given = parser.parse_args()
    words, vectors = table(given.vectors)
    places = {word: place for place, word in enumerate(words)}
    alphabetic = np.array([word.isalpha() for word in words])
    likely, hidden = [], 0
    for lemmas in frames(given.release):
        seeds = set(lemmas[:GIVEN])
        others = set(lemmas[GIVEN:]) - seeds
        hidden += len(others)
        rows = [places[seed] for seed in seeds if seed in places]
        if rows:
            likeness = np.sort(vectors @ vectors[rows].T, axis=1)[:, -3:].mean(axis=1)
            likeness[~alphabetic] = likeness[rows] = -1
            best = np.argsort(-likeness)[:MOST]
            likely += [(likeness[place], words[place] in others) for place in best]
    print("likeness  words a frame  LUs among them  of", hidden)
    for least in (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        among = [is_unit for likeness, is_unit in likely if likeness >= least]
        print(f"{least:8.2f}  {len(among) / FRAMES:13.1f}  {sum(among):14}")


if __name__ == "__main__":
    main()
