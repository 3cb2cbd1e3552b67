//! `db.export(...)`: annotation sets in another format, as `fnstore export` writes them, and
//! `db.with_split_list(...)`, which says which part of the data they belong to.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use fnstore::database::{Database, DatabaseError, SplitListError};
use fnstore::exchange::{Spacing, TokenFormat, TrainingFormat, WordTagger, open_split_list};
use fnstore::internals::durable::WholeFile;
use fnstore::internals::tag::Tagger;
use fnstore::query::{Case, Expression, Field};
use fnstore::search::Sampling;
use fnstore::transfer::{JsonlExport, LossyExport};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;

use crate::database::{self, directories};
use crate::editions::sampling;
use crate::error::{Fault, Result};
use crate::models::Places;
use crate::number::Count;

/// What an export wrote, and what its format cannot hold.
#[pyclass(frozen, get_all, module = "fnstore")]
pub(crate) struct ExportReport {
    /// Records by kind; none where nothing was found, and nothing was written then.
    records: BTreeMap<String, u64>,
    /// What was left out, by reason.
    losses: BTreeMap<String, u64>,
    /// Training sentences that stand in dev or test: those that were left out, or are in the file.
    leaking: u64,
}

#[pymethods]
impl ExportReport {
    fn __repr__(&self) -> String {
        let records = self.records.iter().map(|(kind, count)| format!("{count} {kind}"));
        format!("<ExportReport {}>", records.collect::<Vec<_>>().join(", "))
    }
}

impl ExportReport {
    /// Warns of training sentences in dev or test that are in the file.
    fn warn(&self, py: Python<'_>, no_leaks: bool) -> PyResult<()> {
        if no_leaks || self.leaking == 0 {
            return Ok(());
        }
        let (sentences, stand, them) = match self.leaking {
            1 => ("sentence", "stands", "it"),
            _ => ("sentences", "stand", "them"),
        };
        let message = format!(
            "{} training {sentences} {stand} in dev or test, too; no_leaks=True leaves {them} out",
            self.leaking
        );
        let message = CString::new(message).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)
    }
}

/// What is asked for.
struct Wanted {
    expression: String,
    to: String,
    path: PathBuf,
    training: bool,
    spacing: Option<String>,
    with_base: bool,
    force: bool,
    no_leaks: bool,
    sampling: Option<Sampling>,
    case: Case,
    tagger: Option<Tagger>,
}

/// Formats, as the command names them.
const FORMATS: [&str; 10] = [
    "jsonl",
    "framenet-xml",
    "conll",
    "bios",
    "conllu-plus",
    "training-conll",
    "training-bios",
    "semafor",
    "csv",
    "parquet",
];

/// Formats of tokens whose blocks are for training in any case.
const BLOCKS: [&str; 3] = ["conllu-plus", "training-conll", "training-bios"];

/// What went into files.
type Written = (BTreeMap<String, u64>, BTreeMap<String, u64>);

impl Wanted {
    /// Writes the export, all of it or nothing.
    fn write(&self, database: &Database) -> Result<ExportReport> {
        self.check()?;
        let expression = Expression::parse_with(&self.expression, self.case);
        let expression = expression.map_err(DatabaseError::from)?;
        let (expression, leaking) = self.without_leaks(database, expression)?;
        let expression = match &self.sampling {
            None => expression,
            Some(sampling) => database.sample(&expression, sampling)?.expression,
        };
        database.require_outside(&self.path).map_err(|error| self.unwritable(&self.path, error))?;
        let (records, losses) = match self.to.as_str() {
            "framenet-xml" => self.framenet(database, &expression)?,
            "semafor" => self.semafor(database, &expression)?,
            _ => self.one_file(database, &expression)?,
        };
        Ok(ExportReport { records, losses, leaking })
    }

