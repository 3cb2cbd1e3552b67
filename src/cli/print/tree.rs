//! Trees of frames and of semantic types, drawn with their branches, as JSON and
//! as rows.
//!
//! What stands under two others is drawn under both. A branch that comes back to a node above
//! itself ends there and says so.

use std::collections::BTreeMap;

use serde::Serialize;

use super::output::{Format, Output};
use super::render::Block;

/// Which way a tree grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// To what inherits from the root.
    Below,
    /// To what the root inherits from.
    Above,
}

/// A tree with what it is a tree of; see `schema/tree.schema.json`.
#[derive(Debug, Serialize)]
pub(crate) struct Tree<'a> {
    pub(crate) release: &'a str,
    /// Type of frame relation, or `semantic type`.
    pub(crate) relation: &'a str,
    pub(crate) direction: Direction,
    pub(crate) root: Node,
}

/// A node of a tree.
#[derive(Debug, Serialize)]
pub(crate) struct Node {
    id: u32,
    name: String,
    /// Pairs of FEs, of the super and the sub frame, that the relation from the parent maps.
    elements: Vec<[String; 2]>,
    /// Whether it stands above itself, so that the branch ends here.
    is_circle: bool,
    children: Vec<Node>,
}

/// What a tree grows along: from a number to others.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    from: BTreeMap<u32, Vec<Edge>>,
}

#[derive(Debug, Clone)]
struct Edge {
    to: u32,
    elements: Vec<[String; 2]>,
}

impl Edges {
    pub(crate) fn add(&mut self, from: u32, to: u32, elements: Vec<[String; 2]>) {
        self.from.entry(from).or_default().push(Edge { to, elements });
    }

    /// The tree over a number; children stand in order of name.
    pub(crate) fn grow(&self, root: u32, names: &BTreeMap<u32, String>) -> Node {
        self.node(&Edge { to: root, elements: Vec::new() }, names, &mut Vec::new())
    }

    fn node(&self, edge: &Edge, names: &BTreeMap<u32, String>, path: &mut Vec<u32>) -> Node {
        let is_circle = path.contains(&edge.to);
        let mut children = Vec::new();
        if !is_circle {
            path.push(edge.to);
            let next = self.from.get(&edge.to).into_iter().flatten();
            children = next.map(|edge| self.node(edge, names, path)).collect();
            path.pop();
        }
        children.sort_by(|a, b| a.name.cmp(&b.name));
        Node {
            id: edge.to,
            name: names.get(&edge.to).cloned().unwrap_or_else(|| edge.to.to_string()),
            elements: edge.elements.clone(),
            is_circle,
            children,
        }
    }
}

/// Writes trees in the format asked for, a drawing where none is.
pub(crate) fn write(trees: &[Tree<'_>], with_fes: bool, output: &mut Output) -> anyhow::Result<()> {
    // A tree one way only has something in it, or is a root alone.
    let both_ways = trees.iter().any(|tree| tree.direction == Direction::Above);
    let mut records = output.records(Format::Table);
    trees.iter().try_for_each(|tree| records.block(&Drawn { tree, with_fes, both_ways }))?;
    records.end_blocks::<Drawn<'_>>()
}

/// A tree, and how it is drawn.
#[derive(Serialize)]
#[serde(transparent)]
struct Drawn<'a> {
    tree: &'a Tree<'a>,
    #[serde(skip)]
    with_fes: bool,
    /// Whether trees of both directions are drawn.
    #[serde(skip)]
    both_ways: bool,
}

impl Block for Drawn<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "relation", "direction", "depth", "name", "under", "elements"];

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        push_rows(self.tree, &self.tree.root, None, 0, &mut rows);
        rows
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let Tree { direction, root, .. } = self.tree;
        let is_bare = self.both_ways && root.children.is_empty();
        let way = match direction {
            Direction::Above if is_bare => "(nothing above)",
            Direction::Above => "(above)",
            Direction::Below if is_bare => "(nothing below)",
            Direction::Below => "",
        };
        output.headed(&root.name, way)?;
        draw_children(root, "", self.with_fes, output)
    }
}

