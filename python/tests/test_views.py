"""What a notebook shows: pictures and tables as golden files, readable on light and dark, and nothing fetched.

``FNSTORE_WRITE_GOLDEN=1`` writes the golden files anew.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fnstore
import pytest
from conftest import MODELS

GOLDEN = Path(__file__).parent / "golden"
ATTACK = "<script>alert(1)</script> & \"they\" <img src=x onerror=y> checked it ."


@pytest.fixture(scope="module")
def judged(mini_store: Path, tmp_path_factory: pytest.TempPathFactory) -> fnstore.Database:
    """The small lexicon with sentences that a file brought, one of them hostile, and judgements."""
    db = fnstore.open(shutil.copytree(mini_store, tmp_path_factory.mktemp("judged") / "store"))
    with db.transaction() as edits:
        start = ATTACK.index("checked")
        sentence = edits.add_sentence(ATTACK)
        matter = {"name": "Matter", "span": (start + 8, start + 10)}
        edits.add_set(sentence, "Checking", 1001, [(start, start + 7)], [matter])
    for number, of in enumerate(db.query("frame=Checking").limit(6)):
        with db.transaction() as edits:
            edits.judge(of.id, number * 20, reviewer="ann")
    return db


def views(db: fnstore.Database, grown: fnstore.Database) -> Iterator[tuple[str, str]]:
    """The name of each view, and what it shows."""
    hostile = db.query("origin=user").first()
    assert hostile is not None
    yield "annotation.html", hostile._repr_html_()
    yield "frame.html", db.frame("Checking")._repr_html_()
    yield "query.html", db.query("frame=Checking").limit(4)._repr_html_()
    yield "growth.svg", shown(db.growth("frame=Checking"))
    yield "acceptance.svg", shown(db.agreement())
    pair = {"source": f"<b>They</b> checked it & {ATTACK}", "span": (12, 19), "target": f"<b>They</b> inspected it & {ATTACK}"}
    yield "alignment.html", next(fnstore.align([pair], models=MODELS))._repr_html_()
    words = {"source": ["They", "<i>", "checked", "it"], "span": (2, 3), "target": ["They", "<u>", "inspected", "it"]}
    yield "alignment-of-words.html", next(fnstore.align([words], models=MODELS))._repr_html_()


def shown(drawn: Any) -> str:
    made = drawn._repr_svg_()
    assert isinstance(made, str) and drawn.svgs == [made] and drawn._repr_html_() is None
    return made


def test_views_are_as_they_were(judged: fnstore.Database) -> None:
    for name, view in views(judged, judged):
        place = GOLDEN / name
        if os.environ.get("FNSTORE_WRITE_GOLDEN"):
            place.parent.mkdir(exist_ok=True)
            place.write_text(view)
        assert view == place.read_text(), name


def generated(db: fnstore.Database) -> Iterator[tuple[str, str]]:
    """Views of what models wrote, which is not the same on each machine."""
    made = db.query("origin=generated").first()
    assert made is not None
    yield "generated", made._repr_html_()
    yield "growth", shown(db.growth("frame=Checking"))
    for proposal in itertools.islice(db.proposals(), 1):
        yield "proposal", proposal._repr_html_()
    text = "They <em>checked</em> it."
    (of,) = fnstore.paraphrase([text], model="paraphrase", models=MODELS, n_best=2)
    yield "rewriting", of._repr_html_()


def test_an_output_stands_below_its_source_with_what_changed(grown: fnstore.Database) -> None:
    shown = dict(generated(grown))
    assert "background:#2da44e40" in shown["generated"] and "line-through" in shown["generated"]
    assert shown["rewriting"].count("<li>") == 2 and "&lt;em&gt;" in shown["rewriting"]
    assert "new in this round" in shown["growth"] and "round 1" in shown["growth"]
    assert "seeds" in shown["proposal"] and "<li>" in shown["proposal"]


def test_nothing_is_fetched_and_nothing_of_a_text_is_read_as_html(
    judged: fnstore.Database, grown: fnstore.Database
) -> None:
    seen = dict(itertools.chain(views(judged, judged), generated(grown)))
    assert "&lt;script&gt;" in seen["annotation.html"] and "&lt;script&gt;" in seen["alignment.html"]
    for name, view in seen.items():
        # Well-formed, so that no text opens or closes an element.
        tree = ElementTree.fromstring(view.replace("<br>", "<br/>").replace("&nbsp;", " "))
        kinds = {element.tag.rpartition("}")[2] for element in tree.iter()}
        assert not kinds & {"script", "img", "iframe", "link", "object", "image", "use", "a", "i", "u", "em"}, name
        addresses = re.findall(r"https?:[^\"'\s)<]+|url\(|@import|href", view)
        assert set(addresses) <= {"http://www.w3.org/2000/svg"}, name


def luminance(colour: tuple[float, ...]) -> float:
    """Relative luminance (WCAG 2.2)."""
    red, green, blue = ((c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def read(colour: str) -> tuple[tuple[float, ...], float]:
    """A colour, and how much of it covers what is behind."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in range(1, len(colour), 2)]
    return tuple(parts[:3]), parts[3] if len(parts) > 3 else 1.0


def over(colour: str, ground: tuple[float, ...]) -> tuple[float, ...]:
    top, alpha = read(colour)
    return tuple(alpha * one + (1 - alpha) * other for one, other in zip(top, ground, strict=True))


#: Ground and ink of Jupyter's two themes.
THEMES = {"light": ("#ffffff", "#212121"), "dark": ("#111111", "#e0e0e0")}


@pytest.mark.parametrize("theme", THEMES)
def test_tables_are_readable_on_light_and_dark(theme: str, judged: fnstore.Database, grown: fnstore.Database) -> None:
    ground, ink = (read(colour)[0] for colour in THEMES[theme])
    seen = dict(itertools.chain(views(judged, judged), generated(grown)))
    html = "".join(view for view in seen.values() if not view.startswith("<svg"))
    inks = set(re.findall(r"[^-]color:(#[0-9a-f]+)", html)) | set(re.findall(r"solid (#[0-9a-f]+)", html))
    grounds = set(re.findall(r"background:(#[0-9a-f]+)", html))
    assert len(inks) >= 3 and len(grounds) == 2
    for colour in inks:
        assert contrast(over(colour, ground), ground) >= 4.0, (colour, contrast(over(colour, ground), ground))
    for colour in grounds:
        assert contrast(ink, over(colour, ground)) >= 4.5, colour


def test_pictures_are_readable_on_light_and_dark(judged: fnstore.Database) -> None:
    for name, picture in views(judged, judged):
        if not name.endswith(".svg"):
            continue
        light, _, dark = picture.partition("@media(prefers-color-scheme:dark){")
        for style, least in ((light, 4.5), (dark, 4.5)):
            ground = re.findall(r"\.ground\{fill:(#\w+)\}", style)[-1]
            inks = re.findall(r"(?:text|\.small)\{[^}]*?fill:(#\w+)", style)
            assert len(inks) == 2, name
            for ink in inks:
                assert contrast(read(ink)[0], read(ground)[0]) >= least, (name, ink, ground)
        # Rules hold for this picture alone.
        style = picture.partition("<style>")[2].partition("</style>")[0].replace("@media(prefers-color-scheme:dark){", "")
        assert all(rule.startswith(".fnstore ") for rule in re.findall(r"([^{}]+)\{", style)), style
