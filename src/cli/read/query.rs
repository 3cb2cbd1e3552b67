//! `fnstore query`: the annotation sets that an expression asks for.

mod columns;
mod counted;
pub(crate) mod hit;
mod plan;

use fnstore::database::{Database, DatabaseError};
use fnstore::model::NamedBy;
use fnstore::query::{Case, Cursor, Expression, Field, Selection, SortKey, Test};
use fnstore::search::{AnswerRecord, Match, Matches};

use crate::cli::options::query::{expression, expression_with, fields};
use crate::cli::options::sample::SampleArgs;
use crate::cli::options::splits::SplitArgs;
use crate::cli::print::notices::{tell_if_empty, tell_of_index, tell_of_releases};
use crate::cli::print::output::{Format, Output, grouped, tell};
use crate::cli::print::render::Part;
use crate::cli::{Context, Outcome};
use columns::{Cells, Column};
use hit::record;
use plan::write_plan;

/// Find annotation sets
///
/// An expression is a list of tests of fields, as in `frame=Verification fe=Inspector{gf=Ext}`; put
/// it in single quotes where it holds `*`, `<`, `>`, quotes or parentheses. Tests are
/// joined by spaces, `and`, `or`, `not` and parentheses. `=` and `!=` take `*` for any characters,
/// `~` takes a regular expression.
#[derive(Debug, clap::Args)]
#[command(after_help = fields_and_examples())]
pub(crate) struct Args {
    /// Query expression; several arguments are joined by spaces, none means everything
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Sort by FIELD, ascending; a minus sorts descending, and further fields break ties
    #[arg(long, value_name = "FIELD[,-FIELD]", allow_hyphen_values = true)]
    sort: Option<String>,

    /// Stop after N annotation sets, or N values of `--count-by`
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Start behind the page that ended at CURSOR, as a page that has more names it. The query and
    /// its options `--sample`, `--per`, `--seed` and `--sort` are those of that page
    #[arg(long, value_name = "CURSOR", conflicts_with_all = ["count", "count_by", "offset"])]
    after: Option<String>,

    /// Skip the first N annotation sets
    #[arg(long, value_name = "N", default_value_t, hide_default_value = true)]
    offset: usize,

    /// Print only these columns: fields of the query language, or columns of `--format csv`
    #[arg(long, value_name = "FIELD[,FIELD]")]
    fields: Option<String>,

    /// Print only the number of annotation sets
    #[arg(long, conflicts_with_all = ["sort", "limit", "offset", "fields", "count_by"])]
    count: bool,

    /// Print the number of annotation sets for each value of FIELD, or for the values of several
    /// fields together, the most frequent first
    #[arg(long, value_name = "FIELD[,FIELD]", conflicts_with_all = ["sort", "offset", "fields"])]
    count_by: Option<String>,

    /// Print the query plan instead of the answers
    #[arg(long, conflicts_with_all = ["fields", "count", "count_by"])]
    explain: bool,

    /// Match case-sensitively
    #[arg(long)]
    case_sensitive: bool,

    #[command(flatten)]
    sample: SampleArgs,

    #[command(flatten)]
    splits: SplitArgs,
}

/// The fields of the language, with what compares them, and the examples.
fn fields_and_examples() -> String {
    let field = |field: &Field| {
        let operators = field.operators().iter().map(ToString::to_string);
        format!("  {:<16} {}\n", field.name(), operators.collect::<Vec<_>>().join(" "))
    };
    let fields: String = Field::ALL.iter().map(field).collect();
    format!("Fields:\n{fields}\n{EXAMPLES}")
}

const EXAMPLES: &str = "\
Examples:
  fnstore query frame=Verification
  fnstore query 'lu=confirm.v fe=Inspector{gf=Ext pt=NP}' --limit 5
  fnstore query 'inherits=Event pos=v text~\"\\bnot\\b\"' --count-by frame
  fnstore query origin=generated 'aligner>=0.95' --sort frame,-aligner --limit 100 --format csv
  fnstore query frame=Verification --fields id,lu,trigger,fe,document
  fnstore query pos=v --sample 3 --per frame --seed 7
  fnstore query id=@ids.txt --format csv
  fnstore query 'foreign~\"<note\"' --fields id,foreign
  fnstore query 'text~\"\\bnot\\b\" pos=v' --explain";

