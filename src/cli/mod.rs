//! The command line: one file per subcommand.
//!
//! A subcommand's `Args` is what the user wrote. Its `run` resolves that into the library's own
//! options, calls the library, and hands the result to [`output`], the only place that prints data.
//! Everything else, from progress to notices, goes to stderr.

mod align;
mod annotate;
mod augment;
mod backup;
mod beside;
mod changes;
mod chart;
mod check;
mod chosen_lus;
mod columns;
mod completions;
mod confirm;
mod counted;
mod delete;
mod descriptors;
mod device;
mod document;
mod edit;
mod edition;
mod endpoint;
mod error;
mod eval;
mod expand;
mod experiment;
mod export;
mod fes;
mod filter;
mod fit;
mod foreign;
mod frame;
mod frames;
mod generate;
mod generator;
mod gpu;
mod hang_up;
mod hit;
mod identifier;
mod import;
mod import_lines;
mod judge;
mod labeller;
mod language;
mod lexunit;
mod line_batches;
mod line_reader;
mod listing;
mod locate;
mod lus;
mod man;
mod merge;
mod mine;
mod model;
mod number;
mod output;
mod paraphrase;
mod pass;
mod piped;
mod plan;
mod progress;
mod proposals;
mod query;
mod recipes;
mod reindex;
mod relations;
mod release_diff;
mod releases;
mod render;
mod restore;
mod review;
mod rewriter;
mod score;
mod semtypes;
mod sentence;
mod show;
mod splits;
mod stats;
mod stop;
mod substitutes;
mod table_lines;
mod tag;
mod tagged;
mod threads;
mod train;
mod tree;
mod valence;
mod whole_file;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub(crate) use error::{exit_code, hint, is_broken_pipe};
use fnstore::database::Database;
use fnstore::index::IndexError;
use fnstore::query::{Expression, Field};
pub(crate) use output::tell;
use output::{Format, Output};
use threads::ThreadArgs;

/// An embedded FrameNet database that can grow
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 found or done, 1 nothing found or a check failed, 2 usage or \
error, 65 bad input data, 75 store or file locked by another \
process, 76 the store that was followed was replaced, 130 interrupted, 143 ended by SIGTERM."
)]
pub(crate) struct Args {
    /// Directory of the store [default: fnstore/store in the platform's data directory]
    #[arg(long, global = true, value_name = "DIR", env = "FNSTORE_DIR")]
    store: Option<PathBuf>,

    /// Write the output in this format [default: table on a terminal; jsonl into a pipe, but table
    /// for `show`, trees, `expand`, `generate` and work on the whole store, tsv for `query
    /// --count-by`]
    #[arg(long, global = true, value_name = "FORMAT", value_enum)]
    format: Option<Format>,

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
    Import(import::Args),
    Query(query::Args),
    Show(show::Args),
    Frames(frames::Args),
    Lus(lus::Args),
    Fes(fes::Args),
    Foreign(foreign::Args),
    Relations(relations::Args),
    Semtypes(semtypes::Args),
    Valence(valence::Args),
    Stats(stats::Args),
    Releases(releases::Args),
    Recipes(recipes::Args),
    Edit(edit::Args),
    Delete(delete::Args),
    Merge(merge::Args),
    Judge(judge::Args),
    Proposals(proposals::Args),
    Review(review::Args),
    Edition(edition::Args),
    Changes(changes::Args),
    Export(export::Args),
    Expand(expand::Args),
    Generate(generate::Args),
    Filter(filter::Args),
    Fit(fit::Args),
    Paraphrase(paraphrase::Args),
    Align(align::Args),
    Tag(tag::Args),
    Annotate(annotate::Args),
    Score(score::Args),
    Substitutes(substitutes::Args),
    Mine(mine::Args),
    Augment(augment::Args),
    Train(train::Args),
    Eval(eval::Args),
    Experiment(experiment::Args),
    Model(model::Args),
    Gpu(gpu::Args),
    Check(check::Args),
    Reindex(reindex::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Completions(completions::Args),
    Man(man::Args),
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

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::NothingFound | Outcome::CheckFailed => Self::from(1),
            Outcome::Interrupted => Self::from(stop::exit_code()),
        }
    }
}

/// Says that there is nothing to be found in, as after a first import that was cut short.
fn tell_if_empty(database: &Database) -> anyhow::Result<bool> {
    let is_empty = database.releases()?.is_empty();
    if is_empty {
        tell("the store is empty; `fnstore import PATH` brings in a release");
    }
    Ok(is_empty)
}

