//! `fnstore query`: the annotation sets that an expression asks for.

use anyhow::bail;
use fnstore::database::{Database, DatabaseError, ValueCount};
use fnstore::query::{Case, Expression, Field};
use serde::Serialize;

use super::hit::{Hit, write_block};
use super::output::{Format, Output, tell};
use super::{Context, Outcome};

/// Find annotation sets
///
/// An expression is a list of tests of fields, as in `frame=Verification fe=Inspector{gf=Ext}`; put it
/// in single quotes where it holds `*`, `<`, `>`, quotes or parentheses. schema/query.md describes the
/// language.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to find; several arguments are joined by spaces, none means everything
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Stop after N annotation sets
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Print only how many there are
    #[arg(long, conflicts_with_all = ["limit", "count_by"])]
    count: bool,

    /// Print how many there are of each value of FIELD, the most frequent first
    #[arg(long, value_name = "FIELD", conflicts_with = "limit")]
    count_by: Option<String>,

    /// Match capitals and small letters as written
    #[arg(long)]
    case_sensitive: bool,
}

const EXAMPLES: &str = "\
Examples:
  fnstore query frame=Verification
  fnstore query 'lu=confirm.v fe=Inspector{gf=Ext pt=NP}' --limit 5
  fnstore query 'inherits=Event pos=v text~\"\\bnot\\b\"' --count-by frame
  fnstore query origin=generated 'aligner>=0.95' --format csv";

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let case = if args.case_sensitive { Case::Sensitive } else { Case::Fold };
    let expression =
        Expression::parse_with(&args.expression.join(" "), case).map_err(DatabaseError::from)?;
    let count_by = args.count_by.as_deref().map(field).transpose()?;
    let database = Database::open(&context.store)?;
    let output = &mut context.output;
    if args.count {
        let count = database.count(&expression)?;
        output.line(&count.to_string())?;
        return Ok(if count > 0 { Outcome::Done } else { Outcome::NothingFound });
    }
    if let Some(field) = count_by {
        return write_counts(&database.count_by(&expression, field)?, field, output);
    }
    write_hits(&database, &expression, args.limit, output)
}

/// The field of a name; `document` stands for `doc`.
fn field(name: &str) -> anyhow::Result<Field> {
    if name == "document" {
        return Ok(Field::Doc);
    }
    if let Some(field) = Field::from_name(name) {
        return Ok(field);
    }
    let names = Field::ALL.iter().map(|field| field.name());
    match fnstore::query::nearest(name, names) {
        Some(near) => bail!("cannot count by `{name}`: unknown field; did you mean `{near}`?"),
        None => bail!("cannot count by `{name}`: unknown field; schema/query.md lists the fields"),
    }
}

fn write_hits(
    database: &Database,
    expression: &Expression,
    limit: Option<usize>,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let format = output.format_or(Format::Jsonl);
    let mut answers = database.query(expression)?;
    let mut shown = 0_usize;
    let is_full = |shown: usize| limit.is_some_and(|limit| shown >= limit);
    while !is_full(shown) {
        let Some(answer) = answers.next() else { break };
        let answer = answer?;
        match format {
            Format::Table => {
                if shown > 0 {
                    output.line("")?;
                }
                write_block(&answer, output)?;
            }
            Format::Json | Format::Jsonl => output.record(&Hit::new(&answer)?, format)?,
            Format::Csv | Format::Tsv => {
                if shown == 0 {
                    output.fields(format, Hit::COLUMNS)?;
                }
                output.fields(format, Hit::new(&answer)?.fields())?;
            }
        }
        shown += 1;
    }
    output.end_records(format)?;
    output.flush()?;
    if is_full(shown) && answers.next().transpose()?.is_some() {
        tell(&format!("showing the first {shown}; there are more (`--count` says how many)"));
        return Ok(Outcome::Done);
    }
    if shown == 0 {
        tell("nothing found");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}

/// A value and its frequency as JSON.
#[derive(Debug, Serialize)]
struct CountRecord<'a> {
    field: &'static str,
    value: Option<&'a str>,
    count: u64,
}

fn write_counts(
    counts: &[ValueCount],
    field: Field,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let format = output.format_or(Format::Tsv);
    for ValueCount { value, count } in counts {
        let number = count.to_string();
        match format {
            Format::Json | Format::Jsonl => {
                let record =
                    CountRecord { field: field.name(), value: value.as_deref(), count: *count };
                output.record(&record, format)?;
            }
            Format::Csv | Format::Tsv => {
                output.fields(format, [value.as_deref().unwrap_or("(none)"), &number])?;
            }
            Format::Table => {
                let value = value.as_deref().unwrap_or("(none)");
                output.line(&format!("{number:>8}  {value}"))?;
            }
        }
    }
    output.end_records(format)?;
    if counts.is_empty() {
        output.flush()?;
        tell("nothing found");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}
