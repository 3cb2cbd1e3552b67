//! The evidence for proposed LUs, kept by each commit.
//!
//! `evidence` has a row for each LU of the store's own range that has generated sets, with what
//! they say together, and one for each of its seeds. A commit reads and writes those of the LUs
//! that it touches. An LU's sets are read again only when so many of its best go that others have
//! to be looked for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rocksdb::WriteBatch;

use super::current_sums::unless_damaged;
use super::estimate::SetRange;
use super::evidence::{LuEvidence, SetEvidence};
use super::evidence_changes::{OfRelease, TouchedEvidence, Turn};
use super::evidence_row::{self, Cell};
use super::family::Family;
use super::key::{AnnotationKey, EvidenceKey, Key, Prefix, SetKey};
use super::record::Stored;
use super::touched::is_proposed;
use super::{Result, Store, StoreError};
use crate::model::{
    AnnotationSet, AnnotationSetId, FrameId, LuId, OWN_RANGE, ReleaseId, SentenceId, Verification,
};

/// Bytes of rows that are written together while evidence is made anew.
const WRITE: usize = 4 << 20;

/// Answers of a verifier that are read together.
const ANSWERS: usize = 4_096;

/// An LU by its frame and number.
pub(super) type Place = (FrameId, LuId);

/// Numbers of sets by the seeds that gave them.
pub(super) type Seeds = BTreeMap<AnnotationSetId, u64>;

/// What a commit takes from an LU and gives to it.
#[derive(Default)]
struct LuChange<'s> {
    lost: Vec<&'s SetEvidence>,
    gained: Vec<&'s SetEvidence>,
    /// How many more seeds there are.
    more_seeds: i64,
    /// All touched sets that the LU has then.
    then: Vec<&'s SetEvidence>,
}

/// Rows as they are then; `None` of those that go.
type Cells = Vec<(EvidenceKey, Option<Cell>)>;

impl Store {
    /// Adds to a commit what there is of evidence once it is written. What has none, or has some
    /// that may be of an earlier commit, gets it anew.
    pub(super) fn put_evidence(
        &self,
        rows: &mut WriteBatch,
        listed: &[ReleaseId],
        mut touched: TouchedEvidence,
        is_sure: impl Fn(ReleaseId) -> bool,
    ) -> Result<()> {
        for &release in listed {
            let mut touched = touched.0.remove(&release).unwrap_or_default();
            let mut cells = None;
            if is_sure(release) {
                cells = self.readable_changes(release, &mut touched)?;
            }
            if cells.is_none()
                && !self.is_given_up(Family::Evidence, release)
                && unless_damaged(self.remake_evidence(release))?.is_some()
            {
                cells = self.readable_changes(release, &mut touched)?;
            }
            match cells {
                Some(cells) => self.put_cells(rows, &cells)?,
                // Rows that cannot be read keep nobody from others: readers gather what they can.
                None => self.give_up(rows, Family::Evidence, release)?,
            }
        }
        Ok(())
    }

    /// The rows that a commit changes; `None` where none are kept, or what they are changed by
    /// cannot be read.
    fn readable_changes(
        &self,
        release: ReleaseId,
        touched: &mut OfRelease,
    ) -> Result<Option<Cells>> {
        let changed = match self.number_of_proposed(release) {
            Ok(None) => Ok(None),
            Ok(Some(number)) => self.changed_evidence(release, number, touched),
            Err(error) => Err(error),
        };
        Ok(unless_damaged(changed)?.flatten())
    }

    fn put_cells(&self, rows: &mut WriteBatch, cells: &Cells) -> Result<()> {
        for (key, cell) in cells {
            self.put_cell(rows, key, cell.as_ref())?;
        }
        Ok(())
    }

    fn put_cell(
        &self,
        rows: &mut WriteBatch,
        key: &EvidenceKey,
        cell: Option<&Cell>,
    ) -> Result<()> {
        let bytes = key.encode();
        let Some(cell) = cell else { return self.engine.delete(rows, Family::Evidence, &bytes) };
        let value = cell.encode();
        let value = value.map_err(|why| StoreError::unwritable("evidence", key.lu, why))?;
        self.engine.put(rows, Family::Evidence, &bytes, &value)
    }

