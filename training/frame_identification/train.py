"""Trains with and without generated sets, with several seeds, and compares on dev; resumes after an epoch.

    python -m frame_identification train --work WORK --models ../models --run RUN --arms plain augmented --seeds 1 2 3

RUN gets a directory for each arm and seed, with `log.jsonl`, a row an epoch, and `best.pt`, the weights of the epoch with
the highest F1 on dev. `dev.json` has all figures, means, deviations, and a paired t-test against the first arm over the
seeds. A call that is repeated resumes after the last epoch. With `--part test` it measures what was trained on the test
documents, for `test.json`. The arms:

    plain       the training documents that `prepare` took, and its exemplars if there are
    augmented   the same and the generated sets of exactly those sets

A share below 100 % is drawn anew with each seed, the same for both arms.
"""

import argparse
import json
import math
import random
import statistics
from pathlib import Path

import torch
from scipy.stats import ttest_rel

from encoder.session import Session
from memory import keep_memory

from .corpus import Corpus
from .measure import found
from .model import FrameTagger, loss_of

ARMS = ["plain", "augmented"]
CLIP = 1.0


def drawn(corpus, arm, seed, share):
    """Places of the sentences that an arm learns from."""
    whole = corpus.part("train")
    random.Random(f"draw/{seed}").shuffle(whole)
    humans = sorted(whole[: max(1, round(len(whole) * share / 100))]) + corpus.part("exemplar")
    if arm == "plain":
        return humans
    sets = {target["set"] for at in humans for target in corpus.sentences[at]["targets"]}
    return humans + [at for at in corpus.part("generated") if all(of["seed"] in sets for of in corpus.sentences[at]["targets"])]


