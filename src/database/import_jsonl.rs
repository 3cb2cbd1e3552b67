//! Import of JSON lines: a release, or additions to one that is there.
//!
//! The records of a release are written in bounded batches under a number that is not listed, and one
//! last commit lists it, as in an import of XML. Additions are one commit of the release that they
//! belong to; what is there already and equal is left alone, so the same file changes nothing a second
//! time, and what differs is refused. So either import is all or nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{Database, DatabaseError, Result, reindex};
use crate::exchange::jsonl::{JournalRecord, Kind, Layout, Record, RecordReader, Scope, SetRecord};
use crate::exchange::{ExchangeError, FaultCode};
use crate::model::{
    AnnotationSet, AnnotationSetId, Frame, FrameId, Judgement, LexUnit, LuId, OWN_RANGE, Origin,
    Provenance, RecipeId, Release, ReleaseCounts, ReleaseId, Sentence, SentenceId, SentenceLayers,
};
use crate::store::{Action, Batch, JournalEntry, SetLocation, Store, Subject};

/// Bytes of rows gathered before they are written to a release that is not listed yet.
const FLUSH: usize = 4 << 20;

/// Own numbers that a store counts lie this near to the beginning of its range; those of proposed LUs and
/// of types of spans are hashes and lie anywhere.
const COUNTED: u32 = 1 << 24;

/// Records between two calls of a progress function.
const PROGRESS_EVERY: u64 = 1000;

/// What an import of JSON lines did.
#[derive(Debug, Clone)]
pub struct JsonlImport {
    /// The release that was made or added to.
    pub release: Release,
    /// How much of a release the file held.
    pub scope: Scope,
    /// Number of records of each kind that were written.
    pub written: BTreeMap<Kind, u64>,
    /// Number of records that were there already, equal in all.
    pub unchanged: u64,
}

impl Database {
    /// Imports a file that [`export_jsonl`](Self::export_jsonl) wrote, under the release's own name or
    /// another one. `progress` is told now and then how many bytes were read.
    ///
    /// All or nothing: a failed import leaves the database as it was. A whole release or a part needs
    /// bounded memory and a few bytes for each record's id; additions are held in memory until they
    /// are committed.
    ///
    /// # Errors
    /// When the file is no such file (with line and field), a release of the name is there already,
    /// additions name a release, frame, LU, sentence or seed that the store does not have or differ
    /// from what it has, or the handle is a reader's.
    pub fn import_jsonl(
        &self,
        path: &Path,
        release: Option<&str>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<JsonlImport> {
        let Some(index) = &self.writer else {
            return Err(DatabaseError::ReadOnly { path: self.dir.clone() });
        };
        let file = File::open(path)
            .map_err(|source| ExchangeError::Read { path: path.to_owned(), source })?;
        let reader = RecordReader::new(BufReader::with_capacity(1 << 20, file), path)?;
        let mut record = reader.release().clone();
        if let Some(name) = release {
            name.clone_into(&mut record.name);
        }
        let scope = record.scope;
        let there = self.releases()?.into_iter().find(|there| there.name == record.name);
        let mut index = index.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        reindex::catch_up(&self.store, &mut index)?;
        let mut release = match (scope, there) {
            (Scope::Additions, Some(there)) => there,
            (Scope::Additions, None) => {
                let path = path.to_owned();
                return Err(DatabaseError::NoBase { path, name: record.name });
            }
            (_, Some(there)) => {
                let (name, source_path) = (there.name, there.source);
                return Err(DatabaseError::ReleaseExists { name, source_path });
            }
            (_, None) => record.into_model(self.store.begin_release()?),
        };
        let mut loader = Loader::new(&self.store, release.id, scope, reader)?;
        loader.read_all(progress)?;
        let (written, unchanged) = (loader.written.clone(), loader.unchanged);
        loader.finish(&mut release)?;
        reindex::catch_up(&self.store, &mut index)?;
        Ok(JsonlImport { release, scope, written, unchanged })
    }
}

/// A file on its way into the store.
struct Loader<'a, R> {
    store: &'a Store,
    release: ReleaseId,
    scope: Scope,
    reader: RecordReader<R>,
    batch: Batch<'a>,
    /// Rows that no release number hides; written with the last commit.
    recipes: Vec<(RecipeId, [u8; 16], String)>,
    /// Numbers of recipes by fingerprint.
    recipe_ids: HashMap<String, RecipeId>,
    /// Names of frames and LUs of the file, and of those of the store that were asked for.
    frames: HashMap<FrameId, Option<String>>,
    lexunits: HashMap<(FrameId, LuId), Option<String>>,
    sentences: HashSet<SentenceId>,
    sets: HashSet<AnnotationSetId>,
    /// The sentence that the next sets and layers belong to.
    current: Option<(SentenceId, String)>,
    /// The highest number that another store gave to a record of a user.
    own_number: u32,
    counts: ReleaseCounts,
    written: BTreeMap<Kind, u64>,
    unchanged: u64,
}

