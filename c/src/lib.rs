//! The C interface of fnstore: `include/fnstore.h`, over the library's public interface.
//!
//! Every function of the header is a function of this crate. It reads its arguments and gives its
//! result by `boundary`, the one file with `unsafe` blocks, and lets no panic through. Handles are
//! boxes, opaque to C; each can be used from any thread.

// Exported names are `unsafe` attributes; blocks stand in `boundary` alone.
#![allow(unsafe_code)]
#![allow(clippy::too_many_arguments, reason = "C has no named arguments and no options")]

mod boundary;
mod live;

// In the order of the header; blank lines keep it.
pub mod version;

pub mod error;

pub mod database;

pub mod query;

pub mod answer;

pub mod lexicon;

pub mod lines;

pub mod edit;

pub mod feed;

pub mod change;

pub mod expand;

pub mod proposals;
