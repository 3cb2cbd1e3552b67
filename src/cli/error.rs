//! From an error to an exit code and a hint.
//!
//! The library says what kind of error it is and which code it has ([`Coded`]). The exit code
//! follows from the kind, and the hint from the code, by one table.

use std::error::Error;
use std::io;

use fnstore::database::{DatabaseError, ReleaseError};
use fnstore::internals::ErrorRecord;
use fnstore::model::{Coded, ErrorKind, Trouble};
use fnstore::named;

use crate::cli::print::output::tell;

/// Lines of the input that could not be worked on.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{failed}` of {lines} lines could not be {done}; {} say why",
    if *.told { "the messages above" } else { "their records" }
)]
pub(super) struct LinesFailed {
    /// What was to be done with them.
    pub(super) done: &'static str,
    pub(super) failed: u64,
    pub(super) lines: u64,
    /// Whether each was told, since the output has no place for errors.
    pub(super) told: bool,
}

/// The line with the names of the columns cannot be read, so that no other line says anything.
#[derive(Debug, thiserror::Error)]
#[error("{code}: {name} line {line}: {message}; the names of the columns should stand there")]
pub(super) struct NoNames {
    pub(super) code: &'static str,
    /// The file.
    pub(super) name: String,
    pub(super) line: u64,
    pub(super) message: String,
}

/// A model that was named, or that is the default, is not there.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NoModel(pub(crate) String);

impl Coded for NoModel {
    fn trouble(&self) -> Trouble {
        Trouble { kind: ErrorKind::NoModel, code: None }
    }
}

/// A release of predictions cannot be begun.
#[derive(Debug, thiserror::Error)]
#[error("cannot begin the release `{name}`")]
pub(super) struct NotBegun {
    pub(super) name: String,
    pub(super) source: DatabaseError,
}

impl Coded for LinesFailed {
    fn trouble(&self) -> Trouble {
        Trouble { kind: ErrorKind::BadInput, code: None }
    }
}

impl Coded for NoNames {
    fn trouble(&self) -> Trouble {
        Trouble { kind: ErrorKind::BadInput, code: Some(self.code) }
    }
}

impl Coded for NotBegun {
    fn trouble(&self) -> Trouble {
        match &self.source {
            DatabaseError::Release(
                error @ (ReleaseError::Name { .. } | ReleaseError::Exists { .. }),
            ) => Trouble { code: Some(NOT_BEGUN), ..error.trouble() },
            error => error.trouble(),
        }
    }
}

/// The code of a release of predictions whose name will not do.
const NOT_BEGUN: &str = "A-release-name";

/// An error as one that has a kind and a code. No error says whether it has them without its type.
fn read<'e, T: Coded + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e dyn Coded> {
    error.downcast_ref::<T>().map(|error| error as &dyn Coded)
}

/// As [`fnstore::Error::read`], of the command line's own errors too.
fn read_any<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e dyn Coded> {
    let own = [read::<LinesFailed>, read::<NoModel>, read::<NoNames>, read::<NotBegun>];
    own.iter().find_map(|read| read(error)).or_else(|| fnstore::Error::read(error))
}

