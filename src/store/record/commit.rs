//! The records of a commit: who made it, what its rows held before, and how long that is kept.

fields! {
    Commit { at, by, note, undoes, images, changes; absent revision: 0 }
    ImageRecord { family, key, before, after }
    Bounds { commits, seconds, oldest }
}

/// One commit: who made it, when and why; as JSON what `fnstore history` prints of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// Its number.
    pub revision: u64,
    /// When it was made, in seconds since 1970, UTC.
    pub at: u64,
    /// Who made it; empty where nobody said so.
    pub by: String,
    /// Why; may be empty.
    pub note: String,
    /// The commits that it took back.
    pub undoes: Vec<u64>,
    /// How many records' before-images are kept; `None` where none are, so that it cannot be
    /// undone.
    pub images: Option<u32>,
    /// How many changes it lists.
    pub changes: u32,
}

impl Commit {
    /// Whether what it changed is kept, so that it can be taken back.
    #[must_use]
    pub fn can_be_undone(&self) -> bool {
        self.images.is_some_and(|images| images > 0)
    }
}

/// The first bytes of a value's BLAKE3.
pub(in super::super) type Digest = [u8; 8];

/// `meta` (`history`)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Bounds {
    pub(in super::super) commits: Option<u64>,
    pub(in super::super) seconds: Option<u64>,
    /// The first commit whose before-images may be there.
    pub(in super::super) oldest: u64,
}

/// `before`: the number of a family, a key in it, its value before, and a digest of the one after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct ImageRecord {
    pub(in super::super) family: u8,
    pub(in super::super) key: Vec<u8>,
    pub(in super::super) before: Option<Vec<u8>>,
    pub(in super::super) after: Option<Digest>,
}
