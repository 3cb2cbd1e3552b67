"""What makes a sentence say something else, or the same: one change to the words of a tagged sentence.

Every change gives the new words, or None where it cannot be made. `allowed` are the places that may change, all by default.
"""

from .counterparts import is_content
from .wordnet import OF_TAG, article

# Verbs before which nothing else negates, with the tags that they have as such.
AUXILIARIES = set("is are was were will would can could should must does do did has have had".split())
FINITE = {"MD", "VBZ", "VBP", "VBD"}
# Those that are auxiliaries only before such a tag.
BEFORE = {"has": "VBN", "have": "VBN", "had": "VBN", "do": "VB", "does": "VB", "did": "VB"}
NOT = {"not", "n't"}
# Words that deny already.
DENYING = set("no never nor neither nobody nothing none hardly scarcely barely".split())
# Words after which "not" denies less than the sentence.
PART = {"only", "just", "merely", "simply", "necessarily", "all", "every", "even"}
CUT = {"ca": "can", "wo": "will", "sha": "shall"}
SPELLED = [
    "two three four five six seven eight nine ten eleven twelve".split(),
    "hundred thousand million billion".split(),
    "twenty thirty forty fifty sixty seventy eighty ninety".split(),
]
NOUNS, NAMES = ("NN", "NNS"), ("NNP", "NNPS")
INSIDE = {"DT", "PRP$", "JJ", "CD", *NOUNS, *NAMES}
# Prepositions without whose phrase a sentence still stands.
FREE = set("in on at from with without during before after under against near for since into".split())
SHORTEST_REST = 5
# Between two names, what says of both the same.
BOTH = {"and", "or", ",", "with", "between", "is", "was", "are", "were", "&", "both", "like", "as", "meet", "met", "married"}


def exchanged(tokens, place, word):
    """The words with another one at a place."""
    changed = list(tokens)
    changed[place] = word
    article(changed, place)
    return changed


def chosen(weighed, rng):
    return rng.choices([one for one, _ in weighed], [weight for _, weight in weighed])[0]


class Changes:
    def __init__(self, neighbours):
        self.neighbours = neighbours

    def places(self, tokens, tags, rng, allowed):
        places = [place for place, word in enumerate(tokens) if is_content(word) and tags[place] in OF_TAG]
        places = [place for place in places if allowed is None or place in allowed]
        return rng.sample(places, len(places))

    def is_new(self, word, tokens, beside):
        """Whether a word is a form of none in the sentence, nor of one beside it."""
        family = self.neighbours.lexicon.family
        return not any(family(word) & family(other) for other in (*tokens, *beside) if other.isalpha())

    def synonym(self, tokens, tags, rng, allowed=None, beside=()):
        """A word exchanged for one that says the same."""
        for place in self.places(tokens, tags, rng, allowed):
            options = self.neighbours.synonyms(tokens[place], tags[place])
            word = chosen(options, rng) if options else None
            if word and word not in tokens:
                return exchanged(tokens, place, word)
        return None

    def other(self, kind, tokens, tags, rng, allowed=None, beside=()):
        """A word exchanged for one of a kind that says something else; `beside` are the words of a sentence that says the
        same, none of which may come in."""
        for place in self.places(tokens, tags, rng, allowed):
            options = self.neighbours.others(tokens[place], tags[place]).get(kind)
            word = chosen(options, rng) if options else None
            if word and self.is_new(word, tokens, beside):
                return exchanged(tokens, place, word)
        return None

    def antonym(self, *of, **more):
        return self.other("antonym", *of, **more)

    def sibling(self, *of, **more):
        return self.other("sibling", *of, **more)

    def stranger(self, *of, **more):
        return self.other("stranger", *of, **more)

    def roles(self, tokens, tags, rng, allowed=None, beside=()):
        """Two names exchanged of which a sentence says different things."""
        names = runs(tags, NAMES)
        pairs = [
            (one, two) for one, two in zip(names, names[1:])
            if tokens[slice(*one)] != tokens[slice(*two)] and parts_them(tokens, tags, one[1], two[0])
        ]  # fmt: skip
        if not pairs:
            return None
        (a, b), (c, d) = rng.choice(pairs)
        return [*tokens[:a], *tokens[c:d], *tokens[b:c], *tokens[a:b], *tokens[d:]]

    def negation(self, tokens, tags, rng, allowed=None, beside=()):
        """A "not" put in or taken out, where it denies the whole sentence."""
        if tokens[-1] == "?":
            return None
        if NOT & set(tokens):
            return affirmed(tokens, tags)
        if DENYING & {word.lower() for word in tokens}:
            return None
        places = [place for place in range(len(tokens) - 1) if is_denied_at(tokens, tags, place)]
        # A sentence is denied by its first verb; further ones may stand in what it only mentions.
        return [*tokens[: places[0] + 1], "not", *tokens[places[0] + 1 :]] if places else None

    def number(self, tokens, tags, rng, allowed=None, beside=()):
        """Another number in a number's place."""
        for place in rng.sample(range(len(tokens)), len(tokens)):
            word = other_number(tokens[place], rng) if tags[place] == "CD" else None
            if word and word not in tokens:
                return [*tokens[:place], word, *tokens[place + 1 :]]
        return None

    def dropped(self, tokens, tags, rng, allowed=None, beside=()):
        """A phrase left out that says where, when, with whom, or such."""
        phrases = [(start, end) for start, end in free_phrases(tokens, tags) if len(tokens) - end + start >= SHORTEST_REST]
        if not phrases:
            return None
        start, end = rng.choice(phrases)
        # Of two commas around it, or one after it at the beginning, one is too many.
        end += end < len(tokens) and tokens[end] == "," and (start == 0 or tokens[start - 1] == ",")
        rest = [*tokens[:start], *tokens[end:]]
        if start == 0:
            rest[0] = rest[0][:1].upper() + rest[0][1:]
        return rest


