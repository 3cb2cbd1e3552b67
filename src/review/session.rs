//! One reviewer at work.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::answers::{answer, recorded};
use super::decide::{Act, Decision, Done, Request, Retargeted, open_writer, take_back, write};
use super::elements::MovedElement;
use super::queue::{Feed, Reading, feed};
use super::triples::Study;
use super::view::View;
use super::{Item, Question, Result, ReviewError, Source, UNDO_DEPTH};
use crate::database::Database;
use crate::model::{AnnotationSetId, Judgement, ReleaseId, Shown, Span};
use crate::query::Expression;
use crate::text::{CharIndex, CharSpan};

/// How long an item that one window shows is kept from the others.
const KEPT: Duration = Duration::from_secs(120);

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Decisions that are safe.
    pub saved: usize,
    /// Sets that were deleted meanwhile: nothing was written of them.
    pub gone: Vec<AnnotationSetId>,
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The item, or the first of those that were decided together.
    pub item: usize,
    /// All its sets.
    pub sets: Vec<(ReleaseId, AnnotationSetId)>,
}

/// How far the review is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Items that were decided in this session.
    pub decided: usize,
    /// Decisions that can be undone.
    pub undoable: usize,
    /// Items of the query that are not decided yet, once they are counted; unknown where there are
    /// more than 100,000. What a search decides counts as well, if the query has it.
    pub left: Option<usize>,
}

/// A review by one reviewer. Memory grows by some bytes for each item that was shown.
pub struct Session {
    dir: PathBuf,
    database: Arc<Database>,
    reviewer: String,
    question: Question,
    blind: bool,
    queue: Mutex<Queue>,
    /// What is still to come; apart from the queue, so that waiting for it holds up nothing else.
    feed: Mutex<Option<Feed>>,
    /// Items of the query, once they are counted.
    total: Arc<OnceLock<Option<usize>>>,
    /// Judgements that a promise still asks for.
    left: Option<Arc<AtomicUsize>>,
    /// What the protocol draws, once it is drawn.
    study: Option<Arc<OnceLock<Study>>>,
    /// What the feed reads; gone with the feed, when the queue has all items of the query.
    reading: Weak<Reading>,
    undo: Mutex<VecDeque<Vec<Done>>>,
    /// One thread of the session writes at a time.
    writing: Mutex<()>,
}

#[derive(Default)]
struct Queue {
    items: Vec<Item>,
    numbers: HashMap<Item, usize>,
    /// Those that the query gave; a search gives others.
    of_query: BTreeSet<usize>,
    /// Scores of this session.
    decided: BTreeMap<usize, u8>,
    /// Which window shows an item, and since when.
    shown: HashMap<usize, (String, Instant)>,
    /// Which windows skipped an item.
    skipped: HashMap<usize, BTreeSet<String>>,
}

impl Queue {
    /// The number of an item; one that is not known joins the queue.
    fn number(&mut self, item: Item) -> usize {
        let next = self.items.len();
        let number = *self.numbers.entry(item).or_insert(next);
        if number == next {
            self.items.push(item);
        }
        number
    }

    /// Whether an item of the query is undecided, not skipped by the window, and shown by no other.
    fn is_open(&self, number: usize, window: &str) -> bool {
        let shown = self.shown.get(&number);
        let is_elsewhere = shown.is_some_and(|(by, since)| by != window && since.elapsed() < KEPT);
        let is_skipped = self.skipped.get(&number).is_some_and(|by| by.contains(window));
        let is_undecided = !self.decided.contains_key(&number);
        self.of_query.contains(&number) && is_undecided && !is_skipped && !is_elsewhere
    }
}

