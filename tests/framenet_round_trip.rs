//! Export as FrameNet's XML: what is imported, exported and imported again is the same store.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use fnstore::database::{Database, DatabaseError, ExportError};
use fnstore::framenet::WarningCode;
use fnstore::internals::WithStore as _;
use fnstore::model::{FrameId, IdSpace, LuId, SentenceId};
use fnstore::query::Expression;
use fnstore::store::StoreError;
use fnstore::transfer::{FramenetExport, FramenetLoss};
use tempfile::TempDir;

use crate::{generated, mini};

/// Exports what an expression finds in the only release.
pub(crate) fn export(
    database: &Database,
    expression: &str,
    dir: &Path,
) -> Result<Option<FramenetExport>, DatabaseError> {
    let release = database.releases().unwrap().remove(0);
    let expression = Expression::parse(expression).unwrap();
    database.export_framenet(&release, &expression, dir, &mut |_, _| {})
}

/// Fails at the first row in which the only releases of two stores differ.
pub(crate) fn assert_equal(a: &Database, b: &Database) {
    let release = |database: &Database| database.releases().unwrap().remove(0);
    let (ra, rb) = (release(a), release(b));
    assert_eq!((&ra.name, ra.counts), (&rb.name, rb.counts));
    let (sa, sb) = (a.store(), b.store());
    let (ra, rb) = (ra.id, rb.id);
    same(sa.frames(ra).unwrap(), sb.frames(rb).unwrap());
    same(sa.relations(ra).unwrap(), sb.relations(rb).unwrap());
    same(sa.sem_types(ra).unwrap(), sb.sem_types(rb).unwrap());
    same(sa.lexunits(ra).unwrap(), sb.lexunits(rb).unwrap());
    same(sa.documents(ra).unwrap(), sb.documents(rb).unwrap());
    same(sa.sentences(ra).unwrap(), sb.sentences(rb).unwrap());
    same(sa.annotation_sets(ra).unwrap(), sb.annotation_sets(rb).unwrap());
    same(sa.all_sentence_layers(ra).unwrap(), sb.all_sentence_layers(rb).unwrap());
    assert_eq!(sa.release_layout(ra).unwrap(), sb.release_layout(rb).unwrap());
    for frame in sa.frames(ra).unwrap() {
        let id = frame.unwrap().id;
        assert_eq!(sa.frame_layout(ra, id).unwrap(), sb.frame_layout(rb, id).unwrap());
    }
    for lu in sa.lexunits(ra).unwrap() {
        let lu = lu.unwrap();
        let layout = |database: &Database, release| {
            database.store().lexunit_layout(release, lu.frame, lu.id).unwrap()
        };
        assert_eq!(layout(a, ra), layout(b, rb), "{} ({})", lu.name, lu.id);
    }
    for document in sa.documents(ra).unwrap() {
        let document = document.unwrap();
        let layout = |database: &Database, release| {
            database.store().document_layout(release, document.corpus, document.id).unwrap()
        };
        assert_eq!(layout(a, ra), layout(b, rb), "{}", document.name);
    }
}

/// Fails at the first row in which two runs of rows differ.
pub(crate) fn same<T: Debug + PartialEq>(
    a: impl Iterator<Item = Result<T, StoreError>>,
    mut b: impl Iterator<Item = Result<T, StoreError>>,
) {
    for row in a {
        assert_eq!(Some(row.unwrap()), b.next().map(Result::unwrap));
    }
    assert!(b.next().is_none(), "the second store has more rows");
}

/// A store of the release in `dir`.
fn imported(dir: &Path) -> (TempDir, Database) {
    let store = tempfile::tempdir().unwrap();
    let database = Database::open_writer(store.path()).unwrap();
    mini::import(&database, dir).unwrap();
    (store, database)
}

