//! FrameNet as plain types: no I/O, no storage, no serialisation format of its own.

mod pos;
mod span;

pub use pos::{Pos, UnknownPos};
pub use span::Span;
