//! `fnstore attest`: sentences of a corpus for LUs that have none.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::discover::{AttestOptions, AttestReport, Attester, Corpus};
use fnstore::engine::{Device, Numbers};
use fnstore::expand::{FrameModels, VerifierModels};
use fnstore::generate::Lacking;
use fnstore::identify::FrameIdentifier;
use fnstore::label::Labeller;
use fnstore::models::VERIFIER;
use fnstore::query::Expression;
use fnstore::verify::Verifier;

use crate::cli::options::author::sign;
use crate::cli::options::device::DeviceArgs;
use crate::cli::options::labeller::LABELLER;
use crate::cli::options::named::{named, one_of};
use crate::cli::options::searcher::at_hand;
use crate::cli::options::tagger::{self, TAGGER};
use crate::cli::options::{language, locate, number, query, verifier};
use crate::cli::print::notices::{tell_index_lag, tell_of_index, tell_of_releases};
use crate::cli::print::output::{Output, counted, grouped, tell};
use crate::cli::print::progress;
use crate::cli::print::render::ONE_ROW;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// Give sentences of a corpus to LUs that have none
///
/// Finds sentences of a text that hold a form of such an LU. Passes over names and other parts of
/// speech. Leaves out sentences in which the frame model finds the frame unlikely, if it is
/// installed and knows the frame. Asks a verifier about the others: whether the word evokes the
/// frame there, and about other frames that have the word. Writes the likeliest sentences of each
/// LU into its release, with frame elements, as sets of the origin `predicted`. They have the
/// verifier's answer (`evokes`), and the corpus with the line as their document. LUs that have a
/// sentence then are skipped by later runs, and by `fnstore generate`. After a run that was
/// interrupted or limited, the same command goes on with LUs that have none yet. It asks again
/// about those for which nothing was good enough. `fnstore undo` takes back what was written.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The corpus: running text, one sentence a line, or JSON lines with a sentence as `text`
    #[arg(value_name = "CORPUS")]
    corpus: PathBuf,

    /// The LUs, by `lu`, `frame`, `pos`, `release` and `lu_status` [default: all LUs without
    /// sentences]
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// What the LUs lack: any annotation, or exemplars (they may have annotation in full text)
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = one_of(&[Lacking::Annotation, Lacking::Exemplars]),
        default_value_t = Lacking::default()
    )]
    lacking: Lacking,

    /// Write the likeliest N sentences of each LU
    #[arg(long, value_name = "N", default_value = "5")]
    keep: NonZeroUsize,

    /// Ask about N sentences of each LU
    #[arg(long, value_name = "N", default_value = "10")]
    candidates: NonZeroUsize,

    /// Write only sentences in which the LU evokes its frame with this probability at least: 0 to 1
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = number::share::<f32>)]
    least: f32,

    /// Stop once N LUs have got sentences
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,

    /// Directory of the verifier, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = VERIFIER)]
    verifier: PathBuf,

    /// Directory of the labeller of frame elements, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = LABELLER)]
    labeller: PathBuf,

    /// Leave frame elements out
    #[arg(long, conflicts_with = "labeller")]
    no_fes: bool,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,

    /// Number format of the verifier; f32 is the slowest and the most exact
    #[arg(long, value_parser = named::<Numbers>(), default_value_t = Numbers::default())]
    numbers: Numbers,
}

const EXAMPLES: &str = "\
Examples:
  fnstore attest news.txt frame=Verification && fnstore query origin=predicted --sort=-evokes
  fnstore attest news.txt --lacking exemplars && fnstore generate --lacking exemplars";

/// The verifier, and the labeller if FEs are wanted.
fn models(
    args: &Args,
    (dirs, device): (&[PathBuf], &Device),
) -> anyhow::Result<(Verifier, Option<Labeller>)> {
    let VerifierModels { adapter, base } = verifier::models(&args.verifier, dirs)?;
    let verifier = Verifier::open_beside(None, (&adapter, &base), (device, args.numbers))?;
    if args.no_fes {
        return Ok((verifier, None));
    }
    let labeller = locate::model(&args.labeller, dirs)?;
    let encoder = locate::encoder(None, &labeller, dirs)?;
    Ok((verifier, Some(Labeller::open(&labeller, &encoder, device)?)))
}

