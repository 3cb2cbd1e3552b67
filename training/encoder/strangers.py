"""Sentence pairs one side of which has a sentence beside it that belongs to another pair.

In manual data of close paraphrases nearly every word answers to something; a text and a short summary, or a hypothesis, of it is
another matter. The words of a stranger have no link, so that what is learnt holds where most words have none.
"""

# Of both sides together: they must fit, and long ones cost most.
MOST_WORDS = 120
NOTHING = ((0, 0), (0, 0))


def beside(sides, other, rng):
    """The words of both sides, one of them with the same side of another pair before or behind it, and how many words came
    before and behind each side; as they were where that would be too many words, or the other pair is the same."""
    side, before = rng.randrange(2), rng.random() < 0.5
    stranger = other[side]
    if list(other[:2]) == list(sides) or sum(map(len, sides)) + len(stranger) > MOST_WORDS:
        return list(sides), NOTHING
    sides = list(sides)
    sides[side] = stranger + sides[side] if before else sides[side] + stranger
    added = [(0, 0), (0, 0)]
    added[side] = (len(stranger), 0) if before else (0, len(stranger))
    return sides, tuple(added)
