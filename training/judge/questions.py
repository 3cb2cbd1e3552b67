"""Compares the verifier's answers with stored ones, and its answers under rules of listing LUs with verdicts.

    python -m judge.questions --fnstore fnstore --store STORE --scores candidates-scores.jsonl [--numbers f32 blocks] [--first N]

The scores are of the outputs of `judge/candidates.jsonl`: `evokes` and `same_meaning`, log-odds of yes against no. STORE holds
FrameNet 1.5. The prompts are the fields of `models/verifier/prompt.toml`, made as `src/verify/` makes them, but for the rule
that is measured: which lemmas of the frame are listed, and how the sentence is spaced.
"""

import argparse
import json
import math
import random
import tempfile
import tomllib
from collections import defaultdict
from pathlib import Path

from language_model.answers import area
from language_model.infill import natural  # fnstore::text::natural_spacing
from language_model.passage import MOST, definition, marked, most_annotated
from language_model.passage import listed as listed_without
from program import Program

ROOT = Path(__file__).resolve().parents[2]


def lines_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def as_fnstore(units, _):
    return most_annotated(units)


def by_name(units, _):
    return sorted(units, key=lambda unit: unit["name"])


def drawn(units, frame):
    """As in training, by chance that the frame decides: what is annotated often comes early."""
    draw = random.Random(f"listed/{frame}")
    weight = lambda unit: (1 + min(20, unit["exemplar"] + unit["fulltext"])) ** 0.5
    return sorted(units, key=lambda unit: -weight(unit) * draw.random() ** 0.7)


# The rules: order of LUs, lemmas listed at most, whether the sentence is spaced as people write, whether the source's LU is
# listed.
RULES = {
    "ten, most annotated first": (as_fnstore, MOST, True, False),
    "the same, with the source's LU": (as_fnstore, MOST, True, True),
    "the same without it, spaced as in the output": (as_fnstore, MOST, False, False),
    "six, most annotated first": (as_fnstore, 6, True, False),
    "six, by name": (by_name, 6, True, False),
    "eight, drawn as in training": (drawn, 8, True, False),
    "none": (by_name, 0, True, False),
}


def listed(units, frame, without, rule):
    order, most, _, with_own = rule
    return listed_without(order(units, frame), "" if with_own else without, most)


def logistic(odds):
    return 1 / (1 + math.exp(-odds))


class Asking:
    def __init__(self, given, folder):
        self.given, self.folder = given, Path(folder)
        file = tomllib.loads((ROOT / "models/verifier/prompt.toml").read_text(encoding="utf-8"))
        for name in ("evokes", "same_meaning"):
            # Strings and lists of JSON are TOML's.
            fields = "".join(f"{key} = {json.dumps(value)}\n" for key, value in file[name].items())
            (self.folder / f"{name}.toml").write_text("format = 1\n" + fields, encoding="utf-8")

    def ask(self, name, fields, numbers):
        program = Program(self.given.fnstore, device=self.given.device, numbers=numbers)
        text = "".join(json.dumps(line) + "\n" for line in fields)
        question = self.folder / f"{name}.toml"
        asked = ["score", "--question", question, "--model", "verifier", *program.networks]
        # What cannot be asked about has an error in its record.
        return program.run(*asked, text=text, store=False, accepted=(0, 65))


def compare(name, records, stored):
    """Differences of probabilities, and how many were not asked."""
    pairs = [(record["yes"], logistic(odds)) for record, odds in zip(records, stored) if "yes" in record]
    differences = sorted(abs(one - other) for one, other in pairs)
    share = lambda most: sum(difference <= most for difference in differences) / len(differences)
    median, largest = differences[len(differences) // 2], differences[-1]
    print(f"{name}\t{len(differences)}\t{share(0.02):.3f}\t{share(0.05):.3f}\t{median:.4f}\t{largest:.4f}", end="")


def main():
    parser = argparse.ArgumentParser(prog="judge.questions", description=__doc__.split("\n")[0])
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument("--store", type=Path, required=True, help="with FrameNet 1.5; it is only read")
    parser.add_argument("--scores", type=Path, required=True, help="stored answers")
    parser.add_argument("--numbers", nargs="+", default=["f32", "blocks"])
    parser.add_argument("--first", type=int, help="of the outputs, in the order of a draw")
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    sources = lines_of(Path(__file__).with_name("candidates.jsonl"))
    scores = lines_of(given.scores)
    if given.first:
        scores = random.Random(1).sample(scores, given.first)
    program, units = Program(given.fnstore, given.store), defaultdict(list)
    frames = {frame["name"]: definition(frame["definition_text"]) for frame in program.run("frames")}
    for unit in program.run("lus"):
        units[unit["frame"]].append(unit)
    print("answer\toutputs\twithin .02\twithin .05\tmedian\tlargest\tAUC")
    with tempfile.TemporaryDirectory() as folder:
        asking = Asking(given, folder)
        for numbers in given.numbers:
            fields = [{"sentence": sources[of["item"]]["source"], "rewriting": of["output"]} for of in scores]
            records = asking.ask("same_meaning", fields, numbers)
            compare(f"same meaning, {numbers}", records, [of["same_meaning"] for of in scores])
            evoking = [i for i, of in enumerate(scores) if of["verdict"] != "bad" and "yes" in records[i]]
            kept = [scores[i]["verdict"] == "ok" for i in evoking]
            print(f"\t{area([records[i]['yes'] for i in evoking], kept):.3f} (meaning kept, of those that evoke the frame)")
        for rule, parts in RULES.items():
            fields = []
            for of in scores:
                source = sources[of["item"]]
                sentence, word = marked(of["output"], [of["span"]])
                frame = source["frame"]
                fields.append({
                    "frame": frame.replace("_", " "),
                    "definition": frames[frame],
                    "words": listed(units[frame], frame, source["lu"], parts),
                    "sentence": natural(sentence) if parts[2] else sentence,
                    "word": word,
                })
            for numbers in given.numbers:
                records = asking.ask("evokes", fields, numbers)
                compare(f"evokes, {rule}, {numbers}", records, [of["evokes"] for of in scores])
                good = [i for i, record in enumerate(records) if "yes" in record]
                labels = [scores[i]["verdict"] != "bad" for i in good]
                print(f"\t{area([records[i]['yes'] for i in good], labels):.3f}")
        labels = [of["verdict"] != "bad" for of in scores]
        print(f"evokes, stored\t{len(scores)}\t\t\t\t\t{area([of['evokes'] for of in scores], labels):.3f}")


if __name__ == "__main__":
    main()
