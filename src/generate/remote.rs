//! An endpoint that writes the words of blanks.

use serde_json::{Value, json};

use super::job::{Filled, Job};
use super::prompt::GenerationPrompt;
use super::recipe::GenerationRecipe;
use super::{Result, Skip};
use crate::endpoint::{Endpoint, Usage};
use crate::engine::GoesOn;

/// Tokens of an answer, for each blank.
const TOKENS: u32 = 64;
/// Of one candidate the likeliest is asked for; several are drawn.
const TEMPERATURE: f32 = 1.0;
/// Seeds that every server takes.
const SEEDS: u64 = 0x7fff_ffff;

/// Fills blanks by an endpoint.
#[derive(Debug)]
pub struct RemoteFiller {
    endpoint: Endpoint,
    prompt: GenerationPrompt,
}

impl RemoteFiller {
    /// A filler that asks an endpoint by a prompt, whose answer is a list.
    #[must_use]
    pub fn new(endpoint: Endpoint, prompt: GenerationPrompt) -> Self {
        Self { endpoint, prompt }
    }

    pub(super) fn description(&self) -> Value {
        json!({
            "kind": "endpoint",
            "endpoint": self.endpoint.description(),
            "prompt": self.prompt.fingerprint(),
            "tokens": TOKENS,
            "temperature": TEMPERATURE.to_string(),
        })
    }

    pub(super) fn usage(&self) -> Usage {
        self.endpoint.usage()
    }

    /// Words for the blanks of a sentence.
    pub(super) fn fill(
        &mut self,
        job: &Job<'_>,
        recipe: &GenerationRecipe,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Filled> {
        let question = job.prompt(&self.prompt, recipe.mode);
        let blanks = job.draft.blanks.len();
        let temperature = if recipe.candidates == 1 { 0.0 } else { TEMPERATURE };
        let mut filled = Filled::default();
        for draw in 0..recipe.candidates as u64 {
            let limit = TOKENS * blanks as u32;
            let answer = self.endpoint.ask_while(
                &question,
                temperature,
                recipe.seed.wrapping_add(draw) & SEEDS,
                limit,
                goes_on,
            )?;
            match self.prompt.answer.spans_of(&answer, blanks) {
                Ok(spans) => filled.take(job, &spans),
                Err(code) => filled.rejects.push(code),
            }
        }
        filled.skip = filled.candidates.is_empty().then_some(Skip::Rejected);
        Ok(filled)
    }
}
