//! How many annotation sets there are, by LU, origin, round and status: kept by each commit.
//!
//! A row of `count` says how many rows of a release agree in what its key names. Sets count three
//! times: under their LU, in the release, and in the number of all. So whoever asks for a release
//! reads some dozen rows, and for a frame those of its LUs. LUs count by status, generated
//! sentences in one row. A commit reads and writes only the counts that change.
//!
//! A release without the number of all its sets has no counts: one that an earlier program wrote.
//! The next commit makes them. It makes them again where they cannot be right: where a count would
//! fall below zero, where those of the release do not add up to the number of all, or where a row
//! that goes cannot be read. Readers who find no counts read the rows themselves.

use std::collections::{BTreeMap, BTreeSet};

use rocksdb::WriteBatch;

use super::added::of_space;
use super::count_key::{ALL_SETS, LU_SETS, LUS, SENTENCES, SETS, SetCount, decode};
use super::current_sums::unless_damaged;
use super::engine::Engine;
use super::estimate::SetRange;
use super::evidence_changes::TouchedEvidence;
use super::family::Family;
use super::key::{CountKey, Key, Prefix, SentenceKey, release_of};
use super::touched::{Before, Said, Touched, each_row};
use super::{Result, Store};
use crate::model::{IdSpace, Origin, ReleaseId};

/// Counts by their keys; none is 0 but the number of all sets.
pub(super) type Cells = BTreeMap<CountKey, u64>;

/// What the row of a counted family counts as; `None` for one that cannot be read.
fn counts_as(family: Family, key: &[u8], value: &[u8]) -> Option<CountKey> {
    match family {
        Family::Sentence => {
            let key = SentenceKey::decode(key)?;
            CountKey::of_sentence(key.release, key.sentence)
        }
        _ => Said::read(family, key, value)?.counted().cloned(),
    }
}

/// Counts under way. Rows that follow each other mostly agree, and are added together.
#[derive(Default)]
pub(super) struct Gathered {
    cells: Cells,
    run: Option<(CountKey, u64)>,
}

impl Gathered {
    pub(super) fn add(&mut self, key: &CountKey) {
        match &mut self.run {
            Some((last, count)) if last == key => *count += 1,
            _ => {
                self.end_run();
                self.run = Some((key.clone(), 1));
            }
        }
    }

    fn end_run(&mut self) {
        let Some((key, count)) = self.run.take() else { return };
        for key in key.with_wider() {
            *self.cells.entry(key).or_default() += count;
        }
    }

    /// Takes up what another has counted.
    pub(super) fn merge(&mut self, other: Self) {
        for (key, count) in other.cells() {
            *self.cells.entry(key).or_default() += count;
        }
    }

    pub(super) fn cells(mut self) -> Cells {
        self.end_run();
        self.cells
    }
}

/// What a commit changes.
#[derive(Default)]
pub(super) struct Changes {
    by: BTreeMap<ReleaseId, BTreeMap<CountKey, i64>>,
    /// Releases of which it is not known what goes.
    unknown: BTreeSet<ReleaseId>,
}

impl Changes {
    /// The changes of counts, and what was touched that is evidence of proposed LUs.
    pub(super) fn of(engine: &Engine, touched: Touched) -> Result<(Self, TouchedEvidence)> {
        let (mut lost, mut gained) = (Gathered::default(), Gathered::default());
        let (mut changes, mut evidence) = (Self::default(), TouchedEvidence::default());
        each_row(engine, touched, &mut |family, key, before, after| {
            match &before {
                Before::Nothing | Before::New => {}
                Before::Said(said) => said.counted().into_iter().for_each(|key| lost.add(key)),
                Before::Unreadable => {
                    changes.unknown.extend(release_of(family, key));
                    // A sentence counts by its key, whether or not it can be read.
                    if family == Family::Sentence
                        && let Some(key) = counts_as(family, key, &[])
                    {
                        lost.add(&key);
                    }
                }
            }
            if let Some(key) = after.as_ref().and_then(Said::counted) {
                gained.add(key);
            }
            evidence.add(family, key, before, after);
        })?;
        for (cells, is_gain) in [(lost.cells(), false), (gained.cells(), true)] {
            for (key, count) in cells {
                let by = changes.by.entry(key.release).or_default().entry(key).or_default();
                let count = count.cast_signed();
                *by += if is_gain { count } else { -count };
            }
        }
        for by in changes.by.values_mut() {
            by.retain(|_, by| *by != 0);
        }
        Ok((changes, evidence))
    }

    /// Releases of which it is not known what goes.
    pub(super) fn unsure(&self) -> BTreeSet<ReleaseId> {
        self.unknown.clone()
    }
}

