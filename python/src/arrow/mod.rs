//! Answers as Arrow: a schema, columns that are filled set by set, and the C stream that other
//! libraries read.
//!
//! The `arrow` crates are not used: they turn on features of crates that RocksDB's and Tantivy's
//! dependents share, so those would be built anew. What a table of answers needs is small: texts,
//! numbers, lists, structs.

mod column;
mod ffi;
mod table;

pub(crate) use table::{Shape, Spans};
