//! Comparing the evidence that is kept with what the rows say: for a check.

use super::evidence::LuEvidence;
use super::evidence_row::Cell;
use super::family::Family;
use super::kept_evidence::{Place, Seeds, read};
use super::key::{EvidenceKey, Key, Prefix};
use super::{Result, Store};
use crate::model::ReleaseId;

/// Differences of a release that are told, at most.
const TOLD: usize = 1_000;

/// A row that is kept: its key, and what it says if that can be read.
type KeptRow = (EvidenceKey, Option<Cell>);

/// Rows of one kind that are kept, in step with what is made.
struct InStep<I: Iterator<Item = Result<KeptRow>>> {
    rows: std::iter::Peekable<I>,
}

impl<I: Iterator<Item = Result<KeptRow>>> InStep<I> {
    /// The next row of an LU, or of one before it.
    fn up_to(&mut self, place: Option<Place>) -> Result<Option<KeptRow>> {
        let is_due = |row: &Result<KeptRow>| {
            let at = row.as_ref().ok().map(|(key, _)| (key.frame, key.lu));
            at.is_none_or(|at| place.is_none_or(|place| at <= place))
        };
        self.rows.next_if(is_due).transpose()
    }
}

impl Store {
    /// Where the evidence of a listed release is not what its rows say, each in words; nothing
    /// where none is kept, or it may be of an earlier commit.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn evidence_differences(&self, release: ReleaseId) -> Result<Vec<String>> {
        if !self.engine.has(Family::Evidence) || !self.are_sums_current()? {
            return Ok(Vec::new());
        }
        let Some(number) = self.number_of_proposed(release)? else {
            let first = self.engine.scan(Family::Evidence, Prefix::of(release).bytes())?.next();
            if first.transpose()?.is_none() {
                return Ok(Vec::new());
            }
            return Ok(vec![format!("release {release}: no number of LUs with evidence")]);
        };
        let mut told = Vec::new();
        let mut tell = |(frame, lu): Place, what: &str| {
            if told.len() < TOLD {
                told.push(format!("release {release}, LU {lu} of frame {frame}: {what}"));
            }
        };
        let mut lus = self.kept_rows(EvidenceKey::lus_prefix(release).bytes())?;
        let mut seeds = self.kept_rows(EvidenceKey::seeds_prefix(release).bytes())?;
        let mut found = 0_u64;
        self.make_evidence(release, &mut |place, made, made_seeds| {
            found += 1;
            let mut is_right = false;
            while let Some((key, cell)) = lus.up_to(Some(place))? {
                let at = (key.frame, key.lu);
                if at == place {
                    let sums = cell.and_then(Cell::sums);
                    is_right = sums.is_some_and(|sums: LuEvidence| sums.stands_for(&made));
                } else {
                    tell(at, "evidence is kept, and there are no generated sets");
                }
            }
            if !is_right {
                tell(place, "the evidence that is kept is not what the sets say");
            }
            let mut kept = Seeds::new();
            while let Some((key, cell)) = seeds.up_to(Some(place))? {
                let at = (key.frame, key.lu);
                match cell.and_then(|cell| cell.count()).filter(|_| at == place) {
                    Some(count) => drop(kept.insert(key.seed, count)),
                    None => tell(at, "a seed is kept that gave no sets"),
                }
            }
            if kept != made_seeds {
                tell(place, "the seeds that are kept are not those of the sets");
            }
            Ok(())
        })?;
        for rows in [&mut lus, &mut seeds] {
            while let Some((key, _)) = rows.up_to(None)? {
                tell((key.frame, key.lu), "evidence is kept, and there are no generated sets");
            }
        }
        if number != found {
            let what = format!("LUs with evidence: {number}, and there are {found}");
            told.push(format!("release {release}, {what}"));
        }
        Ok(told)
    }

    fn kept_rows(
        &self,
        prefix: Vec<u8>,
    ) -> Result<InStep<impl Iterator<Item = Result<KeptRow>> + '_>> {
        let rows = self.engine.scan(Family::Evidence, prefix)?.filter_map(|row| {
            let (key, value) = match row {
                Ok(row) => row,
                Err(error) => return Some(Err(error)),
            };
            // A key that is none is a fault of its own.
            let key = EvidenceKey::decode(&key)?;
            Some(Ok((key, read(&key, &value))))
        });
        Ok(InStep { rows: rows.peekable() })
    }
}
