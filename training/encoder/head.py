"""The span aligner's head as fnstore computes it (src/align): features, candidates, counts, files.

Everything is in words; spans are half-open. A head is trained without batch normalisation, which suits states that
move while it learns, and written with one that changes nothing.
"""

import json
from collections import Counter

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from . import links
from .student import Cut

# Most words by which a candidate may be longer or shorter than the source span.
REACH = 5
CUE_SCALE = 10.0
CUES = 4
NEAR = 3
# Candidates of a source span that a step looks at.
SAMPLE = 60
# Pairs that an encoder gets at once.
TOGETHER = 8
# Added to a variance before its root is taken; what a variance of "no change" has to leave room for.
EPSILON = 1e-5
FEATURES = ["difference", "maximum", "source_start", "source_length", "candidate_start", "candidate_length"]
LINK_FEATURES = [
    "link_first", "link_last", "link_before", "link_after", "link_left", "link_right", "link_inside", "link_answered",
    "link_answered_outside", "link_elsewhere",
]


class Network(torch.nn.Module):
    """One hidden layer: the head, and the linker that may stand beside it."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = torch.nn.Linear(inputs, hidden)
        self.prelu = torch.nn.PReLU()
        self.output = torch.nn.Linear(hidden, 1)

    def forward(self, features):
        """Logits, one a row. While it learns, the wide product is in bf16, as the encoder's are."""
        with torch.autocast(features.device.type, dtype=torch.bfloat16, enabled=torch.is_grad_enabled()):
            hidden = self.hidden(features)
        return self.output(self.prelu(hidden.float())).squeeze(-1)

    def load(self, path):
        """Reads what `tensors` wrote."""
        tensors = load_file(path)
        self.load_state_dict({name: tensors[name] for name in self.state_dict()})

    def tensors(self):
        units = self.hidden.out_features
        norm = {
            "norm.weight": torch.ones(units),
            "norm.bias": torch.zeros(units),
            "norm.running_mean": torch.zeros(units),
            "norm.running_var": torch.full((units,), 1 - EPSILON),
        }
        return {name: tensor.detach().cpu() for name, tensor in self.state_dict().items()} | norm


def network(width, linked):
    """An untrained head for states so wide, which sees word links or does not."""
    inputs = 2 * width + CUES + linked * links.SPAN_CUES
    return Network(inputs, inputs // 2)


def linker(width):
    """An untrained linker for states so wide."""
    return Network(2 * width + links.PAIR_CUES, links.HIDDEN)


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def opened_tokenizer(directory):
    """A model directory's tokenizer, which neither pads nor cuts off."""
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def gold_span(item):
    """The aligned target span, (start, end); None where nothing answers."""
    return tuple(item["target_span"]) if item["target_span"] else None


def by_pair(items):
    """The items of each sentence pair: [(source words, target words, items)]."""
    groups = {}
    for item in items:
        groups.setdefault((tuple(item["source"]), tuple(item["target"])), []).append(item)
    return [(list(source), list(target), of_pair) for (source, target), of_pair in groups.items()]


def that_fit(model, tokenizer, groups):
    """The groups of `by_pair` that the model has positions for, and the others."""
    cuts = tokenizer.encode_batch([(source, target) for source, target, _ in groups], is_pretokenized=True)
    most = model.config.max_position_embeddings
    fit = [len(cut.ids) <= most for cut in cuts]
    return [g for g, fits in zip(groups, fit) if fits], [g for g, fits in zip(groups, fit) if not fits]


def encode(model, tokenizer, pairs, device, exact=False):
    """For each pair ((S + 1, D), (S + 1), (T + 1, D), (T + 1)): the states of the pieces of all words before a word,
    summed, and their number; first of the source, then of the target. Computed in bf16 unless `exact`, pairs of similar
    length together, as padding costs as much as pieces."""
    encodings = tokenizer.encode_batch([(source, target) for source, target, *_ in pairs], is_pretokenized=True)
    result = [None] * len(pairs)
    order = sorted(range(len(pairs)), key=lambda at: len(encodings[at].ids))
    for begin in range(0, len(order), TOGETHER):
        group = order[begin : begin + TOGETHER]
        cut = Cut([encodings[at] for at in group]).to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=not exact):
            states = model(input_ids=cut.ids, attention_mask=cut.mask, token_type_ids=cut.types).last_hidden_state.float()
        for at, row in zip(group, states):
            result[at] = sums(row, encodings[at], *map(len, pairs[at][:2]))
    return result


def sums(states, encoding, *counts):
    """What `encode` gives of one pair: of the states of its pieces (P, D), for sides of so many words."""
    result = []
    for side, words in enumerate(counts):
        at = [i for i, of in enumerate(encoding.sequence_ids) if of == side]
        # Row w + 1 gets the pieces of word w, so that a running sum holds all words before.
        word = torch.tensor([encoding.word_ids[i] + 1 for i in at], device=states.device)
        of_words = states.new_zeros(words + 1, states.shape[1]).index_add(0, word, states[at])
        result += [of_words.cumsum(0), torch.bincount(word, minlength=words + 1).cumsum(0)]
    return result


def word_states(sums):
    """The mean states of the words of both sides, (S + T, D)."""
    return torch.cat([links.mean_states(*sums[:2]), links.mean_states(*sums[2:])])


def candidates(length, words):
    """Spans of the target, by start, then by end."""
    return [
        (start, end)
        for start in range(words)
        for end in range(start + max(1, length - REACH), min(start + length + REACH, words) + 1)
    ]


