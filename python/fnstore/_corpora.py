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
    _alike,
    _answered,
    _drawn,
    _grouped,
    _rated_counts,
    _ratings,
    _word_links,
)
from ._texts import _Errors, check_errors, directories, fields, optional, text_of

__all__ = ["align_answers", "align_words", "group_articles", "mine", "sample_pairs", "tally_pairs"]

_Path = str | PathLike[str]
_Side = str | Sequence[str]


def _side(side: object) -> str | list[str]:
    """A text, or a list of words."""
    if isinstance(side, str):
        return side
    if not isinstance(side, Sequence) or not all(isinstance(word, str) for word in side):
        raise TextError(f"a side of a pair is {side!r}", "E-type", "give a text or a list of words")
    return list(side)


def _pair(item: MinedPair | Mapping[str, Any] | tuple[_Side, _Side]) -> tuple[str | list[str], str | list[str]]:
    if isinstance(item, MinedPair):
        return item.source, item.target
    if isinstance(item, tuple):
        if len(item) != 2:
            raise TextError(f"a pair has {len(item)} sides", "E-type", "give (source, target)")
        return _side(item[0]), _side(item[1])
    of = fields(item, None, needed=("source", "target"))
    return _side(of["source"]), _side(of["target"])


def align_words(
    pairs: Iterable[MinedPair | Mapping[str, Any] | tuple[_Side, _Side]],
    *,
    train: Iterable[MinedPair | Mapping[str, Any] | tuple[_Side, _Side]] = (),
    model: Literal["model1", "fast-align", "hmm", "embeddings", "linker"] = "hmm",
    symmetrize: str | None = None,
    iterations: int | None = None,
    null: float | None = None,
    identity: float | None = None,
    threshold: float | None = None,
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

    A pair is ``(source, target)``, a mapping with both, each a text or a list of words, or one that ``mine`` found. A
    statistical model knows only the pairs that it is trained on: these, and those of ``train``, of which none is longer
    than ``max_length`` words. Defaults are the command's; a setting that the model would not read is refused.
    """
    check_errors(errors)
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
    asked, refused = [], dict[int, TextError]()
    for at, pair in enumerate(pairs):
        try:
            asked.append(_pair(pair))
        except TextError as error:
            if errors == "raise":
                raise
            refused[at] = error
    others = [_pair(pair) for pair in train]
    found = iter(_word_links(asked, others, directories(models), options, progress))
    answers = [refused[at] if at in refused else next(found) for at in range(len(asked) + len(refused))]
    if errors == "raise":
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
    check_errors(errors)
    given = [json.dumps(of.record() if isinstance(of, AlignmentTask) else dict(of)) for of in tasks]
    found = _answered(given, [json.dumps(dict(of)) for of in answers])
    if errors == "raise":
        for code, messages in found.refused.items():
            raise TextError(messages[0], code, 'leave it out, or give errors="keep"')
    return found


def _clusters(articles: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, list[tuple[str, str, list[str], bool]]]]:
    """The articles of one cluster after the other."""
    names, name, held = set[str](), None, list[tuple[str, str, list[str], bool]]()
    for item in articles:
        allowed = ("cluster", "article", "text", "date", "sentence")
        of = fields(item, allowed, needed=allowed[:3])
        cluster, article, text = (text_of(of, key) for key in ("cluster", "article", "text"))
        date, is_sentence = optional(of, "date"), bool(optional(of, "sentence"))
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
    least: float | None = None,
) -> Iterator[MinedPair]:
    """Mines paraphrases from clusters of news articles, as ``fnstore mine`` does: a cluster after the other.

    An article is a mapping with ``cluster``, ``article`` and ``text``, and perhaps ``date`` (2004-08-23). With a
    ``sentence`` it is one sentence of its article. With ``least``, pairs of that likeness and more come when all
    clusters have been read.
    """
    if least is not None:
        _alike([], least)
    miner = PairMiner(method, edits, limit, replace)
    pairs = (pair for name, cluster in _clusters(articles) for pair in miner.cluster(name, cluster))
    return pairs if least is None else iter(_alike(list(pairs), least))


def group_articles(
    articles: Iterable[Mapping[str, Any]], *, threshold: float = 0.3, days: int = 3
) -> list[dict[str, str]]:
    """Groups articles by their words and dates, as ``fnstore mine cluster`` does, in the form that ``mine`` takes.

    An article is a mapping with ``article``, ``date`` and ``text``.
    """
    names = ("article", "date", "text")
    given = [fields(item, names, needed=names) for item in articles]
    texts = [{"article": text_of(of, "article"), "date": optional(of, "date"), "text": text_of(of, "text")} for of in given]
    order = _grouped([(of["date"], of["text"]) for of in texts], threshold, days)
    return [{"cluster": f"c{cluster + 1}"} | texts[at] for at, cluster in order]


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


def _count(of: Mapping[str, Any], name: str) -> int | None:
    """What a rater counted, where one did."""
    if not (text := optional(of, name)):
        return None
    if not text.isdecimal():
        raise TextError(f"`{name}` is `{text}`", "E-type", "give a count, or nothing")
    return int(text)


def tally_pairs(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]] = ()) -> Ratings:
    """Counts what one rater or two said of the same pairs, and how far they agree, as ``fnstore mine tally`` does."""

    def rated(pair: Mapping[str, Any]) -> tuple[str, str, str, str, dict[str, int | None]]:
        of = _of_pair(pair)
        counts = {name: _count(of, name) for name in _rated_counts()}
        return of["id"], of["source"], of["target"], optional(of, "label"), counts

    return _ratings([rated(pair) for pair in first], [rated(pair) for pair in second])
