"""Streams of texts through models: alignments, tags, paraphrases, annotation, scores, substitutes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fnstore
import pytest
from conftest import BASE, MODELS

PAIR = {"source": "They checked it.", "span": (5, 12), "target": "They inspected it."}

with_base = pytest.mark.skipif(not BASE.is_dir(), reason=f"`make rewriter` fetches {BASE}")


def test_spans_are_aligned_in_texts_and_lists_of_words() -> None:
    words = {"source": ["They", "checked", "it"], "span": [(1, 2)], "target": ["They", "inspected", "it"]}
    text, listed = fnstore.align([PAIR, words], models=MODELS, runners_up=1)
    assert (text.texts, text.spans) == (["inspected"], [(5, 14)]) and len(text.runners_up[0]) == 1
    assert (listed.texts, listed.spans) == (["inspected"], [(1, 2)])
    (none,) = fnstore.align([PAIR], models=MODELS, threshold=1.0)
    assert none.spans is None and none.runners_up[0][0][1] == "inspected" and none.score == text.score


def test_words_are_tagged() -> None:
    text, words = fnstore.tag(["They don't.", ["He", "runs"]], models=MODELS)
    assert text.words == ["They", "do", "n't", "."] and text.tags == ["PRP", "VBP", "RB", "."]
    assert words.tags == ["PRP", "VBZ"] and all(0 < score <= 1 for score in words.scores)


def test_sentences_are_rewritten_under_constraints() -> None:
    asked = ["They checked the bill.", {"text": "They saw Paris.", "keep": [(9, 14)], "require": [["looked", "visited"]]}]
    first, second = fnstore.paraphrase(
        asked, model="paraphrase", models=MODELS, beam=4, n_best=2, avoid=["checked"], require_names=True
    )
    assert first.paraphrases and all("checked" not in of.text for of in first.paraphrases)
    assert second.paraphrases[0].met and any("Paris" in of.text for of in second.paraphrases)
    again = fnstore.paraphrase(asked, model="paraphrase", models=MODELS, beam=4, n_best=2, avoid=["checked"], require_names=True)
    assert [str(of) for of in next(again).paraphrases] == [str(of) for of in first.paraphrases]
    (drawn,) = fnstore.paraphrase(["They checked it."], model="paraphrase", models=MODELS, sample=3, seed=7, top_k=10)
    assert 1 <= len(drawn.paraphrases) <= 3


def test_telling_words_are_banned_by_what_a_file_shows(tmp_path: Path) -> None:
    (tmp_path / "idf.txt").write_text("They saw it.\nThey saw them.\n")
    (tmp_path / "avoid.txt").write_text("saw\n\n")
    options = {"model": "paraphrase", "models": MODELS, "beam": 4}
    (of,) = fnstore.paraphrase(["They examined it."], avoid_telling=1, idf=tmp_path / "idf.txt", **options)
    assert all("examined" not in one.text for one in of.paraphrases)
    (of,) = fnstore.paraphrase(["They saw it."], avoid_list=tmp_path / "avoid.txt", **options)
    assert all(" saw " not in one.text for one in of.paraphrases)
    for wrong in ({"avoid_telling": 1}, {"length_penalty": "fairseq=1"}, {"stop": "now"}, {"words": "few"}):
        with pytest.raises(fnstore.QueryError) as raised:
            fnstore.paraphrase([], **options, **wrong)
        assert raised.value.code == "E-value"


def test_a_text_that_cannot_be_used_is_an_error_or_stands_in_its_place() -> None:
    for wrong, code in [
        ({**PAIR, "span": (5, 99)}, "E-span"),
        ({**PAIR, "span": "here"}, "E-type"),
        ({**PAIR, "target": ["a", "list"]}, "E-type"),
        ({**PAIR, "source": 4}, "E-type"),
        ({**PAIR, "tokens": []}, "E-key"),
        ({"source": "a", "span": (0, 1)}, "E-key"),
        (7, "E-type"),
    ]:
        with pytest.raises(fnstore.TextError) as raised:
            list(fnstore.align([PAIR, wrong], models=MODELS))
        assert raised.value.code == code and raised.value.advice, wrong
    kept = list(fnstore.align([{**PAIR, "span": (5, 99)}, PAIR], models=MODELS, errors="keep"))
    assert isinstance(kept[0], fnstore.TextError) and kept[1].texts == ["inspected"]
    kept = list(fnstore.tag(["", ["a", " "], "It runs."], models=MODELS, errors="keep"))
    assert [isinstance(of, fnstore.TextError) for of in kept] == [True, True, False]
    kept = list(fnstore.paraphrase([" ", "word " * 99], model="paraphrase", models=MODELS, errors="keep"))
    assert all(isinstance(of, fnstore.TextError) for of in kept)
    with pytest.raises(fnstore.TextError):
        fnstore.tag([], models=MODELS, errors="ignore")


def test_models_and_languages_are_told_when_a_function_is_called() -> None:
    for call in (
        lambda: fnstore.align([], head="nothing", models=MODELS),
        lambda: fnstore.tag([], tagger="nothing", models=MODELS),
        lambda: fnstore.paraphrase([], model="nothing", models=MODELS),
        lambda: fnstore.score([], model="nothing", models=MODELS),
    ):
        with pytest.raises(fnstore.ModelMissingError):
            call()
    with pytest.raises(fnstore.ExpandError) as raised:
        fnstore.tag([], models=MODELS, language="fr")
    assert raised.value.code == "M-language"
    with pytest.raises(fnstore.QueryError):
        fnstore.paraphrase([], model="paraphrase", models=MODELS, numbers="int3")


def test_a_stream_takes_a_batch_at_a_time_and_says_how_far_it_is() -> None:
    taken = []

    def texts() -> Iterator[str]:
        for number in range(150):
            taken.append(number)
            yield "It runs."

    told: list[int] = []
    stream = fnstore.tag(texts(), models=MODELS, progress=told.append)
    assert taken == []
    next(stream)
    assert len(taken) == 64 and told == []
    assert sum(1 for _ in stream) == 149 and told == [64, 128, 150]


def test_ctrl_c_ends_a_rewriting_behind_its_step() -> None:
    # Far more than is written before the signal comes.
    program = (
        "import fnstore\n"
        "text = 'They checked the bill of the house before they signed it and went home.'\n"
        f"for of in fnstore.paraphrase([text] * 100_000, model='paraphrase', models={str(MODELS)!r}, beam=32):\n"
        "    print(of.text, flush=True)\n"
    )
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline()
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors and run.returncode != 0


def test_texts_are_annotated_and_go_into_a_store(db: fnstore.Database, tmp_path: Path) -> None:
    text = "My sister inspected the brakes of the bus ."
    (found,) = db.annotate(text, models=MODELS, open=True)
    target = found.targets[0]
    assert found.text[slice(*target.span)] == target.text and 0 <= target.score <= 1
    assert all(found.text[slice(*fe.span)] == fe.text for of in found.targets for fe in of.fes or ())
    (bare,) = db.annotate([{"text": text}], models=MODELS, open=True, no_fes=True, no_tagger=True)
    assert [of.fes for of in bare.targets] == [None] * len(bare.targets)
    stream = db.annotate([text, text], models=MODELS, open=True, into=tmp_path / "into", name="found")
    next(stream)
    stream.close()
    assert fnstore.open(tmp_path / "into").releases() == []
    all_found = list(db.annotate([text, text], models=MODELS, open=True, into=tmp_path / "into", name="found"))
    into = fnstore.open(tmp_path / "into")
    assert [of.name for of in into.releases()] == ["found"]
    assert into.count("origin=predicted") == sum(len(of.targets) for of in all_found)


def test_annotation_refuses_what_it_cannot_use(own: fnstore.Database, tmp_path: Path) -> None:
    with pytest.raises(fnstore.UnknownNameError):
        own.annotate([], release="none", models=MODELS)
    with pytest.raises(fnstore.ModelMissingError):
        own.annotate([], identifier="nothing", models=MODELS)
    with pytest.raises(fnstore.TextError):
        list(own.annotate([7], models=MODELS))
    kept = list(own.annotate(["", "word " * 2000], models=MODELS, errors="keep"))
    assert [of.code for of in kept] == ["E-empty", "E-too-long"]
    own.annotate([], models=MODELS, into=tmp_path / "into").close()
    with pytest.raises(fnstore.ImportFailedError):
        own.annotate([], models=MODELS, into=own.path, name="mini-framenet")


@with_base
def test_texts_are_scored_and_asked_about(tmp_path: Path) -> None:
    whole, part = fnstore.score(["They saw it.", {"text": "They saw it.", "span": (5, 8)}], model=BASE)
    assert whole.tokens > part.tokens >= 1 and whole.log_prob < part.log_prob < 0 and part.perplexity > 1
    (tmp_path / "q.toml").write_text('format = 1\nlines = ["Is this true? {claim}", "Answer:"]\n')
    plain, named = fnstore.ask(["Two is a number.", {"claim": "Two is a number."}], question=tmp_path / "q.toml", model=BASE)
    assert plain.yes == named.yes and 0 < plain.yes < 1
    with pytest.raises(fnstore.TextError):
        list(fnstore.score([{"text": "ab", "span": (1, 9)}], model=BASE))
    with pytest.raises(fnstore.TextError):
        list(fnstore.ask([{"other": "a"}], question=tmp_path / "q.toml", model=BASE))
    with pytest.raises(fnstore.ModelError):
        fnstore.ask([], question=tmp_path / "none.toml", model=BASE)


@with_base
def test_substitutes_stand_in_the_place_of_a_target() -> None:
    places = [MODELS, BASE.parent]
    marked, named = fnstore.substitutes(
        ["They *tore* it open.", {"text": "They tore it open.", "span": (5, 9), "avoid": ["ripped"]}],
        n_best=3,
        model=MODELS / "rewriter",
        models=places[1],
    )
    assert marked.target == "tore" and 1 <= len(marked.substitutes) <= 3
    assert "ripped" not in [word for word, _ in named.substitutes]
    with pytest.raises(fnstore.TextError):
        list(fnstore.substitutes(["They tore it."], model=MODELS / "rewriter", models=places[1]))
    with pytest.raises(fnstore.ModelError):
        fnstore.substitutes([], model="paraphrase", models=MODELS)
