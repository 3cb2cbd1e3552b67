//! What comes next: the sets of a query as they are found, the paper's protocol, or what the
//! promise of an edition asks for.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock, Weak};

use super::answers::{answer, recorded};
use super::triples::{self, Protocol, Study};
use super::{Item, Question, Result, ReviewError, Source};
use crate::database::{Database, DatabaseError};
use crate::promise::PromiseQuestions;
use crate::query::{Expression, Field, Selection, Term, Test};
use crate::search::{Match, Matches};

/// Items that are read ahead.
const AHEAD: usize = 64;

/// Items that are read ahead where the next one depends on answers.
const AHEAD_OF_ANSWERS: usize = 1;

/// Items that are counted at most, so that a count of millions takes nothing from their reviewer.
const COUNTED: usize = 100_000;

/// Sets that are looked at for the count; those that are judged or have no source count for
/// nothing.
const LOOKED_AT_TO_COUNT: usize = 1_000_000;

/// The next item; none at the end.
type Fed = Result<Option<Item>>;

/// Items as they are found, by a thread of its own with a handle of its own.
pub(super) struct Feed {
    /// Starts reading at the first item.
    begin: Box<dyn Fn() -> Result<Receiver<Fed>> + Send>,
    /// What is read; none after an error.
    items: Option<Receiver<Fed>>,
    /// How many there are, once they are counted; unknown beyond [`COUNTED`].
    pub(super) total: Arc<OnceLock<Option<usize>>>,
    /// Judgements that a promise still asks for, about.
    pub(super) left: Option<Arc<AtomicUsize>>,
    /// How many items were decided when a promise asked for no more.
    ended_at: Option<usize>,
    /// What is read, for as long as the feed has not come to its end.
    pub(super) reading: Weak<Reading>,
    /// What the protocol draws, once it is drawn.
    pub(super) study: Option<Arc<OnceLock<Study>>>,
}

impl Feed {
    /// The next item; none at the end, after which nothing is asked. After an error reading begins
    /// anew, so that items come a second time.
    pub(super) fn next_item(&mut self) -> Fed {
        let items = match self.items.take() {
            Some(items) => items,
            None => (self.begin)()?,
        };
        // A thread that ends without saying that it is the end has failed.
        let item = items.recv().unwrap_or(Err(ReviewError::Stopped))?;
        self.items = Some(items);
        Ok(item)
    }

    /// Has a promise that asks for no more read again, unless it was with so many decisions: what
    /// is asked for is found ahead, and the last judgements may want more. The next item is the
    /// first again. Says whether it is worth asking for.
    pub(super) fn begin_anew(&mut self, decided: usize) -> bool {
        self.items = None;
        self.ended_at.replace(decided) != Some(decided)
    }
}

/// What is asked of whom, about which sets.
pub(super) struct Reading {
    database: Database,
    expression: Expression,
    reviewer: String,
    question: Question,
    /// The items of the protocol, once they are drawn; never those of a query.
    study: Option<Arc<OnceLock<Study>>>,
    /// What a promise still asks for.
    left: Option<Arc<AtomicUsize>>,
}

