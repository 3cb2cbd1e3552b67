//! Counting things that differ, in little more memory than the things themselves take.

use rayon::slice::ParallelSliceMut as _;

/// Things of which each counts once.
#[derive(Debug, Clone)]
pub(crate) struct Distinct<T> {
    /// Sorted and each once up to `sorted`, as they came behind that.
    all: Vec<T>,
    sorted: usize,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { all: Vec::new(), sorted: 0 }
    }
}

/// Things that are gathered before they are sorted.
const FEW: usize = 1 << 16;

impl<T: Ord + Copy + Send> Distinct<T> {
    /// Takes a thing, which may be there already.
    pub(crate) fn add(&mut self, thing: T) {
        // Things of one sentence follow each other.
        if self.all.last() != Some(&thing) {
            self.all.push(thing);
            self.tidy();
        }
    }

    /// Takes up what another has.
    pub(crate) fn merge(&mut self, other: Self) {
        self.all.extend(other.all);
        self.tidy();
    }

    /// Sorts what has come when it is a good part of all: where most of it is new, all is sorted a
    /// few times.
    fn tidy(&mut self) {
        if self.all.len() - self.sorted > self.sorted.max(FEW) {
            self.sort();
        }
    }

    fn sort(&mut self) {
        self.all.par_sort_unstable();
        self.all.dedup();
        self.sorted = self.all.len();
    }

    /// The things in order, each once.
    pub(crate) fn into_sorted(mut self) -> Vec<T> {
        self.sort();
        self.all
    }
}

/// Of lists of which each has things in order, how many things of each no list before it has.
pub(crate) fn new_in_each<T: Ord + Copy>(lists: &[Vec<T>]) -> Vec<u64> {
    let mut rests: Vec<&[T]> = lists.iter().map(Vec::as_slice).collect();
    let mut new = vec![0; lists.len()];
    loop {
        let least = rests.iter().filter_map(|rest| rest.first().copied()).min();
        let Some(least) = least else { return new };
        let mut is_new = true;
        for (rest, count) in rests.iter_mut().zip(&mut new) {
            if rest.first() == Some(&least) {
                *rest = &rest[1..];
                *count += u64::from(std::mem::take(&mut is_new));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_thing_counts_once_and_is_new_where_it_comes_first(
            lists in prop::collection::vec(prop::collection::vec(0..40_u8, 0..30), 0..6),
        ) {
            let mut known: BTreeSet<u8> = BTreeSet::new();
            let (mut sorted, mut expected) = (Vec::new(), Vec::new());
            for list in &lists {
                let mut distinct = Distinct::default();
                let (first, second) = list.split_at(list.len() / 2);
                first.iter().for_each(|thing| distinct.add(*thing));
                let mut other = Distinct::default();
                second.iter().for_each(|thing| other.add(*thing));
                distinct.merge(other);
                let all: BTreeSet<u8> = list.iter().copied().collect();
                let things = distinct.into_sorted();
                prop_assert_eq!(&things, &all.iter().copied().collect::<Vec<_>>());
                sorted.push(things);
                expected.push(all.difference(&known).count() as u64);
                known.extend(all);
            }
            prop_assert_eq!(new_in_each(&sorted), expected);
        }
    }

    #[test]
    fn many_things_of_which_few_differ_take_little_room() {
        let mut distinct = Distinct::default();
        for number in 0..10 * FEW {
            distinct.add(number % 1000);
        }
        assert!(distinct.all.len() <= 2 * FEW);
        assert_eq!(distinct.into_sorted(), (0..1000).collect::<Vec<_>>());
    }
}
