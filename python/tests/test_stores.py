"""What is done to whole stores, and what they say beside lexicon and sets."""

from __future__ import annotations

import shutil
from pathlib import Path

import fnstore
import pytest
from conftest import MINI, MODELS, ROOT

WORDNET = ROOT / "tests/data/mini-wordnet"


def test_generated_sets_are_deleted_with_what_they_proposed(grown: fnstore.Database, tmp_path: Path) -> None:
    db = fnstore.open(shutil.copytree(grown.path, tmp_path / "store"))
    count = db.count("origin=generated")
    would = db.delete("origin=generated round=1", dry_run=True)
    assert would.sets > 0 and would.revision is None and db.count("origin=generated") == count
    done = db.delete("origin=generated round=1")
    assert (done.sets, done.lus, done.decided) == (would.sets, would.lus, would.decided)
    assert done.revision == db.revision and db.count("origin=generated round=1") == 0
    assert db.delete("origin=generated round=1").sets == 0
    with pytest.raises(fnstore.EditError) as raised:
        db.delete("frame=Checking")
    assert raised.value.code == "E-human" and "origin=generated" in raised.value.advice


def test_shards_are_merged(own: fnstore.Database, tmp_path: Path) -> None:
    options = {"rounds": 1, "beam": 4, "candidates": 4, "choice": "fewest-failed-checks"}
    asked = ("frame=Checking lu=inspect.v", options)
    for part in (1, 2):
        place = tmp_path / f"{part}.zst"
        done = own.expand(asked[0], shard=f"{part}/2", out=place, model="paraphrase", models=MODELS, **options)
        assert done.seeds > 0 and done.recipe is None and own.count("origin=generated lu=inspect.v") == 0
        found = fnstore.shard_status(tmp_path)
        assert [of.state for of in found.expansions[0].shards] == ["done", "done" if part == 2 else "missing"]
        assert bool(found) == (part == 2) and found.unreadable == []
    again = own.expand(asked[0], shard="2/2", out=place, model="paraphrase", models=MODELS, **options)
    assert again.sentences == 0 and again.done_before == again.seeds
    for wrong in ({"shard": "3/2", "out": place}, {"shard": "1/2"}, {"out": place}):
        with pytest.raises(fnstore.ExpandError) as refused:
            own.expand(asked[0], model="paraphrase", models=MODELS, **wrong)
        assert refused.value.code == "X-shard"
    told: list[tuple[int, int]] = []
    paths = [tmp_path / "1.zst", tmp_path / "2.zst", tmp_path / "2.zst.manifest.json"]
    merged = own.merge(*paths, progress=lambda *at: told.append(at))
    assert [(of.shard, of.of, of.skipped) for of in merged] == [(1, 2, False), (2, 2, False)]
    count = own.count("origin=generated") + own.count("origin=carried")
    assert sum(of.written for of in merged) == count > 0 and told == [(1, 2), (2, 2)]
    assert all(of.skipped for of in own.merge(*paths))
    assert [of.written for of in own.merge(paths[0], again=True, mixed=True)] == [0]
    (tmp_path / "1.zst").write_bytes(b"nothing")
    assert [of.state for of in fnstore.shard_status(tmp_path, read=True).expansions[0].shards] == ["damaged", "done"]
    with pytest.raises(fnstore.ExpandError, match="compute the shard again"):
        own.merge(*paths)


