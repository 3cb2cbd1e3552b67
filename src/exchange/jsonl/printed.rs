//! Records of the lexicon and sentences as JSON, for programs: the lines of an export.
//!
//! An LU and an annotation set are not among them: their lines have names and texts of other
//! records.

use serde::{Serialize, Serializer};

use super::recorded::Recorded;
use crate::model::{Document, Frame, FrameElement, FrameRelation, SemType, Sentence, Verification};

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
