//! Writing the index: entries in, one commit per store revision.

use std::path::{Path, PathBuf};

use tantivy::{IndexSettings, TantivyDocument, Term};

use super::directory::WriteDirectory;
use super::entry_query::EntryQuery;
use super::guard::guarded;
use super::merges::BoundedMerges;
use super::schema::{
    Fields, SCHEMA_VERSION, WORDS, analyzer, bucket, document_key, is_omitted, schema,
};
use super::words::LongTexts;
use super::{Entry, IndexError, IndexReader, Omitted, Result, Stamp};
use crate::model::{AnnotationSetId, ReleaseId};
use crate::text::fold;

/// Bytes of entries gathered before a segment is written; Tantivy's minimum is 15 MB a thread.
const MEMORY_BUDGET: usize = 48 << 20;

/// The index, open for writing. One writer at a time: the store's lock sees to that.
pub struct IndexWriter {
    writer: tantivy::IndexWriter,
    fields: Fields,
    path: PathBuf,
    stamp: Option<Stamp>,
    replaced: Option<IndexError>,
    /// Words of the long texts that were added since the last commit.
    long_texts: LongTexts,
    /// Whether going back to the last commit failed, after which Tantivy's writer is of no use.
    is_lost: bool,
}

impl IndexWriter {
    /// Opens the index in `path`, or makes an empty one when there is none or when it has another
    /// schema or is damaged.
    ///
    /// Reads all of it once: a writer merges segments, and what is damaged in one would come out
    /// with a checksum that is right.
    ///
    /// # Errors
    /// When the directory cannot be read or written.
    pub fn open(path: &Path) -> Result<Self> {
        let io = |source| IndexError::Io { path: path.to_owned(), source };
        let (stamp, replaced) = match last_commit(path) {
            Ok(stamp) => (stamp, None),
            // A commit whose files are not what was written is worth nothing: the store has it all.
            Err(error @ IndexError::Damaged { .. }) => (None, Some(error)),
            Err(error) => return Err(error),
        };
        if stamp.is_none() && path.exists() {
            std::fs::remove_dir_all(path).map_err(io)?;
        }
        std::fs::create_dir_all(path).map_err(io)?;
        let (schema, fields) = schema();
        let writer = guarded(path, "opening a writer", || {
            let directory = WriteDirectory::open(path)?;
            let index = if stamp.is_some() {
                tantivy::Index::open(directory)?
            } else {
                tantivy::Index::create(directory, schema, IndexSettings::default())?
            };
            index.tokenizers().register(WORDS, analyzer());
            index.writer_with_num_threads(1, MEMORY_BUDGET)
        })?;
        writer.set_merge_policy(Box::new(BoundedMerges::default()));
        // A commit that was cut off leaves files that no commit names; the same change would be
        // written under the same name again. That they stay when the disk is full does no harm.
        let _ = guarded(path, "tidying up", || writer.garbage_collect_files().wait().map(drop));
        Ok(Self {
            writer,
            fields,
            path: path.to_owned(),
            stamp,
            replaced,
            long_texts: LongTexts::default(),
            is_lost: false,
        })
    }

    /// What was wrong with the index that was there, when this one was made in its place for
    /// damage. Says it once.
    pub fn take_replaced(&mut self) -> Option<IndexError> {
        self.replaced.take()
    }

