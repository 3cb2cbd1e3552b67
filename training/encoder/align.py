"""Trains an encoder along with the span aligner's head; stops after a time and goes on where it stopped.

    python -m encoder align --data SPANS --encoder DIR --run RUN --minutes 60
    (the same again goes on)

With `--words` a linker is trained too, on the manual word alignments of those files (links.py), and the head sees what it
says. With `--teachers` pairs of `--unlabelled` files are learnt from as well, of which teachers say what they hold
(teachers.py). DIR is what `distil` left in `model/`, or any BERT. SPANS holds `train.jsonl` and `dev.jsonl`: source, source_span,
target, target_span (null where nothing answers), changed. Binary cross-entropy against soft labels 2^-d over the
candidates near the gold span and a sample of the others (Culkin et al. 2021, section 4.1). After each epoch the
development data is aligned; the epoch with the best exact F1 on spans that changed is kept in `best/`, and training
ends when `--patience` epochs in a row did not better it.
"""

import argparse
import json
import os
import random
from pathlib import Path

import blake3
import torch
from safetensors.torch import save_file
from torch.nn.functional import binary_cross_entropy_with_logits, pad
from transformers import BertModel

from memory import keep_memory

from .adapter import Adapter
from . import links
from .head import SAMPLE, answers, by_pair, candidates, encode, f1, features, gold_span, labels, linked, linker, network
from .head import opened_tokenizer, read, report, sampled, that_fit, word_states
from .session import Session, device
from .strangers import beside
from .student import unexplained
from .teachers import Unlabelled

BATCH = 16
WARMUP = 100
DROPOUT = 0.1
HEAD_RATE = 1e-3
# Of the linker's loss beside the head's.
LINKS_WEIGHT = 0.2
# Of the states' beside it, where there are teachers.
STATES_WEIGHT = 0.5


class Lesson:
    """What a step learns from: features of candidates and what they are to score, losses of links, states of words and
    those that they are to come to. What people and what teachers say counts alike, so that more pairs of one weigh more."""

    def __init__(self, rows=(), wanted=(), links=(), states=()):
        self.rows, self.wanted, self.links, self.states = map(list, (rows, wanted, links, states))

    def __add__(self, other):
        return Lesson(*(getattr(self, of) + getattr(other, of) for of in ("rows", "wanted", "links", "states")))

    def loss(self, head):
        """None where there is nothing to learn."""
        losses = []
        if self.rows:
            losses.append(binary_cross_entropy_with_logits(head(torch.cat(self.rows)), torch.cat(self.wanted)))
        if self.links:
            losses.append(LINKS_WEIGHT * torch.stack(self.links).mean())
        if self.states:
            losses.append(STATES_WEIGHT * unexplained(*map(torch.cat, zip(*self.states))))
        return sum(losses) if losses else None


