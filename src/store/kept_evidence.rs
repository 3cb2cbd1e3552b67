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

/// Answers of a verifier, and numbers of sets by seed, that are read together.
const ANSWERS: usize = 4_096;

/// LUs whose evidence is read together: a large commit changes that of ten thousand.
const LUS: usize = if cfg!(test) { 2 } else { 256 };

/// An LU by its frame and number.
pub(super) type Place = (FrameId, LuId);

/// Numbers of sets by the seeds that gave them.
pub(super) type Seeds = BTreeMap<AnnotationSetId, u64>;

/// What a commit takes from an LU and gives to it.
#[derive(Default)]
struct LuChange<'s> {
    lost: Vec<&'s SetEvidence>,
    gained: Vec<&'s SetEvidence>,
    /// All touched sets that the LU has then.
    then: Vec<&'s SetEvidence>,
}

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
            let others = rows.len();
            let mut is_put =
                is_sure(release) && self.put_readable(rows, release, &mut touched)?.is_some();
            if !is_put
                && !self.is_given_up(Family::Evidence, release)
                && unless_damaged(self.remake_evidence(release))?.is_some()
            {
                is_put = self.put_readable(rows, release, &mut touched)?.is_some();
            }
            if is_put {
                continue;
            }
            if rows.len() > others {
                self.delete_sums(rows, Family::Evidence, release)?;
            }
            // Rows that cannot be read keep nobody from others: readers gather what they can.
            self.give_up(rows, Family::Evidence, release)?;
        }
        Ok(())
    }

    /// Puts the rows that a commit changes. `None` where none are kept, or what they are changed by
    /// cannot be read: then it has put some of them, which are to be put again or deleted.
    fn put_readable(
        &self,
        rows: &mut WriteBatch,
        release: ReleaseId,
        touched: &mut OfRelease,
    ) -> Result<Option<()>> {
        let changed = match self.number_of_proposed(release) {
            Ok(None) => Ok(None),
            Ok(Some(number)) => self.put_changed(rows, release, number, touched),
            Err(error) => Err(error),
        };
        Ok(unless_damaged(changed)?.flatten())
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

    /// Puts the rows that a commit changes; `None` when they must be made anew.
    fn put_changed(
        &self,
        rows: &mut WriteBatch,
        release: ReleaseId,
        all: u64,
        touched: &mut OfRelease,
    ) -> Result<Option<()>> {
        if touched.is_empty() {
            return Ok(Some(()));
        }
        self.complete(release, touched)?;
        let touched = &*touched;
        let (mut by_lu, by_seed) = changes_of(touched);
        let Some(seeds) = self.put_seeds(rows, release, &by_seed)? else { return Ok(None) };
        drop(by_seed);
        let mut number = 0;
        while !by_lu.is_empty() {
            let rest = by_lu.keys().nth(LUS).copied();
            let rest = rest.map_or_else(BTreeMap::new, |place| by_lu.split_off(&place));
            let some = std::mem::replace(&mut by_lu, rest);
            match self.put_lus(rows, release, some, (&seeds, touched))? {
                Some(more) => number += more,
                None => return Ok(None),
            }
        }
        let Some(all) = all.checked_add_signed(number) else { return Ok(None) };
        self.put_cell(rows, &EvidenceKey::of_lus(release), Some(&Cell::Count(all)))?;
        Ok(Some(()))
    }

    /// Puts what sets say of some LUs; gives how many more LUs have evidence.
    fn put_lus(
        &self,
        rows: &mut WriteBatch,
        release: ReleaseId,
        by_lu: BTreeMap<Place, LuChange<'_>>,
        (seeds, touched): (&BTreeMap<Place, i64>, &OfRelease),
    ) -> Result<Option<i64>> {
        let mut number = 0;
        let keys: Vec<Vec<u8>> =
            by_lu.keys().map(|place| EvidenceKey::of_lu(release, *place).encode()).collect();
        let values = self.engine.get_sorted(Family::Evidence, &keys)?;
        for ((place, change), value) in by_lu.into_iter().zip(values) {
            let key = EvidenceKey::of_lu(release, place);
            let was_there = value.is_some();
            let sums = match value {
                Some(value) => read(&key, &value).and_then(Cell::sums),
                None => Some(LuEvidence::default()),
            };
            let Some(mut sums) = sums else { return Ok(None) };
            let more_seeds = seeds.get(&place).copied().unwrap_or_default();
            if self.change_lu(release, place, &mut sums, (change, more_seeds, touched))?.is_none() {
                return Ok(None);
            }
            let sums = (!sums.is_empty()).then_some(sums);
            number += i64::from(sums.is_some()) - i64::from(was_there);
            self.put_cell(rows, &key, sums.map(Box::new).map(Cell::Sums).as_ref())?;
        }
        Ok(Some(number))
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

    /// Puts the numbers of sets by seed; gives by how many each LU has more seeds.
    fn put_seeds(
        &self,
        rows: &mut WriteBatch,
        release: ReleaseId,
        by_seed: &[((Place, AnnotationSetId), i64)],
    ) -> Result<Option<BTreeMap<Place, i64>>> {
        let key = |(place, seed): (Place, _)| EvidenceKey::of_seed(release, place, seed);
        let mut more: BTreeMap<Place, i64> = BTreeMap::new();
        for by_seed in by_seed.chunks(ANSWERS) {
            let keys: Vec<Vec<u8>> = by_seed.iter().map(|(of, _)| key(*of).encode()).collect();
            let values = self.engine.get_sorted(Family::Evidence, &keys)?;
            for ((of, by), value) in by_seed.iter().zip(values) {
                let key = key(*of);
                let before = match value {
                    Some(value) => read(&key, &value).and_then(|cell| cell.count()),
                    None => Some(0),
                };
                let after = before.and_then(|before| before.checked_add_signed(*by));
                let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
                *more.entry(of.0).or_default() += i64::from(after > 0) - i64::from(before > 0);
                self.put_cell(rows, &key, (after > 0).then_some(Cell::Count(after)).as_ref())?;
            }
        }
        Ok(Some(more))
    }

    /// Changes what the sets of an LU say; `None` when it must be made anew.
    fn change_lu(
        &self,
        release: ReleaseId,
        place: Place,
        sums: &mut LuEvidence,
        (change, more_seeds, touched): (LuChange<'_>, i64, &OfRelease),
    ) -> Result<Option<()>> {
        let seeds = sums.seeds.checked_add_signed(more_seeds);
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

/// What a commit changes of LUs, and by how many sets of each seed in order.
type ByLuAndSeed<'s> = (BTreeMap<Place, LuChange<'s>>, Vec<((Place, AnnotationSetId), i64)>);

fn changes_of(touched: &OfRelease) -> ByLuAndSeed<'_> {
    let mut by_lu: BTreeMap<Place, LuChange<'_>> = BTreeMap::new();
    let mut by_seed: BTreeMap<(Place, AnnotationSetId), i64> = BTreeMap::new();
    for [before, after] in touched.sets.values() {
        if let Some(after) = after.as_deref() {
            by_lu.entry((after.frame, after.lu)).or_default().then.push(after);
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
    by_lu.retain(|_, change| !change.lost.is_empty() || !change.gained.is_empty());
    (by_lu, by_seed.into_iter().filter(|(_, by)| *by != 0).collect())
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
