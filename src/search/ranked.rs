//! Matches in the order of values, and of places where these are equal.

use std::cmp::Ordering;

use super::matched::Match;
use crate::database::Result;
use crate::index::Hit;
use crate::query::{Cursor, SortKey, Value};

/// A match to be sorted: what it is compared by, and where it is kept.
pub(super) struct Ranked {
    values: Vec<Ranking>,
    /// Equal ones stay in order of key, which is the order of places.
    pub(super) place: Hit,
}

/// One value to compare by.
struct Ranking {
    value: Option<Value>,
    descending: bool,
}

impl Ranking {
    fn compare(&self, other: &Self) -> Ordering {
        match (&self.value, &other.value) {
            (Some(a), Some(b)) if self.descending => b.cmp(a),
            (Some(a), Some(b)) => a.cmp(b),
            // What has no value comes last in either direction.
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let pairs = self.values.iter().zip(&other.values);
        let by_values = pairs.map(|(a, b)| a.compare(b)).find(|order| order.is_ne());
        by_values.unwrap_or(Ordering::Equal).then_with(|| self.place.cmp(&other.place))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl Ranked {
    /// Where a page ended.
    pub(super) fn at(cursor: &Cursor, keys: &[SortKey]) -> Self {
        let pairs = cursor.values.iter().cloned().zip(keys);
        let ranking =
            |(value, key): (Option<Value>, &SortKey)| Ranking { value, descending: key.descending };
        Self { values: pairs.map(ranking).collect(), place: place_of(cursor) }
    }

    /// What it is compared by before its place.
    pub(super) fn into_values(self) -> Vec<Option<Value>> {
        self.values.into_iter().map(|ranking| ranking.value).collect()
    }

    /// A match among others that are sorted by keys.
    pub(super) fn of(found: &Match<'_>, keys: &[SortKey]) -> Result<Self> {
        let ranking = |key: &SortKey| -> Result<Ranking> {
            let values = found.values(key.field)?.into_iter();
            let value = if key.descending { values.max() } else { values.min() };
            Ok(Ranking { value, descending: key.descending })
        };
        let place = Hit::of(found.release(), found.set());
        Ok(Self { values: keys.iter().map(ranking).collect::<Result<_>>()?, place })
    }
}

/// Where a page ended, as the index says it.
pub(super) fn place_of(cursor: &Cursor) -> Hit {
    let (release, frame, lu, sentence, set) = cursor.place;
    Hit { release, frame, lu, sentence, set }
}
