"""What every format has to say of a set, worked out from the release alone.

The rules are those of schema/exchange.md and schema/query.md, written down a second time.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import commonprefix
from typing import Any

from framenet import AnnotationSet, Label, Release, Sentence, Span

# Unicode's White_Space; Python's own idea of it has four separators more.
WHITE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
WORDS = re.compile(f"[^{WHITE}]+")

# The full texts of Das and Smith (2011), as open-sesame lists them.
DEV = {
    "ANC__110CYL072",
    "KBEval__MIT",
    "LUCorpus-v0.3__20000415_apw_eng-NEW",
    "LUCorpus-v0.3__ENRON-pearson-email-25jul02",
    "Miscellaneous__Hijack",
    "NTI__NorthKorea_NuclearOverview",
    "NTI__WMDNews_062606",
    "PropBank__TicketSplitting",
}
TEST = {
    "ANC__110CYL067",
    "ANC__110CYL069",
    "ANC__112C-L013",
    "ANC__IntroHongKong",
    "ANC__StephanopoulosCrimes",
    "ANC__WhereToHongKong",
    "KBEval__Brandeis",
    "KBEval__Stanford",
    "KBEval__atm",
    "KBEval__cycorp",
    "KBEval__parc",
    "KBEval__utd-icsi",
    "LUCorpus-v0.3__20000410_nyt-NEW",
    "LUCorpus-v0.3__AFGP-2002-602187-Trans",
    "LUCorpus-v0.3__IZ-060316-01-Trans-1",
    "LUCorpus-v0.3__SNO-525",
    "LUCorpus-v0.3__enron-thread-159550",
    "LUCorpus-v0.3__sw2025-ms98-a-trans.ascii-1-NEW",
    "Miscellaneous__Hound-Ch14",
    "Miscellaneous__SadatAssassination",
    "NTI__NorthKorea_Introduction",
    "NTI__Syria_NuclearOverview",
    "PropBank__AetnaLifeAndCasualty",
}


def order(id_: str) -> tuple[int, int]:
    """The order of ids: where they come from, then their number."""
    return "xfig".index(id_[0]), int(id_[1:])


def f32(value: float | None) -> float | None:
    """A number as a float of 32 bits holds it."""
    return None if value is None else float(struct.unpack("f", struct.pack("f", value))[0])


def trigger(set_: AnnotationSet, text: str) -> str:
    return " ".join(text[start:end] for start, end in set_.targets)


# ---- Where a set comes from, and which part of the data that is.


@dataclass(frozen=True)
class SplitList:
    """The lines of a split list."""

    name: str
    documents: dict[str | None, str]
    lexunits: dict[str, str]
    sentences: dict[str, str]
    exemplars: str | None = None

    def lines(self) -> str:
        kinds: tuple[tuple[str, dict[Any, str]], ...] = (
            ("document", self.documents),
            ("lu", self.lexunits),
            ("sentence", self.sentences),
        )
        lines = [f"{kind}\t{name}\t{part}" for kind, of in kinds for name, part in of.items()]
        lines += [f"exemplars\t*\t{self.exemplars}"] if self.exemplars else []
        return "\n".join(lines) + "\n"


def home(release: Release, set_: AnnotationSet) -> AnnotationSet | None:
    """The set itself, or the seed that a generated one grew from."""
    if set_.origin == "generated":
        return release.sets.get(set_.provenance["seed"])
    return set_


def listing(release: Release, set_: AnnotationSet) -> tuple[int, int] | None:
    """Corpus and document that list a set."""
    of = home(release, set_)
    if of is None:
        return None
    if of.origin == "fulltext":
        return of.provenance["corpus"], of.provenance["document"]
    for one in release.sentences[of.sentence].occurrences:
        if of.origin == "exemplar" and (one.get("lu"), one.get("subcorpus")) != (
            of.provenance["lu"],
            of.provenance["subcorpus"],
        ):
            continue
        if "corpus" in one and "document" in one:
            return one["corpus"], one["document"]
    return None


def document_name(release: Release, set_: AnnotationSet) -> str | None:
    """What the document that lists a set is called."""
    of, place = home(release, set_), listing(release, set_)
    if of is None or place is None or place not in release.documents:
        return of.provenance.get("file") if of else None
    return release.documents[place].name


def split(release: Release, set_: AnnotationSet, by: SplitList | None = None) -> str | None:
    """The part of the data that a set belongs to: its seed's where it was generated."""
    of = home(release, set_)
    if of is None:
        return None
    place = listing(release, of)
    document = release.documents.get(place) if place else None
    if by is not None:
        if of.sentence in by.sentences:
            return by.sentences[of.sentence]
        for name in (f"{of.frame[1]}/{of.lu[1]}", of.lu[1]):
            if name in by.lexunits:
                return by.lexunits[name]
        for known in (document.name, document.description, document.file) if document else ():
            if known in by.documents:
                return by.documents[known]
        if of.origin == "exemplar" and by.exemplars:
            return by.exemplars
    if of.origin == "exemplar":
        return None
    if document is None or not document.file:
        corpus = document.corpus[1] if document else ""
        return corpus if corpus in ("train", "dev", "test") else None
    return "test" if document.file in TEST else "dev" if document.file in DEV else "train"


