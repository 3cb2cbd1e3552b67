//! The record of a semantic type.

use crate::model::{SemType, SemTypeId};

fields! {
    SemType { name, abbreviation, definition, parents; absent id: SemTypeId(0) }
}
