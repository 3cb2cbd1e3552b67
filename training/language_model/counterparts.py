"""Which words of a source another word stands for in the target.

A rewriter that learns to avoid words for which nothing stands in the target learns to drop them. So words are aligned, and
only those are avoided that are linked to words of another lemma, which are linked to nothing else.
"""

from dataclasses import dataclass

from paraphrase.text import FUNCTION_WORDS, same_lemma

LONGEST_PHRASE = 3
LONGEST_COUNTERPART = 3


@dataclass(frozen=True)
class Replaced:
    """Source words [start, end) and the target words [first, last) that stand for them."""

    start: int
    end: int
    first: int
    last: int


def is_word(token):
    """Whether it is a small word of letters, so no name."""
    return token.isascii() and token.isalpha() and token.islower()


def is_content(token):
    return is_word(token) and len(token) > 2 and token not in FUNCTION_WORDS


class Links:
    def __init__(self, links):
        self.to, self.back = {}, {}
        for source, target in links:
            self.to.setdefault(source, set()).add(target)
            self.back.setdefault(target, set()).add(source)

    def across(self, start, end):
        """The target words [first, last) that source words [start, end) are linked to, when all links of these lead back
        and the first and the last source word are linked to one of them in common; None when not."""
        if not (self.to.get(start, set()) & self.to.get(end - 1, set())):
            return None
        linked = set().union(*(self.to.get(place, set()) for place in range(start, end)))
        first, last = min(linked), max(linked) + 1
        back = set().union(*(self.back.get(place, set()) for place in range(first, last)))
        return (first, last) if back <= set(range(start, end)) else None


def replaced(source, target, links, lexicon):
    """The words and phrases of a source (a list of words) that others stand for in the target, phrases first."""
    links, found = Links(links), []
    theirs = {word.lower() for word in target if word[0].isalpha()}
    families = frozenset().union(*map(lexicon.family, theirs)) if theirs else frozenset()

    def is_gone(word):
        return not (lexicon.family(word) & families or any(same_lemma(word, other) for other in theirs))

    gone = {place for place, word in enumerate(source) if is_content(word) and is_gone(word)}
    for length in range(LONGEST_PHRASE, 0, -1):
        for start in range(len(source) - length + 1):
            span = range(start, start + length)
            contents = [place for place in span if source[place] not in FUNCTION_WORDS]
            if not (all(is_word(source[place]) for place in span) and contents and gone.issuperset(contents)):
                continue
            across = links.across(start, start + length)
            if across is None or across[1] - across[0] > LONGEST_COUNTERPART:
                continue
            counterpart = target[slice(*across)]
            if all(map(is_word, counterpart)) and any(map(is_content, counterpart)):
                found.append(Replaced(start, start + length, *across))
    return found


def coverage(source, target, links):
    """The smaller share, of both sides, of content words that are linked."""
    shares = []
    for words, linked in ((source, {i for i, _ in links}), (target, {j for _, j in links})):
        contents = [place for place, word in enumerate(words) if is_content(word)]
        shares.append(sum(place in linked for place in contents) / len(contents) if contents else 1.0)
    return min(shares)


def cuts(source, target, links):
    """(i, j) where a pair can be cut in two, as what stands before i in the source is linked to what stands before j in
    the target alone. Both words after the cut are linked to each other."""
    found = []
    reach = -1
    for place in range(len(source)):
        after = [j for i, j in links if i >= place]
        before = [j for i, j in links if i < place]
        reach = max(before, default=-1)
        if after and min(after) > reach and (place, min(after)) in links:
            found.append((place, min(after)))
    return found
