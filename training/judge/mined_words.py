"""Puts the texts of mined pairs to the word links that were annotated for them.

    fnstore mine ecb.tsv --limit 20 > edit.jsonl
    fnstore mine ecb.tsv --method f2 > f2.jsonl
    python -m judge.mined_words --edit edit.jsonl --f2 f2.jsonl --out words

`mined-words.tsv` names 30 pairs of ECB+ by the places of their sentences and holds no text, which is the publishers'.
It has the sure and the possible links of two passes over each pair. Both were made by one annotator, a large language
model, on the same day: a program proposed the links between equal words, the annotator removed wrong ones and added
the others. So the passes agree more than two people would. Of the pairs drawn, those that hold no paraphrase were
passed over.

Writes `edit-first.jsonl`, `edit-second.jsonl`, `f2-first.jsonl` and `f2-second.jsonl`, as `fnstore eval words` reads
them, into the folder of `--out`.
"""

import argparse
import csv
import json
from pathlib import Path

LINKS = Path(__file__).with_name("mined-words.tsv")


def place(at):
    return f"{at['article']}.{at['sentence']}"


def links(text):
    return [[int(word) for word in link.split("-")] for link in text.split()]


def mined(path):
    """The pairs of a file by cluster and places."""
    pairs = {}
    with open(path, encoding="utf-8") as lines:
        for pair in map(json.loads, lines):
            pairs[pair["cluster"], place(pair["source_at"]), place(pair["target_at"])] = pair
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edit", required=True, help="pairs of `fnstore mine --limit 20`")
    parser.add_argument("--f2", required=True, help="pairs of `fnstore mine --method f2`")
    parser.add_argument("--out", required=True, type=Path)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    pairs = {"edit": mined(args.edit), "f2": mined(args.f2)}
    files = {}
    with open(LINKS, encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            pair = pairs[row["set"]].get((row["cluster"], row["source_at"], row["target_at"]))
            if pair is None:
                parser.error(f"no pair {row['source_at']} {row['target_at']}: expected all pairs of ECB+, with --limit 20")
            for who in ("first", "second"):
                record = {
                    "id": f"{row['source_at']}:{row['target_at']}",
                    "source": pair["source"],
                    "target": pair["target"],
                    "sure": links(row[f"{who}_sure"]),
                    "possible": links(row[f"{who}_possible"]),
                }
                files.setdefault(f"{row['set']}-{who}.jsonl", []).append(json.dumps(record, ensure_ascii=False) + "\n")
    for name, lines in files.items():
        (args.out / name).write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
