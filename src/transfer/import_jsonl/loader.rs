//! A file of records on its way into the store: what is gathered, looked up and written.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;
use std::sync::Arc;

use super::known::{FieldPlace, Known, KnownFrame, described};
use crate::database::{DatabaseError, Result, layouts, reindex};
use crate::exchange::FaultCode;
use crate::exchange::jsonl::{LineKind, RecordReader, Scope};
use crate::index::IndexWriter;
use crate::model::{
    AnnotationSet, AnnotationSetId, Counted, Edition, FeId, Frame, FrameId, LuId, MOST_COUNTED,
    OWN_RANGE, RecipeId, Reference, Refers, Release, ReleaseCounts, ReleaseId, Sentence,
    WrittenNumbers, is_counted, is_name, is_xml,
};
use crate::store::{Action, Batch, Store, StoreError, Subject};

/// Bytes of rows gathered before they are written to a release that is not listed yet.
const FLUSH: usize = 4 << 20;

/// Records between two calls of a progress function.
const PROGRESS_EVERY: u64 = 1000;

/// A file on its way into the store.
pub(super) struct LineImport<'a, R> {
    pub(super) store: &'a Store,
    pub(super) release: ReleaseId,
    scope: Scope,
    pub(super) reader: RecordReader<R>,
    pub(super) batch: Batch<'a>,
    /// Rows that no release number hides; written with the last commit.
    pub(super) recipes: Vec<(RecipeId, [u8; 16], String)>,
    /// Numbers of recipes by fingerprint.
    pub(super) recipe_ids: HashMap<String, RecipeId>,
    pub(super) known: Known,
    /// What fresh numbers are written as.
    pub(super) numbers: WrittenNumbers,
    /// Frames of the release that get FEs, with what they get.
    pub(super) extended: BTreeMap<FrameId, Extended>,
    /// Numbers under which proposed LUs of the file have come in, by their own.
    pub(super) renumbered: HashMap<(FrameId, LuId), LuId>,
    /// The sentence that the next sets and layers belong to.
    pub(super) current: Option<Sentence>,
    /// The index, while it hears of each set of a file of additions as it is taken.
    index: Option<Hearing<'a>>,
    /// The index, where it hears of a release at the end.
    writer: Option<&'a mut IndexWriter>,
    /// An edition whose other sets are to follow.
    pub(super) edition: Option<Edition>,
    /// The last number that the file's store had counted out, where the file says so.
    last_counted: Option<u32>,
    /// The highest number that another store gave to a record of a user.
    own_number: u32,
    counts: ReleaseCounts,
    pub(super) written: BTreeMap<LineKind, u64>,
    pub(super) unchanged: u64,
}

/// The index while it hears of sets that the store does not have yet: what it heard is forgotten
/// unless the two commit.
struct Hearing<'a>(Option<&'a mut IndexWriter>);

impl Drop for Hearing<'_> {
    fn drop(&mut self) {
        if let Some(index) = self.0.take() {
            // When even that fails, the next commit of the index recovers it.
            let _ = index.rollback();
        }
    }
}

/// A frame of the release that gets FEs.
pub(super) struct Extended {
    pub(super) frame: Frame,
    /// FEs that the file gives it, with their lines: their lists may name each other.
    pub(super) elements: Vec<(FeId, usize)>,
}

impl<'a, R: BufRead> LineImport<'a, R> {
    pub(super) fn new(
        store: &'a Store,
        release: ReleaseId,
        scope: Scope,
        reader: RecordReader<R>,
        index: &'a mut IndexWriter,
    ) -> Result<Self> {
        let mut known = Known::default();
        let (index, writer) = match scope {
            Scope::Additions => (Some(Hearing(Some(index))), None),
            _ => (None, Some(index)),
        };
        if scope == Scope::Additions {
            for row in store.lexunit_names(release)? {
                known.listed.insert(row?.1);
            }
        }
        let mut batch = store.batch(release);
        if scope == Scope::Additions {
            batch.keep_images();
            batch.explain(&format!("import of {}", reader.name()), &[]);
        }
        let mut last_counted = None;
        if let Some(counted) = reader.release().counted.filter(|_| scope != Scope::Additions) {
            if counted > MOST_COUNTED {
                let expected = format!("at most {MOST_COUNTED}");
                let (code, line) = (FaultCode::Value, reader.line());
                let found = counted.to_string();
                return Err(reader.wrong(line, code, "counted", &found, expected).into());
            }
            last_counted = Some(OWN_RANGE + counted);
        }
        Ok(Self {
            store,
            release,
            scope,
            last_counted,
            reader,
            batch,
            recipes: Vec::new(),
            recipe_ids: HashMap::new(),
            known,
            numbers: WrittenNumbers::default(),
            extended: BTreeMap::new(),
            renumbered: HashMap::new(),
            current: None,
            index,
            writer,
            edition: None,
            own_number: last_counted.unwrap_or(0),
            counts: ReleaseCounts::default(),
            written: BTreeMap::new(),
            unchanged: 0,
        })
    }

