//! Counting without a set being read: by the counts that commits keep, or by the entries of an
//! index that is as new as the store.
//!
//! Sets that agree in all that a query and its grouping ask for answer alike. So one stands for all
//! of them: a set of which nothing is known but what was counted. The query is asked of it as of
//! any other, and the answer counts as often as there are such sets.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use super::catalog::Catalog;
use super::evaluate::Evaluator;
use super::matched::Match;
use super::plan::{Entries, Planner};
use crate::database::{Database, Result};
use crate::index::{Hit, TriggerEntry};
use crate::model::{
    AnnotationSet, AnnotationSetId, Carrying, CorpusId, DocumentId, FeStatus, FrameFit, FrameId,
    Generation, IdSpace, LuId, Origin, Prediction, Provenance, RecipeId, ReleaseId, SentenceId,
};
use crate::query::{Expression, Field};
use crate::store::{SetCount, SetLocation, SetRange};

/// Fields that the counts of a release tell apart.
const OF_RELEASE: [Field; 4] = [Field::Release, Field::Status, Field::Origin, Field::Round];

/// Fields that depend on a set's release, frame and LU alone.
pub(super) const OF_PLACE: [Field; 15] = [
    Field::Release,
    Field::Frame,
    Field::Inherits,
    Field::Uses,
    Field::Perspective,
    Field::Subframe,
    Field::Related,
    Field::Lu,
    Field::Lemma,
    Field::Pos,
    Field::LuStatus,
    Field::Synset,
    Field::Vn,
    Field::Pb,
    Field::Hypernym,
];

/// Fields besides that the index can hold exactly.
const OF_INDEX: [Field; 4] = [Field::Trigger, Field::Recipe, Field::Paraphrase, Field::Aligner];

/// So many entries of an index are read in the time of one set with its sentence.
const ENTRIES_FOR_A_ROW: u64 = 8;

/// Sets that agree, with their release.
type Counted = Vec<(ReleaseId, SetCount)>;

impl Database {
    /// The sets for which a query holds, as far as it and `fields` can tell them apart: one for all
    /// that agree, with their number. `None` where that takes the sets themselves.
    pub(super) fn matches_counted(
        &self,
        expression: &Expression,
        fields: &[Field],
    ) -> Result<Option<Vec<(Match<'_>, u64)>>> {
        let of_terms = || expression.terms().map(|term| term.field);
        let asked = || of_terms().chain(fields.iter().copied());
        let is_kept = |field: Field| OF_RELEASE.contains(&field) || OF_PLACE.contains(&field);
        let is_held = |field: Field| is_kept(field) || OF_INDEX.contains(&field);
        let are_kept = asked().all(is_kept);
        let are_indexed =
            of_terms().all(is_held) && fields.iter().all(|field| OF_PLACE.contains(field));
        if !are_kept && !are_indexed {
            return Ok(None);
        }
        // Before any name is read: the index may be newer than this handle's view.
        self.refresh()?;
        let catalog = self.catalog_for(expression)?;
        self.check_names(&catalog, expression)?;
        let (counted, rest, omitted) = if are_kept {
            let by_lu = asked().any(|field| !OF_RELEASE.contains(&field));
            let counted = self.kept_counts(&catalog, expression, by_lu)?;
            (counted, expression.clone(), Vec::new())
        } else {
            self.indexed(&catalog, expression)?
        };
        let Some(counted) = counted else { return Ok(None) };
        let mut matches = self.omitted_matches(expression, omitted)?;
        let evaluator = Evaluator::new(catalog, &rest, false)?;
        for (release, count) in counted {
            let stand_in = Match::new(&evaluator.facts, release, stand_in(&count));
            if evaluator.holds(&stand_in)? {
                matches.push((stand_in, count.sets));
            }
        }
        Ok(Some(matches))
    }

