//! Tokens that divide an output into parts, in one order: the sentinels of T5.
//!
//! T5 writes the words of blanks as `<extra_id_0> words <extra_id_1> words <extra_id_2>` (Raffel et
//! al. 2020, section 3.1.4): a sentinel before each part, and one behind the last.

use super::automaton::ROOT;

/// How an output is divided by tokens in their order, with something in each part.
///
/// A state is twice the number of tokens that were read, and one more where a part has just begun.
///
/// ```
/// use fnstore::engine::TokenOrder;
///
/// // Tokens 7, 8 and 9 of a vocabulary of 10 divide; 0 is the end.
/// let order = TokenOrder::new(&[7, 8, 9], 1, 0, 10);
/// let inside = order.next(order.next(order.start(), 7), 3);
/// assert_eq!(order.blocked(inside), [7, 9]);
/// # assert_eq!(order.next(inside, 8), 5);
/// ```
#[derive(Debug, Clone)]
pub struct TokenOrder {
    /// Those that begin parts, then the one behind the last part, if there is one.
    tokens: Vec<u32>,
    /// Blocked tokens of each state, ascending.
    blocked: Vec<Vec<u32>>,
}

impl TokenOrder {
    /// The order of an output of so many parts. Each is begun by one of the `dividers`, in their
    /// order; the next one may stand before the end.
    ///
    /// # Panics
    /// If there are fewer dividers than parts, or there is no part.
    #[must_use]
    pub fn new(dividers: &[u32], parts: usize, eos_token: u32, vocab_size: u32) -> Self {
        assert!(parts > 0 && parts <= dividers.len(), "a divider for each part");
        let tokens: Vec<u32> = dividers.iter().copied().take(parts + 1).collect();
        let all_but = |allowed: Option<u32>| {
            (0..vocab_size).filter(|&token| Some(token) != allowed).collect::<Vec<u32>>()
        };
        let mut blocked = vec![all_but(Some(tokens[0])), all_but(Some(tokens[0]))];
        for read in 1..=parts {
            for has_begun in [false, true] {
                // A part without a token would be an empty one.
                let next = tokens.get(read).filter(|_| !has_begun);
                let mut list: Vec<u32> =
                    dividers.iter().copied().filter(|token| Some(token) != next).collect();
                if read < parts || has_begun {
                    list.push(eos_token);
                }
                list.sort_unstable();
                blocked.push(list);
            }
        }
        if tokens.len() > parts {
            blocked.extend([all_but(Some(eos_token)), all_but(Some(eos_token))]);
        }
        Self { tokens, blocked }
    }

    /// The state before any token.
    #[must_use]
    pub fn start(&self) -> u32 {
        ROOT
    }

    /// The state after one more token.
    #[must_use]
    pub fn next(&self, state: u32, token: u32) -> u32 {
        let read = state / 2;
        match self.tokens.get(read as usize) {
            Some(next) if *next == token => 2 * (read + 1) + 1,
            _ => 2 * read,
        }
    }

    /// Tokens that may not come next, ascending.
    ///
    /// # Panics
    /// If the state is of another order.
    #[must_use]
    pub fn blocked(&self, state: u32) -> &[u32] {
        &self.blocked[state as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EOS: u32 = 0;

    /// Every output of at most so many tokens that nothing blocks, ended ones alone.
    fn outputs(order: &TokenOrder, most: usize) -> Vec<Vec<u32>> {
        let (mut open, mut ended) = (vec![(order.start(), Vec::new())], Vec::new());
        for _ in 0..most {
            for (state, tokens) in std::mem::take(&mut open) {
                let free =
                    (0..6).filter(|token| order.blocked(state).binary_search(token).is_err());
                for token in free {
                    let tokens: Vec<u32> = tokens.iter().copied().chain([token]).collect();
                    match token {
                        EOS => ended.push(tokens),
                        _ => open.push((order.next(state, token), tokens)),
                    }
                }
            }
        }
        ended
    }

    #[test]
    fn an_output_has_its_parts_in_order_and_something_in_each() {
        // 1 and 2 are words; 3, 4 and 5 divide.
        let two = outputs(&TokenOrder::new(&[3, 4, 5], 2, EOS, 6), 6);
        assert!(two.contains(&vec![3, 1, 4, 2, 0]) && two.contains(&vec![3, 1, 4, 2, 5, 0]));
        assert!(two.contains(&vec![3, 1, 1, 4, 2, 0]));
        for output in two {
            let dividers: Vec<u32> = output.iter().copied().filter(|token| *token > 2).collect();
            assert!(dividers == [3, 4] || dividers == [3, 4, 5], "{output:?}");
            let is_empty = |pair: &[u32]| pair[0] > 2 && pair[0] != 5 && !(1..3).contains(&pair[1]);
            assert!(!output.windows(2).any(is_empty), "{output:?}");
        }
        // Without a divider for behind the last part, the end alone ends it.
        let last = outputs(&TokenOrder::new(&[3, 4], 2, EOS, 6), 5);
        assert_eq!(last.iter().filter(|output| output.len() == 5).count(), 9, "{last:?}");
    }

    proptest! {
        #[test]
        fn every_state_that_can_be_reached_has_its_list(
            (parts, more) in (1usize..5, 0usize..2),
            tokens in prop::collection::vec(0u32..12, 0..20),
        ) {
            let dividers: Vec<u32> = (5..5 + (parts + more) as u32).collect();
            let order = TokenOrder::new(&dividers, parts, EOS, 12);
            let mut state = order.start();
            for token in tokens {
                prop_assert!(order.blocked(state).is_sorted());
                prop_assert!(order.blocked(state).len() < 12, "something may come");
                state = order.next(state, token);
            }
        }
    }
}
