//! `fnstore delete`: what expansions wrote goes, with what grew from it.

use fnstore::edit::Removed;

use super::edit::commit;
use crate::cli::options::author::sign;
use crate::cli::options::confirm::is_confirmed;
use crate::cli::options::query;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::{counted, grouped, tell};
use crate::cli::{Context, Outcome};

/// Remove generated annotation sets, with what grew from them
///
/// Sets of later rounds that grew from a removed one go too, with their judgements, and proposed
/// LUs that are then without a set. All goes or nothing. An expansion does not write again what was
/// removed; `expand --redo` does. `fnstore edit` removes what people annotated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Remove the generated annotation sets that this query finds
    #[arg(value_name = "EXPR", required = true)]
    expression: Vec<String>,

    /// Remove without asking
    #[arg(long)]
    yes: bool,

    /// Say what would go, and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  fnstore delete 'origin=generated recipe=2' --dry-run
  fnstore delete 'origin=generated flag=weak-alignment' --yes";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let expression = query::expression(&args.expression.join(" "))?;
    let database = context.open_writer_for(&expression)?;
    tell_of_index(&database);
    sign(&database);
    let Some((release, sets)) = database.generated_found(&expression)? else {
        return Outcome::nothing("no annotation set matches");
    };
    let mut edits = database.transaction(release)?;
    let removed = edits.remove_generated(&sets)?;
    let what = described(sets.len() as u64, &removed);
    if args.dry_run {
        tell(&format!("would remove {what}; nothing was written"));
        return Ok(Outcome::Done);
    }
    if !args.yes && !is_confirmed(&format!("remove {what}"))? {
        return Outcome::nothing("nothing was removed");
    }
    commit(&database, edits, &format!("removed {what}"))?;
    Ok(Outcome::Done)
}

fn described(matched: u64, Removed { sets, lexunits, decided, .. }: &Removed) -> String {
    let decided: Vec<&str> = decided.iter().map(String::as_str).collect();
    let of_decided = match decided.as_slice() {
        [] => String::new(),
        names => {
            format!(", among them sentences of `{}`, on which people decided", names.join("`, `"))
        }
    };
    format!(
        "{}, {} of them grown from others, and {}{of_decided}",
        counted(*sets, "annotation set"),
        grouped(*sets - matched),
        counted(*lexunits, "proposed LU")
    )
}
