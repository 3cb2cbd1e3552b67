//! An expander whose models stay open: its outputs are those of a run, shown or written, of all
//! seeds or one; it stops at once or after the round.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use fnstore::database::Database;
use fnstore::expand::{
    self, ExpandError, Expander, ExpansionProgress, Models, Phase, Recipe, RunOptions, Stop,
};
use fnstore::internals::WithStore as _;
use fnstore::lexicon::RecordKey;
use fnstore::model::{
    AnnotationSet, AnnotationSetId, Coded, Generation, Provenance, Sentence, Span,
};
use fnstore::query::Expression;

use crate::mini;

const SEEDS: &str = "lu=audit.v";

fn recipe() -> Recipe {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    Recipe { beam_size: 2, candidates: 2, ..Recipe::new(Models::open(&models).unwrap()) }
}

fn expander(rounds: u16) -> Expander {
    Expander::open(recipe(), RunOptions::rounds(rounds)).unwrap()
}

fn goes_on(_: &ExpansionProgress) -> ControlFlow<Stop> {
    ControlFlow::Continue(())
}

/// The sets that were generated, with their sentences, by id.
fn generated(database: &Database) -> Vec<(String, AnnotationSet)> {
    let answers = database.query(&"origin=generated".parse().unwrap()).unwrap();
    let mut all: Vec<_> = answers
        .map(|answer| answer.map(|answer| (answer.sentence.text, answer.set)).unwrap())
        .collect();
    all.sort_by_key(|(_, set)| set.id);
    all
}

fn generation(set: &AnnotationSet) -> &Generation {
    match &set.provenance {
        Provenance::Generated(generation) => generation,
        other => panic!("{} is {other:?}", set.id),
    }
}

