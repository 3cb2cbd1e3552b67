"""Corpora of paraphrases: words that are aligned, annotators' answers, pairs that are mined from news and rated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

from ._errors import TextError
from ._fnstore import (
    AlignmentTask,
    AnnotatorAgreement,
    MinedPair,
    PairMiner,
    Ratings,
    WordLinks,
    _answered,
    _drawn,
    _grouped,
    _rated_counts,
    _ratings,
    _word_links,
)
from ._texts import _Errors, directories, fields

__all__ = ["align_answers", "align_words", "group_articles", "mine", "sample_pairs", "tally_pairs"]

_Path = str | PathLike[str]
_Side = str | Sequence[str]


def _text(of: Mapping[str, Any], name: str) -> str:
    """A field of an item that is a text."""
    if not isinstance(text := of.get(name, ""), str):
        raise TextError(f"the field `{name}` is {text!r}", "E-type", "give a text")
    return text


def _pair(item: Mapping[str, Any] | tuple[_Side, _Side]) -> tuple[str | list[str], str | list[str]]:
    if isinstance(item, tuple):
        item = dict(zip(("source", "target"), item, strict=True))
    of = fields(item, ("id", "source", "target"), needed=("source", "target"))
    source, target = (side if isinstance(side, str) else list(side) for side in (of["source"], of["target"]))
    return source, target


def align_words(
    pairs: Iterable[Mapping[str, Any] | tuple[_Side, _Side]],
    *,
    train: Iterable[Mapping[str, Any] | tuple[_Side, _Side]] = (),
    model: Literal["model1", "fast-align", "hmm", "embeddings", "linker"] = "hmm",
    symmetrize: str = "agreement",
    iterations: int = 5,
    null: float = 0.2,
    identity: float = 20.0,
    threshold: float = 0.3,
    max_length: int | None = None,
    linker: _Path | None = None,
    encoder: _Path | None = None,
    layer: int | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    errors: _Errors = "raise",
    progress: Callable[[int, int], object] | bool | None = None,
) -> list[WordLinks]:
    """Aligns the words of sentence pairs, as ``fnstore align words`` does.

    A pair is ``(source, target)`` or a mapping with both, each a text or a list of words. A statistical model knows only
    the pairs that it is trained on: these, and those of ``train``, of which none is longer than ``max_length`` words.
    """
    options: dict[str, object] = {
        "model": model,
        "symmetrize": symmetrize,
        "iterations": iterations,
        "null": null,
        "identity": identity,
        "threshold": threshold,
        "max_length": max_length,
        "linker": linker,
        "encoder": encoder,
        "layer": layer,
        "device": device,
    }
    asked, others = [_pair(pair) for pair in pairs], [_pair(pair) for pair in train]
    answers = _word_links(asked, others, directories(models), options, progress)
    if errors != "keep":
        for answer in answers:
            if isinstance(answer, TextError):
                raise answer
    return answers  # type: ignore[return-value]


def align_answers(
    tasks: Iterable[AlignmentTask | Mapping[str, Any]], answers: Iterable[Mapping[str, Any]], *, errors: _Errors = "raise"
) -> AnnotatorAgreement:
    """Says how far annotators agree, and makes training data of what most of them marked, as ``fnstore align answers``.

    An answer has the ``id`` of its task, the ``annotator``, and ``span``: ``(start, end)`` in the paraphrase, or None where
    nothing there means the same. With ``errors="keep"`` what cannot be used is left out, and stands in ``refused``.
    """
    given = [json.dumps(of.record() if isinstance(of, AlignmentTask) else dict(of)) for of in tasks]
    found = _answered(given, [json.dumps(dict(of)) for of in answers])
    if errors != "keep":
        for code, messages in found.refused.items():
            raise TextError(messages[0], code, 'leave it out, or give errors="keep"')
    return found


def _clusters(articles: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, list[tuple[str, str, list[str], bool]]]]:
    """The articles of one cluster after the other."""
    names, name, held = set[str](), None, list[tuple[str, str, list[str], bool]]()
    for item in articles:
        allowed = ("cluster", "article", "text", "date", "sentence")
        of = fields(item, allowed, needed=allowed[:3])
        cluster, article, text, date = (_text(of, key) for key in ("cluster", "article", "text", "date"))
        is_sentence = of.get("sentence") not in (None, "")
        if cluster != name:
            if name is not None:
                yield name, held
            if cluster in names:
                raise TextError(
                    f"the cluster `{cluster}` ended before", "E-order", "give the articles of a cluster together"
                )
            names.add(cluster)
            name, held = cluster, []
        if is_sentence and held and held[-1][0] == article:
            held[-1][2].append(text)
        else:
            held.append((article, date, [text], is_sentence))
    if name is not None:
        yield name, held


def mine(
    articles: Iterable[Mapping[str, Any]],
    *,
    method: Literal["l12", "f2"] = "l12",
    edits: Literal["delete-insert", "unit"] = "delete-insert",
    limit: int = 12,
    replace: bool = False,
) -> Iterator[MinedPair]:
    """Mines paraphrases from clusters of news articles, as ``fnstore mine`` does: a cluster after the other.

    An article is a mapping with ``cluster``, ``article`` and ``text``, and perhaps ``date`` (2004-08-23). With a
    ``sentence`` it is one sentence of its article.
    """
    miner = PairMiner(method, edits, limit, replace)
    return (pair for name, cluster in _clusters(articles) for pair in miner.cluster(name, cluster))


def group_articles(
    articles: Iterable[Mapping[str, Any]], *, threshold: float = 0.3, days: int = 3
) -> list[dict[str, str]]:
    """Groups articles by their words and dates, as ``fnstore mine cluster`` does, in the form that ``mine`` takes.

    An article is a mapping with ``article``, ``date`` and ``text``.
    """
    names = ("article", "date", "text")
    given = [fields(item, names, needed=names) for item in articles]
    order = _grouped([(_text(of, "date"), _text(of, "text")) for of in given], threshold, days)
    return [{"cluster": f"c{cluster + 1}"} | {name: _text(given[at], name) for name in names} for at, cluster in order]


def _of_pair(pair: MinedPair | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(pair, MinedPair):
        return {"id": pair.id, "source": pair.source, "target": pair.target}
    for name in ("id", "source", "target"):
        if not isinstance(pair.get(name), str):
            raise TextError(f"a pair lacks the text `{name}`", "E-key", f"give each pair a `{name}`")
    return pair


def sample_pairs(
    pairs: Iterable[MinedPair | Mapping[str, Any]], *, count: int = 100, seed: int = 1
) -> list[dict[str, Any]]:
    """Draws pairs for raters, as ``fnstore mine sample`` does.

    Each has an empty ``label``, in which a rater puts paraphrase, partial or unrelated, and a field for the number of
    differences of each kind. ``tally_pairs`` takes what raters filled in.
    """
    given = [_of_pair(pair) for pair in pairs]
    drawn = _drawn([(of["id"], of["source"], of["target"]) for of in given], count, seed)
    empty: dict[str, Any] = {"label": ""} | dict.fromkeys(_rated_counts())
    return [{"id": id, "source": source, "target": target} | empty for id, source, target in drawn]


def tally_pairs(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]] = ()) -> Ratings:
    """Counts what one rater or two said of the same pairs, and how far they agree, as ``fnstore mine tally`` does."""

    def rated(pair: Mapping[str, Any]) -> tuple[str, str, str, str, dict[str, int | None]]:
        of = _of_pair(pair)
        counts = {name: of.get(name) for name in _rated_counts()}
        return of["id"], of["source"], of["target"], _text(of, "label"), counts

    return _ratings([rated(pair) for pair in first], [rated(pair) for pair in second])
