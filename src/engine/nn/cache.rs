//! Keys and values of a decoder's past, shared between hypotheses.
//!
//! The cache is a pool of *entries*: one entry holds the key and value rows of one token in every
//! layer. A hypothesis is a list of entries, its *path*. Reordering a beam copies paths (a few
//! numbers a hypothesis) and never keys or values. Hypotheses with a common beginning share its
//! entries. An entry that no path names any more is used again. The idea is that of paged attention
//! with pages of one token (Kwon et al. 2023, section 4).

use crate::engine::compute::kernels::scatter;
use crate::engine::compute::{Device, Tensor};

use super::NnError;

/// A pool of entries with keys and values for every layer.
#[derive(Debug)]
pub(super) struct KvCache {
    /// Keys and values (N, D) of each layer.
    layers: Vec<(Tensor, Tensor)>,
    /// Entries in no path, last freed on top.
    free: Vec<u32>,
    /// Number of entries, `N`.
    entries: usize,
    /// Scratch of [`KvCache::release_unshared`]: the last round in which an entry was seen.
    seen: Vec<u64>,
    round: u64,
}

impl KvCache {
    /// An empty pool for `layers` layers of `width` columns, in the memory of a device.
    pub(super) fn new(device: &Device, layers: usize, width: usize) -> Result<Self, NnError> {
        let empty = || Tensor::zeros(0, width).to_device(device);
        let layers = (0..layers).map(|_| Ok((empty()?, empty()?)));
        Ok(Self {
            layers: layers.collect::<Result<_, NnError>>()?,
            free: Vec::new(),
            entries: 0,
            seen: Vec::new(),
            round: 0,
        })
    }

    /// Takes `count` entries out of the pool, which grows as needed.
    ///
    /// # Errors
    /// When the device has no room; the pool is as large as it was.
    pub(super) fn allocate(&mut self, count: usize) -> Result<Vec<u32>, NnError> {
        if self.free.len() < count {
            let least = self.entries + count - self.free.len();
            // Doubling, so that the tables are copied rarely; where there is no room, what it
            // takes.
            let wanted = (self.entries * 2).max(self.entries + count);
            let entries = match self.resize(wanted) {
                Ok(()) => wanted,
                Err(_) => self.resize(least).map(|()| least)?,
            };
            // Lower numbers on top: a fresh pool fills from the front.
            let added = (self.entries as u32..entries as u32).rev();
            self.free.splice(0..0, added);
            self.seen.resize(entries, 0);
            self.entries = entries;
        }
        let rest = self.free.len() - count;
        let mut taken = self.free.split_off(rest);
        taken.reverse();
        Ok(taken)
    }

    /// A pool with the same entries in and out of use, on another device; what they hold is zero.
    pub(super) fn on_device(&self, device: &Device) -> Result<Self, NnError> {
        let empty = |table: &Tensor| Tensor::zeros(self.entries, table.width()).to_device(device);
        let layers = self.layers.iter().map(|(keys, values)| Ok((empty(keys)?, empty(values)?)));
        Ok(Self {
            layers: layers.collect::<Result<_, NnError>>()?,
            free: self.free.clone(),
            entries: self.entries,
            seen: self.seen.clone(),
            round: self.round,
        })
    }

    /// Number of entries, in use or not.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Gives every table so many rows, or none of them: keys and values of a layer are as many.
    fn resize(&mut self, entries: usize) -> Result<(), NnError> {
        let grown = self.tables().try_for_each(|table| Ok(table.resize_rows(entries)?));
        if grown.is_err() {
            let before = self.entries;
            for table in self.tables().filter(|table| table.rows() > before) {
                // A smaller table gives the larger one's memory back; without room for both it
                // stays.
                if table.resize_rows(before).is_err() {
                    table.truncate_rows(before);
                }
            }
        }
        grown
    }

    fn tables(&mut self) -> impl Iterator<Item = &mut Tensor> {
        self.layers.iter_mut().flat_map(|(keys, values)| [keys, values])
    }

    /// Gives entries back.
    pub(super) fn release(&mut self, entries: &[u32]) {
        self.free.extend(entries);
    }

