//! `fnstore import`: a release into the store, and a summary of what came in.

mod lines;
mod piped;
mod resource;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fnstore::database::{Database, DatabaseError};
use fnstore::framenet::{Source, Warning, WarningCode};
use fnstore::model::{Amount, Origin, ReleaseCounts};
use fnstore::store::Store;
use fnstore::transfer::{ImportKind, ImportOptions, ImportReport};
use serde::Serialize;

use crate::cli::options::author::signed;
use crate::cli::print::notices::{tell_index_behind, tell_of_index};
use crate::cli::print::output::{Output, counted, grouped, size};
use crate::cli::print::progress;
use crate::cli::print::render::counts_of;
use crate::cli::process::stop;
use crate::cli::process::whole_file::WholeFile;
use crate::cli::{Context, Outcome};
use lines::Lines;
use piped::Input;

/// Import a release, an export, span-labelled data, another lexicon
///
/// Reads a release's zip file, or the directory that holds frame/, lu/ or fulltext/. Reads JSON
/// lines: an export that `fnstore export --to jsonl` wrote, or texts with labelled spans. Reads a
/// WordNet: the directory of its database files (data.noun, index.noun), or WN-LMF XML, plain or
/// gzip. Reads VerbNet and PropBank: the directory of their XML files. Reads SemLink and the
/// Predicate Matrix: their files or the directory of them. Nothing is visible before the import is
/// complete; a failed import leaves the store as it was.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Zip file or directory of the release, file of JSON lines, or lexicon; `-` reads standard
    /// input
    path: PathBuf,

    /// Name of the release [default: bfn-1.5 for fndata-1.5, else the name of the path]
    #[arg(long, value_name = "NAME")]
    release: Option<String>,

    /// Typed for `--release` by whoever knows `annotate`
    #[arg(long = "as", value_name = "NAME", hide = true)]
    typed_as: Option<String>,

    /// Language of the release, as in de [default: en, or what an export says]
    #[arg(long, value_name = "TAG")]
    language: Option<String>,

    /// Read FILE as span-labelled data, a line each:
    /// {"text": "...", "spans": [{"start": 0, "end": 3, "type": "T"}]}
    #[arg(long, conflicts_with = "strict")]
    spans: bool,

    /// Fail at the first oddity instead of counting it
    #[arg(long)]
    strict: bool,

    /// Also write counts, times, sizes and warnings with examples to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Refuses options that would not do what they say.
fn refuse_what_lines_have_not(args: &Args, lines: Option<Lines>) -> anyhow::Result<()> {
    let path = args.path.display();
    if lines.is_some() && args.strict {
        bail!(
            "`--strict` is for FrameNet's XML, and `{path}` is JSON lines: these have no oddities to \
             count, and a line that is wrong ends the import anyway; leave it out"
        );
    }
    if lines == Some(Lines::Records) && args.language.is_some() {
        bail!(
            "`--language` cannot be used with `{path}`: it is an export, which says itself what language \
             its release is in; leave it out"
        );
    }
    Ok(())
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    if let Some(name) = &args.typed_as {
        bail!("`--as` names no release here; say `--release {name}`");
    }
    // What is no release makes no store, and a report that cannot be written fails before the work.
    let input = Input::open(&args.path)?;
    let kind = match args.spans {
        true => ImportKind::Spans,
        false => ImportKind::of(input.path())
            .with_context(|| format!("cannot read `{}`", input.path().display()))?,
    };
    let lines = Lines::of(kind);
    refuse_what_lines_have_not(&args, lines)?;
    let is_resource = matches!(kind, ImportKind::Resource(_));
    if is_resource && args.strict {
        bail!(
            "`--strict` is for FrameNet's XML: whatever is wrong in another lexicon ends the import; leave it out"
        );
    }
    if lines.is_none() && !is_resource {
        Source::open(input.path()).map_err(DatabaseError::from)?;
    }
    let report_file = args.report.as_deref();
    let report_file = report_file.map(|path| WholeFile::create(path, "report")).transpose()?;

    let options = ImportOptions {
        release: args.release,
        language: args.language,
        source: input.pipe(),
        strict: args.strict,
    };
    let started = Instant::now();
    let is_first = !Store::exists(&context.store);
    stop::at_once(if is_first { FIRST_INTERRUPTED } else { INTERRUPTED })?;
    let database = signed(Database::open_writer(&context.store)?);
    tell_of_index(&database);
    if let Some(lines) = lines {
        let record = match lines::run(&database, input.path(), lines, &options, context) {
            Ok(record) => record,
            Err(error) => return Err(without_a_trace(database, error)),
        };
        report_file.map_or(Ok(()), |file| write_report(file, &record))?;
        return record.write(&mut context.output);
    }
    if is_resource {
        let record = match resource::run(&database, input.path(), &options, context) {
            Ok(record) => record,
            Err(error) => return Err(without_a_trace(database, error)),
        };
        report_file.map_or(Ok(()), |file| write_report(file, &record))?;
        return record.write(&mut context.output);
    }
    import_release(database, &input, &options, (report_file, started), context)
}

