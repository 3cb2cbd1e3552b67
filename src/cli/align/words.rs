//! `fnstore align words`: links between the words of sentence pairs.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::ValueEnum;
use fnstore::align::linker::Linker;
use fnstore::align::words::{
    Links, Model, SentencePair, Settings, Symmetrization, WordAligner, read_pairs,
};
use fnstore::align::{Dataset, EmbeddingAligner, TooLong};
use serde::Serialize;

use super::{refused, tell_refused};
use crate::cli::device::DeviceArgs;
use crate::cli::error::LinesFailed;
use crate::cli::eval::ENCODER;
use crate::cli::line_reader::LineError;
use crate::cli::output::{Format, tell};
use crate::cli::{Context, Outcome, locate, number, progress};

/// Align the words of sentence pairs
///
/// A file of pairs has one a line: two texts with a tab between them, or in a .jsonl file objects with
/// `source` and `target`, texts or lists of words. A statistical model knows only the pairs it is
/// trained on, so the pairs to be aligned are part of them: FILE, and what `--train` adds. Its links are printed in
/// Pharaoh's form (`0-0 1-2`, words counted from 0), a line for each pair. A pair that is too long for an
/// encoder has none: its line is empty, as JSON it has an error and its code; the others go on, and the
/// program ends with code 65.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Args {
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