    pub(super) fn read_all(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
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
        self.check_open()?;
        self.check_edition()?;
        self.extend_frames()
    }

    /// Writes what is left, and lists the release or commits what it gets. Gives what became of the
    /// index where that was told of every set; else it has not heard of the file.
    pub(super) fn finish(self, release: &mut Release) -> Result<Option<Result<()>>> {
        let Self { store, scope, mut batch, recipes, own_number, counts, numbers, .. } = self;
        let (index, writer) = (self.index, self.writer);
        // A commit needs the memory.
        drop((self.known, self.renumbered));
        if own_number > 0 {
            store.skip_own_number(own_number)?;
        }
        if scope == Scope::Additions {
            for (id, fingerprint, description) in &recipes {
                batch.put_recipe(*id, *fingerprint, description)?;
            }
            let index = index.and_then(|mut index| index.0.take());
            if batch.is_empty() {
                return Ok(Some(Ok(())));
            }
            let Some(index) = index else { return Ok(store.commit(batch).map(|_| None)?) };
            let (committed, indexed) = index.commit_beside(|| store.commit(batch));
            committed?;
            return Ok(Some(indexed.map_err(DatabaseError::from)));
        }
        // What was read counts, not what the file says; but records do not tell how often one file
        // lists the same layers.
        let listed = release.counts.sentence_layer_occurrences;
        release.counts = counts;
        if scope == Scope::Whole {
            release.counts.sentence_layer_occurrences = listed;
        }
        batch.put_written_numbers(&numbers)?;
        store.write_unlisted(batch)?;
        let list = || {
            let mut last = store.batch(release.id);
            for (id, fingerprint, description) in &recipes {
                last.put_recipe(*id, *fingerprint, description)?;
            }
            Ok(store.list_release_with(release, last)?)
        };
        let Some(writer) = writer else { return list().map(|_| None) };
        Ok(Some(reindex::list_release(store, writer, release.id, list)?))
    }

    /// Tells the index of a set that is new. An index that does not take it is brought up to date
    /// once the store has the file.
    pub(super) fn tell_index(&mut self, set: &AnnotationSet, sentence: &Sentence) {
        let Some(Hearing(Some(index))) = &mut self.index else { return };
        let release = self.release;
        if reindex::with_entry_of(release, set, sentence, |entry| index.add(entry)).is_err() {
            self.index = None;
        }
    }

