//! A second import: refused under the same name, side by side under another.

use fnstore::database::{Database, DatabaseError, ReleaseError};
use fnstore::internals::WithStore as _;
use fnstore::query::{Case, Pattern};
use fnstore::transfer::ImportOptions;

use crate::framenet_round_trip::same;
use crate::mini;

#[test]
fn a_release_of_the_same_name_is_refused() {
    let (dir, database, _) = mini::imported();
    let before = mini::content(&database);
    let revision = database.store().revision().unwrap();
    let error = mini::import(&database, &mini::framenet()).unwrap_err();
    let DatabaseError::Release(ReleaseError::Exists { name, source_path }) = &error else {
        panic!("{error}")
    };
    assert_eq!(name, "mini-framenet");
    assert!(source_path.ends_with("mini-framenet"));
    assert!(error.to_string().contains("choose another name"), "{error}");
    assert_eq!(mini::content(&database), before);
    assert_eq!(database.store().revision().unwrap(), revision);
    drop(database);
    assert_eq!(mini::content(&Database::open(dir.path()).unwrap()), before);
}

#[test]
fn releases_lie_side_by_side() {
    let (_dir, database, first) = mini::imported();
    let options = ImportOptions {
        release: Some("again".to_owned()),
        language: Some("en-GB".to_owned()),
        ..ImportOptions::default()
    };
    let second = database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
    assert_eq!(second.release.counts, first.release.counts);
    assert_eq!(second.release.language, "en-GB");
    assert_ne!(second.release.id, first.release.id);
    let names: Vec<String> =
        database.releases().unwrap().into_iter().map(|release| release.name).collect();
    assert_eq!(names, ["mini-framenet", "again"]);

    // Ids are FrameNet's own, and those that stand in for a number used twice are no other.
    let (store, ids) = (database.store(), (first.release.id, second.release.id));
    same(store.sentences(ids.0).unwrap(), store.sentences(ids.1).unwrap());
    same(store.annotation_sets(ids.0).unwrap(), store.annotation_sets(ids.1).unwrap());
    same(store.all_sentence_layers(ids.0).unwrap(), store.all_sentence_layers(ids.1).unwrap());
    same(store.lexunits(ids.0).unwrap(), store.lexunits(ids.1).unwrap());

    for query in ["frame=Checking", "trigger=checked", "lu=mend.v or id=x7002", "text~\"roof\""] {
        let both = mini::answers(&database, query);
        let of = |release: &str| mini::answers(&database, &format!("release={release} ({query})"));
        let (old, new) = (of("mini-framenet"), of("again"));
        assert_eq!(both, [old.clone(), new.clone()].concat(), "{query}");
        assert_eq!(old.len(), new.len(), "{query}");
        assert!(!old.is_empty(), "{query}");
    }
    let checking = Pattern::exact("checking", Case::Fold);
    assert_eq!(database.frame_profiles(&checking).unwrap().len(), 2);
}

#[test]
fn a_reader_cannot_import() {
    let (dir, database, _) = mini::imported();
    drop(database);
    let reader = Database::open(dir.path()).unwrap();
    let error = mini::import(&reader, &mini::framenet()).unwrap_err();
    assert!(matches!(error, DatabaseError::ReadOnly { .. }), "{error}");
}