/// Says which releases `what` spans when its expression does not say so itself.
fn tell_of_releases(
    database: &Database,
    what: &str,
    expression: &Expression,
) -> anyhow::Result<()> {
    let says_so = expression.terms().any(|term| term.field() == Field::Release);
    let releases = database.releases_of(expression)?;
    if says_so || releases.len() < 2 {
        return Ok(());
    }
    let names: Vec<String> = releases.iter().map(|release| format!("`{}`", release.name)).collect();
    tell(&format!(
        "the {what} spans {} releases, {}; `release=NAME` asks one of them",
        names.len(),
        names.join(", ")
    ));
    Ok(())
}

/// Says that a query had to do without the index, or that a writer has built it anew.
fn tell_of_index(database: &Database) {
    let Some(fault) = database.index_fault() else { return };
    match (&*fault, database.store().is_writer()) {
        (IndexError::Damaged { action, reason, .. }, true) => tell(&format!(
            "the index was damaged (C-index-damaged: {reason}, while {action}); it was built anew"
        )),
        (IndexError::Damaged { .. }, false) => tell(&format!(
            "warning: {fault} with `fnstore reindex`; a scan of the store answered meanwhile"
        )),
        _ => tell(&format!("warning: {fault}; a scan of the store answered meanwhile")),
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

/// Runs the command that was asked for.
pub(crate) fn run(args: Args) -> anyhow::Result<Outcome> {
    descriptors::raise_limit();
    stop::outlive_size_limits();
    args.threads.apply()?;
    let mut context = Context {
        store: locate::store(args.store)?,
        output: Output::stdout(args.format),
        any_language: args.any_language,
    };
    let outcome = match args.command {
        Command::Import(args) => import::run(args, &mut context),
        Command::Query(args) => query::run(args, &mut context),
        Command::Show(args) => show::run(args, &mut context),
        Command::Frames(args) => frames::run(args, &mut context),
        Command::Lus(args) => lus::run(args, &mut context),
        Command::Fes(args) => fes::run(args, &mut context),
        Command::Foreign(args) => foreign::run(args, &mut context),
        Command::Relations(args) => relations::run(args, &mut context),
        Command::Semtypes(args) => semtypes::run(args, &mut context),
        Command::Valence(args) => valence::run(args, &mut context),
        Command::Stats(args) => stats::run(args, &mut context),
        Command::Releases(args) => releases::run(args, &mut context),
        Command::Recipes(args) => recipes::run(args, &mut context),
        Command::Edit(args) => edit::run(args, &mut context),
        Command::Delete(args) => delete::run(args, &mut context),
        Command::Merge(args) => merge::run(&args, &mut context),
        Command::Judge(args) => judge::run(args, &mut context),
        Command::Proposals(args) => proposals::run(args, &mut context),
        Command::Review(args) => review::run(args, &mut context),
        Command::Edition(args) => edition::run(args, &mut context),
        Command::Changes(args) => changes::run(args, &mut context),
        Command::Export(args) => export::run(args, &mut context),
        Command::Expand(args) => expand::run(args, &mut context),
        Command::Generate(args) => generate::run(args, &mut context),
        Command::Filter(args) => filter::run(args, &mut context),
        Command::Fit(args) => fit::run(args, &mut context),
        Command::Paraphrase(args) => paraphrase::run(args, &mut context),
        Command::Align(args) => align::run(args, &mut context),
        Command::Tag(args) => tag::run(args, &mut context),
        Command::Annotate(args) => annotate::run(args, &mut context),
        Command::Score(args) => score::run(args, &mut context),
        Command::Substitutes(args) => substitutes::run(&args, &mut context),
        Command::Mine(args) => mine::run(args, &mut context),
        Command::Augment(args) => augment::run(args, &mut context),
        Command::Train(args) => train::run(args, &mut context),
        Command::Eval(args) => eval::run(args, &mut context),
        Command::Experiment(args) => experiment::run(args, &mut context),
        Command::Model(args) => model::run(args, &mut context),
        Command::Gpu(args) => gpu::run(args, &mut context),
        Command::Check(args) => check::run(args, &mut context),
        Command::Reindex(args) => reindex::run(args, &mut context),
        Command::Backup(args) => backup::run(args, &mut context),
        Command::Restore(args) => restore::run(args, &mut context),
        Command::Completions(args) => completions::run(args, &mut context),
        Command::Man(args) => man::run(args, &mut context),
    }?;
    context.output.flush()?;
    device::tell_profiles()?;
    Ok(outcome)
}
