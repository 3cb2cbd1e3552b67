//! What a check can find: coded, counted, with the first examples of each kind.

use std::collections::BTreeMap;

use crate::model::named;

/// Examples kept of each code: enough to see what they share, and bounded.
const EXAMPLES: usize = 10;

macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $name:ident = $code:literal,)*) => {
        named! {
            /// What is wrong; `schema/check.md` says what to do about each.
            #[non_exhaustive]
            pub enum CheckCode {
                $($(#[doc = $meaning])+ $name => $code,)*
            }
        }

        impl CheckCode {
            /// What it means, in a few words.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($meaning),+).trim_ascii(),)*
                }
            }
        }
    };
}

codes! {
    /// the store does not open
    Open = "C-open",
    /// commits that were acknowledged are not there: the log is damaged
    CommitsLost = "C-commits-lost",
    /// rows that cannot be read: a file is damaged
    Unreadable = "C-unreadable",
    /// a key that is none of its family
    Key = "C-key",
    /// a value that is no record of its family
    Record = "C-record",
    /// a reference to a frame that is not there
    FrameMissing = "C-frame-missing",
    /// a reference to an FE that the frame does not have
    ElementMissing = "C-element-missing",
    /// a reference to an LU that is not there
    LexUnitMissing = "C-lexunit-missing",
    /// a reference to a semantic type that is not there
    SemTypeMissing = "C-semtype-missing",
    /// a reference to a document that is not there
    DocumentMissing = "C-document-missing",
    /// a reference to a sentence that is not there
    SentenceMissing = "C-sentence-missing",
    /// a reference to an annotation set that is not there
    SetMissing = "C-set-missing",
    /// a reference to a recipe that is not there
    RecipeMissing = "C-recipe-missing",
    /// a reference to a synset that is not there
    SynsetMissing = "C-synset-missing",
    /// a span outside its sentence or inside a character
    Span = "C-span",
    /// a set that is not found by its id
    Location = "C-location",
    /// a set that is not found by its sentence
    BySentence = "C-by-sentence",
    /// a name without its record, or a record without its name
    Name = "C-name",
    /// families that must be equally long and are not
    Count = "C-count",
    /// rows that were written and are gone, or that no commit has written
    Rows = "C-rows",
    /// a kept count of sets, LUs or sentences, or evidence of a proposed LU, that is not what the
    /// rows are
    Counts = "C-counts",
    /// a change of a commit that the store does not know
    Revision = "C-revision",
    /// no index that this build reads
    IndexAbsent = "C-index-absent",
    /// an index that is not what was written
    IndexDamaged = "C-index-damaged",
    /// an index newer than the store: acknowledged commits were lost
    IndexAhead = "C-index-ahead",
    /// an index with more or fewer entries than there are sets
    IndexCount = "C-index-count",
    /// a set without an entry: searches by trigger or text miss it
    IndexMissing = "C-index-missing",
    /// a set with several entries
    IndexRepeated = "C-index-repeated",
    /// a set whose entry has other terms than the set
    IndexWrong = "C-index-wrong",
    /// entries of sets that are not there
    IndexExtra = "C-index-extra",
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// What kind of thing.
    #[serde(skip)]
    pub code: CheckCode,
    /// The column family, or `index`.
    pub family: &'static str,
    /// What stands where, and what was expected.
    pub detail: String,
}

/// What a check found, by code.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    found: BTreeMap<CheckCode, (u64, Vec<Finding>)>,
}

impl Findings {
    pub(super) fn add(&mut self, code: CheckCode, family: &'static str, detail: String) {
        let (count, examples) = self.found.entry(code).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(Finding { code, family, detail });
        }
    }

    /// Takes up what was found behind.
    pub(super) fn merge(&mut self, behind: Self) {
        for (code, (count, examples)) in behind.found {
            let (all, first) = self.found.entry(code).or_default();
            *all += count;
            first.extend(examples.into_iter().take(EXAMPLES - first.len()));
        }
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// How many things were found.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.found.values().map(|(count, _)| count).sum()
    }

    /// How often a code was found.
    #[must_use]
    pub fn count(&self, code: CheckCode) -> u64 {
        self.found.get(&code).map_or(0, |(count, _)| *count)
    }

    /// Every code that was found with its number and its first examples, in order of code.
    pub fn iter(&self) -> impl Iterator<Item = (CheckCode, u64, &[Finding])> {
        self.found.iter().map(|(code, (count, examples))| (*code, *count, examples.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_page_lists_every_code_with_its_meaning() {
        let page = include_str!("../../../schema/check.md");
        for code in CheckCode::ALL {
            let row = format!("| `{}` | {} |", code.as_str(), code.meaning());
            assert!(page.contains(&row), "schema/check.md lacks {row}");
        }
    }

    #[test]
    fn examples_are_bounded_and_all_are_counted() {
        let mut findings = Findings::default();
        for number in 0..1000 {
            findings.add(CheckCode::Span, "annotation", format!("set {number}"));
        }
        let found: Vec<_> = findings.iter().map(|(code, count, _)| (code, count)).collect();
        assert_eq!(found, [(CheckCode::Span, 1000)]);
        assert_eq!(findings.iter().next().unwrap().2.len(), EXAMPLES);
    }
}
