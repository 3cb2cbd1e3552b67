//! Counting what must occur: sequences of symbols, each as often as it is required.
//!
//! A *goal* is a set of sequences of which one must occur. A goal that is given several times must
//! be met that many times, at different places that may overlap. All sequences stand in one
//! [`Automaton`], whose failure links follow every suffix of what was read at once. This is the
//! multi-state trie of Hu et al. (2019, section 3.1); the counters of its ends are one bit for each
//! time a goal was given. So "met" means that the sequence occurs as a substring, whatever was
//! begun or broken off before.
//!
//! What is left to do counts in *constraint tokens*: those of the shortest sequence of every unmet
//! goal, less those already written of one sequence. (One: a token cannot count for two sequences
//! that are both only begun.)
//!
//! A goal without a sequence is *hopeless*: it is never met and holds nothing up.

use std::collections::BTreeMap;

use super::super::DecodeError;
use super::automaton::{Automaton, ROOT};

/// Goals that one automaton can keep apart: one bit of a state each.
const LIMIT: usize = 128;

/// One way of meeting a goal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sequence {
    pub(super) symbols: Vec<u32>,
    /// Number of symbols at the end of each of its tokens, ascending.
    pub(super) token_ends: Vec<usize>,
}

/// How far a hypothesis has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct GoalState {
    pub(super) node: u32,
    /// A bit for each goal as given, in that order.
    met: u128,
}

/// What is left to do: constraint tokens, and their symbols, which tell apart how far a token has
/// come that is spelled in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Left {
    pub(super) tokens: u32,
    pub(super) symbols: u32,
}

/// Everything that must occur.
#[derive(Debug, Clone)]
pub(super) struct Goals {
    automaton: Automaton,
    goals: Vec<Goal>,
    nodes: Vec<Node>,
    given: usize,
    /// The bits of goals without a sequence.
    hopeless: u128,
}

#[derive(Debug, Clone)]
struct Goal {
    /// The bits of the times it was given.
    bits: u128,
    /// The least that meets it once.
    cost: Left,
}

#[derive(Debug, Clone, Default)]
struct Node {
    /// Goals with a sequence that is a suffix of the path to here.
    meets: Vec<u32>,
    /// Goals with a sequence that the path to here begins or is.
    leads: Vec<u32>,
    /// Goals with a sequence that is longer than the path to here, which begins it, and what is
    /// left of the nearest one.
    begins: BTreeMap<u32, Left>,
}

impl Goals {
    /// Compiles goals.
    ///
    /// # Errors
    /// When there are more than 128.
    ///
    /// # Panics
    /// If a sequence has no symbol.
    pub(super) fn new(given: &[Vec<Sequence>]) -> Result<Self, DecodeError> {
        if given.len() > LIMIT {
            return Err(DecodeError::TooManyRequired { count: given.len(), limit: LIMIT });
        }
        // The same alternatives in another order are the same goal.
        let mut bits: BTreeMap<Vec<Sequence>, u128> = BTreeMap::new();
        let mut hopeless = 0;
        for (at, sequences) in given.iter().enumerate() {
            if sequences.is_empty() {
                hopeless |= 1 << at;
                continue;
            }
            let mut sequences = sequences.clone();
            sequences.sort_unstable();
            sequences.dedup();
            *bits.entry(sequences).or_default() |= 1 << at;
        }
        let automaton = Automaton::new(bits.keys().flatten().map(|sequence| &sequence.symbols));
        let mut nodes = vec![Node::default(); automaton.len() as usize];
        let mut goals = Vec::with_capacity(bits.len());
        for (number, (sequences, bits)) in (0u32..).zip(bits) {
            for sequence in &sequences {
                mark(&automaton, &mut nodes, number, sequence);
            }
            let cost = sequences.iter().map(|sequence| left_after(sequence, 0)).min();
            goals.push(Goal { bits, cost: cost.expect("a goal has a sequence") });
        }
        let meets: Vec<Vec<u32>> = (ROOT..automaton.len())
            .map(|node| {
                let suffixes = automaton.suffixes(node);
                let mut meets: Vec<u32> =
                    suffixes.flat_map(|node| nodes[node as usize].meets.clone()).collect();
                meets.sort_unstable();
                meets.dedup();
                meets
            })
            .collect();
        nodes.iter_mut().zip(meets).for_each(|(node, meets)| node.meets = meets);
        Ok(Self { automaton, goals, nodes, given: given.len(), hopeless })
    }

