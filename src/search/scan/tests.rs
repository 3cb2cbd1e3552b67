//! Scans of a store that grows, changes and is damaged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::database::Write;
use crate::edit::Removal;
use crate::model::{
    AnnotationSet, AnnotationSetId, FrameId, Generation, IdSpace, LuId, Provenance, ReleaseId,
    Sentence, SentenceId,
};
use crate::query::Field;
use crate::transfer::ImportOptions;
use crate::upkeep::CheckOptions;

/// What grows from a seed of the release: which seed, round and rank.
type Grown = (usize, u16, u16);

/// Some sets that have grown, over sentences of their own; their numbers begin at one.
fn grown(database: &Database, release: ReleaseId, first: usize, all: &[Grown]) -> Write {
    let recipe = database.store().recipe([7; 16], "{}").unwrap();
    let seeds = database.store().annotation_sets(release).unwrap().map(|set| set.unwrap());
    let seeds: Vec<AnnotationSet> =
        seeds.filter(|set| set.id.space() != IdSpace::Generated).collect();
    let mut write = Write::default();
    for (number, (of, round, rank)) in all.iter().enumerate() {
        let seed = &seeds[of % seeds.len()];
        // As hashes are: numbers far from each other.
        let number = ((first + number) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8;
        let (set, sentence) = (
            AnnotationSetId::new(IdSpace::Generated, number),
            SentenceId::new(IdSpace::Generated, number),
        );
        let text = database.store().sentence(release, seed.sentence).unwrap().unwrap().text;
        let text = format!("{text} {number:x}");
        let occurrences = Vec::new();
        write.sentences.push(Sentence { id: sentence, xml_id: None, text, occurrences });
        let generation = Generation { rank: *rank, ..Generation::of_seed(seed.id, *round, recipe) };
        let provenance = Provenance::Generated(Box::new(generation));
        write.sets.push(AnnotationSet {
            id: set,
            xml_id: None,
            sentence,
            provenance,
            ..seed.clone()
        });
    }
    write
}

/// A store of so many sets, some of which the index does not know.
fn store_of(grown_sets: &[Grown], lagging: &[Grown]) -> (tempfile::TempDir, Database) {
    let store = tempfile::tempdir().unwrap();
    let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    let database = Database::open_writer(store.path()).unwrap();
    let options = ImportOptions::default();
    let release = database.import(mini.as_ref(), &options, &mut |_| {}).unwrap().release.id;
    database.write(release, &grown(&database, release, 1, grown_sets)).unwrap();
    database.store().compact().unwrap();
    let mut loader = database.loader(release).unwrap();
    loader.write(&grown(&database, release, grown_sets.len() + 1, lagging)).unwrap();
    drop(loader);
    (store, database)
}

/// Everything that a scan says of a query.
fn all_of(database: &Database, query: &str) -> Vec<String> {
    let query = Expression::parse(query).unwrap();
    let (mut answers, mut said) = (Vec::new(), Vec::new());
    let add = |some: &mut Vec<Answer>, answer| {
        some.push(answer);
        Ok::<_, DatabaseError>(())
    };
    let take = |some| {
        answers.extend(some);
        Ok(())
    };
    database.fold_answers(&query, Vec::new, add, take).unwrap();
    said.push(format!("{answers:?}"));
    let (mut lines, mut csv, mut parquet) = (Vec::new(), Vec::new(), Vec::new());
    database.export_jsonl(&query, false, &mut lines).unwrap();
    database.export_csv(&query, &mut csv).unwrap();
    database.export_parquet(&query, &mut parquet).unwrap();
    said.extend([lines, csv, parquet].map(|bytes| crate::model::hexadecimal(&bytes)));
    let lexicon = database.lexicon("mini-framenet").unwrap();
    said.push(format!("{:?}", lexicon.growth(&query).unwrap()));
    said.push(format!("{:?}", database.count(&query).unwrap()));
    said.push(format!("{:?}", database.count_by(&query, &[Field::Trigger]).unwrap()));
    said
}

const QUERIES: [&str; 7] = [
    "",
    "frame=Checking",
    "origin=generated round>=2",
    "trigger=look*",
    "not lu=inspect.v",
    "text~\"[0-3]$\"",
    "origin=generated lu=inspect.v or origin=fulltext",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3) })]

    #[test]
    fn any_number_of_threads_says_what_one_says(
        grown_sets in prop::collection::vec((any::<usize>(), 1..4_u16, 0..3_u16), 300..700),
        lagging in prop::collection::vec((any::<usize>(), 1..4_u16, 0..3_u16), 0..40),
    ) {
        let (_dir, database) = store_of(&grown_sets, &lagging);
        for query in QUERIES {
            let answers: Vec<_> =
                database.query(&query.parse().unwrap()).unwrap().map(|of| of.unwrap()).collect();
            let mut expected = None;
            for threads in [1, 2, 3, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let said = pool.install(|| all_of(&database, query));
                prop_assert_eq!(&said[0], &format!("{:?}", answers), "{} of {}", query, threads);
                let expected = expected.get_or_insert_with(|| said.clone());
                prop_assert!(expected == &said, "{} of {} threads", query, threads);
            }
        }
        let check = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let options = CheckOptions { deep: true };
                format!("{:?}", database.check(options, &mut |_| {}).unwrap())
            })
        };
        prop_assert_eq!(check(1), check(3));
    }
}

