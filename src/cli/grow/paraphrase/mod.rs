//! `fnstore paraphrase`: sentences in, paraphrases under constraints out, line by line.
//!
//! Lines are read while others are being rewritten, a few dozen at a time, and written in the order
//! in which they came. A line that cannot be rewritten gets a record with a coded error in its
//! place.

mod lines;
mod remote;
mod settings;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};

use crate::cli::options::named::named;
use anyhow::Context as _;
use fnstore::database::Database;
use fnstore::engine::{SourceId, Stop};
use fnstore::internals::WithStore as _;
use fnstore::model::{Declared, LogProbability, Positive};
use fnstore::paraphrase::{Heuristics, Network, Paraphrase, RequestOutcome, Rewrite, Session};
use fnstore::text::input::read_text;
use fnstore::text::{self, Idf};
use serde::Serialize;

use crate::cli::error::LinesFailed;
use crate::cli::input::line_reader::{self, LineError};
use crate::cli::options::endpoint::EndpointArgs;
use crate::cli::options::language::LanguageArgs;
use crate::cli::options::rewriter::RewriterArgs;
use crate::cli::print::output::{Format, Output, counted, tell};
use crate::cli::print::render::{Block, Records};
use crate::cli::{Context, Outcome};
use lines::{Item, Layout, Line, Lines};
use settings::SearchArgs;

/// Sentences that are rewritten side by side: enough to fill the network's batches.
const IN_FLIGHT: usize = 32;

/// Lines read ahead of the first that is not written: they wait in memory.
const READ_AHEAD: u64 = 4 * IN_FLIGHT as u64;

/// Rewrite sentences, with banned and required words
///
/// Reads one sentence a line; JSON lines and the tab-separated form of the ParaBank rewriter bring
/// each sentence's own constraints. Phrases are matched as whole words, case folded. A line that
/// cannot be rewritten gets a record with an error and its code. The other lines are rewritten, and
/// the exit code is 65.
///
/// With --endpoint a server rewrites. It is told what is banned and required, and its answers are
/// checked: one that breaks a constraint is asked for again, at most twice, then given with what it
/// breaks. A sentence gets one paraphrase, or --sample N. Options of the search have no effect.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// What a line holds [default: parabank for *.tsv, else as the first line shows: text or jsonl]
    #[arg(long, value_name = "LAYOUT", value_parser = named::<Layout>())]
    input: Option<Layout>,

    /// Ban PHRASE from every output; may be repeated
    #[arg(long, value_name = "PHRASE")]
    avoid: Vec<String>,

    /// Ban the phrases of FILE, one a line
    #[arg(long, value_name = "FILE")]
    avoid_list: Option<PathBuf>,

    /// Require PHRASE in every output; `|` separates alternatives; may be repeated
    #[arg(long, value_name = "PHRASE[|PHRASE]")]
    require: Vec<String>,

    /// Require the names of each sentence, found by their capital letters
    #[arg(long)]
    require_names: bool,

    /// Ban the N most telling words of each sentence, by inverse document frequency
    #[arg(long, value_name = "N", default_value_t = 0)]
    avoid_telling: usize,

    /// Sentences to count document frequencies in, one a line [default: those of the store]
    #[arg(long, value_name = "FILE", requires = "avoid_telling")]
    idf: Option<PathBuf>,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    rewriter: RewriterArgs,

    #[command(flatten)]
    language: LanguageArgs,

    #[command(flatten)]
    endpoint: EndpointArgs,
}

