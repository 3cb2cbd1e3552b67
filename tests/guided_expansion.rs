//! Expansion that the lexicon guides: outputs hold other LUs of the frame, or words that are like
//! them.

use std::path::Path;

use fnstore::database::Database;
use fnstore::expand::{
    self, EndReason, ExpandError, Guidance, Models, Recipe, RecipeError, Report, RunOptions,
};
use fnstore::internals::WithStore as _;
use fnstore::model::{LuId, OWN_RANGE, PROPOSED, Provenance};
use fnstore::search::Answer;
use fnstore::transfer::ImportOptions;
use fnstore::vectors::{WordVectors, likeness};

const SEEDS: &str = "lu=inspect.v or lu=audit.v or lu=examine.v";

fn models() -> Models {
    Models::search(&[Path::new(env!("CARGO_MANIFEST_DIR")).join("models")]).unwrap()
}

fn recipe(guidance: Guidance) -> Recipe {
    Recipe { beam_size: 8, candidates: 8, guidance, ..Recipe::new(models()) }
}

/// Two rounds.
fn grow(database: &Database, recipe: &Recipe) -> Report {
    expand::run(database, &SEEDS.parse().unwrap(), recipe, &RunOptions::rounds(2)).unwrap()
}

fn mini(dir: &Path) -> Database {
    let database = Database::open_writer(dir).unwrap();
    let lexicon = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet");
    database.import(&lexicon, &ImportOptions::default(), &mut |_| {}).unwrap();
    database
}

fn expanded(dir: &Path, recipe: &Recipe) -> (Database, Vec<Answer>) {
    let database = mini(dir);
    grow(&database, recipe);
    let query = "origin=generated".parse().unwrap();
    let answers = database.query(&query).unwrap().map(Result::unwrap).collect();
    (database, answers)
}

/// How much the trigger's lemma is like the LUs of its frame that the release has, computed anew,
/// less what LUs of other frames lose; none for an LU of the frame.
fn likeness_of(database: &Database, vectors: &WordVectors, answer: &Answer) -> Option<f32> {
    let lemma = |name: &str| name.rsplit_once('.').unwrap().0.replace('_', " ");
    let (release, frame) = (answer.release.id, answer.set.frame);
    let lexunits = database.store().lexunits_of(release, frame).unwrap().map(Result::unwrap);
    let own: Vec<_> = lexunits.filter(|lu| lu.status != PROPOSED).collect();
    if own.iter().any(|lu| lu.id == answer.set.lu) {
        return None;
    }
    let mut lemmas: Vec<String> = own.iter().map(|lu| lemma(&lu.name)).collect();
    lemmas.sort();
    lemmas.dedup();
    let others: Vec<Vec<f32>> = lemmas.iter().filter_map(|lemma| vectors.of(lemma)).collect();
    let mut names = database.store().lexunit_names(release).unwrap().map(Result::unwrap);
    let is_of_release =
        |(_, lu, name): (_, LuId, String)| lu.0 < OWN_RANGE && *name == *answer.lexunit;
    let loss = if names.any(is_of_release) { 0.15 } else { 0.0 };
    Some(
        vectors.of(&lemma(&answer.lexunit)).map_or(0.0, |vector| likeness(&vector, &others) - loss),
    )
}

