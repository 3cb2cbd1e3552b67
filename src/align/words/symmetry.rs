//! Two directions of an alignment made one.
//!
//! The heuristics are those of Och and Ney (2003, section 4.1) and Koehn, Och and Marcu (2003,
//! section 4.5), in the order in which Moses tries neighbours.

use std::collections::BTreeSet;

use super::links::{Link, Links};
use crate::model::named;

named! {
    /// How the links of two directions are combined.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Symmetrization {
        /// The links from sentence to paraphrase alone: every word of the paraphrase has one at
        /// most.
        Forward => "forward",
        /// The links from paraphrase to sentence alone: every word of the sentence has one at most.
        Backward => "backward",
        /// What both have.
        Intersection => "intersection",
        /// What either has.
        Union => "union",
        /// The intersection, and from the union what stands beside a link, also diagonally, and
        /// joins a word that has none yet.
        GrowDiag => "grow-diag",
        /// `grow-diag`, then from either direction every link that joins a word that has none yet.
        GrowDiagFinal => "grow-diag-final",
        /// `grow-diag`, then from either direction every link that joins two words that have none
        /// yet.
        GrowDiagFinalAnd => "grow-diag-final-and",
        /// Links whose posteriors in both directions together reach the threshold.
        ///
        /// Of which both models are sure enough together: those where the geometric mean of the two
        /// posteriors reaches a threshold (Liang, Taskar and Klein 2006, section 3.2). It needs the
        /// posteriors; of two sets of links it takes what both have.
        #[default]
        Agreement => "agreement",
    }
}

/// The neighbours of a link, in the order in which they are tried.
const NEIGHBOURS: [(i64, i64); 8] =
    [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)];

/// Combines the links of two directions, both written source word first.
///
/// ```
/// use fnstore::align::words::{Symmetrization, symmetrize};
///
/// let (forward, backward) = ("0-0 1-1 1-2".parse()?, "0-0 1-1".parse()?);
/// let grown = symmetrize(Symmetrization::GrowDiag, &forward, &backward);
/// assert_eq!(grown.to_string(), "0-0 1-1 1-2");
/// # Ok::<(), String>(())
/// ```
#[must_use]
pub fn symmetrize(how: Symmetrization, forward: &Links, backward: &Links) -> Links {
    match how {
        Symmetrization::Forward => forward.clone(),
        Symmetrization::Backward => backward.clone(),
        Symmetrization::Intersection | Symmetrization::Agreement => {
            forward.iter().filter(|link| backward.contains(*link)).collect()
        }
        Symmetrization::Union => forward.iter().chain(backward.iter()).collect(),
        Symmetrization::GrowDiag => Growing::grown(forward, backward).links,
        Symmetrization::GrowDiagFinal | Symmetrization::GrowDiagFinalAnd => {
            let both = how == Symmetrization::GrowDiagFinalAnd;
            let mut growing = Growing::grown(forward, backward);
            growing.finish(forward, both);
            growing.finish(backward, both);
            growing.links
        }
    }
}

/// Links, and the words that have one.
#[derive(Default)]
struct Growing {
    links: Links,
    sources: BTreeSet<u32>,
    targets: BTreeSet<u32>,
}

impl Growing {
    fn add(&mut self, link: Link) -> bool {
        self.sources.insert(link.source);
        self.targets.insert(link.target);
        self.links.insert(link)
    }

    fn grown(forward: &Links, backward: &Links) -> Self {
        let union = symmetrize(Symmetrization::Union, forward, backward);
        let mut growing = Self::default();
        for link in symmetrize(Symmetrization::Intersection, forward, backward).iter() {
            growing.add(link);
        }
        loop {
            let mut added = false;
            // Links that are found on the way are looked at in the same pass when they come later.
            let mut next = growing.links.iter().next();
            while let Some(link) = next {
                for (down, right) in NEIGHBOURS {
                    let beside = |word: u32, step: i64| u32::try_from(i64::from(word) + step).ok();
                    let (Some(source), Some(target)) =
                        (beside(link.source, down), beside(link.target, right))
                    else {
                        continue;
                    };
                    let new =
                        !growing.sources.contains(&source) || !growing.targets.contains(&target);
                    let beside = Link { source, target };
                    if new && union.contains(beside) {
                        added |= growing.add(beside);
                    }
                }
                next = growing.links.iter().find(|later| *later > link);
            }
            if !added {
                return growing;
            }
        }
    }

