//! Semantic types: which inherits from which, and what follows from them for FEs that frame
//! relations map onto each other.
//!
//! FrameNet gives a type to few FEs. Relations between frames say of many more that they are the
//! same participant. [`propagate`] carries the types over, by the rules of NLTK's reader
//! (`propagate_semtypes`). They go down every relation, and up those whose FEs are the same in both
//! frames. It differs in three ways. It changes nothing that it is given. It goes in steps, all FEs
//! of a step at once, so the order of relations does not matter. And it says where the release
//! contradicts itself instead of passing over it.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{FeId, Frame, FrameRelation, RelationId, SemType, SemTypeId};

/// Relations whose FEs are one participant in both frames, so that types go up, too.
const UPWARD: [&str; 3] = ["Perspective_on", "Subframe", "Precedes"];

/// The semantic types of a release with the order of inheritance among them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SemTypeTree {
    types: BTreeMap<SemTypeId, SemType>,
}

impl SemTypeTree {
    /// The order of these types.
    #[must_use]
    pub fn new(types: impl IntoIterator<Item = SemType>) -> Self {
        Self { types: types.into_iter().map(|semtype| (semtype.id, semtype)).collect() }
    }

    /// The type of that number.
    #[must_use]
    pub fn get(&self, id: SemTypeId) -> Option<&SemType> {
        self.types.get(&id)
    }

    /// All types, by number.
    pub fn types(&self) -> impl Iterator<Item = &SemType> {
        self.types.values()
    }

    /// The types without a super type, by number.
    pub fn roots(&self) -> impl Iterator<Item = &SemType> {
        self.types().filter(|semtype| semtype.parents.is_empty())
    }

    /// The types right under one, by number.
    pub fn children(&self, id: SemTypeId) -> impl Iterator<Item = &SemType> {
        self.types().filter(move |semtype| semtype.parents.contains(&id))
    }

    /// The names of these types, in their order; numbers without a type are left out.
    pub fn names<'t>(&'t self, ids: &'t [SemTypeId]) -> impl Iterator<Item = &'t str> {
        ids.iter().filter_map(|id| self.get(*id)).map(|semtype| semtype.name.as_str())
    }

    /// All types above one, at any distance, itself left out.
    #[must_use]
    pub fn ancestors(&self, id: SemTypeId) -> BTreeSet<SemTypeId> {
        let mut above = BTreeSet::new();
        let mut waiting = vec![id];
        while let Some(semtype) = waiting.pop().and_then(|id| self.get(id)) {
            // A circle, which no release has, would otherwise not end.
            waiting.extend(semtype.parents.iter().filter(|parent| above.insert(**parent)));
        }
        above
    }

    /// Whether a type is a kind of another one, at any distance; none is a kind of itself.
    #[must_use]
    pub fn inherits(&self, id: SemTypeId, from: SemTypeId) -> bool {
        id != from && self.ancestors(id).contains(&from)
    }

    /// Those of the types of which no other one is a kind.
    fn most_specific(&self, types: &BTreeSet<SemTypeId>) -> BTreeSet<SemTypeId> {
        let is_general = |id: &SemTypeId| types.iter().any(|other| self.inherits(*other, *id));
        types.iter().copied().filter(|id| !is_general(id)).collect()
    }
}

/// What follows from the semantic types that FEs have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Propagation {
    /// FEs without a type of their own that get one, by number.
    pub derived: Vec<DerivedTypes>,
    /// Mapped FEs whose types do not go together, by relation and FE.
    pub contradictions: Vec<Contradiction>,
}

/// The types that an FE gets from the FEs it is mapped onto.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedTypes {
    /// The FE.
    pub fe: FeId,
    /// The types; several when its relations give several of which none is a kind of another.
    pub types: BTreeSet<SemTypeId>,
    /// Relations away from an FE that has them itself, from 1.
    pub distance: u32,
}

/// Two mapped FEs of which the sub frame's has no type that is, or is a kind of, one that the super
/// frame's has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The frame relation.
    pub relation: RelationId,
    /// FE of the super frame.
    pub parent: FeId,
    /// FE of the sub frame.
    pub child: FeId,
    /// The types of the super frame's FE that nothing of the other one is.
    pub unmet: BTreeSet<SemTypeId>,
    /// The types of the sub frame's FE.
    pub child_types: BTreeSet<SemTypeId>,
}

