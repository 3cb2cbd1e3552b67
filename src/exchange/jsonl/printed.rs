//! Records of the lexicon and sentences as JSON, for programs: the lines of an export.
//!
//! An annotation set is not among them: its line has names and the text of other records, as the
//! answer of a query has.

use serde::{Serialize, Serializer};

use super::recorded::Recorded;
use crate::model::{
    Document, Frame, FrameElement, FrameRelation, LexUnit, SemType, Sentence, Verification,
};

macro_rules! printed {
    ($($model:ty)*) => {$(
        /// As its line of an export (`schema/exchange.md`); an FE as it stands in its frame's.
        impl Serialize for $model {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.clone().into_record().serialize(serializer)
            }
        }
    )*};
}

printed! { Document Frame FrameElement FrameRelation SemType Sentence Verification }

/// As its line of an export (`schema/exchange.md`); of its frame the number alone.
impl Serialize for LexUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = (self.clone(), String::new()).into_record();
        let mut record = serde_json::to_value(record).map_err(serde::ser::Error::custom)?;
        record["frame"].as_object_mut().map(|frame| frame.remove("name"));
        record.serialize(serializer)
    }
}
