//! Rows that a batch names, each with what is said of it.
//!
//! A shard of two hundred thousand sets names each of its rows several times: by what it becomes,
//! by what it counts as, by its being there. So keys lie one behind the other in one piece of
//! memory.

use super::Result;
use super::family::Family;

/// Rows by family and key, in the order in which they were named.
#[derive(Debug)]
pub(super) struct RowList<T> {
    keys: Vec<u8>,
    rows: Vec<Named<T>>,
}

#[derive(Debug)]
struct Named<T> {
    family: Family,
    /// Where its key begins and ends.
    start: usize,
    end: usize,
    said: T,
}

impl<T> Named<T> {
    fn row<'k>(&self, keys: &'k [u8]) -> (Family, &'k [u8]) {
        (self.family, &keys[self.start..self.end])
    }
}

impl<T> Default for RowList<T> {
    fn default() -> Self {
        Self { keys: Vec::new(), rows: Vec::new() }
    }
}

impl<T> RowList<T> {
    pub(super) fn push(&mut self, family: Family, key: &[u8], said: T) {
        let start = self.keys.len();
        self.keys.extend(key);
        self.rows.push(Named { family, start, end: self.keys.len(), said });
    }

    /// How often rows were named.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Rows in the order in which they were named.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Family, &[u8], &T)> {
        self.rows.iter().map(|named| {
            let (family, key) = named.row(&self.keys);
            (family, key, &named.said)
        })
    }

    /// Gives each row once, in order of family and key, with what was said of it last, and whether
    /// it was named only once.
    pub(super) fn each_last(
        self,
        mut take: impl FnMut(Family, &[u8], T, bool) -> Result<()>,
    ) -> Result<()> {
        let Self { keys, mut rows } = self;
        // Equal keys stay in the order in which they were named.
        rows.sort_by(|one, other| one.row(&keys).cmp(&other.row(&keys)));
        let mut rows = rows.into_iter().peekable();
        let mut is_only = true;
        while let Some(named) = rows.next() {
            let (family, key) = named.row(&keys);
            let is_last = rows.peek().is_none_or(|next| next.row(&keys) != (family, key));
            if is_last {
                take(family, key, named.said, is_only)?;
            }
            is_only = is_last;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn what_was_said_last_of_each_row_is_given_in_order(
            named in prop::collection::vec(
                (any::<bool>(), prop::collection::vec(0_u8..3, 0..3), any::<u16>()),
                0..40,
            ),
        ) {
            let family = |is_set| if is_set { Family::Annotation } else { Family::Sentence };
            let mut list = RowList::default();
            let mut expected: BTreeMap<(Family, Vec<u8>), (u16, bool)> = BTreeMap::new();
            for (is_set, key, said) in &named {
                list.push(family(*is_set), key, *said);
                let row = expected.entry((family(*is_set), key.clone()));
                row.and_modify(|row| *row = (*said, false)).or_insert((*said, true));
            }
            let order: Vec<_> = list.iter().map(|(_, key, said)| (key.to_vec(), *said)).collect();
            prop_assert_eq!(order, named.iter().map(|it| (it.1.clone(), it.2)).collect::<Vec<_>>());
            let mut given = Vec::new();
            list.each_last(|family, key, said, is_only| {
                given.push(((family, key.to_vec()), (said, is_only)));
                Ok(())
            })
            .expect("nothing fails");
            prop_assert_eq!(given, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
