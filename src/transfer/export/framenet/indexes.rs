//! The files at the top of a release.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::{Exporter, Tally, has_file};
use crate::database::Result;
use crate::framenet::{
    write_frame_index, write_fulltext_index, write_lu_index, write_relations, write_sem_types,
};
use crate::model::{
    Document, ForeignFile, FrameId, FrameIndexEntry, FrameRelation, IndexCorpus, LuId, LuIndex,
    LuIndexEntry, NumberKind, OWN_RANGE, RelationKind, RelationList, ReleaseLayout, SemType,
    SemTypeId, SemTypeList, Title, TopName,
};

impl Exporter<'_> {
    /// Writes the top files, once it is known which others there are.
    pub(super) fn top_files(&self, tally: &mut Tally) -> Result<()> {
        let layout = self.layout()?;
        self.index_files(&layout, tally)?;
        self.list_files(&layout, tally)
    }

    /// Which top files there are, and what they list; what no import laid out gets every file.
    pub(super) fn layout(&self) -> Result<ReleaseLayout> {
        let laid_out = self.store.release_layout(self.release.id)?;
        Ok(laid_out.unwrap_or_else(|| ReleaseLayout {
            frame_index: Some(Vec::new()),
            lu_index: Some(LuIndex::default()),
            fulltext_index: Some(Vec::new()),
            sem_types: Some(SemTypeList::default()),
            relations: Some(RelationList::default()),
        }))
    }

    /// Writes the indexes, which need all that is known of the files.
    pub(super) fn index_files(&self, layout: &ReleaseLayout, tally: &mut Tally) -> Result<()> {
        let numbers = &self.numbers;
        let foreign = |file| self.store.foreign(self.release.id, ForeignFile::Top(file));
        if let Some(index) = &layout.frame_index {
            let index = self.frame_index(index.clone(), tally)?;
            let foreign = foreign(TopName::FrameIndex)?;
            let content = write_frame_index(&index, numbers, &foreign);
            self.write(tally, "frameIndex.xml", content)?;
        }
        if let Some(index) = &layout.lu_index {
            let index = self.lu_index(index.clone(), tally)?;
            let foreign = foreign(TopName::LuIndex)?;
            let content = write_lu_index(&index, numbers, &foreign);
            self.write(tally, "luIndex.xml", content)?;
        }
        if let Some(index) = &layout.fulltext_index {
            let index = self.fulltext_index(index.clone(), tally);
            let foreign = foreign(TopName::FulltextIndex)?;
            let content = write_fulltext_index(&index, numbers, &foreign);
            self.write(tally, "fulltextIndex.xml", content)?;
        }
        Ok(())
    }

    /// Writes the lists, which are of no files.
    pub(super) fn list_files(&self, layout: &ReleaseLayout, tally: &mut Tally) -> Result<()> {
        self.sem_types_file(layout, tally)?;
        self.relations_file(layout, tally)
    }

    /// Writes the semantic types, for which nothing else of the release has to be known.
    pub(super) fn sem_types_file(&self, layout: &ReleaseLayout, tally: &mut Tally) -> Result<()> {
        let Some(list) = &layout.sem_types else { return Ok(()) };
        let (types, list) = self.sem_type_list(list.clone())?;
        let foreign = self.store.foreign(self.release.id, ForeignFile::Top(TopName::SemTypes))?;
        let content = write_sem_types(&types, &list, &self.numbers, &foreign);
        self.write(tally, "semTypes.xml", content)
    }

    /// Writes the relations of the frames that are written.
    pub(super) fn relations_file(&self, layout: &ReleaseLayout, tally: &mut Tally) -> Result<()> {
        let Some(list) = &layout.relations else { return Ok(()) };
        let (relations, list) = self.relation_list(list.clone(), tally)?;
        let foreign = self.store.foreign(self.release.id, ForeignFile::Top(TopName::Relations))?;
        let content = write_relations(&relations, &list, &self.numbers, &foreign);
        self.write(tally, "frRelation.xml", content)
    }

    /// The index as it was, without what is left out, and with what came later.
    fn frame_index(
        &self,
        listed: Vec<FrameIndexEntry>,
        tally: &Tally,
    ) -> Result<Vec<FrameIndexEntry>> {
        let mut index = Vec::with_capacity(listed.len());
        let is_new = listed.is_empty();
        let (mut left, called) = (tally.written_frames.clone(), OnceCell::new());
        for mut entry in listed {
            let id = self.listed_frame(&entry, &called);
            match self.store.frame(self.release.id, id)? {
                Some(frame) if left.remove(&id) => {
                    fill(&mut entry.name, &frame.name);
                    entry.modified = frame.modified;
                }
                // Listed twice.
                Some(frame) if tally.written_frames.contains(&id) => {
                    fill(&mut entry.name, &frame.name);
                }
                // Listed without a file; a part of the release has no use for it.
                Some(frame) if !frame.has_file && self.wanted.is_none() => {}
                _ => continue,
            }
            index.push(entry);
        }
        let mut left: Vec<FrameId> = left.into_iter().collect();
        left.sort_by_key(|id| (self.frames.get(id), *id));
        for id in left {
            let Some(frame) = self.store.frame(self.release.id, id)? else { continue };
            // What the release's own index leaves out of its own stays out.
            if is_new || id.0 >= OWN_RANGE || !frame.has_file {
                index.push(FrameIndexEntry { id, name: frame.name, modified: frame.modified });
            }
        }
        Ok(index)
    }

    /// The frame of an entry; one that gives no number means the frame of its name.
    fn listed_frame<'a>(
        &'a self,
        entry: &FrameIndexEntry,
        called: &OnceCell<HashMap<&'a str, FrameId>>,
    ) -> FrameId {
        if self.numbers.text(NumberKind::Frame, entry.id.0.into()) != Some("") {
            return entry.id;
        }
        let frames = || self.frames.iter().rev().map(|(id, name)| (name.as_str(), *id)).collect();
        called.get_or_init(frames).get(entry.name.as_str()).copied().unwrap_or(entry.id)
    }

    /// The LU of an entry; one that gives no number means the LU of its name.
    fn listed_lexunit<'a>(
        &'a self,
        entry: &LuIndexEntry,
        called: &OnceCell<HashMap<(FrameId, &'a str), LuId>>,
    ) -> LuId {
        if self.numbers.text(NumberKind::LexUnit, entry.id.0.into()) != Some("") {
            return entry.id;
        }
        // The first of a name.
        let lexunits = || {
            let mut first: HashMap<(FrameId, &str), LuId> = HashMap::new();
            for ((frame, lu), name) in &self.lexunits {
                let id = first.entry((*frame, name.as_str())).or_insert(*lu);
                *id = (*lu).min(*id);
            }
            first
        };
        let key = (entry.frame, entry.name.as_str());
        called.get_or_init(lexunits).get(&key).copied().unwrap_or(entry.id)
    }

    fn lu_index(&self, listed: LuIndex, tally: &Tally) -> Result<LuIndex> {
        let mut index = LuIndex { legend: listed.legend, entries: Vec::new() };
        let mut left: HashSet<(FrameId, LuId)> = tally.lexunits.keys().copied().collect();
        let (is_new, called) = (listed.entries.is_empty(), OnceCell::new());
        for mut entry in listed.entries {
            let key = (entry.frame, self.listed_lexunit(&entry, &called));
            if tally.lexunits.contains_key(&key) {
                left.remove(&key);
                // What a whole release says of its own sets stays; a part says what it holds.
                let annotation = tally.lexunits.get(&key).copied().unwrap_or_default();
                entry.annotated = match self.wanted {
                    None => entry.annotated || annotation.own,
                    Some(_) => annotation.any,
                };
                self.renew(key, &mut entry)?;
            } else {
                let lu = self.store.lexunit(self.release.id, key.0, key.1)?;
                if self.wanted.is_some() || lu.is_some_and(|lu| lu.listing.lu_file) {
                    continue;
                }
            }
            index.entries.push(entry);
        }
        let mut left: Vec<(FrameId, LuId)> = left.into_iter().collect();
        left.sort_by_key(|key| (self.lexunits.get(key), *key));
        for (frame, id) in left {
            let lu = self.store.lexunit(self.release.id, frame, id)?;
            if !is_new && id.0 < OWN_RANGE && lu.is_some_and(|lu| lu.listing.lu_file) {
                continue;
            }
            let (name, frame_name, status) = Default::default();
            let annotated = tally.lexunits.get(&(frame, id)).is_some_and(|of| of.any);
            let instances = None;
            let mut entry =
                LuIndexEntry { id, name, frame, frame_name, status, annotated, instances };
            self.renew((frame, id), &mut entry)?;
            index.entries.push(entry);
        }
        Ok(index)
    }

    /// Fills in what the LU's file says, and the entry not otherwise.
    fn renew(&self, (frame, lu): (FrameId, LuId), entry: &mut LuIndexEntry) -> Result<()> {
        let release = self.release.id;
        let layout = self.store.lexunit_layout(release, frame, lu)?;
        let Some(lu) = self.store.lexunit(release, frame, lu)? else { return Ok(()) };
        let head = layout.and_then(|layout| layout.head);
        let (name, status) = head.map_or((lu.name, lu.status), |head| (head.name, head.status));
        fill(&mut entry.name, &name);
        fill(&mut entry.status, &status);
        fill(&mut entry.frame_name, self.frames.get(&entry.frame).map_or("", String::as_str));
        Ok(())
    }

    fn fulltext_index(&self, listed: Vec<IndexCorpus>, tally: &Tally) -> Vec<IndexCorpus> {
        let mut left = tally.written_documents.clone();
        let is_new = listed.iter().all(|corpus| corpus.documents.is_empty());
        let mut index = listed;
        for corpus in &mut index {
            let of = corpus.id;
            corpus.documents.retain_mut(|(id, title)| {
                let known = self.documents.get(&(of, *id)).filter(|row| has_file(row));
                if tally.written_documents.contains(&(of, *id)) {
                    left.remove(&(of, *id));
                    if *title == Title::default() {
                        *title = known.map(Document::title).unwrap_or_default();
                    }
                    return true;
                }
                // Listed without a file.
                self.wanted.is_none() && known.is_none()
            });
        }
        if self.wanted.is_some() {
            index.retain(|corpus| !corpus.documents.is_empty());
        }
        left.retain(|(_, id)| is_new || id.0 >= OWN_RANGE);
        let rest = self.documents.iter().filter(|(key, _)| left.contains(key));
        for ((corpus, id), row) in rest {
            let entry = (*id, row.title());
            match index.iter_mut().find(|known| known.id == *corpus) {
                Some(known) => known.documents.push(entry),
                None => index.push(IndexCorpus {
                    id: *corpus,
                    title: row.corpus_title(),
                    documents: vec![entry],
                }),
            }
        }
        index
    }

    fn sem_type_list(&self, mut list: SemTypeList) -> Result<(Vec<SemType>, SemTypeList)> {
        let mut types = Vec::new();
        for sem_type in self.store.sem_types(self.release.id)? {
            types.push(sem_type?);
        }
        let listed: HashSet<_> = list.sem_types.iter().copied().collect();
        // What the release names and does not list has no entry; later things are the store's.
        let came = |id: &SemTypeId| id.0 >= OWN_RANGE && !listed.contains(id);
        let rest = types.iter().map(|sem_type| sem_type.id).filter(came);
        list.sem_types.extend(rest);
        Ok((types, list))
    }

    /// The relations, in a part of the release those between its frames.
    fn relation_list(
        &self,
        mut list: RelationList,
        tally: &Tally,
    ) -> Result<(Vec<FrameRelation>, RelationList)> {
        let written = &tally.written_frames;
        let mut relations = Vec::new();
        for relation in self.store.relations(self.release.id)? {
            let relation = relation?;
            let between = [relation.parent, relation.child].iter().all(|id| written.contains(id));
            if self.wanted.is_none() || between {
                relations.push(relation);
            }
        }
        let listed: HashSet<_> =
            list.kinds.iter().flat_map(|kind| &kind.relations).copied().collect();
        for relation in relations.iter().filter(|relation| !listed.contains(&relation.id)) {
            match list.kinds.iter_mut().find(|kind| kind.name == relation.kind) {
                Some(kind) => kind.relations.push(relation.id),
                None => list.kinds.push(RelationKind {
                    id: None,
                    name: relation.kind.clone(),
                    super_role: relation.super_role.clone(),
                    sub_role: relation.sub_role.clone(),
                    relations: vec![relation.id],
                }),
            }
        }
        Ok((relations, list))
    }
}

/// Fills in what an index says like the listed file; see [`ReleaseLayout`].
fn fill(listed: &mut String, known: &str) {
    if listed.is_empty() {
        known.clone_into(listed);
    }
}