class Run:
    def __init__(self, given, session):
        state = session.restore()
        names = ("epoch", "place", "step", "best_epoch")
        self.epoch, self.place, self.step, self.best_epoch = (state[name] if state else 0 for name in names)
        self.best = state["best"] if state else -1.0
        torch.manual_seed(given.seed)
        self.model = BertModel.from_pretrained(
            given.encoder,
            add_pooling_layer=False,
            dtype=torch.float32,
            hidden_dropout_prob=DROPOUT,
            # Without dropout between words, which costs a sixth of the time; in plain products, which are learnt from
            # faster on a CPU than what PyTorch chooses.
            attention_probs_dropout_prob=0.0,
            attn_implementation="eager",
            **({"num_hidden_layers": given.layers} if given.layers else {}),
        )
        self.head = network(self.model.config.hidden_size, bool(given.words))
        self.linker = linker(self.model.config.hidden_size) if given.words else None
        self.links = links.read(given.words)
        self.exchange = given.exchange
        self.strangers = given.strangers
        self.unlabelled = Unlabelled(given.unlabelled, given.teachers, given.seed, given.strangers) if given.teachers else None
        self.beside = given.beside
        self.made_with = made_with(given)
        if state and state.get("made_with", self.made_with) != self.made_with:
            raise SystemExit(f"{given.run} was begun with {state['made_with']}, not with {self.made_with}: give it these again")
        self.adapter = None
        if given.rank:
            tuned = given.tuned and BertModel.from_pretrained(given.tuned, add_pooling_layer=False, dtype=torch.float32)
            self.adapter = Adapter(self.model, given.rank, tuned)
        # A head that never saw links starts anew beside a linker.
        goes_on = bool(given.tuned) and (given.tuned / "linker.safetensors").exists() == bool(self.linker)
        if goes_on:
            self.head.load(given.tuned / "head.safetensors")
            if self.linker:
                self.linker.load(given.tuned / "linker.safetensors")
        self.modules = {"model": self.model, "head": self.head} | ({"linker": self.linker} if self.linker else {})
        for module in self.modules.values():
            module.to(device())
        of_head = HEAD_RATE * (0.3 if goes_on else 1)
        self.rates = [given.rate if name == "model" else of_head for name in self.modules]
        parts = [
            {"params": [weight for weight in module.parameters() if weight.requires_grad]}
            for module in self.modules.values()
        ]
        self.optimiser = torch.optim.AdamW(parts, lr=0.0, weight_decay=0.01, fused=True)
        if state:
            self.optimiser.load_state_dict(state["optimiser"])
            for name, module in self.modules.items():
                module.load_state_dict(state[name])

    def state(self):
        modules = {name: module.state_dict() for name, module in self.modules.items()}
        modules |= {"optimiser": self.optimiser.state_dict(), "made_with": self.made_with}
        return modules | {name: getattr(self, name) for name in ("epoch", "place", "step", "best_epoch", "best")}

    def learn(self, pairs, tokenizer, factor, rng):
        self.step += 1
        for group, rate in zip(self.optimiser.param_groups, self.rates):
            group["lr"] = rate * factor
        lesson = self.from_people(pairs, tokenizer, rng)
        if self.unlabelled:
            lesson += self.from_teachers(tokenizer)
        loss = lesson.loss(self.head)
        if loss is None:
            return 0.0
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        return loss.item()

    def from_people(self, pairs, tokenizer, rng):
        """What pairs teach that people aligned."""
        lesson = Lesson()
        pairs = [exchanged(pair) if rng.random() < self.exchange else pair for pair in pairs]
        golden = [links.wanted(self.links, source, target) for source, target, _ in pairs]
        # Nothing is drawn where there are none: a run without them is what it always was.
        joined = [
            beside_stranger(pair, gold, rng.choice(pairs), rng) if self.strangers and rng.random() < self.strangers else (pair, gold)
            for pair, gold in zip(pairs, golden)
        ]
        pairs = [pair for pair, _ in joined]
        for ((source, target, items), gold), sums in zip(joined, encode(self.model, tokenizer, pairs, device())):
            scores = None
            if self.linker:
                logits = linked(self.linker, sums, (source, target))
                scores = logits.sigmoid()
                lesson.links += [] if gold is None else [links.loss(logits, gold.to(device()))]
            for item in items:
                start, end = item["source_span"]
                gold = gold_span(item)
                spans = sampled(candidates(end - start, len(target)), gold, SAMPLE, rng)
                if spans:
                    lesson.rows.append(features(sums, (start, end), spans, scores))
                    lesson.wanted.append(labels(spans, gold).to(device()))
        return lesson

    def from_teachers(self, tokenizer):
        """What pairs teach of which teachers say what they hold."""
        lesson = Lesson()
        taught = that_fit(self.model, tokenizer, self.unlabelled.draw(self.beside, self.step))[0]
        for (source, target, said), sums in zip(taught, encode(self.model, tokenizer, taught, device())):
            logits = linked(self.linker, sums, (source, target))
            scores = logits.sigmoid()
            lesson.links.append(links.loss(logits, said.links))
            lesson.states.append((word_states(sums), said.states))
            for span, spans, of_span in said.items:
                lesson.rows.append(features(sums, span, spans, scores))
                lesson.wanted.append(of_span)
        return lesson

    def keep(self, directory, tokenizer, given, items):
        """The model, or the adapter alone, and the head as they are, for `export`."""
        directory.mkdir(parents=True, exist_ok=True)
        if self.adapter:
            save_file(self.adapter.tensors(), directory / "adapter.safetensors")
        else:
            self.model.save_pretrained(directory)
            tokenizer.save(str(directory / "tokenizer.json"))
        save_file(self.head.tensors(), directory / "head.safetensors")
        if self.linker:
            save_file(self.linker.tensors(), directory / "linker.safetensors")
        record = {
            "items": items,
            "epoch": self.best_epoch,
            "batch": BATCH,
            "sample": SAMPLE,
            "learning_rate": given.rate,
            "exchanged": given.exchange,
            **({"beside_strangers": given.strangers} if given.strangers else {}),
            **self.made_with,
            "weight_decay": 0.01,
            "seed": given.seed,
        }
        (directory / "training.json").write_text(json.dumps(record, indent=2) + "\n")


def made_with(given):
    """What a run learns from beside its data, for its record: where it began, and who taught it what."""
    record = {"tuned": fingerprint(given.tuned)} if given.tuned else {}
    if given.teachers:
        record["teachers"] = [fingerprint(teacher) for teacher in given.teachers]
        record["pairs_of_teachers"] = given.beside
    return record


def fingerprint(directory):
    """Of the weights in a run's `best/`, the first sixteen digits."""
    hasher = blake3.blake3()
    for path in sorted(directory.glob("*.safetensors")):
        hasher.update(path.read_bytes())
    return hasher.hexdigest()[:16]


def exchanged(pair):
    """A pair whose sides have changed places; as it was when nothing answers to one of its spans."""
    source, target, items = pair
    if not all(item["target_span"] for item in items):
        return pair
    swap = lambda item: item | {"source_span": item["target_span"], "target_span": item["source_span"]}
    return target, source, [swap(item) for item in items]