# ---- Tokens.


class Tokens:
    """Tokens of a text, found by their forms."""

    def __init__(self, text: str, forms: list[str]):
        self.spans: list[Span] = []
        self.error: str | None = None
        at = 0
        for form in forms:
            while at < len(text) and text[at] in WHITE:
                at += 1
            if not form or not text.startswith(form, at) or any(c in WHITE for c in form):
                self.error = f"token {form!r} does not stand at {at} of {text!r}"
                break
            self.spans.append((at, at + len(form)))
            at += len(form)
        if self.error is None and text[at:].strip(WHITE):
            self.error = f"no token covers {text[at:]!r} of {text!r}"
        self.starts = [start for start, _ in self.spans]
        self.ends = [end for _, end in self.spans]

    def covered(self, span: Span) -> tuple[range, bool] | None:
        """The tokens that a span touches, and whether it begins and ends where they do."""
        first, last = bisect_right(self.ends, span[0]), bisect_left(self.starts, span[1])
        if span[0] >= span[1] or first >= last:
            return None
        return range(first, last), self.starts[first] >= span[0] and self.ends[last - 1] <= span[1]

    def is_spaced(self, text: str) -> bool:
        between = (text[a:b] for a, b in zip(self.ends, self.starts[1:], strict=False))
        return all(gap == " " for gap in between) and text == text.strip(WHITE)


def pos_labels(release: Release, sentence: Sentence) -> list[Label]:
    """The part-of-speech labels of a sentence: of its first PENN layer that has any, else its first BNC."""
    for name in ("PENN", "BNC"):
        for one in sorted(sentence.layers, key=order):
            for layer in release.layers[one].layers:
                if layer.name == name:
                    labels = [label for label in layer.labels if label.span]
                    if labels:
                        return labels
                    break
    return []


def tags(labels: list[Label], tokens: Tokens) -> list[set[str] | None]:
    """The tags that each token may have: of the label that is the token, else of those that hold it whole."""
    exact: dict[Span, set[str]] = {}
    for label in labels:
        assert label.span
        exact.setdefault(label.span, set()).add(label.name)
    of_tokens = set(tokens.spans)
    wide = [label for label in labels if label.span not in of_tokens]
    found: list[set[str] | None] = []
    for span in tokens.spans:
        if span in exact:
            found.append(exact[span])
            continue
        holding = {label.name for label in wide if label.span and label.span[0] <= span[0] and span[1] <= label.span[1]}
        found.append(holding or None)
    return found


def target_tokens(set_: AnnotationSet, tokens: Tokens) -> list[int]:
    covered = (tokens.covered(span) for span in set_.targets)
    return sorted({number for one in covered if one for number in one[0]})


def unit_words(set_: AnnotationSet) -> list[str]:
    """The words of a set's LU, in small letters."""
    return set_.lu[1].rpartition(".")[0].lower().split(" ")


def given_words(sets: list[AnnotationSet], tokens: Tokens) -> dict[int, list[str]]:
    """What LUs of as many words as their targets call each token; of `sets` in their order in the file.

    An LU without a part of speech may be called after the form (`bikes.x`): it counts where no other is."""
    found: dict[int, list[str]] = {}
    after_forms: dict[int, list[str]] = {}
    for set_ in sets:
        targets, words = target_tokens(set_, tokens), unit_words(set_)
        of = after_forms if set_.lu[1].endswith(".x") else found
        if len(targets) == len(words):
            for place, word in zip(targets, words, strict=True):
                of.setdefault(place, []).append(word)
    return after_forms | found


def closest(form: str, words: list[str]) -> str:
    """Of the LUs that share a token: the word itself, else what begins like a form of it, else the first.

    Forms are told by their beginnings: no table of inflections stands here. FrameNet 1.5 shares `wins` between `win`
    and `backstitch`, `certain` between `certain` and `make sure`."""
    return max(words, key=lambda word: (word == form, len(commonprefix([word, form]))))


def token_elements(set_: AnnotationSet, tokens: Tokens) -> list[tuple[str, range]]:
    """The FE labels of the first rank that cover tokens, in order of these."""
    found = []
    for rank, label in set_.elements():
        if rank == 1 and label.span and (covered := tokens.covered(label.span)):
            found.append((label.name, covered[0]))
    return sorted(found, key=lambda one: (one[1].start, one[1].stop))


