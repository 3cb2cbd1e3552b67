//! How well proposals find LUs that were hidden from the lexicon.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Key, Proposal, ProposalError, Proposals, Result, key_of};
use crate::database::Database;
use crate::model::{ACCEPTED, Fraction, PROPOSED};
use crate::query::{Expression, Field, Term};
use crate::text::fold;

/// Ranks at which recall is told.
const RANKS: [usize; 2] = [10, 50];

/// What proposals find of the hidden LUs of a frame, or of all frames.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HiddenFigures {
    /// LUs that were hidden, distinct by lemma and part of speech.
    pub hidden: usize,
    /// Proposals of the frame.
    pub proposals: usize,
    /// Hidden LUs among them.
    pub found: usize,
    /// Proposals among the ten of each frame that score highest.
    pub proposals_at_10: usize,
    /// Hidden LUs among the ten that score highest.
    pub found_at_10: usize,
    /// Hidden LUs among the fifty that score highest.
    pub found_at_50: usize,
}

impl HiddenFigures {
    /// Share of the hidden LUs that are proposed.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.found, self.hidden)
    }

    /// Share of the hidden LUs that are among the frame's ten best proposals.
    #[must_use]
    pub fn recall_at_10(&self) -> f64 {
        share(self.found_at_10, self.hidden)
    }

    /// Share of the hidden LUs that are among the frame's fifty best proposals.
    #[must_use]
    pub fn recall_at_50(&self) -> f64 {
        share(self.found_at_50, self.hidden)
    }

    /// Share of the proposals that are hidden LUs; `None` without a proposal.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        (self.proposals > 0).then(|| share(self.found, self.proposals))
    }

    /// Share of each frame's ten best proposals that are hidden LUs; `None` without a proposal.
    #[must_use]
    pub fn precision_at_10(&self) -> Option<f64> {
        (self.proposals_at_10 > 0).then(|| share(self.found_at_10, self.proposals_at_10))
    }

    fn add(&mut self, other: &Self) {
        self.hidden += other.hidden;
        self.proposals += other.proposals;
        self.proposals_at_10 += other.proposals_at_10;
        self.found += other.found;
        self.found_at_10 += other.found_at_10;
        self.found_at_50 += other.found_at_50;
    }
}

/// What was found of a frame's hidden LUs as JSON; see `schema/proposals-eval.schema.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HiddenRecord {
    /// Name of the frame; null for all frames of the list together (micro).
    pub frame: Option<String>,
    /// LUs that were hidden
    pub hidden: usize,
    /// Proposals
    pub proposals: usize,
    /// Hidden LUs among them
    pub found: usize,
    /// Share of the hidden LUs that are proposed
    pub recall: Fraction,
    /// Share of the hidden LUs among the ten best proposals of their frame
    pub recall_at_10: Fraction,
    /// Share of the hidden LUs among the fifty best proposals of their frame
    pub recall_at_50: Fraction,
    /// Share of the proposals that are hidden LUs.
    pub precision: Option<Fraction>,
}

impl HiddenRecord {
    fn new(frame: Option<String>, figures: &HiddenFigures) -> Self {
        Self {
            frame,
            hidden: figures.hidden,
            proposals: figures.proposals,
            found: figures.found,
            recall: figures.recall(),
            recall_at_10: figures.recall_at_10(),
            recall_at_50: figures.recall_at_50(),
            precision: figures.precision(),
        }
    }
}

impl Proposals<'_> {
    /// What the proposals that an expression finds, decided ones among them, find of LUs that were
    /// hidden from the lexicon, by names of frames and LUs: of each frame in order of name, and at
    /// the end of all of them together.
    ///
    /// # Errors
    /// When a frame is not there, an LU is not hidden, or as [`Proposals::list`].
    #[doc(hidden)]
    pub fn measure(
        &self,
        expression: &Expression,
        hidden: &[(String, String)],
    ) -> Result<Vec<HiddenRecord>> {
        for (frame, lu) in hidden {
            // A frame that is misspelt would count as one whose LUs are not found.
            let named =
                Term::named(Field::Frame, frame).map_err(crate::database::DatabaseError::from)?;
            self.database.count(&Expression::Term(named))?;
            check_hidden(self.database, frame, lu)?;
        }
        let proposals = self.list(expression, true)?;
        let names = |of: &'_ Proposal| (of.frame_name.clone(), of.name.clone());
        let ranked: Vec<_> = proposals.iter().map(names).collect();
        let (frames, all) = figures(&ranked, hidden);
        let of_frames = frames.into_iter().map(|(frame, of)| HiddenRecord::new(Some(frame), &of));
        Ok(of_frames.chain([HiddenRecord::new(None, &all)]).collect())
    }
}

