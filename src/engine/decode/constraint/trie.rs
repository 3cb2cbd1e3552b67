//! A trie of spellings, laid out flat.
//!
//! Built once from sorted spellings. Spellings with a common beginning stand together, so what lies
//! below a node is a range of them, and the children of a node lie side by side.

use std::ops::Range;

/// Where the trie begins.
pub(super) const TOP: u32 = 0;

/// Spellings by their letters.
#[derive(Debug)]
pub(super) struct Trie {
    nodes: Vec<Node>,
    /// Letters and children of all nodes, those of one node ascending.
    edges: Vec<(char, u32)>,
}

#[derive(Debug)]
struct Node {
    /// Its part of `edges`.
    edges: Range<u32>,
    /// Spellings that start with the path to here.
    below: Range<u32>,
    /// The first of them that goes on.
    longer: u32,
}

impl Trie {
    /// The trie of spellings in ascending order; some may be equal.
    pub(super) fn new<S: AsRef<[char]>>(spellings: &[S]) -> Self {
        let all = 0..u32::try_from(spellings.len()).expect("spellings are numbered in 32 bits");
        let mut trie = Self { nodes: vec![Node::new(all)], edges: Vec::new() };
        let mut depths = vec![0];
        // Nodes are appended while they are walked over, so that children come after their parents.
        let mut at = 0;
        while at < trie.nodes.len() {
            trie.branch(at, depths[at], spellings, &mut depths);
            at += 1;
        }
        trie
    }

    /// Adds the children of a node whose path has `depth` letters.
    fn branch<S: AsRef<[char]>>(
        &mut self,
        at: usize,
        depth: usize,
        spellings: &[S],
        depths: &mut Vec<usize>,
    ) {
        let letter = |place: u32| spellings[place as usize].as_ref().get(depth).copied();
        let below = self.nodes[at].below.clone();
        let longer = below.clone().find(|&place| letter(place).is_some()).unwrap_or(below.end);
        let first_edge = self.edge_count();
        let mut from = longer;
        while from < below.end {
            let next = letter(from).expect("spellings are in order, so the short ones come first");
            let to = (from..below.end).find(|&place| letter(place) != Some(next));
            let to = to.unwrap_or(below.end);
            let child = u32::try_from(self.nodes.len()).expect("spellings are under 2^32 letters");
            self.edges.push((next, child));
            self.nodes.push(Node::new(from..to));
            depths.push(depth + 1);
            from = to;
        }
        self.nodes[at].longer = longer;
        self.nodes[at].edges = first_edge..self.edge_count();
    }

    fn edge_count(&self) -> u32 {
        u32::try_from(self.edges.len()).expect("spellings are under 2^32 letters")
    }

    /// Letters and children of a node, ascending.
    pub(super) fn edges(&self, node: u32) -> &[(char, u32)] {
        let edges = &self.nodes[node as usize].edges;
        &self.edges[edges.start as usize..edges.end as usize]
    }

    /// The child of a node under a letter.
    pub(super) fn child(&self, node: u32, letter: char) -> Option<u32> {
        let edges = self.edges(node);
        let at = edges.binary_search_by_key(&letter, |edge| edge.0).ok()?;
        Some(edges[at].1)
    }

    /// Places of the spellings that start with the path to a node.
    pub(super) fn below(&self, node: u32) -> Range<usize> {
        let below = &self.nodes[node as usize].below;
        below.start as usize..below.end as usize
    }

    /// Places of the spellings that are the path to a node.
    pub(super) fn exactly(&self, node: u32) -> Range<usize> {
        let node = &self.nodes[node as usize];
        node.below.start as usize..node.longer as usize
    }
}

impl Node {
    fn new(below: Range<u32>) -> Self {
        Self { edges: 0..0, longer: below.end, below }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn reach(trie: &Trie, letters: &[char]) -> Option<u32> {
        letters.iter().try_fold(TOP, |node, &letter| trie.child(node, letter))
    }

    proptest! {
        #[test]
        fn below_and_exactly_are_what_comparing_beginnings_finds(
            mut spellings in prop::collection::vec(prop::collection::vec(prop::char::range('a', 'c'), 0..4), 0..9),
            path in prop::collection::vec(prop::char::range('a', 'c'), 0..4),
        ) {
            spellings.sort_unstable();
            let trie = Trie::new(&spellings);
            let places = |is_in: &dyn Fn(&[char]) -> bool| -> Vec<usize> {
                (0..spellings.len()).filter(|&place| is_in(&spellings[place])).collect()
            };
            let below = places(&|spelling| spelling.starts_with(&path));
            let exactly = places(&|spelling| spelling == path);
            match reach(&trie, &path) {
                Some(node) => {
                    prop_assert_eq!(trie.below(node).collect::<Vec<_>>(), below);
                    prop_assert_eq!(trie.exactly(node).collect::<Vec<_>>(), exactly);
                }
                None => prop_assert!(below.is_empty()),
            }
            let paths: BTreeSet<&[char]> =
                spellings.iter().flat_map(|s| (1..=s.len()).map(|end| &s[..end])).collect();
            prop_assert_eq!(trie.edges.len(), paths.len());
        }
    }
}
