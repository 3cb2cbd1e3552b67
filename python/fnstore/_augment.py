"""Training data of other tasks, rewritten with its labels kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, cast

from ._errors import TextError
from ._fnstore import AggregatedPredictions, _aggregated, _augmented
from ._texts import directories, fields, optional, required, text_of

__all__ = ["augment_aggregate", "augment_mt", "augment_nli", "augment_qa"]

_Path = str | PathLike[str]
_Progress = Callable[[int, int], object] | bool | None


def _rewritten(
    items: Iterable[Mapping[str, Any]],
    names: tuple[str, str],
    labels: Sequence[str],
    models: _Path | None,
    progress: _Progress,
    options: dict[str, Any],
) -> list[dict[str, Any]]:
    """Items as they were, and rewritten, each with its ``variant``."""
    given, as_given = [], []
    for number, item in enumerate(items, 1):
        of = fields(item, None, needed=[*names, *(("label",) if labels else ())])
        label = required(of, "label") if labels else ""
        if labels and label not in labels:
            raise TextError(f"`{label}` is no label: expected {', '.join(labels)}", "E-label", "give one of those")
        as_given.append(of["label"] if labels else None)
        texts = (text_of(of, names[0]), text_of(of, names[1]))
        given.append((optional(of, "id") or str(number), optional(of, "split"), label, texts, optional(of, "answer")))
    usual = {"shared": False, "ban": 2, "jaccard": 0.65, "most": 10, "copies": "1:1"}
    made = []
    for at, variant, texts in _augmented(given, directories(models), usual | options, progress):
        id, split, *_ = given[at]
        record = {"id": id, "split": split, "label": as_given[at], "variant": variant} | dict(zip(names, texts, strict=True))
        made.append({name: value for name, value in record.items() if value not in ("", None)})
    return made


def augment_nli(
    pairs: Iterable[Mapping[str, Any]],
    *,
    labels: Sequence[str] = ("entailment", "neutral", "contradiction", "no"),
    shared: bool = False,
    rewrites: _Path | None = None,
    beam: int = 8,
    model: _Path | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    numbers: str | None = None,
    progress: _Progress = None,
) -> list[dict[str, Any]]:
    """Rewrites entailment pairs, as ``fnstore augment nli`` does.

    A pair is a mapping with ``premise``, ``hypothesis`` and ``label``, and perhaps ``id`` and ``split``. What is rewritten is
    kept in the file ``rewrites``, from which a run that was stopped goes on.
    """
    options = _options("nli", rewrites, beam, model, device, numbers) | {"shared": shared}
    return _rewritten(pairs, ("premise", "hypothesis"), labels, models, progress, options)


def augment_qa(
    candidates: Iterable[Mapping[str, Any]],
    *,
    ban: int = 2,
    rewrites: _Path | None = None,
    beam: int = 8,
    model: _Path | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    numbers: str | None = None,
    progress: _Progress = None,
) -> list[dict[str, Any]]:
    """Rewrites the candidate answers of questions, as ``fnstore augment qa`` does.

    A candidate is a mapping with ``question``, ``candidate`` and ``label`` (0 or 1), and perhaps ``answer``, ``id`` and
    ``split``.
    """
    options = _options("qa", rewrites, beam, model, device, numbers) | {"ban": ban}
    return _rewritten(candidates, ("question", "candidate"), ("0", "1"), models, progress, options)


def augment_mt(
    pairs: Iterable[Mapping[str, Any]],
    *,
    jaccard: float = 0.65,
    most: int = 10,
    copies: str = "1:1",
    rewrites: _Path | None = None,
    beam: int = 8,
    model: _Path | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    numbers: str | None = None,
    progress: _Progress = None,
) -> list[dict[str, Any]]:
    """Rewrites the English side of a parallel corpus, as ``fnstore augment mt`` does.

    A pair is a mapping with ``foreign`` and ``english``, and perhaps ``id`` and ``split``.
    """
    options = _options("mt", rewrites, beam, model, device, numbers)
    options |= {"jaccard": jaccard, "most": most, "copies": copies}
    return _rewritten(pairs, ("foreign", "english"), (), models, progress, options)


def _options(
    task: str, rewrites: _Path | None, beam: int, model: _Path | None, device: str, numbers: str | None
) -> dict[str, Any]:
    asked = {"task": task, "rewrites": rewrites, "beam": beam, "model": model, "device": device, "numbers": numbers}
    return cast("dict[str, Any]", asked)


def augment_aggregate(
    predictions: Iterable[Mapping[str, Any]],
    *,
    classes: Sequence[str],
    by: Literal["weights", "max"] = "weights",
) -> AggregatedPredictions:
    """Brings the predictions of an item and its rewritings together, as ``fnstore augment aggregate`` does.

    A prediction is a mapping with ``id``, ``variant``, ``label``, perhaps ``split``, and the share of each class under its
    name; other fields are left aside. Weights of variants are those with which most items of the split ``dev`` are right.
    """
    needed = ("id", "variant", "label", *classes)
    given = []
    for item in predictions:
        of = fields(item, None, needed=needed)
        try:
            shares = [float(of[name]) for name in classes]
        except (TypeError, ValueError) as error:
            raise TextError(f"a share is no number: {error}", "E-type", "give each class a share, 0 to 1") from error
        id, variant, label = (required(of, name) for name in needed[:3])
        given.append((id, variant, label, optional(of, "split"), shares))
    return _aggregated(given, list(classes), by)
