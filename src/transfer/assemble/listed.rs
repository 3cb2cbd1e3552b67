//! What an index file lists and no file was read for yet.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::Hash;

/// Entries of an index file, by number and by name. Several may have one number, or one name as
/// well; each is looked at a few times, whatever their number.
pub(super) struct Listed<K, N, P> {
    by_key: BTreeMap<K, VecDeque<P>>,
    by_name: HashMap<(K, N), VecDeque<P>>,
    taken: HashSet<P>,
}

impl<K, N, P> Default for Listed<K, N, P> {
    fn default() -> Self {
        Self { by_key: BTreeMap::new(), by_name: HashMap::new(), taken: HashSet::new() }
    }
}

impl<K: Copy + Ord + Hash, N: Eq + Hash, P: Copy + Eq + Hash> Listed<K, N, P> {
    /// Adds the entry at a place of the file; entries are added in order of place.
    pub(super) fn add(&mut self, key: K, name: N, place: P) {
        self.by_key.entry(key).or_default().push_back(place);
        self.by_name.entry((key, name)).or_default().push_back(place);
    }

    /// Takes the first entry of a number that has the name, or else the first of the number.
    pub(super) fn take(&mut self, key: K, name: N) -> Option<P> {
        let named = self.by_name.get_mut(&(key, name));
        let place = named.and_then(|places| first_left(places, &mut self.taken));
        place.or_else(|| first_left(self.by_key.get_mut(&key)?, &mut self.taken))
    }

    /// Takes all that is left, in order of number and of place.
    pub(super) fn take_rest(&mut self) -> Vec<(K, P)> {
        let Self { by_key, taken, .. } = std::mem::take(self);
        let all = by_key
            .into_iter()
            .flat_map(|(key, places)| places.into_iter().map(move |place| (key, place)));
        all.filter(|(_, place)| !taken.contains(place)).collect()
    }
}

/// Takes the first of some places that was not taken.
fn first_left<P: Copy + Eq + Hash>(places: &mut VecDeque<P>, taken: &mut HashSet<P>) -> Option<P> {
    while let Some(place) = places.pop_front() {
        if taken.insert(place) {
            return Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

    use super::*;

    thread_local! {
        static COMPARED: Cell<u64> = const { Cell::new(0) };
    }

    /// A name that counts how often it is compared.
    #[derive(Clone)]
    struct Name(&'static str);

    impl PartialEq for Name {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Name {}

    impl Hash for Name {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    #[test]
    fn of_several_entries_with_a_number_that_of_the_name_is_taken_and_else_the_first() {
        let mut listed = Listed::default();
        for (place, name) in ["a", "b", "b", "c"].into_iter().enumerate() {
            listed.add(7, name, place);
        }
        listed.add(5, "a", 9);
        assert_eq!(listed.take(7, "b"), Some(1));
        assert_eq!(listed.take(7, "x"), Some(0));
        assert_eq!(listed.take(7, "a"), Some(2), "the only `a` was taken");
        assert_eq!(listed.take(6, "a"), None);
        assert_eq!(listed.take_rest(), [(5, 9), (7, 3)]);
        assert_eq!(listed.take(7, "c"), None);
    }

    #[test]
    fn entries_of_one_number_are_taken_with_work_that_grows_as_their_number() {
        const ENTRIES: usize = 20_000;
        let mut listed = Listed::default();
        (0..ENTRIES).for_each(|place| listed.add(7, Name("a"), place));
        COMPARED.set(0);
        for place in 0..ENTRIES {
            let name = if place % 2 == 0 { Name("a") } else { Name("b") };
            assert_eq!(listed.take(7, name), Some(place));
        }
        assert!(COMPARED.get() <= 2 * ENTRIES as u64, "{} comparisons", COMPARED.get());
        assert!(listed.take_rest().is_empty());
    }
}
