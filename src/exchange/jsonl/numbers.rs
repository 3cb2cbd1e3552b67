//! What fresh numbers are written as, as JSON.

use super::Checked;
use crate::exchange::error::Fault;
use crate::model::{NumberKind, WrittenNumber};

record! {
    (NumberKind, u64, WrittenNumber) [(of, number, WrittenNumber { text, beside })]
    as WrittenNumberRecord of WrittenNumber {
        of: NumberKind = of,
        number: u64 = number,
        written: String = text,
        /// What tells records of one written id apart.
        beside: String = beside,
    }
}

pub(super) fn check(kind: NumberKind, number: u64) -> Checked<()> {
    if kind.is_fresh(number) {
        return Ok(());
    }
    let expected = format!("a number from {} on", kind.first_fresh());
    Err(Fault::value("number", number, expected))
}