    fn check(&self) -> Result<()> {
        let Self { to, training, with_base, force, .. } = self;
        if !FORMATS.contains(&to.as_str()) {
            let advice = format!("give one of {}", FORMATS.join(", "));
            return Err(wrong(&format!("cannot export to `{to}`"), &advice));
        }
        if *with_base && to != "jsonl" {
            let message = format!("`with_base` is for to=\"jsonl\", found to=\"{to}\"");
            return Err(wrong(&message, "leave it out: other formats have no records beside sets"));
        }
        let is_of_records = matches!(to.as_str(), "jsonl" | "parquet");
        if *training && !is_of_records && !BLOCKS.contains(&to.as_str()) {
            let message =
                format!("`training` is for to=\"jsonl\" and to=\"parquet\", found to=\"{to}\"");
            let advice = format!("tokens are written for training by {}", BLOCKS.join(", "));
            return Err(wrong(&message, &advice));
        }
        if self.spacing.is_some() && to != "conllu-plus" && !(*training && is_of_records) {
            let message = format!(
                "`spacing` is for to=\"conllu-plus\", and with training=True for to=\"jsonl\" and \
                 to=\"parquet\", found to=\"{to}\""
            );
            return Err(wrong(&message, "leave it out, or give training=True"));
        }
        self.spacing()?;
        if to == "framenet-xml" && *force {
            let message = "to=\"framenet-xml\" replaces nothing, found force=True";
            return Err(wrong(message, "give an empty or a new directory, and leave force out"));
        }
        if *training && *with_base {
            let message = "`training` and `with_base` exclude each other";
            return Err(wrong(message, "give one of them"));
        }
        Ok(())
    }

    fn spacing(&self) -> Result<Spacing> {
        self.spacing.as_deref().map_or(Ok(Spacing::Stored), |name| {
            let advice = format!("give one of {}", Spacing::ALL.map(|it| it.as_str()).join(", "));
            let unknown = || wrong(&format!("there is no spacing `{name}`"), &advice);
            Spacing::parse(name).ok_or_else(unknown)
        })
    }

    fn without_leaks(
        &self,
        database: &Database,
        expression: Expression,
    ) -> Result<(Expression, u64)> {
        let has_parts = self.training || self.to == "conllu-plus";
        let asks_for_parts = expression.terms().any(|term| term.field() == Field::Split);
        if !self.no_leaks && !asks_for_parts && !has_parts {
            return Ok((expression, 0));
        }
        if self.no_leaks
            && self.to == "jsonl"
            && !self.training
            && JsonlExport::holds_all_of_people(&expression)
        {
            let message = format!("`{expression}` stands for all that people added");
            return Err(wrong(&message, "narrow it, as in `origin=user frame=*`, with no_leaks"));
        }
        let leaking = database.leaking(&expression)?;
        let expression = if self.no_leaks { leaking.without } else { expression };
        Ok((expression, leaking.sentences))
    }

    fn tagger(&self) -> Option<&dyn WordTagger> {
        self.tagger.as_ref().map(|tagger| tagger as &dyn WordTagger)
    }

    fn one_file(&self, database: &Database, expression: &Expression) -> Result<Written> {
        let mut file = self.file(&self.path)?;
        let report = match self.to.as_str() {
            "jsonl" if !self.training => {
                let export = database.export_jsonl(expression, self.with_base, &mut file)?;
                let Some(export) = export else { return Ok(Written::default()) };
                self.finish(file)?;
                let records = export.records.iter();
                let records = records.map(|(kind, count)| (kind.as_str().to_owned(), *count));
                return Ok((records.collect(), BTreeMap::new()));
            }
            "jsonl" => self.sentences(database, expression, TrainingFormat::Jsonl, &mut file)?,
            "parquet" if self.training => {
                self.sentences(database, expression, TrainingFormat::Parquet, &mut file)?
            }
            "conllu-plus" => {
                self.sentences(database, expression, TrainingFormat::Conllu, &mut file)?
            }
            "csv" => database.export_csv(expression, &mut file)?,
            "parquet" => database.export_parquet(expression, &mut file)?,
            "conll" => {
                database.export_tokens(expression, TokenFormat::Conll, self.tagger(), &mut file)?
            }
            "bios" => {
                database.export_tokens(expression, TokenFormat::Bios, self.tagger(), &mut file)?
            }
            "training-conll" => database.export_training_tokens(
                expression,
                TokenFormat::Conll,
                self.tagger(),
                &mut file,
            )?,
            _ => database.export_training_tokens(
                expression,
                TokenFormat::Bios,
                self.tagger(),
                &mut file,
            )?,
        };
        if report.sets > 0 {
            self.finish(file)?;
        }
        Ok(written(&report))
    }

