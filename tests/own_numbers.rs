//! What people added has numbers of the store's own range, and keeps them through every export.

use fnstore::database::Database;
use fnstore::framenet::WarningCode;
use fnstore::model::{Creation, Frame, FrameId, LexUnit, LuId, OWN_RANGE};

use crate::framenet_round_trip::export;
use crate::mini;

/// A store in which a frame and two LUs were added to mini-framenet.
fn added() -> (tempfile::TempDir, Database) {
    let (dir, database, report) = mini::imported();
    let mut edits = database.transaction(report.release.id).unwrap();
    let frame = Frame {
        id: FrameId(0),
        name: "Zooming".to_owned(),
        definition: String::new(),
        elements: Vec::new(),
        core_sets: Vec::new(),
        sem_types: Vec::new(),
        created: Creation::default(),
        modified: String::new(),
        has_file: true,
    };
    let frame = edits.add_frame(frame).unwrap();
    assert_eq!(frame, FrameId(OWN_RANGE + 1));
    edits.add_lexunit(LexUnit::named(frame, LuId(0), "zoom.v")).unwrap();
    edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "added.v")).unwrap();
    edits.commit().unwrap();
    (dir, database)
}

/// Frame, number and name of every LU.
fn lexunits(database: &Database) -> Vec<(u32, u32, String)> {
    let release = database.releases().unwrap()[0].id;
    let names = database.store().lexunit_names(release).unwrap();
    names.map(|row| row.map(|(frame, lu, name)| (frame.0, lu.0, name)).unwrap()).collect()
}

fn added_by_people(database: &Database) -> String {
    let mut lines = Vec::new();
    database.export_jsonl(&"origin=user".parse().unwrap(), false, &mut lines).unwrap().unwrap();
    String::from_utf8(lines).unwrap()
}

#[test]
fn an_import_of_an_export_as_xml_gives_the_same_numbers() {
    let (_dir, database) = added();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    let report = mini::import(&second, &out).unwrap();
    assert_eq!(report.warnings.count(WarningCode::IdWritten), 0);
    assert_eq!(lexunits(&second), lexunits(&database));
    for name in ["Zooming", "zoom.v", "added.v"] {
        assert!(added_by_people(&second).contains(name), "{name}");
    }
    let again = dir.path().join("again");
    export(&second, "", &again).unwrap().unwrap();
    for file in ["frame/Zooming.xml", "frame/Checking.xml", "frameIndex.xml", "luIndex.xml"] {
        let [first, second] =
            [&out, &again].map(|dir| std::fs::read_to_string(dir.join(file)).unwrap());
        assert_eq!(first, second, "{file}");
    }
    let mut edits = second.transaction(report.release.id).unwrap();
    let later = edits.add_lexunit(LexUnit::named(FrameId(102), LuId(0), "later.v")).unwrap();
    assert_eq!(later, LuId(OWN_RANGE + 4), "behind those that came");
}

#[test]
fn a_file_of_others_with_such_numbers_gets_fresh_ones() {
    let (_dir, database) = added();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let file = out.join("frame/Zooming.xml");
    let content = std::fs::read_to_string(&file).unwrap();
    assert!(content.contains("<?fnstore own-numbers?>\n<frame "));
    std::fs::write(&file, content.replace("<?fnstore own-numbers?>\n", "")).unwrap();
    assert!(!std::fs::read_to_string(out.join("frame/Roaming.xml")).unwrap().contains("<?fnstore"));
    let second = Database::open_writer(&dir.path().join("second")).unwrap();
    let report = mini::import(&second, &out).unwrap();
    assert_eq!(report.warnings.count(WarningCode::IdWritten), 2);
}
