//! What an export has to know of a release before it writes files of it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;

use super::names::FileNames;
use super::{Exporter, Sink, Wanted};
use crate::database::Result;
use crate::framenet::SemTypeNames;
use crate::model::Release;
use crate::store::Store;

impl<'a> Exporter<'a> {
    pub(super) fn new(
        store: &'a Store,
        release: &Release,
        sink: Sink<'a>,
        wanted: Option<Wanted>,
    ) -> Result<Self> {
        let mut exporter = Self::of_sem_types(store, release, sink, wanted)?;
        exporter.read_names()?;
        Ok(exporter)
    }

    /// One that writes semantic types, and knows nothing else of the release yet.
    pub(super) fn of_sem_types(
        store: &'a Store,
        release: &Release,
        sink: Sink<'a>,
        wanted: Option<Wanted>,
    ) -> Result<Self> {
        let id = release.id;
        let mut exporter = Self {
            store,
            release: release.clone(),
            sink,
            only_given: false,
            wanted,
            numbers: store.written_numbers(id)?,
            sem_types: SemTypeNames::new(),
            frames: BTreeMap::new(),
            lexunits: HashMap::new(),
            files: FileNames::default(),
            frames_of: HashMap::new(),
            documents: BTreeMap::new(),
            rejected: HashSet::new(),
            related: HashSet::new(),
            listed: Mutex::default(),
        };
        for sem_type in store.sem_types(id)? {
            let sem_type = sem_type?;
            exporter.sem_types.insert(sem_type.id, sem_type.name);
        }
        Ok(exporter)
    }

    /// Reads what frames, LUs and documents there are, and how their files are called.
    fn read_names(&mut self) -> Result<()> {
        let (store, id) = (self.store, self.release.id);
        for relation in store.relations(id)? {
            let relation = relation?;
            self.related.extend([relation.parent, relation.child]);
        }
        for row in store.frame_names(id)? {
            let (frame, name) = row?;
            self.frames.insert(frame, name);
        }
        for row in store.lexunit_names(id)? {
            let (frame, lu, name) = row?;
            self.lexunits.insert((frame, lu), name);
            self.frames_of.entry(lu).or_default().push(frame);
        }
        self.rejected = store.rejected_lexunits(id)?;
        for document in store.documents(id)? {
            let document = document?;
            self.documents.insert((document.corpus, document.id), document);
        }
        self.name_files()
    }
}
