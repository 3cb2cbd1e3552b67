//! `fnstore show`: one thing of the lexicon with all that belongs to it.

mod document;
mod foreign_content;
mod frame;
pub(crate) mod lexunit;
mod sentence;

use crate::cli::options::named::case_of;
use anyhow::{bail, ensure};
use fnstore::database::Database;
use fnstore::lexicon::Lexicon;
use fnstore::model::FrameId;
use fnstore::named;
use fnstore::query::{Field, Test, quoted};

use crate::cli::options::chosen_lus::ChosenLus;
use crate::cli::options::listing::{Statuses, lexicons, names};
use crate::cli::options::query;
use crate::cli::print::output::Format;
use crate::cli::{Context, Outcome};

/// Show a frame, an LU, a sentence, an annotation set or a document
///
/// A name may be `Verification`, `Ver*`, or `~` and a regular expression. Sentences are drawn with
/// their annotation: `*` under the target, `-` under frame elements, `^` under support verbs and
/// the like, `=` where a target lies inside a frame element. Null instantiations stand as
/// `[Evidence:INI]`.
///
/// With `--format json` everything that the store knows of it is printed: one document, an array of
/// them when there are several. `--format jsonl` prints one a line.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to show: `frame NAME` and `lu NAME`, or their numbers, `sentence ID...`, `annotation
    /// ID...` (or `set ID...`), `document NAME`; `@FILE` for an ID takes those in a file, one a
    /// line; `frame=NAME` and `frame~REGEX` do, too
    #[arg(value_name = "KIND NAME", required = true)]
    what: Vec<String>,

    /// List only records of this release
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Show only LUs of this frame; a name or pattern
    #[arg(long, value_name = "NAME")]
    frame: Option<String>,

    #[command(flatten)]
    statuses: Statuses,
}

const EXAMPLES: &str = "\
Examples:
  fnstore show frame Verification
  fnstore show lu=confirm.v
  fnstore show lu tell.v --frame Telling
  fnstore show sentence x1024 f2048
  fnstore show annotation f2048 --format json
  fnstore show sentence @sentences.txt
  fnstore show document 'IntroOf*'";

named! {
    /// Kinds of things that can be shown.
    enum Shown {
        Frame => "frame",
        Lu => "lu",
        Sentence => "sentence",
        Annotation => "annotation",
        Document => "document",
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let (kind, name) = parse(&args.what)?;
    ensure!(
        !matches!(context.output.format_or(Format::Table), Format::Csv | Format::Tsv),
        "`show` has no rows for `--format csv` or `tsv`: expected `table`, `json` or `jsonl`"
    );
    ensure!(
        kind == Shown::Lu || args.frame.is_none(),
        "`--frame` narrows LUs alone: expected `show lu NAME --frame FRAME`"
    );
    let database = Database::open(&context.store)?;
    let lexicons = lexicons(&database, args.release.as_deref())?;
    let output = &mut context.output;
    match kind {
        Shown::Frame => {
            let names = names("frame", &frame_called(&lexicons, name)?)?;
            frame::show(&database, &lexicons, &names, &args.statuses, output)
        }
        Shown::Lu => {
            let chosen = ChosenLus::parse(&name, args.frame.as_deref())?;
            chosen.require(&database)?;
            lexunit::show(&database, &lexicons, &chosen, &args.statuses, output)
        }
        Shown::Document => document::show(&database, &lexicons, &names("document", &name)?, output),
        Shown::Sentence => {
            sentence::show_sentences(&lexicons, &ids(Field::Sentence, &name)?, output)
        }
        Shown::Annotation => sentence::show_sets(&lexicons, &ids(Field::Id, &name)?, output),
    }
}

/// Ids parted by spaces, those of a file in place of `@FILE`.
fn ids(field: Field, words: &str) -> anyhow::Result<String> {
    let mut ids = Vec::new();
    for word in words.split_whitespace() {
        if !word.starts_with('@') {
            ids.push(word.to_owned());
            continue;
        }
        let of_file = query::expression(&format!("{field}={}", quoted(word)))?;
        for term in of_file.terms() {
            match term.test() {
                Test::Sets(all) => ids.extend(all.iter().map(ToString::to_string)),
                Test::Sentences(all) => ids.extend(all.iter().map(ToString::to_string)),
                _ => {}
            }
        }
    }
    Ok(ids.join(" "))
}

/// The name of a frame that is given by its number.
fn frame_called(lexicons: &[Lexicon<'_>], name: String) -> anyhow::Result<String> {
    let Ok(number) = name.parse() else { return Ok(name) };
    for lexicon in lexicons {
        if let Some(frame) = lexicon.frame(FrameId(number))? {
            return Ok(frame.name);
        }
    }
    Ok(name)
}

/// Kind and name, written `KIND NAME`, `KIND=NAME` or `KIND~REGEX`; a name may hold spaces.
fn parse(what: &[String]) -> anyhow::Result<(Shown, String)> {
    let text = what.join(" ");
    let end = text.find(['=', '~', ' ']).unwrap_or(text.len());
    // The tilde belongs to the name, the other two part it from the kind.
    let is_regex = text[end..].starts_with('~');
    let start = if is_regex { end } else { end + 1 };
    let (kind, name) = (&text[..end], text.get(start..).unwrap_or_default().trim());
    let known = match kind.to_ascii_lowercase().as_str() {
        "set" => Some(Shown::Annotation),
        "doc" => Some(Shown::Document),
        _ => case_of(kind),
    };
    let Some(kind) = known else {
        bail!(
            "cannot show `{kind}`: expected `frame`, `lu`, `sentence`, `annotation` or `document`, \
             and a name"
        );
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
        assert_eq!(parsed(&["frame", "Checking"]), Some((Shown::Frame, "Checking".to_owned())));
        assert_eq!(parsed(&["lu=look over.v"]), Some((Shown::Lu, "look over.v".to_owned())));
        assert_eq!(parsed(&["lu", "look", "over.v"]), Some((Shown::Lu, "look over.v".to_owned())));
        assert_eq!(parsed(&["Set", "x7"]), Some((Shown::Annotation, "x7".to_owned())));
        assert_eq!(parsed(&["frame~^Ch"]), Some((Shown::Frame, "~^Ch".to_owned())));
        assert_eq!(parsed(&["document", "a=b"]), Some((Shown::Document, "a=b".to_owned())));
        assert_eq!(parsed(&["frame"]), None);
        assert_eq!(parsed(&["farme", "Checking"]), None);
    }
}
