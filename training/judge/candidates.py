"""Asks which score of a beam's outputs picks those that a judge accepts.

    python -m judge.candidates [judge/candidates.jsonl]

The file has sixty exemplars, each with the eight outputs of a beam and a verdict on every one: `ok`, `meaning` (the frame is
evoked, the rest says something else), `bad`. `log_prob` is the rewriter's, `sentence_log_prob` that of the language model
without adapter and prompt, over `tokens`; `aligner` is the best span's score.
"""

import json
import math
import sys
from pathlib import Path

SCORES = {
    "the rewriter's log-probability a token": lambda o: o["log_prob"] / o["tokens"],
    "the rewriter's log-probability": lambda o: o["log_prob"],
    "the same, and the log of the aligner's score": lambda o: o["log_prob"] + math.log(o["aligner"] or 1e-6),
    "the aligner's score": lambda o: o["aligner"],
    "the sentence's log-probability": lambda o: o["sentence_log_prob"],
    "the sentence's log-probability a token": lambda o: o["sentence_log_prob"] / o["tokens"],
    "the rewriter's log-probability less 0.3 of the sentence's": lambda o: o["log_prob"] - 0.3 * o["sentence_log_prob"],
}


def letters(text):
    """A text without what differs in outputs that say the same: case, spaces and punctuation."""
    return "".join(filter(str.isalnum, text.lower()))


def main(arguments):
    path = Path(arguments[0]) if arguments else Path(__file__).with_name("candidates.jsonl")
    items = [json.loads(line)["outputs"] for line in path.read_text(encoding="utf-8").splitlines()]
    print("ok\tok or meaning\tpicked by")
    for name, score in SCORES.items():
        picked = [max(outputs, key=score)["verdict"] for outputs in items]
        print(f"{picked.count('ok')}\t{len(picked) - picked.count('bad')}\t{name}")
    verdicts = [{output["verdict"] for output in outputs} for outputs in items]
    print(f"{sum('ok' in some for some in verdicts)}\t{sum(some != {'bad'} for some in verdicts)}\tany of the eight")
    different = [len({letters(output["text"]) for output in outputs}) for outputs in items]
    print(f"different outputs, but for punctuation: {sum(different) / len(different):.1f} of 8")


if __name__ == "__main__":
    main(sys.argv[1:])
