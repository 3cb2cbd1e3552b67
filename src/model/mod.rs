//! FrameNet as plain types: no I/O, no storage, no serialisation format of its own.

mod span;

pub use span::Span;