/// What to try next where the message does not say it, by the code of the error.
const HINTS: &[(&[&str], &str)] = &[
    (&[NOT_BEGUN], "`--as NAME` names another one"),
    (&["A-missing"], "`make rewriter` fetches it, `fnstore model add FILE.gguf` adds a file"),
    (&["A-prompt"], "`make rewriter` fetches one, `--model NAME` names it"),
    (&["B-none"], "`fnstore backup DIR` writes one"),
    (
        &["C-commits-lost"],
        "`fnstore restore DIR` brings a backup back, `fnstore reindex` goes on with what is left",
    ),
    (&["C-index-damaged"], "`fnstore reindex` builds the index again"),
    (
        &["C-open", "C-unreadable"],
        "`fnstore check` says what is damaged, and `fnstore restore DIR` brings a backup back",
    ),
    (
        &["C-record"],
        "`fnstore check` lists what is damaged, `fnstore check --repair` removes what cannot be \
         read, and `fnstore restore DIR` brings a backup back",
    ),
    (&["D-memory", "D-lost", "D-failed"], "`--device cpu` computes on the CPU"),
    (&["E-base-lacks"], "`--release NAME` names the release that a file of additions adds to"),
    (&["E-few-decisions"], "`fnstore proposals accept` and `reject` decide on them"),
    (&["E-few-judgements"], "`fnstore judge` records judgements"),
    (&["E-list-unnamed"], "`--split-list FILE` names the list"),
    (&["E-no-export"], "`fnstore export --to jsonl` writes such files"),
    (&["E-no-generated"], "`fnstore expand` writes generated sets, `--generated QUERY` names them"),
    (&["E-no-pairs"], "`fnstore augment nli` writes such a file"),
    (&["E-no-proposal"], "`fnstore proposals` lists what is proposed"),
    (
        &["E-no-release"],
        "other annotation comes in as JSON lines with spans, which schema/exchange.md describes",
    ),
    (&["E-no-unit"], "`fnstore proposals reject`, or `merge --into LU`"),
    (&["E-no-base", "E-release-exists", "E-release-name"], "`--release NAME` names the release"),
    (
        &["H-key"],
        "`--key-from NAME` names the variable that holds the key, which is FNSTORE_ENDPOINT_KEY \
         without it",
    ),
    (&["H-usage"], "`--max-requests N` sets a budget of requests"),
    (&["M-aligner-encoder"], "`fnstore train aligner` trains a head"),
    (&["M-choice"], "`fnstore model use NAME` writes it anew"),
    (&["M-fes-encoder"], "`fnstore train fes` trains a labeller"),
    (&["M-frames-encoder"], "`fnstore train frames` trains a frame model"),
    (&["M-given-spans"], "`fnstore train fes` without `--given-spans` trains one that finds spans"),
    (
        &["M-language"],
        "`--any-language` goes on all the same; `languages.json` in a model's folder says what it is \
         made for",
    ),
    (&["M-missing"], "`--models DIR` names the place of the models"),
    (&["M-name", "M-exists"], "`--name NAME` names the model"),
    (&["M-tagger-encoder"], "`fnstore train tagger` trains a tagger"),
    (
        &["N-attested"],
        "`--lacking exemplars` also takes LUs whose sentences all stand in full text, and \
         `--lacking nothing` of `fnstore generate` those with any sentences",
    ),
    (&["Q-ambiguous-edition"], "`--release NAME` says whose"),
    (
        &["Q-field", "Q-operator", "Q-query", "Q-regex", "Q-syntax", "Q-value"],
        "`fnstore query --help` lists the fields and has examples",
    ),
    (
        &["Q-rejected"],
        "a rejected LU keeps its status `Proposed`; `fnstore proposals decisions` lists the \
         rejected ones, and `lu_status!=Proposed` leaves all proposed ones out",
    ),
    (&["Q-unknown-release"], "`fnstore releases` lists the releases of the store"),
    (&["S-absent"], "`fnstore import PATH` makes one, `--store DIR` names another"),
    (
        &["S-file-size"],
        "raise the limit on the size of files (`ulimit -f`) and run it again; what was in the \
         store before is still there",
    ),
    (&["S-full"], "free some space and run it again; what was in the store before is still there"),
    (
        &["S-index"],
        "a full disk and the limit on open files (`ulimit -n`) are the usual causes; what was in \
         the store before is still there",
    ),
    (&["S-locked"], "`query`, `show` and `releases` work beside a writer"),
    (&["S-not-a-store"], "`--store DIR` names a store, or a place for a new one"),
    (
        &["S-open-files"],
        "raise the limit on open files (`ulimit -n`) and run it again; what was in the store \
         before is still there",
    ),
    (
        &["S-outdated"],
        "that program's `fnstore export release=NAME --to jsonl FILE` writes a release, and this \
         one's `fnstore import FILE --store NEW` reads it",
    ),
    (&["S-replaced", "S-beyond"], "`fnstore changes` without `--since` begins at revision 0"),
    (
        &["W-strict"],
        "without `--strict` the import counts such cases, says what it did, and goes on",
    ),
    (&["X-shard"], "`--shard I/N` names the part"),
    (
        &["X-shard-models"],
        "`--models DIR` names the place of the models; `--guide none`, `--filter none` and \
         `--choice fewest-failed-checks` do without",
    ),
];

