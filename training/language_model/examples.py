"""Examples of a pair: what is asked for, and what is written.

Drawn anew for each pass over the data, so that no two passes ask alike. The shares say how often an example has what.
"""

from paraphrase.text import spaced, unspaced, words

from .counterparts import cuts, is_content, replaced
from .prompt import Request

AVOID = 0.87
# Of pairs in which nothing is replaced, so many are learned from; the bare requests of others are enough.
BARE = 0.3
MARKS = [1, 1, 1, 1, 2, 2, 3]
# Of examples with avoided words: with all their forms, and with words beside that neither side has.
FORMS, BESIDE = 0.3, 0.25
MOST_FORMS = 6
USE, HINT = 0.18, 0.35
# Of hints, those with a word that the target has, and the most words that fit nowhere.
FITTING, MOST_WRONG = 0.7, 7
SPACED, TRUNCATED, BRITISH_QUOTES = 0.35, 0.08, 0.4
# Parts of a truncated pair have at least so many words.
SHORTEST = 6


def tokens(text):
    """A text's words as the aligner reads them: marks and clitics apart."""
    return spaced(text).split()


def in_framenets_spacing(text, rng):
    """A text as FrameNet 1.5 has it; its older texts quote ` thus ', with marks that stand apart."""
    text = spaced(text).replace("cannot", "can not")
    if rng.random() < BRITISH_QUOTES and text.count('"') == 2:
        text = text.replace('"', "`", 1).replace('"', "'", 1)
    return text


def truncated(source, target, links, rng):
    """A part of a pair from its beginning or its end, as (source, target, links); None when it cannot be cut."""
    places = [
        (i, j) for i, j in cuts(source, target, links)
        if min(i, j) >= SHORTEST or min(len(source) - i, len(target) - j) >= SHORTEST
    ]  # fmt: skip
    if not places:
        return None
    i, j = rng.choice(places)
    begins = min(i, j) >= SHORTEST and (rng.random() < 0.6 or min(len(source) - i, len(target) - j) < SHORTEST)
    if begins:
        return source[:i], target[:j], [(a, b) for a, b in links if a < i and b < j]
    return source[i:], target[j:], [(a - i, b - j) for a, b in links if a >= i and b >= j]


def disjoint(found, count, rng):
    """Up to so many of the replaced spans, by chance, that do not overlap."""
    chosen = []
    for span in rng.sample(found, len(found)):
        if len(chosen) < count and all(span.end <= other.start or other.end <= span.start for other in chosen):
            chosen.append(span)
    return chosen


class Drawer:
    """Draws examples. A pair is its words on both sides and the links between them."""

    def __init__(self, lexicon):
        self.lexicon = lexicon

    def draw(self, source, target, links, rng, close=False):
        """(request, answer), or None. Of a close pair a word is always avoided: copying would be learned from it."""
        if rng.random() < TRUNCATED:
            source, target, links = truncated(source, target, links, rng) or (source, target, links)
        found = replaced(source, target, links, self.lexicon)
        chosen = disjoint(found, rng.choice(MARKS), rng) if close or rng.random() < AVOID else []
        if not chosen and (close or (not found and rng.random() > BARE)):
            return None
        answer = unspaced(" ".join(target))
        sentence = unspaced(" ".join(source))
        if rng.random() < SPACED:
            sentence = in_framenets_spacing(sentence, rng)
        taken = set().union(*(self.lexicon.family(word) for word in words(answer)))
        avoid = self.avoided([source[span.start : span.end] for span in chosen], taken, rng) if chosen else []
        counterparts = [target[span.first : span.last] for span in chosen]
        use = self.required(target, counterparts, rng) if rng.random() < USE else []
        hint = []
        if chosen and rng.random() < HINT:
            hint = self.hints([source[span.start : span.end] for span in chosen], counterparts, taken, avoid, rng)
        return Request(sentence, avoid, use, hint), answer

    def is_taken(self, word, taken):
        return bool(self.lexicon.family(word) & taken)

    def avoided(self, phrases, taken, rng):
        """The avoided phrases, perhaps with all their forms, perhaps with words alike that the target does not have."""
        listed = []
        forms, beside = rng.random() < FORMS, rng.random() < BESIDE
        for phrase in phrases:
            listed.append(" ".join(phrase))
            if forms and len(phrase) == 1:
                others = [form for form in self.lexicon.forms(phrase[0]) if form != phrase[0]]
                listed += [form for form in others if not self.is_taken(form, taken)][: MOST_FORMS - 1]
        if beside:
            alike = [word for phrase in phrases for word in self.lexicon.neighbours(self.head(phrase))[:12]]
            alike = [word for word in dict.fromkeys(alike) if word not in listed and not self.is_taken(word, taken)]
            listed += [rng.choice(self.lexicon.forms(word)) for word in rng.sample(alike, min(len(alike), rng.randint(1, 5)))]
        return rng.sample(listed, len(listed))

    def head(self, phrase):
        """The word of a phrase that vectors are looked up for."""
        return next((word for word in phrase if is_content(word)), phrase[0])

    def required(self, target, counterparts, rng):
        """One or two words or phrases of the target, mostly such as stand for avoided ones."""
        if counterparts and rng.random() < 0.6:
            return [" ".join(rng.choice(counterparts))]
        contents = [word for word in target if is_content(word) or (word.isalpha() and word.istitle() and len(word) > 3)]
        contents = list(dict.fromkeys(contents))
        return rng.sample(contents, min(len(contents), rng.choice([1, 1, 2])))

    def hints(self, phrases, counterparts, taken, avoid, rng):
        """Lemmas that may be used, of which some stand for an avoided word and others fit nowhere."""
        listed = []
        if rng.random() < FITTING:
            for counterpart in counterparts:
                contents = [word for word in counterpart if is_content(word)]
                listed.append(self.lexicon.lemma(contents[0]) if len(counterpart) == 1 else " ".join(counterpart))
        alike = [word for phrase in phrases for word in self.lexicon.neighbours(self.head(phrase))[:15]]
        alike = [word for word in dict.fromkeys(alike) if word not in avoid and not self.is_taken(word, taken)]
        count = rng.randint(1, MOST_WRONG)
        wrong = rng.sample(alike, min(len(alike), rng.randint(0, count)))
        while len(wrong) < count:
            word = self.lexicon.lemma(rng.choice(self.lexicon.stock))
            if word not in (*wrong, *avoid) and not self.is_taken(word, taken):
                wrong.append(word)
        listed += wrong
        return rng.sample(listed, len(listed))