    /// Adds what joins a word without a link, or (`both`) two of them.
    fn finish(&mut self, direction: &Links, both: bool) {
        for link in direction.iter() {
            let source = !self.sources.contains(&link.source);
            let target = !self.targets.contains(&link.target);
            if if both { source && target } else { source || target } {
                self.add(link);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn combined(how: Symmetrization, forward: &str, backward: &str) -> String {
        symmetrize(how, &forward.parse().unwrap(), &backward.parse().unwrap()).to_string()
    }

    // Forward and backward agree on the diagonal's ends; 1-1 stands beside 0-0, 2-5 beside nothing.
    const FORWARD: &str = "0-0 1-1 2-5 4-4";
    const BACKWARD: &str = "0-0 0-1 4-4 3-7 6-4";

    #[test]
    fn each_heuristic_keeps_what_its_definition_says() {
        use Symmetrization::{
            Backward, Forward, GrowDiag, GrowDiagFinal, GrowDiagFinalAnd, Intersection, Union,
        };
        for (how, want) in [
            (Forward, FORWARD),
            (Backward, "0-0 0-1 3-7 4-4 6-4"),
            (Intersection, "0-0 4-4"),
            (Union, "0-0 0-1 1-1 2-5 3-7 4-4 6-4"),
            // 0-1 joins target 1; then 1-1 joins source 1.
            (GrowDiag, "0-0 0-1 1-1 4-4"),
            (GrowDiagFinal, "0-0 0-1 1-1 2-5 3-7 4-4 6-4"),
            // 6-4 would join source 6 with target 4, which has a link.
            (GrowDiagFinalAnd, "0-0 0-1 1-1 2-5 3-7 4-4"),
        ] {
            assert_eq!(combined(how, FORWARD, BACKWARD), want, "{how:?}");
        }
    }

    #[test]
    fn nothing_grows_from_nothing() {
        assert_eq!(combined(Symmetrization::GrowDiag, "0-0", "1-1"), "");
        assert_eq!(combined(Symmetrization::GrowDiagFinalAnd, "0-0", "1-1"), "0-0 1-1");
    }

    fn any_links() -> impl Strategy<Value = Links> {
        proptest::collection::vec((0_u32..7, 0_u32..7), 0..14).prop_map(|pairs| {
            pairs.into_iter().map(|(source, target)| Link { source, target }).collect()
        })
    }

    proptest! {
        #[test]
        fn each_lies_between_the_intersection_and_the_union(a in any_links(), b in any_links()) {
            let ascending = [
                Symmetrization::Intersection,
                Symmetrization::GrowDiag,
                Symmetrization::GrowDiagFinalAnd,
                Symmetrization::GrowDiagFinal,
                Symmetrization::Union,
            ]
            .map(|how| symmetrize(how, &a, &b));
            for (inner, outer) in ascending.iter().zip(&ascending[1..]) {
                // `Final` looks at the links in turn, so it need not hold all that `FinalAnd` does,
                // but never leaves a word without a link that `FinalAnd` gives one.
                let outer_sources: BTreeSet<u32> = outer.iter().map(|link| link.source).collect();
                prop_assert!(inner.iter().all(|link| outer_sources.contains(&link.source)));
            }
            prop_assert!(ascending.iter().all(|links| links.iter().all(|l| ascending[4].contains(l))));
            prop_assert!(ascending[0].iter().all(|l| ascending.iter().all(|links| links.contains(l))));
        }

        #[test]
        fn exchanging_the_sides_exchanges_intersection_and_union(a in any_links(), b in any_links()) {
            for how in [Symmetrization::Intersection, Symmetrization::Union] {
                let flipped = symmetrize(how, &b.flipped(), &a.flipped());
                prop_assert_eq!(flipped, symmetrize(how, &a, &b).flipped());
            }
        }
    }
}
