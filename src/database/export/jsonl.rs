//! Export as JSON lines: a release whole, a part of it, or what was added to it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use super::{names_only_releases, only_one, releases_named};
use crate::database::{Catalog, Database, Result};
use crate::exchange::jsonl::{
    JournalRecord, Kind, Layout, RecipeRecord, RecordWriter, ReleaseRecord, Scope,
};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, DocumentId, FrameId, IdSpace, LuId, OWN_RANGE,
    Provenance, RecipeId, Release, ReleaseId, Sentence, SentenceId, SentenceLayers,
};
use crate::query::{Expression, Field, Term, Test};
use crate::store::{Store, StoreError};

/// What an export as JSON lines wrote.
#[derive(Debug, Clone)]
pub struct JsonlExport {
    /// The release.
    pub release: Release,
    /// How much of it.
    pub scope: Scope,
    /// Number of records of each kind.
    pub records: BTreeMap<Kind, u64>,
}

/// How much of a release an expression stands for: all of it when it names no more than releases,
/// what was added when every set that it finds was generated or made by a user, else a part.
fn scope_of(expression: &Expression) -> Scope {
    let is_addition = |part: &Expression| match part {
        Expression::Term(Term { field: Field::Origin, test: Test::Choice(origin) }) => {
            ["generated", "user"].contains(origin)
        }
        _ => false,
    };
    match expression {
        Expression::And(parts) if parts.iter().any(is_addition) => Scope::Additions,
        part if is_addition(part) => Scope::Additions,
        part if names_only_releases(part) => Scope::Whole,
        _ => Scope::Part,
    }
}

impl Database {
    /// Writes the sets for which an expression holds, with what they need, as JSON lines.
    ///
    /// An expression that names no more than a release writes every record of it. One that asks for
    /// `origin=generated` or `origin=user` writes what was added to the release: sets, their new
    /// sentences, proposed LUs and recipes, without a record of the release itself, unless `with_base`.
    /// Any other writes a part: the sets with their sentences, LUs, frames, and what these refer to.
    /// `None` when nothing matches. A part or an addition holds the ids of its sets in memory.
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
        self.refresh()?;
        let scope = match scope_of(expression) {
            Scope::Additions if with_base => Scope::Part,
            scope => scope,
        };
        let catalog = self.catalog()?;
        self.check_names(&catalog, expression)?;
        let selection = match scope {
            Scope::Whole => None,
            Scope::Part | Scope::Additions => match Selection::of(self, expression)? {
                Some(selection) => Some(selection),
                None => return Ok(None),
            },
        };
        let releases = match &selection {
            Some(selection) => selection.releases.clone(),
            None => releases_named(&catalog, expression)?,
        };
        let Some(release) = only_one(releases)? else { return Ok(None) };
        let writer = RecordWriter::new(out, &ReleaseRecord::new(&release, scope))?;
        let id = release.id;
        let mut export = Export { store: self.store(), catalog, release: id, scope, writer };
        match &selection {
            None => export.whole()?,
            Some(selection) => export.selected(selection)?,
        }
        let records = export.writer.finish()?;
        Ok(Some(JsonlExport { release, scope, records }))
    }
}

/// The sets to be written, and what they refer to.
#[derive(Default)]
struct Selection {
    releases: Vec<Release>,
    /// Each set under its sentence, in order of both.
    sets: Vec<(SentenceId, AnnotationSetId)>,
    frames: BTreeSet<FrameId>,
    lexunits: BTreeSet<(FrameId, LuId)>,
    recipes: BTreeSet<RecipeId>,
}

impl Selection {
    fn of(database: &Database, expression: &Expression) -> Result<Option<Self>> {
        let mut selection = Self::default();
        for answer in database.query(expression)? {
            let answer = answer?;
            if selection.releases.last().is_none_or(|last| last.id != answer.release.id) {
                selection.releases.push(Release::clone(&answer.release));
            }
            let set = answer.set;
            selection.sets.push((set.sentence, set.id));
            selection.frames.insert(set.frame);
            selection.lexunits.insert((set.frame, set.lu));
            if let Provenance::Generated(made) = &set.provenance {
                selection.recipes.insert(made.recipe);
            }
        }
        selection.sets.sort_unstable();
        Ok((!selection.sets.is_empty()).then_some(selection))
    }

    fn has_sentence(&self, sentence: SentenceId) -> bool {
        self.sets.binary_search_by(|(of, _)| of.cmp(&sentence)).is_ok()
    }
}

