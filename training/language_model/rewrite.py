"""Rewrites sentences with a base and an adapter: a beam search of `transformers`, to look at what an adapter does.

    fnstore query frame=Arriving --limit 12 --format jsonl | python -m language_model rewrite --base BASE --adapter DIR

A line of input is a record that `fnstore query` printed, or {"text": ..., "avoid": [...], "use": [...], "hint": [...]}. The
trigger is avoided in all its forms; `--hint` and `--avoid` add words to every request.
"""

import argparse
import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

from paraphrase.measures import Morphology
from paraphrase.text import unspaced

from . import adapter
from .lora import adapt
from .prepare import opened_tokenizer
from .prompt import Request, Template

MOST_TOKENS = 80


def request_of(record, morphology):
    """What is asked for, and the words that are banned."""
    avoid = ([record["trigger"]] if record.get("trigger") else []) + record.get("avoid", [])
    banned = {form for word in avoid for form in ([word] if " " in word else morphology.all_forms(word.lower()))}
    return Request(unspaced(record["text"]), avoid, record.get("use", []), record.get("hint", [])), sorted(banned)


def banned_tokens(words, tokenizer):
    """The tokens of banned words, small and with a capital, after a space and without."""
    spellings = {spelled for word in words for spelled in (word, word.capitalize())}
    return [tokenizer.encode(before + spelled).ids for spelled in sorted(spellings) for before in ("", " ")]


def rewritten(model, tokenizer, template, request, banned, beams):
    prompt = torch.tensor([tokenizer.encode(template.write(request)).ids])
    with torch.no_grad():
        found = model.generate(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            num_beams=beams,
            do_sample=False,
            max_new_tokens=MOST_TOKENS,
            bad_words_ids=banned_tokens(banned, tokenizer) or None,
            eos_token_id=tokenizer.token_to_id(template.stop()),
            pad_token_id=tokenizer.token_to_id(template.stop()),
        )[0]
    return tokenizer.decode(found[prompt.shape[1] :].tolist(), skip_special_tokens=True).strip()


def main(arguments):
    parser = argparse.ArgumentParser(prog="language_model rewrite", description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True, help="directory that `unpack` wrote")
    parser.add_argument("--adapter", type=Path, help="directory that `export` wrote; the base alone without")
    parser.add_argument("--morphology", type=Path, required=True, help="unimorph-english.tsv.xz")
    parser.add_argument("--beams", type=int, default=4)
    parser.add_argument("--avoid", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--hint", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--use", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads)
    model = AutoModelForCausalLM.from_pretrained(given.base, dtype=torch.float32)
    if given.adapter:
        adapter.read(given.adapter, given.base, adapt(model))
    model.eval()
    template = Template(given.adapter / "prompt.toml") if given.adapter else Template()
    tokenizer, morphology = opened_tokenizer(given.base), Morphology(given.morphology, [])
    for line in sys.stdin:
        record = json.loads(line)
        for name in ("avoid", "hint", "use"):
            record[name] = [*record.get(name, []), *getattr(given, name)]
        request, banned = request_of(record, morphology)
        print(f"{request.sentence}  [{', '.join(request.avoid)}]")
        print("   ->", rewritten(model, tokenizer, template, request, banned, given.beams), flush=True)
