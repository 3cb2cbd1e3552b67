//! Data outside of the parts `dev` and `test` that also stands in one of them, among the sets that
//! a query finds. What has no part counts, too: without a list of parts, exemplars have none.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::leaks::hash;
use crate::database::{Database, DatabaseError, Result};
use crate::model::{AnnotationSet, AnnotationSetId, Provenance, ReleaseId, SentenceId};
use crate::query::{Expression, Field, Selection, Term, Test};
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

/// What stands in sentences that an expansion wrote.
const WRITTEN: &str = "(origin=generated or origin=carried)";

/// What stands in others.
const OF_PEOPLE: &str = "origin!=generated origin!=carried";

/// A set with its sentence.
type Place = (ReleaseId, AnnotationSetId, SentenceId);

/// Sets that leak, each with its sentence.
type Sets = BTreeMap<ReleaseId, BTreeMap<AnnotationSetId, SentenceId>>;

/// Hashes of texts of `dev` and `test`, each with its first sentence.
type HeldOut = HashMap<[u8; 16], SentenceId>;

/// Whether every set that an expression finds is in `dev` or `test`.
fn finds_held_out(expression: &Expression) -> bool {
    match expression {
        Expression::Term(Term { field: Field::Split, test: Test::Choice(part) }) => {
            ["dev", "test"].contains(part)
        }
        Expression::And(parts) => parts.iter().any(finds_held_out),
        Expression::Or(parts) => parts.iter().all(finds_held_out),
        _ => false,
    }
}

/// Whether a set grew from one of some sets, in whatever round: from it, or in a later round of its
/// chain, whose outputs were to differ from it.
fn grew_from(set: &AnnotationSet, sets: &BTreeMap<AnnotationSetId, SentenceId>) -> bool {
    let has = |set: &AnnotationSetId| sets.contains_key(set);
    match &set.provenance {
        Provenance::Generated(made) => [made.seed, made.source].iter().chain(&made.chain).any(has),
        Provenance::Carried(carrying) => [carrying.source, carrying.generated].iter().any(has),
        _ => false,
    }
}

/// Adds sets to those that leak; says whether one is new.
fn add_to(all: &mut Sets, places: Vec<Place>) -> bool {
    let mut is_new = false;
    for (release, set, sentence) in places {
        is_new |= all.entry(release).or_default().insert(set, sentence).is_none();
    }
    is_new
}

impl Database {
    /// The sets that a query finds outside of `dev` and `test` whose sentences also stand there,
    /// letter case, accents, punctuation and spacing aside, and all that grew from such a sentence
    /// in any round. Parts are those of `split` in queries; those of all releases are looked at, in
    /// passes over all sets of each part. Memory for a hash of each text of `dev` and `test`.
    ///
    /// # Errors
    /// As [`query`](Self::query), and as [`require_list_of`](Self::require_list_of).
    pub fn leaking(&self, expression: &Expression) -> Result<Leaking> {
        self.require_list_of(expression)?;
        let none = || Leaking { sets: 0, sentences: 0, example: None, without: expression.clone() };
        if finds_held_out(expression) {
            return Ok(none());
        }
        let trained = Expression::conjunction([expression.clone(), OUTSIDE.parse()?]);
        if !self.finds_any(&trained)? {
            return Ok(none());
        }
        let held_out = self.held_out()?;
        if held_out.is_empty() {
            return Ok(none());
        }
        let leaks = self.all_that_leak(&trained, &held_out)?;
        if leaks.is_empty() {
            return Ok(none());
        }
        let ids = leaks.iter().map(|(release, sets)| (*release, sets.keys().copied().collect()));
        let of_query = Expression::conjunction([trained, self.one_of(ids.collect())?]);
        let mut leaking: Vec<Place> = Vec::new();
        for found in self.matches(&of_query, &Selection::default())? {
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

    fn finds_any(&self, expression: &Expression) -> Result<bool> {
        let one = Selection { limit: Some(1), ..Selection::default() };
        Ok(self.matches(expression, &one)?.next().transpose()?.is_some())
    }

    /// The sets outside of `dev` and `test` that leak: of people those that a query finds, or all
    /// where it finds what grew from any; and generated ones, whether or not it finds them, as
    /// others that it finds grew from them.
    fn all_that_leak(&self, trained: &Expression, held_out: &HeldOut) -> Result<Sets> {
        let mut leaks = Sets::new();
        let generated = Expression::conjunction([trained.clone(), WRITTEN.parse()?]);
        let grows = self.finds_any(&generated)?;
        let among = if grows { OUTSIDE.parse()? } else { trained.clone() };
        let of_people = Expression::conjunction([among, OF_PEOPLE.parse()?]);
        add_to(&mut leaks, self.with_text_of(&of_people, held_out)?);
        if !grows {
            return Ok(leaks);
        }
        let generated = format!("{OUTSIDE} {WRITTEN}").parse()?;
        add_to(&mut leaks, self.with_text_of(&generated, held_out)?);
        // A set names what it grew from, but not all that its source grew from.
        while !leaks.is_empty() {
            let grown = self.grown_from(&generated, &leaks)?;
            if !add_to(&mut leaks, grown) {
                break;
            }
        }
        Ok(leaks)
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
        let query = format!("(split=dev or split=test) {OF_PEOPLE}").parse()?;
        self.fold_with_sentences(&query, Vec::new, add, take)?;
        Ok(all)
    }

    /// The sets that a query finds whose text is held out.
    fn with_text_of(&self, query: &Expression, held_out: &HeldOut) -> Result<Vec<Place>> {
        let mut all: Vec<Place> = Vec::new();
        let add = |places: &mut Vec<Place>, found: Match<'_>| match found.text() {
            Ok(text) => {
                let text = text.as_deref().and_then(hash);
                if text.is_some_and(|text| held_out.contains_key(&text)) {
                    places.push((found.release(), found.set().id, found.set().sentence));
                }
                Ok(None)
            }
            Err(error) => Ok(Some(error)),
        };
        let take = |places: Vec<Place>| {
            all.extend(places);
            Ok::<_, DatabaseError>(())
        };
        self.fold_with_sentences(query, Vec::new, add, take)?;
        Ok(all)
    }

    /// The sets that a query finds that grew from one of some sets.
    fn grown_from(&self, query: &Expression, sets: &Sets) -> Result<Vec<Place>> {
        let mut all: Vec<Place> = Vec::new();
        let add = |places: &mut Vec<Place>, found: Match<'_>| {
            let of_release = sets.get(&found.release());
            if of_release.is_some_and(|sets| grew_from(found.set(), sets)) {
                places.push((found.release(), found.set().id, found.set().sentence));
            }
            Ok(None)
        };
        let take = |places: Vec<Place>| {
            all.extend(places);
            Ok::<_, DatabaseError>(())
        };
        self.fold_matches(query, Vec::new, add, take)?;
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
