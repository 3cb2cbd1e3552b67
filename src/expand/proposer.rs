//! Rewritings of seeds, many in flight through a rewriter, in rounds.

use std::collections::HashMap;
use std::time::Instant;

use super::attempt::Attempt;
use super::chain::Chain;
use super::companions::{Carry, Companion};
use super::in_context;
use super::knowledge::Knowledge;
use super::partners::{Partners, Targets};
use super::rewording::Rewording;
use super::rewriting::Rewriting;
use super::seed::{Seed, stored};
use super::seeds::Todo;
use super::{EndReason, ExpandError, Followed, Guidance, Result};
use crate::endpoint::EndpointError;
use crate::engine::{GoesOn, SourceId};
use crate::grow::{Begun, Finish, Proposed, Proposer, Why};
use crate::model::{AnnotationSetId, ReleaseId};
use crate::paraphrase::{ParaphraseError, Refusal, RequestOutcome, Rounds};

/// Sentences in flight on the CPU: enough to fill the rewriter's batches while others wait for the
/// aligner. Devices of larger batches take more.
const IN_FLIGHT: usize = 32;

/// Rewrites seeds.
pub(super) struct ParaphraseProposer<'a, 's> {
    followed: Followed<'a>,
    session: Rounds<'s>,
    in_flight: HashMap<SourceId, Rewriting<'a>>,
    /// The sentences of seeds that had a round, in the rewriter.
    open: HashMap<(ReleaseId, AnnotationSetId), SourceId>,
    /// Most seeds in flight.
    most: usize,
    /// Steps of all searches.
    pub(super) steps: u64,
    /// How many of them were those of the round before, and took no work.
    pub(super) steps_reused: u64,
}

impl<'a, 's> ParaphraseProposer<'a, 's> {
    pub(super) fn new(session: Rounds<'s>, followed: Followed<'a>) -> Self {
        let rows = followed.options.device.rows_at_once();
        let most = match session.share_work() {
            true => IN_FLIGHT.max(rows / followed.recipe.beam_size.max(1)),
            false => 1,
        };
        let (in_flight, open) = (HashMap::new(), HashMap::new());
        Self { followed, session, in_flight, open, most, steps: 0, steps_reused: 0 }
    }

