//! Whether a query holds of an annotation set.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::answer::{ElementLabel, elements};
use super::catalog::Catalog;
use super::facts::Facts;
use super::matched::Match;
use super::memo::Memo;
use super::value::null_kind;
use crate::database::Result;
use crate::model::{AnnotationSetId, ReleaseId, SentenceId, Span};
use crate::query::{
    Expression, Field, FieldCost, LabelFacts, LabelTest, Pattern, Term, Test, Value,
};
use crate::store::{Store, Subject};

/// One query, asked of sets.
pub(super) struct Evaluator<'a> {
    pub(super) facts: Arc<Facts<'a>>,
    /// The query, as it was put.
    query: Expression,
    /// The query, with what is dear to ask after what is cheap.
    expression: Expression,
    /// Of how many sets each term was asked, and for how many it held, in order of the terms; only
    /// kept when a query is explained.
    tallies: Option<RefCell<Vec<(u64, u64)>>>,
    /// Sets written after each revision that the query names.
    since: Arc<Since>,
    /// Which patterns, by their places in the query, match long texts: one may have thousands of
    /// sets.
    long_texts: Memo<(usize, ReleaseId, SentenceId), bool>,
    /// Texts that a pattern was held against.
    #[cfg(test)]
    pub(super) texts_matched: std::cell::Cell<u32>,
}

/// Bytes of a text of which it is remembered whether patterns match it; a shorter one is matched
/// again for each set.
const LONG: usize = 4096;

/// Most patterns and texts that are remembered.
const KEPT: usize = 10_000;

/// What was written after each of some revisions.
pub(super) type Since = HashMap<u64, Written>;

/// What was written after a revision.
#[derive(Default)]
pub(super) struct Written {
    releases: HashSet<ReleaseId>,
    sets: HashSet<(ReleaseId, AnnotationSetId)>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        catalog: Catalog<'a>,
        expression: &Expression,
        is_tallied: bool,
    ) -> Result<Self> {
        let mut since = HashMap::new();
        for term in expression.terms() {
            if let Test::Revision(revision) = term.test {
                since.insert(revision, written_since(catalog.store(), revision)?);
            }
        }
        Ok(Self::with_since(catalog, expression, is_tallied, Arc::new(since)))
    }

    /// An evaluator that knows what another one has read of the change feed.
    pub(super) fn with_since(
        catalog: Catalog<'a>,
        expression: &Expression,
        is_tallied: bool,
        since: Arc<Since>,
    ) -> Self {
        let query = expression.clone();
        let expression = cheapest_first(expression);
        let tallies = is_tallied.then(|| RefCell::new(vec![(0, 0); expression.terms().count()]));
        Self {
            facts: Arc::new(Facts::new(catalog)),
            query,
            expression,
            tallies,
            since,
            long_texts: Memo::default(),
            #[cfg(test)]
            texts_matched: std::cell::Cell::default(),
        }
    }

    /// What was written after each revision that the query names.
    pub(super) fn since(&self) -> Arc<Since> {
        Arc::clone(&self.since)
    }

    /// Whether the query holds of a set.
    pub(super) fn holds(&self, set: &Match<'_>) -> Result<bool> {
        self.expression.holds(&mut |term: &Term| {
            let passes = set.passes(self, term)?;
            self.tally(term, passes);
            Ok(passes)
        })
    }

    /// Whether a pattern of the query matches the text of a set.
    fn text_matches(&self, set: &Match<'_>, pattern: &Pattern) -> Result<bool> {
        let key = (std::ptr::from_ref(pattern).addr(), set.release, set.set.sentence);
        if let Some(known) = self.long_texts.get(&key) {
            return Ok(known);
        }
        let Some(sentence) = set.sentence()? else { return Ok(false) };
        #[cfg(test)]
        self.texts_matched.set(self.texts_matched.get() + 1);
        // FrameNet ends most exemplars in a space, which nobody sees.
        let text = match pattern.as_regex() {
            Some(_) => sentence.text.as_str(),
            None => sentence.text.trim(),
        };
        let matches = pattern.matches(text);
        if sentence.text.len() > LONG {
            self.long_texts.insert_among(KEPT, key, matches);
        }
        Ok(matches)
    }

    fn tally(&self, term: &Term, passes: bool) {
        let Some(tallies) = &self.tallies else { return };
        let number = self.expression.terms().position(|other| std::ptr::eq(other, term));
        let mut tallies = tallies.borrow_mut();
        if let Some((asked, passed)) = number.and_then(|number| tallies.get_mut(number)) {
            *asked += 1;
            *passed += u64::from(passes);
        }
    }

    /// The query, as it was put.
    pub(super) fn query(&self) -> &Expression {
        &self.query
    }

    /// The terms in the order in which they are asked, and whether they stand under `not`.
    pub(super) fn terms(&self) -> Vec<(&Term, bool)> {
        let mut terms = Vec::new();
        add_terms(&self.expression, false, &mut terms);
        terms
    }

    /// Of how many sets each of the terms was asked, and for how many it held.
    pub(super) fn tallies(&self) -> Vec<(u64, u64)> {
        self.tallies.as_ref().map_or(Vec::new(), |tallies| tallies.borrow().clone())
    }
}

fn written_since(store: &Store, revision: u64) -> Result<Written> {
    let mut written = Written::default();
    for change in store.changes_since(revision)? {
        let change = change?;
        match change.subject {
            Subject::Release => {
                written.releases.insert(change.release);
            }
            Subject::Set(set, _) => {
                written.sets.insert((change.release, set));
            }
            _ => {}
        }
    }
    Ok(written)
}

