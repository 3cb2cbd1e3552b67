//! Expansion end to end on the mini lexicon, with the shipped rewriter and aligner.

use std::ops::ControlFlow;
use std::path::Path;

use fnstore::database::Database;
use fnstore::engine::violations;
use fnstore::expand::{
    self, EndReason, ExpandError, Guidance, Models, Recipe, Report, RewriterSource, RunOptions,
};
use fnstore::internals::WithStore as _;
use fnstore::model::{FeStatus, Generation, IdSpace, Origin, Pos, Provenance};
use fnstore::query::Expression;
use fnstore::search::Answer;
use fnstore::text::inflections_of_trigger;
use fnstore::transfer::ImportOptions;

use crate::language_parity::directory;

fn recipe() -> Recipe {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let models = Models::search(&[models]).unwrap();
    Recipe { beam_size: 4, candidates: 3, ..Recipe::new(models) }
}

/// Two rounds of all seeds.
fn two() -> RunOptions {
    RunOptions::rounds(2)
}

fn database(dir: &Path) -> Database {
    let database = Database::open_writer(dir).unwrap();
    let lexicon = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet");
    database.import(&lexicon, &ImportOptions::default(), &mut |_| {}).unwrap();
    database
}

fn answers(database: &Database, query: &str) -> Vec<Answer> {
    let expression: Expression = query.parse().unwrap();
    database.query(&expression).unwrap().map(Result::unwrap).collect()
}

fn generation(answer: &Answer) -> &Generation {
    match &answer.set.provenance {
        Provenance::Generated(generation) => generation,
        other => panic!("{} is {other:?}", answer.set.id),
    }
}

fn expand(database: &Database, query: &str, recipe: &Recipe) -> Report {
    expand::run(database, &query.parse().unwrap(), recipe, &two()).unwrap()
}

/// All forms of a set's trigger.
fn forms(answer: &Answer) -> Vec<String> {
    let (lemma, pos) = answer.lexunit.rsplit_once('.').unwrap();
    inflections_of_trigger(&answer.trigger(), lemma, Pos::parse(pos))
}

/// Everything that was generated, as comparable text.
fn outputs(database: &Database) -> Vec<String> {
    let mut outputs: Vec<String> = answers(database, "origin=generated")
        .iter()
        .map(|answer| format!("{} {} {:?}", answer.lexunit, answer.sentence.text, answer.set))
        .collect();
    outputs.sort();
    outputs
}

const SEEDS: &str = "lu=inspect.v or lu=audit.v";

#[test]
fn generated_sets_are_located_and_carry_their_provenance() {
    let recipe = recipe();
    let dir = tempfile::tempdir().unwrap();
    let database = database(dir.path());
    let seeds = answers(&database, SEEDS);
    let report = expand(&database, SEEDS, &recipe);
    assert_eq!(report.seeds, seeds.len() as u64);
    assert!(report.sentences > 0);
    assert_eq!(report.leaks, 0);

    let found = answers(&database, &format!("({SEEDS} or frame=Checking) origin=generated"));
    assert_eq!(found.len() as u64, report.sentences, "the query finds what was written");
    for answer in &found {
        let made = generation(answer);
        let seed = seeds.iter().find(|seed| seed.set.id == made.seed).unwrap();
        assert_eq!((made.source, &answer.frame), (seed.set.id, &seed.frame));
        assert_eq!(answer.set.id.space(), IdSpace::Generated);
        let carried = matches!(seed.set.fe_status, FeStatus::Annotated);
        let expected = if carried { FeStatus::Carried } else { FeStatus::Unknown };
        assert_eq!(answer.set.fe_status, expected);
        assert!((1..=2).contains(&made.round));
        assert_eq!(made.chain.len() + 1, usize::from(made.round));
        assert!(made.paraphrase.is_finite() && (0.0..=1.0).contains(&made.aligner));
        assert!(!answer.trigger().is_empty());
        for span in &answer.set.targets {
            assert!(span.of(&answer.sentence.text).is_some_and(|piece| !piece.is_empty()));
        }
        // No form of the seed's trigger, nor of an earlier output's, stands in the output.
        let mut banned = forms(seed);
        for earlier in found.iter().filter(|earlier| made.chain.contains(&earlier.set.id)) {
            banned.extend(forms(earlier));
        }
        assert_eq!(
            violations(&answer.sentence.text, &banned).unwrap(),
            [""; 0],
            "{}",
            answer.sentence.text
        );
    }
    for answer in &found {
        let lu = database.store().lexunit(answer.release.id, answer.set.frame, answer.set.lu);
        assert!(lu.unwrap().is_some(), "{} has an LU of its frame", answer.set.id);
    }
}

