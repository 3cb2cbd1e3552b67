//! `fnstore align`: what of a sentence answers to what of its paraphrase.

mod answers;
mod spans;
pub(crate) mod tasks;
pub(crate) mod words;

use fnstore::align::{Dataset, TooLong};

use crate::cli::input::line_reader::LineError;
use crate::cli::print::output::tell;
use crate::cli::{Context, Outcome};

/// Align sentences with their paraphrases
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    unit: Command,
}

commands! {
    Spans in spans,
    Words in words,
    Tasks in tasks,
    Answers in answers,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    args.unit.run(context)
}

/// The error of a line whose sentences are too long for the encoder.
fn refused(why: TooLong) -> LineError {
    LineError::new("E-too-long", why.to_string())
}

/// Names the lines of data files that could not be read, and says how many they are.
pub(crate) fn tell_refused<T, A>(data: &Dataset<T>, answers: &[Result<A, TooLong>]) -> u64 {
    let mut lines = 0;
    for (place, answer) in data.lines().iter().zip(answers) {
        if let Err(why) = answer {
            let LineError { code, message } = refused(*why);
            tell(&format!("{code}: {place}: {message}"));
            lines += 1;
        }
    }
    lines
}
