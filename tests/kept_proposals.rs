//! The list of proposals that is read from what commits keep is the one that is made of the sets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use fnstore::database::{Database, Write};
use fnstore::edit::{Fate, Removal};
use fnstore::internals::WithStore as _;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, Extent, FrameFit, FrameId, IdSpace, Label, LuId, OWN_RANGE,
    Provenance, ReleaseId, Reviewed, Sentence, SentenceId, Span, Verification,
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
    with_rows(dir, |db| rows_in(db, "evidence"))
}

fn rows_in(db: &DB, family: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = db.iterator_cf(db.cf_handle(family).unwrap(), IteratorMode::Start);
    rows.map(Result::unwrap).map(|(key, value)| (key.into(), value.into())).collect()
}

/// Damages the first block of each file of a family.
fn damage(dir: &Path, family: &str) {
    let files = with_rows(dir, |db| {
        db.flush_cf(db.cf_handle(family).unwrap()).unwrap();
        db.live_files().unwrap()
    });
    let files: Vec<_> = files.iter().filter(|file| file.column_family_name == family).collect();
    assert!(!files.is_empty(), "{family} has no files");
    for file in files {
        let path = dir.join("db").join(file.name.trim_start_matches('/'));
        let mut bytes = fs::read(&path).unwrap();
        bytes[1] ^= 0x20;
        fs::write(path, bytes).unwrap();
    }
}

