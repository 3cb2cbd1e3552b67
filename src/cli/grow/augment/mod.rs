//! `fnstore augment`: training data of other tasks, rewritten under constraints.

mod aggregate;
mod rewrites;
mod sets;

use std::path::{Path, PathBuf};

use fnstore::augment::RememberingRewriter;
use fnstore::engine::BeamSettings;
use fnstore::paraphrase::Settings;

use crate::cli::options::rewriter;
use crate::cli::{Context, Outcome};
use rewrites::tell_found;

/// Rewrite the training data of another task, its labels kept
///
/// Each task reads a table, tab-separated under a line of names or JSON lines, and writes JSON
/// lines: the items as they were, then their rewritings, each with its `variant`. What was asked of
/// the rewriter, what it met and what was lifted is told at the end. A line that cannot be used is
/// told and left out, and the program ends with code 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Task,
}

const EXAMPLES: &str = "\
Examples:
  fnstore augment nli pairs.tsv --rewrites rewrites.jsonl > augmented.jsonl
  fnstore augment qa candidates.tsv --ban 2 > augmented.jsonl
  fnstore augment mt bitext.tsv --copies 5:1 > augmented.jsonl
  fnstore augment aggregate predictions.jsonl --by weights";

#[derive(Debug, clap::Subcommand)]
enum Task {
    Nli(sets::NliArgs),
    Qa(sets::QaArgs),
    Mt(sets::MtArgs),
    Aggregate(aggregate::Args),
}

/// The rewriter, and what it has done before.
#[derive(Debug, clap::Args)]
pub(crate) struct RewriterArgs {
    /// Keep rewritings in FILE, and take those that it has of the same rewriter and settings: a run
    /// that was interrupted resumes where it was
    #[arg(long, value_name = "FILE")]
    rewrites: Option<PathBuf>,

    /// Beam size
    #[arg(long, value_name = "N", default_value_t = BeamSettings::default().beam_size)]
    beam: usize,

    #[command(flatten)]
    rewriter: rewriter::RewriterArgs,
}

impl RewriterArgs {
    /// Opens the rewriter, to find so many texts for each sentence.
    fn open(&self, n_best: usize) -> anyhow::Result<RememberingRewriter> {
        let beam = BeamSettings { beam_size: self.beam, n_best, ..BeamSettings::default() };
        let settings = Settings { beam, ..Settings::default() };
        let file = self.rewrites.as_deref();
        let is_there = file.is_some_and(Path::exists);
        let (crew, numbers) = (self.rewriter.open_crew()?, self.rewriter.numbers());
        let rewriter = RememberingRewriter::new(crew, settings, numbers, file)?;
        if is_there {
            tell_found(&rewriter);
        }
        Ok(rewriter)
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let output = &mut context.output;
    match args.task {
        Task::Nli(args) => sets::nli(&args, output),
        Task::Qa(args) => sets::qa(&args, output),
        Task::Mt(args) => sets::mt(&args, output),
        Task::Aggregate(args) => aggregate::run(&args, output),
    }
}
