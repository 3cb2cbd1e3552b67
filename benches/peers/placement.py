"""Do required words land where they belong? BLEU against the reference, as in table 1 of Hu et al. (2019).

    PYTHON benches/peers/placement.py --fnstore target/release/fnstore --data dev.tsv.xz --numbers f32 int8

Each line of the data is a sentence and a human reference, tab-separated (.xz is unpacked); a line whose reference
has fewer than four words is left out. Three runs with beam 10: nothing required; a phrase of four words of the
reference (phr4); three words of it at random (rand3). Words that only happen to be named do not raise BLEU; words
in their place do. With two formats of numbers every run is made in both: what the smaller one costs. Needs
sacrebleu. Prints a Markdown table.
"""

import argparse
import json
import lzma
import random
import subprocess
import time

import sacrebleu

PUNCTUATION = "!\"#$%&'()*+,-./:;?@[]_{}\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2026"
PRUNE = {"none": 0, "phr4": 30, "rand3": 30}  # as in the paper


def pairs(path, limit):
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t")[:2] for line in lines]
    return [row for row in rows if len(row[1].split()) >= 4][:limit]


def required(reference, condition, chance):
    words = reference.split()
    if condition == "phr4":
        start = chance.randrange(len(words) - 3)
        return [" ".join(words[start : start + 4])]
    if condition == "rand3":
        bare = [word.strip(PUNCTUATION) for word in words]
        bare = [word for word in bare if word]
        return chance.sample(bare, min(3, len(bare)))
    return []


def rewrite(options, rows, condition, numbers):
    chance = random.Random(options.seed)
    requests = [
        json.dumps({"text": source, "require": required(reference, condition, chance)})
        for source, reference in rows
    ]
    begin = time.monotonic()
    command = [
        options.fnstore, "paraphrase", "--input", "jsonl", "--format", "jsonl", "--beam", "10",
        "--n-best", "1", "--prune", str(PRUNE[condition]), "--numbers", numbers,
        *(["--models", options.models] if options.models else []),
    ]
    done = subprocess.run(
        command, input="\n".join(requests) + "\n", stdout=subprocess.PIPE, text=True, check=False
    )
    seconds = time.monotonic() - begin
    return [json.loads(line) for line in done.stdout.splitlines()], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fnstore", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--limit", type=int, help="the first so many pairs; all without")
    parser.add_argument("--numbers", nargs="+", default=["f32"], help="f32, int8, or both")
    parser.add_argument("--models", help="a directory of models other than the default one")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = pairs(options.data, options.limit)
    results = {
        (condition, numbers): rewrite(options, rows, condition, numbers)
        for condition in PRUNE
        for numbers in options.numbers
    }
    # Sentences that every run could rewrite, so that the rows compare.
    kept = [
        at
        for at in range(len(rows))
        if all(records[at]["paraphrases"] for records, _ in results.values())
    ]
    references = [rows[at][1] for at in kept]
    print(f"{len(kept)} of {len(rows)} sentences, beam 10, prune threshold 30 with constraints\n")
    print("| required | numbers | BLEU | sentences/s | outputs that lack something |")
    print("| --- | --- | ---: | ---: | ---: |")
    for (condition, numbers), (records, seconds) in results.items():
        best = [records[at]["paraphrases"][0] for at in kept]
        bleu = sacrebleu.corpus_bleu([output["text"] for output in best], [references]).score
        unmet = sum(bool(output["unmet"]) for output in best)
        print(f"| {condition} | {numbers} | {bleu:.2f} | {len(rows) / seconds:.2f} | {unmet} |")


if __name__ == "__main__":
    main()