fn draw_children(
    node: &Node,
    indent: &str,
    with_fes: bool,
    output: &mut Output,
) -> anyhow::Result<()> {
    for (number, child) in node.children.iter().enumerate() {
        let is_last = number + 1 == node.children.len();
        let (branch, stem) = if is_last { ("`-- ", "    ") } else { ("|-- ", "|   ") };
        let circle = if child.is_circle { "  (a circle: it stands above)" } else { "" };
        output.line(&format!("{indent}{branch}{}{circle}", child.name))?;
        let deeper = format!("{indent}{stem}");
        if with_fes {
            let stem = format!("{deeper}{}", trunk(child));
            for line in pair_lines(&pairs(child), output.width().saturating_sub(stem.len())) {
                output.line(&format!("{stem}{line}"))?;
            }
        }
        draw_children(child, &deeper, with_fes, output)?;
    }
    Ok(())
}

/// The start of the line between a node and its children.
fn trunk(node: &Node) -> &'static str {
    if node.children.is_empty() { "    " } else { "|   " }
}

/// The pairs in lines of at most `room` columns, unless one pair is longer.
fn pair_lines(pairs: &[String], room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for pair in pairs {
        match lines.last_mut() {
            Some(line) if line.len() + 2 + pair.len() <= room => {
                line.push_str("  ");
                line.push_str(pair);
            }
            _ => lines.push(pair.clone()),
        }
    }
    lines
}

fn pairs(node: &Node) -> Vec<String> {
    node.elements.iter().map(|[parent, child]| format!("{parent}={child}")).collect()
}

fn push_rows(
    tree: &Tree<'_>,
    node: &Node,
    under: Option<&str>,
    depth: usize,
    rows: &mut Vec<Vec<String>>,
) {
    let direction = match tree.direction {
        Direction::Below => "below",
        Direction::Above => "above",
    };
    let (depth_text, fes) = (depth.to_string(), pairs(node).join("; "));
    let under = under.unwrap_or_default();
    let row = [tree.release, tree.relation, direction, &depth_text, &node.name, under, &fes];
    rows.push(row.map(str::to_owned).to_vec());
    for child in &node.children {
        push_rows(tree, child, Some(&node.name), depth + 1, rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[(u32, &str)]) -> BTreeMap<u32, String> {
        of.iter().map(|(id, name)| (*id, (*name).to_owned())).collect()
    }

    #[test]
    fn children_stand_in_order_of_name_under_every_parent() {
        let mut edges = Edges::default();
        for (from, to) in [(1, 3), (1, 2), (2, 4), (3, 4)] {
            edges.add(from, to, Vec::new());
        }
        let root = edges.grow(1, &names(&[(1, "Top"), (2, "A"), (3, "B"), (4, "C")]));
        let children: Vec<&str> = root.children.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(children, ["A", "B"]);
        assert!(root.children.iter().all(|node| node.children[0].name == "C"));
    }

    #[test]
    fn mapped_elements_are_wrapped_between_pairs() {
        let pairs = ["A=B", "C=D", "Long=Longer"].map(str::to_owned);
        assert_eq!(pair_lines(&pairs, 9), ["A=B  C=D", "Long=Longer"]);
        assert_eq!(pair_lines(&[], 9), [""; 0]);
    }

    #[test]
    fn a_circle_ends_where_it_closes() {
        let mut edges = Edges::default();
        edges.add(1, 2, Vec::new());
        edges.add(2, 1, Vec::new());
        let root = edges.grow(1, &names(&[(1, "A"), (2, "B")]));
        let closing = &root.children[0].children[0];
        assert!(closing.is_circle && closing.children.is_empty());
        assert_eq!(closing.name, "A");
    }
}
