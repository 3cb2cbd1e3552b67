"""Whether the rewriter's own cross-attention says which word answers to which, and whether it adds to a linker.

    python -m encoder attention --words DEV.jsonl ... --rewriter models/paraphrase --aligner BEST

Every pair is forced through the rewriter in both directions, spaced as the rewriter reads and writes, and what each head of each
decoder layer looks at is pooled over the pieces of words: as it predicts a piece, and as it reads it one step later (Chen et
al. 2020, "Accurate Word Alignment Induction from Neural Machine Translation"). Printed is each head's alignment error rate, of
words that look at each other most; then that of the linker in BEST (of `align`, or what `unpack` made), alone and in a
logistic regression with all heads beside it, learnt on one half of the pairs and measured on the other, both ways round. Pairs that
share a sentence are in one half. The pairs are people's, in small letters: nobody has linked the words of sentences that the rewriter wrote.
"""

import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import MarianConfig, MarianMTModel

import quantize

from paraphrase.text import unspaced

from . import links
from .head import that_fit
from .teachers import Teacher

STEPS = 300
# What a word has to look at another with to be linked with it.
FLOOR = 1e-4


def rewriter(directory):
    """The shipped weights in f32, and its tokenizer."""
    model = MarianMTModel(MarianConfig.from_pretrained(directory, attn_implementation="eager"))
    missing, _ = model.load_state_dict(quantize.dequantize(quantize.read(directory)), strict=False)
    # What is tied to the shared embeddings, and the positions, which are computed.
    unknown = [name for name in missing if "embed" not in name and name not in ("lm_head.weight", "final_logits_bias")]
    if unknown:
        raise SystemExit(f"{directory} lacks {unknown}")
    model.tie_weights()
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    return model.eval(), tokenizer


def cut(tokenizer, words):
    """The pieces of a sentence, spaced as people write, and the word that each begins in (the end of the sentence is no word's: -1)."""
    text = unspaced(" ".join(words))
    word_of, place = {}, 0
    for at, word in enumerate(words):
        place = text.index(word, place)
        word_of |= dict.fromkeys(range(place, place + len(word)), at)
        place += len(word)
    encoding = tokenizer.encode(text)
    inside = lambda start, end: next((word_of[place] for place in range(start, end) if place in word_of), -1)
    return encoding.ids, [inside(*offsets) for offsets in encoding.offsets]


@torch.no_grad()
def looks(model, tokenizer, source, target):
    """(2 * layers * heads, M, N): how much each word of the target looks at each of the source; predicting, then reading."""
    (source_ids, of_source), (target_ids, of_target) = cut(tokenizer, source), cut(tokenizer, target)
    begun = [model.config.decoder_start_token_id, *target_ids]
    output = model(
        input_ids=torch.tensor([source_ids]), decoder_input_ids=torch.tensor([begun]), output_attentions=True
    )
    weights = torch.cat([of_layer[0] for of_layer in output.cross_attentions])
    pools = []
    for steps in (weights[:, :-1], weights[:, 1:]):
        of_words = steps.new_zeros(len(weights), len(target) + 1, steps.shape[2])
        of_words.index_add_(1, torch.tensor(of_target) % (len(target) + 1), steps[:, : len(of_target)])
        both = steps.new_zeros(len(weights), len(target) + 1, len(source) + 1)
        both.index_add_(2, torch.tensor(of_source) % (len(source) + 1), of_words)
        pieces = torch.bincount(torch.tensor(of_target) % (len(target) + 1), minlength=len(target) + 1)[:-1].clamp(min=1)
        pools.append(both[:, :-1, :-1] / pieces[None, :, None])
    return torch.cat(pools)


def mutual(scores, wanted):
    """Counts for the error rate of words that are each the other's best."""
    best = (scores >= scores.amax(1, keepdim=True)) & (scores >= scores.amax(0, keepdim=True)) & (scores > FLOOR)
    sure = wanted == 1.0
    return int((best & sure).sum() + (best & (wanted > 0)).sum()), int(best.sum() + sure.sum())


