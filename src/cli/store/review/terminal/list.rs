//! What a query found, on a terminal: one row each, decided on one by one or together.

use std::collections::{BTreeMap, BTreeSet};

use fnstore::model::{AnnotationSetId, ReleaseId, Span};
use fnstore::query::Selection;
use fnstore::review::Session;
use fnstore::search::Answer;

use super::screen::{BOLD, DIM, Look, PLAIN, Screen, TARGET};
use crate::cli::options::query::expression;
use crate::cli::store::edit::now;

pub(super) const KEYS: &str =
    "j k move  x select  X select all  a r 1-9 decide  u undo  / query  s back  q quit";

/// Sets that are listed.
const LISTED: usize = 200;

/// Rows of a terminal that hold no sets.
const AROUND: usize = 3;

type Set = (ReleaseId, AnnotationSetId);

/// The sets that a query found.
pub(super) struct List {
    query: String,
    found: Vec<Answer>,
    has_more: bool,
    at: usize,
    picked: BTreeSet<usize>,
    scores: BTreeMap<Set, u8>,
}

impl List {
    pub(super) fn find(session: &Session, query: &str) -> anyhow::Result<Self> {
        let expression = expression(query)?;
        let selection = Selection { limit: Some(LISTED + 1), ..Selection::default() };
        let database = session.database()?;
        let mut found =
            database.select(&expression, &selection)?.collect::<Result<Vec<Answer>, _>>()?;
        let has_more = found.len() > LISTED;
        found.truncate(LISTED);
        let (picked, scores) = (BTreeSet::new(), BTreeMap::new());
        Ok(Self { query: query.to_owned(), found, has_more, at: 0, picked, scores })
    }

    pub(super) fn query(&self) -> &str {
        &self.query
    }

    pub(super) fn step(&mut self, forward: bool) {
        let last = self.found.len().saturating_sub(1);
        self.at = if forward { (self.at + 1).min(last) } else { self.at.saturating_sub(1) };
    }

    pub(super) fn pick(&mut self) {
        if !self.picked.remove(&self.at) && self.at < self.found.len() {
            self.picked.insert(self.at);
        }
    }

    pub(super) fn pick_all(&mut self) {
        self.picked = (0..self.found.len()).collect();
    }

    /// Gives what is selected a score, or the row under the mark; says what was saved.
    pub(super) fn decide(&mut self, session: &Session, score: u8) -> anyhow::Result<String> {
        let rows = match self.picked.is_empty() {
            true => vec![self.at],
            false => self.picked.iter().copied().collect(),
        };
        let set = |answer: &Answer| (answer.release.id, answer.set.id);
        let sets: Vec<Set> =
            rows.into_iter().filter_map(|row| self.found.get(row)).map(set).collect();
        let saved = session.decide_together(&session.enqueue(&sets)?, score, now())?;
        self.picked.clear();
        self.scores.extend(sets.into_iter().map(|set| (set, score)));
        Ok(format!("saved, {} decided together", saved.saved))
    }

    /// Shows what stands of sets whose decision was taken back.
    pub(super) fn taken_back(&mut self, session: &Session, sets: &[Set]) -> anyhow::Result<()> {
        let database = session.database()?;
        for set in sets {
            match session.answer(&database, set.0, set.1)? {
                Some(score) => self.scores.insert(*set, score),
                None => self.scores.remove(set),
            };
        }
        Ok(())
    }

    pub(super) fn draw(&self, screen: &mut Screen, rows: usize, said: &str) {
        let count = match (self.found.len(), self.has_more) {
            (0, _) => "nothing found".to_owned(),
            (count, true) => format!("the first {count}"),
            (count, false) => count.to_string(),
        };
        screen.row(&[(&self.query, BOLD), ("  ", PLAIN), (&count, DIM)]);
        screen.row(&[(KEYS, DIM)]);
        screen.row(&[(said, BOLD)]);
        // As many rows as there are, with the marked one among them.
        let shown = rows.saturating_sub(AROUND).max(1);
        let from = (self.at + 1).saturating_sub(shown);
        for (number, answer) in self.found.iter().enumerate().skip(from).take(shown) {
            self.draw_row(screen, number, answer);
        }
    }

    fn draw_row(&self, screen: &mut Screen, number: usize, answer: &Answer) {
        let here = if number == self.at { "> " } else { "  " };
        let picked = if self.picked.contains(&number) { "[x] " } else { "[ ] " };
        let score = self.scores.get(&(answer.release.id, answer.set.id));
        let score = score.map_or("    ".to_owned(), |score| format!("{score:>3} "));
        let release =
            if answer.is_of_several { format!("{}  ", answer.release.name) } else { String::new() };
        let unit = format!("{release}{}  ", answer.lexunit);
        let mut pieces =
            vec![(here, BOLD), (picked, PLAIN), (score.as_str(), BOLD), (unit.as_str(), DIM)];
        pieces.extend(marked(&answer.sentence.text, &answer.set.targets));
        screen.row(&pieces);
    }
}

/// A text with its target marked.
pub(super) fn marked<'a>(text: &'a str, targets: &[Span]) -> Vec<(&'a str, Look)> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    for span in targets {
        pieces.push((text.get(from..span.start as usize).unwrap_or_default(), PLAIN));
        pieces.push((span.of(text).unwrap_or_default(), TARGET));
        from = span.end as usize;
    }
    pieces.push((text.get(from..).unwrap_or_default(), PLAIN));
    pieces
}
