//! A part of the key space in which answers can lie, and the sets in it.

use std::collections::BTreeSet;

use crate::database::{DatabaseError, Held, Result};
use crate::index::Hit;
use crate::model::{AnnotationSet, FrameId, LuId, ReleaseId};
use crate::store::{SetLocation, SetPlace, SetRange, Store};

/// Where answers can lie, from the widest to the narrowest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::search) enum Narrowed {
    /// Anywhere in these releases.
    Releases(BTreeSet<ReleaseId>),
    /// In these frames.
    Frames(BTreeSet<(ReleaseId, FrameId)>),
    /// Under these LUs.
    LexUnits(BTreeSet<(ReleaseId, FrameId, LuId)>),
    /// Among these sets.
    Sets(BTreeSet<Hit>),
}

type SetRow = Result<(ReleaseId, AnnotationSet)>;

/// Sets in order of key.
pub(in crate::search) type SetRows<'a> = Box<dyn Iterator<Item = SetRow> + Send + 'a>;

impl Narrowed {
    fn rank(&self) -> u8 {
        match self {
            Self::Releases(_) => 0,
            Self::Frames(_) => 1,
            Self::LexUnits(_) => 2,
            Self::Sets(_) => 3,
        }
    }

    /// The union of two narrowings, as wide as the wider of them.
    pub(super) fn or(self, other: Self) -> Self {
        let (wide, narrow) =
            if self.rank() <= other.rank() { (self, other) } else { (other, self) };
        match wide {
            Self::Releases(mut all) => {
                all.extend(narrow.releases());
                Self::Releases(all)
            }
            Self::Frames(mut all) => {
                all.extend(narrow.frames());
                Self::Frames(all)
            }
            Self::LexUnits(mut all) => {
                all.extend(narrow.lexunits());
                Self::LexUnits(all)
            }
            Self::Sets(mut all) => {
                if let Self::Sets(more) = narrow {
                    all.extend(more);
                }
                Self::Sets(all)
            }
        }
    }

    /// The intersection of two narrowings, as narrow as the narrower of them.
    pub(super) fn and(self, other: Self) -> Self {
        let (wide, mut narrow) =
            if self.rank() <= other.rank() { (self, other) } else { (other, self) };
        match &mut narrow {
            Self::Releases(all) => all.retain(|release| wide.covers(*release, None)),
            Self::Frames(all) => {
                all.retain(|(release, frame)| wide.covers(*release, Some((*frame, None))))
            }
            Self::LexUnits(all) => {
                all.retain(|(release, frame, lu)| wide.covers(*release, Some((*frame, Some(*lu)))))
            }
            Self::Sets(all) => all.retain(|hit| match &wide {
                Self::Sets(sets) => sets.contains(hit),
                wide => wide.covers(hit.release, Some((hit.frame, Some(hit.lu)))),
            }),
        }
        narrow
    }

    /// Whether a part of the key space that is no wider than this lies in it.
    fn covers(&self, release: ReleaseId, frame: Option<(FrameId, Option<LuId>)>) -> bool {
        match (self, frame) {
            (Self::Releases(all), _) => all.contains(&release),
            (Self::Frames(all), Some((frame, _))) => all.contains(&(release, frame)),
            (Self::LexUnits(all), Some((frame, Some(lu)))) => all.contains(&(release, frame, lu)),
            _ => true,
        }
    }

    fn lexunits(self) -> BTreeSet<(ReleaseId, FrameId, LuId)> {
        match self {
            Self::LexUnits(all) => all,
            Self::Sets(all) => all.iter().map(|hit| (hit.release, hit.frame, hit.lu)).collect(),
            Self::Releases(_) | Self::Frames(_) => BTreeSet::new(),
        }
    }

    fn frames(self) -> BTreeSet<(ReleaseId, FrameId)> {
        match self {
            Self::Frames(all) => all,
            other => {
                other.lexunits().into_iter().map(|(release, frame, _)| (release, frame)).collect()
            }
        }
    }

    fn releases(self) -> BTreeSet<ReleaseId> {
        match self {
            Self::Releases(all) => all,
            other => other.frames().into_iter().map(|(release, _)| release).collect(),
        }
    }

    /// The runs of keys that a scan reads, in order; none for single sets.
    pub(super) fn scopes(&self) -> Vec<SetRange> {
        match self {
            Self::Releases(all) => all.iter().copied().map(SetRange::Release).collect(),
            Self::Frames(all) => {
                all.iter().map(|(release, frame)| SetRange::Frame(*release, *frame)).collect()
            }
            Self::LexUnits(all) => all
                .iter()
                .map(|(release, frame, lu)| SetRange::LexUnit(*release, *frame, *lu))
                .collect(),
            Self::Sets(_) => Vec::new(),
        }
    }

    /// Number of the sets that lie there, counted as far as `at_most`.
    pub(super) fn count(&self, store: &Store, at_most: usize) -> Result<usize> {
        if let Self::Sets(sets) = self {
            return Ok(sets.len().min(at_most));
        }
        let mut count = 0;
        for scope in self.scopes() {
            count += store.count_annotation_sets(scope, at_most - count)?;
            if count >= at_most {
                break;
            }
        }
        Ok(count)
    }

    /// What it is, for people, as in `3 frames`.
    pub(in crate::search) fn describe(&self) -> String {
        let (number, thing) = match self {
            Self::Releases(all) => (all.len(), "release"),
            Self::Frames(all) => (all.len(), "frame"),
            Self::LexUnits(all) => (all.len(), "lexical unit"),
            Self::Sets(all) => (all.len(), "set"),
        };
        format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
    }