#[test]
fn full_text_and_discontinuous_targets_are_expanded_too() {
    // What guides may narrow a span to the word that it asked for.
    let recipe = Recipe { guidance: Guidance::None, ..recipe() };
    let dir = tempfile::tempdir().unwrap();
    let database = database(dir.path());
    // `looked ... over` in an exemplar and in a document.
    let seeds = answers(&database, "id=x7042 or id=f8006");
    let origins: Vec<Origin> = seeds.iter().map(|seed| seed.set.provenance.origin()).collect();
    assert_eq!(origins, [Origin::Exemplar, Origin::FullText]);
    let report = expand(&database, "id=x7042 or id=f8006", &recipe);
    assert_eq!(report.sentences, 4);
    for answer in answers(&database, "origin=generated") {
        assert_eq!(answer.set.targets.len(), 2, "one span for each piece");
        assert!(!answer.set.targets[0].overlaps(answer.set.targets[1]));
        let looked = ["look".to_owned(), "looked".to_owned(), "look over".to_owned()];
        assert_eq!(
            violations(&answer.sentence.text, &looked).unwrap(),
            [""; 0],
            "the head is banned"
        );
    }
}

#[test]
fn a_second_run_does_nothing() {
    let recipe = recipe();
    let dir = tempfile::tempdir().unwrap();
    let database = database(dir.path());
    expand(&database, SEEDS, &recipe);
    let (before, revision) = (outputs(&database), database.store().revision().unwrap());
    let report = expand(&database, SEEDS, &recipe);
    assert!(report.nothing_new());
    assert_eq!((report.sentences, report.done_before), (0, report.seeds));
    assert_eq!(outputs(&database), before);
    assert_eq!(database.store().revision().unwrap(), revision);
}

#[test]
fn stopped_split_and_single_runs_give_the_same_sets() {
    for guidance in [Guidance::Lexicon, Guidance::Alike, Guidance::None] {
        stopped_and_split_run_equals_whole_one(&Recipe { guidance, ..recipe() });
    }
    // What a round bans beside the trigger follows from its number.
    stopped_and_split_run_equals_whole_one(&Recipe { reword: 0.4, ..recipe() });
}

/// What a language model would say in a trigger's place depends on no later round. The tiny Llama
/// has room for short sentences alone.
#[test]
fn stopped_and_split_runs_that_ask_a_language_model_give_the_same_sets() {
    let (lora, llama) = (directory("lora"), directory("llama").join("model.gguf"));
    let rewriter = RewriterSource::Model { directory: lora, base: Some(llama) };
    let models = Models { rewriter, ..recipe().models };
    let recipe = Recipe { beam_size: 4, candidates: 3, ..Recipe::new(models) };
    // Bans that it is told of would take the room.
    let recipe = Recipe { known_words: false, tell_bans: false, ..recipe };
    let recipe = Recipe { guidance: Guidance::Context, ..recipe };
    let written = stopped_and_split_run_equals_whole_one(&recipe);
    assert!(written.iter().any(|set| set.contains("round: 2")), "{written:?}");
}

