//! `fnstore model`: the models there are, whether they are whole, a new one, and the one to use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use fnstore::engine::declare_languages;
use fnstore::expand::{FILTER, WORD_VECTORS};
use fnstore::model::{Hex64, Languages};
use fnstore::models::{
    self, Description, Finding, FindingCode, ModelCheck, ModelError, ModelKind, VERIFIER, add,
    default_rewriter, describe, models_in, record_sums, verify,
};
use fnstore::paraphrase::PROMPT;
use serde::Serialize;

use crate::cli::options::generator::INFILLER;
use crate::cli::options::identifier::IDENTIFIER;
use crate::cli::options::labeller::LABELLER;
use crate::cli::options::locate::{self, ModelPlace};
use crate::cli::options::locate::{ENCODER, HEAD};
use crate::cli::options::tagger::TAGGER;
use crate::cli::print::output::{Format, Output, grouped, size, tell};
use crate::cli::print::render::{Block, ONE_ROW, Row};
use crate::cli::{Context, Outcome};

/// List, check and add models, and choose the rewriter
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    task: Task,

    /// Directory of models to work in [default: FNSTORE_MODELS, else fnstore/models in the
    /// platform's data directory, which is where a model is added; `list` and `verify` look where
    /// `expand` does]
    #[arg(long, global = true, value_name = "DIR")]
    models: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  fnstore model list
  fnstore model add ~/checkpoints/flan-t5-paraphrase && fnstore model use flan-t5-paraphrase
  fnstore model verify paraphrase --format json
  fnstore model use paraphrase          # back to the one that comes with the program";

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// List the models: what they are, where they lie, which are taken when none is named
    List,
    Verify(VerifyArgs),
    Add(AddArgs),
    Use(UseArgs),
}

/// Check that models can be used
///
/// Loads each on the CPU: every weight must be there, of the right shape and finite, and the
/// tokenizer must belong to it. Files are compared with the hashes in its BLAKE3SUMS, where it has
/// one. Exits with 1 when something is wrong.
#[derive(Debug, clap::Args)]
struct VerifyArgs {
    /// Names or directories of models [default: all that `list` shows]
    #[arg(value_name = "DIR|NAME")]
    models_to_check: Vec<PathBuf>,

    /// Write the hashes of models that load into their BLAKE3SUMS, in place of earlier ones
    #[arg(long, requires = "models_to_check")]
    record: bool,
}

/// Add a checkpoint as Hugging Face transformers writes them (Marian, BART, T5 or Flan-T5, BERT;
/// Llama, Qwen 2 and 3, Gemma 3), a language model's GGUF file, or an adapter
///
/// The directory or file is checked as by `verify` and copied, whole or not at all.
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Directory with config.json, model.safetensors (or its shards) and tokenizer.json; or with
    /// adapter_config.json; or a GGUF file, with which its prompt.toml is copied
    #[arg(value_name = "DIR|FILE.gguf")]
    checkpoint: PathBuf,

    /// Name among the models [default: that of the directory or file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Languages that it is made for, as in en,fr; `mul` for any [default: what it says itself]
    #[arg(long, value_name = "TAG,...", value_parser = languages)]
    language: Option<Languages>,
}

/// Reads tags of languages.
fn languages(tags: &str) -> Result<Languages, String> {
    Languages::of(tags.split(','))
        .ok_or_else(|| "expected tags parted by commas, as en,fr".to_owned())
}

/// Make a rewriter the one that `expand` and `paraphrase` take when none is named
#[derive(Debug, clap::Args)]
struct UseArgs {
    /// Its name, as `list` shows it
    #[arg(value_name = "NAME")]
    name: String,
}

/// A model as JSON; see `schema/model.schema.json`.
#[derive(Debug, Serialize)]
struct ModelRecord {
    name: String,
    path: PathBuf,
    place: ModelPlace,
    /// Whether it is taken when no model of its kind is named.
    is_default: bool,
    /// Whether a directory that is looked at earlier has a model of this name.
    is_hidden: bool,
    kind: Option<ModelKind>,
    /// JSON `{"enum": ["marian", "bart", "t5", "bert", "head", "table", "classifier", "llama",
    /// "qwen2", "qwen3", "gemma3", "lora", null]}`.
    layout: Option<&'static str>,
    bytes: Option<u64>,
    weights: Option<u64>,
    numbers: BTreeMap<String, u64>,
    fingerprint: Option<Hex64>,
    /// The licence that the weights' file names.
    licence: Option<String>,
    /// Tags of the languages that it is made for; null where it declares none.
    languages: Option<Vec<String>>,
    /// Why nothing more can be said of it.
    problem: Option<String>,
}

