//! Which part of an expansion is asked for, and the models that it needs on whatever machine.

use super::manifest::Shard;
use super::models::{Models, RewriterSource};
use super::recipe::{Guidance, Recipe};
use super::recipes::RecipeSettings;
use crate::model::coded;

/// The number of a task of a Slurm array.
const TASK: &str = "SLURM_ARRAY_TASK_ID";

/// A part that cannot be asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShardRequestError {
    /// It names no part.
    #[error("`shard` is `{text}`; expected a part and the number of parts, as in `3/16` (X-shard)")]
    NoPart {
        /// What it says.
        text: String,
    },
    /// The part is a task's, and there is no task.
    #[error(
        "there is no {TASK}: this is no task of a Slurm array; name a part, as in `3/16` (X-shard)"
    )]
    NoTask,
    /// The part is a task's, which the array has no part for.
    #[error(
        "task {task} of an array for the shard `/{of}`; expected a task from 1 to {of} (X-shard)"
    )]
    OtherTask {
        /// Number of the task.
        task: String,
        /// Number of parts.
        of: String,
    },
    /// Models are lacking that other machines may have: it would be of another recipe than theirs.
    #[error(
        "no {lacking} among the models, which {job} as on machines that have it (X-shard-models)"
    )]
    Models {
        /// The models.
        lacking: &'static str,
        /// What they do.
        job: &'static str,
        /// How it is done without: a setting and its value.
        without: &'static str,
    },
}

coded!(ShardRequestError {
    Self::Models { .. } => Failed.coded("X-shard-models"),
    _ => Failed.coded("X-shard"),
});

impl Shard {
    /// The part that is asked for: `3/16`, or `/16` in a task of a Slurm array, whose number it
    /// takes, whichever tasks the array has.
    ///
    /// # Errors
    /// When the text names no part, or there is no task for it.
    pub fn from_request(text: &str) -> Result<Self, ShardRequestError> {
        let Some(of) = text.strip_prefix('/') else {
            let no_part = || ShardRequestError::NoPart { text: text.to_owned() };
            return Self::parse(text).ok_or_else(no_part);
        };
        let task = std::env::var(TASK).map_err(|_| ShardRequestError::NoTask)?;
        let other = || ShardRequestError::OtherTask { task: task.clone(), of: of.to_owned() };
        Self::parse(&format!("{task}/{of}")).ok_or_else(other)
    }
}

/// Refuses a part of an expansion without models that other machines may have, unless what is
/// asked for does without them. A filter may be named, or left out by name.
///
/// # Errors
/// When one is lacking.
pub fn require_models(
    recipe: &Recipe,
    asked: &RecipeSettings,
    names_filter: bool,
) -> Result<(), ShardRequestError> {
    let Models { guide, filter, verifier, rewriter, .. } = &recipe.models;
    let is_adapter = matches!(rewriter, RewriterSource::Model { base: Some(_), .. });
    let lacking = |lacking, job, without| Err(ShardRequestError::Models { lacking, job, without });
    if guide.is_none() && asked.guide.is_none() {
        return lacking("word vectors or no tagger", "guide a shard", "guide none");
    }
    if filter.is_none() && !names_filter {
        return lacking("filter", "scores a shard", "filter none");
    }
    let asks_nobody = recipe.guidance == Guidance::Lexicon || asked.choice.is_some();
    if is_adapter && verifier.is_none() && !asks_nobody {
        let job = "chooses among a shard's outputs";
        return lacking("verifier", job, "choice fewest-failed-checks");
    }
    Ok(())
}
