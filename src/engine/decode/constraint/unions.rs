//! What several lists of blocked tokens come to, found once.
//!
//! The lists of a state are shared between states, and so are their unions. After a banned word a
//! list holds half of the vocabulary, for every row of every step.

use std::collections::HashMap;
use std::sync::Arc;

/// Unions of ascending lists, by the places of the lists in memory.
///
/// The lists must stay where they are for as long as this is used; those of a constraint's automata
/// do as long as the automata live.
#[derive(Debug, Default)]
pub(in crate::engine::decode) struct Unions {
    known: HashMap<Vec<usize>, Arc<[u32]>>,
}

impl Unions {
    /// The ascending union of ascending lists and of one more token.
    pub(super) fn of(&mut self, lists: &[&[u32]], more: Option<u32>) -> Arc<[u32]> {
        let place = |list: &&[u32]| list.as_ptr() as usize;
        let lists = || lists.iter().filter(|list| !list.is_empty());
        let mut key: Vec<usize> = lists().map(place).collect();
        key.push(more.map_or(0, |token| token as usize + 1));
        let union = || {
            let mut tokens = Vec::new();
            lists().for_each(|list| add(&mut tokens, list));
            add(&mut tokens, more.as_slice());
            tokens.into()
        };
        Arc::clone(self.known.entry(key).or_insert_with(union))
    }
}

/// Adds an ascending list to an ascending list. Of a long one and a short one the long one is
/// copied in pieces, between the tokens of the short one.
pub(super) fn add(tokens: &mut Vec<u32>, more: &[u32]) {
    let before = std::mem::take(tokens);
    let (short, mut long) =
        if before.len() < more.len() { (&before[..], more) } else { (more, &before[..]) };
    tokens.reserve(short.len() + long.len());
    for &token in short {
        let smaller = long.partition_point(|&other| other < token);
        tokens.extend_from_slice(&long[..smaller]);
        tokens.push(token);
        long = &long[smaller..];
        long = long.strip_prefix(&[token]).unwrap_or(long);
    }
    tokens.extend_from_slice(long);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_union_is_found_once_and_shared() {
        let (a, b) = (vec![1, 5], vec![2]);
        let mut unions = Unions::default();
        let first = unions.of(&[&a, &[], &b], Some(9));
        assert_eq!(*first, [1, 2, 5, 9]);
        assert!(Arc::ptr_eq(&first, &unions.of(&[&a, &b], Some(9))));
        assert_eq!(*unions.of(&[&a, &b], None), [1, 2, 5]);
        assert_eq!(*unions.of(&[&a], Some(0)), [0, 1, 5]);
        assert!(unions.of(&[], None).is_empty());
    }

    proptest! {
        #[test]
        fn lists_add_up_to_their_ascending_union(
            mut lists in prop::collection::vec(prop::collection::vec(0u32..20, 0..12), 0..4),
        ) {
            let mut sum = Vec::new();
            for list in &mut lists {
                list.sort_unstable();
                list.dedup();
                add(&mut sum, list);
            }
            let union: BTreeSet<u32> = lists.concat().into_iter().collect();
            prop_assert_eq!(sum, union.into_iter().collect::<Vec<_>>());
        }
    }
}
