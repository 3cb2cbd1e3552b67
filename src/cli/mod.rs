//! The command line.
//!
//! | room | what it holds |
//! | --- | --- |
//! | [`read`] | commands that show what the store holds |
//! | [`store`] | commands that change or keep it |
//! | [`grow`] | commands that write, score and annotate sentences |
//! | [`measure`] | commands that train models and measure them |
//! | [`machine`] | models, adapters, completions and manual pages |
//! | [`options`] | groups of arguments that commands share, and what they resolve to |
//! | [`input`] | lines that come in |
//! | [`process`] | signals, limits, and files that a command writes |
//! | [`print`] | how results and notices come out |
//! | [`help`] | the program's help: commands in groups |
//! | [`error`] | from an error to an exit code and a hint |
//!
//! A room imports only from rooms below its own. A command is a file or a folder of its group, with
//! a line in the group's `mod.rs`. Its `Args` is what the user wrote. Its `run` resolves that into
//! the library's own options, calls the library, and hands the result to [`print::output`], the
//! only place that prints data. Everything else, from progress to notices, goes to stderr.

/// Defines the commands of a group: the enum that is read from the command line, and what runs
/// each. A command is a module with `Args` and `run`.
macro_rules! commands {
    ($($name:ident in $module:ident,)*) => {
        /// A command of this group.
        #[derive(Debug, clap::Subcommand)]
        #[command(defer = true)]
        pub(crate) enum Command {
            $($name($module::Args),)*
        }

        impl Command {
            pub(crate) fn run(
                self,
                context: &mut crate::cli::Context,
            ) -> anyhow::Result<crate::cli::Outcome> {
                match self {
                    $(Self::$name(args) => $module::run(args, context),)*
                }
            }
        }
    };
}

mod error;
mod grow;
mod help;
mod input;
mod machine;
mod measure;
mod options;
mod print;
mod process;
mod read;
#[cfg(test)]
mod reference;
mod store;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use error::ErrorForm;
pub(crate) use error::{hint, is_broken_pipe, report, report_usage};
use options::named::named;
use options::threads::ThreadArgs;
use options::{device, locate};
use print::output::{Format, Output, tell};
pub(crate) use process::end::end;
use process::{descriptors, stop};

/// An embedded FrameNet database that can grow
#[derive(Debug, Parser)]
#[command(name = "fnstore", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 found or done, 1 nothing found or a check failed, 2 usage or \
error, 65 bad input data, 66 no store, 69 no model, 74 a full disk or a limit, 75 store or file locked by another \
process, 76 the store that was followed was replaced, 130 interrupted, 143 ended by SIGTERM."
)]
pub(crate) struct Args {
    /// Directory of the store [default: fnstore/store in the platform's data directory]
    #[arg(long, global = true, value_name = "DIR", env = "FNSTORE_DIR")]
    store: Option<PathBuf>,

    /// Write the output in this format [default: table on a terminal; jsonl into a pipe, but table
    /// for `show`, trees, `expand`, `generate` and work on the whole store, tsv for `query
    /// --count-by`]
    #[arg(long, global = true, value_name = "FORMAT", value_parser = named::<Format>())]
    format: Option<Format>,

    /// Tell errors in this form
    #[arg(long, global = true, value_name = "FORM", env = "FNSTORE_ERRORS",
          default_value = "text", value_parser = named::<ErrorForm>())]
    errors: ErrorForm,

    /// Use models on releases and texts in other languages than the models are made for
    #[arg(long, global = true)]
    any_language: bool,

    #[command(flatten)]
    threads: ThreadArgs,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Read(read::Command),
    #[command(flatten)]
    Store(store::Command),
    #[command(flatten)]
    Grow(grow::Command),
    #[command(flatten)]
    Measure(measure::Command),
    #[command(flatten)]
    Machine(machine::Command),
}

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Something was found, or all was done.
    Done,
    /// The command worked and there was nothing to show.
    NothingFound,
    /// A check found something wrong.
    CheckFailed,
    /// A signal ended it after the work in flight.
    Interrupted,
}

impl Outcome {
    /// Of a command that looked for something.
    pub(crate) fn of(is_found: bool) -> Self {
        if is_found { Self::Done } else { Self::NothingFound }
    }

    /// Nothing was found: says why.
    pub(crate) fn nothing(why: &str) -> anyhow::Result<Self> {
        tell(why);
        Ok(Self::NothingFound)
    }

    /// As [`of`](Self::of); says behind the output why nothing was found.
    pub(crate) fn or_tell(is_found: bool, why: &str, output: &mut Output) -> anyhow::Result<Self> {
        if is_found {
            return Ok(Self::Done);
        }
        output.flush()?;
        Self::nothing(why)
    }

    /// The program's exit code.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NothingFound | Self::CheckFailed => 1,
            Self::Interrupted => stop::exit_code(),
        }
    }
}

/// What every subcommand works with.
struct Context {
    /// Directory of the store.
    store: PathBuf,
    output: Output,
    /// Whether models may be joined with what is in another language.
    any_language: bool,
}

/// Does what a command line asks for, whose first word is the program's name; gives the exit code.
pub(crate) fn program(line: Vec<OsString>) -> u8 {
    // A damaged index ends in an error or a warning, which say what to do; a backtrace does not.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !fnstore::index::panics_are_caught() {
            print(panic);
        }
    }));
    let args = match parse(line) {
        Ok(args) => args,
        Err(error) => return report_usage(&error),
    };
    match run(args) {
        Ok(outcome) => outcome.exit_code(),
        // Whoever reads the output has read enough, as in `fnstore query ... | head`.
        Err(error) if is_broken_pipe(&error) => 0,
        Err(error) => report(&error),
    }
}

/// Reads a command line.
///
/// Of the commands, only the one that is asked for says what it takes: to make them all takes a
/// tenth of what a short command does. Help, and what an error tells, are of the whole program.
fn parse(line: Vec<OsString>) -> Result<Args, clap::Error> {
    let read = Args::command().try_get_matches_from(&line);
    let matches = read.or_else(|_| help::grouped(whole()).try_get_matches_from(&line))?;
    Args::from_arg_matches(&matches).map_err(|error| error.format(&mut whole()))
}

/// The program with what each of its commands takes.
fn whole() -> clap::Command {
    let mut command = Args::command();
    command.build();
    command
}

/// Runs the command that was asked for.
fn run(args: Args) -> anyhow::Result<Outcome> {
    descriptors::raise_limit();
    stop::outlive_size_limits();
    args.threads.apply()?;
    let mut context = Context {
        store: locate::store(args.store)?,
        output: Output::stdout(args.format),
        any_language: args.any_language,
    };
    let outcome = match args.command {
        Command::Read(command) => command.run(&mut context),
        Command::Store(command) => command.run(&mut context),
        Command::Grow(command) => command.run(&mut context),
        Command::Measure(command) => command.run(&mut context),
        Command::Machine(command) => command.run(&mut context),
    }?;
    context.output.flush()?;
    device::tell_profiles()?;
    Ok(outcome)
}
