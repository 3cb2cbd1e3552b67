//! What can be searched for, and the queries of Tantivy that it becomes.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    BooleanQuery, EmptyQuery, Occur, Query, RangeQuery, RegexQuery, TermQuery, TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::schema::{Fields, document_key, words_of};
use super::{IndexError, IndexReader};
use crate::model::named;
use crate::model::{AnnotationSetId, CorpusId, DocumentId, Origin, RecipeId};
use crate::text::fold;

/// Which sets to search for. A filter may let through more than a query wants, never less.
///
/// What is *like* a regular expression matches it from end to end, folded: the expression is
/// one of automata, without anchors, boundaries and flags.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// Sets that pass all of these.
    All(Vec<Filter>),
    /// Sets that pass one of these.
    Any(Vec<Filter>),
    /// Sets with this whole trigger, in whatever letter case.
    Trigger(String),
    /// Sets whose whole trigger is like a regular expression.
    TriggerLike(String),
    /// Sets whose sentence has these words, in whatever order.
    Phrase(String),
    /// Sets whose sentence has this word, given folded.
    Word(String),
    /// Sets whose sentence has a word that is like a regular expression.
    WordLike(String),
    /// Sets with a term that the index leaves out: whoever searches for terms of this kind
    /// looks at these sets, too.
    Omitted(Omitted),
    /// Sets that come from there.
    Origin(Origin),
    /// Generated sets of these rounds.
    Round(Bound<u64>, Bound<u64>),
    /// Generated sets of one of these recipes.
    Recipe(Vec<RecipeId>),
    /// Generated sets with a paraphrase score in this range.
    Paraphrase(Bound<f64>, Bound<f64>),
    /// Generated sets with an aligner score in this range.
    Aligner(Bound<f64>, Bound<f64>),
    /// Human sets that one of these corpora lists.
    Corpus(Vec<CorpusId>),
    /// Human sets that one of these documents lists.
    Document(Vec<(CorpusId, DocumentId)>),
    /// Generated sets with this seed or source, and carried sets of this source.
    Seed(AnnotationSetId),
    /// Sets that grew from, or were carried from, one that passes this filter. It cannot be
    /// searched for when more than 20,000 sets pass.
    GrownFrom(Box<Filter>),
}

named! {
    /// Terms that the index leaves out of an entry.
    pub enum Omitted {
        /// The trigger, if it is longer than 65,530 bytes.
        Trigger => "trigger",
        /// Words of the sentence, if one is that long or there are more than 1,000 different ones.
        Word => "word",
    }
}

/// Sets whose offspring is still looked up one by one.
const SEEDS: usize = 20_000;

impl IndexReader {
    /// The query of a filter; `None` when the index cannot answer it.
    pub(super) fn query(&self, filter: &Filter) -> Result<Option<Box<dyn Query>>, IndexError> {
        let Fields { trigger, text, omitted, origin, recipe, corpus, doc, seed, .. } = self.fields;
        Ok(Some(match filter {
            Filter::All(parts) => return self.conjunction(parts),
            Filter::Any(parts) => return self.disjunction(parts),
            Filter::Trigger(text) => one(Term::from_field_text(trigger, &fold(text))),
            Filter::TriggerLike(automaton) => return Ok(like(trigger, automaton)),
            Filter::Phrase(phrase) => words(text, phrase),
            Filter::Word(word) => one(Term::from_field_text(text, word)),
            Filter::WordLike(automaton) => return Ok(like(text, automaton)),
            Filter::Omitted(kind) => one(Term::from_field_text(omitted, kind.as_str())),
            Filter::Origin(of) => one(Term::from_field_text(origin, of.as_str())),
            Filter::Round(low, high) => {
                let term = |round: &u64| Term::from_field_u64(self.fields.round, *round);
                range(low.as_ref().map(term), high.as_ref().map(term))
            }
            Filter::Paraphrase(low, high) => scores(self.fields.paraphrase, low, high),
            Filter::Aligner(low, high) => scores(self.fields.aligner, low, high),
            Filter::Recipe(ids) => {
                any(ids.iter().map(|id| Term::from_field_u64(recipe, u64::from(id.0))))
            }
            Filter::Corpus(ids) => {
                any(ids.iter().map(|id| Term::from_field_u64(corpus, u64::from(id.0))))
            }
            Filter::Document(keys) => any(keys
                .iter()
                .map(|(corpus, id)| Term::from_field_u64(doc, document_key(*corpus, *id)))),
            Filter::Seed(set) => one(Term::from_field_u64(seed, set.bits())),
            Filter::GrownFrom(filter) => {
                let Some(found) = self.search(filter)? else { return Ok(None) };
                if found.len() > SEEDS {
                    return Ok(None);
                }
                let seeds = found.hits()?.into_iter().map(|hit| hit.set.bits());
                any(seeds.map(|bits| Term::from_field_u64(seed, bits)))
            }
        }))
    }

    /// Parts that cannot be searched for let everything through.
    fn conjunction(&self, parts: &[Filter]) -> Result<Option<Box<dyn Query>>, IndexError> {
        let mut queries = Vec::with_capacity(parts.len());
        for part in parts {
            queries.extend(self.query(part)?.map(|query| (Occur::Must, query)));
        }
        Ok((!queries.is_empty()).then(|| boxed(BooleanQuery::new(queries))))
    }

    fn disjunction(&self, parts: &[Filter]) -> Result<Option<Box<dyn Query>>, IndexError> {
        let mut queries = Vec::with_capacity(parts.len());
        for part in parts {
            let Some(query) = self.query(part)? else { return Ok(None) };
            queries.push((Occur::Should, query));
        }
        Ok(Some(boxed(BooleanQuery::new(queries))))
    }
}

fn boxed(query: impl Query) -> Box<dyn Query> {
    Box::new(query)
}

fn one(term: Term) -> Box<dyn Query> {
    boxed(TermQuery::new(term, IndexRecordOption::Basic))
}

fn any(terms: impl Iterator<Item = Term>) -> Box<dyn Query> {
    boxed(TermSetQuery::new(terms))
}

/// `None` for an expression whose automaton grows too large.
fn like(field: Field, automaton: &str) -> Option<Box<dyn Query>> {
    RegexQuery::from_pattern(automaton, field).ok().map(boxed)
}

fn range(low: Bound<Term>, high: Bound<Term>) -> Box<dyn Query> {
    boxed(RangeQuery::new(low, high))
}

fn scores(field: Field, low: &Bound<f64>, high: &Bound<f64>) -> Box<dyn Query> {
    let term = |score: &f64| Term::from_field_f64(field, *score);
    range(low.as_ref().map(term), high.as_ref().map(term))
}

/// The words of a text, in whatever order.
fn words(field: Field, text: &str) -> Box<dyn Query> {
    let mut words = words_of(&fold(text));
    words.sort_unstable();
    words.dedup();
    let terms = words.iter().map(|word| one(Term::from_field_text(field, word)));
    let terms: Vec<_> = terms.collect();
    if terms.is_empty() { boxed(EmptyQuery) } else { boxed(BooleanQuery::intersection(terms)) }
}
