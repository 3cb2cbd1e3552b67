//! What must occur in an output: phrases as strings, and sequences of token ids.
//!
//! A required phrase is met only when a ban of it would be violated: it occurs as whole words, case
//! folded, however it was cut into tokens (see `phrases.rs`). Its marks come in the order in which
//! it is given, in that of composed letters, or in Unicode's. A hypothesis is moved towards it by
//! the tokenizer's own cut of the phrase as it is written, so its own case comes first. Where a
//! hypothesis has left that cut in the middle of a phrase, the longest tokens along its letters do
//! so. A phrase with a letter that no token can spell is left out of the search and stays unmet.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::DecodeError;
use super::goals::{GoalState, Goals, Sequence};
use super::letters::{self, After, TextState};
use super::trie::TOP;
use super::vocabulary::Vocabulary;
use crate::text::composed;

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
    /// use fnstore::engine::{Constraint, RequirePhrases, Vocabulary};
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
    /// # Ok::<(), fnstore::engine::DecodeError>(())
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
                let ways = ways_to_write(phrase);
                if ways.iter().any(Vec::is_empty) {
                    return Err(DecodeError::EmptyPhrase { phrase: phrase.to_owned() });
                }
                if !is_spellable(&vocabulary, phrase) {
                    continue;
                }
                let tokens = cut(phrase);
                for symbols in ways {
                    let token_ends = match token_ends(&vocabulary, &symbols, &tokens) {
                        Some(ends) => {
                            written.push((symbols.clone(), tokens.clone(), ends.clone()));
                            ends
                        }
                        None => letter_ends(&symbols),
                    };
                    sequences.push(Sequence { symbols, token_ends });
                }
            }
            if goal.as_ref().is_empty() {
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
        tokens.retain(|&token| {
            let mut after = state;
            let read =
                self.vocabulary.read(text, token, |symbol| after = self.goals.next(after, symbol));
            read.is_ok() && self.goals.is_nearer(after, state)
        });
        proposals.extend(tokens);
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
            let mut says_something = false;
            let after = after.read(letter, |symbol| {
                says_something = true;
                at = at.and_then(|place| {
                    let mut edges = self.goals.edges(state, place);
                    edges.find(|edge| edge.0 == symbol).map(|edge| edge.1)
                });
            });
            // A second space in a row leads nowhere.
            let Some(place) = at.filter(|_| says_something) else { continue };
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

/// The symbols of a phrase with its marks in the orders in which it may be written: as it is, with
/// composed letters, and in Unicode's order. They are one for nearly all phrases.
fn ways_to_write(phrase: &str) -> Vec<Vec<u32>> {
    let mut ways = vec![letters::symbols_as_written(phrase)];
    if phrase.is_ascii() {
        return ways;
    }
    for way in [letters::symbols_as_written(&composed(phrase)), letters::symbols(phrase)] {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

/// Whether tokens can spell every letter.
fn is_spellable(vocabulary: &Vocabulary, phrase: &str) -> bool {
    let text: String = phrase.trim().chars().flat_map(letters::fold).collect();
    // A letter and its mark may be one letter to the vocabulary.
    composed(&text).chars().all(|letter| {
        vocabulary.can_spell(letter)
            || letters::fold(letter).all(|letter| vocabulary.can_spell(letter))
    })
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
        for place in self.goals.places(state) {
            let tokens = self.goals.edges(state, place).map(|(token, _)| token);
            let nearer = |&token: &u32| self.goals.is_nearer(self.goals.next(state, token), state);
            proposals.extend(tokens.filter(nearer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Constraint;
    use super::*;

    const SURFACES: [&[u8]; 13] = [
        b"", b" take", b" place", b" t", b"ake", b"a", b"ke", b" Take", b"it", b".", b" ",
        b"place", b" at",
    ];

    fn id(surface: &str) -> u32 {
        let at = SURFACES.iter().position(|s| *s == surface.as_bytes());
        u32::try_from(at.unwrap()).unwrap()
    }

    fn requiring(goals: &[&[&str]]) -> Constraint {
        let vocabulary = Arc::new(Vocabulary::new(SURFACES));
        let cut = |phrase: &str| match phrase {
            "take place" => vec![id(" take"), id(" place")],
            "Take" => vec![id(" Take")],
            "at" => vec![id(" at")],
            _ => Vec::new(),
        };
        let required = RequirePhrases::new(vocabulary, goals, cut).unwrap();
        Constraint { required: Some(Arc::new(required)), ..Constraint::default() }
    }

    fn after(constraint: &Constraint, tokens: &[&str]) -> super::super::ConstraintState {
        let start = constraint.start(99);
        tokens.iter().fold(start, |state, token| constraint.advance(state, id(token)))
    }

    fn proposals(constraint: &Constraint, tokens: &[&str]) -> Vec<&'static str> {
        let proposals = constraint.proposals(after(constraint, tokens));
        let surface = |token: u32| std::str::from_utf8(SURFACES[token as usize]).unwrap();
        proposals.into_iter().map(surface).collect()
    }

    #[test]
    fn a_phrase_is_proposed_as_the_tokenizer_cuts_it() {
        let constraint = requiring(&[&["take place"]]);
        assert_eq!(proposals(&constraint, &[]), [" take"]);
        assert_eq!(proposals(&constraint, &["it"]), [" take"]);
        assert_eq!(proposals(&constraint, &[" take"]), [" place"]);
        assert_eq!(proposals(&constraint, &[" take", " place"]), [""; 0]);
        // The letter case that was asked for, and none else.
        assert_eq!(proposals(&requiring(&[&["Take"]]), &[]), [" Take"]);
    }

    #[test]
    fn a_hypothesis_that_left_the_cut_goes_on_by_the_longest_tokens() {
        let constraint = requiring(&[&["take place"]]);
        assert_eq!(proposals(&constraint, &[" t"]), [" take", "ake"]);
        assert_eq!(proposals(&constraint, &[" t", "a"]), [" take", "ke"]);
        assert_eq!(proposals(&constraint, &[" take", " "]), ["place"]);
    }

    #[test]
    fn a_phrase_that_is_under_way_keeps_no_other_from_being_proposed() {
        let constraint = requiring(&[&["take place"], &["at"]]);
        assert_eq!(proposals(&constraint, &[" take"]), [" place", " at"]);
        let twice = requiring(&[&["take place"], &["take place"]]);
        assert_eq!(proposals(&twice, &[" take", " place"]), [" take"]);
    }

    #[test]
    fn a_word_is_met_only_when_it_ends() {
        let constraint = requiring(&[&["take"]]);
        let may_end = |tokens: &[&str]| {
            constraint.blocked(after(&constraint, tokens), 0).is_none_or(|blocked| blocked.may_end)
        };
        assert!(may_end(&[" take"]) && may_end(&[" Take", "."]) && may_end(&[" t", "ake", "."]));
        assert!(!may_end(&[]) && !may_end(&[" take", "it"]) && !may_end(&["it", "ake"]));
        assert_eq!(constraint.unmet(after(&constraint, &[" take", "it"])), [0]);
    }

    #[test]
    fn what_is_left_counts_the_tokens_of_the_cut() {
        let constraint = requiring(&[&["take place"], &["Take"]]);
        let left = |tokens: &[&str]| constraint.left(after(&constraint, tokens));
        assert_eq!(left(&[]), 3);
        assert_eq!(left(&[" t"]), 3);
        assert_eq!(left(&[" t", "ake"]), 2);
        // `take` is met as soon as a boundary follows.
        assert_eq!(left(&[" take", " place"]), 0);
    }

    #[test]
    fn what_no_token_can_spell_is_unmet_and_holds_nothing_up() {
        let constraint = requiring(&[&["x-ray"], &["x-ray", "Take"]]);
        let state = after(&constraint, &[" Take"]);
        assert!(constraint.is_met(state, 0));
        assert_eq!((constraint.left(state), constraint.unmet(state)), (0, vec![0]));
        assert!(!constraint.is_met(after(&constraint, &["it"]), 0));
    }

    #[test]
    fn goals_that_ask_for_nothing_are_refused() {
        let vocabulary = Arc::new(Vocabulary::new(SURFACES));
        let refused = |goals: &[Vec<&str>]| {
            let required = RequirePhrases::new(Arc::clone(&vocabulary), goals, |_| Vec::new());
            matches!(required, Err(DecodeError::EmptyPhrase { .. }))
        };
        assert!(refused(&[vec![" "]]) && refused(&[Vec::new()]) && !refused(&[]));
        let refused = RequireTokens::new::<Vec<Vec<u32>>, _>(&[vec![]]);
        assert!(matches!(refused, Err(DecodeError::EmptyPhrase { .. })));
        let refused = RequireTokens::new(&[[Vec::new()]]);
        assert!(matches!(refused, Err(DecodeError::EmptyPhrase { .. })));
    }
}
