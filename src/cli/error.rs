//! From an error to an exit code and a hint.

use std::io;
use std::process::ExitCode;

use fnstore::FileError;
use fnstore::align::AlignError;
use fnstore::augment::AugmentError;
use fnstore::compute::ComputeError;
use fnstore::database::{
    BackupError, DatabaseError, LookupError, ReleaseError, ScriptError, SplitListError,
};
use fnstore::durable::Claimed;
use fnstore::endpoint::EndpointError;
use fnstore::exchange::{ExchangeError, FaultCode};
use fnstore::expand::{ExpandError, RecipeFileError, SeedsError};
use fnstore::experiment::ExperimentError;
use fnstore::filter::FilterError;
use fnstore::framenet::FramenetError;
use fnstore::generate::GenerateError;
use fnstore::identify::IdentifyError;
use fnstore::index::IndexError;
use fnstore::label::LabelError;
use fnstore::model::LanguageError;
use fnstore::models::ModelError;
use fnstore::nn::{GgufError, NnError, WeightsError};
use fnstore::paraphrase::ParaphraseError;
use fnstore::prompt::PromptError;
use fnstore::proposals::ProposalError;
use fnstore::score::ScoreError;
use fnstore::store::StoreError;
use fnstore::tag::TagError;
use fnstore::text::input::BadLine;

/// Bad input data (`EX_DATAERR` of sysexits.h).
const BAD_DATA: u8 = 65;

/// The store, a shard or a file to be written is locked, and trying again later may help
/// (`EX_TEMPFAIL`).
const LOCKED: u8 = 75;

/// The store is not the one that was followed, and has to be read anew.
const REPLACED: u8 = 76;

/// Every other error, as for clap's.
const FAILED: u8 = 2;

/// Lines of the input that could not be worked on, each with its error in the output.
#[derive(Debug, thiserror::Error)]
#[error("`{failed}` of {lines} lines could not be {done}; their records say why")]
pub(super) struct LinesFailed {
    /// What was to be done with them.
    pub(super) done: &'static str,
    pub(super) failed: u64,
    pub(super) lines: u64,
}

