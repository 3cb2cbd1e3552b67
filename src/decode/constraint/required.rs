//! What must occur in an output: phrases as strings, and sequences of token ids.
//!
//! A required phrase is met exactly when a ban of it would be violated: it occurs as whole words, case
//! folded, however it was cut into tokens (see `phrases.rs`). What moves a hypothesis towards it is
//! first the tokenizer's own cut of the phrase as it is written, so the case that was asked for comes
//! before all others; where a hypothesis has left that cut in the middle of a phrase, the longest
//! tokens that go on along its letters.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::DecodeError;
use super::goals::{GoalState, Goals, Left, Sequence};
use super::letters::{self, After, TextState};
use super::vocabulary::{TOP, Vocabulary};

/// Phrases that must occur in the output, compiled for one vocabulary.
#[derive(Debug)]
pub struct RequirePhrases {
    vocabulary: Arc<Vocabulary>,
    goals: Goals,
    /// The next token of the tokenizer's own cut, from a node at which one of its tokens ends.
    cuts: HashMap<u32, Vec<u32>>,
}

impl RequirePhrases {
    /// Compiles goals, each the alternatives of which one must occur. A goal that is given twice
    /// must occur twice. `cut` gives the tokens that a tokenizer would write a phrase with.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use fnstore::decode::{Constraint, RequirePhrases, Vocabulary};
    ///
    /// // Surfaces of the tokens 0 (the end), 1 to 3.
    /// let vocabulary = Arc::new(Vocabulary::new([&b""[..], b" con", b"firm", b"ation"]));
    /// let required = RequirePhrases::new(vocabulary, &[["confirm"]], |_| vec![1, 2])?;
    /// let constraint = Constraint { required: Some(Arc::new(required)), ..Constraint::default() };
    ///
    /// let begun = constraint.advance(constraint.start(0), 1);
    /// assert_eq!(constraint.proposals(begun), [2]);
    /// assert!(!constraint.blocked(begun, 0).expect("it may not end yet").may_end);
    /// assert!(constraint.blocked(constraint.advance(begun, 2), 0).is_none());
    /// # Ok::<(), fnstore::decode::DecodeError>(())
    /// ```
    ///
    /// # Errors
    /// When a phrase has no visible letter, a goal no phrase, or there are more than 128 goals.
    pub fn new<A, S>(
        vocabulary: Arc<Vocabulary>,
        goals: &[A],
        mut cut: impl FnMut(&str) -> Vec<u32>,
    ) -> Result<Self, DecodeError>
    where
        A: AsRef<[S]>,
        S: AsRef<str>,
    {
        let mut given = Vec::with_capacity(goals.len());
        let mut written = Vec::new();
        for goal in goals {
            let mut sequences = Vec::new();
            for phrase in goal.as_ref() {
                let phrase = phrase.as_ref();
                let symbols = letters::symbols(phrase);
                if symbols.is_empty() {
                    return Err(DecodeError::EmptyPhrase { phrase: phrase.to_owned() });
                }
                let tokens = cut(phrase);
                let token_ends = match token_ends(&vocabulary, &symbols, &tokens) {
                    Some(ends) => {
                        written.push((symbols.clone(), tokens, ends.clone()));
                        ends
                    }
                    None => letter_ends(&symbols),
                };
                sequences.push(Sequence { symbols, token_ends });
            }
            if sequences.is_empty() {
                return Err(DecodeError::EmptyPhrase { phrase: String::new() });
            }
            given.push(sequences);
        }
        let goals = Goals::new(&given)?;
        let mut cuts: HashMap<u32, Vec<u32>> = HashMap::new();
        for (symbols, tokens, ends) in written {
            for (token, begin) in tokens.into_iter().zip([0].into_iter().chain(ends)) {
                let node =
                    goals.node_of(&symbols[..begin]).expect("the phrase is in the automaton");
                let next = cuts.entry(node).or_default();
                if !next.contains(&token) {
                    next.push(token);
                }
            }
        }
        Ok(Self { vocabulary, goals, cuts })
    }

    pub(super) fn goals(&self) -> &Goals {
        &self.goals
    }

    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The state at the end of the text.
    pub(super) fn at_end(&self, mut state: GoalState, text: TextState) -> GoalState {
        text.after.end(|symbol| state = self.goals.next(state, symbol));
        state
    }