    /// The kept counts of all sets that a query can hold of; `None` where a release has none.
    fn kept_counts(
        &self,
        catalog: &Catalog<'_>,
        expression: &Expression,
        by_lu: bool,
    ) -> Result<Option<Counted>> {
        let planner = Planner::new(self, catalog, expression);
        let mut counted = Counted::new();
        for run in planner.runs(expression)? {
            let (SetRange::Release(release)
            | SetRange::Frame(release, _)
            | SetRange::LexUnit(release, ..)) = run;
            let counts = match run {
                SetRange::Release(_) if !by_lu => self.store.kept_sets(release)?,
                run => self.store.kept_sets_by_lu(run)?,
            };
            let Some(counts) = counts else { return Ok(None) };
            counted.extend(counts.into_iter().map(|count| (release, count)));
        }
        Ok(Some(counted))
    }

    /// Sets of which the index says nothing, one by one, if the query holds for them.
    fn omitted_matches(
        &self,
        expression: &Expression,
        omitted: Vec<Hit>,
    ) -> Result<Vec<(Match<'_>, u64)>> {
        let mut matches = Vec::new();
        if omitted.is_empty() {
            return Ok(matches);
        }
        let evaluator = Evaluator::new(self.catalog_for(expression)?, expression, false)?;
        for Hit { release, frame, lu, sentence, set } in omitted {
            let location = SetLocation { frame, lu, sentence };
            let Some(set) = self.store.annotation_set_at(release, set, location)? else { continue };
            let set = Match::new(&evaluator.facts, release, set);
            if evaluator.holds(&set)? {
                matches.push((set, 1));
            }
        }
        Ok(matches)
    }

    /// The sets that the index finds, counted by place, what of the query is still to be asked of
    /// places, and the sets of which the index says nothing.
    fn indexed(
        &self,
        catalog: &Catalog<'_>,
        expression: &Expression,
    ) -> Result<(Option<Counted>, Expression, Vec<Hit>)> {
        let parts = match expression {
            Expression::And(parts) => parts.iter().collect(),
            one => vec![one],
        };
        let is_of_place =
            |part: &&Expression| part.terms().all(|term| OF_PLACE.contains(&term.field));
        let (places, others): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_of_place);
        let places = Expression::conjunction(places.into_iter().cloned());
        let found = Planner::new(self, catalog, expression).entries(&others, &places)?;
        let Some(Entries { places: found, omitted }) = found else {
            return Ok((None, places, Vec::new()));
        };
        let count = |((release, frame, lu), sets)| {
            let (space, origin) = (IdSpace::Imported, Origin::User);
            let (round, status) = (0, String::new());
            (release, SetCount { frame, lu, space, origin, round, status, sets })
        };
        Ok((Some(found.into_iter().map(count).collect()), places, omitted))
    }
}

/// Where a set is kept, as far as counts tell it.
pub(crate) type SetsPlace = (ReleaseId, FrameId, LuId);

impl Database {
    /// Folds what the index says of triggers, segment by segment: `add` is given a trigger, as it
    /// is folded, and entries of sets for which a query holds, one or more. `None` where that takes
    /// the sets themselves, or where so few can answer that reading them costs less.
    pub(crate) fn fold_triggers<A: Send>(
        &self,
        expression: &Expression,
        begin: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, &str, &[TriggerEntry]) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> Result<Option<A>> {
        let Some((places, sets)) = self.places_counted(expression)? else { return Ok(None) };
        let Some((reader, revision)) = self.index_reader()? else { return Ok(None) };
        if revision != self.store.revision()? || sets < reader.len() / ENTRIES_FOR_A_ROW {
            return Ok(None);
        }
        let told = AtomicU64::new(0);
        let add = |all: &mut A, trigger: &str, entries: &[TriggerEntry]| {
            let is_asked = |of: &&TriggerEntry| places.contains(&(of.release, of.frame, of.lu));
            let asked: Vec<TriggerEntry> = entries.iter().filter(is_asked).copied().collect();
            told.fetch_add(asked.len() as u64, Ordering::Relaxed);
            if !asked.is_empty() {
                add(all, trigger, &asked);
            }
        };
        let folded = self.usable(reader.fold_triggers(begin, add, merge)).flatten();
        // An index that was made anew lacks what could not be read: the sets tell of that.
        Ok(folded.filter(|_| told.into_inner() == sets))
    }

