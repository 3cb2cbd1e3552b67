"""What models say of sets that are there, and new LUs that are searched for."""

from __future__ import annotations

import shutil
from pathlib import Path

import fnstore
import pytest
from conftest import MODELS, ROOT


@pytest.fixture
def own_grown(grown: fnstore.Database, tmp_path: Path) -> fnstore.Database:
    """The expanded lexicon in a store of the test's own."""
    return fnstore.open(shutil.copytree(grown.path, tmp_path / "store"))


def test_a_filter_and_a_frame_model_judge_generated_sets(own_grown: fnstore.Database) -> None:
    count = own_grown.count("origin=generated")
    scored = own_grown.filter("origin=generated", models=MODELS, progress=print)
    assert scored.sets == count and scored.written in (0, count) and 0 < scored.precision_cut < 1
    assert own_grown.filter("origin=generated", models=MODELS).written == 0
    assert scored.by_precision == own_grown.count(f"p>={scored.precision_cut}")
    fitted = own_grown.fit("origin=generated", models=MODELS)
    assert fitted.sets == count and own_grown.count("frame_fit>=0") == count - fitted.without
    assert own_grown.fit("origin=generated", models=MODELS).written == 0


def test_passes_name_what_is_wrong_before_they_open_a_model(own_grown: fnstore.Database) -> None:
    for call in (own_grown.filter, own_grown.fit, own_grown.verify):
        with pytest.raises(fnstore.UnknownNameError):
            call("frame=Cheking", models="nowhere")
        with pytest.raises(fnstore.ModelMissingError):
            call("frame=Checking", models="nowhere")
    with pytest.raises(fnstore.ModelMissingError):
        own_grown.verify("frame=Checking", verifier="nothing", models=MODELS)


def test_new_lus_are_searched_through_a_wordnet(own: fnstore.Database, tmp_path: Path) -> None:
    own.import_release(ROOT / "tests/data/mini-wordnet")
    (tmp_path / "models").mkdir()
    (tmp_path / "models/word-vectors").symlink_to(MODELS / "word-vectors")
    told: list[tuple[str, int, int]] = []

    def tell(found: fnstore.FrameSearch, searched: int, of: int) -> None:
        told.append((found.frame, searched, of))

    options = {"models": tmp_path / "models", "least": 0.0, "candidates": 20}
    (search,) = own.discover("Checking", progress=tell, **options)
    assert (search.frame, search.asked, search.was_searched) == ("Checking", 0, False) and told == [("Checking", 1, 1)]
    assert search.candidates > 0 and all(of.sources for of in search.found)
    (again,) = own.discover("checking", **options)
    assert again.was_searched and [of.lu for of in again.found] == [of.lu for of in search.found]
    assert not own.discover("Checking", again=True, **options)[0].was_searched
    assert {of.lu for of in search.found} >= {of.lu for of in own.proposals("frame=Checking", models=tmp_path / "models")}
    assert len(own.discover(**options)) > 1

    def stop(*_at: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own.discover("Checking", again=True, progress=stop, **options)
    for wrong, error in [
        ({"frames": ("Cheking",)}, fnstore.UnknownNameError),
        ({"wordnet": "none"}, fnstore.UnknownNameError),
        ({"release": "none"}, fnstore.UnknownNameError),
        ({"corpus": tmp_path / "none.txt"}, fnstore.ExpandError),
        ({"rewriter": "nothing"}, fnstore.ModelMissingError),
        ({"candidates": 0}, fnstore.NumberError),
        ({"least": 2.0}, fnstore.NumberError),
    ]:
        named = wrong.pop("frames", ("Checking",))
        with pytest.raises(error):
            own.discover(*named, **{**options, **wrong})


@pytest.fixture
def tiny_verifier(tmp_path: Path) -> Path:
    """Models with a verifier of a tiny language model: what it says means nothing."""
    models, parity = tmp_path / "models", ROOT / "tests/data/parity"
    (models / "verifier").mkdir(parents=True)
    shutil.copytree(parity / "llama", models / "base")
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        shutil.copy(parity / "lora" / name, models / "verifier")
    answers = 'answers = ["y", "n"]\n'
    (models / "verifier/prompt.toml").write_text(
        f'format = 1\n[evokes]\nlines = ["{{sentence}}?{{word}}"]\n{answers}'
        f'[same_meaning]\nlines = ["{{sentence}}={{rewriting}}?"]\n{answers}'
    )
    return models


def test_lus_without_sentences_get_those_of_a_corpus(own: fnstore.Database, tiny_verifier: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("They verified the lists twice .\n\nNobody verifies such claims there .\n")
    options = {"models": tiny_verifier, "no_fes": True, "least": 0.0}
    told: list[tuple[int, int]] = []
    report = own.attest(corpus, "lu=verify.v", progress=lambda *at: told.append(at), **options)
    assert (report.lus, report.given, report.sentences, report.asked) == (1, 1, 2, 2) and told[-1] == (1, 1)
    found = own.query("origin=predicted").first()
    assert found is not None and found.lu == "verify.v" and str(found.document).startswith(f"{corpus}:")
    for wrong, error in [
        ({}, fnstore.ExpandError),
        ({"expression": "lu=verify.x"}, fnstore.ExpandError),
        ({"corpus": tmp_path / "none.txt"}, fnstore.ExpandError),
        ({"verifier": "nothing"}, fnstore.ModelMissingError),
        ({"keep": 0}, fnstore.NumberError),
        ({"limit": 0}, fnstore.NumberError),
        ({"least": 2.0}, fnstore.NumberError),
        ({"lacking": "words"}, fnstore.QueryError),
        ({"lacking": "nothing"}, fnstore.QueryError),
    ]:
        with pytest.raises(error):
            own.attest(**{"corpus": corpus, "expression": "lu=verify.v", **options, **wrong})
    assert own.count("origin=predicted") == 2
