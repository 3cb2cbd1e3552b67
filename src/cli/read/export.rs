//! `fnstore export`: annotation sets, or a whole release, in another format.

mod format;
mod report;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::cli::options::named::{case_of, named};
use anyhow::{bail, ensure};
use fnstore::database::{Database, DatabaseError, ExportError};
use fnstore::exchange::jsonl::Scope;
use fnstore::exchange::{Spacing, TokenFormat, TrainingFormat, WordTagger};
use fnstore::expand::filter_data;
use fnstore::lexicon::EditionChanges;
use fnstore::query::{Case, Expression, Field};
use fnstore::transfer::{JsonlExport, LossyExport};

use crate::cli::grow::align::tasks::Making;
use crate::cli::options::query::expression_with;
use crate::cli::options::sample::SampleArgs;
use crate::cli::options::splits::SplitArgs;
use crate::cli::options::tagger::{TaggerArgs, TaggerOnDemand};
use crate::cli::print::notices::{tell_of_index, tell_of_releases};
use crate::cli::print::output::{Format, counted, tell};
use crate::cli::print::progress;
use crate::cli::process::stop;
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};
use format::To;
use report::{EditionRecord, ExportRecord, LossRecord, framenet_loss};

/// Export annotation sets or a release
///
/// Writes what an expression finds. `jsonl` has every record, and nothing is lost. An expression
/// that names no more than a release writes it whole; `origin=generated` writes what expansion
/// added, without FrameNet's own data. Sets that were carried into generated sentences go along,
/// unless the expression speaks of `origin=carried`. `framenet-xml` is FrameNet's own form, in
/// which a release loses nothing. `conll`, `bios`, `semafor`, `csv` and `parquet` are for other
/// programs; what they cannot hold is counted on stderr. `conllu-plus`, `training-conll` and
/// `training-bios` have a sentence with all of its sets in one block, and say what nobody
/// annotated; so do `jsonl` and `parquet` with `--training`. In `conllu-plus` and with `--training`
/// all parts of speech are the tagger's, in other token formats those of words that FrameNet has
/// not tagged. `alignment-task` makes tasks for annotators, as `fnstore align tasks` does under its
/// own options. `filter-data` says of generated sets what `fnstore train filter` learns from.
/// schema/exchange.md describes the formats.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Export what this query finds; none means everything
    #[arg(value_name = "EXPR")]
    expression: Vec<String>,

    /// Format (jsonl, framenet-xml, conll, bios, conllu-plus, training-conll, training-bios,
    /// semafor, csv, parquet, alignment-task, filter-data) and where to write: `-`, or nothing, is
    /// stdout; framenet-xml takes an empty directory, semafor the beginning of three names
    #[arg(long, required = true, num_args = 1..=2, value_names = ["FORMAT", "PATH"])]
    to: Vec<OsString>,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,

    /// Also write the records that the sets refer to, with `origin=generated` or `origin=user`
    #[arg(long, conflicts_with = "training")]
    with_base: bool,

    /// Write all annotation sets of a sentence into one record, with what nobody annotated: for
    /// jsonl and parquet (conllu-plus, training-conll and training-bios do so in any case)
    #[arg(long)]
    training: bool,

    /// Space the sentences of training records alike, as people write or with a space between
    /// tokens; offsets follow. FrameNet's are spaced as tokens, generated ones are not [default:
    /// stored]
    #[arg(long, value_name = "HOW", value_parser = named::<Spacing>())]
    spacing: Option<Spacing>,

    /// Leave out training sentences that also stand in `dev` or `test`, what was generated from
    /// them, and later rounds of its chains; without this they are told of where the query asks for
    /// `split` or the records have it
    #[arg(long)]
    no_leaks: bool,

    /// Match case-sensitively
    #[arg(long)]
    case_sensitive: bool,

    #[command(flatten)]
    sample: SampleArgs,

    #[command(flatten)]
    splits: SplitArgs,

    /// Ask no tagger: tags are those of FrameNet's layers alone, and training records have none
    #[arg(long, conflicts_with_all = ["tagger", "encoder"])]
    no_tagger: bool,

    #[command(flatten)]
    tagger: TaggerArgs,
}

const EXAMPLES: &str = "\
Examples:
  fnstore export --to jsonl framenet.jsonl
  fnstore export release=bfn-1.5 --to framenet-xml fndata
  fnstore export origin=generated 'aligner>=0.5' --to jsonl generated.jsonl
  fnstore export frame=Verification --to csv -
  fnstore export 'origin=fulltext split=train' --to conll train.conll
  fnstore export 'split=train' --split-list fold-1.tsv --training --to jsonl train.jsonl
  fnstore export split=train --no-leaks --training --spacing natural --to parquet train.parquet
  fnstore export 'origin=fulltext split=test' --to semafor test";

