//! What the files at the top of a release say: semantic types, relations, and lists of files.

use std::collections::HashSet;

use super::Assembler;
use crate::database::Result;
use crate::framenet::WarningCode;
use crate::model::SemType;

impl Assembler<'_> {
    pub(in crate::database) fn add_missing_file(&mut self, name: &str) -> Result<()> {
        self.warn(WarningCode::FileMissing, name, 0, "the release has no such file".to_owned())
    }

    pub(in crate::database) fn add_sem_types(&mut self, types: Vec<SemType>) -> Result<()> {
        let mut seen = HashSet::new();
        for sem_type in &types {
            if seen.insert(sem_type.id) {
                self.batch.put_sem_type(sem_type)?;
                continue;
            }
            let what = format!("semantic type `{}` ({})", sem_type.name, sem_type.id);
            self.warn_repeated("semTypes.xml", &what)?;
        }
        self.counts.sem_types = seen.len() as u64;
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
                        "relation {} names frame `{name}` ({id}), which has no file; kept",
                        relation.id
                    );
                    self.warn(WarningCode::RelationDangling, "frRelation.xml", 0, detail)?;
                }
            }
            self.batch.put_relation(relation)?;
        }
        self.counts.frame_relations = seen.len() as u64;
        Ok(())
    }

    /// Warns of what index files name and no file was read for.
    pub(super) fn warn_unread(&mut self) -> Result<()> {
        for (id, name) in std::mem::take(&mut self.lu_index) {
            let detail = format!("LU `{name}` ({id}) has no file in lu/");
            self.warn(WarningCode::IndexMismatch, "luIndex.xml", 0, detail)?;
        }
        for ((corpus, id), name) in std::mem::take(&mut self.document_index) {
            let detail =
                format!("document `{name}` ({id} of corpus {corpus}) has no file in fulltext/");
            self.warn(WarningCode::IndexMismatch, "fulltextIndex.xml", 0, detail)?;
        }
        Ok(())
    }
}