    /// The sets that lie there, in order of key, all of them or those behind one.
    pub(in crate::search) fn sets(self, database: Held<'_>, after: Option<Hit>) -> SetRows<'_> {
        match (self, database) {
            (Self::Sets(mut hits), database) => {
                if let Some(after) = after {
                    hits = hits.split_off(&after);
                    hits.remove(&after);
                }
                Box::new(hits.into_iter().filter_map(move |hit| {
                    let location =
                        SetLocation { frame: hit.frame, lu: hit.lu, sentence: hit.sentence };
                    let set = database.store.annotation_set_at(hit.release, hit.set, location);
                    // A hit whose set is gone comes from an index that lags behind.
                    let set = set.map_err(DatabaseError::from);
                    set.map(|set| Some((hit.release, set?))).transpose()
                }))
            }
            (runs, Held::Borrowed(database)) => Box::new(runs.scanned(&database.store, after)),
            (runs, database @ Held::Shared(_)) => Box::new(Pages::new(runs, database, after)),
        }
    }

    /// The sets of the runs of keys, each of which is opened when it is reached.
    fn scanned<'s>(
        &self,
        store: &'s Store,
        after: Option<Hit>,
    ) -> impl Iterator<Item = SetRow> + Send + use<'s> {
        let after = after.map(|hit| {
            let location = SetLocation { frame: hit.frame, lu: hit.lu, sentence: hit.sentence };
            (hit.release, location, hit.set)
        });
        self.scopes().into_iter().flat_map(move |scope| run(store, scope, after))
    }
}

/// A run of keys, from a set on.
fn run(store: &Store, scope: SetRange, after: Option<SetPlace>) -> SetRows<'_> {
    match store.annotation_sets_in(scope, after) {
        Ok(sets) => Box::new(sets.map(move |set| Ok((scope.release(), set?)))),
        Err(error) => Box::new(std::iter::once(Err(error.into()))),
    }
}

/// Sets of a page that is read while the last one is given away.
const PAGES: [usize; 4] = [4, 32, 256, 1024];

/// The sets of runs of keys, read page by page: between two nothing of the store is held open, so
/// that they may go to another thread and outlive whoever asked.
struct Pages<'a> {
    runs: Narrowed,
    database: Held<'a>,
    after: Option<Hit>,
    /// Pages read so far.
    read: usize,
    page: std::vec::IntoIter<SetRow>,
    is_last: bool,
}

impl<'a> Pages<'a> {
    fn new(runs: Narrowed, database: Held<'a>, after: Option<Hit>) -> Self {
        Self { runs, database, after, read: 0, page: Vec::new().into_iter(), is_last: false }
    }

    fn read(&mut self) {
        let size = PAGES[self.read.min(PAGES.len() - 1)];
        self.read += 1;
        let mut page = Vec::with_capacity(size);
        let mut rows = self.runs.scanned(&self.database.store, self.after);
        // A page ends with a set, behind which the next one begins.
        while page.len() < size || matches!(page.last(), Some(Err(_))) {
            let Some(row) = rows.next() else {
                self.is_last = true;
                break;
            };
            page.push(row);
        }
        drop(rows);
        if let Some(Ok((release, set))) = page.last() {
            self.after = Some(Hit::of(*release, set));
        }
        self.page = page.into_iter();
    }
}

impl Iterator for Pages<'_> {
    type Item = SetRow;

    fn next(&mut self) -> Option<SetRow> {
        if self.page.as_slice().is_empty() && !self.is_last {
            self.read();
        }
        self.page.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AnnotationSetId, IdSpace, SentenceId};
    use proptest::prelude::*;

    fn hit((release, frame, lu, set): (u16, u32, u32, u64)) -> Hit {
        Hit {
            release: ReleaseId(release),
            frame: FrameId(frame),
            lu: LuId(lu),
            sentence: SentenceId::new(IdSpace::Exemplar, set),
            set: AnnotationSetId::new(IdSpace::Exemplar, set),
        }
    }

    fn narrowed() -> impl Strategy<Value = Narrowed> {
        let hits = proptest::collection::btree_set((0..2_u16, 0..3_u32, 0..3_u32, 0..2_u64), 0..5);
        (hits, 0..4_u8).prop_map(|(hits, rank)| {
            let sets = Narrowed::Sets(hits.into_iter().map(hit).collect());
            match rank {
                0 => Narrowed::Releases(sets.releases()),
                1 => Narrowed::Frames(sets.frames()),
                2 => Narrowed::LexUnits(sets.lexunits()),
                _ => sets,
            }
        })
    }

    fn holds(narrowed: &Narrowed, hit: &Hit) -> bool {
        match narrowed {
            Narrowed::Sets(all) => all.contains(hit),
            wide => wide.covers(hit.release, Some((hit.frame, Some(hit.lu)))),
        }
    }

    proptest! {
        #[test]
        fn a_union_loses_nothing_and_an_intersection_is_exact(
            a in narrowed(), b in narrowed(), place in (0..2_u16, 0..3_u32, 0..3_u32, 0..2_u64),
        ) {
            let place = hit(place);
            let (in_a, in_b) = (holds(&a, &place), holds(&b, &place));
            prop_assert_eq!(holds(&a.clone().and(b.clone()), &place), in_a && in_b);
            prop_assert!(holds(&a.or(b), &place) || !(in_a || in_b));
        }
    }
}
