//! Shards that grow by rounds, of stores that were edited, of several queries in one place, and of
//! LUs that share a number.

use std::fs;
use std::path::Path;

use fnstore::database::{Database, Write};
use fnstore::edit::Removal;
use fnstore::model::{FrameId, LexUnit, LuId, PROPOSED};
use serde_json::Value;

use crate::cli_program::{fnstore_in, new_store};
use crate::shards::{EXPAND, copy_of, export, merge, ok, shard};

/// Computes and merges all shards of so many rounds.
fn grow(store: &Path, dir: &Path, rounds: &str) {
    let mut files = Vec::new();
    for number in 1..=3 {
        let file = dir.join(format!("{rounds}-{number}.zst"));
        let which = format!("{number}/3");
        let more = ["--rounds", rounds, "--shard", &which, "--out", file.to_str().unwrap()];
        ok(fnstore_in(store, &[&EXPAND[..6], &more].concat()));
        files.push(file);
    }
    let files: Vec<&Path> = files.iter().map(|file| file.as_path()).collect();
    ok(merge(store, &files));
}

#[test]
fn growth_by_rounds_over_shards_comes_to_an_end() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let whole = copy_of(base.path(), dir.path());
    ok(fnstore_in(&whole, &EXPAND));
    grow(base.path(), dir.path(), "1");
    grow(base.path(), dir.path(), "2");
    assert_eq!(export(base.path()), export(&whole));
    let rest = ok(fnstore_in(base.path(), &EXPAND));
    assert!(rest.stdout.contains("nothing new to do"), "{}", rest.stdout);
    // Earlier shards change nothing.
    let earlier = dir.path().join("1-2.zst");
    ok(merge(base.path(), &[&earlier]));
    assert_eq!(export(base.path()), export(&whole));
}

#[test]
fn one_place_has_the_shard_of_one_query() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("1-of-2.zst");
    let path = file.to_str().unwrap();
    ok(shard(base.path(), "1/2", &file));
    let before = fs::read(&file).unwrap();
    let of = |query: &str| {
        let more = ["--shard", "1/2", "--out", path];
        fnstore_in(base.path(), &[&["expand", query], &EXPAND[2..], &more].concat())
    };
    let other = of("frame=Roaming");
    assert!(other.code != Some(0) && other.stderr.contains("expected mini-framenet"), "{other:?}");
    assert_eq!(fs::read(&file).unwrap(), before);
    // What stands there without a manifest is no shard of this recipe.
    fs::remove_file(dir.path().join("1-of-2.zst.manifest.json")).unwrap();
    fs::write(&file, "notes").unwrap();
    let other = of("frame=Checking");
    assert!(other.code != Some(0) && other.stderr.contains("is of no shard"), "{other:?}");
    assert_eq!(fs::read(&file).unwrap(), b"notes");
    // A shard whose run was killed before the manifest was written is computed again.
    fs::write(&file, &before).unwrap();
    ok(of("frame=Checking"));
    // Somebody computes one of another query for the same place.
    let held = fs::File::create(dir.path().join("2-of-2.zst.0123abcd.part")).unwrap();
    held.try_lock().unwrap();
    let busy = shard(base.path(), "2/2", &dir.path().join("2-of-2.zst"));
    assert_eq!(busy.code, Some(75), "{busy:?}");
    assert!(busy.stderr.contains("2-of-2.zst.0123abcd.part"), "{busy:?}");
    held.unlock().unwrap();
    ok(shard(base.path(), "2/2", &dir.path().join("2-of-2.zst")));
}

#[test]
fn shards_of_an_edited_store_are_refused_together() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.zst"), dir.path().join("b.zst"));
    let untouched = copy_of(base.path(), dir.path());
    ok(shard(base.path(), "1/2", &first));
    let database = Database::open_existing_writer(base.path()).unwrap();
    let mut edits = database.transaction(database.releases().unwrap()[0].id).unwrap();
    let query = "frame=Checking origin=exemplar".parse().unwrap();
    let gone = database.query(&query).unwrap().next().unwrap().unwrap().set.id;
    edits.remove_annotation_set(gone, Removal::Cascade).unwrap();
    edits.commit().unwrap();
    drop(database);
    ok(shard(base.path(), "2/2", &second));
    let before = export(&untouched);
    let refused = merge(&untouched, &[&first, &second]);
    assert!(refused.code != Some(0), "{refused:?}");
    assert!(refused.stderr.contains("the store was edited in between"), "{refused:?}");
    assert_eq!(export(&untouched), before);
    // A single one tells by what its query finds in the store.
    let refused = merge(&untouched, &[&second]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("(X-seeds)"), "{refused:?}");
    assert_eq!(export(&untouched), before);
    let path = second.to_str().unwrap();
    ok(fnstore_in(&untouched, &["merge", "--mixed", path]));
    ok(merge(&untouched, &[&first]));
}