    fn sentences(
        &self,
        database: &Database,
        expression: &Expression,
        format: TrainingFormat,
        file: &mut WholeFile,
    ) -> Result<LossyExport> {
        let spacing = self.spacing()?;
        Ok(database.export_training(expression, spacing, self.tagger(), vec![(format, file)])?)
    }

    fn semafor(&self, database: &Database, expression: &Expression) -> Result<Written> {
        let file = |ending: &str| {
            let mut name = self.path.as_os_str().to_owned();
            name.push(ending);
            self.file(Path::new(&name))
        };
        let mut files =
            [file(".frame.elements")?, file(".sentences")?, file(".sentences.tokenized")?];
        let [elements, sentences, tokenized] = &mut files;
        let report = database.export_semafor(expression, [elements, sentences, tokenized])?;
        if report.sets > 0 {
            files.into_iter().try_for_each(|file| self.finish(file))?;
        }
        Ok(written(&report))
    }

    fn framenet(&self, database: &Database, expression: &Expression) -> Result<Written> {
        let Some(release) = database.release_of(expression)? else {
            return Ok(Written::default());
        };
        let export = database.export_framenet(&release, expression, &self.path, &mut |_, _| {})?;
        let Some(export) = export else { return Ok(Written::default()) };
        let records = [("frame", export.frames), ("lu-file", export.lu_files)];
        let records =
            records.into_iter().chain([("document", export.documents), ("set", export.sets)]);
        let records = records.map(|(kind, count)| (kind.to_owned(), count));
        let lost = export.lost.iter().map(|(loss, count)| (loss.as_str().to_owned(), *count));
        Ok((records.collect(), lost.collect()))
    }

    fn file(&self, path: &Path) -> Result<WholeFile> {
        WholeFile::claim(path, self.force).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let message = format!("there is a file `{}`", path.display());
                Fault::new("ExistsError", "S-exists", &message, "give force=True to replace it")
            }
            _ => self.unwritable(path, error),
        })
    }

    fn finish(&self, file: WholeFile) -> Result<()> {
        file.finish().map_err(|error| self.unwritable(&self.path, error))
    }

    fn unwritable(&self, path: &Path, error: io::Error) -> Fault {
        let message = format!("cannot write the export `{}`: {error}", path.display());
        Fault::new("StoreError", "E-write", &message, "give a path that can be written")
    }
}

fn wrong(message: &str, advice: &str) -> Fault {
    Fault::new("QueryError", "E-value", message, advice)
}

fn written(report: &LossyExport) -> Written {
    let records = [("set", report.sets), ("sentence", report.sentences)];
    let records = records.map(|(kind, count)| (kind.to_owned(), count));
    let losses = report.losses.iter().map(|(loss, count)| (loss.as_str().to_owned(), count));
    (records.into_iter().filter(|(_, count)| *count > 0).collect(), losses.collect())
}

/// The fields of a list of names.
pub(crate) fn fields(names: &str) -> Result<Vec<Field>> {
    let named = fnstore::query::listed(names).map(|(column, name)| Field::with_value(name, column));
    Ok(named.collect::<std::result::Result<_, _>>().map_err(DatabaseError::from)?)
}

