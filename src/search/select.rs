//! Answers of a query as selected: in order of key or sorted, from an offset, up to a limit.
//!
//! In order of key, answers stream: each set is read when it is asked for, and a limit ends the
//! scan. Sorted, the whole query is asked first. With a limit, only that many sets (and those
//! skipped before them) are remembered, by their place and the values to be compared.

use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::answer::Answer;
use super::evaluate::Evaluator;
use super::matched::Match;
use super::plan::{Narrowed, Planner, SetRows, releases_of};
use super::ranked::{Ranked, place_of};
use crate::database::{Database, DatabaseError, Held, Result};
use crate::index::Hit;
use crate::model::{Release, SplitList};
use crate::query::{Cursor, Expression, Question, Selection, SortKey, Value};

/// The sets that a query finds, read as they are asked for.
///
/// A record that cannot be read keeps nobody from the others: those come first, and then an error
/// that names it. So for [`Answers`].
pub struct Matches<'a> {
    evaluator: Evaluator<'a>,
    rows: Rows<'a>,
    /// Sets read so far.
    read: u64,
    /// Matches to leave out before the next one.
    skip: usize,
    /// Matches to give yet.
    left: Option<usize>,
    /// The first record that could not be read, told behind those that could.
    unreadable: Option<DatabaseError>,
    /// What they are ordered by before the place.
    sort: Vec<SortKey>,
    /// Of what was asked, for cursors.
    of: Vec<u8>,
    /// What those of a sorted page were ordered by.
    ranks: HashMap<Hit, Vec<Option<Value>>>,
}

enum Rows<'a> {
    /// In order of key; the query is yet to be asked of them.
    Scanned(SetRows<'a>),
    /// The query holds of them.
    Sorted(SetRows<'a>),
}

impl<'a> Matches<'a> {
    /// The sets among these rows of which the query holds.
    pub(super) fn scanned(evaluator: Evaluator<'a>, rows: SetRows<'a>) -> Self {
        let (rows, sort, of) = (Rows::Scanned(rows), Vec::new(), Vec::new());
        let (unreadable, ranks) = (None, HashMap::new());
        Self { evaluator, rows, read: 0, skip: 0, left: None, unreadable, sort, of, ranks }
    }

    /// Goes on past a record that cannot be read, which is told at the end: the last item names
    /// the first of them.
    ///
    /// # Errors
    /// The error itself when it is another.
    pub fn leave_out(&mut self, error: DatabaseError) -> Result<()> {
        if !error.is_unreadable_record() {
            return Err(error);
        }
        self.unreadable.get_or_insert(error);
        Ok(())
    }

    /// What was left out, told once.
    fn left_out<T>(&mut self) -> Option<Result<T>> {
        self.unreadable.take().map(Err)
    }

    /// Whether there are more than the limit let through; `None` when `rows` more sets did not say.
    ///
    /// # Errors
    /// When the store fails.
    pub fn has_more(&mut self, rows: usize) -> Result<Option<bool>> {
        for _ in 0..rows {
            match self.next_row() {
                None => return Ok(Some(false)),
                Some(Ok(Some(_))) => return Ok(Some(true)),
                Some(Ok(None)) => {}
                Some(Err(error)) => self.leave_out(error)?,
            }
        }
        Ok(None)
    }

    /// The place behind a set that they gave: where the next page begins. Of a page that a limit
    /// ends it is by what the set was ordered by, whatever was written since.
    ///
    /// # Errors
    /// When a value that it is ordered by cannot be read.
    pub fn cursor(&self, found: &Match<'_>) -> Result<Cursor> {
        let place = Hit::of(found.release(), found.set());
        let values = match self.ranks.get(&place) {
            Some(values) => values.clone(),
            None => Ranked::of(found, &self.sort)?.into_values(),
        };
        let Hit { release, frame, lu, sentence, set } = place;
        let place = (release, frame, lu, sentence, set);
        let expression = self.evaluator.query();
        Ok(Cursor::new(Question { expression, sort: &self.sort, of: &self.of }, place, values))
    }

    pub(super) fn evaluator(&self) -> &Evaluator<'a> {
        &self.evaluator
    }

    pub(super) fn rows_read(&self) -> u64 {
        self.read
    }

    /// The next set, when the query holds of it.
    fn next_row(&mut self) -> Option<Result<Option<Match<'a>>>> {
        let (rows, is_asked) = match &mut self.rows {
            Rows::Scanned(rows) => (rows, false),
            Rows::Sorted(rows) => (rows, true),
        };
        let row = rows.next()?;
        if !is_asked {
            self.read += 1;
        }
        Some(row.and_then(|(release, set)| {
            let found = Match::new(&self.evaluator.facts, release, set);
            Ok((is_asked || self.evaluator.holds(&found)?).then_some(found))
        }))
    }
}

