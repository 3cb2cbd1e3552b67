//! `fnstore review`: a page in the browser, or on the terminal, where people decide with one key.

mod api;
mod http;
mod item;
mod keys;
mod lexicon_page;
mod lists;
mod opener;
mod page;
mod server;
mod terminal;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::cli::options::named::named;
use anyhow::ensure;
use fnstore::database::{Database, DatabaseError};
use fnstore::identify::FrameIdentifier;
use fnstore::proposals::{Best, Proposals, Ranker};
use fnstore::query::{Expression, Field};
use fnstore::review::{Protocol, Question, Session, Source};
use fnstore::vectors::WordVectors;

use super::proposals::{RankingArgs, decide};
use crate::cli::options::author::reviewer;
use crate::cli::options::identifier;
use crate::cli::options::query;
use crate::cli::options::splits::tell_list_for;
use crate::cli::print::output::tell;
use crate::cli::{Context, Outcome};

/// Review sentences and proposals in the browser or on the terminal
///
/// Starts a page on this machine alone and prints its address. One key decides and shows the next
/// sentence: a accepts, r rejects, 1 to 9 score, s skips, u undoes, e moves the target, / searches,
/// ? lists all keys. Judgements are those of `fnstore judge`. The store is open for writing only
/// while a decision is written, so readers and, in turn, other writers go on beside it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Review the annotation sets that this query finds and that a program made [default:
    /// origin=generated]
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Also show what people annotated; a query that asks for `origin` or `id` shows all that it
    /// finds [default: what a program wrote or predicted]
    #[arg(long)]
    all: bool,

    /// Who reviews; stands in each judgement [default: FNSTORE_AUTHOR, or the login name]
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// What is asked
    #[arg(long, value_name = "QUESTION", value_parser = named::<Question>(), default_value_t = Question::Evokes)]
    question: Question,

    /// Show each output beside a sentence of its frame and one of another frame, blind and in
    /// random order (Culkin et al. 2021, section 6.1)
    #[arg(long, conflicts_with = "question")]
    protocol: bool,

    /// Ask for the judgements that the promise of this edition needs most, until more are not worth
    /// making
    #[arg(long = "for", value_name = "EDITION", conflicts_with_all = ["protocol", "question", "all", "expression"])]
    edition: Option<String>,

    /// The release of that edition [default: the only one that has it]
    #[arg(long, value_name = "NAME", requires = "edition")]
    release: Option<String>,

    /// Outputs that `--protocol` draws
    #[arg(long, value_name = "N", default_value_t = 100, requires = "protocol")]
    outputs: usize,

    /// Seed of the draw; all judges of a study take the same
    #[arg(long, value_name = "N", default_value_t = 1, requires = "protocol")]
    seed: u64,

    /// Port of the page; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// Also open the page in the browser
    #[arg(long, conflicts_with = "terminal")]
    open: bool,

    /// Review on this terminal, with the same keys
    #[arg(long)]
    terminal: bool,
}

const EXAMPLES: &str = "\
Examples:
  fnstore review frame=Verification --open
  fnstore review frame=Verification --all
  fnstore review 'origin=generated p>=0.5' --reviewer kim
  fnstore review frame=Verification --protocol --reviewer lee
  fnstore review --for right --reviewer kim
  fnstore review --terminal";

/// What a signal leaves.
const ENDED: &str =
    "the review has ended; every decision that the page showed as saved is in the store";

/// What the page and the terminal work with.
struct Review {
    session: Session,
    store: PathBuf,
    expression: Expression,
    /// Opened for the first proposals.
    vectors: OnceLock<Option<WordVectors>>,
    /// Opened for the first sets that get another frame, by one thread.
    frame_model: Mutex<Option<Arc<FrameIdentifier>>>,
}

impl Review {
    fn vectors(&self) -> anyhow::Result<Option<&WordVectors>> {
        if self.vectors.get().is_none() {
            let _ = self.vectors.set(RankingArgs::default().vectors()?);
        }
        Ok(self.vectors.get().and_then(Option::as_ref))
    }

