//! Export as JSON lines: a release whole, a part of it, or what was added to it.

mod decided;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

use super::closure::{Closure, Gathered, added_elements};
use super::complete::takes_along;
use super::{names_only_releases, only_one, releases_named};
use crate::database::{Database, DatabaseError, Result};
use crate::exchange::jsonl::{
    JournalRecord, Layout, LineKind, RecipeRecord, RecordWriter, ReleaseRecord, Scope,
};
use crate::model::{
    AnnotationSet, AnnotationSetId, FrameId, IdSpace, LinkSubject, NumberKind, RecipeId, Release,
    ReleaseId, SentenceId,
};
use crate::query::{Expression, Field, Term, Test};
use crate::search::{Answer, Catalog};
use crate::store::{KeyRange, SentenceGroup, Store, in_order};

/// What an export as JSON lines wrote.
#[derive(Debug, Clone)]
pub struct JsonlExport {
    /// The release.
    pub release: Release,
    /// How much of it.
    pub scope: Scope,
    /// Number of records of each kind.
    pub records: BTreeMap<LineKind, u64>,
    /// Sets for which the expression does not hold, written because what was asked for names them
    /// or has them beside it: others grew from them, or they were carried along.
    pub origins: u64,
}

/// Whether every set that an expression finds was generated, carried along, or made by a user.
fn finds_additions(expression: &Expression) -> bool {
    match expression {
        Expression::Term(Term { field: Field::Origin, test: Test::Choice(origin) }) => {
            ["generated", "carried", "user"].contains(origin)
        }
        Expression::And(parts) => parts.iter().any(finds_additions),
        Expression::Or(parts) => parts.iter().all(finds_additions),
        _ => false,
    }
}

/// Whether an expression stands for all that users made, also what no set refers to: it asks for
/// their sets, and narrows them by no more than the release.
fn asks_for_all_of_people(expression: &Expression) -> bool {
    let is_user = |term: &Term| matches!(&term.test, Test::Choice(origin) if *origin == "user");
    let is_origin = |term: &Term| term.field == Field::Origin;
    expression.terms().all(|term| is_origin(term) || term.field == Field::Release)
        && expression.terms().any(|term| is_origin(term) && is_user(term))
}

/// How much of a release an expression stands for. All of it if it names no more than releases;
/// what was added if every set that it finds was generated or made by a user; else a part.
fn scope_of(expression: &Expression) -> Scope {
    match expression {
        expression if finds_additions(expression) => Scope::Additions,
        expression if names_only_releases(expression) => Scope::Whole,
        _ => Scope::Part,
    }
}

impl JsonlExport {
    /// How much of a release an export of an expression holds.
    #[must_use]
    pub fn scope_of(expression: &Expression) -> Scope {
        scope_of(expression)
    }

    /// Whether an export of an expression holds all that users made, also what no set refers to,
    /// and the sets of LUs that they accepted: it asks for no more than their sets.
    #[must_use]
    pub fn holds_all_of_people(expression: &Expression) -> bool {
        finds_additions(expression) && asks_for_all_of_people(expression)
    }
}

impl Database {
    /// Writes the sets for which an expression holds, with what they need, as JSON lines.
    ///
    /// An expression that names no more than a release writes every record of it. One that asks for
    /// `origin=generated` or `origin=user` writes what was added to the release, without a record
    /// of the release itself, unless `with_base`. Any other writes a part: the sets with their
    /// sentences, LUs, frames, and what these refer to. Every file is closed: what a record of it
    /// names is in it or, for additions, in the release that they add to. With a generated set go
    /// those that were carried into its sentence, unless the expression speaks of `origin=carried`.
    /// `origin=user` alone also
    /// writes what no set refers to. `None` when nothing matches. A part or an addition holds the
    /// ids of its records in memory.
    ///
    /// Of a reader's handle all records are of one state, whatever is committed and whoever
    /// refreshes the handle meanwhile. Beside commits through the same writer's handle, export a
    /// [`snapshot`](Self::snapshot).
    ///
    /// # Errors
    /// When the expression names what there is not, its sets belong to several releases, the output
    /// or the store fails.
    pub fn export_jsonl(
        &self,
        expression: &Expression,
        with_base: bool,
        out: &mut dyn Write,
    ) -> Result<Option<JsonlExport>> {
        self.last_still()?.export_still(expression, with_base, out)
    }