    /// The stamp of the last commit; `None` for an index that is new.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        self.stamp
    }

    /// Adds an entry, in place of an earlier one of the same set.
    ///
    /// # Errors
    /// When a segment cannot be written.
    pub fn put(&mut self, entry: &Entry<'_>) -> Result<()> {
        self.remove(entry.release, entry.set)?;
        self.add(entry)
    }

    /// Removes the entry of a set, when there is one.
    ///
    /// # Errors
    /// When the index fails.
    pub fn remove(&mut self, release: ReleaseId, set: AnnotationSetId) -> Result<()> {
        let entry = EntryQuery::new(&self.fields, release, set);
        guarded(&self.path, "removing an entry", || {
            self.writer.delete_query(Box::new(entry)).map(drop)
        })
    }

    /// Removes the entries of a release.
    pub fn remove_release(&mut self, release: ReleaseId) {
        self.writer.delete_term(Term::from_field_u64(self.fields.release, u64::from(release.0)));
    }

    /// Adds an entry of a set that the index does not have.
    ///
    /// # Errors
    /// When a segment cannot be written.
    pub fn add(&mut self, entry: &Entry<'_>) -> Result<()> {
        let document = document(&self.fields, &mut self.long_texts, entry);
        guarded(&self.path, "adding an entry", || self.writer.add_document(document).map(drop))
    }

    /// Removes every entry.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn clear(&mut self) -> Result<()> {
        guarded(&self.path, "emptying", || self.writer.delete_all_documents().map(drop))
    }

    /// Makes what was added visible, stamped with the store's revision.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn commit(&mut self, revision: u64) -> Result<()> {
        self.commit_with(|| Ok(revision))
    }

    /// Writes what was added to disk, then lets the store commit, then makes it visible with the
    /// store's revision. What a full disk could stop is done before the store commits.
    ///
    /// # Errors
    /// When the index cannot be written, or the store's error; what was added is then forgotten.
    pub fn commit_with<E: From<IndexError>>(
        &mut self,
        store: impl FnOnce() -> std::result::Result<u64, E>,
    ) -> std::result::Result<(), E> {
        const ACTION: &str = "committing";
        self.long_texts.clear();
        let mut prepared = guarded(&self.path, ACTION, || self.writer.prepare_commit())?;
        let revision = match store() {
            Ok(revision) => revision,
            Err(error) => {
                guarded(&self.path, ACTION, || prepared.abort().map(drop))?;
                return Err(error);
            }
        };
        let stamp = Stamp { revision, schema: SCHEMA_VERSION };
        prepared.set_payload(&stamp.to_string());
        guarded(&self.path, ACTION, || prepared.commit().map(drop))?;
        self.stamp = Some(stamp);
        Ok(())
    }

    /// Writes what was added to disk while the store commits, then makes it visible with the
    /// revision that the store gives. Gives the store's outcome and the index's own. What was added
    /// is forgotten unless both are well.
    pub fn commit_beside<E: Send>(
        &mut self,
        store: impl FnOnce() -> std::result::Result<u64, E> + Send,
    ) -> (std::result::Result<u64, E>, Result<()>) {
        const ACTION: &str = "committing";
        self.long_texts.clear();
        let (path, writer) = (&self.path, &mut self.writer);
        let (revision, prepared) =
            rayon::join(store, || guarded(path, ACTION, || writer.prepare_commit()));
        let outcome = prepared.and_then(|mut prepared| match &revision {
            Ok(revision) => {
                let stamp = Stamp { revision: *revision, schema: SCHEMA_VERSION };
                prepared.set_payload(&stamp.to_string());
                guarded(path, ACTION, || prepared.commit())?;
                Ok(Some(stamp))
            }
            Err(_) => guarded(path, ACTION, || prepared.abort()).map(|_| None),
        });
        let outcome = outcome.map(|stamp| self.stamp = stamp.or(self.stamp));
        if outcome.is_err() {
            // What went wrong first is what there is to say; the next time recovers the writer.
            let _ = self.rollback();
        }
        (revision, outcome)
    }

    /// Forgets what was added since the last commit.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub fn rollback(&mut self) -> Result<()> {
        self.long_texts.clear();
        if self.is_lost {
            return Ok(());
        }
        let outcome = guarded(&self.path, "rolling back", || self.writer.rollback().map(drop));
        self.is_lost = outcome.is_err();
        outcome
    }

    /// Opens the index again after a rollback that failed; what has become of it by then is its
    /// last commit, or nothing.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn recover(&mut self) -> Result<()> {
        if self.is_lost {
            let path = self.path.clone();
            *self = Self::open(&path)?;
        }
        Ok(())
    }

    /// Waits until no segments are being merged, and closes the index.
    ///
    /// # Errors
    /// When a merge failed.
    pub fn finish(self) -> Result<()> {
        let Self { writer, path, .. } = self;
        guarded(&path, "closing", || writer.wait_merging_threads())
    }
}

/// The stamp of the commit in `path`, all of whose files are whole; `None` when there is none of
/// this schema.
fn last_commit(path: &Path) -> Result<Option<Stamp>> {
    let Some(stamp) = super::stamp(path)? else { return Ok(None) };
    if IndexReader::open(path)?.is_none() {
        return Ok(None);
    }
    IndexReader::verify(path)?;
    Ok(Some(stamp))
}