/// A model that was checked, as JSON; see `schema/model-check.schema.json`.
#[derive(Debug, Serialize)]
struct CheckRecord {
    name: String,
    path: PathBuf,
    is_whole: bool,
    has_sums: bool,
    fingerprint: Option<Hex64>,
    findings: Vec<Finding>,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let models = args.models;
    let output = &mut context.output;
    match args.task {
        Task::List => list(models, output),
        Task::Verify(args) => check(args, models, output),
        Task::Add(args) => add_one(args, models, output),
        Task::Use(args) => choose(&args.name, models, output),
    }
}

fn list(models: Option<PathBuf>, output: &mut Output) -> anyhow::Result<Outcome> {
    let records = all(models.clone())?;
    output.rows(Format::Jsonl, &records)?;
    for record in &records {
        if let Some(problem) = &record.problem {
            tell(&format!("warning: `{}` cannot be used: {problem}", record.path.display()));
        }
    }
    if records.is_empty() {
        let dirs = locate::listed(&locate::model_dirs(models));
        tell(&format!("there is no model in {dirs}; `fnstore model add DIR` adds one"));
        return Ok(Outcome::NothingFound);
    }
    Ok(Outcome::Done)
}

impl Row for ModelRecord {
    const COLUMNS: &'static [&'static str] = &[
        "name",
        "is_default",
        "kind",
        "layout",
        "weights",
        "bytes",
        "place",
        "path",
        "fingerprint",
        "languages",
    ];

    const TABLE_COLUMNS: &'static [&'static str] = &[
        "name",
        "is_default",
        "kind",
        "layout",
        "weights",
        "numbers",
        "bytes",
        "place",
        "languages",
        "fingerprint",
    ];

    fn cells(&self) -> Vec<String> {
        let mark = match (self.is_default, self.is_hidden) {
            (true, _) => "default",
            (_, true) => "hidden",
            _ => "",
        };
        let numbers = self.numbers.iter().max_by_key(|(_, count)| **count);
        let text = |text: Option<&'static str>| text.unwrap_or("?").to_owned();
        vec![
            self.name.clone(),
            mark.to_owned(),
            text(self.kind.map(ModelKind::as_str)),
            text(self.layout),
            self.weights.map_or(String::new(), grouped),
            numbers.map_or(String::new(), |(format, _)| format.clone()),
            self.bytes.map_or(String::new(), size),
            self.place.to_string(),
            self.languages.as_ref().map_or_else(|| "?".to_owned(), |tags| tags.join(" ")),
            // Enough to tell models apart; the JSON has all of it.
            self.fingerprint.as_deref().map_or("", |print| &print[..12]).to_owned(),
        ]
    }
}

/// Every model of every place, in the order in which they are looked for.
fn all(models: Option<PathBuf>) -> anyhow::Result<Vec<ModelRecord>> {
    let places = locate::model_places(models);
    let dirs: Vec<PathBuf> = places.iter().map(|(_, dir)| dir.clone()).collect();
    let (rewriter, _) = default_rewriter(&dirs)?;
    let mut records: Vec<ModelRecord> = Vec::new();
    for (place, dir) in places {
        for (name, described) in models_in(&dir)? {
            let is_hidden = records.iter().any(|record| record.name == name);
            let mut record = record(name, dir.as_path(), place, described);
            record.is_hidden = is_hidden;
            record.is_default = !is_hidden && {
                let default = match record.kind {
                    Some(ModelKind::Encoder) => ENCODER,
                    Some(ModelKind::Aligner) => HEAD,
                    Some(ModelKind::Tagger) => TAGGER,
                    Some(ModelKind::Identifier) => IDENTIFIER,
                    Some(ModelKind::Labeller) => LABELLER,
                    Some(ModelKind::Infiller) => INFILLER,
                    Some(ModelKind::Verifier) => VERIFIER,
                    Some(ModelKind::WordVectors) => WORD_VECTORS,
                    Some(ModelKind::Filter) => FILTER,
                    _ => rewriter.as_str(),
                };
                record.name == default
            };
            records.push(record);
        }
    }
    Ok(records)
}

