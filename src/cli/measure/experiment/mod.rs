//! `fnstore experiment`: whether generated sets help the models that learn from them.

mod fes;
mod frame_id;
mod report;

use std::path::PathBuf;

use crate::cli::options::named::one_of;
use fnstore::database::Database;
use fnstore::model::Split;
use fnstore::query::Expression;

use crate::cli::options::device::DeviceArgs;
use crate::cli::options::labeller::ReleaseArgs;
use crate::cli::options::locate;
use crate::cli::options::query::expression;
use crate::cli::{Context, Outcome};

/// Train with and without generated sets, and compare
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Command,
}

commands! {
    FrameId in frame_id,
    Fes in fes,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    args.task.run(context)
}

/// What both experiments are told.
#[derive(Debug, clap::Args)]
struct SourceArgs {
    /// Draw from the training sentences of which a set passes this query; none means all
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Generated sets that may be added; those of seeds outside of a draw are never added
    #[arg(long, value_name = "QUERY", default_value = "origin=generated")]
    generated: String,

    #[command(flatten)]
    release: ReleaseArgs,

    /// Part that measures. The part `dev` also chooses epochs
    #[arg(long, value_name = "PART", default_value_t = Split::Dev, value_parser = one_of(&[Split::Dev, Split::Test]))]
    part: Split,

    /// Draws of each share
    #[arg(long, value_name = "N", default_value_t = 5)]
    resamples: usize,

    /// Seed of draws, weights and order
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Draw the means of F1 as an SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Save what each training gave to FILE, and resume from it. A checkpoint of different data or
    /// settings is refused
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Directory of the encoder, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = locate::ENCODER)]
    encoder: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

impl SourceArgs {
    /// The sentences to draw from.
    fn within(&self) -> anyhow::Result<Expression> {
        expression(&self.expression.join(" "))
    }

    /// The generated sets that may be added.
    fn generated(&self) -> anyhow::Result<Expression> {
        expression(&self.generated)
    }

    /// The database, under one split list for all that is read, and the release's name.
    fn open(
        &self,
        [within, generated]: [&Expression; 2],
        context: &Context,
    ) -> anyhow::Result<(Database, String)> {
        let asked = Expression::all_of([within.clone(), generated.clone()])?;
        self.release.open_for(&asked, context)
    }

    fn dirs(&self) -> Vec<PathBuf> {
        locate::model_dirs(self.models.clone())
    }

    fn encoder(&self) -> anyhow::Result<PathBuf> {
        locate::model(&self.encoder, &self.dirs())
    }
}