    /// The places of all sets for which a query holds, and how many sets are there. `None` where it
    /// may hold for some of a place alone, or where a release has no counts.
    fn places_counted(&self, expression: &Expression) -> Result<Option<(HashSet<SetsPlace>, u64)>> {
        if !expression.terms().all(|term| OF_PLACE.contains(&term.field)) {
            return Ok(None);
        }
        // Before any name is read: the index may be newer than this handle's view.
        self.refresh()?;
        let catalog = self.catalog_for(expression)?;
        self.check_names(&catalog, expression)?;
        let Some(counted) = self.kept_counts(&catalog, expression, true)? else { return Ok(None) };
        let evaluator = Evaluator::new(catalog, expression, false)?;
        let (mut places, mut sets) = (HashSet::new(), 0);
        for (release, count) in counted {
            if evaluator.holds(&Match::new(&evaluator.facts, release, stand_in(&count)))? {
                places.insert((release, count.frame, count.lu));
                sets += count.sets;
            }
        }
        Ok(Some((places, sets)))
    }
}

/// A set of which nothing is known but what was counted.
pub(super) fn stand_in(count: &SetCount) -> AnnotationSet {
    AnnotationSet {
        id: AnnotationSetId::new(count.space, 0),
        xml_id: None,
        sentence: SentenceId::new(count.space, 0),
        frame: count.frame,
        lu: count.lu,
        status: count.status.clone(),
        created: String::new(),
        targets: Vec::new(),
        fe_status: FeStatus::Unknown,
        layers: Vec::new(),
        provenance: provenance(count),
    }
}

