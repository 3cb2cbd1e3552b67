//! Every error of the library as one type, for those who pass errors on.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::model::{Coded, ErrorKind, ErrorRecord, Trouble, whole_message};

/// What went wrong, in whatever part of the library.
///
/// A program decides by its [`kind`](Self::kind), and looks advice up by its [`code`](Self::code).
/// `?` makes one of every error that a call of the library fails with. As JSON it is what
/// `fnstore --errors json` tells of it, without a hint; the causes are part of the message.
///
/// ```
/// use fnstore::{Database, Expression, model::ErrorKind};
///
/// fn count(store: &std::path::Path, query: &str) -> Result<u64, fnstore::Error> {
///     Ok(Database::open(store)?.count(&Expression::parse(query)?)?)
/// }
/// let error = count("nowhere".as_ref(), "frame=Verification").unwrap_err();
/// assert_eq!((error.kind(), error.code()), (ErrorKind::NoStore, Some("S-absent")));
/// ```
#[derive(Debug)]
pub struct Error(Box<dyn Coded + Send + Sync>);

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    /// What went wrong, as in `S-locked`; `None` where the message says all.
    /// `docs/reference/errors.md` lists the codes.
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        self.0.code()
    }

    /// The error as the type of the part that it comes from, as
    /// [`DatabaseError`](crate::database::DatabaseError).
    #[must_use]
    pub fn downcast_ref<T: std::error::Error + 'static>(&self) -> Option<&T> {
        let error: &(dyn std::error::Error + 'static) = &*self.0;
        error.downcast_ref()
    }

    /// An error of any type as one with a kind and a code, if it is the library's.
    #[must_use]
    pub fn read<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e dyn Coded> {
        READERS.iter().find_map(|read| read(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl Coded for Error {
    fn trouble(&self) -> Trouble {
        self.0.trouble()
    }
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = whole_message(self);
        ErrorRecord::new(self, &message, None).serialize(serializer)
    }
}

/// An error as one that has a kind and a code. No error says whether it has them without its type.
type Reader = for<'e> fn(&'e (dyn std::error::Error + 'static)) -> Option<&'e dyn Coded>;

fn read<'e, T: Coded + 'static>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e dyn Coded> {
    error.downcast_ref::<T>().map(|error| error as &dyn Coded)
}

/// Takes a list of all types that are [`Coded`]; `tests/error_codes.rs` compares.
macro_rules! errors {
    ($($(#[$condition:meta])? $error:path,)*) => {
        $($(#[$condition])?
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self(Box::new(error))
            }
        })*

        const READERS: &[Reader] = &[
            read::<Error>,
            $($(#[$condition])? read::<$error>,)*
        ];
    };
}

errors! {
    #[cfg(feature = "neural")] crate::align::AlignError,
    #[cfg(feature = "neural")] crate::augment::AugmentError,
    crate::database::BackupError,
    crate::text::input::BadLine,
    crate::query::BuildError,
    crate::durable::Claimed,
    #[cfg(feature = "neural")] crate::expand::CommitError,
    #[cfg(feature = "neural")] crate::engine::ComputeError,
    crate::database::DatabaseError,
    #[cfg(feature = "neural")] crate::engine::DecodeError,
    #[cfg(feature = "neural")] crate::discover::DiscoverError,
    crate::database::EditError,
    #[cfg(feature = "neural")] crate::endpoint::EndpointError,
    crate::exchange::ExchangeError,
    #[cfg(feature = "neural")] crate::expand::ExpandError,
    crate::database::ExportError,
    #[cfg(feature = "neural")] crate::experiment::ExperimentError,
    #[cfg(feature = "neural")] crate::learn::FileError,
    #[cfg(feature = "neural")] crate::filter::FilterError,
    crate::framenet::FramenetError,
    #[cfg(feature = "neural")] crate::generate::GenerateError,
    #[cfg(feature = "neural")] crate::engine::GgufError,
    crate::index::IndexError,
    #[cfg(feature = "neural")] crate::learn::NetworkError,
    #[cfg(feature = "neural")] crate::engine::NnError,
    crate::model::LanguageError,
    crate::lexica::LexicaError,
    crate::text::OffsetError,
    #[cfg(feature = "neural")] crate::link::LinkError,
    crate::database::LookupError,
    #[cfg(feature = "neural")] crate::models::ModelError,
    crate::model::OutOfRange,
    #[cfg(feature = "neural")] crate::paraphrase::ParaphraseError,
    #[cfg(feature = "neural")] crate::prompt::PromptError,
    #[cfg(feature = "neural")] crate::proposals::ProposalError,
    #[cfg(feature = "neural")] crate::publish::PublishError,
    crate::query::QueryError,
    #[cfg(feature = "neural")] crate::expand::RecipeError,
    #[cfg(feature = "neural")] crate::expand::RecipeFileError,
    crate::database::ReleaseError,
    crate::review::ReviewError,
    #[cfg(feature = "neural")] crate::score::ScoreError,
    crate::database::ScriptError,
    #[cfg(feature = "neural")] crate::expand::SeedsError,
    #[cfg(feature = "neural")] crate::expand::ShardRequestError,
    crate::database::SplitListError,
    crate::store::StoreError,
    #[cfg(feature = "neural")] crate::vectors::VectorsError,
    #[cfg(feature = "neural")] crate::verify::VerifyError,
    #[cfg(feature = "neural")] crate::engine::WeightsError,
    std::io::Error,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::DatabaseError;
    use crate::store::StoreError;

    #[test]
    fn an_error_is_written_with_its_causes_and_read_back_as_what_it_was() {
        let path = std::path::PathBuf::from("x");
        let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error = Error::from(DatabaseError::from(StoreError::Io { path, source }));
        let written = serde_json::to_value(&error).unwrap();
        assert_eq!((&written["kind"], &written["code"]), (&"full".into(), &"S-full".into()));
        let message = written["message"].as_str().unwrap();
        assert!(
            message.starts_with(&error.to_string()) && message.len() >= error.to_string().len()
        );
        assert!(matches!(error.downcast_ref(), Some(DatabaseError::Store(_))));
        assert_eq!(Error::read(&error).unwrap().code(), Some("S-full"));
        assert!(Error::read(&std::fmt::Error).is_none());
    }
}
