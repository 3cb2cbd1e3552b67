//! What the fresh numbers of a release are written as; see [`WrittenNumbers`].

use std::collections::BTreeMap;

use crate::model::{NumberKind, ReleaseId, WrittenNumber, WrittenNumbers};

use super::batch::Batch;
use super::family::Family;
use super::key::{Key, LayoutKey};
use super::record::{self, NumbersRecord};
use super::{Result, Store, StoreError};

/// Numbers of one row: some hundred kilobytes.
const PAGE: usize = 4096;

impl Batch<'_> {
    /// Writes what all fresh numbers of the release are written as; nothing where none is.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn put_written_numbers(&mut self, numbers: &WrittenNumbers) -> Result<()> {
        let mut kinds: BTreeMap<NumberKind, Vec<(u64, &WrittenNumber)>> = BTreeMap::new();
        for (kind, number, written) in numbers.iter() {
            kinds.entry(kind).or_default().push((number, written));
        }
        for (kind, of_kind) in kinds {
            for (page, rows) in (0..).zip(of_kind.chunks(PAGE)) {
                let numbers = rows.iter().map(|(number, written)| (*number, (*written).clone()));
                let record = NumbersRecord { numbers: numbers.collect() };
                let key = LayoutKey::of_numbers(self.release, kind, page);
                self.put(
                    Family::Layout,
                    &key,
                    format_args!("numbers {page}"),
                    record::encode(&record),
                )?;
            }
        }
        Ok(())
    }
}

impl Store {
    /// What the fresh numbers of a release are written as.
    ///
    /// # Errors
    /// When the engine fails or a record is damaged.
    pub fn written_numbers(&self, release: ReleaseId) -> Result<WrittenNumbers> {
        let family = Family::Layout;
        let mut numbers = WrittenNumbers::default();
        for row in self.engine.scan(family, LayoutKey::numbers_prefix(release))? {
            let (key, value) = row?;
            let damaged = |reason: String| StoreError::damaged(family.name(), &key, reason);
            let kind = LayoutKey::decode(&key).and_then(|key| NumberKind::from_code(key.first));
            let kind = kind.ok_or_else(|| damaged("no kind of number".to_owned()))?;
            let record: NumbersRecord = record::decode(&value).map_err(damaged)?;
            for (number, written) in record.numbers {
                numbers.insert(kind, number, written);
            }
        }
        Ok(numbers)
    }
}
