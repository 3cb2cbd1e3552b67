//! What an error is to a program: its kind, and a code.
//!
//! A message is for people. A program decides by the kind, and looks up advice by the code. The
//! errors of the library are [`Coded`], each by [`coded!`] beside its type.

/// What kind of error it is, whatever failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The data that was given is not what it should be.
    BadInput,
    /// Another process or call writes the same thing; the same call may succeed later.
    Locked,
    /// The store is not the one that was followed, and has to be read anew.
    Replaced,
    /// A disk is full, or a limit of the system is reached.
    Full,
    /// There is no store at the place.
    NoStore,
    /// A model that is needed is not at hand.
    NoModel,
    /// Every other error.
    Failed,
}

impl ErrorKind {
    /// The word for it, as in `bad-input`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadInput => "bad-input",
            Self::Locked => "locked",
            Self::Replaced => "replaced",
            Self::Full => "full",
            Self::NoStore => "no-store",
            Self::NoModel => "no-model",
            Self::Failed => "failed",
        }
    }

    /// The exit code of a program that ends with such an error: that of `sysexits.h`, where it has
    /// one for the kind.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Failed => 2,
            Self::BadInput => 65,
            Self::NoStore => 66,
            Self::NoModel => 69,
            Self::Full => 74,
            Self::Locked => 75,
            Self::Replaced => 76,
        }
    }

    pub(crate) const fn coded(self, code: &'static str) -> Trouble {
        Trouble { kind: self, code: Some(code) }
    }
}

/// The kind and the code of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// What went wrong, as in `S-locked`; `None` where the message says all.
    pub code: Option<&'static str>,
}

impl Trouble {
    pub(crate) const OTHER: Self = Self { kind: ErrorKind::Failed, code: None };

    /// Another one where this one says nothing.
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::OTHER { other } else { self }
    }
}

/// An error with a kind and a code.
///
/// ```
/// use fnstore::database::Database;
/// use fnstore::model::{Coded, ErrorKind};
///
/// let error = Database::open("nowhere".as_ref()).err().unwrap();
/// assert_eq!((error.kind(), error.code()), (ErrorKind::NoStore, Some("S-absent")));
/// ```
pub trait Coded: std::error::Error {
    /// Both.
    fn trouble(&self) -> Trouble;

    /// What kind of error it is.
    fn kind(&self) -> ErrorKind {
        self.trouble().kind
    }

    /// What went wrong; `docs/reference/errors.md` lists the codes.
    fn code(&self) -> Option<&'static str> {
        self.trouble().code
    }
}

/// Says of the cases of an error what kind and code they have. The other cases have no code.
macro_rules! coded {
    ($error:ident { $($case:pat $(if $guard:expr)? => $trouble:expr,)* }) => {
        impl $crate::model::Coded for $error {
            #[allow(unused_imports, unreachable_patterns, reason = "few have cases of all kinds")]
            fn trouble(&self) -> $crate::model::Trouble {
                use $crate::model::{Coded as _, ErrorKind::*};
                match self {
                    $($case $(if $guard)? => $trouble,)*
                    _ => $crate::model::Trouble::OTHER,
                }
            }
        }
    };
}
pub(crate) use coded;

/// What the operating system says when something is short, and the codes.
const SHORT: [(&str, &str); 5] = [
    ("No space left on device", "S-full"),
    ("Disk quota exceeded", "S-resource"),
    ("File too large", "S-file-size"),
    ("Too many open files", "S-open-files"),
    ("Cannot allocate memory", "S-resource"),
];

/// The code of a lack that the system tells of. RocksDB, Tantivy and writers of archives hand on
/// its words alone.
pub(crate) fn shortage(said: &str) -> Option<&'static str> {
    SHORT.iter().find(|(words, _)| said.contains(words)).map(|(_, code)| *code)
}

/// An error in words alone.
pub(crate) fn said(words: &str) -> Trouble {
    shortage(words).map_or(Trouble::OTHER, |code| ErrorKind::Full.coded(code))
}

impl Coded for std::io::Error {
    fn trouble(&self) -> Trouble {
        use std::io::ErrorKind::{FileTooLarge, OutOfMemory, QuotaExceeded, StorageFull};
        match self.kind() {
            StorageFull => ErrorKind::Full.coded("S-full"),
            FileTooLarge => ErrorKind::Full.coded("S-file-size"),
            QuotaExceeded | OutOfMemory => ErrorKind::Full.coded("S-resource"),
            // Too many open files have no kind.
            _ => said(&self.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_has_a_code_whoever_says_so() {
        let words = "IO error: No space left on device: While appending";
        assert_eq!(said(words), ErrorKind::Full.coded("S-full"));
        assert_eq!(std::io::Error::other(words).code(), Some("S-full"));
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert_eq!(full.trouble(), ErrorKind::Full.coded("S-full"));
        assert_eq!(said("permission denied"), Trouble::OTHER);
    }
}
