//! Version 2 of the record that says where an annotation set is kept.
//!
//! A generated set's sentence has the set's own number, which stands in the key: eight bytes that
//! nothing packs, in a record of twelve, are left out.

use bincode::{Decode, Encode};

use super::super::SetLocation;
use super::v1::{sentence_code, sentence_from};
use crate::model::{AnnotationSetId, FrameId, LuId, SentenceId};

#[derive(Encode, Decode)]
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
