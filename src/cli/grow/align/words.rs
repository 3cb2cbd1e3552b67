//! `fnstore align words`: links between the words of sentence pairs.

use std::path::{Path, PathBuf};

use crate::cli::options::named::named;
use anyhow::{Context as _, bail};
use fnstore::align::linker::Linker;
use fnstore::align::words::{
    BadPair, Links, MAX_LENGTH, Model, ModelName, NoPair, SentencePair, Settings, Symmetrization,
    WordAligner, read_pairs,
};
use fnstore::align::{Dataset, EmbeddingAligner, TooLong};
use serde::Serialize;
use serde_json::Value;

use super::{refused, tell_refused};
use crate::cli::error::LinesFailed;
use crate::cli::input::line_reader::LineError;
use crate::cli::options::device::DeviceArgs;
use crate::cli::options::locate::ENCODER;
use crate::cli::options::{locate, number};
use crate::cli::print::output::{Format, Output, counted, tell};
use crate::cli::print::progress;
use crate::cli::print::render::{Block, field_text};
use crate::cli::{Context, Outcome};

/// Align the words of sentence pairs
///
/// A file of pairs has one a line: two texts with a tab between them, or JSON objects with
/// `source` and `target`, texts or lists of words. Either side may be empty. A statistical model
/// knows only the pairs it is trained on, so the pairs to be aligned are part of them: FILE, and
/// what `--train` adds. Links are printed in Pharaoh format (`0-0 1-2`, words counted from 0), one
/// line per line read; the header that `fnstore mine` writes has none. A line that is no pair, or
/// too long for an encoder, has an empty line, or an error with its code in JSON. The other pairs
/// are aligned, and the exit code is 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Pairs to align
    #[arg(value_name = "FILE", required_unless_present = "train")]
    file: Option<PathBuf>,

    #[command(flatten)]
    training: Training,
}

const EXAMPLES: &str = "\
Examples:
  fnstore align words --train pairs.tsv > pairs.links
  fnstore align words new.tsv --train pairs.tsv --model fast-align --symmetrize grow-diag-final-and
  fnstore eval words --data gold.jsonl --train pairs.tsv";

/// What a word aligner is trained with. What was not given is none, so that it can be told what the
/// model would not read.
#[derive(Debug, clap::Args)]
pub(crate) struct Training {
    /// Train on further pairs; may be repeated. Without FILE, these are also the pairs to align
    #[arg(long, value_name = "FILE")]
    pub(crate) train: Vec<PathBuf>,

    /// Alignment model
    #[arg(long, value_parser = named::<ModelName>(), default_value_t = ModelName::Hmm)]
    model: ModelName,

    /// Symmetrization heuristic [default: agreement]
    #[arg(long, value_parser = named::<Symmetrization>())]
    symmetrize: Option<Symmetrization>,

    /// Iterations of expectation maximisation, in each direction [default: 5]
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,

    /// Probability of the empty word, 0 to 1 (model1 learns it) [default: 0.2]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f64>)]
    null: Option<f64>,

    /// Prior weight of identical words; 0 for two languages [default: 20]
    #[arg(long, value_name = "N", value_parser = number::weight)]
    identity: Option<f64>,

    /// Least posterior of a link of `agreement`, 0 to 1 [default: 0.3]
    #[arg(long, value_name = "SHARE", value_parser = number::share::<f64>)]
    threshold: Option<f64>,

    /// Skip training pairs with more than N words on a side; align all pairs [default: 100]
    #[arg(long, value_name = "WORDS")]
    max_length: Option<usize>,

    /// Directory of the linker, as `fnstore train words` wrote it, or of a head that has one
    #[arg(long, value_name = "DIR", required_if_eq("model", "linker"))]
    linker: Option<PathBuf>,

    /// Directory of the encoder of `embeddings` and `linker`, or its name among the models
    /// [default: aligner-encoder; the one that the linker names]
    #[arg(long, value_name = "DIR|NAME")]
    encoder: Option<PathBuf>,

    /// Encoder layer that `embeddings` compares, from 1; 0 is the input embeddings [default: the
    /// last]
    #[arg(long, value_name = "N")]
    layer: Option<usize>,

