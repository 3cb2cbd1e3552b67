//! `fnstore link`: links of LUs and FEs to other lexicons, computed.

use std::ops::ControlFlow;
use std::path::PathBuf;

use fnstore::database::Database;
use fnstore::engine::Numbers;
use fnstore::expand::VerifierModels;
use fnstore::link::{FrameLinks, LinkOptions, Linker};
use fnstore::model::Frame;
use fnstore::verify::Verifier;
use serde::Serialize;

use crate::cli::options::author::sign;
use crate::cli::options::device::DeviceArgs;
use crate::cli::options::named::named;
use crate::cli::options::release::release;
use crate::cli::options::{locate, number, verifier};
use crate::cli::print::notices::{tell_index_lag, tell_of_index};
use crate::cli::print::output::{Format, counted, tell};
use crate::cli::print::progress;
use crate::cli::print::render::Row;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// Link LUs and frame elements to WordNets, VerbNet and PropBank
///
/// An LU is linked to the synsets, classes and rolesets that have its lemma and part of speech.
/// They are told apart by the words of both definitions, by the frame's other LUs, and by the
/// order of senses. What SemLink and the lexicons themselves say of the frame counts, too. An FE
/// is linked to roles of the classes and rolesets of its frame's LUs. Links with their scores join
/// what `fnstore links`, `lus`, `show` and queries say. A frame is written whole. One that was
/// linked in the same way is left as it is, and so are links that somebody decided on. An
/// interrupted run resumes.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names of frames [default: all]
    #[arg(value_name = "FRAME")]
    frame: Vec<String>,

    /// The release [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Keep links that score at least X
    #[arg(long, value_name = "X", default_value = "0.13", value_parser = number::share::<f32>)]
    least: f32,

    /// Link frames again that were linked
    #[arg(long)]
    again: bool,

    /// Ask a verifier about the examples of synsets: its directory, or its name among the models;
    /// a question takes some 0.1 s on two cores
    #[arg(long, value_name = "DIR|NAME")]
    verifier: Option<PathBuf>,

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
  fnstore link Verification && fnstore links Verification
  fnstore link --verifier verifier";

/// What was linked of a frame, as JSON; see `schema/link.schema.json`.
#[derive(Debug, Serialize)]
struct LinkedRow<'a> {
    release: &'a str,
    frame: &'a str,
    /// LUs, without proposed ones.
    lus: u32,
    /// Those with a link.
    linked: u32,
    /// Links of LUs and FEs that stand.
    links: u32,
    /// LUs and FEs whose links were computed now; 0 where all are as they were.
    computed: u32,
}

impl Row for LinkedRow<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "frame", "lus", "linked", "links", "computed"];
}

fn open_verifier(args: &Args) -> anyhow::Result<Option<Verifier>> {
    let Some(named) = &args.verifier else { return Ok(None) };
    let dirs = locate::model_dirs(args.models.clone());
    let VerifierModels { adapter, base } = verifier::models(named, &dirs)?;
    let device = args.device.open()?;
    Ok(Some(Verifier::open_beside(None, (&adapter, &base), (&device, args.numbers))?))
}

/// The frames of these names, or all, by name.
fn frames(database: &Database, release: &str, names: &[String]) -> anyhow::Result<Vec<Frame>> {
    let lexicon = database.lexicon(release)?;
    if names.is_empty() {
        let mut all = lexicon.frames()?.collect::<Result<Vec<_>, _>>()?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        return Ok(all);
    }
    Ok(lexicon.frames_called(names)?)
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut verifier = open_verifier(&args)?;
    let stopped = stop::on_interrupt("writing the frames that were linked")?;
    let database = context.joined(Database::open_existing_writer(&context.store)?);
    tell_of_index(&database);
    sign(&database);
    let release = release(&database, args.release.as_deref())?;
    let options = LinkOptions { least: args.least, again: args.again };
    let mut linker = Linker::new(&database, &release.name, verifier.as_mut(), options)?;
    if !linker.has_resources() {
        tell(
            "the store has no other lexicon of the release's language; `fnstore import PATH` brings in one",
        );
        return Ok(Outcome::NothingFound);
    }
    let frames = frames(&database, &release.name, &args.frame)?;
    let bar = progress::bar("linking", "frames");
    bar.set_length(frames.len() as u64);
    let (mut links, mut is_interrupted) = (0, false);
    let mut records = context.output.records(Format::Jsonl);
    records.header(LinkedRow::COLUMNS)?;
    for frame in &frames {
        let mut goes_on = || match stopped() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        if goes_on().is_break() {
            is_interrupted = true;
            break;
        }
        let FrameLinks { lexunits: lus, linked, links: of_frame, computed, .. } =
            match linker.link(frame, &mut goes_on) {
                Err(error) if error.is_stopped() => {
                    is_interrupted = true;
                    break;
                }
                done => done?,
            };
        links += u64::from(of_frame);
        bar.inc(1);
        let (release, frame, links) = (&*release.name, &*frame.name, of_frame);
        let row = LinkedRow { release, frame, lus, linked, links, computed };
        bar.suspend(|| records.row(&row))?;
    }
    bar.finish_and_clear();
    records.end_rows::<LinkedRow<'_>>()?;
    tell_index_lag(&database);
    context.output.flush()?;
    if is_interrupted {
        tell("interrupted; what was linked is in the store, and the same command resumes there");
        return Ok(Outcome::Interrupted);
    }
    tell(&format!("{} of {}", counted(links, "link"), counted(frames.len() as u64, "frame")));
    Ok(if links == 0 { Outcome::NothingFound } else { Outcome::Done })
}
