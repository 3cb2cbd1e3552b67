//! Stands in for `parquet_table.rs` where the feature `parquet` is off: no table can be begun.

use std::convert::Infallible;
use std::io::Write;
use std::marker::PhantomData;

use super::rows::LabelRow;
use super::{ExchangeError, Result};

/// Would write the table as Parquet.
pub struct ParquetTable<W>(Infallible, PhantomData<W>);

impl<W: Write + Send> ParquetTable<W> {
    /// Begins no table.
    ///
    /// # Errors
    /// Always: the feature `parquet` is off.
    pub fn new(_: W) -> Result<Self> {
        Err(ExchangeError::NotBuilt)
    }

    /// Writes a row.
    ///
    /// # Errors
    /// Never: there is no table.
    pub fn row(&mut self, _: &LabelRow) -> Result<()> {
        match self.0 {}
    }

    /// Ends the table.
    ///
    /// # Errors
    /// Never: there is no table.
    pub fn finish(self) -> Result<()> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Coded;

    #[test]
    fn a_table_is_refused_and_the_output_is_left_alone() {
        let mut out = Vec::new();
        let error = ParquetTable::new(&mut out).err().unwrap();
        assert_eq!(error.code(), Some("E-not-built"));
        assert!(error.to_string().contains("the feature `parquet`"), "{error}");
        assert!(out.is_empty());
    }
}