/// What changed is imported, exported and imported again; gives the first store.
fn comes_back(change: impl FnOnce(&Path)) -> (TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a/mini-framenet"), dir.path().join("b/mini-framenet"));
    mini::copy(&mini::framenet(), &first);
    fs::create_dir(dir.path().join("b")).unwrap();
    change(&first);
    let (store, database) = imported(&first);
    export(&database, "", &second).unwrap().unwrap();
    assert_equal(&database, &imported(&second).1);
    (store, database)
}

fn replace(release: &Path, file: &str, from: &str, to: &str) {
    let path = release.join(file);
    let content = fs::read_to_string(&path).unwrap();
    assert!(content.contains(from), "{file} lacks {from}");
    fs::write(path, content.replacen(from, to, 1)).unwrap();
}

fn report(database: &Database, release: &Path) -> fnstore::transfer::ImportReport {
    mini::import(database, release).unwrap()
}

#[test]
fn every_file_of_a_release_comes_out_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    let (_store, database, imported_first) = mini::imported();
    let done = export(&database, "", &out).unwrap().unwrap();
    let counts = imported_first.release.counts;
    assert_eq!((done.frames, done.lu_files, done.documents), (5, 15, 2));
    assert_eq!(done.sets, counts.exemplar_sets + counts.fulltext_sets);
    assert_eq!(
        done.sentence_layer_sets,
        counts.sentence_layer_occurrences + counts.construction_sets
    );
    assert!(done.lost.is_empty() && done.left_out.is_empty(), "{done:?}");
    assert_equal(&database, &imported(&out).1);
    let mut compared = 0;
    for folder in ["", "frame", "lu", "fulltext"] {
        for entry in fs::read_dir(mini::framenet().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "xml") {
                let name = path.file_name().unwrap();
                let ours = fs::read_to_string(out.join(folder).join(name)).unwrap();
                assert_eq!(tags(&ours), tags(&fs::read_to_string(&path).unwrap()), "{name:?}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 5 + 15 + 2 + 5);
}

/// A file's tags and texts, sorted, attributes in order of name: mini-framenet puts some elements
/// in another order than FrameNet.
fn tags(content: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let (mut rest, mut open) = (content, false);
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        if open && !text.trim().is_empty() {
            tags.push(text.to_owned());
        }
        let end = at + rest[at..].find('>').unwrap();
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['?', '!']) {
            continue;
        }
        open = !tag.starts_with('/');
        let closed = tag.strip_suffix('/');
        let mut parts: Vec<&str> = closed.unwrap_or(tag).split("\" ").map(str::trim).collect();
        let (name, first) = parts[0].split_once(' ').unwrap_or((parts[0], ""));
        parts[0] = first;
        let mut parts: Vec<&str> = parts.iter().map(|part| part.trim_end_matches('"')).collect();
        parts.sort_unstable();
        tags.push(format!("{name} {}", parts.join(" ")));
        if closed.is_some() {
            tags.push(format!("/{name} "));
        }
    }
    tags.sort_unstable();
    tags
}

#[test]
fn an_lu_file_that_differs_from_its_frame_is_kept_as_it_differs() {
    let (_dir, database) = comes_back(|release| {
        let file = "lu/lu1001.xml";
        replace(release, file, "status=\"Finished_Initial\"", "status=\"In_Use\"");
        replace(release, file, "<lexeme ", "<lexeme order=\"3\" ");
        replace(release, file, "<FE fgColor=\"", "<FE fgColor=\"1");
    });
    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let lu = store.lexunit(release, FrameId(102), LuId(1001)).unwrap().unwrap();
    let layout = store.lexunit_layout(release, FrameId(102), LuId(1001)).unwrap().unwrap();
    assert_eq!(lu.status, "Finished_Initial");
    assert_eq!(layout.head.unwrap().status, "In_Use");
    assert_eq!((lu.lexemes[0].order, layout.lexemes[0].order), (Some(1), Some(3)));
    assert!(layout.elements.is_some());
}

