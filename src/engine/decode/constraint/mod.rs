//! What a hypothesis may not say, and what it must.
//!
//! A [`Constraint`] joins three sources of bans (phrases for every sentence, phrases for this one,
//! sequences of token ids) and two of requirements (phrases, sequences of token ids). It also has
//! the known words, an order of tokens, and tokens that every output begins with. Its progress in a
//! hypothesis is a [`ConstraintState`], a small value that is copied along when a hypothesis is
//! continued.
//!
//! Both are hard. What a state blocks is masked before the best continuations are chosen, so no
//! output contains a banned phrase. The end is blocked until everything required is there. What is
//! left to do decides how the beam is shared out (`allocation.rs`).
//!
//! Blocking renormalises nothing: the stored score is that of the unmasked network (Culkin et al.
//! 2021, section 3; Hu et al. 2019, section 3.2).

mod automaton;
#[cfg(test)]
mod equivalence;
mod goals;
mod known;
mod letters;
mod marks;
mod occurrences;
mod order;
mod phrases;
mod required;
mod tokens;
mod trie;
mod unions;
mod vocabulary;

use std::sync::Arc;

pub use known::{KnownWords, WordList};
pub use occurrences::{occurrences, violations};
pub use order::TokenOrder;
pub use phrases::AvoidPhrases;
pub use required::{RequirePhrases, RequireTokens};
pub use tokens::AvoidTokens;
pub(super) use unions::Unions;
pub use vocabulary::Vocabulary;

use automaton::ROOT;
use goals::{GoalState, Goals};
use known::WordState;
use letters::TextState;
use phrases::BanState;

/// Everything that is asked of one output. The default asks nothing. All phrases are compiled for
/// the same vocabulary.
///
/// ```
/// use std::sync::Arc;
///
/// use fnstore::engine::{AvoidPhrases, Constraint, Vocabulary};
///
/// // Surfaces of the tokens 0 (the end), 1 to 4.
/// let vocabulary = Vocabulary::new([&b""[..], b" con", b"firm", b"ation", b" it"]);
/// let here = AvoidPhrases::new(Arc::new(vocabulary), ["confirm"])?;
/// let constraint = Constraint { here: Some(Arc::new(here)), ..Constraint::default() };
///
/// let state = constraint.advance(constraint.advance(constraint.start(0), 1), 2);
/// let blocked = constraint.blocked(state, 0).expect("`confirm` may only go on");
/// assert_eq!(*blocked.tokens, [0, 1, 4]);
/// assert!(!blocked.may_end);
/// # Ok::<(), fnstore::engine::DecodeError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Constraint {
    /// Phrases banned from every output.
    pub everywhere: Option<Arc<AvoidPhrases>>,
    /// Phrases banned from this output.
    pub here: Option<Arc<AvoidPhrases>>,
    /// Banned sequences of token ids.
    pub tokens: Option<Arc<AvoidTokens>>,
    /// The words that this output may hold, and no others.
    pub known: Option<Arc<KnownWords>>,
    /// Phrases that must occur in this output.
    pub required: Option<Arc<RequirePhrases>>,
    /// Sequences of token ids that must occur.
    pub required_tokens: Option<Arc<RequireTokens>>,
    /// Tokens that divide the output into parts, in their order.
    pub order: Option<Arc<TokenOrder>>,
    /// Tokens that the output begins with, whatever is banned. Their scores and their number count.
    pub prefix: Arc<[u32]>,
}

/// How far a hypothesis has come towards the banned and the required phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ConstraintState {
    text: TextState,
    everywhere: BanState,
    here: BanState,
    tokens: u32,
    word: WordState,
    required: GoalState,
    required_tokens: GoalState,
    order: u32,
}

/// What may not come next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// Token ids, ascending; the end is among them where it may not come.
    pub tokens: Arc<[u32]>,
    /// Whether the end of the sentence may come next.
    pub may_end: bool,
}