def roles(set_: AnnotationSet, tokens: Tokens) -> list[str]:
    """What each token is: of labels that overlap, the first one has the tokens."""
    found, free = ["O"] * len(tokens.spans), 0
    for name, covered in token_elements(set_, tokens):
        if covered.start < free:
            continue
        free = covered.stop
        prefixes = ["S"] if len(covered) == 1 else ["B", *["I"] * (len(covered) - 1)]
        for number, prefix in zip(covered, prefixes, strict=True):
            found[number] = f"{prefix}-{name}"
    return found


# ---- What nobody annotated.


def is_throughout(sets: list[AnnotationSet]) -> bool:
    """Whether somebody looked for all frames of the sentence of some sets."""
    return any(set_.origin in ("fulltext", "imported") for set_ in sets)


def has_all_of_its_source(release: Release, sets: list[AnnotationSet]) -> bool:
    """Whether every set of a source that is annotated throughout stands in a generated sentence: as seed, or carried."""
    made = next((set_ for set_ in sets if set_.origin == "generated"), None)
    source = release.sets.get(made.provenance["source"]) if made else None
    if made is None or source is None:
        return False
    carried = {of.provenance["source"] for of in sets if of.origin == "carried" and of.provenance["generated"] == made.id}
    of_source = release.sets_of(source.sentence)
    return is_throughout(of_source) and {of.id for of in of_source} <= carried | {source.id}


def unknown_points(release: Release, sentence: Sentence, written: set[str]) -> set[int]:
    """The code points of a sentence whose frames a training record does not know."""
    sets = release.sets_of(sentence.id)
    known, left_out = set[int](), set[int]()
    for set_ in sets:
        for start, end in set_.targets:
            (known if set_.id in written else left_out).update(range(start, end))
    if is_throughout(sets) or has_all_of_its_source(release, sets):
        return left_out
    return set(range(len(sentence.text))) - known | left_out


# ---- Rows of tables.


def on_span(set_: AnnotationSet, layer: str, rank: int, span: Span | None) -> str | None:
    """The label of a layer of that rank on exactly that span."""
    if span is None:
        return None
    for one in set_.layers:
        if one.name == layer and one.rank == rank:
            for label in one.labels:
                if label.span == span:
                    return label.name
    return None


def scores(set_: AnnotationSet) -> dict[str, float | None]:
    made, fit = set_.provenance, set_.provenance.get("fit")
    filtered = made.get("filter") or {}
    return {
        "paraphrase": f32(made.get("paraphrase")),
        "aligner": f32(made.get("aligner")),
        "p": f32(filtered.get("p")),
        "r": f32(filtered.get("r")),
        "frame_fit": f32(fit["probability"]) if fit else None,
    }


def answers(said: dict[str, Any] | None) -> dict[str, float | None]:
    """What a verifier says of a set, of whose line nothing is known where none was asked."""
    said = said or {}
    reverse = said.get("reverse") or {}
    return {
        "evokes": f32(said.get("evokes")),
        "same_meaning": f32(said.get("same_meaning")),
        "reverse": f32(reverse.get("score")),
    }


def rows(release: Release, set_: AnnotationSet, by: SplitList | None) -> Iterator[dict[str, object]]:
    """The rows of a set in a table: one for each FE label, or one without."""
    text, made = release.sentences[set_.sentence].text, set_.origin == "generated"
    row: dict[str, object] = {
        "release": release.name,
        "set": set_.id,
        "origin": set_.origin,
        "status": set_.status,
        "fe_status": set_.fe_status,
        "frame": set_.frame[1],
        "lu": set_.lu[1],
        "sentence": set_.sentence,
        "document": document_name(release, set_),
        "split": split(release, set_, by),
        "text": text,
        "trigger": trigger(set_, text),
        "targets": ";".join(f"{start}-{end}" for start, end in set_.targets),
        "fe": None,
        "core_type": None,
        "rank": None,
        "start": None,
        "end": None,
        "fe_text": None,
        "ni": None,
        "gf": None,
        "pt": None,
        "seed": set_.provenance.get("seed") if made else None,
        "round": set_.provenance.get("round") if made else None,
        "flags": ";".join(set_.provenance["flags"]) if made else None,
        **scores(set_),
    }
    core_types, is_empty = release.core_types(set_), True
    for rank, label in set_.elements():
        is_empty = False
        start, end = label.span or (None, None)
        yield row | {
            "fe": label.name,
            "core_type": core_types.get(label.name),
            "rank": rank,
            "start": start,
            "end": end,
            "fe_text": text[start:end] if label.span else None,
            "ni": label.ni,
            "gf": on_span(set_, "GF", rank, label.span),
            "pt": on_span(set_, "PT", rank, label.span),
        }
    if is_empty:
        yield row


# ---- What a format cannot hold.