/// The same query, in which each connective asks first what costs least.
fn cheapest_first(expression: &Expression) -> Expression {
    let ordered = |parts: &[Expression]| {
        let mut parts: Vec<Expression> = parts.iter().map(cheapest_first).collect();
        parts.sort_by_key(cost);
        parts
    };
    match expression {
        Expression::And(parts) => Expression::conjunction(ordered(parts)),
        Expression::Or(parts) => Expression::disjunction(ordered(parts)),
        Expression::Not(inner) => cheapest_first(inner).negation(),
        Expression::Term(term) => Expression::Term(trimmed(term)),
        Expression::Everything => Expression::Everything,
    }
}

/// The term as it is asked: a text is compared without the white space around it.
fn trimmed(term: &Term) -> Term {
    let mut asked = term.clone();
    if let (Field::Text, Test::Pattern(pattern)) = (term.field, &mut asked.test) {
        *pattern = pattern.trimmed();
    }
    asked
}

fn cost(expression: &Expression) -> FieldCost {
    match expression {
        Expression::Everything => FieldCost::Own,
        Expression::Not(inner) => cost(inner),
        Expression::And(parts) | Expression::Or(parts) => {
            parts.iter().map(cost).max().unwrap_or(FieldCost::Own)
        }
        Expression::Term(term) => term.field.cost(),
    }
}

fn add_terms<'e>(expression: &'e Expression, negated: bool, terms: &mut Vec<(&'e Term, bool)>) {
    match expression {
        Expression::Everything => {}
        Expression::Term(term) => terms.push((term, negated)),
        Expression::Not(inner) => add_terms(inner, true, terms),
        Expression::And(parts) | Expression::Or(parts) => {
            parts.iter().for_each(|part| add_terms(part, negated, terms));
        }
    }
}

impl Match<'_> {
    fn passes(&self, evaluator: &Evaluator<'_>, term: &Term) -> Result<bool> {
        let field = term.field;
        Ok(match &term.test {
            Test::Pattern(pattern) if field == Field::Text => {
                evaluator.text_matches(self, pattern)?
            }
            Test::Pattern(pattern) => self.pattern_passes(field, pattern)?,
            Test::Relative(pattern, distance) => match field.followed() {
                Some(followed) => {
                    let distance = distance.unwrap_or(field.usual_distance());
                    let frame = (self.release, self.set.frame);
                    self.facts.catalog.is_related(frame, followed, pattern, distance)?
                }
                None => false,
            },
            Test::Label(name, tests) => {
                elements(&self.set).any(|element| passes(&element, name, tests))
            }
            Test::Overlap(sides) => self.has_overlap(sides),
            Test::Choice(word) => self.has_text(field, |text| text == *word)?,
            Test::Integer(comparison, bound) => {
                let mut values = self.values(field)?.into_iter();
                values.any(|value| match value {
                    Value::Integer(number) => comparison.holds(number, *bound),
                    _ => false,
                })
            }
            // As an f32, as scores are: a score shown as 0.95 equals 0.95.
            Test::Decimal(comparison, bound) => {
                self.score(field)?.is_some_and(|score| comparison.holds(score, *bound as f32))
            }
            Test::Sets(ids) => match field {
                Field::Id => ids.contains(self.set.id),
                Field::Seed => self.generation().is_some_and(|made| ids.contains(made.seed)),
                Field::Source => {
                    self.set.provenance.source().is_some_and(|source| ids.contains(source))
                }
                _ => false,
            },
            Test::Sentences(ids) => ids.contains(self.set.sentence),
            Test::Revision(revision) => evaluator.since.get(revision).is_some_and(|written| {
                written.releases.contains(&self.release)
                    || written.sets.contains(&(self.release, self.set.id))
            }),
        })
    }

    /// Whether spans of two labels share a letter, one that passes the first side and one that
    /// passes the second.
    fn has_overlap(&self, sides: &[(Pattern, Vec<LabelTest>); 2]) -> bool {
        let all: Vec<_> = elements(&self.set).collect();
        let passing = |(name, tests): &(Pattern, Vec<LabelTest>)| -> Vec<(usize, Span)> {
            let labels = all.iter().enumerate().filter(|(_, of)| passes(of, name, tests));
            labels.filter_map(|(at, of)| Some((at, of.label.extent.span()?))).collect()
        };
        let others = passing(&sides[1]);
        passing(&sides[0])
            .into_iter()
            .any(|(at, span)| others.iter().any(|(other, of)| at != *other && span.overlaps(*of)))
    }

    fn pattern_passes(&self, field: Field, pattern: &Pattern) -> Result<bool> {
        let matches = |text: &str| pattern.matches(text);
        match field {
            // A document is also called by its description and its file.
            Field::Doc => {
                let is_named = self.document()?.is_some_and(|of| of.named_by(matches).is_some());
                Ok(is_named || self.home()?.file.as_deref().is_some_and(matches))
            }
            Field::Recipe => {
                let Some(made) = self.generation() else { return Ok(false) };
                let print = self.facts.recipe(made.recipe.0)?;
                Ok(matches(&made.recipe.to_string()) || print.is_some_and(matches))
            }
            _ => self.has_text(field, matches),
        }
    }
}

/// Whether a label has a name for which tests of that label hold.
fn passes(element: &ElementLabel<'_>, name: &Pattern, tests: &[LabelTest]) -> bool {
    let facts = LabelFacts {
        gf: element.gf,
        pt: element.pt,
        ni: null_kind(&element.label.extent),
        overt: element.label.extent.span().is_some(),
    };
    name.matches(&element.label.name) && tests.iter().all(|test| test.holds(&facts))
}