/// The frame model, if it is there.
fn frame_model(dirs: &[PathBuf], device: &Device) -> anyhow::Result<Option<FrameIdentifier>> {
    let Some(FrameModels { identifier, encoder }) = FrameModels::search(dirs) else {
        tell("no frame model among the models: the verifier alone decides");
        return Ok(None);
    };
    Ok(Some(FrameIdentifier::open(&identifier, &encoder, device)?))
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let text = args.expression.join(" ");
    let expression = match text.trim() {
        "" => Expression::Everything,
        text => query::expression(text)?,
    };
    let corpus = Corpus::open(&args.corpus)?;
    if corpus.sentences() == 0 {
        return Outcome::nothing("the corpus has no sentence of 4 to 45 words");
    }
    let dirs = locate::model_dirs(args.models.clone());
    let device = args.device.open()?;
    let models = models(&args, (&dirs, &device))?;
    let tagger = at_hand(tagger::open(TAGGER.as_ref(), None, &dirs, &device))?;
    if tagger.is_none() {
        tell("no tagger among the models: a word of the corpus may be of another part of speech");
    }
    let identifier = frame_model(&dirs, &device)?;
    let stopped = stop::on_interrupt("writing the sentences that were found")?;
    let database = context.joined(Database::open_existing_writer(&context.store)?);
    tell_of_index(&database);
    tell_of_releases(&database, "attestation", &expression)?;
    sign(&database);
    let options = AttestOptions {
        lacking: args.lacking,
        keep: args.keep.get(),
        candidates: args.candidates.get(),
        least: args.least,
        limit: args.limit.map(NonZeroUsize::get),
    };
    let attester = Attester::new(&database, &corpus, models, options).with_tagger(tagger);
    let mut attester = attester.with_frame_model(identifier.as_ref());
    language::tell_undeclared_for(&attester.declared(), &database)?;
    let bar = progress::bar("attesting", "LUs");
    let report = attester.run(&expression, &mut |at: &AttestReport| {
        bar.set_length(at.lexunits);
        bar.set_message(format!("attesting: {}", counted(at.sentences, "sentence")));
        bar.set_position(at.looked_at);
        if stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    tell_index_lag(&database);
    let report = report?;
    context.output.report(&report, ONE_ROW, |output| summary(&report, &corpus, &text, output))?;
    context.output.flush()?;
    if report.interrupted {
        tell(
            "interrupted; what was found is in the store. The same command goes on with LUs that \
             have none yet, and asks again about those for which nothing was good enough",
        );
        return Ok(Outcome::Interrupted);
    }
    Ok(Outcome::of(report.sentences > 0))
}

fn summary(
    report: &AttestReport,
    corpus: &Corpus,
    expression: &str,
    output: &mut Output,
) -> anyhow::Result<()> {
    let of = if expression.is_empty() { String::new() } else { format!(" for {expression}") };
    output.heading(&format!("LUs without sentences{of}: {}", grouped(report.lexunits)))?;
    let of_corpus = format!("LUs; it has {}", counted(corpus.sentences(), "sentence"));
    output.count("in the corpus", report.in_corpus, &of_corpus)?;
    output.count("LUs with a sentence", report.given, "")?;
    let seconds = report.elapsed.as_secs_f64();
    let rate = report.asked as f64 / seconds.max(1e-3);
    output.count("sentences written", report.sentences, &format!("in {seconds:.1} s"))?;
    output.count("asked about", report.asked, &format!("{rate:.1} per second"))?;
    let rows = [
        ("left out", report.unfit, "by the frame model, as unlikely"),
        ("without the frame model", report.without_fit, "it does not know the frame"),
        ("unlikely", report.unlikely, "by the verifier"),
        ("nearer elsewhere", report.nearer, "to another frame that has the word"),
        ("too long", report.unread, ""),
        ("parts of names", report.in_names, "not asked about"),
        ("other word classes", report.of_other_pos, "not asked about"),
        ("left for later", report.left, "LUs; the same command goes on with those that have none"),
    ];
    for (name, count, note) in rows.into_iter().filter(|(_, count, _)| *count > 0) {
        output.count(name, count, note)?;
    }
    Ok(())
}
