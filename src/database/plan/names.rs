//! Names in queries: which frames and LUs a pattern names, and the error for a name that is not there.

use std::collections::BTreeSet;

use super::super::answer::elements;
use super::super::{Database, DatabaseError, Result};
use super::narrowed::Narrowed;
use super::{Catalog, Planner};
use crate::model::{CorpusId, Document, DocumentId, NamedBy, PROPOSED, Pos};
use crate::query::{Case, Expression, Field, Pattern, Term, Test, nearest};
use crate::store::NameKind;

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

    /// The LUs whose name, lemma, part of speech or status matches; `None` when they are half of all and
    /// more: one scan is faster than thousands of short ones.
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

    pub(super) fn heirs_of(&self, pattern: &Pattern) -> Result<Option<Narrowed>> {
        let mut heirs = BTreeSet::new();
        let mut all = true;
        for &release in &self.releases {
            for row in self.database.store.frame_names(release)? {
                let (frame, _) = row?;
                let mut inherits = false;
                for ancestor in self.catalog.ancestors(release, frame)? {
                    inherits |= pattern.matches(&self.catalog.frame(release, ancestor)?);
                }
                if inherits {
                    heirs.insert((release, frame));
                }
                all &= inherits;
            }
        }
        Ok((!all).then_some(Narrowed::Frames(heirs)))
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

/// Statuses of annotation sets: FrameNet's, of sets that were imported without one, and of generated ones.
const SET_STATUSES: [&str; 6] =
    ["AUTO_APP", "AUTO_EDITED", "GENERATED", "IMPORTED", "MANUAL", "UNANN"];

/// Lexicographic statuses: FrameNet's, and of LUs that an expansion proposed.
const LU_STATUSES: [&str; 14] = [
    "Add_Annotation",
    "BTDT",
    "Created",
    "FN1_Sent",
    "Finished_Initial",
    "Finished_X-Gov",
    "In_Use",
    "Insufficient_Attestations",
    "Needs_SCs",
    "New",
    "Pre-Marked",
    "Problem",
    PROPOSED,
    "Rules_Defined",
];

/// An LU's name without its part of speech.
pub(in crate::database) fn lemma(lexunit: &str) -> &str {
    lexunit.rsplit_once('.').map_or(lexunit, |(lemma, _)| lemma)
}

impl Database {
    /// That every name which a query gives whole is there, in some release and letter case, and every value of a
    /// field that has few.
    pub(in crate::database) fn check_names(
        &self,
        catalog: &Catalog<'_>,
        expression: &Expression,
    ) -> Result<()> {
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
                field => {
                    self.check_value(catalog, field, name)?;
                    continue;
                }
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
            known = known || kind == NameKind::FrameElement && self.labels(catalog, name)?;
            if !known {
                return Err(self.unknown(kind, name)?);
            }
        }
        Ok(())
    }

    /// That a value of a field which takes one of a few is one: FrameNet's, one that an expansion or an import gives,
    /// or one that something in the store has. Only for what is none of the first the store is looked through.
    fn check_value(&self, catalog: &Catalog<'_>, field: Field, value: &str) -> Result<()> {
        let is_value = |known: &str| Pattern::exact(value, Case::Fold).matches(known);
        let (kind, usual) = match field {
            Field::Pos => ("part of speech", Pos::names().collect()),
            Field::LuStatus => ("lexicographic status", LU_STATUSES.to_vec()),
            Field::Status => ("status of annotation sets", SET_STATUSES.to_vec()),
            _ => return Ok(()),
        };
        if usual.iter().any(|usual| is_value(usual)) {
            return Ok(());
        }
        let mut known: BTreeSet<String> = usual.into_iter().map(str::to_owned).collect();
        for release in catalog.releases() {
            let mut take = |status: String| {
                let found = is_value(&status);
                if !status.is_empty() && !known.contains(&status) {
                    known.insert(status);
                }
                found
            };
            if field == Field::LuStatus {
                for lu in self.store.lexunits(release.id)? {
                    if take(lu?.status) {
                        return Ok(());
                    }
                }
            } else if field == Field::Status {
                for set in self.store.annotation_sets(release.id)? {
                    if take(set?.status) {
                        return Ok(());
                    }
                }
            }
        }
        let nearest = nearest(value, &known).cloned();
        Err(DatabaseError::UnknownValue { kind, value: value.to_owned(), nearest, known })
    }

    /// Whether an FE label has this name, in any letter case. Releases label FEs that no frame defines;
    /// only a pass over all sets can tell, which comes before an error alone.
    fn labels(&self, catalog: &Catalog<'_>, name: &str) -> Result<bool> {
        let pattern = Pattern::exact(name, Case::Fold);
        for release in catalog.releases() {
            for set in self.store.annotation_sets(release.id)? {
                if elements(&set?).any(|element| pattern.matches(&element.label.name)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The documents that a `doc` term of a query names, each with the first of its texts that the term
    /// holds for; none for any other term.
    ///
    /// # Errors
    /// When the store fails.
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

    fn release_in_any_case(&self, catalog: &Catalog<'_>, name: &str) -> Result<()> {
        let known =
            catalog.releases().iter().any(|release| release.name.eq_ignore_ascii_case(name));
        if known { Ok(()) } else { self.release(name).map(drop) }
    }
}
