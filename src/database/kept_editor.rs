//! The editor behind a reader's handle: opened for an edit, and kept for a while if that is wanted.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::{BEHIND, Database, DatabaseError, Result};

/// The longest time between two looks of the thread that closes an editor.
const LONGEST: Duration = Duration::from_secs(3600);

/// What keeps an editor open between edits. Its drop closes the editor.
#[derive(Default)]
pub(super) struct Keeper(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How long it stays open after an edit.
    keep: Duration,
    editor: Option<Arc<Database>>,
    /// Edits that go on.
    users: usize,
    /// When the last one ended.
    ended: Option<Instant>,
    /// An edit has failed, perhaps for what the editor met: it closes with the last edit that
    /// shares it.
    is_worn: bool,
    /// Whether a thread waits for its time to be over.
    is_watched: bool,
    /// Changes that the index lacks, up to a revision.
    behind: usize,
    seen: u64,
}

impl Database {
    /// Edits through a reader's handle: opens an [editor](Self::open_editor), lends it to `work`,
    /// and shows this handle what came of it. The editor closes when `work` ends, or later
    /// ([`keep_writer`](Self::keep_writer)). Edits of several threads share it, and the author of
    /// this handle: a thread that edits in a name of its own signs its transactions
    /// (`Transaction::sign`). A writer's handle lends itself.
    ///
    /// # Errors
    /// What `work` fails with, and as [`open_editor`](Self::open_editor); when a restore has put
    /// another store in the place of the one that this handle was opened on, or this handle is a
    /// [`snapshot`](Self::snapshot).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use fnstore::{Database, transfer::ImportOptions};
    /// # use fnstore::model::{FrameId, LexUnit};
    /// # let dir = tempfile::tempdir()?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # Database::open_writer(dir.path())?.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?;
    /// let reader = Database::open(dir.path())?;
    /// reader.keep_writer(Duration::from_secs(2));
    /// for name in ["peruse.v", "con.v"] {
    ///     reader.edit(|editor| {
    ///         let mut edits = editor.transaction("mini-framenet")?;
    ///         edits.add_lexunit(LexUnit::new(FrameId(102), name))?;
    ///         edits.commit()
    ///     })?;
    /// }
    /// assert_eq!(reader.revision()?, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(&Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        if self.store.is_writer() {
            return work(self);
        }
        if self.snapshot.is_some() {
            return Err(DatabaseError::ReadOnly { path: self.dir.clone() }.into());
        }
        let (lent, editor) = self.keeper.begin(self)?;
        let done = lent.end(editor, work);
        // What is committed is in, whatever becomes of this: the next question refreshes again.
        let _ = self.refresh();
        done
    }

    /// How long the editor of [`edit`](Self::edit) stays open behind an edit. The next edit within
    /// that time costs a commit alone, where opening takes some 75 ms. Zero, as it is at first,
    /// closes it at once.
    ///
    /// Whoever else wants to write meanwhile, this process included, gets
    /// [`StoreError::Locked`](super::StoreError::Locked), and can try again later. An editor is
    /// closed earlier when an edit fails and no other goes on, and when this handle is dropped. A
    /// commit that returned is on the disk: a process that ends in between loses nothing.
    pub fn keep_writer(&self, time: Duration) {
        self.keeper.0.lock().keep = time;
        if time.is_zero() {
            self.release_writer();
        }
        self.keeper.0.changed.notify_all();
    }

    /// Closes the editor that [`keep_writer`](Self::keep_writer) keeps, unless an edit goes on: for
    /// an import by a writer of one's own.
    pub fn release_writer(&self) {
        let mut state = self.keeper.0.lock();
        if state.users == 0 {
            state.close();
        }
    }
}

/// An edit that goes on.
struct Lent {
    shared: Arc<Shared>,
    /// Until it has ended well: a panic is a failure.
    is_failed: bool,
}

impl Lent {
    fn end<T, E>(
        mut self,
        editor: Arc<Database>,
        work: impl FnOnce(&Database) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let done = work(&editor);
        self.is_failed = done.is_err();
        done
    }
}

impl Keeper {
    fn begin(&self, reader: &Database) -> Result<(Lent, Arc<Database>)> {
        let mut state = self.0.lock();
        // One that cannot tell is opened anew.
        if state.users == 0 && state.is_far_behind().unwrap_or(true) {
            state.close();
        }
        let editor = match &state.editor {
            Some(editor) => Arc::clone(editor),
            None => state.open(reader)?,
        };
        if state.users == 0 {
            editor.store.set_author(&reader.store.author());
            editor.allow_any_language(reader.allows_any_language());
        }
        state.users += 1;
        Ok((Lent { shared: Arc::clone(&self.0), is_failed: true }, editor))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.lock().close();
        self.0.changed.notify_all();
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.users -= 1;
        state.is_worn |= self.is_failed;
        state.ended = Some(Instant::now());
        let is_kept = !state.is_worn && !state.keep.is_zero();
        if state.users == 0 && !(is_kept && self.shared.watch(&mut state)) {
            state.close();
        }
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Has a thread close the editor in time; says whether there is one.
    fn watch(self: &Arc<Self>, state: &mut State) -> bool {
        if !state.is_watched {
            let shared = Arc::clone(self);
            let named = std::thread::Builder::new().name("fnstore editor".to_owned());
            state.is_watched = named.spawn(move || shared.wait_out()).is_ok();
        }
        state.is_watched
    }

    /// Closes the editor when its time is over, or ends with it.
    fn wait_out(&self) {
        let mut state = self.lock();
        while state.editor.is_some() {
            let left = match state.ended {
                Some(ended) if state.users == 0 => state.keep.saturating_sub(ended.elapsed()),
                _ => LONGEST,
            };
            if left.is_zero() {
                state.close();
                break;
            }
            let waited = self.changed.wait_timeout(state, left.min(LONGEST));
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        state.is_watched = false;
    }
}

impl State {
    fn open(&mut self, reader: &Database) -> Result<Arc<Database>> {
        let editor = Database::open_editor(&reader.dir)?;
        if let Some(opened) = &reader.opened {
            editor.require_generation(&opened.generation)?;
        }
        let editor = Arc::new(Database { splits: reader.splits.clone(), ..editor });
        (self.behind, self.seen) =
            (Database::index_lacks(&editor.store)?.unwrap_or(0), editor.revision()?);
        self.editor = Some(Arc::clone(&editor));
        Ok(editor)
    }

    /// Whether an editor without the index has left it so far behind that queries would be slow.
    fn is_far_behind(&mut self) -> Result<bool> {
        let Some(editor) = self.editor.as_ref().filter(|editor| editor.writer.is_none()) else {
            return Ok(false);
        };
        self.behind += editor.store.changes_since(self.seen)?.take(BEHIND + 1).count();
        self.seen = editor.revision()?;
        Ok(self.behind > BEHIND)
    }

    fn close(&mut self) {
        self.editor = None;
        self.is_worn = false;
    }
}
