//! What people added is told from what has a hashed id, also where an earlier build's hash lies
//! among the numbers that a store counts out.

use fnstore::database::{Database, Write};
use fnstore::model::{FrameId, LexUnit, LuId, MOST_COUNTED, OWN_RANGE};

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

/// What an export of everything that people added has after a round trip through JSON lines.
fn added_after_jsonl(is_hashed_high: bool) -> (String, u32) {
    let (_dir, database, report) = mini::imported();
    let release = report.release.id;
    let number = if is_hashed_high { OWN_RANGE + MOST_COUNTED } else { OWN_RANGE + 5000 };
    let hashed = LexUnit::named(FrameId(102), LuId(number), "hashed.v");
    database.write(release, &Write { lexunits: vec![hashed], ..Write::default() }).unwrap();
    let mut edits = database.transaction(release).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "added.v")).unwrap();
    edits.commit().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut lines = Vec::new();
    database.export_jsonl(&"".parse().unwrap(), false, &mut lines).unwrap().unwrap();
    let file = dir.path().join("release.jsonl");
    std::fs::write(&file, &lines).unwrap();
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    let release = second.import_jsonl(&file, None, &mut |_| {}).unwrap().release;
    let mut again = Vec::new();
    second.export_jsonl(&"".parse().unwrap(), false, &mut again).unwrap().unwrap();
    assert_eq!(lines, again, "the same file");
    let mut edits = second.transaction(release.id).unwrap();
    let id = edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "later.v")).unwrap();
    edits.commit().unwrap();
    let mut added = Vec::new();
    second.export_jsonl(&"origin=user".parse().unwrap(), false, &mut added).unwrap().unwrap();
    (String::from_utf8(added).unwrap(), id.0)
}

#[test]
fn json_lines_say_how_far_a_store_has_counted() {
    for is_hashed_high in [false, true] {
        let (added, later) = added_after_jsonl(is_hashed_high);
        assert!(added.contains("\"added.v\"") && added.contains("\"later.v\""), "{added}");
        assert!(!added.contains("hashed.v"), "{added}");
        assert_eq!(later, OWN_RANGE + 2);
    }
}
