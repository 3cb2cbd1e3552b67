"""Types of the native module; `help()` has what each does."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal, Self, final, overload

import pandas
import polars

from ._edits import Transaction
from ._errors import TextError
from ._views import Drawn

__all__ = [
    "AggregatedPredictions", "Agreement", "Alignment", "AlignmentTask", "AlignmentTasks", "AnnotatedText", "AnnotationSet",
    "AnnotatorAgreement", "Answers", "Attestation", "AttestationReport", "BackupReport", "Carrying", "Change", "CheckReport",
    "Commit", "Coverage", "Database", "DeletionReport", "Difference", "DiscoveredLu", "Diversity", "Document",
    "Edition", "EditionChanges", "Edits", "Element", "ExpansionReport", "ExportReport", "FilterReport",
    "Finding", "ForeignContent", "FoundFe", "FoundShards", "Frame", "FrameElement", "FrameProgress",
    "FrameRelation", "FrameSearch", "FramenetFiles", "Generation", "GenerationProgress", "GenerationReport",
    "Growth", "HiddenLus", "ImportReport", "Judgement", "Label", "Layer", "Leak", "LexicalUnit", "Link",
    "MergedShard", "MinedPair", "PairMiner", "Paraphrase", "Predicate", "Progress", "PromiseCheck",
    "PromiseStanding", "Proposal", "ProposalDecision", "PublishedEdition", "Query", "Ratings", "Realization",
    "Release", "Rewriting", "Score", "SemType", "Sentence", "SentenceRewriter", "Server", "ShardProgress",
    "ShardedExpansion", "SpanAligner", "StoredRecipe", "Substitutes", "Synset", "Table", "Tagged", "Target",
    "TextAnnotator", "TextScorer", "Valence", "Verdict", "VerificationReport", "WordFinder", "WordLinks",
    "WordTagger", "create", "open", "recipe", "recipe_names", "restore", "shard_status",
]

_Path = str | os.PathLike[str]
_Span = tuple[int, int]
_Rated = tuple[str, str, str, str, dict[str, int | None]]

def open(path: _Path) -> Database: ...
def create(path: _Path, *, exist_ok: bool = False) -> Database: ...
def restore(backup: _Path, path: _Path, *, force: bool = False) -> BackupReport: ...
def recipe(name: str) -> str: ...
def recipe_names() -> list[str]: ...
def shard_status(*paths: _Path, read: bool = False) -> FoundShards: ...
def _augmented(
    items: list[tuple[str, str, str, tuple[str, str], str]],
    dirs: Sequence[_Path],
    options: dict[str, Any],
    progress: Callable[[int, int], object] | bool | None,
) -> list[tuple[int, str, tuple[str, str]]]: ...
def _aggregated(
    predictions: list[tuple[str, str, str, str, list[float]]], classes: list[str], by: str
) -> AggregatedPredictions: ...
def _alike(pairs: list[MinedPair], least: float) -> list[MinedPair]: ...
def _grouped(articles: list[tuple[str, str]], threshold: float, days: int) -> list[tuple[int, int]]: ...
def _drawn(pairs: list[tuple[str, str, str]], count: int, seed: int) -> list[tuple[str, str, str]]: ...
def _rated_counts() -> list[str]: ...
def _ratings(first: list[_Rated], second: list[_Rated]) -> Ratings: ...
def _answered(tasks: list[str], answers: list[str]) -> AnnotatorAgreement: ...
def _word_links(
    pairs: list[tuple[str | list[str], str | list[str]]],
    others: list[tuple[str | list[str], str | list[str]]],
    dirs: Sequence[_Path],
    options: dict[str, object],
    progress: Callable[[int, int], object] | bool | None,
) -> list[WordLinks | TextError]: ...
def _program(line: Sequence[str]) -> None: ...
@final
class Element:
    name: Final[str]
    rank: Final[int]
    span: Final[_Span | None]
    text: Final[str | None]
    ni: Final[str | None]
    gf: Final[str | None]
    pt: Final[str | None]

@final
class Label:
    name: Final[str]
    span: Final[_Span | None]
    ni: Final[str | None]

@final
class Layer:
    name: Final[str]
    rank: Final[int]
    labels: Final[list[Label]]

@final
class Generation:
    seed: Final[str]
    round: Final[int]
    recipe: Final[int]
    paraphrase: Final[float | None]
    aligner: Final[float]
    p: Final[float | None]
    r: Final[float | None]
    flags: Final[list[str]]
    chain: Final[list[str]]

@final
class Carrying:
    generated: Final[str]
    source: Final[str]
    aligner: Final[float]

@final
class Judgement:
    reviewer: Final[str]
    question: Final[str]
    score: Final[int]
    time: Final[int]
    note: Final[str]

@final
class AnnotationSet:
    id: Final[str]
    release: Final[str]
    frame: Final[str]
    lu: Final[str]
    trigger: Final[str]
    text: Final[str]
    sentence: Final[str]
    targets: Final[list[_Span]]
    elements: Final[list[Element]]
    layers: Final[list[Layer]]
    origin: Final[str]
    status: Final[str]
    fe_status: Final[str]
    document: Final[str | None]
    split: Final[str | None]
    generation: Final[Generation | None]
    carrying: Final[Carrying | None]
    evokes: Final[float | None]
    same_meaning: Final[float | None]
    reverse: Final[float | None]
    def element(self, name: str) -> str | None: ...
    def sentence_layers(self) -> list[Layer]: ...
    def judgements(self) -> list[Judgement]: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Query:
    expression: Final[str]
    def __iter__(self) -> Answers: ...
    def count(self) -> int: ...
    @overload
    def count_by(self, field: str, /) -> dict[str | None, int]: ...
    @overload
    def count_by(self, field: str, other: str, /, *more: str) -> dict[tuple[str | None, ...], int]: ...
    def first(self) -> AnnotationSet | None: ...
    def limit(self, count: int) -> Query: ...
    def offset(self, count: int) -> Query: ...
    def after(self, cursor: str) -> Query: ...
    def sort(self, fields: str) -> Query: ...
    def sample(self, size: int, *, per: str | None = None, seed: int = 1) -> Query: ...
    def explain(self) -> dict[str, Any]: ...
    def to_arrow(self, columns: Sequence[str] | None = None) -> Table: ...
    def to_polars(self, columns: Sequence[str] | None = None) -> polars.DataFrame: ...
    def to_pandas(self, columns: Sequence[str] | None = None) -> pandas.DataFrame: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def _repr_html_(self) -> str: ...

@final
class Answers(Iterator[AnnotationSet]):
    cursor: Final[str | None]
    def __iter__(self) -> Self: ...
    def __next__(self) -> AnnotationSet: ...

@final
class Table:
    column_names: Final[list[str]]
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...

@final
class Change:
    revision: Final[int]
    release: Final[str]
    action: Final[str]
    kind: Final[str]
    id: Final[str]
    frame: Final[int | None]
    lu: Final[int | None]
    sentence: Final[str | None]
    reviewer: Final[str | None]
    question: Final[str | None]
    at: Final[int | None]
    by: Final[str]
    note: Final[str]
    last: Final[bool]
    @property
    def record(self) -> dict[str, Any] | None: ...
    @property
    def sentence_record(self) -> dict[str, Any] | None: ...

@final
class Commit:
    revision: Final[int]
    at: Final[int]
    by: Final[str]
    note: Final[str]
    undoes: Final[list[int]]
    can_undo: Final[bool]

@final
class Release:
    name: Final[str]
    language: Final[str]
    source: Final[str]
    imported: Final[int]
    counts: Final[dict[str, int]]

@final
class FrameElement:
    id: Final[int | None]
    name: Final[str]
    abbreviation: Final[str]
    core_type: Final[str | None]
    frame: Final[str]
    definition: Final[str]
    definition_markup: Final[str]
    requires: Final[list[str]]
    excludes: Final[list[str]]
    sem_types: Final[list[str]]

@final
class Frame:
    id: Final[int]
    name: Final[str]
    release: Final[str]
    definition: Final[str]
    definition_markup: Final[str]
    fes: Final[list[FrameElement]]
    core_sets: Final[list[list[str]]]
    sem_types: Final[list[str]]
    lus: Final[list[LexicalUnit]]
    relations: Final[list[FrameRelation]]
    def fe(self, name: str) -> FrameElement: ...
    def query(self, expression: str = "") -> Query: ...
    def _repr_html_(self) -> str: ...

@final
class LexicalUnit:
    id: Final[int]
    name: Final[str]
    lemma: Final[str]
    pos: Final[str]
    frame: Final[str]
    release: Final[str]
    status: Final[str]
    definition: Final[str]
    lexemes: Final[list[tuple[str, str]]]
    incorporated_fe: Final[str | None]
    sem_types: Final[list[str]]
    claimed_annotated: Final[int]
    subcorpora: Final[list[str]]
    set_counts: Final[dict[str, int]]
    def query(self, expression: str = "") -> Query: ...
    def valence(self, over: str | None = None) -> Valence: ...

@final
class FrameRelation:
    id: Final[int]
    kind: Final[str]
    parent: Final[str]
    child: Final[str]
    fes: Final[list[tuple[str, str]]]

@final
class SemType:
    id: Final[int]
    name: Final[str]
    abbreviation: Final[str]
    definition: Final[str]
    parents: Final[list[int]]

@final
class Document:
    id: Final[int]
    name: Final[str]
    corpus: Final[str]
    def sentences(self) -> list[tuple[str, str]]: ...
    def query(self, expression: str = "") -> Query: ...

@final
class Growth:
    round: Final[int]
    sets: Final[int]
    new_triggers: Final[list[tuple[str, int]]]
    total_sentences: Final[int]
    total_triggers: Final[int]
    total_pairs: Final[int]

@final
class Progress:
    seeds: Final[int]
    of: Final[int]
    sentences: Final[int]

@final
class ExpansionReport:
    recipe: Final[int | None]
    seeds: Final[int]
    done_before: Final[int]
    left: Final[int]
    left_rounds: Final[int | None]
    left_seconds: Final[float | None]
    sentences: Final[int]
    new_triggers: Final[int]
    new_pairs: Final[int]
    proposed_lus: Final[int]
    flags: Final[dict[str, int]]
    carried: Final[int]
    dropped: Final[dict[str, int]]
    unproductive: Final[dict[str, int]]
    seconds: Final[float]

@final
class ImportReport:
    release: Final[str]
    counts: Final[dict[str, int]]
    warnings: Final[dict[str, int]]

@final
class ExportReport:
    records: Final[dict[str, int]]
    losses: Final[dict[str, int]]
    leaking: Final[int]

@final
class Attestation:
    set: Final[str]
    text: Final[str]
    trigger: Final[str]
    round: Final[int]
    aligner: Final[float]
    p: Final[float | None]

@final
class Proposal:
    release: Final[str]
    frame: Final[str]
    lu: Final[str]
    score: Final[float]
    sets: Final[int]
    evokes: Final[float | None]
    sentences: Final[list[Attestation]]
    other_frames: Final[list[str]]
    nearest: Final[list[tuple[str, float]]]
    decided: Final[Literal["accept", "reject", "move", "merge"] | None]
    refused: Final[str | None]
    def record(self) -> dict[str, Any]: ...
    def accept(self, *, reviewer: str | None = None, note: str = "") -> None: ...
    def reject(self, *, reviewer: str | None = None, note: str = "") -> None: ...
    def move(self, frame: str, *, reviewer: str | None = None, note: str = "") -> int: ...
    def merge(self, lu: str, *, reviewer: str | None = None, note: str = "") -> int: ...
    def undo(self, *, reviewer: str | None = None, note: str = "") -> int: ...
    def _repr_html_(self) -> str: ...

@final
class Finding:
    code: Final[str]
    meaning: Final[str]
    count: Final[int]
    examples: Final[list[str]]

@final
class CheckReport:
    revision: Final[int]
    rows: Final[dict[str, int]]
    index_entries: Final[int | None]
    index_behind: Final[int]
    findings: Final[list[Finding]]
    def __bool__(self) -> bool: ...

@final
class BackupReport:
    revision: Final[int]
    releases: Final[list[str]]
    rows: Final[int]
    bytes: Final[int]

@final
class VerificationReport:
    sets: Final[int]
    written: Final[int]
    without: Final[int]

@final
class Edition:
    release: Final[str]
    name: Final[str]
    expression: Final[str]
    created: Final[int]
    revision: Final[int]
    sets: Final[int]
    sentences: Final[int]
    pairs: Final[int]
    lemma_pairs: Final[int]
    split_list: Final[str | None]
    blake3: Final[str]
    precision: Final[float | None]
    def query(self, expression: str = "") -> Query: ...
    def verify(self) -> EditionChanges: ...
    def promise(self) -> list[PromiseStanding]: ...
    def cut(self) -> Edition: ...
    def check(self, judgements: dict[str, int] | None = None) -> list[PromiseCheck]: ...
    def publish(
        self,
        directory: _Path,
        *,
        licence: str | None = None,
        sensitive: list[str] | None = None,
        tagger: _Path | None = None,
        encoder: _Path | None = None,
        models: _Path | None = None,
        device: str = "cpu",
    ) -> PublishedEdition: ...
    def delete(self) -> int: ...

@final
class PromiseStanding:
    group: Final[str]
    candidates: Final[int]
    judged: Final[int]
    right: Final[int]
    kept: Final[int]
    sets: Final[int]
    score: Final[float | None]
    lower: Final[float | None]
    left: Final[int]

@final
class PromiseCheck:
    group: Final[str]
    judged: Final[int]
    right: Final[int]
    lower: Final[float]
    upper: Final[float]
    verdict: Final[Literal["kept", "broken", "open"]]

@final
class PublishedEdition:
    directory: Final[Path]
    parts: Final[dict[str, tuple[int, int]]]
    leaking: Final[int]
    flagged: Final[int | None]
    licence: Final[str]
    files: Final[dict[str, str]]

@final
class EditionChanges:
    removed: Final[list[str]]
    changed: Final[list[str]]
    added: Final[list[str]]
    unanswered: Final[str | None]
    def __bool__(self) -> bool: ...

@final
class DeletionReport:
    sets: Final[int]
    lus: Final[int]
    decided: Final[list[str]]
    revision: Final[int | None]

@final
class MergedShard:
    path: Final[Path]
    release: Final[str]
    shard: Final[int]
    of: Final[int]
    seeds: Final[int]
    sets: Final[int]
    written: Final[int]
    skipped: Final[bool]

@final
class Difference:
    kind: Final[Literal["frame", "fe", "lu", "relation", "annotation"]]
    change: Final[Literal["added", "removed", "changed"]]
    frame: Final[str]
    name: Final[str]
    property: Final[str | None]
    before: Final[str | None]
    after: Final[str | None]
    count: Final[int]

@final
class Sentence:
    release: Final[str]
    id: Final[str]
    text: Final[str]
    sets: Final[int]

@final
class Link:
    release: Final[str]
    frame: Final[str]
    kind: Final[Literal["lu", "fe", "frame"]]
    name: Final[str]
    id: Final[int]
    resource: Final[str]
    target: Final[str]
    role: Final[str | None]
    score: Final[float]
    source: Final[Literal["semlink", "name", "definition", "model", "user"]]
    accepted: Final[bool | None]
    def accept(self, *, reviewer: str | None = None, note: str = "") -> None: ...
    def reject(self, *, reviewer: str | None = None, note: str = "") -> None: ...
    def undo(self, *, reviewer: str | None = None, note: str = "") -> None: ...

@final
class Predicate:
    resource: Final[str]
    name: Final[str]
    parent: Final[str | None]
    definition: Final[str]
    members: Final[list[tuple[str, str]]]
    roles: Final[list[tuple[str, str]]]
    examples: Final[list[str]]
    links: Final[list[tuple[str, str]]]

@final
class Synset:
    wordnet: Final[str]
    id: Final[str]
    pos: Final[Literal["n", "v", "a", "r", "x"]]
    ili: Final[str | None]
    topic: Final[str]
    members: Final[list[str]]
    keys: Final[list[str]]
    definitions: Final[list[str]]
    examples: Final[list[str]]
    relations: Final[list[tuple[str, str, list[str]]]]

@final
class Realization:
    fes: Final[list[str]]
    total: Final[int]
    patterns: Final[list[tuple[list[tuple[str, str, str]], int, list[str]]]]

@final
class Valence:
    fes: Final[list[Realization]]
    groups: Final[list[Realization]]

@final
class Coverage:
    release: Final[str]
    group: Final[Literal["all", "pos", "lu-status"]]
    value: Final[str]
    lus: Final[int]
    proposed: Final[int]
    without_exemplars: Final[int]
    without_human_sets: Final[int]
    generated_only: Final[int]
    sets: Final[dict[str, int]]

@final
class Agreement:
    question: Final[str]
    role: Final[Literal["output", "in-frame control", "out-of-frame control"]]
    items: Final[int]
    accepted: Final[int]
    share: Final[float]
    mean: Final[float]
    shared: Final[int]
    unanimous: Final[int]
    by_three: Final[int]
    accepted_by_three: Final[int]
    kappa: Final[float | None]

@final
class StoredRecipe:
    recipe: Final[int]
    fingerprint: Final[str]
    sets: Final[int]
    rules: Final[str]
    settings: Final[Any]

@final
class Alignment:
    spans: Final[list[_Span] | None]
    texts: Final[list[str] | None]
    score: Final[float | None]
    runners_up: Final[list[list[tuple[_Span, str, float]]]]
    def _repr_html_(self) -> str: ...

@final
class Score:
    log_prob: Final[float]
    tokens: Final[int]
    perplexity: Final[float]

@final
class Verdict:
    yes: Final[float]
    log_odds: Final[float]

@final
class Tagged:
    words: Final[list[str]]
    tags: Final[list[str]]
    scores: Final[list[float]]

@final
class Substitutes:
    target: Final[str]
    substitutes: Final[list[tuple[str, float]]]

@final
class Paraphrase:
    text: Final[str]
    score: Final[float]
    log_prob: Final[float]
    ended: Final[bool]
    met: Final[list[list[str]]]
    unmet: Final[list[list[str]]]
    copy: Final[bool]

@final
class Rewriting:
    text: Final[str]
    paraphrases: Final[list[Paraphrase]]
    lifted: Final[list[str]]
    stop: Final[Literal["length-limit", "blocked", "rejected"] | None]
    def _repr_html_(self) -> str: ...

@final
class FoundFe:
    name: Final[str]
    span: Final[_Span]
    text: Final[str]
    score: Final[float]

@final
class Target:
    span: Final[_Span]
    pieces: Final[list[_Span]]
    text: Final[str]
    frame: Final[str]
    lu: Final[str | None]
    score: Final[float]
    by_form: Final[bool]
    runners_up: Final[list[tuple[str, float]]]
    fes: Final[list[FoundFe] | None]

@final
class AnnotatedText:
    text: Final[str]
    targets: Final[list[Target]]

@final
class SpanAligner:
    def __new__(
        cls,
        dirs: Sequence[_Path],
        head: _Path,
        encoder: _Path | None,
        device: str,
        threshold: float | None,
        runners_up: int,
        language: str | None,
    ) -> Self: ...
    def batch(
        self, items: list[tuple[str | list[str], list[_Span], str | list[str]]]
    ) -> list[Alignment | TextError]: ...

@final
class TextScorer:
    def __new__(
        cls,
        dirs: Sequence[_Path],
        model: _Path,
        device: str,
        numbers: str | None,
        question: _Path | None,
        language: str | None,
    ) -> Self: ...
    def batch(self, items: list[tuple[str, _Span | None]]) -> list[Score | TextError]: ...
    def fields(self) -> list[str]: ...
    def ask(self, items: list[dict[str, list[str]]]) -> list[Verdict | TextError]: ...

@final
class WordTagger:
    def __new__(
        cls, dirs: Sequence[_Path], tagger: _Path, encoder: _Path | None, device: str, language: str | None
    ) -> Self: ...
    def batch(self, items: list[str | list[str]]) -> list[Tagged | TextError]: ...

@final
class WordFinder:
    def __new__(
        cls,
        dirs: Sequence[_Path],
        model: _Path | None,
        device: str,
        numbers: str | None,
        n_best: int,
        language: str | None,
    ) -> Self: ...
    def batch(self, items: list[tuple[str, _Span, list[str]]]) -> list[Substitutes | TextError]: ...

@final
class SentenceRewriter:
    def __new__(
        cls,
        dirs: Sequence[_Path],
        model: _Path | None,
        device: str,
        numbers: str | None,
        language: str | None,
        options: dict[str, object],
        endpoint: Server | None,
    ) -> Self: ...
    def batch(
        self, items: list[tuple[str, list[str], list[list[str]], list[_Span], str, list[str]]]
    ) -> list[Rewriting | TextError]: ...

@final
class TextAnnotator:
    def batch(self, texts: list[str]) -> list[AnnotatedText | TextError]: ...
    def finish(self) -> str | None: ...
    def abort(self) -> None: ...

@final
class Diversity:
    round: Final[int | None]
    sets: Final[int]
    self_bleu: Final[float | None]
    source_bleu: Final[float]
    changed_words: Final[float]
    pos_changed: Final[float | None]
    pos_jaccard: Final[float | None]
    pos_weighted: Final[float | None]

@final
class ForeignContent:
    release: Final[str]
    kind: Final[Literal["frame", "lu", "document", "top"]]
    name: Final[str]
    element: Final[str]
    content: Final[str]

@final
class ProposalDecision:
    release: Final[str]
    frame: Final[str]
    lu: Final[str]
    verdict: Final[Literal["accept", "reject", "move", "merge"]]
    reviewer: Final[str]
    time: Final[int]
    note: Final[str]
    to_frame: Final[str | None]
    to_lu: Final[str | None]
    sets: Final[int]
    undone_by: Final[str | None]
    undone_at: Final[int | None]
    undone_note: Final[str | None]

@final
class HiddenLus:
    frame: Final[str | None]
    hidden: Final[int]
    proposals: Final[int]
    found: Final[int]
    recall: Final[float]
    recall_at_10: Final[float]
    recall_at_50: Final[float]
    precision: Final[float | None]

@final
class Server:
    url: Final[str]
    def __new__(
        cls,
        url: str,
        *,
        key_from: str | None = None,
        max_requests: int | None = None,
        max_tokens: int | None = None,
        timeout: int = 120,
        tries: int = 5,
        answers: _Path | None = None,
    ) -> Self: ...

@final
class FrameProgress:
    release: Final[str]
    frame: Final[str]
    seeds: Final[int]
    done: Final[int]
    ended: Final[dict[str, int]]
    begun: Final[int]
    rounds_missing: Final[int]

@final
class ShardProgress:
    shard: Final[int]
    of: Final[int]
    state: Final[Literal["done", "running", "stopped", "missing", "damaged"]]
    seeds_done: Final[int]
    seeds: Final[int]
    sets: Final[int]
    noted_seconds_ago: Final[int | None]
    path: Final[Path | None]

@final
class ShardedExpansion:
    release: Final[str]
    query: Final[str]
    recipe: Final[str]
    rounds: Final[int]
    shards: Final[list[ShardProgress]]
    seconds_left: Final[float | None]
    is_whole: Final[bool]
    def __bool__(self) -> bool: ...

@final
class FoundShards:
    expansions: Final[list[ShardedExpansion]]
    unreadable: Final[list[str]]
    def __bool__(self) -> bool: ...

@final
class AggregatedPredictions:
    rows: Final[list[tuple[str, str, str, str, list[float]]]]
    weights: Final[dict[str, float]]
    items: Final[int]
    right: Final[int]
    right_before: Final[int]
    wrong_to_right: Final[int]
    right_to_wrong: Final[int]

@final
class MinedPair:
    id: Final[str]
    cluster: Final[str]
    source: Final[str]
    target: Final[str]
    source_at: Final[tuple[str, str, int]]
    target_at: Final[tuple[str, str, int]]
    method: Final[Literal["l12", "f2"]]
    edits: Final[int | None]
    shared: Final[int | None]
    likeness: Final[float | None]

@final
class PairMiner:
    def __new__(cls, method: str, edits: str, limit: int, replace: bool) -> Self: ...
    def cluster(self, name: str, articles: list[tuple[str, str, list[str], bool]]) -> list[MinedPair]: ...

@final
class Ratings:
    rows: Final[list[tuple[str, float | None, float | None, float | None]]]
    shared: Final[int]
    agreed: Final[float | None]
    kappa: Final[float | None]

@final
class WordLinks:
    source: Final[list[str]]
    target: Final[list[str]]
    links: Final[list[tuple[int, int]]]

@final
class AlignmentTask:
    id: Final[str]
    frame: Final[str]
    lu: Final[str]
    sentence: Final[str]
    span: Final[_Span]
    trigger: Final[str]
    paraphrase: Final[str]
    def record(self) -> dict[str, Any]: ...

@final
class AlignmentTasks(Iterator[AlignmentTask]):
    @property
    def left_out(self) -> dict[str, int]: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> AlignmentTask: ...

@final
class AnnotatorAgreement:
    tasks: Final[int]
    annotators: Final[int]
    answers: Final[int]
    unaligned: Final[int]
    undecided: Final[int]
    shared: Final[int]
    exact: Final[float]
    soft: Final[float]
    fleiss_kappa: Final[float | None]
    cohen_kappa: Final[float | None]
    items: Final[list[dict[str, Any]]]
    refused: Final[dict[str, list[str]]]

@final
class GenerationProgress:
    lus: Final[int]
    of: Final[int]
    sentences: Final[int]

@final
class GenerationReport:
    recipe: Final[int | None]
    lus: Final[int]
    done_before: Final[int]
    left: Final[int]
    given: Final[int]
    sentences: Final[int]
    unlikely: Final[int]
    verified: Final[int | None]
    candidates: Final[int]
    faithful: Final[int | None]
    blanks: Final[int]
    skipped: Final[dict[str, int]]
    passed_over: Final[dict[str, int]]
    left_seconds: Final[float | None]
    seconds: Final[float]

@final
class AttestationReport:
    lus: Final[int]
    looked_at: Final[int]
    left: Final[int]
    in_corpus: Final[int]
    given: Final[int]
    sentences: Final[int]
    asked: Final[int]
    unlikely: Final[int]
    nearer: Final[int]
    unread: Final[int]
    in_names: Final[int]
    of_other_pos: Final[int]
    unfit: Final[int]
    without_fit: Final[int]
    seconds: Final[float]

@final
class FilterReport:
    sets: Final[int]
    written: Final[int]
    precision_cut: Final[float]
    by_precision: Final[int]
    recall_cut: Final[float]
    by_recall: Final[int]

@final
class DiscoveredLu:
    lu: Final[str]
    score: Final[float]
    evokes: Final[float | None]
    slot: Final[float | None]
    support: Final[float]
    likeness: Final[float | None]
    sources: Final[list[str]]
    sentences: Final[list[tuple[str, str, float | None]]]

@final
class FrameSearch:
    release: Final[str]
    frame: Final[str]
    candidates: Final[int]
    asked: Final[int]
    was_searched: Final[bool]
    found: Final[list[DiscoveredLu]]
    refused: Final[list[tuple[str, str, str | None]]]

@final
class Leak:
    code: Final[Literal["L-text", "L-seed"]]
    part: Final[str]
    release: Final[str]
    set: Final[str]
    sets: Final[int]
    other_part: Final[str]
    other_release: Final[str]
    other_set: Final[str]
    other_sets: Final[int]
    text: Final[str]

@final
class FramenetFiles:
    def read(self, name: str) -> str | None: ...
    def written(self, kind: str, number: int) -> str: ...

@final
class Edits:
    def edit(self, line: str) -> str: ...
    def commit(self) -> int: ...
    def abort(self) -> None: ...

@final
class Database:
    path: Final[Path]
    closed: Final[bool]
    revision: Final[int]
    id: Final[str | None]
    generation: Final[str | None]
    def close(self) -> None: ...
    def refresh(self) -> None: ...
    def snapshot(self) -> Database: ...
    def changes(
        self,
        since: int = 0,
        *,
        release: str | None = None,
        generation: str | None = None,
        expression: str | None = None,
        with_records: bool = False,
    ) -> list[Change]: ...
    def history(self, limit: int = 20) -> list[Commit]: ...
    def undo(self, *revisions: int, note: str = "") -> int: ...
    def releases(self) -> list[Release]: ...
    def frames(self, names: str | None = None, release: str | None = None) -> list[Frame]: ...
    def frame(self, key: str | int, release: str | None = None) -> Frame: ...
    def fes(self, names: str | None = None, release: str | None = None) -> list[FrameElement]: ...
    def lus(self, names: str | None = None, release: str | None = None) -> list[LexicalUnit]: ...
    def lu(
        self, key: str | int, release: str | None = None, frame: str | int | None = None
    ) -> LexicalUnit: ...
    def relations(self, release: str | None = None) -> list[FrameRelation]: ...
    def sem_types(self, release: str | None = None) -> list[SemType]: ...
    def documents(self, names: str | None = None, release: str | None = None) -> list[Document]: ...
    def query(
        self,
        expression: str = "",
        *,
        sort: str | None = None,
        after: str | None = None,
        offset: int = 0,
        limit: int | None = None,
        case_sensitive: bool = False,
    ) -> Query: ...
    def count(self, expression: str = "") -> int: ...
    def annotation_set(self, id: str, release: str | None = None) -> AnnotationSet: ...
    def growth(self, expression: str = "", release: str | None = None) -> Drawn[Growth]: ...
    def export(
        self,
        path: _Path,
        expression: str = "",
        *,
        to: str,
        training: bool = False,
        spacing: str | None = None,
        with_base: bool = False,
        force: bool = False,
        no_leaks: bool = False,
        sample: int | None = None,
        per: str | None = None,
        seed: int = 1,
        case_sensitive: bool = False,
        tagger: _Path | None = None,
        encoder: _Path | None = None,
        models: _Path | None = None,
        device: str = "cpu",
    ) -> ExportReport: ...
    def editions(self, release: str | None = None) -> list[Edition]: ...
    def edition(self, name: str, release: str | None = None) -> Edition: ...
    def create_edition(
        self,
        name: str,
        expression: str,
        *,
        release: str | None = None,
        precision: float | None = None,
        confidence: float = 0.95,
        rank: str | None = None,
        by: Literal["round", "lu"] | None = None,
        sample: int | None = None,
        per: str | None = None,
        seed: int = 1,
    ) -> Edition: ...
    def sentences(self, *, without_sets: bool = False, release: str | None = None) -> list[Sentence]: ...
    def synsets(self, word: str, wordnet: str | None = None) -> list[Synset]: ...
    def predicates(self, word: str, resource: str | None = None) -> list[Predicate]: ...
    def coverage(self, release: str | None = None) -> list[Coverage]: ...
    def agreement(self) -> Drawn[Agreement]: ...
    def recipes(self) -> list[StoredRecipe]: ...
    def delete(self, expression: str, *, dry_run: bool = False) -> DeletionReport: ...
    def merge(
        self,
        *paths: _Path,
        mixed: bool = False,
        again: bool = False,
        progress: Callable[[int, int], object] | bool | None = None,
    ) -> list[MergedShard]: ...
    def remove_release(self, name: str) -> int: ...
    def differences(self, before: str, after: str) -> list[Difference]: ...
    def keep_history(
        self, *, commits: int | None = None, days: int | None = None, forever: bool = False
    ) -> None: ...
    def reindex(self) -> int: ...
    def annotate(
        self,
        texts: Iterable[str],
        *,
        release: str | None = None,
        open: bool = False,
        identifier: _Path = "frames",
        encoder: _Path | None = None,
        tagger: _Path = "tagger",
        no_tagger: bool = False,
        labeller: _Path = "fes",
        no_fes: bool = False,
        into: _Path | None = None,
        name: str = "predicted",
        models: _Path | None = None,
        device: str = "cpu",
        any_language: bool = False,
        errors: Literal["raise", "keep"] = "raise",
        progress: Callable[[int], object] | bool | None = None,
    ) -> Iterator[AnnotatedText]: ...
    def proposals(
        self,
        expression: str = "",
        *,
        limit: int | None = None,
        with_decided: bool = False,
        with_refused: bool = False,
        ranker: _Path | None = None,
        models: _Path | None = None,
    ) -> list[Proposal]: ...
    def verify(
        self,
        expression: str,
        *,
        verifier: _Path = "verifier",
        rewriter: _Path | None = None,
        models: _Path | None = None,
        device: str = "cpu",
        numbers: str | None = None,
        any_language: bool = False,
        progress: Callable[[int], object] | bool | None = None,
    ) -> VerificationReport: ...
    def fit(
        self,
        expression: str,
        *,
        identifier: _Path = "frames",
        encoder: _Path | None = None,
        models: _Path | None = None,
        device: str = "cpu",
        any_language: bool = False,
        progress: Callable[[int], object] | bool | None = None,
    ) -> VerificationReport: ...
    def filter(
        self,
        expression: str,
        *,
        filter: _Path = "filter",
        models: _Path | None = None,
        progress: Callable[[int], object] | bool | None = None,
    ) -> FilterReport: ...
    def link(
        self,
        *frames: str,
        release: str | None = None,
        least: float = 0.13,
        again: bool = False,
        verifier: _Path | None = None,
        models: _Path | None = None,
        device: str = "cpu",
        numbers: str | None = None,
        progress: Callable[[int, int], object] | bool | None = None,
    ) -> int: ...
    def links(
        self,
        *frames: str,
        lu: str | None = None,
        resource: str | None = None,
        by_frame: bool = False,
        with_rejected: bool = False,
        release: str | None = None,
    ) -> list[Link]: ...
    def discover(
        self,
        *frames: str,
        release: str | None = None,
        wordnet: str | None = None,
        corpus: _Path | None = None,
        candidates: int = 60,
        sentences: int = 3,
        least: float = 0.1,
        again: bool = False,
        verifier: _Path = "verifier",
        rewriter: _Path | None = None,
        no_rewriter: bool = False,
        models: _Path | None = None,
        device: str = "cpu",
        numbers: str | None = None,
        any_language: bool = False,
        progress: Callable[[FrameSearch, int, int], object] | bool | None = None,
    ) -> list[FrameSearch]: ...
    def attest(
        self,
        corpus: _Path,
        expression: str = "",
        *,
        lacking: str = "annotation",
        keep: int = 5,
        candidates: int = 10,
        least: float = 0.5,
        limit: int | None = None,
        verifier: _Path = "verifier",
        labeller: _Path = "fes",
        no_fes: bool = False,
        models: _Path | None = None,
        device: str = "cpu",
        numbers: str | None = None,
        any_language: bool = False,
        progress: Callable[[int, int], object] | bool | None = None,
    ) -> AttestationReport: ...
    def generate(
        self,
        expression: str = "",
        *,
        lacking: str = "annotation",
        method: Literal["sister-lu", "infill"] | None = None,
        mode: str = "fe",
        sisters: str = "agreeing",
        sources: int | None = None,
        candidates: int | None = None,
        keep: int = 1,
        least: float = 0.0,
        verifier: _Path | None = None,
        seed: int = 1,
        limit: int | None = None,
        dry_run: bool = False,
        model: _Path | None = None,
        ranker: _Path | None = None,
        classifier: _Path | None = None,
        prompt: _Path | None = None,
        endpoint: Server | None = None,
        models: _Path | None = None,
        device: str = "cpu",
        numbers: str | None = None,
        any_language: bool = False,
        progress: Callable[[GenerationProgress], object] | bool | None = None,
    ) -> GenerationReport: ...
    def leaks(self) -> list[Leak]: ...
    def align_tasks(
        self,
        expression: str,
        *,
        per_lu: int = 4,
        top_k: int = 10,
        seed: int = 1,
        limit: int | None = None,
        max_pieces: int = 80,
        model: _Path = "paraphrase",
        models: _Path | None = None,
        device: str = "cpu",
        numbers: str | None = None,
        any_language: bool = False,
    ) -> AlignmentTasks: ...
    def diversity(
        self,
        expression: str = "",
        *,
        no_pos: bool = False,
        tagger: _Path = "tagger",
        encoder: _Path | None = None,
        models: _Path | None = None,
        device: str = "cpu",
        any_language: bool = False,
    ) -> list[Diversity]: ...
    def foreign(
        self,
        content: str | None = None,
        *,
        kind: Literal["frame", "lu", "document", "top"] | None = None,
        release: str | None = None,
    ) -> list[ForeignContent]: ...
    def proposal_decisions(self, release: str | None = None) -> list[ProposalDecision]: ...
    def measure_proposals(
        self,
        expression: str = "",
        *,
        hidden: Sequence[tuple[str, str]] | _Path,
        ranker: _Path | None = None,
        models: _Path | None = None,
    ) -> list[HiddenLus]: ...
    def check(self, *, deep: bool = False, progress: Callable[[int], object] | bool | None = None) -> CheckReport: ...
    def backup(self, path: _Path) -> BackupReport: ...
    def with_split_list(self, path: _Path, *, strict: bool = False) -> Database: ...
    def import_release(
        self,
        path: _Path,
        *,
        release: str | None = None,
        language: str | None = None,
        spans: bool = False,
        strict: bool = False,
        progress: Callable[[int, int], object] | bool | None = None,
    ) -> ImportReport: ...
    def expand(
        self,
        expression: str,
        *,
        recipe: str | None = None,
        model: _Path | None = None,
        models: _Path | None = None,
        filter: _Path | None = None,
        verifier: _Path | None = None,
        from_sisters: bool = False,
        blind_to: str | None = None,
        redo: bool = False,
        sample: int | None = None,
        per: str | None = None,
        seed: int = 1,
        device: str = "cpu",
        limit: int | None = None,
        progress: Callable[[Progress], object] | bool | None = None,
        any_language: bool = False,
        shard: str | None = None,
        out: _Path | None = None,
        dry_run: bool = False,
        endpoint: Server | None = None,
        **settings: object,
    ) -> ExpansionReport: ...
    def expansion_status(
        self,
        expression: str = "",
        *,
        recipe: str | None = None,
        model: _Path | None = None,
        models: _Path | None = None,
        filter: _Path | None = None,
        verifier: _Path | None = None,
        from_sisters: bool = False,
        blind_to: str | None = None,
        sample: int | None = None,
        per: str | None = None,
        seed: int = 1,
        any_language: bool = False,
        endpoint: Server | None = None,
        **settings: object,
    ) -> list[FrameProgress]: ...
    def transaction(
        self, release: str | None = None, *, reviewer: str | None = None, note: str = ""
    ) -> Transaction: ...
    def _framenet(self, release: str | None, generated: bool) -> FramenetFiles: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_raised: object) -> None: ...
