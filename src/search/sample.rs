//! Samples: some of the annotation sets that a query finds, the same ones for the same seed.
//!
//! Each set has a number, a hash of the seed, its release's name and its id. Of each group those
//! with the lowest numbers are taken. A set's number depends on nothing else: neither on threads,
//! nor on the order of a scan, nor on the sets beside it. So a larger sample holds the smaller one,
//! sets that are added change a sample only where their own numbers are lower, and stores that hold
//! the same sets give the same sample.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::count::{combinations, require_values};
use super::matched::Match;
use crate::database::{Database, DatabaseError, Result};
use crate::model::{AnnotationSetId, ReleaseId};
use crate::query::{Expression, Field, Ids, Term, Test};

/// Which sample is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// Most annotation sets in each group.
    pub size: usize,
    /// Fields whose values, taken together, make a group; without any, all sets are one. A set with
    /// several values, as of `fe`, is in several groups. Those without a value are a group.
    pub per: Vec<Field>,
    /// Another seed is another sample.
    pub seed: u64,
}

/// A sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// The query that finds the sets of the sample: the one that was asked, and their ids.
    pub expression: Expression,
    /// Sets in the sample.
    pub sets: u64,
    /// Sets that the query finds.
    pub found: u64,
    /// Groups.
    pub groups: u64,
    /// Groups that have fewer sets than were wanted, and are in the sample whole.
    pub short: u64,
}

/// Names of releases.
type Names = HashMap<ReleaseId, String>;

/// A set and its number, which comes first.
type Drawn = (u64, ReleaseId, AnnotationSetId);

/// The sets of lowest number of each group so far.
#[derive(Default)]
struct Groups {
    /// Sets that were looked at.
    found: u64,
    groups: HashMap<Vec<Option<String>>, BinaryHeap<Drawn>>,
}

impl Groups {
    fn add(&mut self, sampling: &Sampling, names: &Names, found: &Match<'_>) -> Result<()> {
        let values = combinations(&sampling.per, found)?;
        let (release, id) = (found.release(), found.set().id);
        let name = names.get(&release).map_or("", String::as_str);
        let drawn = (number(sampling.seed, name, id), release, id);
        self.found += 1;
        for group in values {
            take_up(self.groups.entry(group).or_default(), drawn, sampling.size);
        }
        Ok(())
    }

    fn merge(&mut self, other: Self, size: usize) {
        self.found += other.found;
        for (group, sets) in other.groups {
            let all = self.groups.entry(group).or_default();
            sets.into_iter().for_each(|drawn| take_up(all, drawn, size));
        }
    }
}

/// Takes up a set, and drops the one of the highest number where there are too many.
fn take_up(sets: &mut BinaryHeap<Drawn>, drawn: Drawn, size: usize) {
    sets.push(drawn);
    if sets.len() > size {
        sets.pop();
    }
}

/// The number of a set: the first 8 bytes of the BLAKE3 hash of the seed, the id and the release's
/// name, big-endian. Releases share ids, and a set is drawn apart from its twin.
fn number(seed: u64, release: &str, id: AnnotationSetId) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&seed.to_be_bytes());
    hash.update(&id.bits().to_be_bytes());
    hash.update(release.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    u64::from_be_bytes(first)
}