/// Answers what was written.
fn stopped_and_split_run_equals_whole_one(recipe: &Recipe) -> Vec<String> {
    let whole_dir = tempfile::tempdir().unwrap();
    let whole = database(whole_dir.path());
    expand(&whole, SEEDS, recipe);

    // One seed at a time, one round before the other, stopped with rounds in flight.
    let parts_dir = tempfile::tempdir().unwrap();
    let parts = database(parts_dir.path());
    let one = RunOptions { seed_limit: Some(1), ..RunOptions::rounds(1) };
    let first = expand::run(&parts, &SEEDS.parse().unwrap(), recipe, &one).unwrap();
    assert!(first.left > 0 && first.left == first.seeds - 1);
    let (mut interrupted, mut finished) = (0, 0);
    loop {
        let mut calls = 0;
        let report =
            expand::run_with(&parts, &SEEDS.parse().unwrap(), (recipe, &two()), &mut |at| {
                calls += 1;
                // After what has come to an end, or within the rounds that come next.
                let is_through = at.sentences > 0 || at.seeds > finished;
                finished = finished.max(at.seeds);
                if is_through && calls % 2 == 0 {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            })
            .unwrap();
        interrupted += u32::from(report.interrupted);
        if report.nothing_new() {
            break;
        }
    }
    assert!(interrupted > 1);
    let written = outputs(&whole);
    assert_eq!(outputs(&parts), written);
    written
}

#[test]
fn seeds_that_give_nothing_are_counted_with_a_reason_and_not_tried_again() {
    let recipe = recipe();
    let dir = tempfile::tempdir().unwrap();
    let database = database(dir.path());
    let report = expand(&database, SEEDS, &Recipe { max_source_pieces: 3, ..recipe.clone() });
    assert_eq!(report.sentences, 0);
    assert_eq!(report.unproductive.get(&EndReason::TooLong), Some(&report.seeds));
    let again = expand(&database, SEEDS, &Recipe { max_source_pieces: 3, ..recipe });
    assert!(again.nothing_new());
}

#[test]
fn a_set_without_a_target_is_named_as_the_reason() {
    let recipe = recipe();
    let dir = tempfile::tempdir().unwrap();
    let database = database(dir.path());
    let report = expand(&database, "id=x7054", &recipe);
    assert_eq!(report.unproductive.get(&EndReason::NoTarget), Some(&1));
}

#[test]
fn a_missing_model_and_a_wrong_number_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let database = database(dir.path());
    let Err(error) = Models::open(dir.path()) else { panic!("there is no model") };
    assert!(
        matches!(&error, ExpandError::ModelMissing { name, .. } if name == "paraphrase"),
        "{error}"
    );
    let nowhere = Models {
        rewriter: RewriterSource::Model { directory: dir.path().join("nowhere"), base: None },
        aligner: dir.path().join("nowhere"),
        encoder: dir.path().join("nowhere"),
        guide: None,
        filter: None,
        frames: None,
        verifier: None,
    };
    let before = database.store().revision().unwrap();
    let wrong = Recipe { candidates: 99, ..Recipe::new(nowhere.clone()) };
    let error = expand::run(&database, &SEEDS.parse().unwrap(), &wrong, &two()).unwrap_err();
    assert!(error.to_string().contains("number of candidates is 99"), "{error}");
    let nowhere = Recipe::new(nowhere);
    let error = expand::run(&database, &SEEDS.parse().unwrap(), &nowhere, &two()).unwrap_err();
    assert!(matches!(error, ExpandError::Paraphrase(_)), "{error}");
    let recipe = recipe();
    let error =
        expand::run(&database, &"frame=Cheking".parse().unwrap(), &recipe, &two()).unwrap_err();
    assert!(error.to_string().contains("did you mean `Checking`"), "{error}");
    assert_eq!(database.store().revision().unwrap(), before);
}

/// A small expansion from end to end, encoder, head and rewriter on the GPU.
#[test]
fn a_gpu_grows_the_sets_that_the_cpu_grows() {
    let recipe = recipe();
    let recipe = Recipe { candidates: 2, ..recipe };
    let one = RunOptions { seed_limit: Some(1), ..RunOptions::rounds(1) };
    let Some(device) = crate::gpu_kernels::device(&Default::default()) else { return };
    let grown = |options: &RunOptions| {
        let dir = tempfile::tempdir().unwrap();
        let database = database(dir.path());
        let seeds = "lu=audit.v".parse().unwrap();
        assert!(expand::run(&database, &seeds, &recipe, options).unwrap().sentences > 0);
        let mut texts: Vec<(String, String, f32)> = answers(&database, "origin=generated")
            .iter()
            .map(|answer| {
                (answer.sentence.text.clone(), answer.trigger(), generation(answer).aligner)
            })
            .collect();
        texts.sort_by(|a, b| a.0.cmp(&b.0));
        texts
    };
    let (here, there) = (grown(&one), grown(&RunOptions { device, ..one.clone() }));
    assert_eq!(here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        assert_eq!((&here.0, &here.1), (&there.0, &there.1));
        assert!((here.2 - there.2).abs() < 1e-3, "{here:?} {there:?}");
    }
}

#[test]
fn who_stops_at_once_leaves_nothing_half_written_and_the_next_run_writes_the_same() {
    let recipe = recipe();
    let (whole_dir, stopped_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = database(whole_dir.path());
    expand(&whole, SEEDS, &recipe);
    let stopped = database(stopped_dir.path());
    let mut first = true;
    // Asked a second time when rounds are in flight: the first is over after more than a pause.
    let report =
        expand::run_with(&stopped, &SEEDS.parse().unwrap(), (&recipe, &two()), &mut |_| {
            std::thread::sleep(std::time::Duration::from_millis(110));
            if std::mem::take(&mut first) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
        .unwrap();
    assert!(report.interrupted);
    assert_eq!((report.sentences, outputs(&stopped).len()), (0, 0));
    assert!(expand(&stopped, SEEDS, &recipe).sentences > 0);
    assert_eq!(outputs(&stopped), outputs(&whole));
}