/// Starts reading ahead what a reviewer has not judged, in a state of the store that stays as it
/// is. Returns once the query is planned: what it names is there.
pub(super) fn feed(
    database: Database,
    expression: &Expression,
    reviewer: &str,
    question: Question,
    source: Source,
) -> Result<Feed> {
    let (expression, reviewer) = (expression.clone(), reviewer.to_owned());
    let study = matches!(source, Source::Protocol(_)).then(Arc::default);
    let left = matches!(source, Source::Promise { .. }).then(Arc::default);
    let (drawn, asked) = (study.clone(), left.clone());
    let reading = Reading { database, expression, reviewer, question, study: drawn, left: asked };
    let reading = Arc::new(reading);
    let known = Arc::downgrade(&reading);
    let total = Arc::new(OnceLock::new());
    let counted = Arc::clone(&total);
    let begin = move || reading.begin(&source, &counted);
    let items = Some(begin()?);
    let (begin, ended_at) = (Box::new(begin), None);
    Ok(Feed { begin, items, total, left, ended_at, reading: known, study })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

impl Reading {
    /// Starts a thread that reads. Returns once the query is planned.
    fn begin(
        self: &Arc<Self>,
        source: &Source,
        total: &Arc<OnceLock<Option<usize>>>,
    ) -> Result<Receiver<Fed>> {
        let source = source.clone();
        let depends = matches!(source, Source::Promise { .. });
        let (sender, items) = sync_channel(if depends { AHEAD_OF_ANSWERS } else { AHEAD });
        let (planned, is_planned) = sync_channel(1);
        let (reading, counted) = (Arc::clone(self), Arc::clone(total));
        let work = move || {
            let read = match source {
                Source::Query => reading.stream(&planned, &sender, &counted),
                Source::Protocol(protocol) => reading.blind(protocol, &planned, &sender, &counted),
                Source::Promise { release, edition } => {
                    reading.promised(release.as_deref(), &edition, (&planned, &sender))
                }
            };
            let _ = sender.send(read.map(|()| None));
        };
        let dir = self.database.dir().to_owned();
        spawn("review", work).map_err(|source| ReviewError::Thread { dir, source })?;
        if !is_planned.recv().unwrap_or(false)
            && let Ok(Err(error)) = items.recv()
        {
            return Err(error);
        }
        Ok(items)
    }

    /// The sets of a query; whoever waits is told whether it is planned.
    fn matches(&self, expression: &Expression, planned: &SyncSender<bool>) -> Result<Matches<'_>> {
        let matches = self.database.matches(expression, &Selection::default());
        let _ = planned.send(matches.is_ok());
        Ok(matches?)
    }

    /// Sends the sets of the query. They are counted beside, once the first of them is on its way.
    fn stream(
        self: &Arc<Self>,
        planned: &SyncSender<bool>,
        sender: &SyncSender<Fed>,
        total: &Arc<OnceLock<Option<usize>>>,
    ) -> Result<()> {
        let is_counted = total.get().is_some();
        let mut uncounted = (!is_counted).then(|| (Arc::clone(self), Arc::clone(total)));
        let outcome = self.each_open(self.matches(&self.expression, planned)?, |item| {
            if sender.send(Ok(Some(item))).is_err() {
                return ControlFlow::Break(());
            }
            if let Some((reading, total)) = uncounted.take() {
                // A count that cannot be had is no reason to stop.
                let _ = spawn("review-count", move || {
                    let _ = total.set(reading.count(&total));
                });
            }
            ControlFlow::Continue(())
        });
        if uncounted.is_some() && outcome.is_ok() {
            let _ = total.set(Some(0));
        }
        outcome
    }

    /// Sends the sample of the protocol with its controls.
    fn blind(
        &self,
        protocol: Protocol,
        planned: &SyncSender<bool>,
        sender: &SyncSender<Fed>,
        total: &OnceLock<Option<usize>>,
    ) -> Result<()> {
        let generated = "origin=generated".parse().map_err(DatabaseError::from)?;
        let outputs = Expression::conjunction([self.expression.clone(), generated]);
        let outputs = self.matches(&outputs, planned)?;
        let drawn = triples::draw(&self.database, outputs, &self.reviewer, protocol)?;
        let mut items = Vec::new();
        for (item, _) in &drawn {
            if self.is_open(*item)? {
                items.push(*item);
            }
        }
        let _ = total.set(Some(items.len()));
        if let Some(study) = &self.study {
            let _ = study.set(drawn.into_iter().collect());
        }
        for item in items {
            if sender.send(Ok(Some(item))).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Sends what an edition's promise asks for, one after another: what comes next depends on what
    /// was answered meanwhile, by this reviewer and by others.
    fn promised(
        &self,
        release: Option<&str>,
        name: &str,
        (planned, sender): (&SyncSender<bool>, &SyncSender<Fed>),
    ) -> Result<()> {
        let found = self.database.edition(release, name);
        let _ = planned.send(found.is_ok());
        let (release, edition) = found?;
        let Some(questions) = PromiseQuestions::new(release, &edition) else { return Ok(()) };
        let mut sent = HashSet::new();
        loop {
            self.database.refresh()?;
            let (next, left) = questions.next(&self.database, |set| !sent.contains(&set))?;
            if let Some(asked) = &self.left {
                asked.store(left as usize, Ordering::Relaxed);
            }
            let Some(set) = next else { return Ok(()) };
            sent.insert(set);
            let Some(place) = self.database.store().set_location(release, set)? else { continue };
            let item = Item { release, set, frame: place.frame };
            if sender.send(Ok(Some(item))).is_err() {
                return Ok(());
            }
        }
    }

    /// Whether an item is one of those that are read, whether or not it was read yet.
    pub(super) fn has(&self, item: Item) -> Result<bool> {
        if let Some(study) = &self.study {
            let is_drawn = study.get().is_some_and(|study| study.contains_key(&item));
            return Ok(is_drawn && self.is_open(item)?);
        }
        let id = Term::new(Field::Id, Test::Sets(item.set.into())).map_err(DatabaseError::from)?;
        let alone = Expression::conjunction([Expression::Term(id), self.expression.clone()]);
        let mut found = false;
        // Releases share ids.
        let matches = self.database.matches(&alone, &Selection::default())?;
        self.each_open(matches, |open| {
            found |= open == item;
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(found)
    }

    /// How many items the query has; none where that cannot be known soon. It ends early when
    /// nobody else holds the place for it: the review is over.
    fn count(&self, total: &Arc<OnceLock<Option<usize>>>) -> Option<usize> {
        let (mut count, mut looked_at) = (0, 0);
        let matches = self.database.matches(&self.expression, &Selection::default()).ok()?;
        let matches = matches.take_while(|_| {
            looked_at += 1;
            looked_at <= LOOKED_AT_TO_COUNT && Arc::strong_count(total) > 1
        });
        let counted = self.each_open(matches, |_| {
            count += 1;
            if count > COUNTED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let is_whole = count <= COUNTED && looked_at <= LOOKED_AT_TO_COUNT;
        counted.ok().filter(|()| is_whole).map(|()| count)
    }

    /// Goes through the sets that the reviewer has not judged; similarity is asked of what has a
    /// source.
    fn each_open<'a>(
        &self,
        matches: impl Iterator<Item = std::result::Result<Match<'a>, DatabaseError>>,
        mut take: impl FnMut(Item) -> ControlFlow<()>,
    ) -> Result<()> {
        for found in matches {
            let found = found?;
            let (release, set) = (found.release(), found.set());
            let item = Item { release, set: set.id, frame: set.frame };
            let is_asked = !self.question.needs_source() || found.seed().is_some();
            if is_asked && self.is_open(item)? && take(item).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Whether the reviewer has not answered the question.
    fn is_open(&self, item: Item) -> Result<bool> {
        let recorded = recorded(&self.database, item, self.question)?;
        Ok(answer(&self.database, item, (&self.reviewer, &recorded))?.is_none())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::model::{AnnotationSetId, FrameId, IdSpace, ReleaseId};

    fn item(number: u64) -> Item {
        let set = AnnotationSetId::new(IdSpace::Generated, number);
        Item { release: ReleaseId(1), set, frame: FrameId(1) }
    }

    /// A feed whose threads, one for each try, say no more than this.
    fn feed_of(tries: Vec<Vec<Fed>>) -> Feed {
        let tries = Mutex::new(tries.into_iter());
        let begin = move || -> Result<Receiver<Fed>> {
            let (sender, items) = sync_channel(AHEAD);
            for said in tries.lock().unwrap().next().unwrap_or_default() {
                sender.send(said).unwrap();
            }
            Ok(items)
        };
        Feed {
            begin: Box::new(begin),
            items: None,
            total: Arc::default(),
            reading: Weak::new(),
            left: None,
            ended_at: None,
            study: None,
        }
    }

    #[test]
    fn a_promise_is_read_again_where_something_was_decided_since_its_end() {
        let mut feed = feed_of(vec![
            vec![Ok(Some(item(1))), Ok(None)],
            vec![Ok(Some(item(2))), Ok(None)],
            vec![Ok(None)],
        ]);
        assert_eq!(feed.next_item().unwrap(), Some(item(1)));
        assert_eq!(feed.next_item().unwrap(), None);
        assert!(feed.begin_anew(1));
        assert_eq!(feed.next_item().unwrap(), Some(item(2)));
        assert_eq!(feed.next_item().unwrap(), None);
        assert!(!feed.begin_anew(1), "nothing was decided");
        assert_eq!(feed.next_item().unwrap(), None);
        assert!(feed.begin_anew(2));
    }

    #[test]
    fn reading_begins_anew_after_an_error() {
        let mut feed = feed_of(vec![
            vec![Ok(Some(item(1))), Err(ReviewError::NoItem(9))],
            vec![Ok(Some(item(1))), Ok(Some(item(2))), Ok(None)],
        ]);
        assert_eq!(feed.next_item().unwrap(), Some(item(1)));
        assert!(matches!(feed.next_item(), Err(ReviewError::NoItem(9))));
        for expected in [Some(item(1)), Some(item(2)), None] {
            assert_eq!(feed.next_item().unwrap(), expected);
        }
    }

    #[test]
    fn a_reader_that_vanishes_is_an_error_and_not_the_end() {
        let mut feed = feed_of(vec![vec![Ok(Some(item(1)))]]);
        assert_eq!(feed.next_item().unwrap(), Some(item(1)));
        for _ in 0..2 {
            assert!(matches!(feed.next_item(), Err(ReviewError::Stopped)));
        }
    }
}