    /// Gives back every entry of the `old` paths that no `kept` path names.
    pub(super) fn release_unshared(&mut self, old: &[Vec<u32>], kept: &[Vec<u32>]) {
        self.round += 1;
        for entry in kept.iter().flatten() {
            self.seen[*entry as usize] = self.round;
        }
        for entry in old.iter().flatten() {
            let seen = &mut self.seen[*entry as usize];
            if *seen != self.round {
                // Marked, so that an entry that two old paths share is freed once.
                *seen = self.round;
                self.free.push(*entry);
            }
        }
    }

    /// Writes one layer's keys and values (R, D) of `entries` (R).
    pub(super) fn append(
        &mut self,
        device: &Device,
        layer: usize,
        entries: &[u32],
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(), NnError> {
        let (key_table, value_table) = &mut self.layers[layer];
        scatter(device, keys, entries, key_table)?;
        scatter(device, values, entries, value_table)?;
        Ok(())
    }

    /// One layer's keys and values, (N, D) each.
    pub(super) fn layer(&self, layer: usize) -> (&Tensor, &Tensor) {
        let (keys, values) = &self.layers[layer];
        (keys, values)
    }

    /// The same, to be written.
    pub(super) fn layer_mut(&mut self, layer: usize) -> (&mut Tensor, &mut Tensor) {
        let (keys, values) = &mut self.layers[layer];
        (keys, values)
    }

    /// Keys and values of so many rows that no path will name: two tables of a layer's width.
    pub(super) fn fresh(&self, device: &Device, rows: usize) -> Result<(Tensor, Tensor), NnError> {
        let width = self.layers.first().map_or(0, |(keys, _)| keys.width());
        let table = || Tensor::zeros(rows, width).to_device(device);
        Ok((table()?, table()?))
    }

    /// Number of entries in some path.
    pub(super) fn used(&self) -> usize {
        self.entries - self.free.len()
    }

    /// Bytes of the entries in some path.
    pub(super) fn used_bytes(&self) -> usize {
        let widths = self.layers.iter().map(|(keys, values)| keys.width() + values.width());
        self.used() * widths.sum::<usize>() * size_of::<f32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Device = Device::Cpu { threads: 1 };

    #[test]
    fn entries_are_distinct_and_reused() {
        let mut cache = KvCache::new(&ONE, 1, 2).unwrap();
        let first = cache.allocate(3).unwrap();
        assert_eq!(first, [0, 1, 2]);
        let second = cache.allocate(2).unwrap();
        assert!(second.iter().all(|entry| !first.contains(entry)));
        cache.release(&first);
        let mut again = cache.allocate(3).unwrap();
        again.sort_unstable();
        assert_eq!(again, first);
        assert_eq!(cache.used(), 5);
    }

    #[test]
    fn only_entries_that_no_path_names_are_freed() {
        let mut cache = KvCache::new(&ONE, 1, 2).unwrap();
        let e = cache.allocate(5).unwrap();
        // Two hypotheses with a common start; the second dies, and so does the first's tail twin.
        let old = [vec![e[0], e[1], e[2]], vec![e[0], e[1], e[3]], vec![e[0], e[4]]];
        let kept = [vec![e[0], e[1], e[2]]];
        cache.release_unshared(&old, &kept);
        assert_eq!(cache.used(), 3);
        assert_eq!(cache.used_bytes(), 3 * 2 * 2 * size_of::<f32>(), "keys and values, two wide");
        let mut free = cache.allocate(2).unwrap();
        free.sort_unstable();
        assert_eq!(free, [e[3], e[4]]);
    }

    #[test]
    fn keys_and_values_survive_growth() {
        let mut cache = KvCache::new(&ONE, 2, 2).unwrap();
        let entries = cache.allocate(1).unwrap();
        let keys = Tensor::new(&[1, 2], vec![1.0, 2.0]).unwrap();
        let values = Tensor::new(&[1, 2], vec![3.0, 4.0]).unwrap();
        cache.append(&ONE, 1, &entries, &keys, &values).unwrap();
        cache.allocate(100).unwrap();
        assert_eq!(cache.layer(1).0.row(0), [1.0, 2.0]);
        assert_eq!(cache.layer(1).1.row(0), [3.0, 4.0]);
        assert_eq!(cache.layer(0).0.row(0), [0.0, 0.0]);
    }
}