/// Endings of SEMAFOR's three files.
const SEMAFOR: [&str; 3] = ["frame.elements", "sentences", "sentences.tokenized"];

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    stop::clean_up()?;
    let (to, path) = destination(&args)?;
    let case = if args.case_sensitive { Case::Sensitive } else { Case::Fold };
    let expression = expression_with(&args.expression.join(" "), case)?;
    require_sets(&args, to, &expression)?;
    let database = args.splits.over_query(&expression, || Database::open(&context.store))?;
    let database = context.joined(database);
    if let Some(path) = &path {
        let inside = |source| ExportError::Target { path: path.clone(), source };
        database.require_outside(path).map_err(inside).map_err(DatabaseError::from)?;
    }
    if to.holds_several(args.training) {
        tell_of_releases(&database, "export", &expression)?;
    }
    let expression = leakless((&args, to), &database, expression)?;
    let expression = args.sample.of(&database, expression, None)?;
    let export = Export { database: &database, expression: &expression, args: &args, to };
    let mut record = match (to, &path) {
        (To::Semafor, Some(path)) => export.semafor(path)?,
        (To::FramenetXml, Some(path)) => export.framenet(path)?,
        (_, Some(path)) => {
            let mut file = WholeFile::create_new(path, "export", args.force)?;
            let record = export.write(&mut file)?;
            if record.found() {
                file.finish()?;
            }
            record
        }
        (_, None) => {
            let record = export.write(context.output.data())?;
            context.output.flush()?;
            record
        }
    };
    tell_of_index(&database);
    if !record.found() {
        record.tell_nothing();
        return Ok(Outcome::NothingFound);
    }
    record.editions = editions(&database, &expression)?;
    let wants_json =
        matches!(context.output.format_or(Format::Table), Format::Json | Format::Jsonl);
    match (wants_json, path) {
        (true, Some(_)) => context.output.json(&record)?,
        (true, None) => tell(&serde_json::to_string(&record)?),
        (false, path) => record.tell(path.as_deref()),
    }
    let is_intact = record.editions.iter().all(|edition| edition.removed + edition.changed == 0);
    Ok(if is_intact { Outcome::Done } else { Outcome::CheckFailed })
}

/// Refuses `--with-base` where it says nothing, and `--no-leaks` where more than sets is asked for.
fn require_sets(args: &Args, to: To, expression: &Expression) -> anyhow::Result<()> {
    ensure!(
        !args.with_base || to == To::Jsonl,
        "`--with-base` is for `--to jsonl`: another format has no records beside the sets"
    );
    ensure!(
        !args.with_base || JsonlExport::scope_of(expression) == Scope::Additions,
        "`--with-base` is for an expression with `origin=generated` or `origin=user`, found \
         `{expression}`: its export has what the sets refer to in any case; leave the option out"
    );
    ensure!(
        !args.no_leaks
            || args.training
            || to != To::Jsonl
            || !JsonlExport::holds_all_of_people(expression),
        "`--no-leaks` is for queries of sets, and `{expression}` stands for all that people added; \
         narrow it, as in `origin=user frame=*`, for the sets and what they refer to"
    );
    Ok(())
}

/// The query without training sentences that stand in `dev` or `test`, where they are to be left
/// out. Else they are told of, if the query asks for parts or the records have them.
fn leakless(
    (args, to): (&Args, To),
    database: &Database,
    expression: Expression,
) -> anyhow::Result<Expression> {
    let asks_for_parts = expression.terms().any(|term| term.field() == Field::Split);
    if !args.no_leaks && !asks_for_parts && !to.is_of_sentences(args.training) {
        return Ok(expression);
    }
    let leaking = database.leaking(&expression)?;
    if leaking.sentences == 0 {
        return Ok(expression);
    }
    let sets = counted(leaking.sets, "annotation set");
    let which = format!("{} ({sets})", counted(leaking.sentences, "training sentence"));
    if args.no_leaks {
        tell(&format!("left out: {which}, in dev or test, too"));
        return Ok(leaking.without);
    }
    let example = leaking.example.map(|(one, other)| format!(", as `{one}` beside `{other}`"));
    let (stand, them) = if leaking.sentences == 1 { ("stands", "it") } else { ("stand", "them") };
    tell(&format!(
        "warning: {which} {stand} in dev or test, too{}; `--no-leaks` leaves {them} out, `fnstore \
         check --leaks` lists {them}",
        example.unwrap_or_default()
    ));
    Ok(expression)
}