impl<'a, R: BufRead> Loader<'a, R> {
    fn new(
        store: &'a Store,
        release: ReleaseId,
        scope: Scope,
        reader: RecordReader<R>,
    ) -> Result<Self> {
        Ok(Self {
            store,
            release,
            scope,
            reader,
            batch: store.batch(release),
            recipes: Vec::new(),
            recipe_ids: HashMap::new(),
            frames: HashMap::new(),
            lexunits: HashMap::new(),
            sentences: HashSet::new(),
            sets: HashSet::new(),
            current: None,
            own_number: 0,
            counts: ReleaseCounts::default(),
            written: BTreeMap::new(),
            unchanged: 0,
        })
    }

    fn read_all(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let mut records: u64 = 0;
        while let Some(record) = self.reader.read()? {
            self.take(record)?;
            if !self.adds() && self.batch.size() >= FLUSH {
                let batch = std::mem::replace(&mut self.batch, self.store.batch(self.release));
                self.store.write_unlisted(batch)?;
            }
            records += 1;
            if records.is_multiple_of(PROGRESS_EVERY) {
                progress(self.reader.bytes());
            }
        }
        progress(self.reader.bytes());
        Ok(())
    }

    /// Writes what is left, and lists the release or commits what it gets.
    fn finish(self, release: &mut Release) -> Result<()> {
        let Self { store, scope, mut batch, recipes, own_number, counts, .. } = self;
        if own_number > 0 {
            store.skip_own_number(own_number)?;
        }
        if scope == Scope::Additions {
            for (id, fingerprint, description) in &recipes {
                batch.put_recipe(*id, *fingerprint, description)?;
            }
            if !batch.is_empty() {
                store.commit(batch)?;
            }
            return Ok(());
        }
        if scope == Scope::Part {
            release.counts = counts;
        }
        store.write_unlisted(batch)?;
        let mut last = store.batch(release.id);
        for (id, fingerprint, description) in &recipes {
            last.put_recipe(*id, *fingerprint, description)?;
        }
        store.list_release_with(release, last)?;
        Ok(())
    }

    /// Whether the file adds to a release that is there.
    fn adds(&self) -> bool {
        self.scope == Scope::Additions
    }

    fn wrong(&self, code: FaultCode, field: &str, found: &str, expected: String) -> DatabaseError {
        self.reader.wrong(code, field, found, expected).into()
    }

    /// Whether a record is to be written: it is not when the store has an equal one. `stored` is
    /// looked up only for additions.
    fn is_new<T: PartialEq>(
        &mut self,
        record: &T,
        id: &dyn std::fmt::Display,
        stored: impl FnOnce(
            &Store,
            ReleaseId,
        ) -> std::result::Result<Option<T>, crate::store::StoreError>,
    ) -> Result<bool> {
        if !self.adds() {
            return Ok(true);
        }
        match stored(self.store, self.release)? {
            None => Ok(true),
            Some(there) if there == *record => {
                self.unchanged += 1;
                Ok(false)
            }
            Some(_) => {
                let expected =
                    "an id that the store does not have for another record; import into \
                                another store or release"
                        .to_owned();
                Err(self.wrong(FaultCode::Conflict, "id", &id.to_string(), expected))
            }
        }
    }

    /// Lists what is added to a release that is there: the index and every follower hear of it.
    fn added(&mut self, subject: &Subject) {
        if self.adds() {
            self.batch.record(Action::Added, subject);
        }
    }

    fn repeated(&self, id: &dyn std::fmt::Display) -> DatabaseError {
        let expected = "an id that no earlier record of the file has".to_owned();
        self.wrong(FaultCode::Repeated, "id", &id.to_string(), expected)
    }

