"""Makes what the language model learns from: pairs, links between their words, examples in tokens.

    python -m language_model prepare --data ../../shared/data --base BASE --fnstore fnstore --models ../models \
        --out WORK --blocks 4

Pairs are taken in blocks of 5,000, so that training can begin before the last block is aligned: a call that is repeated
goes on with the blocks that are missing. Of each block, `--draws` files of examples are written. WORK gets `pairs.tsv`,
`report.json`, `links-NNN.txt` (as `fnstore align words` prints them), `shards/draw-D.block-NNN.safetensors`, `dev.safetensors`,
and `samples.txt`, the first examples as text.

    python -m language_model prepare --large --data ../../shared/data --base BASE --fnstore fnstore --models ../models \
        --wordnet DIR --masc DIR --without test.jsonl --out WORK

makes the mix that the shipped rewriter was trained on; `large.py` says what is in it, and why repeated targets are thinned.
"""

import argparse
import json
import random
import subprocess
from pathlib import Path

from tokenizers import Tokenizer

from paraphrase.marks import is_close
from paraphrase.text import jaccard, words

from .counterparts import coverage
from .examples import Drawer, tokens
from .lexicon import Lexicon
from .pairs import development, selected
from .prompt import Template
from .shards import write
from .wordnet import HERE as WORDNET

BLOCK = 5_000
DEV_PAIRS, DEV_EXAMPLES = 450, 300
# Pairs that share more of their words than this are not learned from without an avoided word.
CLOSE = 0.6
# Of content words on either side, so many have something on the other: less is left out or made up.
COVERED = 0.75
SAMPLES = 60


def read_pairs(path):
    with open(path, encoding="utf-8") as lines:
        return [tuple(line.rstrip("\n").split("\t")) for line in lines]


def write_pairs(path, pairs):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines("\t".join(pair) + "\n" for pair in pairs)


def answered(given, command, items, out):
    """Has the program answer items, JSON lines; `out` is there whole or not at all. Gives its lines, one an item."""
    if not out.exists():
        asked, partial = out.with_suffix(".asked.jsonl"), out.with_suffix(".tmp")
        asked.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
        whole = [*map(str, [given.fnstore, *command, "--models", given.models, "--device", "cpu", asked])]
        with open(partial, "w", encoding="utf-8") as file:
            done = subprocess.run(whole, stdout=file)
        # 65: some items were too long; they have an empty line, or an error.
        if done.returncode not in (0, 65):
            raise RuntimeError(f"`{' '.join(whole)}` ended with {done.returncode}")
        asked.unlink()
        partial.rename(out)
    lines = out.read_text(encoding="utf-8").split("\n")[:-1]
    if len(lines) != len(items):
        raise RuntimeError(f"{out} has {len(lines)} lines, expected {len(items)}: delete it and prepare again")
    return lines


def align(given, pairs, out):
    """Has the words of pairs linked; gives the links of each pair as (source word, target word)."""
    items = [{"source": tokens(source), "target": tokens(target)} for source, target, _ in pairs]
    command = ["align", "words", "--model", "linker", "--linker", given.models / "aligner"]
    return [links_of(line) for line in answered(given, command, items, out)]


def links_of(line):
    """The links of a line of `fnstore align words`."""
    return [tuple(map(int, link.split("-"))) for link in line.split()]


def drawn(drawer, pairs, links, seed):
    """An example of every pair that gives one, as (request, answer)."""
    for (source, target, _), of_pair in zip(pairs, links):
        if coverage(tokens(source), tokens(target), of_pair) < COVERED:
            continue
        rng = random.Random(f"{seed}/{source}/{target}")
        close = jaccard(set(words(source)), set(words(target))) > CLOSE or is_close(source, target)
        example = drawer.draw(tokens(source), tokens(target), of_pair, rng, close)
        if example is not None:
            yield example


