//! What a single term can be answered by: keys, the index, or neither.

use std::collections::BTreeSet;
use std::ops::Bound;

use super::narrowed::Narrowed;
use super::{Planner, Route};
use crate::database::Result;
use crate::index::{Filter, Hit, Omitted};
use crate::model::{
    AnnotationSetId, Document, Method, Origin, ReleaseId, SentenceId, Split, hexadecimal,
};
use crate::query::{Comparison, Field, Pattern, Term, Test, Words};
use crate::store::{Action, SetLocation, Store, Subject};

/// Most sets with answers of a verifier that are read one by one: more are many of a release, which
/// a scan reads in a fraction of the time.
const MOST_VERIFIED: usize = 2_000;

/// Most seeds or sources that the index is asked for: more are many of all that was generated.
const MOST_SEEDS: usize = 1_000;

impl Planner<'_> {
    /// The ways to answer a term.
    pub(super) fn of_term(&self, term: &Term) -> Result<Route> {
        Ok(match (&term.test, term.field) {
            (Test::Pattern(pattern), field) => self.of_pattern(field, pattern)?,
            (Test::Choice(word), Field::Origin) => Origin::ALL
                .into_iter()
                .find(|origin| origin.as_str() == *word)
                .map_or_else(Route::nothing, |origin| Route::index(Filter::Origin(origin))),
            // What a list says of LUs and sentences the index does not hold.
            (Test::Choice(_), Field::Split) if self.catalog.splits.is_some() => Route::default(),
            (Test::Choice(word), Field::Split) => {
                let of_part =
                    |of: &Document| Split::of(of).is_some_and(|split| split.as_str() == *word);
                let documents = self.documents_where(of_part)?.into_iter().collect();
                Route::index(with_offspring(Filter::Document(documents)))
            }
            (Test::Choice(_), _) => generated(),
            (Test::Integer(comparison, bound), Field::Round) => {
                let (low, high) = range(*comparison, *bound);
                Route::index(Filter::Round(low, high))
            }
            (Test::Integer(..), _) => Route::keys(self.judged()?),
            (Test::Decimal(..), field) if field.is_of_verifier() => self.verified()?,
            (Test::Decimal(comparison, bound), field) => {
                let (low, high) = scores(*comparison, *bound as f32);
                match field {
                    Field::Paraphrase => Route::index(Filter::Paraphrase(low, high)),
                    Field::Aligner => Route::index(Filter::Aligner(low, high)),
                    Field::JudgementMean => Route::keys(self.judged()?),
                    Field::FrameFit => {
                        let judged = [Origin::Generated, Origin::Predicted].map(Filter::Origin);
                        Route::index(Filter::Any(judged.into()))
                    }
                    _ => generated(),
                }
            }
            (Test::Sentences(ids), _) => Route::keys(self.of_sentences(ids)?),
            (Test::Sets(ids), Field::Id) => Route::keys(self.by_ids(ids)?),
            (Test::Sets(ids), _) if ids.len() > MOST_SEEDS => {
                let grown = [Origin::Generated, Origin::Carried].map(Filter::Origin);
                Route::index(Filter::Any(grown.into()))
            }
            (Test::Sets(ids), _) => {
                Route::index(Filter::Any(ids.iter().copied().map(Filter::Seed).collect()))
            }
            (Test::Revision(revision), _) => match self.written_since(*revision)? {
                Some(sets) => Route::keys(Narrowed::Sets(sets)),
                None => Route::default(),
            },
            (Test::Relative(pattern, distance), field) => match field.followed() {
                Some(followed) => {
                    let distance = distance.unwrap_or(field.usual_distance());
                    let keys = self.frames_related(followed, pattern, distance)?;
                    Route { keys, filter: None }
                }
                None => Route::default(),
            },
            (Test::Label(..) | Test::Overlap(_), _) => Route::default(),
        })
    }

    fn of_pattern(&self, field: Field, pattern: &Pattern) -> Result<Route> {
        Ok(match field {
            Field::Frame => Route { keys: self.frames_matching(pattern)?, filter: None },
            Field::Lu
            | Field::Lemma
            | Field::Pos
            | Field::LuStatus
            | Field::Synset
            | Field::Vn
            | Field::Pb
            | Field::Hypernym => {
                Route { keys: self.lexunits_matching(field, pattern)?, filter: None }
            }
            Field::Trigger => {
                let triggers = match pattern.as_exact() {
                    Some(text) => Some(Filter::Trigger(text.to_owned())),
                    None => pattern.automaton().map(Filter::TriggerLike),
                };
                Route { keys: None, filter: triggers.map(|of| or_omitted(of, Omitted::Trigger)) }
            }
            Field::Text => {
                let words = words(pattern.words());
                Route { keys: None, filter: words.map(|of| or_omitted(of, Omitted::Word)) }
            }
            Field::Corpus => {
                let documents = self.documents_where(|of| pattern.matches(&of.corpus_name))?;
                let mut corpora: Vec<_> = documents.into_iter().map(|(corpus, _)| corpus).collect();
                corpora.dedup();
                Route::index(with_offspring(Filter::Corpus(corpora)))
            }
            Field::Doc => {
                let called = |of: &Document| of.named_by(|text| pattern.matches(text)).is_some();
                let documents = self.documents_where(called)?.into_iter().collect();
                // Imported and predicted sets also go by their file, which the index does not hold.
                let of_files = [Origin::Imported, Origin::Predicted].map(Filter::Origin);
                let mut places = vec![Filter::Document(documents)];
                places.extend(of_files);
                let places = Filter::Any(places);
                Route::index(with_offspring(places))
            }
            Field::Edition => Route::keys(self.in_editions(pattern)?),
            Field::Method => {
                let matches = Method::ALL.iter().any(|method| pattern.matches(method.as_str()));
                if matches { generated() } else { Route::nothing() }
            }
            Field::Recipe => {
                let recipes = self.database.store.recipes()?.into_iter();
                let matching = recipes.filter(|(id, print, _)| {
                    pattern.matches(&id.to_string()) || pattern.matches(&hexadecimal(print))
                });
                Route::index(Filter::Recipe(matching.map(|(id, ..)| id).collect()))
            }
            _ => Route::default(),
        })
    }

    fn by_ids(&self, ids: &[AnnotationSetId]) -> Result<Narrowed> {
        self.of_rows(|_, _| Ok(ids.iter().copied().collect()))
    }

    /// The sets that stand in sentences.
    fn of_sentences(&self, ids: &[SentenceId]) -> Result<Narrowed> {
        self.of_rows(|store, release| {
            let mut sets = BTreeSet::new();
            for &sentence in ids {
                for set in store.sets_of_sentence(release, sentence)? {
                    sets.insert(set?);
                }
            }
            Ok(sets)
        })
    }

    /// The sets of the editions that a pattern names.
    fn in_editions(&self, pattern: &Pattern) -> Result<Narrowed> {
        let store = &self.database.store;
        let mut hits = BTreeSet::new();
        for &release in &self.releases {
            for edition in store.editions(release)? {
                let edition = edition?;
                for frozen in edition.sets.iter().filter(|_| pattern.matches(&edition.name)) {
                    if let Some(location) = store.set_location(release, frozen.set)? {
                        hits.insert(hit(release, frozen.set, location));
                    }
                }
            }
        }
        Ok(Narrowed::Sets(hits))
    }

    /// The sets that somebody judged.
    fn judged(&self) -> Result<Narrowed> {
        self.of_rows(|store, release| {
            store.all_judgements(release)?.map(|row| Ok(row?.0)).collect()
        })
    }

    /// The sets of which a verifier was asked, where these are few.
    fn verified(&self) -> Result<Route> {
        let mut rows = 0;
        for &release in &self.releases {
            rows += self.database.store.all_verifications(release)?.take(MOST_VERIFIED + 1).count();
        }
        if rows > MOST_VERIFIED {
            return Ok(Route::default());
        }
        let keys = self.of_rows(|store, release| {
            store.all_verifications(release)?.map(|row| Ok(row?.set)).collect()
        })?;
        Ok(Route::keys(keys))
    }

    /// The sets of which each release has rows.
    fn of_rows(
        &self,
        sets: impl Fn(&Store, ReleaseId) -> Result<BTreeSet<AnnotationSetId>>,
    ) -> Result<Narrowed> {
        let store = &self.database.store;
        let mut hits = BTreeSet::new();
        for &release in &self.releases {
            for set in sets(store, release)? {
                if let Some(location) = store.set_location(release, set)? {
                    hits.insert(hit(release, set, location));
                }
            }
        }
        Ok(Narrowed::Sets(hits))
    }

    /// The sets that were written after a revision, and those whose sentence was; `None` when whole
    /// releases were.
    pub(super) fn written_since(&self, revision: u64) -> Result<Option<BTreeSet<Hit>>> {
        let store = &self.database.store;
        let mut hits = BTreeSet::new();
        for change in store.changes_since(revision)? {
            let change = change?;
            let release = change.release;
            match change.subject {
                Subject::Release => return Ok(None),
                _ if !self.releases.contains(&release) => {}
                Subject::Set(set, location) => {
                    hits.insert(hit(release, set, location));
                }
                // The places that list it may be others.
                Subject::Sentence(sentence) if change.action == Action::Edited => {
                    for set in store.sets_of_sentence(release, sentence)? {
                        let set = set?;
                        if let Some(location) = store.set_location(release, set)? {
                            hits.insert(hit(release, set, location));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(Some(hits))
    }
}

fn hit(release: ReleaseId, set: AnnotationSetId, location: SetLocation) -> Hit {
    let SetLocation { frame, lu, sentence } = location;
    Hit { release, frame, lu, sentence, set }
}

/// What only generated sets can have.
fn generated() -> Route {
    Route::index(Filter::Origin(Origin::Generated))
}

/// Sets of a place, and the generated ones that grew from them.
fn with_offspring(places: Filter) -> Filter {
    Filter::Any(vec![places.clone(), Filter::GrownFrom(Box::new(places))])
}

/// Sets that pass, and those that have a term of that kind which the index leaves out.
fn or_omitted(filter: Filter, kind: Omitted) -> Filter {
    Filter::Any(vec![filter, Filter::Omitted(kind)])
}

fn words(words: Words) -> Option<Filter> {
    Some(match words {
        Words::Anything => return None,
        Words::Whole(word) => Filter::Word(word),
        Words::Like(word) => Filter::WordLike(word),
        Words::All(parts) => Filter::All(parts.into_iter().filter_map(self::words).collect()),
        Words::OneOf(parts) => {
            Filter::Any(parts.into_iter().map(self::words).collect::<Option<_>>()?)
        }
    })
}

fn range<T: Copy>(comparison: Comparison, bound: T) -> (Bound<T>, Bound<T>) {
    match comparison {
        Comparison::Equal => (Bound::Included(bound), Bound::Included(bound)),
        Comparison::Less => (Bound::Unbounded, Bound::Excluded(bound)),
        Comparison::LessOrEqual => (Bound::Unbounded, Bound::Included(bound)),
        Comparison::Greater => (Bound::Excluded(bound), Bound::Unbounded),
        Comparison::GreaterOrEqual => (Bound::Included(bound), Bound::Unbounded),
    }
}

/// The scores that compare so with a bound, as the index holds them: each f32 as an f64.
fn scores(comparison: Comparison, bound: f32) -> (Bound<f64>, Bound<f64>) {
    let (low, high) = range(comparison, f64::from(bound));
    // The index sorts -0.0 before 0.0; a comparison takes them for equal.
    if bound == 0.0 { (low.map(|_| -0.0), high.map(|_| 0.0)) } else { (low, high) }
}