impl<'a> Iterator for Matches<'a> {
    type Item = Result<Match<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == Some(0) {
            return self.left_out();
        }
        loop {
            let Some(row) = self.next_row() else { return self.left_out() };
            match row {
                Ok(None) => {}
                Ok(Some(_)) if self.skip > 0 => self.skip -= 1,
                Ok(Some(found)) => {
                    self.left = self.left.map(|left| left - 1);
                    return Some(Ok(found));
                }
                Err(error) => {
                    if let Err(error) = self.leave_out(error) {
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

/// Most sets whose sentences are read together.
const TOGETHER: usize = 256;

/// The answers of a query, read as they are asked for: the first by itself, then in batches of
/// twice the length.
pub struct Answers<'a> {
    matches: Matches<'a>,
    /// Sets whose sentences were read, and what went wrong behind them.
    ready: std::vec::IntoIter<Match<'a>>,
    failed: Option<DatabaseError>,
    batch: usize,
    is_bare: bool,
}

impl<'a> Answers<'a> {
    pub(super) fn new(matches: Matches<'a>) -> Self {
        Self { matches, ready: Vec::new().into_iter(), failed: None, batch: 1, is_bare: false }
    }

    /// The same answers without their sentences: these are not looked up unless the query asks for
    /// them, and have no text. Nor do answers say then which document lists a set, and which part
    /// it belongs to. For those who want ids, names and scores alone.
    #[must_use]
    pub fn without_sentences(self) -> Self {
        Self { is_bare: true, ..self }
    }

    /// The place behind an answer that they gave: where the next page begins.
    ///
    /// # Errors
    /// When a value that it is ordered by cannot be read.
    pub fn cursor(&self, answer: &Answer) -> Result<Cursor> {
        let facts = &self.matches.evaluator.facts;
        self.matches.cursor(&Match::new(facts, answer.release.id, answer.set.clone()))
    }

    /// Reads the next batch; `None` at the end.
    fn read(&mut self) -> Option<Result<()>> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let mut sets = Vec::new();
        for found in self.matches.by_ref().take(self.batch) {
            match found {
                Ok(found) => sets.push(found),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        if sets.is_empty() && self.failed.is_none() {
            return None;
        }
        self.batch = (2 * self.batch).min(TOGETHER);
        if self.is_bare {
            sets.iter().for_each(Match::leave_sentence);
        } else {
            // What cannot be read is told of when its set is reached.
            let _ = Match::read_for_answers(&sets);
        }
        self.ready = sets.into_iter();
        Some(Ok(()))
    }
}

impl Iterator for Answers<'_> {
    type Item = Result<Answer>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(found) = self.ready.next() {
                match found.into_answer() {
                    Ok(None) => {}
                    Ok(Some(answer)) => return Some(Ok(answer)),
                    Err(error) => {
                        if let Err(error) = self.matches.leave_out(error) {
                            return Some(Err(error));
                        }
                    }
                }
            } else {
                match self.read() {
                    None => return self.matches.left_out(),
                    Some(Ok(())) => {}
                    Some(Err(error)) => return Some(Err(error)),
                }
            }
        }
    }
}

impl Database {
    /// The annotation sets for which a query holds, in order of release, frame, LU, sentence and
    /// id, read as they are asked for. Parts of the data are those of
    /// [`split_list_for`](Self::split_list_for).
    ///
    /// # Errors
    /// When the query names a frame, LU, FE or release that there is not (with the nearest name),
    /// or the store fails.
    pub fn query(&self, expression: &Expression) -> Result<Answers<'_>> {
        self.select(expression, &Selection::default())
    }

    /// The answers of a query that are selected, in the requested order. Sorting takes a pass over
    /// all of them, and memory for as many as limit and offset say together, or for all without a
    /// limit. A page [`after`](Selection::after) another takes as long wherever it is.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn select(&self, expression: &Expression, selection: &Selection) -> Result<Answers<'_>> {
        self.matches(expression, selection).map(Answers::new)
    }