def runs(tags, wanted):
    """[start, end) of words in a row that have such tags."""
    found, start = [], None
    for place, tag in enumerate([*tags, None]):
        if tag in wanted and start is None:
            start = place
        elif tag not in wanted and start is not None:
            found.append((start, place))
            start = None
    return found


def parts_them(tokens, tags, start, end):
    """Whether what stands between two names tells them apart: a verb does, what says the same of both does not."""
    between = range(start, end)
    return any(tags[place].startswith("VB") for place in between) and not any(tokens[place].lower() in BOTH for place in between)


def is_denied_at(tokens, tags, place):
    """Whether "not" after a word denies the sentence."""
    word, tag, after = tokens[place].lower(), tags[place], tags[place + 1]
    if word not in AUXILIARIES or tag not in FINITE or tokens[place + 1].lower() in PART | {"n't", "to"}:
        return False
    return BEFORE.get(word, after) == after


def affirmed(tokens, tags):
    """The words without their only "not"; None when it denies a part, or there are several."""
    places = [place for place, word in enumerate(tokens) if word in NOT]
    at = places[0]
    is_whole = 0 < at < len(tokens) - 1 and tags[at - 1] in FINITE and tokens[at + 1].lower() not in PART
    if len(places) > 1 or not is_whole or "but" in tokens[at:]:
        return None
    before = [*tokens[: at - 1], CUT.get(tokens[at - 1], tokens[at - 1])]
    return [*before, *tokens[at + 1 :]]


def other_number(word, rng):
    """A number of like size, or None."""
    if word.isdigit() and 0 < int(word) < 10**9:
        number = int(word)
        most = 20 if 1500 <= number <= 2100 else max(2, number // 2)
        return str(number + rng.randint(1, most) if rng.random() < 0.5 or number <= most else number - rng.randint(1, most))
    for row in SPELLED:
        if word.lower() in row:
            return rng.choice([other for other in row if other != word.lower()])
    return None


def free_phrases(tokens, tags):
    """[start, end) of prepositional phrases that may be left out: a preposition, and words to a noun, a name or a number."""
    found = []
    for start, word in enumerate(tokens):
        if word.lower() not in FREE or tags[start] != "IN":
            continue
        end = start + 1
        # A full stop within a text stands at its word: the phrase ends there.
        while end < len(tokens) and tags[end] in INSIDE and "." not in tokens[end]:
            end += 1
        last = tags[end - 1] if end > start + 1 else None
        # More of the phrase follows, or a clause hangs on it.
        follows = tokens[end].lower() if end < len(tokens) else "."
        stands_alone = not follows[:1].isalnum() or (follows != "of" and tags[end] in ("IN", "VBZ", "VBD", "MD"))
        if last in (*NOUNS, *NAMES, "CD") and stands_alone:
            found.append((start, end))
    return found
