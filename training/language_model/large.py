"""The large mix of `prepare --large`, on which the shipped rewriter was trained for minutes on a GPU.

Pairs: those of `prepare` and more of them, and systems' translations of each other. Their words are linked by `fnstore align
words` and their human targets tagged by `fnstore tag`, in blocks of 5,000 that a repeated call does not make again. Four kinds
of examples are made of them:

- `human`: pairs with a target by people, drawn twice, as `prepare` draws them;
- `machine`: two systems' translations, drawn once; they are learnt from in the first third alone;
- `exchanged pair`: pairs of which a word of both sides is exchanged in the source for a WordNet neighbour, and avoided;
- `exchanged`: sentences by people whose words are so exchanged: the targets, and MASC with --masc.

Targets are thinned: no text is the target of more than --target-repeats pairs (4 by default; `prepare` takes 8), nor the answer
of more examples, of all kinds and draws together. Targets that stand in many pairs are learnt by heart: with up to 8 pairs drawn
twice the loss on the development pairs rose from 1.495 after 8.8 million tokens to 1.556 after 29.7 (rank 64). Four is
a choice; no run has measured it.

Made blocks of links (`links-NNN.txt`) and tags (`tags-NNN.jsonl`) stay in WORK, where `meaning` reads them.
"""

import json
import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from paraphrase.text import unspaced

from .counterparts import coverage
from .examples import Drawer, tokens
from .exchange import Exchanger, exchangeable, shared
from .infill import key
from .lexicon import Lexicon
from .neighbours import Neighbours
from .pairs import SETS, selected
from .prepare import BLOCK, COVERED, SAMPLES, align, answered, development_shard, drawn, encoded, opened_tokenizer
from .prepare import read_pairs, write_pairs
from .prompt import Template
from .shards import LONGEST, deal
from .wordnet import Forms, WordNet

# As SETS of `pairs`. Systems wrote both sides of the last three.
MOST = {
    "wmt-official-ref": 120_000, "mlqe-mt-pe": 20_000, "tatoeba-pivot": 12_000, "onestop-english": 4_000, "bible-modern": 20_000,
}  # fmt: skip
MACHINE = {"wmt-official-sys": 40_000, "wmt-testsuite-a": 45_000, "wmt-testsuite-b": 45_000}
LARGE = {name: use | {"most": MOST[name]} for name, use in SETS.items()}
LARGE |= {name: {"both": True, "most": most} for name, most in MACHINE.items()}
LINKS, TAGS = "links-{:03}.txt", "tags-{:03}.jsonl"
DRAWS = {"human": 2, "machine": 1}
# Of the examples that are not machine's, those that are learnt from together with these.
EARLY = 1 / 3
# Words of a sentence of MASC, the share of them that are letters, and draws.
WORDS, LETTERS, MASC_DRAWS = (5, 40), 0.7, 2


