//! The list of proposals that is read from what commits keep is the one that is made of the sets.

use std::path::Path;
use std::sync::OnceLock;

use fnstore::database::{Database, Write};
use fnstore::edit::{Fate, Removal};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, FrameFit, FrameId, IdSpace, LuId, OWN_RANGE, Provenance,
    ReleaseId, Reviewed, Verification,
};
use fnstore::proposals::{Listed, Proposals, Ranker};
use fnstore::query::Expression;
use fnstore::transfer::ImportOptions;
use fnstore::upkeep::{CheckCode, CheckOptions};
use fnstore::vectors::WordVectors;
use proptest::prelude::*;
use rocksdb::{DB, IteratorMode, Options};
use tempfile::TempDir;

use crate::cli_program::fnstore_in;
use crate::proposals::propose_more;
use crate::{generated, mini};

const CHECKING: FrameId = FrameId(102);

/// Changes rows below fnstore, as damage or another program would.
fn with_rows<T>(dir: &Path, edit: impl FnOnce(&mut DB) -> T) -> T {
    let (options, path) = (Options::default(), dir.join("db"));
    let families = DB::list_cf(&options, &path).unwrap();
    edit(&mut DB::open_cf(&options, &path, families).unwrap())
}

/// Makes the store one that an earlier program wrote to.
fn distrust(dir: &Path) {
    with_rows(dir, |db| db.delete_cf(db.cf_handle("meta").unwrap(), b"sums").unwrap());
}

/// The rows of `evidence`.
fn rows(dir: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    with_rows(dir, |db| {
        let rows = db.iterator_cf(db.cf_handle("evidence").unwrap(), IteratorMode::Start);
        rows.map(Result::unwrap).map(|(key, value)| (key.into(), value.into())).collect()
    })
}

/// What a check says of counts and evidence.
fn miscounted(dir: &Path) -> Vec<String> {
    let report = Database::check_at(dir, CheckOptions::default(), &mut |_| {}).unwrap();
    let found = report.findings.iter().filter(|(code, ..)| *code == CheckCode::Counts);
    found.flat_map(|(_, _, examples)| examples.iter().map(|of| of.detail.clone())).collect()
}

fn vectors() -> &'static WordVectors {
    static VECTORS: OnceLock<WordVectors> = OnceLock::new();
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/word-vectors");
    VECTORS.get_or_init(|| WordVectors::open(&models).unwrap())
}

/// The proposals of queries that ask for places alone, with those that were decided on and without.
fn listed(dir: &Path) -> Vec<Listed> {
    let database = Database::open(dir).unwrap();
    let proposals = Proposals::new(&database, Some(vectors()), Ranker::default());
    let queries = ["", "frame=Checking", "lu=v* origin!=user", "not lemma=vet"];
    let of = |query: &str| {
        let query: Expression = query.parse().unwrap();
        [true, false].map(|with_decided| proposals.list_apart(&query, with_decided).unwrap())
    };
    queries.into_iter().flat_map(of).collect()
}

fn by_kim() -> Reviewed {
    Reviewed { reviewer: "kim".to_owned(), time: 1, note: String::new() }
}

/// The generated sets of proposed LUs.
fn proposed_sets(database: &Database, release: ReleaseId) -> Vec<AnnotationSet> {
    let sets = database.store().annotation_sets(release).unwrap().map(Result::unwrap);
    let is_own = |set: &AnnotationSet| {
        set.lu.0 >= OWN_RANGE && matches!(set.provenance, Provenance::Generated(_))
    };
    sets.filter(is_own).collect()
}

/// Another output of an expansion.
fn expand(database: &Database, release: ReleaseId, number: usize) {
    let names = ["vet.v", "wander.v", "the.v", "patrol.v", "Gogh.n"];
    let which = number % names.len();
    let trigger = ["vetted", "wandered", "the", "patrolled", "Gogh"][which];
    let (seed, round) = ([7012, 7006, 7001][number % 3], 1 + (number % 4) as u16);
    let p = (number % 7) as f32 / 7.3;
    let row = (which as u32, names[which], trigger, seed, round, p);
    propose_more(database, release, 500 + number as u64, &[row]);
}