    /// The sets that a query finds, as [`select`](Self::select) gives them, without the texts and
    /// names of answers: those are read when they are asked for.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    #[doc(hidden)]
    pub fn matches(&self, expression: &Expression, selection: &Selection) -> Result<Matches<'_>> {
        Self::planned(Held::Borrowed(self), expression, selection, false)
    }

    /// As [`select`](Self::select), with answers that keep the database open by themselves: they
    /// may be kept in a structure, sent to another thread, and outlive the handle that was asked.
    ///
    /// They are read in pages of up to 1,024 sets, with memory for one of them. Each page is of the
    /// moment at which it is read; those of a [`snapshot`](Self::snapshot) are all of one.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use fnstore::database::Database;
    /// # use fnstore::query::Selection;
    /// # use fnstore::transfer::ImportOptions;
    /// # let store = tempfile::tempdir()?;
    /// # let database = Database::open_writer(store.path())?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?;
    /// let database = Arc::new(database);
    /// let query = "frame=Checking".parse()?;
    /// let five = Selection { limit: Some(5), ..Selection::default() };
    /// let mut page = database.answers(&query, &five)?;
    /// let first: Vec<_> = page.by_ref().collect::<Result<_, _>>()?;
    /// let after = Some(page.cursor(&first[4])?);
    /// let rest = database.answers(&query, &Selection { after, ..Selection::default() })?;
    /// drop(database);
    /// let rest = std::thread::spawn(move || rest.count()).join().unwrap();
    /// assert_eq!((first.len(), rest > 0), (5, true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answers(
        self: &Arc<Self>,
        expression: &Expression,
        selection: &Selection,
    ) -> Result<Answers<'static>> {
        let held = Held::Shared(Arc::clone(self));
        Self::planned(held, expression, selection, false).map(Answers::new)
    }

    /// The releases that a query can have answers in, by what it says of `release`.
    ///
    /// # Errors
    /// When the store fails.
    pub fn releases_of(&self, expression: &Expression) -> Result<Vec<Release>> {
        let searched = releases_of(&self.catalog()?, expression);
        let all = self.releases()?.into_iter();
        Ok(all.filter(|release| searched.contains(&release.id)).collect())
    }

    pub(super) fn planned<'a>(
        database: Held<'a>,
        expression: &Expression,
        selection: &Selection,
        is_explained: bool,
    ) -> Result<Matches<'a>> {
        // Before any name is read: the index may be newer than this handle's view.
        database.refresh()?;
        let Selection { sort, after, .. } = selection;
        let catalog = Self::catalog_over(database.clone(), expression)?;
        let of = database.asked_of(catalog.splits.as_deref());
        let asked = Question { expression, sort, of: &of };
        after.as_ref().map_or(Ok(()), |after| after.require(asked))?;
        database.check_names(&catalog, expression)?;
        let plan = Planner::new(&database, &catalog, expression).plan(expression)?;
        let evaluator = Evaluator::new(catalog, expression, is_explained)?;
        // In order of key, the scan begins behind the place.
        let behind = after.as_ref().filter(|_| sort.is_empty()).map(place_of);
        let mut matches = Matches {
            skip: selection.offset,
            left: selection.limit,
            sort: sort.clone(),
            of,
            ..Matches::scanned(evaluator, plan.narrowed.sets(database.clone(), behind))
        };
        if !sort.is_empty() {
            let ranked = first_in_order(&mut matches, selection)?;
            let places: Vec<Hit> = ranked.iter().map(|ranked| ranked.place).collect();
            if selection.limit.is_some() {
                let values = ranked.into_iter().map(|of| (of.place, of.into_values()));
                matches.ranks = values.collect();
            }
            let rows = places
                .into_iter()
                .flat_map(move |place| Narrowed::Sets([place].into()).sets(database.clone(), None));
            matches.rows = Rows::Sorted(Box::new(rows));
            matches.skip = selection.offset;
            matches.left = selection.limit;
        }
        Ok(matches)
    }
}

