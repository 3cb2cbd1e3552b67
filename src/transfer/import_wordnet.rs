//! Importing a WordNet, which stands in the store beside the releases.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::import::{ImportOptions, check_release_name};
use crate::database::{Database, Result, reindex};
use crate::lexica::WordnetFiles;
use crate::model::{ReleaseId, Resource, ResourceKind};
use crate::store::Batch;

/// Bytes of rows that are written together.
const TOGETHER: usize = 4 << 20;

impl Database {
    /// Imports a WordNet: the directory of Princeton's database files, or a WN-LMF file, plain or
    /// gzip. All or nothing: all files are read before a row is written. Queries, counts and
    /// exports of releases do not meet it; [`wordnet`](Database::wordnet) opens it by its name.
    ///
    /// # Errors
    /// When the place holds no WordNet, a file is not what it should be, a release or WordNet of
    /// the name is there already, or the handle is a reader's.
    pub fn import_wordnet(&self, path: &Path, options: &ImportOptions) -> Result<Resource> {
        let mut index = self.lock_writer()?;
        if let Some(name) = &options.release {
            check_release_name(name)?;
            self.require_free_name(name)?;
        }
        let files = WordnetFiles::read(path)?;
        let name = options.release.clone().unwrap_or_else(|| files.name.clone());
        check_release_name(&name)?;
        self.require_free_name(&name)?;
        reindex::catch_up(&self.store, &mut index)?;
        let resource = Resource {
            id: self.store.begin_release()?,
            kind: ResourceKind::Wordnet,
            name,
            version: files.version.clone(),
            language: options.language.clone().unwrap_or_else(|| files.language.clone()),
            licence: files.licence.clone(),
            source: options.source.clone().unwrap_or_else(|| path.display().to_string()),
            source_bytes: files.bytes,
            imported: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs()),
            counts: files.counts(),
        };
        self.write_wordnet(resource.id, &files)?;
        self.store.list_resource(&resource)?;
        self.follow(&mut index);
        Ok(resource)
    }

    fn write_wordnet(&self, id: ReleaseId, files: &WordnetFiles) -> Result<()> {
        let mut batch = self.store.batch(id);
        for synset in &files.synsets {
            batch.put_synset(synset)?;
            self.write_if_full(id, &mut batch)?;
        }
        for word in &files.words {
            batch.put_word(word)?;
            self.write_if_full(id, &mut batch)?;
        }
        for form in &files.irregular {
            batch.put_irregular_form(form)?;
            self.write_if_full(id, &mut batch)?;
        }
        Ok(self.store.write_unlisted(batch)?)
    }

    fn write_if_full<'a>(&'a self, id: ReleaseId, batch: &mut Batch<'a>) -> Result<()> {
        if batch.size() < TOGETHER {
            return Ok(());
        }
        let rows = std::mem::replace(batch, self.store.batch(id));
        Ok(self.store.write_unlisted(rows)?)
    }
}
