//! `fnstore eval nli`: what rewriting does to a classifier of entailment pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fnstore::augment::{
    Answers, ArmsReport, AugmentedPair, Brittleness, Changes, ClassifierOptions, EntailmentPair,
    PairReader, compare_arms, mean_and_deviation,
};
use fnstore::model::{Amount, Fraction, Positive, Split};
use serde::Serialize;

use crate::cli::input::line_reader::LineError;
use crate::cli::input::table_lines::{Fields, TableLines};
use crate::cli::options::device::DeviceArgs;
use crate::cli::options::locate::ENCODER;
use crate::cli::options::{locate, number};
use crate::cli::print::output::{Output, counted, grouped, tell};
use crate::cli::print::progress;
use crate::cli::print::render::{Row, rows_of};
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};

/// Measure what rewriting does to a classifier of entailment pairs
///
/// Reads what `fnstore augment nli` wrote of a table with the splits train, dev and test. For each
/// seed a small network over a frozen encoder is trained on the original pairs, and another on all
/// of them. Each is asked on original pairs, and on originals and rewritings together, with weights
/// searched on dev (Hu et al. 2019, Tables 3 and 4). The labels are those of the training pairs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Augmented pairs to read [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Train with the seeds 1 to N
    #[arg(long, value_name = "N", default_value = "5")]
    seeds: NonZeroUsize,

    /// Hidden units [default: 16]
    #[arg(long, value_name = "N")]
    hidden: Option<NonZeroUsize>,

    /// Epochs, of which the best on dev is kept [default: 30]
    #[arg(long, value_name = "N")]
    epochs: Option<NonZeroUsize>,

    /// Learning rate [default: 0.002]
    #[arg(long, value_name = "RATE", value_parser = number::learning_rate)]
    learning_rate: Option<f32>,

    /// Write what both classifiers of seed 1 say of dev and test to DIR/baseline.tsv and
    /// DIR/train.tsv, as `fnstore augment aggregate` reads it
    #[arg(long, value_name = "DIR")]
    predictions: Option<PathBuf>,

    /// Directory of the encoder, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = ENCODER)]
    encoder: PathBuf,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore augment nli rte.tsv > augmented.jsonl
  fnstore eval nli augmented.jsonl
  fnstore eval nli augmented.jsonl --predictions said --format json
  fnstore augment aggregate said/train.tsv --classes entailment,no";

/// What each line must have.
const NAMES: [&str; 6] = ["id", "split", "variant", "label", "premise", "hypothesis"];

/// A line of the input.
struct Line {
    number: u64,
    id: String,
    part: Split,
    variant: String,
    label: String,
    texts: [String; 2],
}

impl Line {
    fn read(fields: &Fields) -> Result<Self, LineError> {
        let split = fields.required("split")?;
        let Some(part) = Split::parse(split) else {
            let message = format!("`{split}` is no split: expected train, dev or test");
            return Err(LineError::new("E-split", message));
        };
        let own = |name: &str| fields.required(name).map(str::to_owned);
        Ok(Self {
            number: 0,
            id: own("id")?,
            part,
            variant: own("variant")?,
            label: own("label")?,
            texts: [own("premise")?, own("hypothesis")?],
        })
    }
}