    /// Directory that holds the models of `embeddings` and `linker`
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

impl Training {
    /// Refuses an option that was given and that the model would not read.
    pub(crate) fn refuse_unread(&self) -> anyhow::Result<()> {
        let options = [
            ("train", !self.train.is_empty()),
            ("symmetrize", self.symmetrize.is_some()),
            ("iterations", self.iterations.is_some()),
            ("null", self.null.is_some()),
            ("identity", self.identity.is_some()),
            ("threshold", self.threshold.is_some()),
            ("max-length", self.max_length.is_some()),
            ("linker", self.linker.is_some()),
            ("encoder", self.encoder.is_some()),
            ("layer", self.layer.is_some()),
            ("models", self.models.is_some()),
            ("device", self.device.is_given()),
        ];
        for (option, given) in options {
            let readers = ModelName::readers_of(option);
            if given && !readers.contains(&self.model) {
                let readers: Vec<String> = readers.iter().map(|it| format!("`{it}`")).collect();
                bail!(
                    "`--model` `{}` does not read `--{option}`, which is for {}; leave it out, or choose \
                     another model",
                    self.model,
                    readers.join(", ")
                );
            }
        }
        let symmetrize = self.symmetrize();
        if self.threshold.is_some() && symmetrize != Symmetrization::Agreement {
            bail!(
                "`--symmetrize` `{symmetrize}` does not read `--threshold`, which is for `{}`; leave one of \
                 them out",
                Symmetrization::Agreement
            );
        }
        Ok(())
    }

    fn symmetrize(&self) -> Symmetrization {
        self.symmetrize.unwrap_or_default()
    }

    /// The links of `pairs`, by a model trained on these and on the pairs of `files`; none of a
    /// pair that is too long for an encoder.
    pub(crate) fn links(
        &self,
        pairs: &Dataset<SentencePair>,
        files: &[PathBuf],
    ) -> anyhow::Result<Vec<Result<Links, TooLong>>> {
        let model = match (self.model.statistical(), self.model) {
            (Some(model), _) => model,
            (None, ModelName::Linker) => return self.linked(pairs),
            (None, _) => return self.nearest(pairs),
        };
        let max_length = self.max_length.unwrap_or(MAX_LENGTH);
        let mut all = pairs.items().to_vec();
        for file in files {
            let mut more = read_pairs(file)?;
            let read = more.len();
            more.retain(|pair| pair.source.len().max(pair.target.len()) <= max_length);
            if more.len() < read {
                tell(&format!(
                    "left out: {} of {} in `{}`, with more than {} on a side",
                    read - more.len(),
                    counted(read as u64, "pair"),
                    file.display(),
                    counted(max_length as u64, "word")
                ));
            }
            all.append(&mut more);
        }
        let bar = progress::bar("training", "iterations");
        let settings = self.settings(model);
        settings.check()?;
        let aligner = WordAligner::train(&all, settings, |at| {
            bar.set_length(at.total as u64);
            bar.set_position(at.done as u64);
        });
        bar.finish_and_clear();
        Ok((0..pairs.len()).map(|pair| Ok(aligner.align(pair))).collect())
    }

    fn nearest(
        &self,
        pairs: &Dataset<SentencePair>,
    ) -> anyhow::Result<Vec<Result<Links, TooLong>>> {
        let name = self.encoder.as_deref().unwrap_or(Path::new(ENCODER));
        let encoder = locate::model(name, &locate::model_dirs(self.models.clone()))?;
        let aligner = EmbeddingAligner::open(&encoder, self.layer, &self.device.open()?)?;
        Ok(aligner.align(pairs.items()).map_err(|error| pairs.blame(error))?)
    }

    fn linked(&self, pairs: &Dataset<SentencePair>) -> anyhow::Result<Vec<Result<Links, TooLong>>> {
        let linker = self.linker.as_deref().context("`--linker` names no directory")?;
        let dirs = locate::model_dirs(self.models.clone());
        let encoder = locate::encoder(self.encoder.as_deref(), linker, &dirs)?;
        let linker = Linker::open(linker, &encoder, &self.device.open()?)?;
        Ok(linker.align(pairs.items()).map_err(|error| pairs.blame(error))?)
    }

    fn settings(&self, model: Model) -> Settings {
        let default = Settings::default();
        Settings {
            model,
            symmetrization: self.symmetrize(),
            iterations: self.iterations.unwrap_or(default.iterations),
            null: self.null.unwrap_or(default.null),
            identity: self.identity.unwrap_or(default.identity),
            threshold: self.threshold.unwrap_or(default.threshold),
            ..default
        }
    }
}

/// One pair as JSON; see `schema/align-words.schema.json`.
#[derive(Debug, Serialize)]
struct Record<'a> {
    #[serde(skip_serializing_if = "Value::is_null")]
    id: Value,
    source: &'a [String],
    target: &'a [String],
    links: Option<&'a Links>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LineError>,
}

