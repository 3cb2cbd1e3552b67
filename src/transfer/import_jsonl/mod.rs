//! Import of JSON lines: a release, or additions to one that is there.
//!
//! The records of a release are written in bounded batches under a number that is not listed, and
//! one last commit lists it, as in an import of XML. Additions are one commit of the release that
//! they belong to. What is there already and equal is skipped, so the same file changes nothing a
//! second time. What differs is refused. So either import is all or nothing.
//!
//! What comes in is whole. Names are names, spans lie in their texts, and every reference leads to
//! a record of the file or of the release that it adds to (`known.rs`). A check of the store finds
//! nothing afterwards.

mod governance;
mod known;
mod loader;
mod records;
mod renumbered;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use self::loader::LineImport;
use super::import::check_release_name;
use crate::database::{Database, DatabaseError, ReleaseError, Result, reindex, release_called};
use crate::exchange::ExchangeError;
use crate::exchange::jsonl::{LineKind, RecordReader, Scope};
use crate::model::Release;

/// What an import of JSON lines did.
#[derive(Debug, Clone)]
pub struct JsonlImport {
    /// The release that was made or added to.
    pub release: Release,
    /// How much of a release the file held.
    pub scope: Scope,
    /// Number of records of each kind that were written.
    pub written: BTreeMap<LineKind, u64>,
    /// Number of records that were there already, equal in all.
    pub unchanged: u64,
}

/// What zstd's files begin with.
const COMPRESSED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The lines of a file, compressed with zstd or not.
fn lines_of(file: File, path: &Path) -> Result<Box<dyn BufRead>> {
    let failed = |source| ExchangeError::Read { path: path.to_owned(), source };
    let mut plain = BufReader::with_capacity(1 << 20, file);
    let begin = plain.fill_buf().map_err(failed)?;
    if !begin.starts_with(&COMPRESSED) {
        return Ok(Box::new(plain));
    }
    let lines = zstd::Decoder::with_buffer(plain).map_err(failed)?;
    Ok(Box::new(BufReader::with_capacity(1 << 20, lines)))
}

impl Database {
    /// Imports a file that [`export_jsonl`](Self::export_jsonl) wrote, under the release's own name
    /// or another one. `progress` is told now and then how many bytes were read.
    ///
    /// All or nothing: a failed import leaves the database as it was. A whole release or a part
    /// needs bounded memory and some bytes for each record's id; additions are held in memory until
    /// they are committed.
    ///
    /// # Errors
    /// When the file is no such file (with line and field), or a record refers to what neither the
    /// file nor the release that it adds to has. When a release of the name is there already,
    /// additions differ from what the store has, or the handle is a reader's. An index that could
    /// not follow is no failure: see [`take_index_lag`](Self::take_index_lag).
    pub fn import_jsonl(
        &self,
        path: &Path,
        release: Option<&str>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<JsonlImport> {
        let mut index = self.lock_writer()?;
        let file = File::open(path)
            .map_err(|source| ExchangeError::Read { path: path.to_owned(), source })?;
        let reader = RecordReader::new(lines_of(file, path)?, path)?;
        let mut record = reader.release().clone();
        if let Some(name) = release {
            name.clone_into(&mut record.name);
        }
        check_release_name(&record.name)?;
        let scope = record.scope;
        let there = release_called(&self.releases()?, &record.name)?.cloned();
        reindex::catch_up(&self.store, &mut index)?;
        let mut release = match (scope, there) {
            (Scope::Additions, Some(there)) => there,
            (Scope::Additions, None) => {
                let path = path.to_owned();
                return Err(DatabaseError::Release(ReleaseError::NoBase {
                    path,
                    name: record.name,
                }));
            }
            (_, Some(there)) => {
                let (name, source_path) = (there.name, there.source);
                return Err(DatabaseError::Release(ReleaseError::Exists { name, source_path }));
            }
            (_, None) => {
                self.require_free_name(&record.name)?;
                record.into_model(self.store.begin_release()?)
            }
        };
        let mut loader = LineImport::new(&self.store, release.id, scope, reader, &mut index)?;
        let read = loader.read_all(progress);
        read.map_err(|error| error.in_file(&path.display().to_string(), loader.line()))?;
        let (written, unchanged) = (loader.written.clone(), loader.unchanged);
        match loader.finish(&mut release)? {
            Some(indexed) => self.note_index(indexed),
            None => self.follow(&mut index),
        }
        Ok(JsonlImport { release, scope, written, unchanged })
    }
}
