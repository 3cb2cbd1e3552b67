"""What is done to a source before it is learned from: marks on words to avoid, and FrameNet's spacing.

A rewriter that is only *kept* from a word at its output often drops the word or bends its spelling, because
nothing in its input said that another word was wanted. So sources carry a mark, `<avoid>`, before some words
that the target does not use, neither in that form nor in another; whoever rewrites under a ban sets the same mark
before what is banned. Half of the sources stay bare, so the model also rewrites without being told; those of close
pairs, which differ in little more than a word, never do, or it would learn to copy.
"""

from .text import FUNCTION_WORDS, WORD, jaccard, same_lemma, spaced, words
from .tokenizer import AVOID

# Token Jaccard above which a pair is close.
CLOSE = 0.65
MARKED_SHARE = 0.5
SPACED_SHARE = 0.3
# How many words are marked, by chance, when some can be.
MARKS = [1, 1, 1, 2, 2, 3]


def avoidable(source, target):
    """Places of content words in the source, names aside, of which the target has no form, as (start, end)."""
    present = set(words(target))
    return [
        (match.start(), match.end())
        for match in WORD.finditer(source)
        if len(match.group()) > 2
        and match.group().isalpha()
        and match.group().islower()
        and match.group() not in FUNCTION_WORDS
        and not any(same_lemma(match.group(), word) for word in present)
    ]


def is_close(source, target):
    return jaccard(set(words(source)), set(words(target))) > CLOSE


def mark(source, places):
    """The source with the mark before each place; places are (start, end)."""
    for start, _ in sorted(places, reverse=True):
        source = source[:start] + AVOID + source[start:]
    return source


def corrupt(source, target, rng, marked_share=MARKED_SHARE, spaced_share=SPACED_SHARE):
    """A source as the model shall see it."""
    marked = rng.random() < marked_share or is_close(source, target)
    if rng.random() < spaced_share:
        source = spaced(source)
    if marked:
        places = avoidable(source, target)
        if places:
            source = mark(source, rng.sample(places, min(len(places), rng.choice(MARKS))))
    return source
