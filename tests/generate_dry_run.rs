//! `generate --dry-run` measures and writes nothing.

use fnstore::database::Database;

use crate::cli_program::{fnstore_in, new_store};
use crate::cli_schema::faults_in;
use crate::mini;

#[test]
fn it_follows_its_schema_counts_what_is_missing_and_leaves_the_store_alone() {
    let store = new_store();
    let content = || mini::content(&Database::open(store.path()).unwrap());
    let before = content();
    let dry = fnstore_in(store.path(), &["generate", "--dry-run", "--format", "json"]);
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    let estimate: serde_json::Value = serde_json::from_str(&dry.stdout).unwrap();
    assert_eq!(faults_in("generate-estimate.schema.json", &estimate), [""; 0]);
    assert_eq!(content(), before);
    let (all, left) = (&estimate["lexunits"], &estimate["left"]);
    assert!(all.as_u64() > Some(0) && all == left, "{estimate}");

    let ran = fnstore_in(store.path(), &["generate", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let after = fnstore_in(store.path(), &["generate", "--dry-run", "--format", "json"]);
    let estimate: serde_json::Value = serde_json::from_str(&after.stdout).unwrap();
    assert_eq!(&estimate["lexunits"], all);
    assert!(estimate["done_before"].as_u64() > Some(0), "{estimate}");
}