/// Annotation sets that are looked at to find out whether there are more than the limit.
const LOOK_AHEAD: usize = 2_000;

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let case = if args.case_sensitive { Case::Sensitive } else { Case::Fold };
    let text = args.expression.join(" ");
    let expression = expression_with(&text, case)?;
    let count_by = args.count_by.as_deref().map(fields).transpose()?;
    let columns = args.fields.as_deref().map(Column::parse_list).transpose()?;
    let sort = args.sort.as_deref().map(SortKey::parse_list).transpose();
    let sort = sort.map_err(DatabaseError::from)?.unwrap_or_default();
    let after = args.after.as_deref().map(str::parse).transpose().map_err(DatabaseError::from)?;
    let selection = Selection { sort, after, offset: args.offset, limit: args.limit };
    let database = args.splits.over_query(&expression, || Database::open(&context.store))?;
    let output = &mut context.output;
    if !tell_if_empty(&database)? {
        tell_of_releases(&database, "query", &expression)?;
    }
    tell_of_descriptions(&database, &expression)?;
    let expression = args.sample.of(&database, expression, None)?;
    let outcome = if args.explain {
        let explained = database.explain(&expression, &selection)?;
        write_plan(&explained, output)?;
        Outcome::of(explained.answers > 0)
    } else if args.count {
        let count = database.count(&expression)?;
        output.line(&count.to_string())?;
        Outcome::of(count > 0)
    } else if let Some(fields) = count_by {
        let mut counts = database.count_by(&expression, &fields)?;
        counts.truncate(args.limit.unwrap_or(usize::MAX));
        counted::write(&counts, &fields, output)?
    } else if selection == Selection::default() {
        write_all(&database, &expression, columns.as_deref(), output)?
    } else {
        write_matches(&database, &expression, &selection, columns.as_deref(), output)?
    };
    output.flush()?;
    if args.case_sensitive && outcome == Outcome::NothingFound {
        tell_of_case(&database, &text)?;
    }
    tell_of_index(&database);
    Ok(outcome)
}

/// Says how many sets a query finds that found none with its letters as written.
fn tell_of_case(database: &Database, text: &str) -> anyhow::Result<()> {
    let folding = expression(text)?;
    let count = database.count(&folding)?;
    if count > 0 {
        tell(&format!("{} without `--case-sensitive`", grouped(count)));
    }
    Ok(())
}

/// Writes all sets that are found, laid out by all threads.
fn write_all(
    database: &Database,
    expression: &Expression,
    columns: Option<&[Column]>,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut records = output.records(Format::Jsonl);
    let look = records.look();
    let begin = || Part::new(look);
    let shown = match columns {
        None => {
            let add = |part: &mut Part, answer| {
                part.lay_out(|records| records.spaced_block(&AnswerRecord::new(&answer)?))
            };
            let take = |part| records.append_blocks::<AnswerRecord<'_>>(part);
            let outcome = database.fold_answers(expression, begin, add, take);
            let shown = records.written();
            let ended = records.end_blocks::<AnswerRecord<'_>>();
            outcome.and(ended).map(|()| shown)?
        }
        Some(columns) => {
            let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
            let add = |part: &mut Part, found: Match<'_>| match Cells::new(found, columns) {
                Ok(None) => Ok(None),
                Ok(Some(row)) => {
                    let fields = || row.texts().collect();
                    part.lay_out(|records| records.row_under(&names, &row, fields))?;
                    Ok(None)
                }
                Err(error) => Ok(Some(error.downcast()?)),
            };
            let take = |part| records.append_under(&names, part);
            let outcome = database.fold_matches(expression, begin, add, take);
            let shown = records.written();
            let ended = records.end_under(&names, &names);
            outcome.and(ended).map(|()| shown)?
        }
    };
    if shown == 0 {
        tell("nothing found");
    }
    Ok(Outcome::of(shown > 0))
}