/// The kinds and codes along the chain of causes.
fn troubles(error: &anyhow::Error) -> impl Iterator<Item = Trouble> {
    error.chain().filter_map(|cause| {
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        inner.and_then(|inner| read_any(inner)).or_else(|| read_any(cause)).map(Coded::trouble)
    })
}

/// The exit code of a wrong use, as clap has it.
const WRONG_USE: u8 = 2;

/// The kind of an error with its exit code.
fn exit_code(error: &anyhow::Error) -> (ErrorKind, u8) {
    let mut kinds = troubles(error).map(|trouble| trouble.kind);
    let kind = kinds.find(|kind| *kind != ErrorKind::Failed).unwrap_or(ErrorKind::Failed);
    (kind, kind.exit_code())
}

named! {
    /// How errors are told.
    pub(crate) enum ErrorForm {
        /// In words
        Text => "text",
        /// As one line of JSON, the last one of stderr (`schema/error.schema.json`)
        Json => "json",
    }
}

impl ErrorForm {
    /// The form that the command line or `FNSTORE_ERRORS` asks for: a command line that cannot be
    /// read is told in it, too.
    fn asked_for() -> Self {
        let mut words = std::env::args().skip_while(|word| !word.starts_with("--errors"));
        let named = match words.next() {
            Some(word) => word.split_once('=').map(|(_, form)| form.to_owned()).or(words.next()),
            None => std::env::var("FNSTORE_ERRORS").ok(),
        };
        named.and_then(|form| Self::parse(&form)).unwrap_or(Self::Text)
    }
}

/// Tells an error in the form that is asked for; gives the exit code.
fn tell_record(record: &ErrorRecord<'_>) -> u8 {
    match (ErrorForm::asked_for(), serde_json::to_string(record)) {
        (ErrorForm::Json, Ok(line)) => tell(&line),
        _ => {
            tell(&format!("error: {}", record.message));
            if let Some(hint) = record.hint {
                tell(&format!("\nhint: {hint}"));
            }
        }
    }
    record.exit
}

/// Tells an error; gives the exit code.
pub(crate) fn report(error: &anyhow::Error) -> u8 {
    let (kind, exit) = exit_code(error);
    let code = troubles(error).find_map(|trouble| trouble.code);
    let (message, hint) = (format!("{error:#}"), hint(error));
    tell_record(&ErrorRecord { kind: kind.as_str(), code, message: &message, hint, exit })
}

/// Tells that a command line cannot be read; gives the exit code. What was typed stands in the
/// message, and does nothing to a terminal.
pub(crate) fn report_usage(error: &clap::Error) -> u8 {
    let is_help = !error.use_stderr();
    let has_controls =
        || std::env::args_os().any(|it| it.to_string_lossy().chars().any(char::is_control));
    if !is_help && ErrorForm::asked_for() == ErrorForm::Json {
        let message = error.render().to_string();
        let message = message.trim_end();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        return tell_record(&ErrorRecord::usage(None, message));
    }
    if !is_help && has_controls() {
        tell(error.render().to_string().trim_end());
        return WRONG_USE;
    }
    error.exit()
}

/// What to try next, where the message does not say it.
pub(crate) fn hint(error: &anyhow::Error) -> Option<&'static str> {
    let hint = |code| HINTS.iter().find(|(codes, _)| codes.contains(&code)).map(|(_, hint)| *hint);
    troubles(error).find_map(|trouble| trouble.code.and_then(hint))
}

/// Whether an error says that a model is not at hand.
pub(crate) fn is_absence(error: &anyhow::Error) -> bool {
    troubles(error).any(|trouble| trouble.kind == ErrorKind::NoModel)
}

