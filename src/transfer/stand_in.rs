//! Ids that stand in for numbers that were used twice.

/// First number of ids that stand in for a number used twice.
const FRESH: u64 = 1 << 48;

/// Tells contents apart.
pub(super) fn fingerprint(bytes: &[u8]) -> [u8; 8] {
    let hash = blake3::hash(bytes);
    let mut print = [0; 8];
    print.copy_from_slice(&hash.as_bytes()[..8]);
    print
}

/// A number from the range that no release uses, made of what was used twice, by hash.
pub(super) fn fresh(xml_id: u64, print: &[u8; 8]) -> u64 {
    let hash = blake3::hash(&[&xml_id.to_be_bytes()[..], &print[..]].concat());
    let low = hash.as_bytes()[..6].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    FRESH + low
}
