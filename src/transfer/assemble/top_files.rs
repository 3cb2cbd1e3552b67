//! What the files at the top of a release say: semantic types, relations, and lists of files.

use super::Assembler;
use super::whole::Folders;
use crate::database::Result;
use crate::framenet::{TopFile, WarningCode};
use crate::model::{
    CorpusId, DocumentId, ForeignFile, Frame, FrameId, FrameIndexEntry, FrameRelation, IndexCorpus,
    LexUnit, LuId, LuIndex, NumberKind, RelationList, SemType, SemTypeId, SemTypeList, Title,
    TopName,
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
        self.batch.put_foreign(ForeignFile::Top(TopName::SemTypes), &file.foreign)?;
        let (types, list) = file.content;
        for sem_type in types {
            self.see_number(sem_type.id.0);
            self.batch.put_sem_type(&sem_type)?;
            self.sem_types.insert(sem_type.id, sem_type.name);
        }
        self.layout.sem_types = Some(list);
        Ok(())
    }

    /// Warns of semantic types that are called otherwise than `semTypes.xml` has them.
    pub(super) fn check_sem_types(
        &mut self,
        file: &str,
        names: &[(SemTypeId, String)],
    ) -> Result<()> {
        for (id, name) in names {
            let Some(known) = self.sem_types.get(id) else {
                // That semTypes.xml is not there was warned of once.
                if self.layout.sem_types.is_some() {
                    let detail = format!(
                        "semantic type `{name}` ({id}) is not in semTypes.xml; kept by name"
                    );
                    self.warn(WarningCode::SemTypeMissing, file, 0, detail)?;
                }
                self.batch.put_sem_type(&SemType::named(*id, name))?;
                self.sem_types.insert(*id, name.clone());
                continue;
            };
            if known != name {
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
        self.batch.put_foreign(ForeignFile::Top(TopName::FrameIndex), &file.foreign)?;
        for (place, entry) in file.content.iter().enumerate() {
            self.frame_index.add(entry.id, entry.name.clone(), place);
        }
        self.layout.frame_index = Some(file.content);
        Ok(())
    }

    /// The entries of `frameIndex.xml`; none where the release has no such file.
    fn frame_entries(&mut self) -> &mut [FrameIndexEntry] {
        self.layout.frame_index.as_deref_mut().unwrap_or_default()
    }

    /// Takes a frame off the list of those without a file, and warns when the index says otherwise
    /// of it. `written` is the number that its file gives.
    pub(super) fn check_frame_index(
        &mut self,
        file: &str,
        written: FrameId,
        frame: &mut Frame,
    ) -> Result<()> {
        if self.layout.frame_index.is_none() {
            return Ok(());
        }
        let Some(place) = self.listed_frame(written, &frame.name) else {
            let detail = format!("frame `{}` is not in frameIndex.xml; kept", frame.name);
            return self.warn(WarningCode::IndexMismatch, file, 0, detail);
        };
        let entry = &self.frame_entries()[place];
        frame.modified.clone_from(&entry.modified);
        let listed = entry.id;
        // One that gives no number is known by its name.
        if self.numbers.text(NumberKind::Frame, listed.0.into()) == Some("") {
            return Ok(());
        }
        let entry = &mut self.frame_entries()[place];
        entry.id = frame.id;
        if entry.name == frame.name {
            entry.name.clear();
            return Ok(());
        }
        let detail = format!("frame {} is `{}` in frameIndex.xml", frame.id, entry.name);
        self.warn(WarningCode::IndexMismatch, file, 0, detail)
    }

    /// Takes the entry of a number off the list, of several that of the name; or the entry of that
    /// name that gives no number.
    fn listed_frame(&mut self, written: FrameId, name: &str) -> Option<usize> {
        let unnumbered = self.numbers.find(NumberKind::Frame, "", name).ok();
        let unnumbered = unnumbered.and_then(|number| u32::try_from(number).ok()).map(FrameId);
        let mut ids = [Some(written), unnumbered].into_iter().flatten();
        ids.find_map(|id| self.frame_index.take(id, name.to_owned()))
    }

    fn warn_listed_twice(&mut self, file: &str, what: &str) -> Result<()> {
        self.warn(WarningCode::IdRepeated, file, 0, format!("{what} is listed twice; kept"))
    }

    /// Keeps the frames that only the index names, once all files are read.
    pub(super) fn add_listed_frames(&mut self) -> Result<()> {
        for (id, place) in self.frame_index.take_rest() {
            let name = self.frame_entries()[place].name.clone();
            if self.known_frame(id).is_some_and(|frame| frame.name == name) {
                let what = format!("frame `{name}` ({id})");
                self.warn_listed_twice("frameIndex.xml", &what)?;
                continue;
            }
            let id = if self.frames.contains_key(&id) {
                let frame = Frame::named(id, &name);
                let id = self.own_frame_id("frameIndex.xml", &frame)?;
                self.frame_entries()[place].id = id;
                id
            } else {
                id
            };
            if self.folders.frames {
                let detail = format!("frame `{name}` ({id}) has no file in frame/; kept by name");
                self.warn(WarningCode::IndexMismatch, "frameIndex.xml", 0, detail)?;
            }
            self.add_missing_frame(id, &name)?;
        }
        Ok(())
    }

    pub(in crate::transfer) fn add_lu_index(&mut self, file: TopFile<LuIndex>) -> Result<()> {
        self.add_warnings(file.warnings)?;
        self.batch.put_foreign(ForeignFile::Top(TopName::LuIndex), &file.foreign)?;
        let mut index = file.content;
        for (place, entry) in index.entries.iter_mut().enumerate() {
            entry.frame = self.frame_called(entry.frame, &entry.frame_name);
            entry.id = self.lexunit_called(entry.frame, entry.id, &entry.name);
            self.lu_index.add((entry.id, entry.frame), entry.name.clone(), place);
        }
        self.layout.lu_index = Some(index);
        Ok(())
    }

    /// Takes an LU off the list of those without a file, and warns when the index says otherwise of
    /// it. What the index says alike is not kept twice.
    pub(super) fn check_lu_index(
        &mut self,
        file: &str,
        written: LuId,
        lu: &LexUnit,
        frame_name: &str,
    ) -> Result<()> {
        let entry = self.listed_lexunit(written, lu);
        let Some(index) = &mut self.layout.lu_index else { return Ok(()) };
        let LexUnit { name, id, status, .. } = lu;
        let Some(entry) = entry else {
            let detail = format!("LU `{name}` ({id}) is not in luIndex.xml; kept");
            return self.warn(WarningCode::IndexMismatch, file, 0, detail);
        };
        let entry = &mut index.entries[entry];
        // One that gives no number is known by its name.
        let is_numbered = self.numbers.text(NumberKind::LexUnit, entry.id.0.into()) != Some("");
        if is_numbered {
            entry.id = lu.id;
        }
        let mut otherwise = Vec::new();
        for (listed, known) in [
            (&mut entry.name, name.as_str()),
            (&mut entry.status, status),
            (&mut entry.frame_name, frame_name),
        ] {
            if listed == known && is_numbered {
                listed.clear();
            } else if listed == known {
                // Kept to be known by.
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

    /// Takes the entry of an LU off the list: of several with its number that of its name, else one
    /// that gives no number.
    fn listed_lexunit(&mut self, written: LuId, lu: &LexUnit) -> Option<usize> {
        let unnumbered = self.numbers.find(NumberKind::LexUnit, "", &lu.name).ok();
        let unnumbered = unnumbered.and_then(|number| u32::try_from(number).ok()).map(LuId);
        let mut ids = [Some(lu.id), Some(written), unnumbered].into_iter().flatten();
        ids.find_map(|id| self.lu_index.take((id, lu.frame), lu.name.clone()))
    }

    pub(in crate::transfer) fn add_fulltext_index(
        &mut self,
        file: TopFile<Vec<IndexCorpus>>,
    ) -> Result<()> {
        self.add_warnings(file.warnings)?;
        self.batch.put_foreign(ForeignFile::Top(TopName::FulltextIndex), &file.foreign)?;
        for (place, corpus) in file.content.iter().enumerate() {
            for (at, (id, title)) in corpus.documents.iter().enumerate() {
                self.document_index.add((corpus.id, *id), title.clone(), (place, at));
            }
        }
        self.layout.fulltext_index = Some(file.content);
        Ok(())
    }

    /// Takes a document off the list of those without a file, and warns when the index lacks it.
    pub(super) fn check_document_index(
        &mut self,
        file: &str,
        (corpus, written): (CorpusId, DocumentId),
        id: DocumentId,
        title: &Title,
    ) -> Result<()> {
        let listed = self.document_index.take((corpus, written), title.clone());
        let Some(index) = &mut self.layout.fulltext_index else { return Ok(()) };
        let detail = match listed.map(|(place, at)| &mut index[place].documents[at]) {
            Some((number, listed)) => {
                *number = id;
                if listed == title {
                    *listed = Title::default();
                    return Ok(());
                }
                if listed.agrees_with(title) {
                    return Ok(());
                }
                format!("document {title} ({id}) is {listed} in fulltextIndex.xml")
            }
            None => format!("document {title} ({id}) is not in fulltextIndex.xml; kept"),
        };
        self.warn(WarningCode::IndexMismatch, file, 0, detail)
    }

    pub(in crate::transfer) fn add_relations(
        &mut self,
        file: TopFile<(Vec<FrameRelation>, RelationList)>,
    ) -> Result<()> {
        self.add_warnings(file.warnings)?;
        self.batch.put_foreign(ForeignFile::Top(TopName::Relations), &file.foreign)?;
        let (relations, list) = file.content;
        self.relations = relations;
        self.layout.relations = Some(list);
        Ok(())
    }

    /// Writes the relations between frames, once these are known.
    pub(super) fn write_relations(&mut self) -> Result<()> {
        for mut relation in std::mem::take(&mut self.relations) {
            relation.parent = self.frame_called(relation.parent, &relation.parent_name);
            relation.child = self.frame_called(relation.child, &relation.child_name);
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
            self.settle_pairs(&mut relation)?;
            self.see_number(relation.id.0);
            self.batch.put_relation(&relation)?;
            self.counts.frame_relations += 1;
        }
        Ok(())
    }

    /// Finds the FEs that a relation maps in its frames; a pair that names one which is not there
    /// is left out.
    fn settle_pairs(&mut self, relation: &mut FrameRelation) -> Result<()> {
        let mut lost = Vec::new();
        let FrameRelation { id, parent, child, elements, .. } = relation;
        elements.retain_mut(|pair| {
            let sides = [
                (*parent, &mut pair.parent, &pair.parent_name),
                (*child, &mut pair.child, &pair.child_name),
            ];
            for (frame, fe, name) in sides {
                *fe = self.element_called(frame, *fe, name);
                let Some(known) = self.known_frame(frame) else { continue };
                if known.elements.contains(fe) {
                    continue;
                }
                let named = known.by_name.get(name).copied();
                let done = if named.is_some() { "the name counts" } else { "the pair is not kept" };
                lost.push(format!(
                    "relation {id} maps FE `{name}` ({fe}), which frame `{}` does not have; {done}",
                    known.name
                ));
                let Some(named) = named else { return false };
                *fe = named;
            }
            true
        });
        lost.into_iter().try_for_each(|detail| {
            self.warn(WarningCode::ElementMissing, "frRelation.xml", 0, detail)
        })
    }

    /// Warns of what index files name and no file was read for.
    pub(super) fn warn_unread(&mut self) -> Result<()> {
        let (lexunits, documents) = (self.lu_index.take_rest(), self.document_index.take_rest());
        let Folders { lexunits: has_lexunits, fulltext: has_documents, .. } = self.folders;
        for ((id, frame), place) in lexunits.into_iter().filter(|_| has_lexunits) {
            let entries = self.layout.lu_index.as_ref().map(|index| &index.entries);
            let name = entries.map_or("", |entries| &entries[place].name);
            let what = format!("LU `{name}` ({id})");
            if self.lu_files.contains_key(&(frame, id)) {
                self.warn_listed_twice("luIndex.xml", &what)?;
                continue;
            }
            let detail = format!("{what} has no file in lu/");
            self.warn(WarningCode::IndexMismatch, "luIndex.xml", 0, detail)?;
        }
        for ((corpus, id), (place, at)) in documents.into_iter().filter(|_| has_documents) {
            let known = self.corpora.get(&(corpus, id));
            let has_file = known.is_some_and(|known| !known.file.is_empty());
            let index = self.layout.fulltext_index.as_deref().unwrap_or_default();
            let title = &index[place].documents[at].1;
            let what = format!("document {title} ({id} of corpus {corpus})");
            if has_file {
                self.warn_listed_twice("fulltextIndex.xml", &what)?;
                continue;
            }
            let detail = format!("{what} has no file in fulltext/");
            self.warn(WarningCode::IndexMismatch, "fulltextIndex.xml", 0, detail)?;
        }
        Ok(())
    }
}