    /// Adds the tokens that bring a hypothesis nearer to an unmet phrase.
    pub(super) fn propose(&self, state: GoalState, text: TextState, proposals: &mut Vec<u32>) {
        let mut tokens = Vec::new();
        for place in self.goals.places(state) {
            match self.cuts.get(&place) {
                Some(next) => tokens.extend_from_slice(next),
                None => {
                    self.follow(state, place, TOP, text.after, &mut tokens);
                }
            }
        }
        let left = self.goals.left(state);
        tokens.retain(|&token| self.left_after(state, text, token).is_some_and(|l| l < left));
        proposals.extend(tokens);
    }

    fn left_after(&self, mut state: GoalState, text: TextState, token: u32) -> Option<Left> {
        let read =
            self.vocabulary.read(text, token, |symbol| state = self.goals.next(state, symbol));
        read.ok().map(|_| self.goals.left(state))
    }

    /// Adds the longest tokens whose letters go along an unmet phrase from `place`; says whether
    /// there were any.
    fn follow(
        &self,
        state: GoalState,
        place: u32,
        node: u32,
        after: After,
        tokens: &mut Vec<u32>,
    ) -> bool {
        let mut found = false;
        for &(letter, child) in self.vocabulary.edges(node) {
            let mut at = Some(place);
            let after = after.read(letter, |symbol| {
                at = at.and_then(|place| {
                    let mut edges = self.goals.edges(state, place);
                    edges.find(|edge| edge.0 == symbol).map(|edge| edge.1)
                });
            });
            let Some(place) = at else { continue };
            if !self.follow(state, place, child, after, tokens) {
                let exact = self.vocabulary.exactly(child);
                tokens.extend_from_slice(exact);
                found |= !exact.is_empty();
            } else {
                found = true;
            }
        }
        found
    }
}

/// The number of symbols at the end of each token, if the tokens spell exactly these symbols.
fn token_ends(vocabulary: &Vocabulary, symbols: &[u32], tokens: &[u32]) -> Option<Vec<usize>> {
    let mut spelled = Vec::with_capacity(symbols.len());
    let mut ends = Vec::with_capacity(tokens.len());
    let mut text = TextState::default();
    for &token in tokens {
        text = vocabulary.read(text, token, |symbol| spelled.push(symbol)).ok()?;
        ends.push(spelled.len());
    }
    let is_complete = text.is_complete();
    text.after.end(|symbol| spelled.push(symbol));
    (is_complete && spelled == symbols).then_some(ends)
}

/// Each letter as a token of its own, for a phrase that the tokenizer cannot spell.
fn letter_ends(symbols: &[u32]) -> Vec<usize> {
    (1..=symbols.len()).filter(|&end| symbols[end - 1] != letters::BOUNDARY).collect()
}

/// Sequences of token ids that must occur in the output: for what has no spelling, and for parity
/// with systems that require ids (`force_words_ids` in Hugging Face transformers).
#[derive(Debug)]
pub struct RequireTokens {
    goals: Goals,
}

impl RequireTokens {
    /// Compiles goals, each the alternatives of which one must occur. A goal that is given twice
    /// must occur twice.
    ///
    /// # Errors
    /// When a sequence is empty, a goal has none, or there are more than 128 goals.
    pub fn new<A, S>(goals: &[A]) -> Result<Self, DecodeError>
    where
        A: AsRef<[S]>,
        S: AsRef<[u32]>,
    {
        let sequence = |tokens: &S| {
            let symbols = tokens.as_ref().to_vec();
            Sequence { token_ends: (1..=symbols.len()).collect(), symbols }
        };
        let given: Vec<Vec<Sequence>> =
            goals.iter().map(|goal| goal.as_ref().iter().map(sequence).collect()).collect();
        let is_empty = |goal: &Vec<Sequence>| {
            goal.is_empty() || goal.iter().any(|sequence| sequence.symbols.is_empty())
        };
        if given.iter().any(is_empty) {
            return Err(DecodeError::EmptyPhrase { phrase: String::new() });
        }
        Ok(Self { goals: Goals::new(&given)? })
    }

    pub(super) fn goals(&self) -> &Goals {
        &self.goals
    }

    /// Adds the tokens that bring a hypothesis nearer to an unmet sequence.
    pub(super) fn propose(&self, state: GoalState, proposals: &mut Vec<u32>) {
        let left = self.goals.left(state);
        for place in self.goals.places(state) {
            let tokens = self.goals.edges(state, place).map(|(token, _)| token);
            proposals.extend(tokens.filter(|&t| self.goals.left(self.goals.next(state, t)) < left));
        }
    }
}
