//! Ids that were given, where what is equal wants the same one.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Ids that were given. All but the first of those that want one id get the next free ones.
pub(super) struct AssignedIds<I> {
    all: HashSet<I>,
    /// The last id that was given to who wanted a taken one: those between the two are taken, too.
    last: HashMap<I, I>,
    next: fn(I) -> I,
}

impl<I: Copy + Eq + Hash> AssignedIds<I> {
    pub(super) fn new(next: fn(I) -> I) -> Self {
        Self { all: HashSet::new(), last: HashMap::new(), next }
    }

    /// Gives an id, or says that it is taken.
    pub(super) fn insert(&mut self, id: I) -> bool {
        self.all.insert(id)
    }

    pub(super) fn contains(&self, id: &I) -> bool {
        self.all.contains(id)
    }

    /// The wanted id, or the first free one after it.
    pub(super) fn give(&mut self, wanted: I) -> I {
        if self.all.insert(wanted) {
            return wanted;
        }
        let last = self.last.entry(wanted).or_insert(wanted);
        *last = (self.next)(*last);
        while !self.all.insert(*last) {
            *last = (self.next)(*last);
        }
        *last
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    thread_local! {
        static STEPS: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn equal_wishes_are_granted_with_work_that_grows_as_their_number() {
        const WISHES: usize = 20_000;
        let mut given = AssignedIds::new(|id: usize| {
            STEPS.set(STEPS.get() + 1);
            id + 1
        });
        // Two runs that grow into one another, as hashes that are neighbours would.
        for wish in 0..WISHES {
            given.give(wish % 2 * (WISHES / 4));
        }
        assert!((0..WISHES).all(|id| given.contains(&id)));
        assert!(STEPS.get() <= 2 * WISHES, "{} steps", STEPS.get());
    }

    proptest! {
        #[test]
        fn the_id_given_is_the_first_free_one(wanted in proptest::collection::vec(0..12_u64, 0..60)) {
            let mut given = AssignedIds::new(|id: u64| id + 1);
            let mut taken = HashSet::new();
            for wanted in wanted {
                let free = (wanted..).find(|id| !taken.contains(id)).unwrap();
                prop_assert_eq!(given.give(wanted), free);
                taken.insert(free);
            }
        }
    }
}
