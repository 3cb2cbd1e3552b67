//! Stands in for `training_table.rs` where the feature `parquet` is off: no table can be begun.

use std::convert::Infallible;
use std::io::Write;
use std::marker::PhantomData;

use serde_json::Value;

use super::{ExchangeError, Result};

/// Would write records of sentences as Parquet.
pub(super) struct TrainingTable<W>(Infallible, PhantomData<W>);

impl<W: Write + Send> TrainingTable<W> {
    pub(super) fn new(_: W) -> Result<Self> {
        Err(ExchangeError::NotBuilt)
    }

    pub(super) fn row(&mut self, _: &Value) -> Result<()> {
        match self.0 {}
    }

    pub(super) fn finish(self) -> Result<()> {
        match self.0 {}
    }
}