def beside_stranger(pair, gold, other, rng):
    """A pair beside a stranger, to whose words nothing answers, and its links."""
    sides, added = beside(pair[:2], other[:2], rng)
    if gold is not None:
        gold = pad(gold, (*added[1], *added[0]))
    moved = lambda span, of: span and [at + of[0] for at in span]
    items = [
        item | {name: moved(item[name], of) for name, of in zip(("source_span", "target_span"), added)} for item in pair[2]
    ]
    return (*sides, items), gold


def main(arguments):
    parser = argparse.ArgumentParser(prog="encoder align", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with train.jsonl and dev.jsonl")
    parser.add_argument("--words", type=Path, nargs="*", default=[], help="files of word alignments, to learn links from")
    parser.add_argument("--teachers", type=Path, nargs="*", default=[], help="`best/` of runs with a linker")
    parser.add_argument("--unlabelled", type=Path, nargs="*", default=[], help="files of pairs for the teachers, tab-separated")
    parser.add_argument("--beside", type=int, default=32, metavar="PAIRS", help="drawn from --unlabelled, a step")
    parser.add_argument("--encoder", type=Path, required=True, help="a BERT directory with tokenizer.json")
    parser.add_argument("--run", type=Path, required=True, help="directory of this run; made, or gone on with")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--epochs", type=int, default=12, help="over which the learning rate falls to zero")
    parser.add_argument("--patience", type=int, default=3, metavar="EPOCHS")
    parser.add_argument("--layers", type=int, help="train and read only the first layers [default: all]")
    parser.add_argument("--rank", type=int, help="leave the encoder as it is and train an adapter of this rank")
    parser.add_argument("--tuned", type=Path, help="`best/` of a run without --rank: head and linker start as its, and so does an adapter")
    parser.add_argument("--exchange", type=float, default=0.5, metavar="SHARE", help="of pairs read the other way round")
    parser.add_argument("--strangers", type=float, default=0.0, metavar="SHARE", help="of pairs with a sentence of another pair on one side")
    parser.add_argument("--rate", type=float, default=2e-4, help="the encoder's; 1e-4 for a large one")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--save-every", type=float, default=10.0, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    if bool(given.teachers) != bool(given.unlabelled) or (given.teachers and not given.words):
        parser.error("--teachers and --unlabelled go together, and need --words")
    keep_memory()
    torch.set_num_threads(given.threads)
    given.run.mkdir(parents=True, exist_ok=True)
    session = Session(given.run, given.minutes, given.save_every)
    train(Run(given, session), given, session, opened_tokenizer(given.encoder))


def train(run, given, session, tokenizer):
    items, dev = read(given.data / "train.jsonl"), read(given.data / "dev.jsonl")
    pairs, too_long = that_fit(run.model, tokenizer, by_pair(items))
    if too_long:
        print(f"{len(too_long)} pairs are longer than the encoder's positions, and left out", flush=True)
    if given.words:
        known = sum(links.wanted(run.links, source, target) is not None for source, target, _ in pairs)
        print(f"{known} of {len(pairs)} pairs have word alignments", flush=True)
        if not known:
            raise SystemExit("no pair of --data stands in the files of --words")
    steps = -(-len(pairs) // BATCH)
    run.model.train()
    while run.epoch < given.epochs and run.epoch - run.best_epoch < given.patience:
        order = random.Random(f"{given.seed}/{run.epoch}").sample(pairs, len(pairs))
        losses = []
        while run.place < steps:
            if session.over() or session.save_due():
                session.save(run.state())
            if session.over():
                return
            left = 1 - (run.epoch * steps + run.place) / (given.epochs * steps)
            rng = random.Random(f"{given.seed}/{run.epoch}/{run.place}")
            batch = order[run.place * BATCH : (run.place + 1) * BATCH]
            losses.append(run.learn(batch, tokenizer, left * min(1, (run.step + 1) / WARMUP), rng))
            run.place += 1
        run.epoch, run.place = run.epoch + 1, 0
        found = report(answers(run.model, run.head, run.linker, tokenizer, dev, device()), 0.0)
        reached = f1(found["changed"]["exact"])
        if reached > run.best:
            run.best, run.best_epoch = reached, run.epoch
            run.keep(given.run / "best", tokenizer, given, len(items))
        session.save(run.state())
        session.log(
            {
                "epoch": run.epoch,
                "minutes": round(session.elapsed(), 1),
                "loss": round(sum(losses) / max(1, len(losses)), 4),
                "changed exact": round(100 * reached, 2),
                "identical exact": round(100 * f1(found["identical"]["exact"]), 2),
                "soft": round(100 * f1(found["all"]["soft"]), 2),
            }
        )
    print(f"done: epoch {run.best_epoch} has the best exact F1 on changed spans, {100 * run.best:.2f} %")
