"""Trains the rewriter; stops after a time and goes on where it stopped.

    python -m paraphrase train --work WORK --run RUN --preset small --minutes 60
    python -m paraphrase train --work WORK --run RUN --minutes 60          (goes on)

RUN keeps `state.pt` (weights, their moving average, the optimiser, how far the data was read), `log.jsonl`, and
`model/`: the averaged weights as `transformers` loads them. The learning rate falls with the square root of the
step (Vaswani et al. 2017, section 5.3), so a run needs no length decided beforehand; `--cool` lets it fall to zero
over the minutes given, which ends a run.
"""

import argparse
import itertools
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import MarianConfig, MarianMTModel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from memory import keep_memory

from .batches import IGNORED, batches, read_pairs
from .loss import SlicedCrossEntropy
from .prepare import lines

PRESETS = {
    # Minutes on two cores: shows that the recipe runs.
    "tiny": {"width": 128, "heads": 4, "inner": 512, "encoder": 2, "decoder": 1, "rate": 2e-3, "budget": 3000, "dropout": 0.0},
    # What two cores train overnight: too few weights, and too few passes over the data, to learn it by heart.
    "small": {"width": 256, "heads": 4, "inner": 1024, "encoder": 4, "decoder": 2, "rate": 1.5e-3, "budget": 4000, "dropout": 0.0},
    # Culkin et al. (2021), section 3: for a GPU.
    "paper": {"width": 512, "heads": 8, "inner": 2048, "encoder": 6, "decoder": 4, "rate": 1e-3, "budget": 60000, "dropout": 0.1},
}
WARMUP = 1000
SMOOTHING = 0.1
CLIP = 1.0
# Of the moving average of weights, a step; reached gradually, so that early steps are forgotten.
AVERAGE = 0.9995
DEV_PAIRS = 400


def configuration(preset, vocabulary):
    shape = PRESETS[preset]
    return MarianConfig(
        vocab_size=vocabulary,
        decoder_vocab_size=vocabulary,
        d_model=shape["width"],
        encoder_layers=shape["encoder"],
        decoder_layers=shape["decoder"],
        encoder_attention_heads=shape["heads"],
        decoder_attention_heads=shape["heads"],
        encoder_ffn_dim=shape["inner"],
        decoder_ffn_dim=shape["inner"],
        max_position_embeddings=256,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        dropout=shape["dropout"],
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=None,
    )


def warm_start(model, tokenizer, directory):
    """Takes over another model's layers of the same shape, and its rows of the pieces that both know."""
    other = MarianMTModel.from_pretrained(directory, dtype=torch.float32)
    theirs = Tokenizer.from_file(str(Path(directory) / "tokenizer.json")).get_vocab()
    state = model.state_dict()
    taken = 0
    for name, tensor in other.state_dict().items():
        if name in state and state[name].shape == tensor.shape and "embed_tokens" not in name and "shared" not in name:
            state[name].copy_(tensor)
            taken += 1
    rows = [(row, theirs[piece]) for piece, row in tokenizer.get_vocab().items() if piece in theirs]
    mine, yours = (torch.tensor(side) for side in zip(*rows))
    with torch.no_grad():
        model.model.shared.weight[mine] = other.model.shared.weight[yours]
        model.final_logits_bias.zero_()
    print(f"took {taken} tensors and {len(rows)} of {len(tokenizer.get_vocab())} embeddings from {directory}")


def loss_of(model, sources, targets, device):
    sources, targets = sources.to(device), targets.to(device)
    start = torch.full((len(targets), 1), model.config.decoder_start_token_id, device=device)
    inputs = torch.cat([start, targets[:, :-1].clamp(min=0)], 1)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        hidden = model.model(
            input_ids=sources, attention_mask=(sources != 0).long(), decoder_input_ids=inputs, use_cache=False
        ).last_hidden_state
    # Only real positions reach the vocabulary: padding would be a third of the work.
    real = targets != IGNORED
    loss = SlicedCrossEntropy.apply(
        hidden[real], model.lm_head.weight, model.final_logits_bias[0], targets[real], SMOOTHING, torch.bfloat16
    )
    return loss, int(real.sum())


def rate_at(step, peak, cooled):
    return peak * min(step / WARMUP, math.sqrt(WARMUP / step)) * cooled