/// Reads the lines whose labels training pairs have, and these labels.
fn read(lines: &mut TableLines) -> anyhow::Result<(Vec<Line>, Vec<String>)> {
    let mut read = Vec::new();
    while let Some((number, line)) = lines.next(Line::read)? {
        read.push(Line { number, ..line });
    }
    let trained = read.iter().filter(|line| line.part == Split::Train);
    let labels: BTreeSet<String> = trained.map(|line| line.label.clone()).collect();
    let labels: Vec<String> = labels.into_iter().collect();
    if !labels.is_empty() {
        read.retain(|Line { number, label, .. }| {
            let is_known = labels.contains(label);
            if !is_known {
                let message = format!(
                    "`{label}` is no label of a training pair: expected {}",
                    labels.join(", ")
                );
                lines.leave_out(*number, &LineError::new("E-label", message));
            }
            is_known
        });
    }
    Ok((read, labels))
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let output = &mut context.output;
    let mut lines = TableLines::open(args.file.as_deref(), &NAMES)?;
    let (read, labels) = read(&mut lines)?;
    let mut said = args.predictions.as_deref().map(|dir| Said::create(dir, &labels)).transpose()?;

    let device = args.device.open()?;
    let encoder = locate::model(&args.encoder, &locate::model_dirs(args.models.clone()))?;
    let texts = read
        .iter()
        .map(|line| EntailmentPair { premise: &line.texts[0], hypothesis: &line.texts[1] });
    let texts: Vec<EntailmentPair<'_>> = texts.collect();
    let bar = progress::bar("encoding", "pairs");
    bar.set_length(texts.len() as u64);
    let features = PairReader::open(&encoder, &device)?
        .features(&texts, |done| bar.set_position(done as u64))?;
    bar.finish_and_clear();
    if features.shortened > 0 {
        tell(&format!(
            "of {} a sentence is too long for the encoder: its end was not read",
            counted(features.shortened, "pair")
        ));
    }

    let class = |label: &String| labels.iter().position(|other| other == label);
    let pairs = read.iter().map(|line| AugmentedPair {
        id: line.id.clone(),
        part: line.part,
        variant: line.variant.clone(),
        class: class(&line.label).expect("lines without a known label were left out"),
    });
    let pairs: Vec<AugmentedPair> = pairs.collect();
    let mut options = ClassifierOptions::default();
    options.hidden = args.hidden.map_or(options.hidden, NonZeroUsize::get);
    let training = &mut options.training;
    training.epochs = args.epochs.map_or(training.epochs, NonZeroUsize::get);
    training.patience = training.epochs;
    training.learning_rate = args.learning_rate.unwrap_or(training.learning_rate);
    let seeds: Vec<u64> = (1..=args.seeds.get() as u64).collect();
    let bar = progress::bar("training", "classifiers");
    bar.set_length(2 * seeds.len() as u64);
    let mut failed = None;
    let hear = |answers: &Answers<'_>| {
        bar.inc(1);
        if let Some(said) = said.as_mut().filter(|_| answers.seed == 1) {
            failed = said.write(answers, &pairs, &labels).err().or(failed.take());
        }
    };
    let report = compare_arms(&pairs, &features, &labels, &options, &seeds, &device, hear)?;
    bar.finish_and_clear();
    failed.map_or(Ok(()), Err)?;
    said.map_or(Ok(()), Said::finish)?;
    write(Document::new(&report, labels, seeds.len()), output)?;
    output.flush()?;
    lines.finish("used")?;
    Ok(Outcome::Done)
}

/// The files of predictions.
struct Said([WholeFile; 2]);

impl Said {
    fn create(dir: &Path, labels: &[String]) -> anyhow::Result<Self> {
        std::fs::create_dir_all(dir)
            .with_context(|| format!("cannot make the directory `{}`", dir.display()))?;
        let create = |name: &str| -> anyhow::Result<WholeFile> {
            let mut file = WholeFile::create(&dir.join(name), "predictions")?;
            writeln!(file, "split\tid\tvariant\tlabel\t{}", labels.join("\t"))?;
            Ok(file)
        };
        Ok(Self([create("baseline.tsv")?, create("train.tsv")?]))
    }

    fn write(
        &mut self,
        answers: &Answers<'_>,
        pairs: &[AugmentedPair],
        labels: &[String],
    ) -> anyhow::Result<()> {
        let file = &mut self.0[usize::from(answers.is_trained)];
        for (at, shares) in answers.pairs.iter().zip(answers.shares) {
            let AugmentedPair { id, part, variant, class } = &pairs[*at];
            let shares: Vec<String> = shares.iter().map(|share| format!("{share:.6}")).collect();
            let (split, label, shares) = (part.as_str(), &labels[*class], shares.join("\t"));
            writeln!(file, "{split}\t{id}\t{variant}\t{label}\t{shares}")?;
        }
        Ok(())
    }

    fn finish(self) -> anyhow::Result<()> {
        self.0.into_iter().try_for_each(WholeFile::finish)
    }
}

/// What came out as JSON; see `schema/eval-nli.schema.json`.
#[derive(Debug, Serialize)]
struct Document {
    labels: Vec<String>,
    dev_items: usize,
    test_items: usize,
    /// Training pairs: originals, and all.
    trained_on: [Positive<usize>; 2],
    seeds: Positive<usize>,
    /// Share of the test items with the most frequent label of the training pairs.
    majority: Fraction,
    arms: Vec<ArmRecord>,
    changes: Vec<ChangeRecord>,
    /// For each seed the weights of variants that were found on `dev`: of the classifier trained on
    /// originals, and of the other.
    weights: Vec<[BTreeMap<String, Amount>; 2]>,
}