impl Session {
    /// Starts a review of the sets for which a query holds and that the reviewer has not judged.
    ///
    /// # Errors
    /// When the store cannot be opened, or the query names what is not there.
    pub fn open(
        dir: &Path,
        expression: &Expression,
        reviewer: &str,
        question: Question,
        source: Source,
    ) -> Result<Self> {
        let database = Database::open(dir)?;
        let blind = matches!(source, Source::Protocol(_));
        // What a promise asks for depends on answers that are still to come.
        let handle = match source {
            Source::Promise { .. } => Database::open(dir)?,
            Source::Query | Source::Protocol(_) => database.snapshot()?,
        };
        let feed = feed(handle, expression, reviewer, question, source)?;
        Ok(Self {
            dir: dir.to_owned(),
            database: Arc::new(database),
            reviewer: reviewer.to_owned(),
            question,
            blind,
            queue: Mutex::default(),
            total: Arc::clone(&feed.total),
            left: feed.left.clone(),
            reading: Weak::clone(&feed.reading),
            study: feed.study.clone(),
            feed: Mutex::new(Some(feed)),
            undo: Mutex::default(),
            writing: Mutex::default(),
        })
    }

    /// The database as it is now, for reading.
    ///
    /// # Errors
    /// When the store fails, or another has taken its place that this build does not read.
    pub fn database(&self) -> Result<Arc<Database>> {
        let database = &self.database;
        database.refresh()?;
        // Another build may have put a store of its own format in its place since it was opened.
        database.store().format()?;
        Ok(Arc::clone(database))
    }

    /// Writes to the store while no other thread of this session does.
    pub fn alone<T>(&self, write: impl FnOnce() -> T) -> T {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        write()
    }

    /// Who reviews.
    #[must_use]
    pub fn reviewer(&self) -> &str {
        &self.reviewer
    }

    /// What is asked.
    #[must_use]
    pub fn question(&self) -> Question {
        self.question
    }

    /// Whether outputs and controls are mixed, so that nothing may tell them apart.
    #[must_use]
    pub fn is_blind(&self) -> bool {
        self.blind
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn undo_stack(&self) -> MutexGuard<'_, VecDeque<Vec<Done>>> {
        self.undo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the review is.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let undoable = self.undo_stack().len();
        let queue = self.queue();
        let of_query = queue.decided.keys().filter(|number| queue.of_query.contains(number));
        let total = self.total.get().copied().flatten();
        let of_total = || total.map(|total| total.saturating_sub(of_query.count()));
        let promised = self.left.as_ref().map(|left| left.load(Ordering::Relaxed));
        let left = promised.or_else(of_total);
        Counts { decided: queue.decided.len(), undoable, left }
    }

    /// The first item after one that is undecided, that this window has not skipped and no other
    /// shows; none at the end.
    ///
    /// # Errors
    /// When the store fails; the next call tries again.
    pub fn next(&self, after: Option<usize>, window: &str) -> Result<Option<usize>> {
        let mut at = after.map_or(0, |after| after + 1);
        loop {
            if let Some(found) = self.known(&mut at, window) {
                return Ok(Some(found));
            }
            let mut feed = self.feed.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(coming) = &mut *feed else {
                drop(feed);
                // What another window fetched meanwhile, or gave back behind this one.
                return Ok(self.known(&mut at, window).or_else(|| self.given_back(window)));
            };
            match coming.next_item()? {
                Some(item) => {
                    let mut queue = self.queue();
                    let number = queue.number(item);
                    queue.of_query.insert(number);
                }
                None if coming.left.is_some() => {
                    let decided = self.queue().decided.len();
                    if !coming.begin_anew(decided) {
                        drop(feed);
                        return Ok(self.known(&mut at, window).or_else(|| self.given_back(window)));
                    }
                }
                None => *feed = None,
            }
        }
    }

    /// A window shows an item that it asked for by its number.
    ///
    /// # Errors
    /// When there is no such item.
    pub fn showing(&self, number: usize, window: &str) -> Result<()> {
        self.item(number)?;
        self.queue().shown.insert(number, (window.to_owned(), Instant::now()));
        Ok(())
    }

    /// A window passes an item over and is not shown it again; others are.
    ///
    /// # Errors
    /// When there is no such item.
    pub fn skip(&self, number: usize, window: &str) -> Result<()> {
        self.item(number)?;
        let mut queue = self.queue();
        if queue.shown.get(&number).is_some_and(|(by, _)| by == window) {
            queue.shown.remove(&number);
        }
        queue.skipped.entry(number).or_default().insert(window.to_owned());
        Ok(())
    }