    fn export_still(
        &self,
        expression: &Expression,
        with_base: bool,
        out: &mut dyn Write,
    ) -> Result<Option<JsonlExport>> {
        let scope = match scope_of(expression) {
            Scope::Additions if with_base => Scope::Part,
            scope => scope,
        };
        let catalog = self.catalog()?;
        self.check_names(&catalog, expression)?;
        let (releases, closure) = match scope {
            Scope::Whole => (releases_named(&catalog, expression)?, None),
            Scope::Part | Scope::Additions => self.closure_of(&catalog, expression, scope)?,
        };
        let Some(release) = only_one(releases)? else { return Ok(None) };
        let mut record = ReleaseRecord::new(&release, scope);
        if scope != Scope::Additions {
            record.counted = Some(self.store().counted()?);
        }
        let writer = RecordWriter::new(out, &record)?;
        let id = release.id;
        let mut export = Export { store: self.store(), catalog, release: id, scope, writer };
        match &closure {
            None => export.whole()?,
            Some(closure) => export.closed(closure)?,
        }
        let records = export.writer.finish()?;
        let origins = closure.as_ref().map_or(0, Closure::origins);
        Ok(Some(JsonlExport { release, scope, records, origins }))
    }

    /// The releases of what an expression finds, and what a file of it must hold when it is one.
    fn closure_of<'d>(
        &'d self,
        catalog: &Catalog<'_>,
        expression: &Expression,
        scope: Scope,
    ) -> Result<(Vec<Release>, Option<Closure<'d>>)> {
        let mut releases: Vec<Release> = Vec::new();
        let mut closure: Option<Closure<'_>> = None;
        let store = &self.store;
        let asked = (scope, takes_along(expression));
        let add = |some: &mut Vec<Gathered<'d>>, answer: Answer| {
            if some.last().is_none_or(|last| last.release.id != answer.release.id) {
                let gathered = Gathered::new(store, Arc::clone(&answer.release), asked)?;
                some.push(gathered);
            }
            let gathered = some.last_mut().expect("one was put there");
            gathered.add(&answer.set, &answer.sentence)
        };
        self.fold_answers(expression, Vec::new, add, |some| {
            for gathered in some {
                let id = gathered.release.id;
                if releases.last().is_none_or(|last| last.id != id) {
                    releases.push(Release::clone(&gathered.release));
                }
                if releases.len() == 1 {
                    let closure = closure.get_or_insert_with(|| Closure::new(store, id, scope));
                    closure.take_gathered(gathered)?;
                }
            }
            Ok::<_, DatabaseError>(())
        })?;
        if JsonlExport::holds_all_of_people(expression) {
            for release in releases_named(catalog, expression)? {
                if let Some(closure) = closure.as_mut().filter(|_| releases[0].id == release.id) {
                    closure.take_all_of_people()?;
                    continue;
                }
                let mut added = Closure::new(&self.store, release.id, scope);
                added.take_all_of_people()?;
                if !added.is_empty() {
                    releases.push(release);
                    closure.get_or_insert(added);
                }
            }
            releases.dedup_by_key(|release| release.id);
        }
        closure.iter_mut().try_for_each(Closure::close)?;
        Ok((releases, closure))
    }
}

struct Export<'a, 'w> {
    store: &'a Store,
    catalog: Catalog<'a>,
    release: ReleaseId,
    scope: Scope,
    writer: RecordWriter<&'w mut dyn Write>,
}