/// A commit that touches no set.
fn commit(dir: &Path) {
    let database = Database::open_existing_writer(dir).unwrap();
    database.store().recipe([9; 16], "{}").unwrap();
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

/// Many sets of one LU, more than are held as its best.
fn expand_one(database: &Database, release: ReleaseId, number: usize) {
    let seeds = [7012, 7006, 7001];
    let row = |at: usize| {
        let (seed, round, p) = (seeds[at % 3], 1 + (at % 4) as u16, (at * 7 % 23) as f32 / 23.0);
        (3, "patrol.v", "patrolled", seed, round, p)
    };
    let rows: Vec<_> = (0..12 + number % 9).map(row).collect();
    propose_more(database, release, 1_000 + 100 * number as u64, &rows);
}

/// The generated sets of the proposed LU that has most of them, by the filter, the best first.
fn of_largest(database: &Database, release: ReleaseId) -> Vec<AnnotationSet> {
    let mut by_lu: BTreeMap<LuId, Vec<AnnotationSet>> = BTreeMap::new();
    for set in proposed_sets(database, release) {
        by_lu.entry(set.lu).or_default().push(set);
    }
    let mut sets = by_lu.into_values().max_by_key(Vec::len).unwrap_or_default();
    let precision = |set: &AnnotationSet| match &set.provenance {
        Provenance::Generated(made) => made.filter.map_or(-1.0, |scores| scores.precision),
        _ => -1.0,
    };
    sets.sort_by(|a, b| precision(b).total_cmp(&precision(a)));
    sets
}

/// Removes the best sets of an LU, so many of them, in one commit.
fn remove_best(database: &Database, release: ReleaseId, number: usize) {
    let best: Vec<_> = of_largest(database, release).into_iter().take(number).collect();
    if best.is_empty() {
        return;
    }
    let mut edits = database.transaction(release).unwrap();
    for set in best {
        edits.remove_annotation_set(set.id, Removal::Cascade).unwrap();
    }
    edits.commit().unwrap();
}

/// Sets whose targets are parts of names.
fn sell(database: &Database, release: ReleaseId, number: usize) {
    let row = (4, "Gogh.n", "Gogh", 7012, 1, 0.9);
    let first = 10_000 + 100 * number as u64;
    propose_more(database, release, first, &[row; 2]);
    let mut write = Write::default();
    for at in first..first + 2 {
        let id = AnnotationSetId::new(IdSpace::Generated, at);
        let mut set = database.store().annotation_set(release, id).unwrap().unwrap();
        let target = Span::new(14, 18);
        set.targets = vec![target];
        set.layers[0].labels = vec![Label::new("Target", Extent::Overt(target))];
        let sentence = database.store().sentence(release, set.sentence).unwrap().unwrap();
        let text = "He sold a Van Gogh there .".to_owned();
        write.sentences.push(Sentence { text, ..sentence });
        write.sets.push(set);
    }
    database.write(release, &write).unwrap();
}

/// Turns what `sell` wrote into no name, and back.
fn reword(database: &Database, release: ReleaseId, number: usize) {
    let sets = proposed_sets(database, release).into_iter();
    let sentence = |set: AnnotationSet| database.store().sentence(release, set.sentence);
    let mut sentences: Vec<Sentence> = sets.filter_map(|set| sentence(set).unwrap()).collect();
    sentences.retain(|sentence| sentence.text.contains("an Gogh"));
    let Some(sentence) = sentences.get(number % sentences.len().max(1)) else { return };
    let (from, by) = if sentence.text.contains("Van") { ("Van", "van") } else { ("van", "Van") };
    let sentence = Sentence { text: sentence.text.replace(from, by), ..sentence.clone() };
    database.write(release, &Write { sentences: vec![sentence], ..Write::default() }).unwrap();
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
        (8, Some(set)) => {
            let mut edits = database.transaction(release).unwrap();
            edits.remove_annotation_set(set.id, Removal::Cascade).unwrap();
            let revision = edits.commit().unwrap();
            database.undo(&[revision], "").unwrap();
        }
        (9, _) => {
            let id = AnnotationSetId::new(IdSpace::Imported, 1 << 40 | number as u64);
            if let Some(set) = sets.first().cloned() {
                let set = AnnotationSet { id, provenance: Provenance::User, ..set };
                let write = Write { sets: vec![set], ..Write::default() };
                database.write(release, &write).unwrap();
            }
        }
        (10, _) => expand_one(database, release, number),
        (11, _) => remove_best(database, release, 6 + number % 8),
        (12, _) => sell(database, release, number),
        (13, _) => reword(database, release, number),
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
        steps in prop::collection::vec((0..14_u8, 0..60_usize), 1..25),
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
        commit(dir.path());
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
        let of_lu = rows_in(db, "evidence").into_iter().filter(|(key, _)| key[2] == 1);
        let (key, mut value) = of_lu.last().unwrap();
        value[1] += 1;
        db.put_cf(db.cf_handle("evidence").unwrap(), key, value).unwrap();
    });
    assert_ne!(listed(dir.path()), before);
    distrust(dir.path());
    assert_eq!(listed(dir.path()), before);
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
    commit(dir.path());
    assert_eq!(rows(dir.path()), made);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
    assert_eq!(fnstore_in(dir.path(), &["stats", "--format", "csv"]).stdout, counted);
}

#[test]
fn best_sets_that_go_are_followed_by_those_behind_them() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    expand_one(&database, release, 8);
    let ids: Vec<_> = of_largest(&database, release).iter().map(|set| set.id).collect();
    assert_eq!(ids.len(), 20);
    for gone in [7, 14] {
        remove_best(&database, release, 7);
        let proposals = Proposals::new(&database, None, Ranker::default());
        let proposal = proposals.of(release, CHECKING, "patrol.v").unwrap();
        let shown: Vec<_> = proposal.sentences.iter().map(|of| of.set).collect();
        assert_eq!(shown, ids[gone..gone + 3]);
    }
    drop(database);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
}

#[test]
fn a_word_is_refused_as_long_as_its_sentences_show_a_name() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    sell(&database, release, 0);
    let refused = || {
        let proposals = Proposals::new(&database, None, Ranker::default());
        let listed = proposals.list_apart(&"lu=Gogh.n".parse().unwrap(), false).unwrap();
        (listed.proposals.len(), listed.refused.len())
    };
    assert_eq!(refused(), (0, 1));
    for number in 0..2 {
        reword(&database, release, number);
    }
    assert_eq!(refused(), (1, 0));
    drop(database);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
}

