//! The record of what fresh numbers are written as.

use crate::model::WrittenNumber;

fields! {
    NumbersRecord { numbers }
    WrittenNumber { text, beside }
}

/// `layout` (kind 5)
#[derive(Debug, PartialEq)]
pub(in super::super) struct NumbersRecord {
    /// Each fresh number with what it is written as.
    pub(in super::super) numbers: Vec<(u64, WrittenNumber)>,
}