    /// The frame model, where one is at hand; others wait for it, and not for the store.
    fn frame_model(&self) -> anyhow::Result<Option<Arc<FrameIdentifier>>> {
        let mut opened = self.frame_model.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.is_none() {
            *opened = identifier::at_hand()?.map(Arc::new);
        }
        Ok(opened.clone())
    }

    /// The proposals that are open, the likeliest first, so many of them.
    fn proposals(&self, limit: usize) -> anyhow::Result<Best> {
        let database = self.session.database()?;
        let proposals = Proposals::new(&database, self.vectors()?, Ranker::default());
        Ok(proposals.best(&self.expression, false, limit)?)
    }

    /// Decides on the proposal of a release, frame and LU; says what was done.
    fn propose(
        &self,
        (release, frame, lu): (String, String, String),
        verdict: &decide::DecisionRequest,
    ) -> anyhow::Result<String> {
        let of = decide::Args {
            frame,
            lu,
            reviewer: Some(self.session.reviewer().to_owned()),
            note: String::new(),
            release: Some(release),
        };
        let vectors = self.vectors()?;
        let carried = self.session.alone(|| decide::carry_out(&self.store, vectors, &of, verdict));
        let (mut done, unfitted) = carried?;
        if let Some(unfitted) = unfitted {
            done.add_fits(self.frame_model().and_then(|model| match model {
                Some(model) => self.session.alone(|| unfitted.fit(&self.store, &model)),
                None => Ok(0),
            }));
        }
        Ok(done.said())
    }
}

/// The sets that are reviewed: of a query that does not ask where they come from, those that a
/// program made, unless `all` are asked for.
fn reviewed_expression(text: &str, all: bool) -> anyhow::Result<Expression> {
    let expression = query::expression(text)?;
    let says = |field| matches!(field, Field::Origin | Field::Id | Field::Sentence);
    let says_which = expression.terms().any(|term| says(term.field()));
    if all || says_which {
        return Ok(expression);
    }
    tell("what people annotated is left out; `--all` takes it in");
    let made = query::expression("origin=generated or origin=predicted")?;
    Ok(Expression::all_of([expression, made]).map_err(DatabaseError::from)?)
}

/// The candidates of an edition that promises something, and that its promise says what is asked.
fn promised(
    store: &Path,
    release: Option<&str>,
    name: &str,
) -> anyhow::Result<(Expression, Source)> {
    let (_, edition) = Database::open(store)?.edition(release, name)?;
    ensure!(
        edition.promise.is_some(),
        "edition `{name}` promises nothing; `fnstore review edition={name}` shows its sets"
    );
    let expression = query::expression(&edition.expression)?;
    let release = release.map(str::to_owned);
    Ok((expression, Source::Promise { release, edition: edition.name }))
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = match args.expression.join(" ") {
        text if text.is_empty() => "origin=generated".to_owned(),
        text => text,
    };
    let (expression, source) = match &args.edition {
        Some(edition) => promised(&context.store, args.release.as_deref(), edition)?,
        None => {
            let protocol = Protocol { outputs: args.outputs, seed: args.seed };
            let source = if args.protocol { Source::Protocol(protocol) } else { Source::Query };
            (reviewed_expression(&text, args.all)?, source)
        }
    };
    let by = reviewer(args.reviewer);
    let session = Session::open(&context.store, &expression, &by, args.question, source)?;
    tell_list_for(&*session.database()?, &expression)?;
    let (store, vectors) = (context.store.clone(), OnceLock::new());
    let frame_model = Mutex::default();
    let review = Review { session, store, expression, vectors, frame_model };
    if args.terminal {
        return terminal::run(&review);
    }
    let server = server::Server::bind(args.port)?;
    let address = server.address();
    context.output.line(&address)?;
    context.output.flush()?;
    tell("the page is open to this machine alone, at this address alone; Ctrl-C ends it");
    if args.open {
        // Without a desktop the page is there all the same.
        if let Err(error) = server.open() {
            tell(&format!("{error:#}"));
        }
    }
    crate::cli::process::stop::at_once(ENDED)?;
    server.serve(review);
    Ok(Outcome::Done)
}
