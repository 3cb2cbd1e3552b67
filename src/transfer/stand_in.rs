//! What stands in for what a release names and does not define: frames and LUs known by name
//! alone, and ids for numbers that were used twice.

use crate::model::{Creation, Frame, FrameId};

/// First number of ids that stand in for a number used twice.
const FRESH: u64 = 1 << 48;

/// A frame that only annotation or an index names.
pub(super) fn frame_by_name(id: FrameId, name: &str) -> Frame {
    Frame {
        id,
        name: name.to_owned(),
        definition: String::new(),
        elements: Vec::new(),
        core_sets: Vec::new(),
        sem_types: Vec::new(),
        created: Creation::default(),
        modified: String::new(),
        has_file: false,
    }
}

/// Tells contents apart.
pub(super) fn fingerprint(bytes: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(bytes);
    let mut print = [0; 8];
    print.copy_from_slice(&hash.as_bytes()[..8]);
    print
}

/// A number from the range that no release uses, from what was used twice: the same in every
/// import.
pub(super) fn fresh(xml_id: u64, print: &[u8; 8]) -> u64 {
    let hash = blake3::hash(&[&xml_id.to_be_bytes()[..], &print[..]].concat());
    let low = hash.as_bytes()[..6].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    FRESH + low
}
