"""Words and spelling of training text: what the filters, the marks and the measures share."""

import re
import unicodedata

# Typographic signs and what ASCII writes for them.
PUNCTUATION = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u00b4": "'",
        "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u00ab": '"', "\u00bb": '"',
        "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-",
        "\u2212": "-", "\u2026": "...", "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "",
        "\ufeff": "", "\uff0c": ",", "\uff0e": ".", "\uff01": "!", "\uff1f": "?", "\uff1a": ":",
        "\uff1b": ";", "\uff08": "(", "\uff09": ")", "\u3002": ".", "\u3001": ",",
    }
)
WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|[0-9]+(?:[.,][0-9]+)*")
NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")

# Words too common to be worth a constraint, or to say what a sentence is about.
FUNCTION_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before being below
    between both but by can cannot could did do does doing down during each every few for from further get got had
    has have having he her here hers herself him himself his how i if in into is it its itself just me might more
    most must my myself no nor not now of off on once one only or other our ours ourselves out over own per same
    shall she should so some such than that the their theirs them themselves then there these they this those
    through to too under until up upon us very was we were what when where which while who whom whose why will with
    within without would you your yours yourself yourselves""".split()
)


def normalise(text):
    """Typographic punctuation as ASCII, one space between words, none at the ends."""
    return " ".join(unicodedata.normalize("NFC", text).translate(PUNCTUATION).split())


def words(text):
    """The words of a text, small."""
    return WORD.findall(text.lower())


def jaccard(a, b):
    """The share that two sets have in common."""
    return len(a & b) / len(a | b)


def same_lemma(a, b):
    """Whether two words look like forms of one lemma. Errs towards yes: a constraint that the target
    breaks teaches the wrong thing, one that is left out teaches nothing."""
    if a == b:
        return True
    shared = max(3, min(len(a), len(b)) - 3)
    return a[:shared] == b[:shared]


def spaced(text):
    """The text as FrameNet writes it: marks and clitics stand apart, as in `He could n't , he said .`"""
    text = re.sub(r"([,;:?!()\"]|\.\.\.)", r" \1 ", text)
    text = re.sub(r"([A-Za-z])(n't)\b", r"\1 \2", text)
    text = re.sub(r"([A-Za-z])('(?:s|re|ve|ll|d|m))\b", r"\1 \2", text, flags=re.IGNORECASE)
    text = re.sub(r"\.$", " .", text)
    return " ".join(text.split())


def unspaced(text):
    """The text as everybody else writes it; undoes `spaced`, but for single quotation marks."""
    text = re.sub(r" (n't|'(?:s|re|ve|ll|d|m))(?![A-Za-z])", r"\1", text, flags=re.IGNORECASE)
    text = re.sub(r" ([,;:?!)]|\.\.\.)", r"\1", text)
    text = re.sub(r" \.(?= |$)", ".", text)
    text = re.sub(r"\( ", "(", text)
    parts = text.split('"')
    # What stands between an odd and an even mark is quoted; a mark without a partner stays as it is.
    for at in range(1, len(parts) - len(parts) % 2, 2):
        parts[at] = parts[at].strip()
    return " ".join('"'.join(parts).split())
