"""Makes examples of a verifier's second question: does a rewriting say the same?

    python -m language_model prepare --large ... --out PAIRS
    python -m language_model meaning --pairs PAIRS --data ../../shared/data --models ../models --wordnet DIR --base BASE --out WORK

Right are pairs by people of which nearly all words are linked, and sentences with synonyms. Wrong are such pairs and sentences
after one change of a kind (`changes.py`):

- `antonym`, `sibling`, `stranger`: a word for its antonym; for another thing of its kind, as `cow` for `horse`; or for a word of
  like company but of another class, as `hospital` for `doctor`;
- `roles`: two names for each other; `negation`: a "not" put in or taken out; `number`: another number;
- `dropped`: a phrase left out that says where, when or with whom.

WordNet's siblings alone were noisy: half of a verb's are near-synonyms. So a sibling is a noun of a class of things (animals,
food, persons and so on) that nearly always has its first sense. And no word is taken that might say the same: in any sense by
WordNet (a synset in common, one above or beside the other, a root in common), by its definition, by like vectors, or because
people wrote one for the other in PAIRS. Antonyms have like vectors and definitions, so of these only the rest is asked.

WORK may be that of `verifier`, so that one adapter learns both questions. It gets `shards/*.meaning.safetensors`,
`dev.meaning.safetensors`, `samples.meaning.txt`, and `meaning.tsv`: kind, answer, sentence and rewriting of each example.
"""

import argparse
import random
from collections import Counter
from pathlib import Path

from paraphrase.text import unspaced

from .changes import Changes
from .counterparts import coverage
from .examples import in_framenets_spacing, tokens
from .large import MACHINE, made_blocks
from .lexicon import Lexicon
from .neighbours import Neighbours, exchanged_lemmas
from .passage import Question
from .verifier import BLOCKS
from .wordnet import HERE, Forms, WordNet
from .yes_no import Writer

# Of content words on either side, so many are linked in a pair that says the same, and in one that systems wrote.
SAME, SAME_BY_SYSTEMS, COVERED = 0.88, 0.93, 0.8
# Of systems' pairs, those that are learnt from.
OF_SYSTEMS = 0.4
# What a pair by people becomes, and a sentence; of sentences with another word, those with a synonym beside.
OF_PAIR = {"pair": 0.18, "pair back": 0.18, "pair, synonym": 0.19, "wrong": 0.45}
OF_SENTENCE = {"synonym": 0.42, "two synonyms": 0.1, "wrong": 0.48}
WITH_SYNONYM = 0.2
# Kinds of wrong changes, by how often each is tried first.
WRONG = {"antonym": 3, "sibling": 3, "stranger": 2, "roles": 2, "negation": 2, "number": 2, "dropped": 2}
# Of sentences, those that are spaced as in FrameNet; rewritings never are.
SPACED = 0.25
DEV_EXAMPLES = 1_000


def drawn(weights, rng):
    return rng.choices(list(weights), list(weights.values()))[0]


class Drawer:
    """Draws examples: (kind, whether it says the same, a sentence's words, its rewriting's words), or None."""

    def __init__(self, changes):
        self.changes = changes

    def wrong(self, words, tags, rng, allowed=None, beside=()):
        """(kind, changed words): the first kind of a random order that the sentence allows; None if it allows none."""
        kinds = dict(WRONG)
        while kinds:
            kind = drawn(kinds, rng)
            changed = getattr(self.changes, kind)(words, tags, rng, allowed=allowed, beside=beside)
            if changed:
                return kind, changed
            del kinds[kind]
        return None

    def of_pair(self, source, target, tags, links, rng):
        """An example of a pair of which people wrote the target."""
        share, kind = coverage(source, target, links), drawn(OF_PAIR, rng)
        if share < (COVERED if kind == "wrong" else SAME):
            return None
        linked = {to for _, to in links}
        if kind == "pair":
            return kind, True, source, target
        if kind == "pair back":
            return kind, True, target, source
        if kind == "wrong":
            found = self.wrong(target, tags, rng, linked, source)
            return found and (f"pair, {found[0]}", False, source, found[1])
        changed = self.changes.synonym(target, tags, rng, linked)
        return changed and (kind, True, source, changed)

    def of_sentence(self, words, tags, rng):
        kind = drawn(OF_SENTENCE, rng)
        changed = words
        if kind == "wrong":
            found = self.wrong(words, tags, rng)
            if not found:
                return None
            kind, changed = found
            with_synonym = kind in ("antonym", "sibling", "stranger", "number") and rng.random() < WITH_SYNONYM
            again = self.changes.synonym(changed, tags, rng, unchanged(words, changed)) if with_synonym else None
            return (f"{kind}, synonym", False, words, again) if again else (kind, False, words, changed)
        for _ in range(2 if kind == "two synonyms" else 1):
            changed = changed and self.changes.synonym(changed, tags, rng, unchanged(words, changed))
        return changed and (kind, True, words, changed)


