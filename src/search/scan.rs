//! All sets that a query finds, looked at by all threads and handed on in order.
//!
//! The first answers come at once, from this thread: most queries have no more. What is left is cut
//! into pieces of keys. Each is read, asked and folded by one thread, and the results come in the
//! order of the pieces. So whoever takes them sees the same for any number of threads.
//!
//! A reader's handle is held still meanwhile: all pieces are of one state.

use std::sync::{Arc, Mutex};

use super::evaluate::{Evaluator, Since};
use super::matched::Match;
use super::plan::{Narrowed, Piece, Planner, SetRows, pieces_of_runs, pieces_of_sets};
use crate::database::{Database, DatabaseError, Held};
use crate::index::Hit;
use crate::query::Expression;
use crate::search::Answer;
use crate::store::in_order;

/// Rows of the pieces that this thread reads before others help.
const ALONE: [usize; 4] = if cfg!(test) { [1, 2, 3, 5] } else { [4, 32, 256, 1024] };

/// Most rows of a piece that are folded at once. A piece has more where the files say nothing of
/// rows that are in memory alone.
const ROWS: usize = if cfg!(test) { 16 } else { 65_536 };

/// Most sets that are looked at together, and most answers that are folded into one value. Those of
/// more lie in buffers of hundreds of kilobytes, which an allocator keeps in pages of megabytes.
const TOGETHER: usize = if cfg!(test) { 5 } else { 64 };

/// What is read of sets together, before they are looked at one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Nothing,
    Sentences,
    /// All that an answer says.
    Answers,
}

/// What was made of the sets of a piece.
struct Folded<A, E> {
    values: Vec<A>,
    /// The first record that could not be read.
    left_out: Option<DatabaseError>,
    /// What ended it.
    failed: Option<E>,
    /// The last row that was read.
    last: Option<Hit>,
    /// What is left of the piece.
    rest: Option<Piece>,
}

/// What is asked of a query's sets; evaluators are lent to one thread at a time.
struct Scan<'a, 'q, B, F> {
    database: &'a Database,
    expression: &'q Expression,
    idle: Mutex<Vec<Evaluator<'a>>>,
    since: Arc<Since>,
    begin: B,
    add: F,
    reads: Reads,
}

