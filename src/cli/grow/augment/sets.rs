//! `fnstore augment nli`, `qa` and `mt`: the sets of three tasks.

use std::path::PathBuf;

use fnstore::augment::{AugmentItem, AugmentTask, Copies, Variant};
use serde::Serialize;

use super::RewriterArgs;
use super::rewrites::{rewrite, tell_tally};
use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::print::output::Output;

/// Rewrite entailment pairs
///
/// Reads `premise`, `hypothesis`, `label`, and where they are there `id` and `split`. The most
/// telling word of each sentence is banned. Writes each pair as it was, with the hypothesis, the
/// premise, and both rewritten. Pairs of the split `train`, or of none, are written once more as
/// they were (Hu et al. 2019, section 5.1). A variant whose sentence could not be rewritten is
/// skipped.
#[derive(Debug, clap::Args)]
pub(super) struct NliArgs {
    /// Pairs to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Labels of the task
    #[arg(
        long,
        value_name = "LABEL,...",
        value_delimiter = ',',
        default_value = "entailment,neutral,contradiction,no"
    )]
    labels: Vec<String>,

    /// Ban the most telling word that both sentences have, and require names and gendered pronouns
    /// (the paper's appendix A)
    #[arg(long)]
    shared: bool,

    #[command(flatten)]
    rewriter: RewriterArgs,
}

/// Rewrite the candidate answers of questions
///
/// Reads `question`, `candidate`, `label` (0 or 1), and where they are there `answer`, `id` and
/// `split`. Writes each candidate as it was and rewritten once. Names that it shares with the
/// question, and the answer, must stay.
#[derive(Debug, clap::Args)]
pub(super) struct QaArgs {
    /// Candidates to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Ban the K most telling words that need not stay
    #[arg(long, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=4))]
    ban: u8,

    #[command(flatten)]
    rewriter: RewriterArgs,
}

/// Rewrite the English side of a parallel corpus
///
/// Reads `foreign` and `english`, and where they are there `id` and `split`. The English side is
/// rewritten freely, and without each of its most telling words; rewritings are unique, and less
/// like the reference than `--jaccard`.
#[derive(Debug, clap::Args)]
pub(super) struct MtArgs {
    /// Sentence pairs to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Keep rewritings that share less than SHARE of their words with the reference
    #[arg(long, value_name = "SHARE", default_value_t = 0.65)]
    jaccard: f64,

    /// Write at most N rewritings of a sentence
    #[arg(long, value_name = "N", default_value_t = 10)]
    most: usize,

    /// Copies of the original and of each rewriting, as 10:1, 5:1, 1:1 or 0:1
    #[arg(long, value_name = "N:M", default_value = "1:1")]
    copies: Copies,

    #[command(flatten)]
    rewriter: RewriterArgs,
}

fn item(
    fields: &Fields,
    names: [&str; 2],
    labels: &[String],
    number: u64,
) -> Result<AugmentItem, LineError> {
    let label = match labels {
        [] => String::new(),
        _ => fields.required("label")?.to_owned(),
    };
    if !labels.is_empty() && !labels.contains(&label) {
        let message = format!("`{label}` is no label: expected {}", labels.join(", "));
        return Err(LineError::new("E-label", message));
    }
    let id = match fields.optional("id") {
        "" => number.to_string(),
        id => id.to_owned(),
    };
    let own = |name: &str| fields.optional(name).to_owned();
    let texts = [fields.required(names[0])?.to_owned(), fields.required(names[1])?.to_owned()];
    Ok(AugmentItem { id, split: own("split"), label, texts, answer: own("answer") })
}

/// Reads the items of a task.
fn read(
    file: Option<&PathBuf>,
    names: [&str; 2],
    labels: &[String],
) -> anyhow::Result<(Vec<AugmentItem>, TableLines)> {
    let mut lines = TableLines::open(file.map(PathBuf::as_path), &names)?;
    let mut items = Vec::new();
    loop {
        let number = lines.count() + 1;
        match lines.next(|fields| item(fields, names, labels, number))? {
            Some((_, item)) => items.push(item),
            None => return Ok((items, lines)),
        }
    }
}

/// A set's line as JSON; see `schema/augmented.schema.json`.
#[derive(Debug, Serialize)]
struct Record<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    split: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    label: &'a str,
    variant: &'static str,
    #[serde(flatten)]
    texts: serde_json::Map<String, serde_json::Value>,
}

/// Reads items, has them rewritten, and writes their variants.
fn run(
    task: &AugmentTask,
    (file, labels): (Option<&PathBuf>, &[String]),
    rewriter: &RewriterArgs,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let names = task.names();
    let (items, lines) = read(file, names, labels)?;
    let mut rewriter = rewriter.open(task.texts())?;
    let found = rewrite(&mut rewriter, &task.requests(&items))?;
    let mut records = output.json_records()?;
    for Variant { item, variant, texts } in task.variants(&items, &found) {
        let texts = names.into_iter().zip(texts);
        let texts = texts.map(|(name, text)| (name.to_owned(), text.into())).collect();
        let AugmentItem { id, split, label, .. } = &items[item];
        records.record(&Record { id, split, label, variant, texts })?;
    }
    tell_tally(&rewriter);
    records.end_records()?;
    lines.finish("rewritten")?;
    Ok(Outcome::of(!items.is_empty()))
}

pub(super) fn nli(args: &NliArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let task = AugmentTask::Entailment { shared: args.shared };
    run(&task, (args.file.as_ref(), &args.labels), &args.rewriter, output)
}

pub(super) fn qa(args: &QaArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let task = AugmentTask::Answers { ban: usize::from(args.ban) };
    let labels = ["0".to_owned(), "1".to_owned()];
    run(&task, (args.file.as_ref(), &labels), &args.rewriter, output)
}

pub(super) fn mt(args: &MtArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let MtArgs { file, jaccard, most, copies, rewriter } = args;
    let task = AugmentTask::Translation { jaccard: *jaccard, most: *most, copies: *copies };
    run(&task, (file.as_ref(), &[]), rewriter, output)
}
