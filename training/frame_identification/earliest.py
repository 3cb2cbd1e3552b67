"""Names the exemplars that the shares `10+` and `100+` of `fnstore experiment frame-id` add.

    python -m frame_identification earliest --release fndata-1.5.zip |
        while read -r query; do fnstore expand "$query" --rounds 1; done

They are the first three exemplars of the first three LUs of each frame, by date of annotation and then by number. A line is a
query that finds some hundreds of them.
"""

import argparse
import xml.etree.ElementTree as ET
import zipfile
from collections import defaultdict
from pathlib import Path

from vectors.few import NAMESPACE, instant

LUS, SETS = 3, 3
A_QUERY = 500


def dated(release):
    """Date and number of the annotation sets of each LU that mark a target, by frame."""
    frames = defaultdict(list)
    with zipfile.ZipFile(release) as files:
        for name in files.namelist():
            if "/lu/" not in name or not name.endswith(".xml"):
                continue
            unit = ET.fromstring(files.read(name))
            sets = [
                (instant(one.get("cDate")), int(one.get("ID")))
                for one in unit.iter(NAMESPACE + "annotationSet")
                if one.find(f"{NAMESPACE}layer[@name='Target']/{NAMESPACE}label") is not None
            ]
            if sets:
                frames[unit.get("frame")].append(sorted(sets))
    return frames


def earliest(frames):
    """Numbers of the sets, ascending."""
    chosen = (sets[:SETS] for units in frames.values() for sets in sorted(units)[:LUS])
    return sorted(number for sets in chosen for _, number in sets)


def main(arguments):
    parser = argparse.ArgumentParser(prog="frame_identification earliest", description=__doc__.split("\n")[0])
    parser.add_argument("--release", type=Path, required=True, help="FrameNet's archive")
    given = parser.parse_args(arguments)
    numbers = earliest(dated(given.release))
    for start in range(0, len(numbers), A_QUERY):
        print(" or ".join(f"id=x{number}" for number in numbers[start : start + A_QUERY]))