/// Writes the scores of a set anew, or another text of its sentence.
fn rewrite(database: &Database, release: ReleaseId, mut set: AnnotationSet, number: usize) {
    let mut write = Write::default();
    if let Provenance::Generated(made) = &mut set.provenance {
        match number % 4 {
            0 => made.filter = None,
            1 => {
                made.fit =
                    Some(FrameFit { probability: 0.1 * number as f32 / 60.0, model: [1; 16] })
            }
            2 => made.flags.unknown_word = !made.flags.unknown_word,
            _ => {
                let sentence = database.store().sentence(release, set.sentence).unwrap().unwrap();
                let text = sentence.text.replace("He ", "Bo ");
                write.sentences.push(fnstore::model::Sentence { text, ..sentence });
                database.write(release, &write).unwrap();
                return;
            }
        }
    }
    write.sets.push(set);
    database.write(release, &write).unwrap();
}

fn verify(database: &Database, release: ReleaseId, set: AnnotationSetId, number: usize) {
    let evokes = (number % 5 > 0).then_some(number as f32 / 60.0);
    let verification = Verification { set, evokes, ..generated::verification() };
    generated::verify(database, release, vec![verification]);
}

/// What a reviewer decides.
fn decide(database: &Database, release: ReleaseId, number: usize) {
    let proposals = Proposals::new(database, None, Ranker::default());
    let fates = [Fate::Accept, Fate::Reject, Fate::Merge(LuId(1008)), Fate::Move(FrameId(101))];
    let fate = fates[number % 4];
    let name = ["vet.v", "wander.v", "patrol.v"][number % 3];
    // There may be no such proposal.
    let _ = proposals.decide(release, (CHECKING, name), fate, by_kim());
}

/// One step of a history, by number.
fn change(database: &Database, release: ReleaseId, kind: u8, number: usize) {
    let sets = proposed_sets(database, release);
    let set = sets.get(number % sets.len().max(1)).cloned();
    match (kind, set) {
        (0..3, _) => expand(database, release, number),
        (3, Some(set)) => rewrite(database, release, set, number),
        (4, Some(set)) => verify(database, release, set.id, number),
        (5, _) => decide(database, release, number),
        (6, _) => {
            let proposals = Proposals::new(database, None, Ranker::default());
            let name = ["vet.v", "wander.v", "patrol.v"][number % 3];
            let _ = proposals.undo(release, (CHECKING, name), by_kim());
        }
        (7, Some(set)) => {
            let mut edits = database.transaction(release).unwrap();
            if number.is_multiple_of(2) {
                edits.remove_annotation_set(set.id, Removal::Cascade).unwrap();
            } else {
                edits.remove_sentence(set.sentence, Removal::Cascade).unwrap();
            }
            edits.commit().unwrap();
        }
        (8, _) => {
            let last = database.store().revision().unwrap();
            let _ = database.undo(&[last], "");
        }
        (9, _) => {
            let id = AnnotationSetId::new(IdSpace::Imported, 1 << 40 | number as u64);
            if let Some(set) = sets.first().cloned() {
                let set = AnnotationSet { id, provenance: Provenance::User, ..set };
                let write = Write { sets: vec![set], ..Write::default() };
                database.write(release, &write).unwrap();
            }
        }
        _ => {}
    }
}

/// A store with proposals; closed.
fn store() -> TempDir {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    for number in 0..12 {
        expand(&database, report.release.id, number);
    }
    drop(database);
    dir
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(8)
    })]

    #[test]
    fn what_is_kept_is_what_is_made(
        steps in prop::collection::vec((0..10_u8, 0..60_usize), 1..25),
        has_second: bool,
    ) {
        let (dir, database, report) = mini::imported();
        let release = report.release.id;
        generated::write(&database, release);
        if has_second {
            let name = Some("second".to_owned());
            let options = ImportOptions { release: name, ..ImportOptions::default() };
            let second = database.import(&mini::framenet(), &options, &mut |_| {}).unwrap();
            expand(&database, second.release.id, 1);
        }
        for &(kind, number) in &steps {
            change(&database, release, kind, number);
        }
        if has_second && steps.len() % 2 == 0 {
            database.remove_release("second").unwrap();
        }
        drop(database);
        prop_assert_eq!(miscounted(dir.path()), Vec::<String>::new());
        let kept = listed(dir.path());
        distrust(dir.path());
        let made = listed(dir.path());
        prop_assert_eq!(&kept, &made);
        let database = Database::open_existing_writer(dir.path()).unwrap();
        database.store().recipe([9; 16], "{}").unwrap();
        drop(database);
        prop_assert_eq!(miscounted(dir.path()), Vec::<String>::new());
        prop_assert_eq!(listed(dir.path()), made);
    }
}

