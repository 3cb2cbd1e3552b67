"""What each kind of feature is worth to the span aligner's head (Culkin et al. 2021, Table 2): a head for each row, all learnt
at once from the same states.

    python -m encoder ablation --data SPANS --aligner BEST --epochs 3 --out report.json
    python -m encoder ablation --data SPANS --encoder DIR --layers 3 --epochs 3 --out report.json

With `--encoder`, any BERT, rows are the paper's. With `--aligner`, the `best/` of a run of `align` with a linker (or what `unpack`
made), they are of a head that sees links. Encoder and linker stay as they are; those of an aligner have learnt from the same data,
along with a head that saw everything, so that these rows say what the *head* makes of each kind of feature, and not what an
aligner would be that had learnt without it. `dev.jsonl` and `test.jsonl` are aligned after the last epoch, nothing held back;
nothing is chosen by either. Items without any candidate do not count.
"""

import argparse
import json
import random
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import BertModel

from .align import BATCH, HEAD_RATE, WARMUP, exchanged
from .head import CUES, SAMPLE, Network, by_pair, candidates, encode, f1, features, gold_span, labels, linked
from .head import opened_tokenizer, read, report, sampled, that_fit
from .links import SPAN_CUES
from .session import device
from .teachers import Teacher

# (name, kinds of features, labels)
OF_PAPER = [
    ("Cue", ["cue"], "hard"),
    ("Mx", ["mx"], "hard"),
    ("Df", ["df"], "hard"),
    ("Mx+Cue", ["mx", "cue"], "hard"),
    ("Df+Cue", ["df", "cue"], "hard"),
    ("Df+Mx", ["df", "mx"], "hard"),
    ("Df+Mx+Cue", ["df", "mx", "cue"], "hard"),
    ("Df+Mx+Cue, SBCE", ["df", "mx", "cue"], "soft"),
]
LINKED = [
    ("links", ["links"], "soft"),
    ("links+Cue", ["cue", "links"], "soft"),
    ("without links", ["df", "mx", "cue"], "soft"),
    ("without Df", ["mx", "cue", "links"], "soft"),
    ("without Mx", ["df", "cue", "links"], "soft"),
    ("without Cue", ["df", "mx", "links"], "soft"),
    ("all, hard labels", ["df", "mx", "cue", "links"], "hard"),
    ("all", ["df", "mx", "cue", "links"], "soft"),
]


