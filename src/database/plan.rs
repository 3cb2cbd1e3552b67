//! Where the answers of a query can lie: a narrowing of the key space.
//!
//! A narrowing may hold more than the answers, never less; [`super::evaluate`] asks the whole query
//! of every set in it. A conjunction takes the narrowest of its parts, a disjunction their union,
//! and what stands under `not` narrows nothing.

use std::collections::BTreeSet;

use super::catalog::Catalog;
use super::{Database, DatabaseError, Result};
use crate::index::{Filter, Hit};
use crate::model::{AnnotationSet, AnnotationSetId, FrameId, LuId, ReleaseId};
use crate::query::{Expression, Field, Pattern, Term, Test};
use crate::store::{Action, NameKind, SetLocation, Subject};

/// Where answers can lie, from the widest to the narrowest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Narrowed {
    /// Anywhere.
    Everywhere,
    /// In these frames.
    Frames(BTreeSet<(ReleaseId, FrameId)>),
    /// Under these LUs.
    LexUnits(BTreeSet<(ReleaseId, FrameId, LuId)>),
    /// Among these sets.
    Sets(BTreeSet<Hit>),
}

type SetRow = Result<(ReleaseId, AnnotationSet)>;

/// Sets in order of key.
pub(super) type SetRows<'a> = Box<dyn Iterator<Item = SetRow> + 'a>;

impl Narrowed {
    pub(super) fn by(
        database: &Database,
        catalog: &Catalog<'_>,
        expression: &Expression,
    ) -> Result<Self> {
        match expression {
            Expression::Everything | Expression::Not(_) => Ok(Self::Everywhere),
            Expression::And(parts) => {
                let mut narrowest = Self::Everywhere;
                // Terms that keys answer come first: once they have narrowed the search to a frame
                // or less, opening the index would cost more than it saves.
                let by_index =
                    |part: &&Expression| matches!(part, Expression::Term(term) if is_indexed(term));
                let (indexed, keyed): (Vec<_>, Vec<_>) = parts.iter().partition(by_index);
                for part in keyed {
                    let narrowed = Self::by(database, catalog, part)?;
                    if narrowed.rank() > narrowest.rank() {
                        narrowest = narrowed;
                    }
                }
                if narrowest == Self::Everywhere {
                    for part in indexed {
                        let narrowed = Self::by(database, catalog, part)?;
                        if narrowed.rank() > narrowest.rank() {
                            narrowest = narrowed;
                        }
                    }
                }
                Ok(narrowest)
            }
            Expression::Or(parts) => {
                let mut union: Option<Self> = None;
                for part in parts {
                    let narrowed = Self::by(database, catalog, part)?;
                    union = Some(match union {
                        Some(union) => union.or(narrowed),
                        None => narrowed,
                    });
                }
                Ok(union.unwrap_or(Self::Everywhere))
            }
            Expression::Term(term) => by_term(database, catalog, term),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Everywhere => 0,
            Self::Frames(_) => 1,
            Self::LexUnits(_) => 2,
            Self::Sets(_) => 3,
        }
    }

    /// The union of two narrowings, as wide as the wider of them.
    fn or(self, other: Self) -> Self {
        let (wide, narrow) =
            if self.rank() <= other.rank() { (self, other) } else { (other, self) };
        match (wide, narrow) {
            (Self::Everywhere, _) => Self::Everywhere,
            (Self::Sets(mut all), Self::Sets(more)) => {
                all.extend(more);
                Self::Sets(all)
            }
            (Self::LexUnits(mut all), narrow) => {
                all.extend(narrow.lexunits());
                Self::LexUnits(all)
            }
            (Self::Frames(mut all), narrow) => {
                all.extend(narrow.frames());
                Self::Frames(all)
            }
            (wide @ Self::Sets(_), _) => wide,
        }
    }

    fn lexunits(self) -> BTreeSet<(ReleaseId, FrameId, LuId)> {
        match self {
            Self::LexUnits(all) => all,
            Self::Sets(all) => all.iter().map(|hit| (hit.release, hit.frame, hit.lu)).collect(),
            Self::Everywhere | Self::Frames(_) => BTreeSet::new(),
        }
    }

    fn frames(self) -> BTreeSet<(ReleaseId, FrameId)> {
        match self {
            Self::Frames(all) => all,
            other => {
                other.lexunits().into_iter().map(|(release, frame, _)| (release, frame)).collect()
            }
        }
    }