/// A row of Table 3.
#[derive(Debug, Serialize)]
struct ArmRecord {
    /// JSON `{"enum": ["baseline", "+agg", "+train", "+train+agg"]}`.
    arm: &'static str,
    dev: Fraction,
    dev_deviation: Amount,
    test: Fraction,
    test_deviation: Amount,
    dev_runs: Vec<Fraction>,
    test_runs: Vec<Fraction>,
}

/// A column of Table 4, over all seeds.
#[derive(Debug, Serialize)]
struct ChangeRecord {
    /// JSON `{"enum": ["baseline", "+train"]}`.
    trained: &'static str,
    /// JSON `{"enum": ["dev", "test"]}`.
    split: Split,
    variant: String,
    #[serde(flatten)]
    changes: Changes,
}

impl Document {
    fn new(report: &ArmsReport, labels: Vec<String>, seeds: usize) -> Self {
        let arms = report.arms.iter().map(|arm| {
            let (dev, dev_deviation) = mean_and_deviation(&arm.dev);
            let (test, test_deviation) = mean_and_deviation(&arm.test);
            ArmRecord {
                arm: match (arm.is_trained, arm.is_aggregated) {
                    (false, false) => "baseline",
                    (false, true) => "+agg",
                    (true, false) => "+train",
                    (true, true) => "+train+agg",
                },
                dev,
                dev_deviation,
                test,
                test_deviation,
                dev_runs: arm.dev.clone(),
                test_runs: arm.test.clone(),
            }
        });
        let change = |of: &Brittleness| ChangeRecord {
            trained: if of.is_trained { "+train" } else { "baseline" },
            split: of.part,
            variant: of.variant.clone(),
            changes: of.changes,
        };
        Self {
            labels,
            dev_items: report.items[0],
            test_items: report.items[1],
            trained_on: report.trained_on,
            seeds,
            majority: report.majority,
            arms: arms.collect(),
            changes: report.brittleness.iter().map(change).collect(),
            weights: report.weights.clone(),
        }
    }
}

impl Row for ArmRecord {
    const COLUMNS: &'static [&'static str] =
        &["arm", "dev", "dev_deviation", "test", "test_deviation"];

    fn cells(&self) -> Vec<String> {
        let numbers = [self.dev, self.dev_deviation, self.test, self.test_deviation];
        let percent = numbers.map(|share| format!("{:.2}", 100.0 * share));
        [self.arm.to_owned()].into_iter().chain(percent).collect()
    }
}

impl Row for ChangeRecord {
    const COLUMNS: &'static [&'static str] = &[
        "trained",
        "split",
        "variant",
        "items",
        "unchanged",
        "wrong_to_right",
        "right_to_wrong",
        "wrong_to_wrong",
    ];

    fn cells(&self) -> Vec<String> {
        let Changes { items, unchanged, wrong_to_right, right_to_wrong, wrong_to_wrong, .. } =
            self.changes;
        let percent = |count: u64| format!("{:.2}", 100.0 * count as f64 / items.max(1) as f64);
        vec![
            self.trained.to_owned(),
            self.split.to_string(),
            self.variant.clone(),
            items.to_string(),
            percent(unchanged),
            percent(wrong_to_right),
            percent(right_to_wrong),
            percent(wrong_to_wrong),
        ]
    }
}

fn write(document: Document, output: &mut Output) -> anyhow::Result<()> {
    output.report(&document, rows_of(&document.arms), |output| {
        output.table_of(&document.arms)?;
        output.line(&format!(
            "right in percent, mean and standard deviation of {}; {} dev and {}; trained on {}, +train on {}; the most frequent label has {:.2} of test",
            counted(document.seeds as u64, "seed"),
            grouped(document.dev_items as u64),
            counted(document.test_items as u64, "test item"),
            counted(document.trained_on[0] as u64, "pair"),
            grouped(document.trained_on[1] as u64),
            100.0 * document.majority
        ))?;
        output.line("")?;
        output.heading("predictions that change from the original, in percent of all seeds' items")?;
        output.table_of(&document.changes)
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        _args: Args,
    }

    #[test]
    fn help_states_the_defaults_that_are_taken() {
        let ClassifierOptions { hidden, training } = ClassifierOptions::default();
        let program = Program::command();
        for (id, default) in [
            ("hidden", hidden.to_string()),
            ("epochs", training.epochs.to_string()),
            ("learning_rate", training.learning_rate.to_string()),
        ] {
            let option = program.get_arguments().find(|option| option.get_id() == id).unwrap();
            let help = option.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {default}]")), "{id}: {help}");
        }
    }
}
