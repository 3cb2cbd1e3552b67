//! `fnstore edit`: a script of edits, all of them or none.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use fnstore::database::Database;
use fnstore::edit::{Done, Script, Transaction};

use crate::cli::options::author::sign;
use crate::cli::options::release::release;
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::{Format, grouped, tell};
use crate::cli::print::render::Row;
use crate::cli::store::judge::tell_unknown;
use crate::cli::{Context, Outcome};

/// Add, edit and remove frames, LUs, sentences and annotation sets
///
/// Reads a script of JSON lines, one edit a line, and applies all edits or none. Added records get
/// ids of the store's own range, which are printed. A line names frames, FEs and LUs by name or
/// number, and sets and sentences by id. `@NAME` is what an earlier line with `"as": "NAME"` added.
/// Offsets count characters. schema/edit.schema.json describes every edit.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The script; `-` is standard input
    #[arg(value_name = "FILE")]
    script: PathBuf,

    /// The release to edit [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Say why; the store keeps it
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,

    /// Check every edit and write nothing
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLES: &str = r#"Examples:
  fnstore edit additions.jsonl --dry-run && fnstore edit additions.jsonl
  echo '
  {"op":"add-frame","as":"f","name":"Fact_checking"}
  {"op":"add-lu","as":"l","frame":"@f","name":"fact-check.v"}
  {"op":"add-sentence","as":"s","text":"Nobody fact-checked it ."}
  {"op":"add-set","sentence":"@s","frame":"@f","lu":"@l","targets":[[7,19]]}
  ' | fnstore edit -"#;

impl Row for Done {
    const COLUMNS: &'static [&'static str] = &["line", "op", "id", "as"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let script = open(&args.script)?;
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    sign(&database);
    let release = release(&database, args.release.as_deref())?;
    let mut edits = database.transaction(release.id)?;
    edits.explain(&args.note);
    let mut all = Vec::new();
    let mut edited = Script::new(&mut edits, None, now());
    edited.edit(script, &mut |done| all.push(done)).with_context(|| {
        format!("cannot edit by `{}`, nothing was written", args.script.display())
    })?;
    edited.questions().iter().for_each(|question| tell_unknown(question));
    let edited = grouped(all.len() as u64);
    if all.is_empty() {
        return Outcome::nothing("the script holds no edits");
    }
    let removed = removed(&edits);
    if args.dry_run {
        tell(&format!("edits checked: {edited}; nothing was written"));
        if let Some(removed) = removed {
            tell(&format!("would remove {removed}"));
        }
        return Ok(Outcome::Done);
    }
    commit(&database, edits, &format!("edits done: {edited}"))?;
    if let Some(removed) = removed {
        tell(&format!("removed {removed}"));
    }
    context.output.rows(Format::Jsonl, all)?;
    Ok(Outcome::Done)
}

/// What goes with the edits, as in `1 frame, 9 LUs`; `None` when nothing does.
fn removed(edits: &Transaction<'_>) -> Option<String> {
    let counted = |(kind, count): (&'static str, u64)| match (count, kind.split_once(" of ")) {
        (1, _) => format!("1 {kind}"),
        (_, Some((head, rest))) => format!("{} {head}s of {rest}", grouped(count)),
        (_, None) => format!("{} {kind}s", grouped(count)),
    };
    let removed: Vec<String> = edits.removed().into_iter().map(counted).collect();
    (!removed.is_empty()).then(|| removed.join(", "))
}

/// Commits, and says what was done.
pub(crate) fn commit(
    database: &Database,
    edits: Transaction<'_>,
    done: &str,
) -> anyhow::Result<()> {
    let revision = edits.commit()?;
    tell_index_lag(database);
    tell(&format!("{done}; the store is at revision {revision}"));
    Ok(())
}

/// A file of lines; `-` is standard input. Standard input and pipes are read to their end first:
/// who writes them may take his time, and no writer is to wait for it.
pub(crate) fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let unreadable = || format!("cannot read `{}`", path.display());
    let mut lines = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut lines).with_context(unreadable)?;
        return Ok(Box::new(Cursor::new(lines)));
    }
    let mut file = File::open(path).with_context(unreadable)?;
    if file.metadata().with_context(unreadable)?.is_file() {
        return Ok(Box::new(BufReader::new(file)));
    }
    file.read_to_end(&mut lines).with_context(unreadable)?;
    Ok(Box::new(Cursor::new(lines)))
}

/// Seconds since 1970 (UTC).
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs())
}
