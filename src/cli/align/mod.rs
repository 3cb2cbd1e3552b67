//! `fnstore align`: what of a sentence answers to what of its paraphrase.

mod answers;
mod spans;
pub(super) mod tasks;
pub(super) mod words;

use super::{Context, Outcome};

/// Align sentences with their paraphrases
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    unit: Unit,
}

#[derive(Debug, clap::Subcommand)]
enum Unit {
    Spans(spans::Args),
    Words(words::Args),
    Tasks(tasks::Args),
    Answers(answers::Args),
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.unit {
        Unit::Spans(args) => spans::run(args, context),
        Unit::Words(args) => words::run(args, context),
        Unit::Tasks(args) => tasks::run(args, context),
        Unit::Answers(args) => answers::run(args, context),
    }
}

/// A score or a share, 0 to 1.
fn score(text: &str) -> Result<f32, String> {
    let score = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&score) { Ok(score) } else { Err("expected 0 to 1".to_owned()) }
}