#[test]
fn shown_outputs_are_those_that_are_written_and_models_open_once_serve_many() {
    let (dir, writer, report) = mini::imported();
    let query: Expression = SEEDS.parse().unwrap();
    let mut expander = expander(1);
    let reader = Database::open(dir.path()).unwrap();
    let (mut last, mut phases) = (None, Vec::new());
    let (dry, outputs) = expander
        .dry_run(&reader, &query, &mut |at| {
            phases.push(at.phase);
            last = at.last.clone().or_else(|| last.take());
            assert!(at.last.is_none() || at.seed.is_some());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((phases[0], *phases.last().unwrap()), (Phase::FindingSeeds, Phase::Rewriting));
    assert!(outputs.len() > 1 && outputs.len() as u64 == dry.sentences);
    assert!(outputs.iter().any(|output| Some(output) == last.as_deref()));
    assert_eq!(generated(&writer).len(), 0, "nothing is written");
    assert!(writer.store().recipes().unwrap().is_empty());

    let mut shown: Vec<_> =
        outputs.into_iter().map(|output| (output.sentence.text, output.set)).collect();
    shown.sort_by_key(|(_, set)| set.id);
    // One seed alone, then all: the first is not made again.
    let seed = generation(&shown[0].1).seed;
    let one = expander.run_set(&writer, (report.release.id, seed), &mut goes_on).unwrap();
    assert_eq!((one.seeds, one.sentences, generated(&writer).len()), (1, 1, 1));
    let all = expander.run(&writer, &query, &mut goes_on).unwrap();
    assert_eq!((all.done_before, all.sentences), (1, dry.sentences - 1));
    assert_eq!(generated(&writer), shown);

    let (_other_dir, other, _) = mini::imported();
    expand::run(&other, &query, &recipe(), &RunOptions::rounds(1)).unwrap();
    assert_eq!(generated(&other), shown, "models that were opened for one run agree");
}

#[test]
fn a_set_that_nobody_made_is_no_seed() {
    let (_dir, database, report) = mini::imported();
    let set = AnnotationSetId::parse("x999999").unwrap();
    let outcome = expander(1).run_set(&database, (report.release.id, set), &mut goes_on);
    assert!(matches!(outcome, Err(ExpandError::NoSeeds { .. })), "{outcome:?}");
}

#[test]
fn a_handle_that_cannot_take_generated_sets_is_refused_before_anything_is_written() {
    let (dir, database, _) = mini::imported();
    database.close().unwrap();
    let (query, mut expander) = (SEEDS.parse().unwrap(), expander(1));
    for open in [Database::open, Database::open_editor] {
        let database = open(dir.path()).unwrap();
        let revision = database.store().revision().unwrap();
        let mut asked = 0;
        let outcome = expander.run(&database, &query, &mut |_| {
            asked += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(outcome.unwrap_err().code(), Some("S-read-only"));
        assert!(database.store().recipes().unwrap().is_empty());
        assert_eq!((asked, database.store().revision().unwrap()), (0, revision));
    }
}

#[test]
fn a_run_that_is_stopped_at_once_leaves_nothing_half_written() {
    let (_dir, database, _) = mini::imported();
    let query: Expression = SEEDS.parse().unwrap();
    let mut expander = expander(1);
    let before = database.store().revision().unwrap();
    // Before the first seed, and within the first step.
    for after in [0, 1, 2] {
        let (mut asked, mut stopped) = (0, Instant::now());
        let report = expander
            .run(&database, &query, &mut |at| {
                asked += 1;
                stopped = Instant::now();
                match asked > after && at.sentences == 0 {
                    true => ControlFlow::Break(Stop::Now),
                    false => ControlFlow::Continue(()),
                }
            })
            .unwrap();
        println!("stopped after {:?}", stopped.elapsed());
        assert!(report.interrupted && report.sentences == 0, "{report:?}");
        assert_eq!(generated(&database).len(), 0);
    }
    // The recipe alone may be written down, for the report to name.
    assert!(database.store().revision().unwrap() <= before + 1);
    let (_other_dir, other, _) = mini::imported();
    let mut agreeing = |database| expander.run(database, &query, &mut goes_on).unwrap().sentences;
    assert_eq!(agreeing(&database), agreeing(&other));
    assert_eq!(generated(&database), generated(&other), "and later runs agree");
}

#[test]
fn a_run_that_is_stopped_after_the_round_finishes_it() {
    let (_dir, database, _) = mini::imported();
    let query: Expression = SEEDS.parse().unwrap();
    let report = expander(3)
        .run(&database, &query, &mut |at| match at.sentences {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(Stop::AfterRound),
        })
        .unwrap();
    assert!(report.interrupted && report.sentences > 1, "{report:?}");
    let made = generated(&database);
    assert!(made.iter().all(|(_, set)| generation(set).round == 1), "no second round began");
    let ended: u64 = report.ended.values().sum();
    assert_eq!(made.len() as u64 + ended, report.seeds, "each seed has its round");
}

#[test]
fn a_seed_whose_letters_no_output_kept_ends_with_that_reason() {
    let (_dir, writer, _) = mini::imported();
    let (lexicon, lu) = writer.the_lu(RecordKey::Name("verify.v"), None, None).unwrap();
    let mut edits = writer.transaction(lexicon.release()).unwrap();
    let text = "Zo\u{eb} must verify the claim.";
    let sentence = edits.add_sentence(Sentence::new(text)).unwrap();
    let target = Span::of_part(text, "verify").unwrap();
    let set = AnnotationSet::new(sentence, lu.frame, lu.id, target);
    let set = edits.add_annotation_set(set).unwrap();
    edits.commit().unwrap();
    let of = (lexicon.release().id, set);
    let report = expander(1).run_set(&writer, of, &mut goes_on).unwrap();
    assert_eq!(
        report.ended.keys().map(|reason| reason.as_str()).collect::<Vec<_>>(),
        ["unknown-letter"]
    );
    assert_eq!(report.sentences, 0, "{:?}", generated(&writer));
}
