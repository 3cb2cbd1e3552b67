//! `fnstore train choice`: which of several outputs an expansion keeps, from judgements.

use std::path::PathBuf;

use fnstore::filter::Judged;
use fnstore::filter::train::{ChoiceFigures, TrainedChoice, choice};
use serde::Serialize;

use crate::cli::print::output::counted;
use crate::cli::print::render::{Row, rows_of};
use crate::cli::{Context, Outcome};

use super::settings::WeightsFileArgs;

/// Fit the weights by which an expansion chooses among outputs, on judgements
///
/// Two logistic functions learn which outputs evoke the frame, and which also say what their source
/// says. They look at the scores of rewriter and aligner, the verifier's answers (`fnstore verify`)
/// and the likelihood of the source. They need judgements of both: of the frame, and under the
/// question `meaning` of those that evoke it. What is printed is of weights that saw nothing of an
/// output's sentence. In a verifier's directory the file, called `choice.toml`, decides under
/// `--choice judged`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Judged outputs: JSON lines, as `fnstore export 'judgement>=0' --to filter-data` writes them;
    /// several times for several files
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,

    #[command(flatten)]
    file: WeightsFileArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore judge g1024 100 --reviewer kim && fnstore judge g1024 0 --reviewer kim --question meaning
  fnstore verify 'judgement>=0' && fnstore export 'judgement>=0' --to filter-data judged.jsonl
  fnstore train choice --data judged.jsonl --out choice.toml";

/// What was fitted as JSON; see `schema/train-choice.schema.json`.
#[derive(Debug, Serialize)]
struct ChoiceRecord {
    /// Where the weights are.
    out: String,
    /// Sentences of the seeds.
    sentences: u64,
    /// How good such weights are, by question.
    rows: [ChoiceFigures; 2],
}

impl Row for ChoiceFigures {
    const COLUMNS: &'static [&'static str] = &[
        "question",
        "outputs",
        "right",
        "order",
        "rounds",
        "likeliest_right",
        "chosen_right",
        "any_right",
    ];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let data = Judged::read_all(&args.data)?;
    let TrainedChoice { weights, figures, sentences } = choice(&data)?;
    args.file.write("choice", &weights.text())?;
    let record =
        ChoiceRecord { out: args.file.out.display().to_string(), sentences, rows: figures };
    context.output.report(&record, rows_of(&record.rows), |output| {
        output.heading(&format!("the weights are in {}", record.out))?;
        output.table_of(&record.rows)?;
        Ok(output.line(&format!(
            "of {}, by weights that did not see an output's; `order` is the area under the ROC curve, the last \
             columns count rounds of several outputs",
            counted(record.sentences, "sentence")
        ))?)
    })?;
    Ok(Outcome::Done)
}
