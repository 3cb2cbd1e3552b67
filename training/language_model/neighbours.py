"""Which words may stand for a word of a tagged sentence, and which say something else.

Two words are *near* if they might say the same in some sentence: those are never taken for words that say something else. WordNet's
siblings alone do not tell: half of the siblings of a verb are its near-synonyms.
"""

import re
from collections import Counter
from functools import lru_cache

from paraphrase.text import FUNCTION_WORDS

from .counterparts import is_content
from .wordnet import OF_TAG, is_plain

# Words as common as this stand for another one, and say something else.
COMMON, OTHER_COMMON = 25_000, 20_000
MOST_ALIKE = 12
# A synonym has such a weight in WordNet, and keeps the word's company.
SYNONYM, COMPANY, MOST_SYNONYMS = 1.4, 0.2, 6
# Words whose vectors are as alike as this are near, and verbs sooner: their siblings differ in manner alone.
ALIKE = {"n": 0.45, "v": 0.35, "a": 0.4, "r": 0.4}
# So are those whose definitions share as many of their words.
SHARED_DEFINITION = 0.25
# Pointers between synsets that are near, whichever sense: more general, more special, similar, see also, verb group,
# entailed, caused.
NEAR_POINTERS = "@~&^$*>"
# Synsets of things of a kind, of which each is another one; numbers of lexicographers' files: animal, artifact, body, food,
# person, plant, possession, substance, time, and quantity.
KINDS = {5, 6, 8, 13, 18, 20, 21, 27, 28, 23}
# A word's siblings are of its kind if not too many are.
MOST_SIBLINGS = 60
# Vector neighbours among which words of another class are found.
BESIDE = 25
MOST_OTHERS = 14


def words_of(definition):
    return {word for word in re.findall(r"[a-z]+", definition.lower()) if len(word) > 2 and word not in FUNCTION_WORDS}