const EXAMPLES: &str = "\
Examples:
  echo 'They checked the bill.' | fnstore paraphrase --avoid checked --require 'bill|invoice'
  echo '{\"text\": \"They checked it.\", \"avoid\": [\"checked\"]}' | fnstore paraphrase
  fnstore paraphrase sentences.txt --sample 5 --top-k 10 --seed 7 > samples.jsonl
  fnstore paraphrase sentences.txt --endpoint http://127.0.0.1:8000/v1 --model smollm2";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut avoid = args.avoid.clone();
    if let Some(file) = &args.avoid_list {
        avoid.extend(settings::phrases_of(file)?);
    }
    let settings = args.search.settings(avoid);
    let heuristics = heuristics(&args, &context.store)?;
    let input = line_reader::open(args.file.as_deref())?;
    let is_table = args.file.as_ref().is_some_and(|file| file.extension() == Some("tsv".as_ref()));
    let layout = args.input.or(is_table.then_some(Layout::Parabank));
    if args.endpoint.is_given() {
        let model = args.rewriter.model.as_deref().unwrap_or(Path::new("")).to_string_lossy();
        let endpoint = args.endpoint.open(&model)?.context("no server is named")?;
        let lines = read_ahead(Lines::new(input, layout));
        return remote::run(endpoint, lines, &heuristics, &settings, &mut context.output);
    }
    let mut paraphraser = args.rewriter.open()?;
    args.language.check(paraphraser.declared(), context)?;
    if args.avoid_telling > 0 && args.idf.is_none() {
        check_language_of_store(paraphraser.declared(), context)?;
    }
    let mut run = Run {
        lines: read_ahead(Lines::new(input, layout)),
        is_read: false,
        next_to_write: 1,
        read: 0,
        in_flight: HashMap::new(),
        waiting: BTreeMap::new(),
        tally: Tally::default(),
        heuristics,
    };
    let session = paraphraser.session(settings).context("cannot begin")?;
    run.all(session, &mut context.output)?;
    let tally = run.tally;
    if paraphraser.leaks() > 0 {
        let outputs = counted(paraphraser.leaks(), "output");
        tell(&format!("{outputs} dropped, for a broken constraint"));
    }
    tally.outcome(&mut context.output)
}

/// Reads lines on a thread of its own, so that waiting for the next line holds up no rewriting.
fn read_ahead<R: BufRead + Send + 'static>(mut lines: Lines<R>) -> Receiver<io::Result<Line>> {
    let (send, receive) = mpsc::sync_channel(IN_FLIGHT);
    std::thread::spawn(move || {
        while let Some(line) = lines.next().transpose() {
            let failed = line.is_err();
            // Nobody listens any more once the run has ended on an error.
            if send.send(line).is_err() || failed {
                break;
            }
        }
    });
    receive
}

/// Constraints that are found in the sentence itself.
fn heuristics(args: &Args, store: &Path) -> anyhow::Result<Heuristics> {
    let idf = match (&args.idf, args.avoid_telling) {
        (_, 0) => Idf::default(),
        (Some(file), _) => {
            let text = read_text(file)
                .with_context(|| format!("cannot count words in `{}`", file.display()))?;
            Idf::new(text.lines())
        }
        (None, _) => idf_of_store(store)?,
    };
    let require = Heuristics::alternatives(&args.require);
    Ok(Heuristics { require, names: args.require_names, telling: args.avoid_telling, idf })
}

/// Document frequencies over the sentences of every release of a store.
fn idf_of_store(store: &Path) -> anyhow::Result<Idf> {
    let database = Database::open(store)
        .context("cannot count words in the store; name a file of sentences with `--idf FILE`")?;
    let mut idf = Idf::default();
    for release in database.releases()? {
        for sentence in database.store().sentences(release.id)? {
            idf.add(&sentence?.text);
        }
    }
    Ok(idf)
}

/// Checks that the rewriter is made for the language of the store, whose words are counted.
fn check_language_of_store(rewriter: &Declared, context: &Context) -> anyhow::Result<()> {
    let database = context.joined(Database::open(&context.store)?);
    let releases = database.releases()?.into_iter().map(|release| release.id);
    Ok(database.check_languages([rewriter], releases)?)
}

/// Lines on their way.
struct Run {
    lines: Receiver<io::Result<Line>>,
    /// The input is at its end.
    is_read: bool,
    next_to_write: u64,
    /// Lines read so far.
    read: u64,
    in_flight: HashMap<SourceId, (u64, Item)>,
    /// Finished lines that an earlier one holds up.
    waiting: BTreeMap<u64, Record>,
    tally: Tally,
    heuristics: Heuristics,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    lines: u64,
    rewritten: u64,
    failed: u64,
}

impl Tally {
    fn add(&mut self, record: &Record) {
        self.lines += 1;
        self.failed += u64::from(record.error.is_some());
        self.rewritten += u64::from(!record.paraphrases.is_empty());
    }

    /// How the command ends.
    fn outcome(self, output: &mut Output) -> anyhow::Result<Outcome> {
        if self.failed > 0 {
            output.flush()?;
            let Self { failed, lines, .. } = self;
            return Err(LinesFailed { done: "rewritten", failed, lines, told: false }.into());
        }
        Ok(Outcome::of(self.rewritten > 0))
    }
}

