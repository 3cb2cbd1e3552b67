//! Decisions on proposed LUs, and editions, as JSON.

use serde::{Deserialize, Serialize};

use super::recorded::{Cost, Recorded};
use super::{Checked, LineKind, read};
use crate::exchange::error::Fault;
use crate::exchange::kept_split_list;
use crate::model::{
    AnnotationSetId, Candidate, Cut, Decided, Decision, Edition, Evidence, FrameId, FrozenSet,
    KeptSplitList, LuId, Moved, Promise, PromiseGroup, PromiseGroups, Reviewed, SplitListId,
    Verdict, is_name,
};

/// Sets of an edition that one line holds: far below the longest line that is read.
pub(super) const SETS_OF_A_LINE: usize = 100_000;

record! {
    /// All decisions on a proposed LU, and the name of its frame.
    (Decided, String) [(Decided { frame, name, history }, frame_name)]
    as DecisionsRecord of Decisions {
        frame: (FrameId, String) = (frame, frame_name),
        lu: String = name,
        history: Vec<Decision> = history,
    }
}

record! {
    Decision as DecisionRecord {
        verdict: Verdict,
        reviewer: String,
        time: u64,
        note: String,
        lu: LuId,
        evidence: Evidence,
        moved: Option<Moved>,
        undone: Option<Reviewed>,
    }
}

record! {
    Evidence [Evidence {
        sets, seeds, rounds, paraphrase, aligner, p, r, frames, likeness, frame_fit, unknown, words,
        evokes, evokes_share, verified
    }] as EvidenceRecord {
        sets: u32 = sets,
        seeds: u32 = seeds,
        rounds: u32 = rounds,
        paraphrase: Cost = (Cost(paraphrase)),
        aligner: f32 = aligner,
        p: Option<f32> = p,
        r: Option<f32> = r,
        frames: u32 = frames,
        likeness: Option<f32> = likeness,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frame_fit: Option<f32> = frame_fit,
        #[serde(default)]
        unknown: f32 = unknown,
        #[serde(default)]
        words: u32 = words,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evokes: Option<f32> = evokes,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evokes_share: Option<f32> = evokes_share,
        #[serde(default, skip_serializing_if = "is_none_asked")]
        verified: u32 = verified,
    }
}

/// Whether a verifier was asked about no set.
fn is_none_asked(verified: &u32) -> bool {
    *verified == 0
}

record! {
    Moved as MovedRecord { frame: FrameId, lu: LuId, made: bool, sets: Vec<AnnotationSetId> }
}

record! {
    Reviewed as UndoneRecord { reviewer: String, time: u64, note: String }
}

/// Whether decisions have names where they must.
pub(super) fn check_decided(decided: &Decided) -> Checked<()> {
    let named = |field: String, name: &str| match is_name(name) {
        true => Ok(()),
        false => Err(Fault::value(field, name, "a name without control characters")),
    };
    named("lu".to_owned(), &decided.name)?;
    if decided.history.is_empty() {
        return Err(Fault::value("history", "[]", "at least one decision"));
    }
    for (at, decision) in decided.history.iter().enumerate() {
        named(format!("history[{at}].reviewer"), &decision.reviewer)?;
        let evidence = decision.evidence.check_ranges().map_err(Fault::from);
        evidence.map_err(|fault| fault.inside(&format!("history[{at}].evidence")))?;
        if let Some(undone) = &decision.undone {
            named(format!("history[{at}].undone.reviewer"), &undone.reviewer)?;
        }
    }
    Ok(())
}

/// An edition, or a part of its sets, see `schema/jsonl-edition.schema.json`.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    promise: Option<PromiseRecord>,
    /// Id, score, and place of the group, from 0, with spaces between them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<String>,
}

/// What an edition promises, without its candidates.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromiseRecord {
    precision: f64,
    confidence: f64,
    rank: String,
    by: Option<PromiseGroups>,
    seed: u64,
    groups: Vec<PromiseGroupRecord>,
    /// Candidates in all lines.
    total: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PromiseGroupRecord {
    name: String,
    cut: Option<CutRecord>,
}

record! {
    Cut as CutRecord { score: f32, sets: u64, judged: u64, right: u64, lower: f32 }
}

/// What every line of an edition says of all of its sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeEdition {
    /// Their number.
    pub sets: u64,
    /// The number of candidates of its promise.
    pub candidates: u64,
    /// BLAKE3 of their ids, in hexadecimal digits; absent in exports of programs that did not keep
    /// it.
    pub blake3: Option<String>,
}

record! {
    KeptSplitList [KeptSplitList { id: SplitListId { name, fingerprint }, lines }]
    as SplitListRecord {
        name: String = name,
        fingerprint: [u8; 16] = fingerprint,
        /// In the first line of an edition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<String> = lines,
    }
}