/// What stands in the index for an entry.
pub(super) fn document(
    fields: &Fields,
    long_texts: &mut LongTexts,
    entry: &Entry<'_>,
) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_u64(fields.bucket, bucket(entry.set));
    document.add_u64(fields.release, u64::from(entry.release.0));
    document.add_u64(fields.set, entry.set.bits());
    document.add_u64(fields.frame, u64::from(entry.frame.0));
    document.add_u64(fields.lu, u64::from(entry.lu.0));
    // A generated set's sentence has the set's own number, which need not stand here twice.
    if entry.sentence.bits() != entry.set.bits() {
        document.add_u64(fields.sentence, entry.sentence.bits());
    }
    let trigger = fold(entry.trigger);
    if is_omitted(&trigger) {
        document.add_text(fields.omitted, Omitted::Trigger.as_str());
    }
    let words = long_texts.words((entry.release, entry.sentence), entry.text);
    if words.are_omitted {
        document.add_text(fields.omitted, Omitted::Word.as_str());
    }
    document.add_text(fields.trigger, trigger);
    document.add_text(fields.text, words.text);
    document.add_text(fields.origin, entry.origin.as_str());
    if let Some(corpus) = entry.corpus {
        document.add_u64(fields.corpus, u64::from(corpus.0));
    }
    if let Some((corpus, id)) = entry.document {
        document.add_u64(fields.doc, document_key(corpus, id));
    }
    if let Some(generation) = entry.generation {
        document.add_text(fields.method, generation.method.as_str());
        document.add_u64(fields.round, u64::from(generation.round));
        document.add_u64(fields.recipe, u64::from(generation.recipe.0));
        document.add_u64(fields.seed, generation.seed.bits());
        if generation.source != generation.seed {
            document.add_u64(fields.seed, generation.source.bits());
        }
        if let Some(score) = generation.paraphrase_score() {
            document.add_f64(fields.paraphrase, f64::from(score));
        }
        document.add_f64(fields.aligner, f64::from(generation.aligner));
    }
    if let Some(carrying) = entry.carrying {
        document.add_u64(fields.seed, carrying.source.bits());
        document.add_f64(fields.aligner, f64::from(carrying.aligner));
    }
    document
}

#[cfg(test)]
mod tests {
    use tantivy::directory::error::OpenWriteError;

    use super::*;
    use crate::index::{EntryState, Filter};
    use crate::model::{FrameId, IdSpace, LuId, Origin, SentenceId};

    /// An index of two entries; `add` writes the second, whose text is one very long word.
    fn index_of(
        add: impl FnOnce(&mut IndexWriter, &Entry<'_>),
    ) -> (tempfile::TempDir, IndexReader, String) {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = IndexWriter::open(dir.path()).unwrap();
        let long = "\u{c9}".repeat(40_000);
        writer.add(&entry(1, "short")).unwrap();
        add(&mut writer, &entry(2, &long));
        writer.commit(1).unwrap();
        writer.finish().unwrap();
        let reader = IndexReader::open(dir.path()).unwrap().unwrap();
        (dir, reader, long)
    }

    fn entry(number: u64, text: &str) -> Entry<'_> {
        Entry {
            release: ReleaseId(1),
            frame: FrameId(1),
            lu: LuId(1),
            sentence: SentenceId::new(IdSpace::Exemplar, number),
            set: AnnotationSetId::new(IdSpace::Exemplar, number),
            trigger: "t",
            text,
            origin: Origin::Exemplar,
            corpus: None,
            document: None,
            generation: None,
            carrying: None,
        }
    }

    #[test]
    fn what_a_commit_that_was_cut_off_left_is_tidied_up() {
        let (dir, _, _) = index_of(|writer, entry| writer.add(entry).unwrap());
        // Tantivy lists a file before it writes it, and names it in a commit afterwards.
        let list = dir.path().join(".managed.json");
        let mut listed: Vec<String> =
            serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
        let left = "0123456789abcdef0123456789abcdef.7.del".to_owned();
        std::fs::write(dir.path().join(&left), "half of it").unwrap();
        listed.push(left.clone());
        std::fs::write(&list, serde_json::to_vec(&listed).unwrap()).unwrap();
        drop(IndexWriter::open(dir.path()).unwrap());
        assert!(!dir.path().join(&left).exists());
    }

