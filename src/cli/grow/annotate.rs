//! `fnstore annotate`: targets with their frames in texts.

mod record;

use std::path::PathBuf;

use anyhow::Context as _;
use fnstore::NetworkError;
use fnstore::database::Database;
use fnstore::identify::Search;
use fnstore::lexicon::Lexicon;
use fnstore::model::LuId;
use fnstore::transfer::{
    AmbiguousLexUnit, Annotator, PredictedTarget, PredictionReport, Predictions,
};
use serde::Deserialize;

use record::{Record, TargetRecord};

use crate::cli::error::NotBegun;
use crate::cli::input::line_batches::{self, LineItem, LineTask};
use crate::cli::input::line_reader::{self, LineError};
use crate::cli::options::identifier::IdentifierArgs;
use crate::cli::options::labeller::LABELLER;
use crate::cli::options::language;
use crate::cli::options::release::release;
use crate::cli::options::tagger::TAGGER;
use crate::cli::print::output::{counted_are, tell};
use crate::cli::{Context, Outcome};

/// Find targets in sentences, with their frames and frame elements
///
/// Reads one sentence a line, or JSON lines, as the first line shows: `text`, and an `id` of any
/// type, which is returned. Writes a JSON line for each, with its targets in order. A target has
/// its place (in code points) and the LU of the release that it is a form of. It has its frame with
/// the probability, the next likeliest frames, and the frame elements. Candidates are the forms of
/// the release's LUs that the tagger gives their part of speech. LUs of several words (`turned
/// down`, `turned it down`) come before one of them. With `--open`, candidates are any span of at
/// most three words and any frame. A line that cannot be annotated gets a record with an error and
/// its code. The other lines are annotated, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Release whose LUs may be meant [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Consider any span of at most three words, and any frame
    #[arg(long)]
    open: bool,

    #[command(flatten)]
    identifier: IdentifierArgs,

    /// Directory of the tagger, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = TAGGER)]
    tagger: PathBuf,

    /// Go by forms alone, whatever part of speech a word has
    #[arg(long, conflicts_with = "tagger")]
    no_tagger: bool,

    /// Directory of the labeller of frame elements, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = LABELLER)]
    labeller: PathBuf,

    /// Also write what is found into STORE, as a release of sets of the origin `predicted`
    #[arg(long, value_name = "STORE")]
    into: Option<PathBuf>,

    /// Name of that release [default: predicted]
    #[arg(long = "as", value_name = "NAME", requires = "into")]
    name: Option<String>,

    /// Leave frame elements out
    #[arg(long, conflicts_with = "labeller")]
    no_fes: bool,
}

const EXAMPLES: &str = r#"Examples:
  echo 'They checked the locks.' | fnstore annotate --format table
  fnstore annotate news.txt > news.jsonl
  fnstore annotate news.txt --into news --as news && fnstore query frame=Arrest --store news
  echo '{"id": 7, "text": "They checked it."}' | fnstore annotate --open"#;

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let lines = line_reader::open(args.file.as_deref())?;
    // One view of the index serves all lines.
    let database = context.joined(Database::open(&context.store)?.snapshot()?);
    let release = release(&database, args.release.as_deref());
    let release = match (&args.into, &args.release, &args.name) {
        (Some(_), Some(name), None) => release.with_context(|| {
            format!("`--release` says whose lexicon is read; `--as {name}` names what is written")
        }),
        _ => release,
    };
    let release = release?.name;
    let lexicon = database.lexicon(&release)?;
    let tagger = match args.no_tagger || args.open {
        true => None,
        false => args.identifier.open_tagger_or_none(&args.tagger, &lexicon)?,
    };
    let identifier = args.identifier.open()?.with_tagger(tagger);
    let labeller = match args.no_fes {
        true => None,
        false => Some(args.identifier.open_labeller(&args.labeller)?),
    };
    let search = if args.open { Search::Open } else { Search::Lexicon };
    let annotator = Annotator::new(&lexicon, identifier, labeller, search)?;
    language::tell_undeclared(&annotator.declared(), [lexicon.release().language.as_str()]);
    let into = args.into.as_deref().map(Database::open_writer).transpose()?;
    let source = args.file.unwrap_or_else(|| PathBuf::from(STANDARD_INPUT));
    let name = args.name.as_deref().unwrap_or(PREDICTED);
    let predictions = into.as_ref().map(|into| {
        let predictions = into.predictions(name, &lexicon, &source);
        predictions
            .map_err(|source| anyhow::Error::from(NotBegun { name: name.to_owned(), source }))
    });
    let task = Annotating {
        predictions: predictions.transpose()?,
        source: source.display().to_string(),
        lexicon: &lexicon,
        annotator,
    };
    line_batches::run(task, lines, &mut context.output)
}

