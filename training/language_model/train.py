"""Trains an adapter; stops when told and goes on where it stopped.

    python -m language_model train --base BASE --work WORK --run RUN
    python -m language_model train --base BASE --work WORK --run RUN               (goes on)
    python -m language_model train --base BASE --work WORK --run RUN --from EXPORT (a new run from an exported adapter)
    python -m language_model train --base BASE --work WORK --run RUN --device cuda --rate 7e-4 --budget 24500000

RUN keeps `state.pt` (adapter, optimiser, what of the data was read, random state, best adapter), `log.jsonl`, and `best/`, the
adapter with the least loss on the development examples, as `export` writes it. The schedule is a budget of tokens, so a run that
goes on elsewhere, on a GPU for instance, goes on along it. Tokens are those that are read, padding not among them.

The loss is measured every --dev-every tokens, and the run ends when it was not less than the least for --patience measures:
what stands in many examples is learnt by heart, and the last adapter is then worse than the best. Of examples with two answers
(`verifier`, `meaning`), the area under the ROC curve and the share of right answers are measured on each file of held-out ones.

The device is data: a step is the same on each. On `cuda` a step has 32,768 tokens in place of 2,048, and layers are compiled at
the first step, which takes a minute or two.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

from encoder.session import Session
from memory import keep_memory
from paraphrase.loss import SlicedCrossEntropy

from . import adapter
from .answers import answers_of, two_answers
from .lora import RANK, adapt, put, tensors_of
from .shards import IGNORED, Order, Shard

RATE, LAST_RATE = 5e-4, 0.05
# Steps of the whole batch within which the rate rises.
WARMUP_STEPS = 30
CLIP = 1.0
LOG_EVERY = 20
# Tokens of a step, padding among them.
BATCH = {"cpu": 2_048, "cuda": 32_768}
# Of a budget's tokens, so many pass between two measures if no number is given.
DEV_EVERY = 1 / 50


def rate_at(tokens, whole, warmup, rate=RATE):
    """The learning rate after so many tokens of the budget: up in a straight line, down along a cosine."""
    if tokens < warmup:
        return rate * (0.02 + 0.98 * tokens / warmup)
    share = min(1.0, (tokens - warmup) / max(1, whole - warmup))
    return rate * (LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * share)))


def states_of(model, tokens, labels, device):
    """States of the positions before labelled tokens, and these tokens. Padding stands at the end, where no token that counts
    sees it."""
    tokens, wanted = tokens.to(device), labels[:, 1:].to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        states = model.model(input_ids=tokens, use_cache=False).last_hidden_state[:, :-1]
    # Only real positions reach the vocabulary, which costs a fourth of a step for each that does.
    learned = wanted != IGNORED
    return states[learned], wanted[learned]


def loss_of(model, tokens, labels, device):
    """Mean negative log-likelihood of the labelled tokens, and their number."""
    states, wanted = states_of(model, tokens, labels, device)
    nothing = states.new_zeros(len(model.lm_head.weight), dtype=torch.float32)
    loss = SlicedCrossEntropy.apply(states, model.lm_head.weight, nothing, wanted, 0.0, torch.bfloat16)
    return loss, len(wanted)


@torch.no_grad()
def dev_loss(model, shard, budget, device):
    """Mean negative log-likelihood of an answer's token."""
    model.eval()
    total = count = 0
    for places in shard.groups(budget):
        loss, learned = loss_of(model, *shard.batch(places), device)
        total, count = total + loss.item() * learned, count + learned
    model.train()
    return total / count


@torch.no_grad()
def measured_answers(model, shard, budget, device, tokens_of):
    """How right the answers of a file of examples with two answers are."""
    model.eval()
    odds, is_yes = [], []
    for places in shard.groups(budget):
        states, wanted = states_of(model, *shard.batch(places), device)
        logits = (states.to(model.lm_head.weight.dtype) @ model.lm_head.weight[list(tokens_of)].T).float()
        odds += (logits[:, 0] - logits[:, 1]).tolist()
        is_yes += (wanted == tokens_of[0]).tolist()
    model.train()
    return answers_of(odds, is_yes)


