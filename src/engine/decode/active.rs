//! A search that runs, and the network's answer to a step of it.

use super::beam::{BeamSearch, Stop};
use super::replay::Past;
use super::sampling::SampleSearch;
use super::waiting::Waiting;
use crate::engine::nn::{Candidate, SlotCandidates, SlotId};

/// A search that runs.
#[derive(Debug)]
pub(super) struct Active {
    /// The job as it waited, should it have to begin again.
    pub(super) origin: Waiting,
    pub(super) slot: SlotId,
    pub(super) search: Search,
    pub(super) steps_reused: usize,
}

/// How it goes on, and what it keeps of its steps.
#[derive(Debug)]
pub(super) enum Search {
    Beam { search: BeamSearch, past: Option<Past> },
    Sample(SampleSearch),
}

impl Active {
    /// Takes the network's answer to a step and says whether the search is over.
    pub(super) fn advance(&mut self, answer: Answer) -> Option<Stop> {
        match (&mut self.search, answer) {
            (Search::Beam { search, past }, Answer::Best(answer)) => {
                assert_eq!(answer.slot, self.slot, "a network answers in order of the rows");
                let stop = search.advance(&answer);
                if let Some(past) = past {
                    past.push(answer, search.candidates_wanted());
                }
                stop
            }
            (Search::Sample(search), Answer::Drawn(drawn)) => search.advance(&drawn),
            _ => unreachable!("each search gets the answer that it asked for"),
        }
    }
}

impl Search {
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Beam { search, .. } => search.beam_size(),
            Self::Sample(search) => search.samples(),
        }
    }
}

/// What a network says to a search.
pub(super) enum Answer {
    Best(SlotCandidates),
    Drawn(Vec<Option<Candidate>>),
}
