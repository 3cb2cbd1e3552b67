//! The record of a change: what was done, to a record of any kind.

use super::super::{Action, SetLocation, Subject};
use super::ids::one_of;
use crate::model::ReleaseId;

coded! {
    Action as u8: |action| *action as u8, |code| one_of(&Action::ALL, code, "action");
}

fields! {
    ChangeRecord { release, action, subject }
    SetLocation { frame, lu, sentence }
}

cases! {
    Subject, "subject" {
        0 => Release,
        1 => SemType(id),
        2 => Frame(id),
        3 => Relation(id),
        4 => LexUnit(frame, lu),
        5 => Document(corpus, document),
        6 => Sentence(id),
        7 => SentenceLayers(sentence, set),
        8 => Set(set, location),
        9 => Judgement(set, reviewer, question),
        10 => Decision(frame, name),
        11 => Edition(name),
        12 => Verification(set),
    }
}

/// `change`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct ChangeRecord {
    pub(in super::super) release: ReleaseId,
    pub(in super::super) action: Action,
    pub(in super::super) subject: Subject,
}