impl Export<'_, '_> {
    /// Writes every record of the release.
    fn whole(&mut self) -> Result<()> {
        let (store, release) = (self.store, self.release);
        self.layout(store.release_layout(release)?.map(Layout::Release))?;
        self.written_numbers(|_| true)?;
        for sem_type in store.sem_types(release)? {
            self.writer.sem_type(sem_type?)?;
        }
        for frame in store.frames(release)? {
            let frame = frame?;
            let id = frame.id;
            self.writer.frame(frame)?;
            let layout = store.frame_layout(release, id)?;
            self.layout(layout.map(|layout| Layout::Frame(id, layout)))?;
        }
        for relation in store.relations(release)? {
            self.writer.relation(relation?)?;
        }
        for lexunit in store.lexunits(release)? {
            let lexunit = lexunit?;
            let (frame, lu) = (lexunit.frame, lexunit.id);
            let frame_name = self.catalog.frame(release, frame)?;
            self.writer.lexunit(lexunit, &frame_name)?;
            let layout = store.lexunit_layout(release, frame, lu)?;
            self.layout(layout.map(|layout| Layout::LexUnit(frame, lu, layout)))?;
        }
        self.recipes(|_| true)?;
        self.sentences()?;
        for document in store.documents(release)? {
            let document = document?;
            let (corpus, id) = (document.corpus, document.id);
            self.writer.document(document)?;
            let layout = store.document_layout(release, corpus, id)?;
            self.layout(layout.map(|layout| Layout::Document(corpus, id, layout)))?;
        }
        for row in store.all_foreign(release)? {
            let (file, foreign) = row?;
            self.writer.layout(Layout::Foreign(file, foreign))?;
        }
        self.journal(|_| true)?;
        for row in store.all_judgements(release)? {
            let (set, judgement) = row?;
            self.writer.judgement(set, judgement)?;
        }
        for verification in store.all_verifications(release)? {
            self.writer.verification(verification?)?;
        }
        self.decisions(|_| true)?;
        self.discoveries(|_| true)?;
        self.links(|_| true)?;
        self.editions(|_| true)
    }

    /// Writes every sentence with its sets and layers, rendered by all threads.
    fn sentences(&mut self) -> Result<()> {
        let over = Over { store: self.store, catalog: &self.catalog, release: self.release };
        let apart = self.writer.apart();
        let render = |part: KeyRange| {
            let mut writer = apart.apart();
            let outcome = over.part(&part, &mut writer);
            (writer, outcome)
        };
        let writer = &mut self.writer;
        in_order(self.store.parts_of_sentences(self.release), render, |(lines, outcome)| {
            writer.append(lines)?;
            outcome
        })
    }

    fn written_numbers(&mut self, is_wanted: impl Fn(NumberKind) -> bool) -> Result<()> {
        for (kind, number, written) in self.store.written_numbers(self.release)?.iter() {
            if is_wanted(kind) {
                self.writer.written_number(kind, number, written)?;
            }
        }
        Ok(())
    }

    fn layout(&mut self, layout: Option<Layout>) -> Result<()> {
        Ok(layout.map_or(Ok(()), |layout| self.writer.layout(layout))?)
    }

    /// Writes what a file of some sets must hold.
    fn closed(&mut self, closure: &Closure<'_>) -> Result<()> {
        if self.scope == Scope::Part {
            // Offsets are of layouts, which a part does not have.
            self.written_numbers(|kind| kind != NumberKind::Offset)?;
        }
        self.frames(closure)?;
        self.lexunits(closure)?;
        self.recipes(|recipe| closure.recipes.contains(&recipe))?;
        self.sentences_of(closure)?;
        self.documents(closure)?;
        self.journal(|chain| !chain.is_empty() && chain.iter().all(|set| closure.has_set(*set)))?;
        let sets: BTreeSet<AnnotationSetId> = closure.sets.iter().map(|(_, set)| *set).collect();
        for set in &sets {
            for judgement in self.store.judgements(self.release, *set)? {
                self.writer.judgement(*set, judgement?)?;
            }
        }
        for set in sets {
            if let Some(verification) = self.store.verification(self.release, set)? {
                self.writer.verification(verification)?;
            }
        }
        self.decisions(|decided| closure.frames.contains(&decided.frame))?;
        // A part lacks LUs without sets, hence what searches found: it says of none.
        let has_searches = self.scope != Scope::Part;
        self.discoveries(|found| match found.name.is_empty() {
            true => has_searches && closure.frames.contains(&found.frame),
            false => closure.lexunits.contains(&(found.frame, found.lu)),
        })?;
        self.links(|links| match links.of {
            LinkSubject::LexUnit(lu) => closure.lexunits.contains(&(links.frame, lu)),
            LinkSubject::Element(_) => closure.frames.contains(&links.frame),
        })?;
        self.editions(|edition| edition.main_sets().all(|set| closure.has_set(set)))
    }