def regression(examples):
    """A logistic regression over the rows of [(features (N, M, F), wanted (N, M))]: from features to scores."""
    rows = torch.cat([features.flatten(0, 1) for features, _ in examples])
    wanted = torch.cat([wanted.flatten() for _, wanted in examples])
    mean, deviation = rows.mean(0), rows.std(0).clamp(min=1e-6)
    layer = torch.nn.Linear(rows.shape[1], 1)
    optimiser = torch.optim.LBFGS(layer.parameters(), max_iter=STEPS, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        loss = binary_cross_entropy_with_logits(layer((rows - mean) / deviation).squeeze(-1), wanted)
        loss.backward()
        return loss

    optimiser.step(closure)
    return lambda features: layer((features - mean) / deviation).squeeze(-1).sigmoid().detach()


def halves(pairs):
    """Two lists of places, those of pairs that share a sentence in the same one; a pair between both is in none."""
    half_of, parts = {}, ([], [])
    for at, pair in enumerate(pairs):
        known = {half_of[sentence] for sentence in pair if sentence in half_of}
        if len(known) < 2:
            half = known.pop() if known else int(len(parts[0]) > len(parts[1]))
            half_of |= dict.fromkeys(pair, half)
            parts[half].append(at)
    return parts


def crossed(mine, other):
    """The error rate on one half's [(features, wanted)] with weights and thresholds of the other."""
    score = regression(other)
    scored = lambda part: [(score(features), wanted) for features, wanted in part]
    return links.error_rate(scored(mine), *links.tuned(scored(other)))


def main(arguments):
    parser = argparse.ArgumentParser(prog="encoder attention", description=__doc__.split("\n")[0])
    parser.add_argument("--words", type=Path, nargs="+", required=True, help="files of manual word alignments")
    parser.add_argument("--rewriter", type=Path, required=True, help="models/paraphrase")
    parser.add_argument("--aligner", type=Path, required=True, help="a run's `best/`, or what `unpack` made")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    torch.manual_seed(1)
    model, tokenizer = rewriter(given.rewriter)
    teacher = Teacher(given.aligner)
    for path in given.words:
        fit, _ = that_fit(teacher.model, teacher.tokenizer, [(*pair, wanted) for pair, wanted in links.read([path]).items()])
        pairs = [((source, target), wanted) for source, target, wanted in fit]
        parts = halves([pair for pair, _ in pairs])
        examples, counts = [], None
        for ((source, target), wanted), (_, scores) in zip(pairs, linked_by(teacher, pairs)):
            seen = torch.cat([
                looks(model, tokenizer, source, target).transpose(1, 2),
                looks(model, tokenizer, target, source),
            ])
            found = torch.tensor([mutual(head, wanted) for head in seen])
            counts = found if counts is None else counts + found
            # Attention as log-odds are: beside those of the linker.
            log = seen.clamp(min=FLOOR).log().permute(1, 2, 0)
            examples.append((torch.cat([scores.clamp(1e-6, 1 - 1e-6).logit()[..., None], log], 2), wanted))
        rates = 1 - counts[:, 0] / counts[:, 1]
        heads = model.config.decoder_layers * model.config.decoder_attention_heads
        for direction, way in enumerate(("source to target", "target to source")):
            for moment, name in enumerate(("predicting", "reading")):
                of = rates[(2 * direction + moment) * heads :][:heads]
                print(f"{path.name}: {way}, {name}: AER of each head {[round(100 * rate, 1) for rate in of.tolist()]}")
        for name, kept in (("linker", slice(0, 1)), ("attention", slice(1, None)), ("both", slice(None))):
            one, two = [[(examples[at][0][..., kept], examples[at][1]) for at in part] for part in parts]
            of = [100 * crossed(one, two), 100 * crossed(two, one)]
            print(f"{path.name}: {name}: AER {of[0]:.2f} and {of[1]:.2f} %, mean {sum(of) / 2:.2f} %", flush=True)


def linked_by(teacher, pairs):
    """(sums, scores) of each pair by the linker, in order."""
    for at in range(0, len(pairs), 32):
        chunk = [(source, target) for (source, target), _ in pairs[at : at + 32]]
        yield from ((sums, scores.cpu()) for sums, scores in teacher.read(chunk))