impl<'a> Record<'a> {
    fn of_pair(pair: &'a SentencePair, links: &'a Result<Links, TooLong>) -> Self {
        let SentencePair { id, source, target, .. } = pair;
        let error = links.as_ref().err().map(|why| refused(*why));
        let id = if id.is_empty() { Value::Null } else { id.as_str().into() };
        Self { id, source, target, links: links.as_ref().ok(), error }
    }

    /// Of a line that is no pair.
    fn of_no_pair((id, error): (Option<Value>, LineError)) -> Self {
        let id = id.unwrap_or_default();
        Self { id, source: &[], target: &[], links: None, error: Some(error) }
    }

    /// The links as `0-0 1-2`; empty for a pair without links, so that lines match the pairs'.
    fn text(&self) -> String {
        self.links.map_or(String::new(), Links::to_string)
    }
}

impl Block for Record<'_> {
    const COLUMNS: &'static [&'static str] = &["id", "links", "error"];

    fn rows(&self) -> Vec<Vec<String>> {
        let error = self.error.as_ref().map_or("", |error| error.code);
        let id = field_text(&self.id);
        vec![vec![id, self.text(), error.to_owned()]]
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        Ok(output.line(&self.text())?)
    }
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    args.training.refuse_unread()?;
    let (mine, others): (Vec<PathBuf>, &[PathBuf]) = match args.file {
        Some(file) => (vec![file], &args.training.train),
        None => (args.training.train.clone(), &[]),
    };
    let (mut pairs, mut lines) = (Dataset::default(), Vec::new());
    for file in &mine {
        for (line, place) in Dataset::read_every(file)?.into_lines() {
            let error = match line {
                Ok(pair) => {
                    pairs.push(pair, place);
                    None
                }
                Err(BadPair { id, why }) => {
                    let error = no_pair(&why);
                    tell(&format!("{}: {place}: {}", error.code, error.message));
                    Some((id, error))
                }
            };
            lines.push(error);
        }
    }
    let links = args.training.links(&pairs, others)?;
    let bad = lines.iter().flatten().count() as u64;
    let failed = bad + tell_refused(&pairs, &links);
    let mut records = context.output.records(Format::Table);
    let (read, mut aligned) = (lines.len() as u64, pairs.items().iter().zip(&links));
    for error in lines {
        records.block(&match error {
            Some(error) => Record::of_no_pair(error),
            None => {
                let (pair, links) = aligned.next().expect("each pair has been aligned");
                Record::of_pair(pair, links)
            }
        })?;
    }
    records.end_blocks::<Record<'_>>()?;
    if failed > 0 {
        return Err(LinesFailed { done: "aligned", failed, lines: read, told: false }.into());
    }
    Ok(Outcome::of(read > 0))
}

/// The error of a line that is no pair.
fn no_pair(why: &NoPair) -> LineError {
    let code = match why {
        NoPair::Blank => "E-empty",
        NoPair::Line(fault) => fault.code(),
        NoPair::Json(error) => return LineError::json(error),
        NoPair::NoTab => "E-columns",
        _ => "E-span",
    };
    let message = format!("the line has {}: expected {}", why.found(), why.expected());
    LineError::new(code, message)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Program {
        #[command(flatten)]
        _training: Training,
    }

    #[test]
    fn help_states_the_defaults_that_are_taken() {
        let Settings { iterations, null, identity, threshold, .. } = Settings::default();
        let defaults = [
            ("symmetrize", "agreement".to_owned()),
            ("iterations", iterations.to_string()),
            ("null", null.to_string()),
            ("identity", identity.to_string()),
            ("threshold", threshold.to_string()),
            ("max_length", MAX_LENGTH.to_string()),
            ("encoder", ENCODER.to_owned()),
        ];
        let program = Program::command();
        for (id, default) in defaults {
            let option = program.get_arguments().find(|option| option.get_id() == id).unwrap();
            let help = option.get_help().unwrap().to_string();
            assert!(help.contains(&format!("[default: {default}")), "{id}: {help}");
        }
    }
}