def opened(base, device, numbers, rank=RANK):
    """The base, adapted, and the adapted modules by name. Matrices are in `numbers`, 16 bits for what autocast would round
    at each step; embeddings and norms stay in f32, and with them what layers hand on."""
    # Plain products are faster than PyTorch's fused attention on a CPU, most of all backwards.
    attention = "eager" if device.type == "cpu" else "sdpa"
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation=attention)
    model.config.use_cache = False
    adapted = adapt(model, rank)
    for module in adapted.values():
        module.weight.data = module.weight.data.to(numbers)
    # The embeddings' matrix again, as the output layer multiplies it.
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().to(numbers), requires_grad=False)
    return model.to(device), adapted


def compile_layers(model, backend="inductor"):
    """Has layers compiled when they are first run to learn. All have the code of one, at any length."""
    for layer in model.model.layers:
        layer.compile(dynamic=True, backend=backend)


class Held:
    """Development examples, and held-out ones that are only looked at."""

    def __init__(self, work, batch):
        self.batch, self.tokens = batch, two_answers(work)
        paths = {kind: sorted(work.glob(f"{kind}*.safetensors")) for kind in ("dev", "held")}
        if not paths["dev"]:
            raise FileNotFoundError(f"no dev*.safetensors in {work}: run `prepare`, `verifier` or `meaning` first")
        self.dev = Shard(*paths["dev"])
        self.answered = {path.stem: Shard(path) for paths in paths.values() for path in paths} if self.tokens else {}

    def measures(self, model, device):
        """The loss on the development examples, and what is known of answers."""
        # What learns is compiled; other lengths, and no gradients, would be compiled again.
        with torch.compiler.set_stance("force_eager"):
            found = {"dev": round(dev_loss(model, self.dev, self.batch, device), 4)}
            for name, shard in self.answered.items():
                found[name] = measured_answers(model, shard, self.batch, device, self.tokens)
        return found


