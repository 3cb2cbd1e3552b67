//! What counts are of: the keys of `count`, and the rows that each of them counts.

use super::key::CountKey;
use crate::model::{
    AnnotationSet, FrameId, IdSpace, LexUnit, LuId, Origin, Provenance, ReleaseId, SentenceId,
};

/// All sets of a release.
pub(super) const ALL_SETS: u8 = 0;
/// Its sets that agree in space, origin, round and status.
pub(super) const SETS: u8 = 1;
/// Those of them under one LU.
pub(super) const LU_SETS: u8 = 2;
/// Its LUs of one status.
pub(super) const LUS: u8 = 3;
/// Its generated sentences.
pub(super) const SENTENCES: u8 = 4;

/// Id spaces by their number in keys.
const SPACES: [IdSpace; 4] =
    [IdSpace::Exemplar, IdSpace::FullText, IdSpace::Imported, IdSpace::Generated];

/// Annotation sets of a release that agree in what is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetCount {
    /// Their frame; 0 in the counts of a whole release, as is the LU.
    pub(crate) frame: FrameId,
    pub(crate) lu: LuId,
    pub(crate) space: IdSpace,
    pub(crate) origin: Origin,
    /// 0 for sets that were not generated.
    pub(crate) round: u16,
    pub(crate) status: String,
    /// How many they are.
    pub(crate) sets: u64,
}

impl CountKey {
    pub(super) fn new(release: ReleaseId, kind: u8) -> Self {
        let (frame, lu, status) = (FrameId(0), LuId(0), String::new());
        Self { release, kind, frame, lu, space: 0, origin: 0, round: 0, status }
    }

    pub(super) fn of_set(release: ReleaseId, set: &AnnotationSet) -> Self {
        let origin = set.provenance.origin();
        let round = match &set.provenance {
            Provenance::Generated(made) => made.round,
            _ => 0,
        };
        Self {
            frame: set.frame,
            lu: set.lu,
            space: set.id.space() as u8,
            origin: Origin::ALL.iter().position(|of| *of == origin).unwrap_or_default() as u8,
            round,
            status: set.status.clone(),
            ..Self::new(release, LU_SETS)
        }
    }

    pub(super) fn of_lexunit(release: ReleaseId, lu: &LexUnit) -> Self {
        Self { status: lu.status.clone(), ..Self::new(release, LUS) }
    }

    /// `None` for a sentence of a kind that stands in the release's own counts.
    pub(super) fn of_sentence(release: ReleaseId, sentence: SentenceId) -> Option<Self> {
        let is_counted = sentence.space() == IdSpace::Generated;
        is_counted.then(|| Self::new(release, SENTENCES))
    }

    /// The key itself, and those of the wider counts that hold it.
    pub(super) fn with_wider(self) -> Vec<Self> {
        let release = self.release;
        if self.kind != LU_SETS {
            return vec![self];
        }
        let of_release = Self { kind: SETS, frame: FrameId(0), lu: LuId(0), ..self.clone() };
        vec![Self::new(release, ALL_SETS), of_release, self]
    }

    /// Whether a commit could have written it.
    pub(super) fn is_sound(&self) -> bool {
        self.kind <= SENTENCES && self.counted(0).is_some()
    }

    pub(super) fn counted(&self, sets: u64) -> Option<SetCount> {
        Some(SetCount {
            frame: self.frame,
            lu: self.lu,
            space: *SPACES.get(usize::from(self.space))?,
            origin: *Origin::ALL.get(usize::from(self.origin))?,
            round: self.round,
            status: self.status.clone(),
            sets,
        })
    }
}

/// What a count says; `None` when it is none.
pub(super) fn decode(value: &[u8]) -> Option<u64> {
    value.try_into().ok().map(u64::from_be_bytes)
}

/// What a count is of.
pub(super) fn words(key: &CountKey) -> String {
    let CountKey { release, kind, frame, lu, space, origin, round, status } = key;
    let origin = Origin::ALL.get(usize::from(*origin)).map_or("?", |origin| origin.as_str());
    let agreeing = format!("origin {origin}, id space {space}, round {round}, status `{status}`");
    match *kind {
        ALL_SETS => format!("release {release}, all sets"),
        SETS => format!("release {release}, sets of {agreeing}"),
        LU_SETS => format!("release {release}, sets of LU {lu} of frame {frame}, {agreeing}"),
        LUS => format!("release {release}, LUs of status `{status}`"),
        _ => format!("release {release}, generated sentences"),
    }
}