#[test]
fn a_sentence_that_can_be_read_again_tells_of_names_again() {
    let (dir, database, report) = mini::imported();
    let release = report.release.id;
    generated::write(&database, release);
    sell(&database, release, 0);
    let id = SentenceId::new(IdSpace::Generated, 10_000);
    let sentence = database.store().sentence(release, id).unwrap().unwrap();
    drop(database);
    with_rows(dir.path(), |db| {
        let of_id = |key: &[u8]| key[2..] == id.bits().to_be_bytes();
        let rows = rows_in(db, "sentence").into_iter();
        let (key, _) = rows.rev().find(|(key, _)| of_id(key)).unwrap();
        db.put_cf(db.cf_handle("sentence").unwrap(), key, b"\xff").unwrap();
    });
    distrust(dir.path());
    commit(dir.path());
    let without = rows(dir.path());
    let database = Database::open_existing_writer(dir.path()).unwrap();
    database.write(release, &Write { sentences: vec![sentence], ..Write::default() }).unwrap();
    drop(database);
    assert_ne!(rows(dir.path()), without);
    assert_eq!(miscounted(dir.path()), Vec::<String>::new());
}

#[test]
fn damage_refuses_no_commit_and_no_repair() {
    let families = ["verification", "annotation", "sentence"];
    for (family, is_current) in families.into_iter().flat_map(|of| [(of, true), (of, false)]) {
        let (dir, database, report) = mini::imported();
        let release = report.release.id;
        generated::write(&database, release);
        expand_one(&database, release, 0);
        let set = of_largest(&database, release).remove(0);
        verify(&database, release, set.id, 1);
        let sentence = database.store().sentence(release, set.sentence).unwrap().unwrap();
        drop(database);
        if !is_current {
            distrust(dir.path());
        }
        damage(dir.path(), family);
        let database = Database::open_existing_writer(dir.path()).unwrap();
        for number in 900..902 {
            let sentence =
                Sentence { id: SentenceId::new(IdSpace::Generated, number), ..sentence.clone() };
            let id = AnnotationSetId::new(IdSpace::Generated, number);
            let set = AnnotationSet { id, sentence: sentence.id, ..set.clone() };
            let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
            database.write(release, &write).unwrap_or_else(|error| panic!("{family}: {error}"));
            assert!(database.store().set_location(release, id).unwrap().is_some());
        }
        drop(database);
        assert!(is_current || rows(dir.path()).is_empty(), "evidence beside a damaged {family}");
        let repaired = Database::repair(dir.path()).unwrap();
        assert!(!repaired.kept.is_empty(), "{family}");
        assert_eq!(repaired.recounted, [""; 0], "{family}");
        let repair = fnstore_in(dir.path(), &["check", "--repair", "--yes", "--format", "json"]);
        let repair: serde_json::Value = serde_json::from_str(&repair.stdout).unwrap();
        assert_ne!(repair["findings"], serde_json::json!([]), "{family}");
    }
}

#[test]
fn what_was_kept_of_a_release_goes_after_it() {
    let dir = store();
    let families = ["count", "evidence"];
    let kept = |db: &mut DB| families.map(|family| rows_in(db, family));
    let made = with_rows(dir.path(), kept);
    // A program that knows nothing of them has removed release 9.
    with_rows(dir.path(), |db| {
        for (family, rows) in families.iter().zip(&made) {
            for (key, value) in rows {
                let key = [&[0, 9][..], &key[2..]].concat();
                db.put_cf(db.cf_handle(family).unwrap(), key, value).unwrap();
            }
        }
    });
    distrust(dir.path());
    commit(dir.path());
    assert_eq!(with_rows(dir.path(), kept), made);
}
