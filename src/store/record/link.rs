//! The record of an LU's or FE's links to other lexicons.

use super::ids::one_of;
use crate::model::{FrameId, Link, LinkDecision, LinkSource, LinkSubject, Links, LuId};

coded! {
    LinkSource as u8: |source| *source as u8, |code| one_of(&LinkSource::ALL, code, "source of links");
}

fields! {
    Links {
        links, made_of, time;
        absent frame: FrameId(0), of: LinkSubject::LexUnit(LuId(0))
    }
    Link { resource, target, number, role, score, source, decisions }
    LinkDecision { accepted, by, undone }
}

/// A record with something in every field.
#[cfg(test)]
pub(super) fn links() -> Links {
    use crate::model::Reviewed;
    let reviewed = |reviewer: &str| Reviewed {
        reviewer: reviewer.to_owned(),
        time: 1_700_000_000,
        note: "Zo\u{e9}".to_owned(),
    };
    let decision =
        LinkDecision { accepted: true, by: reviewed("kim"), undone: Some(reviewed("lee")) };
    let link = Link {
        resource: "verbnet3.4".to_owned(),
        target: "vet-35.9".to_owned(),
        number: 7,
        role: "Agent".to_owned(),
        score: 0.5,
        source: LinkSource::Definition,
        decisions: vec![decision],
    };
    Links {
        frame: FrameId(102),
        of: LinkSubject::LexUnit(LuId(1001)),
        links: vec![link],
        made_of: [9; 16],
        time: 1_700_000_000,
    }
}
