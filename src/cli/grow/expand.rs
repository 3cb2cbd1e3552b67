//! `fnstore expand`: new annotated sentences from human ones, with progress and a summary.

mod report;
mod shard;
mod status;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::cli::options::named::named;
use anyhow::ensure;
use fnstore::database::{Database, DatabaseError};
use fnstore::endpoint::EndpointSettings;
use fnstore::engine::declared_languages;
use fnstore::expand::{
    self, BlindTo, Carry, Choice, FromSisters, Guidance, GuideModels, KeepElements, Models, Recipe,
    RecipeSettings, RewriterSource, RunOptions, Shard, Targets, Words,
};
use fnstore::model::RecipeId;
use fnstore::query::Expression;

use crate::cli::options::endpoint::EndpointArgs;
use crate::cli::options::query;
use crate::cli::options::rewriter::RewriterArgs;
use crate::cli::options::sample::SampleArgs;
use crate::cli::options::splits::SplitArgs;
use crate::cli::options::verifier::models as verifier_models;
use crate::cli::options::{language, locate};
use crate::cli::print::notices::{
    tell_earlier_rules, tell_index_lag, tell_of_index, tell_of_releases,
};
use crate::cli::print::output::{counted, grouped, tell};
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};
use report::summary;

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

    /// Rule by which a round keeps one of its outputs. `judged`: a verifier is asked about the
    /// likeliest. `fewest-failed-checks`: the likeliest of those with fewest. `aligner`: the
    /// aligner's score, as in the papers [default: judged, if the lexicon does not guide and the
    /// rewriter adapts the verifier's language model]
    #[arg(long, value_name = "RULE", value_parser = named::<Choice>())]
    choice: Option<Choice>,

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

    /// Annotation sets of its source that a new sentence gets. `all`: each one that the aligner
    /// finds, in the same words. `target`: that of the target which is rewritten, as in the papers
    /// [default: all]
    #[arg(long, value_name = "WHICH", value_parser = named::<Carry>())]
    carry: Option<Carry>,

    /// Targets that a new sentence changes. `one`: that of the set. `all`: up to two more of its
    /// sentence, each for another LU of its frame; its set is carried along under that LU
    /// [default: one]
    #[arg(long, value_name = "WHICH", value_parser = named::<Targets>())]
    targets: Option<Targets>,

    /// Give sentences to LUs that have none. EXPR names LUs (by `lu`, `frame`, `pos`, `release`,
    /// `lu_status`); sentences of their sister LUs, of the same frame and part of speech, are
    /// rewritten with them
    #[arg(long, conflicts_with = "sample")]
    from_sisters: bool,

    /// Take no frame elements and no words from the annotation that this query finds, as in
    /// `split=test`: held-out annotation says nothing to the guide
    #[arg(long, value_name = "EXPR")]
    blind_to: Option<String>,

    #[command(flatten)]
    sample: SampleArgs,

    #[command(flatten)]
    splits: SplitArgs,

    /// Directory of the filter that scores new sentences, or its name among the models; `none` for
    /// no scores [default: filter, if installed]
    #[arg(long, value_name = "DIR|NAME|none", conflicts_with = "endpoint")]
    filter: Option<PathBuf>,

    /// Ask this verifier about each sentence that is kept: a directory or a name among the models.
    /// Its answers are stored as `fnstore verify` stores them. Where the recipe does not choose by
    /// them, they change no sentence [default: asked only where the recipe chooses by it]
    #[arg(long, value_name = "DIR|NAME")]
    verifier: Option<PathBuf>,

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

    /// Say how many rounds are missing and how long they take, and write nothing. Measures on a
    /// quarter of the sets, or on twice as many as a run has in flight where these are fewer, for a
    /// minute at most; of a part with `--shard`
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
  fnstore expand pos=v --sample 2 --per frame
  fnstore expand frame=Verification --recipe discover --dry-run
  fnstore expand lu=attest.v --from-sisters --limit 20
  fnstore expand lu=attest.v --endpoint http://127.0.0.1:8000/v1 --model smollm2 --max-requests 100
  fnstore expand 'lu=confirm.v origin=exemplar' --limit 10 && fnstore query origin=generated";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let (expression, mut recipe, options) = plan(&args, &text, context)?;
    let asked = expression.clone();
    if args.status {
        let (database, expression) =
            open_database(&args, expression, &mut recipe, || Database::open(&context.store))?;
        return status::run(&database, &expression, (&recipe, &options), context);
    }
    if args.dry_run {
        let (database, expression) =
            open_database(&args, expression, &mut recipe, || Database::open(&context.store))?;
        let database = context.joined(database);
        tell_of_releases(&database, "expansion", &asked)?;
        let shard = args.shard.as_deref().map(Shard::from_request).transpose()?;
        return status::dry_run(&database, (&expression, &recipe, &options), shard, context);
    }
    ensure!(
        args.shard.is_none() || args.out.is_some(),
        "no file for the shard; name one by `--out FILE`, or see how long it takes by `--dry-run`"
    );
    if let (Some(text), Some(file)) = (&args.shard, &args.out) {
        let (database, expression) =
            open_database(&args, expression, &mut recipe, || Database::open(&context.store))?;
        let database = context.joined(database);
        return shard::run(&database, (&expression, &recipe, &options), (text, file), context);
    }
    let stopped = stop::on_interrupt("stopping after the step that runs")?;
    let writer = || Database::open_existing_writer(&context.store);
    let (database, expression) = open_database(&args, expression, &mut recipe, writer)?;
    let database = context.joined(database);
    tell_of_index(&database);
    tell_of_releases(&database, "expansion", &asked)?;
    tell_undeclared(&recipe, &database)?;
    tell_earlier_rules(&database)?;
    if args.redo {
        let removed = expand::forget(&database, &expression, (&recipe, &options))?;
        let sets = counted(removed.sets, "annotation set");
        tell(&format!("removed {sets}, to be written anew"));
    }
    let bar = progress::bar("expanding", "sets");
    let report = expand::run_with(&database, &expression, (&recipe, &options), &mut |at| {
        bar.set_expansion(at);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    tell_index_lag(&database);
    let report = report?;
    context
        .output
        .report(&report, ONE_ROW, |output| summary(&report, &text, options.rounds, output))?;
    context.output.flush()?;
    tell_made_by_others(&database.made_by_others(&expression, report.recipe)?);
    Ok(outcome(&report))
}

/// What is expanded, and how.
fn plan(
    args: &Args,
    text: &str,
    context: &Context,
) -> anyhow::Result<(Expression, Recipe, RunOptions)> {
    let expression = query::expression(text)?;
    let reads_only = args.status || args.dry_run || args.everything;
    ensure!(
        expression != Expression::Everything || reads_only,
        "an empty query is the whole lexicon; expand that by `--everything`, or say what is expanded"
    );
    let (mut recipe, options) = recipe(args)?;
    if !args.from_sisters {
        return Ok((expression, recipe, options));
    }
    let from_sisters = FromSisters::of(&Database::open(&context.store)?, &expression)?;
    tell(&format!("LUs without sentences: {}", grouped(from_sisters.count())));
    let seeds = from_sisters.seeds().clone();
    recipe.from_sisters = Some(from_sisters);
    recipe.check()?;
    Ok((seeds, recipe, options))
}

/// How a run ended, and what to do about it.
fn outcome(report: &expand::Report) -> Outcome {
    if report.interrupted {
        tell("interrupted; what was finished is in the store, and the same command resumes there");
        return Outcome::Interrupted;
    }
    if report.out_of_budget {
        tell("the budget is used up; the same command resumes there");
    }
    if report.seeds == 0 {
        tell("no human annotation set matches");
        return Outcome::NothingFound;
    }
    Outcome::Done
}

/// Says which other recipes wrote of the same seeds: one sentence may then be there twice.
fn tell_made_by_others(made: &BTreeMap<RecipeId, u64>) {
    if made.is_empty() {
        return;
    }
    let made: Vec<String> = made
        .iter()
        .map(|(id, sets)| format!("{} by `recipe={id}`", counted(*sets, "annotation set")))
        .collect();
    tell(&format!(
        "other recipes wrote of the same seeds before, and the same sentence may be in the store twice: {}",
        made.join(", ")
    ));
}

/// A database under the list that is named, else under that of the editions that are asked for,
/// and what is expanded: all that the expression finds, or a sample of it. What the recipe is blind
/// to is read under the same list.
fn open_database(
    args: &Args,
    expression: Expression,
    recipe: &mut Recipe,
    open: impl FnOnce() -> Result<Database, DatabaseError>,
) -> anyhow::Result<(Database, Expression)> {
    let mut database = args.splits.over_query(&expression, open)?;
    if let Some(query) = &args.blind_to {
        let query = query::expression(query)?;
        if database.split_list().is_none() {
            database = args.splits.over_query(&query, || Ok(database))?;
        }
        recipe.blind_to = Some(BlindTo::new(query, database.split_list().map(AsRef::as_ref)));
    }
    // What was generated is no seed, and takes no place in the sample.
    let expression = args.sample.of(&database, expression, Some(expand::SEEDS))?;
    Ok((database, expression))
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
        choice: args.choice,
        reword: args.reword,
        keep_fe: args.keep_fe,
        carry: args.carry,
        targets: args.targets,
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
    let named = (args.filter.as_deref(), args.verifier.as_deref());
    let (recipe, mut options) = recipe_of(&args.rewriter, server, settings(args)?, named)?;
    options.seed_limit = args.limit;
    options.verify = args.verifier.is_some();
    if args.shard.is_some() {
        expand::require_models(&recipe, &settings(args)?, args.filter.is_some())?;
    }
    // Before a device is looked for, which has things to say.
    recipe.check()?;
    options.check()?;
    options.device = args.rewriter.device.open()?;
    Ok((recipe, options))
}

/// The models and settings of an expansion that is not limited, before its device is opened; with a
/// filter and a verifier that are named.
pub(crate) fn recipe_of(
    rewriter: &RewriterArgs,
    server: Option<EndpointSettings>,
    settings: RecipeSettings,
    (filter, verifier): (Option<&Path>, Option<&Path>),
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
    if let Some(name) = verifier {
        models.verifier = Some(verifier_models(name, &dirs)?);
    }
    if models.guide.is_none() && settings.guide.is_none() {
        tell("no word vectors or no tagger among the models: the lexicon does not guide");
    }
    let (mut recipe, mut options) = (Recipe::new(models), RunOptions::default());
    let numbers = rewriter.numbers.or(settings.numbers);
    RecipeSettings { numbers, ..settings }.apply(&mut recipe, &mut options);
    Ok((recipe, options))
}
