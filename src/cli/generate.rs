//! `fnstore generate`: sentences for LUs that have none, from those of their sisters.

mod trained;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use fnstore::compute::Numbers;
use fnstore::database::{Database, DatabaseError};
use fnstore::durable::Stamp;
use fnstore::endpoint::{Endpoint, EndpointSettings, Key, Usage};
use fnstore::generate::{
    self, Answer, Fate, Generator, Lacking, LanguageFiller, Mode, Prompt, ReadAs, Reading, Recipe,
    RemoteFiller, Report, SisterRule,
};
use fnstore::label::{Asked, Labeller};
use fnstore::model::{Method, Span};
use fnstore::query::Expression;
use fnstore::score::Scorer;
use serde::Serialize;

use self::trained::Trained;
use super::device::DeviceArgs;
use super::labeller::LABELLER;
use super::output::{Output, grouped, tell, tell_index_lag};
use super::render::NO_ROWS;
use super::rewriter::numbers;
use super::{Context, Outcome, locate, progress, stop, tell_of_index};

/// The language model that fills blanks and ranks, unless another is named.
const LANGUAGE_MODEL: &str = "SmolLM2-135M-Instruct";

/// Give annotated sentences to LUs that have none
///
/// Takes a sentence of a sister LU, of the same frame and part of speech, and puts the LU in its
/// place, with all annotation. `infill` also has the words of fitting frame elements written anew.
/// LUs that are done under the same settings are skipped, so a stopped run resumes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The LUs, by `lu`, `frame`, `pos`, `release` and `lu_status` [default: all LUs without
    /// sentences]
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// What the LUs lack: any annotation, or exemplars (they may have annotation in full text)
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = ["annotation", "exemplars"],
        default_value = "annotation"
    )]
    lacking: String,

    /// `sister-lu`: the sentence stays. `infill`: frame elements get other words [default: infill
    /// with --endpoint, else sister-lu]
    #[arg(long, value_name = "METHOD", value_parser = ["sister-lu", "infill"])]
    method: Option<String>,

    /// What the generator is told: nothing, the frame elements, or frame and frame elements
    #[arg(long, value_name = "WHAT", value_parser = ["none", "fe", "frame-fe"], default_value = "fe")]
    mode: String,

    /// Which sister's sentence. `agreeing`: the one whose core frame elements are the frame's most
    /// usual ones. `random`: any, as in the paper
    #[arg(long, value_name = "RULE", value_parser = ["agreeing", "random"], default_value = "agreeing")]
    sisters: String,

    /// Candidates for each LU, ranked by the language model [default: 8 with an adapter for
    /// infilling, 4 with another language model, else 1]
    #[arg(long, value_name = "N")]
    candidates: Option<usize>,

    /// Store the best N candidates of each LU
    #[arg(long, value_name = "N", default_value_t = 1)]
    keep: usize,

    /// Seed of every draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Work on at most N LUs that are not done
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Language model that fills and ranks: a GGUF file, an adapter or a name among the models; with
    /// --endpoint the server's name of its model; `none` for no ranking [default: the adapter
    /// `infill` where its language model is at hand, else SmolLM2-135M-Instruct]
    #[arg(long, value_name = "FILE|DIR|NAME|none")]
    model: Option<String>,

    /// Language model that ranks what an endpoint writes; `none` for no ranking [default:
    /// SmolLM2-135M-Instruct, if it is there]
    #[arg(long, value_name = "FILE|DIR|NAME|none", requires = "endpoint")]
    ranker: Option<PathBuf>,

    /// Labeller that reads the new words: candidates with words that it reads as another frame
    /// element are dropped; `none` for no check [default: fes, if it is there]
    #[arg(long, value_name = "DIR|NAME|none")]
    classifier: Option<PathBuf>,

    /// How the generator is asked: `json` or `paper` for an endpoint, or a TOML file [default:
    /// json for an endpoint]
    #[arg(long, value_name = "json|paper|FILE")]
    prompt: Option<PathBuf>,

    #[command(flatten)]
    endpoint: EndpointArgs,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,

    /// Number format of the language model on the CPU
    #[arg(long, value_parser = numbers(), default_value_t = Numbers::F32)]
    numbers: Numbers,
}

