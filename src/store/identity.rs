//! Which store this is, and since when its revisions are the ones they are.
//!
//! A restore puts an earlier state in a store's place: the revisions behind it come again, with
//! other content. So a store has an id, which it keeps, and a *generation*, which is drawn anew by
//! whatever takes commits back. Who remembers a revision remembers the generation with it.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::hexadecimal;
use rocksdb::WriteBatch;

use super::family::Family;
use super::{Result, Store, StoreError};

/// Key of the identity in `meta`: the id, then the generation.
pub(super) const IDENTITY_KEY: &[u8] = b"identity";

const ID: usize = 16;
const GENERATION: usize = 8;

/// Which store it is, and which generation of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The store: 32 hexadecimal digits, drawn when it is made. Backups and what is restored from
    /// them keep it.
    pub id: String,
    /// Its generation: 16 hexadecimal digits, drawn when it is made, at each restore, and when
    /// lost commits are accepted. Revisions can be compared within one generation only.
    pub generation: String,
}

impl Store {
    /// Which store this is, as far as this handle sees; `None` where the row was lost.
    ///
    /// # Errors
    /// When the engine fails or the row is damaged.
    pub fn identity(&self) -> Result<Option<Identity>> {
        let Some(value) = self.engine.get(Family::Meta, IDENTITY_KEY)? else { return Ok(None) };
        let identity = decode(&value);
        let damaged = || {
            let reason = format!("{} bytes, expected {}", value.len(), ID + GENERATION);
            StoreError::damaged(Family::Meta.name(), IDENTITY_KEY, reason)
        };
        identity.map(Some).ok_or_else(damaged)
    }

    /// Gives the store another generation: what it held before is no more.
    ///
    /// # Errors
    /// When the engine fails, or the handle is a reader's.
    pub(crate) fn begin_generation(&self) -> Result<()> {
        let mut rows = WriteBatch::default();
        if let Some(row) = to_put(self.engine.get(Family::Meta, IDENTITY_KEY)?, true) {
            self.engine.put(&mut rows, Family::Meta, IDENTITY_KEY, &row)?;
        }
        self.engine.write_synced(rows)
    }
}

/// The row that says which store it is, where another is to take the place of the one there: an id
/// where it has none, and a generation where it has none or is to have another.
pub(super) fn to_put(there: Option<Vec<u8>>, is_renewed: bool) -> Option<Vec<u8>> {
    let there = there.filter(|value| decode(value).is_some());
    if there.is_some() && !is_renewed {
        return None;
    }
    let drawn = drawn();
    let mut value = there.unwrap_or_else(|| drawn[..ID + GENERATION].to_vec());
    value[ID..].copy_from_slice(&drawn[ID..ID + GENERATION]);
    Some(value)
}

/// What a row says; `None` when it is none of these.
pub(super) fn decode(value: &[u8]) -> Option<Identity> {
    let (id, generation) = value.split_at_checked(ID)?;
    let is_whole = generation.len() == GENERATION;
    is_whole.then(|| Identity { id: hexadecimal(id), generation: hexadecimal(generation) })
}

/// Bytes that nobody draws twice. The system seeds each [`RandomState`]; time and process stand
/// beside it for a system that seeds badly.
fn drawn() -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in 0..4_u64 {
        hasher.update(&RandomState::new().hash_one(part).to_be_bytes());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
    hasher.update(&now.to_be_bytes()).update(&std::process::id().to_be_bytes());
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(store: &Store) -> Identity {
        store.identity().unwrap().unwrap()
    }

    #[test]
    fn a_store_keeps_its_id_and_changes_its_generation_when_it_is_told_to() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_writer(dir.path(), true).unwrap();
        let first = identity(&store);
        assert_eq!((first.id.len(), first.generation.len()), (32, 16));
        drop(store);
        let store = Store::open_writer(dir.path(), false).unwrap();
        assert_eq!(identity(&store), first);
        store.begin_generation().unwrap();
        let second = identity(&store);
        assert_eq!(second.id, first.id);
        assert_ne!(second.generation, first.generation);
        let reader = Store::open_reader(dir.path()).unwrap();
        assert_eq!(identity(&reader), second);
        assert!(reader.begin_generation().is_err(), "a reader changes nothing");
    }

    #[test]
    fn no_two_stores_are_the_same() {
        let [one, other] = [drawn(), drawn()];
        assert_ne!(one[..ID], other[..ID]);
        assert_ne!(one[ID..], other[ID..]);
    }

    #[test]
    fn a_row_of_another_length_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_writer(dir.path(), true).unwrap();
        let mut rows = WriteBatch::default();
        store.engine.put(&mut rows, Family::Meta, IDENTITY_KEY, &[7; 23]).unwrap();
        store.engine.write_synced(rows).unwrap();
        let error = store.identity().unwrap_err();
        assert!(error.to_string().contains("23 bytes, expected 24"), "{error}");
        // The next writer has one again.
        drop(store);
        assert_eq!(identity(&Store::open_writer(dir.path(), false).unwrap()).id.len(), 32);
    }
}
