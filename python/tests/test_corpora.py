"""Corpora of paraphrases: aligned words, annotators' answers, pairs mined from news."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import fnstore
import pytest
from conftest import MODELS

PROGRAM = os.environ.get("FNSTORE_PROGRAM", "")
PAIRS = [("They checked the bill .", "They examined the bill ."), ("We checked it .", "We examined it .")] * 4
FIRST = "The storm tore the roof off the old mill on Monday, the mayor said."
SECOND = "The storm tore the roof from the old mill on Monday, the mayor said."
ARTICLES = [
    {"cluster": "a", "article": "1", "date": "2004-08-23", "text": FIRST},
    {"cluster": "a", "article": "2", "date": "2004-08-24", "text": SECOND},
    {"cluster": "b", "article": "3", "text": "Prices rose again."},
]


def printed(words: list[str], lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the program prints of lines that it reads."""
    if not PROGRAM:
        pytest.skip("`make python` says where the program is")
    text = "".join(json.dumps(line) + "\n" for line in lines)
    command = [PROGRAM, "--format", "jsonl", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True, input=text)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_words_are_aligned_as_the_program_does(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = fnstore.align_words(PAIRS, progress=lambda done, of: told.append((done, of)))
    assert len(found) == len(PAIRS) and (1, 1) in found[0].links and str(found[1]).startswith("0-0")
    assert told[-1][0] == told[-1][1] > 0
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS))
    records = printed(["align", "words", str(file)], [])
    assert [[list(link) for link in of.links] for of in found] == [
        [[int(place) for place in link.split("-")] for link in as_text(record["links"])] for record in records
    ]
    (one,) = fnstore.align_words([{"source": ["a", "b"], "target": "a b"}], model="model1", iterations=1, train=PAIRS)
    assert one.source == one.target == ["a", "b"]
    near = fnstore.align_words(PAIRS[:1], model="embeddings", models=MODELS)
    assert (0, 0) in near[0].links
    with pytest.raises(fnstore.QueryError, match="model1"):
        fnstore.align_words(PAIRS, model="model2")  # type: ignore[arg-type]
    with pytest.raises(fnstore.ModelError, match="linker"):
        fnstore.align_words(PAIRS, model="linker")
    with pytest.raises(fnstore.TextError, match="target"):
        fnstore.align_words([{"source": "a"}])


def test_bad_pairs_are_kept_in_their_places_and_settings_are_checked() -> None:
    given: list[Any] = [PAIRS[0], {"source": "a"}, ("a", None), ("a", ["b", 1]), ("a", "b", "c"), PAIRS[1]]
    found = fnstore.align_words(given, errors="keep")
    assert [getattr(of, "code", None) for of in found] == [None, "E-key", "E-type", "E-type", "E-type", None]
    for bad in given[1:5]:
        with pytest.raises(fnstore.TextError):
            fnstore.align_words([bad])
    for call in (lambda: fnstore.align_words(PAIRS, errors="skip"), lambda: fnstore.align_answers([], [], errors="skip")):  # type: ignore[arg-type]
        with pytest.raises(fnstore.TextError, match="raise or keep"):
            call()
    for wrong in ({"identity": -1.0}, {"null": 2}, {"threshold": -1}, {"identity": float("inf")}, {"null": float("nan")}):
        with pytest.raises(fnstore.QueryError, match="expected a number from 0") as raised:
            fnstore.align_words(PAIRS, **wrong)  # type: ignore[arg-type]
        assert raised.value.code == "E-range"
    for unread in (
        {"model": "model1", "null": 0.2},
        {"model": "embeddings", "iterations": 3},
        {"encoder": "aligner-encoder"},
        {"symmetrize": "union", "threshold": 0.3},
        {"model": "linker", "linker": "x", "train": PAIRS},
    ):
        with pytest.raises(fnstore.QueryError, match="does not read"):
            fnstore.align_words(PAIRS, **unread)  # type: ignore[arg-type]


def test_words_of_mined_pairs_are_aligned() -> None:
    (found,) = fnstore.align_words(fnstore.mine(ARTICLES))
    assert found.source[0] == found.target[0] == "The" and (0, 0) in found.links


def test_what_progress_raises_ends_the_training_of_an_aligner() -> None:
    told: list[int] = []

    def stop(done: int, of: int) -> None:
        told.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fnstore.align_words(PAIRS, progress=stop)
    assert told == [1]


def as_text(links: Any) -> list[str]:
    if isinstance(links, str):
        return links.split()
    return ["-".join(str(place) for place in link) for link in links]


def test_tasks_are_made_one_by_one_and_their_answers_are_compared(own: fnstore.Database) -> None:
    tasks = own.align_tasks("frame=Checking", per_lu=1, limit=2, models=MODELS)
    task = next(tasks)
    assert task.sentence[slice(*task.span)] == task.trigger and task.record()["paraphrase"] == task.paraphrase
    all_tasks = [task, *tasks]
    span = (0, len(task.paraphrase.split()[0]))
    answers: list[dict[str, Any]] = [{"id": task.id, "annotator": who, "span": span} for who in ("kim", "lee")]
    agreed = fnstore.align_answers(all_tasks, answers)
    assert (agreed.tasks, agreed.annotators, agreed.answers, agreed.exact) == (1, 2, 2, 1.0)
    assert len(agreed.items) == 1 and agreed.refused == {}
    wrong = fnstore.align_answers([task.record()], [*answers, answers[0], {"id": "x", "annotator": "kim", "span": None}], errors="keep")
    assert sorted(wrong.refused) == ["E-annotator", "E-id"] and wrong.answers == 2
    with pytest.raises(fnstore.TextError) as raised:
        fnstore.align_answers([], answers)
    assert raised.value.code == "E-id"
    short = own.align_tasks("frame=Checking", per_lu=1, limit=2, max_pieces=1, models=MODELS)
    assert list(short) == [] and short.left_out["sentence too long"] == 2
    with pytest.raises(fnstore.UnknownNameError):
        own.align_tasks("frame=Cheking", models=MODELS)
    with pytest.raises(fnstore.QueryError, match="expected 1 or more"):
        own.align_tasks("frame=Checking", per_lu=0, models=MODELS)


