//! A proposal for reading, and a decision as a record.

use fnstore::proposals::{DecisionRecord, Proposal, Refusal};

use crate::cli::print::discovered;
use crate::cli::print::output::{Output, counted};
use crate::cli::print::render::{Block, Row};

/// The names of the LUs that are most like a proposed one, with their cosines.
fn near(of: &Proposal) -> Vec<String> {
    of.nearest.iter().map(|near| format!("{} {:.2}", near.lu, near.cosine)).collect()
}

fn written_rounds(of: &Proposal) -> Vec<String> {
    of.rounds.iter().map(ToString::to_string).collect()
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

impl Block for Proposal {
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
        "found_score",
        "found_evokes",
        "found_as",
        "found_sentences",
    ];

    fn rows(&self) -> Vec<Vec<String>> {
        let texts: Vec<&str> = self.sentences.iter().map(|of| of.text.as_str()).collect();
        let of = &self.evidence;
        let verified = of.evokes.map(|_| of.verified.to_string());
        let mut row = vec![
            self.release_name.clone(),
            self.frame_name.clone(),
            self.name.clone(),
            self.score.to_string(),
            of.sets.to_string(),
            self.seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            written_rounds(self).join("; "),
            of.paraphrase.to_string(),
            of.aligner.to_string(),
            optional(of.p),
            optional(of.r),
            optional(of.frame_fit),
            optional(of.evokes),
            optional(of.evokes_share),
            verified.unwrap_or_default(),
            optional(of.likeness),
            self.other_frames.join("; "),
            near(self).join("; "),
            texts.join("; "),
            self.decided.as_ref().map_or("", |of| of.verdict.as_str()).to_owned(),
            self.refused.map_or("", Refusal::as_str).to_owned(),
        ];
        row.extend(discovered::columns(self.discovered.as_ref()));
        vec![row]
    }

    fn lay_out(&self, output: &mut Output) -> anyhow::Result<()> {
        let of = &self.evidence;
        let decided =
            self.decided.as_ref().map_or(String::new(), |of| format!("  ({})", of.verdict));
        let refused = self.refused.map_or(String::new(), |refused| format!("  (no LU: {refused})"));
        let name = format!("{}  {}", self.frame_name, self.name);
        output.heading(&format!("{:.2}  {name}{decided}{refused}", self.score))?;
        let mut said = Vec::new();
        if of.sets > 0 {
            said.push(counted(self.seeds.len() as u64, "seed"));
            said.push(counted(u64::from(of.sets), "set"));
            said.push(format!("rounds {}", written_rounds(self).join(", ")));
            let judged = [("p", of.p), ("r", of.r), ("frame fit", of.frame_fit)];
            let judged = judged.iter().filter_map(|(name, score)| Some((*name, (*score)?)));
            let scores = [("aligner", of.aligner), ("paraphrase", of.paraphrase)];
            said.extend(judged.chain(scores).map(|(name, score)| format!("{name} {score:.2}")));
        }
        said.extend(answers(of.evokes, of.evokes_share, of.verified));
        if of.sets == 0 {
            said.extend(self.discovered.as_ref().map(discovered::answers));
        }
        output.line(&format!("      {}", said.join("  ")))?;
        if !self.nearest.is_empty() {
            output.line(&format!("      near {}", near(self).join(", ")))?;
        }
        if !self.other_frames.is_empty() {
            output.line(&format!("      also in {}", self.other_frames.join(", ")))?;
        }
        for of in &self.sentences {
            output.line(&format!("      {}  {}", of.set, of.text))?;
        }
        if let Some(found) = &self.discovered {
            discovered::lay_out(found, output)?;
        }
        Ok(())
    }
}

impl Row for DecisionRecord {
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
