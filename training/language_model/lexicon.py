"""What prepare knows of words: which are forms of one, which are lemmas, and which are alike."""

from functools import lru_cache

import numpy

from paraphrase.measures import Morphology, plain, spelling
from vectors.table import read_table

# Plurals that no ending shows.
IRREGULAR = {"men": "man", "women": "woman", "people": "person", "children": "child", "feet": "foot", "teeth": "tooth",
             "mice": "mouse", "geese": "goose", "better": "good", "best": "good", "worse": "bad", "worst": "bad"}  # fmt: skip
# Words of the vectors' vocabulary that count, the commonest first; rarer ones are mostly names and misspellings.
COMMON = 30_000
# Neighbours are sought among the commonest of these.
BESIDE = 12_000
NEAREST = 40


class Lexicon:
    def __init__(self, morphology, words, table):
        """`words` are ordered, the commonest first, with a row of `table` each, of length 1."""
        self.morphology = Morphology(morphology, [])
        self.rank = {word: place for place, word in enumerate(words[:COMMON])}
        self.morphology.words |= {word for word in self.rank if word.isalpha()}
        self.words, self.table = words[:BESIDE], numpy.ascontiguousarray(table[:COMMON], dtype=numpy.float32)
        self.stock = [word for word in self.words[300:] if word.isascii() and word.isalpha() and len(word) > 2]
        self.family = lru_cache(None)(self.family)
        self.lemma = lru_cache(None)(self.lemma)
        self.neighbours = lru_cache(None)(self.neighbours)

    @classmethod
    def read(cls, morphology, vectors):
        return cls(morphology, *read_table(vectors))

    def family(self, word):
        """What a word's forms and spellings have in common: two words with a member in common are forms of one."""
        word = plain(word)
        stems = self.morphology.stems(word) | ({IRREGULAR[word]} if word in IRREGULAR else set())
        return frozenset(spelling(stem) for stem in stems)

    def forms(self, word):
        """The forms of a word that texts have, itself among them."""
        return sorted({word} | {form for form in self.morphology.all_forms(word) if form in self.rank})

    def lemma(self, word):
        """The commonest word that this may be a form of."""
        stems = [stem for stem in self.morphology.stems(word) if stem in self.rank]
        verbs = [stem for stem in stems if stem in self.morphology.lemmas.get(word, ()) and stem != word]
        return min(verbs or stems or [word], key=lambda stem: (self.rank.get(stem, COMMON), stem))

    def neighbours(self, word):
        """Lemmas of the words that are most alike by their vectors, without the word's own forms."""
        if word not in self.rank:
            return ()
        likeness = self.table[:BESIDE] @ self.table[self.rank[word]]
        nearest = numpy.argpartition(-likeness, NEAREST)[:NEAREST]
        found = [self.words[place] for place in nearest[numpy.argsort(-likeness[nearest])]]
        own = self.family(word)
        lemmas = [self.lemma(other) for other in found if other.isascii() and other.isalpha() and len(other) > 2]
        return tuple(dict.fromkeys(other for other in lemmas if not own & self.family(other)))