def encoded(examples, template, tokenizer):
    """The tokens of prompts, and of answers with the token that ends them."""
    stop = tokenizer.token_to_id(template.stop())
    prompts = tokenizer.encode_batch([template.write(request) for request, _ in examples])
    answers = tokenizer.encode_batch([" " + answer for _, answer in examples])
    return [(prompt.ids, [*answer.ids, stop]) for prompt, answer in zip(prompts, answers)]


def opened_tokenizer(base):
    """The base's; text never becomes one of its control tokens."""
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    return tokenizer


def write_shard(path, examples, pairs, template, tokenizer):
    marked = sum(bool(request.avoid) for request, _ in examples)
    count = write(path, encoded(examples, template, tokenizer))
    print(f"{path.name}: {count} examples of {pairs} pairs, {marked} with avoided words", flush=True)


def development_shard(given, drawer, template, tokenizer):
    """Writes the examples that adapters are measured on: the same, whatever is learnt from."""
    path = given.out / "dev.safetensors"
    if not path.exists():
        part = development(given.data / "paraphrase", DEV_PAIRS)
        links = align(given, part, given.out / "links-dev.txt")
        write_shard(path, list(drawn(drawer, part, links, "dev"))[:DEV_EXAMPLES], len(part), template, tokenizer)


def main(arguments):
    given = parsed(arguments)
    if given.large:
        # It needs what stands here.
        from .large import prepare

        prepare(given)
    else:
        prepare_blocks(given)


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="language_model prepare", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with paraphrase/ and morphology/")
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument("--models", type=Path, required=True, help="directory with aligner, aligner-encoder, word-vectors")
    parser.add_argument("--out", type=Path, required=True, metavar="WORK")
    parser.add_argument("--blocks", type=int, help="of 5,000 pairs; all by default")
    parser.add_argument("--mined", type=Path, action="append", default=[], metavar="FILE", help="pairs of `fnstore mine`")
    parser.add_argument("--draws", type=int, default=4, help="examples of a pair, each in another file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="make the large mix: more pairs, and WordNet's words (`large.py`)")
    parser.add_argument("--target-repeats", type=int, default=4, metavar="N", help="--large: examples of one target, 4 by default")
    parser.add_argument("--wordnet", type=Path, default=Path(WORDNET), metavar="DIR", help="--large: WordNet 3.0's files")
    parser.add_argument("--masc", type=Path, metavar="DIR", help="--large: MASC's tagged text, as NLTK's data has it")
    parser.add_argument("--without", type=Path, action="append", default=[], metavar="FILE",
                        help="--large: JSON lines whose sentences are left out of MASC")  # fmt: skip
    return parser.parse_args(arguments)


def prepare_blocks(given):
    (given.out / "shards").mkdir(parents=True, exist_ok=True)
    if not (given.out / "pairs.tsv").exists():
        pairs, report = selected(given.data / "paraphrase", given.seed, given.mined)
        (given.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
        write_pairs(given.out / "pairs.tsv", pairs)
    pairs = read_pairs(given.out / "pairs.tsv")
    lexicon = Lexicon.read(given.data / "morphology/unimorph-english.tsv.xz", given.models / "word-vectors")
    drawer, template, tokenizer = Drawer(lexicon), Template(), opened_tokenizer(given.base)
    development_shard(given, drawer, template, tokenizer)
    blocks = -(-len(pairs) // BLOCK)
    for block in range(min(blocks, given.blocks or blocks)):
        part, links = pairs[block * BLOCK : (block + 1) * BLOCK], None
        for draw in range(given.draws):
            path = given.out / "shards" / f"draw-{draw}.block-{block:03}.safetensors"
            if not path.exists():
                links = links or align(given, part, given.out / f"links-{block:03}.txt")
                examples = list(drawn(drawer, part, links, f"{given.seed}/{draw}"))
                write_shard(path, examples, len(part), template, tokenizer)
                if draw == block == 0:
                    samples = [f"{template.write(request)} {answer}\n" for request, answer in examples[:SAMPLES]]
                    (given.out / "samples.txt").write_text("\n".join(samples), encoding="utf-8")
