//! Importing a lexicon of another kind than FrameNet's, which stands in the store beside the
//! releases.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::import::{ImportOptions, check_release_name};
use crate::database::{Database, Result, reindex};
use crate::lexica::{MappingFiles, PredicateFiles, WordnetFiles, kind_at};
use crate::model::{ReleaseId, Resource, ResourceKind};
use crate::store::{Batch, StoreError};

/// Bytes of rows that are written together.
const TOGETHER: usize = 4 << 20;

/// What a lexicon's files hold.
enum Files {
    Wordnet(WordnetFiles),
    Predicates(PredicateFiles),
    Mappings(MappingFiles),
}

impl Files {
    fn read(path: &Path, kind: ResourceKind) -> Result<Self> {
        Ok(match kind {
            ResourceKind::Wordnet => Self::Wordnet(WordnetFiles::read(path)?),
            ResourceKind::Verbnet | ResourceKind::Propbank => {
                Self::Predicates(PredicateFiles::read(path)?)
            }
            ResourceKind::Mappings => Self::Mappings(MappingFiles::read(path)?),
        })
    }

    /// The record of it, without what the store and the options say.
    fn resource(&self) -> Resource {
        let (kind, (name, version, language), licence, source_bytes, counts) = match self {
            Self::Wordnet(of) => {
                let said = (&*of.name, &*of.version, &*of.language);
                (ResourceKind::Wordnet, said, &of.licence, of.bytes, of.counts())
            }
            Self::Predicates(of) => {
                (of.kind, (&*of.name, &*of.version, "en"), &of.licence, of.bytes, of.counts())
            }
            Self::Mappings(of) => {
                let said = (&*of.name, "", "en");
                (ResourceKind::Mappings, said, &of.licence, of.bytes, of.counts())
            }
        };
        Resource {
            id: ReleaseId(0),
            kind,
            name: name.to_owned(),
            version: version.to_owned(),
            language: language.to_owned(),
            licence: licence.clone(),
            source: String::new(),
            source_bytes,
            imported: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs()),
            counts,
        }
    }
}

impl Database {
    /// Imports a WordNet: the directory of Princeton's database files, or a WN-LMF file, plain or
    /// gzip. As [`import_resource`](Database::import_resource).
    ///
    /// # Errors
    /// As there.
    pub fn import_wordnet(&self, path: &Path, options: &ImportOptions) -> Result<Resource> {
        self.import_lexicon(path, ResourceKind::Wordnet, options)
    }

    /// Imports a lexicon of another kind than FrameNet's: a WordNet, VerbNet, PropBank, or files
    /// that join lexicons, SemLink's or the Predicate Matrix. All or nothing: all files are read
    /// before a row is written. Queries, counts and exports of releases do not meet it;
    /// [`wordnet`](Database::wordnet) and [`predicates`](Database::predicates) open one by its
    /// name.
    ///
    /// # Errors
    /// When the place holds none, a file is not what it should be, a release or lexicon of the name
    /// is there already, or the handle is a reader's.
    pub fn import_resource(&self, path: &Path, options: &ImportOptions) -> Result<Resource> {
        // Where nothing looks like a lexicon, the reader of WordNets says what was looked for.
        self.import_lexicon(path, kind_at(path).unwrap_or(ResourceKind::Wordnet), options)
    }

    fn import_lexicon(
        &self,
        path: &Path,
        kind: ResourceKind,
        options: &ImportOptions,
    ) -> Result<Resource> {
        let mut index = self.lock_writer()?;
        if let Some(name) = &options.release {
            check_release_name(name)?;
            self.require_free_name(name)?;
        }
        let files = Files::read(path, kind)?;
        let said = files.resource();
        let name = options.release.clone().unwrap_or_else(|| said.name.clone());
        check_release_name(&name)?;
        self.require_free_name(&name)?;
        reindex::catch_up(&self.store, &mut index)?;
        let resource = Resource {
            id: self.store.begin_release()?,
            name,
            language: options.language.clone().unwrap_or_else(|| said.language.clone()),
            source: options.source.clone().unwrap_or_else(|| path.display().to_string()),
            ..said
        };
        self.write_rows(resource.id, &files)?;
        self.store.list_resource(&resource)?;
        self.follow(&mut index);
        Ok(resource)
    }

    fn write_rows(&self, id: ReleaseId, files: &Files) -> Result<()> {
        match files {
            Files::Wordnet(files) => {
                self.write_all(id, &files.synsets, |batch, of| batch.put_synset(of))?;
                self.write_all(id, &files.words, |batch, of| batch.put_word(of))?;
                self.write_all(id, &files.irregular, |batch, of| batch.put_irregular_form(of))
            }
            Files::Predicates(files) => {
                self.write_all(id, &files.predicates, |batch, of| batch.put_predicate(of))
            }
            Files::Mappings(files) => {
                self.write_all(id, &files.mappings, |batch, of| batch.put_mapping(of))
            }
        }
    }

    fn write_all<T>(
        &self,
        id: ReleaseId,
        all: &[T],
        put: impl Fn(&mut Batch<'_>, &T) -> std::result::Result<(), StoreError>,
    ) -> Result<()> {
        let mut batch = self.store.batch(id);
        for of in all {
            put(&mut batch, of)?;
            if batch.size() >= TOGETHER {
                let rows = std::mem::replace(&mut batch, self.store.batch(id));
                self.store.write_unlisted(rows)?;
            }
        }
        Ok(self.store.write_unlisted(batch)?)
    }
}
