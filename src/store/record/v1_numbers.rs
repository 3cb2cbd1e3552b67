//! Version 1 of the record of what fresh numbers are written as.

use crate::model::WrittenNumber;

fields! {
    NumbersRecord { numbers }
}

#[derive(Debug, PartialEq)]
pub(in super::super) struct NumbersRecord {
    /// Fresh number, text, name beside it.
    numbers: Vec<(u64, String, String)>,
}

impl NumbersRecord {
    pub(in super::super) fn new<'a>(
        numbers: impl Iterator<Item = (u64, &'a WrittenNumber)>,
    ) -> Self {
        let row = |(number, written): (u64, &WrittenNumber)| {
            (number, written.text.clone(), written.beside.clone())
        };
        Self { numbers: numbers.map(row).collect() }
    }

    pub(in super::super) fn into_model(self) -> impl Iterator<Item = (u64, WrittenNumber)> {
        let written = |(number, text, beside)| (number, WrittenNumber { text, beside });
        self.numbers.into_iter().map(written)
    }
}