#[test]
fn triggers_are_units_of_the_frame_or_like_them_or_flagged() {
    let vectors = WordVectors::open(&models().guide.unwrap().word_vectors).unwrap();
    let measured = [Guidance::None, Guidance::Alike, Guidance::Lexicon].map(|guidance| {
        let dir = tempfile::tempdir().unwrap();
        let (database, answers) = expanded(dir.path(), &recipe(guidance));
        assert!(!answers.is_empty());
        let mut others = Vec::new();
        for answer in &answers {
            let likeness = likeness_of(&database, &vectors, answer);
            let Provenance::Generated(made) = &answer.set.provenance else { panic!() };
            let unlike = guidance != Guidance::None && likeness.is_some_and(|like| like < 0.45);
            assert_eq!(made.flags.unlike_frame, unlike, "{}: {likeness:?}", answer.trigger());
            // Of triggers that are no LUs only those come out to which nothing can be objected.
            assert!(
                guidance != Guidance::Lexicon
                    || likeness.is_none()
                    || made.flags.names().is_empty(),
                "{}: {:?}",
                answer.trigger(),
                made.flags
            );
            others.extend(likeness);
        }
        (answers.len(), others)
    });
    let mean = |(_, others): &(usize, Vec<f32>)| others.iter().sum::<f32>() / others.len() as f32;
    let units = |(all, others): &(usize, Vec<f32>)| all - others.len();
    let [none, alike, lexicon] = &measured;
    assert!(mean(none) < mean(alike), "{measured:?}");
    assert!(units(lexicon) > units(alike).max(units(none)), "{measured:?}");
}

#[test]
fn a_guide_makes_another_recipe_and_needs_its_models() {
    let dir = tempfile::tempdir().unwrap();
    let (database, guided) = expanded(dir.path(), &recipe(Guidance::Lexicon));
    let free = grow(&database, &recipe(Guidance::None));
    assert_eq!(free.done_before, 0);
    assert_eq!(free.sentences, guided.len() as u64);
    let alike = grow(&database, &recipe(Guidance::Alike));
    assert_eq!(alike.done_before, 0);
    let again = grow(&database, &recipe(Guidance::Lexicon));
    assert!(again.nothing_new());

    let missing =
        Recipe { models: Models { guide: None, ..models() }, ..recipe(Guidance::Lexicon) };
    let error = expand::run(&database, &SEEDS.parse().unwrap(), &missing, &RunOptions::default())
        .unwrap_err();
    assert!(matches!(&error, ExpandError::Recipe(RecipeError::GuideMissing)), "{error}");
}

#[test]
fn a_chain_ends_where_the_lexicon_has_nothing_more_to_offer() {
    let seeds = "frame=Roaming".parse().unwrap();
    let ended = [Guidance::Lexicon, Guidance::Alike].map(|guidance| {
        let dir = tempfile::tempdir().unwrap();
        let database = mini(dir.path());
        let recipe = recipe(guidance);
        let report = expand::run(&database, &seeds, &recipe, &RunOptions::rounds(6)).unwrap();
        assert!(report.sentences > 0);
        let again = expand::run(&database, &seeds, &recipe, &RunOptions::rounds(7)).unwrap();
        let reason = EndReason::NothingAlike;
        let count = report.ended.get(&reason).copied().unwrap_or_default();
        assert_eq!(again.ended_before.get(&reason).copied().unwrap_or_default(), count);
        (count, report.flags.contains_key("unlike-frame"))
    });
    let [(by_lexicon, lexicon_keeps), (alike, alike_keeps)] = ended;
    assert!(by_lexicon > 0 && !lexicon_keeps, "it keeps no trigger that is unlike the frame");
    assert!(alike == 0 && alike_keeps, "it flags them");
}

#[test]
fn what_an_expansion_proposed_decides_nothing_later() {
    let texts = |database: &Database, recipe: u32| {
        let query = format!("origin=generated recipe={recipe}").parse().unwrap();
        let mut texts: Vec<(String, String)> = database
            .query(&query)
            .unwrap()
            .map(|answer| {
                let answer = answer.unwrap();
                (answer.sentence.text.clone(), answer.trigger().to_owned())
            })
            .collect();
        texts.sort();
        texts
    };
    let (fresh, grown) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (fresh, _) = expanded(fresh.path(), &recipe(Guidance::Lexicon));
    let (grown, before) = expanded(grown.path(), &recipe(Guidance::None));
    let report = grow(&grown, &recipe(Guidance::Lexicon));
    let lexunits = grown.store().lexunits(before[0].release.id).unwrap().map(Result::unwrap);
    assert!(lexunits.filter(|lu| lu.status == PROPOSED).count() > 0, "it proposed some");
    assert_eq!(texts(&grown, report.recipe.0), texts(&fresh, 1));
}
