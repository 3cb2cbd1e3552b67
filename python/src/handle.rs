//! The open store behind every object: closed once, asked from any thread.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::{available_parallelism, spawn};

use fnstore::database::{Database, DatabaseError};
use fnstore::model::SplitList;
use fnstore::query::{Cursor, Expression, Selection};
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
        // Absolute: the process may go elsewhere.
        Ok(Self::over(database.dir().to_owned(), database))
    }

    pub(crate) fn over(path: PathBuf, database: Database) -> Arc<Self> {
        Arc::new(Self { path, open: RwLock::new(Some(Arc::new(database))) })
    }

    /// The store.
    pub(crate) fn get(&self) -> Result<Arc<Database>> {
        let open = self.open.read().unwrap_or_else(|poisoned| poisoned.into_inner());
        open.clone().ok_or_else(|| self.closed())
    }

    fn closed(&self) -> Fault {
        Fault::new(
            "ClosedError",
            "S-closed",
            &format!("the store in `{}` was closed", self.path.display()),
            "open it again with fnstore.open(path)",
        )
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.read().unwrap_or_else(|poisoned| poisoned.into_inner()).is_some()
    }

    pub(crate) fn close(&self) {
        self.open.write().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    }

    /// Does something with a writer of the store, and shows this handle what came of it.
    pub(crate) fn write<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        self.write_for(&Expression::Everything, work)
    }

    /// As [`write`](Self::write), with what an expression finds. It is read under the split list of
    /// this handle, or else under that of the editions which it names.
    pub(crate) fn write_for<T>(
        &self,
        expression: &Expression,
        work: impl FnOnce(&Database) -> Result<T>,
    ) -> Result<T> {
        let reader = self.get()?;
        let list = reader.split_list_for(expression)?;
        let mut writer = Database::open_existing_writer(&self.path)?;
        if let Some(list) = list {
            writer = writer.with_split_list(SplitList::clone(&list))?;
        }
        let done = work(&writer);
        writer.close()?;
        reader.refresh()?;
        done
    }

    /// Does something with the store as it is read: what an expression finds, under the split list
    /// of this handle, or else under that of the editions which it names.
    pub(crate) fn read_for<T>(
        &self,
        expression: &Expression,
        work: impl FnOnce(&Database) -> Result<T>,
    ) -> Result<T> {
        let reader = self.get()?;
        match reader.split_list_for(expression)? {
            Some(list) => {
                let other = Database::open(&self.path)?;
                work(&other.with_split_list(SplitList::clone(&list))?)
            }
            None => work(&reader),
        }
    }

    /// The answers of a query, in chunks, read ahead by a thread of their own; dropping the
    /// receiver ends it. Those of a page have their cursors, if they are wanted.
    pub(crate) fn answers(
        &self,
        expression: &Expression,
        selection: &Selection,
        with_cursors: bool,
    ) -> Result<Receiver<Result<Vec<Found>>>> {
        let database = self.get()?;
        let (expression, selection) = (expression.clone(), selection.clone());
        let (sender, receiver) = sync_channel(WAITING);
        let is_page = with_cursors && selection.limit.is_some();
        spawn(move || {
            watched(&sender, || {
                let failed = |error: DatabaseError| sender.send(Err(error.into())).ok();
                let mut answers = match database.select(&expression, &selection) {
                    Ok(answers) => answers,
                    Err(error) => return failed(error),
                };
                let sizes = CHUNKS.into_iter().chain(std::iter::repeat(CHUNKS[3]));
                for size in sizes {
                    let (mut chunk, mut error) = (Vec::new(), None);
                    while chunk.len() < size
                        && let Some(answer) = answers.next()
                    {
                        match answer.and_then(|answer| with_cursor(answer, &answers, is_page)) {
                            Ok(found) => chunk.push(found),
                            Err(fault) => error = Some(fault),
                        }
                        if error.is_some() {
                            break;
                        }
                    }
                    // What was found before an error is handed over before it.
                    let is_end = chunk.is_empty();
                    if !is_end {
                        sender.send(Ok(chunk)).ok()?;
                    }
                    match error {
                        Some(error) => return failed(error),
                        None if is_end => break,
                        None => {}
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
        let parts = database.parts(expression, PARTS)?;
        let threads = available_parallelism().map_or(1, usize::from).min(parts.len());
        let (queue, waiting) = channel::<Place<T>>();
        let work = Arc::new((Mutex::new(waiting), make));
        for _ in 0..threads {
            let (database, work, query) =
                (Arc::clone(&database), Arc::clone(&work), expression.clone());
            spawn(move || {
                let (waiting, make) = &*work;
                let next =
                    || waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).recv();
                while let Ok((part, sender)) = next() {
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
        let mut made = Made { parts: parts.into_iter(), queue, begun: VecDeque::new() };
        (0..2 * threads).for_each(|_| made.begin());
        Ok(made)
    }
}

/// An answer and the cursor behind it, of a page.
pub(crate) type Found = (Answer, Option<Cursor>);

fn with_cursor(
    answer: Answer,
    answers: &Answers<'_>,
    is_page: bool,
) -> std::result::Result<Found, DatabaseError> {
    let cursor = is_page.then(|| answers.cursor(&answer)).transpose()?;
    Ok((answer, cursor))
}

/// Parts of a whole query: enough for the threads to have the same share of the work.
const PARTS: usize = 256;

/// Chunks of a part that wait to be taken: most of a part, so that a thread does not stand still
/// while the caller takes the parts before.
const AHEAD: usize = 4;

/// A part and where what is made of it goes.
type Place<T> = (Part, SyncSender<Result<T>>);

/// What is made of parts, in their order. Parts begin as those before them were taken, so memory
/// holds a few, and threads end with the one who takes.
struct Made<T> {
    parts: std::vec::IntoIter<Part>,
    queue: Sender<Place<T>>,
    /// Of the parts that are begun, the next one first.
    begun: VecDeque<Receiver<Result<T>>>,
}

impl<T> Made<T> {
    /// Begins the next part, if there is one.
    fn begin(&mut self) {
        let Some(part) = self.parts.next() else { return };
        let (sender, receiver) = sync_channel(AHEAD);
        self.begun.push_back(receiver);
        // Without threads the sender is gone, and the part ends without a chunk: threads end with
        // the queue, and tell of what they could not do.
        let _ = self.queue.send((part, sender));
    }
}

impl<T> Iterator for Made<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.begun.front()?.recv() {
                Ok(made) => return Some(made),
                Err(_) => {
                    self.begun.pop_front();
                    self.begin();
                }
            }
        }
    }
}

/// Does the work of a thread, and says so if it panics: an answer that ends early looks like a
/// whole one.
pub(crate) fn watched<T>(
    to: &SyncSender<Result<T>>,
    work: impl FnOnce() -> Option<()>,
) -> Option<()> {
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