    /// Whether the file adds to a release that is there.
    pub(super) fn adds(&self) -> bool {
        self.scope == Scope::Additions
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> usize {
        self.reader.line()
    }

    pub(super) fn wrong(
        &self,
        code: FaultCode,
        field: &str,
        found: &str,
        expected: impl Into<String>,
    ) -> DatabaseError {
        self.reader.wrong(self.reader.line(), code, field, found, expected.into()).into()
    }

    /// A frame of the file or, for additions, of the release.
    pub(super) fn known_frame(&mut self, frame: FrameId) -> Result<Option<Arc<KnownFrame>>> {
        if self.adds() && !self.known.frames.contains_key(&frame) {
            let stored = self.store.frame(self.release, frame)?;
            let known = stored.map(|frame| Arc::new(KnownFrame::from(&frame)));
            self.known.frames.insert(frame, known);
        }
        Ok(self.known.frames.get(&frame).cloned().flatten())
    }

    /// The frame of a set of the file or the release; `None` for one that comes later.
    pub(super) fn frame_of(&mut self, set: AnnotationSetId) -> Result<Option<Arc<KnownFrame>>> {
        let frame = match self.known.sets.get(&set) {
            None if self.adds() => {
                self.store.set_location(self.release, set)?.map(|stored| stored.frame)
            }
            frame => frame.copied(),
        };
        frame.map_or(Ok(None), |frame| self.known_frame(frame))
    }

    /// Whether a record is to be written: it is not when the store has an equal one. `stored` is
    /// looked up only for additions.
    pub(super) fn is_new<T: PartialEq>(
        &mut self,
        record: &T,
        id: &dyn std::fmt::Display,
        stored: impl FnOnce(&Store, ReleaseId) -> std::result::Result<Option<T>, StoreError>,
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
                let expected = "an id that the store does not have for another record; import into \
                                another store or release";
                Err(self.wrong(FaultCode::Conflict, "id", &id.to_string(), expected))
            }
        }
    }

    /// Writes a record that is new, under the kind of its line. `stored` is looked up only for
    /// additions; says whether it is new.
    pub(super) fn write_new<T: Counted + PartialEq>(
        &mut self,
        record: &T,
        (kind, id, subject): (LineKind, impl std::fmt::Display, &Subject),
        stored: impl FnOnce(&Store, ReleaseId) -> std::result::Result<Option<T>, StoreError>,
        put: fn(&mut Batch<'a>, &T) -> std::result::Result<(), StoreError>,
    ) -> Result<bool> {
        let is_new = self.is_new(record, &id, stored)?;
        if is_new {
            self.recount(record);
            put(&mut self.batch, record)?;
            self.added(subject);
            self.count(kind);
        }
        Ok(is_new)
    }

    /// Refuses a text that is no name. A release may have called something by what XML can hold,
    /// and by nothing; what people add has a name.
    pub(super) fn check_name(&self, field: &str, name: &str) -> Result<()> {
        let (is_right, expected) = if self.adds() {
            (is_name(name), "a name without control characters")
        } else {
            (name.chars().all(is_xml), "a name of characters that XML has")
        };
        if is_right {
            return Ok(());
        }
        let found = name.escape_debug().to_string();
        Err(self.wrong(FaultCode::Value, field, &found, expected))
    }

    /// Refuses the second record of an id; `is_first` says whether it was the first.
    pub(super) fn check_first(&self, is_first: bool, id: &dyn std::fmt::Display) -> Result<()> {
        if is_first {
            return Ok(());
        }
        let expected = "an id that no earlier record of the file has";
        Err(self.wrong(FaultCode::Repeated, "id", &id.to_string(), expected))
    }

    /// Takes note of all that a record names.
    pub(super) fn refer_all(&mut self, record: &impl Refers) -> Result<()> {
        let mut references = record.references().into_iter();
        references.try_for_each(|(field, reference)| self.refer(field, reference))
    }

    /// Takes note of a reference: what it leads to is in the file or in the release that the file
    /// adds to, or must follow.
    pub(super) fn refer(&mut self, field: &'static str, reference: Reference) -> Result<()> {
        if self.known.has(reference) {
            return Ok(());
        }
        if self.adds() && self.is_stored(reference)? {
            self.known.stored.insert(reference);
            return Ok(());
        }
        self.known.expect(reference, FieldPlace { line: self.reader.line(), field });
        Ok(())
    }

    fn is_stored(&self, reference: Reference) -> Result<bool> {
        let (store, release) = (self.store, self.release);
        Ok(match reference {
            Reference::SemType(id) => store.sem_type(release, id)?.is_some(),
            Reference::Document(corpus, id) => store.document(release, corpus, id)?.is_some(),
            Reference::Set(id) => store.set_location(release, id)?.is_some(),
            // All LUs are known from the start, and the others when they are named.
            _ => false,
        })
    }

    /// Refuses a file at whose end something is missing that was named before.
    fn check_open(&self) -> Result<()> {
        let Some((reference, FieldPlace { line, field })) = self.known.first_missing() else {
            return Ok(());
        };
        let (kind, value) = described(reference);
        let expected = format!("{} {}", article(kind), self.of_what());
        Err(self.reader.wrong(line, self.lacks(), field, &value, expected).into())
    }

    /// The code of a reference that leads nowhere.
    pub(super) fn lacks(&self) -> FaultCode {
        if self.adds() { FaultCode::BaseLacks } else { FaultCode::Missing }
    }

    /// Where a reference must lead.
    pub(super) fn of_what(&self) -> &'static str {
        if self.adds() {
            "of the file or of the release that it adds to; import the release that it was exported \
             from, or name it"
        } else {
            "of the file"
        }
    }

    /// Writes the frames that got FEs.
    fn extend_frames(&mut self) -> Result<()> {
        for (id, Extended { frame, elements }) in std::mem::take(&mut self.extended) {
            let added = elements.iter().filter_map(|(fe, line)| Some((frame.fe(*fe)?, line)));
            for (fe, line) in added {
                for (field, named) in [("requires", &fe.requires), ("excludes", &fe.excludes)] {
                    if let Some(absent) = named.iter().find(|fe| frame.fe(**fe).is_none()) {
                        let (code, field) = (FaultCode::Missing, format!("element.{field}"));
                        let expected = format!("the number of an FE of `{}`", frame.name);
                        let value = absent.to_string();
                        return Err(self
                            .reader
                            .wrong(*line, code, &field, &value, expected)
                            .into());
                    }
                }
            }
            self.batch.put_frame(&frame)?;
            self.batch.record(Action::Edited, &Subject::Frame(id));
            layouts::forget_elements(self.store, &mut self.batch, self.release, id)?;
        }
        Ok(())
    }

    /// Lists what is added to a release that is there: the index and every follower hear of it.
    pub(super) fn added(&mut self, subject: &Subject) {
        if self.adds() {
            self.batch.record(Action::Added, subject);
        }
    }

    /// Takes note of a number that a store may have counted out; a file that says how far its store
    /// had counted needs none.
    pub(super) fn see_number(&mut self, number: u32) {
        if is_counted(number) && self.last_counted.is_none() {
            self.own_number = self.own_number.max(number);
        }
    }

    /// Counts a record in its release.
    pub(super) fn recount<T: Counted>(&mut self, record: &T) {
        if self.adds() {
            self.batch.recount(None, Some(record));
        } else {
            self.counts.add(record.counts());
        }
    }

    pub(super) fn count(&mut self, kind: LineKind) {
        *self.written.entry(kind).or_default() += 1;
    }
}

/// A kind of record with its article.
fn article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'L']) { "an" } else { "a" };
    format!("{article} {kind}")
}
