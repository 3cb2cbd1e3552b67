"""Measures a rewriter's substitutes in context on SWORDS (Lee et al. 2021).

    python -m language_model swords --data DIR --fnstore fnstore --model NAME --morphology FILE --out report.json

Every target is avoided in all its forms, in the sentence that holds it. `fnstore align` finds what stands in its place in
each output; these, in order of the outputs, are the substitutes. With `--in-place` they are those of `fnstore substitutes`,
which only a language model gives. F@10 is the benchmark's: hits, proposals and min(10,
answers) are summed over all targets. *Acceptable* answers have more than half of the ten votes, *conceivable* ones at least
one. *Lenient* passes over proposals that nobody judged.
"""

import argparse
import gzip
import json
import re
from pathlib import Path

from paraphrase.measures import Morphology
from program import Program

TOP = 10
# Where a sentence ends, roughly: SWORDS' contexts are a few sentences of news, fiction and mail.
END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(A-Z])")
AFFIRMED = ("TRUE", "TRUE_IMPLICIT")


def sentence_of(context, offset, target):
    """The sentence that holds the target, on one line, and the target's [start, end) in it."""
    start = max([0] + [end.end() for end in END.finditer(context) if end.end() <= offset])
    ends = [end.start() for end in END.finditer(context) if end.start() >= offset + len(target)]
    before = re.sub(r"\s+", " ", context[start:offset]).lstrip()
    after = re.sub(r"\s+", " ", context[offset + len(target) : min(ends + [len(context)])]).rstrip()
    return before + target + after, (len(before), len(before) + len(target))


def read(data):
    """Targets: sentence, span, and the judged substitutes with their share of votes."""
    with gzip.open(data / "lexsub" / "swords-v1.1_dev.json.gz") as file:
        swords = json.load(file)
    targets = {}
    for name, target in swords["targets"].items():
        context = swords["contexts"][target["context_id"]]["context"]
        text, span = sentence_of(context, target["offset"], target["target"])
        assert text[slice(*span)] == target["target"]
        targets[name] = {"text": text, "span": span, "target": target["target"], "votes": {}}
    for name, substitute in swords["substitutes"].items():
        labels = swords["substitute_labels"][name]
        share = sum(label in AFFIRMED for label in labels) / len(labels)
        targets[substitute["target_id"]]["votes"][substitute["substitute"].lower()] = share
    return list(targets.values())


def outputs_of(program, targets, morphology, model, beam):
    requests = (
        {"id": at, "text": one["text"], "avoid": morphology.all_forms(one["target"].lower())}
        for at, one in enumerate(targets)
    )
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    records = program.run(
        "paraphrase", "-", "--input", "jsonl", "--model", model, "--beam", beam, "--n-best", beam, "--words", "any",
        *program.networks, text=lines, store=False, accepted=(0, 65),
    )  # fmt: skip
    return {record["id"]: [one["text"] for one in record.get("paraphrases", [])] for record in records}


def aligned(program, targets, outputs):
    """What stands in each target's place, in order of its outputs."""
    lines = "".join(
        json.dumps({"id": at, "source": targets[at]["text"], "target": text, "span": targets[at]["span"]}) + "\n"
        for at, texts in outputs.items()
        for text in texts
    )
    records = program.run("align", "spans", "-", text=lines, store=False, accepted=(0, 65))
    found = {at: [] for at in range(len(targets))}
    for record in records:
        found[record["id"]] += [" ".join(record["texts"]).lower()] if record.get("texts") else []
    return [found[at] for at in range(len(targets))]


def in_place(program, targets, morphology, model):
    """What a language model says in each target's place, the likeliest first."""
    requests = (
        {"id": at, "text": one["text"], "span": one["span"], "avoid": sorted(morphology.all_forms(one["target"].lower()))}
        for at, one in enumerate(targets)
    )
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    records = program.run(
        "substitutes", "-", "--model", model, "--n-best", "60", *program.networks, text=lines, store=False, accepted=(0, 65),
    )  # fmt: skip
    found = {record.get("id"): [one["text"].lower() for one in record.get("substitutes", [])] for record in records}
    return [found.get(at, []) for at in range(len(targets))]


def lemma(phrase, morphology):
    """The phrase with its first word as its shortest stem, as the benchmark's substitutes are lemmas."""
    first, *rest = phrase.split()
    return " ".join([min(morphology.stems(first), key=lambda stem: (len(stem), stem)), *rest])


def proposals(phrases, target, morphology):
    """At most ten, each once, none of them a form of the target."""
    kept = {}
    for phrase in phrases:
        if phrase.split() and not morphology.is_variant(phrase, target):
            kept.setdefault(lemma(phrase, morphology), phrase)
    return list(kept.items())


def figures(targets, substitutes, morphology):
    """F@10 in percent, for acceptable and conceivable answers, strict and lenient."""
    found = {}
    for kind, least in (("acceptable", 0.5 + 1e-9), ("conceivable", 0.1 - 1e-9)):
        for way in ("strict", "lenient"):
            hits = proposed = wanted = 0
            for target, phrases in zip(targets, substitutes, strict=True):
                judged, answers = set(target["votes"]), {word for word, share in target["votes"].items() if share >= least}
                # A form counts as its lemma or as it stands, whichever the benchmark lists.
                named = [next((name for name in both if name in judged), both[0]) for both in
                         proposals(phrases, target["target"].lower(), morphology)]  # fmt: skip
                top = [name for name in named if way == "strict" or name in judged][:TOP]
                hits += len(answers & set(top))
                proposed += len(top)
                wanted += min(TOP, len(answers))
            precision, recall = hits / max(1, proposed), hits / max(1, wanted)
            found[f"{kind}, {way}"] = {
                "f": 100 * 2 * precision * recall / max(1e-9, precision + recall),
                "precision": 100 * precision,
                "recall": 100 * recall,
                "proposals": proposed,
            }
    return found


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model swords", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="directory with lexsub/swords-v1.1_dev.json.gz")
    parser.add_argument("--fnstore", default="fnstore", help="the program")
    parser.add_argument("--models", type=Path, help="directory of the models")
    parser.add_argument("--model", required=True, help="the rewriter")
    parser.add_argument("--morphology", type=Path, required=True, help="unimorph-english.tsv.xz")
    parser.add_argument("--beam", type=int, default=20, help="of the search for sentences")
    parser.add_argument("--in-place", action="store_true", help="ask what can stand in the place, and not for sentences")
    parser.add_argument("--numbers", default="f32")
    parser.add_argument("--limit", type=int, help="only the first targets")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    targets = read(given.data)[: given.limit]
    morphology = Morphology(given.morphology, [])
    program = Program(given.fnstore, models=given.models, numbers=given.numbers)
    if given.in_place:
        substitutes = in_place(program, targets, morphology, given.model)
    else:
        substitutes = aligned(program, targets, outputs_of(program, targets, morphology, given.model, given.beam))
    report = {
        "model": given.model,
        "beam": given.beam,
        "targets": len(targets),
        "without a substitute": sum(not found for found in substitutes),
        "figures": figures(targets, substitutes, morphology),
        "substitutes": [{"text": one["text"], "target": one["target"], "found": found}
                        for one, found in zip(targets, substitutes, strict=True)],
    }  # fmt: skip
    given.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    for name, figure in report["figures"].items():
        print(f"{name:22} F@10 {figure['f']:5.1f}  P {figure['precision']:5.1f}  R {figure['recall']:5.1f}")
