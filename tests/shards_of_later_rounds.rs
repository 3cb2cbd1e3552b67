//! A shard goes on with seeds of earlier rounds: a store that lacks those names what has them.

use std::path::{Path, PathBuf};

use crate::cli_program::{fnstore_in, new_store};
use crate::shards::{copy_of, export, merge, ok};

/// The first of two shards of few seeds, with so many rounds.
fn shard(store: &Path, rounds: &str, dir: &Path) -> PathBuf {
    let file = dir.join(format!("{rounds}.zst"));
    let fixed = ["expand", "lu=inspect.v", "--model", "paraphrase", "--beam", "2", "--shard"];
    let more = ["--guide", "none", "--filter", "none", "--rounds", rounds, "--out"];
    let all = [&fixed[..], &["1/2"], &more, &[file.to_str().unwrap()]].concat();
    ok(fnstore_in(store, &all));
    file
}

#[test]
fn shards_of_earlier_rounds_are_taken_first_and_named_where_they_are_missing() {
    let (store, dir) = (new_store(), tempfile::tempdir().unwrap());
    let store = store.path();
    let other = copy_of(store, dir.path());
    let before = export(&other);
    let first = shard(store, "1", dir.path());
    ok(merge(store, &[&first]));
    let second = shard(store, "2", dir.path());
    ok(merge(store, &[&second]));

    let refused = merge(&other, &[&second]);
    assert_ne!(refused.code, Some(0));
    for part in [
        "X-rounds: ",
        "2.zst` goes on with ",
        "whose sets of earlier rounds release `mini-framenet` lacks; merge first the shards of \
         `lu=inspect.v` that have them",
        "shard 1/2, if they were as many",
    ] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert_eq!(export(&other), before);
    // The order of names does not matter.
    ok(merge(&other, &[&second, &first]));
    assert_eq!(export(&other), export(store));
}
