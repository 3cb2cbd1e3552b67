"""Answers as Arrow, in what other libraries make of it."""

from __future__ import annotations

import gc

import fnstore
import pandas
import polars
import pyarrow


def test_a_table_says_what_the_objects_say(db: fnstore.Database) -> None:
    sets, table = list(db.query()), pyarrow.table(db.query().to_arrow())
    table.validate(full=True)
    assert table.num_rows == len(sets) > 40
    assert table.column_names == db.query().to_arrow().column_names
    for row, of in zip(table.to_pylist(), sets, strict=True):
        assert (row["id"], row["frame"], row["lu"], row["text"]) == (of.id, of.frame, of.lu, of.text)
        assert [(span["start"], span["end"]) for span in row["targets"]] == of.targets
        assert (row["document"], row["status"], row["trigger"]) == (of.document, of.status, of.trigger)
        assert row["split"] == of.split
        assert row["seed"] is row["round"] is row["p"] is None and row["flags"] == []
        elements = [(of["name"], of["rank"], of["start"], of["ni"], of["gf"], of["pt"]) for of in row["elements"]]
        assert elements == [
            (of.name, of.rank, of.span and of.span[0], of.ni, of.gf, of.pt) for of in of.elements
        ]


def test_columns_are_chosen(db: fnstore.Database) -> None:
    frame = db.query("frame=Checking").to_polars(["lu", "trigger"])
    assert frame.columns == ["lu", "trigger"] and frame.height == db.count("frame=Checking")
    assert "inspect.v" in frame["lu"].to_list()
    whole = db.query("frame=Checking").to_polars()
    for columns in (["id", "lu", "document"], ["id", "split"], ["text"], ["elements", "id"]):
        assert db.query("frame=Checking").to_polars(columns).equals(whole.select(columns))


def test_polars_and_pandas_read_the_query_itself(db: fnstore.Database) -> None:
    query = db.query("frame=Checking")
    assert polars.DataFrame(query).equals(query.to_polars())
    frame = query.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["id"]) == [of.id for of in query]


def test_integers_of_pandas_stay_integers_beside_missing_ones(grown: fnstore.Database) -> None:
    frame = grown.query().to_pandas()
    rounds = {of.id: of.generation and of.generation.round for of in grown.query()}
    assert None in rounds.values() and 1 in rounds.values()
    assert frame["round"].dtype == pandas.UInt16Dtype()
    for of, number in zip(frame["id"], frame["round"], strict=True):
        assert number is pandas.NA if rounds[of] is None else number == rounds[of]
    assert str(frame["round"].dropna().iloc[0]) == "1"
    spans = {of.id: [element.span for element in of.elements] for of in grown.query()}
    assert any(None in of for of in spans.values())
    for of, elements, targets in zip(frame["id"], frame["elements"], frame["targets"], strict=True):
        found = [None if element["start"] is None else (element["start"], element["end"]) for element in elements]
        assert found == spans[of]
        numbers = [number for span in found if span for number in span]
        numbers += [element["rank"] for element in elements]
        numbers += [target[end] for target in targets for end in ("start", "end")]
        assert all(isinstance(number, int) for number in numbers), (of, numbers)
    # Also where nothing is missing, and where nothing is there.
    assert grown.query("round=1").to_pandas(["round"])["round"].dtype == pandas.UInt16Dtype()
    assert grown.query("trigger=zzz").to_pandas(["round"])["round"].dtype == pandas.UInt16Dtype()


def test_an_empty_answer_keeps_the_types(db: fnstore.Database) -> None:
    table = pyarrow.table(db.query("frame=Checking trigger=zzz").to_arrow())
    assert table.num_rows == 0 and table.schema == pyarrow.table(db.query()).schema
    assert pyarrow.schema(db.query().to_arrow()) == table.schema


def test_streams_that_are_not_read_to_the_end_let_go(db: fnstore.Database) -> None:
    for _ in range(50):
        reader = pyarrow.RecordBatchReader.from_stream(db.query())
        reader.read_next_batch()
        del reader
        capsule = db.query().__arrow_c_stream__()
        schema = db.query().__arrow_c_schema__()
        del capsule, schema
    gc.collect()
    assert db.count() > 0


def test_generated_sets_have_scores_and_rounds(grown: fnstore.Database) -> None:
    frame = grown.query("origin=generated").to_polars()
    assert frame.height > 0 and frame["round"].min() == 1
    assert frame["seed"].null_count() == frame["aligner"].null_count() == 0
    rounds = [of.generation.round for of in grown.query("origin=generated") if of.generation]
    assert frame["round"].to_list() == rounds
    seeds = {of.id: (of.document, of.split) for of in grown.query("origin!=generated")}
    for of in grown.query("origin=generated").to_polars(["seed", "document", "split"]).to_dicts():
        assert (of["document"], of["split"]) == seeds[of["seed"]]
