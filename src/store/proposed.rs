//! What whoever ranks proposals reads: the evidence that commits keep, and LUs of the store's own
//! range.

use super::estimate::SetRange;
use super::evidence::{BestSet, IN_NAME, LuEvidence, NO_SENTENCE, ONE, SHOWN, Scores};
use super::family::Family;
use super::kept_evidence::{Place, read};
use super::key::{EvidenceKey, Key, LexUnitKey, Prefix};
use super::record::Stored;
use super::{Result, Store, StoreError};
use crate::model::{AnnotationSetId, Evidence, LexUnit, OWN_RANGE, ReleaseId};

/// The last bit of [`Evidence::rounds`] stands for this round and all later ones.
const LAST_ROUND: u16 = 32;

impl Scores {
    fn mean(self) -> Option<f32> {
        (self.count > 0).then(|| (self.sum as f64 / ONE / self.count as f64) as f32)
    }
}

impl LuEvidence {
    /// The sets that a proposal shows, the best first.
    pub(crate) fn best(&self) -> &[BestSet] {
        &self.best[..self.best.len().min(SHOWN)]
    }

    /// Of those whose sentence is there, whether the target stands inside of a name.
    pub(crate) fn in_names(&self) -> Vec<bool> {
        let there = self.best().iter().filter(|best| best.in_name != NO_SENTENCE);
        there.map(|best| best.in_name == IN_NAME).collect()
    }

    /// The rounds that gave the sets, in order.
    pub(crate) fn rounds(&self) -> Vec<u16> {
        self.rounds.keys().copied().collect()
    }

    /// What the sets say; nothing of what the lexicon says of the LU.
    pub(crate) fn evidence(&self) -> Evidence {
        let share = |of: u64, all: u64| (of as f64 / all.max(1) as f64) as f32;
        let bit = |round: &u16| 1_u32 << (round.clamp(&1, &LAST_ROUND) - 1);
        let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Evidence {
            sets: number(self.sets),
            seeds: number(self.seeds),
            rounds: self.rounds.keys().map(bit).fold(0, |bits, bit| bits | bit),
            paraphrase: self.paraphrase.mean().unwrap_or_default(),
            aligner: self.aligner.mean().unwrap_or_default(),
            p: self.p.mean(),
            r: self.r.mean(),
            frames: 0,
            likeness: None,
            frame_fit: self.fit.mean(),
            unknown: share(self.unknown, self.sets),
            words: 0,
            evokes: self.evokes.mean(),
            evokes_share: (self.evokes.count > 0).then(|| share(self.likely, self.evokes.count)),
            verified: number(self.evokes.count),
        }
    }
}

impl Store {
    /// What the generated sets of LUs of the store's own range say, in order of frame and LU;
    /// `None` where that is not kept, or may be of an earlier commit.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn kept_evidence(
        &self,
        range: SetRange,
    ) -> Result<Option<Vec<(Place, LuEvidence)>>> {
        let release = range.release();
        let is_kept = self.engine.has(Family::Evidence) && self.are_sums_current()?;
        let number = if is_kept { self.number_of_proposed(release)? } else { None };
        let Some(number) = number else { return Ok(None) };
        let prefix = EvidenceKey::lus_prefix(release);
        let (prefix, expected) = match range {
            SetRange::Release(_) => (prefix, Some(number)),
            SetRange::Frame(_, frame) => (prefix.then(frame), None),
            SetRange::LexUnit(_, frame, lu) => (prefix.then(frame).then(lu), None),
        };
        let mut evidence = Vec::new();
        for row in self.engine.scan(Family::Evidence, prefix.bytes())? {
            let (key, value) = row?;
            let read = EvidenceKey::decode(&key)
                .and_then(|key| Some(((key.frame, key.lu), read(&key, &value)?.sums()?)));
            let Some(read) = read else { return Ok(None) };
            evidence.push(read);
        }
        let is_whole = expected.is_none_or(|expected| evidence.len() as u64 == expected);
        Ok(is_whole.then_some(evidence))
    }

    /// The seeds that gave an LU sets, in order, where that is kept.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn kept_seeds(
        &self,
        release: ReleaseId,
        (frame, lu): Place,
    ) -> Result<Vec<AnnotationSetId>> {
        let prefix = EvidenceKey::seeds_prefix(release).then(frame).then(lu).bytes();
        let rows = self.engine.scan(Family::Evidence, prefix)?;
        let mut seeds = Vec::new();
        for row in rows {
            seeds.extend(EvidenceKey::decode(&row?.0).map(|key| key.seed));
        }
        Ok(seeds)
    }

    /// What is wanted of the LUs of a release whose numbers are of the store's own range, by frame:
    /// those that were proposed, and those that people added.
    pub(crate) fn own_lexunits<T>(
        &self,
        release: ReleaseId,
        wanted: impl Fn(LexUnit) -> T,
    ) -> Result<Vec<T>> {
        let mut own = Vec::new();
        let mut rows = self.engine.scan(Family::LexUnit, Prefix::of(release).bytes())?;
        while let Some(row) = rows.next() {
            let (bytes, value) = row?;
            let damaged = |reason| StoreError::damaged(Family::LexUnit.name(), &bytes, reason);
            let key = LexUnitKey::decode(&bytes).ok_or_else(|| damaged("no key".to_owned()))?;
            if key.lu.0 < OWN_RANGE {
                rows.skip_to(&Prefix::of(release).then(key.frame).then(OWN_RANGE).bytes());
            } else {
                own.push(wanted(LexUnit::from_value(&key, &value).map_err(damaged)?));
            }
        }
        Ok(own)
    }
}
