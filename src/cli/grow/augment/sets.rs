//! `fnstore augment nli`, `qa` and `mt`: the sets of three tasks.

use std::path::PathBuf;
use std::str::FromStr;

use fnstore::augment::{answer_kept, jaccard, many_ways, shared_word, top_word};
use fnstore::paraphrase::{Constraints, Request};
use fnstore::text::{Idf, fold};
use serde::Serialize;

use super::RewriterArgs;
use super::rewrites::Text;
use crate::cli::Outcome;
use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::print::output::Output;
use crate::cli::print::render::Records;

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

/// Copies of what was and of what is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Copies {
    original: usize,
    rewritten: usize,
}

impl FromStr for Copies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = |text: &str| text.parse().ok().filter(|count| *count <= 100);
        let both = text.split_once(':').and_then(|(a, b)| Some((count(a)?, count(b)?)));
        let (original, rewritten) = both.ok_or("expected two counts up to 100, as 10:1")?;
        Ok(Self { original, rewritten })
    }
}

/// Words that `mt` bans, each alone; and texts that it asks for each time.
const WAYS: usize = 4;
const TEXTS: usize = 4;

/// An item of any task.
struct Item {
    id: String,
    split: String,
    label: String,
    /// Premise and hypothesis, question and candidate, or foreign and English.
    texts: [String; 2],
    answer: String,
}

impl Item {
    fn read(
        fields: &Fields,
        names: [&str; 2],
        labels: &[String],
        number: u64,
    ) -> Result<Self, LineError> {
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
        Ok(Self { id, split: own("split"), label, texts, answer: own("answer") })
    }

    /// Whether it is trained on: what no split says is.
    fn is_train(&self) -> bool {
        matches!(self.split.as_str(), "" | "train")
    }
}

/// Reads the items of a task.
fn read(
    file: Option<&PathBuf>,
    names: [&str; 2],
    labels: &[String],
) -> anyhow::Result<(Vec<Item>, TableLines)> {
    let mut lines = TableLines::open(file.map(PathBuf::as_path), &names)?;
    let mut items = Vec::new();
    loop {
        let number = lines.count() + 1;
        match lines.next(|fields| Item::read(fields, names, labels, number))? {
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

/// Writes items and their variants.
struct Writer<'a> {
    records: Records<'a>,
    names: [&'static str; 2],
}

impl<'a> Writer<'a> {
    fn new(output: &'a mut Output, names: [&'static str; 2]) -> anyhow::Result<Self> {
        Ok(Self { records: output.json_records()?, names })
    }

    fn write(
        &mut self,
        item: &Item,
        variant: &'static str,
        texts: [&str; 2],
    ) -> anyhow::Result<()> {
        let texts = self.names.into_iter().zip(texts);
        let texts = texts.map(|(name, text)| (name.to_owned(), text.into())).collect();
        let Item { id, split, label, .. } = item;
        self.records.record(&Record { id, split, label, variant, texts })
    }

    fn finish(self, items: &[Item], lines: TableLines) -> anyhow::Result<Outcome> {
        self.records.end_records()?;
        lines.finish("rewritten")?;
        Ok(Outcome::of(!items.is_empty()))
    }
}

fn request(text: &str, constraints: Constraints) -> Request {
    Request { text: text.to_owned(), constraints }
}

/// The best rewriting that is not the sentence itself.
fn changed<'t>(of: &'t [Text], text: &str) -> Option<&'t str> {
    of.iter().map(|of| of.text.as_str()).find(|found| fold(found) != fold(text))
}

pub(super) fn nli(args: &NliArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let names = ["premise", "hypothesis"];
    let (items, lines) = read(args.file.as_ref(), names, &args.labels)?;
    let trained = items.iter().filter(|item| item.is_train());
    let idf = Idf::new(trained.flat_map(|item| &item.texts));
    let requests: Vec<Request> = items
        .iter()
        .flat_map(|Item { texts: [premise, hypothesis], .. }| {
            let asked = match args.shared {
                true => {
                    [shared_word(premise, hypothesis, &idf), shared_word(hypothesis, premise, &idf)]
                }
                false => [top_word(premise, &idf), top_word(hypothesis, &idf)],
            };
            let [of_premise, of_hypothesis] = asked;
            [request(premise, of_premise), request(hypothesis, of_hypothesis)]
        })
        .collect();
    let mut rewriter = args.rewriter.open(1)?;
    let rewritings = rewriter.rewrite(&requests)?;
    let mut writer = Writer::new(output, names)?;
    for (item, found) in items.iter().zip(rewritings.chunks_exact(2)) {
        let [premise, hypothesis] = [&*item.texts[0], &*item.texts[1]];
        let (new_premise, new_hypothesis) =
            (changed(&found[0], premise), changed(&found[1], hypothesis));
        writer.write(item, "original", [premise, hypothesis])?;
        if let Some(new) = new_hypothesis {
            writer.write(item, "hypothesis", [premise, new])?;
        }
        if let Some(new) = new_premise {
            writer.write(item, "premise", [new, hypothesis])?;
        }
        if let (Some(premise), Some(hypothesis)) = (new_premise, new_hypothesis) {
            writer.write(item, "both", [premise, hypothesis])?;
        }
        if item.is_train() {
            writer.write(item, "again", [premise, hypothesis])?;
        }
    }
    rewriter.tell();
    writer.finish(&items, lines)
}

