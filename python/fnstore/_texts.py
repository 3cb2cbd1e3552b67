"""What models make of texts: streams, a batch of texts at a time, in the order in which texts come.

Models are opened, and options checked, when a function is called; texts are taken when its answers are. A text that a
model cannot work on raises a TextError, or with ``errors="keep"`` stands as one in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from . import _models, _progress
from ._errors import TextError
from ._fnstore import (
    Alignment,
    AnnotatedText,
    Rewriting,
    Score,
    SentenceRewriter,
    Server,
    SpanAligner,
    Substitutes,
    Tagged,
    TextAnnotator,
    TextScorer,
    Verdict,
    WordFinder,
    WordTagger,
)

__all__ = ["align", "ask", "paraphrase", "score", "substitutes", "tag"]

_Path = str | PathLike[str]
_Span = tuple[int, int]
_Progress = Callable[[int], object] | bool | None
_Errors = Literal["raise", "keep"]
_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


def directories(models: _Path | None) -> list[Path]:
    """Where models are looked for."""
    return [Path(models)] if models is not None else _models.directories()


def check_errors(errors: str) -> None:
    """Refuses what is no way to treat errors."""
    if errors not in ("raise", "keep"):
        raise TextError(f"`errors` is `{errors}`; expected raise or keep", "E-value", "give one of those")


def stream(
    items: Iterable[Any],
    prepare: Callable[[Any], _Item],
    batch: Callable[[list[_Item]], list[_Made | TextError]],
    *,
    size: int,
    errors: _Errors,
    progress: _Progress,
) -> Iterator[_Made]:
    """Answers to items, a batch at a time; ``progress`` is called with the items that are answered, or True shows them."""
    check_errors(errors)
    if isinstance(items, str | Mapping):
        items = [items]
    return _answers(iter(items), prepare, batch, size, errors == "keep", progress)


def _answers(
    items: Iterator[Any],
    prepare: Callable[[Any], _Item],
    batch: Callable[[list[_Item]], list[_Made | TextError]],
    size: int,
    keeps: bool,
    progress: _Progress,
) -> Iterator[Any]:
    done, tell = 0, _progress.teller(progress)
    try:
        while chunk := list(islice(items, size)):
            asked: list[_Item] = []
            refused: dict[int, TextError] = {}
            for at, item in enumerate(chunk):
                try:
                    asked.append(prepare(item))
                except TextError as error:
                    refused[at] = error
                except (TypeError, ValueError) as error:
                    refused[at] = TextError(str(error), "E-type", "give items as the documentation has them")
            answers = iter(batch(asked))
            for at in range(len(chunk)):
                answer = refused[at] if at in refused else next(answers)
                if isinstance(answer, TextError) and not keeps:
                    raise answer
                yield answer
            done += len(chunk)
            if tell is not None:
                tell(done)
    finally:
        if isinstance(tell, _progress.Bar):
            tell.close()


def fields(item: object, allowed: Sequence[str] | None, *, needed: Sequence[str]) -> Mapping[str, Any]:
    """An item as a mapping: a text is the field ``text``. Where any field is allowed, unknown ones are left aside."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        raise TextError(f"an item is {item!r}: expected a text or a mapping", "E-type", "give texts or mappings")
    item = cast("Mapping[str, Any]", item)
    for name in item:
        if allowed is not None and name not in allowed:
            known = ", ".join(allowed)
            raise TextError(f"an item has the field `{name}`; expected {known}", "E-key", "leave it out")
    for name in needed:
        if name not in item:
            raise TextError(f"an item lacks the field `{name}`", "E-key", f"give each item a `{name}`")
    if isinstance(text := item.get("text", "."), str) and not text.strip():
        raise TextError("a text is empty", "E-empty", "leave it out")
    return item


def optional(of: Mapping[str, Any], name: str) -> str:
    """A field as a text; empty where it is absent, None or NaN."""
    value = of.get(name)
    return "" if value is None or (isinstance(value, float) and value != value) else str(value).strip()


def required(of: Mapping[str, Any], name: str) -> str:
    """A field as a text that says something."""
    if not (text := optional(of, name)):
        raise TextError(f"`{name}` is empty", "E-empty", "leave the item out")
    return text


def text_of(of: Mapping[str, Any], name: str) -> str:
    """A field that is a text, and says something."""
    if not isinstance(text := of.get(name), str):
        raise TextError(f"the field `{name}` is {text!r}", "E-type", "give a text")
    return required(of, name)


