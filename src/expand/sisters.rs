//! LUs without sentences, which get those of their sisters.
//!
//! 4,118 LUs of FrameNet 1.5 have no sentence that people annotated. Sentences of a *sister LU*
//! (same frame, same part of speech; Cui and Swayamdipta 2024) are rewritten. Outputs must contain
//! such an LU, inflected like the sister's trigger.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::unit::Unit;
use super::{ExpandError, Result, SeedsError};
use crate::database::{Database, DatabaseError};
use crate::model::{Frame, FrameId, LexUnit, Origin, PROPOSED, Pos, Release, ReleaseId};
use crate::query::{Expression, Field, Term, Test};

/// LUs without human sets, which sentences of their sisters are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct FromSisters {
    asked: String,
    seeds: Expression,
    units: Arc<BTreeMap<(ReleaseId, FrameId), Vec<Unit>>>,
    count: u64,
}

impl FromSisters {
    /// The LUs without human sets for which an expression over LUs holds: terms of `release`,
    /// `frame`, `lu`, `pos` and `lu_status`.
    ///
    /// # Errors
    /// When a term is of another field, the expression names what there is not, every LU that it
    /// finds has sets of its own, or the database fails.
    pub fn of(database: &Database, expression: &Expression) -> Result<Self> {
        let (mut units, mut sisters) = (BTreeMap::<_, Vec<Unit>>::new(), BTreeSet::new());
        let is_human = |origin: Origin| !origin.is_of_written_text();
        let found = lexunits_without_sentences(database, expression, &is_human)?;
        let count = found.iter().map(|of| of.lexunits.len() as u64).sum();
        for FrameGap { release, frame, lexunits } in found {
            for lu in lexunits {
                let pos = Pos::of_lu_name(&lu.name);
                sisters.insert((release.name.clone(), frame.name.clone(), pos));
                units.entry((release.id, frame.id)).or_default().push(Unit::of(&lu));
            }
        }
        let seeds = sisters.iter().map(|(release, frame, pos)| sets_of(release, frame, *pos));
        let seeds = Expression::disjunction(seeds.collect::<Result<Vec<_>>>()?);
        Ok(Self { asked: expression.to_string(), seeds, units: Arc::new(units), count })
    }

    /// The sets of the sisters; what is to be expanded.
    #[must_use]
    pub fn seeds(&self) -> &Expression {
        &self.seeds
    }

    /// Number of the LUs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The expression over LUs that was asked for.
    pub(super) fn expression(&self) -> &str {
        &self.asked
    }

    /// The LUs of a frame.
    pub(super) fn units_of(&self, release: ReleaseId, frame: FrameId) -> &[Unit] {
        self.units.get(&(release, frame)).map_or(&[], Vec::as_slice)
    }
}

/// A frame with LUs without human sets.
pub(crate) struct FrameGap {
    pub(crate) release: Release,
    pub(crate) frame: Frame,
    /// The LUs, by number.
    pub(crate) lexunits: Vec<LexUnit>,
}

/// The LUs without sets of some origins for which an expression over LUs holds, frame by frame. LUs
/// that an expansion proposed are none of them.
///
/// # Errors
/// As [`FromSisters::of`].
pub(crate) fn lexunits_without_sentences(
    database: &Database,
    expression: &Expression,
    counts: &dyn Fn(Origin) -> bool,
) -> Result<Vec<FrameGap>> {
    check_fields(expression)?;
    drop(database.query(expression)?);
    let (mut gaps, mut attested) = (Vec::new(), Vec::new());
    for release in database.releases()? {
        for frame in database.store().frames(release.id)? {
            let frame = frame?;
            let mut lexunits = Vec::new();
            for lu in database.store().lexunits_of(release.id, frame.id)? {
                let lu = lu?;
                let place = (release.name.as_str(), frame.name.as_str(), &lu);
                if lu.status == PROPOSED || !holds(expression, place) {
                    continue;
                }
                match has_sentences(database, release.id, &lu, counts)? {
                    true => attested.push(lu.name),
                    false => lexunits.push(lu),
                }
            }
            if !lexunits.is_empty() {
                gaps.push(FrameGap { release: release.clone(), frame, lexunits });
            }
        }
    }
    if gaps.is_empty() {
        return Err(ExpandError::Seeds(SeedsError::NoneWithoutSentences { attested }));
    }
    Ok(gaps)
}

/// The sets of a frame's LUs of a part of speech.
fn sets_of(release: &str, frame: &str, pos: Pos) -> Result<Expression> {
    let names = [(Field::Release, release), (Field::Frame, frame), (Field::Pos, pos.as_str())];
    let named = |(field, name)| Term::named(field, name).map(Expression::Term);
    let terms = names.map(named).into_iter().collect::<std::result::Result<Vec<_>, _>>();
    Ok(Expression::conjunction(terms.map_err(DatabaseError::from)?))
}

fn has_sentences(
    database: &Database,
    release: ReleaseId,
    lu: &LexUnit,
    counts: &dyn Fn(Origin) -> bool,
) -> Result<bool> {
    for set in database.store().annotation_sets_of_lexunit(release, lu.frame, lu.id)? {
        if counts(set?.provenance.origin()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn check_fields(expression: &Expression) -> Result<()> {
    match expression {
        Expression::Everything => Ok(()),
        Expression::And(parts) | Expression::Or(parts) => parts.iter().try_for_each(check_fields),
        Expression::Not(part) => check_fields(part),
        Expression::Term(term) => match (term.field, &term.test) {
            (
                Field::Release | Field::Frame | Field::Lu | Field::Pos | Field::LuStatus,
                Test::Pattern(_),
            ) => Ok(()),
            _ => Err(ExpandError::Seeds(SeedsError::NotOfLexUnits { term: term.to_string() })),
        },
    }
}

/// Whether an expression of terms that [`check_fields`] lets through holds for an LU.
fn holds(expression: &Expression, place: (&str, &str, &LexUnit)) -> bool {
    match expression {
        Expression::Everything => true,
        Expression::And(parts) => parts.iter().all(|part| holds(part, place)),
        Expression::Or(parts) => parts.iter().any(|part| holds(part, place)),
        Expression::Not(part) => !holds(part, place),
        Expression::Term(Term { field, test, .. }) => {
            let (release, frame, lu) = place;
            let text = match field {
                Field::Release => release,
                Field::Frame => frame,
                Field::Lu => &lu.name,
                Field::LuStatus => &lu.status,
                _ => Pos::of_lu_name(&lu.name).as_str(),
            };
            matches!(test, Test::Pattern(pattern) if pattern.matches(text))
        }
    }
}
