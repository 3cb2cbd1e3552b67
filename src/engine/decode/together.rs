//! Searches of several sources that do not wait for each other.

use std::collections::HashMap;

use super::{Constraint, DecodeError, GoesOn, Hypothesis, Scheduler, SearchSettings, always};
use crate::engine::nn::StepNetwork;

/// Rows of one step of the network: enough to fill its products.
const ROWS: usize = 128;

/// The outputs of a search for each of some sources, in their order.
///
/// # Errors
/// When no search can follow the settings, or the network fails; it is then free of all sources.
pub fn search_all<N: StepNetwork>(
    network: &mut N,
    sources: Vec<(Vec<u32>, Constraint)>,
    settings: impl Into<SearchSettings>,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError> {
    search_all_while(network, sources, settings, &mut always())
}

/// As [`search_all`], asking after each step whether to go on.
///
/// # Errors
/// As [`search_all`], and [`DecodeError::Stopped`] after `Break`; the network is free then.
pub fn search_all_while<N: StepNetwork>(
    network: &mut N,
    sources: Vec<(Vec<u32>, Constraint)>,
    settings: impl Into<SearchSettings>,
    goes_on: &mut GoesOn<'_>,
) -> Result<Vec<Vec<Hypothesis>>, DecodeError> {
    let settings = settings.into();
    let mut scheduler = Scheduler::new(ROWS);
    let mut found = vec![Vec::new(); sources.len()];
    let mut jobs = HashMap::new();
    for (at, (source, constraint)) in sources.into_iter().enumerate() {
        let source = scheduler.add_source(source);
        jobs.insert(scheduler.submit(source, constraint, settings)?, at);
    }
    while !scheduler.is_idle() {
        let finished = scheduler.step(network).inspect_err(|_| scheduler.clear(network));
        for search in finished? {
            scheduler.release(search.source, network);
            found[jobs[&search.job]] = search.hypotheses;
        }
        if !scheduler.is_idle() && goes_on().is_break() {
            scheduler.clear(network);
            return Err(DecodeError::Stopped);
        }
    }
    Ok(found)
}
