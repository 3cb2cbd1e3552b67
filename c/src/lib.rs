//! The C interface of fnstore: `include/fnstore.h`, over the library's public interface.
//!
//! Every function of the header is a function of this crate. It reads its arguments and gives its
//! result by `boundary`, the one file with `unsafe` blocks, and lets no panic through. Handles are
//! boxes, opaque to C; each can be used from any thread.

// Exported names are `unsafe` attributes; blocks stand in `boundary` alone.
#![allow(unsafe_code)]

mod answer;
mod boundary;
mod callback;
mod change;
mod database;
mod edit;
mod error;
mod expand;
mod feed;
mod lexicon;
mod lines;
mod proposals;
mod query;
mod version;