/// The editions that an expression names, with what has become of their sets.
fn editions(database: &Database, expression: &Expression) -> anyhow::Result<Vec<EditionRecord>> {
    let mut records = Vec::new();
    for (release, edition) in database.editions_named(expression)? {
        let EditionChanges { removed, changed, .. } =
            database.edition_faults(release.id, &edition)?;
        records.push(EditionRecord {
            release: release.name,
            name: edition.name,
            sets: edition.sets.len() as u64,
            removed: removed.len() as u64,
            changed: changed.len() as u64,
        });
    }
    Ok(records)
}

/// Format and file of `--to`; no file is stdout.
fn destination(args: &Args) -> anyhow::Result<(To, Option<PathBuf>)> {
    let [format, path @ ..] = args.to.as_slice() else { bail!("`--to` names no format") };
    let Some(to) = case_of::<To>(&format.to_string_lossy()) else {
        let known = To::ALL.map(|to| format!("`{to}`"));
        bail!("cannot export to `{}`: expected {}", format.display(), known.join(", "));
    };
    let path = path.first().filter(|path| *path != "-").map(PathBuf::from);
    if let Some(path) = &path {
        ensure!(
            !args.expression.is_empty() || !path.to_string_lossy().contains('='),
            "`{}` stands where `--to` has its file; put the expression before `--to`, as in \
             `fnstore export {} --to {}`",
            path.display(),
            path.display(),
            format.display()
        );
    }
    let is_of_tokens = matches!(to, To::ConlluPlus | To::TrainingConll | To::TrainingBios);
    ensure!(
        !args.training || is_of_tokens || matches!(to, To::Jsonl | To::Parquet),
        "`--training` is for `--to jsonl` and `--to parquet`; tokens are written for training by \
         `--to conllu-plus`, `--to training-conll` and `--to training-bios`, found `--to {}`",
        format.display()
    );
    ensure!(
        args.spacing.is_none() || to.is_of_sentences(args.training),
        "`--spacing` is for `--training --to jsonl`, `--training --to parquet` and `--to \
         conllu-plus`, found `--to {}`",
        format.display()
    );
    ensure!(
        to != To::Semafor || path.is_some(),
        "`--to semafor` writes three files: expected the beginning of their names, as in \
         `--to semafor test`"
    );
    ensure!(
        to != To::FramenetXml || path.is_some(),
        "`--to framenet-xml` writes a directory: expected its name, as in `--to framenet-xml fndata`"
    );
    Ok((to, path))
}

struct Export<'a> {
    database: &'a Database,
    expression: &'a Expression,
    args: &'a Args,
    to: To,
}

