//! Runs of keys that lie behind each other and take about as much room: what several threads read
//! at once.
//!
//! A run is halved by the numbers that keys are, until the files say that a part is small. So the
//! parts depend on the files alone, and whatever they are, together they are the run.

use std::sync::Arc;

use rocksdb::{Range, ReadOptions};

use super::estimate::SetRange;
use super::family::Family;
use super::key::{AnnotationKey, Key, KeyPart as _, Prefix};
use super::read::record_of;
use super::row_fault::RowFault;
use super::rows::{Row, decoded};
use super::set_rows::{SetPlace, key_of};
use super::view::View;
use super::{Result, Store};
use crate::model::{AnnotationSet, ReleaseId, SentenceId};

/// Bytes of a part, as they lie in the files: some thousand rows, which take some hundredths of a
/// second.
const PART: u64 = if cfg!(test) { 64 } else { 256 << 10 };

/// Least and most bytes of some annotation sets: where few are in the files, and most in memory, an
/// estimate says little; and what is smaller than a packed block cannot be told apart.
const BYTES_OF_SETS: (u64, u64) = if cfg!(test) { (64, 64) } else { (2 << 10, 64 << 10) };

/// Bytes that a set takes where the files do not tell.
const BYTES_OF_A_SET: u64 = 64;

/// The families whose bytes make a part of sentences, and how many times they count: a row of the
/// second stands for an annotation set, which takes some eight times as much.
const OF_SENTENCES: [(Family, u64); 2] = [(Family::Sentence, 1), (Family::BySentence, 8)];

/// What stands in the place of an end that there is not.
const BEHIND_ALL: [u8; 32] = [0xff; 32];

/// A run of keys of one family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyRange {
    start: Vec<u8>,
    /// The first key behind it; none where the family ends with it.
    end: Option<Vec<u8>>,
}

impl KeyRange {
    /// The keys that start with a prefix.
    pub(super) fn under(prefix: Vec<u8>) -> Self {
        let end = successor(&prefix);
        Self { start: prefix, end }
    }

    /// The part of it that lies behind a key.
    fn behind(mut self, mut key: Vec<u8>) -> Self {
        key.push(0);
        if let Some(end) = &self.end {
            key = key.min(end.clone());
        }
        self.start = self.start.max(key);
        self
    }

    /// The part of it that lies behind a set; `None` where nothing does.
    pub(crate) fn behind_set(self, place: SetPlace) -> Option<Self> {
        Some(self.behind(key_of(place).encode())).filter(|range| !range.is_empty())
    }

    fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// The same run where nothing of a boundary behind so many bytes counts. Runs that lie behind
    /// each other still do.
    fn cut_to(mut self, bytes: usize) -> Self {
        self.start.truncate(bytes);
        self.end.iter_mut().for_each(|end| end.truncate(bytes));
        self
    }

    fn halves(&self) -> Option<[Self; 2]> {
        let middle = middle(&self.start, self.end.as_deref().unwrap_or(&BEHIND_ALL))?;
        let first = Self { start: self.start.clone(), end: Some(middle.clone()) };
        Some([first, Self { start: middle, end: self.end.clone() }])
    }

    /// Options to read it.
    pub(super) fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        match &self.end {
            Some(end) => options.set_iterate_range(self.start.clone()..end.clone()),
            None => options.set_iterate_range(self.start.clone()..),
        }
        options
    }
}

/// The least key behind all that start with a prefix.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte < 0xff)?;
    let mut key = prefix[..=last].to_vec();
    key[last] += 1;
    Some(key)
}

/// A key about halfway between two; none where they lie too close.
fn middle(start: &[u8], end: &[u8]) -> Option<Vec<u8>> {
    const WIDTH: usize = size_of::<u128>();
    let same = start.iter().zip(end).take_while(|(a, b)| a == b).count();
    let number = |key: &[u8]| {
        let mut bytes = [0; WIDTH];
        let part = &key[same..key.len().min(same + WIDTH)];
        bytes[..part.len()].copy_from_slice(part);
        u128::from_be_bytes(bytes)
    };
    let (low, high) = (number(start), number(end));
    let half = high.checked_sub(low)? / 2;
    (half > 0).then(|| [&start[..same], &(low + half).to_be_bytes()].concat())
}

/// A run of rows of one family.
#[derive(Debug)]
pub(crate) struct RowsPart {
    family: Family,
    keys: KeyRange,
}

impl RowsPart {
    /// The family's name.
    pub(crate) fn family(&self) -> &'static str {
        self.family.name()
    }

    /// All rows of the family.
    pub(crate) fn whole(&self) -> Self {
        Self { family: self.family, keys: KeyRange::under(Vec::new()) }
    }
}

/// The parts of a run, found as they are asked for.
pub(crate) struct Parts {
    view: Arc<View>,
    /// The families whose bytes count, and how much of a part each is.
    weights: Vec<(Family, u64)>,
    most: u64,
    /// Parts to come, the next one last, each with its bytes.
    waiting: Vec<(KeyRange, u64)>,
}

impl Parts {
    fn bytes(&self, range: &KeyRange) -> u64 {
        let range = Range::new(&range.start, range.end.as_deref().unwrap_or(&BEHIND_ALL));
        let of_family = |&(family, weight): &(Family, u64)| {
            let family = self.view.family(family).ok()?;
            let sizes = self.view.db.get_approximate_sizes_cf(family, std::slice::from_ref(&range));
            Some(weight * sizes.first()?)
        };
        self.weights.iter().filter_map(of_family).sum()
    }
}

