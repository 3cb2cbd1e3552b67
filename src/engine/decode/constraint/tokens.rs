//! Banned sequences of token ids.
//!
//! For what has no spelling (padding, markers) and for parity with systems that ban ids. Only the
//! last token of a sequence is blocked, if the tokens before it were just produced. This is the
//! meaning of `bad_words_ids` in Hugging Face transformers and of `suppress_sequences` in
//! CTranslate2. Two differences from the former: token id 0 and the end of the sentence can be
//! banned like any other.

use super::super::DecodeError;
use super::automaton::{Automaton, ROOT};

/// Sequences of token ids that may not occur in the output.
///
/// ```
/// use fnstore::engine::AvoidTokens;
///
/// let avoid = AvoidTokens::new([vec![1, 2, 3], vec![2, 4]])?;
/// let state = avoid.next(avoid.next(avoid.start(), 1), 2);
/// assert_eq!(avoid.blocked(state), [3, 4]);
/// # Ok::<(), fnstore::engine::DecodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AvoidTokens {
    automaton: Automaton,
    /// Blocked tokens of each node, ascending.
    blocked: Vec<Vec<u32>>,
}

impl AvoidTokens {
    /// Compiles sequences.
    ///
    /// # Errors
    /// When a sequence is empty.
    pub fn new<S: AsRef<[u32]>>(
        sequences: impl IntoIterator<Item = S>,
    ) -> Result<Self, DecodeError> {
        let sequences: Vec<S> = sequences.into_iter().collect();
        if sequences.iter().any(|sequence| sequence.as_ref().is_empty()) {
            return Err(DecodeError::EmptyPhrase { phrase: String::new() });
        }
        let automaton = Automaton::new(&sequences);
        let blocked = (ROOT..automaton.len()).map(|node| blocked(&automaton, node)).collect();
        Ok(Self { automaton, blocked })
    }

    /// The state before any token.
    #[must_use]
    pub fn start(&self) -> u32 {
        ROOT
    }

    /// The state after one more token.
    #[must_use]
    pub fn next(&self, state: u32, token: u32) -> u32 {
        self.automaton.next(state, token)
    }

    /// Tokens that would complete a sequence, ascending.
    ///
    /// # Panics
    /// If `state` came from other sequences.
    #[must_use]
    pub fn blocked(&self, state: u32) -> &[u32] {
        &self.blocked[state as usize]
    }
}

/// The last tokens of all sequences whose other tokens are a suffix of the path to `node`.
fn blocked(automaton: &Automaton, node: u32) -> Vec<u32> {
    let mut blocked: Vec<u32> = automaton
        .suffixes(node)
        .flat_map(|suffix| automaton.edges(suffix))
        .filter(|&&(_, child)| automaton.ends(child))
        .map(|&(token, _)| token)
        .collect();
    blocked.sort_unstable();
    blocked.dedup();
    blocked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked_after(sequences: &[&[u32]], tokens: &[u32]) -> Vec<u32> {
        let avoid = AvoidTokens::new(sequences).unwrap();
        let state = tokens.iter().fold(avoid.start(), |state, &token| avoid.next(state, token));
        avoid.blocked(state).to_vec()
    }

    #[test]
    fn overlapping_sequences_are_blocked_after_a_mismatch() {
        assert_eq!(blocked_after(&[&[1, 2, 3], &[2, 4]], &[1, 2]), [3, 4]);
        assert_eq!(blocked_after(&[&[1, 1, 2]], &[1, 1, 1]), [2]);
    }

    #[test]
    fn a_single_token_is_blocked_everywhere_zero_included() {
        assert_eq!(blocked_after(&[&[0], &[5]], &[]), [0, 5]);
        assert_eq!(blocked_after(&[&[0], &[5, 6]], &[3, 5]), [0, 6]);
    }

    #[test]
    fn a_beginning_stays_allowed() {
        assert!(blocked_after(&[&[1, 2, 3]], &[1]).is_empty());
    }

    #[test]
    fn an_empty_sequence_is_refused() {
        assert!(matches!(AvoidTokens::new([[0; 0]]), Err(DecodeError::EmptyPhrase { .. })));
    }
}