#[test]
fn parts_of_a_store_are_the_store() {
    let sets: Vec<Grown> = (0..900).map(|number| (number, 1, 0)).collect();
    let (_dir, database) = store_of(&sets, &sets[..20]);
    let store = database.store();
    let release = database.releases().unwrap()[0].id;
    let all: Vec<_> = store.annotation_sets(release).unwrap().map(|set| set.unwrap()).collect();
    let scope = crate::store::SetRange::Release(release);
    let parts: Vec<_> =
        store.parts_of_sets(scope, None, store.bytes_of_sets(1)).map(|(part, _)| part).collect();
    assert!(parts.len() > 1, "{parts:?}");
    let in_parts: Vec<_> = (parts.iter())
        .flat_map(|part| store.sets_of_part(part).unwrap().map(|row| row.unwrap().1))
        .collect();
    assert_eq!(in_parts, all);
    let sentences: Vec<_> = store.sentences(release).unwrap().map(|of| of.unwrap()).collect();
    let parts: Vec<_> = store.parts_of_sentences(release).collect();
    assert!(parts.len() > 1, "{parts:?}");
    let mut found = Vec::new();
    for group in parts.iter().flat_map(|part| store.groups_of_part(part).unwrap()) {
        let group = group.unwrap();
        let sets = store.sets_of_sentence(release, group.sentence.id).unwrap();
        let sets: Vec<_> = sets.map(|set| set.unwrap()).collect();
        assert_eq!(group.sets.iter().map(|set| set.id).collect::<Vec<_>>(), sets);
        let layers = store.sentence_layers(release, group.sentence.id).unwrap();
        assert_eq!(group.layers, layers.map(|of| of.unwrap()).collect::<Vec<_>>());
        found.push(group.sentence);
    }
    assert_eq!(found, sentences);
}

/// The answers of a scan, after each value of which something else happens.
fn answers_while(database: &Database, query: &str, mut then: impl FnMut()) -> Vec<String> {
    let mut answers = Vec::new();
    let add = |some: &mut Vec<String>, answer: Answer| {
        some.push(format!("{answer:?}"));
        Ok::<_, DatabaseError>(())
    };
    let take = |some: Vec<String>| {
        answers.extend(some);
        then();
        Ok(())
    };
    database.fold_answers(&query.parse().unwrap(), Vec::new, add, take).unwrap();
    answers
}

