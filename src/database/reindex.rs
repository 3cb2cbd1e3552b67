//! Keeping the index beside the store: replaying what it has missed.

use std::collections::HashSet;
use std::path::Path;

use super::Result;
use super::entry::entry;
use crate::durable::remove_directory;
use crate::index::{Entry, IndexError, IndexWriter};
use crate::model::{AnnotationSet, ReleaseId, Sentence};
use crate::store::{Action, Store, Subject};

/// Brings the index to the store's revision. When that fails the index stays at its last commit,
/// and the next time replays what it has missed.
pub(crate) fn catch_up(store: &Store, writer: &mut IndexWriter) -> Result<()> {
    let outcome = replay_or_rebuild(store, writer);
    if outcome.is_err() {
        // What went wrong first is what there is to say; the next time recovers the writer.
        let _ = writer.rollback();
    }
    outcome
}

fn replay_or_rebuild(store: &Store, writer: &mut IndexWriter) -> Result<()> {
    writer.recover()?;
    let revision = store.revision()?;
    match writer.stamp() {
        Some(stamp) if stamp.revision == revision => Ok(()),
        Some(stamp) if stamp.revision < revision => replay(store, writer, stamp.revision, revision),
        // No index, or one of a store that is gone.
        _ => {
            writer.clear()?;
            for release in store.releases()? {
                add_release(store, writer, release.id)?;
            }
            Ok(writer.commit(revision)?)
        }
    }
}

/// The new index while it is made, and the old one while it goes. A process that is killed leaves
/// them.
pub(crate) const LEFTOVERS: [&str; 2] = ["index.new", "index.old"];

/// Removes what a rebuilding that was stopped has left, under the writer's lock.
pub(crate) fn remove_leftovers(dir: &Path) -> Result<()> {
    for path in LEFTOVERS.map(|name| dir.join(name)) {
        remove_directory(&path).map_err(io_error(&path))?;
    }
    Ok(())
}

pub(crate) fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> IndexError {
    let path = path.to_owned();
    |source| IndexError::Io { path, source }
}

fn replay(store: &Store, writer: &mut IndexWriter, since: u64, revision: u64) -> Result<()> {
    // What was added since has no entry yet, and to look for one takes longer than all the rest;
    // but it is added once.
    let (mut touched, mut added) = (HashSet::new(), HashSet::new());
    for change in store.changes_since(since)? {
        let change = change?;
        let release = change.release;
        match (change.subject, change.action) {
            // Its sets were added as they are now: with all that came later.
            _ if added.contains(&release) => {}
            (Subject::Release, Action::Removed) => writer.remove_release(release),
            (Subject::Release, _) => {
                add_release(store, writer, release)?;
                added.insert(release);
            }
            (Subject::Set(set, location), action) => {
                let is_first = touched.insert((release, set));
                match store.annotation_set_at(release, set, location)? {
                    Some(set) if is_first && action == Action::Added => {
                        with_entry(store, release, &set, |entry| writer.add(entry))?.transpose()?;
                    }
                    Some(set) => put_set(store, writer, release, &set)?,
                    // Removed, or moved: then a later row puts it where it is.
                    None => writer.remove(release, set)?,
                }
            }
            // The places that list it stand beside each of its sets.
            (Subject::Sentence(sentence), Action::Edited) => {
                for set in store.sets_of_sentence(release, sentence)? {
                    if let Some(set) = store.annotation_set(release, set?)? {
                        touched.insert((release, set.id));
                        put_set(store, writer, release, &set)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(writer.commit(revision)?)
}

fn add_release(store: &Store, writer: &mut IndexWriter, release: ReleaseId) -> Result<()> {
    for set in store.annotation_sets(release)? {
        // Nothing of the release is in the index yet.
        with_entry(store, release, &set?, |entry| writer.add(entry))?.transpose()?;
    }
    Ok(())
}

/// Puts a stored set into the index, in place of an earlier entry.
fn put_set(
    store: &Store,
    writer: &mut IndexWriter,
    release: ReleaseId,
    set: &AnnotationSet,
) -> Result<()> {
    with_entry(store, release, set, |entry| writer.put(entry))?.transpose()?;
    Ok(())
}

/// Hands on what the index should hold of a stored set; nothing when its sentence is not there.
pub(crate) fn with_entry<T>(
    store: &Store,
    release: ReleaseId,
    set: &AnnotationSet,
    then: impl FnOnce(&Entry<'_>) -> T,
) -> Result<Option<T>> {
    let sentence = store.sentence(release, set.sentence)?;
    Ok(sentence.map(|sentence| with_entry_of(release, set, &sentence, then)))
}

/// Hands on what the index should hold of a set.
pub(crate) fn with_entry_of<T>(
    release: ReleaseId,
    set: &AnnotationSet,
    sentence: &Sentence,
    then: impl FnOnce(&Entry<'_>) -> T,
) -> T {
    let trigger = set.trigger(&sentence.text);
    then(&entry(release, set, &sentence.text, &trigger, &sentence.occurrences))
}
