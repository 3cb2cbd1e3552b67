//! How far an expansion is, how long the rest of it takes, and how it begins anew.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::destination::Destination;
use super::loaded_models::LoadedModels;
use super::pace::Measurement;
use super::run::{at_once, run_into};
use super::seed::TARGET;
use super::seeds::human_sets;
use super::{
    EndReason, ExpandError, ExpansionProgress, Followed, Recipe, Result, RunOptions, SeedsError,
    Shard,
};
use crate::database::Database;
use crate::edit::Removed;
use crate::model::{AnnotationSetId, FrameId, RecipeId, ReleaseId, by_name};
use crate::query::{Expression, Selection};

/// Stands for a recipe that the store does not have.
pub(super) const UNKNOWN: RecipeId = RecipeId(u32::MAX);

/// How far the seeds of a frame are under a recipe.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct FrameStatus {
    /// Human annotation sets that match.
    pub seeds: u64,
    /// Those of them that are through all rounds.
    pub done: u64,
    /// Those that ended before their last round, by reason.
    #[serde(serialize_with = "by_name")]
    pub ended: BTreeMap<EndReason, u64>,
    /// Those that are in the middle of their rounds.
    pub begun: u64,
    /// Rounds that seeds neither done nor ended still need; with a limit, of so many seeds.
    pub rounds_missing: u64,
}

/// How far an expansion is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The recipe's number, where something was expanded under it.
    pub recipe: Option<RecipeId>,
    /// By release and frame.
    pub frames: BTreeMap<(ReleaseId, FrameId), FrameStatus>,
}

impl Status {
    /// The sum over all frames.
    #[must_use]
    pub fn total(&self) -> FrameStatus {
        self.frames.values().fold(FrameStatus::default(), |mut total, frame| {
            total.seeds += frame.seeds;
            total.done += frame.done;
            total.begun += frame.begun;
            total.rounds_missing += frame.rounds_missing;
            for (reason, count) in &frame.ended {
                *total.ended.entry(*reason).or_default() += count;
            }
            total
        })
    }
}

/// How far a frame is as JSON; see `schema/expand-status.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct StatusRecord {
    /// Name of the release
    pub release: String,
    /// Name of the frame
    pub frame: String,
    /// How far it is.
    #[serde(flatten)]
    pub status: FrameStatus,
}

impl Status {
    /// A row for each frame, by its name.
    ///
    /// # Errors
    /// When the store fails.
    pub fn records(&self, database: &Database) -> Result<Vec<StatusRecord>> {
        let releases = database.releases()?;
        let record = |((release, frame), of): (&(ReleaseId, FrameId), &FrameStatus)| {
            let named = releases.iter().find(|known| known.id == *release);
            let stored = database.store().frame(*release, *frame)?;
            Ok(StatusRecord {
                release: named.map_or_else(|| release.0.to_string(), |of| of.name.clone()),
                frame: stored.map_or_else(|| frame.0.to_string(), |frame| frame.name),
                status: of.clone(),
            })
        };
        self.frames.iter().map(record).collect()
    }
}

/// What some measured rounds say of all that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Rounds that were tried, without writing anything.
    pub rounds: u64,
    /// How long that took.
    pub elapsed: Duration,
    /// How long the missing ones would take, seeds that end early considered. It is no more than
    /// known to be too little where no round came to its end.
    pub missing: Duration,
    /// Of that, what takes the same however many are missing: models are opened, the lexicon read.
    pub fixed: Duration,
}

/// How far the human annotation sets are for which an expression holds.
///
/// # Errors
/// As `run`.
pub fn status(
    database: &Database,
    expression: &Expression,
    (recipe, options): (&Recipe, &RunOptions),
) -> Result<Status> {
    let human = human_sets(expression);
    drop(database.query(&human)?);
    let models = LoadedModels::open((recipe, options))?;
    status_of(database, (&human, options), &models, (None, None))
}