    fn see_number(&mut self, number: u32) {
        if (OWN_RANGE..OWN_RANGE + COUNTED).contains(&number) {
            self.own_number = self.own_number.max(number);
        }
    }

    fn count(&mut self, kind: Kind) {
        *self.written.entry(kind).or_default() += 1;
    }

    fn take(&mut self, record: Record) -> Result<()> {
        let release = self.release;
        match record {
            Record::SemType(row) => {
                self.see_number(row.id.0);
                let stored = |store: &Store, _| store.sem_type(release, row.id);
                if self.is_new(&row, &row.id, stored)? {
                    self.counts.sem_types += 1;
                    self.batch.put_sem_type(&row)?;
                    self.added(&Subject::SemType(row.id));
                    self.count(Kind::SemType);
                }
            }
            Record::Relation(row) => {
                self.see_number(row.id.0);
                let stored = |store: &Store, _| {
                    let mut rows = store.relations(release)?;
                    rows.find(|there| there.as_ref().map_or(true, |there| there.id == row.id))
                        .transpose()
                };
                if self.is_new(&row, &row.id, stored)? {
                    self.counts.frame_relations += 1;
                    self.batch.put_relation(&row)?;
                    self.added(&Subject::Relation(row.id));
                    self.count(Kind::Relation);
                }
            }
            Record::Document(row) => {
                self.see_number(row.id.0);
                self.see_number(row.corpus.0);
                let stored = |store: &Store, _| store.document(release, row.corpus, row.id);
                if self.is_new(&row, &row.id, stored)? {
                    self.counts.documents += u64::from(!row.file.is_empty());
                    self.batch.put_document(&row)?;
                    self.added(&Subject::Document(row.corpus, row.id));
                    self.count(Kind::Document);
                }
            }
            Record::Frame(row) => self.take_frame(&row)?,
            Record::LexUnit(row, frame_name) => self.take_lexunit(&row, &frame_name)?,
            Record::Recipe(fingerprint, row) => {
                self.take_recipe(fingerprint, row.name(), &row.description)?;
            }
            Record::Sentence(row) => self.take_sentence(row)?,
            Record::Set(row, sentence) => self.take_set(*row, sentence)?,
            Record::Layers(row, sentence) => {
                let text = self.text_of(sentence)?;
                let row = self.reader.layers(row, &text)?;
                self.take_layers(&row)?;
            }
            Record::Journal(row, seed, chain) => self.take_journal(row, seed, chain)?,
            Record::Judgement(set, judgement) => self.take_judgement(set, &judgement)?,
            Record::Layout(layout) => self.take_layout(&layout)?,
        }
        Ok(())
    }

    fn take_frame(&mut self, frame: &Frame) -> Result<()> {
        self.see_number(frame.id.0);
        frame.elements.iter().for_each(|fe| self.see_number(fe.id.0));
        if self.frames.insert(frame.id, Some(frame.name.clone())).is_some() {
            return Err(self.repeated(&frame.id));
        }
        if self.is_new(frame, &frame.id, |store, release| store.frame(release, frame.id))? {
            self.counts.frames += u64::from(frame.has_file);
            self.batch.put_frame(frame)?;
            self.added(&Subject::Frame(frame.id));
            self.count(Kind::Frame);
        }
        Ok(())
    }

    fn take_lexunit(&mut self, lu: &LexUnit, frame_name: &str) -> Result<()> {
        self.check_frame(lu.frame, frame_name)?;
        self.see_number(lu.id.0);
        if self.lexunits.insert((lu.frame, lu.id), Some(lu.name.clone())).is_some() {
            return Err(self.repeated(&lu.id));
        }
        if self.is_new(lu, &lu.id, |store, release| store.lexunit(release, lu.frame, lu.id))? {
            self.counts.lexunits += 1;
            self.counts.lu_files += u64::from(lu.listing.lu_file);
            self.batch.put_lexunit(lu)?;
            self.added(&Subject::LexUnit(lu.frame, lu.id));
            self.count(Kind::Lexunit);
        }
        Ok(())
    }

