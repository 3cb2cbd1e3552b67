//! Version 2 of the record that says where an annotation set is kept.
//!
//! A generated set's sentence has the set's own number, which stands in the key: eight bytes that
//! nothing packs, in a record of twelve, are left out.

use super::super::SetLocation;
use super::v1::{sentence_code, sentence_from};
use crate::model::{AnnotationSetId, FrameId, LuId, SentenceId};

fields! {
    LocationRecord { frame, lu, sentence }
}

pub(in super::super) struct LocationRecord {
    frame: u32,
    lu: u32,
    /// Left out where it is the set's own.
    sentence: Option<u64>,
}

impl LocationRecord {
    pub(in super::super) fn new(set: AnnotationSetId, location: SetLocation) -> Self {
        let SetLocation { frame, lu, sentence } = location;
        let own = sentence.bits() == set.bits();
        Self { frame: frame.0, lu: lu.0, sentence: (!own).then(|| sentence_code(sentence)) }
    }

    pub(in super::super) fn into_model(self, set: AnnotationSetId) -> Result<SetLocation, String> {
        let sentence = match self.sentence {
            Some(code) => sentence_from(code)?,
            None => SentenceId::new(set.space(), set.number()),
        };
        Ok(SetLocation { frame: FrameId(self.frame), lu: LuId(self.lu), sentence })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SetLocationRecord, decode_location, encode, encode_location};
    use super::*;
    use crate::model::IdSpace;

    #[test]
    fn where_a_set_is_kept_is_read_from_either_version() {
        let (frame, lu) = (FrameId(102), LuId(1001));
        let own = AnnotationSetId::new(IdSpace::Generated, (1 << 56) - 1);
        let other = SentenceId::new(IdSpace::FullText, 6001);
        for sentence in [SentenceId::new(IdSpace::Generated, own.number()), other] {
            let location = SetLocation { frame, lu, sentence };
            let record = SetLocationRecord { frame: 102, lu: 1001, sentence: sentence.bits() };
            assert_eq!(
                decode_location(own, &encode_location(own, location).unwrap()),
                Ok(location)
            );
            assert_eq!(decode_location(own, &encode(&record).unwrap()), Ok(location));
        }
        assert_eq!(decode_location(own, &[3]), Err("record version 3, expected 2".to_owned()));
        let refused = decode_location(own, &[2, 102, 5, 1, 253, 0, 0, 0, 0, 0, 0, 0, 255]);
        assert_eq!(refused, Err("18374686479671623680 is no sentence id".to_owned()));
    }
}