/// Imports a release of FrameNet's XML and says what came in.
fn import_release(
    database: Database,
    input: &Input,
    options: &ImportOptions,
    (report_file, started): (Option<WholeFile>, Instant),
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let bar = progress::bar("importing", "files");
    let outcome = database.import(input.path(), options, &mut |progress| {
        bar.set_length(progress.of as u64);
        bar.set_position(progress.files as u64);
    });
    bar.finish_and_clear();
    let report = match outcome {
        Ok(report) => report,
        Err(error) => return Err(without_a_trace(database, error.into())),
    };
    if let Some(error) = &report.index_error {
        tell_index_behind(error);
    }
    let record = ReportRecord::new(&report, context, started.elapsed());

    report_file.map_or(Ok(()), |file| write_report(file, &record))?;
    let counts = record.counts.iter().map(|(name, count)| (*name, *count));
    let statuses = record.statuses.iter().map(|(name, count)| (name.as_str(), *count));
    let rows = counts_of(counts.chain(statuses));
    let with_file = frames_with_file(&database, &report.release.name)?;
    let lay_out = |output: &mut Output| summary(&report, &record, with_file, output);
    context.output.report(&record, rows, lay_out)?;
    Ok(Outcome::Done)
}

/// What Ctrl-C leaves; the import may have come to its end just then.
const INTERRUPTED: &str =
    "interrupted; nothing was imported, unless `fnstore releases` lists the release";

/// As [`INTERRUPTED`], where the import made the store.
const FIRST_INTERRUPTED: &str = "interrupted; nothing was imported, unless `fnstore releases` lists the release; \
an empty store may be left";

/// Removes the store that a failed first import made. What cannot be removed is an empty store,
/// which does no harm.
fn without_a_trace(database: Database, error: anyhow::Error) -> anyhow::Error {
    let _ = database.discard_if_new();
    error
}

/// How many frames of a release have a file; annotation and LUs name others.
fn frames_with_file(database: &Database, release: &str) -> anyhow::Result<u64> {
    let mut count = 0;
    for frame in database.lexicon(release)?.frames()? {
        count += u64::from(frame?.has_file);
    }
    Ok(count)
}

fn write_report(mut file: WholeFile, record: &impl Serialize) -> anyhow::Result<()> {
    let written = serde_json::to_writer_pretty(&mut file, record);
    written.map_err(std::io::Error::from).context("cannot write the report")?;
    file.finish()
}

/// An import as JSON; see `schema/import.schema.json`.
#[derive(Debug, Serialize)]
struct ReportRecord {
    release: String,
    language: String,
    source: String,
    store: String,
    seconds: Amount,
    source_bytes: u64,
    store_bytes: u64,
    counts: BTreeMap<&'static str, u64>,
    statuses: BTreeMap<String, u64>,
    warnings: Vec<WarningRecord>,
}

#[derive(Debug, Serialize)]
struct WarningRecord {
    code: &'static str,
    /// Fault, or trait of the data that is only counted. JSON `{"enum": ["fault", "trait"]}`.
    kind: &'static str,
    count: u64,
    done: &'static str,
    examples: Vec<Warning>,
}