    /// Whether a window passed the item over.
    #[must_use]
    pub fn was_skipped(&self, number: usize) -> bool {
        self.queue().skipped.contains_key(&number)
    }

    /// A window is closed: what it showed and did not decide is open to the others.
    pub fn leave(&self, window: &str) {
        self.queue().shown.retain(|_, (by, _)| by != window);
    }

    /// The next item for a window among those that were fetched; `at` is then behind them all.
    fn known(&self, at: &mut usize, window: &str) -> Option<usize> {
        let mut queue = self.queue();
        while *at < queue.items.len() {
            let number = *at;
            if queue.is_open(number, window) {
                queue.shown.insert(number, (window.to_owned(), Instant::now()));
                return Some(number);
            }
            *at += 1;
        }
        None
    }

    /// The first item that is open and that the window does not show itself.
    fn given_back(&self, window: &str) -> Option<usize> {
        let mut queue = self.queue();
        let is_own = |number| queue.shown.get(number).is_some_and(|(by, _)| by == window);
        let mut others = queue.of_query.iter().filter(|number| !is_own(number));
        let found = others.find(|number| queue.is_open(**number, window)).copied()?;
        queue.shown.insert(found, (window.to_owned(), Instant::now()));
        Some(found)
    }

    fn item(&self, number: usize) -> Result<Item> {
        self.queue().items.get(number).copied().ok_or(ReviewError::NoItem(number))
    }

    /// The item of a number that [`next`](Self::next) gave, as it is now.
    ///
    /// # Errors
    /// When there is none, its set is gone, or the store fails.
    pub fn view(&self, number: usize) -> Result<View> {
        let item = self.item(number)?;
        let database = self.database()?;
        self.view_of(&database, item)
    }

    fn view_of(&self, database: &Database, item: Item) -> Result<View> {
        let study = self.study.as_ref().and_then(|study| study.get());
        let place = study.and_then(|study| study.get(&item)).map(AsRef::as_ref);
        View::read(database, item, (&self.reviewer, self.question, self.blind), place)
    }

    /// Writes decisions down, in one commit; they are safe once this returns. Each is taken back by
    /// itself.
    ///
    /// # Errors
    /// When another process writes the store (it says who), or the store fails: then nothing was
    /// written.
    pub fn decide(&self, decisions: &[Decision], now: u64) -> Result<Saved> {
        let (done, gone) = self.judge(decisions, now)?;
        let saved = done.len();
        done.into_iter().for_each(|done| self.remember(vec![done]));
        Ok(Saved { saved, gone })
    }

    /// Gives several items of [`enqueue`](Self::enqueue) one score, in one commit; one undo takes
    /// all back.
    ///
    /// # Errors
    /// As [`decide`](Self::decide).
    pub fn decide_together(&self, items: &[usize], score: u8, now: u64) -> Result<Saved> {
        let decision =
            |item: &usize| Decision { item: *item, score, millis: 0, note: String::new() };
        let (done, gone) = self.judge(&items.iter().map(decision).collect::<Vec<_>>(), now)?;
        let saved = done.len();
        self.remember(done);
        Ok(Saved { saved, gone })
    }

    fn judge(&self, decisions: &[Decision], now: u64) -> Result<(Vec<Done>, Vec<AnnotationSetId>)> {
        let (done, gone) = self.alone(|| self.judge_alone(decisions, now))?;
        let to_come = self.to_come(decisions);
        let mut queue = self.queue();
        queue.of_query.extend(to_come);
        for decision in decisions {
            queue.decided.insert(decision.item, decision.score);
            queue.shown.remove(&decision.item);
            queue.skipped.remove(&decision.item);
        }
        Ok((done, gone))
    }

