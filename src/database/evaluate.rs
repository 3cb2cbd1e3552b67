//! Whether a term of a query holds of an annotation set.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::answer::{Answer, elements};
use super::catalog::Catalog;
use super::plan::{Narrowed, SetRows};
use super::split::Split;
use super::{Database, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, FrameId, Generation, Pos, Provenance, ReleaseId, Sentence,
};
use crate::query::{Comparison, Expression, Field, LabelFacts, Pattern, Term, Test};
use crate::store::{self, Store};

/// What the terms of one query need beside the set itself.
pub(super) struct Evaluator<'a> {
    store: &'a Store,
    pub(super) catalog: Catalog<'a>,
    expression: Expression,
    /// Sets written after each revision that the query names.
    since: HashMap<u64, Written>,
    /// Fingerprint of each recipe, hexadecimal, by number.
    recipes: OnceCell<HashMap<u32, String>>,
    ancestors: RefCell<HashMap<(ReleaseId, FrameId), Ancestors>>,
}

/// A frame and all that it inherits from.
type Ancestors = Arc<BTreeSet<FrameId>>;

#[derive(Default)]
struct Written {
    releases: HashSet<ReleaseId>,
    sets: HashSet<(ReleaseId, AnnotationSetId)>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        database: &'a Database,
        catalog: Catalog<'a>,
        expression: &Expression,
    ) -> Result<Self> {
        let mut since = HashMap::new();
        for term in expression.terms() {
            if let Test::Revision(revision) = term.test {
                since.insert(revision, written_since(&database.store, revision)?);
            }
        }
        Ok(Self {
            store: &database.store,
            catalog,
            expression: expression.clone(),
            since,
            recipes: OnceCell::new(),
            ancestors: RefCell::default(),
        })
    }

    /// The set with what the query looked up of it, when the query holds of it.
    pub(super) fn subject(
        &self,
        release: ReleaseId,
        set: AnnotationSet,
    ) -> Result<Option<Subject<'_, 'a>>> {
        let subject = Subject { evaluator: self, release, set, sentence: OnceCell::new() };
        let holds = self.expression.holds(&mut |term: &Term| subject.holds(term))?;
        Ok(holds.then_some(subject))
    }

    /// The set as an answer, when the query holds of it.
    fn answer(&self, release: ReleaseId, set: AnnotationSet) -> Result<Option<Answer>> {
        match self.subject(release, set)? {
            Some(subject) => subject.into_answer(),
            None => Ok(None),
        }
    }

    fn recipe(&self, id: u32) -> Result<Option<&str>> {
        if self.recipes.get().is_none() {
            let hex = |print: [u8; 16]| print.iter().map(|byte| format!("{byte:02x}")).collect();
            let recipes = self.store.recipes()?.into_iter();
            let _ = self.recipes.set(recipes.map(|(id, print, _)| (id.0, hex(print))).collect());
        }
        Ok(self.recipes.get().and_then(|recipes| recipes.get(&id)).map(String::as_str))
    }

    fn ancestors(&self, release: ReleaseId, frame: FrameId) -> Result<Ancestors> {
        if let Some(known) = self.ancestors.borrow().get(&(release, frame)) {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(self.catalog.ancestors(release, frame)?);
        self.ancestors.borrow_mut().insert((release, frame), Arc::clone(&found));
        Ok(found)
    }
}

fn written_since(store: &Store, revision: u64) -> Result<Written> {
    let mut written = Written::default();
    for change in store.changes_since(revision)? {
        let change = change?;
        match change.subject {
            store::Subject::Release => {
                written.releases.insert(change.release);
            }
            store::Subject::Set(set, _) => {
                written.sets.insert((change.release, set));
            }
            _ => {}
        }
    }
    Ok(written)
}

/// A set that a query is asked of; its sentence is read when a term needs it.
pub(super) struct Subject<'e, 'a> {
    pub(super) evaluator: &'e Evaluator<'a>,
    pub(super) release: ReleaseId,
    pub(super) set: AnnotationSet,
    sentence: OnceCell<Option<Sentence>>,
}

impl Subject<'_, '_> {
    pub(super) fn sentence(&self) -> Result<Option<&Sentence>> {
        if self.sentence.get().is_none() {
            let found = self.evaluator.store.sentence(self.release, self.set.sentence)?;
            let _ = self.sentence.set(found);
        }
        Ok(self.sentence.get().and_then(Option::as_ref))
    }

    pub(super) fn generation(&self) -> Option<&Generation> {
        match &self.set.provenance {
            Provenance::Generated(generation) => Some(generation),
            _ => None,
        }
    }