impl Database {
    /// A sample of the annotation sets for which a query holds. All of them are looked at; memory
    /// for those of the sample.
    ///
    /// # Errors
    /// As [`query`](Self::query), and for `since`, which has no value.
    ///
    /// ```
    /// # use fnstore::database::Database;
    /// # use fnstore::transfer::ImportOptions;
    /// # let store = tempfile::tempdir()?;
    /// # let database = Database::open_writer(store.path())?;
    /// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
    /// # database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?;
    /// use fnstore::query::Field;
    /// use fnstore::search::Sampling;
    ///
    /// let two_per_frame = Sampling { size: 2, per: vec![Field::Frame], seed: 1 };
    /// let sample = database.sample(&"origin=exemplar".parse()?, &two_per_frame)?;
    /// assert_eq!(database.count(&sample.expression)?, sample.sets);
    /// for frame in database.count_by(&sample.expression, &[Field::Frame])? {
    ///     assert!(frame.count <= 2);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample(&self, expression: &Expression, sampling: &Sampling) -> Result<Sample> {
        require_values(&sampling.per)?;
        let mut all = Groups::default();
        let names = self.releases()?.into_iter().map(|of| (of.id, of.name)).collect();
        let add =
            |some: &mut Groups, found: Match<'_>| Ok(some.add(sampling, &names, &found).err());
        let take = |some| {
            all.merge(some, sampling.size);
            Ok::<_, DatabaseError>(())
        };
        self.fold_matches(expression, Groups::default, add, take)?;
        let short = all.groups.values().filter(|sets| sets.len() < sampling.size).count() as u64;
        let groups = all.groups.len() as u64;
        let mut sets: BTreeMap<ReleaseId, Vec<AnnotationSetId>> = BTreeMap::new();
        for (_, release, id) in all.groups.into_values().flatten() {
            sets.entry(release).or_default().push(id);
        }
        let sets = sets.into_iter().map(|(of, ids)| (of, ids.into_iter().collect::<Ids<_>>()));
        let sets: Vec<_> = sets.collect();
        Ok(Sample {
            sets: sets.iter().map(|(_, ids)| ids.len() as u64).sum(),
            expression: Expression::conjunction([expression.clone(), self.one_of(sets)?]),
            found: all.found,
            groups,
            short,
        })
    }

    /// The query that finds the sets of these ids, each in its release.
    pub(crate) fn one_of(
        &self,
        sets: Vec<(ReleaseId, Ids<AnnotationSetId>)>,
    ) -> Result<Expression> {
        let releases = self.releases()?;
        let of_release = |(release, ids): (ReleaseId, Ids<_>)| {
            let ids = Expression::Term(Term { field: Field::Id, test: Test::Sets(ids) });
            let is_only = releases.len() == 1;
            let named = releases.iter().find(|of| of.id == release && !is_only);
            let named = named.map(|of| Term::named(Field::Release, &of.name)).transpose()?;
            Ok(Expression::conjunction(named.map(Expression::Term).into_iter().chain([ids])))
        };
        let each: Result<Vec<_>> = sets.into_iter().map(of_release).collect();
        Ok(Expression::disjunction(each?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::query::Selection;
    use crate::transfer::ImportOptions;

    const MINI_NAME: &str = "mini-framenet";
    const MINI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");

    fn mini() -> (tempfile::TempDir, Database) {
        let store = tempfile::tempdir().unwrap();
        let database = Database::open_writer(store.path()).unwrap();
        database.import(MINI.as_ref(), &ImportOptions::default(), &mut |_| {}).unwrap();
        (store, database)
    }

    fn ids(database: &Database, expression: &Expression) -> Vec<AnnotationSetId> {
        let found = database.matches(expression, &Selection::default()).unwrap();
        found.map(|found| found.unwrap().set().id).collect()
    }

    /// The definition, done naively: all sets sorted by their numbers, the first of each group.
    fn naively(
        database: &Database,
        query: &Expression,
        of: &Sampling,
    ) -> BTreeSet<AnnotationSetId> {
        let found = database.matches(query, &Selection::default()).unwrap();
        let mut drawn: Vec<(u64, Vec<String>, AnnotationSetId)> = found
            .map(|found| {
                let found = found.unwrap();
                let values = |field: &Field| found.values(*field).unwrap();
                let group = of.per.iter().map(|field| format!("{:?}", values(field))).collect();
                (number(of.seed, MINI_NAME, found.set().id), group, found.set().id)
            })
            .collect();
        drawn.sort();
        let mut taken: HashMap<Vec<String>, usize> = HashMap::new();
        let mut is_taken = |group: &Vec<String>| {
            let count = taken.entry(group.clone()).or_default();
            *count += 1;
            *count <= of.size
        };
        drawn.into_iter().filter(|(_, group, _)| is_taken(group)).map(|(.., id)| id).collect()
    }

    #[test]
    fn a_sample_is_the_first_of_each_group_by_number() {
        let (_store, database) = mini();
        for query in ["", "origin=exemplar", "frame=Checking", "frame=Checking pos=n"] {
            let query: Expression = query.parse().unwrap();
            for per in [vec![], vec![Field::Frame], vec![Field::Lu, Field::Origin]] {
                for (size, seed) in [(1, 1), (1, 2), (2, 1), (50, 3)] {
                    let sampling = Sampling { size, per: per.clone(), seed };
                    let sample = database.sample(&query, &sampling).unwrap();
                    let sets = ids(&database, &sample.expression);
                    assert_eq!(sets.len() as u64, sample.sets);
                    let sets: BTreeSet<_> = sets.into_iter().collect();
                    assert_eq!(sets, naively(&database, &query, &sampling), "{sampling:?}");
                    assert_eq!(sample.found, database.count(&query).unwrap());
                    let written = sample.expression.to_string();
                    assert_eq!(Expression::parse(&written), Ok(sample.expression));
                }
            }
        }
    }

    #[test]
    fn seeds_differ_and_a_larger_sample_holds_the_smaller() {
        let (_store, database) = mini();
        let of = |size, seed| {
            let sampling = Sampling { size, per: Vec::new(), seed };
            let sample = database.sample(&Expression::Everything, &sampling).unwrap();
            ids(&database, &sample.expression).into_iter().collect::<BTreeSet<_>>()
        };
        assert!(of(3, 1).is_subset(&of(5, 1)));
        let drawn: BTreeSet<_> = (1..=5).map(|seed| of(3, seed)).collect();
        assert!(drawn.len() > 1, "{drawn:?}");
    }

    #[test]
    fn a_set_with_several_values_counts_in_each_group() {
        let (_store, database) = mini();
        let sampling = Sampling { size: 1, per: vec![Field::Fe], seed: 7 };
        let sample = database.sample(&Expression::Everything, &sampling).unwrap();
        let all = database.count_by(&Expression::Everything, &[Field::Fe]).unwrap();
        let sampled = database.count_by(&sample.expression, &[Field::Fe]).unwrap();
        assert_eq!((sampled.len(), sample.groups), (all.len(), all.len() as u64));
        assert!(sample.sets <= sample.groups && sample.sets > 1);
    }

    #[test]
    fn a_sample_of_nothing_finds_nothing_and_releases_with_shared_ids_are_told_apart() {
        let (_store, database) = mini();
        let one = Sampling { size: 1, per: vec![Field::Release], seed: 1 };
        let none = database.sample(&"frame=Checking origin=user".parse().unwrap(), &one).unwrap();
        assert_eq!((none.sets, none.found, none.groups), (0, 0, 0));
        assert_eq!(database.count(&none.expression).unwrap(), 0);
        let again = ImportOptions { release: Some("again".to_owned()), ..ImportOptions::default() };
        database.import(MINI.as_ref(), &again, &mut |_| {}).unwrap();
        let both = database.sample(&Expression::Everything, &one).unwrap();
        assert_eq!((both.sets, both.groups), (2, 2));
        assert_eq!(database.count(&both.expression).unwrap(), 2);
        let all = Sampling { size: 3, per: Vec::new(), seed: 1 };
        let three = database.sample(&Expression::Everything, &all).unwrap();
        assert_eq!(database.count(&three.expression).unwrap(), 3);
        let of = |size| {
            let sampling = Sampling { size, per: Vec::new(), seed: 2 };
            ids(&database, &database.sample(&Expression::Everything, &sampling).unwrap().expression)
        };
        let distinct: BTreeSet<_> = of(6).into_iter().collect();
        assert!(distinct.len() > 3, "a set is drawn apart from its twin: {distinct:?}");
    }

    #[test]
    fn a_field_without_values_makes_no_groups() {
        let (_store, database) = mini();
        let sampling = Sampling { size: 1, per: vec![Field::Since], seed: 1 };
        let error = database.sample(&Expression::Everything, &sampling).unwrap_err();
        assert!(error.to_string().contains("`since`"), "{error}");
    }
}