/// Carries the semantic types of FEs over the relations that map them.
///
/// The FEs are those of `frames`; a relation of another frame's FE has no effect. An FE with types
/// of its own keeps just those.
#[must_use]
pub fn propagate<'a>(
    frames: impl IntoIterator<Item = &'a Frame>,
    relations: &[FrameRelation],
    tree: &SemTypeTree,
) -> Propagation {
    let mut types: BTreeMap<FeId, BTreeSet<SemTypeId>> = BTreeMap::new();
    for fe in frames.into_iter().flat_map(|frame| &frame.elements) {
        types.entry(fe.id).or_default().extend(&fe.sem_types);
    }
    let mut derived = Vec::new();
    for distance in 1.. {
        let step = step(&types, relations, tree);
        if step.is_empty() {
            break;
        }
        for (fe, gained) in step {
            types.insert(fe, gained.clone());
            derived.push(DerivedTypes { fe, types: gained, distance });
        }
    }
    derived.sort_by_key(|derived| derived.fe);
    Propagation { derived, contradictions: contradictions(&types, relations, tree) }
}

/// The types of the FEs that have none and a neighbour with some.
fn step(
    types: &BTreeMap<FeId, BTreeSet<SemTypeId>>,
    relations: &[FrameRelation],
    tree: &SemTypeTree,
) -> BTreeMap<FeId, BTreeSet<SemTypeId>> {
    let mut gained: BTreeMap<FeId, BTreeSet<SemTypeId>> = BTreeMap::new();
    for relation in relations {
        for pair in &relation.elements {
            let (Some(above), Some(below)) = (types.get(&pair.parent), types.get(&pair.child))
            else {
                continue;
            };
            if below.is_empty() && !above.is_empty() {
                gained.entry(pair.child).or_default().extend(above);
            } else if above.is_empty()
                && !below.is_empty()
                && UPWARD.contains(&relation.kind.as_str())
            {
                gained.entry(pair.parent).or_default().extend(below);
            }
        }
    }
    gained.into_iter().map(|(fe, types)| (fe, tree.most_specific(&types))).collect()
}

