//! `fnstore proposals`: LUs that expansions propose, and what reviewers decide of them.

pub(crate) mod decide;
mod decided;
mod eval;
pub(crate) mod listed;

use std::path::PathBuf;
use std::sync::OnceLock;

use fnstore::proposals::{Best, Listed, Proposal, ProposalError, Proposals, Ranker};
use fnstore::query::Expression;
use fnstore::vectors::WordVectors;

use crate::cli::options::locate;
use crate::cli::options::query;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::{Format, counted, grouped, tell};
use crate::cli::{Context, Outcome};

/// List and decide on lexical units that expansions propose
///
/// One entry for each frame and `lemma.pos` that generated sets attest and the frame's lexicon
/// lacks, the likeliest first. An accepted one becomes an LU with status `Accepted` and keeps its
/// sentences; a rejected one is not listed again. Every decision is recorded and can be undone.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// List what the generated sets propose that this query finds; none means all
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Stop after N proposals
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Also list proposals that were decided on
    #[arg(long)]
    with_decided: bool,

    /// List words without content after them, each with the reason
    #[arg(long)]
    with_refused: bool,

    #[command(flatten)]
    ranking: RankingArgs,
}

/// How proposals are ranked.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RankingArgs {
    /// Weights of the score, from `fnstore train proposals` [default: built-in ones]
    #[arg(long, value_name = "FILE")]
    ranker: Option<PathBuf>,

    /// Directory that holds the word vectors
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,
}

impl RankingArgs {
    fn ranker(&self) -> anyhow::Result<Ranker> {
        let ranker = self.ranker.as_deref().map(Ranker::open).transpose();
        Ok(ranker.map_err(ProposalError::from)?.unwrap_or_default())
    }

    /// The word vectors, where they are at hand.
    pub(crate) fn vectors(&self) -> anyhow::Result<Option<WordVectors>> {
        let dirs = locate::model_dirs(self.models.clone());
        let vectors = locate::word_vectors(&dirs)?;
        if vectors.is_none() {
            tell("no word vectors among the models: nearest LUs are not known");
        }
        Ok(vectors)
    }
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a proposal an LU of its frame, with its sentences
    Accept(decide::Args),
    /// Reject a proposal; it is not listed again
    Reject(decide::Args),
    /// Move a proposal's sentences to another frame, under an LU of the same name
    Move {
        #[command(flatten)]
        of: decide::Args,
        /// The other frame
        #[arg(long, value_name = "FRAME")]
        to: String,
    },
    /// Merge a proposal's sentences into another LU of its frame
    Merge {
        #[command(flatten)]
        of: decide::Args,
        /// The other LU
        #[arg(long, value_name = "LU")]
        into: String,
    },
    /// Undo the last decision on a proposal
    Undo(decide::Args),
    /// List all decisions, also those that were undone
    Decisions {
        /// The release [default: all]
        #[arg(long, value_name = "NAME")]
        release: Option<String>,
    },
    /// Measure proposals against LUs that were hidden from the lexicon
    Eval(eval::Args),
}

const EXAMPLES: &str = "\
Examples:
  fnstore proposals frame=Verification --limit 20
  fnstore proposals accept Verification corroborate.v --reviewer kim --note 'clear in all sentences'
  fnstore proposals move Verification vet.v --to Scrutiny --reviewer kim
  fnstore proposals merge Verification doublecheck.v --into double-check.v --reviewer kim
  fnstore proposals undo Verification vet.v --reviewer lee
  fnstore proposals eval --hidden hidden.tsv";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        Some(Command::Accept(of)) => decide::run(&of, &decide::DecisionRequest::Accept, context),
        Some(Command::Reject(of)) => decide::run(&of, &decide::DecisionRequest::Reject, context),
        Some(Command::Move { of, to }) => {
            decide::run(&of, &decide::DecisionRequest::Move(to), context)
        }
        Some(Command::Merge { of, into }) => {
            decide::run(&of, &decide::DecisionRequest::Merge(into), context)
        }
        Some(Command::Undo(of)) => decide::run(&of, &decide::DecisionRequest::Undo, context),
        Some(Command::Decisions { release }) => decide::list(release.as_deref(), context),
        Some(Command::Eval(args)) => eval::run(&args, context),
        None => list(&args, context),
    }
}

/// What is listed, and how much is not.
fn best(
    proposals: &Proposals<'_>,
    expression: &Expression,
    args: &Args,
) -> Result<Best, ProposalError> {
    if !args.with_refused {
        return proposals.best(expression, args.with_decided, args.limit.unwrap_or(usize::MAX));
    }
    let Listed { mut proposals, mut refused, .. } =
        proposals.list_apart(expression, args.with_decided)?;
    proposals.append(&mut refused);
    let all = proposals.len();
    proposals.truncate(args.limit.unwrap_or(all));
    Ok(Best { proposals, all, refused: 0 })
}

fn list(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let expression = query::expression(&args.expression.join(" "))?;
    let ranker = args.ranking.ranker()?;
    // The store is read beside the vectors.
    let (vectors, mut opened) = (OnceLock::new(), None);
    let wait = || vectors.get_or_init(|| args.ranking.vectors());
    let coming = || wait().as_ref().ok()?.as_ref();
    let (database, best) = std::thread::scope(|scope| {
        scope.spawn(wait);
        let database = &*opened.insert(context.joined(context.open_for(&expression)?));
        let proposals = Proposals::with_coming(database, &coming, ranker);
        anyhow::Ok((database, best(&proposals, &expression, args)))
    })?;
    vectors.into_inner().transpose()?;
    let Best { proposals, all, refused: left_out } = best?;
    let shown = proposals.len();
    let mut records = context.output.records(Format::Jsonl);
    for proposal in &proposals {
        records.spaced_block(proposal)?;
    }
    records.end_blocks::<Proposal>()?;
    context.output.flush()?;
    tell_of_index(database);
    if left_out > 0 {
        let words = counted(left_out as u64, "word");
        tell(&format!("{words} without content left out; list them with `--with-refused`"));
    }
    if all == 0 {
        return Outcome::nothing("nothing is proposed");
    }
    if shown < all {
        tell(&format!("showing {} of {}", grouped(shown as u64), grouped(all as u64)));
    }
    Ok(Outcome::Done)
}
