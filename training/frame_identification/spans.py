"""Spans of words: which there are, which are learned from, and what a target's words are."""

# Culkin et al. (2021): 0.24 % of targets have more.
MAX_WORDS = 3


def all_spans(words):
    """(first, length) of every span of so many words."""
    return [(first, length) for first in range(words) for length in range(1, min(MAX_WORDS, words - first) + 1)]


def places(text, words):
    """Where each word stands in its text. Words follow one another with nothing but white space between them."""
    found, at = [], 0
    for word in words:
        start = text.index(word, at)
        at = start + len(word)
        found.append((start, at))
    return found


def covered(places, start, end):
    """The words that a target covers, at least in part, as (first, length, whether it ends where they do); None if they
    are none or too many."""
    over = [at for at, (first, last) in enumerate(places) if first < end and start < last]
    if not over or over[-1] - over[0] >= MAX_WORDS:
        return None
    exact = (places[over[0]][0], places[over[-1]][1]) == (start, end)
    return over[0], over[-1] + 1 - over[0], exact


def labelled(words, whole, targets):
    """The spans to learn from with their frames, None for NULL. Full text gives all spans of its words, any other
    sentence its targets alone: (first, length, frame) in order."""
    frames = {}
    for first, length, frame in targets:
        frames.setdefault((first, length), frame)
    spans = all_spans(words) if whole else sorted(frames)
    return [(*span, frames.get(span)) for span in spans]