    /// The state after one more symbol. A goal is met at most once at a place.
    pub(super) fn next(&self, mut state: GoalState, symbol: u32) -> GoalState {
        state.node = self.automaton.next(state.node, symbol);
        for &goal in &self.nodes[state.node as usize].meets {
            let open = self.goals[goal as usize].bits & !state.met;
            state.met |= open & open.wrapping_neg();
        }
        state
    }

    /// Number of goals as given.
    pub(super) fn len(&self) -> usize {
        self.given
    }

    /// Whether every goal is met that can be.
    pub(super) fn is_met(&self, state: GoalState) -> bool {
        (state.met | self.hopeless).count_ones() as usize == self.given
    }

    /// Goals that are not met, as their place among those given.
    pub(super) fn unmet(&self, state: GoalState) -> impl Iterator<Item = usize> + use<> {
        (0..self.given).filter(move |at| state.met & (1 << at) == 0)
    }

    /// What is left to do.
    pub(super) fn left(&self, state: GoalState) -> Left {
        let mut left = Left::default();
        for goal in &self.goals {
            let times = (goal.bits & !state.met).count_ones();
            left.tokens += times * goal.cost.tokens;
            left.symbols += times * goal.cost.symbols;
        }
        let gain = self.under_way(state).map(|(goal, rest)| {
            let cost = self.goals[goal as usize].cost;
            let tokens = cost.tokens.saturating_sub(rest.tokens);
            Left { tokens, symbols: cost.symbols.saturating_sub(rest.symbols) }
        });
        let gain = gain.max().unwrap_or_default();
        Left { tokens: left.tokens - gain.tokens, symbols: left.symbols - gain.symbols }
    }

    /// Whether one state is nearer to some unmet goal than another: less is left in all, or less of
    /// a goal that is under way.
    pub(super) fn is_nearer(&self, after: GoalState, before: GoalState) -> bool {
        let rest_before = |goal: u32| {
            let rests = self.under_way(before).filter(|&(other, _)| other == goal);
            rests.map(|(_, rest)| rest).min().unwrap_or(self.goals[goal as usize].cost)
        };
        self.left(after).tokens < self.left(before).tokens
            || self.under_way(after).any(|(goal, rest)| rest < rest_before(goal))
    }

    /// The node and its suffixes at which an unmet goal may go on, the root last.
    pub(super) fn places(&self, state: GoalState) -> impl Iterator<Item = u32> + '_ {
        self.automaton.suffixes(state.node)
    }

    /// Symbols and nodes that lead on to an unmet goal from a node, without falling back.
    pub(super) fn edges(
        &self,
        state: GoalState,
        node: u32,
    ) -> impl Iterator<Item = (u32, u32)> + '_ {
        let edges = self.automaton.edges(node).iter().copied();
        edges.filter(move |&(_, child)| {
            let goals = &self.nodes[child as usize].leads;
            goals.iter().any(|&goal| self.goals[goal as usize].bits & !state.met != 0)
        })
    }

    /// The node of a path from the root, if some sequence begins with it.
    pub(super) fn node_of(&self, symbols: &[u32]) -> Option<u32> {
        symbols.iter().try_fold(ROOT, |node, &symbol| self.automaton.edge(node, symbol))
    }

    /// Unmet goals that were begun and can go on, with what is left of each.
    fn under_way(&self, state: GoalState) -> impl Iterator<Item = (u32, Left)> + '_ {
        let places = self.automaton.suffixes(state.node).filter(|&node| node != ROOT);
        places
            .flat_map(|node| &self.nodes[node as usize].begins)
            .map(|(&goal, &left)| (goal, left))
            .filter(move |&(goal, _)| self.goals[goal as usize].bits & !state.met != 0)
    }
}

/// Notes a sequence of a goal along its path.
fn mark(automaton: &Automaton, nodes: &mut [Node], goal: u32, sequence: &Sequence) {
    assert!(!sequence.symbols.is_empty(), "an empty sequence occurs everywhere");
    let mut node = ROOT;
    for (at, &symbol) in sequence.symbols.iter().enumerate() {
        node = automaton.edge(node, symbol).expect("the automaton holds every sequence");
        nodes[node as usize].leads.push(goal);
        if at + 1 < sequence.symbols.len() {
            let left = left_after(sequence, at + 1);
            let begins = nodes[node as usize].begins.entry(goal).or_insert(left);
            *begins = left.min(*begins);
        }
    }
    nodes[node as usize].meets.push(goal);
}