impl ReportRecord {
    fn new(report: &ImportReport, context: &Context, took: Duration) -> Self {
        let warnings = report.warnings.iter().map(|(code, count, examples)| WarningRecord {
            code: code.as_str(),
            kind: if code.is_trait() { "trait" } else { "fault" },
            count,
            done: what_was_done(code),
            examples: examples.to_vec(),
        });
        let release = &report.release;
        Self {
            release: release.name.clone(),
            language: release.language.clone(),
            source: release.source.clone(),
            store: context.store.display().to_string(),
            seconds: (took.as_secs_f64() * 1000.0).round() / 1000.0,
            source_bytes: release.source_bytes,
            store_bytes: report.disk_bytes,
            counts: release.counts.named().into(),
            statuses: report
                .statuses
                .iter()
                .map(|((origin, status), count)| (format!("{}/{status}", origin.as_str()), *count))
                .collect(),
            warnings: warnings.collect(),
        }
    }
}

fn summary(
    report: &ImportReport,
    record: &ReportRecord,
    with_file: u64,
    output: &mut Output,
) -> anyhow::Result<()> {
    let ReleaseCounts {
        frames,
        lexunits,
        lu_files,
        documents,
        frame_relations,
        sem_types,
        exemplar_sets,
        fulltext_sets,
        construction_sets,
        sentence_layer_occurrences,
        sentence_layer_sets,
        sentence_occurrences,
        sentences,
    } = report.release.counts;
    let title = format!("{} is in {}", record.release, record.store);
    output.heading(&title)?;
    let with_note = |of| statuses_of(report, of);
    let rows = [
        ("frames", frames, format!("{} with a file", grouped(with_file))),
        ("frame relations", frame_relations, String::new()),
        ("semantic types", sem_types, String::new()),
        ("lexical units", lexunits, format!("{} with a file", grouped(lu_files))),
        ("documents", documents, String::new()),
        ("exemplar sets", exemplar_sets, with_note(Origin::Exemplar)),
        ("full-text sets", fulltext_sets, with_note(Origin::FullText)),
        ("construction sets", construction_sets, String::new()),
        (
            "sentence-layer sets",
            sentence_layer_sets,
            format!("listed {}", counted(sentence_layer_occurrences, "time")),
        ),
        ("sentences", sentences, format!("listed {}", counted(sentence_occurrences, "time"))),
    ];
    for (name, count, note) in rows {
        output.count(name, count, &note)?;
    }
    output.line(&format!(
        "  took {:.1} s; {} of XML became {} on disk",
        record.seconds,
        size(record.source_bytes),
        size(record.store_bytes)
    ))?;
    let faults = counted(report.warnings.faults(), "oddity");
    warnings(&record.warnings, "fault", &format!("{faults}, none dropped silently"), output)?;
    let traits = "traits of the data that readers stumble over, all kept";
    warnings(&record.warnings, "trait", traits, output)
}

/// The statuses of sets of an origin, the most frequent first.
fn statuses_of(report: &ImportReport, of: Origin) -> String {
    let kinds = report.statuses.iter().filter(|((origin, _), _)| *origin == of);
    let mut kinds: Vec<_> = kinds.map(|((_, status), count)| (*count, status)).collect();
    kinds.sort_by(|a, b| b.cmp(a));
    let kinds: Vec<String> =
        kinds.iter().map(|(count, status)| format!("{} {status}", grouped(*count))).collect();
    kinds.join(", ")
}

/// The warnings of a kind under a title, when there are any.
fn warnings(
    warnings: &[WarningRecord],
    kind: &str,
    title: &str,
    output: &mut Output,
) -> anyhow::Result<()> {
    let of_kind = || warnings.iter().filter(|warning| warning.kind == kind);
    if of_kind().next().is_none() {
        return Ok(());
    }
    output.line("")?;
    output.heading(title)?;
    for warning in of_kind() {
        output.line(&format!(
            "  {:>6}  {:<22} {}",
            grouped(warning.count),
            warning.code,
            warning.done
        ))?;
    }
    Ok(())
}