/// The store in a directory under a split list; names that nothing has are warned of, or with
/// `strict` refused.
pub(crate) fn under_list(
    py: Python<'_>,
    store: &Path,
    list: &Path,
    strict: bool,
) -> PyResult<Database> {
    let opened = py.detach(|| {
        let list = open_split_list(list).map_err(DatabaseError::from)?;
        let database = Database::open(store)?;
        let unknown = database.unknown_in(&list)?;
        let names: Vec<String> =
            unknown.iter().map(|of| format!("the {} `{}`", of.kind, of.name)).collect();
        Ok::<_, Fault>((database, list, names))
    });
    let (database, list, names) = opened?;
    if !names.is_empty() {
        let list = list.id.name.clone();
        let unknown = SplitListError::Unknown { list, names };
        if strict {
            return Err(Fault::from(DatabaseError::from(unknown)).raise());
        }
        let message = CString::new(unknown.to_string()).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 1)?;
    }
    Ok(database.with_split_list(list).map_err(Fault::from)?)
}

#[pymethods]
impl database::Database {
    /// Writes what a query finds to a file, all of it or nothing, as `fnstore export` does; an
    /// existing file is an ExistsError, or with force replaced. `to` is jsonl, framenet-xml, conll,
    /// bios, conllu-plus, training-conll, training-bios, semafor, csv or parquet. training has a
    /// record for each sentence (jsonl, parquet), whose spacing is stored, natural or tokens. With
    /// sample, so many sets, or so many for each value of the fields in per. no_leaks leaves out
    /// training sentences that stand in dev or test; a query that asks for parts, or records that
    /// have them, warn otherwise. Token formats have the parts of speech that FrameNet has,
    /// training records none; with tagger, the tagger of that name tags words that have none.
    #[pyo3(signature = (path, expression="", *, to, training=false, spacing=None, with_base=false,
                        force=false, no_leaks=false, sample=None, per=None, seed=Count(1),
                        case_sensitive=false, tagger=None, encoder=None, models=None,
                        device="cpu"),
           text_signature = "($self, path, expression='', *, to, training=False, spacing=None, \
                             with_base=False, force=False, no_leaks=False, sample=None, per=None, \
                             seed=1, case_sensitive=False, tagger=None, encoder=None, \
                             models=None, device='cpu')")]
    #[allow(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn export(
        &self,
        py: Python<'_>,
        path: PathBuf,
        expression: &str,
        to: &str,
        training: bool,
        spacing: Option<String>,
        with_base: bool,
        force: bool,
        no_leaks: bool,
        sample: Option<Count>,
        per: Option<String>,
        seed: Count,
        case_sensitive: bool,
        tagger: Option<PathBuf>,
        encoder: Option<PathBuf>,
        models: Option<PathBuf>,
        device: &str,
    ) -> PyResult<ExportReport> {
        let case = if case_sensitive { Case::Sensitive } else { Case::Fold };
        let sampling = sampling(sample, per.as_deref(), seed)?;
        let dirs = tagger.is_some().then(|| directories(py, models)).transpose()?;
        let tagger = py.detach(|| match (&tagger, dirs) {
            (Some(name), Some(dirs)) => {
                let places = Places::new(dirs, device, None)?;
                let model = places.model(name)?;
                let encoder = places.encoder(encoder.as_deref(), &model)?;
                Result::Ok(Some(Tagger::open(&model, &encoder, &places.device)?))
            }
            _ => Ok(None),
        })?;
        let (expression, to) = (expression.to_owned(), to.to_owned());
        let wanted = Wanted {
            expression,
            case,
            tagger,
            to,
            path,
            training,
            spacing,
            with_base,
            force,
            no_leaks,
            sampling,
        };
        let report = py.detach(|| wanted.write(&*self.handle.get()?))?;
        report.warn(py, no_leaks)?;
        Ok(report)
    }
}
