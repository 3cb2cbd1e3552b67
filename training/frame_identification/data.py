"""Sentences with targets as a store holds them, and what the parts of the data must not share.

The rules are those of `src/identify/data.rs`, so that figures stand on the same sentences. A discontinuous target is one
span from its first to its last character. Of two frames on one span the second is dropped. Sentences without a target are
left out: nobody can say whether they were annotated.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    start: int  # code points
    end: int
    frame: str
    lexunit: str
    set: str
    seed: str | None  # the human set that a generated one was made from


@dataclass
class Sentence:
    id: str
    text: str
    whole: bool  # all its targets are known: no other span evokes a frame
    targets: list[Target]


def read(program, query):
    """The sentences of the annotation sets for which a query holds, by their ids."""
    sentences = {}
    for row in program.query(query):
        if not row["targets"]:
            continue
        start, end = row["targets"][0][0], max(of[1] for of in row["targets"])
        seed = row["generation"]["seed"] if row["generation"] else None
        whole = row["origin"] == "fulltext"
        of = sentences.setdefault(row["sentence"], Sentence(row["sentence"], row["text"], whole, []))
        if all((other.start, other.end) != (start, end) for other in of.targets):
            of.targets.append(Target(start, end, row["frame"], row["lu"], row["id"], seed))
    return [sentences[name] for name in sorted(sentences)]


def plain(text):
    """A text without case and white space, which treebanks and web pages disagree about."""
    return "".join(text.lower().split())


def apart(sentences, *others):
    """The sentences whose text stands in none of `others`."""
    seen = {plain(sentence.text) for part in others for sentence in part}
    return [sentence for sentence in sentences if plain(sentence.text) not in seen]


def of_seeds(sentences, seeds):
    """Generated sentences with those targets alone whose seed is among some annotation sets."""
    kept = [Sentence(of.id, of.text, False, [to for to in of.targets if to.seed in seeds]) for of in sentences]
    return [sentence for sentence in kept if sentence.targets]


def parts(program, within, generated, exemplars):
    """Sentences by part: `train`, `exemplar`, `generated`, `dev`, `test`. `within` restricts the training documents;
    no query, no part for `generated` and `exemplars`."""
    test = read(program, "origin=fulltext split=test")
    dev = apart(read(program, "origin=fulltext split=dev"), test)
    passing = {sentence.id for sentence in read(program, f"origin=fulltext split=train {within}".strip())}
    train = apart(read(program, "origin=fulltext split=train"), dev, test)
    found = {"train": [sentence for sentence in train if sentence.id in passing], "dev": dev, "test": test}
    if exemplars is not None:
        found["exemplar"] = apart(read(program, f"origin=exemplar {exemplars}".strip()), dev, test)
    if generated is not None:
        humans = found["train"] + found.get("exemplar", [])
        seeds = {target.set for sentence in humans for target in sentence.targets}
        found["generated"] = of_seeds(apart(read(program, f"origin=generated {generated}".strip()), dev, test), seeds)
    return found


def lexicon(program):
    """The frames that the words of a span may evoke, by the words in small letters: the lemmas of the release's LUs, and
    the forms in which exemplars and training documents have them. LUs that expansions proposed are left out."""
    forms = {}
    for row in program.run("lus"):
        if row["status"] != "Proposed":
            lemma = row["name"].rpartition(".")[0].replace("_", " ")
            forms.setdefault(lemma.lower(), set()).add(row["frame"])
    for row in program.run("query", "origin=exemplar or origin=fulltext split=train", "--fields", "frame,trigger"):
        if row["trigger"]:
            forms.setdefault(" ".join(row["trigger"].lower().split()), set()).add(row["frame"])
    return {form: sorted(frames) for form, frames in sorted(forms.items())}
