//! `fnstore eval lexicon`: a benchmark of lexicon growth, of this program's systems and of others.

mod part;
mod report;
mod swords;
mod system;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::bail;
use fnstore::database::Database;
use fnstore::discover::DiscoverOptions;
use fnstore::lexicon::Lexicon;
use fnstore::model::Named;
use fnstore::proposals::benchmark::{Answers, Draw};
use fnstore::vectors::WordVectors;

use self::part::{Part, Prepared};
use self::report::{Document, LeftOut, SystemRecord};
use self::swords::SwordsPart;
use self::system::{Runner, System};
use crate::cli::options::named::{case_of, named};
use crate::cli::options::release::release;
use crate::cli::options::searcher::{SearchModels, SearcherArgs};
use crate::cli::print::output::{Format, counted, tell};
use crate::cli::print::render::rows_of;
use crate::cli::process::stop;
use crate::cli::{Context, Outcome};

/// Measure how well systems find LUs that a lexicon lacks
///
/// Hides LUs of a release, has systems propose LUs of the same frames, and tells how many of the
/// hidden ones they find. Each part that hides has its own way, and a folder in the work directory.
/// The folder has the questions: `hidden.tsv`, `visible.tsv`, and `store/`, a store without the
/// hidden LUs, their annotation and other releases. It takes each system's proposals, too. They
/// are ranked lists of frame, LU and score, parted by tabs. Other systems' lists are measured by
/// `--proposals` in the same way: what the frame has already does not count. With a file of SWORDS,
/// systems also say what can stand in a word's place. The same command resumes where it was
/// stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of the benchmark, made if need be
    #[arg(long, value_name = "DIR")]
    work: PathBuf,

    /// Hide LUs of this release [default: the only one]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Measure these parts, parted by commas [default: hidden; later, too, with `--later`, and
    /// swords with `--swords`]
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = named::<Part>())]
    parts: Vec<Part>,

    /// Ask for the LUs that this later release adds to frames
    #[arg(long, value_name = "NAME")]
    later: Option<String>,

    /// Measure substitutes in context on a file of SWORDS (Lee et al. 2021), JSON, gzip too
    #[arg(long, value_name = "FILE")]
    swords: Option<PathBuf>,

    /// Run these systems, parted by commas [default: all]
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',', value_parser = named::<System>())]
    systems: Vec<System>,

    /// Measure the proposals in FILE, too: lines of frame, LU and score, parted by tabs; several
    /// times for several. Where several parts are measured, say for which one. Of SWORDS lines have
    /// a target's id, a substitute and a score
    #[arg(long, value_name = "[PART=]FILE")]
    proposals: Vec<String>,

    /// Write the questions, and run and measure nothing
    #[arg(long, conflicts_with = "proposals")]
    prepare: bool,

    /// Ask about the first N frames or targets of each part [default: all]
    #[arg(long, value_name = "N")]
    frames: Option<NonZeroUsize>,

    /// Draw frames and LUs by N
    #[arg(long, value_name = "N", default_value_t = Draw::default().seed)]
    seed: u64,

    /// Hide LUs of frames that have N LUs with exemplars
    #[arg(long, value_name = "N", default_value = "10")]
    least: NonZeroUsize,

    /// Have each system rank N words of a frame
    #[arg(long, value_name = "N", default_value = "60")]
    candidates: NonZeroUsize,

    #[command(flatten)]
    searcher: SearcherArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore eval lexicon --work /tmp/growth --frames 10
  fnstore eval lexicon --work /tmp/growth --prepare
  fnstore eval lexicon --work /tmp/growth --systems none --proposals mine.tsv --format json
  fnstore eval lexicon --work /tmp/growth --parts swords --swords swords-v1.1_dev.json.gz";

impl Args {
    fn parts(&self) -> Vec<Part> {
        let is_asked = |part: &Part| match (self.parts.is_empty(), part) {
            (false, part) => self.parts.contains(part),
            (true, Part::Hidden) => true,
            (true, Part::Later) => self.later.is_some(),
            (true, Part::Scratch) => false,
            (true, Part::Swords) => self.swords.is_some(),
        };
        Part::CASES.iter().copied().filter(is_asked).collect()
    }

    fn systems(&self) -> Vec<System> {
        let is_asked = |of: &System| self.systems.is_empty() || self.systems.contains(of);
        System::all().filter(is_asked).collect()
    }

    /// The files of proposals, each with its part.
    fn files(&self, parts: &[Part]) -> anyhow::Result<Vec<(Part, PathBuf)>> {
        let of = |text: &String| {
            let named = text.split_once('=').and_then(|(part, file)| Some((case_of(part)?, file)));
            match (named, parts) {
                (Some((part, _)), _) if !parts.contains(&part) => {
                    bail!("`{text}` is for a part that is not measured; add it to `--parts`")
                }
                (Some((part, file)), _) => Ok((part, file.into())),
                (None, [only]) => Ok((*only, text.into())),
                (None, _) => bail!("for which part is `{text}`? Name it, as in `hidden={text}`"),
            }
        };
        self.proposals.iter().map(of).collect()
    }

    /// Frames or targets of a part that are asked about.
    fn most(&self) -> usize {
        self.frames.map_or(usize::MAX, NonZeroUsize::get)
    }

    /// The models; of the word vectors those of a text, as the others stand for words of a lexicon
    /// that may be hidden.
    fn models(&self, systems: &[System]) -> anyhow::Result<SearchModels> {
        let mut models = match systems.iter().any(|of| of.asks_a_language_model()) {
            true => self.searcher.open()?,
            false => self.searcher.open_vectors()?,
        };
        models.vectors = models.vectors.map(WordVectors::of_text);
        Ok(models)
    }

