//! The records of VerbNet's classes and PropBank's rolesets, and of rows that join lexicons.

use crate::model::{
    Mapping, Predicate, PredicateFrame, PredicateLink, PredicateMember, PredicatePart,
    PredicateRole,
};

fields! {
    Predicate {
        parent, definition, members, roles, frames, links;
        absent name: String::new()
    }
    PredicateMember { lemma, pos, senses, frames, groupings }
    PredicateRole { name, description, function, links }
    PredicateFrame { name, parts, examples }
    PredicatePart { name, value }
    PredicateLink { resource, version, predicate, role }
    Mapping {
        lemma, pos, sense, class, class_role, roleset, argument, frame, lexunit, element;
        absent number: 0
    }
}

/// A record with something in every field.
#[cfg(test)]
pub(super) fn predicate() -> Predicate {
    let text = str::to_owned;
    let link = |role| PredicateLink {
        resource: text("VerbNet"),
        version: text("verbnet3.4"),
        predicate: text("leave-51.2"),
        role: text(role),
    };
    let member = PredicateMember {
        lemma: text("vet"),
        pos: text("v"),
        senses: vec![text("vet%2:31:00")],
        frames: vec![text("Checking")],
        groupings: vec![text("vet.01")],
    };
    let role = PredicateRole {
        name: text("Agent"),
        description: text("+animate"),
        function: text("PAG"),
        links: vec![link("theme")],
    };
    let frame = PredicateFrame {
        name: text("NP V NP"),
        parts: vec![PredicatePart { name: text("NP"), value: text("Agent") }],
        examples: vec![text("Zo\u{e9} vetted it.")],
    };
    Predicate {
        name: text("vet-35.9-1"),
        parent: text("vet-35.9"),
        definition: text("look at closely"),
        members: vec![member],
        roles: vec![role],
        frames: vec![frame],
        links: vec![link("")],
    }
}

/// A row with something in every field.
#[cfg(test)]
pub(super) fn mapping() -> Mapping {
    let text = str::to_owned;
    Mapping {
        number: 7,
        lemma: text("vet"),
        pos: text("v"),
        sense: text("vet%2:31:00"),
        class: text("35.9-1"),
        class_role: text("Agent"),
        roleset: text("vet.01"),
        argument: text("0"),
        frame: text("Checking"),
        lexunit: text("vet.v"),
        element: text("Checker"),
    }
}
