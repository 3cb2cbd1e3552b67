//! A list that says which part of the data documents, LUs, sentences and exemplars belong to,
//! beside the built-in one of full-text documents.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Document, SentenceId, Split};

/// The part of the data that a list gives something; `None` takes it out of all parts.
pub type ListedPart = Option<Split>;

/// How a list writes that something belongs to no part.
pub const NO_PART: &str = "none";

/// A part as a list writes it.
#[must_use]
pub fn written_part(part: ListedPart) -> &'static str {
    part.map_or(NO_PART, Split::as_str)
}

/// Which list it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitListId {
    /// What the list is called.
    pub name: String,
    /// First 16 bytes of the BLAKE3 hash of its text.
    pub fingerprint: [u8; 16],
}

impl SplitListId {
    /// Whether two name one list, or both none. A list under another name is the same.
    #[must_use]
    pub fn same(one: Option<&Self>, other: Option<&Self>) -> bool {
        one.map(|list| list.fingerprint) == other.map(|list| list.fingerprint)
    }
}

/// What a list gives a part of the data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitList {
    /// Which list it is.
    pub id: SplitListId,
    /// By a document's name, description or file, in composed letters.
    pub documents: HashMap<String, ListedPart>,
    /// By an LU's name, or a frame's and an LU's with a slash between them, as in
    /// `Checking/check.v`; in composed letters.
    pub lexunits: HashMap<String, ListedPart>,
    /// By sentence.
    pub sentences: HashMap<SentenceId, ListedPart>,
    /// The part of exemplars that nothing else in the list names.
    pub exemplars: Option<ListedPart>,
    /// Its lines without remarks, each with its end: what the fingerprint is of.
    pub lines: String,
}

/// A list as an edition keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptSplitList {
    /// Which list it is.
    pub id: SplitListId,
    /// Its lines, as [`SplitList::lines`]; `None` in records that have the list's name alone.
    pub lines: Option<String>,
}

impl SplitList {
    /// The part of an LU's sets: what the list says of the LU in its frame comes before what it
    /// says of every LU of that name.
    #[must_use]
    pub fn of_lexunit(&self, frame: &str, lu: &str) -> Option<ListedPart> {
        if self.lexunits.is_empty() {
            return None;
        }
        let whole = self.lexunits.get(&format!("{frame}/{lu}"));
        whole.or_else(|| self.lexunits.get(lu)).copied()
    }

    /// The names of a document that the list has, each with its part; `composed` composes their
    /// letters. A database refuses a list that gives a document two.
    pub fn of_document<'a>(
        &'a self,
        document: &'a Document,
        composed: fn(&'a str) -> Cow<'a, str>,
    ) -> impl Iterator<Item = (&'a str, ListedPart)> {
        let description = document.description.as_ref();
        let names = [Some(&document.name), description, Some(&document.file)];
        names.into_iter().flatten().filter_map(move |name| {
            let split = self.documents.get(&*composed(name))?;
            Some((name.as_str(), *split))
        })
    }

    /// The list as an edition keeps it.
    #[must_use]
    pub fn record(&self) -> KeptSplitList {
        KeptSplitList { id: self.id.clone(), lines: Some(self.lines.clone()) }
    }
}
