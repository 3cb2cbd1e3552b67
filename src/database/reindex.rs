//! Keeping the index beside the store: replaying what it has missed, or building it anew.

use std::collections::HashMap;

use super::Result;
use super::entry::entry;
use crate::index::IndexWriter;
use crate::model::{AnnotationSet, FrameId, LuId, ReleaseId, Sentence};
use crate::store::{Change, Store};

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
        match change?.1 {
            Change::ReleaseAdded(release) => add_release(store, writer, &mut names, release)?,
            Change::SetWritten(release, set, location) => {
                if let Some(set) = store.annotation_set_at(release, set, location)? {
                    put_set(store, writer, &mut names, release, &set)?;
                }
            }
            Change::LexUnitWritten(..) => {}
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
        put_set(store, writer, names, release, &set?)?;
    }
    Ok(())
}

/// Puts a stored set into the index.
fn put_set(
    store: &Store,
    writer: &mut IndexWriter,
    names: &mut Names<'_>,
    release: ReleaseId,
    set: &AnnotationSet,
) -> Result<()> {
    let Some(sentence) = store.sentence(release, set.sentence)? else { return Ok(()) };
    let lemma = names.lemma(release, set.frame, set.lu)?;
    let trigger = set.trigger(&sentence.text);
    let Sentence { text, occurrences, .. } = &sentence;
    Ok(writer.put(&entry(release, set, text, &trigger, &lemma, occurrences))?)
}

/// Lemmas, read when first asked for.
struct Names<'a> {
    store: &'a Store,
    lemmas: HashMap<(ReleaseId, FrameId, LuId), String>,
}

impl<'a> Names<'a> {
    fn new(store: &'a Store) -> Self {
        Self { store, lemmas: HashMap::new() }
    }

    fn lemma(&mut self, release: ReleaseId, frame: FrameId, lu: LuId) -> Result<String> {
        if let Some(lemma) = self.lemmas.get(&(release, frame, lu)) {
            return Ok(lemma.clone());
        }
        let lexunit = self.store.lexunit(release, frame, lu)?;
        let lemma = lexunit.map_or(String::new(), |lexunit| lexunit.lemma().to_owned());
        self.lemmas.insert((release, frame, lu), lemma.clone());
        Ok(lemma)
    }
}
