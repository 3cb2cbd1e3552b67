//! Decisions on proposed LUs, and editions, as JSON.

use serde::{Deserialize, Serialize};

use super::provenance::fingerprint;
use super::recorded::Recorded;
use super::{Checked, LineKind, NamedId, read};
use crate::exchange::error::Fault;
use crate::model::{
    Decided, Decision, Edition, Evidence, FrameId, FrozenSet, LuId, Moved, SplitListId, Undone,
    Verdict, hexadecimal, is_name,
};

/// Sets of an edition that one line holds: far below the longest line that is read.
pub(super) const SETS_OF_A_LINE: usize = 100_000;

/// All decisions on a proposed LU.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionsRecord {
    kind: LineKind,
    frame: NamedId,
    lu: String,
    history: Vec<DecisionRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionRecord {
    verdict: String,
    reviewer: String,
    time: u64,
    note: String,
    lu: u32,
    evidence: EvidenceRecord,
    moved: Option<MovedRecord>,
    undone: Option<UndoneRecord>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceRecord {
    sets: u32,
    seeds: u32,
    rounds: u32,
    paraphrase: f32,
    aligner: f32,
    p: Option<f32>,
    r: Option<f32>,
    frames: u32,
    likeness: Option<f32>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MovedRecord {
    frame: u32,
    lu: u32,
    made: bool,
    sets: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UndoneRecord {
    reviewer: String,
    time: u64,
    note: String,
}

impl DecisionsRecord {
    pub(super) fn new(decided: Decided, frame_name: &str) -> Self {
        let Decided { frame, name, history } = decided;
        Self {
            kind: LineKind::Decisions,
            frame: NamedId { id: frame.0, name: frame_name.to_owned() },
            lu: name,
            history: history.into_iter().map(DecisionRecord::from).collect(),
        }
    }

    /// The decisions, and the name of their frame.
    pub(super) fn into_model(self) -> Checked<(Decided, String)> {
        if !is_name(&self.lu) {
            return Err(Fault::value("lu", &self.lu, "a name without control characters"));
        }
        if self.history.is_empty() {
            return Err(Fault::value("history", "[]", "at least one decision"));
        }
        let history = self.history.into_iter().enumerate().map(|(at, decision)| {
            decision.into_model().map_err(|fault| fault.inside(&format!("history[{at}]")))
        });
        let history = history.collect::<Checked<Vec<_>>>()?;
        Ok((Decided { frame: FrameId(self.frame.id), name: self.lu, history }, self.frame.name))
    }
}

impl From<Decision> for DecisionRecord {
    fn from(decision: Decision) -> Self {
        let Decision { verdict, reviewer, time, note, lu, evidence, moved, undone } = decision;
        let Evidence { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness } =
            evidence;
        let evidence =
            EvidenceRecord { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness };
        let moved = moved.map(|Moved { frame, lu, made, sets }| MovedRecord {
            frame: frame.0,
            lu: lu.0,
            made,
            sets: sets.into_record(),
        });
        let undone =
            undone.map(|Undone { reviewer, time, note }| UndoneRecord { reviewer, time, note });
        let verdict = verdict.as_str().to_owned();
        Self { verdict, reviewer, time, note, lu: lu.0, evidence, moved, undone }
    }
}

impl DecisionRecord {
    fn into_model(self) -> Checked<Decision> {
        let verdict = Verdict::parse(&self.verdict).ok_or_else(|| {
            Fault::value("verdict", &self.verdict, "`accept`, `reject`, `move` or `merge`")
        })?;
        check_reviewer("reviewer", &self.reviewer)?;
        if let Some(undone) = &self.undone {
            check_reviewer("undone.reviewer", &undone.reviewer)?;
        }
        let moved = |MovedRecord { frame, lu, made, sets }| -> Checked<Moved> {
            let sets = read("moved.sets", sets)?;
            Ok(Moved { frame: FrameId(frame), lu: LuId(lu), made, sets })
        };
        let EvidenceRecord { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness } =
            self.evidence;
        Ok(Decision {
            verdict,
            reviewer: self.reviewer,
            time: self.time,
            note: self.note,
            lu: LuId(self.lu),
            evidence: Evidence { sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness },
            moved: self.moved.map(moved).transpose()?,
            undone: self.undone.map(|UndoneRecord { reviewer, time, note }| Undone {
                reviewer,
                time,
                note,
            }),
        })
    }
}

fn check_reviewer(field: &str, reviewer: &str) -> Checked<()> {
    if !is_name(reviewer) {
        return Err(Fault::value(field, reviewer, "a name without control characters"));
    }
    Ok(())
}

/// An edition, or a part of its sets.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EditionRecord {
    kind: LineKind,
    name: String,
    expression: String,
    created: u64,
    revision: u64,
    sentences: u64,
    pairs: u64,
    lemma_pairs: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    split_list: Option<SplitListRecord>,
    /// Of the ids of all sets, in 64 hexadecimal digits; absent in exports of earlier programs.
    #[serde(default)]
    blake3: Option<String>,
    /// All sets of the edition, in whatever line.
    total: u64,
    /// Id, a space, and 16 hexadecimal digits.
    sets: Vec<String>,
}

/// What every line of an edition says of all of its sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeEdition {
    /// Their number.
    pub sets: u64,
    /// BLAKE3 of their ids, in hexadecimal digits; absent in exports of programs that did not keep
    /// it.
    pub blake3: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SplitListRecord {
    name: String,
    fingerprint: String,
}

impl SplitListRecord {
    fn into_model(self) -> Checked<SplitListId> {
        let fingerprint = fingerprint("split_list.fingerprint", &self.fingerprint)?;
        Ok(SplitListId { name: self.name, fingerprint })
    }
}

impl EditionRecord {
    /// The lines of an edition.
    pub(super) fn lines(edition: &Edition) -> impl Iterator<Item = Self> + '_ {
        edition.sets.chunks(SETS_OF_A_LINE).map(|sets| Self {
            kind: LineKind::Edition,
            name: edition.name.clone(),
            expression: edition.expression.clone(),
            created: edition.created,
            revision: edition.revision,
            sentences: edition.sentences,
            pairs: edition.pairs,
            lemma_pairs: edition.lemma_pairs,
            split_list: edition.split_list.as_ref().map(|list| SplitListRecord {
                name: list.name.clone(),
                fingerprint: hexadecimal(&list.fingerprint),
            }),
            blake3: Some(edition.written_hash()),
            total: edition.sets.len() as u64,
            sets: sets.iter().map(|of| format!("{} {:016x}", of.set, of.content)).collect(),
        })
    }

    /// The edition with the sets of this line, and what is said of all of them.
    pub(super) fn into_model(self) -> Checked<(Edition, WholeEdition)> {
        let frozen = |text: &String| -> Checked<FrozenSet> {
            let wrong = || {
                let expected = "an id, a space and 16 hexadecimal digits";
                Fault::value("sets", text, expected)
            };
            let (id, content) = text.split_once(' ').ok_or_else(wrong)?;
            let is_hash = content.len() == 16 && content.bytes().all(|b| b.is_ascii_hexdigit());
            let content = u64::from_str_radix(content, 16).ok().filter(|_| is_hash);
            Ok(FrozenSet { set: read("sets", id.to_owned())?, content: content.ok_or_else(wrong)? })
        };
        let sets = self.sets.iter().map(frozen).collect::<Checked<Vec<_>>>()?;
        if sets.is_empty() || !sets.is_sorted_by(|a, b| a.set < b.set) {
            let expected = "at least one set, in order of id";
            return Err(Fault::value("sets", self.sets.len(), expected));
        }
        let edition = Edition {
            name: self.name,
            expression: self.expression,
            created: self.created,
            revision: self.revision,
            sentences: self.sentences,
            pairs: self.pairs,
            lemma_pairs: self.lemma_pairs,
            split_list: self.split_list.map(SplitListRecord::into_model).transpose()?,
            sets,
        };
        Ok((edition, WholeEdition { sets: self.total, blake3: self.blake3 }))
    }
}
