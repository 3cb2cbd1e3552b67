//! From the library's errors to Python's: the class, the code, the advice, the nearest name.
//!
//! A message of the library ends in its code, or begins with it, and says after a semicolon what to
//! do. Where the advice names a command, Python's own takes its place.

use fnstore::database::{
    DatabaseError, EditError, ExportError, LookupError, ReleaseError, ScriptError,
};
use fnstore::expand::{ExpandError, RecipeError, RecipeFileError, ShardRequestError};
use fnstore::model::{Coded, ErrorKind};
use fnstore::models::ModelError;
use fnstore::paraphrase::ParaphraseError;
use fnstore::proposals::ProposalError;
use fnstore::query::QueryError;
use fnstore::store::StoreError;
use pyo3::prelude::*;

/// Where Python's classes are.
const MODULE: &str = "fnstore._errors";

/// What an error is to Python.
pub(crate) struct Fault {
    class: &'static str,
    message: Box<str>,
    code: Box<str>,
    advice: Box<str>,
    nearest: Option<Box<str>>,
    column: Option<u32>,
    choices: Option<Vec<String>>,
}

impl Fault {
    /// An error of the bindings themselves.
    pub(crate) fn new(class: &'static str, code: &str, message: &str, advice: &str) -> Self {
        let (message, code, advice) = (message.into(), code.into(), advice.into());
        Self { class, message, code, advice, nearest: None, column: None, choices: None }
    }

    /// The same error with the choices among which there is one to make.
    pub(crate) fn among(mut self, choices: Vec<String>) -> Self {
        self.choices = Some(choices);
        self
    }

    /// An error of the library with its causes; `code` and `advice` where it has none.
    pub(crate) fn of(class: &'static str, error: &dyn Coded, code: &str, advice: &str) -> Self {
        let message = fnstore::internals::whole_message(error);
        let (found, said) = (code_in(&message), advice_in(&message));
        let meant =
            message.split_once("did you mean `").and_then(|(_, rest)| rest.split_once("`?"));
        Self {
            nearest: meant.map(|(name, _)| name.into()),
            class,
            code: found.or(error.code()).unwrap_or(code).into(),
            advice: said.unwrap_or(advice).into(),
            message: message.into(),
            column: None,
            choices: None,
        }
    }

    /// The same error with another advice.
    pub(crate) fn advise(mut self, advice: &str) -> Self {
        self.advice = advice.into();
        self
    }

    /// Whether a model is not at hand.
    pub(crate) fn is_absence(&self) -> bool {
        self.class == "ModelMissingError"
    }

    /// The message, for where there is no exception to raise.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// The exception.
    pub(crate) fn raise(self) -> PyErr {
        Python::attach(|py| {
            let made = || -> PyResult<Bound<'_, PyAny>> {
                let class = py.import(MODULE)?.getattr(self.class)?;
                let made = class.call1((
                    &*self.message,
                    &*self.code,
                    &*self.advice,
                    self.nearest.as_deref(),
                ))?;
                if let Some(column) = self.column {
                    made.setattr("column", column)?;
                }
                if let Some(choices) = self.choices {
                    made.setattr("choices", choices)?;
                }
                Ok(made)
            };
            made().map_or_else(|error| error, PyErr::from_value)
        })
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        fault.raise()
    }
}

/// What a function of the bindings gives.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

/// The code that a message ends in (`... (S-absent)`) or has before its text (`E-value: ...`).
fn code_in(message: &str) -> Option<&str> {
    let is_code = |text: &&str| {
        let mut letters = text.chars();
        letters.next().is_some_and(|first| first.is_ascii_uppercase())
            && letters.next() == Some('-')
            && letters.clone().next().is_some()
            && letters.all(|letter| letter.is_ascii_lowercase() || letter == '-')
    };
    let bracketed =
        message.split('(').filter_map(|part| part.split_once(')').map(|(text, _)| text));
    let before = message.split(": ");
    bracketed.chain(before).find(is_code)
}

