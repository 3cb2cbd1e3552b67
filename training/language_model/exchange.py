"""Examples of a sentence whose words are exchanged: the sentence as people wrote it is the answer.

A word is exchanged for a WordNet neighbour, which the prompt then avoids, so that the answer has the word of the person.
"""

from paraphrase.text import unspaced, words

from .counterparts import is_content
from .examples import SPACED, in_framenets_spacing
from .prompt import Request
from .wordnet import OF_TAG, article

COUNT = [1, 1, 1, 2, 2, 3]
# Of examples with further words to avoid, as after some rounds of expansion: at most so many, of so many for each word.
BESIDE, MOST_BESIDE, OF_WORD = 0.35, 4, 6
HINT, USE = 0.25, 0.08


def exchangeable(tokens, tags):
    """{place: (word, tag)} of words that others may stand for."""
    found = enumerate(zip(tokens, tags))
    return {place: (word, tag) for place, (word, tag) in found if is_content(word) and tag in OF_TAG}


def shared(source, target, tags, links):
    """{place in the source: (word, tag)} of words that stand on both sides, linked to each other alone."""
    of_target = {}
    for at, to in links:
        of_target.setdefault(to, []).append(at)
    places = exchangeable(target, tags)
    return {
        of_target[to][0]: found
        for to, found in places.items()
        if len(of_target.get(to, ())) == 1 and source[of_target[to][0]] == found[0]
    }


class Exchanger:
    def __init__(self, drawer, neighbours):
        self.drawer, self.lexicon, self.neighbours = drawer, drawer.lexicon, neighbours

    def exchange(self, source, places, rng):
        """Exchanges some words of a source; gives (its words, [(new word, old word, tag)])."""
        source, done, count = list(source), [], rng.choice(COUNT)
        for place in rng.sample(sorted(places), len(places)):
            if len(done) == count:
                break
            word, tag = places[place]
            options = self.neighbours.alike(word, tag)
            if not options or options[0][0] in source:
                continue
            forms, weights = zip(*options)
            new = rng.choices(forms, weights)[0]
            if any(self.lexicon.family(new) & self.lexicon.family(other) for other in source if other.isalpha()):
                continue
            source[place] = new
            article(source, place)
            done.append((new, word, tag))
        return source, done

    def draw(self, source, places, answer, rng):
        """(request, answer) of a source's words and its answer's; None where nothing can be exchanged."""
        source, done = self.exchange(source, places, rng)
        return self.request(source, done, answer, rng) if done else None

    def request(self, source, done, answer, rng):
        answer, sentence = unspaced(" ".join(answer)), unspaced(" ".join(source))
        if rng.random() < SPACED:
            sentence = in_framenets_spacing(sentence, rng)
        taken = set().union(*(self.lexicon.family(word) for word in words(answer)))
        phrases = [[new] for new, _, _ in done]
        avoid = self.drawer.avoided(phrases, taken, rng)
        if rng.random() < BESIDE:
            avoid = self.with_others(avoid, done, taken, rng)
        hint = self.drawer.hints(phrases, [[old] for _, old, _ in done], taken, avoid, rng) if rng.random() < HINT else []
        use = [rng.choice(done)[1]] if rng.random() < USE else []
        return Request(sentence, avoid, use, hint), answer

    def with_others(self, avoid, done, taken, rng):
        """The avoided words and others that would do, which the answer does not have."""
        others = [form for _, word, tag in done for form, _ in self.neighbours.alike(word, tag)[:OF_WORD]]
        others = [form for form in dict.fromkeys(others) if form not in avoid and not self.drawer.is_taken(form, taken)]
        avoid = avoid + rng.sample(others, min(len(others), rng.randint(1, MOST_BESIDE)))
        return rng.sample(avoid, len(avoid))
