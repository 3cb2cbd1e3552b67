//! Putting a release together from its files: unique ids, merged records, coded warnings.

mod top_files;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::Result;
use super::entry::entry;
use super::stand_in::{fingerprint, frame_by_name, fresh};
use crate::framenet::{
    DocumentIndex, Evokes, FrameFile, FramenetError, FullTextFile, LuFile, ReadSentence, ReadSet,
    Warning, WarningCode, WarningLog,
};
use crate::index::IndexWriter;
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Document, DocumentId, FeId, FeStatus, Frame, FrameId,
    FrameRelation, IdSpace, LayerName, LexUnit, LuId, Origin, Provenance, ReleaseCounts, ReleaseId,
    Sentence, SentenceId, SentenceLayers,
};
use crate::store::{Batch, Store};

/// Status of a set that nobody annotated.
const UNANNOTATED: &str = "UNANN";

/// Where the sentences of a file come from.
struct Place<'a> {
    file: &'a str,
    space: IdSpace,
    /// The LU, for LU files.
    lu: Option<&'a LexUnit>,
    /// The document, for full-text files.
    document: Option<(CorpusId, DocumentId)>,
}

/// What was counted while a release was put together.
pub(super) struct Assembled {
    pub(super) counts: ReleaseCounts,
    pub(super) statuses: BTreeMap<(Origin, String), u64>,
    pub(super) warnings: WarningLog,
}

