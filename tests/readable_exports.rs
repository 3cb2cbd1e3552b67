//! What readers of FrameNet's XML take for granted, as NLTK's does, in files with sets that are no
//! release's. `python/tests/test_exports.py` has NLTK read such exports.

use std::fs;
use std::path::Path;

use fnstore::database::Database;
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, FeStatus, FrameFit, FrameId, IdSpace, LayerName, LuId,
    Prediction, Provenance, Release, SentenceId, Span,
};
use fnstore::query::Expression;
use fnstore::transfer::PredictedTarget;

use crate::framenet_round_trip::{assert_equal, export};
use crate::{generated, mini};

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The set of an id in a file, with what stands before it in its sentence.
fn sentence_of<'a>(file: &'a str, id: &str) -> &'a str {
    let at = file.find(&format!("ID=\"{id}\"")).unwrap_or_else(|| panic!("no set {id}: {file}"));
    let start = file[..at].rfind("<sentence").unwrap();
    &file[start..start + file[start..].find("</sentence>").unwrap()]
}

/// The content of a file, without what stands before its root element.
fn content_of(file: &str) -> &str {
    file[file.find("xmlns:xsi").unwrap()..].trim_end()
}

/// The subcorpora of an LU file.
fn sets_of(file: &str) -> &str {
    file[file.find("<subCorpus").unwrap()..].trim_end()
}

const FILLER: &str = "<annotationSet status=\"UNANN\" ID=\"0\">";

/// Adds a person's set without FEs to an exemplar.
fn add_own(database: &Database) -> AnnotationSetId {
    let mut edits = database.transaction(database.releases().unwrap()[0].id).unwrap();
    let set = AnnotationSet {
        id: AnnotationSetId::new(IdSpace::Imported, 0),
        xml_id: None,
        sentence: SentenceId::new(IdSpace::Exemplar, 5001),
        frame: FrameId(102),
        lu: LuId(1001),
        status: "MANUAL".to_owned(),
        created: String::new(),
        targets: vec![Span::new(0, 2)],
        fe_status: FeStatus::Annotated,
        layers: Vec::new(),
        provenance: Provenance::User,
    };
    let id = edits.add_annotation_set(set).unwrap();
    edits.commit().unwrap();
    id
}