impl Export<'_> {
    fn write(&self, out: &mut (impl Write + Send)) -> anyhow::Result<ExportRecord> {
        let (database, expression) = (self.database, self.expression);
        let is_training = self.to.is_of_sentences(self.args.training);
        let tagger = TaggerOnDemand::new(self.args.tagger.clone(), is_training);
        let tagger: Option<&dyn WordTagger> = (!self.args.no_tagger).then_some(&tagger as _);
        let report = match self.to {
            To::Jsonl | To::Parquet | To::ConlluPlus if is_training => {
                let format = match self.to {
                    To::Parquet => TrainingFormat::Parquet,
                    To::ConlluPlus => TrainingFormat::Conllu,
                    _ => TrainingFormat::Jsonl,
                };
                let spacing = self.args.spacing.unwrap_or(Spacing::Stored);
                database.export_training(expression, spacing, tagger, vec![(format, out)])?
            }
            To::TrainingConll => {
                database.export_training_tokens(expression, TokenFormat::Conll, tagger, out)?
            }
            To::TrainingBios => {
                database.export_training_tokens(expression, TokenFormat::Bios, tagger, out)?
            }
            To::Jsonl => {
                let export = database.export_jsonl(expression, self.args.with_base, out)?;
                return Ok(self.lossless(export));
            }
            To::Conll => database.export_tokens(expression, TokenFormat::Conll, tagger, out)?,
            To::Bios => database.export_tokens(expression, TokenFormat::Bios, tagger, out)?,
            To::Csv => database.export_csv(expression, out)?,
            To::Parquet => database.export_parquet(expression, out)?,
            To::AlignmentTask => return self.alignment_tasks(out),
            To::FilterData => return self.filter_data(out),
            To::ConlluPlus | To::Semafor | To::FramenetXml => {
                unreachable!("these are written elsewhere")
            }
        };
        Ok(self.lossy(&report))
    }

    fn alignment_tasks(&self, out: &mut impl Write) -> anyhow::Result<ExportRecord> {
        let made = Making::default().write(self.database, self.expression, out)?;
        let loss = |(said, count): (&'static str, u64)| {
            (said, LossRecord { count, said: "sentences left out" })
        };
        Ok(ExportRecord {
            records: [("task", made.tasks)].into(),
            losses: made.left_out.into_iter().map(loss).collect(),
            ..self.record()
        })
    }

    fn filter_data(&self, out: &mut impl Write) -> anyhow::Result<ExportRecord> {
        let (mut sets, mut unscored) = (0, 0);
        filter_data(self.database, self.expression, |output| {
            // No filter looks at such a set, and JSON has no number for it.
            if !output.evidence.paraphrase.is_finite() {
                unscored += 1;
                return Ok(());
            }
            serde_json::to_writer(&mut *out, &output).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            sets += 1;
            Ok::<_, anyhow::Error>(())
        })?;
        let said = "set without a paraphrase score, at which no filter looks, left out";
        let lost = (unscored > 0).then_some(("unscored", LossRecord { count: unscored, said }));
        Ok(ExportRecord {
            records: [("set", sets)].into(),
            losses: lost.into_iter().collect(),
            ..self.record()
        })
    }

    fn semafor(&self, prefix: &Path) -> anyhow::Result<ExportRecord> {
        let file = |ending: &str| {
            let mut name = prefix.as_os_str().to_owned();
            name.push(format!(".{ending}"));
            WholeFile::create_new(Path::new(&name), "export", self.args.force)
        };
        let [elements, sentences, tokenized] = SEMAFOR;
        let mut files = [file(elements)?, file(sentences)?, file(tokenized)?];
        let [elements, sentences, tokenized] = &mut files;
        let report =
            self.database.export_semafor(self.expression, [elements, sentences, tokenized])?;
        if report.sets > 0 {
            files.into_iter().try_for_each(WholeFile::finish)?;
        }
        Ok(self.lossy(&report))
    }

    fn framenet(&self, dir: &Path) -> anyhow::Result<ExportRecord> {
        ensure!(
            !self.args.force,
            "`--to framenet-xml` replaces nothing: expected an empty directory and no `--force`"
        );
        let Some(release) = self.database.release_of(self.expression)? else {
            return Ok(self.record());
        };
        let bar = progress::bar("exporting", "frames and documents");
        let outcome =
            self.database.export_framenet(&release, self.expression, dir, &mut |done, of| {
                bar.set_length(of as u64);
                bar.set_position(done as u64);
            });
        bar.finish_and_clear();
        let Some(done) = outcome? else { return Ok(self.record()) };
        let is_whole = done.left_out.is_empty();
        let losses = done.lost.iter().map(|(loss, count)| {
            (framenet_loss(*loss), LossRecord { count: *count, said: loss.as_str() })
        });
        Ok(ExportRecord {
            release: Some(release.name),
            scope: Some(if is_whole { Scope::Whole } else { Scope::Part }),
            records: [
                ("frame", done.frames),
                ("lexunit", done.lu_files),
                ("document", done.documents),
                ("set", done.sets),
                ("layers", done.sentence_layer_sets),
            ]
            .into(),
            losses: losses.collect(),
            left_out: done.left_out,
            ..self.record()
        })
    }

    fn record(&self) -> ExportRecord {
        ExportRecord {
            to: self.to,
            expression: self.expression.to_string(),
            release: None,
            scope: None,
            records: BTreeMap::new(),
            origins: 0,
            losses: BTreeMap::new(),
            left_out: BTreeMap::new(),
            editions: Vec::new(),
        }
    }

    fn lossless(&self, export: Option<JsonlExport>) -> ExportRecord {
        let Some(JsonlExport { release, scope, records, origins }) = export else {
            return self.record();
        };
        ExportRecord {
            origins,
            release: Some(release.name),
            scope: Some(scope),
            records: records.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
            ..self.record()
        }
    }

    fn lossy(&self, report: &LossyExport) -> ExportRecord {
        let losses = report
            .losses
            .iter()
            .map(|(loss, count)| (loss.as_str(), LossRecord { count, said: loss.said() }));
        ExportRecord {
            records: [("set", report.sets), ("sentence", report.sentences)].into(),
            losses: losses.collect(),
            ..self.record()
        }
    }
}
