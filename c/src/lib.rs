//! The C interface of fnstore: `include/fnstore.h`, over the library's public interface.
//!
//! Every function of the header is a function of this crate. It reads its arguments and gives its
//! result by `boundary`, the one file with `unsafe` blocks, and lets no panic through. Handles are
//! boxes, opaque to C; each can be used from any thread.

// Exported names are `unsafe` attributes; blocks stand in `boundary` alone.
#![allow(unsafe_code)]
#![allow(clippy::too_many_arguments, reason = "C has no named arguments and no options")]

pub mod answer;
mod boundary;
mod callback;
pub mod change;
pub mod database;
pub mod edit;
pub mod error;
pub mod expand;
pub mod feed;
pub mod lexicon;
pub mod lines;
pub mod proposals;
pub mod query;
pub mod version;