def distance(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def sampled(spans, gold, count, rng):
    """The spans near the gold one, and others by chance, `count` in all."""
    near = [span for span in spans if gold and distance(span, gold) <= NEAR]
    others = [span for span in spans if not gold or distance(span, gold) > NEAR]
    return near + rng.sample(others, max(0, min(len(others), count - len(near))))


def linked(linker, sums, pair):
    """Logits of the links between all words of a pair, (N, M)."""
    means = word_states(sums).split(list(map(len, pair[:2])))
    return linker(links.pair_features(*means, (tuple(pair[0]), tuple(pair[1]))))


def features(sums, span, spans, scores=None):
    """What the head sees of a source span and each candidate: (candidates, 2 D + 4), 10 more where there are scores
    of word links (N, M)."""
    source, source_pieces, target, target_pieces = sums
    (start, end), at = span, torch.tensor(spans, device=source.device)
    mine = (source[end] - source[start]) / (source_pieces[end] - source_pieces[start]).clamp(min=1)
    pieces = target_pieces[at[:, 1]] - target_pieces[at[:, 0]]
    theirs = (target[at[:, 1]] - target[at[:, 0]]) / pieces.clamp(min=1)[:, None]
    mine = mine.expand_as(theirs)
    cues = at.new_tensor([start, end - start, 0, 0]).repeat(len(spans), 1)
    cues[:, 2], cues[:, 3] = at[:, 0], at[:, 1] - at[:, 0]
    of_links = [] if scores is None else [links.span_cues(scores, span, spans)]
    return torch.cat([mine - theirs, torch.maximum(mine, theirs), cues / CUE_SCALE, *of_links], 1)


def labels(spans, gold):
    """2^-d; 0 where nothing answers."""
    return torch.tensor([2.0 ** -distance(span, gold) if gold else 0.0 for span in spans])


@torch.inference_mode()
def scored_links(model, linker, tokenizer, pairs, device):
    """[(scores of the links (N, M), wanted ones)] of what `links.read` read; pairs that are too long are left out."""
    model.eval()
    groups, _ = that_fit(model, tokenizer, [(source, target, wanted) for (source, target), wanted in pairs.items()])
    scored = []
    for at in range(0, len(groups), 32):
        chunk = groups[at : at + 32]
        for (source, target, wanted), sums in zip(chunk, encode(model, tokenizer, chunk, device)):
            scored.append((linked(linker, sums, (source, target)).sigmoid().cpu(), wanted))
    return scored


@torch.inference_mode()
def answers(model, head, linker, tokenizer, items, device):
    """(item, best span or None, its score in [0, 1]) of every item that the model has positions for; the linker may be
    None."""
    model.eval()
    found = []
    groups, _ = that_fit(model, tokenizer, by_pair(items))
    groups.sort(key=lambda group: len(group[0]) + len(group[1]))
    for at in range(0, len(groups), 32):
        chunk = groups[at : at + 32]
        for (source, target, of_pair), sums in zip(chunk, encode(model, tokenizer, chunk, device)):
            scores_of_links = linked(linker, sums, (source, target)).sigmoid() if linker else None
            for item in of_pair:
                start, end = item["source_span"]
                spans = candidates(end - start, len(target))
                if not spans:
                    found.append((item, None, 0.0))
                    continue
                scores = head(features(sums, (start, end), spans, scores_of_links)).sigmoid()
                best = int(scores.argmax())
                found.append((item, spans[best], scores[best].item()))
    model.train()
    return found


def report(found, threshold):
    """Counts as fnstore's `config.json` holds them; spans scored below the threshold are held back."""
    parts = {name: {"exact": Counter(), "soft": Counter()} for name in ("all", "changed", "identical")}
    unaligned, covered = Counter(), 0
    for item, span, score in found:
        gold = gold_span(item)
        span = span if span and score >= threshold else None
        names = ["all"] + ([] if gold is None else ["changed" if item["changed"] else "identical"])
        exact, soft = counts(span, gold)
        for name in names:
            parts[name]["exact"].update(exact)
            parts[name]["soft"].update(soft)
        unaligned.update(right=int(span is None and gold is None), predicted=int(span is None), gold=int(gold is None))
        start, end = item["source_span"]
        covered += gold is not None and abs((gold[1] - gold[0]) - (end - start)) <= REACH
    return parts | {"unaligned": unaligned, "covered": covered}


def counts(span, gold):
    long = lambda one: one[1] - one[0] if one else 0
    shared = max(0, min(span[1], gold[1]) - max(span[0], gold[0])) if span and gold else 0
    right = int(span is not None and span == gold)
    exact = {"right": right, "predicted": int(span is not None), "gold": int(gold is not None)}
    return exact, {"right": shared, "predicted": long(span), "gold": long(gold)}


def f1(of):
    return 2 * of["right"] / max(1, of["predicted"] + of["gold"])


def best_threshold(found):
    """The lowest score that, as a threshold, gives the best exact F1."""
    gold = sum(item["target_span"] is not None for item, *_ in found)
    scored = sorted((score, span == tuple(item["target_span"] or ())) for item, span, score in found if span)
    right, predicted = sum(correct for _, correct in scored), len(scored)
    best, threshold = 2 * right / (predicted + gold), 0.0
    for dropped, (score, correct) in enumerate(scored[:-1], 1):
        right -= correct
        reached = 2 * right / (predicted - dropped + gold)
        # Halfway to the next score, which must differ: equal scores stay or go together.
        if reached > best and scored[dropped][0] > score:
            best, threshold = reached, (score + scored[dropped][0]) / 2
    return threshold
