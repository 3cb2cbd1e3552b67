//! `fnstore show`: one thing of the lexicon with all that belongs to it.

use anyhow::{bail, ensure};
use clap::ValueEnum as _;
use fnstore::database::Database;

use super::output::Format;
use super::{Context, Outcome, frame, lexunit, sentence};

/// Show a frame, a lexical unit, a sentence or an annotation set
///
/// With `--format json` everything that the store knows of it is printed: one document, an array of
/// them when several releases have it. `--format jsonl` prints one a line.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What to show: `frame NAME`, `lu NAME`, `sentence ID` or `set ID`; `frame=NAME` does, too
    #[arg(value_name = "KIND NAME", required = true)]
    what: Vec<String>,

    /// Also list a frame's LUs of this status; those of status Problem are hidden by default
    #[arg(long, value_name = "STATUS")]
    include_status: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore show frame Verification
  fnstore show lu=confirm.v
  fnstore show sentence x1024
  fnstore show set f2048 --format json";

/// Kinds of things that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Frame,
    Lu,
    Sentence,
    Set,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let (kind, name) = parse(&args.what)?;
    ensure!(
        !matches!(context.output.format_or(Format::Table), Format::Csv | Format::Tsv),
        "`show` has no rows for `--format csv` or `tsv`: expected `table`, `json` or `jsonl`"
    );
    let database = Database::open(&context.store)?;
    let output = &mut context.output;
    match kind {
        Kind::Frame => frame::show(&database, &name, &args.include_status, output),
        Kind::Lu => lexunit::show(&database, &name, output),
        Kind::Sentence => sentence::show_sentence(&database, &name, output),
        Kind::Set => sentence::show_set(&database, &name, output),
    }
}

/// Kind and name, written `KIND NAME` or `KIND=NAME`; a name may hold spaces.
fn parse(what: &[String]) -> anyhow::Result<(Kind, String)> {
    let text = what.join(" ");
    let end = text.find(['=', ' ']).unwrap_or(text.len());
    let (kind, name) = (&text[..end], text.get(end + 1..).unwrap_or_default().trim());
    let Ok(kind) = Kind::from_str(kind, true) else {
        bail!("cannot show `{kind}`: expected `frame`, `lu`, `sentence` or `set` and a name");
    };
    ensure!(
        !name.is_empty(),
        "cannot show `{text}`: expected a name after it, as in `{text} NAME`"
    );
    Ok((kind, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_name_are_written_in_two_ways() {
        let parsed = |words: &[&str]| {
            parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).ok()
        };
        assert_eq!(parsed(&["frame", "Checking"]), Some((Kind::Frame, "Checking".to_owned())));
        assert_eq!(parsed(&["lu=look over.v"]), Some((Kind::Lu, "look over.v".to_owned())));
        assert_eq!(parsed(&["lu", "look", "over.v"]), Some((Kind::Lu, "look over.v".to_owned())));
        assert_eq!(parsed(&["Set", "x7"]), Some((Kind::Set, "x7".to_owned())));
        assert_eq!(parsed(&["frame"]), None);
        assert_eq!(parsed(&["farme", "Checking"]), None);
    }
}