/// Whether the reader of stdout went away, which ends a command without failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use fnstore::NetworkError;
    use fnstore::align::AlignError;
    use fnstore::database::ExportError;
    use fnstore::durable::Claimed;
    use fnstore::endpoint::EndpointError;
    use fnstore::engine::{ComputeError, DecodeError, NnError};
    use fnstore::expand::{ExpandError, ShardRequestError};
    use fnstore::framenet::FramenetError;
    use fnstore::generate::GenerateError;
    use fnstore::index::IndexError;
    use fnstore::paraphrase::ParaphraseError;
    use fnstore::score::ScoreError;
    use fnstore::store::StoreError;
    use fnstore::verify::VerifyError;

    use super::*;

    fn code(error: impl Into<anyhow::Error>) -> u8 {
        exit_code(&error.into().context("while testing")).1
    }

    #[test]
    fn bad_data_and_locks_have_codes_of_their_own() {
        let path = std::path::PathBuf::from("x");
        let not_a_release = FramenetError::NotARelease { path: path.clone(), expected: "y" };
        assert_eq!(code(DatabaseError::from(not_a_release)), 65);
        let missing =
            FramenetError::Io { path: path.clone(), source: io::ErrorKind::NotFound.into() };
        assert_eq!(code(DatabaseError::from(missing)), 2);
        let locked = StoreError::Locked { path, holder: Default::default() };
        assert_eq!(code(DatabaseError::from(locked)), 75);
        assert_eq!(code(io::Error::new(io::ErrorKind::WouldBlock, Claimed)), 75);
        assert_eq!(code(anyhow::anyhow!("else")), 2);
        let absent = StoreError::Absent { path: "x".into() };
        assert_eq!(code(DatabaseError::from(absent)), 66);
    }

    #[test]
    fn a_lack_is_hinted_at_whoever_tells_of_it() {
        let words = "No space left on device (os error 28)";
        let path = std::path::PathBuf::from("x");
        let index =
            IndexError::Engine { path: path.clone(), action: "committing", reason: words.into() };
        let store = StoreError::Io { path, source: io::Error::other(words) };
        for error in [DatabaseError::from(index), DatabaseError::from(store)] {
            assert!(hint(&error.into()).is_some_and(|hint| hint.starts_with("free some space")));
        }
    }

    #[test]
    fn an_error_has_its_exit_code_and_hint_whatever_stands_around_it() {
        let lost = || {
            let (adapter, reason) = ("a GPU".to_owned(), "gone".to_owned());
            NnError::Compute(ComputeError::Lost { adapter, reason })
        };
        let decode = || DecodeError::Network { doing: "take a step", source: lost() };
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let path = || std::path::PathBuf::from("x");
        let (on_cpu, room) = ("`--device cpu`", "free some space");
        let held = io::Error::new(io::ErrorKind::WouldBlock, Claimed);
        let errors: [(anyhow::Error, u8, Option<&str>); 9] = [
            (ScoreError::from(lost()).into(), 2, Some(on_cpu)),
            (VerifyError::from(ScoreError::from(decode())).into(), 2, Some(on_cpu)),
            (GenerateError::Score(Box::new(lost().into())).into(), 2, Some(on_cpu)),
            (GenerateError::Decode(Box::new(decode())).into(), 2, Some(on_cpu)),
            (ExpandError::from(ParaphraseError::from(decode())).into(), 2, Some(on_cpu)),
            (ExpandError::from(NetworkError::from(lost())).into(), 2, Some(on_cpu)),
            (AlignError::from(lost()).into(), 2, Some(on_cpu)),
            (
                DatabaseError::from(ExportError::Write { path: path(), source: full() }).into(),
                74,
                Some(room),
            ),
            (
                DatabaseError::from(ExportError::Claimed { path: path(), source: held }).into(),
                75,
                None,
            ),
        ];
        for (error, exit, hinted) in errors {
            let said = hint(&error);
            assert_eq!(said.is_some(), hinted.is_some(), "{error:?}");
            assert!(said.unwrap_or_default().starts_with(hinted.unwrap_or_default()), "{said:?}");
            assert_eq!(code(error), exit);
        }
    }

    #[test]
    fn what_the_library_says_without_options_is_hinted_with_them() {
        let no_key = EndpointError::NoKey { name: "KEY".to_owned() };
        assert!(hint(&no_key.into()).is_some_and(|hint| hint.contains("--key-from")));
        let (lacking, job, without) = ("filter", "scores a shard", "filter none");
        let models = ShardRequestError::Models { lacking, job, without };
        assert!(hint(&models.into()).is_some_and(|hint| hint.contains("`--filter none`")));
        let no_part = ShardRequestError::NoPart { text: "x".to_owned() };
        assert!(hint(&ExpandError::from(no_part).into()).is_some_and(|it| it.contains("--shard")));
    }

    #[test]
    fn a_broken_pipe_is_found_anywhere_in_the_chain() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("x");
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&anyhow::anyhow!("broken pipe")));
    }
}
