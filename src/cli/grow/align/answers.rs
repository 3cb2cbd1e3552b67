//! `fnstore align answers`: what annotators marked, as training data, and how far they agree.

use std::io::Write;
use std::path::{Path, PathBuf};

use fnstore::align::{AnnotatorAgreement, Answer, Collection, Task, TaskProblem};
use fnstore::model::Fraction;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::error::LinesFailed;
use crate::cli::input::line_reader::{self, LineError};
use crate::cli::print::output::{Output, counted, tell};
use crate::cli::print::render::ONE_ROW;
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};

/// Turn annotators' answers into training data, and measure their agreement
///
/// Answers are JSON lines: id (of the task), annotator, span ([start, end) in code points of the
/// paraphrase, or null where nothing means the same). For each task the majority's span becomes a
/// line that `fnstore train aligner` reads. A line that cannot be used is reported on stderr with a
/// code. The other lines are used, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files of answers; `-` is standard input
    #[arg(value_name = "ANSWERS", required = true)]
    answers: Vec<PathBuf>,

    /// Tasks, as `fnstore align tasks` writes them
    #[arg(long, value_name = "FILE")]
    tasks: PathBuf,

    /// Write the training data to FILE
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  fnstore align answers ann.jsonl bob.jsonl --tasks tasks.jsonl
  fnstore align answers answers.jsonl --tasks tasks.jsonl --to train.jsonl && \\
    fnstore train aligner --data train.jsonl --dev dev.jsonl --out head";

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut collection = Collection::default();
    let mut lines = Lines::default();
    lines.read(&args.tasks, |task: Task| collection.add_task(task))?;
    for file in &args.answers {
        lines.read(file, |answer: Answer| collection.add_answer(answer))?;
    }
    let items = collection.items();
    if let Some(path) = &args.to {
        let mut file = WholeFile::create_new(path, "training data", args.force)?;
        for item in &items {
            serde_json::to_writer(&mut file, item).map_err(std::io::Error::from)?;
            file.write_all(b"\n")?;
        }
        // A file of an earlier run is worth more than an empty one.
        if items.is_empty() {
            tell(&format!("no task is decided: `{}` is not written", path.display()));
        } else {
            file.finish()?;
        }
    }
    let agreement = collection.agreement();
    let output = &mut context.output;
    let given = collection.len();
    let record = Record::new(given, &agreement);
    output.report(&record, ONE_ROW, |output| write_table(given, &agreement, output))?;
    output.flush()?;
    if lines.failed > 0 {
        let Lines { read, failed } = lines;
        return Err(LinesFailed { done: "used", failed, lines: read, told: false }.into());
    }
    Ok(Outcome::of(!items.is_empty()))
}

/// Lines read so far, and those that could not be used.
#[derive(Debug, Default)]
struct Lines {
    read: u64,
    failed: u64,
}

impl Lines {
    /// Reads a file line by line; what is wrong with a line is told, and the next one is read.
    fn read<T: DeserializeOwned>(
        &mut self,
        file: &Path,
        mut each: impl FnMut(T) -> Result<(), TaskProblem>,
    ) -> anyhow::Result<()> {
        let mut lines = line_reader::open(Some(file))?;
        while let Some((number, line)) = lines.next()? {
            self.read += 1;
            let parsed = line.and_then(|line| {
                serde_json::from_str(line_reader::filled(&line)?).map_err(|e| LineError::json(&e))
            });
            let used = parsed.and_then(|record| each(record).map_err(|e| refusal(&e)));
            if let Err(LineError { code, message }) = used {
                self.failed += 1;
                tell(&format!("{code}: `{}` line {number}: {message}", file.display()));
            }
        }
        Ok(())
    }
}

fn refusal(problem: &TaskProblem) -> LineError {
    LineError::new(problem.code(), problem.to_string())
}

/// How far annotators agree as JSON; see `schema/align-answers.schema.json`.
#[derive(Debug, Serialize)]
struct Record<'a> {
    given: usize,
    #[serde(flatten)]
    agreement: &'a AnnotatorAgreement,
    exact: Fraction,
    soft: Fraction,
    unaligned_share: Fraction,
    paper_exact: Fraction,
    paper_unaligned_share: Fraction,
}

/// Of the paper's tasks where all three annotators marked a span, the share where it was the same
/// one. And the share of answers that mark none (Culkin et al. 2021, section 4.1).
const PAPER_EXACT: f64 = 0.88;
const PAPER_UNALIGNED: f64 = 0.09;

impl<'a> Record<'a> {
    fn new(given: usize, agreement: &'a AnnotatorAgreement) -> Self {
        Self {
            given,
            agreement,
            exact: agreement.exact(),
            soft: agreement.soft(),
            unaligned_share: agreement.unaligned_share(),
            paper_exact: PAPER_EXACT,
            paper_unaligned_share: PAPER_UNALIGNED,
        }
    }
}

fn write_table(
    given: usize,
    agreement: &AnnotatorAgreement,
    output: &mut Output,
) -> anyhow::Result<()> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let of_several = |text: String| if agreement.shared > 0 { text } else { "-".to_owned() };
    let kappa = |kappa: Option<f64>| kappa.map_or("-".to_owned(), |kappa| format!("{kappa:.3}"));
    let paper = |share: f64| format!("the paper: {:.0} %", 100.0 * share);
    let rows = [
        ("tasks answered", agreement.tasks.to_string(), format!("of {given}")),
        (
            "answers",
            agreement.answers.to_string(),
            format!("of {}", counted(agreement.annotators, "annotator")),
        ),
        ("nothing means the same", percent(agreement.unaligned_share()), paper(PAPER_UNALIGNED)),
        ("tasks answered twice", agreement.shared.to_string(), "or more often".to_owned()),
        (
            "the same span",
            of_several(percent(agreement.exact())),
            format!("where all marked one; {}", paper(PAPER_EXACT)),
        ),
        ("the same words", of_several(percent(agreement.soft())), "F1 between two".to_owned()),
        ("Fleiss' kappa", kappa(agreement.fleiss_kappa), "marked or not".to_owned()),
        ("Cohen's kappa", kappa(agreement.cohen_kappa), "of two annotators".to_owned()),
        ("undecided", agreement.undecided.to_string(), "tasks, left out".to_owned()),
    ];
    for (name, value, note) in rows {
        output.line(&format!("  {name:<24} {value:>9}  {note}"))?;
    }
    Ok(())
}
