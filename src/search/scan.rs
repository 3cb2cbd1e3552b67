//! All sets that a query finds, looked at by all threads and handed on in order.
//!
//! The first answers come at once, from this thread: most queries have no more. What is left is cut
//! into pieces of keys. Each is read, asked and folded by one thread, and the results come in the
//! order of the pieces. So whoever takes them sees the same for any number of threads.

use std::sync::Mutex;

use super::evaluate::Evaluator;
use super::matched::Match;
use super::plan::{Narrowed, Piece, Planner, SetRows};
use crate::database::{Database, DatabaseError, Held};
use crate::index::Hit;
use crate::query::Expression;
use crate::search::Answer;
use crate::store::in_order;

/// Rows of the pieces that this thread reads before others help.
const ALONE: [usize; 4] = [4, 32, 256, 1024];

/// Most sets whose sentences are read together.
const TOGETHER: usize = 256;

/// What was made of the sets of a piece.
struct Folded<A, E> {
    all: A,
    /// The first record that could not be read.
    left_out: Option<DatabaseError>,
    /// What ended it.
    failed: Option<E>,
    /// The last row that was read.
    last: Option<Hit>,
}

/// What is asked of a query's sets; evaluators are lent to one thread at a time.
struct Scan<'a, 'q, B, F> {
    database: &'a Database,
    expression: &'q Expression,
    idle: Mutex<Vec<Evaluator<'a>>>,
    begin: B,
    add: F,
    reads_sentences: bool,
}

impl Database {
    /// The sets that a query finds, folded by all threads of rayon's pool: `begin` makes an empty
    /// value, `add` adds a set to it, and `take` gets the values in the order of
    /// [`query`](Self::query). The first are of few sets, so that they come soon; later ones are of
    /// some thousand.
    ///
    /// `add` may give a record that it could not read: the others come first, and the first of
    /// these errors last.
    ///
    /// # Errors
    /// As [`query`](Self::query), and those of `add` and `take`, which end it.
    pub fn fold_matches<A: Send, E: From<DatabaseError> + Send>(
        &self,
        expression: &Expression,
        begin: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, Match<'_>) -> Result<Option<DatabaseError>, E> + Sync,
        take: impl FnMut(A) -> Result<(), E>,
    ) -> Result<(), E> {
        self.folded(expression, (begin, add), false, take)
    }

    /// As [`fold_matches`](Self::fold_matches), of sets with all that they refer to by name.
    ///
    /// # Errors
    /// As [`fold_matches`](Self::fold_matches).
    ///
    /// ```
    /// # use fnstore::database::{Database, DatabaseError};
    /// # use fnstore::transfer::ImportOptions;
    /// # let store = tempfile::tempdir()?;
    /// # let database = Database::open_writer(store.path())?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?;
    /// let (mut longest, mut sets) = (0, 0);
    /// database.fold_answers(
    ///     &"frame=Checking".parse()?,
    ///     Vec::new,
    ///     |lengths, answer| Ok::<_, DatabaseError>(lengths.push(answer.sentence.text.len())),
    ///     |lengths| {
    ///         sets += lengths.len();
    ///         longest = lengths.into_iter().fold(longest, usize::max);
    ///         Ok(())
    ///     },
    /// )?;
    /// assert_eq!(sets as u64, database.count(&"frame=Checking".parse()?)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fold_answers<A: Send, E: From<DatabaseError> + Send>(
        &self,
        expression: &Expression,
        begin: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, Answer) -> Result<(), E> + Sync,
        take: impl FnMut(A) -> Result<(), E>,
    ) -> Result<(), E> {
        let add = |all: &mut A, found: Match<'_>| match found.into_answer() {
            Ok(Some(answer)) => add(all, answer).map(|()| None),
            Ok(None) => Ok(None),
            Err(error) => Ok(Some(error)),
        };
        self.fold_with_sentences(expression, begin, add, take)
    }

    /// As [`fold_matches`](Self::fold_matches), of sets whose sentences are read together.
    pub(crate) fn fold_with_sentences<A: Send, E: From<DatabaseError> + Send>(
        &self,
        expression: &Expression,
        begin: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, Match<'_>) -> Result<Option<DatabaseError>, E> + Sync,
        take: impl FnMut(A) -> Result<(), E>,
    ) -> Result<(), E> {
        self.folded(expression, (begin, add), true, take)
    }

    fn folded<A: Send, E: From<DatabaseError> + Send>(
        &self,
        expression: &Expression,
        (begin, add): (
            impl Fn() -> A + Sync,
            impl Fn(&mut A, Match<'_>) -> Result<Option<DatabaseError>, E> + Sync,
        ),
        reads_sentences: bool,
        take: impl FnMut(A) -> Result<(), E>,
    ) -> Result<(), E> {
        self.refresh()?;
        let catalog = self.catalog_for(expression)?;
        self.check_names(&catalog, expression)?;
        let plan = Planner::new(self, &catalog, expression).plan(expression)?;
        let idle = Mutex::new(vec![Evaluator::new(catalog, expression, false)?]);
        let database = self;
        Scan { database, expression, idle, begin, add, reads_sentences }.run(plan.narrowed, take)
    }
}