OF_SETS = {
    "gf-pt",
    "other-layer",
    "status",
    "metadata",
    "lu-proposed",
    "scores",
    "generation",
    "prediction",
    "judgements",
    "verifications",
}
OF_SPANS = {
    "null-instantiation",
    "no-extent",
    "fe-layer-2-3",
    "no-target",
    "target-without-token",
    "target-inside-token",
    "fe-inside-token",
    "no-token",
    "white-space",
    "generated-unmarked",
    "predicted-unmarked",
}
# The table of schema/exchange.md (*Losses*): which of them a format counts.
LOSSES = {
    "conll": OF_SETS | OF_SPANS | {"overlapping-fe", "no-tags", "fes-not-annotated", "lu-rejected"},
    "training-conll": OF_SETS | OF_SPANS | {"overlapping-fe", "no-tags", "lu-rejected"},
    "semafor": OF_SETS | OF_SPANS | {"fes-not-annotated", "lu-rejected"},
    "tables": OF_SETS - {"gf-pt", "status", "scores", "verifications"} | {"loose-gf-pt"},
    "training jsonl": OF_SETS - {"status", "lu-proposed", "scores", "verifications"} | {"no-extent", "no-tags", "lu-rejected"},
}
LOSSES |= {"bios": LOSSES["conll"], "training-bios": LOSSES["training-conll"]}


def losses_of_set(release: Release, set_: AnnotationSet) -> Counter[str]:
    """What formats lose of a set, tokens apart."""
    lost: Counter[str] = Counter(status=1)
    for layer in set_.layers:
        if layer.name in ("GF", "PT"):
            spans = {label.span for rank, label in set_.elements() if rank == layer.rank and label.span}
            lost["gf-pt"] += len(layer.labels)
            lost["loose-gf-pt"] += sum(label.span not in spans for label in layer.labels)
        elif layer.name not in ("Target", "FE"):
            lost["other-layer"] += bool(layer.labels)
    lost["no-extent"] = sum(label.span is None and label.ni is None for _, label in set_.elements())
    labels = (label for layer in set_.layers for label in layer.labels)
    lost["metadata"] = bool(set_.created) or any(label.annotator or label.colors for label in labels)
    lost["lu-proposed"] = release.lexunits[set_.lu[0]].status == "Proposed"
    lost["generation"] = lost["generated-unmarked"] = set_.origin == "generated"
    lost["prediction"] = lost["predicted-unmarked"] = set_.origin == "predicted"
    lost["scores"] = set_.origin in ("generated", "predicted")
    lost["fes-not-annotated"] = set_.fe_status in ("unannotated", "unknown") or (
        set_.origin == "generated" and "lost-fe" in set_.provenance["flags"]
    )
    return lost


def has_all_elements(release: Release, set_: AnnotationSet) -> bool:
    """Whether text outside of a set's FEs is none: people looked, or all that they found in a seed is here."""
    if set_.origin != "generated" or set_.fe_status != "carried":
        return set_.fe_status == "annotated"
    seed = release.sets[set_.provenance["seed"]]
    if seed.fe_status != "annotated" or "lost-fe" in set_.provenance["flags"]:
        return False
    named = [Counter(label.name for _, label in of.elements() if label.span is not None) for of in (seed, set_)]
    found = Counter(of["name"] for of in set_.provenance["elements"] if of["score"] is not None)
    return named[0] == found == Counter(of["name"] for of in set_.provenance["elements"]) and named[0] <= named[1]


def losses_of_tokens(release: Release, set_: AnnotationSet, tokens: Tokens) -> Counter[str]:
    """What the formats over tokens lose of a set."""
    lost: Counter[str] = Counter()
    for span in set_.targets:
        covered = tokens.covered(span)
        lost["target-without-token"] += covered is None
        lost["target-inside-token"] += covered is not None and not covered[1]
    if not target_tokens(set_, tokens):
        lost["no-target"] += 1
        return lost
    lost += losses_of_set(release, set_)
    free, found = 0, list[range]()
    for rank, label in set_.elements():
        if label.ni is not None:
            lost["null-instantiation"] += 1
        elif label.span is None:
            continue
        elif rank > 1:
            lost["fe-layer-2-3"] += 1
        elif (covered := tokens.covered(label.span)) is None:
            lost["no-token"] += 1
        else:
            lost["fe-inside-token"] += not covered[1]
            found.append(covered[0])
    for tokens_of in sorted(found, key=lambda one: (one.start, one.stop)):
        lost["overlapping-fe"] += tokens_of.start < free
        free = free if tokens_of.start < free else tokens_of.stop
    return lost


def kept(losses: Counter[str], format_: str) -> dict[str, int]:
    """Those of some losses that a format counts."""
    return {name: int(count) for name, count in losses.items() if count and name in LOSSES[format_]}