    /// The sets that lie there, in order of key.
    pub(super) fn sets(self, database: &Database) -> Result<SetRows<'_>> {
        let store = &database.store;
        Ok(match self {
            Self::Everywhere => {
                let releases = store.releases()?.into_iter().map(|release| release.id);
                chained(releases, move |release| {
                    let sets = store.annotation_sets(release)?;
                    Ok(Box::new(sets.map(move |set| Ok((release, set?)))))
                })
            }
            Self::Frames(frames) => chained(frames.into_iter(), move |(release, frame)| {
                let sets = store.annotation_sets_of_frame(release, frame)?;
                Ok(Box::new(sets.map(move |set| Ok((release, set?)))))
            }),
            Self::LexUnits(lexunits) => {
                chained(lexunits.into_iter(), move |(release, frame, lu)| {
                    let sets = store.annotation_sets_of_lexunit(release, frame, lu)?;
                    Ok(Box::new(sets.map(move |set| Ok((release, set?)))))
                })
            }
            Self::Sets(hits) => Box::new(hits.into_iter().filter_map(move |hit| {
                let location = SetLocation { frame: hit.frame, lu: hit.lu, sentence: hit.sentence };
                let set = store.annotation_set_at(hit.release, hit.set, location);
                // A hit whose set is gone comes from an index that lags behind.
                set.map_err(DatabaseError::from).map(|set| Some((hit.release, set?))).transpose()
            })),
        })
    }
}

/// One scan after the other, each opened when it is reached.
fn chained<'a, K: 'a>(
    keys: impl Iterator<Item = K> + 'a,
    mut open: impl FnMut(K) -> Result<SetRows<'a>> + 'a,
) -> SetRows<'a> {
    Box::new(keys.flat_map(move |key| match open(key) {
        Ok(rows) => rows,
        Err(error) => Box::new(std::iter::once(Err(error))),
    }))
}

/// Whether the index answers a term.
fn is_indexed(term: &Term) -> bool {
    matches!(term.field, Field::Trigger | Field::Text)
}

fn by_term(database: &Database, catalog: &Catalog<'_>, term: &Term) -> Result<Narrowed> {
    match (&term.test, term.field) {
        (Test::Pattern(pattern), Field::Frame) => frames_matching(database, catalog, pattern),
        (Test::Pattern(pattern), Field::Lu | Field::Lemma) => {
            lexunits_matching(database, catalog, term.field, pattern)
        }
        (Test::Pattern(pattern), Field::Inherits) => heirs_of(database, catalog, pattern),
        (Test::Pattern(pattern), Field::Trigger) => match trigger_filter(pattern) {
            Some(filter) => by_index(database, &filter),
            None => Ok(Narrowed::Everywhere),
        },
        (Test::Pattern(pattern), Field::Text) => match text_filter(pattern) {
            Some(filter) => by_index(database, &filter),
            None => Ok(Narrowed::Everywhere),
        },
        (Test::Set(id), Field::Id) => by_id(database, catalog, *id),
        (Test::Revision(revision), _) => by_changes(database, *revision),
        _ => Ok(Narrowed::Everywhere),
    }
}

fn frames_matching(
    database: &Database,
    catalog: &Catalog<'_>,
    pattern: &Pattern,
) -> Result<Narrowed> {
    let mut frames = BTreeSet::new();
    for release in catalog.releases() {
        if let Some(name) = pattern.as_exact() {
            let ids = database.store.frames_by_name(release.id, name, true)?;
            frames.extend(ids.into_iter().map(|frame| (release.id, frame)));
            continue;
        }
        for row in database.store.frame_names(release.id)? {
            let (frame, name) = row?;
            if pattern.matches(&name) {
                frames.insert((release.id, frame));
            }
        }
    }
    Ok(Narrowed::Frames(frames))
}

fn lexunits_matching(
    database: &Database,
    catalog: &Catalog<'_>,
    field: Field,
    pattern: &Pattern,
) -> Result<Narrowed> {
    let mut lexunits = BTreeSet::new();
    for release in catalog.releases() {
        if let (Field::Lu, Some(name)) = (field, pattern.as_exact()) {
            let ids = database.store.lexunits_by_name(release.id, name, true)?;
            lexunits.extend(ids.into_iter().map(|(frame, lu)| (release.id, frame, lu)));
            continue;
        }
        for row in database.store.lexunit_names(release.id)? {
            let (frame, lu, name) = row?;
            let lemma = name.rsplit_once('.').map_or(name.as_str(), |(lemma, _)| lemma);
            if pattern.matches(if field == Field::Lemma { lemma } else { &name }) {
                lexunits.insert((release.id, frame, lu));
            }
        }
    }
    Ok(Narrowed::LexUnits(lexunits))
}

fn heirs_of(database: &Database, catalog: &Catalog<'_>, pattern: &Pattern) -> Result<Narrowed> {
    let mut heirs = BTreeSet::new();
    for release in catalog.releases() {
        for row in database.store.frame_names(release.id)? {
            let (frame, _) = row?;
            for ancestor in catalog.ancestors(release.id, frame)? {
                if pattern.matches(&catalog.frame(release.id, ancestor)?) {
                    heirs.insert((release.id, frame));
                    break;
                }
            }
        }
    }
    Ok(Narrowed::Frames(heirs))
}

