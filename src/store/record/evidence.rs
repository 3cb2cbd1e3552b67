//! The record of what the generated sets of an LU say together.

use super::super::evidence::{BestSet, LuEvidence, Scores};

fields! {
    LuEvidence {
        sets, seeds, rounds, paraphrase, aligner, p, r, fit, evokes, likely, unknown, best
    }
    Scores { sum, count }
    BestSet { set, round, aligner, p, in_name; absent unread: None }
}
