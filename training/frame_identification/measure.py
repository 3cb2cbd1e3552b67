"""How well spans and frames are found, exactly, and frames at gold spans.

A span is found if its likeliest label is a frame, as in the paper: each span by itself, and no lexicon. Beside that, the
bias of NULL with the highest F1 on dev is tried, and the candidates of the lexicon.
"""

from dataclasses import dataclass, field

import torch

BATCH = 32
BIASES = [step / 4 for step in range(-16, 17)]


def f1(right, found, gold):
    return 2 * right / (found + gold) if found + gold else 0.0


@dataclass
class Found:
    """What a network says of the spans of some sentences. Lists of a number each span, or each target."""

    gold: list = field(default_factory=list)  # the frame, -1 for none
    best: list = field(default_factory=list)  # the likeliest frame
    margin: list = field(default_factory=list)  # by how much its score exceeds that of NULL
    best_listed: list = field(default_factory=list)  # so of the lexicon's frames alone
    margin_listed: list = field(default_factory=list)  # minus infinity where it has none
    targets: list = field(default_factory=list)  # (frame, likeliest one, likeliest one with the lexicon, is its LU known)

    def spans(self, bias, listed=False):
        """Precision, recall and F1 of spans with frames, in percent."""
        best, margin = (self.best_listed, self.margin_listed) if listed else (self.best, self.margin)
        found = [(frame, gold) for frame, over, gold in zip(best, margin, self.gold) if over > bias]
        right = sum(frame == gold for frame, gold in found)
        shares = (right / max(1, len(found)), right / max(1, len(self.targets)), f1(right, len(found), len(self.targets)))
        return {name: round(100 * share, 2) for name, share in zip(("precision", "recall", "f1"), shares)}

    def bias(self, listed=False):
        """The bias at which F1 is highest, the nearest to zero of equal ones."""
        return max(BIASES, key=lambda bias: (self.spans(bias, listed)["f1"], -abs(bias)))

    def figures(self, bias, bias_listed):
        def accuracy(targets, way):
            return round(100 * sum(target[0] == target[way] for target in targets) / max(1, len(targets)), 2)

        return {
            "targets": len(self.targets),
            "spans": self.spans(0.0),
            "spans, tuned bias": self.spans(bias),
            "spans, lexicon": self.spans(0.0, listed=True),
            "spans, lexicon, tuned bias": self.spans(bias_listed, listed=True),
            "accuracy": accuracy(self.targets, 1),
            "accuracy, lexicon": accuracy(self.targets, 2),
            "accuracy, unseen LUs": accuracy([of for of in self.targets if not of[3]], 1),
            "unseen LUs": sum(not of[3] for of in self.targets),
        }


@torch.inference_mode()
def found(network, corpus, places, seen):
    """What a network says of some sentences; `seen` are the LUs of the human sentences that it learned from, (frame, name)."""
    network.eval()
    all_found = Found()
    for begin in range(0, len(places), BATCH):
        group = places[begin : begin + BATCH]
        spans = [corpus.searched(at) for at in group]
        logits = network(corpus.batch(group, spans)).split([len(of) for of in spans])
        for at, of, scores in zip(group, spans, logits):
            add(all_found, corpus, corpus.sentences[at], [span[:2] for span in of], scores, seen)
    network.train()
    return all_found


def add(found, corpus, sentence, spans, scores, seen):
    """Adds a sentence with its spans and the scores of their labels."""
    null = scores[:, -1]
    best = scores[:, :-1].max(-1)
    labels, margins = best.indices.tolist(), (best.values - null).tolist()
    listed, over = [-1] * len(spans), [float("-inf")] * len(spans)
    for row, (first, length) in enumerate(spans):
        form = " ".join(sentence["words"][first : first + length]).lower()
        frames = [corpus.number[frame] for frame in corpus.lexicon.get(form, ())]
        if frames:
            score, at = scores[row, frames].max(0)
            listed[row], over[row] = frames[at], (score - null[row]).item()
    row_of = {span: row for row, span in enumerate(spans)}
    gold = [-1] * len(spans)
    for target in sentence["targets"]:
        frame = corpus.number.get(target["frame"], -2)
        row = row_of[tuple(target["words"][:2])] if target["words"] else None
        known = (target["frame"], target["lu"]) in seen
        if row is None:
            found.targets.append((frame, None, None, known))
            continue
        # Without an LU of the form, the lexicon says nothing, and any frame is possible.
        found.targets.append((frame, labels[row], listed[row] if listed[row] >= 0 else labels[row], known))
        if target["words"][2]:
            gold[row] = frame
    found.gold += gold
    found.best += labels
    found.margin += margins
    found.best_listed += listed
    found.margin_listed += over
