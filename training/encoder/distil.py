"""Teaches a small BERT with random weights to see words as a large one sees them.

    python -m encoder distil --pairs pairs.tsv --tokenizer tokenizer.json --teacher DIR --run RUN --minutes 60
    (the same again goes on)

Three things are matched on paraphrases, encoded as `[CLS] S [SEP] S' [SEP]` as the aligner encodes them, and on single
sentences. Student and teacher cut words into different pieces, so states are pooled over words first (student.py).

- *States*: every layer of the student against the teacher's layer of the same relative depth. The loss is the share
  of the teacher's variance, dimension by dimension, that is not explained.
- *Relations*: cosines between all words of an input, which is what aligning lives on.
- *Sentences*: the mean over an input's pieces, which is the teacher's sentence embedding.

RUN keeps `state.pt` (weights, their moving average, the optimiser, the place in the data), `log.jsonl`, and `model/`:
averaged weights and tokenizer as `transformers` loads them. The learning rate falls with the square root of the step;
`--cool` lets it fall to zero over the minutes given, which ends a run.
"""

import argparse
import itertools
import math
import os
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch.nn.functional import cosine_similarity, mse_loss, normalize
from torch.nn.utils.rnn import pad_sequence
from torch.optim.swa_utils import AveragedModel
from transformers import BertModel

from memory import keep_memory
from paraphrase.batches import chunks, grouped, read_pairs
from paraphrase.prepare import lines
from paraphrase.text import spaced

from .session import Session, device
from .student import LEAST_VARIANCE, MAX_PIECES, SHAPES, Cut, layers, pooled, student

PEAK = 1e-3
WARMUP = 300
# Of the moving average of weights, a step; reached gradually, so that early steps are forgotten.
AVERAGE = 0.999
CLIP = 1.0
SINGLES = 0.3
SPACED = 0.3
RELATIONS = 0.5
SENTENCES = 0.5
DEV_PAIRS = 256


def as_seen(pair, rng):
    """A text or a pair of texts, as the aligner may come to see it."""
    texts = list(pair[:2])
    rng.shuffle(texts)
    if rng.random() < SPACED:
        texts = [spaced(text) for text in texts]
    return texts[0] if rng.random() < SINGLES else tuple(texts)


def words(encoding):
    return len(set(zip(encoding.sequence_ids, encoding.word_ids)))


def batches(pairs, tokenizers, seed, chunk, place, budget):
    """(number of the chunk, place in it, the batch as the student and as the teacher sees it), without end."""
    mine, teachers = tokenizers
    for number, texts in chunks(pairs, seed, chunk, as_seen):
        cuts = list(zip(mine.encode_batch(texts), teachers.encode_batch(texts)))
        cuts = [both for both in cuts if words(both[0]) == words(both[1])]
        groups = grouped([max(len(cut.ids) for cut in both) for both in cuts], budget, MAX_PIECES)
        random.Random(f"{seed}/order {number}").shuffle(groups)
        for at, group in enumerate(groups):
            if number > chunk or at >= place:
                yield number, at, Cut([cuts[i][0] for i in group]), Cut([cuts[i][1] for i in group])


def relations(states, cut):
    """Cosines between the words of each text, and where there are any: both (B, W, W)."""
    counts = torch.bincount(cut.rows).tolist()
    padded = pad_sequence(normalize(states, dim=1).split(counts), batch_first=True)
    there = pad_sequence([torch.ones(count, device=states.device) for count in counts], batch_first=True)
    return padded @ padded.transpose(1, 2), (there[:, :, None] * there[:, None, :]).bool()


def sentences(states, cut):
    """The mean over the pieces of each text: (B, D)."""
    return (states.float() * cut.mask[:, :, None]).sum(1) / cut.mask.sum(1, keepdim=True)


@torch.no_grad()
def follow(averages, weights, steps):
    torch._foreach_lerp_(averages, weights, 1 - min(AVERAGE, steps.item() / (steps.item() + 10)))


