//! `fnstore mine`: paraphrases from clusters of news articles.

mod group;
mod judged;

use std::collections::HashSet;
use std::io::Write as _;
use std::path::PathBuf;

use crate::cli::options::named::named;
use fnstore::mine::{
    Article, EditCost, Method, MineOptions, Mined, Pair, Unseen, day_of, likenesses, mine,
};
use fnstore::model::Fraction;
use rayon::prelude::*;
use serde::Serialize;

use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::options::number;
use crate::cli::print::output::{Format, Output, counted, grouped, tell};
use crate::cli::{Context, Outcome};

/// Sentences' bytes that are mined side by side: they, and what is read of them, wait in memory.
const BATCH_BYTES: usize = 8 << 20;

/// Mine paraphrases from clusters of news articles
///
/// Reads a table, tab-separated under a line of names or JSON lines: `cluster`, `article`, `text`,
/// and where it is known `date` (2004-08-23). The articles of a cluster stand together. With a
/// column `sentence`, each line is one sentence of its article. Writes pairs with their provenance,
/// which `align words` and the recipes of the rewriter read. A line that cannot be used is told and
/// left out, and the program ends with code 65.
///
/// L12 takes every two sentences of a cluster that at most 12 edits of words part (Dolan et al.
/// 2004). Edits are deletions and insertions, an exchange being both, unless `--edits` says
/// otherwise. F2 takes the first two sentences of articles that share three long words.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,

    /// Articles to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Find pairs by this method
    #[arg(long, value_parser = named::<Method>(), default_value_t = Method::L12)]
    method: Method,

    /// Count these as edits (l12)
    #[arg(long, value_parser = named::<EditCost>(), default_value_t = EditCost::default())]
    edits: EditCost,

    /// Take pairs of at most N edits (l12)
    #[arg(long, value_name = "N", default_value_t = 12)]
    limit: usize,

    /// Write `%%number%%` for numbers and `%%day%%` for weekdays before sentences are compared
    #[arg(long)]
    replace: bool,

    /// Write pairs of this likeness and more, 0 to 1: how much of the words' weight, by IDF over
    /// all sentences of pairs, both have. Holds all pairs in memory
    #[arg(long, value_name = "S", value_parser = number::share::<f64>)]
    least: Option<f64>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore mine articles.tsv > pairs.jsonl
  fnstore mine articles.tsv --least 0.6 > paraphrases.jsonl
  fnstore mine articles.jsonl --method f2 --format tsv > f2.tsv
  fnstore mine cluster raw.jsonl --format tsv | fnstore mine
  fnstore mine sample pairs.jsonl --count 100 --seed 7 > to-judge.jsonl
  fnstore mine tally first-rater.jsonl second-rater.jsonl";

#[derive(Debug, clap::Subcommand)]
enum Command {
    Cluster(group::Args),
    Sample(judged::SampleArgs),
    Tally(judged::TallyArgs),
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    match args.command {
        Some(Command::Cluster(args)) => return group::run(&args, &mut context.output),
        Some(Command::Sample(args)) => return judged::sample(&args, &mut context.output),
        Some(Command::Tally(args)) => return judged::tally(&args, &mut context.output),
        None => {}
    }
    let options = MineOptions {
        method: args.method,
        limit: args.limit,
        cost: args.edits,
        replace: args.replace,
    };
    let format = context.output.format_or(Format::Jsonl);
    let (unseen, tally, waiting) = (Unseen::default(), Tally::default(), Vec::new());
    let mut run = Run { options, format, least: args.least, waiting, unseen, tally };
    let mut lines = TableLines::open(args.file.as_deref(), &["cluster", "article", "text"])?;
    Record::begin(format, &mut context.output)?;
    let (mut names, mut clusters, mut bytes) = (HashSet::new(), Vec::<Cluster>::new(), 0);
    loop {
        let line = lines.next(|fields| {
            let line = Line::read(fields)?;
            // A cluster that ended is not begun again: its articles were compared without this one.
            let is_open = clusters.last().is_some_and(|last| last.name == line.cluster);
            match is_open || names.insert(blake3::hash(line.cluster.as_bytes())) {
                true => Ok(line),
                false => Err(LineError::new(
                    "E-order",
                    format!(
                        "the cluster `{}` ended before; expected its articles together",
                        line.cluster
                    ),
                )),
            }
        })?;
        let Some((_, line)) = line else { break };
        let is_open = clusters.last().is_some_and(|last| last.name == line.cluster);
        if !is_open && bytes > BATCH_BYTES {
            run.batch(&std::mem::take(&mut clusters), &mut context.output)?;
            bytes = 0;
        }
        bytes += line.text.len();
        Cluster::add(&mut clusters, line);
    }
    run.batch(&clusters, &mut context.output)?;
    run.choose(&mut context.output)?;
    if matches!(format, Format::Json | Format::Jsonl) {
        context.output.end_records(format)?;
    }
    context.output.flush()?;
    run.tally.tell((args.method, args.edits), args.least);
    let is_empty = run.tally.pairs == run.tally.unlike;
    lines.finish("mined")?;
    Ok(Outcome::of(!is_empty))
}

