"""Examples of infilling from annotation sets: spans of frame elements are blanks, and their words the answer.

    fnstore query 'origin=exemplar or split=train' --format jsonl > sets.jsonl
    fnstore query 'origin=fulltext split=dev' --format jsonl > dev.jsonl
    fnstore query 'origin=fulltext split=test' --format jsonl > test.jsonl
    python -m language_model infill --sets sets.jsonl --dev dev.jsonl --without test.jsonl --base BASE --out WORK

`train` and `export` read WORK as they read that of `prepare`. Sets whose sentence stands in DEV or in a file of --without
are left out, whatever its spacing and case. The blanks of an example are one to three frame elements that share no word
with each other or with the target; the prompt tells of frame and LU as often as not.
"""

import argparse
import json
import random
import re
import shutil
import tomllib
from pathlib import Path

from .prepare import opened_tokenizer
from .shards import write

PROMPT = Path(__file__).resolve().parents[2] / "src/generate/prompts/infill.toml"
# A prompt begins with what parts texts in the base's training, as `fnstore::score` begins every text.
START, STOP = "<|endoftext|>", "<|im_end|>"
# Number of blanks, and the modes of a prompt, with their weights.
BLANKS = ([1, 2, 3], [55, 33, 12])
MODES = (["none", "fe", "frame-fe"], [20, 40, 40])
# Longer spans are clauses, which say what the sentence is about.
MOST_WORDS = 12
BLOCK, DEV_EXAMPLES, SAMPLES = 5_000, 300, 60
CLITICS = {"n't", "'s", "'re", "'ve", "'ll", "'d", "'m", "'"}


def natural(text):
    """A text spaced as people write it: `fnstore::text::natural_spacing`."""
    out, quotes, joined, was_clitic = "", 0, True, False
    for word in text.split():
        opens = word == '"' and quotes % 2 == 0
        plain = word.lower().replace("\u2019", "'")
        quoting = plain == "'" and (not out.endswith("s") or " '" in out)
        was_clitic = not was_clitic and out[-1:].isalnum() and not quoting and plain in CLITICS
        closes = word == '"' and not opens or all(mark in ",;:?!).%]}\u2026" for mark in word) or was_clitic
        out += word if joined or closes else " " + word
        quotes += word.count('"')
        joined = opens or all(mark in "([{$" for mark in word)
    return out


def key(text):
    return re.sub(r"\W+", "", text).lower()


def spans_of(record):
    """(start, end, name) of the frame elements that may be blanks, in order of text."""
    text, targets, found = record["text"], record["targets"], []
    for element in record["elements"]:
        span = element.get("span")
        if not span or element["rank"] > 1 or not any(letter.isalnum() for letter in text[slice(*span)]):
            continue
        alone = all(end <= span[0] or span[1] <= start for start, end in targets)
        if alone and len(text[slice(*span)].split()) <= MOST_WORDS and "|" not in text[slice(*span)]:
            found.append((*span, element["name"]))
    return sorted(set(found))


def blanks_of(record, rng):
    """Some of them by chance, in order of text, none of which overlaps another."""
    chosen, found = [], spans_of(record)
    count = rng.choices(*BLANKS)[0]
    for span in rng.sample(found, len(found)):
        if len(chosen) < count and all(span[1] <= other[0] or other[1] <= span[0] for other in chosen):
            chosen.append(span)
    return sorted(chosen)


class Prompt:
    def __init__(self, path=PROMPT):
        self.file = tomllib.loads(Path(path).read_text(encoding="utf-8"))

    def write(self, record, blanks, mode):
        """The prompt of a set with some blanks."""
        text, masked, at = record["text"], "", 0
        for start, end, _ in blanks:
            masked += text[at:start] + self.file["blank"]
            at = end
        values = {
            "{sentence}": natural(masked + text[at:]),
            "{frame}": record["frame"],
            "{lexunit}": record["lu"],
            "{elements}": self.file["separator"].join(name for _, _, name in blanks),
        }
        parts = [part["text"] for part in self.file["part"] if mode in part.get("modes", [mode])]
        return re.sub("|".join(map(re.escape, values)), lambda found: values[found[0]], "".join(parts))


def answer(record, blanks):
    return " | ".join(natural(record["text"][start:end]) for start, end, _ in blanks)


def examples_of(records, seed, prompt):
    """(prompt, answer) of each set that has a blank."""
    for record in records:
        rng = random.Random(f"{seed}/{record['id']}")
        blanks = blanks_of(record, rng)
        if blanks:
            yield prompt.write(record, blanks, rng.choices(*MODES)[0]), answer(record, blanks)


def read(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["lu"] and record["frame"] and record["elements"]:
                yield record


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model infill", description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=Path, required=True, help="JSON lines of `fnstore query`, to learn from")
    parser.add_argument("--dev", type=Path, required=True, help="JSON lines of the development part")
    parser.add_argument("--without", type=Path, action="append", default=[], help="JSON lines whose sentences are left out")
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="WORK")
    parser.add_argument("--blocks", type=int, help="of 5,000 sets; all by default")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    (given.out / "shards").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(PROMPT, given.out / "prompt.toml")
    prompt, tokenizer = Prompt(), opened_tokenizer(given.base)
    start, stop = map(tokenizer.token_to_id, (START, STOP))

    def shard(path, records, most=None):
        examples = list(examples_of(records, given.seed, prompt))[:most]
        asked = tokenizer.encode_batch([prompt for prompt, _ in examples])
        said = tokenizer.encode_batch([" " + words for _, words in examples])
        count = write(path, [([start, *a.ids], [*b.ids, stop]) for a, b in zip(asked, said)])
        print(f"{path.name}: {count} examples of {len(records)} sets", flush=True)
        return examples

    dev, held_out = list(read(given.dev)), set()
    for records in (dev, *map(read, given.without)):
        held_out |= {key(record["text"]) for record in records}
    random.Random(given.seed).shuffle(dev)
    shard(given.out / "dev.safetensors", dev, DEV_EXAMPLES)
    sets = [record for record in read(given.sets) if key(record["text"]) not in held_out]
    random.Random(given.seed).shuffle(sets)
    for block in range(min(-(-len(sets) // BLOCK), given.blocks or len(sets))):
        examples = shard(given.out / "shards" / f"draw-0.block-{block:03}.safetensors", sets[block * BLOCK :][:BLOCK])
        if block == 0:
            samples = "\n".join(f"{prompt} {words}\n" for prompt, words in examples[:SAMPLES])
            (given.out / "samples.txt").write_text(samples, encoding="utf-8")
