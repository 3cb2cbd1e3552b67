//! The record of a frame with its FEs.

use super::ids::one_of;
use crate::model::{Colors, CoreType, Creation, Frame, FrameElement, FrameId};

const CORE_TYPES: [CoreType; 4] =
    [CoreType::Core, CoreType::CoreUnexpressed, CoreType::Peripheral, CoreType::ExtraThematic];

coded! {
    CoreType as u8: |core_type| *core_type as u8, |code| one_of(&CORE_TYPES, code, "core type");
}

fields! {
    Frame {
        name, definition, elements, core_sets, sem_types, created, modified, has_file;
        absent id: FrameId(0)
    }
    FrameElement {
        id, name, abbreviation, core_type, definition, sem_types, requires, excludes, colors, created
    }
    Creation { by, date }
    Colors { fg, bg }
}
