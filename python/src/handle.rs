//! The open store behind every object: closed once, asked from any thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::{available_parallelism, spawn};

use fnstore::database::{Database, DatabaseError};
use fnstore::query::{Expression, Selection};
use fnstore::search::{Answer, Answers, Part};

use crate::error::{Fault, Result};

/// Answers that are handed over together, as a query goes on: the first come at once.
const CHUNKS: [usize; 4] = [16, 128, 1024, 4096];

/// Chunks that wait to be taken.
const WAITING: usize = 4;

/// A store open for reading. It takes the writer's lock only while it writes.
pub(crate) struct Handle {
    pub(crate) path: PathBuf,
    open: RwLock<Option<Arc<Database>>>,
}

impl Handle {
    pub(crate) fn open(path: PathBuf) -> Result<Arc<Self>> {
        let database = Database::open(&path)?;
        Ok(Self::over(path, database))
    }

    pub(crate) fn over(path: PathBuf, database: Database) -> Arc<Self> {
        Arc::new(Self { path, open: RwLock::new(Some(Arc::new(database))) })
    }

    /// The store.
    pub(crate) fn get(&self) -> Result<Arc<Database>> {
        let open = self.open.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        open.clone().ok_or_else(|| {
            Fault::new(
                "ClosedError",
                "S-closed",
                &format!("the store in `{}` was closed", self.path.display()),
                "open it again with fnstore.open(path)",
            )
        })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.read().unwrap_or_else(|poisoned| poisoned.into_inner()).is_some()
    }

    pub(crate) fn close(&self) {
        self.open.write().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    }

    /// Does something with a writer of the store, and shows this handle what came of it.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let reader = self.get()?;
        let writer = Database::open_existing_writer(&self.path)?;
        let done = work(&writer);
        writer.close()?;
        reader.refresh()?;
        done
    }

    /// The answers of a query, in chunks, read ahead by a thread of their own; dropping the
    /// receiver ends it.
    pub(crate) fn answers(
        &self,
        expression: &Expression,
        selection: &Selection,
    ) -> Result<Receiver<Result<Vec<Answer>>>> {
        let database = self.get()?;
        let (expression, selection) = (expression.clone(), selection.clone());
        let (sender, receiver) = sync_channel(WAITING);
        spawn(move || {
            watched(&sender, || {
                let failed = |error: DatabaseError| sender.send(Err(error.into())).ok();
                let mut answers = match database.select(&expression, &selection) {
                    Ok(answers) => answers,
                    Err(error) => return failed(error),
                };
                let sizes = CHUNKS.into_iter().chain(std::iter::repeat(CHUNKS[3]));
                for size in sizes {
                    match answers.by_ref().take(size).collect::<std::result::Result<Vec<_>, _>>() {
                        Ok(chunk) if chunk.is_empty() => break,
                        Ok(chunk) => sender.send(Ok(chunk)).ok()?,
                        Err(error) => return failed(error),
                    }
                }
                Some(())
            })
        });
        Ok(receiver)
    }

    /// What `make` makes of the answers of a whole query, piece by piece and in order, on all
    /// cores. It gives nothing at the end of the answers that it is given.
    pub(crate) fn made<T, M>(
        &self,
        expression: &Expression,
        with_sentences: bool,
        make: M,
    ) -> Result<impl Iterator<Item = Result<T>> + Send + use<T, M>>
    where
        T: Send + 'static,
        M: Fn(&mut Answers<'_>) -> Result<Option<T>> + Send + Sync + 'static,
    {
        let database = self.get()?;
        // Nothing waits in a channel: a thread makes its next chunk when the last one was taken.
        let (senders, receivers): (Vec<Place<T>>, Vec<_>) = (database.parts(expression, PARTS)?)
            .into_iter()
            .map(|part| {
                let (sender, receiver) = sync_channel(0);
                (Mutex::new(Some((part, sender))), receiver)
            })
            .unzip();
        let work = Arc::new((senders, AtomicUsize::new(0), make));
        for _ in 0..available_parallelism().map_or(1, usize::from).min(work.0.len()) {
            let (database, work, query) =
                (Arc::clone(&database), Arc::clone(&work), expression.clone());
            spawn(move || {
                let (places, next, make) = &*work;
                while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let taken =
                        place.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
                    let Some((part, sender)) = taken else { continue };
                    let answers = || {
                        let answers = database.answers_in(&query, &part)?;
                        Ok(if with_sentences { answers } else { answers.without_sentences() })
                    };
                    let part = || make_part(answers, make, &sender);
                    if watched(&sender, part).is_none() {
                        return;
                    }
                }
            });
        }
        Ok(receivers.into_iter().flatten())
    }
}

/// Parts of a whole query: enough for the threads to have the same share of the work.
const PARTS: usize = 256;

/// A part and where what is made of it goes; taken by the thread that makes it.
type Place<T> = Mutex<Option<(Part, SyncSender<Result<T>>)>>;

/// Does the work of a thread, and says so if it panics: an answer that ends early looks like a
/// whole one.
fn watched<T>(to: &SyncSender<Result<T>>, work: impl FnOnce() -> Option<()>) -> Option<()> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let (message, advice) = ("reading the store failed unexpectedly", "run `fnstore check`");
        to.send(Err(Fault::new("StoreError", "S-panic", message, advice))).ok().and(None)
    })
}

/// Makes a part; `None` when nobody wants it any more.
fn make_part<'a, T>(
    answers: impl FnOnce() -> Result<Answers<'a>>,
    make: &impl Fn(&mut Answers<'_>) -> Result<Option<T>>,
    to: &SyncSender<Result<T>>,
) -> Option<()> {
    let mut answers = match answers() {
        Ok(answers) => answers,
        Err(fault) => return to.send(Err(fault)).ok(),
    };
    loop {
        match make(&mut answers) {
            Ok(None) => return Some(()),
            Ok(Some(made)) => to.send(Ok(made)).ok()?,
            Err(fault) => return to.send(Err(fault)).ok(),
        }
    }
}
