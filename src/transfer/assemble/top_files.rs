//! What the files at the top of a release say: semantic types, relations, and lists of files.

use std::collections::HashSet;

use super::Assembler;
use super::whole::Folders;
use crate::database::Result;
use crate::framenet::{TopFile, WarningCode};
use crate::model::{
    CorpusId, DocumentId, Frame, FrameIndexEntry, FrameRelation, IndexCorpus, LexUnit, LuIndex,
    RelationList, SemType, SemTypeId, SemTypeList, Title,
};

impl Assembler<'_> {
    pub(in crate::transfer) fn add_missing_file(&mut self, name: &str) -> Result<()> {
        self.warn(WarningCode::FileMissing, name, 0, "the release has no such file".to_owned())
    }

    pub(in crate::transfer) fn add_sem_types(
        &mut self,
        file: TopFile<(Vec<SemType>, SemTypeList)>,
    ) -> Result<()> {
        self.add_warnings(file.warnings)?;
        let (types, mut list) = file.content;
        for sem_type in types {
            if self.sem_types.contains_key(&sem_type.id) {
                let what = format!("semantic type `{}` ({})", sem_type.name, sem_type.id);
                self.warn_repeated("semTypes.xml", &what)?;
                continue;
            }
            self.batch.put_sem_type(&sem_type)?;
            self.sem_types.insert(sem_type.id, sem_type.name);
        }
        let mut seen = HashSet::new();
        list.sem_types.retain(|id| seen.insert(*id));
        self.layout.sem_types = Some(list);
        self.counts.sem_types = self.sem_types.len() as u64;
        Ok(())
    }

    /// Warns of semantic types that are called otherwise than `semTypes.xml` has them.
    pub(super) fn check_sem_types(
        &mut self,
        file: &str,
        names: &[(SemTypeId, String)],
    ) -> Result<()> {
        for (id, name) in names {
            let known = self.sem_types.get(id);
            // Without semTypes.xml, whose absence was warned of, the first name is right.
            if known.is_none() && self.layout.sem_types.is_none() {
                self.add_missing_sem_type(*id, name)?;
            } else if known != Some(name) {
                let detail =
                    format!("semantic type {id} is called `{name}` here; the number counts");
                self.warn(WarningCode::NameMismatch, file, 0, detail)?;
            }
        }
        Ok(())
    }

    pub(in crate::transfer) fn add_frame_index(
        &mut self,
        file: TopFile<Vec<FrameIndexEntry>>,
    ) -> Result<()> {
        self.add_warnings(file.warnings)?;
        let mut index = Vec::with_capacity(file.content.len());
        for entry in file.content {
            if self.frame_index.contains_key(&entry.id) {
                let what = format!("frame `{}` ({})", entry.name, entry.id);
                self.warn_repeated("frameIndex.xml", &what)?;
                continue;
            }
            self.frame_index.insert(entry.id, index.len());
            index.push(entry);
        }
        self.layout.frame_index = Some(index);
        Ok(())
    }

    /// Takes the date of a frame's last change from the index, and warns when that says otherwise of it.
    pub(super) fn check_frame_index(&mut self, file: &str, frame: &mut Frame) -> Result<()> {
        let Some(index) = &mut self.layout.frame_index else { return Ok(()) };
        let detail = match self.frame_index.get(&frame.id).map(|at| &mut index[*at]) {
            Some(entry) => {
                frame.modified.clone_from(&entry.modified);
                if entry.name == frame.name {
                    entry.name.clear();
                    return Ok(());
                }
                format!("frame {} is `{}` in frameIndex.xml", frame.id, entry.name)
            }
            None => format!("frame `{}` is not in frameIndex.xml; kept", frame.name),
        };
        self.warn(WarningCode::IndexMismatch, file, 0, detail)
    }

    pub(in crate::transfer) fn add_lu_index(&mut self, file: TopFile<LuIndex>) -> Result<()> {
        self.add_warnings(file.warnings)?;
        let LuIndex { legend, entries } = file.content;
        let mut index = LuIndex { legend, entries: Vec::with_capacity(entries.len()) };
        for entry in entries {
            if self.lu_index.contains_key(&(entry.id, entry.frame)) {
                let what = format!("LU `{}` ({})", entry.name, entry.id);
                self.warn_repeated("luIndex.xml", &what)?;
                continue;
            }
            self.lu_index.insert((entry.id, entry.frame), index.entries.len());
            index.entries.push(entry);
        }
        self.layout.lu_index = Some(index);
        Ok(())
    }

    /// Takes an LU off the list of those without a file, and warns when the index says otherwise of it.
    /// What the index says alike is not kept twice.
    pub(super) fn check_lu_index(
        &mut self,
        file: &str,
        lu: &LexUnit,
        frame_name: &str,
    ) -> Result<()> {
        let entry = self.lu_index.remove(&(lu.id, lu.frame));
        let Some(index) = &mut self.layout.lu_index else { return Ok(()) };
        let LexUnit { name, id, status, .. } = lu;
        let Some(entry) = entry else {
            let detail = format!("LU `{name}` ({id}) is not in luIndex.xml; kept");
            return self.warn(WarningCode::IndexMismatch, file, 0, detail);
        };
        let entry = &mut index.entries[entry];
        let mut otherwise = Vec::new();
        for (listed, known) in [
            (&mut entry.name, name.as_str()),
            (&mut entry.status, status),
            (&mut entry.frame_name, frame_name),
        ] {
            if listed == known {
                listed.clear();
            } else {
                otherwise.push(format!("`{listed}` for `{known}`"));
            }
        }
        if otherwise.is_empty() {
            return Ok(());
        }
        let detail = format!("luIndex.xml has {} of LU `{name}` ({id})", otherwise.join(", "));
        self.warn(WarningCode::IndexMismatch, file, 0, detail)
    }

    pub(in crate::transfer) fn add_fulltext_index(
        &mut self,
        file: TopFile<Vec<IndexCorpus>>,
    ) -> Result<()> {
        self.add_warnings(file.warnings)?;
        for corpus in &file.content {
            for (id, title) in &corpus.documents {
                if self.document_index.insert((corpus.id, *id), title.clone()).is_some() {
                    let what = format!("document {title} ({id} of corpus {})", corpus.id);
                    self.warn_repeated("fulltextIndex.xml", &what)?;
                }
            }
        }
        self.layout.fulltext_index = Some(file.content);
        Ok(())
    }

    /// Takes a document off the list of those without a file, and warns when the index lacks it.
    pub(super) fn check_document_index(
        &mut self,
        file: &str,
        (corpus, id): (CorpusId, DocumentId),
        title: &Title,
    ) -> Result<()> {
        let listed = self.document_index.remove(&(corpus, id));
        let Some(index) = &mut self.layout.fulltext_index else { return Ok(()) };
        if listed.as_ref() == Some(title) {
            let corpora = index.iter_mut().filter(|known| known.id == corpus);
            let documents = corpora.flat_map(|known| &mut known.documents);
            documents.filter(|entry| entry.0 == id).for_each(|entry| entry.1 = Title::default());
            return Ok(());
        }
        let detail = match listed {
            Some(listed) if listed.agrees_with(title) => return Ok(()),
            Some(listed) => format!("document {title} ({id}) is {listed} in fulltextIndex.xml"),
            None => format!("document {title} ({id}) is not in fulltextIndex.xml; kept"),
        };
        self.warn(WarningCode::IndexMismatch, file, 0, detail)
    }

    pub(in crate::transfer) fn add_relations(
        &mut self,
        file: TopFile<(Vec<FrameRelation>, RelationList)>,
    ) -> Result<()> {
        self.add_warnings(file.warnings)?;
        let (relations, list) = file.content;
        self.relations = relations;
        self.layout.relations = Some(list);
        Ok(())
    }

    /// Writes the relations between frames, once these are known.
    pub(super) fn write_relations(&mut self) -> Result<()> {
        let relations = std::mem::take(&mut self.relations);
        let mut seen = HashSet::new();
        for relation in &relations {
            if !seen.insert(relation.id) {
                let what = format!("relation {} of type {}", relation.id, relation.kind);
                self.warn_repeated("frRelation.xml", &what)?;
                continue;
            }
            for (id, name) in
                [(relation.parent, &relation.parent_name), (relation.child, &relation.child_name)]
            {
                if !self.has_frame_file(id) {
                    let detail = format!(
                        "relation {} names frame `{name}` ({id}), which has no file; kept by name",
                        relation.id
                    );
                    self.warn(WarningCode::RelationDangling, "frRelation.xml", 0, detail)?;
                    self.add_missing_frame(id, name)?;
                }
            }
            self.batch.put_relation(relation)?;
        }
        if let Some(list) = &mut self.layout.relations {
            let mut left = seen.clone();
            for kind in &mut list.kinds {
                kind.relations.retain(|id| left.remove(id));
            }
        }
        self.counts.frame_relations = seen.len() as u64;
        Ok(())
    }

    /// Warns of what index files name and no file was read for.
    pub(super) fn warn_unread(&mut self) -> Result<()> {
        let (lexunits, documents) =
            (std::mem::take(&mut self.lu_index), std::mem::take(&mut self.document_index));
        let Folders { lexunits: has_lexunits, fulltext: has_documents, .. } = self.folders;
        for ((id, _), entry) in lexunits.into_iter().filter(|_| has_lexunits) {
            let entries = self.layout.lu_index.as_ref().map(|index| &index.entries);
            let name = entries.map_or("", |entries| &entries[entry].name);
            let detail = format!("LU `{name}` ({id}) has no file in lu/");
            self.warn(WarningCode::IndexMismatch, "luIndex.xml", 0, detail)?;
        }
        for ((corpus, id), title) in documents.into_iter().filter(|_| has_documents) {
            let detail =
                format!("document {title} ({id} of corpus {corpus}) has no file in fulltext/");
            self.warn(WarningCode::IndexMismatch, "fulltextIndex.xml", 0, detail)?;
        }
        Ok(())
    }
}