#[test]
fn places_that_no_record_can_hold_are_kept_as_written() {
    let (_dir, database) = comes_back(|release| {
        let file = "fulltext/MINI__HarbourLog.xml";
        replace(release, file, " end=\"", " end=\"9");
        replace(release, file, " start=\"", " itype=\"INI\" start=\"");
        replace(release, "lu/lu1002.xml", " start=\"0\"", "");
    });
    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let odd = |file: &str| {
        let documents = store.documents(release).unwrap().map(Result::unwrap);
        let row = documents.into_iter().find(|row| row.file == file).unwrap();
        store.document_layout(release, row.corpus, row.id).unwrap().unwrap().odd_labels
    };
    assert_eq!(odd("MINI__HarbourLog").len(), 1);
    let layout = store.lexunit_layout(release, FrameId(102), LuId(1002)).unwrap().unwrap();
    assert_eq!(layout.odd_labels.len(), 1);
}

#[test]
fn order_and_repetition_come_back() {
    let (_dir, database) = comes_back(|release| {
        // The first subcorpus twice, so that each of its sentences and sets is listed twice.
        let path = release.join("lu/lu1001.xml");
        let content = fs::read_to_string(&path).unwrap();
        let start = content.find("<subCorpus").unwrap();
        let end = start + content[start..].find("</subCorpus>").unwrap() + "</subCorpus>".len();
        let (subcorpus, rest) = (&content[start..end], &content[end..]);
        fs::write(&path, format!("{}{subcorpus}{subcorpus}{rest}", &content[..start])).unwrap();
        // And an index in another order.
        let path = release.join("luIndex.xml");
        let content = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = content.lines().collect();
        let first = lines.iter().position(|line| line.contains("<lu ")).unwrap();
        lines.swap(first, first + 1);
        fs::write(&path, lines.join("\n")).unwrap();
    });
    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let layout = store.lexunit_layout(release, FrameId(102), LuId(1001)).unwrap().unwrap();
    let (first, second) = (&layout.subcorpora[0], &layout.subcorpora[1]);
    assert_eq!(first.name, second.name);
    assert_eq!(first.sentences[0].id, second.sentences[0].id);
    assert_ne!(first.sentences[0].occurrence, second.sentences[0].occurrence);
}

#[test]
fn texts_that_need_escapes_come_back() {
    let (_dir, database) = comes_back(|release| {
        let file = "frame/Checking.xml";
        replace(release, file, "<definition>", "<definition>a &amp;amp; b&#13;\r\n]]&gt; \"c\" ");
        replace(release, file, "abbrev=\"", "abbrev=\"&quot;&#10;&lt;&#9;");
    });
    let (store, release) = (database.store(), database.releases().unwrap()[0].id);
    let frame = store.frame(release, FrameId(102)).unwrap().unwrap();
    assert!(frame.definition.starts_with("a &amp; b\r\n]]> \"c\" "), "{:?}", frame.definition);
    assert!(frame.elements[0].abbreviation.starts_with("\"\n<\t"));
}

#[test]
fn a_release_without_top_files_comes_back_without_them() {
    comes_back(|release| {
        for file in fnstore::framenet::TOP_FILES {
            fs::remove_file(release.join(file)).unwrap();
        }
    });
}

#[test]
fn a_release_with_files_that_are_not_there_comes_back() {
    comes_back(|release| {
        fs::remove_file(release.join("frame/Happening.xml")).unwrap();
        fs::remove_file(release.join("lu/lu1302.xml")).unwrap();
        fs::remove_file(release.join("lu/lu1101.xml")).unwrap();
        fs::remove_file(release.join("fulltext/MINI__BikeRide.xml")).unwrap();
    });
}

