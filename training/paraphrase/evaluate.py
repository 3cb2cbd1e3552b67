"""Measures a rewriter as fnstore uses it: on pairs with a human reference, and over rounds on FrameNet's exemplars.

    python -m paraphrase evaluate --fnstore fnstore --models ../models --store STORE --pairs test.tsv.xz \\
        --heldout WORK/heldout.txt --morphology unimorph-english.tsv.xz --embedder all-MiniLM-L6-v2 --out report.json

- *Pairs*: sources are rewritten freely, and again with one content word banned, in all its forms, that the reference
  does without. BLEU and chrF against the reference; self-BLEU is BLEU against the source.
- *FrameNet*: exemplars, drawn by a hash of their ids, go through `fnstore expand` in a copy of the store; figures of
  every round. What a new trigger's faults are says measures.py.
- *Meaning*: cosine of sentence embeddings of source and output, beside human pairs and random ones.
- *Fluency*: perplexity of a word under a trigram model (language_model.py) of sentences that no rewriter of this recipe
  has seen, beside human sentences.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import tempfile
from pathlib import Path

import torch
from sacrebleu import corpus_bleu, corpus_chrf
from tokenizers import Tokenizer
from transformers import BertModel

from program import Program, drawn

from .language_model import LanguageModel
from .marks import avoidable
from .measures import Morphology, change_rate, holds, is_copy, length_ratio, tokens, trigger_faults
from .prepare import lines
from .text import unspaced

FAULTS = ["missing", "variant", "unknown"]


class Embedder:
    """Sentence embeddings of all-MiniLM-L6-v2: the mean over all pieces."""

    def __init__(self, directory):
        self.model = BertModel.from_pretrained(directory, add_pooling_layer=False, dtype=torch.float32).eval()
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()

    @torch.inference_mode()
    def embed(self, texts):
        rows = torch.empty(len(texts), self.model.config.hidden_size)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(order), 64):
            these = order[start : start + 64]
            encodings = self.tokenizer.encode_batch([texts[at] for at in these])
            ids, mask = (torch.tensor([getattr(e, name) for e in encodings]) for name in ("ids", "attention_mask"))
            states = self.model(input_ids=ids, attention_mask=mask).last_hidden_state * mask[:, :, None]
            rows[these] = torch.nn.functional.normalize(states.sum(1), dim=1)
        return rows

    def cosines(self, ours, theirs):
        return (self.embed(ours) * self.embed(theirs)).sum(1)


def spread(cosines):
    """A distribution in six numbers."""
    marks = cosines.quantile(torch.tensor([0.05, 0.25, 0.5, 0.75, 0.95])).tolist()
    return {"mean": round(cosines.mean().item(), 4)} | {
        name: round(value, 4) for name, value in zip(("p5", "p25", "median", "p75", "p95"), marks)
    }


class Bench:
    """What every list of (source, output) is measured with."""

    def __init__(self, embedder, language_model):
        self.embedder, self.language_model = embedder, language_model

    def measure(self, pairs, references=None):
        sources, outputs = [unspaced(source) for source, _ in pairs], [unspaced(output) for _, output in pairs]
        found = {
            "outputs": len(pairs),
            "copies": share(is_copy(*pair) for pair in pairs),
            "token change rate": mean(change_rate(*pair) for pair in pairs),
            "length ratio": mean(length_ratio(*pair) for pair in pairs),
            "self-BLEU": round(corpus_bleu(outputs, [sources]).score, 2),
            "cosine": spread(self.embedder.cosines(sources, outputs)),
            "perplexity": round(self.language_model.perplexity([tokens(output) for output in outputs]), 1),
        }
        if references:
            found["BLEU"] = round(corpus_bleu(outputs, [references]).score, 2)
            found["chrF"] = round(corpus_chrf(outputs, [references]).score, 2)
        return found

    def strangers(self, sources, others):
        """Of texts that have nothing to do with each other: each source and the next one's other."""
        return spread(self.embedder.cosines(list(sources), [*others[1:], others[0]]))


def share(hits):
    return mean(map(float, hits))


def mean(numbers):
    numbers = list(numbers)
    return round(sum(numbers) / max(1, len(numbers)), 4)


def on_pairs(program, bench, morphology, pairs, seed):
    """Free rewriting, rewriting without a word, and what people did."""
    rng = random.Random(seed)
    report = {}
    banned = []
    for source, reference in pairs:
        places = avoidable(source, reference)
        word = source[slice(*rng.choice(places))] if places else None
        forms = morphology.all_forms(word.lower()) if word else []
        banned.append([form for form in forms if not holds(reference, form)])
    for name, requests in (
        ("free", [{"text": source} for source, _ in pairs]),
        ("one word banned", [{"text": source, "avoid": avoid} for (source, _), avoid in zip(pairs, banned) if avoid]),
    ):
        outputs = program.paraphrase(requests)
        references = [reference for (_, reference), avoid in zip(pairs, banned) if name == "free" or avoid]
        kept = [at for at, output in enumerate(outputs) if output]
        report[name] = bench.measure(
            [(requests[at]["text"], outputs[at]) for at in kept], [references[at] for at in kept]
        )
        report[name]["without an output"] = len(outputs) - len(kept)
        report[name]["constraints satisfied"] = share(
            not any(holds(outputs[at], form) for form in requests[at].get("avoid", [])) for at in kept
        )
    report["human"] = bench.measure(pairs)
    report["random"] = {"cosine": bench.strangers(*zip(*rng.sample(pairs, len(pairs))))}
    return report