class Run:
    def __init__(self, given, session):
        self.session, self.budget, self.device = session, given.budget, torch.device(given.device)
        self.base, self.work, self.directory = given.base, given.work, given.run
        self.rate, self.warmup = given.rate, WARMUP_STEPS * given.batch
        torch.manual_seed(given.seed)
        self.model, self.adapted = opened(given.base, self.device, torch.bfloat16, given.rank)
        self.parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        fused = self.device.type == "cuda"
        self.optimiser = torch.optim.AdamW(self.parameters, lr=0.0, betas=(0.9, 0.98), weight_decay=0.01, fused=fused)
        if given.compiled:
            compile_layers(self.model)
        self.step = self.tokens = 0
        self.dev, self.best = [], None
        state = session.restore()
        if state:
            self.take(state)
        order = state["order"] if state else self.begun(given.origin) if given.origin else None
        self.order = Order(given.work / "shards", given.seed, given.batch, order)

    def begun(self, origin):
        """Begins with an exported adapter; gives what was read for it, None if that was other data."""
        facts = adapter.read(origin, self.base, self.adapted)["training"]
        self.step, self.tokens = facts["steps"], facts["tokens"]
        names = ("passes", "read", "shard", "batch", "budget")
        block = facts.get("shard") and facts["shard"].removesuffix("safetensors")
        is_there = block and any((self.work / "shards").glob(f"{block}*safetensors"))
        return {name: facts[name] for name in names if name in facts} if is_there else None

    def take(self, state):
        put(self.adapted, state["adapter"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.tokens, self.dev, self.best = state["step"], state["tokens"], state["dev"], state["best"]
        torch.set_rng_state(state["random"])
        # A state that a CPU wrote has none.
        if self.device.type == "cuda" and state["random_cuda"] is not None:
            torch.cuda.set_rng_state(state["random_cuda"], self.device)

    def save(self):
        self.session.save(
            {
                "adapter": tensors_of(self.adapted),
                "optimiser": self.optimiser.state_dict(),
                "step": self.step,
                "tokens": self.tokens,
                "dev": self.dev,
                "best": self.best,
                "order": self.order.state,
                "random": torch.get_rng_state(),
                "random_cuda": torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None,
            }
        )

    def learn(self, tokens, labels):
        """A step; gives its loss, for which nobody has to wait, and reads its tokens."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(self.tokens, self.budget, self.warmup, self.rate)
        loss, _ = loss_of(self.model, tokens, labels, self.device)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.step += 1
        self.tokens += int((tokens != 0).sum())
        return loss.detach()

    def measure(self, held):
        """Measures the loss on the development examples and keeps the adapter if it is the least."""
        found = held.measures(self.model, self.device)
        self.dev.append([self.tokens, found["dev"]])
        if found["dev"] <= min(loss for _, loss in self.dev):
            self.best = {"adapter": tensors_of(self.adapted), "training": self.facts()}
            prompt = adapter.prompt_of(self.work)
            adapter.write(self.directory / "best", self.base, self.best["adapter"], self.best["training"], prompt)
        return found

    def idle(self):
        """How many measures ago the loss was least."""
        losses = [loss for _, loss in self.dev]
        return len(losses) - 1 - max(place for place, loss in enumerate(losses) if loss == min(losses))

    def facts(self):
        """What an exported adapter says of its training, enough to go on from it."""
        return {"tokens": self.tokens, "steps": self.step, "dev_loss": self.dev[-1][1], **self.order.state}


def reason(run, given):
    """Why a run ends; None while it does not."""
    if run.tokens >= run.budget:
        return "budget"
    if given.patience and run.idle() >= given.patience:
        return "the loss no longer falls"
    return "told" if run.session.over() else None


def train(run, given):
    held = Held(given.work, given.batch)
    if not run.dev:
        run.session.log({"step": run.step, "tokens": run.tokens, **run.measure(held)})
    began, before, losses = time.monotonic(), run.tokens, []
    run.model.train()
    batches = run.order.batches()
    while not (stopped := reason(run, given)):
        last = run.tokens
        losses.append(run.learn(*next(batches)))
        is_due = run.tokens // given.dev_every > last // given.dev_every or run.tokens >= run.budget
        if is_due or run.step % LOG_EVERY == 0:
            loss = torch.stack(losses).mean().item()
            rate = (run.tokens - before) / (time.monotonic() - began)
            row = {"step": run.step, "tokens": run.tokens, "loss": round(loss, 4), "tokens/s": round(rate)}
            row |= run.measure(held) if is_due else {}
            began, before, losses = time.monotonic(), run.tokens, []
            run.session.log(row)
        if run.session.save_due():
            run.save()
    run.save()
    best = run.best["training"]
    run.session.log({"step": run.step, "tokens": run.tokens, "stopped": stopped, "best": best["dev_loss"], "at": best["tokens"]})


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model train", description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--work", type=Path, required=True, help="directory that `prepare` wrote")
    parser.add_argument("--run", type=Path, required=True, help="directory of this run; made, or gone on with")
    parser.add_argument("--from", dest="origin", type=Path, metavar="EXPORT", help="adapter that a new run starts from")
    parser.add_argument("--budget", type=int, default=15_000_000, help="tokens over which the learning rate falls")
    parser.add_argument("--batch", type=int, help="tokens of a step, padding among them; 2,048 by default, 32,768 on cuda")
    parser.add_argument("--rate", type=float, default=RATE, help="highest learning rate")
    parser.add_argument("--rank", type=int, default=RANK)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--save-every", type=float, default=5.0, metavar="MINUTES")
    parser.add_argument("--dev-every", type=int, metavar="TOKENS", help="a fiftieth of the budget by default")
    parser.add_argument("--patience", type=int, default=6, metavar="N", help="measures without a lesser loss; 0: to the end")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--compiled", action=argparse.BooleanOptionalAction, help="compile the layers; on cuda by default")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    kind = torch.device(given.device).type
    given.batch = given.batch or BATCH[kind]
    given.dev_every = given.dev_every or max(1, round(given.budget * DEV_EVERY))
    given.compiled = kind == "cuda" if given.compiled is None else given.compiled
    keep_memory()
    torch.set_num_threads(given.threads)
    torch.set_float32_matmul_precision("high")
    given.run.mkdir(parents=True, exist_ok=True)
    run = Run(given, Session(given.run, given.minutes, given.save_every))
    train(run, given)
