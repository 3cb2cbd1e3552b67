//! `fnstore fit`: how likely the frames of generated sets are, by a frame model.

use fnstore::expand;

use super::pass::Pass;
use crate::cli::options::identifier::IdentifierArgs;
use crate::cli::print::output::grouped;
use crate::cli::print::render::ONE_ROW;
use crate::cli::{Context, Outcome};

/// Say how likely the frames of generated sets are
///
/// Gives each generated set the probability of its frame at its trigger, by the frame model: beside
/// the other frames that the trigger may evoke and none. It replaces what another model said. No
/// set is removed: `fnstore query 'frame_fit<0.5'` finds those that the model doubts. A set whose
/// sentence is too long, or whose trigger has more than three words, has none. In `fnstore changes`
/// a set that gets one is edited.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Judge the annotation sets that this query finds; generated sets only
    #[arg(value_name = "EXPR", required = true)]
    expression: Vec<String>,

    #[command(flatten)]
    identifier: IdentifierArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore fit origin=generated
  fnstore fit frame=Verification && fnstore query frame=Verification --sort=frame_fit";

const PASS: Pass = Pass {
    doing: "judging",
    finishing: "writing what was judged",
    done: "what was judged",
    nothing: "no generated annotation set matches",
};

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let identifier = args.identifier.open()?;
    let done = PASS.over(context, &text, |database, expression, progress| {
        Ok(expand::refit(database, expression, &identifier, progress)?)
    })?;
    context.output.report(&done, ONE_ROW, |output| {
        let count = grouped(done.sets);
        output.heading(&format!("generated annotation sets looked at for {text}: {count}"))?;
        output.count("written", done.written, "")?;
        let before = done.sets.saturating_sub(done.written + done.without);
        output.count("had it before", before, "")?;
        Ok(output.count("without", done.without, "")?)
    })?;
    PASS.outcome(context, done.sets, done.interrupted)
}