impl Store {
    /// Takes note of rows of a release that is not listed yet, as long as each is written once.
    pub(super) fn note_unlisted(&self, release: ReleaseId, touched: &Touched) {
        let mut unlisted = self.unlisted.lock().unwrap_or_else(|broken| broken.into_inner());
        let Some(Some(cells)) = unlisted.get_mut(&release) else { return };
        let are_new = touched.iter().all(|(.., row)| row.after.is_some());
        // LUs are written again as more of them is known.
        let sets = touched.iter().filter(|(family, ..)| *family != Family::LexUnit);
        let said = sets.filter_map(|(.., row)| row.after.as_ref()?.counted());
        said.for_each(|key| cells.add(key));
        if !are_new {
            unlisted.insert(release, None);
        }
    }

    /// Begins to take note of the rows of a release.
    pub(super) fn begin_counts(&self, release: ReleaseId) {
        let mut unlisted = self.unlisted.lock().unwrap_or_else(|broken| broken.into_inner());
        unlisted.insert(release, Some(Gathered::default()));
    }

    /// Adds to a commit what there is to count once it is written.
    pub(super) fn put_counts(
        &self,
        rows: &mut WriteBatch,
        listed: &[ReleaseId],
        mut changes: Changes,
        are_current: bool,
    ) -> Result<()> {
        for &release in listed {
            let by = changes.by.remove(&release).unwrap_or_default();
            let is_known = are_current && !changes.unknown.contains(&release);
            let changed = if is_known { self.changed(release, &by) } else { Ok(None) };
            if let Some(cells) = unless_damaged(changed)?.flatten() {
                for (key, count) in cells {
                    self.put_count(rows, &key, count)?;
                }
                continue;
            }
            let is_given_up = self.is_given_up(Family::Count, release);
            let made = if is_given_up { None } else { unless_damaged(self.made_anew(release))? };
            // Rows that cannot be read keep nobody from others: readers count what they can.
            let Some(mut cells) = made else {
                self.give_up(rows, Family::Count, release)?;
                continue;
            };
            for (key, by) in by {
                let count = cells.entry(key).or_default();
                *count = count.saturating_add_signed(by);
            }
            self.put_all_counts(rows, release, &cells)?;
        }
        Ok(())
    }

    /// The counts that a commit changes, as they are then; `None` when they must be made anew.
    fn changed(
        &self,
        release: ReleaseId,
        by: &BTreeMap<CountKey, i64>,
    ) -> Result<Option<Vec<(CountKey, u64)>>> {
        let is_kept = if by.is_empty() {
            self.number_of_sets(release)?.is_some()
        } else {
            self.kept_sets(release)?.is_some()
        };
        if !is_kept {
            return Ok(None);
        }
        let mut cells = Vec::with_capacity(by.len());
        for (key, by) in by {
            let value = self.engine.get(Family::Count, &key.encode())?;
            let count = value.map_or(Some(0), |value| decode(&value));
            let Some(count) = count.and_then(|count| count.checked_add_signed(*by)) else {
                return Ok(None);
            };
            cells.push((key.clone(), count));
        }
        Ok(Some(cells))
    }

    /// The counts of a release: those of an import under way, else by reading its rows.
    fn made_anew(&self, release: ReleaseId) -> Result<Cells> {
        let mut unlisted = self.unlisted.lock().unwrap_or_else(|broken| broken.into_inner());
        let of_release = Prefix::of(release).bytes();
        let mut counts = match unlisted.remove(&release).flatten() {
            Some(counts) => counts,
            None => {
                let mut counts = Gathered::default();
                self.add_rows(Family::Annotation, of_release.clone(), &mut counts)?;
                let generated = of_space(release, IdSpace::Generated);
                self.add_rows(Family::Sentence, generated, &mut counts)?;
                counts
            }
        };
        self.add_rows(Family::LexUnit, of_release, &mut counts)?;
        let mut cells = counts.cells();
        cells.entry(CountKey::new(release, ALL_SETS)).or_default();
        Ok(cells)
    }

    fn add_rows(&self, family: Family, prefix: Vec<u8>, counts: &mut Gathered) -> Result<()> {
        for row in self.engine.scan(family, prefix)? {
            let (key, value) = row?;
            self.tell_read();
            // One that cannot be read is told by whoever reads it, and by a check.
            if let Some(key) = counts_as(family, &key, &value) {
                counts.add(&key);
            }
        }
        Ok(())
    }

    fn put_count(&self, rows: &mut WriteBatch, key: &CountKey, count: u64) -> Result<()> {
        let bytes = key.encode();
        if count == 0 && key.kind != ALL_SETS {
            return self.engine.delete(rows, Family::Count, &bytes);
        }
        self.engine.put(rows, Family::Count, &bytes, &count.to_be_bytes())
    }

    fn put_all_counts(
        &self,
        rows: &mut WriteBatch,
        release: ReleaseId,
        cells: &Cells,
    ) -> Result<()> {
        self.delete_sums(rows, Family::Count, release)?;
        cells.iter().try_for_each(|(key, count)| self.put_count(rows, key, *count))
    }