def exemplars(program):
    """Text of every exemplar by the id of its annotation set."""
    records = program.run("query", "origin=exemplar", "--fields", "id,text")
    return {record["id"]: record["text"] for record in records}


def expanded(program, ids, rounds):
    """(round, seed's record, triggers banned, output's record) of everything that `expand` writes for the seeds."""
    program.expand(ids, rounds)
    seeds = {record["id"]: record for record in program.sets(ids)}
    chains = {}
    for record in program.query("origin=generated"):
        if record["generation"]["seed"] in seeds:
            chains.setdefault(record["generation"]["seed"], []).append(record)
    for seed, records in chains.items():
        before = [seeds[seed]["trigger"]]
        for record in sorted(records, key=lambda record: record["generation"]["round"]):
            yield record["generation"]["round"], seeds[seed], list(before), record
            before.append(record["trigger"])


def on_framenet(program, bench, morphology, ids, rounds):
    outputs = list(expanded(program, ids, rounds))
    human = [seed["text"] for _, seed, before, _ in outputs if len(before) == 1]
    report = {"all rounds": framenet_figures(outputs, bench, morphology)}
    for number in range(1, rounds + 1):
        of_round = [output for output in outputs if output[0] == number]
        if of_round:
            report[f"round {number}"] = framenet_figures(of_round, bench, morphology)
    shuffled = random.Random(1).sample(human, len(human))
    report["human"] = {
        "perplexity": round(bench.language_model.perplexity([tokens(text) for text in human]), 1),
    }
    report["random"] = {"cosine": bench.strangers(shuffled, shuffled)}
    return report


def framenet_figures(outputs, bench, morphology):
    found = bench.measure([(seed["text"], record["text"]) for _, seed, _, record in outputs])
    faults = [
        trigger_faults(seed["text"], record["trigger"], before, morphology)
        | ({"weak alignment"} if "weak-alignment" in record["generation"]["flags"] else set())
        for _, seed, before, record in outputs
    ]
    found["constraints satisfied"] = share(
        not any(holds(record["text"], phrase) for phrase in before) for _, _, before, record in outputs
    )
    for name in [*FAULTS, "weak alignment"]:
        found[f"trigger: {name}"] = share(name in of_output for of_output in faults)
    found["trigger: none of these"] = share(not of_output for of_output in faults)
    return found


def show(title, parts):
    """A table: a figure a line, a part a column."""
    flat = {name: {} for name in parts}
    for name, part in parts.items():
        for figure, value in part.items():
            inner = value if isinstance(value, dict) else {"": value}
            flat[name].update({f"{figure} {key}".strip(): number for key, number in inner.items()})
    figures = list(dict.fromkeys(figure for part in flat.values() for figure in part))
    print(f"\n{title}\n\n| | {' | '.join(parts)} |\n| --- |{' ---: |' * len(parts)}")
    for figure in figures:
        print(f"| {figure} | {' | '.join(str(part.get(figure, '')) for part in flat.values())} |")


def main(arguments):
    parser = argparse.ArgumentParser(prog="paraphrase evaluate", description=__doc__.split("\n")[0])
    parser.add_argument("--fnstore", type=Path, required=True, help="the program")
    parser.add_argument("--models", type=Path, help="directory of the models [default: where fnstore looks]")
    parser.add_argument("--store", type=Path, required=True, help="with FrameNet imported; it is copied, not changed")
    parser.add_argument("--pairs", type=Path, required=True, help="dev.tsv.xz or test.tsv.xz")
    parser.add_argument("--heldout", type=Path, required=True, help="heldout.txt that `prepare` wrote")
    parser.add_argument("--morphology", type=Path, required=True, help="unimorph-english.tsv.xz")
    parser.add_argument("--embedder", type=Path, required=True, help="directory of all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, required=True, help="report to write, JSON")
    parser.add_argument("--count", type=int, default=1500, help="how many of the pairs")
    parser.add_argument("--seeds", type=int, default=1000, help="how many exemplars")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="keep the expanded store here, for `judge`")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    if given.keep and given.keep.exists():
        parser.error(f"{given.keep} is there already")
    with open(given.heldout, encoding="utf-8") as file:
        heldout = [line.rstrip("\n") for line in file]
    human = exemplars(Program(given.fnstore, given.store))
    morphology = Morphology(given.morphology, heldout + list(human.values()))
    bench = Bench(Embedder(given.embedder), LanguageModel([tokens(text) for text in heldout]))
    pairs = list(itertools.islice(lines(given.pairs), given.count))
    report = {"settings": {name: getattr(given, name) for name in ("count", "seeds", "rounds", "seed")}}
    report["pairs"] = on_pairs(Program(given.fnstore, models=given.models), bench, morphology, pairs, given.seed)
    show(f"{given.pairs.name}: {len(pairs)} pairs", report["pairs"])
    with tempfile.TemporaryDirectory() as scratch:
        store = given.keep or Path(scratch) / "store"
        shutil.copytree(given.store, store)
        program = Program(given.fnstore, store, given.models)
        ids = drawn(human, given.seeds, given.seed)
        report["framenet"] = on_framenet(program, bench, morphology, ids, given.rounds)
    show(f"FrameNet: {given.seeds} exemplars", report["framenet"])
    given.out.write_text(json.dumps(report, indent=2) + "\n")
