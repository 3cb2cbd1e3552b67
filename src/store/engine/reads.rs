//! Reads of the engine: values by key, and rows in key order.

use rocksdb::properties::ESTIMATE_NUM_KEYS;
use rocksdb::{PrefixRange, ReadOptions};

use super::Engine;
use crate::store::family::Family;
use crate::store::view::Rows;
use crate::store::{Result, StoreError};

impl Engine {
    pub(in crate::store) fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.read(family, key, <[u8]>::to_vec)
    }

    /// What is made of a value, which is not copied.
    pub(in crate::store) fn read<T>(
        &self,
        family: Family,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        let view = self.view();
        let value = view.db.get_pinned_cf(view.family(family)?, key);
        let value = value.map_err(StoreError::engine("reading a record"))?;
        Ok(value.map(|value| read(&value)))
    }

    /// The values of keys that are in order, by one reading: neighbours share a block.
    pub(in crate::store) fn get_sorted(
        &self,
        family: Family,
        keys: &[Vec<u8>],
    ) -> Result<Vec<Option<Vec<u8>>>> {
        self.read_sorted(family, keys, |_, value| Ok(value.to_vec()))
    }

    /// What is made of these values, which are not copied; `read` is told the place of each among
    /// the keys.
    pub(in crate::store) fn read_sorted<K: AsRef<[u8]>, T>(
        &self,
        family: Family,
        keys: &[K],
        mut read: impl FnMut(usize, &[u8]) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let view = self.view();
        let values = view.db.batched_multi_get_cf(view.family(family)?, keys, true);
        let made = values.into_iter().enumerate().map(|(place, value)| {
            let value = value.map_err(StoreError::engine("reading records"))?;
            value.map(|value| read(place, &value)).transpose()
        });
        made.collect()
    }

    /// The records whose keys start with `prefix`, in key order.
    pub(in crate::store) fn scan(&self, family: Family, prefix: Vec<u8>) -> Result<Rows> {
        let mut options = ReadOptions::default();
        options.set_iterate_range(PrefixRange(prefix));
        self.rows(family, options)
    }

    /// The records behind a key whose keys start with `prefix`, in key order.
    pub(in crate::store) fn scan_behind(
        &self,
        family: Family,
        prefix: Vec<u8>,
        mut after: Vec<u8>,
    ) -> Result<Rows> {
        after.push(0);
        self.scan_within(family, prefix, after)
    }

    /// The records from a key on whose keys start with `prefix`, in key order.
    pub(in crate::store) fn scan_within(
        &self,
        family: Family,
        prefix: Vec<u8>,
        from: Vec<u8>,
    ) -> Result<Rows> {
        let mut options = ReadOptions::default();
        let least = from.max(prefix.clone());
        options.set_iterate_range(PrefixRange(prefix));
        options.set_iterate_lower_bound(least);
        self.rows(family, options)
    }

    /// The records from a key on, in key order.
    pub(in crate::store) fn scan_from(&self, family: Family, start: Vec<u8>) -> Result<Rows> {
        let mut options = ReadOptions::default();
        options.set_iterate_range(start..);
        self.rows(family, options)
    }

    fn rows(&self, family: Family, options: ReadOptions) -> Result<Rows> {
        self.view().rows(family, options)
    }

    /// About how many records a family holds, by what the files say of themselves.
    pub(in crate::store) fn estimated_records(&self, family: Family) -> Result<u64> {
        let view = self.view();
        let found = view.db.property_int_value_cf(view.family(family)?, ESTIMATE_NUM_KEYS);
        Ok(found.map_err(StoreError::engine("estimating a family's size"))?.unwrap_or_default())
    }

    /// Every record of a family, in key order: read from the files, checksums verified, and not
    /// kept in the cache.
    pub(in crate::store) fn read_through(&self, family: Family) -> Result<Rows> {
        let mut options = ReadOptions::default();
        options.set_verify_checksums(true);
        options.fill_cache(false);
        self.rows(family, options)
    }
}