fn provenance(count: &SetCount) -> Provenance {
    match count.origin {
        Origin::Exemplar => Provenance::Exemplar { lu: count.lu, subcorpus: String::new() },
        Origin::FullText => Provenance::FullText { corpus: CorpusId(0), document: DocumentId(0) },
        Origin::Imported => Provenance::Imported { file: String::new() },
        Origin::User => Provenance::User,
        Origin::Generated => Provenance::Generated(Box::new(Generation::of_seed(
            AnnotationSetId::new(IdSpace::Exemplar, 0),
            count.round,
            RecipeId(0),
        ))),
        Origin::Carried => Provenance::Carried(Box::new(Carrying {
            generated: AnnotationSetId::new(IdSpace::Generated, 0),
            source: AnnotationSetId::new(IdSpace::Exemplar, 0),
            aligner: 0.0,
            elements: Vec::new(),
        })),
        Origin::Predicted => Provenance::Predicted(Box::new(Prediction {
            file: String::new(),
            fit: FrameFit { probability: 0.0, model: [0; 16] },
            runners_up: Vec::new(),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::Write;
    use crate::model::{Sentence, Span};
    use crate::query::Selection;
    use crate::transfer::ImportOptions;

    /// What is counted without a set being read.
    fn counted(database: &Database, query: &str, fields: &[Field]) -> Option<u64> {
        let query = Expression::parse(query).unwrap();
        let matches = database.matches_counted(&query, fields).unwrap();
        matches.map(|matches| matches.iter().map(|(_, sets)| sets).sum())
    }

    #[test]
    fn what_is_counted_and_indexed_exactly_is_counted_without_sets() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {}).unwrap();
        let all = counted(&database, "", &[]).unwrap();
        assert!(all > 40, "{all}");
        for (query, fields) in [
            ("origin=exemplar", &[][..]),
            ("not (origin=exemplar or round>2)", &[Field::Round]),
            ("frame=Checking status!=MANUAL", &[Field::Lu, Field::Origin]),
            ("lu=check.v release=mini*", &[]),
            ("inherits=Checking pos=v lu_status=F*", &[Field::Status]),
            ("trigger=checked", &[Field::Frame]),
            ("(trigger=Checked or trigger=checks) origin=exemplar pos!=n", &[]),
            ("trigger=checked not lu=check.v", &[Field::Lu]),
        ] {
            let found = counted(&database, query, fields);
            let query = Expression::parse(query).unwrap();
            assert_eq!(found, Some(database.query(&query).unwrap().count() as u64), "{query}");
        }
        for (query, fields) in [
            ("text=*bridge*", &[][..]),
            ("frame=Checking", &[Field::Trigger]),
            ("trigger=check*", &[]),
            ("trigger=checked", &[Field::Origin]),
            ("not trigger=checked", &[]),
            ("trigger=checked or frame=Checking", &[]),
            // Reading so few sets costs less than opening the index.
            ("trigger=checked frame=Checking", &[]),
        ] {
            assert_eq!(counted(&database, query, fields), None, "{query}");
        }
    }

    #[test]
    fn a_trigger_too_long_for_the_index_is_looked_at_and_hides_no_other() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        let report = database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {});
        let release = report.unwrap().release.id;
        let long = "long".repeat(16_400);
        let id = SentenceId::new(IdSpace::Imported, 1 << 40);
        let text = format!("two {long} cups");
        let targets = vec![Span::of_part(&text, &long).unwrap()];
        let set = AnnotationSetId::new(IdSpace::Imported, 1 << 40);
        let place = (FrameId(102), LuId(1008));
        let set = AnnotationSet { targets, ..AnnotationSet::placed(set, id, place) };
        let sentence = Sentence { id, xml_id: None, text, occurrences: Vec::new() };
        let write = Write { sentences: vec![sentence], sets: vec![set], ..Write::default() };
        database.write(release, &write).unwrap();
        for query in [format!("trigger={long}"), "trigger=checked".to_owned()] {
            let found = counted(&database, &query, &[Field::Lu]);
            let query = Expression::parse(&query).unwrap();
            let scanned = database.query(&query).unwrap().count() as u64;
            assert!(scanned > 0);
            assert_eq!(found, Some(scanned));
        }
    }

    #[test]
    fn the_index_says_of_triggers_what_sets_say() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {}).unwrap();
        let told = |query: &str| {
            let query = Expression::parse(query).unwrap();
            let add = |all: &mut Vec<_>, trigger: &str, entries: &[TriggerEntry]| {
                let of_set = |of: &TriggerEntry| {
                    (trigger.to_owned(), (of.round, of.release, of.frame, of.lu, of.sentence))
                };
                all.extend(entries.iter().map(of_set));
            };
            let merge = |one, other| [one, other].concat();
            let folded = database.fold_triggers(&query, Vec::new, add, merge).unwrap();
            folded.map(|mut all| {
                all.sort();
                all
            })
        };
        for query in ["", "lu_status=F* or pos=v", "not frame=Roaming"] {
            let mut expected = Vec::new();
            let all = database.matches(&query.parse().unwrap(), &Selection::default()).unwrap();
            for set in all {
                let set = set.unwrap();
                let (of, text) = (set.set(), set.trigger().unwrap().unwrap());
                let place = (0, set.release(), of.frame, of.lu, of.sentence);
                expected.push((crate::text::fold(&text), place));
            }
            expected.sort();
            assert!(expected.len() > 20, "{query}");
            assert_eq!(told(query), Some(expected), "{query}");
        }
        // So few are read; of the other a place says nothing.
        assert_eq!(told("lu=inspect.v"), None);
        assert_eq!(told("round=1"), None);
    }

    #[test]
    fn where_keys_leave_nothing_no_run_is_read() {
        let store = tempfile::tempdir().unwrap();
        let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
        let database = Database::open_writer(store.path()).unwrap();
        database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {}).unwrap();
        for query in ["frame=Checking frame=Roaming", "lu=check.v frame=Roaming", "release=none*"] {
            let query = Expression::parse(query).unwrap();
            let catalog = database.catalog_for(&query).unwrap();
            let runs = Planner::new(&database, &catalog, &query).runs(&query).unwrap();
            assert_eq!(runs, [], "{query}");
        }
    }
}
