//! What can be wrong with a split list beside a store.

use crate::model::{ListedPart, coded, written_part};
use crate::text::shortened;

/// A split list does not fit the store, or is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SplitListError {
    /// It gives one document two parts.
    #[error(
        "E-conflict: split list `{list}`: `{}` is in {} and `{}` in {}, and both name one document \
         of `{release}`; expected one part for a document, by any of its names",
        shortened(.name), written_part(*part), shortened(.other_name), written_part(*other_part)
    )]
    TwoParts {
        /// The list.
        list: String,
        /// The release that has the document.
        release: String,
        /// A name of the document.
        name: String,
        /// Its part.
        part: ListedPart,
        /// Another name.
        other_name: String,
        /// Its part.
        other_part: ListedPart,
    },
    /// It names what no release has.
    #[error(
        "E-missing: split list `{list}`: no release has {}; expected names that the store has",
        names.join(", ")
    )]
    Unknown {
        /// The list.
        list: String,
        /// What each name should be, and the name.
        names: Vec<String>,
    },
    /// Editions that a query names were made under different lists.
    #[error(
        "E-list-unnamed: the editions {} were made under different split lists; expected editions of \
         one list, or a list that is named",
        editions.join(", ")
    )]
    Editions {
        /// Each with its list.
        editions: Vec<String>,
    },
    /// Editions that are named keep a list, and what is read beside them is read without it.
    #[error(
        "E-conflict: the query names editions that were made under the split list `{list}`, and \
         other data is read without it; expected a database under that list"
    )]
    NotUnder {
        /// The editions' list.
        list: String,
    },
    /// An edition keeps the name of its list alone.
    #[error(
        "E-list-unnamed: edition `{edition}` was made under the split list `{list}`, of which it \
         keeps the name alone; expected that list beside it"
    )]
    NameAlone {
        /// The edition.
        edition: String,
        /// Its list.
        list: String,
    },
}

coded!(SplitListError {
    Self::Editions { .. } | Self::NameAlone { .. } => BadInput.coded("E-list-unnamed"),
    Self::TwoParts { .. } | Self::NotUnder { .. } => BadInput.coded("E-conflict"),
    Self::Unknown { .. } => BadInput.coded("E-missing"),
});
