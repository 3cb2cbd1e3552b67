//! `fnstore generate`: sentences for LUs that have none, from those of their sisters.

mod dry_run;

use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::cli::options::named::{named, one_of};
use anyhow::bail;
use fnstore::database::Database;
use fnstore::endpoint::Usage;
use fnstore::generate::{
    self, Fate, GenerationRecipe, GenerationReport, Generator, Lacking, Mode, SisterRule, UNLIKELY,
};
use fnstore::model::{Method, RecipeId};
use fnstore::query::Expression;
use serde::Serialize;

use crate::cli::options::generator::GeneratorArgs;
use crate::cli::options::language;
use crate::cli::options::query;
use crate::cli::print::notices::{
    tell_earlier_rules, tell_index_lag, tell_of_index, tell_of_releases,
};
use crate::cli::print::output::{Output, counted, grouped, tell};
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// Give annotated sentences to LUs that have none
///
/// Takes a sentence of a sister LU, of the same frame and part of speech, and puts the LU in its
/// place, with all annotation. `infill` also has the words of fitting frame elements written anew.
/// LUs that are done under the same settings are skipped, so a stopped run resumes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The LUs, by `lu`, `frame`, `pos`, `release` and `lu_status` [default: all LUs without
    /// sentences]
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// What the LUs lack: any annotation, exemplars (they may have annotation in full text), or
    /// nothing (all LUs get sentences)
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = named::<Lacking>(),
        default_value_t = Lacking::default()
    )]
    lacking: Lacking,

    /// `sister-lu`: the sentence stays. `infill`: frame elements get other words [default: infill
    /// with --endpoint, else sister-lu]
    #[arg(long, value_name = "METHOD", value_parser = one_of(&[Method::SisterLu, Method::Infill]))]
    method: Option<Method>,

    /// What the generator is told: nothing, the frame elements, or frame and frame elements
    #[arg(long, value_name = "WHAT", value_parser = named::<Mode>(), default_value_t = Mode::default())]
    mode: Mode,

    /// Which sister's sentence. `agreeing`: the one whose core frame elements are the frame's most
    /// usual ones. `random`: any, as in the paper. `own`: one of the LU itself, under `infill`
    #[arg(long, value_name = "RULE", value_parser = named::<SisterRule>(), default_value_t = SisterRule::default())]
    sisters: SisterRule,

    /// Sisters' sentences that are filled for each LU; the best candidate of all is kept [default:
    /// 1 with --endpoint, else 8]
    #[arg(long, value_name = "N")]
    sources: Option<usize>,

    /// Candidates for each sentence, and under `sister-lu` for each LU, ranked by the language
    /// model [default: 2 with a language model or a T5, 4 under `sister-lu` if one ranks, else 1]
    #[arg(long, value_name = "N")]
    candidates: Option<usize>,

    /// Store the best N candidates of each LU
    #[arg(long, value_name = "N", default_value_t = 1)]
    keep: usize,

    /// Store only what a judge accepts with this probability at least, as far as a language model,
    /// the classifier and the frame model tell it: 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    least: f32,

    /// Ask this verifier whether the targets of the sentences that are stored evoke their frames: a
    /// directory or a name among the models. Its answers are stored as `fnstore verify` stores them
    /// and change no sentence; `none` asks nothing [default: verifier, if it and its language model
    /// are there, it is made for the releases' language, and --model is not `none`]
    #[arg(long, value_name = "DIR|NAME|none")]
    verifier: Option<PathBuf>,

    /// Seed of every draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Work on at most N LUs that are not done
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Say how many LUs are left and how long they take, and write nothing. Measures on less than a
    /// tenth of them, for about a minute at most
    #[arg(long, conflicts_with = "endpoint")]
    dry_run: bool,

    #[command(flatten)]
    generator: GeneratorArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore generate frame=Verification
  fnstore generate 'pos=v' --method infill --limit 20
  fnstore generate lu=attest.v --endpoint http://127.0.0.1:8000/v1 --model smollm2 --mode frame-fe
  fnstore query 'method=infill' --limit 5";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = match text.trim() {
        "" => Expression::Everything,
        text => query::expression(text)?,
    };
    let (recipe, generator) = open(&args)?;
    let stopped = stop::on_interrupt("stopping after the step that runs")?;
    if args.dry_run {
        let database = context.joined(Database::open(&context.store)?);
        let mut generator = verifying(&args, generator, (&database, &expression))?;
        let asked = (&expression, &recipe, args.limit);
        return dry_run::run(&database, asked, &mut generator, &stopped, context);
    }
    let database = context.joined(Database::open_existing_writer(&context.store)?);
    tell_of_index(&database);
    tell_earlier_rules(&database)?;
    let mut generator = verifying(&args, generator, (&database, &expression))?;
    language::tell_undeclared_for(&generator.declared(), &database)?;
    let bar = progress::bar("generating", "LUs");
    let asked = (&recipe, args.limit);
    let report = generate::run_with(&database, &expression, asked, &mut generator, &mut |at| {
        bar.set_length(at.of);
        bar.set_message(format!("generating: {}", counted(at.sentences, "sentence")));
        bar.set_position(at.lexunits);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    tell_index_lag(&database);
    let report = report?;
    let mode = (recipe.method == Method::Infill).then_some(recipe.mode);
    let GenerationRecipe { method, sisters, .. } = recipe;
    let record = ReportRecord { recipe: report.recipe, method, mode, sisters, report: &report };
    context.output.report(&record, ONE_ROW, |output| summary(&report, &recipe, &text, output))?;
    context.output.flush()?;
    if report.interrupted {
        tell("interrupted; what was finished is in the store, and the same command resumes there");
        return Ok(Outcome::Interrupted);
    }
    if report.out_of_budget {
        tell("the budget is used up; the same command goes on from there");
    }
    let has_some = report.sentences > 0 || report.done_before > 0;
    Ok(Outcome::of(has_some))
}

/// The recipe that is asked for, with its models.
fn open(args: &Args) -> anyhow::Result<(GenerationRecipe, Generator)> {
    let asks = args.generator.asks();
    let method = match args.method {
        Some(method) => method,
        None if asks => Method::Infill,
        None => Method::SisterLu,
    };
    if asks && method != Method::Infill {
        bail!("--endpoint writes words, which `sister-lu` does not ask for; use --method infill");
    }
    let (sources, candidates) = match method {
        Method::Infill if !asks => (8, 2),
        Method::SisterLu if args.generator.ranks() => (1, 4),
        _ => (1, 1),
    };
    let sources = args.sources.unwrap_or(sources);
    let recipe = GenerationRecipe {
        method,
        sisters: args.sisters,
        mode: args.mode,
        sources,
        candidates: args.candidates.unwrap_or(candidates).max(args.keep.div_ceil(sources.max(1))),
        keep: args.keep,
        least: args.least,
        seed: args.seed,
        lacking: args.lacking,
    };
    let generator = match method {
        Method::Infill => args.generator.open_filling()?,
        _ => args.generator.open_ranking()?,
    };
    Ok((recipe, args.generator.judging(generator)?))
}

/// The same models, with the verifier that is asked about sentences for the LUs of an expression.
fn verifying(
    args: &Args,
    generator: Generator,
    of @ (database, expression): (&Database, &Expression),
) -> anyhow::Result<Generator> {
    tell_of_releases(database, "generation", expression)?;
    args.generator.verifying(generator, args.verifier.as_deref(), of)
}

fn summary(
    report: &GenerationReport,
    recipe: &GenerationRecipe,
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
        ("LUs with a sentence", report.given, "of those worked on now".to_owned()),
        ("sentences written", report.sentences, format!("in {seconds:.1} s, {rate:.1} per second")),
    ];
    if report.unlikely > 0 {
        let note = format!("by the frame model: `frame_fit<{UNLIKELY}` finds them");
        rows.push(("unlikely frames", report.unlikely, note));
    }
    if let Some(verified) = report.verified {
        let note = "by the verifier: `evokes<0.2` finds those that it doubts".to_owned();
        rows.push(("asked about", verified, note));
    }
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
        rows.push(("requests", requests, counted(tokens, "token")));
        rows.push(("known answers", known, String::new()));
    }
    if report.left > 0 {
        rows.push(("left for later", report.left, "LUs; the same command takes them".to_owned()));
    }
    for (name, count, note) in rows {
        output.count(name, count, &note)?;
    }
    for (code, count) in &report.rejects {
        output.count(code, *count, "answers that do not fit")?;
    }
    write_fates(report, output)
}

/// How LUs fared by part of speech, and why sentences and FEs were passed over.
fn write_fates(report: &GenerationReport, output: &mut Output) -> anyhow::Result<()> {
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
    recipe: Option<RecipeId>,
    /// JSON `{"enum": ["sister-lu", "infill"]}`.
    method: Method,
    mode: Option<Mode>,
    sisters: SisterRule,
    #[serde(flatten)]
    report: &'a GenerationReport,
}
