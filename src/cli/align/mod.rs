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