class Row:
    def __init__(self, name, kinds, wanted, width, inputs):
        cues = 2 * width, 2 * width + CUES
        at = {"df": (0, width), "mx": (width, 2 * width), "cue": cues, "links": (cues[1], inputs)}
        self.name, self.hard = name, wanted == "hard"
        self.columns = torch.cat([torch.arange(*at[kind]) for kind in kinds])
        # As many hidden units as with all features, so that a row lacks what it is named after and nothing else.
        self.head = Network(len(self.columns), inputs // 2).to(device())
        self.optimiser = torch.optim.AdamW(self.head.parameters(), lr=0.0, weight_decay=0.01, fused=True)

    def learn(self, rows, soft, factor):
        self.optimiser.param_groups[0]["lr"] = HEAD_RATE * factor
        wanted = (soft == 1.0).float() if self.hard else soft
        loss = binary_cross_entropy_with_logits(self.head(rows[:, self.columns]), wanted)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()


class Reader:
    """A frozen encoder, and the linker beside it if there is one."""

    def __init__(self, given):
        if given.aligner:
            teacher = Teacher(given.aligner)
            self.model, self.linker, self.tokenizer = teacher.model, teacher.linker, teacher.tokenizer
        else:
            layers = {"num_hidden_layers": given.layers} if given.layers else {}
            self.model = BertModel.from_pretrained(given.encoder, add_pooling_layer=False, dtype=torch.float32, **layers)
            self.model.to(device()).eval()
            self.linker = None
            self.tokenizer = opened_tokenizer(given.encoder)

    def groups(self, path):
        return that_fit(self.model, self.tokenizer, by_pair(read(path)))[0]

    @torch.no_grad()
    def spans(self, pairs, choose):
        """(item, its candidates, their features) of all items; `choose(item, all candidates)` says which."""
        for (source, target, items), sums in zip(pairs, encode(self.model, self.tokenizer, pairs, device())):
            scores = linked(self.linker, sums, (source, target)).sigmoid() if self.linker else None
            for item in items:
                start, end = item["source_span"]
                spans = choose(item, candidates(end - start, len(target)))
                if spans:
                    yield item, spans, features(sums, (start, end), spans, scores)


def learn(reader, rows, pairs, given):
    steps = -(-len(pairs) // BATCH)
    for epoch in range(given.epochs):
        order = random.Random(f"{given.seed}/{epoch}").sample(pairs, len(pairs))
        for place in range(steps):
            rng = random.Random(f"{given.seed}/{epoch}/{place}")
            batch = [exchanged(pair) if rng.random() < 0.5 else pair for pair in order[place * BATCH : (place + 1) * BATCH]]
            near = lambda item, spans: sampled(spans, gold_span(item), SAMPLE, rng)
            seen = [(of, labels(spans, gold_span(item))) for item, spans, of in reader.spans(batch, near)]
            done = epoch * steps + place
            factor = (1 - done / (given.epochs * steps)) * min(1, (done + 1) / WARMUP)
            all_features, soft = torch.cat([of for of, _ in seen]), torch.cat([wanted for _, wanted in seen]).to(device())
            for row in rows:
                row.learn(all_features, soft, factor)
        print(f"epoch {epoch + 1} of {given.epochs}", flush=True)


@torch.no_grad()
def measured(reader, rows, pairs):
    found = [[] for _ in rows]
    for at in range(0, len(pairs), 32):
        for item, spans, of in reader.spans(pairs[at : at + 32], lambda _, spans: spans):
            for row, answers in zip(rows, found):
                logits = row.head(of[:, row.columns])
                best = int(logits.argmax())
                answers.append((item, spans[best], logits[best].sigmoid().item()))
    return [summary(report(answers, 0.0)) for answers in found]


def summary(counts):
    """Percents: exact F1 of all, changed and identical spans that have an answer, soft F1 of all and of changed ones."""
    changed, identical = counts["changed"], counts["identical"]
    both = {of: changed[of] + identical[of] for of in ("exact", "soft")}
    return {
        "items": both["exact"]["gold"],
        "exact": 100 * f1(both["exact"]),
        "soft": 100 * f1(both["soft"]),
        "changed, exact": 100 * f1(changed["exact"]),
        "identical, exact": 100 * f1(identical["exact"]),
        "changed, soft": 100 * f1(changed["soft"]),
    }


def main(arguments):
    parser = argparse.ArgumentParser(prog="encoder ablation", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with train.jsonl, dev.jsonl and test.jsonl")
    parser.add_argument("--aligner", type=Path, help="a run's `best/`, or what `unpack` made")
    parser.add_argument("--encoder", type=Path, help="a BERT directory with tokenizer.json")
    parser.add_argument("--layers", type=int, help="of --encoder; read only the first [default: all]")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    if bool(given.aligner) == bool(given.encoder):
        parser.error("either --aligner or --encoder")
    torch.set_num_threads(given.threads)
    torch.manual_seed(given.seed)
    reader = Reader(given)
    width = reader.model.config.hidden_size
    kinds = LINKED if reader.linker else OF_PAPER
    inputs = 2 * width + CUES + bool(reader.linker) * SPAN_CUES
    rows = [Row(*kind, width, inputs) for kind in kinds]
    learn(reader, rows, reader.groups(given.data / "train.jsonl"), given)
    result = {row.name: {} for row in rows}
    for part in ("dev", "test"):
        for row, of in zip(rows, measured(reader, rows, reader.groups(given.data / f"{part}.jsonl"))):
            result[row.name][part] = {name: round(value, 2) for name, value in of.items()}
            print(part, row.name, result[row.name][part], flush=True)
    given.out.write_text(json.dumps(result, indent=2) + "\n")
