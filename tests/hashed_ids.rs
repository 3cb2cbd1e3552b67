//! What people added is told from what has a hashed id, also where an earlier build's hash lies among the
//! numbers that a store counts out.

use fnstore::database::Write;
use fnstore::model::{FrameId, LexUnit, LuId, OWN_RANGE};

use crate::mini;

#[test]
fn an_export_of_what_people_added_leaves_out_what_has_a_hashed_id() {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let hashed = LexUnit::named(FrameId(102), LuId(OWN_RANGE + 5000), "hashed.v");
    database.write(release, &Write { lexunits: vec![hashed], ..Write::default() }).unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "added.v")).unwrap();
    edits.commit().unwrap();
    let mut lines = Vec::new();
    database.export_jsonl(&"origin=user".parse().unwrap(), false, &mut lines).unwrap().unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.contains("\"added.v\""), "{lines}");
    assert!(!lines.contains("hashed.v"), "{lines}");
}
