//! `fnstore eval tagger`: how well the part-of-speech tagger does.

use std::collections::HashSet;
use std::path::PathBuf;

use fnstore::model::{Fraction, Positive, Split};
use fnstore::tag::{Accuracy, Measure, TagLexicon, TaggedSentence, Tagger};
use serde::Serialize;

use crate::cli::input::tagged;
use crate::cli::options::tagger::TaggerArgs;
use crate::cli::print::output::{Output, counted};
use crate::cli::print::render::{Row, rows_of};
use crate::cli::{Context, Outcome};

/// Confusions that are printed, the most frequent ones.
const CONFUSIONS: usize = 10;

/// Measure the part-of-speech tagger: accuracy on all words and on unseen words
///
/// On the full text of the store: the documents of the part `test` that have FrameNet's layer PENN
/// (`split=` in queries), or on JSON lines as `fnstore train tagger` takes them. The baseline is
/// each word's most frequent tag in the training data. Words are also tagged in lower case.
/// Sentences of the training data are skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Data with tags [default: the store's full text]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Training data, which decides which words are unseen [default: the store's full text]
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,

    #[command(flatten)]
    tagger: TaggerArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval tagger
  fnstore eval tagger --tagger mine --data test.jsonl --train train.jsonl --format json";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut data = tagged::read(args.data.as_deref(), &context.store, Split::Test)?;
    let train = tagged::read(args.train.as_deref(), &context.store, Split::Train)?;
    let trained: HashSet<&[String]> = train.iter().map(|sentence| &sentence.words[..]).collect();
    let all = data.len();
    data.retain(|sentence| !trained.contains(&sentence.words[..]));
    let known = (all - data.len()) as u64;
    let tagger = args.tagger.open()?;
    let lexicon = TagLexicon::of(&train);
    let written = measure(&tagger, &data, &lexicon)?;
    let lower = |sentence: &TaggedSentence| sentence.lowercase().unwrap_or(sentence.clone());
    let data: Vec<TaggedSentence> = data.iter().map(lower).collect();
    let lowercase = measure(&tagger, &data, &lexicon)?;
    let document = Document::new(&written, &lowercase, known);
    let output = &mut context.output;
    let rows = rows_of(&document.scores);
    output.report(&document, rows, |output| write_table(&document, output))?;
    Ok(Outcome::of(written.0.all.words > 0))
}

/// Tags sentences and compares with their tags; also says how many are too long.
fn measure(
    tagger: &Tagger,
    sentences: &[TaggedSentence],
    lexicon: &TagLexicon,
) -> anyhow::Result<(Measure, u64)> {
    let words: Vec<Vec<&str>> = sentences.iter().map(TaggedSentence::words).collect();
    let (mut measure, mut left_out) = (Measure::default(), 0);
    for (gold, found) in sentences.iter().zip(tagger.tag_each(&words)?) {
        match found {
            Ok(tags) => {
                let names: Vec<&str> = tags.iter().map(|tag| tag.name).collect();
                measure.add(gold, &names, lexicon);
            }
            Err(_) => left_out += 1,
        }
    }
    Ok((measure, left_out))
}

/// The evaluation as JSON; see `schema/eval-tagger.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    sentences: u64,
    /// Sentences that are too long for the encoder.
    left_out: u64,
    /// Sentences that were left out because the training data has them, too.
    known: u64,
    scores: Vec<AccuracyRecord>,
    confusions: Vec<Confusion>,
}

#[derive(Debug, Serialize)]
struct AccuracyRecord {
    /// `all`: words with a gold tag. `unseen`: those that training lacks as they are written.
    /// `all, in small letters`: all, of sentences in lower case.
    /// JSON `{"enum": ["all", "unseen", "all, in small letters"]}`.
    words: &'static str,
    /// JSON `{"enum": ["network", "most frequent tag"]}`.
    tagger: &'static str,
    number: u64,
    right: u64,
    accuracy: Fraction,
}

#[derive(Debug, Serialize)]
struct Confusion {
    gold: String,
    found: String,
    words: Positive,
}

impl Document {
    fn new(
        (written, left_out): &(Measure, u64),
        (lowercase, _): &(Measure, u64),
        known: u64,
    ) -> Self {
        let row = |words, tagger, accuracy: Accuracy| {
            let Accuracy { words: number, right } = accuracy;
            AccuracyRecord { words, tagger, number, right, accuracy: accuracy.share() }
        };
        let confusions = written.confusions.iter();
        let mut confusions: Vec<Confusion> = confusions
            .map(|((gold, found), &words)| {
                let (gold, found) = (gold.clone(), found.clone());
                Confusion { gold, found, words }
            })
            .collect();
        confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.words));
        confusions.truncate(CONFUSIONS);
        Self {
            sentences: written.sentences,
            left_out: *left_out,
            known,
            scores: vec![
                row("all", "network", written.all),
                row("unseen", "network", written.unseen),
                row("all", "most frequent tag", written.baseline),
                row("unseen", "most frequent tag", written.baseline_unseen),
                row("all, in small letters", "network", lowercase.all),
            ],
            confusions,
        }
    }
}

impl Row for AccuracyRecord {
    const COLUMNS: &'static [&'static str] = &["words", "tagger", "number", "right", "accuracy"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.words.to_owned(),
            self.tagger.to_owned(),
            self.number.to_string(),
            self.right.to_string(),
            format!("{:.4}", self.accuracy),
        ]
    }
}

impl Row for Confusion {
    const COLUMNS: &'static [&'static str] = &["gold", "found", "words"];
}

fn write_table(document: &Document, output: &mut Output) -> anyhow::Result<()> {
    output.table_of(&document.scores)?;
    output.line(&format!(
        "{}; {} more in the training data, {} too long for the encoder",
        counted(document.sentences, "sentence"),
        document.known,
        document.left_out
    ))?;
    output.line("")?;
    output.heading("most frequent confusions")?;
    output.table_of(&document.confusions)
}
