//! `fnstore proposals eval`: recall and precision against LUs that were hidden.

use std::path::PathBuf;

use anyhow::bail;
use fnstore::database::{Database, DatabaseError};
use fnstore::exchange::open_lu_list;
use fnstore::internals::WithStore as _;
use fnstore::model::{ACCEPTED, Fraction, PROPOSED};
use fnstore::proposals::{HiddenFigures, Proposals, figures};
use fnstore::query::{Expression, Field, Term};
use fnstore::text::fold;
use serde::Serialize;

use super::RankingArgs;
use crate::cli::options::query;
use crate::cli::print::output::Format;
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Measure what the generated sets propose that this query finds; none means all
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// The hidden LUs: lines of a frame's and an LU's name, parted by a tab
    #[arg(long, value_name = "FILE")]
    hidden: PathBuf,

    #[command(flatten)]
    ranking: RankingArgs,
}

/// What was found of a frame's hidden LUs as JSON; see `schema/proposals-eval.schema.json`.
#[derive(Debug, Serialize)]
struct EvalRecord {
    /// Name of the frame; null for all frames of the list together (micro).
    frame: Option<String>,
    hidden: usize,
    proposals: usize,
    found: usize,
    recall: Fraction,
    recall_at_10: Fraction,
    recall_at_50: Fraction,
    /// Share of the proposals that are hidden LUs.
    precision: Option<Fraction>,
}

impl EvalRecord {
    fn new(frame: Option<String>, figures: &HiddenFigures) -> Self {
        Self {
            frame,
            hidden: figures.hidden,
            proposals: figures.proposals,
            found: figures.found,
            recall: figures.recall(),
            recall_at_10: figures.recall_at_10(),
            recall_at_50: figures.recall_at_50(),
            precision: figures.precision(),
        }
    }
}

impl Row for EvalRecord {
    const COLUMNS: &'static [&'static str] = &[
        "frame",
        "hidden",
        "proposals",
        "found",
        "recall",
        "recall_at_10",
        "recall_at_50",
        "precision",
    ];

    fn cells(&self) -> Vec<String> {
        let counts = [self.hidden, self.proposals, self.found].map(|count| count.to_string());
        let recalls = [self.recall, self.recall_at_10, self.recall_at_50].map(Some);
        let frame = self.frame.clone().unwrap_or_else(|| "(all)".to_owned());
        let written = |share: Option<f64>| share.map_or_else(String::new, |of| format!("{of:.4}"));
        let shares = recalls.into_iter().chain([self.precision]).map(written);
        [frame].into_iter().chain(counts).chain(shares).collect()
    }
}

/// Refuses an LU that the lexicon has: no proposal can find it.
fn check_hidden(database: &Database, frame: &str, name: &str) -> anyhow::Result<()> {
    for release in database.releases()? {
        // A release may have two frames of one name.
        for frame_id in database.store().frames_by_name(release.id, frame, false)? {
            for lu in database.store().lexunits_of(release.id, frame_id)? {
                let lu = lu?;
                let is_proposed = [PROPOSED, ACCEPTED].contains(&lu.status.as_str());
                if !is_proposed && fold(&lu.name) == fold(name) {
                    let expected = "an LU that is hidden; `edit` removes it from the store, or import a \
                                    release without it";
                    bail!(
                        "`lu` is `{name}`, which `{frame}` has in `{}`; expected {expected}",
                        release.name
                    );
                }
            }
        }
    }
    Ok(())
}

pub(super) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let hidden = open_lu_list(&args.hidden).map_err(DatabaseError::from)?;
    let expression = query::expression(&args.expression.join(" "))?;
    let ranker = args.ranking.ranker()?;
    let database = context.joined(context.open_for(&expression)?);
    for (frame, lu) in &hidden {
        // A frame that is misspelt would count as one whose LUs are not found.
        database.count(&Expression::Term(Term::named(Field::Frame, frame)?))?;
        check_hidden(&database, frame, lu)?;
    }
    let vectors = args.ranking.vectors()?;
    let proposals = Proposals::new(&database, vectors.as_ref(), ranker);
    let proposals = proposals.list(&expression, true)?;
    let (frames, all) = figures(&proposals, &hidden);
    let mut rows: Vec<EvalRecord> =
        frames.into_iter().map(|(frame, of)| EvalRecord::new(Some(frame), &of)).collect();
    rows.push(EvalRecord::new(None, &all));
    context.output.rows(Format::Jsonl, rows)?;
    Outcome::or_tell(all.found > 0, "no hidden LU is proposed", &mut context.output)
}
