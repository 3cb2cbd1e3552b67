//! How many rows there are of what nothing leads to, and a digest of their keys.
//!
//! Where a frame is gone its LUs still name it. A relation, a judgement or a layout that is gone
//! leaves no trace. So `meta/tally` says of each release and family how many rows there are, and
//! the sum of their keys' hashes, whatever the order. It is written with each commit. What it does
//! not say of a listed release yet is counted by the next commit.

use std::collections::BTreeMap;

use rocksdb::WriteBatch;

use super::engine::Engine;
use super::family::Family;
use super::key::{Prefix, release_of};
use super::row_list::RowList;
use super::{OWN_IDS_KEY, Result, Store};
use crate::model::ReleaseId;

/// Key of the tally in `meta`.
pub(super) const TALLY_KEY: &[u8] = b"tally";

/// The families, each by the number that stands for it in the row.
const COUNTED: [(u8, Family); 20] = [
    (1, Family::Relation),
    (2, Family::SentenceLayers),
    (3, Family::Layout),
    (4, Family::Journal),
    (5, Family::Judgement),
    (6, Family::Decision),
    (7, Family::Edition),
    (8, Family::Name),
    (9, Family::Change),
    (10, Family::Meta),
    (11, Family::Verification),
    (12, Family::Commit),
    (13, Family::Synset),
    (14, Family::Sense),
    (15, Family::Irregular),
    (16, Family::Resource),
    (17, Family::Discovery),
    (18, Family::Predicate),
    (19, Family::Mapping),
    (20, Family::Link),
];

/// Bytes of an entry: release, family, rows, digest.
const ENTRY: usize = 2 + 1 + 8 + 16;

/// Keys that a commit puts, or deletes; says which.
pub(super) type Keyed = RowList<bool>;

/// Rows of one family and release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tallied {
    /// How many.
    pub(crate) rows: u64,
    digest: u128,
}

impl Tallied {
    pub(crate) fn add(&mut self, key: &[u8]) {
        self.rows = self.rows.wrapping_add(1);
        self.digest = self.digest.wrapping_add(digest(key));
    }

    /// Takes up what another has of other rows.
    pub(crate) fn merge(&mut self, other: Self) {
        self.rows = self.rows.wrapping_add(other.rows);
        self.digest = self.digest.wrapping_add(other.digest);
    }

    fn remove(&mut self, key: &[u8]) {
        self.rows = self.rows.wrapping_sub(1);
        self.digest = self.digest.wrapping_sub(digest(key));
    }
}

fn digest(key: &[u8]) -> u128 {
    let hash = blake3::hash(key);
    hash.as_bytes()[..16].iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// Whether rows of that key are counted; of the store's own book only what gives out numbers.
pub(super) fn is_counted(family: Family, key: &[u8]) -> bool {
    match family {
        Family::Meta => key == OWN_IDS_KEY,
        family => COUNTED.iter().any(|(_, counted)| *counted == family),
    }
}

/// By release, which is 0 where keys have none, and family.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Tally(BTreeMap<(u16, Family), Tallied>);

impl Tally {
    /// What a row says; `None` when it is none of these.
    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let (entries, []) = value.as_chunks::<ENTRY>() else { return None };
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        let entry = |entry: &[u8; ENTRY]| {
            let (_, family) = COUNTED.into_iter().find(|(number, _)| *number == entry[2])?;
            let release = u16::from_be_bytes([entry[0], entry[1]]);
            let rows = u64::try_from(number(&entry[3..11])).ok()?;
            Some(((release, family), Tallied { rows, digest: number(&entry[11..]) }))
        };
        entries.iter().map(entry).collect::<Option<_>>().map(Self)
    }

    fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(self.0.len() * ENTRY);
        for ((release, family), tallied) in &self.0 {
            let number = COUNTED.iter().find(|(_, counted)| counted == family);
            value.extend(release.to_be_bytes());
            value.extend(number.map(|(number, _)| *number));
            value.extend(tallied.rows.to_be_bytes());
            value.extend(tallied.digest.to_be_bytes());
        }
        value
    }

    /// What was counted; nothing where that cannot be read, which keeps nobody from the rest.
    fn read(engine: &Engine) -> Result<Self> {
        let value = engine.get(Family::Meta, TALLY_KEY)?;
        Ok(value.and_then(|value| Self::decode(&value)).unwrap_or_default())
    }

    /// Counts what is not counted yet, and forgets releases that are not listed.
    fn follow(&mut self, engine: &Engine, listed: &[ReleaseId]) -> Result<()> {
        let is_listed = |release| release == 0 || listed.contains(&ReleaseId(release));
        self.0.retain(|(release, _), _| is_listed(*release));
        for (_, family) in COUNTED {
            let releases: Vec<u16> = match family.by_release() {
                true => listed.iter().map(|release| release.0).collect(),
                false => vec![0],
            };
            for release in releases {
                if self.0.contains_key(&(release, family)) {
                    continue;
                }
                let prefix = match release {
                    0 => Vec::new(),
                    release => Prefix::of(ReleaseId(release)).bytes(),
                };
                let mut tallied = Tallied::default();
                for row in engine.scan(family, prefix)? {
                    let (key, _) = row?;
                    if is_counted(family, &key) {
                        tallied.add(&key);
                    }
                }
                self.0.insert((release, family), tallied);
            }
        }
        Ok(())
    }

    /// Takes up what a commit puts and deletes; of one key, the last counts.
    fn apply(&mut self, engine: &Engine, keyed: Keyed) -> Result<()> {
        keyed.each_last(|family, key, is_put, _| {
            let release = release_of(family, key).map_or(0, |release| release.0);
            let Some(tallied) = self.0.get_mut(&(release, family)) else { return Ok(()) };
            // Each revision is a new one, so a change that is put was not there.
            let is_new = family == Family::Change && is_put;
            let was = !is_new && engine.get(family, key)?.is_some();
            match (was, is_put) {
                (false, true) => tallied.add(key),
                (true, false) => tallied.remove(key),
                _ => {}
            }
            Ok(())
        })
    }
}

impl Store {
    /// Adds to a commit what there is of rows once it is written.
    pub(super) fn put_tally(
        &self,
        rows: &mut WriteBatch,
        listed: &[ReleaseId],
        keyed: Keyed,
    ) -> Result<()> {
        let mut tally = Tally::read(&self.engine)?;
        tally.follow(&self.engine, listed)?;
        tally.apply(&self.engine, keyed)?;
        self.engine.put(rows, Family::Meta, TALLY_KEY, &tally.encode())
    }

    /// How many rows commits have left, with a digest of their keys, by release and family.
    ///
    /// # Errors
    /// When the engine fails.
    pub(crate) fn tallied(&self) -> Result<BTreeMap<(Option<ReleaseId>, &'static str), Tallied>> {
        let tally = Tally::read(&self.engine)?.0.into_iter();
        let release = |release| Some(ReleaseId(release)).filter(|_| release > 0);
        Ok(tally.map(|((id, family), it)| ((release(id), family.name()), it)).collect())
    }

    /// Whether a row is one of those that [`tallied`](Self::tallied) counts.
    pub(crate) fn is_tallied(family: &'static str, key: &[u8]) -> bool {
        Family::parse(family).is_some_and(|family| is_counted(family, key))
    }
}
