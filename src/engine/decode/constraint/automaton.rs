//! Searching for many sequences at once: an automaton with failure links.
//!
//! A trie of the sequences; the failure link of a node leads to the node of its longest proper
//! suffix that is in the trie. A reader that mismatches falls back along these links instead of
//! starting over. So overlapping sequences are all found, such as `[1, 1, 2]` in `1 1 1 2`.
//!
//! Alfred V. Aho and Margaret J. Corasick (1975), Efficient string matching: an aid to
//! bibliographic search, algorithms 1 to 3.

use std::collections::VecDeque;

/// Where reading starts.
pub(super) const ROOT: u32 = 0;

/// An automaton over symbols that are plain numbers: letters or token ids.
#[derive(Debug, Clone)]
pub(super) struct Automaton {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    /// Symbol and child, ascending by symbol.
    edges: Vec<(u32, u32)>,
    /// Node of the longest proper suffix in the trie; the root's own is itself.
    fail: u32,
    /// One of the sequences ends exactly here.
    ends: bool,
    /// One of the sequences is a suffix of the path to here.
    accepts: bool,
}

impl Automaton {
    /// The automaton of non-empty sequences.
    pub(super) fn new<S: AsRef<[u32]>>(sequences: impl IntoIterator<Item = S>) -> Self {
        let mut automaton = Self { nodes: vec![Node::default()] };
        for sequence in sequences {
            debug_assert!(!sequence.as_ref().is_empty(), "an empty sequence occurs everywhere");
            let mut node = ROOT;
            for &symbol in sequence.as_ref() {
                node = automaton.edge_or_insert(node, symbol);
            }
            automaton.nodes[node as usize].ends = true;
        }
        automaton.link();
        automaton
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("phrases are far below 2^32 letters")
    }

    /// The node reached from `node` by reading `symbol`, falling back as far as needed.
    pub(super) fn next(&self, mut node: u32, symbol: u32) -> u32 {
        loop {
            if let Some(child) = self.edge(node, symbol) {
                return child;
            }
            if node == ROOT {
                return ROOT;
            }
            node = self.nodes[node as usize].fail;
        }
    }

    /// The child of `node` under `symbol`, without falling back.
    pub(super) fn edge(&self, node: u32, symbol: u32) -> Option<u32> {
        let edges = &self.nodes[node as usize].edges;
        let at = edges.binary_search_by_key(&symbol, |edge| edge.0).ok()?;
        Some(edges[at].1)
    }

    /// Symbols and children of a node, ascending by symbol.
    pub(super) fn edges(&self, node: u32) -> &[(u32, u32)] {
        &self.nodes[node as usize].edges
    }

    /// Whether a sequence ends exactly at this node.
    pub(super) fn ends(&self, node: u32) -> bool {
        self.nodes[node as usize].ends
    }

    /// Whether what was read up to this node ends in one of the sequences.
    pub(super) fn accepts(&self, node: u32) -> bool {
        self.nodes[node as usize].accepts
    }

    /// The node and everything it falls back to, longest first, the root last.
    pub(super) fn suffixes(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(node), |&node| {
            (node != ROOT).then(|| self.nodes[node as usize].fail)
        })
    }

    fn edge_or_insert(&mut self, node: u32, symbol: u32) -> u32 {
        let new = self.len();
        let edges = &mut self.nodes[node as usize].edges;
        match edges.binary_search_by_key(&symbol, |edge| edge.0) {
            Ok(at) => edges[at].1,
            Err(at) => {
                edges.insert(at, (symbol, new));
                self.nodes.push(Node::default());
                new
            }
        }
    }

    /// Sets failure links breadth first: a link leads to a node nearer to the root, which is done.
    fn link(&mut self) {
        let mut queue = VecDeque::from([ROOT]);
        while let Some(node) = queue.pop_front() {
            let fail = self.nodes[node as usize].fail;
            for (symbol, child) in self.nodes[node as usize].edges.clone() {
                let target = if node == ROOT { ROOT } else { self.next(fail, symbol) };
                let accepts = self.nodes[target as usize].accepts;
                let child_node = &mut self.nodes[child as usize];
                child_node.fail = target;
                child_node.accepts = child_node.ends || accepts;
                queue.push_back(child);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(sequences: &[Vec<u32>], text: &[u32]) -> bool {
        let automaton = Automaton::new(sequences);
        let mut node = ROOT;
        text.iter().any(|&symbol| {
            node = automaton.next(node, symbol);
            automaton.accepts(node)
        })
    }

    #[test]
    fn a_mismatch_falls_back_instead_of_starting_over() {
        assert!(found(&[vec![1, 2, 3], vec![2, 4]], &[1, 2, 4]));
        assert!(found(&[vec![1, 1, 2]], &[1, 1, 1, 2]));
        assert!(!found(&[vec![1, 1, 2]], &[1, 2, 1, 2]));
    }

    #[test]
    fn an_automaton_of_nothing_accepts_nothing() {
        assert!(!found(&[], &[0, 1, 2]));
    }

    proptest! {
        #[test]
        fn what_it_finds_is_what_comparing_windows_finds(
            sequences in prop::collection::vec(prop::collection::vec(0u32..3, 1..4), 0..4),
            text in prop::collection::vec(0u32..3, 0..12),
        ) {
            let naive =
                sequences.iter().any(|s| text.windows(s.len()).any(|window| window == s));
            prop_assert_eq!(found(&sequences, &text), naive);
        }
    }
}
