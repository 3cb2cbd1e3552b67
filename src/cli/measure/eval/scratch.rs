//! `fnstore eval scratch`: LUs found from scratch, as in section 6.1 of Culkin et al. 2021.

mod report;
mod work;

use std::collections::HashSet;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::cli::options::named::named;
use anyhow::{Context as _, bail, ensure};
use fnstore::database::Database;
use fnstore::expand::{self, Recipe, RecipeSettings, RunOptions};
use fnstore::filter::Judged;
use fnstore::lexicon::Lexicon;
use fnstore::named;
use fnstore::proposals::scratch::{Plan, Sizes, Ties};
use fnstore::text::Morphology;

use self::report::Document;
use self::work::{Order, Run};
use crate::cli::grow::expand::recipe_of;
use crate::cli::options::locate;
use crate::cli::options::rewriter::RewriterArgs;
use crate::cli::print::notices::tell_index_lag;
use crate::cli::print::output::{counted, tell};
use crate::cli::print::progress;
use crate::cli::print::render::rows_of;
use crate::cli::process::stop;
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};

/// Measure how many LUs expansion finds from scratch
///
/// Of the frames that have LUs the earliest 20 are taken, of each the three earliest LUs, and of
/// these the three earliest annotation sets, by the dates of the release. They alone go into a new
/// store under the work directory, each recipe expands them there, and the new (frame, lemma.pos)
/// pairs are held against the other annotated LUs of the frames (Culkin et al. 2021, section 6.1).
/// The same command goes on where it was stopped. Runs under other rewriters add up in the work
/// directory, and all of them are printed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory for the new stores, made if need be
    #[arg(long, value_name = "DIR")]
    work: PathBuf,

    /// Expand by this recipe: a name that `fnstore recipes show` lists, or a TOML file; several
    /// times for several [default: culkin-scratch; scratch, too, where a language model rewrites]
    #[arg(long = "recipe", value_name = "NAME|FILE")]
    recipes: Vec<String>,

    /// Run N rounds instead of the recipe's
    #[arg(long, value_name = "N")]
    rounds: Option<u16>,

    /// Beam size instead of the recipe's
    #[arg(long, value_name = "N")]
    beam: Option<usize>,

    /// Also take N random orders of what was created in the same second
    #[arg(long, value_name = "N", default_value_t = 0)]
    ties: u64,

    /// Do one step alone
    #[arg(long, value_name = "STEP", value_parser = named::<Step>())]
    only: Option<Step>,

    /// Take N frames
    #[arg(long, value_name = "N", default_value_t = Sizes::default().frames)]
    frames: usize,

    /// Take N LUs of each frame
    #[arg(long, value_name = "N", default_value_t = Sizes::default().lus)]
    lus: usize,

    /// Take N annotation sets of each LU
    #[arg(long, value_name = "N", default_value_t = Sizes::default().sets)]
    sets: usize,

    /// Leave out sets whose sentences models learned from: judged outputs as `fnstore export --to
    /// filter-data` writes them, for the filter
    #[arg(long, value_name = "FILE")]
    learned: Vec<PathBuf>,

    /// Also draw what is found, round by round
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    rewriter: RewriterArgs,
}