def test_pairs_are_mined_as_the_program_does() -> None:
    found = list(fnstore.mine(ARTICLES))
    assert [(of.source, of.target) for of in found] == [(FIRST, SECOND)]
    records = printed(["mine"], ARTICLES)
    assert [(of.id, of.cluster, of.edits, of.source_at[0]) for of in found] == [
        (of["id"], of["cluster"], of["edits"], of["source_at"]["article"]) for of in records
    ]
    assert list(fnstore.mine(ARTICLES, limit=1)) == [] and list(fnstore.mine([])) == []
    for wrong, code in [
        ([ARTICLES[0], ARTICLES[2], ARTICLES[1]], "E-order"),
        ([{**ARTICLES[0], "date": "Monday"}], "E-date"),
        ([{"cluster": "a", "text": "x"}], "E-key"),
        ([{**ARTICLES[0], "cluster": " "}], "E-empty"),
        ([{**ARTICLES[0], "article": None}], "E-type"),
        ([{**ARTICLES[0], "text": float("nan")}], "E-type"),
    ]:
        with pytest.raises(fnstore.TextError) as raised:
            list(fnstore.mine(wrong))
        assert raised.value.code == code
    alike = printed(["mine", "--least", "0"], ARTICLES)
    assert [of.likeness for of in fnstore.mine(ARTICLES, least=0)] == [of["likeness"] for of in alike]
    assert list(fnstore.mine(ARTICLES, least=1)) == [] and found[0].likeness is None
    with pytest.raises(fnstore.QueryError, match="0 to 1"):
        fnstore.mine(ARTICLES, least=1.5)
    undated = [{**of, "date": float("nan"), "sentence": None} for of in ARTICLES]
    assert [of.source_at[1] for of in fnstore.mine(undated)] == [""]
    with pytest.raises(fnstore.QueryError, match="l12"):
        fnstore.mine(ARTICLES, method="l13")  # type: ignore[arg-type]


def test_articles_are_grouped_as_the_program_does() -> None:
    given = [{name: of[name] for name in ("article", "date", "text")} for of in ARTICLES[:2]]
    given.append({"article": "9", "date": "2004-08-23", "text": "Prices rose again."})
    grouped = fnstore.group_articles(given)
    assert grouped == printed(["mine", "cluster"], given)
    assert [(of["article"], of["cluster"]) for of in grouped][0] == ("1", "c1")
    assert len(list(fnstore.mine(grouped))) == 1
    with pytest.raises(fnstore.QueryError, match="threshold"):
        fnstore.group_articles(given, threshold=2)
    with pytest.raises(fnstore.TextError, match="date"):
        fnstore.group_articles([{"article": "1", "text": "x"}])
    for wrong, code in [({"date": None}, "E-date"), ({"article": ""}, "E-empty"), ({"article": None}, "E-type")]:
        with pytest.raises(fnstore.TextError) as raised:
            fnstore.group_articles([{**given[0], **wrong}])
        assert raised.value.code == code


def test_raters_are_compared_as_the_program_does(tmp_path: Path) -> None:
    pairs = [{"id": f"m{at}", "source": FIRST, "target": f"{SECOND} {at}"} for at in range(5)]
    sheet = fnstore.sample_pairs(pairs, count=3, seed=7)
    assert sheet == printed(["mine", "sample", "--count", "3", "--seed", "7"], pairs)
    assert fnstore.sample_pairs(fnstore.mine(ARTICLES))[0]["source"] == FIRST
    first = [{**pair, "label": "paraphrase", "synonym": 1} for pair in sheet]
    second = [*first[:2], {**first[2], "label": "partial"}]
    said = fnstore.tally_pairs(first, second)
    assert said.shared == 3 and said.agreed == pytest.approx(2 / 3)
    files = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for file, rated in zip(files, (first, second), strict=True):
        file.write_text("".join(json.dumps(pair) + "\n" for pair in rated))
    records = printed(["mine", "tally", *map(str, files)], [])
    assert [list(row) for row in said.rows] == [
        [of["what"], of["first"], of["second"], of["estimate"]] for of in records
    ]
    for wrong, code in [([{**first[0], "label": "so so"}], "E-label"), ([{"id": "x"}], "E-key")]:
        with pytest.raises(fnstore.TextError) as raised:
            fnstore.tally_pairs(wrong)
        assert raised.value.code == code
    unfilled = [{**pair, **dict.fromkeys([name for name in pair if pair[name] is None], "")} for pair in first]
    assert unfilled != first and fnstore.tally_pairs(unfilled).rows == fnstore.tally_pairs(first).rows
    for count in ("-1", "many", 1.5):
        with pytest.raises(fnstore.TextError) as raised:
            fnstore.tally_pairs([{**first[0], "synonym": count}])
        assert raised.value.code == "E-type"
    with pytest.raises(fnstore.TextError, match="different pairs"):
        fnstore.tally_pairs(first, second[:1])