/// A server that writes.
#[derive(Debug, clap::Args)]
pub(super) struct EndpointArgs {
    /// Have a server write that speaks OpenAI's protocol, as `http://127.0.0.1:8000/v1`; needs
    /// --model
    #[arg(long, value_name = "URL", requires = "model")]
    endpoint: Option<String>,

    /// Environment variable that holds the server's key; the key is stored nowhere [default:
    /// FNSTORE_ENDPOINT_KEY, if it is set]
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    key_from: Option<String>,

    /// Send at most N requests
    #[arg(long, value_name = "N", requires = "endpoint")]
    max_requests: Option<u64>,

    /// Send no request after N tokens, as the server counts them
    #[arg(long, value_name = "N", requires = "endpoint")]
    max_tokens: Option<u64>,

    /// Wait so long for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "endpoint")]
    timeout: u64,

    /// Send a question at most N times
    #[arg(long, value_name = "N", default_value_t = 5, requires = "endpoint")]
    tries: u32,

    /// Directory that keeps answers, so that none is paid for twice; `none` to keep none [default:
    /// `answers` in the cache]
    #[arg(long, value_name = "DIR|none", requires = "endpoint")]
    answers: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore generate frame=Verification
  fnstore generate 'pos=v' --method infill --limit 20 --numbers blocks
  fnstore generate lu=attest.v --endpoint http://127.0.0.1:8000/v1 --model smollm2 --mode frame-fe
  fnstore query 'method=infill' --limit 5";

impl EndpointArgs {
    /// The server, if one is asked for.
    fn open(&self, model: &str) -> anyhow::Result<Option<Endpoint>> {
        let Some(url) = &self.endpoint else { return Ok(None) };
        let answers = match &self.answers {
            Some(none) if none.as_os_str() == "none" => None,
            Some(directory) => Some(directory.clone()),
            None => locate::cache().map(|cache| cache.join("answers")),
        };
        if self.tries == 0 || self.timeout == 0 {
            bail!("--tries and --timeout are 1 or more (N-range)");
        }
        Ok(Some(Endpoint::new(EndpointSettings {
            key: self.key()?,
            max_requests: self.max_requests,
            max_tokens: self.max_tokens,
            timeout: Duration::from_secs(self.timeout),
            tries: self.tries,
            answers,
            ..EndpointSettings::new(url, model)
        })?))
    }