fn record(
    name: String,
    dir: &Path,
    place: ModelPlace,
    described: Result<Description, ModelError>,
) -> ModelRecord {
    let path = dir.join(&name);
    let (description, problem) = match described {
        Ok(description) => (Some(description), None),
        Err(error) => (None, Some(format!("{:#}", anyhow::Error::from(error)))),
    };
    let of = description.as_ref();
    ModelRecord {
        name,
        path,
        place,
        is_default: false,
        is_hidden: false,
        kind: of.map(|model| model.kind),
        layout: of.map(|model| model.layout),
        bytes: of.map(|model| model.bytes),
        weights: of.map(Description::weights),
        numbers: of.map_or_else(BTreeMap::new, |model| model.formats.clone()),
        fingerprint: of.map(|model| model.fingerprint.to_string()),
        licence: of.and_then(|model| model.licence.clone()),
        languages: of
            .and_then(|model| model.languages.as_ref())
            .map(|languages| languages.tags().map(str::to_owned).collect()),
        problem,
    }
}

fn check(
    args: VerifyArgs,
    models: Option<PathBuf>,
    output: &mut Output,
) -> anyhow::Result<Outcome> {
    let dirs = locate::model_dirs(models.clone());
    let paths: Vec<PathBuf> = if args.models_to_check.is_empty() {
        all(models)?.into_iter().map(|record| record.path).collect()
    } else {
        let named = args.models_to_check.iter().map(|name| locate::model(name, &dirs));
        named.collect::<anyhow::Result<_>>()?
    };
    if paths.is_empty() {
        return Outcome::nothing("there is no model to check; `fnstore model add DIR` adds one");
    }
    let mut records = output.records(Format::Table);
    let mut wrong = 0;
    for path in paths {
        let mut checked = verify(&path, &dirs);
        if args.record {
            checked.findings.retain(|finding| finding.code != FindingCode::Sum);
            if checked.findings.is_empty() {
                record_sums(&path)?;
                checked.has_sums = true;
            }
        }
        wrong += u64::from(!checked.findings.is_empty());
        let record = check_record(&path, checked);
        records.block(&record)?;
    }
    records.end_blocks::<CheckRecord>()?;
    Ok(if wrong > 0 { Outcome::CheckFailed } else { Outcome::Done })
}

impl Block for CheckRecord {
    const COLUMNS: &'static [&'static str] = &["name", "code", "detail"];

    fn rows(&self) -> Vec<Vec<String>> {
        let findings = self.findings.iter();
        let row =
            |of: &Finding| vec![self.name.clone(), of.code.as_str().to_owned(), of.detail.clone()];
        findings.map(row).collect()
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let verdict = match (self.is_whole, self.has_sums) {
            (false, _) => "cannot be used as it is",
            (true, true) => "whole, and the files that were recorded",
            (true, false) => "whole; no BLAKE3SUMS to compare its files with",
        };
        output.headed(&self.name, verdict)?;
        for Finding { code, detail } in &self.findings {
            output.line(&format!("  {}  {detail}", code.as_str()))?;
        }
        Ok(())
    }
}

fn check_record(path: &Path, checked: ModelCheck) -> CheckRecord {
    let findings = checked.findings;
    CheckRecord {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        path: path.to_owned(),
        is_whole: findings.is_empty(),
        has_sums: checked.has_sums,
        fingerprint: describe(path).ok().map(|model| model.fingerprint.to_string()),
        findings,
    }
}

fn add_one(args: AddArgs, models: Option<PathBuf>, output: &mut Output) -> anyhow::Result<Outcome> {
    let checkpoint = &args.checkpoint;
    if !checkpoint.is_dir() && !models::is_model(checkpoint) {
        bail!(
            "there is no directory and no GGUF file `{}`; expected a checkpoint with config.json, \
             model.safetensors and tokenizer.json, an adapter, or a file `NAME.gguf`",
            checkpoint.display()
        );
    }
    let name = match args.name {
        Some(name) => name,
        None => own_name(checkpoint)?,
    };
    let dir = locate::own_models(models.clone())?;
    let dirs = locate::model_dirs(models.clone());
    // Said before anything is copied, if the choice cannot be read.
    default_rewriter(&dirs)?;
    let added = add(checkpoint, &dir, &name, &dirs)?;
    if let Some(languages) = &args.language {
        declare_languages(&added.path, languages)
            .with_context(|| format!("cannot write into `{}`", added.path.display()))?;
    }
    let record = listed(&added.path, models)?;
    show(&record, output)?;
    output.flush()?;
    let next = match added.kind {
        _ if rewrites(&added) && !record.is_default && !record.is_hidden => {
            format!("; `fnstore model use {name}` makes it the one to rewrite with")
        }
        _ => String::new(),
    };
    tell(&format!("added `{name}` to {}{next}", dir.display()));
    if record.is_hidden {
        tell(&format!(
            "warning: a directory that is looked at earlier has a model `{name}`, which is taken in its \
             place; add it under another name with `--name NAME`"
        ));
    }
    Ok(Outcome::Done)
}

