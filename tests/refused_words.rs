//! Words without content under a proposed LU are no proposals: they are listed apart, with reasons.

use fnstore::database::Database;

use crate::cli_program::fnstore_in;
use crate::proposals::{names, proposals, propose_more, store};

#[test]
fn what_can_be_no_lu_is_listed_last_and_with_its_reason() {
    let store = store();
    let store = store.path();
    let before = proposals(store, &[]);
    let more = [
        (10, "himself.v", "himself", 7012, 1, 0.9),
        (11, "forty.a", "forty", 7012, 1, 0.9),
        (12, "-.n", "-", 7012, 1, 0.9),
        (13, "see that.certify.v", "see that.certify", 7012, 1, 0.9),
    ];
    let database = Database::open_existing_writer(store).unwrap();
    let release = database.release("mini-framenet").unwrap().id;
    propose_more(&database, release, 900, &more);
    drop(database);

    assert_eq!(proposals(store, &[]), before, "they are no proposals");
    let told = fnstore_in(store, &["proposals"]).stderr;
    assert!(told.contains("4 words without content left out"), "{told}");
    let listed = proposals(store, &["--with-refused"]);
    assert_eq!(listed[..before.len()], before[..]);
    let mut refused: Vec<_> = listed[before.len()..]
        .iter()
        .map(|of| (of["lu"].as_str().unwrap(), of["refused"].as_str().unwrap()))
        .collect();
    refused.sort_unstable();
    assert_eq!(
        refused,
        [
            ("-.n", "no-word"),
            ("forty.a", "number"),
            ("himself.v", "function-word"),
            ("see that.certify.v", "punctuation"),
        ]
    );
    let table = fnstore_in(store, &["proposals", "--with-refused", "--format", "table"]).stdout;
    assert!(table.contains("himself.v  (no LU: function-word)"), "{table}");

    // Their sentences stay, under an LU that nobody can accept.
    let sets = fnstore_in(store, &["query", "lu=himself.v", "--format", "jsonl"]).records();
    assert_eq!(sets.len(), 1, "{sets:?}");
    let accepted = ["proposals", "accept", "Checking", "himself.v", "--reviewer", "kim"];
    let refusal = fnstore_in(store, &accepted);
    assert!(refusal.code == Some(2) && refusal.stderr.contains("E-no-unit"), "{refusal:?}");
    let rejected = ["proposals", "reject", "Checking", "himself.v", "--reviewer", "kim"];
    assert_eq!(fnstore_in(store, &rejected).code, Some(0));
    let decided = proposals(store, &["--with-decided"]);
    assert!(names(&decided).contains(&"himself.v"), "{decided:?}");
}