/// As [`status`] of a part of the seeds, or of all, with the time that the missing rounds take.
/// To measure it, seeds from all over are taken to their ends, as many beside each other as in a
/// run: a quarter of all, twice as many as are in flight at most, for a minute at most.
/// Nothing is written. With a limit of seeds it is the time of so many seeds, and the rounds
/// that are missing are theirs. There is no estimate where nothing is missing, or where `progress`,
/// which is told how far the measurement is, answers `Break` at once.
///
/// # Errors
/// As `run`.
pub fn estimate(
    database: &Database,
    (expression, recipe, options): (&Expression, &Recipe, &RunOptions),
    shard: Option<Shard>,
    progress: &mut dyn FnMut(&ExpansionProgress) -> ControlFlow<()>,
) -> Result<(Status, Option<Estimate>)> {
    let human = human_sets(expression);
    drop(database.query(&human)?);
    let began = Instant::now();
    let mut models = LoadedModels::open((recipe, options))?;
    let opening = began.elapsed();
    let which = (shard, options.seed_limit);
    let status = status_of(database, (&human, options), &models, which)?;
    if status.total().rounds_missing == 0 {
        return Ok((status, None));
    }
    let id = status.recipe.unwrap_or(UNKNOWN);
    let followed = Followed { id, recipe, options };
    let nowhere = Destination::Measured(Measurement { shard, ..Measurement::default() });
    let began = Instant::now();
    let (report, nowhere) =
        run_into(database, (&human, followed), &mut models, nowhere, &mut at_once(progress))?;
    let fixed = opening + began.elapsed().saturating_sub(report.elapsed);
    let estimate = match nowhere {
        Destination::Measured(Measurement { rounds, missing, .. }) if !missing.is_zero() => {
            Some(Estimate { rounds, elapsed: report.elapsed, missing: missing + fixed, fixed })
        }
        _ => None,
    };
    Ok((status, estimate))
}

/// Removes what the recipe wrote of the human annotation sets for which an expression holds, and
/// forgets how far they are: the next run begins them anew. With a limit of seeds these are
/// the first so many sets of a release. All goes or nothing.
///
/// # Errors
/// As `run`, and when sentences of LUs would go that people accepted, moved or
/// merged.
pub fn forget(
    database: &Database,
    expression: &Expression,
    (recipe, options): (&Recipe, &RunOptions),
) -> Result<Removed> {
    let human = human_sets(expression);
    drop(database.query(&human)?);
    let models = LoadedModels::open((recipe, options))?;
    let Some(id) = known(database, &models)? else { return Ok(Removed::default()) };
    let mut seeds: BTreeMap<ReleaseId, Vec<AnnotationSetId>> = BTreeMap::new();
    for found in database.matches(&human, &Selection::default())? {
        let found = found?;
        seeds.entry(found.release()).or_default().push(found.set().id);
    }
    let mut removed = Removed::default();
    let mut all = Vec::new();
    for (release, mut seeds) in seeds {
        seeds.truncate(options.seed_limit.unwrap_or(usize::MAX));
        let mut edits = database.transaction(release)?;
        let of_release = edits.forget_expansion(id, &seeds)?;
        removed.sets += of_release.sets;
        removed.lexunits += of_release.lexunits;
        removed.decided.extend(of_release.decided);
        all.push(edits);
    }
    if !removed.decided.is_empty() {
        return Err(ExpandError::Seeds(SeedsError::Decided {
            lexunits: removed.decided.into_iter().collect(),
        }));
    }
    for edits in all {
        edits.commit()?;
    }
    Ok(removed)
}

/// The number of a recipe that the store knows.
pub(super) fn known(database: &Database, models: &LoadedModels) -> Result<Option<RecipeId>> {
    let fingerprint = models.fingerprint();
    let recipes = database.store().recipes()?;
    Ok(recipes.into_iter().find(|(_, known, _)| *known == fingerprint).map(|(id, ..)| id))
}

fn status_of(
    database: &Database,
    (human, options): (&Expression, &RunOptions),
    models: &LoadedModels,
    (shard, limit): (Option<Shard>, Option<usize>),
) -> Result<Status> {
    let store = database.store();
    let recipe_id = known(database, models)?;
    let mut frames: BTreeMap<_, FrameStatus> = BTreeMap::new();
    let mut left = limit.unwrap_or(usize::MAX);
    for (place, found) in (0..).zip(database.matches(human, &Selection::default())?) {
        let found = found?;
        if shard.is_some_and(|shard| !shard.takes(place)) {
            continue;
        }
        let frame = frames.entry((found.release(), found.set().frame)).or_default();
        frame.seeds += 1;
        let entry = match recipe_id {
            Some(id) => store.journal(found.release(), found.set().id, TARGET, id)?,
            None => None,
        };
        let round = entry.as_ref().map_or(0, |entry| entry.round);
        let end = entry.as_ref().and_then(|entry| entry.end.as_deref()).and_then(EndReason::parse);
        match end {
            Some(reason) => *frame.ended.entry(reason).or_default() += 1,
            None if round >= options.rounds => frame.done += 1,
            None => {
                frame.begun += u64::from(round > 0);
                if left > 0 {
                    frame.rounds_missing += u64::from(options.rounds - round);
                }
                left = left.saturating_sub(1);
            }
        }
    }
    Ok(Status { recipe: recipe_id, frames })
}