def test_a_shard_needs_the_models_of_other_machines(own: fnstore.Database, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for name in ("paraphrase", "aligner", "aligner-encoder"):
        (models / name).symlink_to(MODELS / name)
    asked = {"shard": "1/2", "out": tmp_path / "1.zst", "model": "paraphrase", "models": models}
    for options, advised in [({}, 'guide="none"'), ({"guide": "none"}, 'filter="none"')]:
        with pytest.raises(fnstore.ExpandError) as raised:
            own.expand("frame=Checking", **asked, **options)  # type: ignore[arg-type]
        assert raised.value.code == "X-shard-models" and raised.value.advice == f"give models=DIRECTORY, or {advised}"
    with pytest.raises(fnstore.ExpandError) as raised:
        own.expand("frame=Checking", shard="x", out=tmp_path / "1.zst")
    assert raised.value.code == "X-shard" and "3/16" in raised.value.advice


def test_two_releases_differ_in_what_was_edited(own: fnstore.Database) -> None:
    own.import_release(MINI, release="other")
    assert own.differences("mini-framenet", "other") == []
    with own.transaction("other") as edits:
        edits.add_lu("Checking", "proofread.v")
    (of,) = own.differences("mini-framenet", "other")
    assert (of.kind, of.change, of.frame, of.name, of.count) == ("lu", "added", "Checking", "proofread.v", 1)
    with pytest.raises(fnstore.UnknownNameError):
        own.differences("other", "another")
    assert own.remove_release("other") > 0 and [of.name for of in own.releases()] == ["mini-framenet"]
    with pytest.raises(fnstore.UnknownNameError):
        own.remove_release("other")


def test_a_wordnet_comes_in_is_asked_and_goes(own: fnstore.Database) -> None:
    report = own.import_release(WORDNET)
    assert report.counts["synsets"] > 0
    synsets = own.synsets("inspected.v")
    assert synsets and all("inspect" in of.members for of in synsets)
    assert [of.id for of in own.synsets(synsets[0].id, report.release)] == [synsets[0].id]
    assert own.synsets("zzz") == []
    with pytest.raises(fnstore.UnknownNameError):
        own.synsets("inspect", "none")
    assert own.remove_release(report.release) > 0 and own.synsets("inspect") == []


def test_verbnet_and_propbank_come_in_beside_the_releases(own: fnstore.Database) -> None:
    for name in ("mini-verbnet", "mini-propbank", "mini-semlink"):
        assert own.import_release(ROOT / "tests/data" / name).release == name
    found = own.predicates("check.v")
    assert [of.name for of in found] == ["check-35.9", "check.01"]
    assert found[0].roles == [("Agent", "+animate or +organization"), ("Theme", "")]
    assert found[1].links == [("FrameNet", "Checking"), ("VerbNet", "check-35.9")]
    assert [of.parent for of in own.predicates("audit", "mini-verbnet")] == ["check-35.9"]
    assert own.predicates("zzz") == [] and [of.name for of in own.releases()] == ["mini-framenet"]
    with pytest.raises(fnstore.UnknownNameError):
        own.predicates("check", "mini-semlink")


def test_lus_are_linked_and_links_decided_on(own: fnstore.Database) -> None:
    for name in ("mini-wordnet", "mini-verbnet", "mini-propbank", "mini-semlink"):
        own.import_release(ROOT / "tests/data" / name)
    assert own.links() == []
    seen: list[int] = []
    assert own.link(progress=lambda done, of: seen.append(done)) == len(own.links())
    assert seen == list(range(1, len(seen) + 1))
    senses = own.links("Checking", lu="inspect.v", resource="wordnet-0.1")
    assert senses[0].target == "00000677-v" and senses[0].source == "semlink"
    senses[0].reject(reviewer="kim")
    assert own.links("Checking", lu="inspect.v", resource="wordnet-0.1") == []
    (rejected,) = own.links("Checking", lu="inspect.v", resource="wordnet-0.1", with_rejected=True)
    assert rejected.accepted is False
    rejected.undo(reviewer="kim")
    senses[0].accept(reviewer="kim", note="sure")
    assert own.links("Checking", lu="inspect.v", resource="wordnet-0.1")[0].accepted is True
    assert own.links("Checking", by_frame=True)[0].kind == "frame"
    assert own.count("synset=00000677-v") > 0 and own.link("Checking") > 0
    with pytest.raises(fnstore.UnknownNameError):
        own.link("Chekking")


def test_lines_come_in_and_what_has_no_use_is_refused(own: fnstore.Database, tmp_path: Path) -> None:
    lines = tmp_path / "spans.jsonl"
    lines.write_text('{"text": "It broke.", "spans": [{"start": 3, "end": 8, "type": "T"}]}\n')
    report = own.import_release(lines, release="spans", spans=True)
    assert report.counts == {"frames": 1, "lexunits": 1, "sentences": 1, "sets": 1}
    own.export(tmp_path / "all.jsonl", "release=mini-framenet", to="jsonl", with_base=True)
    copy = own.import_release(tmp_path / "all.jsonl", release="copy")
    assert copy.counts["set"] == own.count("release=copy") > 0
    for wrong in ({"strict": True}, {"language": "de"}):
        with pytest.raises(fnstore.ImportFailedError) as raised:
            own.import_release(tmp_path / "all.jsonl", **wrong)
        assert raised.value.code == "I-option"


def test_a_backup_comes_back_and_replaces_nothing_unasked(own: fnstore.Database, tmp_path: Path) -> None:
    own.backup(tmp_path / "copy")
    restored = fnstore.restore(tmp_path / "copy", tmp_path / "restored")
    assert restored.releases == ["mini-framenet"] and fnstore.open(tmp_path / "restored").count() == own.count()
    with pytest.raises(fnstore.ExistsError):
        fnstore.restore(tmp_path / "copy", tmp_path / "restored")
    assert fnstore.restore(tmp_path / "copy", tmp_path / "restored", force=True).rows == restored.rows
    with pytest.raises(fnstore.StoreError):
        fnstore.restore(tmp_path / "nothing", tmp_path / "new")


def test_the_index_is_made_anew_and_history_bounded(own: fnstore.Database) -> None:
    assert own.reindex() == own.check(deep=True).index_entries
    for name in ("a.v", "b.v"):
        with own.transaction() as edits:
            edits.add_lu("Checking", name)
    own.keep_history(commits=1)
    assert [of.can_undo for of in own.history(2)] == [True, False]
    own.keep_history(forever=True)
    for wrong in ({}, {"commits": 0}, {"commits": 1, "forever": True}, {"days": -1}):
        with pytest.raises(fnstore.NumberError):
            own.keep_history(**wrong)


def test_sentences_valence_and_coverage_say_what_there_is(db: fnstore.Database) -> None:
    sentences = db.sentences()
    without = db.sentences(without_sets=True, release="mini-framenet")
    assert {of.id for of in without} == {of.id for of in sentences if of.sets == 0} and without
    assert sum(of.sets for of in sentences) == db.count()
    lu = db.lu("inspect.v")
    own, counted = lu.valence(), lu.valence("origin=exemplar")
    assert {of.fes[0] for of in own.fes} & {of.fes[0] for of in counted.fes}
    sets = {of for row in counted.groups for _, _, ids in row.patterns for of in ids}
    assert sets <= {of.id for of in lu.query("origin=exemplar")} and lu.valence("origin=user").fes == []
    with pytest.raises(fnstore.QueryError):
        lu.valence("frame=")
    total, *rest = db.coverage()
    assert total.group == "all" and total.lus == sum(of.lus for of in rest if of.group == "pos")
    assert sum(total.sets.values()) == db.count()


def test_reviewers_agree_as_far_as_they_do(own: fnstore.Database) -> None:
    assert own.agreement() == []
    first = own.query("frame=Checking").first()
    assert first is not None
    for reviewer, score in (("ada", 90), ("bob", 10)):
        with own.transaction(reviewer=reviewer, note="second pass") as edits:
            edits.judge(first.id, score, question="evokes")
    assert [(of.by, of.note) for of in own.history(2)] == [("bob", "second pass"), ("ada", "second pass")]
    (row,) = own.agreement()
    assert (row.question, row.items, row.shared, row.unanimous, row.mean) == ("evokes", 1, 1, 0, 50.0)


def test_recipes_are_listed_and_shown(grown: fnstore.Database, db: fnstore.Database) -> None:
    (recipe,) = grown.recipes()
    assert recipe.sets == grown.count(f"recipe={recipe.recipe}") and recipe.rules == "current"
    assert isinstance(recipe.settings, dict) and db.recipes() == []
    assert "discover" in fnstore.recipe_names() and "guide" in fnstore.recipe("discover")
    with pytest.raises(fnstore.ExpandError):
        fnstore.recipe("none")


def test_a_plan_says_how_a_query_is_answered(db: fnstore.Database) -> None:
    plan = db.query("frame=Checking lu=look*").explain()
    assert plan["answers"] == db.count("frame=Checking lu=look*") and plan["terms"]
    upper = "trigger=LOOK*"
    assert db.query(upper, case_sensitive=True).count() == 0 < db.query(upper).count()


def test_leaks_are_what_stands_in_two_parts(own: fnstore.Database, tmp_path: Path) -> None:
    assert own.leaks() == []
    (tmp_path / "fold.tsv").write_text("exemplars\t*\ttrain\nlu\tinspect.v\ttest\n")
    leaks = own.with_split_list(tmp_path / "fold.tsv").leaks()
    assert all({of.part, of.other_part} == {"train", "test"} and of.code == "L-text" for of in leaks)