    /// Refuses a frame that neither the file nor, for additions, the release has under that name.
    fn check_frame(&mut self, frame: FrameId, name: &str) -> Result<()> {
        if self.adds() && !self.frames.contains_key(&frame) {
            let stored = self.store.frame(self.release, frame)?;
            self.frames.insert(frame, stored.map(|frame| frame.name));
        }
        match self.frames.get(&frame).cloned().flatten() {
            Some(known) if known == name => Ok(()),
            known => Err(self.unknown("frame", frame.0, name, known)),
        }
    }

    fn check_lexunit(&mut self, frame: FrameId, lu: LuId, name: &str) -> Result<()> {
        let key = (frame, lu);
        if self.adds() && !self.lexunits.contains_key(&key) {
            let stored = self.store.lexunit(self.release, frame, lu)?;
            self.lexunits.insert(key, stored.map(|lexunit| lexunit.name));
        }
        match self.lexunits.get(&key).cloned().flatten() {
            Some(known) if known == name => Ok(()),
            known => Err(self.unknown("lu", lu.0, name, known)),
        }
    }

    fn unknown(&self, field: &str, id: u32, name: &str, known: Option<String>) -> DatabaseError {
        let place = if self.adds() {
            "the release that the file adds to; import the release that it was exported from, or \
             name it with `--release NAME`"
        } else {
            "a record that stands before it"
        };
        let expected = match known {
            Some(known) => format!("`{known}`, the name of {id} in {place}"),
            None => format!("one of {place}"),
        };
        self.wrong(FaultCode::Missing, field, &format!("{name} ({id})"), expected)
    }

    fn take_recipe(&mut self, print: [u8; 16], name: &str, description: &str) -> Result<()> {
        let known = self.store.recipes()?;
        if let Some((id, ..)) = known.iter().find(|(_, known, _)| *known == print) {
            self.recipe_ids.insert(name.to_owned(), *id);
            self.unchanged += 1;
            return Ok(());
        }
        let last = known.last().map_or(0, |(id, ..)| id.0);
        let id = RecipeId(last + self.recipes.len() as u32 + 1);
        if self.recipe_ids.insert(name.to_owned(), id).is_some() {
            return Err(self.repeated(&name));
        }
        self.recipes.push((id, print, description.to_owned()));
        self.count(Kind::Recipe);
        Ok(())
    }

    fn take_sentence(&mut self, sentence: Sentence) -> Result<()> {
        if !self.sentences.insert(sentence.id) {
            return Err(self.repeated(&sentence.id));
        }
        if self.is_new(&sentence, &sentence.id, |store, release| {
            store.sentence(release, sentence.id)
        })? {
            self.counts.sentences += 1;
            self.counts.sentence_occurrences += sentence.occurrences.len() as u64;
            self.batch.put_sentence(&sentence)?;
            self.added(&Subject::Sentence(sentence.id));
            self.count(Kind::Sentence);
        }
        self.current = Some((sentence.id, sentence.text));
        Ok(())
    }

    /// Text of the sentence that a set or layers belong to.
    fn text_of(&mut self, id: SentenceId) -> Result<String> {
        if let Some((current, text)) = &self.current
            && *current == id
        {
            return Ok(text.clone());
        }
        let stored = if self.adds() { self.store.sentence(self.release, id)? } else { None };
        let Some(sentence) = stored else {
            let expected =
                "the sentence whose record stands before, with nothing but its sets and \
                            layers between"
                    .to_owned();
            return Err(self.wrong(FaultCode::Missing, "sentence", &id.to_string(), expected));
        };
        self.current = Some((id, sentence.text.clone()));
        Ok(sentence.text)
    }

    fn take_set(&mut self, record: SetRecord, sentence: SentenceId) -> Result<()> {
        let text = self.text_of(sentence)?;
        let (frame, lu) = (record.frame().clone(), record.lu().clone());
        self.check_frame(FrameId(frame.id), &frame.name)?;
        self.check_lexunit(FrameId(frame.id), LuId(lu.id), &lu.name)?;
        let recipe = record.recipe().and_then(|name| self.recipe_ids.get(name)).copied();
        let set = self.reader.set(record, &text, recipe)?;
        if let Provenance::Generated(made) = &set.provenance
            && self.adds()
            && !self.sets.contains(&made.seed)
            && self.store.set_location(self.release, made.seed)?.is_none()
        {
            let expected =
                "a set of the release that the file adds to; import the release that it \
                            was exported from, or name it with `--release NAME`"
                    .to_owned();
            let seed = made.seed.to_string();
            return Err(self.wrong(FaultCode::Missing, "provenance.seed", &seed, expected));
        }
        if !self.sets.insert(set.id) {
            return Err(self.repeated(&set.id));
        }
        if self.is_new(&set, &set.id, |store, release| store.annotation_set(release, set.id))? {
            self.count_set(&set);
            self.batch.put_annotation_set(&set)?;
            self.added(&Subject::Set(set.id, SetLocation::of(&set)));
            self.count(Kind::Set);
        }
        Ok(())
    }

