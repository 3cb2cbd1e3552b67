//! What a split list names and the store does not have.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

use crate::database::{Database, Result};
use crate::model::SplitList;
use crate::query::nearest;
use crate::text::composed;

/// A name of a split list that nothing in the store has. It gives nothing a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownListed {
    /// What the list says it is: `document`, `lu` or `sentence`.
    pub kind: &'static str,
    /// The name, as the list writes it.
    pub name: String,
    /// The name in the store that is most like it.
    pub nearest: Option<String>,
}

impl Database {
    /// Names of a split list that no release has, letter case told apart: documents, then LUs, then
    /// sentences, each in order.
    ///
    /// # Errors
    /// When the store fails.
    #[doc(hidden)]
    pub fn unknown_in(&self, list: &SplitList) -> Result<Vec<UnknownListed>> {
        let documents = match list.documents.is_empty() {
            true => BTreeSet::new(),
            false => self.document_names()?,
        };
        let lexunits = match list.lexunits.is_empty() {
            true => BTreeSet::new(),
            false => self.lexunit_names_listed()?,
        };
        let mut unknown = unknown_of("document", list.documents.keys(), &documents);
        unknown.extend(unknown_of("lu", list.lexunits.keys(), &lexunits));
        let mut sentences: Vec<_> = list.sentences.keys().copied().collect();
        sentences.sort_unstable();
        for id in sentences {
            let mut is_there = false;
            for release in self.releases()? {
                is_there |= self.store().sentence(release.id, id)?.is_some();
            }
            if !is_there {
                unknown.push(UnknownListed {
                    kind: "sentence",
                    name: id.to_string(),
                    nearest: None,
                });
            }
        }
        Ok(unknown)
    }

    /// Names, descriptions and files of all documents.
    fn document_names(&self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for release in self.releases()? {
            for document in self.store().documents(release.id)? {
                let document = document?;
                names.extend(document.description);
                names.extend([document.name, document.file]);
            }
        }
        Ok(names)
    }

    /// Names of all LUs, alone and behind their frame's.
    fn lexunit_names_listed(&self) -> Result<BTreeSet<String>> {
        let catalog = self.catalog()?;
        let mut names = BTreeSet::new();
        for release in self.releases()? {
            for row in self.store().lexunit_names(release.id)? {
                let (frame, _, name) = row?;
                names.insert(format!("{}/{name}", catalog.frame(release.id, frame)?));
                names.insert(name);
            }
        }
        Ok(names)
    }
}

fn unknown_of<'a>(
    kind: &'static str,
    listed: impl Iterator<Item = &'a String>,
    known: &BTreeSet<String>,
) -> Vec<UnknownListed> {
    // A list's names are in composed letters.
    let there: HashSet<Cow<'_, str>> = known.iter().map(|name| composed(name)).collect();
    let missing: BTreeSet<&String> = listed.filter(|name| !there.contains(name.as_str())).collect();
    let unknown = |name: &String| {
        let nearest = nearest(name, known).cloned();
        UnknownListed { kind, name: name.clone(), nearest }
    };
    missing.into_iter().map(unknown).collect()
}
