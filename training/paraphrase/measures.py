"""Measures of a rewriting, and of the word that it puts in a trigger's place."""

import lzma
import re
import unicodedata
from collections import Counter, defaultdict

from .text import FUNCTION_WORDS, normalise, unspaced

TOKEN = re.compile(r"\w+(?:['.,-]\w+)*|[^\w\s]")
# Spellings that are one word: endings and vowels that differ between British and American, then doubled letters.
SPELLINGS = [(r"[-']", ""), (r"ys(?=e|ing)", "yz"), (r"is(?=e|ing|ation)", "iz"), (r"our", "or"), (r"[ao]e", "e"),
             (r"re$", "er"), (r"ogue$", "og"), (r"mme$", "m"), (r"(.)\1", r"\1")]  # fmt: skip
# How often a word must stand in human text to be one.
KNOWN_FROM = 2


def tokens(text):
    """Words and marks, small, with FrameNet's spacing undone."""
    return TOKEN.findall(unspaced(normalise(text)).lower())


def is_copy(source, output):
    return tokens(source) == tokens(output)


def change_rate(source, output):
    """Share of the output's tokens that the source does not hold."""
    new = Counter(tokens(output)) - Counter(tokens(source))
    return sum(new.values()) / max(1, len(tokens(output)))


def length_ratio(source, output):
    return len(tokens(output)) / max(1, len(tokens(source)))


def holds(text, phrase):
    """Whether a phrase stands in a text as whole words."""
    text, phrase = tokens(text), tokens(phrase)
    return any(text[at : at + len(phrase)] == phrase for at in range(len(text) - len(phrase) + 1))


def spelling(word):
    for pattern, instead in SPELLINGS:
        word = re.sub(pattern, instead, word)
    return word


class Morphology:
    """Which forms belong together, and which words there are.

    Verbs from UniMorph's table, lemma and form a line; of nouns and adjectives the regular endings. Words are known
    that the table has, or that human text has more than once.
    """

    def __init__(self, table, texts):
        self.lemmas, self.forms = defaultdict(set), defaultdict(set)
        with lzma.open(table, "rt", encoding="utf-8") as lines:
            for line in lines:
                lemma, form, *_ = [*line.rstrip("\n").lower().split("\t"), ""]
                if lemma and form:
                    self.lemmas[form].add(lemma)
                    self.forms[lemma].add(form)
        seen = Counter(token for text in texts for token in tokens(text))
        self.words = set(self.lemmas) | {word for word, count in seen.items() if count >= KNOWN_FROM} | FUNCTION_WORDS

    def is_known(self, word):
        word = plain(word)
        return word in self.words or all(part in self.words or not part.isalpha() for part in word.split("-"))

    def stems(self, word):
        """What a form may be a form of: verbs' lemmas, and the word less an ending of nouns and adjectives."""
        found = {word} | self.lemmas.get(word, set())
        for ending, instead in (("ies", "y"), ("es", ""), ("s", ""), ("ier", "y"), ("iest", "y"), ("er", ""),
                                ("est", ""), ("er", "e"), ("est", "e"), ("ily", "y")):  # fmt: skip
            if word.endswith(ending) and word[: len(word) - len(ending)] + instead in self.words:
                found.add(word[: len(word) - len(ending)] + instead)
        return found

    def is_variant(self, word, other):
        """Whether two words are forms or spellings of one."""
        ours, theirs = ({spelling(stem) for stem in self.stems(plain(one))} for one in (word, other))
        return bool(ours & theirs)

    def all_forms(self, word):
        """The word and every form of what it may be a form of."""
        return sorted({word} | {form for stem in self.stems(word) for form in {stem, stem + "s"} | self.forms[stem]})


def plain(word):
    """Small, accents taken off."""
    return "".join(sign for sign in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(sign))


def content(phrase):
    return [word for word in tokens(phrase) if word[0].isalnum() and word not in FUNCTION_WORDS]


def trigger_faults(seed, trigger, before, morphology):
    """What is wrong with a new trigger, as a set of names; empty when nothing is. `seed` is the human sentence.

    `before` are the triggers that were banned: the seed's and those of the rounds in between.

    - `unknown`: a word of it does not exist;
    - `variant`: all its content words are forms or spellings of banned ones (errs towards yes);
    - `missing`: it is not there: the span holds function words only, though the seed's trigger is none, or only words
      that the seed's sentence had elsewhere.
    """
    words, old = content(trigger), [word for phrase in before for word in content(phrase)]
    faults = set()
    if not all(morphology.is_known(word) for word in tokens(trigger) if word[0].isalnum()):
        faults.add("unknown")
    respelled = spelling("".join(words)) in {spelling("".join(content(phrase))) for phrase in before}
    if words and (respelled or all(any(morphology.is_variant(word, other) for other in old) for word in words)):
        faults.add("variant")
    elsewhere = set(tokens(seed))
    if (content(before[0]) and not words) or (words and all(word in elsewhere for word in words)):
        faults.add("missing")
    return faults