    /// Puts the counts of a release that its rows give; none where these cannot be read.
    pub(super) fn recount(&self, rows: &mut WriteBatch, release: ReleaseId) -> Result<()> {
        match unless_damaged(self.made_anew(release))? {
            Some(cells) => self.put_all_counts(rows, release, &cells),
            None => self.give_up(rows, Family::Count, release),
        }
    }

    /// Whether the counts of a release are what its rows say, or none are kept.
    pub(super) fn are_counts_right(&self, release: ReleaseId) -> Result<bool> {
        if !self.engine.has(Family::Count) {
            return Ok(true);
        }
        match self.count_keys(release)? {
            Some(kept) if kept.is_empty() => Ok(true),
            kept => Ok(kept == Some(self.made_anew(release)?)),
        }
    }

    /// Every count of a release that is kept; `None` when one cannot be read.
    fn count_keys(&self, release: ReleaseId) -> Result<Option<Cells>> {
        let mut cells = Cells::new();
        for row in self.engine.scan(Family::Count, Prefix::of(release).bytes())? {
            let (key, value) = row?;
            let (Some(key), Some(count)) = (CountKey::decode(&key), decode(&value)) else {
                return Ok(None);
            };
            cells.insert(key, count);
        }
        Ok(Some(cells))
    }

    /// How many sets a release has; `None` where no counts are kept.
    fn number_of_sets(&self, release: ReleaseId) -> Result<Option<u64>> {
        if !self.engine.has(Family::Count) || !self.are_sums_current()? {
            return Ok(None);
        }
        let value = self.engine.get(Family::Count, &CountKey::new(release, ALL_SETS).encode())?;
        Ok(value.and_then(|value| decode(&value)))
    }

    /// How many sets of a release agree in what is counted, their LUs aside; `None` where no counts
    /// are kept, or they do not add up.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn kept_sets(&self, release: ReleaseId) -> Result<Option<Vec<SetCount>>> {
        self.whole_counts(release, SETS)
    }

    /// The same LU by LU, in order of frame and LU; of a frame or an LU its own.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn kept_sets_by_lu(&self, scope: SetRange) -> Result<Option<Vec<SetCount>>> {
        let of_release = |release| Prefix::of(release).then(LU_SETS);
        let (release, prefix) = match scope {
            SetRange::Release(release) => return self.whole_counts(release, LU_SETS),
            SetRange::Frame(release, frame) => (release, of_release(release).then(frame)),
            SetRange::LexUnit(release, frame, lu) => {
                (release, of_release(release).then(frame).then(lu))
            }
        };
        let is_kept = self.number_of_sets(release)?.is_some();
        if is_kept { self.set_counts_under(prefix.bytes()) } else { Ok(None) }
    }

    fn whole_counts(&self, release: ReleaseId, kind: u8) -> Result<Option<Vec<SetCount>>> {
        let Some(all) = self.number_of_sets(release)? else { return Ok(None) };
        let counts = self.set_counts_under(Prefix::of(release).then(kind).bytes())?;
        let sum = |counts: &Vec<SetCount>| -> u64 {
            counts.iter().fold(0, |sum, of| sum.saturating_add(of.sets))
        };
        Ok(counts.filter(|counts| sum(counts) == all))
    }

    /// `None` when a count cannot be read.
    fn set_counts_under(&self, prefix: Vec<u8>) -> Result<Option<Vec<SetCount>>> {
        let mut counts = Vec::new();
        for row in self.engine.scan(Family::Count, prefix)? {
            let (key, value) = row?;
            let counted = CountKey::decode(&key).zip(decode(&value));
            match counted.and_then(|(key, count)| key.counted(count)) {
                Some(count) => counts.push(count),
                None => return Ok(None),
            }
        }
        Ok(Some(counts))
    }

    /// Whether sets may have been carried into generated sentences of a release; where no counts
    /// are kept they may.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn may_have_carried(&self, release: ReleaseId) -> Result<bool> {
        let kept = self.kept_sets(release)?;
        Ok(kept.is_none_or(|sets| sets.iter().any(|of| of.origin == Origin::Carried)))
    }

    /// How many LUs of a release have a status; `None` where no counts are kept.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn kept_lexunits(&self, release: ReleaseId, status: &str) -> Result<Option<u64>> {
        let status = status.to_owned();
        self.kept_count(CountKey { status, ..CountKey::new(release, LUS) })
    }

    /// How many generated sentences a release has; `None` where no counts are kept.
    pub(super) fn kept_generated_sentences(&self, release: ReleaseId) -> Result<Option<u64>> {
        self.kept_count(CountKey::new(release, SENTENCES))
    }

    fn kept_count(&self, key: CountKey) -> Result<Option<u64>> {
        if self.number_of_sets(key.release)?.is_none() {
            return Ok(None);
        }
        let value = self.engine.get(Family::Count, &key.encode())?;
        Ok(value.map_or(Some(0), |value| decode(&value)))
    }
}