    fn key(&self) -> anyhow::Result<Option<Key>> {
        let name = self.key_from.as_deref().unwrap_or("FNSTORE_ENDPOINT_KEY");
        let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty());
        if key.is_none() && self.key_from.is_some() {
            bail!("the environment has no key `{name}`; set it, or leave out --key-from (H-key)");
        }
        Ok(key.map(|key| Key::new(&key)))
    }
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = match text.trim() {
        "" => Expression::Everything,
        text => Expression::parse(text).map_err(DatabaseError::from)?,
    };
    let (recipe, mut generator) = open(&args)?;
    let stopped = stop::on_interrupt("finishing the batch in flight")?;
    let database = Database::open_existing_writer(&context.store)?;
    tell_of_index(&database);
    let bar = progress::bar("generating", "LUs");
    let report = generate::run_with(&database, &expression, &recipe, &mut generator, &mut |at| {
        bar.set_length(at.of);
        bar.set_position(at.lexunits);
        bar.set_message(format!("{} sentences", grouped(at.sentences)));
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    tell_index_lag(&database);
    let report = report?;
    let record = ReportRecord::new(&report, &recipe);
    context.output.report(&record, NO_ROWS, |output| summary(&report, &recipe, &text, output))?;
    context.output.flush()?;
    if report.interrupted {
        tell(
            "interrupted; whole batches are in the store, and the same command goes on from there",
        );
        return Ok(Outcome::Interrupted);
    }
    if report.out_of_budget {
        tell("the budget is used up; the same command goes on from there");
    }
    let has_some = report.sentences > 0 || report.done_before > 0;
    Ok(if has_some { Outcome::Done } else { Outcome::NothingFound })
}

/// The recipe that is asked for, with its models.
fn open(args: &Args) -> anyhow::Result<(Recipe, Generator)> {
    let asks = args.endpoint.endpoint.is_some();
    let method = match args.method.as_deref().and_then(Method::parse) {
        Some(method) => method,
        None if asks => Method::Infill,
        None => Method::SisterLu,
    };
    if asks && method != Method::Infill {
        bail!("--endpoint writes words, which `sister-lu` does not ask for; use --method infill");
    }
    let fills_here = method == Method::Infill && !asks;
    let trained = if fills_here { Trained::find(args)? } else { None };
    let candidates = match (&trained, fills_here) {
        (Some(_), _) => 8,
        (None, true) => 4,
        (None, false) => 1,
    };
    let recipe = Recipe {
        method,
        sisters: SisterRule::parse(&args.sisters).unwrap_or_default(),
        mode: Mode::parse(&args.mode).unwrap_or_default(),
        candidates: args.candidates.unwrap_or(candidates).max(args.keep),
        keep: args.keep,
        seed: args.seed,
        lacking: Lacking::parse(&args.lacking).unwrap_or_default(),
        limit: args.limit,
    };
    let prompt = prompt(args, trained.as_ref())?;
    let generator = Generator::copying();
    let generator = match args.endpoint.open(args.model.as_deref().unwrap_or_default())? {
        Some(endpoint) => generator.asking(RemoteFiller::new(endpoint, prompt)),
        None if let Some(trained) = &trained => {
            generator.filling_as_trained(trained.open(args, prompt)?)
        }
        None if fills_here => generator.filling(LanguageFiller::new(prompt)),
        None => generator,
    };
    let ranker = match &trained {
        Some(trained) => Some(trained.base.clone()),
        None if asks => args.ranker.clone(),
        None => args.model.clone().map(PathBuf::from),
    };
    let own = trained.as_ref().map_or(Ok(Vec::new()), Trained::files)?;
    let generator = match with_model(args, fills_here, ranker, own)? {
        Some((scorer, files)) => generator.ranking(scorer, files),
        None => generator,
    };
    let reader = if method == Method::Infill { classifier(args)? } else { None };
    let generator = match reader {
        Some(labeller) => {
            let name = labeller.fingerprint().to_string();
            generator.reading(&name, Box::new(move |readings| read(&labeller, readings)))
        }
        None => generator,
    };
    Ok((recipe, generator))
}

/// How the generator is asked.
fn prompt(args: &Args, trained: Option<&Trained>) -> anyhow::Result<Prompt> {
    let asks = args.endpoint.endpoint.is_some();
    let prompt = match (args.prompt.as_deref().map(Path::to_str), trained) {
        (None, Some(trained)) => Prompt::read(&trained.prompt())?,
        (None, None) if !asks => Prompt::built_in(Answer::Sentence),
        (None | Some(Some("json")), _) => Prompt::built_in(Answer::Json),
        (Some(Some("paper")), _) => Prompt::built_in(Answer::Commas),
        _ => Prompt::read(args.prompt.as_deref().unwrap_or(Path::new("")))?,
    };
    let (answer, gives) = match (asks, trained) {
        (true, _) => ("an endpoint", !prompt.answer().is_of_language_model()),
        (false, Some(_)) => ("an adapter for infilling", prompt.answer() == Answer::Bars),
        (false, None) => ("a language model", prompt.answer() == Answer::Sentence),
    };
    if !gives {
        bail!(
            "the prompt's `answer` is `{}`, which {answer} cannot give (P-field)",
            prompt.answer().as_str(),
        );
    }
    Ok(prompt)
}

/// The labeller that reads new words; none if none is wanted, or the usual one is not there.
fn classifier(args: &Args) -> anyhow::Result<Option<Labeller>> {
    let named = args.classifier.as_deref();
    if named == Some(Path::new("none")) {
        return Ok(None);
    }
    let dirs = locate::model_dirs(args.models.clone());
    let place = match locate::model(named.unwrap_or(Path::new(LABELLER)), &dirs) {
        Ok(place) => place,
        Err(error) if named.is_some() => return Err(error),
        Err(_) => return Ok(None),
    };
    let encoder = locate::encoder(None, &place, &dirs)?;
    Ok(Some(Labeller::open(&place, &encoder, &args.device.open()?)?))
}

/// What a labeller reads some words as. Of a sentence that it cannot read these are nothing.
fn read(labeller: &Labeller, readings: &[Reading<'_>]) -> ReadAs {
    let targets: Vec<[Span; 1]> = readings.iter().map(|reading| [reading.target]).collect();
    let asked = readings.iter().zip(&targets).map(|(reading, target)| Asked {
        text: reading.text,
        target,
        lu: reading.lexunit,
        frame: reading.frame,
    });
    let spans: Vec<Vec<Span>> = readings.iter().map(|reading| vec![reading.span]).collect();
    let verdicts = labeller.judge_each(&asked.collect::<Vec<_>>(), &spans)?;
    let read = readings.iter().zip(verdicts).map(|(reading, verdicts)| {
        let verdict = verdicts.ok()?.pop()?;
        let fe =
            reading.frame.elements.iter().find(|fe| Some(&fe.name) == verdict.element.as_ref());
        Some((fe?.id, verdict.score))
    });
    Ok(read.collect())
}

/// A language model, and the files that it was read from.
type Ranker = (Scorer, Vec<(PathBuf, Stamp)>);

/// The language model that ranks, and fills where it is to: the one that is named, else the
/// default one; where only ranks are lost, none will do.
/// `others` are files that outputs depend on, too.
fn with_model(
    args: &Args,
    fills: bool,
    named: Option<PathBuf>,
    others: Vec<PathBuf>,
) -> anyhow::Result<Option<Ranker>> {
    let is_none = named.as_deref() == Some(Path::new("none"));
    if is_none && !fills {
        return Ok(None);
    }
    let dirs = locate::model_dirs(args.models.clone());
    let is_named = named.is_some();
    let name = named.unwrap_or_else(|| LANGUAGE_MODEL.into());
    let place = match locate::language_model(&name, &dirs) {
        Ok(place) => place,
        Err(error) if is_named || fills => {
            return Err(error).context(
                "infilling wants a language model; `make rewriter` fetches SmolLM2-135M-Instruct (N-model)",
            );
        }
        Err(_) => {
            tell("there is no language model: sentences are neither scored nor ranked");
            return Ok(None);
        }
    };
    let files = if place.is_dir() {
        let entries = std::fs::read_dir(&place)?.flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_file()).collect()
    } else {
        vec![place.clone()]
    };
    let stamps = files.into_iter().chain(others).map(|path| Ok((path.clone(), Stamp::of(&path)?)));
    let stamps = stamps.collect::<std::io::Result<Vec<_>>>()?;
    let scorer = Scorer::open(&place, &args.device.open()?, args.numbers)?;
    Ok(Some((scorer, stamps)))
}

fn summary(
    report: &Report,
    recipe: &Recipe,
    expression: &str,
    output: &mut Output,
) -> anyhow::Result<()> {
    let of = if expression.is_empty() { String::new() } else { format!(" for {expression}") };
    output.heading(&format!("LUs without sentences{of}: {}", grouped(report.lexunits)))?;
    let seconds = report.elapsed.as_secs_f64();
    let rate = report.sentences as f64 / seconds.max(1e-3);
    let fills = recipe.method == Method::Infill;
    let mut rows = vec![
        ("done before", report.done_before, String::new()),
        ("LUs with a sentence", report.given(), "of those worked on now".to_owned()),
        ("sentences written", report.sentences, format!("in {seconds:.1} s, {rate:.1} per second")),
    ];
    if fills {
        rows.push(("candidates", report.candidates, String::new()));
        let note = "new words were all read as their frame elements".to_owned();
        match report.faithful {
            Some(faithful) => rows.push(("faithful candidates", faithful, note)),
            None => output.line("  no classifier of frame elements: new words are not checked")?,
        }
        rows.push(("blanks", report.blanks, "frame elements to be written anew".to_owned()));
    }
    let Usage { requests, tokens, known } = report.asked;
    if requests + known > 0 {
        rows.push(("requests", requests, format!("{} tokens", grouped(tokens))));
        rows.push(("known answers", known, String::new()));
    }
    if report.left > 0 {
        rows.push(("left for later", report.left, "LUs; the same command takes them".to_owned()));
    }
    for (name, count, note) in rows {
        output.line(format!("  {name:<20} {:>9}  {note}", grouped(count)).trim_end())?;
    }
    for (code, count) in &report.rejects {
        output.line(&format!("  {:<20} {:>9}  answers that do not fit", code, grouped(*count)))?;
    }
    let counted = |reasons: Vec<(&str, u64)>| {
        let parts = reasons.iter().map(|(name, count)| format!("{} {name}", grouped(*count)));
        parts.collect::<Vec<_>>().join(", ")
    };
    if !report.fates.is_empty() {
        output.line("  by part of speech:")?;
    }
    for (pos, Fate { given, skipped }) in &report.fates {
        let skipped = skipped.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
        let line = format!("{:>9} with a sentence  {}", grouped(*given), counted(skipped));
        output.line(format!("    {:<5} {line}", pos.as_str()).trim_end())?;
    }
    let passed = report.passed_over.iter().map(|(reason, count)| (reason.as_str(), *count));
    let kept = report.kept_elements.iter().map(|(reason, count)| (reason.as_str(), *count));
    let parts = [
        ("sisters' sentences passed over", passed.collect::<Vec<_>>()),
        ("frame elements that keep their words", kept.collect()),
    ];
    for (title, reasons) in parts.into_iter().filter(|(_, reasons)| !reasons.is_empty()) {
        output.line(&format!("  {title}: {}", counted(reasons)))?;
    }
    Ok(())
}

/// A generation as JSON; see `schema/generate.schema.json`.
#[derive(Debug, Serialize)]
struct ReportRecord<'a> {
    recipe: Option<u32>,
    method: Method,
    mode: Option<Mode>,
    sisters: SisterRule,
    lexunits: u64,
    done_before: u64,
    left: u64,
    given: u64,
    sentences: u64,
    candidates: u64,
    faithful: Option<u64>,
    blanks: u64,
    by_pos: BTreeMap<&'static str, FateRecord>,
    passed_over: BTreeMap<&'static str, u64>,
    kept_elements: BTreeMap<&'static str, u64>,
    rejects: &'a BTreeMap<&'static str, u64>,
    endpoint: Usage,
    seconds: f64,
    interrupted: bool,
    out_of_budget: bool,
}

/// What became of the LUs of a part of speech.
#[derive(Debug, Serialize)]
struct FateRecord {
    given: u64,
    skipped: BTreeMap<&'static str, u64>,
}

impl<'a> ReportRecord<'a> {
    fn new(report: &'a Report, recipe: &Recipe) -> Self {
        let fate = |fate: &Fate| FateRecord {
            given: fate.given,
            skipped: fate.skipped.iter().map(|(reason, count)| (reason.as_str(), *count)).collect(),
        };
        let passed = report.passed_over.iter();
        let kept = report.kept_elements.iter();
        Self {
            recipe: report.recipe.map(|id| id.0),
            method: recipe.method,
            mode: (recipe.method == Method::Infill).then_some(recipe.mode),
            sisters: recipe.sisters,
            lexunits: report.lexunits,
            done_before: report.done_before,
            left: report.left,
            given: report.given(),
            sentences: report.sentences,
            candidates: report.candidates,
            faithful: report.faithful,
            blanks: report.blanks,
            by_pos: report.fates.iter().map(|(pos, of)| (pos.as_str(), fate(of))).collect(),
            passed_over: passed.map(|(reason, count)| (reason.as_str(), *count)).collect(),
            kept_elements: kept.map(|(reason, count)| (reason.as_str(), *count)).collect(),
            rejects: &report.rejects,
            endpoint: report.asked,
            seconds: report.elapsed.as_secs_f64(),
            interrupted: report.interrupted,
            out_of_budget: report.out_of_budget,
        }
    }
}