def _spans(given: Any) -> list[_Span]:
    """One span, or several."""
    try:
        pieces = [given] if isinstance(given[0], int) else given
        return [(int(start), int(end)) for start, end in pieces]
    except (TypeError, ValueError, IndexError) as error:
        raise TextError(f"the span is {given!r}", "E-type", "give (start, end), or a list of such") from error


def _typed(batch: Callable[[list[_Item]], list[_Made | TextError]]) -> Callable[[list[_Item]], list[_Made | TextError]]:
    """As a batch, and a value of a wrong type or range is a TextError."""

    def asked(items: list[_Item]) -> list[_Made | TextError]:
        try:
            return batch(items)
        except (TypeError, OverflowError) as error:
            raise TextError(str(error), "E-type", "give items as the documentation has them") from error

    return asked


def annotated(
    texts: Iterable[str], annotator: TextAnnotator, errors: _Errors, progress: _Progress
) -> Iterator[AnnotatedText]:
    """The stream of ``db.annotate``: what goes into a store is committed at its end."""

    def request(item: object) -> str:
        text = fields(item, ("text",), needed=("text",))["text"]
        if not isinstance(text, str):
            raise TextError(f"a text is {text!r}", "E-type", "give texts")
        return text

    answers: Iterator[AnnotatedText] = stream(
        texts, request, _typed(annotator.batch), size=64, errors=errors, progress=progress
    )

    def until_committed() -> Iterator[AnnotatedText]:
        try:
            yield from answers
            annotator.finish()
        finally:
            annotator.abort()

    return until_committed()


def paraphrase(
    texts: Iterable[str | Mapping[str, Any]],
    *,
    avoid: Sequence[str] = (),
    avoid_list: _Path | None = None,
    require: Sequence[str] = (),
    require_names: bool = False,
    avoid_telling: int = 0,
    idf: _Path | None = None,
    beam: int = 8,
    n_best: int = 8,
    length_penalty: str = "huggingface=1",
    max_length_factor: float = 2.0,
    max_length_more: int = 10,
    stop: str = "heuristic",
    patience: float = 1.0,
    prune: float = 0.0,
    coverage_penalty: float = 0.0,
    renormalize: bool = False,
    sample: int | None = None,
    seed: int = 1,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    words: str = "known",
    max_pieces: int = 80,
    model: _Path | None = None,
    endpoint: Server | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    numbers: str | None = None,
    language: str | None = None,
    errors: _Errors = "raise",
    progress: _Progress = None,
) -> Iterator[Rewriting]:
    """Rewrites sentences, with banned and required words, as ``fnstore paraphrase`` does.

    A text is a sentence, or a mapping with ``text`` and perhaps ``avoid``, ``require`` (phrases, or lists of
    alternatives), ``keep`` (spans), ``prefix`` and ``hint``. Constraints and settings are those of the command. With
    ``endpoint`` a server writes, one text after the other; ``model`` is then the server's name for its model.
    """
    options: dict[str, object] = {
        "avoid": list(avoid),
        "avoid_list": avoid_list,
        "require": list(require),
        "require_names": require_names,
        "avoid_telling": avoid_telling,
        "idf": idf,
        "beam": beam,
        "n_best": n_best,
        "length_penalty": length_penalty,
        "max_length_factor": max_length_factor,
        "max_length_more": max_length_more,
        "stop": stop,
        "patience": patience,
        "prune": prune,
        "coverage_penalty": coverage_penalty,
        "renormalize": renormalize,
        "sample": sample,
        "seed": seed,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "words": words,
        "max_pieces": max_pieces,
    }
    rewriter = SentenceRewriter(directories(models), model, device, numbers, language, options, endpoint)
    allowed = ("text", "avoid", "require", "keep", "prefix", "hint")

    def request(item: object) -> tuple[str, list[str], list[list[str]], list[_Span], str, list[str]]:
        of = fields(item, allowed, needed=("text",))
        alternatives = [[one] if isinstance(one, str) else list(one) for one in of.get("require", ())]
        kept = [_spans(span)[0] for span in of.get("keep", ())]
        return of["text"], list(of.get("avoid", ())), alternatives, kept, of.get("prefix", ""), list(of.get("hint", ()))

    size = 1 if endpoint is not None else 32
    return stream(texts, request, _typed(rewriter.batch), size=size, errors=errors, progress=progress)


