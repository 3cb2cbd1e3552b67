//! A proposal as a record, and for reading.

use fnstore::model::{AnnotationSetId, Decision, Evidence, Fraction, Positive, Reviewed, Verdict};
use fnstore::proposals::{Attestation, Near, Proposal, Refusal};
use serde::Serialize;

use crate::cli::print::output::{Output, counted};
use crate::cli::print::render::{Block, Row};

/// A proposal as JSON; see `schema/proposal.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct ProposalRecord<'a> {
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
    pub(super) fn new(proposal: &'a Proposal) -> Self {
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

    fn near(&self) -> Vec<String> {
        self.nearest.iter().map(|near| format!("{} {:.2}", near.lu, near.cosine)).collect()
    }

    fn written_rounds(&self) -> Vec<String> {
        self.rounds.iter().map(ToString::to_string).collect()
    }
}

fn optional(score: Option<f32>) -> String {
    score.map_or(String::new(), |score| score.to_string())
}

/// What a verifier says of the sets of a proposal, if it was asked about some.
pub(crate) fn answers(
    evokes: Option<f32>,
    evokes_share: Option<f32>,
    verified: u32,
) -> Option<String> {
    let (evokes, share) = (evokes?, evokes_share?);
    let above = (share * verified as f32).round();
    Some(format!("evokes {evokes:.2} ({above:.0} of {verified} above .5)"))
}

impl Block for ProposalRecord<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "frame",
        "lu",
        "score",
        "sets",
        "seeds",
        "rounds",
        "paraphrase",
        "aligner",
        "p",
        "r",
        "frame_fit",
        "evokes",
        "evokes_share",
        "verified",
        "likeness",
        "other_frames",
        "nearest",
        "sentences",
        "decided",
        "refused",
    ];

    fn rows(&self) -> Vec<Vec<String>> {
        let texts: Vec<&str> = self.sentences.iter().map(|of| of.text.as_str()).collect();
        vec![vec![
            self.release.to_owned(),
            self.frame.to_owned(),
            self.lu.to_owned(),
            self.score.to_string(),
            self.sets.to_string(),
            self.seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            self.written_rounds().join("; "),
            self.paraphrase.to_string(),
            self.aligner.to_string(),
            optional(self.p),
            optional(self.r),
            optional(self.frame_fit),
            optional(self.evokes),
            optional(self.evokes_share),
            self.verified.map_or(String::new(), |sets| sets.to_string()),
            optional(self.likeness),
            self.other_frames.join("; "),
            self.near().join("; "),
            texts.join("; "),
            self.decided.map_or("", Verdict::as_str).to_owned(),
            self.refused.map_or("", Refusal::as_str).to_owned(),
        ]]
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let decided = self.decided.map_or(String::new(), |verdict| format!("  ({verdict})"));
        let refused = self.refused.map_or(String::new(), |refused| format!("  (no LU: {refused})"));
        let name = format!("{}  {}", self.frame, self.lu);
        output.heading(&format!("{:.2}  {name}{decided}{refused}", self.score))?;
        let mut said = vec![
            counted(self.seeds.len() as u64, "seed"),
            counted(u64::from(self.sets), "set"),
            format!("rounds {}", self.written_rounds().join(", ")),
        ];
        let judged = [("p", self.p), ("r", self.r), ("frame fit", self.frame_fit)];
        let judged = judged.iter().filter_map(|(name, score)| Some((*name, (*score)?)));
        let scores = [("aligner", self.aligner), ("paraphrase", self.paraphrase)];
        said.extend(judged.chain(scores).map(|(name, score)| format!("{name} {score:.2}")));
        let verified = self.verified.unwrap_or_default();
        said.extend(answers(self.evokes, self.evokes_share, verified));
        output.line(&format!("      {}", said.join("  ")))?;
        if !self.nearest.is_empty() {
            output.line(&format!("      near {}", self.near().join(", ")))?;
        }
        if !self.other_frames.is_empty() {
            output.line(&format!("      also in {}", self.other_frames.join(", ")))?;
        }
        for of in self.sentences {
            output.line(&format!("      {}  {}", of.set, of.text))?;
        }
        Ok(())
    }
}

/// A decision as JSON; see `schema/proposal-decision.schema.json`.
#[derive(Debug, Serialize)]
pub(super) struct DecisionRecord<'a> {
    pub(super) release: &'a str,
    pub(super) frame: &'a str,
    pub(super) lu: &'a str,
    verdict: Verdict,
    reviewer: &'a str,
    time: u64,
    note: &'a str,
    /// Frame that the sets went to.
    to_frame: Option<String>,
    /// LU that the sets went to.
    to_lu: Option<String>,
    sets: u64,
    undone_by: Option<&'a str>,
    undone_at: Option<u64>,
    undone_note: Option<&'a str>,
}

impl<'a> DecisionRecord<'a> {
    pub(super) fn new(
        [release, frame, lu]: [&'a str; 3],
        decision: &'a Decision,
        to: Option<(String, String)>,
    ) -> Self {
        let (to_frame, to_lu) = to.unzip();
        let undone = decision.undone.as_ref();
        Self {
            release,
            frame,
            lu,
            verdict: decision.verdict,
            reviewer: &decision.reviewer,
            time: decision.time,
            note: &decision.note,
            to_frame,
            to_lu,
            sets: u64::from(decision.evidence.sets),
            undone_by: undone.map(|Reviewed { reviewer, .. }| reviewer.as_str()),
            undone_at: undone.map(|Reviewed { time, .. }| *time),
            undone_note: undone.map(|Reviewed { note, .. }| note.as_str()),
        }
    }
}

impl Row for DecisionRecord<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "frame",
        "lu",
        "verdict",
        "reviewer",
        "time",
        "note",
        "to_frame",
        "to_lu",
        "sets",
        "undone_by",
        "undone_at",
        "undone_note",
    ];
    const TABLE_COLUMNS: &'static [&'static str] =
        &["frame", "lu", "verdict", "to_frame", "to_lu", "reviewer", "note", "undone_by"];
}
