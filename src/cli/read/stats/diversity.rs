//! `fnstore stats diversity`: how far generated sentences differ from their sources and from one
//! another.

use fnstore::expand::{DiversityRow, diversity};

use crate::cli::options::query;
use crate::cli::options::tagger::TaggerArgs;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::Format;
use crate::cli::print::render::Row;
use crate::cli::{Context, Outcome};

/// Measure how far generated sentences differ from their sources and from one another
///
/// Self-BLEU compares each sentence with the others of its seed and recipe: low where rounds
/// differ. Source BLEU compares it with the sentence that was rewritten. Changed words are those
/// that the source has not. Changes of part of speech compare the tags of both targets (Culkin et
/// al. 2021, Table 3). Words are compared without regard to case. The first rows are rounds, the
/// last is all of them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Measure the generated annotation sets that this query finds; none means all
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Do not tag parts of speech
    #[arg(long)]
    no_pos: bool,

    #[command(flatten)]
    tagger: TaggerArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore stats diversity frame=Verification
  fnstore stats diversity recipe=2 --no-pos --format json";

impl Row for DiversityRow {
    const COLUMNS: &'static [&'static str] = &[
        "round",
        "sets",
        "self_bleu",
        "source_bleu",
        "changed_words",
        "pos_changed",
        "pos_jaccard",
        "pos_weighted",
    ];

    fn cells(&self) -> Vec<String> {
        let round = self.round.map_or_else(|| "all".to_owned(), |round| round.to_string());
        let shares = [
            self.self_bleu,
            Some(self.source_bleu),
            Some(self.changed_words),
            self.pos_changed,
            self.pos_jaccard,
            self.pos_weighted,
        ];
        let written = |share: Option<f64>| share.map_or(String::new(), |of| format!("{of:.4}"));
        [round, self.sets.to_string()].into_iter().chain(shares.map(written)).collect()
    }
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = query::expression(&text)?;
    let tagger = if args.no_pos { None } else { Some(args.tagger.open()?) };
    let database = context.joined(context.open_for(&expression)?);
    let rows = diversity(&database, &expression, tagger.as_ref())?;
    let is_empty = rows.is_empty();
    context.output.rows(Format::Jsonl, rows)?;
    tell_of_index(&database);
    Outcome::or_tell(!is_empty, "no generated annotation set matches", &mut context.output)
}
