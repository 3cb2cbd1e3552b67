//! What was looked up, kept by key, for whichever thread asks next.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard};

/// Values that were looked up, by key.
pub(super) struct Memo<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// The value of a key, if it was looked up.
    pub(super) fn get(&self, key: &K) -> Option<V> {
        self.locked().get(key).cloned()
    }

    pub(super) fn insert(&self, key: K, value: V) {
        self.locked().insert(key, value);
    }

    /// As [`insert`](Self::insert), with at most so many at once: one more drops all others.
    pub(super) fn insert_among(&self, most: usize, key: K, value: V) {
        let mut all = self.locked();
        if all.len() >= most {
            all.clear();
        }
        all.insert(key, value);
    }

    pub(super) fn len(&self) -> usize {
        self.locked().len()
    }

    /// All of them, for those who add many.
    pub(super) fn locked(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
