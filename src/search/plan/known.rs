//! That what a query names is there: the error for a name or a value that the store does not hold,
//! with the nearest one that it does.
//!
//! Only values that a query gives whole are looked up; what a pattern finds is its own affair. A
//! value that the store holds anywhere is no error, also where no set that the query asks for has
//! it.

use std::collections::BTreeSet;

use crate::database::{Database, DatabaseError, LookupError, Result};
use crate::model::{
    ACCEPTED, AnnotationSet, CARRIED, Document, GENERATED, PREDICTED, PROPOSED, Pos,
};
use crate::query::{Case, Expression, Field, LabelField, LabelTest, Pattern, Test, nearest};
use crate::search::{Catalog, elements};
use crate::store::NameKind;

/// Statuses of annotation sets: FrameNet's, of sets that were imported without one, and of those
/// that models wrote or predicted.
const SET_STATUSES: [&str; 8] =
    ["AUTO_APP", "AUTO_EDITED", CARRIED, GENERATED, "IMPORTED", "MANUAL", PREDICTED, "UNANN"];

/// Lexicographic statuses: FrameNet's, and those of proposed and of accepted LUs.
const LU_STATUSES: [&str; 15] = [
    ACCEPTED,
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

/// The grammatical functions that FE labels of FrameNet 1.5 have, counted in its archive: with
/// these a query need not look through the store. Ruppenhofer et al., *FrameNet II: Extended Theory
/// and Practice*, describe them and the phrase types.
const GRAMMATICAL_FUNCTIONS: [&str; 7] =
    ["Appositive", "Dep", "Ext", "Gen", "Head", "Obj", "Quant"];

/// The phrase types that FE labels of FrameNet 1.5 have, without two that stand there by mistake
/// (`Obj` once, `Sun` twice) and `unknown`. Only its valence tables know `2nd`, and prepositions as
/// in `PP[of]`.
const PHRASE_TYPES: [&str; 26] = [
    "A",
    "AJP",
    "AVP",
    "N",
    "NP",
    "Num",
    "PP",
    "PPing",
    "PPinterrog",
    "Poss",
    "QUO",
    "Sabs",
    "Sbrst",
    "Sfin",
    "Sforto",
    "Sing",
    "Sinterrog",
    "Srel",
    "Sto",
    "Sub",
    "Swhether",
    "VPbrst",
    "VPed",
    "VPfin",
    "VPing",
    "VPto",
];

impl Database {
    /// That every name which a query gives whole is there, in some release and letter case, and
    /// every value of a field that has few.
    pub(crate) fn check_names(&self, catalog: &Catalog<'_>, expression: &Expression) -> Result<()> {
        for term in expression.terms() {
            match &term.test {
                Test::Pattern(pattern) => self.check_name(catalog, term.field, pattern)?,
                Test::Relative(name, _) => self.check_name(catalog, Field::Frame, name)?,
                Test::Label(name, tests) => self.check_label(catalog, name, tests)?,
                Test::Overlap(sides) => {
                    for (name, tests) in &**sides {
                        self.check_label(catalog, name, tests)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_label(
        &self,
        catalog: &Catalog<'_>,
        name: &Pattern,
        tests: &[LabelTest],
    ) -> Result<()> {
        self.check_name(catalog, Field::Fe, name)?;
        for test in tests {
            let LabelTest::Pattern { field, pattern, .. } = test else { continue };
            let field = match field {
                LabelField::Gf => Field::Gf,
                LabelField::Pt => Field::Pt,
                LabelField::Ni => Field::Ni,
            };
            self.check_name(catalog, field, pattern)?;
        }
        Ok(())
    }

    /// That a value is there which a pattern gives whole.
    fn check_name(&self, catalog: &Catalog<'_>, field: Field, pattern: &Pattern) -> Result<()> {
        let Some(name) = pattern.as_exact() else { return Ok(()) };
        let folding = Pattern::exact(name, Case::Fold);
        match field {
            Field::Release => {
                let known = catalog.releases().iter().any(|of| folding.matches(&of.name));
                if known { Ok(()) } else { self.release(name).map(drop) }
            }
            Field::Frame => self.check_kind(catalog, NameKind::Frame, name),
            Field::Lu => self.check_kind(catalog, NameKind::LexUnit, name),
            Field::Fe => self.check_kind(catalog, NameKind::FrameElement, name),
            Field::Doc => self.check_document(catalog, &folding),
            Field::Corpus => self.check_corpus(catalog, &folding),
            Field::Edition => self.check_edition(catalog, &folding),
            field => self.check_value(catalog, field, &folding),
        }
    }

    fn check_kind(&self, catalog: &Catalog<'_>, kind: NameKind, name: &str) -> Result<()> {
        for release in catalog.releases() {
            if !self.store.ids_by_name(release.id, kind, name, true)?.is_empty() {
                return Ok(());
            }
        }
        // Releases label FEs that no frame defines.
        if kind == NameKind::FrameElement {
            let pattern = Pattern::exact(name, Case::Fold);
            let has_label = |set: &AnnotationSet| {
                elements(set).any(|element| pattern.matches(&element.label.name))
            };
            if self.any_set(catalog, has_label)? {
                return Ok(());
            }
        }
        Err(self.unknown(kind, name)?)
    }

    /// That a document is called so by its name, description or file, or a file that sets were
    /// imported from.
    fn check_document(&self, catalog: &Catalog<'_>, called: &Pattern) -> Result<()> {
        let name = called.as_exact().unwrap_or_default();
        for release in catalog.releases() {
            if !self.store.ids_by_name(release.id, NameKind::Document, name, true)?.is_empty() {
                return Ok(());
            }
        }
        let mut known = BTreeSet::new();
        let is_called = |document: Document| {
            let found = document.named_by(|text| called.matches(text)).is_some();
            known.extend([document.name, document.file]);
            known.extend(document.description);
            found
        };
        if self.any_document(catalog, is_called)? {
            return Ok(());
        }
        let has_file = |set: &AnnotationSet| match set.provenance.file() {
            Some(file) => {
                if !known.contains(file) {
                    known.insert(file.to_owned());
                }
                called.matches(file)
            }
            _ => false,
        };
        if self.any_set(catalog, has_file)? {
            return Ok(());
        }
        Err(unknown("document", name, &known))
    }

    fn check_corpus(&self, catalog: &Catalog<'_>, called: &Pattern) -> Result<()> {
        let mut known = BTreeSet::new();
        let is_called = |document: Document| {
            let found = called.matches(&document.corpus_name);
            known.insert(document.corpus_name);
            found
        };
        if self.any_document(catalog, is_called)? {
            return Ok(());
        }
        Err(unknown("corpus", called.as_exact().unwrap_or_default(), &known))
    }

    fn check_edition(&self, catalog: &Catalog<'_>, called: &Pattern) -> Result<()> {
        let mut known = BTreeSet::new();
        for release in catalog.releases() {
            for edition in self.store.editions(release.id)? {
                known.insert(edition?.name);
            }
        }
        if known.iter().any(|name| called.matches(name)) {
            return Ok(());
        }
        Err(unknown("edition", called.as_exact().unwrap_or_default(), &known))
    }

    /// Checks a value of a field which takes one of a few: FrameNet's, one that an expansion or an
    /// import gives, or one that something in the store has. The store is looked through only for
    /// the last.
    fn check_value(&self, catalog: &Catalog<'_>, field: Field, called: &Pattern) -> Result<()> {
        let (kind, usual) = match field {
            Field::Pos => ("part of speech", Pos::names().collect()),
            Field::LuStatus => ("lexicographic status", LU_STATUSES.to_vec()),
            Field::Status => ("status of annotation sets", SET_STATUSES.to_vec()),
            Field::Gf => ("grammatical function", GRAMMATICAL_FUNCTIONS.to_vec()),
            Field::Pt => ("phrase type", PHRASE_TYPES.to_vec()),
            _ => return Ok(()),
        };
        if usual.iter().any(|usual| called.matches(usual)) {
            return Ok(());
        }
        let mut known: BTreeSet<String> = usual.into_iter().map(str::to_owned).collect();
        let mut take = |value: &str| {
            if !value.is_empty() && !known.contains(value) {
                known.insert(value.to_owned());
            }
            called.matches(value)
        };
        let found =
            match field {
                Field::LuStatus => self.any_lexunit_status(catalog, take)?,
                Field::Status => self.any_set(catalog, |set| take(&set.status))?,
                Field::Gf => self
                    .any_set(catalog, |set| elements(set).filter_map(|fe| fe.gf).any(&mut take))?,
                Field::Pt => self
                    .any_set(catalog, |set| elements(set).filter_map(|fe| fe.pt).any(&mut take))?,
                _ => false,
            };
        if found {
            return Ok(());
        }
        let value = called.as_exact().unwrap_or_default().to_owned();
        let nearest = nearest(&value, &known).cloned();
        Err(DatabaseError::Lookup(LookupError::UnknownValue { kind, value, nearest, known }))
    }

    fn any_lexunit_status(
        &self,
        catalog: &Catalog<'_>,
        mut is_it: impl FnMut(&str) -> bool,
    ) -> Result<bool> {
        for release in catalog.releases() {
            for lu in self.store.lexunits(release.id)? {
                if is_it(&lu?.status) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether something holds of an annotation set of any release: a pass over all of them where
    /// it holds of none, which comes before an error alone.
    fn any_set(
        &self,
        catalog: &Catalog<'_>,
        mut is_it: impl FnMut(&AnnotationSet) -> bool,
    ) -> Result<bool> {
        for release in catalog.releases() {
            for set in self.store.annotation_sets(release.id)? {
                if is_it(&set?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn any_document(
        &self,
        catalog: &Catalog<'_>,
        mut is_it: impl FnMut(Document) -> bool,
    ) -> Result<bool> {
        for release in catalog.releases() {
            for document in self.store.documents(release.id)? {
                if is_it(document?) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

fn unknown(kind: &'static str, name: &str, known: &BTreeSet<String>) -> DatabaseError {
    let known = known.iter().filter(|known| !known.is_empty());
    DatabaseError::Lookup(LookupError::UnknownName {
        kind,
        name: name.to_owned(),
        nearest: nearest(name, known).cloned(),
    })
}