    /// Reads and writes with one handle.
    fn judge_alone(
        &self,
        decisions: &[Decision],
        now: u64,
    ) -> Result<(Vec<Done>, Vec<AnnotationSetId>)> {
        let database = open_writer(&self.dir, true)?;
        let (mut asked, mut gone) = (Vec::new(), Vec::new());
        for decision in decisions {
            let item = self.item(decision.item)?;
            match self.view_of(&database, item) {
                Ok(view) => asked.push(self.judged(&view, decision, now)),
                Err(ReviewError::Gone(set)) => gone.push(set),
                Err(error) => return Err(error),
            }
        }
        let (done, more) = write(&database, asked)?;
        gone.extend(more);
        Ok((done, gone))
    }

    /// Those decided items that the query has and the queue has not come to: a search found them.
    fn to_come(&self, decisions: &[Decision]) -> Vec<usize> {
        let Some(reading) = self.reading.upgrade() else { return Vec::new() };
        let unknown: Vec<(usize, Item)> = {
            let queue = self.queue();
            let numbers = decisions.iter().map(|decision| decision.item);
            let unknown = numbers.filter(|number| !queue.of_query.contains(number));
            unknown.filter_map(|number| Some((number, *queue.items.get(number)?))).collect()
        };
        // What is written is written: of an item that cannot be asked about now, the queue says it
        // when it comes to it.
        let of_query = unknown.into_iter().filter(|(_, item)| reading.has(*item).unwrap_or(false));
        of_query.map(|(number, _)| number).collect()
    }

    fn judged(&self, view: &View, decision: &Decision, time: u64) -> Request {
        let Item { release, set, .. } = view.item;
        let shown = Shown { text: view.output.bracketed(), millis: decision.millis };
        let judgement = Judgement {
            reviewer: self.reviewer.clone(),
            question: view.recorded.clone(),
            score: decision.score,
            time,
            note: decision.note.clone(),
            shown: Some(shown),
        };
        let of = (self.reviewer.clone(), view.recorded.clone());
        let act = Act::Judge { of, judgement: Some(judgement) };
        (decision.item, release, set, act)
    }