/// What is left of a sequence after so many of its symbols.
fn left_after(sequence: &Sequence, symbols: usize) -> Left {
    let done = sequence.token_ends.partition_point(|&end| end <= symbols);
    let count = |n: usize| u32::try_from(n).expect("a phrase is under 2^32 letters");
    let tokens = count(sequence.token_ends.len() - done);
    Left { tokens, symbols: count(sequence.symbols.len() - symbols) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sequence(symbols: &[u32]) -> Sequence {
        Sequence { symbols: symbols.to_vec(), token_ends: (1..=symbols.len()).collect() }
    }

    fn goals(given: &[&[&[u32]]]) -> Goals {
        let given: Vec<Vec<Sequence>> =
            given.iter().map(|goal| goal.iter().map(|s| sequence(s)).collect()).collect();
        Goals::new(&given).unwrap()
    }

    fn read(goals: &Goals, symbols: &[u32]) -> GoalState {
        symbols.iter().fold(GoalState::default(), |state, &symbol| goals.next(state, symbol))
    }

    fn left(goals: &Goals, symbols: &[u32]) -> u32 {
        goals.left(read(goals, symbols)).tokens
    }

    #[test]
    fn what_is_left_counts_tokens_of_what_is_not_met() {
        let goals = goals(&[&[&[1, 2, 3]], &[&[4]]]);
        assert_eq!(left(&goals, &[]), 4);
        assert_eq!(left(&goals, &[1]), 3);
        assert_eq!(left(&goals, &[1, 2]), 2);
        assert_eq!(left(&goals, &[1, 2, 9]), 4);
        assert_eq!(left(&goals, &[1, 2, 4]), 3);
        assert_eq!(left(&goals, &[1, 2, 3]), 1);
        assert_eq!(left(&goals, &[4, 1, 2, 3]), 0);
    }

    #[test]
    fn any_alternative_meets_a_goal_and_the_shortest_counts() {
        let goals = goals(&[&[&[1, 2, 3, 4], &[5, 6]]]);
        assert_eq!(left(&goals, &[]), 2);
        // The longer one is no nearer than the shorter until two of its tokens are left.
        assert_eq!(left(&goals, &[1, 2]), 2);
        assert_eq!(left(&goals, &[1, 2, 3]), 1);
        assert!(goals.is_met(read(&goals, &[1, 5, 6])));
    }

    #[test]
    fn a_goal_given_twice_is_met_at_two_places() {
        let goals = goals(&[&[&[1, 1]], &[&[1, 1]], &[&[2]]]);
        let state = read(&goals, &[1, 1]);
        assert_eq!(goals.unmet(state).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(goals.left(state).tokens, 2);
        assert!(goals.is_met(read(&goals, &[1, 1, 1, 2])));
    }

    #[test]
    fn a_goal_without_a_sequence_is_unmet_and_holds_nothing_up() {
        let goals = goals(&[&[], &[&[1]]]);
        let state = read(&goals, &[1]);
        assert!(goals.is_met(state) && goals.left(state) == Left::default());
        assert_eq!(goals.unmet(state).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn more_goals_than_bits_are_refused() {
        let given: Vec<Vec<Sequence>> = (0..129).map(|n| vec![sequence(&[n])]).collect();
        assert!(Goals::new(&given[..128]).is_ok());
        let error = Goals::new(&given).unwrap_err();
        assert!(matches!(error, DecodeError::TooManyRequired { count: 129, limit: 128 }));
    }

    /// Times that one of the sequences ends, counting each place once.
    fn places(sequences: &[Vec<u32>], text: &[u32]) -> usize {
        (0..=text.len()).filter(|&end| sequences.iter().any(|s| text[..end].ends_with(s))).count()
    }

    proptest! {
        #[test]
        fn met_is_what_comparing_windows_finds(
            given in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(0u32..3, 1..4), 1..3), 1..4),
            twice in any::<bool>(),
            text in prop::collection::vec(0u32..3, 0..12),
        ) {
            let mut given = given;
            if twice {
                given.push(given[0].clone());
            }
            let sequences: Vec<Vec<Sequence>> =
                given.iter().map(|goal| goal.iter().map(|s| sequence(s)).collect()).collect();
            let goals = Goals::new(&sequences).unwrap();
            let state = read(&goals, &text);
            let same = |a: &Vec<Vec<u32>>, b: &Vec<Vec<u32>>| {
                a.iter().all(|s| b.contains(s)) && b.iter().all(|s| a.contains(s))
            };
            for (at, goal) in given.iter().enumerate() {
                let times = given[..=at].iter().filter(|other| same(other, goal)).count();
                let met = places(goal, &text) >= times;
                prop_assert_eq!(!goals.unmet(state).any(|unmet| unmet == at), met);
            }
            prop_assert_eq!(goals.is_met(state), goals.left(state).tokens == 0);
        }
    }
}