class Run:
    """A training run in a directory."""

    def __init__(self, directory, preset, tokenizer, device, warm):
        self.directory = directory
        self.device = device
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / "state.pt"
        state = torch.load(path, map_location="cpu", weights_only=True) if path.exists() else None
        self.preset = state["preset"] if state else preset
        self.step = state["step"] if state else 0
        self.chunk = state["chunk"] if state else 0
        self.seconds = state["seconds"] if state else 0.0
        self.tokens = state["tokens"] if state else 0
        torch.manual_seed(self.step)
        self.model = MarianMTModel(configuration(self.preset, tokenizer.get_vocab_size()))
        # Plain products are faster than PyTorch's fused attention on a CPU, most of all backwards.
        if device.type == "cpu":
            self.model.set_attn_implementation("eager")
        if state:
            self.model.load_state_dict(state["model"])
        elif warm:
            warm_start(self.model, tokenizer, warm)
        self.model.to(device)
        self.average = {name: tensor.detach().clone().float() for name, tensor in self.trained()}
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.01
        )
        if state:
            self.optimiser.load_state_dict(state["optimiser"])
            for name in self.average:
                self.average[name].copy_(state["average"][name])

    def trained(self):
        return [(name, tensor) for name, tensor in self.model.named_parameters() if tensor.requires_grad]

    def learn(self, sources, targets, rate):
        self.step += 1
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        loss, tokens = loss_of(self.model, sources, targets, self.device)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimiser.step()
        self.tokens += tokens
        keep = min(AVERAGE, self.step / (self.step + 10))
        with torch.no_grad():
            torch._foreach_lerp_(
                list(self.average.values()), [tensor.float() for _, tensor in self.trained()], 1 - keep
            )
        return loss.item()

    def save(self):
        """The state, then the averaged model; each file is there whole or as it was."""
        state = {
            "preset": self.preset,
            "step": self.step,
            "chunk": self.chunk,
            "seconds": self.seconds,
            "tokens": self.tokens,
            "model": self.model.state_dict(),
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
        }
        torch.save(state, self.directory / "state.tmp")
        os.replace(self.directory / "state.tmp", self.directory / "state.pt")
        last = {name: tensor.detach().clone() for name, tensor in self.trained()}
        with torch.no_grad():
            for name, tensor in self.trained():
                tensor.copy_(self.average[name])
            self.model.save_pretrained(self.directory / "model")
            for name, tensor in self.trained():
                tensor.copy_(last[name])


@torch.inference_mode()
def dev_loss(model, tokenizer, pairs, device):
    """Mean negative log-likelihood of a piece (natural log) of the pairs' second texts."""
    model.eval()
    total = count = 0.0
    for source, target in pairs:
        ids = [torch.tensor([tokenizer.encode(text).ids[:200]], device=device) for text in (source, target)]
        start = torch.full((1, 1), model.config.decoder_start_token_id, device=device)
        logits = model(input_ids=ids[0], decoder_input_ids=torch.cat([start, ids[1][:, :-1]], 1)).logits[0]
        total += torch.nn.functional.cross_entropy(logits.float(), ids[1][0], reduction="sum").item()
        count += ids[1].shape[1]
    model.train()
    return total / count


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase train", description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="directory with pairs.tsv and tokenizer.json")
    parser.add_argument("--run", type=Path, required=True, help="directory of this run; made, or gone on with")
    parser.add_argument("--preset", choices=PRESETS, default="small")
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--cool", action="store_true", help="let the learning rate fall to zero over these minutes")
    parser.add_argument("--warm", type=Path, help="a Marian model whose layers a new run starts from")
    parser.add_argument("--dev", type=Path, help="pairs whose loss is logged at each save (dev.tsv.xz)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--save-every", type=float, default=10.0, metavar="MINUTES")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    keep_memory()
    torch.set_num_threads(given.threads)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tokenizer = Tokenizer.from_file(str(given.work / "tokenizer.json"))
    run = Run(given.run, given.preset, tokenizer, device, given.warm)
    tokenizer.save(str(given.run / "tokenizer.json"))
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    print(f"{run.preset}: {sum(t.numel() for _, t in run.trained()) / 1e6:.1f} million weights, step {run.step}", flush=True)
    train(run, given, tokenizer, stopped)


def train(run, given, tokenizer, stopped):
    pairs = read_pairs(given.work / "pairs.tsv")
    shape = PRESETS[run.preset]
    began, saved, before, smooth = time.time(), time.time(), run.seconds, None
    first = run.chunk
    run.model.train()
    for chunk, sources, targets in batches(pairs, tokenizer, given.seed, first, shape["budget"]):
        elapsed = time.time() - began
        over = elapsed >= 60 * given.minutes or bool(stopped)
        if over or time.time() - saved > 60 * given.save_every:
            run.seconds, saved = before + elapsed, time.time()
            # A chunk begun is read again after a stop, in a new order of corruption; a few batches twice.
            run.chunk = chunk + (1 if over else 0)
            run.save()
            note(run, smooth, given, tokenizer)
        if over:
            break
        cooled = 1 - elapsed / (60 * given.minutes) if given.cool else 1.0
        loss = run.learn(sources, targets, rate_at(run.step + 1, shape["rate"], cooled))
        smooth = loss if smooth is None else 0.99 * smooth + 0.01 * loss


def note(run, loss, given, tokenizer):
    row = {"step": run.step, "minutes": round(run.seconds / 60, 1), "tokens": run.tokens, "loss": round(loss or 0, 4)}
    if given.dev:
        averaged = MarianMTModel.from_pretrained(run.directory / "model", dtype=torch.float32).to(run.device)
        pairs = itertools.islice(lines(given.dev), DEV_PAIRS)
        row["dev"] = round(dev_loss(averaged, tokenizer, pairs, run.device), 4)
    with open(run.directory / "log.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    print(row, flush=True)