impl Database {
    /// What a cursor belongs to beside its query: numbers of releases are a store's own, and parts
    /// of the data a list's.
    fn asked_of(&self, splits: Option<&SplitList>) -> Vec<u8> {
        let identity = self.identity().ok().flatten();
        let store = identity.map(|identity| identity.id).unwrap_or_default();
        let list = splits.map(|list| list.id.fingerprint).unwrap_or_default();
        [store.as_bytes(), &list].concat()
    }
}

/// The matches up to the selection's end, in its order.
fn first_in_order(matches: &mut Matches<'_>, selection: &Selection) -> Result<Vec<Ranked>> {
    matches.skip = 0;
    matches.left = None;
    // One more than are given, so that whether there are more is known.
    let wanted =
        selection.limit.map(|limit| selection.offset.saturating_add(limit).saturating_add(1));
    let after = selection.after.as_ref().map(|after| Ranked::at(after, &selection.sort));
    let (mut first, mut left_out) = (BinaryHeap::new(), None);
    for found in matches.by_ref() {
        match found.and_then(|found| Ranked::of(&found, &selection.sort)) {
            Ok(found) if after.as_ref().is_some_and(|after| found <= *after) => {}
            Ok(found) => first.push(found),
            Err(error) if error.is_unreadable_record() => {
                left_out.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
        if wanted.is_some_and(|wanted| first.len() > wanted) {
            first.pop();
        }
    }
    left_out.map_or(Ok(()), |error| matches.leave_out(error))?;
    Ok(first.into_sorted_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Write;
    use crate::model::{
        AnnotationSet, AnnotationSetId, Generation, IdSpace, Provenance, ReleaseId, Verification,
    };
    use crate::transfer::ImportOptions;

    /// Writes four sets that lie together and have grown from two seeds by turns.
    fn grow(database: &Database, release: ReleaseId) {
        let recipe = database.store().recipe([7; 16], "{}").unwrap();
        let sets = database.store().annotation_sets(release).unwrap();
        let seeds: Vec<AnnotationSet> = sets.take(2).map(std::result::Result::unwrap).collect();
        let grown = (1..=4).map(|number: u64| {
            let seed = seeds[(number % 2) as usize].id;
            let generation = Generation::of_seed(seed, 1, recipe);
            AnnotationSet {
                id: AnnotationSetId::new(IdSpace::Generated, number),
                xml_id: None,
                provenance: Provenance::Generated(Box::new(generation)),
                ..seeds[0].clone()
            }
        });
        database.write(release, &Write { sets: grown.collect(), ..Write::default() }).unwrap();
    }

    #[test]
    fn each_seed_is_looked_up_once_and_none_for_bare_answers() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        let options = ImportOptions::default();
        let release = database.import(mini.as_ref(), &options, &mut |_| {}).unwrap().release.id;
        grow(&database, release);
        let query = Expression::parse("origin=generated").unwrap();
        let mut answers = database.query(&query).unwrap();
        assert_eq!(answers.by_ref().filter(|answer| answer.is_ok()).count(), 4);
        assert_eq!(answers.matches.evaluator().facts.known_seeds(), 2);
        let mut bare = database.query(&query).unwrap().without_sentences();
        assert!(bare.by_ref().all(|answer| answer.unwrap().document.is_none()));
        assert_eq!(bare.matches.evaluator().facts.known_seeds(), 0);
    }

    #[test]
    fn a_cursor_is_where_its_answer_stood_whatever_is_judged_since() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        let options = ImportOptions::default();
        let release = database.import(mini.as_ref(), &options, &mut |_| {}).unwrap().release.id;
        grow(&database, release);
        let say = |number: u64, evokes: f32| {
            let (set, asked) =
                (AnnotationSetId::new(IdSpace::Generated, number), [number as u8; 16]);
            let (same_meaning, reverse, verifier) = (None, None, [1; 16]);
            let evokes = Some(evokes);
            let of = Verification { set, evokes, same_meaning, reverse, verifier, asked };
            let write = Write { verifications: vec![of], ..Write::default() };
            database.write(release, &write).unwrap();
        };
        for number in 1..=4 {
            say(number, number as f32 / 10.0);
        }
        let query = Expression::parse("origin=generated").unwrap();
        let sort = SortKey::parse_list("-evokes").unwrap();
        let selection = Selection { sort, limit: Some(2), ..Selection::default() };
        let mut page = database.select(&query, &selection).unwrap();
        let numbers = |page: &mut Answers<'_>| {
            page.by_ref().map(|answer| answer.unwrap().set.id.number()).collect::<Vec<_>>()
        };
        let first: Vec<_> = page.by_ref().map(std::result::Result::unwrap).collect();
        // The page's last answer sinks to the end before somebody asks where the page ended.
        say(3, 0.01);
        let after = Some(page.cursor(&first[1]).unwrap());
        let rest = Selection { after, ..selection };
        assert_eq!(numbers(&mut database.select(&query, &rest).unwrap()), [2, 1]);
    }

    #[test]
    fn each_document_is_looked_up_once_and_none_for_matches_without_place() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {}).unwrap();
        let query = Expression::parse("origin=fulltext").unwrap();
        let mut answers = database.query(&query).unwrap();
        let all: Vec<_> =
            answers.by_ref().map(|answer| answer.unwrap().document.unwrap()).collect();
        let mut documents: Vec<*const u8> = all.iter().map(|name| name.as_ptr()).collect();
        documents.sort_unstable();
        documents.dedup();
        let looked_up = answers.matches.evaluator().facts.catalog.documents_looked_up();
        assert!(all.len() > documents.len(), "{} sets", all.len());
        assert_eq!(documents.len(), looked_up, "sets of a document share its name");
        let mut matches = database.matches(&query, &Selection::default()).unwrap();
        for found in matches.by_ref() {
            let answer = found.unwrap().without_place().into_answer().unwrap().unwrap();
            assert!(answer.document.is_none() && !answer.sentence.text.is_empty());
        }
        assert_eq!(matches.evaluator().facts.catalog.documents_looked_up(), 0);
    }

    /// The lines of two texts with so many targets each; one word is in one of them alone.
    fn two_texts(spans: usize) -> String {
        const SENTENCE: &str = "They checked the old bridge. ";
        let places = (0..spans).map(|number| {
            let start = number * SENTENCE.len() + 5;
            serde_json::json!({ "start": start, "end": start + 7, "type": "check" })
        });
        let places: Vec<_> = places.collect();
        let line = |word: &str| {
            let text = SENTENCE.repeat(spans) + word;
            serde_json::json!({ "text": text, "spans": places })
        };
        format!("{}\n{}\n", line("Zebra"), line("Lion"))
    }

    #[test]
    fn a_long_text_is_matched_once_for_all_of_its_sets() {
        let store = tempfile::tempdir().unwrap();
        let file = store.path().join("texts.jsonl");
        std::fs::write(&file, two_texts(200)).unwrap();
        let database = Database::open_writer(&store.path().join("store")).unwrap();
        database.import_spans(&file, &ImportOptions::default(), &mut |_| {}).unwrap();
        for (query, found, matched) in [
            ("text=*zebra*", 200, 2),
            ("text=*bridge*", 400, 2),
            // The second pattern is asked where the first does not match.
            ("text=*zebra* or text=*lion*", 400, 3),
        ] {
            let query = Expression::parse(query).unwrap();
            let mut matches = database.matches(&query, &Selection::default()).unwrap();
            assert_eq!(matches.by_ref().filter(|row| row.is_ok()).count(), found, "{query}");
            let asked = matches.evaluator().texts_matched.get();
            assert!(0 < asked && asked <= matched, "{query}: {asked}");
        }
    }
}
