"""Word links beside the span aligner, as fnstore computes them (src/align/link_network.rs, src/align/link_scores.rs).

A second small network scores every word of a sentence against every word of its paraphrase, on the same states that the
head reads, and learns from manual word alignments. What it says of a source span and a candidate are further cues of
the head's (`span_cues`): whether the candidate's edges answer to the span, and whether a word outside it does.
"""

import json
from functools import lru_cache

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, normalize, pad

PAIR_CUES = 18
SPAN_CUES = 10
SHARPNESS = 10.0
COMPANY = 3
# What a possible link is to score.
POSSIBLE = 0.5
HIDDEN = 96
FEATURES = "difference, product, 18 cues"
THRESHOLDS = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9]
MUTUAL = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0]


def fold(word):
    return word.lower().replace("\u03c2", "\u03c3")


def likeness(a, b):
    if a == b:
        return 1.0
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    share = shared / max(len(a), len(b))
    return share * share if share >= 0.5 else 0.0


@lru_cache(maxsize=20_000)
def of_words(source, target):
    """What needs no states: (likeness (N, M), flags of the source (N, 2), of the target (M, 2))."""
    source, target = [fold(word) for word in source], [fold(word) for word in target]
    like = torch.tensor([[likeness(a, b) for b in target] for a in source])
    flags = [
        torch.tensor([[float(not any(map(str.isalnum, word))), float(len(word) <= 3)] for word in words])
        for words in (source, target)
    ]
    return like, *flags


def beside(grid, step, beyond):
    """The grid's number `step` words further on both sides; `beyond` past an end of one, 1 past the same end of both."""
    n, m = grid.shape
    size = abs(step)
    moved = pad(grid, (size,) * 4, value=beyond)
    moved = moved[size + step : size + step + n, size + step : size + step + m].clone()
    corner = min(size, n), min(size, m)
    if step < 0:
        moved[: corner[0], : corner[1]] = 1.0
    else:
        moved[n - corner[0] :, m - corner[1] :] = 1.0
    return moved


def mean_states(sums, pieces):
    """The mean state of each word, (N, D), of the sums that `head.encode` makes."""
    return (sums[1:] - sums[:-1]) / (pieces[1:] - pieces[:-1]).clamp(min=1)[:, None]


def pair_features(source, target, words):
    """(N, M, 2 D + 18) of word states (N, D), (M, D) and the words of both sides."""
    like, *flags = (part.to(source.device) for part in of_words(*words))
    equal = (like == 1.0).float()
    (n, m), grid = like.shape, like.new_ones(like.shape)
    cosine = normalize(source, dim=1) @ normalize(target, dim=1).T
    sharp = (SHARPNESS * cosine).exp()
    company = sum(beside(equal, step, 0.0) for step in range(-COMPANY, COMPANY + 1) if step)
    middle = [(torch.arange(size, device=like.device) + 0.5) / size for size in (n, m)]
    cues = [
        cosine,
        cosine - cosine.amax(1, keepdim=True),
        cosine - cosine.amax(0, keepdim=True),
        sharp / sharp.sum(1, keepdim=True),
        sharp / sharp.sum(0, keepdim=True),
        like,
        equal,
        beside(cosine, -1, 0.0),
        beside(cosine, 1, 0.0),
        beside(equal, -1, 0.0),
        beside(equal, 1, 0.0),
        company / (2 * COMPANY),
        (middle[0][:, None] - middle[1]).abs(),
        1 / (1 + equal.sum(1, keepdim=True)) * grid,
        1 / (1 + equal.sum(0, keepdim=True)) * grid,
        flags[0][:, :1] - flags[1][:, 0],
        flags[0][:, 1:] * grid,
        flags[1][:, 1] * grid,
    ]
    difference = (source[:, None] - target[None]).abs()
    return torch.cat([difference, source[:, None] * target[None], torch.stack(cues, 2)], 2)


def span_cues(links, span, spans):
    """(candidates, 10) of scores of word links in [0, 1], (N, M), a source span and candidates, (start, end) each.

    A word of the target answers to the span as surely as to the word of it that it is linked best with.
    """
    start, end = span
    at = torch.tensor(spans, device=links.device)
    first, after = at[:, 0], at[:, 1]
    words = torch.arange(links.shape[1], device=links.device)
    inside = (words >= first[:, None]) & (words < after[:, None])
    of_span = links[start:end]
    answers = of_span.amax(0)
    others = torch.cat([links[:start], links[end:], links.new_zeros(1, links.shape[1])]).amax(0)
    edged = pad(answers, (1, 1))
    most = lambda numbers, where: torch.where(where, numbers, 0.0).amax(-1)
    mean = lambda numbers: torch.where(inside, numbers, 0.0).sum(1) / (after - first)
    return torch.stack(
        [
            answers[first],
            answers[after - 1],
            edged[first],
            edged[after + 1],
            most(answers, words < first[:, None]),
            most(answers, words >= after[:, None]),
            mean(answers),
            most(of_span[:, None], inside).mean(0),
            most(of_span[:, None], ~inside).mean(0),
            mean(others),
        ],
        1,
    )


def read(paths):
    """{(source words, target words): wanted scores (N, M)} of files of manual word alignments, as `fnstore train words`
    takes them: source and target (lists of words, or texts cut at spaces), sure, possible ([source, target] each)."""
    wanted = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                pair = json.loads(line)
                sides = [side.split() if isinstance(side := pair[of], str) else side for of in ("source", "target")]
                scores = torch.zeros(*map(len, sides))
                for kind, score in (("possible", POSSIBLE), ("sure", 1.0)):
                    for i, j in pair.get(kind, []):
                        if not (0 <= i < len(sides[0]) and 0 <= j < len(sides[1])):
                            raise SystemExit(f"{path} line {number}: `{kind}` has [{i}, {j}], which is outside the pair")
                        scores[i, j] = score
                if scores.numel():
                    wanted[tuple(sides[0]), tuple(sides[1])] = scores
    return wanted


def wanted(links, source, target):
    """What `read` read of a pair in either direction; None where it has nothing."""
    one, other = tuple(source), tuple(target)
    if (one, other) in links:
        return links[one, other]
    return links[other, one].T if (other, one) in links else None


def loss(logits, wanted):
    """Binary cross-entropy, its sum for a word of the source."""
    return binary_cross_entropy_with_logits(logits, wanted, reduction="sum") / len(wanted)


def decode(scores, threshold, mutual):
    """The links that scores (N, M) give: those that reach the threshold, and those that are the best of both their words
    and reach the other one."""
    best = (scores >= scores.amax(1, keepdim=True)) & (scores >= scores.amax(0, keepdim=True))
    return (scores >= threshold) | (best & (scores >= mutual))


def error_rate(scored, threshold, mutual):
    """AER = 1 - (|A n S| + |A n P|) / (|A| + |S|) over [(scores, wanted)] (Och and Ney 2003)."""
    right = of = 0
    for scores, wanted in scored:
        links, sure = decode(scores, threshold, mutual), wanted == 1.0
        right += int((links & sure).sum() + (links & (wanted > 0)).sum())
        of += int(links.sum() + sure.sum())
    return 1 - right / max(1, of)


def tuned(scored):
    """(threshold, threshold of mutual best links) of the lowest error rate."""
    tried = [(threshold, mutual) for threshold in THRESHOLDS for mutual in MUTUAL]
    return min(tried, key=lambda both: error_rate(scored, *both))