/// What a message says after its first semicolon, without the code.
fn advice_in(message: &str) -> Option<&str> {
    let (_, advice) = message.split_once("; ")?;
    Some(advice.rsplit_once(" (").filter(|(_, end)| end.contains('-')).map_or(advice, |(a, _)| a))
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let class = match (error.kind(), &error) {
            (_, StoreError::Absent { .. }) => "AbsentError",
            (ErrorKind::Locked, _) => "LockedError",
            (ErrorKind::Replaced, _) => "ReplacedError",
            _ => "StoreError",
        };
        let advice = "fnstore check says what is wrong with a store";
        let fault = Self::of(class, &error, "S-database", advice);
        match error {
            StoreError::Absent { .. } => {
                fault.advise("make a store with fnstore.create(path), or open another path")
            }
            StoreError::NotAStore { .. } => {
                fault.advise("name a store, or for a new one a path where nothing is")
            }
            StoreError::Replaced { .. } | StoreError::BeyondEnd { .. } => fault.advise(
                "open it again with fnstore.open(path), and read it anew with db.changes(0)",
            ),
            StoreError::Damaged { .. } => fault.advise(
                "`fnstore check --repair` removes what cannot be read, `fnstore restore` brings a \
                 backup back",
            ),
            StoreError::Locked { .. } => fault.advise(
                "reading goes on meanwhile; wait until the writer ends, or end its transaction",
            ),
            _ => fault,
        }
    }
}

impl From<QueryError> for Fault {
    fn from(error: QueryError) -> Self {
        let advice = "schema/query.md lists the fields";
        let column = u32::try_from(error.column()).ok();
        Self { column, ..Self::of("QueryError", &error, "Q-query", advice) }
    }
}

impl From<EditError> for Fault {
    fn from(error: EditError) -> Self {
        let (class, advice) = match &error {
            EditError::Conflict { .. } => ("ConflictError", "begin the transaction again"),
            EditError::Absent { .. } => ("EditError", "name a record that is there"),
            EditError::InUse { .. } => {
                ("EditError", "remove what refers to it first, or give cascade=True")
            }
            _ => ("EditError", "schema/edit.md says what fields may hold"),
        };
        Self::of(class, &error, "E-value", advice)
    }
}

impl From<DatabaseError> for Fault {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Store(error) => error.into(),
            DatabaseError::Query(error) => error.into(),
            DatabaseError::Edit(error) => error.into(),
            DatabaseError::Script(ScriptError::Edit { source, .. }) => (*source).into(),
            DatabaseError::Lookup(LookupError::Ambiguous { ref choices, .. }) => {
                let advice = "give release=NAME, for an LU also frame=NAME, or the number";
                let choices = choices.clone();
                Self::of("AmbiguousNameError", &error, "Q-ambiguous", "")
                    .advise(advice)
                    .among(choices)
            }
            DatabaseError::Lookup(_) => {
                let advice = "db.frames(), db.lus() and db.releases() list the names";
                Self::of("UnknownNameError", &error, "Q-unknown-name", advice)
            }
            DatabaseError::Language(_) => {
                let advice = "give models for that language, or any_language=True";
                Self::of("ExpandError", &error, "M-language", advice).advise(advice)
            }
            DatabaseError::Release(ReleaseError::Exists { .. }) => {
                Self::of("ImportFailedError", &error, "I-release", "")
                    .advise("give the release another name: import_release(path, release=\"NAME\")")
            }
            DatabaseError::Release(ReleaseError::Name { .. } | ReleaseError::Unnamed { .. }) => {
                Self::of("ImportFailedError", &error, "I-release", "")
                    .advise("give the release a name: import_release(path, release=\"NAME\")")
            }
            DatabaseError::Framenet(_) | DatabaseError::Exchange(_) | DatabaseError::Release(_) => {
                let advice = "docs/reference/releases.md says which releases import";
                Self::of("ImportFailedError", &error, "I-release", advice)
            }
            DatabaseError::Script(_) => {
                let advice = "schema/edit.md lists the edits and their fields";
                Self::of("EditError", &error, "E-syntax", advice)
            }
            _ => Self::of("StoreError", &error, "S-database", "fnstore check says what is wrong"),
        }
    }
}

/// Where models can come from, for advice.
const MODELS: &str = "pip install ./python/models in fnstore's sources, set FNSTORE_MODELS, or give models=DIRECTORY";

impl From<ExpandError> for Fault {
    fn from(error: ExpandError) -> Self {
        match error {
            ExpandError::Database(error) => error.into(),
            ExpandError::ModelMissing { .. }
            | ExpandError::Paraphrase(ParaphraseError::BaseMissing { .. }) => {
                Self::of("ModelMissingError", &error, "M-missing", MODELS).advise(MODELS)
            }
            ExpandError::Recipe(RecipeError::GuideMissing) => {
                Self::of("ModelMissingError", &error, "M-missing", MODELS)
                    .advise("give guide=\"none\", or models with word vectors and a tagger")
            }
            ExpandError::ShardRequest(ShardRequestError::Models { without, .. }) => {
                let without = without.replacen(' ', "=\"", 1);
                let advice = format!("give models=DIRECTORY, or {without}\"");
                Self::of("ExpandError", &error, "X-shard-models", "").advise(&advice)
            }
            ExpandError::ShardRequest(_) => {
                Self::of("ExpandError", &error, "X-shard", "give shard=\"3/16\", a part of so many")
            }
            ExpandError::Recipe(RecipeError::Number { .. }) => {
                Self::of("ExpandError", &error, "X-expand", "give a number in that range")
            }
            _ => Self::of("ExpandError", &error, "X-expand", "run it again: it goes on from here"),
        }
    }
}

