//! `fnstore eval generation`: what is measured of generated sentences.

use std::collections::HashMap;
use std::ops::ControlFlow;

use fnstore::database::Database;
use fnstore::generate::{
    EvaluationProgress, GenerationRecipe, Generator, Quality, ReadAs, Reading, TestSpans, Writer,
    evaluate_sets, evaluate_test_spans, run_with,
};
use fnstore::model::{FeId, Method};
use fnstore::query::Expression;

use crate::generating::{Made, labels, made};
use crate::mini;

/// Every sentence that `verify.v` can take over from a sister.
fn with_sentences() -> (tempfile::TempDir, Database, Vec<Made>) {
    let (dir, database, _) = mini::imported();
    let recipe = GenerationRecipe { candidates: 100, keep: 100, ..GenerationRecipe::default() };
    let expression = Expression::parse("lu=verify.v").unwrap();
    let on = &mut |_: &_| ControlFlow::Continue(());
    run_with(&database, &expression, (&recipe, None), &mut Generator::copying(), on).unwrap();
    let made = made(&database);
    (dir, database, made)
}

/// A classifier that knows the name of the FE of every labelled span, generated or not.
fn oracle(made: &[Made]) -> impl FnMut(&[Reading<'_>]) -> ReadAs + use<> {
    let mut names: HashMap<(String, String), String> = HashMap::new();
    for of in made.iter().flat_map(|(new, old)| [new, old]) {
        for (layer, rank, name, words) in labels(of) {
            if layer == "FE" && rank == 1 {
                names.insert((of.1.text.clone(), words), name);
            }
        }
    }
    move |readings| {
        let read = |reading: &Reading<'_>| {
            let words = reading.span.of(reading.text)?.to_owned();
            let name = names.get(&(reading.text.to_owned(), words))?;
            Some((reading.frame.fe_by_name(name)?.id, 0.9))
        };
        Ok(readings.iter().map(read).collect())
    }
}

fn on_all(_: &EvaluationProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn of_sets(database: &Database, generator: &mut Generator) -> Vec<(Writer, Quality)> {
    let expression = Expression::parse("method=infill or method=sister-lu").unwrap();
    evaluate_sets(database, &expression, generator, &mut on_all).unwrap().rows
}

#[test]
fn fidelity_is_the_share_of_spans_that_the_classifier_reads_as_their_fes() {
    let (_dir, database, made) = with_sentences();
    let mut generator = Generator::copying().reading("oracle", Box::new(oracle(&made)));
    let rows = of_sets(&database, &mut generator);
    let [(Writer::People, people), (Writer::Recipe(_, Method::SisterLu, None), sets)] = &rows[..]
    else {
        panic!("{rows:?}")
    };
    assert!(sets.sentences > 5 && sets.spans >= sets.sentences, "{sets:?}");
    assert!(people.sentences > 5 && people.sentences <= sets.sentences, "{people:?}");
    for quality in [people, sets] {
        assert_eq!(quality.faithful_spans, Some(quality.spans), "{quality:?}");
        assert_eq!(quality.kept, Some(quality.sentences), "{quality:?}");
        assert_eq!(quality.self_bleu, quality.kept_self_bleu);
        assert!(quality.perplexity.is_none() && quality.rouge.is_none());
    }

    // One that reads all but the very first span right, and that as nothing.
    let mut is_first = true;
    let mut knows = oracle(&made);
    let wrong = move |readings: &[Reading<'_>]| {
        let mut read = knows(readings)?;
        if std::mem::take(&mut is_first) {
            read[0] = None;
        }
        Ok(read)
    };
    let mut generator = Generator::copying().reading("wrong", Box::new(wrong));
    let rows = of_sets(&database, &mut generator);
    let (people, sets) = (&rows[0].1, &rows[1].1);
    assert_eq!(people.faithful_spans, Some(people.spans - 1), "{people:?}");
    assert_eq!(people.kept, Some(people.sentences - 1), "{people:?}");
    assert_eq!(sets.faithful_spans, Some(sets.spans), "{sets:?}");

    let nothing = |readings: &[Reading<'_>]| -> ReadAs {
        Ok(readings.iter().map(|_| Some((FeId(u32::MAX), 1.0))).collect())
    };
    let mut generator = Generator::copying().reading("nothing", Box::new(nothing));
    for (_, quality) in of_sets(&database, &mut generator) {
        assert_eq!((quality.faithful_spans, quality.kept), (Some(0), Some(0)));
        assert_eq!(quality.kept_self_bleu, None);
    }
}

#[test]
fn without_models_there_is_no_fidelity_and_still_self_bleu() {
    let (_dir, database, _) = with_sentences();
    for (_, quality) in of_sets(&database, &mut Generator::copying()) {
        assert_eq!((quality.faithful_spans, quality.kept), (None, None));
        assert!(quality.self_bleu.is_some_and(|of| of > 0.0 && of <= 1.0), "{quality:?}");
    }
}

#[test]
fn test_spans_want_something_that_writes_and_break_ends_the_run() {
    let (_dir, database, _) = with_sentences();
    let settings = TestSpans { sentences: 5, modes: vec![], candidates: 1, seed: 1 };
    let all = Expression::Everything;
    let error =
        evaluate_test_spans(&database, &all, &settings, &mut Generator::copying(), &mut on_all);
    assert!(error.unwrap_err().to_string().contains("(N-generator)"));
    let stop = &mut |_: &EvaluationProgress| ControlFlow::Break(());
    let stopped = evaluate_sets(&database, &all, &mut Generator::copying(), stop).unwrap();
    assert!(stopped.is_cut);
    assert_eq!(stopped.rows.len(), 1, "{stopped:?}");
}