class Run:
    def __init__(self, given, session, tokenizer, teacher):
        state = session.restore()
        self.shape = state["shape"] if state else given.shape
        self.step, self.chunk, self.place = (state[name] if state else 0 for name in ("step", "chunk", "place"))
        self.minutes, self.pieces = (state[name] if state else 0 for name in ("minutes", "pieces"))
        torch.manual_seed(given.seed)
        self.teacher = teacher
        self.model = student(self.shape, tokenizer.get_vocab_size())
        width, taught = self.model.config.hidden_size, teacher.config.hidden_size
        depth, deep = self.model.config.num_hidden_layers, teacher.config.num_hidden_layers
        self.matched = [round(layer * deep / depth) for layer in range(1, depth + 1)]
        self.same_width = width == taught
        # Lifts the student's states to the teacher's width; thrown away afterwards.
        self.lifts = torch.nn.ModuleList(
            torch.nn.Identity() if self.same_width else torch.nn.Linear(width, taught) for _ in self.matched
        )
        self.model.to(device())
        self.lifts.to(device())
        self.average = AveragedModel(self.model, multi_avg_fn=follow)
        self.trained = [*self.model.parameters(), *self.lifts.parameters()]
        self.optimiser = torch.optim.AdamW(self.trained, lr=0.0, betas=(0.9, 0.98), weight_decay=0.01)
        # Of the teacher's states, (layers, D); see `begin`.
        self.variance = None
        if state:
            self.variance = state["variance"].to(device())
            for name in ("model", "lifts", "average", "optimiser"):
                getattr(self, name).load_state_dict(state[name])

    def state(self):
        modules = {name: getattr(self, name).state_dict() for name in ("model", "lifts", "average", "optimiser")}
        names = ("shape", "step", "chunk", "place", "minutes", "pieces", "variance")
        return modules | {name: getattr(self, name) for name in names}

    @torch.no_grad()
    def begin(self, teachers):
        """Measures the teacher's states on a first batch. The norms that end the student's layers start with their
        means and spreads: gains of 1 would take a thousand steps to shrink to these."""
        seen = layers(self.teacher, teachers.to(device()))
        wanted = [pooled(seen[layer], teachers) for layer in self.matched]
        variance = torch.stack([states.var(0) for states in wanted])
        if self.same_width:
            for layer, states, spread in zip(self.model.encoder.layer, wanted, variance.sqrt()):
                layer.output.LayerNorm.weight.copy_(spread)
                layer.output.LayerNorm.bias.copy_(states.mean(0))
        # MiniLM has a dimension that never moves.
        self.variance = torch.maximum(variance, LEAST_VARIANCE * variance.mean(1, keepdim=True))

    def losses(self, model, cut, teachers):
        """States (of the last layer apart), relations and sentences, each a number."""
        with torch.no_grad():
            seen = layers(self.teacher, teachers)
            wanted = [pooled(seen[layer], teachers) for layer in self.matched]
        with torch.autocast(device().type, dtype=torch.bfloat16):
            hidden = layers(model, cut)[1:]
        hidden = [lift(states.float()) for lift, states in zip(self.lifts, hidden)]
        found = [pooled(states, cut) for states in hidden]
        states = torch.stack(
            [((a - b) ** 2 / variance).mean() for a, b, variance in zip(found, wanted, self.variance)]
        )
        cosines, there = relations(found[-1], cut)
        target, _ = relations(wanted[-1], teachers)
        related = mse_loss(cosines[there], target[there]) / target[there].var()
        ours, theirs = sentences(hidden[-1], cut), sentences(seen[-1], teachers)
        apart = (1 - cosine_similarity(ours, theirs)).mean()
        return states, related, apart

    def learn(self, cut, teachers, rate):
        self.step += 1
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        states, related, apart = self.losses(self.model, cut.to(device()), teachers.to(device()))
        loss = states.mean() + RELATIONS * related + SENTENCES * apart
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, CLIP)
        self.optimiser.step()
        self.average.update_parameters(self.model)
        self.pieces += int(cut.mask.sum())
        return loss.item()

    @torch.inference_mode()
    def measure(self, cut, teachers):
        states, related, apart = self.losses(self.average.module, cut.to(device()), teachers.to(device()))
        return {
            "unexplained": round(states[-1].item(), 4),
            "relations": round(related.item(), 4),
            "sentences": round(1 - apart.item(), 4),
        }


def main(arguments):
    parser = argparse.ArgumentParser(prog="encoder distil", description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=Path, required=True, help="pairs.tsv that `paraphrase prepare` wrote")
    parser.add_argument("--tokenizer", type=Path, required=True, help="that `vocabulary` wrote")
    parser.add_argument("--teacher", type=Path, required=True, help="a BERT directory: all-MiniLM-L6-v2")
    parser.add_argument("--run", type=Path, required=True, help="directory of this run; made, or gone on with")
    parser.add_argument("--shape", choices=SHAPES, default="medium")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--cool", action="store_true", help="let the learning rate fall to zero over these minutes")
    parser.add_argument("--dev", type=Path, help="pairs that each save is measured on (dev.tsv.xz)")
    parser.add_argument("--budget", type=int, default=2048, help="pieces a step, padding counted")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--save-every", type=float, default=10.0, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(given.threads)
    given.run.mkdir(parents=True, exist_ok=True)
    session = Session(given.run, given.minutes, given.save_every)
    tokenizers = [Tokenizer.from_file(str(given.tokenizer)), Tokenizer.from_file(str(given.teacher / "tokenizer.json"))]
    for tokenizer in tokenizers:
        tokenizer.no_padding()
        tokenizer.no_truncation()
    teacher = BertModel.from_pretrained(given.teacher, add_pooling_layer=False, dtype=torch.bfloat16)
    run = Run(given, session, tokenizers[0], teacher.to(device()).eval())
    weights = sum(weight.numel() for weight in run.model.parameters())
    print(f"{run.shape}: {weights / 1e6:.1f} million weights, step {run.step}", flush=True)
    train(run, given, session, tokenizers)


def train(run, given, session, tokenizers):
    dev = None
    if given.dev:
        texts = list(itertools.islice(lines(given.dev), DEV_PAIRS))
        dev = [Cut(tokenizer.encode_batch(texts)) for tokenizer in tokenizers]
    before, smooth = run.minutes, None
    for chunk, place, cut, teachers in batches(
        read_pairs(given.pairs), tokenizers, given.seed, run.chunk, run.place, given.budget
    ):
        if session.over() or session.save_due():
            run.chunk, run.place, run.minutes = chunk, place, before + session.elapsed()
            session.save(run.state())
            run.average.module.save_pretrained(given.run / "model")
            tokenizers[0].save(str(given.run / "model" / "tokenizer.json"))
            row = {"step": run.step, "minutes": round(run.minutes, 1), "pieces": run.pieces}
            session.log(row | {"loss": round(smooth or 0, 4)} | (run.measure(*dev) if dev and run.step else {}))
        if session.over():
            return
        if run.variance is None:
            run.begin(teachers)
        cooled = max(0.0, 1 - session.elapsed() / given.minutes) if given.cool else 1.0
        rate = PEAK * min((run.step + 1) / WARMUP, math.sqrt(WARMUP / (run.step + 1))) * cooled
        loss = run.learn(cut, teachers, rate)
        smooth = loss if smooth is None else 0.98 * smooth + 0.02 * loss