/// Refuses an LU that the lexicon has: no proposal can find it.
fn check_hidden(database: &Database, frame: &str, name: &str) -> Result<()> {
    for release in database.releases()? {
        // A release may have two frames of one name.
        for frame_id in database.store().frames_by_name(release.id, frame, false)? {
            for lu in database.store().lexunits_of(release.id, frame_id)? {
                let lu = lu?;
                let is_proposed = [PROPOSED, ACCEPTED].contains(&lu.status.as_str());
                if !is_proposed && fold(&lu.name) == fold(name) {
                    let (frame, name) = (frame.to_owned(), name.to_owned());
                    return Err(ProposalError::NotHidden { frame, name, release: release.name });
                }
            }
        }
    }
    Ok(())
}

fn share(of: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { of as f64 / all as f64 }
}

/// What proposals, the likeliest first, find of hidden LUs: of each frame with hidden LUs, in order
/// of name, and of all of these frames together (micro). Both have names of frames and LUs. LUs
/// are compared by lemma and part of speech, without regard to case. Proposals for other frames do
/// not count.
#[must_use]
pub fn figures(
    proposals: &[(String, String)],
    hidden: &[(String, String)],
) -> (BTreeMap<String, HiddenFigures>, HiddenFigures) {
    let mut of_frame: BTreeMap<&str, BTreeSet<Key>> = BTreeMap::new();
    for (frame, name) in hidden {
        of_frame.entry(frame).or_default().insert(key_of(name));
    }
    let mut all = HiddenFigures::default();
    let mut frames = BTreeMap::new();
    for (frame, keys) in of_frame {
        let mut figures = HiddenFigures { hidden: keys.len(), ..HiddenFigures::default() };
        let ranked = proposals.iter().filter(|(of, _)| of == frame);
        for (rank, (_, name)) in ranked.enumerate() {
            let found = usize::from(keys.contains(&key_of(name)));
            figures.proposals += 1;
            figures.found += found;
            figures.proposals_at_10 += usize::from(rank < RANKS[0]);
            figures.found_at_10 += if rank < RANKS[0] { found } else { 0 };
            figures.found_at_50 += if rank < RANKS[1] { found } else { 0 };
        }
        all.add(&figures);
        frames.insert(frame.to_owned(), figures);
    }
    (frames, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(frame: &str, name: String) -> (String, String) {
        (frame.to_owned(), name)
    }

    #[test]
    fn recall_is_told_by_rank_inside_a_frame_and_precision_over_frames_with_hidden_units() {
        let mut proposals: Vec<(String, String)> =
            (0..60).map(|at| proposal("Checking", format!("w{at}.v"))).collect();
        proposals.push(proposal("Roaming", "stray.v".to_owned()));
        proposals.push(proposal("Repairing", "mend.v".to_owned()));
        let hidden = [
            ("Checking", "W3.v"),
            ("Checking", "w12.v"),
            ("Checking", "w55.v"),
            ("Checking", "w4.n"),
            ("Roaming", "stray.v"),
            ("Roaming", "stray.v"),
        ];
        let hidden = hidden.map(|(frame, lu)| (frame.to_owned(), lu.to_owned()));
        let (frames, all) = figures(&proposals, &hidden);
        let checking = &frames["Checking"];
        assert_eq!((checking.hidden, checking.proposals, checking.found), (4, 60, 3));
        assert_eq!((checking.found_at_10, checking.found_at_50), (1, 2));
        assert_eq!((checking.recall(), checking.recall_at_10()), (0.75, 0.25));
        assert_eq!((checking.proposals_at_10, checking.precision_at_10()), (10, Some(0.1)));
        assert_eq!((frames.len(), all.hidden, all.proposals, all.found), (2, 5, 61, 4));
        assert_eq!((all.recall_at_50(), all.precision()), (0.6, Some(4.0 / 61.0)));
        assert_eq!(HiddenFigures::default().precision(), None);
        assert_eq!(HiddenFigures::default().recall(), 0.0);
    }
}