/// A release being put together.
pub(super) struct Assembler<'a> {
    store: &'a Store,
    index: &'a mut IndexWriter,
    release: ReleaseId,
    strict: bool,
    batch: Batch<'a>,
    counts: ReleaseCounts,
    statuses: BTreeMap<(Origin, String), u64>,
    warnings: WarningLog,
    pub(super) frame_index: BTreeMap<FrameId, (String, String)>,
    /// What index files name and no file was read for yet.
    pub(super) lu_index: BTreeMap<LuId, String>,
    pub(super) document_index: DocumentIndex,
    pub(super) relations: Vec<FrameRelation>,
    /// FEs of every frame; `None` for a frame that has no file.
    frames: BTreeMap<FrameId, Option<HashSet<FeId>>>,
    frame_files: Vec<(String, Frame)>,
    /// LUs of frame files that no LU file has taken up, with the name of the frame's file.
    waiting: BTreeMap<(FrameId, LuId), (String, LexUnit)>,
    /// Lemma of every LU that was written.
    lemmas: HashMap<(FrameId, LuId), String>,
    /// LUs that only annotation sets name.
    missing_lexunits: HashSet<(FrameId, LuId)>,
    lu_files: HashSet<(FrameId, LuId)>,
    corpora: BTreeMap<(CorpusId, DocumentId), Document>,
    /// Fingerprint of every sentence's text, to tell one listed twice from two of one number.
    texts: HashMap<SentenceId, [u8; 8]>,
    sets: HashSet<AnnotationSetId>,
    /// Rows of the chunk that later files of it may still add to.
    sentences: BTreeMap<SentenceId, Sentence>,
    layers: BTreeMap<AnnotationSetId, SentenceLayers>,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(
        store: &'a Store,
        index: &'a mut IndexWriter,
        release: ReleaseId,
        strict: bool,
    ) -> Self {
        Self {
            store,
            index,
            release,
            strict,
            batch: store.batch(release),
            counts: ReleaseCounts::default(),
            statuses: BTreeMap::new(),
            warnings: WarningLog::default(),
            frame_index: BTreeMap::new(),
            lu_index: BTreeMap::new(),
            document_index: DocumentIndex::new(),
            relations: Vec::new(),
            frames: BTreeMap::new(),
            frame_files: Vec::new(),
            waiting: BTreeMap::new(),
            lemmas: HashMap::new(),
            missing_lexunits: HashSet::new(),
            lu_files: HashSet::new(),
            corpora: BTreeMap::new(),
            texts: HashMap::new(),
            sets: HashSet::new(),
            sentences: BTreeMap::new(),
            layers: BTreeMap::new(),
        }
    }

    fn warn(&mut self, code: WarningCode, file: &str, line: usize, detail: String) -> Result<()> {
        self.add_warning(Warning { code, file: file.to_owned(), line, detail })
    }

    fn add_warning(&mut self, warning: Warning) -> Result<()> {
        if self.strict {
            return Err(FramenetError::Strict(warning).into());
        }
        self.warnings.add(warning);
        Ok(())
    }

    fn warn_repeated(&mut self, file: &str, what: &str) -> Result<()> {
        let detail = format!("{what} has the number of an earlier one; not read");
        self.warn(WarningCode::IdRepeated, file, 0, detail)
    }

    pub(super) fn add_frame_file(&mut self, file: FrameFile) -> Result<()> {
        let FrameFile { file, mut frame, lexunits, warnings } = file;
        if self.frames.contains_key(&frame.id) {
            return self.warn_repeated(&file, &format!("frame `{}` ({})", frame.name, frame.id));
        }
        warnings.into_iter().try_for_each(|warning| self.add_warning(warning))?;
        if let Some((_, modified)) = self.frame_index.get(&frame.id) {
            frame.modified.clone_from(modified);
        } else {
            let detail = format!("frame `{}` is not in frameIndex.xml; kept", frame.name);
            self.warn(WarningCode::IndexMismatch, &file, 0, detail)?;
        }
        let mut names = BTreeSet::new();
        for lu in lexunits {
            if self.waiting.contains_key(&(frame.id, lu.id)) {
                self.warn_repeated(&file, &format!("LU `{}` ({})", lu.name, lu.id))?;
                continue;
            }
            if !names.insert(lu.name.clone()) {
                let detail = format!("frame `{}` has two LUs `{}`; both kept", frame.name, lu.name);
                self.warn(WarningCode::LuNameRepeated, &file, 0, detail)?;
            }
            self.counts.lexunits += 1;
            self.waiting.insert((frame.id, lu.id), (file.clone(), lu));
        }
        self.frames.insert(frame.id, Some(frame.elements.iter().map(|fe| fe.id).collect()));
        self.frame_files.push((file, frame));
        Ok(())
    }

    /// Writes the frames and the relations between them, once all frame files are read.
    pub(super) fn write_frames(&mut self) -> Result<()> {
        self.counts.frames = self.frame_files.len() as u64;
        for (_, frame) in std::mem::take(&mut self.frame_files) {
            self.batch.put_frame(&frame)?;
        }
        for (id, (name, _)) in std::mem::take(&mut self.frame_index) {
            if !self.has_frame_file(id) {
                let detail = format!("frame `{name}` ({id}) has no file in frame/; kept by name");
                self.warn(WarningCode::IndexMismatch, "frameIndex.xml", 0, detail)?;
                self.add_missing_frame(id, &name)?;
            }
        }
        self.write_relations()?;
        self.flush()
    }

    fn has_frame_file(&self, id: FrameId) -> bool {
        matches!(self.frames.get(&id), Some(Some(_)))
    }

    /// Keeps a frame by name alone; once, however many sets name it.
    fn add_missing_frame(&mut self, id: FrameId, name: &str) -> Result<()> {
        if self.frames.insert(id, None).is_some() {
            return Ok(());
        }
        Ok(self.batch.put_frame(&frame_by_name(id, name))?)
    }

    pub(super) fn add_lu_file(&mut self, file: LuFile) -> Result<()> {
        let LuFile { file, lexunit, frame_name, corpora, sentences, warnings } = file;
        if !self.lu_files.insert((lexunit.frame, lexunit.id)) {
            return self.warn_repeated(&file, &format!("LU `{}` ({})", lexunit.name, lexunit.id));
        }
        warnings.into_iter().try_for_each(|warning| self.add_warning(warning))?;
        self.counts.lu_files += 1;
        self.lu_index.remove(&lexunit.id);
        if !self.has_frame_file(lexunit.frame) {
            let detail = format!(
                "LU `{}` names frame `{frame_name}` ({}), which has no file; kept by name",
                lexunit.name, lexunit.frame
            );
            self.warn(WarningCode::FrameMissing, &file, 0, detail)?;
            self.add_missing_frame(lexunit.frame, &frame_name)?;
        }
        let lexunit = self.merge_lexunit(&file, lexunit)?;
        for (corpus, corpus_name, documents) in corpora {
            for (id, name) in documents {
                self.corpora.entry((corpus, id)).or_insert_with(|| Document {
                    id,
                    corpus,
                    corpus_name: corpus_name.clone(),
                    name,
                    file: String::new(),
                    sentences: Vec::new(),
                });
            }
        }
        self.write_lexunit(&lexunit)?;
        for sentence in sentences {
            let place =
                Place { file: &file, space: IdSpace::Exemplar, lu: Some(&lexunit), document: None };
            self.add_sentence(&place, sentence)?;
        }
        Ok(())
    }

    /// What frame file and LU file say of an LU, as one record.
    fn merge_lexunit(&mut self, file: &str, from_file: LexUnit) -> Result<LexUnit> {
        let Some((_, mut lu)) = self.waiting.remove(&(from_file.frame, from_file.id)) else {
            self.counts.lexunits += 1;
            let detail = format!("LU `{}` stands in no frame file; kept", from_file.name);
            self.warn(WarningCode::LuNotInFrame, file, 0, detail)?;
            return Ok(from_file);
        };
        for sem_type in from_file.sem_types {
            if !lu.sem_types.contains(&sem_type) {
                lu.sem_types.push(sem_type);
            }
        }
        if lu.definition.is_empty() {
            lu.definition = from_file.definition;
        }
        if lu.lexemes.is_empty() {
            lu.lexemes = from_file.lexemes;
        }
        lu.total_annotated = from_file.total_annotated;
        lu.subcorpora = from_file.subcorpora;
        lu.valences = from_file.valences;
        lu.listing.lu_file = true;
        Ok(lu)
    }

    fn write_lexunit(&mut self, lu: &LexUnit) -> Result<()> {
        self.lemmas.insert((lu.frame, lu.id), lu.lemma().to_owned());
        Ok(self.batch.put_lexunit(lu)?)
    }

    pub(super) fn add_fulltext_file(&mut self, file: FullTextFile) -> Result<()> {
        let FullTextFile { file, corpus, document, sentences, warnings } = file;
        let key = (corpus.0, document.0);
        if self.corpora.get(&key).is_some_and(|known| !known.file.is_empty()) {
            let what = format!("document `{}` ({} of corpus {})", document.1, key.1, key.0);
            return self.warn_repeated(&file, &what);
        }
        warnings.into_iter().try_for_each(|warning| self.add_warning(warning))?;
        self.document_index.remove(&key);
        self.counts.documents += 1;
        let place = Place { file: &file, space: IdSpace::FullText, lu: None, document: Some(key) };
        let stem = file.trim_start_matches("fulltext/").trim_end_matches(".xml");
        // In place of what LU files say of it.
        self.corpora.insert(
            key,
            Document {
                id: key.1,
                corpus: key.0,
                corpus_name: corpus.1,
                name: document.1,
                file: stem.to_owned(),
                sentences: Vec::new(),
            },
        );
        let mut ids = Vec::with_capacity(sentences.len());
        for sentence in sentences {
            ids.push(self.add_sentence(&place, sentence)?);
        }
        if let Some(document) = self.corpora.get_mut(&key) {
            document.sentences = ids;
        }
        Ok(())
    }

    fn add_sentence(&mut self, place: &Place<'_>, read: ReadSentence) -> Result<SentenceId> {
        self.counts.sentence_occurrences += 1;
        let ReadSentence { xml_id, line, text, occurrence, sets } = read;
        let print = fingerprint(text.as_bytes());
        let mut id = SentenceId::new(place.space, xml_id);
        if self.texts.get(&id).is_some_and(|known| *known != print) {
            let detail =
                format!("sentence {xml_id} has another text before; this one gets a fresh id");
            self.warn(WarningCode::SentenceConflict, place.file, line, detail)?;
            id = SentenceId::new(place.space, fresh(xml_id, &print));
        }
        if self.texts.insert(id, print).is_none() {
            self.counts.sentences += 1;
            let occurrences = vec![occurrence];
            self.sentences
                .insert(id, Sentence { id, xml_id: Some(xml_id), text: text.clone(), occurrences });
        } else {
            self.pending_sentence(id)?.occurrences.push(occurrence);
        }
        for set in sets {
            self.add_set(place, id, &text, set)?;
        }
        Ok(id)
    }

    /// The sentence's row, brought back when an earlier chunk wrote it.
    fn pending_sentence(&mut self, id: SentenceId) -> Result<&mut Sentence> {
        use std::collections::btree_map::Entry as Slot;
        match self.sentences.entry(id) {
            Slot::Occupied(slot) => Ok(slot.into_mut()),
            Slot::Vacant(slot) => {
                let sentence = self.store.sentence(self.release, id)?;
                Ok(slot.insert(sentence.expect("its text was seen, so it was written")))
            }
        }
    }

    fn add_set(
        &mut self,
        place: &Place<'_>,
        sentence: SentenceId,
        text: &str,
        set: ReadSet,
    ) -> Result<()> {
        match (&set.evokes, place.lu) {
            (Evokes::Frame { .. }, _) => self.add_frame_set(place, sentence, text, set),
            (Evokes::Unsaid, Some(_)) if set.status != UNANNOTATED => {
                self.add_frame_set(place, sentence, text, set)
            }
            _ => self.add_sentence_layers(place, sentence, set),
        }
    }

    fn add_frame_set(
        &mut self,
        place: &Place<'_>,
        sentence: SentenceId,
        text: &str,
        set: ReadSet,
    ) -> Result<()> {
        let (frame, lu) = self.evoked(place, &set)?;
        let mut id = AnnotationSetId::new(place.space, set.xml_id);
        if !self.sets.insert(id) {
            let detail =
                format!("set {} stands elsewhere too; this one gets a fresh id", set.xml_id);
            self.warn(WarningCode::SetConflict, place.file, set.line, detail)?;
            let print = fingerprint(format!("{frame} {lu} {sentence}").as_bytes());
            id = AnnotationSetId::new(place.space, fresh(set.xml_id, &print));
            while !self.sets.insert(id) {
                id = id.next();
            }
        }
        let targets = set.targets();
        if targets.is_empty() {
            let detail = format!("set {} has no target; kept", set.xml_id);
            self.warn(WarningCode::TargetEmpty, place.file, set.line, detail)?;
        }
        self.check_elements(place, frame, &set)?;
        let provenance = match (place.lu, place.document) {
            (Some(lu), _) => {
                let subcorpus = self.sentences.get(&sentence).and_then(|sentence| {
                    sentence.occurrences.last().and_then(|place| place.subcorpus.clone())
                });
                Provenance::Exemplar { lu: lu.id, subcorpus: subcorpus.unwrap_or_default() }
            }
            (None, document) => {
                let (corpus, document) = document.expect("what is no LU file is a document");
                Provenance::FullText { corpus, document }
            }
        };
        match place.space {
            IdSpace::Exemplar => self.counts.exemplar_sets += 1,
            _ => self.counts.fulltext_sets += 1,
        }
        *self.statuses.entry((provenance.origin(), set.status.clone())).or_default() += 1;
        let fe_status =
            if set.status == UNANNOTATED { FeStatus::Unannotated } else { FeStatus::Annotated };
        let set = AnnotationSet {
            id,
            xml_id: Some(set.xml_id),
            sentence,
            frame,
            lu,
            status: set.status,
            created: set.created,
            targets,
            fe_status,
            layers: set.layers,
            provenance,
        };
        self.index_set(text, &set)?;
        Ok(self.batch.put_annotation_set(&set)?)
    }

    /// The frame and LU that a set evokes, which are made up from their names when no file has them.
    fn evoked(&mut self, place: &Place<'_>, set: &ReadSet) -> Result<(FrameId, LuId)> {
        let (frame, frame_name, lu, lu_name) = match (&set.evokes, place.lu) {
            (Evokes::Frame { frame, frame_name, lu, lu_name }, _) => {
                (*frame, frame_name, *lu, lu_name)
            }
            (_, Some(lu)) => return Ok((lu.frame, lu.id)),
            _ => unreachable!("only sets of LU files may leave their frame unsaid"),
        };
        if !self.has_frame_file(frame) {
            let detail = format!(
                "set {} names frame `{frame_name}` ({frame}), which has no file; kept by name",
                set.xml_id
            );
            self.warn(WarningCode::FrameMissing, place.file, set.line, detail)?;
            self.add_missing_frame(frame, frame_name)?;
        }
        if self.missing_lexunits.contains(&(frame, lu)) || !self.lemmas.contains_key(&(frame, lu)) {
            if let Some((_, lexunit)) = self.waiting.get(&(frame, lu)) {
                // Written again, and warned about, when all LU files are read.
                let lexunit = lexunit.clone();
                self.write_lexunit(&lexunit)?;
                return Ok((frame, lu));
            }
            let detail = format!(
                "set {} names LU `{lu_name}` ({lu}) of frame `{frame_name}`, which no file defines; \
                 kept by name",
                set.xml_id
            );
            self.warn(WarningCode::LuMissing, place.file, set.line, detail)?;
            if self.missing_lexunits.insert((frame, lu)) {
                self.write_lexunit(&LexUnit::named(frame, lu, lu_name))?;
            }
        }
        Ok((frame, lu))
    }

    fn check_elements(&mut self, place: &Place<'_>, frame: FrameId, set: &ReadSet) -> Result<()> {
        let Some(Some(elements)) = self.frames.get(&frame) else { return Ok(()) };
        let labels = set.layers.iter().filter(|layer| layer.name == LayerName::Fe);
        let unknown = labels
            .flat_map(|layer| &layer.labels)
            .find(|label| label.fe.is_none_or(|fe| !elements.contains(&fe)));
        match unknown {
            Some(label) => {
                let detail = format!(
                    "set {} labels FE `{}`, which frame {frame} does not have; kept",
                    set.xml_id, label.name
                );
                self.warn(WarningCode::FeUnknown, place.file, set.line, detail)
            }
            None => Ok(()),
        }
    }

    fn index_set(&mut self, text: &str, set: &AnnotationSet) -> Result<()> {
        let trigger = set.trigger(text);
        let lemma = self.lemmas.get(&(set.frame, set.lu)).map_or("", String::as_str);
        let sentence = self.sentences.get(&set.sentence);
        let occurrences = sentence.map_or(&[][..], |sentence| &sentence.occurrences);
        Ok(self.index.add(&entry(self.release, set, text, &trigger, lemma, occurrences))?)
    }

    fn add_sentence_layers(
        &mut self,
        place: &Place<'_>,
        sentence: SentenceId,
        set: ReadSet,
    ) -> Result<()> {
        let mut id = AnnotationSetId::new(place.space, set.xml_id);
        let construction = match set.evokes {
            Evokes::Construction { id, name } => Some((id, name)),
            Evokes::Frame { .. } | Evokes::Unsaid => None,
        };
        match construction {
            Some(_) => self.counts.construction_sets += 1,
            None => self.counts.sentence_layer_occurrences += 1,
        }
        let listed_under: Vec<LuId> = place.lu.iter().map(|lu| lu.id).collect();
        let mut row = SentenceLayers {
            id,
            xml_id: set.xml_id,
            sentence,
            construction,
            status: set.status,
            created: set.created,
            listed_under,
            layers: set.layers,
        };
        if !self.sets.insert(id) {
            if let Some(earlier) = self.earlier_layers(&row)? {
                for lu in row.listed_under {
                    if !earlier.listed_under.contains(&lu) {
                        earlier.listed_under.push(lu);
                    }
                }
                return Ok(());
            }
            let detail =
                format!("set {} stands elsewhere too; this one gets a fresh id", set.xml_id);
            self.warn(WarningCode::SetConflict, place.file, set.line, detail)?;
            let print = fingerprint(format!("{sentence} {:?}", row.layers).as_bytes());
            id = AnnotationSetId::new(place.space, fresh(set.xml_id, &print));
            while !self.sets.insert(id) {
                id = id.next();
            }
            row.id = id;
        }
        if row.construction.is_none() {
            self.counts.sentence_layer_sets += 1;
        }
        self.layers.insert(id, row);
        Ok(())
    }

    /// The same set listed before, if it is the same in all but where it is listed.
    fn earlier_layers(&mut self, row: &SentenceLayers) -> Result<Option<&mut SentenceLayers>> {
        if !self.layers.contains_key(&row.id) {
            let stored = self.store.sentence_layers_set(self.release, row.sentence, row.id)?;
            match stored {
                Some(stored) => self.layers.insert(row.id, stored),
                None => return Ok(None),
            };
        }
        let earlier = self.layers.get_mut(&row.id);
        Ok(earlier.filter(|earlier| {
            earlier.sentence == row.sentence
                && earlier.layers == row.layers
                && earlier.construction == row.construction
                && earlier.status == row.status
        }))
    }

    /// Writes the rows gathered so far, still unlisted.
    pub(super) fn flush(&mut self) -> Result<()> {
        for sentence in std::mem::take(&mut self.sentences).values() {
            self.batch.put_sentence(sentence)?;
        }
        for set in std::mem::take(&mut self.layers).values() {
            self.batch.put_sentence_layers(set)?;
        }
        let batch = std::mem::replace(&mut self.batch, self.store.batch(self.release));
        Ok(self.store.write_unlisted(batch)?)
    }

    /// Writes what no later file can change any more.
    pub(super) fn finish(mut self) -> Result<Assembled> {
        for (file, lu) in std::mem::take(&mut self.waiting).into_values() {
            let detail = format!(
                "LU `{}` ({}, status {}) has no file in lu/; kept",
                lu.name, lu.id, lu.status
            );
            self.warn(WarningCode::LuWithoutFile, &file, 0, detail)?;
            self.write_lexunit(&lu)?;
        }
        self.warn_unread()?;
        for document in std::mem::take(&mut self.corpora).values() {
            self.batch.put_document(document)?;
        }
        self.flush()?;
        let Self { counts, statuses, warnings, .. } = self;
        Ok(Assembled { counts, statuses, warnings })
    }
}