    /// Most seeds in flight.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// The seeds that are in flight.
    pub(super) fn in_flight(&self) -> impl Iterator<Item = &Rewriting<'a>> {
        self.in_flight.values()
    }

    /// A seed with its bans and those of its partners, up to where its journal leads; `None` if the
    /// store has it no longer.
    fn chain(
        &self,
        knowledge: &mut Knowledge<'_>,
        seed: Todo,
    ) -> Result<Option<(Chain, Partners)>> {
        let (database, recipe) = (knowledge.database(), self.followed.recipe);
        let Todo { release, set, journal, .. } = seed;
        let Some((set, sentence)) = stored(database, release, set)? else { return Ok(None) };
        let lexunit = database.store().lexunit(release, set.frame, set.lu)?;
        let seed = Seed::of(release, (&set, sentence.text), lexunit.as_ref());
        let companions = match recipe.carry {
            Carry::All => Companion::of(database, (&seed, set.sentence), |id| {
                knowledge.is_held_out(release, id)
            })?,
            Carry::Target => Vec::new(),
        };
        let lexicon = knowledge.lexicon(release)?;
        let mut chain = Chain::inflected(seed, &lexicon.morphology().clone());
        let mut partners = match recipe.targets {
            Targets::All => Partners::of(&chain.seed, &companions, lexicon)?,
            Targets::One => Partners::default(),
        };
        chain.companions = companions;
        if recipe.ban_lexicon {
            let frame = chain.seed.frame;
            chain.ban_units(lexicon.units_of(frame)?);
        }
        if let Some(journal) = journal {
            chain.replay(journal, database, lexicon)?;
            partners.replay(&chain, lexicon)?;
        }
        Ok(Some((chain, partners)))
    }

    /// What a chain needs beside its bans before its first round of this run.
    fn prepare(
        &mut self,
        knowledge: &mut Knowledge<'_>,
        chain: &mut Chain,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<()> {
        let recipe = self.followed.recipe;
        if recipe.reword > 0.0 {
            let morphology = knowledge.lexicon(chain.seed.release)?.morphology().clone();
            if let Some(tagger) = knowledge.tagger() {
                chain.rewording = Rewording::of(tagger, &chain.seed, &morphology, recipe.reword)?;
            }
        }
        if recipe.guidance == Guidance::Context {
            chain.substitutes = in_context::substitutes(&mut self.session, chain, goes_on)?;
        }
        Ok(())
    }

    /// Sends a seed's attempt to the rewriter; gives it back if the rewriter refuses it.
    fn send(&mut self, mut work: Rewriting<'a>) -> Result<Option<Finish<Rewriting<'a>>>> {
        let constraints = work.attempt.constraints(&work.chain, self.followed.recipe.keep_fe);
        let seed = &work.chain.seed;
        let source = match self.open.get(&(seed.release, seed.set)) {
            None => self.session.open_under(&seed.natural(), &constraints),
            Some(source) => self.session.reopen_under(*source, &constraints),
        };
        match source {
            Ok(source) => {
                self.session.submit(source, &constraints)?;
                self.open.insert((seed.release, seed.set), source);
                if !std::mem::replace(&mut work.has_begun, true) {
                    // Before that the lexicon was read.
                    work.since = Instant::now();
                }
                self.in_flight.insert(source, work);
                Ok(None)
            }
            Err(ParaphraseError::Refused(refusal)) => {
                let reason = match refusal {
                    Refusal::Empty => EndReason::EmptySentence,
                    _ => EndReason::TooLong,
                };
                Ok(Some(Finish { work, reason: Some(reason), with_round: false }))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl<'a> Proposer for ParaphraseProposer<'a, '_> {
    type Shared = Knowledge<'a>;
    type Seed = Todo;
    type Work = Rewriting<'a>;
    type Outputs = RequestOutcome;
    type Error = ExpandError;

    fn has_room(&self) -> bool {
        self.in_flight.len() < self.most
    }

    fn under_way(&self) -> usize {
        self.in_flight.len()
    }

    fn begin(
        &mut self,
        knowledge: &mut Knowledge<'a>,
        seed: Todo,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Begun<Rewriting<'a>>> {
        let Some(chain) = self.chain(knowledge, seed)? else { return Ok(Begun::Gone) };
        let mut work = Rewriting::new(self.followed, chain);
        let ended = |work, reason| {
            Ok(Begun::Ended(Finish { work, reason: Some(reason), with_round: false }))
        };
        if work.chain.seed.targets.is_empty() {
            return ended(work, EndReason::NoTarget);
        }
        self.prepare(knowledge, &mut work.chain, goes_on)?;
        let Some(attempt) = Attempt::first(knowledge, &work.chain, &work.partners)? else {
            return ended(work, EndReason::NothingAlike);
        };
        work.attempt = attempt;
        Ok(self.send(work)?.map_or(Begun::UnderWay, Begun::Ended))
    }

    fn next(
        &mut self,
        _: &mut Knowledge<'a>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Proposed<Rewriting<'a>, RequestOutcome>> {
        let rewrite = match self.session.next_finished_while(goes_on) {
            Err(ParaphraseError::Endpoint(EndpointError::Budget { .. })) => {
                return Ok(Proposed::OutOfBudget);
            }
            finished => finished?,
        };
        let Some(rewrite) = rewrite else { return Ok(Proposed::Nothing) };
        let work = self.in_flight.remove(&rewrite.source);
        self.steps += rewrite.steps as u64;
        self.steps_reused += rewrite.steps_reused as u64;
        Ok(Proposed::Outputs(work.expect("every open source is in flight"), rewrite.outcome))
    }

    fn again(
        &mut self,
        knowledge: &mut Knowledge<'a>,
        mut work: Rewriting<'a>,
        why: Why<EndReason>,
    ) -> Result<Option<Finish<Rewriting<'a>>>> {
        let attempt = std::mem::take(&mut work.attempt);
        let (chain, partners) = (&work.chain, &work.partners);
        let (attempt, reason) = match why {
            Why::Accepted => {
                (work.since, work.rounds_before) = (Instant::now(), chain.round);
                (Attempt::first(knowledge, chain, partners)?, EndReason::NothingAlike)
            }
            Why::Improvable => (attempt.next(knowledge, chain)?, EndReason::NothingAlike),
            Why::Refused(reason) => (attempt.without_rewording(knowledge, chain)?, reason),
        };
        let Some(attempt) = attempt else {
            let with_round = matches!(why, Why::Refused(_));
            return Ok(Some(Finish { work, reason: Some(reason), with_round }));
        };
        work.attempt = attempt;
        self.send(work)
    }

    fn close(&mut self, work: &Rewriting<'a>) {
        let seed = &work.chain.seed;
        if let Some(source) = self.open.remove(&(seed.release, seed.set)) {
            self.session.close(source);
        }
    }

    fn stored(&mut self, knowledge: &mut Knowledge<'a>) {
        knowledge.forget_committed();
    }

    fn is_stopped(error: &ExpandError) -> bool {
        error.is_stopped()
    }
}