#[test]
fn a_readers_scan_is_of_one_state_whoever_moves_the_handle_on() {
    let sets: Vec<Grown> = (0..500).map(|number| (number, 1, 0)).collect();
    for (threads, query) in [(1, ""), (3, ""), (3, "not text~\"1$\""), (3, "frame=Checking")] {
        let (dir, database) = store_of(&sets, &sets[..20]);
        let (release, query) = (database.releases().unwrap()[0].id, query.to_owned());
        let reader = Database::open(dir.path()).unwrap();
        let asked = reader.query(&query.parse().unwrap()).unwrap();
        let expected: Vec<_> = asked.map(|of| format!("{:?}", of.unwrap())).collect();
        let mut taken = 0;
        let change = || {
            taken += 1;
            match taken {
                2 => {
                    let mut edits = database.transaction(release).unwrap();
                    let lu = (FrameId(102), LuId(1001));
                    edits.remove_lexunit(lu.0, lu.1, Removal::Cascade).unwrap();
                    edits.commit().unwrap();
                }
                3 => database.store().compact().unwrap(),
                4..8 => {
                    let more = grown(&database, release, 1000 * taken, &sets[..40]);
                    database.write(release, &more).unwrap();
                }
                _ => {}
            }
            reader.refresh().unwrap();
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut change = change;
        let found = pool.install(|| answers_while(&reader, &query, &mut change));
        assert!(found == expected, "{query} of {threads} threads");
        assert!(taken > 4);
        let count = |database: &Database| database.count(&query.parse().unwrap()).unwrap();
        assert_ne!(count(&reader), expected.len() as u64, "nothing has changed");
        assert_eq!(count(&reader), count(&database));
    }
}

#[test]
fn growth_by_the_index_is_growth_by_sets() {
    let (dir, database) = store_of(&[(0, 1, 0)], &[]);
    let release = database.releases().unwrap()[0].id;
    let reader = Database::open(dir.path()).unwrap();
    let agree = |database: &Database| {
        let lexicon = database.lexicon("mini-framenet").unwrap();
        let growth = |query: &str| lexicon.growth(&query.parse().unwrap()).unwrap();
        for query in ["", "not frame=Roaming"] {
            // The index has no whole texts: the second reads the sets.
            assert_eq!(growth(query), growth(&format!("{query} not text=nothing")), "{query}");
            let query = query.parse().unwrap();
            let by_index =
                database.fold_triggers(&query, || (), |(), _, _| (), |(), ()| ()).unwrap();
            assert!(by_index.is_some());
        }
    };
    for first in [5_000, 6_000] {
        let sets: Vec<Grown> =
            (0..60_u16).map(|number| (number.into(), 1 + number % 3, 0)).collect();
        database.write(release, &grown(&database, release, first, &sets)).unwrap();
        agree(&database);
    }
    let mut edits = database.transaction(release).unwrap();
    edits.remove_lexunit(FrameId(102), LuId(1001), Removal::Cascade).unwrap();
    let lu = database.store().lexunits(release).unwrap().map(|lu| lu.unwrap()).last().unwrap();
    edits
        .set_lexunit(crate::model::LexUnit { status: crate::model::PROPOSED.to_owned(), ..lu })
        .unwrap();
    edits.commit().unwrap();
    // The reader's view is older than the index.
    agree(&reader);
    agree(&database);
}

/// The rows of each family as one pass over them finds them, and the blocks that end families.
fn serially(database: &Database) -> (BTreeMap<&'static str, u64>, Vec<String>) {
    let (mut rows, mut faults) = (BTreeMap::new(), Vec::new());
    for row in database.store().rows().unwrap() {
        *rows.entry(row.as_ref().map_or_else(|of| of.family, |of| of.family)).or_default() += 1;
        if let Err(fault) = row {
            faults.push(format!("{} {}: {}", fault.family, fault.place(), fault.reason));
        }
    }
    (rows, faults)
}

#[test]
fn a_check_finds_of_damaged_blocks_what_one_pass_finds() {
    let sets: Vec<Grown> = (0..900).map(|number| (number, 1, 0)).collect();
    let (dir, database) = store_of(&sets, &[]);
    database.store().compact().unwrap();
    drop(database);
    let (mut blocks, mut tables) = (0, 0);
    for file in std::fs::read_dir(dir.path().join("db")).unwrap() {
        let path = file.unwrap().path();
        let whole = std::fs::read(&path).unwrap();
        if path.extension().is_none_or(|it| it != "sst") || whole.len() < 8 << 10 {
            continue;
        }
        for step in 0..9 {
            let mut bytes = whole.clone();
            bytes[whole.len() * step / 9 + 100] ^= 0x20;
            std::fs::write(&path, &bytes).unwrap();
            let Ok(reader) = Database::open(dir.path()) else {
                tables += 1;
                continue;
            };
            let (rows, faults) = serially(&reader);
            let Ok(report) = reader.check(CheckOptions::default(), &mut |_| {}) else {
                continue;
            };
            assert_eq!(report.rows, rows, "byte {step}/9 of {}", path.display());
            let found = report.findings.iter().flat_map(|(.., found)| found);
            let found = found.map(|of| format!("{} {}", of.family, of.detail));
            let is_block =
                |of: &String| of.contains(" after key ") || of.contains(" before the first");
            assert_eq!(found.filter(is_block).collect::<Vec<_>>(), faults);
            blocks += faults.len();
        }
        std::fs::write(&path, &whole).unwrap();
    }
    assert!(blocks > 4, "{blocks} blocks and {tables} tables were damaged");
}

#[test]
fn a_value_holds_few_answers_and_all_values_hold_all_of_them() {
    let sets: Vec<Grown> = (0..300).map(|number| (number, 1, 0)).collect();
    let (_dir, database) = store_of(&sets, &sets[..20]);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (begun, mut sizes) = (AtomicUsize::new(0), Vec::new());
        pool.install(|| {
            let begin = || {
                begun.fetch_add(1, Ordering::Relaxed);
                0
            };
            let add = |size: &mut usize, _| {
                *size += 1;
                Ok::<_, DatabaseError>(())
            };
            let take = |size| {
                sizes.push(size);
                Ok(())
            };
            database.fold_answers(&"".parse().unwrap(), begin, add, take)
        })
        .unwrap();
        assert!(sizes.iter().all(|size| *size <= TOGETHER), "{sizes:?}");
        assert_eq!(
            sizes.iter().sum::<usize>() as u64,
            database.count(&"".parse().unwrap()).unwrap()
        );
        assert_eq!(begun.into_inner(), sizes.len());
    }
}
