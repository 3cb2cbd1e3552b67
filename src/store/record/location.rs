//! The record that says where an annotation set is kept.
//!
//! A generated set's sentence has the set's own number, which stands in the key: eight bytes that
//! nothing packs, in a record of twelve, are left out.

use super::super::SetLocation;
use super::{Encoded, decode, encode};
use crate::model::{AnnotationSetId, FrameId, LuId, SentenceId};

fields! {
    LocationRecord { frame, lu, sentence }
}

/// `set_location`
struct LocationRecord {
    frame: FrameId,
    lu: LuId,
    /// Left out where it is the set's own.
    sentence: Option<SentenceId>,
}

/// Encodes where a set is kept.
pub(in super::super) fn encode_location(set: AnnotationSetId, location: SetLocation) -> Encoded {
    let SetLocation { frame, lu, sentence } = location;
    let is_own = sentence.bits() == set.bits();
    encode(&LocationRecord { frame, lu, sentence: (!is_own).then_some(sentence) })
}

/// Decodes where a set is kept.
pub(in super::super) fn decode_location(
    set: AnnotationSetId,
    value: &[u8],
) -> Result<SetLocation, String> {
    let LocationRecord { frame, lu, sentence } = decode(value)?;
    let sentence = sentence.unwrap_or_else(|| SentenceId::new(set.space(), set.number()));
    Ok(SetLocation { frame, lu, sentence })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::IdSpace;

    #[test]
    fn where_a_set_is_kept_comes_back_and_what_is_no_id_is_refused() {
        let (frame, lu) = (FrameId(102), LuId(1001));
        let own = AnnotationSetId::new(IdSpace::Generated, (1 << 56) - 1);
        let other = SentenceId::new(IdSpace::FullText, 6001);
        for (sentence, length) in
            [(SentenceId::new(IdSpace::Generated, own.number()), 6), (other, 9)]
        {
            let location = SetLocation { frame, lu, sentence };
            let value = encode_location(own, location).unwrap();
            assert_eq!((value.len(), decode_location(own, &value)), (length, Ok(location)));
        }
        assert_eq!(decode_location(own, &[3]), Err("record version 3, expected 1".to_owned()));
        let refused = decode_location(own, &[1, 102, 5, 1, 253, 0, 0, 0, 0, 0, 0, 0, 255]);
        assert_eq!(refused, Err("18374686479671623680 is no sentence id".to_owned()));
    }
}