/// What a code stands for and what an import does about it, in a few words.
fn what_was_done(code: WarningCode) -> &'static str {
    match code {
        WarningCode::DuplicateLabel => "same label twice on one span: kept twice",
        WarningCode::FrameMissing => "frame without a file: kept by name",
        WarningCode::LuMissing => "LU that no file defines: kept by name",
        WarningCode::LuWithoutFile => "LU of a frame file without a file of its own: kept",
        WarningCode::LuNameRepeated => "two LUs of one name in a frame: both kept",
        WarningCode::LuNotInFrame => "LU that its frame's file does not name: kept",
        WarningCode::NullUnknown => "null instantiation of an unknown kind: kept as text",
        WarningCode::TargetLayers => "several Target layers: targets merged",
        WarningCode::TargetEmpty => "set without a target: kept",
        WarningCode::SentenceConflict => "sentence number with two texts: fresh id for the later",
        WarningCode::SetConflict => "set number used twice: fresh id for the later",
        WarningCode::SpanRange => "label outside its sentence: kept without a span",
        WarningCode::FeUnknown => "FE that the frame does not have: kept",
        WarningCode::RelationDangling => "relation to a frame without a file: kept",
        WarningCode::UnknownElement => "element that is not in FrameNet's schema: kept",
        WarningCode::UnreadableValue => "value that its attribute does not allow: see the report",
        WarningCode::IdRepeated => "number used twice: both kept, the later under a fresh one",
        WarningCode::IdWritten => "id that is no number: kept as written under a fresh one",
        WarningCode::NameUnusual => "name that is empty or does not show: kept as written",
        WarningCode::SemTypeMissing => "semantic type that is listed nowhere: kept by name",
        WarningCode::DocumentMissing => "document that is listed nowhere: kept by number",
        WarningCode::ElementMissing => "FE named that the frame does not have: found by its name",
        WarningCode::FileMissing => "file at the top that is not there: read without it",
        WarningCode::IndexMismatch => "index file and folder differ: the files count",
        WarningCode::LuDiffers => "LU file and frame file differ: both kept",
        WarningCode::NameMismatch => "name and number do not go together: the number counts",
        WarningCode::UnknownAttribute => "attribute that is not in FrameNet's schema: kept",
        WarningCode::UnknownText => "text between elements: kept",
        WarningCode::UnknownDropped => "more than is kept of one file: dropped",
        WarningCode::AttributeRepeated => "attribute twice in an element: the first counts",
        WarningCode::HeaderMissing => "full text without corpus or document: called after its file",
        WarningCode::OutsideRoot => "element or text outside the root element: not read",
        WarningCode::FolderMissing => "folder that is not there: read without it",
        WarningCode::LinkDangling => "link that leads nowhere: not read",
        WarningCode::LanguageGuessed => "perhaps no English: give `--language`; see the report",
        WarningCode::SemTypesSeveral => "FE with several semantic types: all kept",
        WarningCode::TargetPieces => "discontinuous target: all pieces kept",
        WarningCode::FeRepeated => "one FE on several spans: all kept",
        WarningCode::FeRank => "FE layer of rank 2 or more: kept with its rank",
        WarningCode::LayerRank => "layer of a rank that other readers refuse: kept",
        WarningCode::NullIncorporated => "null instantiation INC: kept",
        WarningCode::SetUnannotated => "target without annotated FEs: FEs count as unknown",
        WarningCode::SetsSeveral => "several frame sets of a sentence in an LU file: all kept",
        WarningCode::SentenceRepeated => "sentence listed in several places: one record",
        WarningCode::NumberShared => "number used in lu/ and in fulltext/: the folder is in the id",
        WarningCode::LuWithoutExemplar => "LU file without an exemplar: kept",
        WarningCode::MachineSet => "a model made the set: read as human; use JSON lines instead",
        WarningCode::TextSpace => "text with space around it: kept byte by byte",
        WarningCode::TextNonAscii => "text beyond ASCII: kept byte by byte",
        WarningCode::Litter => "file of an operating system or an editor: not read",
        WarningCode::FileNotRead => "no file, or where no release has one: not read",
        WarningCode::WrittenOtherwise => "an export writes the same otherwise: see the report",
        WarningCode::TextMarkup => "text with `<` or a control character: kept byte by byte",
        _ => "see the report",
    }
}
