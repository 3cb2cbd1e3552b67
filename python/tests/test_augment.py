"""Training data of other tasks, rewritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fnstore
import pytest
from conftest import MODELS
from test_corpora import printed

REWRITER: dict[str, Any] = {"beam": 2, "model": "paraphrase", "models": MODELS}
OPTIONS = ["--beam", "2", "--model", "paraphrase", "--models", str(MODELS), "--device", "cpu"]


def test_entailment_pairs_are_rewritten_as_the_program_does(tmp_path: Path) -> None:
    pairs = [
        {"premise": "They checked the bill.", "hypothesis": "They looked at a bill.", "label": "entailment"},
        {"id": "b", "split": "dev", "premise": "We left the house.", "hypothesis": "We stayed.", "label": "no"},
    ]
    told: list[tuple[int, int]] = []
    file = tmp_path / "rewrites.jsonl"
    made = fnstore.augment_nli(pairs, rewrites=file, progress=lambda *at: told.append(at), **REWRITER)
    assert made == printed(["augment", "nli", *OPTIONS], pairs)
    assert [of["variant"] for of in made if of["id"] == "1"][0] == "original" and told == [(0, 4), (4, 4)]
    told.clear()
    assert fnstore.augment_nli(pairs, rewrites=file, progress=lambda *at: told.append(at), **REWRITER) == made
    assert told == [(0, 0)] and len(file.read_text().splitlines()) == 4
    with pytest.raises(fnstore.TextError) as raised:
        fnstore.augment_nli([{**pairs[0], "label": "maybe"}], **REWRITER)
    assert raised.value.code == "E-label"
    file.write_text("nothing\n")
    with pytest.raises(fnstore.ImportFailedError, match="line 1"):
        fnstore.augment_nli(pairs, rewrites=file, **REWRITER)


def test_items_keep_their_ids_and_labels_and_nothing_becomes_a_text() -> None:
    pair = {"premise": "They checked the bill.", "hypothesis": "They looked at a bill."}
    pairs = [{**pair, "id": 0, "label": 1, "source": "x"}, {**pair, "id": float("nan"), "label": "1", "split": None}]
    made = fnstore.augment_nli(pairs, labels=["1"], **REWRITER)
    labels = {of["id"]: of["label"] for of in made}
    assert labels == {"0": 1, "2": "1"} and type(labels["0"]) is int and not any("split" in of for of in made)
    for wrong, code in [({"premise": " "}, "E-empty"), ({"premise": None}, "E-type"), ({"hypothesis": float("nan")}, "E-type")]:
        with pytest.raises(fnstore.TextError) as raised:
            fnstore.augment_nli([{**pairs[0], **wrong}], labels=["1"], **REWRITER)
        assert raised.value.code == code
    with pytest.raises(fnstore.TextError) as raised:
        fnstore.augment_nli([{**pair, "label": None}], labels=["None"], **REWRITER)
    assert raised.value.code == "E-empty"


def test_what_must_stay_in_a_candidate_may_be_a_zero() -> None:
    candidates = [{"question": "How many checked?", "candidate": "Kim checked 0 bills.", "label": 0, "answer": 0}]
    made = fnstore.augment_qa(candidates, **REWRITER)
    expected = printed(["augment", "qa", *OPTIONS], candidates)
    assert [of["candidate"] for of in made] == [of["candidate"] for of in expected]


def test_what_the_system_lacks_keeps_its_code(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    pairs = [{"premise": "They checked the bill.", "hypothesis": "They left.", "label": "no"}]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(fnstore.ImportFailedError) as raised:
            fnstore.augment_nli(pairs, rewrites=tmp_path / "rewrites.jsonl", **REWRITER)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert raised.value.code == "S-file-size"


def test_rewritten_pairs_with_shares_are_brought_together() -> None:
    pairs = [{"premise": "They checked the bill.", "hypothesis": "They left.", "label": "no"}]
    made = [{**of, "no": 0.75, "neutral": 0.25} for of in fnstore.augment_nli(pairs, **REWRITER)]
    found = fnstore.augment_aggregate(made, classes=["no", "neutral"], by="max")
    assert (found.items, found.right) == (1, 1)
    with pytest.raises(fnstore.TextError) as raised:
        fnstore.augment_aggregate([{**made[0], "variant": None}], classes=["no", "neutral"], by="max")
    assert raised.value.code == "E-empty"


def test_a_rewriting_is_stopped_between_small_batches() -> None:
    told: list[tuple[int, int]] = []

    def stop(*at: int) -> None:
        told.append((at[0], at[1]))
        if at[0]:
            raise KeyboardInterrupt

    pairs = [{"foreign": "x", "english": f"They checked bill {number}."} for number in range(20)]
    with pytest.raises(KeyboardInterrupt):
        fnstore.augment_mt(pairs, progress=stop, **REWRITER)
    assert told[-1][0] == 16 < told[-1][1]


def test_candidates_and_translations_are_rewritten_as_the_program_does() -> None:
    candidates = [{"question": "Who checked the bill?", "candidate": "Kim checked the long bill.", "label": 1}]
    made = fnstore.augment_qa(candidates, **REWRITER)
    expected = printed(["augment", "qa", *OPTIONS], candidates)
    assert [(of["variant"], of["candidate"]) for of in made] == [(of["variant"], of["candidate"]) for of in expected]
    assert made[0]["label"] == 1
    pairs = [{"foreign": "Sie prueften es.", "english": "They checked the long bill."}]
    made = fnstore.augment_mt(pairs, copies="2:1", most=2, jaccard=0.9, **REWRITER)
    assert made == printed(["augment", "mt", "--copies", "2:1", "--most", "2", "--jaccard", "0.9", *OPTIONS], pairs)
    assert [of["variant"] for of in made][:2] == ["original", "original"]
    for wrong in ({"copies": "2"}, {"copies": "a:b"}):
        with pytest.raises(fnstore.QueryError, match="as 10:1"):
            fnstore.augment_mt(pairs, **wrong, **REWRITER)
    with pytest.raises(fnstore.QueryError, match="expected 2 to 4"):
        fnstore.augment_qa(candidates, ban=1, **REWRITER)
    with pytest.raises(fnstore.ModelMissingError):
        fnstore.augment_mt(pairs, **{**REWRITER, "model": "nothing"})


def test_predictions_are_brought_together_as_the_program_does() -> None:
    shares = {("1", "dev"): (0.6, 0.4), ("2", ""): (0.45, 0.55), ("3", ""): (0.2, 0.8)}
    predictions = [
        {"id": id, "split": split, "variant": variant, "label": "a", "a": a + more, "b": b - more}
        for (id, split), (a, b) in shares.items()
        for variant, more in (("original", 0.0), ("premise", 0.2))
    ]
    for by in ("weights", "max"):
        found = fnstore.augment_aggregate(predictions, classes=["a", "b"], by=by)  # type: ignore[arg-type]
        records = printed(["augment", "aggregate", "--classes", "a,b", "--by", by], predictions)
        assert [dict(zip(records[0], row, strict=True)) for row in found.rows] == json.loads(json.dumps(records))
        assert found.items == 2
    with pytest.raises(fnstore.QueryError, match="dev"):
        fnstore.augment_aggregate(predictions[2:], classes=["a", "b"])
    with pytest.raises(fnstore.TextError) as raised:
        fnstore.augment_aggregate([{**predictions[0], "a": 3}], classes=["a", "b"])
    assert raised.value.code == "E-type"