/// A line of the input.
struct Line {
    cluster: String,
    article: String,
    date: String,
    text: String,
    is_sentence: bool,
}

impl Line {
    fn read(fields: &Fields) -> Result<Self, LineError> {
        Ok(Self {
            cluster: fields.required("cluster")?.to_owned(),
            article: fields.required("article")?.to_owned(),
            date: date(fields)?.to_owned(),
            text: fields.required("text")?.to_owned(),
            is_sentence: !fields.optional("sentence").is_empty(),
        })
    }
}

/// The date of a line, empty where it has none.
fn date(fields: &Fields) -> Result<&str, LineError> {
    let date = fields.optional("date");
    if date.is_empty() || day_of(date).is_some() {
        return Ok(date);
    }
    Err(LineError::new("E-date", format!("`{date}` is no date: expected one as 2004-08-23")))
}

/// Articles of one event.
struct Cluster {
    name: String,
    articles: Vec<Article>,
}

impl Cluster {
    /// Adds a line to the last cluster, or to a new one.
    fn add(clusters: &mut Vec<Self>, line: Line) {
        if clusters.last().is_none_or(|last| last.name != line.cluster) {
            clusters.push(Self { name: line.cluster, articles: Vec::new() });
        }
        let articles = &mut clusters.last_mut().expect("one was added").articles;
        let same = |article: &Article| line.is_sentence && article.name == line.article;
        match articles.last_mut().filter(|article| same(article)) {
            Some(article) => article.parts.push(line.text),
            None => articles.push(Article {
                name: line.article,
                date: line.date,
                parts: vec![line.text],
                is_split: line.is_sentence,
            }),
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    clusters: u64,
    articles: u64,
    duplicates: u64,
    sentences: u64,
    pairs: u64,
    /// Pairs of too little likeness.
    unlike: u64,
    distances: u64,
    words: u64,
}

struct Run {
    options: MineOptions,
    format: Format,
    least: Option<f64>,
    /// Pairs whose likeness is not known before all are found.
    waiting: Vec<Record>,
    /// Pairs that were not written yet.
    unseen: Unseen,
    tally: Tally,
}

impl Run {
    /// Mines clusters on all cores and writes their pairs in the clusters' order.
    fn batch(&mut self, clusters: &[Cluster], output: &mut Output) -> anyhow::Result<()> {
        let mined: Vec<Mined> =
            clusters.par_iter().map(|cluster| mine(&cluster.articles, &self.options)).collect();
        for (cluster, mined) in clusters.iter().zip(mined) {
            self.tally.clusters += 1;
            self.tally.articles += cluster.articles.len() as u64;
            self.tally.duplicates += mined.duplicates as u64;
            self.tally.sentences += mined.sentences as u64;
            for pair in mined.pairs {
                if self.unseen.is_new(&pair) {
                    self.tally.pairs += 1;
                    self.tally.distances += pair.distance.unwrap_or(0) as u64;
                    self.tally.words += (pair.words[0] + pair.words[1]) as u64;
                    let record = Record::new(self.tally.pairs, cluster, pair);
                    match self.least {
                        Some(_) => self.waiting.push(record),
                        None => record.write(self.format, output)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the pairs that are alike enough.
    fn choose(&mut self, output: &mut Output) -> anyhow::Result<()> {
        let Some(least) = self.least else { return Ok(()) };
        let waiting = std::mem::take(&mut self.waiting);
        let texts: Vec<[&str; 2]> =
            waiting.iter().map(|of| [of.source.as_str(), of.target.as_str()]).collect();
        let likenesses = likenesses(&texts);
        for (record, likeness) in waiting.into_iter().zip(likenesses) {
            if likeness >= least {
                Record { likeness: Some(likeness), ..record }.write(self.format, output)?;
            } else {
                self.tally.unlike += 1;
            }
        }
        Ok(())
    }
}

impl Tally {
    fn tell(&self, (method, edits): (Method, EditCost), least: Option<f64>) {
        let per = |sum: u64, count: u64| sum as f64 / count.max(1) as f64;
        tell(&format!(
            "{} from {} of {} ({} repeat another) with {}",
            counted(self.pairs, "pair"),
            counted(self.clusters, "cluster"),
            counted(self.articles, "article"),
            grouped(self.duplicates),
            counted(self.sentences, "different sentence")
        ));
        if let Some(least) = least {
            let kept = counted(self.pairs - self.unlike, "pair");
            tell(&format!("{kept} of likeness {least} and more"));
        }
        let words = per(self.words, 2 * self.pairs);
        let yielded = per(self.pairs, self.clusters);
        match (method, edits) {
            (Method::F2, _) => {
                tell(&format!("{yielded:.1} pairs a cluster, {words:.1} words a sentence"));
            }
            (Method::L12, edits) => tell(&format!(
                "{yielded:.1} pairs a cluster, {words:.1} words a sentence, {:.2} edits a pair ({})",
                per(self.distances, self.pairs),
                match edits {
                    EditCost::DeleteInsert => "deletions and insertions",
                    EditCost::Unit => "deletions, insertions and exchanges",
                }
            )),
        }
    }
}

/// A pair as JSON; see `schema/mined-pair.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    id: String,
    cluster: String,
    source: String,
    target: String,
    source_at: At,
    target_at: At,
    method: Method,
    #[serde(skip_serializing_if = "Option::is_none")]
    edits: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    likeness: Option<Fraction>,
}

/// Where a sentence stands.
#[derive(Debug, Serialize)]
struct At {
    article: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    date: String,
    sentence: usize,
}

impl Record {
    /// Columns of delimited output, the two texts first: readers of pairs take those.
    const COLUMNS: [&'static str; 10] = [
        "source",
        "target",
        "id",
        "cluster",
        "method",
        "edits",
        "shared",
        "source_at",
        "target_at",
        "likeness",
    ];

    fn fields(&self) -> [String; 10] {
        let number = |number: Option<usize>| number.map_or_else(String::new, |n| n.to_string());
        let place = |at: &At| format!("{}.{}", at.article, at.sentence);
        [
            self.source.clone(),
            self.target.clone(),
            self.id.clone(),
            self.cluster.clone(),
            self.method.to_string(),
            number(self.edits),
            number(self.shared),
            place(&self.source_at),
            place(&self.target_at),
            self.likeness.map_or_else(String::new, |likeness| format!("{likeness:.4}")),
        ]
    }

    fn new(number: u64, cluster: &Cluster, pair: Pair) -> Self {
        let [source_at, target_at] = pair.places.map(|place| {
            let article = &cluster.articles[place.article];
            let (name, date) = (article.name.clone(), article.date.clone());
            At { article: name, date, sentence: place.sentence }
        });
        let [source, target] = pair.texts;
        Self {
            id: format!("m{number}"),
            cluster: cluster.name.clone(),
            source,
            target,
            source_at,
            target_at,
            method: if pair.distance.is_some() { Method::L12 } else { Method::F2 },
            edits: pair.distance,
            shared: pair.shared,
            likeness: None,
        }
    }

    /// Writes the header of delimited output.
    fn begin(format: Format, output: &mut Output) -> anyhow::Result<()> {
        match format {
            Format::Csv => output.fields(format, Self::COLUMNS)?,
            Format::Tsv => writeln!(output.data(), "{}", Self::COLUMNS.join("\t"))?,
            Format::Table | Format::Json | Format::Jsonl => {}
        }
        Ok(())
    }

    /// Writes the pair. In TSV nothing is quoted: readers of pairs take a line as it is, and a
    /// sentence has neither tab nor line end.
    fn write(&self, format: Format, output: &mut Output) -> anyhow::Result<()> {
        match format {
            Format::Json | Format::Jsonl => output.record(self, format)?,
            Format::Tsv => writeln!(output.data(), "{}", self.fields().join("\t"))?,
            Format::Csv => output.fields(format, self.fields())?,
            Format::Table => {
                let cost = self.edits.or(self.shared).unwrap_or(0);
                output.line(&format!("{cost:>3}  {}\n     {}", self.source, self.target))?;
            }
        }
        Ok(())
    }
}
