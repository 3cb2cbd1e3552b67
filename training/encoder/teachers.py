"""What trained aligners say of sentence pairs that nobody aligned, for a student to learn from.

A teacher is the `best/` of a run of `align` with a linker. Of a pair, teachers give the scores of all word links, and of
some source spans the scores of candidates: the mean of theirs, which says more than the best answer (Hinton et al. 2015,
section 2). The first of them also shows its states, pooled over words, which a student of its width is to come to. Source
spans have one to four words and content words at both ends, like those of the manual data; unlike those they may cut
through what is linked as a whole.
"""

import random
import re
from typing import NamedTuple

import torch
from transformers import BertModel

from paraphrase.batches import read_pairs
from paraphrase.text import FUNCTION_WORDS, spaced

from .head import SAMPLE, candidates, encode, features, linked, linker, network, opened_tokenizer, sampled, that_fit, word_states
from .session import device
from .strangers import NOTHING, beside

CONTENT_WORD = re.compile(r"[a-z][a-z-]+")
# Shares of source spans of 1, 2, 3 and 4 words: 1.7 on average, between triggers (1.5) and the manual data (2.0).
LENGTHS = [0.58, 0.2, 0.12, 0.1]
SPANS = 4
# Pairs below this share of content words that answer to one of the other side are no paraphrases.
ANSWERED = 0.4
MOST_WORDS = 80


class Teacher:
    def __init__(self, directory):
        self.model = BertModel.from_pretrained(directory, add_pooling_layer=False, dtype=torch.float32)
        width = self.model.config.hidden_size
        self.head, self.linker = network(width, True), linker(width)
        self.head.load(directory / "head.safetensors")
        self.linker.load(directory / "linker.safetensors")
        for module in (self.model, self.head, self.linker):
            module.to(device()).eval()
        self.tokenizer = opened_tokenizer(directory)

    @torch.no_grad()
    def read(self, pairs):
        """(sums, scores of links) of each pair."""
        sums = encode(self.model, self.tokenizer, pairs, device())
        return [(of, linked(self.linker, of, pair).sigmoid()) for of, pair in zip(sums, pairs)]


class Said(NamedTuple):
    """Of a pair: states of the words of both sides (N + M, D), scores of links (N, M), and of some source spans
    [(span, candidates, their scores)]."""

    states: torch.Tensor
    links: torch.Tensor
    items: list


class Unlabelled:
    """Sentence pairs, and teachers who say what they hold of them."""

    def __init__(self, files, directories, seed, strangers=0.0):
        self.teachers = [Teacher(directory) for directory in directories]
        self.seed = seed
        # Share of pairs with a sentence of another one on one side.
        self.strangers = strangers
        self.pairs = [pair[:2] for file in files for pair in read_pairs(file)]
        short = next((pair for pair in self.pairs if len(pair) < 2), None)
        if short:
            raise SystemExit(f"a line of --unlabelled has no tab, so it is no pair: {short[0]!r}")

    def draw(self, count, place):
        """(source words, target words, Said) of up to `count` pairs, those that belong to the step `place`; pairs that are too
        long, and no paraphrases, are left out."""
        rng = random.Random(f"{self.seed}/unlabelled {place}")
        pairs = [as_words(pair, rng) for pair in rng.sample(self.pairs, min(count, len(self.pairs)))]
        pairs = [pair for pair in pairs if 0 < min(map(len, pair)) and max(map(len, pair)) <= MOST_WORDS]
        joined = [
            beside(pair, rng.choice(pairs), rng) if self.strangers and rng.random() < self.strangers else (pair, NOTHING)
            for pair in pairs
        ]
        pairs = [(*sides, added[0]) for sides, added in joined]
        for teacher in self.teachers:
            pairs = that_fit(teacher.model, teacher.tokenizer, pairs)[0]
        return self.say(pairs, rng) if pairs else []

    @torch.no_grad()
    def say(self, pairs, rng):
        """What is held of pairs: (source words, target words, how many words of a stranger come before and behind the
        source)."""
        said = []
        for (source, target, strange), *views in zip(pairs, *(teacher.read(pairs) for teacher in self.teachers)):
            scores = torch.stack([of_links for _, of_links in views]).mean(0)
            own = range(strange[0], len(source) - strange[1])
            if answered(source, scores, own) < ANSWERED:
                continue
            items = []
            for span in spans(source, rng):
                others = sampled(candidates(span[1] - span[0], len(target)), cover(scores, span), SAMPLE, rng)
                if others:
                    of_span = [
                        teacher.head(features(sums, span, others, of_links)).sigmoid()
                        for teacher, (sums, of_links) in zip(self.teachers, views)
                    ]
                    items.append((span, others, torch.stack(of_span).mean(0)))
            said.append((source, target, Said(word_states(views[0][0]), scores, items)))
        return said


def as_words(pair, rng):
    """The words of both sides, spaced as FrameNet's, in either order."""
    sides = [spaced(text).lower().split() for text in pair]
    rng.shuffle(sides)
    return tuple(sides)


def content(word):
    return CONTENT_WORD.fullmatch(word) is not None and word not in FUNCTION_WORDS


def answered(source, scores, own):
    """The share of the content words at the places `own` that are linked with something."""
    at = [i for i in own if content(source[i])]
    return float((scores[at].amax(1) >= 0.5).float().mean()) if at else 0.0


def spans(source, rng):
    """Source spans, each once."""
    at = [i for i, word in enumerate(source) if content(word)]
    drawn = set()
    for _ in range(SPANS):
        length = rng.choices(range(1, 5), LENGTHS)[0]
        able = [i for i in at if i + length <= len(source) and content(source[i + length - 1])]
        if able:
            start = rng.choice(able)
            drawn.add((start, start + length))
    return sorted(drawn)


def cover(scores, span):
    """The shortest span over all words that are linked with one of the span's; None where none is."""
    at = (scores[span[0] : span[1]].amax(0) >= 0.5).nonzero().flatten().tolist()
    return (at[0], at[-1] + 1) if at else None
