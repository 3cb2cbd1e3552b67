//! FrameNet 1.5 itself, where it is at hand: `FNSTORE_REAL_DATA=1` and
//! `../shared/data/fndata-1.5.zip`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::framenet::{Source, WarningCode};
use fnstore::internals::WithStore as _;
use fnstore::lexicon::propagate;
use fnstore::model::{Frame, FrameRelation};

use crate::{framenet_round_trip, mini};

/// The archive, when it is at hand and the tests of real data are asked for.
pub(crate) fn archive() -> Option<PathBuf> {
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/fndata-1.5.zip");
    let release = std::env::var_os("FNSTORE_REAL_DATA_FILE").map_or(release, Into::into);
    if std::env::var_os("FNSTORE_REAL_DATA").is_some() && release.exists() {
        return Some(release);
    }
    skipped!("set FNSTORE_REAL_DATA=1 and have {} to run it", release.display());
    None
}

#[test]
fn framenet_1_5_goes_out_and_comes_back_the_same() {
    let Some(archive) = archive() else { return };
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(&dir.path().join("first")).unwrap();
    mini::import(&database, &archive).unwrap();
    let out = dir.path().join("fndata-1.5");
    let done = framenet_round_trip::export(&database, "", &out).unwrap().unwrap();
    assert!(done.lost.is_empty() && done.left_out.is_empty(), "{done:?}");
    assert_eq!((done.frames, done.lu_files, done.documents), (1_019, 11_829, 78));
    assert_eq!(done.sets, 154_607 + 23_944);

    // The files themselves: FrameNet's own, byte by byte.
    let (theirs, ours) = (Source::open(&archive).unwrap(), Source::open(&out).unwrap());
    let (mut theirs_reader, mut ours_reader) = (theirs.reader().unwrap(), ours.reader().unwrap());
    let mut different = Vec::new();
    let top =
        ["frameIndex.xml", "luIndex.xml", "fulltextIndex.xml", "semTypes.xml", "frRelation.xml"];
    let folders = ["frame/", "lu/", "fulltext/"];
    let names = folders.into_iter().flat_map(|folder| theirs.xml_files(folder));
    for name in names.chain(top) {
        if !ours.has(name) || theirs_reader.read(name).unwrap() != ours_reader.read(name).unwrap() {
            different.push(name);
        }
    }
    assert_eq!(different, Vec::<&str>::new(), "{} files differ", different.len());

    let again = Database::open_writer(&dir.path().join("second")).unwrap();
    mini::import(&again, &out).unwrap();
    framenet_round_trip::assert_equal(&database, &again);
}

#[test]
fn framenet_1_5_comes_in_without_loss() {
    let Some(release) = archive() else { return };
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let counts = report.release.counts;
    assert_eq!(report.release.name, "bfn-1.5");
    // Full text names a frame and an LU that no file defines, `Test35` and `backstitch.v`, twice.
    assert_eq!((counts.frames, counts.lexunits), (1_019 + 1, 11_942 + 1));
    assert_eq!((counts.lu_files, counts.documents), (11_829, 78));
    assert_eq!((counts.exemplar_sets, counts.fulltext_sets), (154_607, 23_944));
    assert_eq!((counts.construction_sets, counts.sentence_layer_occurrences), (38, 160_431));
    assert_eq!(counts.sentence_occurrences, 160_431);
    assert_eq!(report.warnings.count(WarningCode::UnknownElement), 0);
    assert_eq!(report.warnings.count(WarningCode::UnreadableValue), 0);

    let mut statuses: BTreeMap<(&str, String), u64> = BTreeMap::new();
    for set in database.store().annotation_sets(report.release.id).unwrap() {
        let set = set.unwrap();
        *statuses.entry((set.provenance.origin().as_str(), set.status)).or_default() += 1;
    }
    let expected = [
        (("exemplar", "AUTO_APP"), 546),
        (("exemplar", "AUTO_EDITED"), 4_125),
        (("exemplar", "MANUAL"), 149_931),
        (("exemplar", "UNANN"), 5),
        (("fulltext", "MANUAL"), 23_049),
        (("fulltext", "UNANN"), 895),
    ];
    let expected = expected.map(|((origin, status), count)| ((origin, status.to_owned()), count));
    assert_eq!(statuses, expected.into());

    let count = |query: &str| mini::answers(&database, query).len();
    assert_eq!(count("frame=Verification origin=exemplar"), 85);
    assert_eq!(count("frame=Verification origin=fulltext"), 38);
    assert_eq!(count("frame=Verification"), 123);
    let lexicon = database.lexicon("bfn-1.5").unwrap();
    let coverage = lexicon.coverage(|lu| lu.status != "Problem").unwrap().total;
    // The LU files, and one LU that only full text names.
    assert_eq!((coverage.lus, coverage.without_exemplars), (11_829 + 1, 4_118 + 1));
    let frames: Vec<Frame> = lexicon.frames().unwrap().map(Result::unwrap).collect();
    let relations: Vec<FrameRelation> = lexicon.relations().unwrap().map(Result::unwrap).collect();
    let types = propagate(&frames, &relations, &lexicon.semtype_tree().unwrap());
    // NLTK, which goes in order of file, hands on 1,011 and says nothing of contradictions.
    assert_eq!((types.derived.len(), types.contradictions.len()), (1_010, 185));
}