    /// The score that the reviewer has given a set, asked about its own frame; none of a set that
    /// is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub fn answer(
        &self,
        database: &Database,
        release: ReleaseId,
        set: AnnotationSetId,
    ) -> Result<Option<u8>> {
        let Some(location) = database.store().set_location(release, set)? else { return Ok(None) };
        let item = Item { release, set, frame: location.frame };
        let recorded = recorded(database, item, self.question)?;
        Ok(answer(database, item, (&self.reviewer, &recorded))?.map(|it| it.score))
    }

    /// The numbers of sets that are to be judged together, as of a search; they join the queue.
    ///
    /// # Errors
    /// When one of them is gone, or the store fails.
    pub fn enqueue(&self, sets: &[(ReleaseId, AnnotationSetId)]) -> Result<Vec<usize>> {
        let database = self.database()?;
        let mut numbers = Vec::new();
        for &(release, set) in sets {
            let location = database.store().set_location(release, set)?;
            let frame = location.ok_or(ReviewError::Gone(set))?.frame;
            numbers.push(self.queue().number(Item { release, set, frame }));
        }
        Ok(numbers)
    }

    /// Moves a set's target; offsets count code points. Gives whether it stands elsewhere now.
    ///
    /// # Errors
    /// When the review is blind, the pieces are none of the sentence, another process writes the
    /// store, or the store fails.
    pub fn retarget(&self, number: usize, targets: &[(u32, u32)]) -> Result<bool> {
        let view = self.unblinded(number)?;
        let after = spans_in(&view.output.text, targets)?;
        let moved = Retargeted { before: view.set.targets.clone(), after };
        if moved.before == moved.after {
            return Ok(false);
        }
        self.rewrite(number, view.item, Act::Retarget(moved))
    }

    /// Moves an FE, by its place among [`View::elements`]; offsets count code points. Gives whether
    /// it stands elsewhere now.
    ///
    /// # Errors
    /// As [`retarget`](Self::retarget).
    pub fn move_element(&self, number: usize, element: usize, span: (u32, u32)) -> Result<bool> {
        let view = self.unblinded(number)?;
        let after = spans_in(&view.output.text, &[span])?[0];
        let Some((_, before)) = view.elements().nth(element) else {
            let expected = format!("one of {} frame elements", view.elements().count());
            return Err(ReviewError::Targets { found: element.to_string(), expected });
        };
        if before == after {
            return Ok(false);
        }
        let moved = MovedElement { element, before, after };
        self.rewrite(number, view.item, Act::MoveElement(moved))
    }

    /// An item whose annotation a reviewer may change.
    fn unblinded(&self, number: usize) -> Result<View> {
        let view = self.view(number)?;
        if self.blind { Err(ReviewError::Blind) } else { Ok(view) }
    }

    fn rewrite(&self, number: usize, item: Item, act: Act) -> Result<bool> {
        let act = (number, item.release, item.set, act);
        let (done, gone) = self.alone(|| write(&open_writer(&self.dir, false)?, vec![act]))?;
        if let Some(set) = gone.first() {
            return Err(ReviewError::Gone(*set));
        }
        self.remember(done);
        Ok(true)
    }

    /// Remembers what was done together, to be taken back together.
    fn remember(&self, done: Vec<Done>) {
        if !done.is_empty() {
            let mut stack = self.undo_stack();
            stack.push_back(done);
            let beyond = stack.len().saturating_sub(UNDO_DEPTH);
            stack.drain(..beyond);
        }
    }

    /// The items that the reviewer's answer stands on, with its score.
    fn standing(&self, items: &[usize]) -> Result<Vec<(usize, u8)>> {
        let database = self.database()?;
        let mut standing = Vec::new();
        for &number in items {
            let item = self.item(number)?;
            let recorded = recorded(&database, item, self.question)?;
            let answer = answer(&database, item, (&self.reviewer, &recorded))?;
            standing.extend(answer.map(|answer| (number, answer.score)));
        }
        Ok(standing)
    }

    /// Takes the last change of this session back, whichever window made it.
    ///
    /// # Errors
    /// When there is none, someone has changed it since (it is then forgotten), or the store cannot
    /// be written (it can be tried again).
    pub fn undo(&self) -> Result<Undone> {
        let mut stack = self.undo_stack();
        let last = stack.back().ok_or(ReviewError::NothingToUndo)?;
        let undone = Undone {
            item: last.first().ok_or(ReviewError::NothingToUndo)?.item,
            sets: last.iter().map(|done| (done.release, done.set)).collect(),
        };
        let items: Vec<usize> = last.iter().map(|done| done.item).collect();
        match self.alone(|| take_back(&self.dir, last)) {
            Err(error @ (ReviewError::ChangedMeanwhile(_) | ReviewError::Gone(_))) => {
                stack.pop_back();
                return Err(error);
            }
            outcome => outcome?,
        }
        stack.pop_back();
        drop(stack);
        // An answer of before stands again. What is undone is undone, also if that cannot be read
        // now.
        let standing = self.standing(&items).unwrap_or_default();
        let mut queue = self.queue();
        queue.decided.retain(|item, _| !items.contains(item));
        queue.decided.extend(standing);
        Ok(undone)
    }
}

/// Pieces of a text, given in code points, in bytes.
fn spans_in(text: &str, pieces: &[(u32, u32)]) -> Result<Vec<Span>> {
    let wrong = |found: &dyn std::fmt::Debug, expected: &str| ReviewError::Targets {
        found: format!("{found:?}"),
        expected: expected.to_owned(),
    };
    let index = CharIndex::new(text);
    let mut spans = Vec::new();
    for &(start, end) in pieces {
        let span = index.to_bytes(CharSpan { start, end });
        let span = span.map_err(|error| wrong(&(start, end), &error.to_string()))?;
        let follows = spans.last().is_none_or(|last: &Span| last.end <= span.start);
        if span.is_empty() || !follows {
            return Err(wrong(&pieces, "pieces that hold text, in order, none over another"));
        }
        spans.push(span);
    }
    if spans.is_empty() { Err(wrong(&pieces, "at least one piece")) } else { Ok(spans) }
}
