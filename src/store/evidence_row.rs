//! Rows of `evidence`: what stands in them.

use super::count_key;
use super::evidence::LuEvidence;
use super::key::{EvidenceKey, Prefix};
use super::record::{self, Encoded};
use crate::model::{AnnotationSetId, FrameId, IdSpace, LuId, ReleaseId};

/// How many LUs of a release have evidence.
const LUS: u8 = 0;
/// What the sets of an LU say.
const OF_LU: u8 = 1;
/// How many sets of an LU a seed gave.
const OF_SEED: u8 = 2;

/// What a row says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Count(u64),
    Sums(Box<LuEvidence>),
}

impl Cell {
    pub(super) fn encode(&self) -> Encoded {
        match self {
            Self::Count(count) => Ok(count.to_be_bytes().to_vec()),
            Self::Sums(sums) => record::encode(&**sums),
        }
    }

    /// A number of rows or sets; `None` for what an LU says.
    pub(super) fn count(&self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(*count),
            Self::Sums(_) => None,
        }
    }

    pub(super) fn sums(self) -> Option<LuEvidence> {
        match self {
            Self::Sums(sums) => Some(*sums),
            Self::Count(_) => None,
        }
    }
}

/// Reads a row; `None` where no commit could have written its key.
pub(super) fn decode(key: &EvidenceKey, value: &[u8]) -> Result<Option<Cell>, String> {
    let count = || count_key::decode(value).map(Cell::Count).ok_or_else(|| "no count".to_owned());
    let is_of_seed = key.seed != no_seed();
    match key.kind {
        LUS if *key == EvidenceKey::of_lus(key.release) => count().map(Some),
        OF_LU if !is_of_seed => record::decode(value).map(|sums| Some(Cell::Sums(Box::new(sums)))),
        OF_SEED => count().map(Some),
        _ => Ok(None),
    }
}

/// What stands in place of a seed where none is meant.
fn no_seed() -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Exemplar, 0)
}

impl EvidenceKey {
    /// Of the number of LUs of a release.
    pub(super) fn of_lus(release: ReleaseId) -> Self {
        Self { release, kind: LUS, frame: FrameId(0), lu: LuId(0), seed: no_seed() }
    }

    /// Of what the sets of an LU say.
    pub(super) fn of_lu(release: ReleaseId, (frame, lu): (FrameId, LuId)) -> Self {
        Self { release, kind: OF_LU, frame, lu, seed: no_seed() }
    }

    /// Of the number of sets that a seed gave an LU.
    pub(super) fn of_seed(
        release: ReleaseId,
        (frame, lu): (FrameId, LuId),
        seed: AnnotationSetId,
    ) -> Self {
        Self { release, kind: OF_SEED, frame, lu, seed }
    }

    /// All rows of [`of_lu`](Self::of_lu).
    pub(super) fn lus_prefix(release: ReleaseId) -> Prefix {
        Prefix::of(release).then(OF_LU)
    }

    /// All rows of [`of_seed`](Self::of_seed), of a release.
    pub(super) fn seeds_prefix(release: ReleaseId) -> Prefix {
        Prefix::of(release).then(OF_SEED)
    }
}
