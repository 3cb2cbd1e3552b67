"""Writes training records of fnstore as spaCy's DocBin, a file for each part of the data.

    fnstore export --training --spacing natural --to jsonl sentences.jsonl
    python3 examples/docbin.py sentences.jsonl DIRECTORY      writes train.spacy, dev.spacy, test.spacy, none.spacy

A Doc is a sentence with the tokens, tags and lemmas of its record.

- `doc.ents` are targets, labelled with their frames. Tokens that nobody annotated are missing, so `ner` learns nothing
  from them. Of targets that share a token the first is there; of one that is not, no token counts as known.
- `doc.spans["targets"]` are all targets, `doc.spans["fes"]` the FEs with words as `Frame:FE`; `span.id_` is the id of the set.
- `doc.user_data` has the record without text and tokens: ids, scores, `fes_complete`, null instantiations.
"""

import json
import sys
from pathlib import Path

from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.vocab import Vocab


def doc_of(record, vocab):
    """The Doc of a record."""
    tokens = record["tokens"]
    spaces = [one["end"] < other["start"] for one, other in zip(tokens, tokens[1:])] + [False] * bool(tokens)
    tagged = bool(tokens) and all(token["tag"] for token in tokens)
    doc = Doc(
        vocab,
        words=[token["text"] for token in tokens],
        spaces=spaces,
        tags=[token["tag"] for token in tokens] if tagged else None,
        lemmas=[token["lemma"] for token in tokens],
    )

    def span(place, label="", of=""):
        """The tokens that a place of the text touches; none of white space."""
        inside = [at for at, token in enumerate(tokens) if token["start"] < place["end"] and place["start"] < token["end"]]
        return [Span(doc, inside[0], inside[-1] + 1, label=label, span_id=of)] if inside else []

    targets, fes = [], []
    for of in record["sets"]:
        targets += [it for place in of["targets"] for it in span(place, of["frame"], of["id"])]
        overt = [fe for fe in of["elements"] if fe["span"]]
        fes += [it for fe in overt for it in span(fe["span"], f"{of['frame']}:{fe['name']}", of["id"])]
    doc.spans["targets"], doc.spans["fes"] = SpanGroup(doc, spans=targets), SpanGroup(doc, spans=fes)

    known, unknown = [], {token.i for place in record["unannotated"] for it in span(place) for token in it}
    free = set(range(len(doc)))
    for target in targets:
        place = set(range(target.start, target.end))
        if place <= free:
            known.append(target)
        else:
            unknown |= place
        free -= place
    unknown -= {token.i for target in known for token in target}
    doc.set_ents(known, missing=[doc[at : at + 1] for at in sorted(unknown)], default="outside")
    doc.user_data.update((name, value) for name, value in record.items() if name not in ("text", "tokens"))
    return doc


def main(file, directory):
    vocab, parts = Vocab(), {}
    with open(file, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            record = json.loads(line)
            part = parts.setdefault(record["split"] or "none", DocBin(store_user_data=True))
            part.add(doc_of(record, vocab))
    Path(directory).mkdir(parents=True, exist_ok=True)
    for name, part in sorted(parts.items()):
        path = Path(directory, f"{name}.spacy")
        part.to_disk(path)
        print(path, len(part), sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
