//! `fnstore train`: a model of one's own.

mod aligner;
mod words;

use super::{Context, Outcome};

/// Train a model
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    model: Model,
}

#[derive(Debug, clap::Subcommand)]
enum Model {
    Aligner(aligner::Args),
    Words(words::Args),
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.model {
        Model::Aligner(args) => aligner::run(args, context),
        Model::Words(args) => words::run(args, context),
    }
}
