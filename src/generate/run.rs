//! A generation as a whole: its LUs are found, its loop run.

use std::ops::ControlFlow;
use std::time::Duration;

use super::checker::CandidateChecker;
use super::generator::{Filler, Generator};
use super::placement::Shared;
use super::proposer::SisterProposer;
use super::recipe::GenerationRecipe;
use super::report::{GenerationProgress, GenerationReport};
use super::seeds::{Seed, Seeds, check_sisters};
use super::tally::Tally;
use super::{GenerateError, Result};
use crate::database::Database;
use crate::expand::{FitJudge, FrameGap, lexunits_without_sentences};
use crate::grow::{Augmentation, Ended, GeneratedWriter, Sink, StoreSink};
use crate::model::{RecipeId, recipe_fingerprint};
use crate::query::Expression;

/// Gives sentences to the LUs without any for which an expression over LUs holds, telling
/// `progress` after each LU how far it is, and now and then while one is made. If that answers
/// `Break`, the run ends after the step of the network that runs: what is finished is written, the
/// rest is dropped, and a later run writes the same in its place.
///
/// LUs that were done under the same recipe are skipped; of the others the run takes as many as
/// `limit` says.
///
/// # Errors
/// When the recipe cannot be followed, the expression names what there is not, or asks for
/// annotation, or finds LUs with sentences or without sisters only, a generator fails, or the
/// database does. What was committed before that stays; before the first commit nothing is written.
pub fn run_with(
    database: &Database,
    expression: &Expression,
    (recipe, limit): (&GenerationRecipe, Option<usize>),
    generator: &mut Generator,
    progress: &mut dyn FnMut(&GenerationProgress) -> ControlFlow<()>,
) -> Result<GenerationReport> {
    let (gaps, fingerprint, sink) = prepare(database, (expression, recipe, limit), generator)?;
    let lexunits = gaps.iter().map(|gap| gap.lexunits.len() as u64).sum();
    let (id, known) = (sink.recipe(), sink.known_recipe());
    let mut seeds = Seeds::new(database, (recipe, known), limit, gaps);
    let most = (lexunits, limit);
    let mut tally = Tally::new(most, seeds.done_before(), Duration::MAX, progress);
    let mut shared = Shared::new(database, recipe, generator);
    let (ended, sink) = run_seeds(&mut shared, (id, fingerprint), sink, &mut seeds, &mut tally)?;
    let mut report = tally.report(ended, sink.known_recipe());
    let is_read = generator.reads_as.is_some();
    report.faithful = is_read.then(|| report.faithful.unwrap_or_default());
    report.verified = generator.judges.is_some().then(|| report.verified.unwrap_or_default());
    if let Filler::Remote(filler) = &generator.filler {
        report.asked = filler.usage();
    }
    Ok(report)
}

/// Checks a recipe, an expression and the languages of models. Gives the LUs that lack sentences,
/// the recipe's fingerprint, and the store as the place for what is written.
pub(super) fn prepare(
    database: &Database,
    (expression, recipe, limit): (&Expression, &GenerationRecipe, Option<usize>),
    generator: &Generator,
) -> Result<(Vec<FrameGap>, [u8; 16], StoreSink)> {
    generator.check(recipe)?;
    if limit == Some(0) {
        let (found, expected) = ("0".to_owned(), "1 or more".to_owned());
        return Err(GenerateError::Range { name: "limit", found, expected });
    }
    let lacks = |origin| recipe.lacking.is_met_by(origin);
    let gaps = lexunits_without_sentences(database, expression, &lacks)?;
    database.check_languages(generator.declared(), gaps.iter().map(|gap| gap.release.id))?;
    check_sisters(database, recipe, &gaps)?;
    let description = generator.description(recipe);
    let fingerprint = recipe_fingerprint(&description);
    let sink = StoreSink::new(database, (fingerprint, &description))?;
    Ok((gaps, fingerprint, sink))
}

/// Runs the loop over some LUs; gives back where the sentences went, too.
pub(super) fn run_seeds<S: Sink>(
    shared: &mut Shared<'_>,
    (recipe, fingerprint): (RecipeId, [u8; 16]),
    sink: S,
    seeds: &mut dyn Iterator<Item = Result<Seed>>,
    tally: &mut Tally<'_>,
) -> Result<(Ended, S)>
where
    GenerateError: From<S::Error>,
{
    let database = shared.database;
    let identifier = shared.generator.identifier.clone();
    let judge = identifier.as_deref().map(|identifier| FitJudge::new(database, identifier));
    let mut proposer = SisterProposer::new((recipe, shared.recipe));
    let mut checker = CandidateChecker { recipe, judge };
    let mut writer = GeneratedWriter::new(database, fingerprint, (sink, shared.generator.files()));
    let stages = Augmentation {
        shared,
        proposer: &mut proposer,
        checker: &mut checker,
        writer: &mut writer,
        observer: tally,
        is_ending: false,
    };
    let ended = stages.run(seeds)?;
    Ok((ended, writer.into_sink()))
}
