//! `fnstore align tasks`: sentences with paraphrases in which people find the triggers.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use anyhow::ensure;
use fnstore::database::Database;
use fnstore::engine::Numbers;
use fnstore::expand::{TaskSettings, Tasks};
use fnstore::paraphrase::{Paraphraser, base_of};
use fnstore::query::Expression;

use crate::cli::options::device::DeviceArgs;
use crate::cli::options::locate;
use crate::cli::options::named::named;
use crate::cli::options::query::expression;
use crate::cli::print::notices::tell_of_index;
use crate::cli::print::output::{counted, grouped, tell};
use crate::cli::print::progress;
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};

/// Make alignment tasks for annotators
///
/// Samples sentences of each LU from the human annotation sets that the expression finds. Each is
/// paraphrased once; its trigger and the trigger's inflected forms are banned. Writes JSON lines:
/// id, frame, lu, sentence, span (the trigger in it, [start, end) in code points), trigger,
/// paraphrase. `fnstore align answers` reads the annotators' answers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Use the annotation sets that this query finds; human sets only
    #[arg(value_name = "EXPR", required = true)]
    expression: Vec<String>,

    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    making: Making,
}

const EXAMPLES: &str = "\
Examples:
  fnstore align tasks origin=exemplar --out tasks.jsonl
  fnstore align tasks 'frame=Verification pos=v' --per-lu 2 --seed 7 > tasks.jsonl
  fnstore align answers answers.jsonl --tasks tasks.jsonl --to train.jsonl";

/// How tasks are made.
#[derive(Debug, clap::Args)]
pub(crate) struct Making {
    /// Sample at most N sentences of each LU
    #[arg(long, value_name = "N", default_value_t = TaskSettings::default().per_lu)]
    per_lu: usize,

    /// Sample from the N most likely tokens; 0 for all
    #[arg(long, value_name = "N", default_value_t = TaskSettings::default().top_k)]
    top_k: usize,

    /// Seed of the random choices
    #[arg(long, value_name = "N", default_value_t = TaskSettings::default().seed)]
    seed: u64,

    /// Write at most N tasks
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Skip sentences of more than N subword tokens
    #[arg(long, value_name = "N", default_value_t = TaskSettings::default().max_source_pieces)]
    max_pieces: usize,

    /// Directory of the rewriter, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = "paraphrase")]
    model: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,

    /// Number format of the rewriter
    #[arg(long, value_parser = named::<Numbers>(), default_value_t = Numbers::default())]
    numbers: Numbers,
}

/// What became of the sentences.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// Tasks written.
    pub(crate) tasks: u64,
    /// Sentences that were left out, by the reason.
    pub(crate) left_out: BTreeMap<&'static str, u64>,
}

impl Default for Making {
    /// What the options are when none is given.
    fn default() -> Self {
        #[derive(clap::Parser)]
        struct Alone {
            #[command(flatten)]
            making: Making,
        }
        <Alone as clap::Parser>::parse_from(["fnstore"]).making
    }
}

impl Making {
    /// Writes a line for each task.
    pub(crate) fn write(
        &self,
        database: &Database,
        expression: &Expression,
        out: &mut impl Write,
    ) -> anyhow::Result<Made> {
        ensure!(self.per_lu > 0, "sentences of an LU are 0, expected 1 or more");
        let settings = TaskSettings {
            per_lu: self.per_lu,
            top_k: self.top_k,
            seed: self.seed,
            limit: self.limit,
            max_source_pieces: self.max_pieces,
        };
        let dirs = locate::model_dirs(self.models.clone());
        let model = locate::model(&self.model, &dirs)?;
        let (base, device) = (base_of(&model, &dirs)?, self.device.open()?);
        let mut paraphraser =
            Paraphraser::open_with(&model, base.as_deref(), &device, self.numbers)?;
        let mut tasks = Tasks::new(database, expression, &mut paraphraser, settings)?;
        let all = tasks.remaining();
        let bar = progress::bar("paraphrasing", "sentences");
        bar.set_length(all as u64);
        let mut written = 0;
        while let Some(task) = tasks.next() {
            serde_json::to_writer(&mut *out, &task?).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            written += 1;
            bar.set_position((all - tasks.remaining()) as u64);
        }
        bar.finish_and_clear();
        Ok(Made { tasks: written, left_out: tasks.left_out().clone() })
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let expression = expression(&args.expression.join(" "))?;
    let database = context.joined(Database::open(&context.store)?);
    let made = match &args.out {
        Some(path) => {
            let mut file = WholeFile::create_new(path, "tasks", args.force)?;
            let made = args.making.write(&database, &expression, &mut file)?;
            if made.tasks > 0 {
                file.finish()?;
            }
            made
        }
        None => args.making.write(&database, &expression, context.output.data())?,
    };
    tell_of_index(&database);
    context.output.flush()?;
    tell(&counted(made.tasks, "task"));
    for (why, count) in &made.left_out {
        tell(&format!("  {:>9}  left out: {why}", grouped(*count)));
    }
    Ok(Outcome::of(made.tasks > 0))
}