def grouped(whole, others, size, rng):
    """The sentences of each step: so many of full text, and an even share of the others. So every arm takes the same number
    of steps, and a target weighs the same wherever it stands."""
    whole, others = list(whole), list(others)
    rng.shuffle(whole)
    rng.shuffle(others)
    steps = -(-len(whole) // size)
    cuts = [len(others) * step // steps for step in range(steps + 1)]
    return [whole[step * size :][:size] + others[cuts[step] : cuts[step + 1]] for step in range(steps)]


class Training:
    """One arm with one seed."""

    def __init__(self, corpus, arm, seed, given):
        self.corpus, self.given, self.seed = corpus, given, seed
        self.directory = given.run / f"{arm}-{seed}"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.session = Session(self.directory, given.minutes, math.inf)
        places = drawn(corpus, arm, seed, given.share)
        # The LUs of the human sentences, so that every arm has the same unseen ones.
        humans = drawn(corpus, "plain", seed, given.share)
        self.seen = {(target["frame"], target["lu"]) for at in humans for target in corpus.sentences[at]["targets"]}
        # Without a span to learn from is a sentence whose only target is too long.
        self.spans = {at: spans for at in places if (spans := corpus.learned(at))}
        self.whole = [at for at in self.spans if corpus.sentences[at]["whole"]]
        self.others = [at for at in self.spans if not corpus.sentences[at]["whole"]]
        torch.manual_seed(seed)
        shape = corpus.table, corpus.states[0].shape[-1], len(corpus.tags), corpus.null + 1
        self.network = FrameTagger(*shape, given.hidden, given.depth, given.dropout)
        # Most spans are negatives, so training starts from their label.
        self.network.frames[-1].bias.data[-1] += math.log((1 - given.smoothing) * corpus.null / max(given.smoothing, 1e-3))
        self.optimiser = torch.optim.AdamW(self.network.parameters(), lr=given.rate, weight_decay=0.01)
        self.epoch, self.steps, self.best = 0, 0, None
        state = self.session.restore()
        if state:
            self.network.load_state_dict(state["network"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.epoch, self.steps, self.best = state["epoch"], state["steps"], state["best"]
            torch.set_rng_state(state["random"])

    def over(self):
        stale = self.best is not None and self.epoch - self.best["epoch"] >= self.given.patience
        return self.epoch >= self.given.epochs or stale

    def learn(self):
        """An epoch; gives the mean loss of its steps."""
        losses = []
        for group in grouped(self.whole, self.others, self.given.batch, random.Random(f"{self.seed}/{self.epoch}")):
            batch = self.corpus.batch(group, [self.spans[at] for at in group])
            loss = loss_of(self.network(batch), batch.labels, self.given.smoothing)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), CLIP)
            self.optimiser.step()
            self.optimiser.zero_grad()
            losses.append(loss.item())
        self.epoch, self.steps = self.epoch + 1, self.steps + len(losses)
        return sum(losses) / len(losses)

    def measure(self, loss):
        """Keeps the epoch if its F1 on dev is the highest."""
        dev = found(self.network, self.corpus, self.corpus.part("dev"), self.seen)
        f1 = dev.spans(0.0)["f1"]
        row = {"epoch": self.epoch, "steps": self.steps, "loss": round(loss, 4), "f1": f1}
        self.session.log({**row, "minutes": round(self.session.elapsed(), 2)})
        if self.best is None or f1 > self.best["f1"]:
            bias, listed = dev.bias(), dev.bias(listed=True)
            figures = dev.figures(bias, listed)
            count = {"whole": len(self.whole), "others": len(self.others), "epoch": self.epoch, "steps": self.steps}
            self.best = {**count, "f1": f1, "bias": bias, "bias_listed": listed, "figures": figures}
            torch.save(self.network.state_dict(), self.directory / "best.pt")

    def run(self):
        """Trains to the end, or until told to stop; gives the best epoch's figures, None if stopped."""
        while not self.over():
            if self.session.over():
                return None
            self.measure(self.learn())
            self.session.save(
                {
                    "network": self.network.state_dict(),
                    "optimiser": self.optimiser.state_dict(),
                    "epoch": self.epoch,
                    "steps": self.steps,
                    "best": self.best,
                    "random": torch.get_rng_state(),
                }
            )
        return self.best

    def test(self):
        """The best epoch's figures on the test documents, at the biases of dev."""
        self.network.load_state_dict(torch.load(self.directory / "best.pt", weights_only=True))
        test = found(self.network, self.corpus, self.corpus.part("test"), self.seen)
        return {**self.best, "figures": test.figures(self.best["bias"], self.best["bias_listed"])}


def numbers(figures, prefix=""):
    """Figures by their names, those inside of figures as `name/name`."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{prefix}{name}/")
        else:
            yield prefix + name, value


def compared(results):
    """For each arm and figure the mean and deviation over the seeds that all arms have, and against the first arm the gain
    and p of a two-sided paired t-test."""
    arms = list(results)
    seeds = [seed for seed in results[arms[0]] if all(seed in results[arm] for arm in arms)]
    table = {}
    for arm in arms if seeds else []:
        rows = {seed: dict(numbers(results[arm][seed]["figures"])) for seed in seeds}
        for name in rows[seeds[0]]:
            values = [rows[seed][name] for seed in seeds]
            row = {"mean": round(statistics.mean(values), 2)}
            if len(seeds) > 1:
                row["deviation"] = round(statistics.stdev(values), 2)
            table.setdefault(name, {})[arm] = row
            if arm != arms[0]:
                plain = [dict(numbers(results[arms[0]][seed]["figures"]))[name] for seed in seeds]
                row["gain"] = round(statistics.mean(values) - statistics.mean(plain), 2)
                # The same difference with every seed has no deviation to test by.
                if len({round(one - other, 6) for one, other in zip(values, plain)}) > 1:
                    row["p"] = round(float(ttest_rel(values, plain).pvalue), 4)
    return {"seeds": seeds, "measures": table}


def settings(given):
    """What figures depend on, beside the data."""
    others = ("work", "models", "run", "arms", "seeds", "part", "minutes")
    return {name: value for name, value in vars(given).items() if name not in others}


def main(arguments):
    parser = argparse.ArgumentParser(prog="frame_identification train", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="directory that `prepare` wrote")
    parser.add_argument("--models", type=Path, required=True, help="directory with word-vectors")
    parser.add_argument("--run", type=Path, required=True, help="directory of this run; made, or resumed")
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=ARMS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--share", type=float, default=100.0, metavar="PERCENT", help="of the training documents' sentences")
    parser.add_argument("--layers", nargs="+", type=int, default=[1, 2, 3], help="of the encoder, 0 is the embeddings")
    parser.add_argument("--hidden", type=int, default=200, help="units of each LSTM, in each direction")
    parser.add_argument("--depth", type=int, default=1, help="layers of the BiLSTM")
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--smoothing", type=float, default=0.2, help="share of a negative's label")
    parser.add_argument("--batch", type=int, default=4, help="sentences of full text in a step")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--epochs", type=int, default=25, help="at most")
    parser.add_argument("--patience", type=int, default=5, help="epochs without a higher F1 on dev")
    parser.add_argument("--part", choices=["dev", "test"], default="dev", help="test: measure on it, too, after all choices")
    parser.add_argument("--minutes", type=float, default=math.inf, help="of each training in this call")
    given = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(1)
    given.run.mkdir(parents=True, exist_ok=True)
    path = given.run / "settings.json"
    if path.exists() and json.loads(path.read_text()) != settings(given):
        parser.error(f"{given.run} has other settings, {path.read_text().strip()}: give the same, or another --run")
    path.write_text(json.dumps(settings(given)) + "\n")
    corpus = Corpus(given.work, given.models / "word-vectors", given.layers)
    if "augmented" in given.arms and not corpus.part("generated"):
        parser.error(f"{given.work} has no generated sentences: prepare with --generated ''")
    results = {arm: {} for arm in given.arms}
    for seed in given.seeds:
        for arm in given.arms:
            training = Training(corpus, arm, seed, given)
            if training.run() is None:
                print("stopped; the same command resumes")
                return
            results[arm][seed] = training.test() if given.part == "test" else training.best
            report = {"part": given.part, "settings": settings(given), "trainings": results, **compared(results)}
            (given.run / f"{given.part}.json").write_text(json.dumps(report, indent=1) + "\n")
            print(json.dumps({"arm": arm, "seed": seed, **results[arm][seed]}), flush=True)
    print(json.dumps(report["measures"], indent=1))