named! {
    /// A step of the measurement.
    enum Step {
        /// Make the stores.
        Prepare => "prepare",
        /// Expand in stores that were made.
        Expand => "expand",
        /// Print what the outputs that are there find.
        Score => "score",
    }
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval scratch --work /tmp/scratch
  fnstore eval scratch --work /tmp/scratch --only score --format json
  fnstore eval scratch --work /tmp/scratch --recipe culkin-scratch --model paraphrase --ties 5";

/// What FrameNet 1.5 gives of the paper's sizes: frames, annotated LUs, LUs that are given.
const FRAMENET_1_5: ([u64; 2], [usize; 3]) = ([1019, 11_942], [20, 360, 60]);

impl Args {
    fn does(&self, step: Step) -> bool {
        self.only.is_none_or(|only| only == step)
    }

    fn sizes(&self) -> Sizes {
        Sizes { frames: self.frames, lus: self.lus, sets: self.sets }
    }

    /// By number, then at random.
    fn orders(&self) -> Vec<Order> {
        let random = (1..=self.ties).map(Ties::Random);
        std::iter::once(Ties::Id).chain(random).map(|ties| Order::new(&self.work, ties)).collect()
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    for (name, number) in [("frames", args.frames), ("lus", args.lus), ("sets", args.sets)] {
        ensure!(number > 0, "`{name}` is 0; expected 1 or more");
    }
    let orders = args.orders();
    if args.does(Step::Prepare) {
        prepare(&args, &orders, context)?;
    }
    if args.does(Step::Expand) && expand_all(&args, &orders, context)? {
        tell("interrupted; the same command goes on from there");
        return Ok(Outcome::Interrupted);
    }
    if !args.does(Step::Score) {
        return Ok(Outcome::Done);
    }
    let document = Document::of(&Order::prepared(&args.work))?;
    if let Some(path) = &args.svg {
        let mut file = WholeFile::create(path, "figure")?;
        file.write_all(document.svg().as_bytes())?;
        file.finish()?;
    }
    let rows = rows_of(&document.rounds);
    context.output.report(&document, rows, |output| document.lay_out(output))?;
    Outcome::or_tell(
        !document.rounds.is_empty(),
        "no recipe has any output there",
        &mut context.output,
    )
}

/// Makes the stores that are missing; those that are there must be of the same sizes.
fn prepare(args: &Args, orders: &[Order], context: &Context) -> anyhow::Result<()> {
    let mut learned = HashSet::new();
    for file in &args.learned {
        learned.extend(Judged::read(file)?.into_iter().map(|output| output.sentence));
    }
    let database = Database::open(&context.store)?;
    let lexicons = database.lexicons()?;
    let [lexicon] = lexicons.as_slice() else {
        bail!("the store has {} releases; expected one", lexicons.len());
    };
    for order in orders {
        let plan = Plan::of(lexicon, args.sizes(), order.ties, &learned)?;
        ensure!(plan.sets() > 0, "no frame has an annotated LU; there is nothing to expand");
        let counts = &lexicon.release().counts;
        let (of_release, expected) = FRAMENET_1_5;
        let found = [plan.frames.len(), plan.annotated(), plan.seeds().count()];
        if [counts.frames, counts.lexunits] == of_release && args.sizes() == Sizes::default() {
            ensure!(
                found == expected,
                "frames, annotated LUs and given LUs are {found:?}; FrameNet 1.5 has {expected:?}"
            );
        }
        if order.is_prepared() {
            ensure!(
                order.plan()? == plan,
                "`{}` was made of other sets; name another directory with `--work`",
                order.directory().display()
            );
            continue;
        }
        order.prepare(&database, &plan)?;
        tell(&format!(
            "{}: {}, {} given with {}, {} hidden",
            order.directory().display(),
            counted(plan.frames.len() as u64, "frame"),
            counted(plan.seeds().count() as u64, "LU"),
            counted(plan.sets() as u64, "set"),
            counted(plan.hidden() as u64, "LU")
        ));
    }
    Ok(())
}

/// Expands in each store by each recipe what is missing. Says whether Ctrl-C ended it.
fn expand_all(args: &Args, orders: &[Order], context: &Context) -> anyhow::Result<bool> {
    let stopped = stop::on_interrupt("stopping after the step that runs")?;
    let names = names(args)?;
    let dirs = locate::model_dirs(args.rewriter.models.clone());
    let model = locate::rewriter(args.rewriter.model.as_deref(), &dirs)?;
    let model = model.file_name().map(|name| name.to_string_lossy().into_owned());
    let model = model.unwrap_or_default();
    for order in orders {
        let plan = order.plan()?;
        for name in &names {
            let (recipe, options) = recipe(args, name)?;
            let label = format!("{name}, {model}");
            let database = context.joined(Database::open_existing_writer(&order.store())?);
            let bar = progress::bar("expanding", "sets");
            let everything = "".parse().expect("an empty query");
            let report = expand::run_with(&database, &everything, (&recipe, &options), &mut |at| {
                bar.set_expansion(at);
                if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            bar.finish_and_clear();
            tell_index_lag(&database);
            let report = report.with_context(|| format!("cannot expand by `{name}`"))?;
            let lexicons = database.lexicons()?;
            let morphology =
                lexicons.first().map_or(Ok(Morphology::English), Lexicon::morphology)?;
            let (any, listed) = work::writable(&args.rewriter.open()?, &plan, &morphology)?;
            order.note(Run { label: label.clone(), recipe: report.recipe.0, any, listed })?;
            if report.interrupted {
                return Ok(true);
            }
            tell(&format!(
                "{}: {label}: {}, {} done before",
                order.directory().display(),
                counted(report.sentences, "sentence"),
                counted(report.done_before, "set")
            ));
        }
    }
    Ok(false)
}

/// The recipes to expand by.
fn names(args: &Args) -> anyhow::Result<Vec<String>> {
    if !args.recipes.is_empty() {
        return Ok(args.recipes.clone());
    }
    let mut names = vec!["culkin-scratch".to_owned()];
    if args.rewriter.open()?.prompt().is_some() {
        names.push("scratch".to_owned());
    } else {
        tell("`scratch` is left out: it asks a language model, which `make rewriter` fetches");
    }
    Ok(names)
}

fn recipe(args: &Args, name: &str) -> anyhow::Result<(Recipe, RunOptions)> {
    let asked =
        RecipeSettings { rounds: args.rounds, beam: args.beam, ..RecipeSettings::default() };
    let mut named = RecipeSettings::open(name)?;
    if let (Some(candidates), Some(beam)) = (named.candidates, args.beam) {
        named.candidates = Some(candidates.min(beam));
    }
    let (recipe, mut options) = recipe_of(&args.rewriter, None, asked.or(named), (None, None))?;
    recipe.check()?;
    options.check()?;
    options.device = args.rewriter.device.open()?;
    Ok((recipe, options))
}