/// Writes the sets that are selected, and says whether there are more.
fn write_matches(
    database: &Database,
    expression: &Expression,
    selection: &Selection,
    columns: Option<&[Column]>,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let mut page = Page::of(database.matches(expression, selection)?, selection);
    let shown = match columns {
        Some(columns) => write_rows(&mut page, columns, output)?,
        None => write_hits(&mut page, output)?,
    };
    output.flush()?;
    if selection.limit == Some(shown) {
        let says = match page.matches.has_more(LOOK_AHEAD)? {
            Some(true) => Some("are"),
            None => Some("may be"),
            Some(false) => None,
        };
        if let Some(says) = says {
            tell(&format!("showing {shown}; there {says} more (`--count` says how many)"));
            page.end.iter().for_each(|end| tell(&format!("next page: `--after {end}`")));
        }
    }
    if shown == 0 && selection.limit != Some(0) {
        tell("nothing found");
    }
    Ok(Outcome::of(shown > 0))
}

/// Sets on their way to the output, and where their page ends.
struct Page<'a> {
    matches: Matches<'a>,
    /// Sets to come up to the limit.
    left: Option<usize>,
    end: Option<Cursor>,
}

impl<'a> Page<'a> {
    fn of(matches: Matches<'a>, selection: &Selection) -> Self {
        Self { matches, left: selection.limit, end: None }
    }

    /// The next set; of the last one up to the limit its place is kept.
    fn next(&mut self) -> Result<Option<Match<'a>>, DatabaseError> {
        let found = self.matches.next().transpose()?;
        self.left = self.left.map(|left| left.saturating_sub(1));
        if let (Some(found), Some(0)) = (&found, self.left) {
            self.end = Some(self.matches.cursor(found)?);
        }
        Ok(found)
    }
}

/// Says where a query names a document by its description, which stands beside another name.
fn tell_of_descriptions(database: &Database, expression: &Expression) -> anyhow::Result<()> {
    for term in expression.terms() {
        let Test::Pattern(pattern) = term.test() else { continue };
        if pattern.as_exact().is_none() {
            continue;
        }
        for (document, by) in database.documents_of_term(expression, term)? {
            if by == NamedBy::Description {
                tell(&format!(
                    "`{term}` is the description of document `{}` of corpus `{}`",
                    document.name, document.corpus_name
                ));
            }
        }
    }
    Ok(())
}

/// Writes sets whole; gives their number.
fn write_hits(page: &mut Page<'_>, output: &mut Output) -> anyhow::Result<usize> {
    let mut records = output.records(Format::Jsonl);
    let left_out = loop {
        match page.next() {
            Ok(None) => break None,
            Ok(Some(found)) => match found.into_answer() {
                Ok(None) => {}
                Ok(Some(answer)) => records.spaced_block(&record(&answer)?)?,
                Err(error) => page.matches.leave_out(error)?,
            },
            Err(error) => break Some(error),
        }
    };
    let shown = records.written();
    records.end_blocks::<AnswerRecord<'_>>()?;
    left_out.map_or(Ok(shown), |error| Err(error.into()))
}

/// Writes columns of sets; gives the number of sets.
fn write_rows(
    page: &mut Page<'_>,
    columns: &[Column],
    output: &mut Output,
) -> anyhow::Result<usize> {
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let mut records = output.records(Format::Jsonl);
    let left_out = loop {
        match page.next() {
            Ok(None) => break None,
            Ok(Some(found)) => match Cells::new(found, columns) {
                Ok(None) => {}
                Ok(Some(row)) => records.row_under(&names, &row, || row.texts().collect())?,
                Err(error) => page.matches.leave_out(error.downcast()?)?,
            },
            Err(error) => break Some(error),
        }
    };
    let shown = records.written();
    records.end_under(&names, &names)?;
    left_out.map_or(Ok(shown), |error| Err(error.into()))
}
