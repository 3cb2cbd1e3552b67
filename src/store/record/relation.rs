//! The record of a frame relation with the FEs that it maps.

use crate::model::{FeRelation, FrameRelation, RelationId};

fields! {
    FrameRelation {
        kind, super_role, sub_role, parent, parent_name, child, child_name, elements;
        absent id: RelationId(0)
    }
    FeRelation { id, parent, parent_name, child, child_name }
}
