//! `fnstore train`: a model of one's own.

mod aligner;
mod choice;
mod fes;
mod filter;
mod frames;
mod proposals;
mod settings;
mod tagger;
mod words;

use std::fmt::Display;

use fnstore::TrainingProgress;

use crate::cli::print::output::{Output, counted, tell};
use crate::cli::print::progress;
use crate::cli::{Context, Outcome};

/// Train a model
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    model: Command,
}

commands! {
    Aligner in aligner,
    Words in words,
    Tagger in tagger,
    Frames in frames,
    Fes in fes,
    Filter in filter,
    Choice in choice,
    Proposals in proposals,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    args.model.run(context)
}

/// The end of what is told of a model: how many sentences were left out, and how the epoch went
/// whose weights are kept.
fn tell_end(output: &mut Output, left_out: usize, went: &str) -> anyhow::Result<()> {
    if left_out > 0 {
        output.line(&format!(
            "  left out, too long for the encoder: {}",
            counted(left_out as u64, "sentence")
        ))?;
    }
    Ok(output.line(&format!("  {went}"))?)
}

/// Draws how far training is, and says how each epoch went on the development data.
fn tell_progress<D, L: Display>(
    bar: &mut progress::Bar,
    at: TrainingProgress<D, L>,
    went: impl Fn(&D) -> String,
) {
    match at {
        TrainingProgress::LeftOut(what) => {
            bar.suspend(|| tell(&format!("warning: E-too-long: {what}; left out")));
        }
        TrainingProgress::Resumed { epoch } => tell(&format!("resuming after epoch {epoch}")),
        TrainingProgress::Encoded { done, total } => {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            if done == total {
                bar.finish_and_clear();
            }
        }
        TrainingProgress::Step { epoch, done, total } => {
            if bar.is_finished() {
                *bar = progress::bar("training", "steps");
            }
            bar.set_message(format!("epoch {epoch}"));
            bar.set_length(total as u64);
            bar.set_position(done as u64);
        }
        TrainingProgress::Epoch { epoch, loss, dev } => bar.suspend(|| {
            tell(&format!("epoch {epoch}: loss {loss:.4}, {}", went(&dev)));
        }),
        _ => {}
    }
}
