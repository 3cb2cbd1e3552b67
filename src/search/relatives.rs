//! Which frames the relations of a frame lead to, and how far away they lie.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::database::Result;
use crate::model::{FrameId, Release, ReleaseId};
use crate::query::Followed;
use crate::store::Store;

/// Another frame, and the type of the relation where that frame is the parent.
type Edge = (FrameId, Option<String>);

/// The frame relations of all releases.
#[derive(Debug, Default)]
pub(super) struct Relations {
    edges: HashMap<(ReleaseId, FrameId), Vec<Edge>>,
}

/// Frames with the number of relations that lie between them and another, by the shortest way.
pub(super) type Distances = BTreeMap<FrameId, u64>;

impl Relations {
    pub(super) fn read<'r>(
        store: &Store,
        releases: impl IntoIterator<Item = &'r Release>,
    ) -> Result<Self> {
        let mut relations = Self::default();
        for release in releases {
            for relation in store.relations(release.id)? {
                let relation = relation?;
                let (child, parent) = (relation.child, relation.parent);
                relations.add((release.id, child), parent, Some(relation.kind));
                relations.add((release.id, parent), child, None);
            }
        }
        Ok(relations)
    }

    fn add(&mut self, from: (ReleaseId, FrameId), to: FrameId, kind: Option<String>) {
        self.edges.entry(from).or_default().push((to, kind));
    }

    /// The frame itself, at 0 relations, and every frame that the followed ones lead to.
    pub(super) fn reached(
        &self,
        release: ReleaseId,
        frame: FrameId,
        followed: Followed,
    ) -> Distances {
        let mut reached = Distances::from([(frame, 0)]);
        let mut waiting = VecDeque::from([(frame, 0)]);
        while let Some((frame, steps)) = waiting.pop_front() {
            for (next, kind) in self.edges.get(&(release, frame)).into_iter().flatten() {
                let is_followed = match followed {
                    Followed::Upwards(wanted) => kind.as_deref() == Some(wanted),
                    Followed::All => true,
                };
                if is_followed && !reached.contains_key(next) {
                    reached.insert(*next, steps + 1);
                    waiting.push_back((*next, steps + 1));
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_shortest_way_in_the_direction_that_is_followed() {
        let (release, frame) = (ReleaseId(1), FrameId);
        let mut relations = Relations::default();
        // 1 inherits from 2 and 3, 2 from 3, 3 from 1; 4 uses 2.
        for (child, parent, kind) in [
            (1, 2, "Inheritance"),
            (1, 3, "Inheritance"),
            (2, 3, "Inheritance"),
            (3, 1, "Inheritance"),
            (4, 2, "Using"),
        ] {
            relations.add((release, frame(child)), frame(parent), Some(kind.to_owned()));
            relations.add((release, frame(parent)), frame(child), None);
        }
        let reached = |from, followed| -> Vec<(u32, u64)> {
            let reached = relations.reached(release, frame(from), followed);
            reached.into_iter().map(|(frame, steps)| (frame.0, steps)).collect()
        };
        let inherits = Followed::Upwards("Inheritance");
        assert_eq!(reached(1, inherits), [(1, 0), (2, 1), (3, 1)]);
        assert_eq!(reached(2, inherits), [(1, 2), (2, 0), (3, 1)]);
        assert_eq!(reached(4, Followed::Upwards("Using")), [(2, 1), (4, 0)]);
        assert_eq!(reached(4, Followed::All), [(1, 2), (2, 1), (3, 2), (4, 0)]);
        assert_eq!(reached(9, Followed::All), [(9, 0)]);
    }
}