/// Whether a sentence belongs to no FrameNet release: it goes with the sets that need it.
fn is_own_sentence(sentence: SentenceId) -> bool {
    matches!(sentence.space(), IdSpace::Imported | IdSpace::Generated)
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
        // Sentences and their layers lie in one order: the layers are read along.
        let mut layers = store.all_sentence_layers(release)?.peekable();
        for sentence in store.sentences(release)? {
            let sentence = sentence?;
            let (id, text) = (sentence.id, sentence.text.clone());
            self.writer.sentence(sentence)?;
            for set in store.sets_of_sentence(release, id)? {
                self.set(set?, &text)?;
            }
            let of_sentence = |row: &std::result::Result<SentenceLayers, StoreError>| {
                row.as_ref().map_or(true, |row| row.sentence <= id)
            };
            while let Some(row) = layers.next_if(of_sentence) {
                self.writer.layers(row?, &text)?;
            }
        }
        for document in store.documents(release)? {
            let document = document?;
            let (corpus, id) = (document.corpus, document.id);
            self.writer.document(document)?;
            let layout = store.document_layout(release, corpus, id)?;
            self.layout(layout.map(|layout| Layout::Document(corpus, id, layout)))?;
        }
        self.journal(|_| true)?;
        for row in store.all_judgements(release)? {
            let (set, judgement) = row?;
            self.writer.judgement(set, judgement)?;
        }
        Ok(())
    }

    fn layout(&mut self, layout: Option<Layout>) -> Result<()> {
        Ok(layout.map_or(Ok(()), |layout| self.writer.layout(layout))?)
    }

    /// Writes sets with what they need: all of it in a part, in additions what is not FrameNet's.
    fn selected(&mut self, selection: &Selection) -> Result<()> {
        self.frames(selection)?;
        self.lexunits(selection)?;
        self.recipes(|recipe| selection.recipes.contains(&recipe))?;
        let mut documents = BTreeSet::new();
        for of_sentence in selection.sets.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((sentence, _)) = of_sentence.first() else { continue };
            let Some(sentence) = self.store.sentence(self.release, *sentence)? else { continue };
            documents.extend(
                sentence.occurrences.iter().filter_map(|place| place.corpus.zip(place.document)),
            );
            self.sentence(sentence, of_sentence)?;
        }
        if self.scope == Scope::Part {
            self.documents(selection, &documents)?;
        }
        let exported: BTreeSet<AnnotationSetId> =
            selection.sets.iter().map(|(_, set)| *set).collect();
        self.journal(|chain| !chain.is_empty() && chain.iter().all(|set| exported.contains(set)))?;
        for set in exported {
            for judgement in self.store.judgements(self.release, set)? {
                self.writer.judgement(set, judgement?)?;
            }
        }
        Ok(())
    }

    /// Writes the selected frames, and in a part their semantic types and the relations between them.
    fn frames(&mut self, selection: &Selection) -> Result<()> {
        let (store, release) = (self.store, self.release);
        if self.scope == Scope::Part {
            for sem_type in store.sem_types(release)? {
                self.writer.sem_type(sem_type?)?;
            }
        }
        for frame in &selection.frames {
            let is_wanted = self.scope == Scope::Part || frame.0 >= OWN_RANGE;
            let frame = if is_wanted { store.frame(release, *frame)? } else { None };
            frame.map_or(Ok(()), |frame| self.writer.frame(frame))?;
        }
        if self.scope == Scope::Part {
            for relation in store.relations(release)? {
                let relation = relation?;
                let ends = [relation.parent, relation.child];
                if ends.iter().all(|frame| selection.frames.contains(frame)) {
                    self.writer.relation(relation)?;
                }
            }
        }
        Ok(())
    }

    fn lexunits(&mut self, selection: &Selection) -> Result<()> {
        for (frame, lu) in &selection.lexunits {
            let is_wanted = self.scope == Scope::Part || lu.0 >= OWN_RANGE;
            let lexunit =
                if is_wanted { self.store.lexunit(self.release, *frame, *lu)? } else { None };
            if let Some(lexunit) = lexunit {
                let frame_name = self.catalog.frame(self.release, *frame)?;
                self.writer.lexunit(lexunit, &frame_name)?;
            }
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

    /// Writes a sentence, where it is to be written, and the selected sets over it.
    fn sentence(
        &mut self,
        sentence: Sentence,
        sets: &[(SentenceId, AnnotationSetId)],
    ) -> Result<()> {
        let (id, text) = (sentence.id, sentence.text.clone());
        let is_wanted = self.scope == Scope::Part || is_own_sentence(id);
        if is_wanted {
            self.writer.sentence(sentence)?;
        }
        for (_, set) in sets {
            self.set(*set, &text)?;
        }
        if is_wanted {
            for layers in self.store.sentence_layers(self.release, id)? {
                self.writer.layers(layers?, &text)?;
            }
        }
        Ok(())
    }

    fn set(&mut self, id: AnnotationSetId, text: &str) -> Result<()> {
        let release = self.release;
        let Some(set) = self.store.annotation_set(release, id)? else { return Ok(()) };
        let AnnotationSet { frame, lu, .. } = set;
        let frame_name = self.catalog.frame(release, frame)?;
        let lu_name = self.catalog.lexunit(release, frame, lu)?;
        Ok(self.writer.set(set, &frame_name, &lu_name, text)?)
    }

    /// Writes documents with those of their sentences that are in the file.
    fn documents(
        &mut self,
        selection: &Selection,
        documents: &BTreeSet<(CorpusId, DocumentId)>,
    ) -> Result<()> {
        for (corpus, document) in documents {
            let Some(mut document) = self.store.document(self.release, *corpus, *document)? else {
                continue;
            };
            document.sentences.retain(|sentence| selection.has_sentence(*sentence));
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
                let record = JournalRecord::new(seed, target, recipe, round, end, &entry.chain);
                self.writer.journal(&record)?;
            }
        }
        Ok(())
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
            ("origin=generated or frame=Checking", Scope::Part),
            ("origin!=generated", Scope::Part),
        ] {
            assert_eq!(scope_of(&query.parse().unwrap()), scope, "{query}");
        }
    }
}
