"""Trains an adapter; stops when told and goes on where it stopped.

    python -m language_model train --base BASE --work WORK --run RUN
    python -m language_model train --base BASE --work WORK --run RUN               (goes on)
    python -m language_model train --base BASE --work WORK --run RUN --from EXPORT (a new run from an exported adapter)

RUN keeps `state.pt` (adapter, optimiser, what of the data was read, random state), `log.jsonl`, and `best/`, the adapter
with the least loss on the development pairs, as `export` writes it. The schedule is a budget of tokens, so a run that
goes on elsewhere, on a GPU for instance, goes on along it. Tokens are those that are read, padding not among them.
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
from .lora import adapt, put, tensors_of
from .shards import IGNORED, Order, Shard

RATE, LAST_RATE = 5e-4, 0.05
WARMUP = 60_000
CLIP = 1.0
LOG_EVERY = 20


def rate_at(tokens, whole):
    """The learning rate after so many tokens of the budget: up in a straight line, down along a cosine."""
    if tokens < WARMUP:
        return RATE * (0.02 + 0.98 * tokens / WARMUP)
    share = min(1.0, (tokens - WARMUP) / max(1, whole - WARMUP))
    return RATE * (LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * share)))


def loss_of(model, tokens, labels, device):
    """Mean negative log-likelihood of the labelled tokens, and their number. Padding stands at the end, where no token
    that counts sees it."""
    tokens, wanted = tokens.to(device), labels[:, 1:].to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        states = model.model(input_ids=tokens, use_cache=False).last_hidden_state[:, :-1]
    # Only real positions reach the vocabulary, which costs a fourth of a step for each that does.
    learned = wanted != IGNORED
    nothing = states.new_zeros(len(model.lm_head.weight), dtype=torch.float32)
    loss = SlicedCrossEntropy.apply(states[learned], model.lm_head.weight, nothing, wanted[learned], 0.0, torch.bfloat16)
    return loss, int(learned.sum())


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


def opened(base, device, numbers):
    """The base, adapted, and the adapted modules by name. Matrices are in `numbers`, 16 bits for what autocast would round
    at each step; embeddings and norms stay in f32, and with them what layers hand on."""
    # Plain products are faster than PyTorch's fused attention on a CPU, most of all backwards.
    attention = "eager" if device.type == "cpu" else "sdpa"
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation=attention)
    model.config.use_cache = False
    adapted = adapt(model)
    for module in adapted.values():
        module.weight.data = module.weight.data.to(numbers)
    # The embeddings' matrix again, as the output layer multiplies it.
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().to(numbers), requires_grad=False)
    return model.to(device), adapted


class Run:
    def __init__(self, given, session):
        self.session, self.budget, self.device = session, given.budget, torch.device(given.device)
        self.base, self.work, self.directory = given.base, given.work, given.run
        torch.manual_seed(given.seed)
        self.model, self.adapted = opened(given.base, self.device, torch.bfloat16)
        self.parameters = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimiser = torch.optim.AdamW(self.parameters, lr=0.0, betas=(0.9, 0.98), weight_decay=0.01)
        self.step = self.tokens = 0
        self.dev = []
        state = session.restore()
        if state:
            self.take(state)
        self.order = Order(given.work / "shards", given.seed, given.batch, state and state["order"])
        if given.origin and not state:
            facts = adapter.read(given.origin, given.base, self.adapted)["training"]
            self.step, self.tokens = facts["steps"], facts["tokens"]
            # An adapter of other data begins with the first of these.
            if facts.get("shard") and (given.work / "shards" / facts["shard"]).exists():
                self.order.state |= {name: facts[name] for name in self.order.state if name in facts}

    def take(self, state):
        put(self.adapted, state["adapter"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.step, self.tokens, self.dev = state["step"], state["tokens"], state["dev"]
        torch.set_rng_state(state["random"])

    def save(self):
        self.session.save(
            {
                "adapter": tensors_of(self.adapted),
                "optimiser": self.optimiser.state_dict(),
                "step": self.step,
                "tokens": self.tokens,
                "dev": self.dev,
                "order": self.order.state,
                "training": self.facts(),
                "random": torch.get_rng_state(),
            }
        )

    def learn(self, tokens, labels):
        """A step; gives its loss and how many tokens were read."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate_at(self.tokens, self.budget)
        loss, _ = loss_of(self.model, tokens, labels, self.device)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.step += 1
        return loss.item()

    def measure(self, shard, batch):
        """Measures the loss on the development pairs and keeps the adapter if it is the least."""
        loss = round(dev_loss(self.model, shard, batch, self.device), 4)
        self.dev.append([self.tokens, loss])
        if loss <= min(loss for _, loss in self.dev):
            prompt = adapter.prompt_of(self.work)
            adapter.write(self.directory / "best", self.base, tensors_of(self.adapted), self.facts(), prompt)
        return loss

    def facts(self):
        """What an exported adapter says of its training, enough to go on from it."""
        return {"tokens": self.tokens, "steps": self.step, "dev_loss": self.dev[-1][1], **self.order.state}


def train(run, given):
    shard = Shard(given.work / "dev.safetensors")
    if not run.dev:
        run.session.log({"step": run.step, "tokens": run.tokens, "dev": run.measure(shard, given.batch)})
    began, before, losses = time.monotonic(), run.tokens, []
    run.model.train()
    batches = run.order.batches()
    while run.tokens < run.budget and not run.session.over():
        tokens, labels = next(batches)
        losses.append(run.learn(tokens, labels))
        run.tokens += int((tokens != 0).sum())
        measured = run.step % given.dev_every == 0
        if measured or run.step % LOG_EVERY == 0:
            rate = (run.tokens - before) / (time.monotonic() - began)
            row = {"step": run.step, "tokens": run.tokens, "loss": round(sum(losses) / len(losses), 4), "tokens/s": round(rate)}
            began, before, losses = time.monotonic(), run.tokens, []
            if measured:
                row["dev"] = run.measure(shard, given.batch)
                began = time.monotonic()
            run.session.log(row)
        if run.session.save_due():
            run.save()
    run.save()
    run.session.log({"step": run.step, "tokens": run.tokens, "stopped": "budget" if run.tokens >= run.budget else "told"})


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model train", description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--work", type=Path, required=True, help="directory that `prepare` wrote")
    parser.add_argument("--run", type=Path, required=True, help="directory of this run; made, or gone on with")
    parser.add_argument("--from", dest="origin", type=Path, metavar="EXPORT", help="adapter that a new run starts from")
    parser.add_argument("--budget", type=int, default=15_000_000, help="tokens over which the learning rate falls")
    parser.add_argument("--batch", type=int, default=2048, help="tokens of a step, padding among them")
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--save-every", type=float, default=5.0, metavar="MINUTES")
    parser.add_argument("--dev-every", type=int, default=100, metavar="STEPS")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(given.threads)
    given.run.mkdir(parents=True, exist_ok=True)
    run = Run(given, Session(given.run, given.minutes, given.save_every))
    train(run, given)
