//! Sentences for LUs: those of sisters, whole or with the words of some FEs written anew, batch by
//! batch.

use std::collections::VecDeque;

use super::job::{Filled, Job};
use super::placement::{Placement, Shared};
use super::seeds::Seed;
use super::{GenerateError, GenerationRecipe, Result};
use crate::engine::GoesOn;
use crate::grow::{Begun, Finish, Proposed, Proposer};
use crate::model::{Method, RecipeId};

/// LUs of a batch: enough to fill a network's products, few enough that a stopped run loses little.
pub(super) const BATCH: usize = 16;

/// Puts LUs in the place of their sisters, and has blanks filled.
pub(super) struct SisterProposer<'a> {
    recipe: (RecipeId, &'a GenerationRecipe),
    /// LUs that wait for their batch.
    waiting: Vec<Placement>,
    /// LUs with what was written for each of their drafts.
    filled: VecDeque<(Placement, Vec<Filled>)>,
    out_of_budget: bool,
}

impl<'a> SisterProposer<'a> {
    pub(super) fn new(recipe: (RecipeId, &'a GenerationRecipe)) -> Self {
        Self { recipe, waiting: Vec::new(), filled: VecDeque::new(), out_of_budget: false }
    }

    /// Has words written for the blanks of each draft of each LU that waits. LUs that a budget does
    /// not reach are left out.
    fn fill(&mut self, shared: &mut Shared<'_>, goes_on: &mut GoesOn<'_>) -> Result<()> {
        let plans = std::mem::take(&mut self.waiting);
        let recipe = self.recipe.1;
        let jobs = plans.iter().flat_map(|plan| {
            let (frame, lexunit) = (&plan.frame.name, &plan.lexunit.name);
            plan.drafts.iter().map(move |draft| Job { draft, frame, lexunit })
        });
        let jobs: Vec<Job<'_>> = jobs.collect();
        let answers = match recipe.method {
            Method::Infill => shared.generator.fill(&jobs, recipe, goes_on)?,
            _ => vec![Filled::default(); jobs.len()],
        };
        self.out_of_budget = answers.len() < jobs.len();
        let mut answers = answers.into_iter();
        for plan in plans {
            let of_plan: Vec<Filled> = answers.by_ref().take(plan.drafts.len()).collect();
            if of_plan.len() < plan.drafts.len() {
                break;
            }
            self.filled.push_back((plan, of_plan));
        }
        Ok(())
    }
}

impl<'a> Proposer for SisterProposer<'a> {
    type Shared = Shared<'a>;
    type Seed = Seed;
    type Work = Placement;
    type Outputs = Vec<Filled>;
    type Error = GenerateError;

    fn has_room(&self) -> bool {
        !self.out_of_budget && self.filled.is_empty() && self.waiting.len() < BATCH
    }

    fn under_way(&self) -> usize {
        self.waiting.len() + self.filled.len()
    }

    fn begin(
        &mut self,
        shared: &mut Shared<'a>,
        seed: Seed,
        _: &mut GoesOn<'_>,
    ) -> Result<Begun<Placement>> {
        let (work, skip) = Placement::of(shared, self.recipe.0, seed)?;
        if skip.is_some() {
            return Ok(Begun::Ended(Finish { work, reason: skip, with_round: false }));
        }
        self.waiting.push(work);
        Ok(Begun::UnderWay)
    }

    fn next(
        &mut self,
        shared: &mut Shared<'a>,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Proposed<Placement, Vec<Filled>>> {
        if self.filled.is_empty() && !self.waiting.is_empty() {
            self.fill(shared, goes_on)?;
        }
        Ok(match self.filled.pop_front() {
            Some((plan, filled)) => Proposed::Outputs(plan, filled),
            None if self.out_of_budget => Proposed::OutOfBudget,
            None => Proposed::Nothing,
        })
    }

    fn is_stopped(error: &GenerateError) -> bool {
        error.is_stopped()
    }
}