/// Lines of the input that were left out of an output that has no place for errors; each was told.
#[derive(Debug, thiserror::Error)]
#[error("`{failed}` of {lines} lines could not be {done}; the messages above say why")]
pub(super) struct LinesLeftOut {
    /// What was to be done with them.
    pub(super) done: &'static str,
    pub(super) failed: u64,
    pub(super) lines: u64,
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

/// The exit code for an error.
pub(crate) fn exit_code(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(match cause(error) {
        _ if error.chain().any(is_bad_input) => BAD_DATA,
        _ if error.chain().any(is_claimed) => LOCKED,
        Some(DatabaseError::Store(error)) if error.code() == "S-locked" => LOCKED,
        Some(DatabaseError::Store(StoreError::Replaced { .. } | StoreError::BeyondEnd { .. })) => {
            REPLACED
        }
        Some(error) if is_bad_data(error) => BAD_DATA,
        _ => FAILED,
    })
}

/// Whether an error is about a shard or a file that another process writes.
fn is_claimed(cause: &(dyn std::error::Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(ExpandError::ShardLocked { .. }))
        || cause.downcast_ref().is_some_and(Claimed::is_cause_of)
}

/// Whether an error is about data that a command was given.
fn is_bad_input(cause: &(dyn std::error::Error + 'static)) -> bool {
    macro_rules! is_any {
        ($($pattern:pat,)*) => { $(matches!(cause.downcast_ref(), Some($pattern)))||* };
    }
    cause.is::<LinesFailed>()
        || cause.is::<LinesLeftOut>()
        || cause.is::<NoNames>()
        || cause.is::<BadLine>()
        || cause.downcast_ref().is_some_and(is_bad_line)
        || cause.downcast_ref().is_some_and(is_wrong_file)
        || is_any! {
            AlignError::File(FileError::Content { .. }) | AlignError::Item { .. },
            TagError::File(FileError::Content { .. }) | TagError::NoTags { .. },
            IdentifyError::File(FileError::Content { .. }) | IdentifyError::NoTargets { .. } | IdentifyError::Leak { .. },
            LabelError::File(FileError::Content { .. }) | LabelError::NoElements { .. },
            FilterError::File(FileError::Content { .. }) | FilterError::TooFew { .. },
            ProposalError::File(FileError::Content { .. }) | ProposalError::TooFew { .. },
            AugmentError::NoPairs { .. } | AugmentError::OneLabel { .. },
            ExperimentError::NoGenerated { .. } | ExperimentError::NoText { .. },
            RecipeFileError::Toml { .. },
            PromptError::Toml { .. } | PromptError::Field { .. },
            ScoreError::Prompt(_),
            ModelError::Broken { .. } | ModelError::Content { .. } | ModelError::Weights { .. },
        }
}

/// Whether a small file has a line that cannot be read.
fn is_bad_line(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<BadLine>())
}

/// Whether a database's error is about what it was given.
fn is_bad_data(error: &DatabaseError) -> bool {
    match error {
        DatabaseError::Exchange(ExchangeError::Line { .. } | ExchangeError::Field { .. })
        | DatabaseError::Release(ReleaseError::TooLarge { .. } | ReleaseError::NoBase { .. })
        | DatabaseError::Store(StoreError::TooLarge { .. } | StoreError::Invalid { .. })
        | DatabaseError::Backup(BackupError::NotABackup { .. } | BackupError::Damaged { .. }) => {
            true
        }
        DatabaseError::Framenet(error) => !matches!(error, FramenetError::Io { .. }),
        DatabaseError::Script(ScriptError::Edit { source, .. }) => {
            !matches!(**source, DatabaseError::Store(_))
        }
        DatabaseError::Script(error) => !matches!(error, ScriptError::Read { .. }),
        DatabaseError::SplitList(_) => true,
        _ => false,
    }
}

/// Whether a language model's file is not what it should be.
fn is_wrong_file(error: &ScoreError) -> bool {
    let file = match error {
        ScoreError::File(file)
        | ScoreError::Network(NnError::Weights(WeightsError::Gguf(file))) => file,
        _ => return false,
    };
    matches!(file, GgufError::Field { .. })
}

/// What the operating system says, and what to do then.
const OF_THE_SYSTEM: [(&str, &str); 3] = [
    (
        "No space left on device",
        "free some space and run it again; what was in the store before is still there",
    ),
    (
        "File too large",
        "raise the limit on the size of files (`ulimit -f`) and run it again; what was in the \
         store before is still there",
    ),
    (
        "Too many open files",
        "raise the limit on open files (`ulimit -n`) and run it again; what was in the store \
         before is still there",
    ),
];

/// What to try next, where the message does not say it.
pub(crate) fn hint(error: &anyhow::Error) -> Option<&'static str> {
    let message = format!("{error:#}");
    // The command has said it.
    if message.contains("; `--as NAME`") {
        return None;
    }
    if let Some(&(_, hint)) = OF_THE_SYSTEM.iter().find(|(said, _)| message.contains(said)) {
        return Some(hint);
    }
    if let Some(option) = error.chain().find_map(|cause| option(cause).or_else(|| command(cause))) {
        return Some(option);
    }
    match cause(error)? {
        DatabaseError::Store(error) => of_store(error),
        DatabaseError::Backup(BackupError::NotABackup { .. }) => {
            Some("`fnstore backup DIR` writes one")
        }
        DatabaseError::Index(IndexError::Damaged { .. }) => {
            Some("`fnstore reindex` builds the index again")
        }
        DatabaseError::Index(IndexError::Engine { .. }) => Some(
            "a full disk and the limit on open files (`ulimit -n`) are the usual causes; what was in \
             the store before is still there",
        ),
        DatabaseError::Framenet(FramenetError::Strict(_)) => {
            Some("without `--strict` the import counts such cases, says what it did, and goes on")
        }
        DatabaseError::SplitList(
            SplitListError::Editions { .. } | SplitListError::NameAlone { .. },
        ) => Some("`--split-list FILE` names the list"),
        DatabaseError::Language(LanguageError::Mismatch { .. }) => Some(
            "`--any-language` goes on all the same; `languages.json` in a model's folder says what it is \
             made for",
        ),
        DatabaseError::Framenet(FramenetError::NotARelease { .. }) => Some(
            "other annotation comes in as JSON lines with spans, which schema/exchange.md describes",
        ),
        DatabaseError::Query(_) => Some("`fnstore query --help` lists the fields and has examples"),
        DatabaseError::Lookup(LookupError::UnknownName { kind: "release", .. }) => {
            Some("`fnstore releases` lists the releases of the store")
        }
        DatabaseError::Lookup(LookupError::Ambiguous { kind: "edition", .. }) => {
            Some("`--release NAME` says whose")
        }
        DatabaseError::Lookup(LookupError::UnknownValue { kind, value, .. })
            if *kind == "lexicographic status" && value.eq_ignore_ascii_case("rejected") =>
        {
            Some(
                "a rejected LU keeps its status `Proposed`; `fnstore proposals decisions` lists the \
                 rejected ones, and `lu_status!=Proposed` leaves all proposed ones out",
            )
        }
        _ => None,
    }
}