    /// Writes frames, or the FEs that were added to them, with semantic types and the relations
    /// between them.
    fn frames(&mut self, closure: &Closure<'_>) -> Result<()> {
        let (store, release) = (self.store, self.release);
        let is_part = self.scope == Scope::Part;
        for sem_type in store.sem_types(release)? {
            let sem_type = sem_type?;
            if is_part || closure.sem_types.contains(&sem_type.id) {
                self.writer.sem_type(sem_type)?;
            }
        }
        // Frames before FEs: a frame that was added has its own.
        let mut named: Vec<FrameId> = Vec::new();
        for frame in &closure.frames {
            if !closure.writes_frame(*frame)? {
                named.push(*frame);
            } else if let Some(frame) = store.frame(release, *frame)? {
                self.writer.frame(frame)?;
            }
        }
        for frame in named {
            let Some(frame) = store.frame(release, frame)? else { continue };
            for fe in added_elements(store, &frame)? {
                self.writer.element(frame.id, &frame.name, fe.clone())?;
            }
        }
        for relation in store.relations(release)? {
            let relation = relation?;
            let ends = [relation.parent, relation.child];
            let is_wanted = closure.relations.contains(&relation.id)
                || ends.iter().all(|frame| closure.frames.contains(frame))
                    && (is_part || store.has_counted(relation.id.0)?);
            if is_wanted {
                self.writer.relation(relation)?;
            }
        }
        Ok(())
    }

    fn lexunits(&mut self, closure: &Closure<'_>) -> Result<()> {
        for (frame, lu) in &closure.lexunits {
            let Some(mut lexunit) = self.store.lexunit(self.release, *frame, *lu)? else {
                continue;
            };
            if self.scope == Scope::Part {
                lexunit.valences.retain_sets(|set| closure.has_set(set));
            }
            let frame_name = self.catalog.frame(self.release, *frame)?;
            self.writer.lexunit(lexunit, &frame_name)?;
        }
        Ok(())
    }

    fn recipes(&mut self, is_wanted: impl Fn(RecipeId) -> bool) -> Result<()> {
        for (id, fingerprint, description) in self.store.recipes()? {
            if is_wanted(id) {
                self.writer.recipe(id, &RecipeRecord::new(fingerprint, description))?;
            }
        }
        Ok(())
    }

    /// Writes the sentences of some sets, and the sets, rendered by all threads.
    fn sentences_of(&mut self, closure: &Closure<'_>) -> Result<()> {
        let over = Over { store: self.store, catalog: &self.catalog, release: self.release };
        let apart = self.writer.apart();
        let render = |ids: Vec<SentenceId>| {
            let mut writer = apart.apart();
            let outcome = over.closed(&ids, closure, &mut writer);
            (writer, outcome)
        };
        let mut ids = closure.sentences.iter().copied();
        let parts = std::iter::from_fn(|| {
            let part: Vec<SentenceId> = ids.by_ref().take(PART).collect();
            (!part.is_empty()).then_some(part)
        });
        let writer = &mut self.writer;
        in_order(parts, render, |(lines, outcome)| {
            writer.append(lines)?;
            outcome
        })
    }

    /// Writes documents, in a part with those of their sentences that are in the file.
    fn documents(&mut self, closure: &Closure<'_>) -> Result<()> {
        for (corpus, document) in &closure.documents {
            let Some(mut document) = self.store.document(self.release, *corpus, *document)? else {
                continue;
            };
            if self.scope == Scope::Part {
                document.sentences.retain(|sentence| closure.sentences.contains(sentence));
            }
            self.writer.document(document)?;
        }
        Ok(())
    }