impl Database {
    /// The sets that a query finds, folded by all threads of rayon's pool: `begin` makes an empty
    /// value, `add` adds a set to it, and `take` gets the values in the order of
    /// [`query`](Self::query). The first are of few sets, so that they come soon; later ones are of
    /// some thousand at most.
    ///
    /// `add` may give a record that it could not read: the others come first, and the first of
    /// these errors last.
    ///
    /// Of a reader's handle all sets are of one state, whatever is committed and whoever refreshes
    /// the handle meanwhile. Of a writer's, some thousand are, and those behind them may be of a
    /// later one; of its [`snapshot`](Self::snapshot) all are.
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
        self.folded(expression, (begin, add), Reads::Nothing, take)
    }

    /// As [`fold_matches`](Self::fold_matches), of sets with all that they refer to by name. A
    /// value is of 64 answers at most.
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
        self.folded(expression, (begin, add), Reads::Answers, take)
    }

    /// As [`fold_matches`](Self::fold_matches), of sets whose sentences are read together.
    pub(crate) fn fold_with_sentences<A: Send, E: From<DatabaseError> + Send>(
        &self,
        expression: &Expression,
        begin: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, Match<'_>) -> Result<Option<DatabaseError>, E> + Sync,
        take: impl FnMut(A) -> Result<(), E>,
    ) -> Result<(), E> {
        self.folded(expression, (begin, add), Reads::Sentences, take)
    }

    fn folded<A: Send, E: From<DatabaseError> + Send>(
        &self,
        expression: &Expression,
        (begin, add): (
            impl Fn() -> A + Sync,
            impl Fn(&mut A, Match<'_>) -> Result<Option<DatabaseError>, E> + Sync,
        ),
        reads: Reads,
        take: impl FnMut(A) -> Result<(), E>,
    ) -> Result<(), E> {
        self.refresh()?;
        let revision = self.store.revision().map_err(DatabaseError::from)?;
        let mut narrowed = self.narrowed(expression)?;
        let mut still = self.still(None)?;
        if still.store.revision().map_err(DatabaseError::from)? != revision {
            // Planning has met a newer index.
            still = self.last_still()?;
            narrowed = still.narrowed(expression)?;
        }
        let database: &Database = &still;
        let first = Evaluator::new(database.catalog_for(expression)?, expression, false)?;
        let (since, idle) = (first.since(), Mutex::new(vec![first]));
        let scan = Scan { database, expression, idle, since, begin, add, reads };
        scan.run(narrowed, take)
    }

    /// Where the answers of a query can lie.
    fn narrowed(&self, expression: &Expression) -> Result<Narrowed, DatabaseError> {
        let catalog = self.catalog_for(expression)?;
        self.check_names(&catalog, expression)?;
        Ok(Planner::new(self, &catalog, expression).plan(expression)?.narrowed)
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
            folded.values.into_iter().try_for_each(&mut take)?;
            folded.failed.map_or(Ok((folded.last, folded.rest)), Err)
        };
        let mut take_all = |mut folded: Folded<A, E>| {
            while let (_, Some(rest)) = take(folded)? {
                folded = self.fold_piece(rest);
            }
            Ok::<_, E>(())
        };
        match narrowed {
            Narrowed::Sets(hits) => {
                let mut hits = hits.into_iter();
                for size in ALONE {
                    let piece = hits.by_ref().take(size).collect();
                    take_all(self.fold_piece(Piece::Sets(piece)))?;
                    if hits.len() == 0 {
                        break;
                    }
                }
                in_order(pieces_of_sets(hits), |piece| self.fold_piece(piece), take_all)?;
            }
            runs => self.run_runs(&runs, take_all)?,
        }
        left_out.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Folds the sets of runs of keys.
    fn run_runs(
        &self,
        runs: &Narrowed,
        mut take: impl FnMut(Folded<A, E>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = runs.clone().sets(Held::Borrowed(self.database), None);
        let mut last = None;
        for size in ALONE {
            let mut is_all = false;
            let folded = self.fold(first(&mut rows, size, &mut is_all));
            last = folded.last.or(last);
            take(folded)?;
            if is_all {
                return Ok(());
            }
        }
        drop(rows);
        let pieces = pieces_of_runs(runs, &self.database.store, last);
        in_order(pieces, |piece| self.fold_piece(piece), take)
    }

    /// Folds a piece, or as many rows of it as are folded together.
    fn fold_piece(&self, piece: Piece) -> Folded<A, E> {
        let (mut rows, mut is_all) = (piece.clone().sets(self.database), false);
        let mut folded = self.fold(first(&mut rows, ROWS, &mut is_all));
        if !is_all && folded.failed.is_none() {
            folded.rest = folded.last.map(|last| piece.behind(last));
        }
        folded
    }

    /// Folds the sets among these rows of which the query holds.
    fn fold(&self, rows: impl Iterator<Item = <SetRows<'a> as Iterator>::Item>) -> Folded<A, E> {
        let values = Vec::new();
        let mut folded = Folded { values, left_out: None, failed: None, last: None, rest: None };
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
        let mut found = Vec::with_capacity(TOGETHER);
        loop {
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
            // What cannot be read is told of when its set is reached.
            let _ = match self.reads {
                Reads::Nothing => Ok(()),
                Reads::Sentences => Match::read_sentences(&found),
                Reads::Answers => Match::read_for_answers(&found),
            };
            if folded.values.is_empty() || self.reads == Reads::Answers {
                folded.values.push((self.begin)());
            }
            let value = folded.values.last_mut().expect("one was put there");
            for set in found.drain(..) {
                match (self.add)(value, set)? {
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
        Ok(Evaluator::with_since(catalog, self.expression, false, Arc::clone(&self.since)))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Evaluator<'a>>> {
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The rows as far as a set, of which there are so many by then; says whether these are all.
fn first<R, E>(
    rows: &mut impl Iterator<Item = Result<R, E>>,
    size: usize,
    is_all: &mut bool,
) -> impl Iterator<Item = Result<R, E>> {
    let mut read = 0;
    std::iter::from_fn(move || {
        if read == size {
            return None;
        }
        let row = rows.next();
        read += usize::from(matches!(row, Some(Ok(_))));
        *is_all |= row.is_none();
        row
    })
}

#[cfg(test)]
mod tests;