def unchanged(words, changed):
    """The places of a sentence that a change has left."""
    return {place for place, (one, other) in enumerate(zip(words, changed)) if one == other}


def written(example, rng):
    """(kind, answer, sentence, rewriting) as texts."""
    kind, is_same, words, changed = example
    sentence = unspaced(" ".join(words))
    if rng.random() < SPACED:
        sentence = in_framenets_spacing(sentence, rng)
    return kind, is_same, sentence, unspaced(" ".join(changed))


class Pairs:
    """What `prepare --large` left: pairs of systems, pairs by people with tags, and tagged sentences by people."""

    def __init__(self, directory):
        self.systems, self.people, self.sentences = [], [], {}
        for part, links, tags in made_blocks(directory):
            for (source, target, name), of_pair in zip(part, links):
                source, words = tokens(source), tokens(target)
                if name in MACHINE:
                    self.systems.append((source, words, of_pair))
                elif target in tags:
                    self.people.append((source, words, tags[target], of_pair))
            self.sentences |= {target: (tokens(target), of_target) for target, of_target in tags.items()}


def examples_of(pairs, drawer, seed):
    """An example of every pair and every sentence that gives one, as texts."""
    for source, target, links in pairs.systems:
        rng = random.Random(f"{seed}/{source}/{target}")
        if rng.random() < OF_SYSTEMS and coverage(source, target, links) > SAME_BY_SYSTEMS:
            yield written(("pair of systems", True, source, target), rng)
    drawers = [(drawer.of_pair, pair) for pair in pairs.people] + [(drawer.of_sentence, one) for one in pairs.sentences.values()]
    for draw, of in drawers:
        rng = random.Random(f"{seed}/{draw.__name__}/{of[:2]}")
        example = draw(*of, rng)
        if example:
            yield written(example, rng)


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model meaning", description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=Path, required=True, metavar="PAIRS", help="directory that `prepare --large` wrote")
    parser.add_argument("--data", type=Path, required=True, help="directory with morphology/")
    parser.add_argument("--models", type=Path, required=True, help="directory with word-vectors")
    parser.add_argument("--wordnet", type=Path, default=Path(HERE), metavar="DIR", help="WordNet 3.0's files")
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--out", type=Path, required=True, metavar="WORK")
    parser.add_argument("--blocks", type=int, default=BLOCKS, help="files of examples, as many as `verifier` writes")
    parser.add_argument("--seed", type=int, default=21)
    given = parser.parse_args(arguments)
    morphology = given.data / "morphology/unimorph-english.tsv.xz"
    lexicon, wordnet = Lexicon.read(morphology, given.models / "word-vectors"), WordNet(given.wordnet)
    forms, pairs = Forms(morphology, wordnet), Pairs(given.pairs)
    exchanged = exchanged_lemmas(pairs.people, forms)
    print(f"{len(pairs.people)} pairs by people, {len(exchanged)} pairs of lemmas that they exchange", flush=True)
    drawer = Drawer(Changes(Neighbours(wordnet, forms, lexicon, exchanged)))
    found = list(examples_of(pairs, drawer, given.seed))
    random.Random(given.seed).shuffle(found)
    question = Question("same_meaning")
    writer = Writer(given.out, given.base, question)
    asked = [(question.write(sentence=sentence, rewriting=rewriting), is_same) for _, is_same, sentence, rewriting in found]
    most = min(DEV_EXAMPLES, len(asked) // 10)
    writer.held_out("dev.meaning", asked[:most])
    writer.learned("meaning", asked[most:], given.blocks)
    rows = (f"{kind}\t{question.answers[not is_same].strip()}\t{one}\t{other}\n" for kind, is_same, one, other in found)
    (given.out / "meaning.tsv").write_text("".join(rows), encoding="utf-8")
    for (kind, is_same), count in sorted(Counter(row[:2] for row in found).items()):
        print(f"{count}\t{'yes' if is_same else 'no'}\t{kind}")