    fn count_set(&mut self, set: &AnnotationSet) {
        match set.provenance.origin() {
            Origin::Exemplar => self.counts.exemplar_sets += 1,
            Origin::FullText => self.counts.fulltext_sets += 1,
            Origin::Imported | Origin::User | Origin::Generated => {}
        }
    }

    fn take_layers(&mut self, row: &SentenceLayers) -> Result<()> {
        if !self.sets.insert(row.id) {
            return Err(self.repeated(&row.id));
        }
        if self.is_new(row, &row.id, |store, release| {
            store.sentence_layers_set(release, row.sentence, row.id)
        })? {
            if row.construction.is_some() {
                self.counts.construction_sets += 1;
            } else {
                self.counts.sentence_layer_sets += 1;
                self.counts.sentence_layer_occurrences += row.listed_under.len().max(1) as u64;
            }
            self.batch.put_sentence_layers(row)?;
            self.added(&Subject::SentenceLayers(row.sentence, row.id));
            self.count(Kind::Layers);
        }
        Ok(())
    }

    fn take_journal(
        &mut self,
        row: JournalRecord,
        seed: AnnotationSetId,
        chain: Vec<AnnotationSetId>,
    ) -> Result<()> {
        let Some(recipe) = self.recipe_ids.get(&row.recipe).copied() else {
            let expected = "the fingerprint of a recipe that stands before".to_owned();
            return Err(self.wrong(FaultCode::Missing, "recipe", &row.recipe, expected));
        };
        let target = row.target();
        if self.adds()
            && let Some(there) = self.store.journal(self.release, seed, target, recipe)?
            && there.round >= row.round
        {
            self.unchanged += 1;
            return Ok(());
        }
        let entry = JournalEntry { round: row.round, end: row.end, chain };
        self.batch.put_journal(seed, target, recipe, &entry)?;
        self.count(Kind::Journal);
        Ok(())
    }

    fn take_judgement(&mut self, set: AnnotationSetId, judgement: &Judgement) -> Result<()> {
        let (store, release) = (self.store, self.release);
        let known =
            self.sets.contains(&set) || self.adds() && store.set_location(release, set)?.is_some();
        if !known {
            let expected = "a set of the file or of the release that it adds to".to_owned();
            return Err(self.wrong(FaultCode::Missing, "set", &set.to_string(), expected));
        }
        let by_reviewer = |store: &Store, release| {
            let mut judgements = store.judgements(release, set)?;
            judgements
                .find(|there| {
                    there.as_ref().map_or(true, |there| there.reviewer == judgement.reviewer)
                })
                .transpose()
        };
        if self.is_new(judgement, &set, by_reviewer)? {
            self.batch.put_judgement(set, judgement)?;
            self.added(&Subject::Judgement(set, judgement.reviewer.clone()));
            self.count(Kind::Judgement);
        }
        Ok(())
    }

    /// Takes a layout, which stands behind its record and is of no use to a release that is there.
    fn take_layout(&mut self, layout: &Layout) -> Result<()> {
        if self.adds() {
            let expected = "no layout in a file of additions".to_owned();
            return Err(self.wrong(FaultCode::Layout, "kind", "layout", expected));
        }
        let kind = match layout {
            Layout::Release(layout) => {
                self.batch.put_release_layout(layout)?;
                Kind::ReleaseLayout
            }
            Layout::Frame(frame, layout) => {
                self.batch.put_frame_layout(*frame, layout)?;
                Kind::FrameLayout
            }
            Layout::LexUnit(frame, lu, layout) => {
                self.batch.put_lexunit_layout(*frame, *lu, layout)?;
                Kind::LexunitLayout
            }
            Layout::Document(corpus, document, layout) => {
                self.batch.put_document_layout(*corpus, *document, layout)?;
                Kind::DocumentLayout
            }
        };
        self.count(kind);
        Ok(())
    }
}
