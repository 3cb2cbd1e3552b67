"""How right yes and no are: of examples that `yes_no.py` wrote."""

import json

from scipy.stats import rankdata

ANSWERS = "answers.json"


def two_answers(work):
    """The tokens of yes and no, if a directory's examples have two answers."""
    path = work / ANSWERS
    if not path.exists():
        return None
    tokens = json.loads(path.read_text())
    return tokens["yes"], tokens["no"]


def area(scores, is_yes):
    """Under the ROC curve: the share of pairs of a yes and a no of which yes has the higher score. None without both."""
    yes, no = sum(is_yes), len(is_yes) - sum(is_yes)
    if not (yes and no):
        return None
    above = sum(rank for rank, one in zip(rankdata(scores), is_yes) if one)
    return float((above - yes * (yes + 1) / 2) / (yes * no))


def answers_of(odds, is_yes):
    """{"auc", "right"} of log-odds of yes against no."""
    found, right = area(odds, is_yes), sum((of > 0) == one for of, one in zip(odds, is_yes)) / len(odds)
    return {"auc": found and round(found, 4), "right": round(right, 4)}
