//! Names in queries: which frames, LUs and documents a pattern names.

use std::collections::BTreeSet;

use super::Planner;
use super::narrowed::Narrowed;
use crate::database::{Database, Result};
use crate::model::{CorpusId, Document, DocumentId, NamedBy, Pos};
use crate::query::{Distance, Expression, Field, Followed, Pattern, Term, Test};
use crate::search::links;

impl Planner<'_> {
    pub(super) fn frames_matching(&self, pattern: &Pattern) -> Result<Option<Narrowed>> {
        let store = &self.database.store;
        let mut frames = BTreeSet::new();
        let mut all = true;
        for &release in &self.releases {
            if let Some(name) = pattern.as_exact() {
                let ids = store.frames_by_name(release, name, true)?;
                frames.extend(ids.into_iter().map(|frame| (release, frame)));
                all = false;
                continue;
            }
            for row in store.frame_names(release)? {
                let (frame, name) = row?;
                if pattern.matches(&name) {
                    frames.insert((release, frame));
                } else {
                    all = false;
                }
            }
        }
        Ok((!all).then_some(Narrowed::Frames(frames)))
    }

    /// The LUs whose name, lemma, part of speech or status matches; `None` when they are half of
    /// all and more: one scan is faster than thousands of short ones.
    pub(super) fn lexunits_matching(
        &self,
        field: Field,
        pattern: &Pattern,
    ) -> Result<Option<Narrowed>> {
        let store = &self.database.store;
        let mut lexunits = BTreeSet::new();
        let mut others = 0;
        for &release in &self.releases {
            if let (Field::Lu, Some(name)) = (field, pattern.as_exact()) {
                let ids = store.lexunits_by_name(release, name, true)?;
                lexunits.extend(ids.into_iter().map(|(frame, lu)| (release, frame, lu)));
                others = usize::MAX;
                continue;
            }
            if field == Field::LuStatus {
                for (frame, lu, status) in self.catalog.lexunit_statuses(release)? {
                    if pattern.matches(&status) {
                        lexunits.insert((release, frame, lu));
                    } else {
                        others += 1;
                    }
                }
                continue;
            }
            if links::FIELDS.contains(&field) {
                let linked = self.catalog.linked(field)?;
                let matching = linked.iter().filter(|((of, ..), values)| {
                    *of == release && values.iter().any(|value| pattern.matches(value))
                });
                lexunits.extend(matching.map(|(place, _)| *place));
                others = usize::MAX;
                continue;
            }
            for row in store.lexunit_names(release)? {
                let (frame, lu, name) = row?;
                let value = match field {
                    Field::Pos => Pos::of_lu_name(&name).as_str(),
                    Field::Lemma => lemma(&name),
                    _ => &name,
                };
                if pattern.matches(value) {
                    lexunits.insert((release, frame, lu));
                } else {
                    others += 1;
                }
            }
        }
        Ok((others > lexunits.len()).then_some(Narrowed::LexUnits(lexunits)))
    }

    /// The frames whose relations lead to one that a pattern names, so far away.
    pub(super) fn frames_related(
        &self,
        followed: Followed,
        pattern: &Pattern,
        distance: Distance,
    ) -> Result<Option<Narrowed>> {
        let mut frames = BTreeSet::new();
        let mut all = true;
        for &release in &self.releases {
            for row in self.database.store.frame_names(release)? {
                let (frame, _) = row?;
                if self.catalog.is_related((release, frame), followed, pattern, distance)? {
                    frames.insert((release, frame));
                } else {
                    all = false;
                }
            }
        }
        Ok((!all).then_some(Narrowed::Frames(frames)))
    }

    /// The documents for which something holds.
    pub(super) fn documents_where(
        &self,
        holds: impl Fn(&Document) -> bool,
    ) -> Result<BTreeSet<(CorpusId, DocumentId)>> {
        let mut keys = BTreeSet::new();
        for &release in &self.releases {
            for document in self.database.store.documents(release)? {
                let document = document?;
                if holds(&document) {
                    keys.insert((document.corpus, document.id));
                }
            }
        }
        Ok(keys)
    }
}

/// An LU's name without its part of speech.
pub(in crate::search) fn lemma(lexunit: &str) -> &str {
    lexunit.rsplit_once('.').map_or(lexunit, |(lemma, _)| lemma)
}

impl Database {
    /// The documents that a `doc` term of a query names, each with the first of its texts that the
    /// term holds for; none for any other term.
    ///
    /// # Errors
    /// When the store fails.
    #[doc(hidden)]
    pub fn documents_of_term(
        &self,
        expression: &Expression,
        term: &Term,
    ) -> Result<Vec<(Document, NamedBy)>> {
        let (Field::Doc, Test::Pattern(pattern)) = (term.field, &term.test) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for release in self.releases_of(expression)? {
            for document in self.store.documents(release.id)? {
                let document = document?;
                if let Some(by) = document.named_by(|text| pattern.matches(text)) {
                    found.push((document, by));
                }
            }
        }
        Ok(found)
    }
}
