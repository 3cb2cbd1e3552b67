//! What a decoder's step works on: which entries of the caches each row sees.

use super::layers::Keys;
use super::steps::{Slot, Source};
use crate::engine::compute::Tensor;
use crate::engine::compute::kernels::KeyList;

/// What the rows of a step see and are.
#[derive(Debug, Default)]
pub(super) struct StepInputs {
    /// The entry that each row's keys and values go to, the last of its path.
    pub(super) entries: Vec<u32>,
    /// Each row's own path.
    pub(super) past: KeyTable,
    /// The source of its slot.
    pub(super) source: KeyTable,
    pub(super) tokens: Vec<u32>,
    /// Whether some slot wants to know what its rows look at.
    pub(super) gives_attention: bool,
}

impl StepInputs {
    /// Adds what a row sees that ends at `path`.
    pub(super) fn see(&mut self, source: Source, slot: &Slot, path: &[u32]) {
        match source {
            Source::Apart => {
                self.past.add([path]);
                self.source.add([&slot.source]);
            }
            Source::BeginsThePast => self.past.add([&slot.source, path]),
        }
    }
}

/// Entries of a cache, list after list, as attention takes them.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    entries: Vec<u32>,
    pub(super) lists: Vec<KeyList>,
}

impl KeyTable {
    /// Adds a row's list, which may come in parts.
    fn add<const N: usize>(&mut self, parts: [&[u32]; N]) {
        let start = self.entries.len();
        parts.into_iter().for_each(|part| self.entries.extend(part));
        let len = (self.entries.len() - start) as u32;
        self.lists.push(KeyList { start: start as u32, len });
    }

    /// Adds rows one after the other, each of which sees the entries up to its own; the first
    /// `known` have no row.
    pub(super) fn add_growing(&mut self, entries: &[u32], known: usize) {
        let start = self.entries.len() as u32;
        self.entries.extend(entries);
        let lists = known..entries.len();
        self.lists.extend(lists.map(|last| KeyList { start, len: last as u32 + 1 }));
    }

    /// The entries that lists run over.
    pub(super) fn entries(&self) -> &[u32] {
        &self.entries
    }

    pub(super) fn keys<'a>(
        &'a self,
        lists: &'a [KeyList],
        (keys, values): (&'a Tensor, &'a Tensor),
    ) -> Keys<'a> {
        Keys { keys, values, lists, table: Some(&self.entries), bias: None }
    }
}
