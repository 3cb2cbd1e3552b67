//! Leaks: what stands in two parts of the data, so that models are tested on training data.

use std::collections::HashMap;

use crate::database::{Database, Result};
use crate::model::{AnnotationSetId, ReleaseId, SentenceId, Split, named};
use crate::query::{Expression, Selection};
use crate::text::{bare_letters, fold};

named! {
    /// How something stands in two parts, with its code.
    pub enum LeakKind {
        /// One text, letter case, accents, punctuation and spacing aside.
        Text => "L-text",
        /// A generated set, whose seed's sentence stands in another part.
        Seed => "L-seed",
    }
}

/// Something that stands in two parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leak {
    /// How.
    pub kind: LeakKind,
    /// A set in the one part: of a text the first, in order of key; else the generated set.
    pub first: (Split, ReleaseId, AnnotationSetId),
    /// A set in the other part: of a text the first, by key; else one of the seed's sentence.
    pub second: (Split, ReleaseId, AnnotationSetId),
    /// Sentences of the two sets.
    pub sentences: (SentenceId, SentenceId),
    /// Number of sets that the text has in the part of the first, and of the second; of a generated
    /// set 1, and the human sets of its seed's sentence.
    pub sets: (u64, u64),
    /// The text of the first.
    pub text: String,
}

/// A set of a text in a part, and the sentence that it stands in.
type SetOfText = (ReleaseId, AnnotationSetId, SentenceId);

/// The first sets of a text in each part, human and all.
#[derive(Debug, Clone, Copy, Default)]
struct Parts {
    human: [Option<SetOfText>; 3],
    all: [Option<SetOfText>; 3],
    human_sets: [u64; 3],
    all_sets: [u64; 3],
}

const PARTS: [Split; 3] = [Split::Train, Split::Dev, Split::Test];

impl Database {
    /// Lists texts that stand in two parts of the data, then generated sets whose seed's sentence
    /// stands in another part than theirs. Parts are those of `split` in queries
    /// ([`with_split_list`](Self::with_split_list)); what belongs to none leaks nothing. Two passes
    /// over all sets; memory for a hash and up to six ids of each distinct text.
    ///
    /// # Errors
    /// When the store fails.
    pub fn leaks(&self) -> Result<Vec<Leak>> {
        let texts = self.parts_of_texts()?;
        let mut leaks = Vec::new();
        for parts in texts.values() {
            for (at, split) in PARTS.into_iter().enumerate() {
                for (other_at, other) in PARTS.into_iter().enumerate().skip(at + 1) {
                    let (Some(first), Some(second)) = (parts.all[at], parts.all[other_at]) else {
                        continue;
                    };
                    let sets = (parts.all_sets[at], parts.all_sets[other_at]);
                    let leak = self.leak(LeakKind::Text, (split, first), (other, second))?;
                    leaks.push(Leak { sets, ..leak });
                }
            }
        }
        let generated: Expression = "origin=generated".parse()?;
        for found in self.matches(&generated, &Selection::default())? {
            let found = found?;
            let (Some(split), Some(seed)) = (found.split()?, found.seed()) else { continue };
            let Some(parts) = self
                .text_of(found.release(), seed)?
                .and_then(|text| texts.get(&hash(&text)?).copied())
            else {
                continue;
            };
            let place = (found.release(), found.set().id, found.set().sentence);
            for (at, other) in PARTS.into_iter().enumerate().filter(|(_, other)| *other != split) {
                if let Some(second) = parts.human[at] {
                    let leak = self.leak(LeakKind::Seed, (split, place), (other, second))?;
                    leaks.push(Leak { sets: (1, parts.human_sets[at]), ..leak });
                }
            }
        }
        leaks.sort_by_key(|leak| (leak.kind, leak.first, leak.second));
        Ok(leaks)
    }

    fn parts_of_texts(&self) -> Result<HashMap<[u8; 16], Parts>> {
        let mut texts: HashMap<[u8; 16], Parts> = HashMap::new();
        for found in self.matches(&Expression::Everything, &Selection::default())? {
            let found = found?;
            let Some(split) = found.split()? else { continue };
            let Some(text) = found.text()? else { continue };
            let Some(text) = hash(&text) else { continue };
            let parts = texts.entry(text).or_default();
            let at = PARTS.into_iter().position(|part| part == split).unwrap_or_default();
            let place = (found.release(), found.set().id, found.set().sentence);
            parts.all[at].get_or_insert(place);
            parts.all_sets[at] += 1;
            if !found.set().provenance.origin().is_of_written_text() {
                parts.human[at].get_or_insert(place);
                parts.human_sets[at] += 1;
            }
        }
        Ok(texts)
    }

    fn text_of(&self, release: ReleaseId, set: AnnotationSetId) -> Result<Option<String>> {
        let Some(set) = self.store().annotation_set(release, set)? else { return Ok(None) };
        Ok(self.store().sentence(release, set.sentence)?.map(|sentence| sentence.text))
    }

    fn leak(
        &self,
        kind: LeakKind,
        (split, first): (Split, SetOfText),
        (other, second): (Split, SetOfText),
    ) -> Result<Leak> {
        let text = self.store().sentence(first.0, first.2)?.map(|sentence| sentence.text);
        let (text, sentences) = (text.unwrap_or_default(), (first.2, second.2));
        let (first, second) = ((split, first.0, first.1), (other, second.0, second.1));
        Ok(Leak { kind, first, second, sentences, sets: (1, 1), text })
    }
}

/// The letters and digits of a text, folded and without accents: spacing is left out, too, as
/// releases part `isn't` in different ways.
fn normalised(text: &str) -> String {
    bare_letters(&fold(text))
}

/// The hash of a text; `None` where it has no letter and no digit.
pub(super) fn hash(text: &str) -> Option<[u8; 16]> {
    let plain = normalised(text);
    (!plain.is_empty()).then(|| hash_of(&plain))
}

fn hash_of(plain: &str) -> [u8; 16] {
    let mut first = [0; 16];
    first.copy_from_slice(&blake3::hash(plain.as_bytes()).as_bytes()[..16]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_punctuation_and_spacing_do_not_tell_texts_apart() {
        assert_eq!(normalised("He said : `` Check it , don't ! ''"), "hesaidcheckitdont");
        assert_eq!(hash("He checked it."), hash("he  checked IT ."));
        assert_eq!(hash("It is n't his ."), hash("It isn\u{2019}t his."));
        assert_eq!(hash("Caf\u{e9}s close."), hash("Cafe\u{301}s close ."));
        assert_ne!(hash("He checked it."), hash("She checked it."));
        assert_eq!(hash(" ... "), None);
    }
}