/// A filter on whole triggers; a regular expression matches anywhere, with anchors and boundaries
/// that the index does not have.
fn trigger_filter(pattern: &Pattern) -> Option<Filter> {
    let pieces: Vec<String> = pattern.pieces()?.iter().map(|piece| regex::escape(piece)).collect();
    // A trigger may run over the end of a line, which a plain dot does not match.
    Some(Filter::Trigger(pieces.join("(?s:.*)")))
}

/// A filter on the words of a text that is given whole. A piece beside a star may begin or end
/// inside a word, so only an exact text has words to look for.
fn text_filter(pattern: &Pattern) -> Option<Filter> {
    let text = pattern.as_exact()?;
    let has_words = text.chars().any(char::is_alphanumeric);
    has_words.then(|| Filter::Phrase(text.to_owned()))
}

fn by_index(database: &Database, filter: &Filter) -> Result<Narrowed> {
    let Some((index, revision)) = database.index_reader()? else { return Ok(Narrowed::Everywhere) };
    let hits = match index.search(filter) {
        Ok(hits) => hits,
        // Not its kind of pattern, or damaged: the scan finds what it would have.
        Err(_) => return Ok(Narrowed::Everywhere),
    };
    // What the store has written since the index's last commit might answer, too.
    Ok(match by_changes(database, revision)? {
        Narrowed::Sets(newer) => Narrowed::Sets(hits.into_iter().chain(newer).collect()),
        wider => wider,
    })
}

/// The sets that changes after a revision may have made answers: those written, and those whose LU
/// is called otherwise.
fn by_changes(database: &Database, revision: u64) -> Result<Narrowed> {
    let store = &database.store;
    let mut hits = BTreeSet::new();
    for change in store.changes_since(revision)? {
        let change = change?;
        let release = change.release;
        match change.subject {
            // A document's name stands in the index beside each of its sets.
            Subject::Release | Subject::Document(..) if change.action != Action::Removed => {
                return Ok(Narrowed::Everywhere);
            }
            Subject::Set(set, SetLocation { frame, lu, sentence }) => {
                hits.insert(Hit { release, frame, lu, sentence, set });
            }
            Subject::LexUnit(frame, lu) if change.action == Action::Edited => {
                for set in store.annotation_sets_of_lexunit(release, frame, lu)? {
                    let AnnotationSet { sentence, id: set, .. } = set?;
                    hits.insert(Hit { release, frame, lu, sentence, set });
                }
            }
            _ => {}
        }
    }
    Ok(Narrowed::Sets(hits))
}

fn by_id(database: &Database, catalog: &Catalog<'_>, set: AnnotationSetId) -> Result<Narrowed> {
    let mut hits = BTreeSet::new();
    for release in catalog.releases() {
        if let Some(location) = database.store.set_location(release.id, set)? {
            let SetLocation { frame, lu, sentence } = location;
            hits.insert(Hit { release: release.id, frame, lu, sentence, set });
        }
    }
    Ok(Narrowed::Sets(hits))
}

impl Database {
    /// That every name which a query gives whole is there, in some release and letter case.
    pub(super) fn check_names(&self, catalog: &Catalog<'_>, expression: &Expression) -> Result<()> {
        for term in expression.terms() {
            let pattern = match &term.test {
                Test::Pattern(pattern) | Test::Label(pattern, _) => pattern,
                _ => continue,
            };
            let Some(name) = pattern.as_exact() else { continue };
            if term.field == Field::Release {
                self.release_in_any_case(catalog, name)?;
                continue;
            }
            let kind = match term.field {
                Field::Frame | Field::Inherits => NameKind::Frame,
                Field::Lu => NameKind::LexUnit,
                Field::Fe => NameKind::FrameElement,
                _ => continue,
            };
            let mut known = false;
            for release in catalog.releases() {
                known |= match kind {
                    NameKind::Frame => {
                        !self.store.frames_by_name(release.id, name, true)?.is_empty()
                    }
                    NameKind::LexUnit => {
                        !self.store.lexunits_by_name(release.id, name, true)?.is_empty()
                    }
                    _ => !self.store.elements_by_name(release.id, name, true)?.is_empty(),
                };
            }
            if !known {
                return Err(self.unknown(kind, name)?);
            }
        }
        Ok(())
    }

    fn release_in_any_case(&self, catalog: &Catalog<'_>, name: &str) -> Result<()> {
        let known =
            catalog.releases().iter().any(|release| release.name.eq_ignore_ascii_case(name));
        if known { Ok(()) } else { self.release(name).map(drop) }
    }
}