/// What helps where the store is the matter, by the code of its error.
fn of_store(error: &StoreError) -> Option<&'static str> {
    Some(match error.code() {
        "S-format" if error.is_outdated() => {
            "that program's `fnstore export release=NAME --to jsonl FILE` writes a release, and this \
             one's `fnstore import FILE --store NEW` reads it"
        }
        "S-absent" => "`fnstore import PATH` makes one, `--store DIR` names another",
        "S-not-a-store" => "`--store DIR` names a store, or a place for a new one",
        "S-locked" => "`query`, `show` and `releases` work beside a writer",
        "S-replaced" | "S-beyond" => "`fnstore changes` without `--since` begins at revision 0",
        "C-record" => {
            "`fnstore check` lists what is damaged, `fnstore check --repair` removes what cannot be \
             read, and `fnstore restore DIR` brings a backup back"
        }
        "C-commits-lost" => {
            "`fnstore restore DIR` brings a backup back, `fnstore reindex` goes on with what is left"
        }
        "C-open" | "C-unreadable" => {
            "`fnstore check` says what is damaged, and `fnstore restore DIR` brings a backup back"
        }
        _ => return None,
    })
}

/// The command that an error's advice is about.
fn command(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    macro_rules! hints {
        ($($pattern:pat => $hint:literal,)*) => {
            $(if let Some($pattern) = cause.downcast_ref() {
                return Some($hint);
            })*
        };
    }
    hints! {
        IdentifyError::Encoder { .. } => "`fnstore train frames` trains a frame model",
        LabelError::Encoder { .. } => "`fnstore train fes` trains a labeller",
        LabelError::GivenSpans => "`fnstore train fes` without `--given-spans` trains one that finds spans",
        AlignError::Encoder { .. } => "`fnstore train aligner` trains a head",
        TagError::Encoder { .. } => "`fnstore train tagger` trains a tagger",
        FilterError::TooFew { .. } => "`fnstore judge` records judgements",
        AugmentError::NoPairs { .. } => "`fnstore augment nli` writes such a file",
        ExperimentError::NoGenerated { .. } => "`fnstore expand` writes generated sets, `--generated QUERY` names them",
        ProposalError::Absent { .. } => "`fnstore proposals` lists what is proposed",
        ProposalError::NoUnit { .. } => "`fnstore proposals reject`, or `merge --into LU`",
        ProposalError::TooFew { .. } => "`fnstore proposals accept` and `reject` decide on them",
        ParaphraseError::BaseMissing { .. } => "`make rewriter` fetches it, `fnstore model add FILE.gguf` adds a file",
        ParaphraseError::NoPrompt => "`make rewriter` fetches one, `--model NAME` names it",
        EndpointError::Uncounted { .. } => "`--max-requests N` sets a budget of requests",
        GenerateError::Endpoint(EndpointError::Uncounted { .. }) => "`--max-requests N` sets a budget of requests",
        ParaphraseError::Endpoint(EndpointError::Uncounted { .. }) => "`--max-requests N` sets a budget of requests",
    }
    None
}