impl From<ProposalError> for Fault {
    fn from(error: ProposalError) -> Self {
        match error {
            ProposalError::Database(error) => error.into(),
            _ => Self::of("EditError", &error, "P-proposal", "db.proposals() lists the proposals"),
        }
    }
}

impl From<RecipeFileError> for Fault {
    fn from(error: RecipeFileError) -> Self {
        Self::of("ExpandError", &error, "R-recipe", "docs/concepts/recipes.md has the recipes")
    }
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        Self::of("ModelMissingError", &error, "M-model", MODELS)
    }
}

/// Errors of models that are opened and asked.
macro_rules! of_models {
    ($($error:path,)*) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                match error.kind() {
                    ErrorKind::NoModel => {
                        Self::of("ModelMissingError", &error, "M-missing", MODELS).advise(MODELS)
                    }
                    _ => Self::of("ModelError", &error, "M-model", "give another model"),
                }
            }
        })*
    };
}

of_models! {
    fnstore::internals::align::AlignError,
    fnstore::internals::NetworkError,
    fnstore::internals::engine::NnError,
    fnstore::internals::prompt::PromptError,
    fnstore::internals::score::ScoreError,
    fnstore::internals::vectors::VectorsError,
    fnstore::internals::FileError,
    fnstore::internals::filter::FilterError,
    fnstore::internals::verify::VerifyError,
    ParaphraseError,
}

impl From<fnstore::internals::endpoint::EndpointError> for Fault {
    fn from(error: fnstore::internals::endpoint::EndpointError) -> Self {
        use fnstore::internals::endpoint::EndpointError;
        let advice = match &error {
            EndpointError::Key { .. } | EndpointError::NoKey { .. } => {
                "give key_from=NAME, the variable of the environment that holds the key"
            }
            EndpointError::Range => "give tries and timeout of 1 or more",
            _ => "fnstore.Server(url) says how a server is asked",
        };
        Self::of("ModelError", &error, "H-endpoint", advice)
    }
}

impl From<fnstore::internals::review::ReviewError> for Fault {
    fn from(error: fnstore::internals::review::ReviewError) -> Self {
        Self::of("StoreError", &error, "V-review", "fnstore check says what is wrong with a store")
    }
}

impl From<fnstore::discover::DiscoverError> for Fault {
    fn from(error: fnstore::discover::DiscoverError) -> Self {
        match error {
            fnstore::discover::DiscoverError::Database(error) => error.into(),
            _ => {
                Self::of("ExpandError", &error, "V-discover", "run it again: it goes on from here")
            }
        }
    }
}

impl From<fnstore::link::LinkError> for Fault {
    fn from(error: fnstore::link::LinkError) -> Self {
        match error {
            fnstore::link::LinkError::Database(error) => error.into(),
            _ => Self::of("ExpandError", &error, "V-link", "`db.links()` lists what there is"),
        }
    }
}

impl From<fnstore::internals::generate::GenerateError> for Fault {
    fn from(error: fnstore::internals::generate::GenerateError) -> Self {
        match error {
            fnstore::internals::generate::GenerateError::Database(error) => error.into(),
            fnstore::internals::generate::GenerateError::LexUnits(_) => {
                let advice = "give an expression that finds LUs without sentences";
                Self::of("ExpandError", &error, "N-generate", advice)
            }
            _ => {
                Self::of("ExpandError", &error, "N-generate", "run it again: it goes on from here")
            }
        }
    }
}

impl From<fnstore::publish::PublishError> for Fault {
    fn from(error: fnstore::publish::PublishError) -> Self {
        match error {
            fnstore::publish::PublishError::Database(DatabaseError::Export(
                ExportError::Target { .. },
            )) => {
                let advice = "give a directory that is not there, or is empty";
                Self::of("ExistsError", &error, "X-place", advice)
            }
            fnstore::publish::PublishError::Database(error) => error.into(),
            fnstore::publish::PublishError::Expand(error) => (*error).into(),
            _ => Self::of("StoreError", &error, "X-place", "give another directory"),
        }
    }
}