#[test]
fn sets_without_fes_have_their_layers_if_only_empty() {
    let (_dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    let own = add_own(&database);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let file = read(&out, "lu/lu1001.xml");
    let sentence = sentence_of(&file, &own.in_xml(None).to_string());
    let layers =
        ["FE", "GF", "PT", "Target"].map(|name| sentence.find(&format!("name=\"{name}\"")));
    assert!(layers.iter().all(Option::is_some) && layers.is_sorted(), "{sentence}");
    assert!(sentence.contains(FILLER), "{sentence}");
    let made = AnnotationSetId::new(IdSpace::Generated, 101).in_xml(None).to_string();
    let file = read(&out, "lu/lu1008.xml");
    let sentence = sentence_of(&file, &made);
    assert!(sentence.contains(FILLER) && sentence.contains("name=\"FE\"/>"), "{sentence}");
    // The release's own sets are as they were.
    let theirs = fs::read_to_string(mini::framenet().join("lu/lu1002.xml")).unwrap();
    assert_eq!(sets_of(&read(&out, "lu/lu1002.xml")), sets_of(&theirs));
}

#[test]
fn the_layers_go_on_the_way_back() {
    let (_dir, database, report) = mini::imported();
    let own = add_own(&database);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let again = Database::open_writer(&dir.path().join("store")).unwrap();
    let second = mini::import(&again, &out).unwrap();
    let set = again.store().annotation_set(second.release.id, own).unwrap().unwrap();
    let before = database.store().annotation_set(report.release.id, own).unwrap().unwrap();
    assert_eq!(set, before);
    assert!(set.layers.iter().all(|layer| layer.name == LayerName::Target), "{set:?}");
    assert_eq!(second.release.counts, database.releases().unwrap()[0].counts);
}

#[test]
fn a_document_that_people_added_has_a_set_for_parts_of_speech_in_each_sentence() {
    let (_dir, database) = crate::own_numbers::annotated();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let document = read(&out, "fulltext/NOTES__Monday.xml");
    assert_eq!(document.matches(FILLER).count(), document.matches("<sentence ").count());
    let again = Database::open_writer(&dir.path().join("store")).unwrap();
    mini::import(&again, &out).unwrap();
    let sets = |database: &Database| {
        let release = database.releases().unwrap()[0].id;
        let layers = database.store().all_sentence_layers(release).unwrap().count();
        (layers, mini::answers(database, ""))
    };
    assert_eq!(sets(&again), sets(&database));
}

/// A release of two predictions: of an LU of the lexicon, and of a frame that it lacks.
fn predicted(database: &Database, into: &Database) -> Release {
    let lexicon = database.lexicon("mini-framenet").unwrap();
    let mut predictions = into.predictions("news", &lexicon, Path::new("news.txt")).unwrap();
    let target = |start, end, frame: &str, lexunit: Option<&str>| PredictedTarget {
        pieces: vec![Span::new(start, end)],
        frame: frame.to_owned(),
        lexunit: lexunit.map(str::to_owned),
        prediction: Prediction {
            file: "news.txt".to_owned(),
            fit: FrameFit { probability: 0.5, model: [1; 16] },
            runners_up: Vec::new(),
        },
        elements: None,
    };
    let targets =
        vec![target(5, 12, "Checking", Some("check.v")), target(13, 18, "Quantity", None)];
    predictions.add("They checked every boat .", targets).unwrap();
    predictions.finish().unwrap().release
}

#[test]
fn predicted_sets_have_their_lus_in_frame_files_and_in_the_index() {
    let (_dir, database, _) = mini::imported();
    let dir = tempfile::tempdir().unwrap();
    let into = Database::open_writer(&dir.path().join("news")).unwrap();
    let release = predicted(&database, &into);
    assert!(into.take_index_lag().is_none());
    let count = |query: &str| into.count(&query.parse().unwrap()).unwrap();
    assert_eq!((count("trigger=checked"), count("frame=Quantity")), (1, 1));
    let out = dir.path().join("out");
    export(&into, "", &out).unwrap().unwrap();
    let index = read(&out, "luIndex.xml");
    let frames = read(&out, "frameIndex.xml");
    for (frame, lu) in [("Checking", "check.v"), ("Quantity", "every.x")] {
        let file = read(&out, &format!("frame/{frame}.xml"));
        assert!(file.contains("<lexUnit ") && file.contains(&format!("name=\"{lu}\"")), "{file}");
        assert!(index.contains(&format!("name=\"{lu}\"")), "{index}");
        assert!(frames.contains(&format!("name=\"{frame}\"")), "{frames}");
    }
    // One by one, the files are the same; without what models said there are none.
    let files = into.framenet_files(&release, false).unwrap();
    for name in ["frame/Quantity.xml", "luIndex.xml", "frameIndex.xml"] {
        assert_eq!(files.read(name).unwrap(), Some(read(&out, name)), "{name}");
    }
    let given = into.framenet_files(&release, true).unwrap();
    assert_eq!(given.read("frame/Quantity.xml").unwrap(), None);
    assert!(!given.read("luIndex.xml").unwrap().unwrap().contains("every.x"));
    // A part without its sets does not list an LU.
    let part = dir.path().join("part");
    let query = Expression::parse("frame=Quantity").unwrap();
    into.export_framenet(&release, &query, &part, &mut |_, _| {}).unwrap().unwrap();
    assert!(!part.join("frame/Checking.xml").exists());

    let again = Database::open_writer(&dir.path().join("again")).unwrap();
    let report = mini::import(&again, &out).unwrap();
    assert_eq!(report.release.counts.exemplar_sets, 2);
    assert_eq!(report.release.counts.frames, 2);
}

#[test]
fn a_release_whose_sets_are_all_its_own_goes_out_as_it_came() {
    let (_dir, database, _) = mini::imported();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    let again = Database::open_writer(&dir.path().join("store")).unwrap();
    mini::import(&again, &out).unwrap();
    assert_equal(&database, &again);
    for file in ["luIndex.xml", "frameIndex.xml", "lu/lu1002.xml"] {
        let theirs = read(&mini::framenet(), file);
        assert_eq!(content_of(&read(&out, file)), content_of(&theirs), "{file}");
    }
}

#[test]
fn a_part_of_full_text_has_the_files_of_its_lus_if_only_without_sentences() {
    let (_dir, database, _) = mini::imported();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("part");
    export(&database, "origin=fulltext frame=Checking", &out).unwrap().unwrap();
    let frame = read(&out, "frame/Checking.xml");
    let mut lexunits = 0;
    for entry in frame.split("<lexUnit ").skip(1) {
        let id = entry.split(" ID=\"").nth(1).unwrap().split('"').next().unwrap();
        let file = read(&out, &format!("lu/lu{id}.xml"));
        assert!(!file.contains("<sentence "), "{file}");
        lexunits += 1;
    }
    assert!(lexunits > 0);
    assert_eq!(read(&out, "luIndex.xml").matches("<lu ").count(), lexunits);
}

#[test]
fn what_people_define_without_words_has_no_empty_definition() {
    let (_dir, database) = crate::own_numbers::annotated();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("mini-framenet");
    export(&database, "", &out).unwrap().unwrap();
    assert!(!read(&out, "frame/Zooming.xml").contains("<definition"));
    assert!(read(&out, "frame/Checking.xml").contains("<definition>"));
}
