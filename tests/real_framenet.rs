//! FrameNet 1.5 itself, where it is at hand: `FNSTORE_REAL_DATA=1` and `../shared/data/fndata-1.5.zip`.

use std::collections::BTreeMap;
use std::path::Path;

use fnstore::database::Database;
use fnstore::framenet::WarningCode;

use crate::mini;

#[test]
fn framenet_1_5_comes_in_without_loss() {
    let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/fndata-1.5.zip");
    let release = std::env::var_os("FNSTORE_REAL_DATA_FILE").map_or(release, Into::into);
    if std::env::var_os("FNSTORE_REAL_DATA").is_none() || !release.exists() {
        println!("skipped: set FNSTORE_REAL_DATA=1 and have {} to run it", release.display());
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let database = Database::open_writer(dir.path()).unwrap();
    let report = mini::import(&database, &release).unwrap();
    let counts = report.release.counts;
    assert_eq!(report.release.name, "bfn-1.5");
    assert_eq!((counts.frames, counts.lu_files, counts.documents), (1_019, 11_829, 78));
    assert_eq!((counts.exemplar_sets, counts.fulltext_sets), (154_602, 23_944));
    assert_eq!((counts.construction_sets, counts.sentence_layer_occurrences), (38, 160_436));
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
        (("fulltext", "MANUAL"), 23_049),
        (("fulltext", "UNANN"), 895),
    ];
    let expected = expected.map(|((origin, status), count)| ((origin, status.to_owned()), count));
    assert_eq!(statuses, expected.into());

    let count = |query: &str| mini::answers(&database, query).len();
    assert_eq!(count("frame=Verification origin=exemplar"), 85);
    assert_eq!(count("frame=Verification origin=fulltext"), 38);
    assert_eq!(count("frame=Verification"), 123);
}
