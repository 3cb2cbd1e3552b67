//! An expansion as a whole: its models are opened, its seeds found, its loop run.

use std::ops::ControlFlow;

use super::checker::PairChecker;
use super::destination::Destination;
use super::fitting::FitJudge;
use super::judged_choice::JudgedChoice;
use super::judges::FrameQuestions;
use super::loaded_models::LoadedModels;
use super::pace;
use super::proposer::ParaphraseProposer;
use super::seeds::{find_seeds, human_sets};
use super::tally::{OnProgress, Tally};
use super::{
    ExpandError, ExpansionProgress, FilterTally, Followed, Recipe, Report, Result, RunOptions,
};
use crate::database::Database;
use crate::grow::{Augmentation, GeneratedWriter, Stop, StoreSink};
use crate::query::Expression;

/// Expands every human annotation set for which the expression holds.
///
/// What was done before under the same recipe is skipped; a run that was stopped resumes where its
/// last commit left it.
///
/// # Errors
/// When a model cannot be opened, the recipe's numbers are out of range, the expression names what
/// the database does not hold, or a network or the database fails.
pub fn run(
    database: &Database,
    expression: &Expression,
    recipe: &Recipe,
    options: &RunOptions,
) -> Result<Report> {
    run_with(database, expression, (recipe, options), &mut |_| ControlFlow::Continue(()))
}

/// As [`run`], telling `progress` after each round of each seed how far it is, and now and then
/// within rounds. If that answers `Break`, the run ends after the step of the decoder that runs:
/// what is finished is committed, rounds in flight are dropped, and the report says that the run
/// was interrupted. A later run makes those rounds anew, with the same ids and texts.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    database: &Database,
    expression: &Expression,
    (recipe, options): (&Recipe, &RunOptions),
    progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
) -> Result<Report> {
    let human = query_to_write(database, expression, recipe)?;
    let mut models = LoadedModels::open((recipe, options))?;
    run_over(database, (&human, recipe, options), &mut models, &mut at_once(progress))
}

/// Somebody who stops a run at once, if at all.
pub(super) fn at_once<'p>(
    progress: &'p mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
) -> impl FnMut(&ExpansionProgress) -> ControlFlow<Stop> + 'p {
    |at| progress(at).map_break(|()| Stop::Now)
}

/// The human sets for which an expression holds. Names that are not there are found before anything
/// is loaded or written.
pub(super) fn checked_query(
    database: &Database,
    expression: &Expression,
    recipe: &Recipe,
) -> Result<Expression> {
    let human = human_sets(expression);
    drop(database.query(&human)?);
    if let Some(blind_to) = &recipe.blind_to {
        blind_to.held_out(database)?;
    }
    Ok(human)
}

/// As [`checked_query`], of a handle that is to be written through: what a reader's or an editor's
/// cannot take is refused before anything is loaded or written.
pub(super) fn query_to_write(
    database: &Database,
    expression: &Expression,
    recipe: &Recipe,
) -> Result<Expression> {
    database.require_writer()?;
    checked_query(database, expression, recipe)
}

/// Expands human sets into the database, under models that are open.
pub(super) fn run_over(
    database: &Database,
    (human, recipe, options): (&Expression, &Recipe, &RunOptions),
    models: &mut LoadedModels,
    progress: &mut OnProgress<'_>,
) -> Result<Report> {
    let sink = StoreSink::new(database, (models.fingerprint(), &models.description))?;
    let (id, sink) = (sink.recipe(), Destination::Store(sink));
    let followed = Followed { id, recipe, options };
    let (report, _) = run_into(database, (human, followed), models, sink, progress)?;
    // A report names a recipe that is there, also of a run that had nothing to write.
    let id = database.store().recipe(models.fingerprint(), &models.description)?;
    Ok(Report { recipe: id, ..report })
}

/// Expands under models that are open; gives back where the outputs went, too.
pub(super) fn run_into(
    database: &Database,
    (human, followed): (&Expression, Followed<'_>),
    models: &mut LoadedModels,
    destination: Destination,
    on_progress: &mut OnProgress<'_>,
) -> Result<(Report, Destination)> {
    let Followed { id, recipe, options } = followed;
    let (fingerprint, declared) = (models.fingerprint(), models.declared());
    let mut knowledge = models.knowledge(database, recipe)?;
    let LoadedModels { rewriter, aligner, filter, identifier, judged, judges, files, .. } = models;
    let mut report = Report {
        recipe: id,
        guidance: recipe.guidance,
        kept: filter.as_ref().map(FilterTally::of),
        ..Report::default()
    };
    let heard = (&destination, &mut *on_progress);
    let Some(todo) = find_seeds(database, (human, id, options), heard, &mut report)? else {
        return Ok((report, destination));
    };
    database.check_languages(&declared, todo.iter().map(|seed| seed.release))?;
    let missing: Vec<_> =
        todo.iter().map(|seed| (seed.missing(options.rounds), seed.weight)).collect();
    let judge = identifier.as_ref().map(|identifier| FitJudge::new(database, identifier));
    judged.as_mut().map(JudgedChoice::forget_frames).unwrap_or_default();
    let (filter, judged, judges) = (filter.as_ref(), judged.as_mut(), judges.as_mut());
    let frames = FrameQuestions::default();
    let mut checker = PairChecker { recipe: id, aligner, judge, filter, judged, judges, frames };
    let (leaks_before, asked_before) = (rewriter.leaks(), rewriter.usage());
    let session = rewriter.rounds(recipe.settings(&options.device))?;
    let mut proposer = ParaphraseProposer::new(session, followed);
    // What is measured are some seeds out of all.
    let measures = matches!(destination, Destination::Measured(_));
    let todo = if measures { pace::sample(todo, proposer.most()) } else { todo };
    let rounds = todo.iter().map(|seed| seed.missing(options.rounds)).sum();
    let sink = (destination, files.clone());
    let mut writer = GeneratedWriter::new(database, fingerprint, sink);
    let mut tally = Tally::new(report, (options.rounds, rounds), measures, on_progress);
    let stages = Augmentation {
        shared: &mut knowledge,
        proposer: &mut proposer,
        checker: &mut checker,
        writer: &mut writer,
        observer: &mut tally,
        is_ending: false,
    };
    let ended = stages.run(&mut todo.into_iter().map(Ok::<_, ExpandError>))?;
    let mut destination = writer.into_sink();
    if let Destination::Measured(measurement) = &mut destination {
        *measurement = tally.foresee(measurement.shard, proposer.in_flight(), missing);
    }
    let mut report = tally.report(ended);
    (report.steps, report.steps_reused) = (proposer.steps, proposer.steps_reused);
    drop(proposer);
    report.leaks = rewriter.leaks() - leaks_before;
    report.asked = rewriter.usage().since(asked_before);
    Ok((report, destination))
}