#[test]
fn the_list_is_read_and_not_made() {
    let dir = store();
    let before = listed(dir.path());
    assert!(before[0].proposals.len() > 2 && !before[0].refused.is_empty(), "{before:?}");
    // What stands there is told; the sets are not asked.
    with_rows(dir.path(), |db| {
        let of_lu = rows_in(db).into_iter().filter(|(key, _)| key[2] == 1);
        let (key, mut value) = of_lu.last().unwrap();
        value[1] += 1;
        db.put_cf(db.cf_handle("evidence").unwrap(), key, value).unwrap();
    });
    assert_ne!(listed(dir.path()), before);
    distrust(dir.path());
    assert_eq!(listed(dir.path()), before);
}

fn rows_in(db: &DB) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = db.iterator_cf(db.cf_handle("evidence").unwrap(), IteratorMode::Start);
    rows.map(Result::unwrap).map(|(key, value)| (key.into(), value.into())).collect()
}

#[test]
fn wrong_evidence_is_found_and_mended_by_a_repair() {
    for kind in 0..3 {
        let dir = store();
        let made = rows(dir.path());
        for is_gone in [true, false] {
            with_rows(dir.path(), |db| {
                let family = db.cf_handle("evidence").unwrap();
                let of_kind = made.iter().filter(|(key, _)| key[2] == kind);
                let (key, value) = of_kind.last().unwrap();
                let mut value = value.clone();
                let at = if kind == 1 { 1 } else { 7 };
                value[at] += 1;
                match is_gone {
                    true => db.delete_cf(family, key).unwrap(),
                    false => db.put_cf(family, key, value).unwrap(),
                }
            });
            assert!(!miscounted(dir.path()).is_empty(), "{kind} {is_gone}");
            let repair = fnstore_in(dir.path(), &["check", "--repair", "--format", "json"]);
            let repair: serde_json::Value = serde_json::from_str(&repair.stdout).unwrap();
            assert_eq!(repair["recounted"], serde_json::json!(["mini-framenet"]), "{repair}");
            assert_eq!(repair["findings"], serde_json::json!([]));
            assert_eq!(rows(dir.path()), made);
        }
    }
}

#[test]
fn counts_and_evidence_of_an_earlier_commit_are_not_read_and_made_anew() {
    let dir = store();
    let (before, made) = (listed(dir.path()), rows(dir.path()));
    let counted = fnstore_in(dir.path(), &["stats", "--format", "csv"]).stdout;
    // A program that knows nothing of them commits.
    with_rows(dir.path(), |db| {
        let (meta, evidence) = (db.cf_handle("meta").unwrap(), db.cf_handle("evidence").unwrap());
        let mut sums = db.get_cf(meta, b"sums").unwrap().unwrap();
        sums[7] -= 1;
        db.put_cf(meta, b"sums", sums).unwrap();
        for (key, _) in &made[1..4] {
            db.delete_cf(evidence, key).unwrap();
        }
        let count = db.cf_handle("count").unwrap();
        let rows = db.iterator_cf(count, IteratorMode::Start).map(Result::unwrap);
        for (key, _) in rows.collect::<Vec<_>>() {
            db.put_cf(count, key, 7_u64.to_be_bytes()).unwrap();
        }
    });
    assert_eq!(listed(dir.path()), before);
    assert_eq!(fnstore_in(dir.path(), &["stats", "--format", "csv"]).stdout, counted);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
    let database = Database::open_existing_writer(dir.path()).unwrap();
    database.store().recipe([9; 16], "{}").unwrap();
    drop(database);
    assert_eq!(rows(dir.path()), made);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
    assert_eq!(fnstore_in(dir.path(), &["stats", "--format", "csv"]).stdout, counted);
}
