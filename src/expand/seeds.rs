//! Which seeds a run takes.

use super::destination::Destination;
use super::pace;
use super::seed::TARGET;
use super::tally::OnProgress;
use super::{EndReason, ExpansionProgress, Phase, Report, Result, RunOptions};
use crate::database::Database;
use crate::engine::Paced;
use crate::model::{AnnotationSetId, RecipeId, ReleaseId};
use crate::query::{Expression, Selection};
use crate::store::JournalEntry;

/// What asks for sets that can be seeds.
#[doc(hidden)]
pub const SEEDS: &str = "origin!=generated origin!=carried";

/// The human sets for which an expression holds: what is generated is not expanded again, nor what
/// was carried along.
pub(super) fn human_sets(expression: &Expression) -> Expression {
    let human = SEEDS.parse().expect("a constant query, which every run reads");
    Expression::conjunction([expression.clone(), human])
}

/// A seed that is not through all rounds, and how far it is.
pub(super) struct Todo {
    pub(super) release: ReleaseId,
    pub(super) set: AnnotationSetId,
    pub(super) journal: Option<JournalEntry>,
    /// What its sentence adds to the time of a round, where that is measured.
    pub(super) weight: f64,
}

impl Todo {
    /// Rounds that are before it.
    pub(super) fn missing(&self, rounds: u16) -> u64 {
        let done = self.journal.as_ref().map_or(0, |entry| entry.round);
        u64::from(rounds.saturating_sub(done))
    }
}

/// The human sets that match and are not through all rounds; counts the others. `None` when
/// somebody stopped it, which the report says then.
pub(super) fn find_seeds(
    database: &Database,
    (human, id, options): (&Expression, RecipeId, &RunOptions),
    (destination, on_progress): (&Destination, &mut OnProgress<'_>),
    report: &mut Report,
) -> Result<Option<Vec<Todo>>> {
    let (mut todo, mut paced) = (Vec::new(), Paced::new());
    let finding = ExpansionProgress::at(Phase::FindingSeeds);
    for (place, found) in (0..).zip(database.matches(human, &Selection::default())?) {
        if paced.ask(|| on_progress(&finding).map_break(drop)).is_break() {
            report.interrupted = true;
            return Ok(None);
        }
        let found = found?;
        let (release, set) = (found.release(), found.set().id);
        if destination.shard().is_some_and(|shard| !shard.takes(place)) {
            continue;
        }
        report.seeds += 1;
        if destination.has(set) {
            report.done_before += 1;
            continue;
        }
        let weight = match destination {
            Destination::Measured(_) => pace::weight(found.text()?.as_deref().unwrap_or_default()),
            _ => 0.0,
        };
        let journal = database.store().journal(release, set, TARGET, id)?;
        let end = journal.as_ref().and_then(|entry| EndReason::parse(entry.end.as_deref()?));
        if let Some(reason) = end {
            *report.ended_before.entry(reason).or_default() += 1;
        }
        let is_through = journal.as_ref().is_some_and(|entry| entry.round >= options.rounds);
        match end.is_some() || is_through {
            true => report.done_before += 1,
            false => todo.push(Todo { release, set, journal, weight }),
        }
    }
    let taken = options.seed_limit.unwrap_or(usize::MAX).min(todo.len());
    report.left = (todo.len() - taken) as u64;
    todo.truncate(taken);
    Ok(Some(todo))
}