impl Iterator for Parts {
    /// A part, and about how many bytes of files it has.
    type Item = (KeyRange, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let (mut range, mut bytes) = self.waiting.pop()?;
        while bytes > self.most {
            let Some([first, second]) = range.halves() else { break };
            let of_first = self.bytes(&first);
            self.waiting.push((second, bytes.saturating_sub(of_first)));
            (range, bytes) = (first, of_first);
        }
        // What the files hold nothing of goes with its neighbour; memory may have rows of it.
        while bytes < self.most
            && let Some((next, more)) = self.waiting.pop()
        {
            if bytes + more > self.most {
                self.waiting.push((next, more));
                break;
            }
            (range.end, bytes) = (next.end, bytes + more);
        }
        Some((range, bytes))
    }
}

impl Store {
    /// The parts of a run of keys, in order.
    pub(super) fn parts_of(&self, family: Family, range: KeyRange) -> Parts {
        self.weighted_parts_of(&[(family, 1)], range, PART)
    }

    fn weighted_parts_of(&self, weights: &[(Family, u64)], range: KeyRange, most: u64) -> Parts {
        let (view, waiting) = (self.engine.view(), Vec::new());
        let mut parts = Parts { view, weights: weights.to_vec(), most, waiting };
        let bytes = parts.bytes(&range);
        parts.waiting.extend((!range.is_empty()).then_some((range, bytes)));
        parts
    }

    /// About how many bytes of files so many annotation sets take, by the files of all releases. A
    /// reader's handle may not know how many sets there are.
    pub(crate) fn bytes_of_sets(&self, count: u64) -> u64 {
        let (least, most) = BYTES_OF_SETS;
        let (rows, bytes) = self.engine.size(Family::Annotation).unwrap_or_default();
        bytes
            .saturating_mul(count)
            .checked_div(rows)
            .unwrap_or(count * BYTES_OF_A_SET)
            .clamp(least, most)
    }

    /// The parts of a run of annotation sets, or of what lies behind a place in it; none is of more
    /// bytes than that, unless it is one set.
    pub(crate) fn parts_of_sets(
        &self,
        range: SetRange,
        after: Option<SetPlace>,
        most: u64,
    ) -> Parts {
        let mut keys = KeyRange::under(range.prefix());
        if let Some(place) = after {
            keys = keys.behind(key_of(place).encode());
        }
        self.weighted_parts_of(&[(Family::Annotation, 1)], keys, most)
    }

    /// The annotation sets of a part, in order of key.
    pub(crate) fn sets_of_part(
        &self,
        part: &KeyRange,
    ) -> Result<impl Iterator<Item = Result<(ReleaseId, AnnotationSet)>> + use<>> {
        let family = Family::Annotation;
        let mut options = part.options();
        // Whoever reads many sets reads each once; their sentences want the room.
        options.fill_cache(false);
        let rows = self.engine.view().rows(family, options)?;
        Ok(rows.each(move |key, value| {
            let (key, set): (AnnotationKey, _) = record_of(family, key, value)?;
            Ok((key.release, set))
        }))
    }

    /// The parts of every row of every family, in order of family and key.
    pub(crate) fn parts_of_rows(&self) -> impl Iterator<Item = RowsPart> + '_ {
        let families = Family::ALL.into_iter().filter(|family| self.engine.has(*family));
        families.flat_map(|family| {
            let parts = self.parts_of(family, KeyRange::under(Vec::new()));
            parts.map(move |(keys, _)| RowsPart { family, keys })
        })
    }

    /// The rows of a part, as [`rows`](Self::rows) gives them.
    pub(crate) fn rows_of_part(
        &self,
        part: &RowsPart,
    ) -> Result<impl Iterator<Item = std::result::Result<Row, Box<RowFault>>> + use<>> {
        let mut options = part.keys.options();
        options.set_verify_checksums(true);
        options.fill_cache(false);
        let rows = self.engine.view().rows(part.family, options)?;
        Ok(decoded(part.family, part.keys.start.as_slice().into(), rows))
    }

    /// The parts of a release's sentences. A part is also one of what is sorted by sentence.
    pub(crate) fn parts_of_sentences(
        &self,
        release: ReleaseId,
    ) -> impl Iterator<Item = KeyRange> + use<> {
        let width = ReleaseId::WIDTH + SentenceId::WIDTH;
        let keys = KeyRange::under(Prefix::of(release).bytes());
        let parts = self.weighted_parts_of(&OF_SENTENCES, keys, PART);
        let parts = parts.map(move |(part, _)| part.cut_to(width));
        parts.filter(|part| !part.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_middle_lies_between(a: Vec<u8>, b: Vec<u8>) {
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            if let Some(middle) = middle(&low, &high) {
                prop_assert!(low < middle && middle < high);
            }
        }

        #[test]
        fn halves_are_the_whole(start: Vec<u8>, key in prop::collection::vec(any::<u8>(), 0..30)) {
            let whole = KeyRange::under(start);
            let holds = |range: &KeyRange| {
                range.start <= key && range.end.as_ref().is_none_or(|end| key < *end)
            };
            if let Some(halves) = whole.halves() {
                prop_assert_eq!(halves.iter().filter(|half| holds(half)).count(), usize::from(holds(&whole)));
            }
        }

        #[test]
        fn keys_under_a_prefix_begin_with_it(
            prefix in prop::collection::vec(prop::sample::select(vec![0, 1, 0xfe, 0xff]), 0..4),
            key in prop::collection::vec(prop::sample::select(vec![0, 1, 0xfe, 0xff]), 0..5),
        ) {
            let range = KeyRange::under(prefix.clone());
            let is_in = range.start <= key && range.end.as_ref().is_none_or(|end| key < *end);
            prop_assert_eq!(is_in, key.starts_with(&prefix));
        }
    }
}
