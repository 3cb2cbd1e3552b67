//! A proposal as the JSON record that programs read.

use serde::{Serialize, Serializer};

use super::{Attestation, Near, Proposal, Refusal};
use crate::model::{
    AnnotationSetId, Discovery, Evidence, FoundSentence, Fraction, Positive, Verdict,
};

/// A proposal as JSON; see `schema/proposal.schema.json`.
#[derive(Debug, Serialize)]
struct ProposalRecord<'a> {
    release: &'a str,
    frame: &'a str,
    lu: &'a str,
    score: Fraction<f32>,
    /// Generated sets; 0 where a search alone proposes it.
    sets: u32,
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
    /// What a search for new LUs found of it; absent where none found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    discovered: Option<DiscoveredRecord<'a>>,
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
            discovered: proposal.discovered.as_ref().map(DiscoveredRecord::new),
        }
    }
}

/// What a search found of a word.
#[derive(Debug, Serialize)]
pub struct DiscoveredRecord<'a> {
    /// How likely it is an LU of the frame.
    score: Fraction<f32>,
    /// Mean of the verifier's answers about the sentences; null where none was asked.
    evokes: Option<Fraction<f32>>,
    /// How much likelier a language model finds it in the frame's sentences than the LUs that
    /// stand there, as a difference of log-probabilities; null where it was not asked.
    slot: Option<f32>,
    /// How much the frame's LUs lead to it in a WordNet.
    support: f32,
    /// Likeness to the frame's LUs by word vectors; null where it has no vector.
    likeness: Option<f32>,
    /// How it was come by.
    sources: &'a [String],
    /// Sentences with the word, which the verifier was asked about.
    sentences: Vec<FoundRecord<'a>>,
}

/// A sentence with a word that may evoke the frame.
#[derive(Debug, Serialize)]
struct FoundRecord<'a> {
    text: &'a str,
    /// The word as it stands there.
    trigger: &'a str,
    /// How likely the verifier finds it that the word evokes the frame; null where none was asked.
    evokes: Option<Fraction<f32>>,
    /// The exemplar in which the word took an LU's place; null for a sentence of a corpus.
    made_of: Option<AnnotationSetId>,
    /// File and line of a sentence of a corpus; else empty.
    place: &'a str,
}

impl<'a> DiscoveredRecord<'a> {
    /// The record of what was found.
    #[must_use]
    pub fn new(of: &'a Discovery) -> Self {
        let found = |of: &'a FoundSentence| FoundRecord {
            text: &of.text,
            trigger: of.target.of(&of.text).unwrap_or_default(),
            evokes: of.evokes,
            made_of: of.made_of,
            place: &of.place,
        };
        Self {
            score: of.score,
            evokes: of.evokes,
            slot: of.slot,
            support: of.support,
            likeness: of.likeness,
            sources: &of.sources,
            sentences: of.sentences.iter().map(found).collect(),
        }
    }
}

/// As its record: what `fnstore proposals` prints.
impl Serialize for Proposal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ProposalRecord::new(self).serialize(serializer)
    }
}