/// The option that an error's advice is about.
fn option(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    match cause.downcast_ref() {
        Some(ExpandError::Database(cause)) => return option(cause),
        Some(ExpandError::ModelMissing { .. }) => {
            return Some("`--models DIR` names the place of the models");
        }
        _ => {}
    }
    if let Some(GenerateError::LexUnits(cause)) = cause.downcast_ref()
        && let ExpandError::Seeds(SeedsError::NoneWithoutSentences { attested }) = &**cause
        && !attested.is_empty()
    {
        return Some("`--lacking exemplars` also takes LUs whose sentences all stand in full text");
    }
    if let Some(ModelError::Content { expected, .. }) = cause.downcast_ref()
        && expected.contains("the choice of a model")
    {
        return Some("`fnstore model use NAME` writes it anew");
    }
    match cause.downcast_ref() {
        Some(DatabaseError::Exchange(ExchangeError::Field { code, expected, .. }))
            if *code == FaultCode::Missing && expected.contains("adds to") =>
        {
            return Some("`--release NAME` names the release that a file of additions adds to");
        }
        Some(DatabaseError::Exchange(ExchangeError::Line { reason, .. }))
            if reason.contains("an export as JSON lines") =>
        {
            return Some("`fnstore export --to jsonl` writes such files");
        }
        Some(DatabaseError::Release(
            ReleaseError::Name { .. }
            | ReleaseError::Unnamed { .. }
            | ReleaseError::Exists { .. }
            | ReleaseError::NoBase { .. },
        )) => return Some("`--release NAME` names the release"),
        _ => {}
    }
    match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(ModelError::Name { .. } | ModelError::Exists { .. }), _) => {
            Some("`--name NAME` names the model")
        }
        (
            _,
            Some(
                ComputeError::Memory { .. } | ComputeError::Lost { .. } | ComputeError::Gpu { .. },
            ),
        ) => Some("`--device cpu` computes on the CPU"),
        _ => None,
    }
}

/// Whether the reader of stdout went away, which ends a command without failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// The database's error, wherever it stands in the chain.
fn cause(error: &anyhow::Error) -> Option<&DatabaseError> {
    error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(ExpandError::Database(cause)) => Some(cause),
        _ => match cause.downcast_ref() {
            Some(ProposalError::Database(cause)) => Some(cause),
            _ => match cause.downcast_ref() {
                Some(GenerateError::Database(cause)) => Some(cause),
                _ => cause.downcast_ref(),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(error: impl Into<anyhow::Error>) -> String {
        format!("{:?}", exit_code(&error.into().context("while testing")))
    }

    fn expected(code: u8) -> String {
        format!("{:?}", ExitCode::from(code))
    }

    #[test]
    fn bad_data_and_locks_have_codes_of_their_own() {
        let path = std::path::PathBuf::from("x");
        let not_a_release = FramenetError::NotARelease { path: path.clone(), expected: "y" };
        assert_eq!(code(DatabaseError::from(not_a_release)), expected(65));
        let missing =
            FramenetError::Io { path: path.clone(), source: io::ErrorKind::NotFound.into() };
        assert_eq!(code(DatabaseError::from(missing)), expected(2));
        let locked = StoreError::Locked { path, holder: Default::default() };
        assert_eq!(code(DatabaseError::from(locked)), expected(75));
        assert_eq!(code(anyhow::anyhow!("else")), expected(2));
    }

    #[test]
    fn a_broken_pipe_is_found_anywhere_in_the_chain() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("x");
        assert!(is_broken_pipe(&error));
        assert!(!is_broken_pipe(&anyhow::anyhow!("broken pipe")));
    }
}