    fn journal(&mut self, is_wanted: impl Fn(&[AnnotationSetId]) -> bool) -> Result<()> {
        let recipes: BTreeMap<RecipeId, RecipeRecord> = self
            .store
            .recipes()?
            .into_iter()
            .map(|(id, fingerprint, text)| (id, RecipeRecord::new(fingerprint, text)))
            .collect();
        for row in self.store.journal_rows(self.release)? {
            let (seed, target, recipe, entry) = row?;
            let Some(recipe) = recipes.get(&recipe) else { continue };
            if is_wanted(&entry.chain) {
                let recipe = recipe.name().to_owned();
                let (round, end) = (entry.round, entry.end);
                let record = JournalRecord::new(seed, target, recipe, round, end, entry.chain);
                self.writer.journal(&record)?;
            }
        }
        Ok(())
    }
}

/// Sentences of a part of a closure.
const PART: usize = 1024;

/// What writes sentences with what is annotated over them.
struct Over<'e, 'a> {
    store: &'a Store,
    catalog: &'e Catalog<'a>,
    release: ReleaseId,
}

impl Over<'_, '_> {
    /// Writes the sentences of a run of keys.
    fn part(&self, part: &KeyRange, writer: &mut RecordWriter<Vec<u8>>) -> Result<()> {
        for group in self.store.groups_of_part(part)? {
            let SentenceGroup { sentence, sets, layers } = group?;
            let text = sentence.text.clone();
            writer.sentence(sentence)?;
            for set in sets {
                self.set(set, &text, writer)?;
            }
            for layers in layers {
                writer.layers(layers, &text)?;
            }
        }
        Ok(())
    }

    /// Writes sentences, unless they are only named, and the sets over them that are wanted.
    fn closed(
        &self,
        ids: &[SentenceId],
        closure: &Closure<'_>,
        writer: &mut RecordWriter<Vec<u8>>,
    ) -> Result<()> {
        let has_generated_layers = self.store.has_layers_from(self.release, IdSpace::Generated)?;
        let keys: Vec<_> = ids.iter().map(|id| (self.release, *id)).collect();
        for sentence in self.store.sentences_of(&keys)?.into_iter().flatten() {
            let (id, text) = (sentence.id, sentence.text.clone());
            let is_wanted = closure.writes_sentence(id);
            if is_wanted {
                writer.sentence(sentence)?;
            }
            let first = AnnotationSetId::new(IdSpace::Exemplar, 0);
            let sets = closure.sets.range((id, first)..).take_while(|(of, _)| *of == id);
            let sets: Vec<_> = sets.map(|(_, set)| (self.release, *set)).collect();
            for set in self.store.annotation_sets_by_id(&sets)?.into_iter().flatten() {
                self.set(set, &text, writer)?;
            }
            if is_wanted && (has_generated_layers || id.space() != IdSpace::Generated) {
                for layers in self.store.sentence_layers(self.release, id)? {
                    writer.layers(layers?, &text)?;
                }
            }
        }
        Ok(())
    }

    fn set(
        &self,
        set: AnnotationSet,
        text: &str,
        writer: &mut RecordWriter<Vec<u8>>,
    ) -> Result<()> {
        let AnnotationSet { frame, lu, .. } = set;
        let frame_name = self.catalog.frame(self.release, frame)?;
        let lu_name = self.catalog.lexunit(self.release, frame, lu)?;
        Ok(writer.set(set, &frame_name, &lu_name, text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_says_how_much_of_a_release_it_stands_for() {
        for (query, scope) in [
            ("", Scope::Whole),
            ("release=a", Scope::Whole),
            ("release=a or release=b", Scope::Whole),
            ("frame=Checking", Scope::Part),
            ("release=a frame=Checking", Scope::Part),
            ("origin=generated", Scope::Additions),
            ("release=a origin=generated aligner>=0.5", Scope::Additions),
            ("origin=user", Scope::Additions),
            ("origin=carried", Scope::Additions),
            ("origin=user or origin=generated round=2", Scope::Additions),
            ("origin=generated or frame=Checking", Scope::Part),
            ("origin!=generated", Scope::Part),
        ] {
            assert_eq!(scope_of(&query.parse().unwrap()), scope, "{query}");
        }
    }
}
