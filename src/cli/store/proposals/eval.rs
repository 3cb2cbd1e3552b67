//! `fnstore proposals eval`: recall and precision against LUs that were hidden.

use std::path::PathBuf;

use fnstore::database::DatabaseError;
use fnstore::exchange::open_lu_list;
use fnstore::proposals::{HiddenRecord, Proposals};

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

impl Row for HiddenRecord {
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

pub(super) fn run(args: &Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let hidden = open_lu_list(&args.hidden).map_err(DatabaseError::from)?;
    let expression = query::expression(&args.expression.join(" "))?;
    let ranker = args.ranking.ranker()?;
    let database = context.joined(context.open_for(&expression)?);
    let vectors = args.ranking.vectors()?;
    let rows = Proposals::new(&database, vectors.as_ref(), ranker).measure(&expression, &hidden)?;
    let has_found = rows.iter().any(|row| row.found > 0);
    context.output.rows(Format::Jsonl, rows)?;
    Outcome::or_tell(has_found, "no hidden LU is proposed", &mut context.output)
}