/// What stands for a file's name where there is none.
const STANDARD_INPUT: &str = "standard input";

/// Name of the release that predictions go into.
const PREDICTED: &str = "predicted";

/// The annotation of lines.
struct Annotating<'a> {
    /// What is written into a store, until the last line is.
    predictions: Option<Predictions<'a>>,
    /// Where the lines come from.
    source: String,
    lexicon: &'a Lexicon<'a>,
    annotator: Annotator,
}

impl LineTask for Annotating<'_> {
    type Item = Item;
    type Record = Record;

    const DONE: &'static str = "annotated";
    const COLUMNS: &'static [&'static str] = &["line", "id", "text", "targets", "error"];

    fn answer(
        &mut self,
        items: Vec<(u64, Item)>,
    ) -> anyhow::Result<Vec<Result<Record, LineError>>> {
        let texts: Vec<&str> = items.iter().map(|(_, item)| item.text.as_str()).collect();
        self.annotator.look_up(self.lexicon, &texts)?;
        let found = self.annotator.annotate(&texts)?;
        let mut records = Vec::with_capacity(items.len());
        for ((line, Item { id, text }), found) in items.into_iter().zip(found) {
            let targets = match found {
                Ok(targets) => targets,
                Err(error) => {
                    records.push(Err(refusal(&error)));
                    continue;
                }
            };
            let predicted = targets.iter().map(|of| self.annotator.predicted(&self.source, of));
            let predicted: Vec<PredictedTarget> = predicted.collect();
            if let Some(predictions) = &mut self.predictions {
                predictions.add(&text, predicted)?;
            }
            let targets = targets.into_iter();
            let targets = targets.map(|of| TargetRecord::new(&text, of.target, of.elements));
            records.push(Ok(Record { line, id, targets: targets.collect(), text }));
        }
        Ok(records)
    }

    fn end(&mut self) -> anyhow::Result<()> {
        if let Some(predictions) = self.predictions.take() {
            let PredictionReport { release, ambiguous, .. } = predictions.finish()?;
            ambiguous.iter().for_each(tell_ambiguous);
            let sentences = release.counts.sentences;
            tell(&format!(
                "{} in the store as the release {}",
                counted_are(sentences, "sentence"),
                release.name
            ));
        }
        Ok(())
    }

    fn text(record: &Record) -> Option<String> {
        Some(record.marked())
    }
}

/// Says which LU targets got where their frame has several of its name.
fn tell_ambiguous(shared: &AmbiguousLexUnit) {
    let AmbiguousLexUnit { frame, lexunit, ids, targets } = shared;
    let ids: Vec<String> = ids.iter().map(LuId::to_string).collect();
    tell(&format!(
        "warning: {frame} has the LUs {} of the name {lexunit}; targets that got the first, which has \
         most annotation: {targets}",
        ids.join(", ")
    ));
}

fn refusal(error: &NetworkError) -> LineError {
    match error {
        NetworkError::TooLong { pieces, limit, .. } => LineError::new(
            "E-too-long",
            format!("the sentence has {pieces} pieces, the encoder takes at most {limit}"),
        ),
        error => LineError::new("E-annotate", error.to_string()),
    }
}

/// A JSON line as it comes in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<serde_json::Value>,
    text: String,
}

/// What a line asks for.
#[derive(Debug)]
struct Item {
    id: Option<serde_json::Value>,
    text: String,
}

impl LineItem for Item {
    fn read(line: &str, is_json: bool) -> Result<Self, LineError> {
        if !is_json {
            return Ok(Self { id: None, text: line.to_owned() });
        }
        let Line { id, text } =
            serde_json::from_str(line).map_err(|error| LineError::json(&error))?;
        if text.trim().is_empty() {
            return Err(LineError::new("E-empty", "`text` is empty: expected a sentence"));
        }
        Ok(Self { id, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_line_has_a_code_and_names_the_field() {
        for (line, code, names) in [
            (r#"{"id": 3}"#, "E-key", "`text`"),
            (r#"{"text": "a", "words": ["a"]}"#, "E-key", "`words`"),
            (r#"{"text": 7}"#, "E-type", "a string"),
            (r#"{"text": " "}"#, "E-empty", "`text`"),
            ("{", "E-json", "column"),
        ] {
            let error = Item::read(line, true).unwrap_err();
            assert_eq!(error.code, code, "{line}: {}", error.message);
            assert!(error.message.contains(names), "{line}: {}", error.message);
        }
        assert_eq!(Item::read("{x} is a text.", false).unwrap().text, "{x} is a text.");
    }
}