/// What a word aligner is trained with.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Training {
    /// Further pairs to train on; may be repeated. Without FILE, the pairs to align
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) train: Vec<PathBuf>,

    /// How words are explained
    #[arg(long, value_enum, default_value_t = ModelName::Hmm)]
    model: ModelName,

    /// How the two directions are combined
    #[arg(long, value_enum, default_value_t = Heuristic::Agreement)]
    symmetrize: Heuristic,

    /// Iterations of expectation maximisation, in each direction
    #[arg(long, value_name = "N", default_value_t = Settings::default().iterations)]
    iterations: usize,

    /// Share of words that nothing explains, 0 to 1 (not for model1, which learns it)
    #[arg(long, value_name = "SHARE", default_value_t = Settings::default().null, value_parser = number::share::<f64>)]
    null: f64,

    /// How much more gladly a word is rewritten as itself, before anything is seen; 0 for two languages
    #[arg(long, value_name = "N", default_value_t = Settings::default().identity, value_parser = number::weight)]
    identity: f64,

    /// Posterior from which on `agreement` takes a link, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = Settings::default().threshold, value_parser = number::share::<f64>)]
    threshold: f64,

    /// Leave out training pairs with a side longer than this (the pairs to align all stay)
    #[arg(long, value_name = "WORDS", default_value_t = 100)]
    max_length: usize,

    /// Directory of the linker, as `fnstore train words` wrote it
    #[arg(long, value_name = "DIR", required_if_eq("model", "linker"))]
    linker: Option<PathBuf>,

    /// Directory of the encoder of `embeddings` and `linker`, or its name among the models
    #[arg(long, value_name = "DIR|NAME", default_value = ENCODER)]
    encoder: PathBuf,

    /// Layer of the encoder whose states `embeddings` compares, from 1; 0 is the embeddings of
    /// words [default: the last]
    #[arg(long, value_name = "N")]
    layer: Option<usize>,

    /// Directory that holds the models
    #[arg(long, value_name = "DIR")]
    models: Option<PathBuf>,

    #[command(flatten)]
    device: DeviceArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModelName {
    /// IBM Model 1
    Model1,
    /// Model 2 with fast_align's diagonal
    FastAlign,
    /// The hidden Markov model
    Hmm,
    /// No training: words whose encoder states are each other's nearest
    Embeddings,
    /// What `fnstore train words` has learnt from gold links
    Linker,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Heuristic {
    Forward,
    Backward,
    Intersection,
    Union,
    GrowDiag,
    GrowDiagFinal,
    GrowDiagFinalAnd,
    /// Where the posteriors of both directions together reach the threshold
    Agreement,
}

impl Training {
    /// The links of `pairs`, by a model trained on these and on the pairs of `files`; none of a pair that
    /// is too long for an encoder.
    pub(in crate::cli) fn links(
        &self,
        pairs: &Dataset<SentencePair>,
        files: &[PathBuf],
    ) -> anyhow::Result<Vec<Result<Links, TooLong>>> {
        let model = match self.model {
            ModelName::Model1 => Model::Model1,
            ModelName::FastAlign => Model::Diagonal,
            ModelName::Hmm => Model::Hmm,
            ModelName::Embeddings => return self.nearest(pairs),
            ModelName::Linker => return self.linked(pairs),
        };
        let mut all = pairs.items().to_vec();
        for file in files {
            let mut more = read_pairs(file)?;
            let read = more.len();
            more.retain(|pair| pair.source.len().max(pair.target.len()) <= self.max_length);
            if more.len() < read {
                tell(&format!(
                    "{} of {read} pairs in `{}` have more than {} words on a side: left out",
                    read - more.len(),
                    file.display(),
                    self.max_length
                ));
            }
            all.append(&mut more);
        }
        let bar = progress::bar("training", "iterations");
        let aligner = WordAligner::train(&all, self.settings(model), |at| {
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
        let encoder = locate::model(&self.encoder, &locate::model_dirs(self.models.clone()))?;
        let aligner = EmbeddingAligner::open(&encoder, self.layer, &self.device.open()?)?;
        Ok(aligner.align(pairs.items()).map_err(|error| pairs.blame(error))?)
    }

    fn linked(&self, pairs: &Dataset<SentencePair>) -> anyhow::Result<Vec<Result<Links, TooLong>>> {
        let linker = self.linker.as_deref().context("`--linker` names no directory")?;
        let encoder = locate::model(&self.encoder, &locate::model_dirs(self.models.clone()))?;
        let linker = Linker::open(linker, &encoder, &self.device.open()?)?;
        Ok(linker.align(pairs.items()).map_err(|error| pairs.blame(error))?)
    }

    fn settings(&self, model: Model) -> Settings {
        Settings {
            model,
            symmetrization: match self.symmetrize {
                Heuristic::Forward => Symmetrization::Forward,
                Heuristic::Backward => Symmetrization::Backward,
                Heuristic::Intersection => Symmetrization::Intersection,
                Heuristic::Union => Symmetrization::Union,
                Heuristic::GrowDiag => Symmetrization::GrowDiag,
                Heuristic::GrowDiagFinal => Symmetrization::GrowDiagFinal,
                Heuristic::GrowDiagFinalAnd => Symmetrization::GrowDiagFinalAnd,
                Heuristic::Agreement => Symmetrization::Agreement,
            },
            iterations: self.iterations,
            null: self.null,
            identity: self.identity,
            threshold: self.threshold,
            ..Settings::default()
        }
    }
}

/// One pair as JSON; see `schema/align-words.schema.json`.
#[derive(Debug, Serialize)]
struct Record<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    source: &'a [String],
    target: &'a [String],
    links: Option<&'a Links>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LineError>,
}

pub(super) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let (mine, others): (Vec<PathBuf>, &[PathBuf]) = match args.file {
        Some(file) => (vec![file], &args.training.train),
        None => (args.training.train.clone(), &[]),
    };
    let mut pairs = Dataset::default();
    for file in &mine {
        pairs.append(Dataset::<SentencePair>::read(file)?);
    }
    let links = args.training.links(&pairs, others)?;
    let output = &mut context.output;
    let format = output.format_or(Format::Table);
    for (SentencePair { id, source, target, .. }, links) in pairs.items().iter().zip(&links) {
        match format {
            Format::Json | Format::Jsonl => {
                let error = links.as_ref().err().map(|why| refused(*why));
                let links = links.as_ref().ok();
                output.record(&Record { id, source, target, links, error }, format)?;
            }
            // A pair without links has an empty line, so that lines stay side by side with the pairs'.
            _ => output.line(&links.as_ref().map_or(String::new(), Links::to_string))?,
        }
    }
    if matches!(format, Format::Json | Format::Jsonl) {
        output.end_records(format)?;
    }
    output.flush()?;
    let failed = tell_refused(&pairs, &links);
    if failed > 0 {
        return Err(LinesFailed { done: "aligned", failed, lines: pairs.len() as u64 }.into());
    }
    Ok(if pairs.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}