impl Constraint {
    /// Where a text holds banned phrases: bytes at which one begins, ascending.
    #[must_use]
    pub fn banned_places(&self, text: &str) -> Vec<usize> {
        let lists = [&self.everywhere, &self.here];
        let mut places: Vec<usize> =
            lists.into_iter().flatten().flat_map(|avoid| avoid.places(text)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The state before any token. The decoder's start token counts as read by banned token
    /// sequences, as in Hugging Face transformers, and spells nothing.
    #[must_use]
    pub fn start(&self, start_token: u32) -> ConstraintState {
        let tokens = self.tokens.as_ref().map_or(ROOT, |avoid| avoid.next(ROOT, start_token));
        ConstraintState { tokens, ..ConstraintState::default() }
    }

    /// The state after one more token. After a token that was blocked the state is some state, but
    /// not a meaningful one.
    #[must_use]
    pub fn advance(&self, mut state: ConstraintState, token: u32) -> ConstraintState {
        if let Some(avoid) = &self.tokens {
            state.tokens = avoid.next(state.tokens, token);
        }
        if let Some(require) = &self.required_tokens {
            state.required_tokens = require.goals().next(state.required_tokens, token);
        }
        if let Some(order) = &self.order {
            state.order = order.next(state.order, token);
        }
        if let Some(vocabulary) = self.vocabulary() {
            let text = vocabulary.read(state.text, token, |symbol| {
                if let Some(avoid) = &self.everywhere {
                    state.everywhere = avoid.next(state.everywhere, symbol);
                }
                if let Some(avoid) = &self.here {
                    state.here = avoid.next(state.here, symbol);
                }
                if let Some(known) = &self.known {
                    state.word = known.next_or_unknown(state.word, symbol);
                }
                if let Some(require) = &self.required {
                    state.required = require.goals().next(state.required, symbol);
                }
            });
            state.text = text.unwrap_or_default();
        }
        state
    }

    /// What may not come next, or `None` when everything may.
    #[must_use]
    pub fn blocked(&self, state: ConstraintState, eos_token: u32) -> Option<Blocked> {
        self.blocked_in(state, eos_token, &mut Unions::default())
    }

    /// As [`blocked`](Self::blocked), where lists were made before; all for this constraint.
    pub(super) fn blocked_in(
        &self,
        state: ConstraintState,
        eos_token: u32,
        unions: &mut Unions,
    ) -> Option<Blocked> {
        let everywhere = self.everywhere.as_ref().map(|a| a.blocked(state.everywhere, state.text));
        let here = self.here.as_ref().map(|avoid| avoid.blocked(state.here, state.text));
        let tokens = self.tokens.as_ref().map(|avoid| avoid.blocked(state.tokens));
        let order = self.order.as_ref().map(|order| order.blocked(state.order));
        let lists = [
            everywhere.as_deref().unwrap_or_default(),
            here.as_deref().unwrap_or_default(),
            tokens.unwrap_or_default(),
            order.unwrap_or_default(),
        ];
        let may_end = self.may_be_cut(state)
            && lists.iter().all(|list| list.binary_search(&eos_token).is_err())
            && self.is_met(state, eos_token);
        let unknown = self.known.as_ref().map(|known| known.blocked(state.word, state.text));
        if may_end && unknown.is_none() && lists.iter().all(|list| list.is_empty()) {
            return None;
        }
        let mut tokens = unions.of(&lists, (!may_end).then_some(eos_token));
        if let Some(mut unknown) = unknown {
            unions::add(&mut unknown, &tokens);
            tokens = unknown.into();
        }
        Some(Blocked { tokens, may_end })
    }

    /// Whether the text read so far holds no banned phrase and no unknown word, were it cut here.
    #[must_use]
    pub fn may_be_cut(&self, state: ConstraintState) -> bool {
        let lists = [(&self.everywhere, state.everywhere), (&self.here, state.here)];
        let known = self.known.as_ref();
        known.is_none_or(|known| known.may_be_cut(state.word, state.text))
            && lists.into_iter().all(|(avoid, node)| {
                avoid.as_ref().is_none_or(|avoid| avoid.may_end(node, state.text))
            })
    }

    /// Whether something is required.
    #[must_use]
    pub fn requires(&self) -> bool {
        self.required.is_some() || self.required_tokens.is_some()
    }

    /// Constraint tokens that are left to write: those of everything required that is not met, less
    /// those of one phrase that is under way.
    #[must_use]
    pub fn left(&self, state: ConstraintState) -> u32 {
        let left = |(goals, state): (&Goals, GoalState)| goals.left(state).tokens;
        self.goals(state).map(left).sum()
    }

    /// Tokens that bring a hypothesis nearer to something required, ascending.
    #[must_use]
    pub fn proposals(&self, state: ConstraintState) -> Vec<u32> {
        let mut proposals = Vec::new();
        if let Some(require) = &self.required {
            require.propose(state.required, state.text, &mut proposals);
        }
        if let Some(require) = &self.required_tokens {
            require.propose(state.required_tokens, &mut proposals);
        }
        proposals.sort_unstable();
        proposals.dedup();
        proposals
    }

    /// What is required and not there, were the output cut here: places among the phrases, then, on
    /// from their number, among the token sequences. What no token can spell is always among it.
    #[must_use]
    pub fn unmet(&self, state: ConstraintState) -> Vec<usize> {
        let mut unmet = Vec::new();
        let mut before = 0;
        for (goals, state) in self.goals(self.at_end(state)) {
            unmet.extend(goals.unmet(state).map(|at| before + at));
            before += goals.len();
        }
        unmet
    }

    /// Whether everything required that tokens can spell is there, were the output cut here.
    #[must_use]
    pub fn is_met_at_cut(&self, state: ConstraintState) -> bool {
        self.goals(self.at_end(state)).all(|(goals, state)| goals.is_met(state))
    }

    /// Whether everything required that tokens can spell is there once the end follows.
    fn is_met(&self, state: ConstraintState, eos_token: u32) -> bool {
        if !self.requires() {
            return true;
        }
        self.is_met_at_cut(self.advance(state, eos_token))
    }

    fn at_end(&self, mut state: ConstraintState) -> ConstraintState {
        if let Some(require) = &self.required {
            state.required = require.at_end(state.required, state.text);
        }
        state
    }

    fn goals(&self, state: ConstraintState) -> impl Iterator<Item = (&Goals, GoalState)> {
        let phrases = self.required.iter().map(move |r| (r.goals(), state.required));
        let tokens = self.required_tokens.iter().map(move |r| (r.goals(), state.required_tokens));
        phrases.chain(tokens)
    }

    /// The banned phrases that occur in a finished text; none is expected to.
    #[must_use]
    pub fn violations(&self, text: &str) -> Vec<&str> {
        let lists = [&self.everywhere, &self.here];
        lists.into_iter().flatten().flat_map(|avoid| avoid.violations(text)).collect()
    }

    fn vocabulary(&self) -> Option<&Vocabulary> {
        let avoid = self.everywhere.as_ref().or(self.here.as_ref());
        let avoid = avoid.map(|avoid| &**avoid.vocabulary());
        let required = || self.required.as_ref().map(|require| require.vocabulary());
        avoid.or_else(required).or_else(|| self.known.as_ref().map(|known| known.vocabulary()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Arc<Vocabulary> {
        Arc::new(Vocabulary::new([&b""[..], b" yes", b" no", b" may", b"be"]))
    }

    fn phrases(vocabulary: &Arc<Vocabulary>, phrases: &[&str]) -> Option<Arc<AvoidPhrases>> {
        Some(Arc::new(AvoidPhrases::new(Arc::clone(vocabulary), phrases).unwrap()))
    }

    #[test]
    fn without_bans_nothing_is_blocked() {
        let constraint = Constraint::default();
        let state = constraint.advance(constraint.start(0), 2);
        assert_eq!(constraint.blocked(state, 0), None);
    }

    #[test]
    fn all_kinds_of_bans_add_up() {
        let vocabulary = vocabulary();
        let constraint = Constraint {
            everywhere: phrases(&vocabulary, &["yes no"]),
            here: phrases(&vocabulary, &["maybe"]),
            tokens: Some(Arc::new(AvoidTokens::new([[4]]).unwrap())),
            ..Constraint::default()
        };
        let start = constraint.start(0);
        let read = |tokens: &[u32]| {
            let state = tokens.iter().fold(start, |state, &token| constraint.advance(state, token));
            constraint.blocked(state, 0).unwrap()
        };
        let blocked = |tokens: &[u32], may_end| Blocked { tokens: tokens.into(), may_end };
        assert_eq!(read(&[1, 2]), blocked(&[0, 1, 2, 3, 4], false));
        assert_eq!(read(&[2]), blocked(&[4], true));
        assert_eq!(constraint.violations("Maybe. Yes no!"), ["yes no", "maybe"]);
    }

    #[test]
    fn a_ban_of_the_end_is_a_ban_of_ending() {
        let constraint = Constraint {
            tokens: Some(Arc::new(AvoidTokens::new([vec![3, 0]]).unwrap())),
            ..Constraint::default()
        };
        let state = constraint.advance(constraint.start(0), 3);
        assert!(!constraint.blocked(state, 0).unwrap().may_end);
    }

    #[test]
    fn the_start_token_counts_for_token_sequences() {
        let constraint = Constraint {
            tokens: Some(Arc::new(AvoidTokens::new([vec![0, 5]]).unwrap())),
            ..Constraint::default()
        };
        let blocked = constraint.blocked(constraint.start(0), 1).unwrap();
        assert_eq!(*blocked.tokens, [5]);
    }
}