impl Run {
    fn all(
        &mut self,
        mut session: Session<'_, Network>,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        let mut records = output.records(Format::Jsonl);
        records.header(Record::COLUMNS)?;
        loop {
            self.take_lines(&mut session)?;
            self.write(&mut records)?;
            if self.in_flight.is_empty() {
                if self.is_read && self.waiting.is_empty() {
                    break;
                }
                continue;
            }
            if let Some(rewrite) = session.next_finished()? {
                let (number, item) =
                    self.in_flight.remove(&rewrite.source).expect("every open source has its line");
                session.close(rewrite.source);
                self.waiting.insert(number, Record::of_search(number, item, rewrite)?);
            }
        }
        records.end_blocks::<Record>()
    }

    /// Takes lines while there is room: those that are there, and one more if all else is done.
    fn take_lines(&mut self, session: &mut Session<'_, Network>) -> anyhow::Result<()> {
        while !self.is_read
            && self.in_flight.len() < IN_FLIGHT
            && self.read < self.next_to_write + READ_AHEAD
        {
            let line = match self.lines.try_recv() {
                Ok(line) => line,
                Err(mpsc::TryRecvError::Empty) if !self.is_idle() => return Ok(()),
                _ => match self.lines.recv() {
                    Ok(line) => line,
                    Err(mpsc::RecvError) => {
                        self.is_read = true;
                        return Ok(());
                    }
                },
            };
            self.take_line(line.context("cannot read the next line")?, session)?;
        }
        Ok(())
    }

    /// Whether nothing is being rewritten and nothing waits to be written.
    fn is_idle(&self) -> bool {
        self.in_flight.is_empty() && self.waiting.is_empty()
    }

    fn take_line(
        &mut self,
        Line { number, content }: Line,
        session: &mut Session<'_, Network>,
    ) -> anyhow::Result<()> {
        self.read = number;
        let failed = |id, error| Record::failed(number, id, error);
        let mut item = match content {
            Ok(item) => item,
            Err((id, error)) => {
                self.waiting.insert(number, failed(id, error));
                return Ok(());
            }
        };
        self.heuristics.apply(&mut item.request);
        let begun =
            session.open_under(&item.request.text, &item.request.constraints).and_then(|source| {
                let submitted = session.submit(source, &item.request.constraints);
                submitted.map(|_| source).inspect_err(|_| session.close(source))
            });
        match begun {
            Ok(source) => {
                self.in_flight.insert(source, (number, item));
            }
            Err(error) => {
                let error = lines::refusal(error)?;
                self.waiting.insert(number, failed(item.id, error));
            }
        }
        Ok(())
    }

    /// Writes the lines that are finished, up to the first that is not.
    fn write(&mut self, records: &mut Records<'_>) -> anyhow::Result<()> {
        let mut wrote = false;
        while let Some(record) = self.waiting.remove(&self.next_to_write) {
            self.next_to_write += 1;
            self.tally.add(&record);
            record.tell_lifted();
            records.block(&record)?;
            wrote = true;
        }
        if wrote {
            // Whoever reads along gets a line when it is done.
            records.flush()?;
        }
        Ok(())
    }
}

/// What became of a line, as JSON; see `schema/paraphrase.schema.json`.
#[derive(Debug, Serialize)]
struct Record {
    line: Positive,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    text: Option<String>,
    paraphrases: Vec<ParaphraseRecord>,
    /// Bans that were lifted, since what is required holds them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lifted: Vec<String>,
    /// Why there is no paraphrase though nothing is wrong: the length allowed holds none, or
    /// everything is banned, or no answer of a server holds a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'static str>,
    /// The server that rewrote the line; absent where a model of one's own did.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LineError>,
}

#[derive(Debug, Serialize)]
struct ParaphraseRecord {
    text: String,
    /// Paraphrase score: mean negative log-likelihood per token, natural log, the end counted;
    /// lower is better; null of a server's.
    score: Option<f32>,
    log_prob: Option<LogProbability<f32>>,
    ended: bool,
    met: Vec<Vec<String>>,
    unmet: Vec<Vec<String>>,
    /// True of an output that repeats the sentence word for word, in any letter case; absent
    /// otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    copy: bool,
    /// Banned phrases that it holds all the same; of a server's alone, absent for none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    banned: Vec<String>,
}