#[test]
fn a_shard_is_refused_where_its_seeds_or_lus_of_their_frames_were_edited() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.zst");
    ok(shard(base.path(), "1/1", &file));
    for (name, edit) in [
        ("fe", r#"{"op":"edit-set","set":"x7002","elements":[{"name":"Checker","span":[0,3]}]}"#),
        ("lu", r#"{"op":"add-lu","frame":"Checking","name":"vet.v"}"#),
    ] {
        let folder = dir.path().join(name);
        fs::create_dir(&folder).unwrap();
        let (edited, script) = (copy_of(base.path(), &folder), folder.join("edits.jsonl"));
        fs::write(&script, edit).unwrap();
        ok(fnstore_in(&edited, &["edit", script.to_str().unwrap()]));
        let before = export(&edited);
        let refused = merge(&edited, &[&file]);
        assert_eq!(refused.code, Some(2), "{name}: {refused:?}");
        assert!(refused.stderr.contains("were edited in between"), "{name}: {refused:?}");
        assert_eq!(export(&edited), before, "{name}");
    }
    ok(merge(base.path(), &[&file]));
}

#[test]
fn seeds_of_a_split_list_are_found_by_that_list() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let (list, file) = (dir.path().join("list"), dir.path().join("a.zst"));
    fs::write(&list, "exemplars\t*\tdev\n").unwrap();
    let (list, path) = (list.to_str().unwrap(), file.to_str().unwrap());
    let more = ["--split-list", list, "--shard", "1/2", "--out", path];
    ok(fnstore_in(
        base.path(),
        &[&["expand", "frame=Checking split=dev"], &EXPAND[2..], &more].concat(),
    ));
    let refused = merge(base.path(), &[&file]);
    assert!(refused.stderr.contains("another split list"), "{refused:?}");
    ok(fnstore_in(base.path(), &["merge", path, "--split-list", list]));
}

#[test]
fn an_lu_whose_number_another_has_comes_in_under_the_next() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.zst");
    // Without a guide more is proposed.
    let more = ["--guide", "none", "--shard", "1/1", "--out", file.to_str().unwrap()];
    ok(fnstore_in(base.path(), &[&EXPAND[..], &more].concat()));
    let plain = copy_of(base.path(), dir.path());
    ok(merge(&plain, &[&file]));
    let proposed = |store: &Path| -> Vec<Value> {
        let rows = ok(fnstore_in(store, &["lus", "--frame", "Checking"])).records();
        rows.into_iter().filter(|row| row["status"] == "Proposed").collect()
    };
    let expected = proposed(&plain);
    let taken = expected.first().expect("the expansion proposes an LU").clone();
    let number = LuId(taken["id"].as_u64().unwrap() as u32);
    let database = Database::open_existing_writer(base.path()).unwrap();
    let release = database.releases().unwrap()[0].id;
    let lu =
        LexUnit { status: PROPOSED.to_owned(), ..LexUnit::named(FrameId(102), number, "zz.v") };
    database.write(release, &Write { lexunits: vec![lu], ..Write::default() }).unwrap();
    drop(database);
    for _ in 0..2 {
        ok(merge(base.path(), &[&file]));
        let found = proposed(base.path());
        assert_eq!(found.len(), expected.len() + 1, "{found:?}");
        let of_name = |name: &str| found.iter().find(|row| row["name"] == *name).unwrap();
        let moved = of_name(taken["name"].as_str().unwrap());
        assert_ne!(moved["id"], taken["id"]);
        assert_eq!(
            (&moved["generated"], &of_name("zz.v")["generated"]),
            (&taken["generated"], &0.into())
        );
    }
    assert_eq!(ok(fnstore_in(base.path(), &["check", "--deep"])).code, Some(0));
}

#[test]
fn shards_of_several_recipes_are_taken_where_that_is_asked_for() {
    let base = new_store();
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.zst"), dir.path().join("b.zst"));
    ok(shard(base.path(), "1/2", &first));
    let more = ["--guide", "none", "--shard", "2/2", "--out", second.to_str().unwrap()];
    ok(fnstore_in(base.path(), &[&EXPAND[..], &more].concat()));
    let refused = merge(base.path(), &[&first, &second]);
    assert!(refused.code != Some(0) && refused.stderr.contains("different recipes"), "{refused:?}");
    let (a, b) = (first.to_str().unwrap(), second.to_str().unwrap());
    ok(fnstore_in(base.path(), &["merge", "--mixed", a, b]));
}

#[test]
fn the_whole_lexicon_is_asked_for_by_name() {
    let base = new_store();
    let small = ["--model", "paraphrase", "--beam", "4", "--rounds", "1"];
    for empty in ["", " "] {
        let ran = fnstore_in(base.path(), &[&["expand", empty], &small[..]].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains("expand that by `--everything`"), "{}", ran.stderr);
    }
    let ran = ok(fnstore_in(
        base.path(),
        &[&["expand", "--everything", "--status"], &small[..]].concat(),
    ));
    assert!(!ran.stdout.is_empty());
    let none = dir_without_seeds(base.path());
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.stderr.contains("no human annotation set matches"), "{}", none.stderr);
}

/// A shard of a query without seeds.
fn dir_without_seeds(store: &Path) -> crate::cli_program::Ran {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("x.zst");
    let more = ["--shard", "1/2", "--out", out.to_str().unwrap()];
    fnstore_in(store, &[&["expand", "lu=check.v origin=user"], &EXPAND[2..], &more].concat())
}