#[test]
fn a_part_is_a_release_of_its_own_and_says_what_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, database, _) = mini::imported();
    let out = dir.path().join("mini-framenet");
    let done = export(&database, "frame=Repairing", &out).unwrap().unwrap();
    assert_eq!((done.frames, done.left_out["frame"]), (1, 4));
    let (_second, part) = imported(&out);
    let all = |database: &Database| mini::answers(database, "frame=Repairing");
    assert_eq!(all(&part), all(&database));
    assert_eq!(mini::answers(&part, ""), all(&database));
    // Nothing that stays points to what is left out.
    let again = tempfile::tempdir().unwrap();
    let again = Database::open_writer(again.path()).unwrap();
    let warnings = report(&again, &out).warnings;
    for code in [
        WarningCode::IndexMismatch,
        WarningCode::LuNotInFrame,
        WarningCode::FrameMissing,
        WarningCode::RelationDangling,
        WarningCode::NameMismatch,
    ] {
        assert_eq!(warnings.count(code), 0, "{code}");
    }
    assert!(export(&database, "trigger=nosuchword", &dir.path().join("none")).unwrap().is_none());
    assert!(!dir.path().join("none").exists());
}

#[test]
fn what_is_not_framenets_is_written_as_exemplars_and_counted_as_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, database, first) = mini::imported();
    generated::write(&database, first.release.id);
    let count = mini::answers(&database, "origin=generated").len() as u64;
    let out = dir.path().join("mini-framenet");
    let done = export(&database, "", &out).unwrap().unwrap();
    assert_eq!(done.lost[&FramenetLoss::Generated], count);
    let (_second, again) = imported(&out);
    assert_eq!(mini::answers(&again, "").len(), mini::answers(&database, "").len());
    assert_eq!(mini::answers(&again, "origin=generated").len(), 0);
    assert_eq!(mini::answers(&again, "trigger=vetted").len(), 1);
    assert_eq!(mini::answers(&again, "lu=vet.v").len(), 1, "a proposed LU has its file");
}

#[test]
fn an_import_of_written_out_generated_sets_says_that_they_become_human_ones() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, database, first) = mini::imported();
    assert_eq!(first.warnings.count(WarningCode::MachineSet), 0);
    generated::write(&database, first.release.id);
    let count = mini::answers(&database, "origin=generated").len() as u64;
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let again = Database::open_writer(&dir.path().join("again")).unwrap();
    let warnings = mini::import(&again, &out).unwrap().warnings;
    assert_eq!(warnings.count(WarningCode::MachineSet), count);
}

#[test]
fn a_release_without_layouts_exports_what_it_knows() {
    let dir = tempfile::tempdir().unwrap();
    let lines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1/release.jsonl");
    let old = Database::open_writer(&dir.path().join("store")).unwrap();
    old.import_jsonl(&lines, None, &mut |_| {}).unwrap();
    let release = old.releases().unwrap().remove(0);
    assert_eq!(old.store().release_layout(release.id).unwrap(), None);
    let out = dir.path().join("mini-framenet");
    let done = export(&old, "", &out).unwrap().unwrap();
    assert!(done.lost[&FramenetLoss::Order] > 0);
    let (_store, again) = imported(&out);
    let ids = |database: &Database| {
        let mut ids = mini::answers(database, "not origin=generated not status=GENERATED");
        ids.sort();
        ids
    };
    assert_eq!(ids(&again).len(), ids(&old).len());
    let id = SentenceId::new(IdSpace::Exemplar, 5001);
    let places = again.store().sentence(again.releases().unwrap()[0].id, id).unwrap().unwrap();
    assert_eq!(places.occurrences.len(), 2);
}

#[test]
fn a_directory_that_holds_something_is_not_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, database, _) = mini::imported();
    fs::write(dir.path().join("mine"), "x").unwrap();
    let error = export(&database, "", dir.path()).unwrap_err();
    assert!(matches!(error, DatabaseError::Export(ExportError::Target { .. })), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let error = export(&database, "", &dir.path().join("no/such/place")).unwrap_err();
    assert!(matches!(error, DatabaseError::Export(ExportError::Write { .. })), "{error}");
    let empty = dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(export(&database, "", &empty).unwrap().is_some());
}
