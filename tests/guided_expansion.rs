//! Expansion that the lexicon guides: outputs hold words that are like the frame's LUs.

use std::collections::BTreeMap;
use std::path::Path;

use fnstore::database::{Answer, Database, ImportOptions};
use fnstore::expand::{self, ExpandError, Models, Recipe};
use fnstore::model::{PROPOSED, Provenance};
use fnstore::vectors::{WordVectors, likeness};

const SEEDS: &str = "lu=inspect.v or lu=audit.v or lu=examine.v";

fn models() -> Models {
    Models::search(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("models")]).unwrap()
}

fn recipe(guided: bool) -> Recipe {
    Recipe { beam_size: 8, candidates: 8, rounds: 2, guided, ..Recipe::new(models()) }
}

fn expanded(dir: &Path, recipe: &Recipe) -> (Database, Vec<Answer>) {
    let database = Database::open_writer(dir).unwrap();
    let lexicon = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet");
    database.import(&lexicon, &ImportOptions::default(), &mut |_| {}).unwrap();
    expand::run(&database, &SEEDS.parse().unwrap(), recipe).unwrap();
    let query = "origin=generated".parse().unwrap();
    let answers = database.query(&query).unwrap().map(Result::unwrap).collect();
    (database, answers)
}

/// How much the trigger's lemma is like the LUs of its frame that the release has, computed anew.
fn likeness_of(database: &Database, vectors: &WordVectors, answer: &Answer) -> Option<f32> {
    let lemma = |name: &str| name.rsplit_once('.').unwrap().0.replace('_', " ");
    let (release, frame) = (answer.release.id, answer.set.frame);
    let lexunits = database.store().lexunits_of(release, frame).unwrap().map(Result::unwrap);
    let mut lemmas: Vec<String> =
        lexunits.filter(|lu| lu.status != PROPOSED).map(|lu| lemma(&lu.name)).collect();
    lemmas.sort();
    lemmas.dedup();
    let others: Vec<Vec<f32>> = lemmas.iter().filter_map(|lemma| vectors.of(lemma)).collect();
    Some(likeness(&vectors.of(&lemma(&answer.lexunit))?, &others))
}

#[test]
fn triggers_are_like_the_frame_or_flagged() {
    let vectors = WordVectors::open(&models().guide.unwrap().word_vectors).unwrap();
    let mut mean = BTreeMap::new();
    for guided in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (database, answers) = expanded(dir.path(), &recipe(guided));
        assert!(!answers.is_empty());
        let mut sum = 0.0;
        for answer in &answers {
            let likeness = likeness_of(&database, &vectors, answer);
            let Provenance::Generated(made) = &answer.set.provenance else { panic!() };
            let flags = made.flags;
            let unlike = guided && likeness.is_some_and(|likeness| likeness < 0.4);
            assert_eq!(flags.unlike_frame, unlike, "{}: {likeness:?}", answer.trigger());
            sum += likeness.unwrap_or(0.0);
        }
        mean.insert(guided, sum / answers.len() as f32);
    }
    assert!(mean[&true] > mean[&false], "{mean:?}");
}

#[test]
fn a_guide_makes_another_recipe_and_needs_its_models() {
    let dir = tempfile::tempdir().unwrap();
    let (database, guided) = expanded(dir.path(), &recipe(true));
    let free = expand::run(&database, &SEEDS.parse().unwrap(), &recipe(false)).unwrap();
    assert_eq!(free.done_before, 0);
    assert_eq!(free.sentences, guided.len() as u64);
    let again = expand::run(&database, &SEEDS.parse().unwrap(), &recipe(true)).unwrap();
    assert!(again.nothing_new());

    let missing = Recipe { models: Models { guide: None, ..models() }, ..recipe(true) };
    let error = expand::run(&database, &SEEDS.parse().unwrap(), &missing).unwrap_err();
    assert!(matches!(&error, ExpandError::GuideMissing), "{error}");
}