pub(super) fn qa(args: &QaArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let names = ["question", "candidate"];
    let labels = ["0".to_owned(), "1".to_owned()];
    let (items, lines) = read(args.file.as_ref(), names, &labels)?;
    let trained = items.iter().filter(|item| item.is_train());
    let idf = Idf::new(trained.flat_map(|item| &item.texts));
    let requests: Vec<Request> = items
        .iter()
        .map(|Item { texts: [question, candidate], answer, .. }| {
            let asked = answer_kept(candidate, question, answer, &idf, usize::from(args.ban));
            request(candidate, asked)
        })
        .collect();
    let mut rewriter = args.rewriter.open(1)?;
    let rewritings = rewriter.rewrite(&requests)?;
    let mut writer = Writer::new(output, names)?;
    for (item, found) in items.iter().zip(&rewritings) {
        let [question, candidate] = [&*item.texts[0], &*item.texts[1]];
        writer.write(item, "original", [question, candidate])?;
        if let Some(new) = changed(found, candidate) {
            writer.write(item, "candidate", [question, new])?;
        }
    }
    rewriter.tell();
    writer.finish(&items, lines)
}

pub(super) fn mt(args: &MtArgs, output: &mut Output) -> anyhow::Result<Outcome> {
    let names = ["foreign", "english"];
    let (items, lines) = read(args.file.as_ref(), names, &[])?;
    let trained = items.iter().filter(|item| item.is_train());
    let idf = Idf::new(trained.map(|item| &item.texts[1]));
    let (mut requests, mut ends) = (Vec::new(), Vec::new());
    for Item { texts: [_, english], .. } in &items {
        let asked = many_ways(english, &idf, WAYS).into_iter();
        requests.extend(asked.map(|constraints| request(english, constraints)));
        ends.push(requests.len());
    }
    let mut rewriter = args.rewriter.open(TEXTS)?;
    let rewritings = rewriter.rewrite(&requests)?;
    let mut writer = Writer::new(output, names)?;
    let mut start = 0;
    for (item, end) in items.iter().zip(ends) {
        let [foreign, english] = [&*item.texts[0], &*item.texts[1]];
        for _ in 0..args.copies.original {
            writer.write(item, "original", [foreign, english])?;
        }
        for new in unlike(&rewritings[start..end], english, args) {
            for _ in 0..args.copies.rewritten {
                writer.write(item, "english", [foreign, new])?;
            }
        }
        start = end;
    }
    rewriter.tell();
    writer.finish(&items, lines)
}

/// The different rewritings of a reference that are unlike enough, the best of each way first.
fn unlike<'t>(found: &'t [Vec<Text>], reference: &str, args: &MtArgs) -> Vec<&'t str> {
    let mut new: Vec<&str> = Vec::new();
    for rank in 0..TEXTS {
        for text in found.iter().filter_map(|way| way.get(rank)).map(|of| of.text.as_str()) {
            let is_new = new.iter().all(|other| fold(other) != fold(text));
            if is_new && jaccard(text, reference) < args.jaccard && new.len() < args.most {
                new.push(text);
            }
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_two_counts() {
        assert_eq!("10:1".parse(), Ok(Copies { original: 10, rewritten: 1 }));
        for wrong in ["10", "a:1", "1:", "1:-1", "1:101"] {
            assert!(wrong.parse::<Copies>().unwrap_err().contains("as 10:1"), "{wrong}");
        }
    }

    #[test]
    fn a_copy_of_the_sentence_is_no_rewriting() {
        let texts: Vec<Text> = ["He LEFT.", "He went."]
            .iter()
            .map(|text| serde_json::from_value(serde_json::json!({ "text": text })).unwrap())
            .collect();
        assert_eq!(changed(&texts, "he left."), Some("He went."));
        assert_eq!(changed(&texts[..1], "he left."), None);
    }
}