    /// The rows that a commit changes; `None` when they must be made anew.
    fn changed_evidence(
        &self,
        release: ReleaseId,
        all: u64,
        touched: &mut OfRelease,
    ) -> Result<Option<Cells>> {
        if touched.is_empty() {
            return Ok(Some(Cells::new()));
        }
        self.complete(release, touched)?;
        let touched = &*touched;
        let mut by_lu: BTreeMap<Place, LuChange<'_>> = BTreeMap::new();
        let mut by_seed: BTreeMap<(Place, AnnotationSetId), i64> = BTreeMap::new();
        let mut then: BTreeMap<Place, Vec<&SetEvidence>> = BTreeMap::new();
        for [before, after] in touched.sets.values() {
            if let Some(after) = after.as_deref() {
                then.entry((after.frame, after.lu)).or_default().push(after);
            }
            if before == after && touched.reworded.is_empty() {
                continue;
            }
            for (set, by) in [(before, -1), (after, 1)] {
                let Some(set) = set.as_deref() else { continue };
                let place = (set.frame, set.lu);
                let change = by_lu.entry(place).or_default();
                let sets = if by < 0 { &mut change.lost } else { &mut change.gained };
                sets.push(set);
                *by_seed.entry((place, set.seed)).or_default() += by;
            }
        }
        by_seed.retain(|_, by| *by != 0);
        let mut cells = Cells::new();
        let Some(seeds) = self.changed_seeds(release, by_seed, &mut cells)? else {
            return Ok(None);
        };
        let mut number = 0_i64;
        let keys: Vec<Vec<u8>> =
            by_lu.keys().map(|place| EvidenceKey::of_lu(release, *place).encode()).collect();
        let values = self.engine.get_sorted(Family::Evidence, &keys)?;
        for ((place, mut change), value) in by_lu.into_iter().zip(values) {
            change.more_seeds = seeds.get(&place).copied().unwrap_or_default();
            change.then = then.remove(&place).unwrap_or_default();
            let key = EvidenceKey::of_lu(release, place);
            let was_there = value.is_some();
            let sums = match value {
                Some(value) => read(&key, &value).and_then(Cell::sums),
                None => Some(LuEvidence::default()),
            };
            let Some(mut sums) = sums else { return Ok(None) };
            if self.change_lu(release, place, &mut sums, (change, touched))?.is_none() {
                return Ok(None);
            }
            let sums = (!sums.is_empty()).then_some(sums);
            number += i64::from(sums.is_some()) - i64::from(was_there);
            cells.push((key, sums.map(Box::new).map(Cell::Sums)));
        }
        let Some(all) = all.checked_add_signed(number) else { return Ok(None) };
        cells.push((EvidenceKey::of_lus(release), Some(Cell::Count(all))));
        Ok(Some(cells))
    }

    /// Adds to what a commit touches the sets whose answers or sentences it changes, and of all
    /// the answers.
    fn complete(&self, release: ReleaseId, touched: &mut OfRelease) -> Result<()> {
        let mut others: BTreeSet<AnnotationSetId> = touched.answers.keys().copied().collect();
        for sentence in &touched.reworded {
            for set in self.sets_of_sentence(release, *sentence)? {
                others.extend(readable(set.map(Some))?);
            }
        }
        for set in others {
            if touched.sets.contains_key(&set) {
                continue;
            }
            let set = readable(self.annotation_set(release, set))?;
            let evidence = set.filter(|set| is_proposed(set.lu));
            if let Some(set) = evidence.and_then(|set| SetEvidence::of(&set, None)) {
                let turn: Turn = [Some(Box::new(set.clone())), Some(Box::new(set.clone()))];
                touched.sets.insert(set.set, turn);
            }
        }
        let known: Vec<AnnotationSetId> =
            touched.sets.keys().filter(|set| !touched.new.contains(set)).copied().collect();
        let mut answers = self.answers(release, &known)?;
        for (id, [before, after]) in &mut touched.sets {
            let of_store = answers.remove(id);
            if let Some(before) = before {
                before.evokes = of_store;
            }
            if let Some(after) = after {
                after.evokes = touched.answers.get(id).copied().unwrap_or(of_store);
            }
        }
        Ok(())
    }

