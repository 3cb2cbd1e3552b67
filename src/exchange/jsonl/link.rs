//! Links of LUs and FEs to other lexicons, as JSON.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::recorded::Recorded;
use super::{Checked, NamedId};
use crate::exchange::error::Fault;
use crate::model::{
    FeId, FrameId, Link, LinkDecision, LinkSource, LinkSubject, Links, LuId, Reviewed, is_name,
};

record! {
    /// The links of an LU or FE, with the names of its frame and its own.
    (Links, String, String) [(Links { frame, of, links, made_of, time }, frame_name, name)]
    as LinksRecord of Links {
        frame: (FrameId, String) = (frame, frame_name),
        of: Linked = (Linked { of, name }),
        links: Vec<Link> = links,
        made_of: [u8; 16] = made_of,
        time: u64 = time,
    }
}

record! {
    Link as LinkRecord {
        resource: String,
        target: String,
        number: u32,
        role: String,
        score: f32,
        source: LinkSource,
        decisions: Vec<LinkDecision>,
    }
}

record! {
    LinkDecision [LinkDecision { accepted, by: Reviewed { reviewer, time, note }, undone }]
    as LinkDecisionRecord {
        accepted: bool = accepted,
        reviewer: String = reviewer,
        time: u64 = time,
        note: String = note,
        undone: Option<Reviewed> = undone,
    }
}

/// What is linked, with its name.
pub(super) struct Linked {
    of: LinkSubject,
    name: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LinkedRecord {
    Lu(NamedId),
    Fe(NamedId),
}

impl Recorded for Linked {
    type Record = LinkedRecord;

    fn into_record(self) -> LinkedRecord {
        let Self { of, name } = self;
        match of {
            LinkSubject::LexUnit(LuId(id)) => LinkedRecord::Lu(NamedId { id, name }),
            LinkSubject::Element(FeId(id)) => LinkedRecord::Fe(NamedId { id, name }),
        }
    }

    fn from_record(record: LinkedRecord) -> Checked<Self> {
        Ok(match record {
            LinkedRecord::Lu(NamedId { id, name }) => {
                Self { of: LinkSubject::LexUnit(LuId(id)), name }
            }
            LinkedRecord::Fe(NamedId { id, name }) => {
                Self { of: LinkSubject::Element(FeId(id)), name }
            }
        })
    }
}

/// Whether links have names and scores in their ranges, and lead to different places.
pub(super) fn check_links(of: &Links) -> Checked<()> {
    let named = |field: String, name: &str| match is_name(name) {
        true => Ok(()),
        false => Err(Fault::value(field, name, "a name without control characters")),
    };
    let mut places = HashSet::new();
    for (at, link) in of.links.iter().enumerate() {
        let field = |name: &str| format!("links[{at}].{name}");
        if !(0.0..=1.0).contains(&link.score) {
            return Err(Fault::value(field("score"), link.score, "a number from 0 to 1"));
        }
        named(field("resource"), &link.resource)?;
        named(field("target"), &link.target)?;
        if !link.role.is_empty() {
            named(field("role"), &link.role)?;
        }
        if !places.insert((&link.resource, &link.target, &link.role)) {
            return Err(Fault::value(field("target"), link.place(), "one link to each place"));
        }
        for (number, decision) in link.decisions.iter().enumerate() {
            let reviewers = [Some(&decision.by), decision.undone.as_ref()];
            for reviewer in reviewers.into_iter().flatten() {
                named(field(&format!("decisions[{number}].reviewer")), &reviewer.reviewer)?;
            }
        }
    }
    Ok(())
}
