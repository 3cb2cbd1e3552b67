//! A copy of a store, row by row: what a backup is made of.
//!
//! Rows are read as any reader reads them, so a copy is one revision, also while a writer commits.
//! No damaged block gets into it: its checksum is verified as it is read, and a large record is
//! decoded. Column families that a newer minor format added are copied as they stand.

use std::path::Path;

use rocksdb::{DB, DBIteratorWithThreadMode, IteratorMode, ReadOptions, WriteBatch};

use super::family::Family;
use super::key::release_of;
use super::present::present_families;
use super::record::TRIED;
use super::rows::content;
use super::tuning::{WRITERS_BLOCKS, bound_waiting, descriptors, writers_options};
use super::{Result, Store, StoreError};

/// Bytes of a batch while copying.
const BATCH: usize = 4 << 20;

impl Store {
    /// Copies every row that this handle sees into a new store in `dir`, but for rows of releases
    /// and resources that are not listed. Gives the number of rows.
    ///
    /// The handle is a reader's that nobody refreshes meanwhile: what it shows is one state then.
    ///
    /// # Errors
    /// When a row cannot be read, or the copy cannot be written.
    pub(crate) fn copy_to(&self, dir: &Path) -> Result<u64> {
        let view = self.engine.view();
        let source = &view.db;
        let listed = self.visible()?;
        let names = present_families(&self.dir.join("db"))?;
        let names: Vec<String> =
            names.into_iter().filter(|name| source.cf_handle(name).is_some()).collect();

        let target_dir = dir.join("db");
        std::fs::create_dir_all(&target_dir)
            .map_err(|error| StoreError::Io { path: target_dir.clone(), source: error })?;
        let mut options = writers_options();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        let target = DB::open_cf_descriptors(
            &options,
            &target_dir,
            descriptors(names.clone(), WRITERS_BLOCKS),
        )
        .map_err(StoreError::engine("making the copy"))?;
        if let Some(family) = target.cf_handle(Family::Sentence.name()) {
            bound_waiting(&target, family).map_err(StoreError::engine("making the copy"))?;
        }
        let mut rows = 0;
        for name in names {
            let Some(family) = source.cf_handle(&name) else { continue };
            let of = Family::ALL.into_iter().find(|family| family.name() == name);
            let keep = |key: &[u8]| {
                let release = of.and_then(|family| release_of(family, key));
                release.is_none_or(|release| listed.contains(&release))
            };
            let from = source.iterator_cf_opt(family, verified(), IteratorMode::Start);
            rows += copy_family(from, &target, (&name, of), keep)?;
        }
        Ok(rows)
    }

    /// Counts every row that this handle sees, as [`copy_to`](Self::copy_to) counts those of a
    /// store whose releases are all listed.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub(crate) fn count_rows(&self) -> Result<u64> {
        let view = self.engine.view();
        let source = &view.db;
        let names = present_families(&self.dir.join("db"))?;
        let mut count = 0;
        for family in names.iter().filter_map(|name| source.cf_handle(name)) {
            let mut row = source.raw_iterator_cf_opt(family, verified());
            row.seek_to_first();
            while row.valid() {
                count += 1;
                row.next();
            }
            row.status().map_err(StoreError::engine("counting rows"))?;
        }
        Ok(count)
    }
}

/// Options to read every row once.
fn verified() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.set_verify_checksums(true);
    options.fill_cache(false);
    options
}

fn copy_family(
    from: DBIteratorWithThreadMode<'_, DB>,
    target: &DB,
    (name, known): (&str, Option<Family>),
    keep: impl Fn(&[u8]) -> bool,
) -> Result<u64> {
    let family = target.cf_handle(name).ok_or_else(|| StoreError::Engine {
        action: "making the copy",
        reason: format!("column family `{name}` was not made"),
    })?;
    let write = |batch| target.write_without_wal(batch).map_err(StoreError::engine("copying"));
    let (mut rows, mut batch) = (0, WriteBatch::default());
    for row in from {
        let (key, value) = row.map_err(StoreError::engine("reading a row to copy"))?;
        if !keep(&key) {
            continue;
        }
        // What a build without a limit has written may be too large to be read again.
        if value.len() > TRIED
            && let Some(family) = known
        {
            content(family, &key, &value)
                .map_err(|(_, reason)| StoreError::damaged(family.name(), &key, reason))?;
        }
        batch.put_cf(family, key, value);
        rows += 1;
        if batch.size_in_bytes() >= BATCH {
            write(std::mem::take(&mut batch))?;
        }
    }
    write(batch)?;
    target.flush_cf(family).map_err(StoreError::engine("flushing the copy"))?;
    Ok(rows)
}
