"""An n-gram language model of our own: how likely a sentence is, judged by text that no rewriter has seen.

Interpolated Kneser-Ney (Kneser and Ney 1995; Chen and Goodman 1999) over words. Below its unigrams stands the same model
over letters, which spells any word: so the vocabulary is open, every text has a perplexity, and a word that does not
exist costs what its spelling costs.
"""

import math
from collections import Counter
from functools import lru_cache

START, END = "<s>", "</s>"
# Of characters that no word of the training text has.
STRANGE = 100


class KneserNey:
    """Probabilities of a token after its context; `base` is what unigrams are smoothed with."""

    def __init__(self, order, sequences, base):
        self.order, self.base = order, base
        grams = Counter()
        for sequence in sequences:
            padded = (START,) * (order - 1) + tuple(sequence) + (END,)
            grams.update(padded[at : at + order] for at in range(len(padded) - order + 1))
        self.levels = []
        for _ in range(order):
            self.levels.insert(0, (grams, contexts(grams), discount(grams)))
            # A shorter n-gram counts in how many contexts it occurs, not how often.
            grams = Counter(gram[1:] for gram in grams)

    def probability(self, context, token):
        result = self.base(token)
        for order, (grams, totals, less) in enumerate(self.levels, 1):
            before = context[len(context) - order + 1 :]
            if before not in totals:
                break
            total, kinds = totals[before]
            result = max(grams.get((*before, token), 0) - less, 0) / total + less * kinds / total * result
        return result

    def log_probability(self, sequence):
        """Of a whole sequence and its end; natural logarithm."""
        padded = (START,) * (self.order - 1) + tuple(sequence) + (END,)
        return sum(
            math.log(self.probability(padded[at - self.order + 1 : at], padded[at]))
            for at in range(self.order - 1, len(padded))
        )


def contexts(grams):
    """Of every context, how many tokens followed it and how many different ones."""
    totals = {}
    for gram, count in grams.items():
        total, kinds = totals.get(gram[:-1], (0, 0))
        totals[gram[:-1]] = (total + count, kinds + 1)
    return totals


def discount(grams):
    """What is taken from every count: Ney, Essen and Kneser (1994)."""
    seen = Counter(count for count in grams.values() if count <= 2)
    return seen[1] / (seen[1] + 2 * seen[2]) if seen[1] else 0.5


class LanguageModel:
    """Words over letters, learned from lists of tokens."""

    def __init__(self, texts, order=3, letters=5):
        kinds = {token for text in texts for token in text}
        alphabet = {letter for kind in kinds for letter in kind}
        spelling = KneserNey(letters, sorted(kinds), lambda _: 1 / (len(alphabet) + STRANGE))
        spelled = lru_cache(None)(lambda token: math.exp(spelling.log_probability(token)))
        self.words = KneserNey(order, texts, spelled)

    def perplexity(self, texts):
        """Of a word, the end of a text counted as one."""
        total = sum(self.words.log_probability(text) for text in texts)
        return math.exp(-total / sum(len(text) + 1 for text in texts))