    pub(super) fn lexunit(&self) -> Result<Arc<str>> {
        self.evaluator.catalog.lexunit(self.release, self.set.frame, self.set.lu)
    }

    fn into_answer(self) -> Result<Option<Answer>> {
        let (evaluator, release) = (self.evaluator, self.release);
        let catalog = &evaluator.catalog;
        self.sentence()?;
        let sentence = self.sentence.into_inner().flatten();
        let (Some(sentence), Some(listed)) = (sentence, catalog.release(release)) else {
            return Ok(None);
        };
        let document = match self.set.provenance {
            Provenance::FullText { corpus, document } => {
                catalog.document(release, corpus, document)?
            }
            _ => None,
        };
        Ok(Some(Answer {
            release: Arc::clone(listed),
            frame: catalog.frame(release, self.set.frame)?,
            lexunit: catalog.lexunit(release, self.set.frame, self.set.lu)?,
            document: document.map(|document| document.name.as_str().into()),
            sentence,
            set: self.set,
        }))
    }

    fn holds(&self, term: &Term) -> Result<bool> {
        Ok(match &term.test {
            Test::Pattern(pattern) => self.pattern_holds(term.field, pattern)?,
            Test::Label(name, tests) => elements(&self.set).any(|element| {
                let facts = LabelFacts {
                    gf: element.gf,
                    pt: element.pt,
                    ni: null_kind(&element.label.extent),
                    overt: element.label.extent.span().is_some(),
                };
                name.matches(&element.label.name) && tests.iter().all(|test| test.holds(&facts))
            }),
            Test::Choice(word) => match term.field {
                Field::Origin => self.set.provenance.origin().as_str() == *word,
                Field::Flag => {
                    self.generation().is_some_and(|made| made.flags.names().contains(word))
                }
                Field::Split => self.split()?.is_some_and(|split| split.as_str() == *word),
                _ => false,
            },
            Test::Integer(comparison, bound) => match term.field {
                Field::Round => self
                    .generation()
                    .is_some_and(|made| comparison.holds(u64::from(made.round), *bound)),
                Field::Judgement => self.judgement_holds(*comparison, *bound)?,
                _ => false,
            },
            Test::Decimal(comparison, bound) => {
                let value = self.generation().and_then(|made| match term.field {
                    Field::Paraphrase => Some(made.paraphrase),
                    Field::Aligner => Some(made.aligner),
                    _ => None,
                });
                value.is_some_and(|value| comparison.holds(f64::from(value), *bound))
            }
            Test::Set(id) => match term.field {
                Field::Id => self.set.id == *id,
                Field::Seed => self.generation().is_some_and(|made| made.seed == *id),
                Field::Source => self.generation().is_some_and(|made| made.source == *id),
                _ => false,
            },
            Test::Revision(revision) => self.evaluator.since.get(revision).is_some_and(|written| {
                written.releases.contains(&self.release)
                    || written.sets.contains(&(self.release, self.set.id))
            }),
        })
    }