def blocks_of(given, pairs):
    """Of each block its pairs, their links, and {target: tags} of those by people."""
    for block in range(min(-(-len(pairs) // BLOCK), given.blocks or len(pairs))):
        part = pairs[block * BLOCK :][:BLOCK]
        links = align(given, part, given.out / LINKS.format(block))
        targets = list(dict.fromkeys(target for _, target, name in part if name not in MACHINE))
        items = [{"words": tokens(target)} for target in targets]
        lines = answered(given, ["tag", "--format", "jsonl"], items, given.out / TAGS.format(block))
        found = ((target, json.loads(line).get("tags")) for target, line in zip(targets, lines))
        yield part, links, {target: tags for target, tags in found if tags}


def made_blocks(directory):
    """The blocks that a call has made already, without the program."""
    pairs = read_pairs(directory / "pairs.tsv")
    made = [block for block in range(-(-len(pairs) // BLOCK)) if (directory / TAGS.format(block)).exists()]
    if not made:
        raise SystemExit(f"no {TAGS.format(0)} in {directory}: make it by `prepare --large`")
    yield from blocks_of(SimpleNamespace(out=directory, blocks=len(made), fnstore=None, models=Path()), pairs)


def masc(directory, held_out):
    """(words, tags) of MASC's sentences, each once, but held-out ones. Its files have `word_TAG`, several sentences a line."""
    seen = set(held_out)
    for path in sorted(Path(directory).rglob("*.txt")):
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            found = [tuple(word.rsplit("_", 1)) for word in line.split() if "_" in word]
            ends = [-1, *(place for place, (_, tag) in enumerate(found) if tag == ".")]
            for start, end in zip(ends, ends[1:]):
                words, tags = map(list, zip(*found[start + 1 : end + 1]))
                text = " ".join(words)
                letters = sum(word.isalpha() for word in words)
                is_sentence = WORDS[0] <= len(words) <= WORDS[1] and letters > LETTERS * len(words)
                if is_sentence and text.isascii() and text[0].isupper() and key(text) not in seen:
                    seen.add(key(text))
                    yield words, tags


def thinned(examples, most, rng):
    """In random order, at most so many of the (request, answer) that have one answer, whatever its spacing and case."""
    kept, count = [], Counter()
    for example in rng.sample(examples, len(examples)):
        of_answer = key(example[1])
        if count[of_answer] < most:
            count[of_answer] += 1
            kept.append(example)
    return kept


class Mix:
    def __init__(self, given, lexicon):
        self.given = given
        wordnet = WordNet(given.wordnet)
        forms = Forms(given.data / "morphology/unimorph-english.tsv.xz", wordnet)
        self.drawer = Drawer(lexicon)
        self.exchanger = Exchanger(self.drawer, Neighbours(wordnet, forms, lexicon))
        self.kinds = {"human": [], "machine": [], "exchanged pair": [], "exchanged": []}

    def add(self, kind, example):
        if example:
            self.kinds[kind].append(example)

    def add_pairs(self, part, links, tags):
        """The examples of a block of pairs."""
        for kind, draws in DRAWS.items():
            of_kind = [(pair, of_pair) for pair, of_pair in zip(part, links) if (pair[2] in MACHINE) == (kind == "machine")]
            for draw in range(draws if of_kind else 0):
                self.kinds[kind] += drawn(self.drawer, *zip(*of_kind), f"{self.given.seed}/{draw}")
        for (source, target, _), of_pair in zip(part, links):
            words, answer = tokens(source), tokens(target)
            if target in tags and coverage(words, answer, of_pair) >= COVERED:
                places = shared(words, answer, tags[target], of_pair)
                rng = random.Random(f"{self.given.seed}/exchanged pair/{source}/{target}")
                self.add("exchanged pair", self.exchanger.draw(words, places, answer, rng))
        for target, of_target in tags.items():
            self.add_sentence(tokens(target), of_target, 0)

    def add_sentence(self, words, tags, draw):
        rng = random.Random(f"{self.given.seed}/exchanged/{draw}/{' '.join(words)}")
        self.add("exchanged", self.exchanger.draw(words, exchangeable(words, tags), words, rng))

    def ordered(self, rng):
        """The examples, thinned, in the order in which they are learnt from."""
        people = [example for kind, examples in self.kinds.items() if kind != "machine" for example in examples]
        people = thinned(people, self.given.target_repeats, rng)
        machine = thinned(self.kinds["machine"], self.given.target_repeats, rng)
        cut = round(len(people) * EARLY)
        early = machine + people[:cut]
        return rng.sample(early, len(early)) + people[cut:]


def held_out_keys(paths):
    with_texts = (json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return {key(record["text"]) for record in with_texts}


def prepare(given):
    """What `prepare` does with --large."""
    (given.out / "shards").mkdir(parents=True, exist_ok=True)
    # Before the long steps: whether WordNet is there.
    lexicon = Lexicon.read(given.data / "morphology/unimorph-english.tsv.xz", given.models / "word-vectors")
    mix, template, tokenizer = Mix(given, lexicon), Template(), opened_tokenizer(given.base)
    if not (given.out / "pairs.tsv").exists():
        pairs, report = selected(given.data / "paraphrase", given.seed, given.mined, LARGE, given.target_repeats)
        (given.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
        write_pairs(given.out / "pairs.tsv", pairs)
    development_shard(given, mix.drawer, template, tokenizer)
    for block, (part, links, tags) in enumerate(blocks_of(given, read_pairs(given.out / "pairs.tsv"))):
        mix.add_pairs(part, links, tags)
        print(f"block {block}: {', '.join(f'{len(found)} {kind}' for kind, found in mix.kinds.items())}", flush=True)
    if given.masc:
        for words, tags in masc(given.masc, held_out_keys(given.without)):
            spaced = tokens(unspaced(" ".join(words)))
            for draw in range(MASC_DRAWS):
                mix.add_sentence(spaced if len(spaced) == len(words) else words, tags, draw)
    else:
        print("without --masc: sentences are those of the pairs alone", flush=True)
    examples = mix.ordered(random.Random(given.seed))
    whole = sum(map(len, mix.kinds.values()))
    count = deal(given.out, "mix", encoded(examples, template, tokenizer), max(1, -(-len(examples) // BLOCK)), LONGEST)
    print(f"{count} examples; of {whole}, {len(examples)} were left by thinning to {given.target_repeats} a target")
    rng = random.Random(given.seed)
    for kind, found in mix.kinds.items():
        texts = [f"{template.write(request)} {answer}\n" for request, answer in rng.sample(found, min(len(found), SAMPLES))]
        (given.out / f"samples.{kind.replace(' ', '-')}.txt").write_text("\n".join(texts), encoding="utf-8")
