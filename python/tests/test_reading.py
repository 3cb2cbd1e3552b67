"""Reading a store: frames, LUs, queries, annotation."""

from __future__ import annotations

import fnstore
import pytest
from conftest import MINI


def test_a_frame_has_its_fes_lus_relations_and_sets(db: fnstore.Database) -> None:
    frame = db.frame("Checking")
    assert (frame.id, frame.release, len(frame.fes)) == (102, "mini-framenet", 9)
    assert db.frame(102).name == "Checking"
    assert frame.fe("Matter").core_type == "Core"
    assert "<" not in frame.definition and "<def-root>" in frame.definition_markup
    assert {lu.name for lu in frame.lus} >= {"inspect.v", "look over.v"}
    assert {relation.kind for relation in frame.relations} >= {"Inheritance", "Using"}
    assert frame.query("trigger=look*").count() == 3
    assert repr(frame) == "<Frame 102 Checking: 9 FEs>"


def test_listings_take_patterns(db: fnstore.Database) -> None:
    assert len(db.frames()) == 6
    assert [frame.name for frame in db.frames("c*")] == ["Checking"]
    assert [frame.name for frame in db.frames("~^check")] == ["Checking"]
    assert len(db.lus()) == 17 and len(db.fes()) == 26
    assert [lu.frame for lu in db.lus("inspect.v")] == ["Checking"]
    assert db.lu("inspect.v").id == db.lu(1002).id == 1002
    assert [document.name for document in db.documents("Bike*")] == ["BikeRide"]
    assert len(db.documents("Bike*")[0].sentences()) == 3
    assert "Sentient" in {of.name for of in db.sem_types()} and db.relations()
    assert db.releases()[0].counts["frames"] == len(db.frames()) == 6


def test_a_query_gives_typed_sets(db: fnstore.Database) -> None:
    query = db.query("frame=Checking trigger=look*")
    sets = list(query)
    assert [of.trigger for of in sets] == ["looked over", "look over", "looked over"]
    assert query.count() == len(sets) == 3
    first = sets[0]
    (start, end) = first.targets[0]
    assert first.text[start:end] in first.trigger
    for element in first.elements:
        if element.span is not None:
            assert first.text[slice(*element.span)] == element.text
    assert first == query.first() == db.annotation_set(first.id)
    assert {of.origin for of in sets} == {"exemplar", "fulltext"} and first.generation is None
    assert (first.evokes, first.same_meaning, first.reverse) == (None, None, None)
    assert db.query("frame=Checking").count_by("lu")["inspect.v"] > 0
    assert [of.id for of in query.sort("-id").limit(1)] == [max(sets, key=lambda of: int(of.id[1:])).id]
    assert len(list(query.offset(1))) == query.offset(1).count() == 2


@pytest.mark.parametrize("sort", [None, "lu,-text"])
def test_pages_behind_cursors_are_the_whole_answer(db: fnstore.Database, sort: str | None) -> None:
    whole = [of.id for of in db.query("frame=Checking", sort=sort)]
    paged, after = [], None
    while True:
        page = iter(db.query("frame=Checking", sort=sort, after=after, limit=3))
        assert page.cursor is None
        found = [of.id for of in page]
        if not found:
            break
        paged += found
        after = page.cursor
        behind = db.query("frame=Checking", sort=sort, after=after)
        assert behind.count() == len(whole) - len(paged)
        assert [of.id for of in behind] == whole[len(paged) :]
    assert len(whole) > 3 and paged == whole


def test_a_cursor_says_where_reading_stopped(db: fnstore.Database) -> None:
    page = iter(db.query("frame=Checking", limit=5))
    first, second = next(page), next(page)
    rest = db.query("frame=Checking").after(page.cursor or "")
    assert [first.id, second.id, *(of.id for of in rest)] == [of.id for of in db.query("frame=Checking")]
    unlimited = iter(db.query("frame=Checking"))
    assert next(unlimited) and unlimited.cursor is None


def test_a_cursor_of_another_query_is_refused(db: fnstore.Database) -> None:
    page = iter(db.query("frame=Checking", limit=1))
    next(page)
    for call in (
        lambda: list(db.query("frame=Checking", sort="lu", after=page.cursor)),
        lambda: list(db.query("frame=Repairing", after=page.cursor)),
        lambda: db.query("frame=Checking", after="no cursor"),
    ):
        with pytest.raises(fnstore.QueryError) as refused:
            call()
        assert refused.value.code == "Q-cursor"


def test_spans_count_characters_of_any_width(db: fnstore.Database) -> None:
    wide = [of for of in db.query() if not of.text.isascii()]
    assert wide
    for of in wide:
        pieces = [of.text[start:end] for start, end in of.targets]
        assert " ".join(pieces) == of.trigger


def test_a_set_draws_its_annotation(db: fnstore.Database) -> None:
    drawn = repr(db.annotation_set("x7040")).splitlines()
    assert drawn[0].split()[:3] == ["Checking", db.annotation_set("x7040").lu, "x7040"]
    assert any(set(line.strip()) & set("*=") for line in drawn[1:])
    html = db.annotation_set("x7040")._repr_html_()
    assert "font-weight:bold" in html and "<script" not in html
    assert "annotation sets" in db.query("frame=Checking")._repr_html_()
    assert "Matter" in db.frame("Checking")._repr_html_()


def test_a_table_of_several_releases_names_them(own: fnstore.Database) -> None:
    query = own.query("frame=Checking")
    assert "mini-framenet" not in query._repr_html_()
    own.import_release(MINI, release="second")
    for name in ("mini-framenet", "second"):
        assert f"<small>{name}</small>" in own.query(f"frame=Checking release={name}")._repr_html_()


def test_growth_of_what_people_annotated_is_one_round(db: fnstore.Database) -> None:
    (round,) = db.growth("frame=Checking")
    assert round.round == 0 and round.total_triggers == len(round.new_triggers)


def test_a_snapshot_stays_as_it_is(own: fnstore.Database) -> None:
    before = own.snapshot()
    with own.transaction() as edits:
        edits.remove("lu", frame="Checking", lu=1001, cascade=True)
    assert before.count("trigger=checked") > own.count("trigger=checked") == 0


@pytest.mark.parametrize("name", ["AnnotationSet", "Database", "Query", "Table"])
def test_classes_say_what_they_are_for(name: str) -> None:
    assert getattr(fnstore, name).__doc__