impl ParaphraseRecord {
    fn new(paraphrase: Paraphrase, source: &str, require: &[Vec<String>]) -> Self {
        let Paraphrase { text, score, log_prob, ended, unmet, banned } = paraphrase;
        let is_scored = score.is_finite();
        let places = 0..require.len();
        let (unmet, met): (Vec<usize>, Vec<usize>) = places.partition(|at| unmet.contains(at));
        let phrases = |places: Vec<usize>| places.into_iter().map(|at| require[at].clone());
        Self {
            copy: text::is_copy(&text, source),
            text,
            score: is_scored.then_some(score),
            log_prob: is_scored.then_some(log_prob),
            ended,
            met: phrases(met).collect(),
            unmet: phrases(unmet).collect(),
            banned,
        }
    }
}

impl Record {
    fn of_search(line: u64, item: Item, rewrite: Rewrite) -> anyhow::Result<Self> {
        let (found, stop) = match rewrite.outcome {
            RequestOutcome::Refused(refusal) => {
                return Ok(Self::failed(line, item.id, lines::refusal(refusal.into())?));
            }
            RequestOutcome::Paraphrases(found) => (found, None),
            RequestOutcome::NothingLeft(Stop::LengthLimit) => (Vec::new(), Some("length-limit")),
            RequestOutcome::NothingLeft(_) => (Vec::new(), Some("blocked")),
        };
        Ok(Self::new(line, item, found, rewrite.lifted, stop))
    }

    fn new(
        line: u64,
        item: Item,
        found: Vec<Paraphrase>,
        lifted: Vec<String>,
        stop: Option<&'static str>,
    ) -> Self {
        let (source, require) = (item.request.text, item.request.constraints.require);
        let record = |one| ParaphraseRecord::new(one, &source, &require);
        let paraphrases = found.into_iter().map(record).collect();
        let text = Some(source);
        Self { line, id: item.id, text, paraphrases, lifted, stop, server: None, error: None }
    }

    fn failed(line: u64, id: Option<serde_json::Value>, error: LineError) -> Self {
        let (paraphrases, lifted) = (Vec::new(), Vec::new());
        let (text, stop, server) = (None, None, None);
        Self { line, id, text, paraphrases, lifted, stop, server, error: Some(error) }
    }

    /// A phrase both required and banned is required.
    fn tell_lifted(&self) {
        for phrase in &self.lifted {
            tell(&format!(
                "line {}: `{phrase}` is both banned and required; the ban is lifted",
                self.line
            ));
        }
    }
}

impl Block for Record {
    const COLUMNS: &'static [&'static str] = &["line", "rank", "score", "text", "unmet", "error"];

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        if let Some(LineError { code, message }) = &self.error {
            output.line(&format!("line {}: {code}: {message}", self.line))?;
        }
        if let Some(text) = &self.text {
            output.heading(text.trim())?;
        }
        if self.stop.is_some() {
            output.line("  nothing is left to say")?;
        }
        for paraphrase in &self.paraphrases {
            let unmet = phrase_list(&paraphrase.unmet);
            let mut note =
                if unmet.is_empty() { String::new() } else { format!("  [lacks {unmet}]") };
            if paraphrase.copy {
                note += "  [copy]";
            }
            if !paraphrase.banned.is_empty() {
                note += &format!("  [holds {}]", paraphrase.banned.join(", "));
            }
            let score = paraphrase.score.map_or(String::new(), |score| format!("{score:.3}"));
            output.line(&format!("  {score:>6}  {}{note}", paraphrase.text))?;
        }
        Ok(())
    }

    /// A row for each paraphrase.
    fn rows(&self) -> Vec<Vec<String>> {
        let line = self.line.to_string();
        if self.paraphrases.is_empty() {
            let code = self.error.as_ref().map(|error| error.code).or(self.stop).unwrap_or("");
            return vec![[&line, "", "", "", "", code].map(str::to_owned).to_vec()];
        }
        let rows = (1..).zip(&self.paraphrases).map(|(rank, paraphrase)| {
            let score = paraphrase.score.map_or(String::new(), |score| format!("{score:.6}"));
            let (text, unmet) = (paraphrase.text.clone(), phrase_list(&paraphrase.unmet));
            vec![line.clone(), i32::to_string(&rank), score, text, unmet, String::new()]
        });
        rows.collect()
    }
}

/// Phrases in one line: commas between them, `|` between alternatives.
fn phrase_list(phrases: &[Vec<String>]) -> String {
    phrases.iter().map(|goal| goal.join("|")).collect::<Vec<_>>().join(", ")
}
