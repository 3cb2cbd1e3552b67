//! A proposal as the JSON record that programs read.

use serde::{Serialize, Serializer};

use super::{Attestation, Near, Proposal, Refusal};
use crate::model::{AnnotationSetId, Evidence, Fraction, Positive, Verdict};

/// A proposal as JSON; see `schema/proposal.schema.json`.
#[derive(Debug, Serialize)]
struct ProposalRecord<'a> {
    release: &'a str,
    frame: &'a str,
    lu: &'a str,
    score: Fraction<f32>,
    sets: Positive<u32>,
    seeds: &'a [AnnotationSetId],
    rounds: &'a [Positive<u16>],
    paraphrase: f32,
    aligner: f32,
    p: Option<f32>,
    r: Option<f32>,
    frame_fit: Option<f32>,
    /// Mean probability that the target evokes the frame, 0 to 1, over the sets about which a
    /// verifier was asked; absent where it was not asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    evokes: Option<f32>,
    /// Share of these sets whose probability is above 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    evokes_share: Option<f32>,
    /// Sets about which a verifier was asked; absent where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<Positive<u32>>,
    likeness: Option<f32>,
    other_frames: &'a [String],
    nearest: &'a [Near],
    sentences: &'a [Attestation],
    decided: Option<Verdict>,
    /// Why it is no proposal, although sets stand under it; with `--with-refused` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refusal>,
}

impl<'a> ProposalRecord<'a> {
    fn new(proposal: &'a Proposal) -> Self {
        let Evidence { sets, paraphrase, aligner, p, r, frame_fit, likeness, .. } =
            proposal.evidence;
        let Evidence { evokes, evokes_share, verified, .. } = proposal.evidence;
        Self {
            release: &proposal.release_name,
            frame: &proposal.frame_name,
            lu: &proposal.name,
            score: proposal.score,
            sets,
            seeds: &proposal.seeds,
            rounds: &proposal.rounds,
            paraphrase,
            aligner,
            p,
            r,
            frame_fit,
            evokes,
            evokes_share,
            verified: evokes.map(|_| verified),
            likeness,
            other_frames: &proposal.other_frames,
            nearest: &proposal.nearest,
            sentences: &proposal.sentences,
            decided: proposal.decided.as_ref().map(|decision| decision.verdict),
            refused: proposal.refused,
        }
    }
}

/// As its record: what `fnstore proposals` prints.
impl Serialize for Proposal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ProposalRecord::new(self).serialize(serializer)
    }
}