    /// Changes the numbers of sets by seed; gives by how many each LU has more seeds.
    fn changed_seeds(
        &self,
        release: ReleaseId,
        by_seed: BTreeMap<(Place, AnnotationSetId), i64>,
        cells: &mut Cells,
    ) -> Result<Option<BTreeMap<Place, i64>>> {
        let key = |(place, seed): &(Place, _)| EvidenceKey::of_seed(release, *place, *seed);
        let keys: Vec<Vec<u8>> = by_seed.keys().map(|of| key(of).encode()).collect();
        let values = self.engine.get_sorted(Family::Evidence, &keys)?;
        let mut more: BTreeMap<Place, i64> = BTreeMap::new();
        for ((of, by), value) in by_seed.iter().zip(values) {
            let key = key(of);
            let before = match value {
                Some(value) => read(&key, &value).and_then(|cell| cell.count()),
                None => Some(0),
            };
            let after = before.and_then(|before| before.checked_add_signed(*by));
            let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
            *more.entry(of.0).or_default() += i64::from(after > 0) - i64::from(before > 0);
            cells.push((key, (after > 0).then_some(Cell::Count(after))));
        }
        Ok(Some(more))
    }

    /// Changes what the sets of an LU say; `None` when it must be made anew.
    fn change_lu(
        &self,
        release: ReleaseId,
        place: Place,
        sums: &mut LuEvidence,
        (change, touched): (LuChange<'_>, &OfRelease),
    ) -> Result<Option<()>> {
        let seeds = sums.seeds.checked_add_signed(change.more_seeds);
        let lost = change.lost.iter().try_for_each(|set| sums.remove(set));
        let (Some(seeds), Some(())) = (seeds, lost) else { return Ok(None) };
        sums.seeds = seeds;
        change.gained.into_iter().for_each(|set| sums.add(set));
        if sums.lacks_best() {
            let is_left_out = |set| touched.sets.contains_key(&set);
            let others = self.sets_at(release, place, &is_left_out)?.map(|set| set.map(Cow::Owned));
            let then = change.then.into_iter().map(|set| Ok(Cow::Borrowed(set)));
            sums.rank_all(others.chain(then))?;
        }
        sums.read_names(|sentence| match touched.texts.get(&sentence) {
            Some(text) => Ok(text.clone()),
            None => self.text(release, sentence),
        })?;
        Ok(Some(()))
    }

    fn text(&self, release: ReleaseId, sentence: SentenceId) -> Result<Option<String>> {
        Ok(readable(self.sentence(release, sentence))?.map(|sentence| sentence.text))
    }

    /// The generated sets of an LU that can be read, but for some.
    fn sets_at<'s>(
        &'s self,
        release: ReleaseId,
        (frame, lu): Place,
        is_left_out: &'s dyn Fn(AnnotationSetId) -> bool,
    ) -> Result<impl Iterator<Item = Result<SetEvidence>> + 's> {
        let of_lu = SetRange::LexUnit(release, frame, lu).prefix();
        let rows = self.engine.scan(Family::Annotation, of_lu)?;
        Ok(rows.filter_map(move |row| match row {
            Ok((key, value)) => {
                let set = set_of(&key, &value).filter(|set| !is_left_out(set.id));
                set.and_then(|set| SetEvidence::of(&set, None)).map(Ok)
            }
            Err(error) => Some(Err(error)),
        }))
    }

    fn is_verified(&self, release: ReleaseId) -> Result<bool> {
        let of_release = Prefix::of(release).bytes();
        self.engine
            .scan(Family::Verification, of_release)?
            .next()
            .transpose()
            .map(|it| it.is_some())
    }

    fn answer(
        &self,
        release: ReleaseId,
        set: AnnotationSetId,
        is_verified: bool,
    ) -> Result<Option<f32>> {
        if !is_verified {
            return Ok(None);
        }
        Ok(readable(self.verification(release, set))?.and_then(|said| said.evokes))
    }

    /// What a verifier answered of sets in order of id, where that can be read.
    fn answers(
        &self,
        release: ReleaseId,
        sets: &[AnnotationSetId],
    ) -> Result<BTreeMap<AnnotationSetId, f32>> {
        let mut answers = BTreeMap::new();
        if sets.is_empty() || !self.is_verified(release)? {
            return Ok(answers);
        }
        for sets in sets.chunks(ANSWERS) {
            let keys: Vec<SetKey> = sets.iter().map(|&set| SetKey { release, set }).collect();
            let bytes: Vec<Vec<u8>> = keys.iter().map(Key::encode).collect();
            let values = self.engine.get_sorted(Family::Verification, &bytes)?;
            for (key, value) in keys.iter().zip(values) {
                let said = value.and_then(|value| Verification::from_value(key, &value).ok());
                answers.extend(said.and_then(|said| Some((key.set, said.evokes?))));
            }
        }
        Ok(answers)
    }

    /// Makes the evidence of a release from its rows, LU by LU in order. Rows that cannot be read
    /// are passed by; whoever reads them, and a check, tell of them.
    pub(super) fn make_evidence(
        &self,
        release: ReleaseId,
        take: &mut dyn FnMut(Place, LuEvidence, Seeds) -> Result<()>,
    ) -> Result<()> {
        let is_verified = self.is_verified(release)?;
        let mut next = Some((FrameId(0), LuId(OWN_RANGE)));
        while let Some((frame, lu)) = next.take() {
            let from = Prefix::of(release).then(frame).then(lu).bytes();
            let of_release = Prefix::of(release).bytes();
            let mut of_lu: Option<(Place, LuEvidence, Seeds)> = None;
            for row in self.engine.scan_within(Family::Annotation, of_release, from)? {
                let (key, value) = row?;
                let Some(AnnotationKey { frame, lu, set, .. }) = AnnotationKey::decode(&key) else {
                    continue;
                };
                if of_lu.as_ref().is_some_and(|(place, ..)| *place != (frame, lu)) {
                    self.take_lu(release, of_lu.take(), take)?;
                }
                if !is_proposed(lu) {
                    next = Some((frame, LuId(OWN_RANGE)));
                    break;
                }
                self.tell_read();
                let Some(row) = set_of(&key, &value) else { continue };
                let evokes = self.answer(release, set, is_verified)?;
                let Some(evidence) = SetEvidence::of(&row, evokes) else { continue };
                let (_, sums, seeds) =
                    of_lu.get_or_insert_with(|| ((frame, lu), Default::default(), Seeds::new()));
                *seeds.entry(evidence.seed).or_default() += 1;
                sums.add(&evidence);
            }
            self.take_lu(release, of_lu, take)?;
        }
        Ok(())
    }

    fn take_lu(
        &self,
        release: ReleaseId,
        of_lu: Option<(Place, LuEvidence, Seeds)>,
        take: &mut dyn FnMut(Place, LuEvidence, Seeds) -> Result<()>,
    ) -> Result<()> {
        let Some((place, mut sums, seeds)) = of_lu else { return Ok(()) };
        sums.seeds = seeds.len() as u64;
        sums.read_names(|sentence| self.text(release, sentence))?;
        take(place, sums, seeds)
    }

    /// Writes the evidence of a release anew, as its rows are. Until the next commit says so it is
    /// not read.
    pub(super) fn remake_evidence(&self, release: ReleaseId) -> Result<()> {
        // One that cannot be read may be there.
        if unless_damaged(self.number_of_proposed(release))? != Some(None) {
            self.distrust_sums()?;
        }
        let mut rows = WriteBatch::default();
        self.delete_sums(&mut rows, Family::Evidence, release)?;
        let mut number = 0;
        self.make_evidence(release, &mut |place, sums, seeds| {
            number += 1;
            let sums = Cell::Sums(Box::new(sums));
            self.put_cell(&mut rows, &EvidenceKey::of_lu(release, place), Some(&sums))?;
            for (seed, sets) in seeds {
                let key = EvidenceKey::of_seed(release, place, seed);
                self.put_cell(&mut rows, &key, Some(&Cell::Count(sets)))?;
            }
            if rows.size_in_bytes() > WRITE {
                self.engine.write_synced(std::mem::take(&mut rows))?;
            }
            Ok(())
        })?;
        self.put_cell(&mut rows, &EvidenceKey::of_lus(release), Some(&Cell::Count(number)))?;
        self.engine.write_synced(rows)
    }

    /// How many LUs of a release have evidence; `None` where none is kept.
    pub(super) fn number_of_proposed(&self, release: ReleaseId) -> Result<Option<u64>> {
        if !self.engine.has(Family::Evidence) {
            return Ok(None);
        }
        let key = EvidenceKey::of_lus(release);
        let value = self.engine.get(Family::Evidence, &key.encode())?;
        Ok(value.and_then(|value| read(&key, &value)?.count()))
    }
}

/// What a row says; `None` for one that cannot be read.
pub(super) fn read(key: &EvidenceKey, value: &[u8]) -> Option<Cell> {
    evidence_row::decode(key, value).ok().flatten()
}

fn set_of(key: &[u8], value: &[u8]) -> Option<AnnotationSet> {
    AnnotationSet::from_value(&AnnotationKey::decode(key)?, value).ok()
}

/// What can be read: a record that cannot is told by whoever needs it.
fn readable<T>(read: Result<Option<T>>) -> Result<Option<T>> {
    match read {
        Err(StoreError::Damaged { .. }) => Ok(None),
        read => read,
    }
}