/// The name of a checkpoint's directory; a link's is its own.
fn own_name(checkpoint: &Path) -> anyhow::Result<String> {
    let name = if checkpoint.is_file() { checkpoint.file_stem() } else { checkpoint.file_name() };
    if let Some(name) = name {
        return Ok(name.to_string_lossy().into_owned());
    }
    // `.` and `..` have no name of their own.
    let real = checkpoint
        .canonicalize()
        .with_context(|| format!("cannot find the name of `{}`", checkpoint.display()))?;
    Ok(real.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// The record that `list` shows of a model.
fn listed(path: &Path, models: Option<PathBuf>) -> anyhow::Result<ModelRecord> {
    let found = all(models)?.into_iter().find(|record| record.path == path);
    found.with_context(|| format!("there is no model in `{}` any more", path.display()))
}

/// Whether a model can be called so: a path is no name, and what is hidden is none.
fn is_name(name: &str) -> bool {
    Path::new(name).file_name() == Some(name.as_ref()) && !name.starts_with('.')
}

fn choose(name: &str, models: Option<PathBuf>, output: &mut Output) -> anyhow::Result<Outcome> {
    let dir = locate::own_models(models.clone())?;
    let places = locate::model_places(models.clone());
    let holder = places.iter().find(|(_, dir)| is_name(name) && models::is_model(&dir.join(name)));
    let Some((_, holder)) = holder else {
        let names: Vec<String> = places.iter().flat_map(|(_, dir)| names_in(dir)).collect();
        bail!(
            "there is no model `{name}`; there are {}; `fnstore model add DIR` adds one",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        );
    };
    let description = describe(&holder.join(name))?;
    if description.kind == ModelKind::LanguageModel && !rewrites(&description) {
        bail!(
            "`{name}` is a language model without a `{PROMPT}` beside it, by which it would rewrite; \
             `docs/reference/models.md` says how to write one"
        );
    }
    if !rewrites(&description) {
        let is_vowel = description.kind.as_str().starts_with(['a', 'e', 'i']);
        let article = if is_vowel { "an" } else { "a" };
        bail!(
            "`{name}` is {article} {}, expected a rewriter; `fnstore model list` shows which are",
            description.kind.as_str()
        );
    }
    let file = models::prefer(&dir, name)?;
    let record = listed(&holder.join(name), models.clone())?;
    show(&record, output)?;
    output.flush()?;
    if record.is_default {
        tell(&format!("`expand` and `paraphrase` now take `{name}`; {} says so", file.display()));
    } else {
        let (taken, earlier) = default_rewriter(&locate::model_dirs(models))?;
        let earlier = earlier.unwrap_or_default();
        tell(&format!(
            "warning: `expand` and `paraphrase` take `{taken}` still, since `{}` comes before {}; \
             remove it, or name the model with `--model`",
            earlier.display(),
            file.display()
        ));
    }
    Ok(Outcome::Done)
}

/// Whether a model can be the one to rewrite with: a language model is told how by its prompt.
fn rewrites(model: &Description) -> bool {
    match model.kind {
        ModelKind::Paraphraser | ModelKind::Adapter => true,
        ModelKind::LanguageModel => model.path.join(PROMPT).is_file(),
        _ => false,
    }
}

/// Names of the models in a directory, quoted.
fn names_in(dir: &Path) -> Vec<String> {
    let models = models_in(dir).unwrap_or_default();
    models.into_keys().map(|name| format!("`{name}`")).collect()
}

fn show(record: &ModelRecord, output: &mut Output) -> anyhow::Result<()> {
    output.report(record, ONE_ROW, |output| {
        output.heading(&record.name)?;
        let weights = record.weights.map_or(String::new(), grouped);
        let numbers: Vec<String> = record
            .numbers
            .iter()
            .map(|(format, count)| format!("{} {format}", grouped(*count)))
            .collect();
        for (name, value) in [
            ("kind", record.kind.map_or(String::new(), |kind| kind.to_string())),
            ("layout", record.layout.unwrap_or_default().to_owned()),
            ("weights", format!("{weights} ({})", numbers.join(", "))),
            ("size", record.bytes.map_or(String::new(), size)),
            ("fingerprint", record.fingerprint.clone().unwrap_or_default()),
            ("licence", record.licence.clone().unwrap_or_default()),
            ("path", record.path.display().to_string()),
        ] {
            if !value.is_empty() {
                output.line(&format!("  {name:<12} {value}"))?;
            }
        }
        Ok(())
    })
}
