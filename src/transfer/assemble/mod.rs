//! Putting a release together from its files: unique ids, merged records, coded warnings.
//!
//! What several files say of one thing becomes one record, by the rules of `schema/warnings.md`.
//! How each file lists it goes into that file's layout, so nothing is lost.

mod lexunits;
mod listed;
mod numbers;
mod sentences;
mod sets;
mod top_files;
mod whole;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use self::listed::Listed;
use self::whole::Folders;
use super::assigned_ids::AssignedIds;
use crate::database::Result;
use crate::framenet::{
    FrameFile, FramenetError, FullTextFile, Letters, ToldApart, Warning, WarningCode, WarningLog,
};
use crate::index::IndexWriter;
use crate::model::{
    AnnotationSetId, CorpusId, Document, DocumentId, DocumentLayout, FeId, ForeignFile, Frame,
    FrameId, FrameLayout, FrameRelation, HeaderTitles, IdSpace, LexUnit, ListedElement, LuId,
    NumberKind, Origin, Release, ReleaseCounts, ReleaseId, ReleaseLayout, SemTypeId, Sentence,
    SentenceId, SentenceLayers, Title, WrittenNumbers,
};
use crate::store::{Batch, Store};

/// Where the sentences of a file come from.
#[derive(Clone, Copy)]
struct SentenceOrigin<'a> {
    file: &'a str,
    space: IdSpace,
    /// The LU and the subcorpus, for LU files.
    lu: Option<(&'a LexUnit, &'a str)>,
    /// The document, for full-text files.
    document: Option<(CorpusId, DocumentId)>,
    /// Where the sets come from: exports put those of people and imports into LU files.
    origin: Origin,
}

impl SentenceOrigin<'_> {
    /// Whether an export alone has put the sets there.
    fn is_own(&self) -> bool {
        matches!(self.origin, Origin::User | Origin::Imported)
    }
}

/// What was counted while a release was put together.
pub(super) struct Assembled {
    pub(super) counts: ReleaseCounts,
    pub(super) statuses: BTreeMap<(Origin, String), u64>,
    pub(super) warnings: WarningLog,
}

/// What later files are held against of a frame with a file.
struct KnownFrame {
    name: String,
    elements: HashSet<FeId>,
    /// Its FEs by name.
    by_name: HashMap<String, FeId>,
    /// Whether numbers of its FEs stand for several.
    has_repeated: bool,
    /// Its FEs as the headers of most LU files list them.
    listed: Vec<ListedElement>,
}

impl KnownFrame {
    fn of(frame: &Frame) -> Self {
        Self {
            name: frame.name.clone(),
            elements: frame.elements.iter().map(|fe| fe.id).collect(),
            by_name: frame.elements.iter().rev().map(|fe| (fe.name.clone(), fe.id)).collect(),
            has_repeated: frame
                .elements
                .iter()
                .any(|fe| NumberKind::FrameElement.is_fresh(fe.id.0.into())),
            listed: frame.elements_by_name(),
        }
    }
}