def align(
    pairs: Iterable[Mapping[str, Any]],
    *,
    threshold: float | None = None,
    runners_up: int = 3,
    head: _Path = "aligner",
    encoder: _Path | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    language: str | None = None,
    errors: _Errors = "raise",
    progress: _Progress = None,
) -> Iterator[Alignment]:
    """Aligns spans of sentences with spans of their paraphrases, as ``fnstore align spans`` does.

    A pair is a mapping with ``source`` and ``target``, both texts or both lists of words, and ``span``, ``(start, end)``
    in the source, or a list of such. Spans count characters of texts and words of lists.
    """
    aligner = SpanAligner(directories(models), head, encoder, device, threshold, runners_up, language)
    names = ("source", "span", "target")

    def request(item: object) -> tuple[str | list[str], list[_Span], str | list[str]]:
        of = fields(item, names, needed=names)
        sides = [side if isinstance(side, str) else list(side) for side in (of["source"], of["target"])]
        return sides[0], _spans(of["span"]), sides[1]

    return stream(pairs, request, _typed(aligner.batch), size=64, errors=errors, progress=progress)


def score(
    texts: Iterable[str | Mapping[str, Any]],
    *,
    model: _Path,
    models: _Path | None = None,
    device: str = "cpu",
    numbers: str | None = None,
    language: str | None = None,
    errors: _Errors = "raise",
    progress: _Progress = None,
) -> Iterator[Score]:
    """Scores sentences with a language model, as ``fnstore score`` does.

    A text is a sentence, or a mapping with ``text`` and perhaps ``span``, for a part of it in its left context.
    """
    scorer = TextScorer(directories(models), model, device, numbers, None, language)

    def request(item: object) -> tuple[str, _Span | None]:
        of = fields(item, ("text", "span"), needed=("text",))
        return of["text"], _spans(of["span"])[0] if of.get("span") is not None else None

    return stream(texts, request, _typed(scorer.batch), size=32, errors=errors, progress=progress)


def ask(
    texts: Iterable[str | Mapping[str, str | Sequence[str]]],
    *,
    question: _Path,
    model: _Path,
    models: _Path | None = None,
    device: str = "cpu",
    numbers: str | None = None,
    language: str | None = None,
    errors: _Errors = "raise",
    progress: _Progress = None,
) -> Iterator[Verdict]:
    """Asks a language model the question of a TOML file about each text, as ``fnstore score --question`` does.

    An item is a mapping from the question's fields to a text or a list of texts; of a question with one field, a text.
    """
    scorer = TextScorer(directories(models), model, device, numbers, question, language)
    names = scorer.fields()

    def request(item: object) -> dict[str, list[str]]:
        if isinstance(item, str) and len(names) == 1:
            item = {names[0]: item}
        of = fields(item, names, needed=names)
        return {name: [text] if isinstance(text, str) else list(text) for name, text in of.items()}

    return stream(texts, request, _typed(scorer.ask), size=32, errors=errors, progress=progress)


def tag(
    texts: Iterable[str | Sequence[str]],
    *,
    tagger: _Path = "tagger",
    encoder: _Path | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    language: str | None = None,
    errors: _Errors = "raise",
    progress: _Progress = None,
) -> Iterator[Tagged]:
    """Tags parts of speech, as ``fnstore tag`` does: of sentences, or of lists of words."""
    opened = WordTagger(directories(models), tagger, encoder, device, language)

    def request(item: str | Sequence[str]) -> str | list[str]:
        return item if isinstance(item, str) else list(item)

    return stream(texts, request, _typed(opened.batch), size=64, errors=errors, progress=progress)


def substitutes(
    texts: Iterable[str | Mapping[str, Any]],
    *,
    n_best: int = 20,
    model: _Path | None = None,
    models: _Path | None = None,
    device: str = "cpu",
    numbers: str | None = None,
    language: str | None = None,
    errors: _Errors = "raise",
    progress: _Progress = None,
) -> Iterator[Substitutes]:
    """Asks a language model what can stand in the place of a target, as ``fnstore substitutes`` does.

    A text marks its target by asterisks, ``They *tore* it open.``, or is a mapping with ``text``, ``span`` and perhaps
    ``avoid``.
    """
    finder = WordFinder(directories(models), model, device, numbers, n_best, language)

    def request(item: object) -> tuple[str, _Span, list[str]]:
        if isinstance(item, str):
            parts = item.split("*")
            if len(parts) != 3:
                raise TextError(f"{item!r} has no one target", "E-span", "mark it, as in They *tore* it open.")
            before, target, after = parts
            return before + target + after, (len(before), len(before) + len(target)), []
        of = fields(item, ("text", "span", "avoid"), needed=("text", "span"))
        return of["text"], _spans(of["span"])[0], list(of.get("avoid", ()))

    return stream(texts, request, _typed(finder.batch), size=8, errors=errors, progress=progress)