class Neighbours:
    """`exchanged` are pairs of lemmas that people wrote for each other."""

    def __init__(self, wordnet, forms, lexicon, exchanged=frozenset()):
        self.wordnet, self.forms, self.lexicon, self.exchanged = wordnet, forms, lexicon, exchanged
        self.alike = lru_cache(None)(self.alike)
        self.synonyms = lru_cache(None)(self.synonyms)
        self.others = lru_cache(None)(self.others)
        self.surroundings = lru_cache(None)(self.surroundings)

    def likeness(self, one, other):
        """Cosine of two forms' vectors; 0 for words without."""
        rank = self.lexicon.rank
        if one not in rank or other not in rank:
            return 0.0
        return float(self.lexicon.table[rank[one]] @ self.lexicon.table[rank[other]])

    def inflected(self, lemmas, word, tag, common):
        """{form: lemma} of lemmas as common words of other families than a word's, in the form that the tag asks for."""
        found, own = {}, self.lexicon.family(word)
        for lemma in lemmas:
            form = self.forms.form(lemma, tag) if is_plain(lemma) else None
            if form and self.lexicon.rank.get(form, common) < common and not own & self.lexicon.family(form):
                found.setdefault(form, lemma)
        return found

    def lemma(self, word, tag):
        """The lemma of a word that others may stand for; None when there is none."""
        return self.forms.lemma(word, tag) if tag in OF_TAG and word in self.lexicon.rank else None

    def weighed(self, weights, word, tag):
        """[(form, weight)] by WordNet's weight of a lemma and by how much company the form keeps with the word."""
        forms = self.inflected(weights, word, tag, COMMON)
        weighed = [(form, weights[lemma] * max(0.02, self.likeness(word, form)) ** 2) for form, lemma in forms.items()]
        return sorted(weighed, key=lambda one: (-one[1], one[0]))

    def alike(self, word, tag):
        """[(form, weight)] of what may stand for a word, the likeliest first."""
        lemma = self.lemma(word, tag)
        return self.weighed(self.wordnet.alike(lemma, OF_TAG[tag]), word, tag)[:MOST_ALIKE] if lemma else []

    def synonyms(self, word, tag):
        """[(form, weight)] of words that say the same: of a synset, and in like company."""
        lemma = self.lemma(word, tag)
        if not lemma:
            return []
        weights = {other: weight for other, weight in self.wordnet.alike(lemma, OF_TAG[tag]).items() if weight >= SYNONYM}
        return [one for one in self.weighed(weights, word, tag) if self.likeness(word, one[0]) >= COMPANY][:MOST_SYNONYMS]

    def surroundings(self, lemma, pos):
        """All words of the synsets that a word is in, and of those that these point to, in two steps upwards."""
        found = set()
        for synset in self.wordnet.synsets_of(lemma, pos):
            found |= set(synset.words)
            for other in self.wordnet.linked(synset, pos, NEAR_POINTERS):
                found |= set(other.words)
            for above in self.wordnet.linked(synset, pos, "@&"):
                for other in self.wordnet.linked(above, pos, "@&"):
                    found |= set(other.words)
        return frozenset(found)

    def share_a_sense(self, lemma, other, pos):
        return any(other in synset.words for synset in self.wordnet.synsets_of(lemma, pos))

    def share_a_root(self, lemma, other, pos):
        """Whether words of other parts of speech belong to both, as `sale` to `sell` and `vend`."""
        roots = [
            {(to, at) for synset in self.wordnet.synsets_of(word, pos) for sign, at, to in synset.pointers if sign == "+"}
            for word in (lemma, other)
        ]
        return bool(roots[0] & roots[1])

    def share_a_definition(self, lemma, other, pos):
        """Whether a definition names the other word, or two of the first senses have as many words in common."""
        defined = [[words_of(synset.definition) for synset in self.wordnet.synsets_of(word, pos)[:3]] for word in (lemma, other)]
        if any(lemma in words for words in defined[1]) or any(other in words for words in defined[0]):
            return True
        return any(one & two and len(one & two) / len(one | two) >= SHARED_DEFINITION for one in defined[0] for two in defined[1])

    def is_near(self, lemma, other, pos):
        """Whether two lemmas might say the same, by all that is known of them but their vectors."""
        if other in self.surroundings(lemma, pos) or lemma in self.surroundings(other, pos):
            return True
        if frozenset((lemma, other)) in self.exchanged or self.share_a_root(lemma, other, pos):
            return True
        return self.share_a_definition(lemma, other, pos)

    def antonyms(self, lemma, pos):
        """Antonyms of the first senses, and of what these are similar to."""
        found = set()
        for synset in self.wordnet.synsets_of(lemma, pos)[:3]:
            heads = [synset, *self.wordnet.linked(synset, pos, "&")]
            found |= {word for head in heads for other in self.wordnet.linked(head, pos, "!") for word in other.words}
        return {
            word for word in found
            if not self.share_a_sense(lemma, word, pos) and frozenset((lemma, word)) not in self.exchanged
        }  # fmt: skip

    def siblings(self, lemma, pos):
        """Things of the same kind as the one that a noun nearly always names."""
        synset = self.wordnet.first_sense(lemma, pos)
        if pos != "n" or synset is None or synset.file not in KINDS:
            return set()
        found = set()
        for above in self.wordnet.linked(synset, pos, "@"):
            below = self.wordnet.linked(above, pos, "~")
            if len(below) <= MOST_SIBLINGS:
                found |= {word for other in below for word in other.words}
        return {word for word in found if self.wordnet.first_sense(word, pos) and not self.is_near(lemma, word, pos)}

    def strangers(self, lemma, word, pos):
        """Words of like company whose first sense is of another class, as `hospital` beside `doctor`."""
        synset = self.wordnet.first_sense(lemma, pos)
        if synset is None or pos == "a":
            return set()
        firsts = {other: self.wordnet.first_sense(other, pos) for other in self.lexicon.neighbours(word)[:BESIDE]}
        found = {other for other, first in firsts.items() if first and first.file != synset.file}
        return {other for other in found if not self.is_near(lemma, other, pos)}

    def others(self, word, tag):
        """{kind: [(form, weight)]} of words that say something else where a word stands."""
        lemma = self.lemma(word, tag)
        if not lemma:
            return {}
        pos, found = OF_TAG[tag], {}
        kinds = {
            "antonym": (self.antonyms(lemma, pos), 2.0),
            "sibling": (self.siblings(lemma, pos), ALIKE[pos]),
            "stranger": (self.strangers(lemma, word, pos), ALIKE[pos]),
        }
        for kind, (lemmas, most) in kinds.items():
            forms = self.inflected(lemmas - {lemma}, word, tag, OTHER_COMMON)
            weighed = [(form, self.likeness(word, form)) for form in forms]
            weighed = [(form, max(0.02, likeness)) for form, likeness in weighed if likeness < most]
            if weighed:
                found[kind] = sorted(weighed, key=lambda one: (-one[1], one[0]))[:MOST_OTHERS]
        return found


def exchanged_lemmas(pairs, forms, least=2):
    """Pairs of lemmas that people wrote for each other, so often at least. Of each pair of sentences: the source's words, the
    target's words and tags, and the links."""
    count = Counter()
    for source, target, tags, links in pairs:
        for at, to in links:
            if is_content(source[at]) and is_content(target[to]) and source[at] != target[to]:
                count[frozenset(forms.lemma(word, tags[to]) or word for word in (source[at], target[to]))] += 1
    return frozenset(pair for pair, times in count.items() if len(pair) == 2 and times >= least)