    /// Whether the shipped verifier may have learned from what is hidden.
    fn may_know(&self, part: Part) -> bool {
        let Draw { least, seed, .. } = Draw::default();
        match part {
            Part::Hidden => (self.least.get(), self.seed) != (least, seed),
            Part::Later => true,
            Part::Scratch | Part::Swords => false,
        }
    }

    fn options(&self) -> DiscoverOptions {
        let candidates = self.candidates.get();
        DiscoverOptions { candidates, least: 0.0, ..DiscoverOptions::default() }
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let parts = args.parts();
    let (of_swords, files): (Vec<_>, Vec<_>) =
        args.files(&parts)?.into_iter().partition(|(part, _)| *part == Part::Swords);
    let swords = match parts.contains(&Part::Swords) {
        true => Some(SwordsPart::open(&args, of_swords)?),
        false => None,
    };
    let database = Database::open(&context.store)?;
    let release = release(&database, args.release.as_deref())?;
    let lexicon = database.lexicon(&release.name)?;
    // What is wrong with a file is said before the work.
    let mut others = Vec::new();
    for (part, path) in files {
        let answers = Answers::read(&path, &lexicon)?;
        others.push((part, path.display().to_string(), answers));
    }
    let mut document = Document::new(&release.name);
    let prepared = prepare(&args, (&database, &lexicon), &mut document)?;
    if args.prepare {
        return Ok(Outcome::of(!prepared.is_empty()));
    }
    let systems = args.systems();
    if systems.contains(&System::Discover) && prepared.iter().any(|made| args.may_know(made.part)) {
        tell(
            "the shipped verifier learned from FrameNet 1.5 without the LUs that are hidden by \
             default and those of `scratch`; of others it may know some",
        );
    }
    let mut runner = Runner {
        wordnets_of: &database,
        models: args.models(&systems)?,
        options: args.options(),
        stopped: &stop::on_interrupt("writing what was found")?,
    };
    let mut is_done = true;
    for made in &prepared {
        is_done = is_done && measure(&args, made, (&systems, &others), &mut runner, &mut document)?;
    }
    if let Some(swords) = swords.filter(|_| is_done) {
        is_done = swords.measure(args.most(), &systems, &mut runner, &mut document)?;
    }
    if !is_done {
        tell("interrupted; the same command resumes there");
        return Ok(Outcome::Interrupted);
    }
    print(&parts, &document, context)
}

/// Writes the questions of the parts that hide LUs.
fn prepare(
    args: &Args,
    (database, lexicon): (&Database, &Lexicon<'_>),
    document: &mut Document,
) -> anyhow::Result<Vec<Prepared>> {
    let parts = args.parts();
    let mut prepared = Vec::new();
    for part in Part::CASES.iter().copied() {
        let made = match parts.contains(&part) {
            true if part == Part::Swords && !args.prepare => continue,
            true => part.prepare(args, database, lexicon)?,
            false => Err("`--parts` leaves it out".to_owned()),
        };
        match made {
            Ok(made) => prepared.push(made),
            // Without a file it is no part.
            Err(_) if part == Part::Swords && !parts.contains(&part) => (),
            Err(why) => {
                if args.prepare && parts.contains(&part) {
                    tell(&format!("{part}: {why}"));
                }
                document.left_out.push(LeftOut::part(part, why));
            }
        }
    }
    Ok(prepared)
}

fn print(parts: &[Part], document: &Document, context: &mut Context) -> anyhow::Result<Outcome> {
    let has_lus = parts.iter().any(|part| *part != Part::Swords);
    let is_rows = matches!(context.output.format_or(Format::Table), Format::Csv | Format::Tsv);
    if has_lus && !document.substitutes.is_empty() && is_rows {
        tell("rows are those of hidden LUs; `--parts swords` has those of SWORDS");
    }
    let rows = match has_lus {
        true => rows_of(&document.systems),
        false => rows_of(&document.substitutes),
    };
    context.output.report(document, rows, |output| document.lay_out(output))?;
    let has_run = !document.systems.is_empty() || !document.substitutes.is_empty();
    Outcome::or_tell(has_run, "no system was measured", &mut context.output)
}

/// Runs and measures systems on a part; says whether they came to an end.
fn measure(
    args: &Args,
    made: &Prepared,
    (systems, others): (&[System], &[(Part, String, Answers)]),
    runner: &mut Runner<'_>,
    document: &mut Document,
) -> anyhow::Result<bool> {
    let count = args.most().min(made.questions.frames.len());
    let all = made.questions.frames.len();
    if count < all {
        let why = format!("`--frames` leaves out {}", counted((all - count) as u64, "frame"));
        document.left_out.push(LeftOut::part(made.part, why));
    }
    for system in System::all() {
        if !systems.contains(&system) {
            let why = "`--systems` leaves it out".to_owned();
            document.left_out.push(LeftOut::system(made.part, system, why));
            continue;
        }
        let (answers, without) = match runner.run(system, made, count)? {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(false),
            Err(why) => {
                document.left_out.push(LeftOut::system(made.part, system, why));
                continue;
            }
        };
        let figures = made.questions.measure(count, &answers);
        let record = SystemRecord::new(made.part, system.as_str(), count, &figures);
        document.systems.push(record.without(without));
    }
    for (_, name, answers) in others.iter().filter(|(part, ..)| *part == made.part) {
        let figures = made.questions.measure(count, answers);
        document.systems.push(SystemRecord::new(made.part, name, count, &figures));
    }
    Ok(true)
}