    /// Names of the files in an index that end so.
    fn files(dir: &Path, end: &str) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(end)).collect()
    }

    /// The file that a commit writes in which the second entry is removed, and the index before it.
    fn before_a_removal() -> (tempfile::TempDir, String) {
        let (dir, ..) = index_of(|writer, entry| writer.add(entry).unwrap());
        let after = tempfile::tempdir().unwrap();
        for name in files(dir.path(), "") {
            std::fs::copy(dir.path().join(&name), after.path().join(&name)).unwrap();
        }
        let mut writer = IndexWriter::open(after.path()).unwrap();
        removes_the_second(&mut writer, 2);
        writer.finish().unwrap();
        let written = files(after.path(), ".del");
        assert_eq!((written.len(), files(dir.path(), ".del").len()), (1, 0));
        (dir, written.into_iter().next().unwrap())
    }

    fn removes_the_second(writer: &mut IndexWriter, revision: u64) {
        let set = entry(2, "").set;
        writer.remove(ReleaseId(1), set).unwrap();
        writer.commit(revision).unwrap();
    }

    /// The sets of an index, and the revision of its commit.
    fn shown(dir: &Path) -> (Vec<u64>, u64) {
        let reader = IndexReader::open(dir).unwrap().unwrap();
        let found = reader.search(&Filter::Trigger("t".to_owned())).unwrap().unwrap();
        let hits = found.hits().unwrap();
        let mut sets: Vec<u64> = hits.iter().map(|hit| hit.set.number()).collect();
        sets.sort_unstable();
        (sets, super::super::stamp(dir).unwrap().unwrap().revision)
    }

    #[test]
    fn a_commit_that_a_crash_cut_off_behind_its_first_file_is_made_again() {
        // With the file on Tantivy's list of files, and without: a list may be older than a file.
        for is_listed in [true, false] {
            let (dir, left) = before_a_removal();
            std::fs::write(dir.path().join(&left), "half of it").unwrap();
            if is_listed {
                let list = dir.path().join(".managed.json");
                let mut listed: Vec<String> =
                    serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
                listed.push(left.clone());
                std::fs::write(&list, serde_json::to_vec(&listed).unwrap()).unwrap();
            }
            assert_eq!(shown(dir.path()), (vec![1, 2], 1));
            let mut writer = IndexWriter::open(dir.path()).unwrap();
            removes_the_second(&mut writer, 2);
            writer.finish().unwrap();
            assert_eq!(shown(dir.path()), (vec![1], 2), "listed: {is_listed}");
            assert_eq!(files(dir.path(), ".del"), [left], "the name was wanted again");
        }
    }

    #[test]
    fn a_commit_that_a_full_disk_cut_off_is_made_again_by_the_same_writer() {
        let (dir, left) = before_a_removal();
        let mut writer = IndexWriter::open(dir.path()).unwrap();
        std::fs::write(dir.path().join(&left), "half of it").unwrap();
        writer.rollback().unwrap();
        removes_the_second(&mut writer, 2);
        writer.finish().unwrap();
        assert_eq!(shown(dir.path()), (vec![1], 2));
        assert_eq!(files(dir.path(), ".del"), [left], "the name was wanted again");
    }

    #[test]
    fn a_file_that_a_commit_names_is_never_replaced() {
        let (dir, _) = before_a_removal();
        let mut writer = IndexWriter::open(dir.path()).unwrap();
        removes_the_second(&mut writer, 2);
        writer.finish().unwrap();
        let directory = WriteDirectory::open(dir.path()).unwrap();
        for named in files(dir.path(), "").into_iter().filter(|name| !name.starts_with('.')) {
            let path = Path::new(&named);
            let opened = tantivy::Directory::open_write(&directory, path).map(drop);
            assert!(matches!(opened, Err(OpenWriteError::FileAlreadyExists(_))), "{named}");
        }
    }

    #[test]
    fn an_entry_says_which_terms_it_lacks() {
        let (_dir, reader, long) = index_of(|writer, entry| writer.add(entry).unwrap());
        let found = |filter| reader.search(&filter).unwrap().unwrap().len();
        assert_eq!(found(Filter::Word(fold(&long))), 0);
        assert_eq!(found(Filter::Omitted(Omitted::Word)), 1);
        assert_eq!(found(Filter::Omitted(Omitted::Trigger)), 0);
        let mut audit = reader.audit().unwrap();
        assert_eq!(audit.check(&entry(2, &long)).unwrap(), EntryState::Right);
    }

    #[test]
    fn an_audit_sees_an_entry_that_hides_what_it_lacks() {
        let (_dir, reader, long) = index_of(|writer, entry| {
            let mut hidden = TantivyDocument::default();
            let omitted = writer.fields.omitted;
            for (field, value) in
                document(&writer.fields, &mut LongTexts::default(), entry).field_values()
            {
                if field != omitted {
                    hidden.add_field_value(field, value);
                }
            }
            writer.writer.add_document(hidden).unwrap();
        });
        let mut audit = reader.audit().unwrap();
        assert_eq!(audit.check(&entry(1, "short")).unwrap(), EntryState::Right);
        assert_eq!(audit.check(&entry(2, &long)).unwrap(), EntryState::Wrong);
    }
}