    /// Whether any reviewer's judgement compares so.
    fn judgement_holds(&self, comparison: Comparison, bound: u64) -> Result<bool> {
        for judgement in self.evaluator.store.judgements(self.release, self.set.id)? {
            if comparison.holds(u64::from(judgement?.score), bound) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn pattern_holds(&self, field: Field, pattern: &Pattern) -> Result<bool> {
        let catalog = &self.evaluator.catalog;
        let release = self.release;
        Ok(match field {
            Field::Release => {
                catalog.release(release).is_some_and(|release| pattern.matches(&release.name))
            }
            Field::Frame => pattern.matches(&catalog.frame(release, self.set.frame)?),
            Field::Inherits => {
                for frame in self.evaluator.ancestors(release, self.set.frame)?.iter() {
                    if pattern.matches(&catalog.frame(release, *frame)?) {
                        return Ok(true);
                    }
                }
                false
            }
            Field::Lu => pattern.matches(&self.lexunit()?),
            Field::Pos => pattern.matches(Pos::of_lu_name(&self.lexunit()?).as_str()),
            Field::Lemma => {
                let name = self.lexunit()?;
                pattern.matches(name.rsplit_once('.').map_or(&*name, |(lemma, _)| lemma))
            }
            Field::Trigger => self
                .sentence()?
                .is_some_and(|sentence| pattern.matches(&self.set.trigger(&sentence.text))),
            Field::Text => self.sentence()?.is_some_and(|sentence| pattern.matches(&sentence.text)),
            Field::Gf => {
                elements(&self.set).any(|fe| fe.gf.is_some_and(|name| pattern.matches(name)))
            }
            Field::Pt => {
                elements(&self.set).any(|fe| fe.pt.is_some_and(|name| pattern.matches(name)))
            }
            Field::Ni => elements(&self.set)
                .any(|fe| null_kind(&fe.label.extent).is_some_and(|kind| pattern.matches(kind))),
            Field::Status => pattern.matches(&self.set.status),
            Field::Corpus | Field::Doc => self.place_matches(field, pattern)?,
            Field::Method => {
                self.generation().is_some_and(|made| pattern.matches(made.method.as_str()))
            }
            Field::Recipe => match self.generation() {
                Some(made) => {
                    let print = self.evaluator.recipe(made.recipe.0)?;
                    pattern.matches(&made.recipe.to_string())
                        || print.is_some_and(|print| pattern.matches(print))
                }
                None => false,
            },
            _ => false,
        })
    }

    /// Whether a corpus or document that lists the sentence matches.
    fn place_matches(&self, field: Field, pattern: &Pattern) -> Result<bool> {
        let Some(sentence) = self.sentence()? else { return Ok(false) };
        for place in &sentence.occurrences {
            let document = self.evaluator.catalog.document_at(self.release, place)?;
            let matches = match (field, document) {
                (Field::Doc, Some(document)) => {
                    pattern.matches(&document.name) || pattern.matches(&document.file)
                }
                (Field::Corpus, Some(document)) => pattern.matches(&document.corpus_name),
                (Field::Corpus, None) => match place.corpus {
                    Some(id) => self
                        .evaluator
                        .catalog
                        .corpus(self.release, id)?
                        .is_some_and(|name| pattern.matches(&name)),
                    None => false,
                },
                _ => false,
            };
            if matches {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The part of the data: the document's, that of span-labelled data as its line says, for
    /// generated sets the seed's; exemplars have none.
    pub(super) fn split(&self) -> Result<Option<Split>> {
        let Provenance::Generated(made) = &self.set.provenance else {
            return self.split_of(&self.set);
        };
        let seed = self.evaluator.store.annotation_set(self.release, made.seed)?;
        seed.map_or(Ok(None), |seed| self.split_of(&seed))
    }

    fn split_of(&self, set: &AnnotationSet) -> Result<Option<Split>> {
        let Evaluator { store, catalog, .. } = self.evaluator;
        match set.provenance {
            Provenance::FullText { corpus, document } => {
                let document = catalog.document(self.release, corpus, document)?;
                Ok(document.map(|document| Split::of_document(&document.file)))
            }
            Provenance::Imported { .. } => {
                let sentence = store.sentence(self.release, set.sentence)?;
                let place = sentence.and_then(|sentence| sentence.occurrences.into_iter().next());
                let Some(place) = place else { return Ok(None) };
                let document = catalog.document_at(self.release, &place)?;
                Ok(document.and_then(|document| Split::of_corpus(&document.corpus_name)))
            }
            _ => Ok(None),
        }
    }
}

pub(super) fn null_kind(extent: &crate::model::Extent) -> Option<&str> {
    match extent {
        crate::model::Extent::Null(kind) => Some(kind.as_str()),
        _ => None,
    }
}

impl Database {
    /// The annotation sets for which a query holds, in order of release, frame, LU, sentence and id,
    /// read as they are asked for.
    ///
    /// # Errors
    /// When the query names a frame, LU, FE or release that there is not (with the nearest name), or
    /// the store fails.
    pub fn query<'a>(
        &'a self,
        expression: &Expression,
    ) -> Result<impl Iterator<Item = Result<Answer>> + use<'a>> {
        let (evaluator, sets) = self.planned(expression)?;
        Ok(sets.filter_map(move |row| match row {
            Ok((release, set)) => evaluator.answer(release, set).transpose(),
            Err(error) => Some(Err(error)),
        }))
    }

    /// What can ask a query of a set, and the sets to ask it of.
    pub(super) fn planned(&self, expression: &Expression) -> Result<(Evaluator<'_>, SetRows<'_>)> {
        // Before any name is read: the index may be newer than this handle's view.
        self.refresh()?;
        let catalog = self.catalog()?;
        self.check_names(&catalog, expression)?;
        let narrowed = Narrowed::by(self, &catalog, expression)?;
        let evaluator = Evaluator::new(self, catalog, expression)?;
        Ok((evaluator, narrowed.sets(self)?))
    }
}