impl<'a, A, E, B, F> Scan<'a, '_, B, F>
where
    A: Send,
    E: From<DatabaseError> + Send,
    B: Fn() -> A + Sync,
    F: Fn(&mut A, Match<'_>) -> Result<Option<DatabaseError>, E> + Sync,
{
    fn run(&self, narrowed: Narrowed, mut take: impl FnMut(A) -> Result<(), E>) -> Result<(), E> {
        let mut left_out = None;
        let mut take = |folded: Folded<A, E>| {
            left_out = left_out.take().or(folded.left_out);
            take(folded.all)?;
            folded.failed.map_or(Ok(folded.last), Err)
        };
        let mut rows = narrowed.clone().sets(Held::Borrowed(self.database), None);
        let (mut last, mut is_all) = (None, false);
        for size in ALONE {
            let mut read = 0;
            // It ends with a set, behind which the next one begins.
            let piece = std::iter::from_fn(|| {
                if read == size {
                    return None;
                }
                let row = rows.next();
                read += usize::from(matches!(row, Some(Ok(_))));
                is_all |= row.is_none();
                row
            });
            last = take(self.fold(piece))?.or(last);
            if is_all {
                break;
            }
        }
        drop(rows);
        if !is_all {
            let pieces = narrowed.pieces(&self.database.store, last);
            let fold = |piece: Piece| self.fold(piece.sets(self.database));
            in_order(pieces, fold, |folded| take(folded).map(drop))?;
        }
        left_out.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Folds the sets among these rows of which the query holds.
    fn fold(&self, rows: impl Iterator<Item = <SetRows<'a> as Iterator>::Item>) -> Folded<A, E> {
        let (all, left_out, failed, last) = ((self.begin)(), None, None, None);
        let mut folded = Folded { all, left_out, failed, last };
        let evaluator = match self.evaluator() {
            Ok(evaluator) => evaluator,
            Err(error) => return Folded { failed: Some(error.into()), ..folded },
        };
        folded.failed = self.fold_into(&mut folded, &evaluator, rows).err();
        self.idle().push(evaluator);
        folded
    }

    fn fold_into(
        &self,
        folded: &mut Folded<A, E>,
        evaluator: &Evaluator<'a>,
        mut rows: impl Iterator<Item = <SetRows<'a> as Iterator>::Item>,
    ) -> Result<(), E> {
        loop {
            let mut found = Vec::new();
            let end = loop {
                let (release, set) = match rows.next() {
                    Some(Ok(row)) => row,
                    Some(Err(error)) if error.is_unreadable_record() => {
                        folded.left_out.get_or_insert(error);
                        continue;
                    }
                    Some(Err(error)) => break Some(Err(error)),
                    None => break Some(Ok(())),
                };
                folded.last = Some(Hit::of(release, &set));
                let set = Match::new(&evaluator.facts, release, set);
                match evaluator.holds(&set) {
                    Ok(true) => found.push(set),
                    Ok(false) => {}
                    Err(error) if error.is_unreadable_record() => {
                        folded.left_out.get_or_insert(error);
                    }
                    Err(error) => break Some(Err(error)),
                }
                if found.len() == TOGETHER {
                    break None;
                }
            };
            if self.reads_sentences {
                // A sentence that cannot be read is told of when its set is reached.
                let _ = Match::read_sentences(&found);
            }
            for set in found {
                match (self.add)(&mut folded.all, set)? {
                    Some(error) if error.is_unreadable_record() => {
                        folded.left_out.get_or_insert(error);
                    }
                    Some(error) => return Err(error.into()),
                    None => {}
                }
            }
            match end {
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) => return Err(error.into()),
                None => {}
            }
        }
    }

    fn evaluator(&self) -> Result<Evaluator<'a>, DatabaseError> {
        if let Some(idle) = self.idle().pop() {
            return Ok(idle);
        }
        let catalog = self.database.catalog_for(self.expression)?;
        Evaluator::new(catalog, self.expression, false)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Evaluator<'a>>> {
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
