//! Keeping the index beside the store: replaying what it has missed, or building it anew.

use std::collections::HashMap;

use super::Result;
use super::entry::{entry, listing};
use crate::index::IndexWriter;
use crate::model::{AnnotationSet, CorpusId, Document, DocumentId, ReleaseId, Sentence};
use crate::store::{Action, Store, Subject};

/// Brings the index to the store's revision. When that fails the index stays at its last commit, and
/// the next time replays what it has missed.
pub(super) fn catch_up(store: &Store, writer: &mut IndexWriter) -> Result<()> {
    let outcome = replay_or_rebuild(store, writer);
    if outcome.is_err() {
        writer.rollback()?;
    }
    outcome
}

fn replay_or_rebuild(store: &Store, writer: &mut IndexWriter) -> Result<()> {
    let revision = store.revision()?;
    match writer.stamp() {
        Some(stamp) if stamp.revision == revision => Ok(()),
        Some(stamp) if stamp.revision < revision => replay(store, writer, stamp.revision, revision),
        // No index, or one of a store that is gone.
        _ => {
            writer.clear()?;
            let mut names = Names::new(store);
            for release in store.releases()? {
                add_release(store, writer, &mut names, release.id)?;
            }
            Ok(writer.commit(revision)?)
        }
    }
}

fn replay(store: &Store, writer: &mut IndexWriter, since: u64, revision: u64) -> Result<()> {
    let mut names = Names::new(store);
    for change in store.changes_since(since)? {
        let change = change?;
        let release = change.release;
        match (change.subject, change.action) {
            (Subject::Release, _) => add_release(store, writer, &mut names, release)?,
            (Subject::Set(set, location), _) => {
                match store.annotation_set_at(release, set, location)? {
                    Some(set) => put_set(store, writer, &mut names, release, &set)?,
                    // Removed, or moved: then a later row puts it where it is.
                    None => writer.remove(release, set)?,
                }
            }
            (Subject::Document(corpus, document), Action::Edited) => {
                put_document(store, writer, &mut names, release, (corpus, document))?;
            }
            _ => {}
        }
    }
    Ok(writer.commit(revision)?)
}

fn add_release(
    store: &Store,
    writer: &mut IndexWriter,
    names: &mut Names<'_>,
    release: ReleaseId,
) -> Result<()> {
    for set in store.annotation_sets(release)? {
        let set = set?;
        // Nothing of the release is in the index yet.
        if let Some(sentence) = store.sentence(release, set.sentence)? {
            add_set(writer, names, release, &set, &sentence)?;
        }
    }
    Ok(())
}

/// Puts every set of a document, whose names stand beside it, into the index again.
fn put_document(
    store: &Store,
    writer: &mut IndexWriter,
    names: &mut Names<'_>,
    release: ReleaseId,
    place: (CorpusId, DocumentId),
) -> Result<()> {
    for set in store.annotation_sets(release)? {
        let set = set?;
        let sentence = store.sentence(release, set.sentence)?;
        if sentence.is_some_and(|sentence| listing(&set, &sentence.occurrences) == Some(place)) {
            put_set(store, writer, names, release, &set)?;
        }
    }
    Ok(())
}

/// Puts a stored set into the index, in place of an earlier entry.
fn put_set(
    store: &Store,
    writer: &mut IndexWriter,
    names: &mut Names<'_>,
    release: ReleaseId,
    set: &AnnotationSet,
) -> Result<()> {
    let Some(sentence) = store.sentence(release, set.sentence)? else { return Ok(()) };
    writer.remove(release, set.id)?;
    add_set(writer, names, release, set, &sentence)
}

/// Adds a set that the index does not have.
pub(super) fn add_set(
    writer: &mut IndexWriter,
    names: &mut Names<'_>,
    release: ReleaseId,
    set: &AnnotationSet,
    sentence: &Sentence,
) -> Result<()> {
    let document = names.document(release, sentence, set)?;
    let trigger = set.trigger(&sentence.text);
    let place = document.map(|document| (document.corpus_name.as_str(), document.name.as_str()));
    Ok(writer.add(&entry(release, set, &sentence.text, &trigger, place))?)
}

/// The documents of each release, read when first asked for.
pub(super) struct Names<'a> {
    store: &'a Store,
    documents: HashMap<ReleaseId, HashMap<(CorpusId, DocumentId), Document>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(store: &'a Store) -> Self {
        Self { store, documents: HashMap::new() }
    }

    fn document(
        &mut self,
        release: ReleaseId,
        sentence: &Sentence,
        set: &AnnotationSet,
    ) -> Result<Option<&Document>> {
        let Some(key) = listing(set, &sentence.occurrences) else { return Ok(None) };
        if !self.documents.contains_key(&release) {
            let mut documents = HashMap::new();
            for document in self.store.documents(release)? {
                let document = document?;
                documents.insert((document.corpus, document.id), document);
            }
            self.documents.insert(release, documents);
        }
        Ok(self.documents.get(&release).and_then(|documents| documents.get(&key)))
    }
}