impl EditionRecord {
    /// The lines of an edition.
    pub(super) fn lines(edition: &Edition) -> impl Iterator<Item = Self> + '_ {
        let list = |is_first| {
            let kept = edition.split_list.clone()?;
            let lines = kept.lines.filter(|_| is_first);
            Some(KeptSplitList { lines, ..kept })
        };
        let candidates: Vec<_> = edition.promise.iter().flat_map(Promise::candidates).collect();
        let lines = edition.sets.len().max(candidates.len()).div_ceil(SETS_OF_A_LINE);
        (0..lines).map(move |at| Self {
            kind: LineKind::Edition,
            name: edition.name.clone(),
            expression: edition.expression.clone(),
            created: edition.created,
            revision: edition.revision,
            sentences: edition.sentences,
            pairs: edition.pairs,
            lemma_pairs: edition.lemma_pairs,
            split_list: list(at == 0).into_record(),
            blake3: Some(edition.written_hash()),
            total: edition.sets.len() as u64,
            sets: of_line(&edition.sets, at, |of| format!("{} {:016x}", of.set, of.content)),
            promise: edition.promise.as_ref().map(PromiseRecord::of),
            candidates: of_line(&candidates, at, |(group, it)| {
                format!("{} {} {group}", it.set, it.score)
            }),
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
        let is_empty = sets.is_empty() && self.promise.is_none();
        if is_empty || !sets.is_sorted_by(|a, b| a.set < b.set) {
            let expected = "at least one set, in order of id";
            return Err(Fault::value("sets", self.sets.len(), expected));
        }
        let candidates = self.promise.as_ref().map_or(0, |promise| promise.total);
        let promise = self.promise.map(|promise| promise.into_model(&self.candidates));
        let list: Option<KeptSplitList> = read("split_list", self.split_list)?;
        if let Some(list) = &list
            && kept_split_list(list).is_err()
        {
            let expected = "the lines of the split list that has that fingerprint";
            return Err(Fault::value("split_list.lines", &list.id.name, expected));
        }
        let edition = Edition {
            name: self.name,
            expression: self.expression,
            created: self.created,
            revision: self.revision,
            sentences: self.sentences,
            pairs: self.pairs,
            lemma_pairs: self.lemma_pairs,
            split_list: list,
            sets,
            promise: promise.transpose()?,
        };
        Ok((edition, WholeEdition { sets: self.total, candidates, blake3: self.blake3 }))
    }
}

/// What stands in a line of all that is written.
fn of_line<T>(all: &[T], line: usize, written: impl Fn(&T) -> String) -> Vec<String> {
    let of_line = all.iter().skip(line * SETS_OF_A_LINE).take(SETS_OF_A_LINE);
    of_line.map(written).collect()
}

impl PromiseRecord {
    fn of(promise: &Promise) -> Self {
        let group = |group: &PromiseGroup| PromiseGroupRecord {
            name: group.name.clone(),
            cut: group.cut.map(Recorded::into_record),
        };
        Self {
            precision: promise.precision,
            confidence: promise.confidence,
            rank: promise.rank.clone(),
            by: promise.by,
            seed: promise.seed,
            groups: promise.groups.iter().map(group).collect(),
            total: promise.candidates().count() as u64,
        }
    }

    /// The promise with some candidates.
    fn into_model(self, candidates: &[String]) -> Checked<Promise> {
        let group = |of: PromiseGroupRecord| -> Checked<PromiseGroup> {
            Ok(PromiseGroup {
                name: of.name,
                candidates: Vec::new(),
                cut: of.cut.map(Recorded::from_record).transpose()?,
            })
        };
        let mut groups = self.groups.into_iter().map(group).collect::<Checked<Vec<_>>>()?;
        for text in candidates {
            let wrong = || {
                let expected = "an id, a score in [0, 1] and the place of a group";
                Fault::value("candidates", text, expected)
            };
            let mut parts = text.split(' ');
            let (Some(id), Some(score), Some(group), None) =
                (parts.next(), parts.next(), parts.next(), parts.next())
            else {
                return Err(wrong());
            };
            let score = score.parse().map_err(|_| wrong())?;
            let group = group.parse().ok().and_then(|group: usize| groups.get_mut(group));
            let set = read("candidates", id.to_owned())?;
            group.ok_or_else(wrong)?.candidates.push(Candidate { set, score });
        }
        let Self { precision, confidence, rank, by, seed, .. } = self;
        let promise = Promise { precision, confidence, rank, by, seed, groups };
        match promise.is_sound() {
            true => Ok(promise),
            false => Err(Fault::value(
                "promise",
                promise.precision,
                "shares above 0 and below 1, and candidates in order of id, each with its score",
            )),
        }
    }
}