/// A release being put together.
pub(super) struct Assembler<'a> {
    store: &'a Store,
    index: &'a mut IndexWriter,
    release: ReleaseId,
    /// What the release is read from.
    source: String,
    strict: bool,
    batch: Batch<'a>,
    counts: ReleaseCounts,
    statuses: BTreeMap<(Origin, String), u64>,
    warnings: WarningLog,
    folders: Folders,
    /// Those of the texts, with the first file that goes beyond ASCII.
    letters: Letters,
    foreign: Option<String>,
    /// What fresh numbers stand for.
    numbers: WrittenNumbers,
    /// The highest number that a store had counted out to what a person added.
    counted: u32,
    apart: ToldApart,
    /// How the top files list what lies below them.
    layout: ReleaseLayout,
    sem_types: HashMap<SemTypeId, String>,
    /// What index files name and no file was read for yet: where it stands in `layout`.
    frame_index: Listed<FrameId, String, usize>,
    lu_index: Listed<(LuId, FrameId), String, usize>,
    document_index: Listed<(CorpusId, DocumentId), Title, (usize, usize)>,
    relations: Vec<FrameRelation>,
    /// Every frame seen so far; `None` for one that has no file.
    frames: BTreeMap<FrameId, Option<KnownFrame>>,
    /// Those with a file, by name; the first of a name.
    frames_by_name: HashMap<String, FrameId>,
    frame_files: Vec<(Frame, FrameLayout)>,
    /// LUs of frame files that no LU file has taken up, with the name of the frame's file.
    waiting: BTreeMap<(FrameId, LuId), (String, LexUnit)>,
    /// Name of every LU that was written.
    lexunits: HashMap<(FrameId, LuId), String>,
    /// LUs that only annotation sets name.
    missing_lexunits: HashSet<(FrameId, LuId)>,
    /// LUs that have a file, with its name.
    lu_files: HashMap<(FrameId, LuId), String>,
    corpora: BTreeMap<(CorpusId, DocumentId), Document>,
    /// Fingerprint of every sentence's text, to tell one listed twice from two of one number.
    texts: HashMap<SentenceId, [u8; 8]>,
    sets: AssignedIds<AnnotationSetId>,
    /// The first frame set of each number in the file that is being added.
    numbered: HashMap<u64, AnnotationSetId>,
    /// Rows of the chunk that later files of it may still add to.
    sentences: BTreeMap<SentenceId, Sentence>,
    layers: BTreeMap<AnnotationSetId, SentenceLayers>,
    /// Sentences of which an export has said where they stand, beside sets of people or of imports.
    placed: HashSet<SentenceId>,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(
        store: &'a Store,
        index: &'a mut IndexWriter,
        release: &Release,
        strict: bool,
    ) -> Self {
        Self {
            store,
            index,
            release: release.id,
            source: release.source.clone(),
            strict,
            batch: store.batch(release.id),
            counts: ReleaseCounts::default(),
            statuses: BTreeMap::new(),
            warnings: WarningLog::default(),
            folders: Folders::ALL,
            letters: Letters::default(),
            foreign: None,
            numbers: WrittenNumbers::default(),
            counted: 0,
            apart: ToldApart::default(),
            layout: ReleaseLayout::default(),
            sem_types: HashMap::new(),
            frame_index: Listed::default(),
            lu_index: Listed::default(),
            document_index: Listed::default(),
            relations: Vec::new(),
            frames: BTreeMap::new(),
            frames_by_name: HashMap::new(),
            frame_files: Vec::new(),
            waiting: BTreeMap::new(),
            lexunits: HashMap::new(),
            missing_lexunits: HashSet::new(),
            lu_files: HashMap::new(),
            corpora: BTreeMap::new(),
            texts: HashMap::new(),
            sets: AssignedIds::new(AnnotationSetId::next),
            numbered: HashMap::new(),
            sentences: BTreeMap::new(),
            layers: BTreeMap::new(),
            placed: HashSet::new(),
        }
    }

    fn warn(&mut self, code: WarningCode, file: &str, line: usize, detail: String) -> Result<()> {
        if self.folders.explain(code) {
            return Ok(());
        }
        self.add_warning(Warning { code, file: file.to_owned(), line, detail })
    }

    fn add_warning(&mut self, warning: Warning) -> Result<()> {
        if self.strict {
            return Err(FramenetError::Strict(warning).into());
        }
        self.warnings.add(warning);
        Ok(())
    }

    /// Counts the warnings of a file.
    fn add_warnings(&mut self, warnings: WarningLog) -> Result<()> {
        if let Some(fault) = warnings.first_fault().filter(|_| self.strict) {
            return Err(FramenetError::Strict(fault.clone()).into());
        }
        self.warnings.merge(warnings);
        Ok(())
    }

    /// Counts a trait of the data, which no import fails for.
    fn note(
        &mut self,
        code: WarningCode,
        file: &str,
        line: usize,
        detail: impl FnOnce() -> String,
    ) {
        let warning = || Warning { code, file: file.to_owned(), line, detail: detail() };
        self.warnings.note(code, warning);
    }

    pub(super) fn add_frame_file(&mut self, file: FrameFile) -> Result<()> {
        let FrameFile {
            file,
            mut frame,
            mut lexunits,
            layout,
            sem_type_names,
            warnings,
            foreign,
            ..
        } = file;
        self.add_warnings(warnings)?;
        let written = frame.id;
        frame.id = self.own_frame_id(&file, &frame)?;
        lexunits.iter_mut().for_each(|lu| lu.frame = frame.id);
        self.see_number(frame.id.0);
        frame.elements.iter().for_each(|fe| self.see_number(fe.id.0));
        self.check_sem_types(&file, &sem_type_names)?;
        self.check_frame_index(&file, written, &mut frame)?;
        for fe in frame.elements.iter().filter(|fe| fe.sem_types.len() > 1) {
            self.note(WarningCode::SemTypesSeveral, &file, 0, || {
                format!("FE `{}` has {} semantic types", fe.name, fe.sem_types.len())
            });
        }
        self.add_waiting(&file, &frame, lexunits)?;
        self.batch.put_foreign(ForeignFile::Frame(frame.id), &foreign)?;
        self.frames.insert(frame.id, Some(KnownFrame::of(&frame)));
        self.frames_by_name.entry(frame.name.clone()).or_insert(frame.id);
        self.frame_files.push((frame, layout));
        Ok(())
    }

    /// Keeps the LUs of a frame's file until their own files are read.
    fn add_waiting(&mut self, file: &str, frame: &Frame, lexunits: Vec<LexUnit>) -> Result<()> {
        let mut names = BTreeSet::new();
        for lu in lexunits {
            if !names.insert(lu.name.clone()) {
                let detail = format!("frame `{}` has two LUs `{}`; both kept", frame.name, lu.name);
                self.warn(WarningCode::LuNameRepeated, file, 0, detail)?;
            }
            self.see_number(lu.id.0);
            self.waiting.insert((frame.id, lu.id), (file.to_owned(), lu));
        }
        Ok(())
    }

    /// Writes the frames and the relations between them, once all frame files are read.
    pub(super) fn write_frames(&mut self) -> Result<()> {
        for (frame, layout) in std::mem::take(&mut self.frame_files) {
            self.batch.put_frame(&frame)?;
            self.batch.put_frame_layout(frame.id, &layout)?;
        }
        self.add_listed_frames()?;
        self.write_relations()?;
        self.flush()
    }

    fn known_frame(&self, id: FrameId) -> Option<&KnownFrame> {
        self.frames.get(&id).and_then(Option::as_ref)
    }

    fn has_frame_file(&self, id: FrameId) -> bool {
        self.known_frame(id).is_some()
    }

    /// Keeps a frame by name alone; once, however many sets name it.
    fn add_missing_frame(&mut self, id: FrameId, name: &str) -> Result<()> {
        if self.frames.insert(id, None).is_some() {
            return Ok(());
        }
        Ok(self.batch.put_frame(&Frame::named(id, name))?)
    }

    pub(super) fn add_fulltext_file(&mut self, file: FullTextFile) -> Result<()> {
        let FullTextFile { file, corpus, mut document, sentences, warnings, foreign, .. } = file;
        self.add_warnings(warnings)?;
        let written = (corpus.0, document.0);
        document.0 = self.own_document_id(&file, corpus.0, &document)?;
        let key = (corpus.0, document.0);
        self.see_number(key.0.0);
        self.see_number(key.1.0);
        self.batch.put_foreign(ForeignFile::Document(key.0, key.1), &foreign)?;
        let titles = HeaderTitles { corpus: corpus.1, document: document.1 };
        self.check_document_index(&file, written, key.1, &titles.document)?;
        self.counts.documents += 1;
        let place = SentenceOrigin {
            file: &file,
            space: IdSpace::FullText,
            lu: None,
            document: Some(key),
            origin: Origin::FullText,
        };
        let stem = FullTextFile::stem_of(&file);
        let in_headers = self.in_headers(&file, key, &titles)?;
        let row = Document {
            file: stem.to_owned(),
            in_headers,
            ..Document::titled(key.0, key.1, titles)
        };
        // In place of what LU files say of it.
        self.corpora.insert(key, row);
        let mut layout = DocumentLayout::default();
        for sentence in sentences {
            let listed = self.add_sentence(&place, sentence, &mut layout.odd_labels)?;
            layout.sentences.push(listed);
        }
        if let Some(document) = self.corpora.get_mut(&key) {
            document.sentences = layout.sentences.iter().map(|listed| listed.id).collect();
        }
        Ok(self.batch.put_document_layout(key.0, key.1, &layout)?)
    }

    /// What LU files call a document and its corpus, where that is not what the document's own file
    /// says; warns when they cannot mean the same.
    fn in_headers(
        &mut self,
        file: &str,
        key: (CorpusId, DocumentId),
        titles: &HeaderTitles,
    ) -> Result<Option<HeaderTitles>> {
        let Some(known) = self.corpora.get(&key) else { return Ok(None) };
        if known.is_titled(&titles.corpus, &titles.document) {
            return Ok(None);
        }
        let known = known.titles();
        let agree = known.corpus.agrees_with(&titles.corpus)
            && known.document.agrees_with(&titles.document);
        if !agree {
            self.warn_titles(file, key, titles, &known)?;
        }
        Ok(Some(known))
    }

    fn warn_titles(
        &mut self,
        file: &str,
        (corpus, id): (CorpusId, DocumentId),
        here: &HeaderTitles,
        elsewhere: &HeaderTitles,
    ) -> Result<()> {
        let of = |titles: &HeaderTitles| format!("{} of {}", titles.document, titles.corpus);
        let (here, elsewhere) = (of(here), of(elsewhere));
        let detail =
            format!("document {id} of corpus {corpus} is {here} here and {elsewhere} elsewhere");
        self.warn(WarningCode::NameMismatch, file, 0, detail)
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
        self.note_shared_numbers();
        self.counts.frames = self.frames.len() as u64;
        self.counts.lexunits = self.lexunits.len() as u64;
        self.counts.sem_types = self.sem_types.len() as u64;
        self.batch.put_written_numbers(&self.numbers)?;
        for document in std::mem::take(&mut self.corpora).values() {
            self.batch.put_document(document)?;
        }
        self.batch.put_release_layout(&std::mem::take(&mut self.layout))?;
        if self.counted > 0 {
            self.store.skip_own_number(self.counted)?;
        }
        self.flush()?;
        let Self { counts, statuses, warnings, .. } = self;
        Ok(Assembled { counts, statuses, warnings })
    }
}
