//! What a decoder's step works on: which entries of the caches each row sees.

use super::layers::Keys;
use crate::compute::Tensor;
use crate::compute::kernels::KeyList;

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

/// Entries of a cache, list after list, as attention takes them.
#[derive(Debug, Default)]
pub(super) struct KeyTable {
    entries: Vec<u32>,
    pub(super) lists: Vec<KeyList>,
}

impl KeyTable {
    /// Adds a list for `rows` rows.
    pub(super) fn add(&mut self, entries: &[u32], rows: usize) {
        let list = KeyList { start: self.entries.len() as u32, len: entries.len() as u32 };
        self.entries.extend(entries);
        self.lists.extend(std::iter::repeat_n(list, rows));
    }

    pub(super) fn keys<'a>(
        &'a self,
        lists: &'a [KeyList],
        (keys, values): (&'a Tensor, &'a Tensor),
    ) -> Keys<'a> {
        Keys { keys, values, lists, table: Some(&self.entries), bias: None }
    }
}