fn contradictions(
    types: &BTreeMap<FeId, BTreeSet<SemTypeId>>,
    relations: &[FrameRelation],
    tree: &SemTypeTree,
) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for relation in relations {
        for pair in &relation.elements {
            let (Some(above), Some(below)) = (types.get(&pair.parent), types.get(&pair.child))
            else {
                continue;
            };
            let is_met = |wanted: &SemTypeId| {
                below.iter().any(|had| had == wanted || tree.inherits(*had, *wanted))
            };
            let unmet: BTreeSet<_> = above.iter().copied().filter(|id| !is_met(id)).collect();
            if !below.is_empty() && !unmet.is_empty() {
                found.push(Contradiction {
                    relation: relation.id,
                    parent: pair.parent,
                    child: pair.child,
                    unmet,
                    child_types: below.clone(),
                });
            }
        }
    }
    found.sort_by_key(|fault| (fault.relation, fault.parent, fault.child));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CoreType, FeRelation, FrameElement, FrameId, RelationId};
    use proptest::prelude::*;

    /// 1 over 2 over 3; 4 apart.
    fn tree() -> SemTypeTree {
        let semtype = |id, parents: &[u32]| SemType {
            id: SemTypeId(id),
            name: format!("T{id}"),
            abbreviation: String::new(),
            definition: String::new(),
            parents: parents.iter().copied().map(SemTypeId).collect(),
        };
        SemTypeTree::new([semtype(1, &[]), semtype(2, &[1]), semtype(3, &[2]), semtype(4, &[])])
    }

    fn frame(id: u32, elements: &[(u32, &[u32])]) -> Frame {
        let element = |(id, types): &(u32, &[u32])| FrameElement {
            sem_types: types.iter().copied().map(SemTypeId).collect(),
            ..FrameElement::named(FeId(*id), &format!("Fe{id}"), CoreType::Core)
        };
        let elements = elements.iter().map(element).collect();
        Frame { elements, ..Frame::named(FrameId(id), &format!("F{id}")) }
    }

    fn relation(id: u32, kind: &str, pairs: &[(u32, u32)]) -> FrameRelation {
        let pair = |(parent, child): &(u32, u32)| FeRelation {
            id: 0,
            parent: FeId(*parent),
            parent_name: String::new(),
            child: FeId(*child),
            child_name: String::new(),
        };
        FrameRelation {
            id: RelationId(id),
            kind: kind.to_owned(),
            super_role: "Parent".to_owned(),
            sub_role: "Child".to_owned(),
            parent: FrameId(0),
            parent_name: String::new(),
            child: FrameId(0),
            child_name: String::new(),
            elements: pairs.iter().map(pair).collect(),
        }
    }

    fn derived(propagation: &Propagation) -> Vec<(u32, Vec<u32>, u32)> {
        let row = |derived: &DerivedTypes| {
            (derived.fe.0, derived.types.iter().map(|id| id.0).collect(), derived.distance)
        };
        propagation.derived.iter().map(row).collect()
    }

    #[test]
    fn a_type_inherits_at_any_distance_and_not_from_itself() {
        let tree = tree();
        assert!(tree.inherits(SemTypeId(3), SemTypeId(1)));
        assert!(!tree.inherits(SemTypeId(1), SemTypeId(3)));
        assert!(!tree.inherits(SemTypeId(2), SemTypeId(2)));
        assert_eq!(tree.roots().map(|root| root.id.0).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(tree.children(SemTypeId(1)).map(|child| child.id.0).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_circle_of_types_ends() {
        let mut types: Vec<SemType> = tree().types().cloned().collect();
        types[0].parents = vec![SemTypeId(3)];
        let tree = SemTypeTree::new(types);
        assert!(tree.inherits(SemTypeId(1), SemTypeId(2)));
        assert_eq!(tree.ancestors(SemTypeId(2)).len(), 3);
    }

    #[test]
    fn types_go_down_every_relation_step_by_step() {
        let frames = [frame(1, &[(10, &[2])]), frame(2, &[(20, &[])]), frame(3, &[(30, &[])])];
        let relations =
            [relation(1, "Using", &[(20, 30)]), relation(2, "Inheritance", &[(10, 20)])];
        let found = propagate(&frames, &relations, &tree());
        assert_eq!(derived(&found), [(20, vec![2], 1), (30, vec![2], 2)]);
        assert_eq!(found.contradictions, []);
    }

    #[test]
    fn types_go_up_only_where_the_participants_are_the_same() {
        let frames = [frame(1, &[(10, &[]), (11, &[])]), frame(2, &[(20, &[2])])];
        let relations =
            [relation(1, "Inheritance", &[(10, 20)]), relation(2, "Subframe", &[(11, 20)])];
        assert_eq!(derived(&propagate(&frames, &relations, &tree())), [(11, vec![2], 1)]);
    }

    #[test]
    fn of_several_types_the_most_specific_stay() {
        let frames = [frame(1, &[(10, &[1]), (11, &[3]), (12, &[4])]), frame(2, &[(20, &[])])];
        let relations = [relation(1, "Inheritance", &[(10, 20), (11, 20), (12, 20)])];
        assert_eq!(derived(&propagate(&frames, &relations, &tree())), [(20, vec![3, 4], 1)]);
    }

    #[test]
    fn a_contradiction_is_reported_and_changes_nothing() {
        let frames = [frame(1, &[(10, &[1])]), frame(2, &[(20, &[4]), (21, &[3])])];
        let relations = [relation(7, "Inheritance", &[(10, 20), (10, 21)])];
        let found = propagate(&frames, &relations, &tree());
        assert_eq!(found.derived, []);
        let [fault] = found.contradictions.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (fault.relation, fault.parent, fault.child),
            (RelationId(7), FeId(10), FeId(20))
        );
        assert_eq!(fault.unmet, BTreeSet::from([SemTypeId(1)]));
        assert_eq!(fault.child_types, BTreeSet::from([SemTypeId(4)]));
    }

    proptest! {
        #[test]
        fn the_order_of_relations_does_not_matter(
            types in prop::collection::vec(0_u32..5, 6),
            pairs in prop::collection::vec((0_u32..6, 0_u32..6, 0_usize..2), 0..10),
            turn in 0_usize..10,
        ) {
            let kinds = ["Inheritance", "Subframe"];
            let one = |n: u32| if types[n as usize] == 0 { vec![] } else { vec![types[n as usize]] };
            let types: Vec<Vec<u32>> = (0..6).map(one).collect();
            let elements: Vec<(u32, &[u32])> =
                (0..6).zip(&types).map(|(id, types)| (id, types.as_slice())).collect();
            let frames = [frame(1, &elements)];
            let mut relations: Vec<FrameRelation> = (0_u32..)
                .zip(&pairs)
                .map(|(id, (parent, child, kind))| relation(id, kinds[*kind], &[(*parent, *child)]))
                .collect();
            let straight = propagate(&frames, &relations, &tree());
            relations.rotate_left(turn.min(pairs.len()));
            relations.reverse();
            prop_assert_eq!(propagate(&frames, &relations, &tree()), straight);
        }
    }
}
