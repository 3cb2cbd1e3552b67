//! Data outside of the parts `dev` and `test` that also stands in one of them, among the sets that
//! a query finds. What has no part counts, too: without a list of parts, exemplars have none.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::leaks::hash;
use crate::database::{Database, DatabaseError, Result};
use crate::model::{AnnotationSetId, ReleaseId, SentenceId};
use crate::query::{Expression, Selection};
use crate::search::Match;

/// The sets of a query outside of `dev` and `test` whose sentences stand there, too.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Leaking {
    /// How many sets.
    pub sets: u64,
    /// How many sentences.
    pub sentences: u64,
    /// The first of the sentences, and one of `dev` or `test` with its text.
    pub example: Option<(SentenceId, SentenceId)>,
    /// The query that finds the others.
    pub without: Expression,
}

/// What may be trained on.
const OUTSIDE: &str = "not split=dev not split=test";

/// A set with its sentence.
type Place = (ReleaseId, AnnotationSetId, SentenceId);

/// Hashes of texts of `dev` and `test`, each with its first sentence.
type HeldOut = HashMap<[u8; 16], SentenceId>;

impl Database {
    /// The sets that a query finds outside of `dev` and `test` whose sentences also stand there,
    /// letter case, accents, punctuation and spacing aside: of people, and those generated from
    /// such a sentence or with such a text. Parts are those of `split` in queries; those of all
    /// releases are looked at, in passes over all sets of each part. Memory for a hash of each text
    /// of `dev` and `test`.
    ///
    /// # Errors
    /// As [`query`](Self::query), and as [`require_list_of`](Self::require_list_of).
    pub fn leaking(&self, expression: &Expression) -> Result<Leaking> {
        self.require_list_of(expression)?;
        let outside: Expression = OUTSIDE.parse()?;
        let trained = Expression::conjunction([expression.clone(), outside]);
        let none = || Leaking { sets: 0, sentences: 0, example: None, without: expression.clone() };
        let one = Selection { limit: Some(1), ..Selection::default() };
        if self.matches(&trained, &one)?.next().transpose()?.is_none() {
            return Ok(none());
        }
        let held_out = self.held_out()?;
        if held_out.is_empty() {
            return Ok(none());
        }
        let mut human: BTreeMap<ReleaseId, BTreeMap<AnnotationSetId, SentenceId>> = BTreeMap::new();
        let of_people = format!("{OUTSIDE} origin!=generated").parse()?;
        for (release, set, sentence) in self.with_text_of(&of_people, &held_out, &human)? {
            human.entry(release).or_default().insert(set, sentence);
        }
        let generated = Expression::conjunction([trained.clone(), "origin=generated".parse()?]);
        let mut leaking = self.with_text_of(&generated, &held_out, &human)?;
        let ids = human.iter().map(|(release, sets)| (*release, sets.keys().copied().collect()));
        let of_people = Expression::conjunction([trained, self.one_of(ids.collect())?]);
        for found in self.matches(&of_people, &Selection::default())? {
            let found = found?;
            leaking.push((found.release(), found.set().id, found.set().sentence));
        }
        if leaking.is_empty() {
            return Ok(none());
        }
        leaking.sort_unstable_by_key(|(release, set, sentence)| (*release, *sentence, *set));
        let mut sets: BTreeMap<ReleaseId, Vec<AnnotationSetId>> = BTreeMap::new();
        leaking.iter().for_each(|(release, set, _)| sets.entry(*release).or_default().push(*set));
        let sets: Vec<_> =
            sets.into_iter().map(|(of, ids)| (of, ids.into_iter().collect())).collect();
        let sentences: BTreeSet<_> =
            leaking.iter().map(|(of, _, sentence)| (of, sentence)).collect();
        Ok(Leaking {
            sets: leaking.len() as u64,
            sentences: sentences.len() as u64,
            example: self.example(&leaking, &held_out)?,
            without: Expression::conjunction([expression.clone(), self.one_of(sets)?.negation()]),
        })
    }

    /// The texts of `dev` and `test` that no expansion wrote.
    fn held_out(&self) -> Result<HeldOut> {
        let mut all = HeldOut::new();
        let add = |texts: &mut Vec<([u8; 16], SentenceId)>, found: Match<'_>| match found.text() {
            Ok(text) => {
                texts.extend(text.as_deref().and_then(hash).map(|of| (of, found.set().sentence)));
                Ok(None)
            }
            Err(error) => Ok(Some(error)),
        };
        let take = |texts: Vec<_>| {
            texts.into_iter().for_each(|(text, sentence)| {
                all.entry(text).or_insert(sentence);
            });
            Ok::<_, DatabaseError>(())
        };
        let query = "(split=dev or split=test) origin!=generated".parse()?;
        self.fold_with_sentences(&query, Vec::new, add, take)?;
        Ok(all)
    }

    /// The sets that a query finds whose text is held out, or that grew from one of some sets.
    fn with_text_of(
        &self,
        query: &Expression,
        held_out: &HeldOut,
        seeds: &BTreeMap<ReleaseId, BTreeMap<AnnotationSetId, SentenceId>>,
    ) -> Result<Vec<Place>> {
        let mut all: Vec<Place> = Vec::new();
        let add = |places: &mut Vec<Place>, found: Match<'_>| {
            let of_release = seeds.get(&found.release());
            let is_seed = |seed| of_release.is_some_and(|sets| sets.contains_key(&seed));
            let leaks = match found.seed().is_some_and(is_seed) {
                true => true,
                false => match found.text() {
                    Ok(text) => {
                        let text = text.as_deref().and_then(hash);
                        text.is_some_and(|text| held_out.contains_key(&text))
                    }
                    Err(error) => return Ok(Some(error)),
                },
            };
            if leaks {
                places.push((found.release(), found.set().id, found.set().sentence));
            }
            Ok(None)
        };
        let take = |places: Vec<Place>| {
            all.extend(places);
            Ok::<_, DatabaseError>(())
        };
        self.fold_with_sentences(query, Vec::new, add, take)?;
        Ok(all)
    }

    /// The first sentence whose own text is held out, and the one that holds it there.
    fn example(
        &self,
        leaking: &[Place],
        held_out: &HeldOut,
    ) -> Result<Option<(SentenceId, SentenceId)>> {
        for (release, _, sentence) in leaking {
            let text = self.store().sentence(*release, *sentence)?.map(|sentence| sentence.text);
            let other = text.as_deref().and_then(hash).and_then(|text| held_out.get(&text));
            if let Some(other) = other {
                return Ok(Some((*sentence, *other)));
            }
        }
        Ok(None)
    }
}
