//! Keeping the index beside the store: replaying what it has missed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::entry::entry;
use super::{DatabaseError, Result};
use crate::durable::remove_directory;
use crate::index::{Entry, IndexError, IndexWriter};
use crate::model::{AnnotationSet, ReleaseId, Sentence};
use crate::store::{Action, KeyRange, SetRange, Store, StoreError, Subject, in_order};

/// Sets whose sentences are read together.
const TOGETHER: usize = 256;

/// Sets of a part, about.
const OF_A_PART: u64 = 4096;

/// Bytes of a text that is read once for all of its sets; a shorter one is read with each.
const LONG: usize = 4096;

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
        Some(stamp) if stamp.revision == revision => return Ok(()),
        Some(stamp) if stamp.revision < revision => {
            match replay(store, writer, stamp.revision, revision) {
                // A change that cannot be read may be any: what there is says more.
                Err(error) if error.is_unreadable_record() => {}
                outcome => return outcome,
            }
        }
        // No index, or one of a store that is gone.
        _ => {}
    }
    writer.clear()?;
    for release in store.releases()? {
        add_release(store, writer, release.id)?;
    }
    Ok(writer.commit(revision)?)
}

/// What there is to index of a record. One that cannot be read keeps nobody from the others: it is
/// left out, and told by whoever reads it, and by a check.
fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(error) if error.is_unreadable_record() => Ok(None),
        read => read.map(Some),
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
    let mut sentences = LastSentence::default();
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
                let found = store.annotation_set_at(release, set, location);
                match readable(found.map_err(Into::into))?.flatten() {
                    Some(set) => {
                        let sentence = readable(sentences.of(store, release, &set))?.flatten();
                        let Some(sentence) = sentence else { continue };
                        with_entry_of(release, &set, sentence, |entry| {
                            match is_first && action == Action::Added {
                                true => writer.add(entry),
                                false => writer.put(entry),
                            }
                        })?;
                    }
                    // Removed, or moved: then a later row puts it where it is.
                    None => writer.remove(release, set)?,
                }
            }
            // The places that list it stand beside each of its sets.
            (Subject::Sentence(sentence), Action::Edited) => {
                for set in store.sets_of_sentence(release, sentence)? {
                    let found = store.annotation_set(release, set?);
                    if let Some(set) = readable(found.map_err(Into::into))?.flatten() {
                        touched.insert((release, set.id));
                        let sentence = readable(sentences.of(store, release, &set))?.flatten();
                        let Some(sentence) = sentence else { continue };
                        with_entry_of(release, &set, sentence, |entry| writer.put(entry))?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(writer.commit(revision)?)
}

/// Adds the sets of a release of which the index has nothing yet.
fn add_release(store: &Store, writer: &mut IndexWriter, release: ReleaseId) -> Result<()> {
    let failed = |error| readable::<()>(Err(error)).map(drop);
    each_entry(store, release, &mut |_, entry| Ok(writer.add(entry)?), &failed)
}

/// Why a release and its index did not commit together.
enum Failed {
    Listing(DatabaseError),
    Index(DatabaseError),
}

impl From<IndexError> for Failed {
    fn from(error: IndexError) -> Self {
        Self::Index(error.into())
    }
}

/// Brings the index to a release whose rows are written, and lists it, so that both commit
/// together: who is killed before that leaves both as they were. Gives why the index could not
/// follow, if it could not: the release is listed all the same, and the next writer replays it.
pub(crate) fn list_release(
    store: &Store,
    writer: &mut IndexWriter,
    release: ReleaseId,
    list: impl Fn() -> Result<u64>,
) -> Result<Result<()>> {
    let mut is_listed = false;
    let outcome = match add_release(store, writer, release) {
        Ok(()) => writer.commit_with(|| {
            let revision = list().map_err(Failed::Listing)?;
            is_listed = true;
            Ok(revision)
        }),
        Err(error) => Err(Failed::Index(error)),
    };
    let Err(failed) = outcome else { return Ok(Ok(())) };
    // What went wrong first is what there is to say; the next time recovers the writer.
    let _ = writer.rollback();
    match failed {
        Failed::Listing(error) => Err(error),
        Failed::Index(error) => {
            if !is_listed {
                list()?;
            }
            Ok(Err(error))
        }
    }
}

/// The sentence of the set before: many sets of one sentence often follow each other.
#[derive(Default)]
pub(crate) struct LastSentence {
    last: Option<(ReleaseId, Sentence)>,
    /// Sentences that were read.
    #[cfg(test)]
    pub(crate) reads: u32,
}

impl LastSentence {
    /// The sentence of a set; nothing when it is not there.
    pub(crate) fn of(
        &mut self,
        store: &Store,
        release: ReleaseId,
        set: &AnnotationSet,
    ) -> Result<Option<&Sentence>> {
        let is_last =
            |(of, sentence): &(ReleaseId, Sentence)| (*of, sentence.id) == (release, set.sentence);
        if !self.last.as_ref().is_some_and(is_last) {
            #[cfg(test)]
            {
                self.reads += 1;
            }
            self.last = store.sentence(release, set.sentence)?.map(|sentence| (release, sentence));
        }
        Ok(self.last.as_ref().map(|(_, sentence)| sentence))
    }
}

/// A set with its sentence, where that is there.
type WithSentence = std::result::Result<(AnnotationSet, Option<Arc<Sentence>>), StoreError>;

/// The sets of a part with their sentences, of which some are read together.
fn with_sentences(store: &Store, part: &KeyRange) -> Vec<WithSentence> {
    let rows = match store.sets_of_part(part) {
        Ok(rows) => rows,
        Err(error) => return vec![Err(error)],
    };
    let (mut rows, mut found) = (rows.peekable(), Vec::new());
    while rows.peek().is_some() {
        let sets: Vec<_> = rows.by_ref().take(TOGETHER).collect();
        let mut ids: Vec<_> =
            sets.iter().flatten().map(|(release, set)| (*release, set.sentence)).collect();
        ids.sort_unstable();
        ids.dedup();
        // One that cannot be read is told of with its set.
        let read = store.sentences_of(&ids).unwrap_or_default().into_iter();
        let read = read.map(|sentence| sentence.map(Arc::new));
        let known: HashMap<_, _> = ids.into_iter().zip(read).collect();
        found.extend(sets.into_iter().map(|row| {
            let (release, set) = row?;
            let sentence = match known.get(&(release, set.sentence)) {
                Some(sentence) => sentence.clone(),
                None => store.sentence(release, set.sentence)?.map(Arc::new),
            };
            Ok((set, sentence))
        }));
    }
    found
}

/// Hands on what the index should hold of each set of a release; `failed` is told what cannot be
/// read, and says whether the others are handed on all the same.
///
/// Sets and their sentences are read by all threads. A long text is read once for all of its sets,
/// which come behind those of the others.
pub(crate) fn each_entry(
    store: &Store,
    release: ReleaseId,
    then: &mut dyn FnMut(&AnnotationSet, &Entry<'_>) -> Result<()>,
    failed: &dyn Fn(DatabaseError) -> Result<()>,
) -> Result<()> {
    let mut long = BTreeSet::new();
    let read = |part: KeyRange| with_sentences(store, &part);
    let most = store.bytes_of_sets(OF_A_PART);
    let parts = store.parts_of_sets(SetRange::Release(release), None, most);
    in_order(parts.map(|(part, _)| part), read, |rows| {
        for row in rows {
            match row {
                Ok((set, _)) if long.contains(&set.sentence) => {}
                Ok((set, Some(sentence))) if sentence.text.len() > LONG => {
                    long.insert(set.sentence);
                }
                Ok((set, Some(sentence))) => {
                    with_entry_of(release, &set, &sentence, |entry| then(&set, entry))?;
                }
                Ok((_, None)) => {}
                Err(error) => failed(error.into())?,
            }
        }
        Ok::<_, DatabaseError>(())
    })?;
    for sentence in long {
        let sentence = match store.sentence(release, sentence) {
            Ok(Some(sentence)) => sentence,
            Ok(None) => continue,
            Err(error) => {
                failed(error.into())?;
                continue;
            }
        };
        for set in store.sets_of_sentence(release, sentence.id)? {
            match set.and_then(|set| store.annotation_set(release, set)) {
                Ok(Some(set)) => {
                    with_entry_of(release, &set, &sentence, |entry| then(&set, entry))?;
                }
                Ok(None) => {}
                Err(error) => failed(error.into())?,
            }
        }
    }
    Ok(())
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
