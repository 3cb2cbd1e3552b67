//! `fnstore expand`: new annotated sentences from human ones, with progress and a summary.

mod shard;
mod status;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::cli::options::named::named;
use anyhow::ensure;
use fnstore::database::{Database, DatabaseError};
use fnstore::endpoint::{EndpointSettings, Usage};
use fnstore::expand::{
    self, BlindTo, CarriedTally, EndReason, FilterTally, FromSisters, Guidance, GuideModels,
    KeepElements, Models, Recipe, RecipeSettings, Report, RewriterSource, RunOptions, Words,
};
use fnstore::nn::declared_languages;
use fnstore::query::Expression;
use serde::Serialize;

use super::filter::write_kept;
use crate::cli::options::endpoint::EndpointArgs;
use crate::cli::options::rewriter::RewriterArgs;
use crate::cli::options::splits::SplitArgs;
use crate::cli::options::{language, locate};
use crate::cli::print::notices::{tell_earlier_rules, tell_index_lag, tell_of_index};
use crate::cli::print::output::{Output, grouped, tell};
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// Write new annotated sentences from human ones
///
/// Rewrites each human annotation set that the expression finds, round by round. Earlier triggers
/// are banned, and the target is aligned to the new sentence. Work done under the same models and
/// settings is skipped, so a stopped run resumes.
///
/// With --endpoint a server rewrites. It is told what is banned and required, and its answers are
/// checked: one that breaks a constraint is asked for again, at most twice, then kept with the flag
/// `unmet`. Its sets have no paraphrase score and no scores of the filter.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Expand the annotation sets that this query finds; human sets only
    #[arg(value_name = "EXPR", required_unless_present = "everything")]
    expression: Vec<String>,

    /// Expand the whole lexicon, which an empty EXPR would
    #[arg(long, conflicts_with = "expression")]
    everything: bool,

    /// Take the settings of a recipe: a name that `fnstore recipes show` lists, or a TOML file.
    /// Other options come before it
    #[arg(long, value_name = "NAME|FILE")]
    recipe: Option<String>,

    /// Run N rounds per annotation set; a later run with more rounds continues [default: 3]
    #[arg(long, value_name = "N")]
    rounds: Option<u16>,

    /// Beam size [default: 8]
    #[arg(long, value_name = "N", conflicts_with = "endpoint")]
    beam: Option<usize>,

    /// Align the target in the N best rewritings; ask a server for N [default: 8, at most the beam;
    /// 1 with --endpoint]
    #[arg(long, value_name = "N")]
    candidates: Option<usize>,

    /// Skip sentences of more than N subword tokens, or words with --endpoint [default: 80]
    #[arg(long, value_name = "N")]
    max_pieces: Option<usize>,

    /// Vocabulary of new sentences: the rewriter's list and the sentence's own words, or any word
    /// [default: known]
    #[arg(long, value_name = "WHICH", value_parser = named::<Words>(), conflicts_with = "endpoint")]
    words: Option<Words>,

    /// Words that new sentences must contain. `lexicon`: another LU of the frame, then fall back to
    /// similar words. `alike`: similar words. `context`: what the language model would say in the
    /// trigger's place, as `substitutes` lists it. `none`: no requirement, as in the papers
    /// [default: lexicon, if its models are installed]
    #[arg(long, value_name = "WHAT", value_parser = named::<Guidance>())]
    guide: Option<Guidance>,

    /// Beside the trigger, ban a SHARE of each sentence's content words, so that new sentences
    /// reword more: from 0 to 1, one word at least, other ones in the next round. Needs a guide
    /// [default: 0]
    #[arg(long, value_name = "SHARE", conflicts_with = "endpoint")]
    reword: Option<f32>,

    /// Frame elements of new sentences. `align`: found by the aligner. `heads`, `exact`: the
    /// sentence must contain their head words, or their text. `none`: not annotated [default:
    /// align]
    #[arg(long, value_name = "HOW", value_parser = named::<KeepElements>())]
    keep_fe: Option<KeepElements>,

    /// Give sentences to LUs that have none. EXPR names LUs (by `lu`, `frame`, `pos`, `release`,
    /// `lu_status`); sentences of their sister LUs, of the same frame and part of speech, are
    /// rewritten with them
    #[arg(long)]
    from_sisters: bool,

    /// Take no frame elements and no words from the annotation that this query finds, as in
    /// `split=test`: held-out annotation says nothing to the guide
    #[arg(long, value_name = "EXPR")]
    blind_to: Option<String>,

    #[command(flatten)]
    splits: SplitArgs,

    /// Directory of the filter that scores new sentences, or its name among the models; `none` for
    /// no scores [default: filter, if installed]
    #[arg(long, value_name = "DIR|NAME|none", conflicts_with = "endpoint")]
    filter: Option<PathBuf>,

    /// Expand at most N annotation sets that are not done
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Compute a part of the sets into a file, from a store that nobody writes meanwhile: the I-th
    /// of N, or in a task of a Slurm array `/N`, which takes the task's number. `fnstore merge`
    /// takes the files in
    #[arg(long, value_name = "I/N",
          conflicts_with_all = ["limit", "redo", "status", "from_sisters", "endpoint"])]
    shard: Option<String>,

    /// The file of `--shard`; a manifest stands beside it
    #[arg(long, value_name = "FILE", requires = "shard")]
    out: Option<PathBuf>,

    /// Remove what this recipe wrote of the sets before, and begin them anew
    #[arg(long, conflicts_with_all = ["status", "dry_run"])]
    redo: bool,

    /// List how far each frame is, and write nothing
    #[arg(long, conflicts_with = "dry_run")]
    status: bool,

    /// Say how many rounds are missing and how long they take, and write nothing. Measures on less
    /// than a tenth of them, for a minute at most; of a part with `--shard`
    #[arg(long, conflicts_with = "endpoint")]
    dry_run: bool,

    #[command(flatten)]
    rewriter: RewriterArgs,

    #[command(flatten)]
    endpoint: EndpointArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore expand frame=Verification --rounds 5
  fnstore expand frame=Verification --recipe discover --dry-run
  fnstore expand lu=attest.v --from-sisters --limit 20
  fnstore expand lu=attest.v --endpoint http://127.0.0.1:8000/v1 --model smollm2 --max-requests 100
  fnstore expand 'lu=confirm.v origin=exemplar' --limit 10 && fnstore query origin=generated";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = Expression::parse(&text).map_err(DatabaseError::from)?;
    let reads_only = args.status || args.dry_run || args.everything;
    ensure!(
        expression != Expression::Everything || reads_only,
        "an empty query is the whole lexicon; expand that by `--everything`, or say what is expanded"
    );
    let (mut recipe, options) = recipe(&args)?;
    let mut expression = expression;
    if args.from_sisters {
        let database = Database::open(&context.store)?;
        let from_sisters = FromSisters::of(&database, &expression)?;
        tell(&format!("LUs without sentences: {}", grouped(from_sisters.count())));
        expression = from_sisters.seeds().clone();
        recipe.from_sisters = Some(from_sisters);
        recipe.check()?;
    }
    if args.status {
        let database = opened(&args, &expression, &mut recipe, || Database::open(&context.store))?;
        return status::run(&database, &expression, (&recipe, &options), context);
    }
    if args.dry_run {
        let database = opened(&args, &expression, &mut recipe, || Database::open(&context.store))?;
        let database = context.joined(database);
        let shard = args.shard.as_deref().map(shard::parsed).transpose()?;
        return status::dry_run(&database, (&expression, &recipe, &options), shard, context);
    }
    ensure!(
        args.shard.is_none() || args.out.is_some(),
        "no file for the shard; name one by `--out FILE`, or see how long it takes by `--dry-run`"
    );
    if let (Some(text), Some(file)) = (&args.shard, &args.out) {
        let database = opened(&args, &expression, &mut recipe, || Database::open(&context.store))?;
        let database = context.joined(database);
        return shard::run(&database, (&expression, &recipe, &options), (text, file), context);
    }
    let stopped = stop::on_interrupt("stopping after the step that runs")?;
    let writer = || Database::open_existing_writer(&context.store);
    let database = context.joined(opened(&args, &expression, &mut recipe, writer)?);
    tell_of_index(&database);
    tell_undeclared(&recipe, &database)?;
    tell_earlier_rules(&database)?;
    if args.redo {
        let removed = expand::forget(&database, &expression, (&recipe, &options))?;
        tell(&format!("removed {} annotation sets, to be written anew", grouped(removed.sets)));
    }
    let bar = progress::bar("expanding", "sets");
    let report = expand::run_with(&database, &expression, (&recipe, &options), &mut |at| {
        bar.set_expansion(at);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    tell_index_lag(&database);
    let report = report?;
    context.output.report(&ReportRecord::new(&report), ONE_ROW, |output| {
        summary(&report, &text, options.rounds, output)
    })?;
    if report.interrupted {
        context.output.flush()?;
        tell("interrupted; what was finished is in the store, and the same command resumes there");
        return Ok(Outcome::Interrupted);
    }
    if report.out_of_budget {
        context.output.flush()?;
        tell("the budget is used up; the same command resumes there");
    }
    if report.seeds == 0 {
        context.output.flush()?;
        tell("no human annotation set matches");
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}

/// A database under the list that is named, else under that of the editions that are asked for.
/// What the recipe is blind to is read under the same list.
fn opened(
    args: &Args,
    expression: &Expression,
    recipe: &mut Recipe,
    open: impl FnOnce() -> Result<Database, DatabaseError>,
) -> anyhow::Result<Database> {
    let mut database = args.splits.over_query(expression, open)?;
    if let Some(query) = &args.blind_to {
        let query = Expression::parse(query).map_err(DatabaseError::from)?;
        if database.split_list().is_none() {
            database = args.splits.over_query(&query, || Ok(database))?;
        }
        recipe.blind_to = Some(BlindTo::new(query, database.split_list().map(AsRef::as_ref)));
    }
    Ok(database)
}

/// Says that the rewriter declares no language beside a release that is not English.
fn tell_undeclared(recipe: &Recipe, database: &Database) -> anyhow::Result<()> {
    let RewriterSource::Model { directory, base } = &recipe.models.rewriter else { return Ok(()) };
    let mut declared = declared_languages(directory);
    if let Some(base) = base {
        declared = declared.or(&declared_languages(base));
    }
    language::tell_undeclared_for(&[&declared], database)
}

/// What is asked for on the command line, then by a named recipe.
fn settings(args: &Args) -> anyhow::Result<RecipeSettings> {
    let asked = RecipeSettings {
        rounds: args.rounds,
        beam: args.beam,
        candidates: args.candidates,
        max_pieces: args.max_pieces,
        words: args.words,
        guide: args.guide,
        reword: args.reword,
        keep_fe: args.keep_fe,
        ..RecipeSettings::default()
    };
    let named = args.recipe.as_deref().map(RecipeSettings::open).transpose()?;
    let mut named = named.unwrap_or_default();
    // A smaller beam than the recipe's has fewer outputs to look at.
    if let (Some(candidates), Some(beam)) = (named.candidates, args.beam) {
        named.candidates = Some(candidates.min(beam));
    }
    Ok(asked.or(named))
}

fn recipe(args: &Args) -> anyhow::Result<(Recipe, RunOptions)> {
    let model = args.rewriter.model.as_deref().unwrap_or(Path::new("")).to_string_lossy();
    let server = args.endpoint.settings(&model)?;
    let filter = args.filter.as_deref();
    let (recipe, mut options) = recipe_of(&args.rewriter, server, settings(args)?, filter)?;
    options.seed_limit = args.limit;
    if args.shard.is_some() {
        require_models(args, &recipe)?;
    }
    // Before a device is looked for, which has things to say.
    recipe.check()?;
    options.check()?;
    options.device = args.rewriter.device.open()?;
    Ok((recipe, options))
}

/// Refuses a part of an expansion without models that other machines may have: it would be of
/// another recipe than theirs.
fn require_models(args: &Args, recipe: &Recipe) -> anyhow::Result<()> {
    ensure!(
        recipe.models.guide.is_some() || settings(args)?.guide.is_some(),
        "no word vectors or no tagger among the models, by which a shard is guided; name the models by \
         `--models DIR`, or say `--guide none`"
    );
    ensure!(
        recipe.models.filter.is_some() || args.filter.is_some(),
        "no filter among the models, which scores a shard; name the models by `--models DIR`, or say \
         `--filter none`"
    );
    Ok(())
}

/// The models and settings of an expansion that is not limited, before its device is opened.
pub(crate) fn recipe_of(
    rewriter: &RewriterArgs,
    server: Option<EndpointSettings>,
    settings: RecipeSettings,
    filter: Option<&Path>,
) -> anyhow::Result<(Recipe, RunOptions)> {
    let dirs = locate::model_dirs(rewriter.models.clone());
    let source = match server {
        Some(server) => RewriterSource::Server(server),
        None => {
            let place = locate::rewriter(rewriter.model.as_deref(), &dirs)?;
            RewriterSource::in_directory(place, &dirs)?
        }
    };
    let mut models = Models::search_with(source, &dirs)?;
    match settings.guide {
        Some(Guidance::None) => models.guide = None,
        Some(_) => models.guide = Some(GuideModels::search(&dirs)?),
        None => {}
    }
    if let Some(name) = filter {
        let is_none = name.as_os_str() == "none";
        models.filter = (!is_none).then(|| locate::model(name, &dirs)).transpose()?;
    }
    if models.guide.is_none() && settings.guide.is_none() {
        tell("no word vectors or no tagger among the models: the lexicon does not guide");
    }
    let (mut recipe, mut options) = (Recipe::new(models), RunOptions::default());
    let numbers = rewriter.numbers.or(settings.numbers);
    RecipeSettings { numbers, ..settings }.apply(&mut recipe, &mut options);
    Ok((recipe, options))
}

fn summary(
    report: &Report,
    expression: &str,
    rounds: u16,
    output: &mut Output,
) -> anyhow::Result<()> {
    let title = format!("human annotation sets for {expression}: {}", grouped(report.seeds));
    output.heading(&title)?;
    if report.seeds == 0 {
        return Ok(());
    }
    let by = format!("{}; `fnstore recipes` shows its settings", guided(report.guidance));
    output.line(&format!("  {:<20} {:>9}  {by}", "recipe", report.recipe.0))?;
    if report.nothing_new() {
        let through = if rounds == 1 { "round".to_owned() } else { format!("{rounds} rounds") };
        output.line(&format!("  nothing new to do: all are through {through} or ended before"))?;
        return write_reasons("ended before their last round", &report.ended_before, output);
    }
    let rate = format!(
        "in {:.1} s, {:.1} per second",
        report.elapsed.as_secs_f64(),
        report.sentences_per_second()
    );
    let rows = [
        ("done before", report.done_before, String::new()),
        ("sentences written", report.sentences, rate),
        ("new triggers", report.new_triggers, String::new()),
        ("new (Frame, Trigger)", report.new_pairs, String::new()),
        ("LUs proposed", report.proposed_lexunits, String::new()),
    ];
    for (name, count, note) in rows {
        output.line(format!("  {name:<20} {:>9}  {note}", grouped(count)).trim_end())?;
    }
    let elements = &report.elements;
    if elements.sentences > 0 {
        let all = elements.found + elements.lost;
        let with_core = 100.0 * elements.with_core as f64 / elements.sentences as f64;
        let note =
            format!("of {} found; all core FEs in {with_core:.0} % of sentences", grouped(all));
        output.line(&format!(
            "  {:<20} {:>9}  {note}",
            "FEs carried over",
            grouped(elements.found)
        ))?;
    }
    if report.steps_reused > 0 {
        let share = 100.0 * report.steps_reused as f64 / report.steps as f64;
        let note = format!("{share:.0} % of all, taken over from the round before");
        let reused = grouped(report.steps_reused);
        output.line(&format!("  {:<20} {reused:>9}  {note}", "steps saved"))?;
    }
    let Usage { requests, tokens, known } = report.asked;
    if requests + known > 0 {
        let note = format!("{} tokens; {} answers were known", grouped(tokens), grouped(known));
        output.line(&format!("  {:<20} {:>9}  {note}", "requests", grouped(requests)))?;
    }
    if report.leaks > 0 {
        output.line(&format!("  {:<20} {:>9}  dropped", "banned words", grouped(report.leaks)))?;
    }
    if !report.flags.is_empty() {
        let flags: Vec<String> = report
            .flags
            .iter()
            .map(|(flag, count)| format!("{} {flag}", grouped(*count)))
            .collect();
        output.line(&format!("  {:<20} {}", "flagged", flags.join(", ")))?;
    }
    if let Some(kept) = &report.kept {
        write_kept(kept, output)?;
    }
    if report.left > 0 {
        let note = "sets; the same command takes them";
        output.line(&format!("  {:<20} {:>9}  {note}", "left for later", grouped(report.left)))?;
    }
    write_reasons("sets without any new sentence", &report.unproductive, output)?;
    write_reasons("sets that ended before their last round", &report.ended, output)?;
    write_reasons("sets that had ended before, in earlier runs", &report.ended_before, output)
}

fn guided(guidance: Guidance) -> &'static str {
    match guidance {
        Guidance::Lexicon => "guided by the lexicon",
        Guidance::Alike => "guided to words like the frame's LUs",
        Guidance::Context => "guided to what the rewriter would say in the trigger's place",
        Guidance::None => "not guided",
    }
}

fn write_reasons(
    title: &str,
    reasons: &BTreeMap<EndReason, u64>,
    output: &mut Output,
) -> anyhow::Result<()> {
    if reasons.is_empty() {
        return Ok(());
    }
    output.line(&format!("  {title}:"))?;
    for (reason, count) in reasons {
        output.line(&format!("  {:>30}  {}", grouped(*count), reason.explanation()))?;
    }
    Ok(())
}

/// An expansion as JSON; see `schema/expand.schema.json`.
#[derive(Debug, Serialize)]
struct ReportRecord<'a> {
    recipe: u32,
    seeds: u64,
    done_before: u64,
    left: u64,
    sentences: u64,
    new_triggers: u64,
    new_pairs: u64,
    proposed_lexunits: u64,
    flags: &'a BTreeMap<&'static str, u64>,
    ended_before: BTreeMap<&'static str, u64>,
    ended: BTreeMap<&'static str, u64>,
    unproductive: BTreeMap<&'static str, u64>,
    guide: Guidance,
    elements: CarriedTally,
    kept: Option<FilterTally>,
    leaks: u64,
    steps: u64,
    steps_reused: u64,
    endpoint: Usage,
    seconds: f64,
    sentences_per_second: f64,
    interrupted: bool,
    out_of_budget: bool,
}

impl<'a> ReportRecord<'a> {
    fn new(report: &'a Report) -> Self {
        let by_name = |reasons: &BTreeMap<EndReason, u64>| {
            reasons.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
        };
        Self {
            recipe: report.recipe.0,
            seeds: report.seeds,
            done_before: report.done_before,
            left: report.left,
            sentences: report.sentences,
            new_triggers: report.new_triggers,
            new_pairs: report.new_pairs,
            proposed_lexunits: report.proposed_lexunits,
            flags: &report.flags,
            ended_before: by_name(&report.ended_before),
            ended: by_name(&report.ended),
            unproductive: by_name(&report.unproductive),
            guide: report.guidance,
            elements: report.elements,
            kept: report.kept,
            leaks: report.leaks,
            steps: report.steps,
            steps_reused: report.steps_reused,
            endpoint: report.asked,
            seconds: report.elapsed.as_secs_f64(),
            sentences_per_second: report.sentences_per_second(),
            interrupted: report.interrupted,
            out_of_budget: report.out_of_budget,
        }
    }
}
