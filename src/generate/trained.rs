//! A language model that was trained to answer with the words of all blanks at once.
//!
//! Its prompt has the sentence with its blanks, so each is written in the light of both sides. What
//! stands outside the blanks is put around the words afterwards and stays byte by byte.

use serde_json::{Value, json};

use super::job::{Filled, Job};
use super::recipe::GenerationRecipe;
use super::{GenerationPrompt, Result, Skip};
use crate::engine::{GoesOn, LengthLimit, SampleSettings};
use crate::model::Declared;
use crate::score::Scorer;

/// Tokens of an answer, at most a quarter of what the model takes; one that is cut here has too few
/// spans, or lacks its end.
const TOKENS: usize = 64;
const TEMPERATURE: f32 = 0.4;
const TOP_K: usize = 50;
const TOP_P: f32 = 0.95;

/// Fills blanks by a language model that was trained for it.
#[derive(Debug)]
pub struct TrainedFiller {
    writer: Scorer,
    prompt: GenerationPrompt,
}

impl TrainedFiller {
    /// A filler of a language model with its adapter, and of the prompt that the adapter learnt,
    /// whose answer is [`Answer::Bars`](super::Answer::Bars).
    #[must_use]
    pub fn new(writer: Scorer, prompt: GenerationPrompt) -> Self {
        Self { writer, prompt }
    }

    /// The languages that the adapter, or else its language model, declares.
    pub(super) fn declared(&self) -> &Declared {
        self.writer.declared()
    }

    pub(super) fn description(&self) -> Value {
        json!({
            "kind": "trained-language-model",
            "model": self.writer.fingerprint().to_string(),
            "adapter": self.writer.adapter().map(|fingerprint| fingerprint.to_string()),
            "prompt": self.prompt.fingerprint(),
            "tokens": TOKENS,
            "temperature": TEMPERATURE.to_string(),
            "top_k": TOP_K,
            "top_p": TOP_P.to_string(),
        })
    }

    /// Words for the blanks of some sentences: as many draws for each as the recipe asks for
    /// candidates, less those that are alike or cannot be used.
    pub(super) fn fill(
        &mut self,
        jobs: &[Job<'_>],
        recipe: &GenerationRecipe,
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Vec<Filled>> {
        let prompts: Vec<String> =
            jobs.iter().map(|job| job.prompt(&self.prompt, recipe.mode)).collect();
        let settings = SampleSettings {
            samples: recipe.candidates,
            seed: recipe.seed,
            temperature: TEMPERATURE,
            top_k: TOP_K,
            top_p: TOP_P,
            length_limit: LengthLimit::tokens(TOKENS.min(self.writer.max_length() / 4)),
            ..SampleSettings::default()
        };
        let drawn = self.writer.continuations_while(&prompts, &settings, goes_on)?;
        let filled = jobs.iter().zip(drawn).map(|(job, drawn)| {
            let mut filled = Filled::default();
            let Ok(drawn) = drawn else {
                return Filled { skip: Some(Skip::TooLong), ..filled };
            };
            for answer in drawn {
                match self.prompt.answer.spans(&answer, job.draft.blanks.len()) {
                    Ok(spans) => filled.take(job, &spans),
                    Err(code) => filled.rejects.push(code),
                }
            }
            filled.skip = filled.candidates.is_empty().then_some(Skip::Rejected);
            filled
        });
        Ok(filled.collect())
    }
}
