//! Import of plain span-labelled data, also of mined pairs: a release whose frames are the types of
//! the spans.
//!
//! Every text is a sentence, every span a set whose target it is; a span's LU is called after the
//! lemma of what it covers. Numbers are hashes of what they stand for, so the same data gets the
//! same numbers in every import. Rows are written as an import of XML writes them: in bounded
//! batches, unlisted until one last commit.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::ImportOptions;
use super::assigned_ids::AssignedIds;
use super::import::release_name;
use crate::database::{Database, Result, reindex};
use crate::exchange::{ExchangeError, FaultCode, LabelledSpan, LabelledText, SpanReader};
use crate::index::IndexWriter;
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Counted, Document, DocumentId, Frame, FrameId,
    HeaderTitles, IdSpace, Layer, LexUnit, Lexeme, LuId, Occurrence, Pos, Provenance, Release,
    Sentence, SentenceId, Title, hashed_number,
};
use crate::store::{Batch, Store};
use crate::text::{Morphology, composed, fold};

/// Bytes of rows gathered before they are written.
const FLUSH: usize = 4 << 20;

/// Texts between two calls of a progress function.
const PROGRESS_EVERY: u64 = 1000;

/// Status of sets and LUs that came in as spans.
const STATUS: &str = "IMPORTED";

/// What an import of span-labelled data did.
#[derive(Debug, Clone)]
pub struct SpanImport {
    /// The release.
    pub release: Release,
    /// Texts read.
    pub texts: u64,
    /// Texts without a span.
    pub without_spans: u64,
    /// Number of spans of each type.
    pub types: BTreeMap<String, u64>,
    /// Number of LUs.
    pub lexunits: u64,
    /// Number of texts in each part of the data, where lines name one.
    pub splits: BTreeMap<String, u64>,
}

impl Database {
    /// Imports span-labelled texts, one a line of JSON, as a release. `progress` is told now and
    /// then how many bytes were read.
    ///
    /// All or nothing: a failed import leaves the database as it was. Memory is bounded by the
    /// lines' limit, the names of types, LUs and documents, and a few bytes for each text and span.
    ///
    /// # Errors
    /// When a line is no such text (with field and value), a release of the name is there already,
    /// or the handle is a reader's.
    pub fn import_spans(
        &self,
        path: &Path,
        options: &ImportOptions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<SpanImport> {
        let mut index = self.lock_writer()?;
        let name = release_name(options, path, None)?;
        let unreadable = |source| ExchangeError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(unreadable)?;
        let source_bytes = file.metadata().map_err(unreadable)?.len();
        reindex::catch_up(&self.store, &mut index)?;
        let release = self.new_release(name, path, source_bytes, options)?;
        let mut reader = SpanReader::new(BufReader::with_capacity(1 << 20, file), path);
        let mut loader = SpanReading::new(&self.store, release);
        while let Some(text) = reader.read()? {
            let added = loader.add(text, &reader);
            added.map_err(|error| error.in_file(&path.display().to_string(), reader.line()))?;
            if loader.texts.is_multiple_of(PROGRESS_EVERY) {
                progress(reader.bytes());
            }
        }
        progress(reader.bytes());
        let (report, indexed) = loader.finish(&mut index)?;
        self.note_index(indexed);
        Ok(report)
    }
}

/// A dataset on its way into the store.
struct SpanReading<'a> {
    store: &'a Store,
    batch: Batch<'a>,
    release: Release,
    morphology: Morphology,
    texts: u64,
    without_spans: u64,
    types: BTreeMap<String, u64>,
    splits: BTreeMap<String, u64>,
    frames: HashMap<String, FrameId>,
    frame_ids: HashSet<FrameId>,
    lexunits: HashMap<(FrameId, String), LuId>,
    lexunit_ids: HashSet<LuId>,
    sentences: AssignedIds<SentenceId>,
    sets: AssignedIds<AnnotationSetId>,
    /// Ids of texts, and documents by corpus and name.
    ids: HashSet<String>,
    documents: HashMap<(CorpusId, Title), Document>,
    /// Corpora that the data names.
    corpora: HashMap<String, CorpusId>,
    next_document: u32,
}

impl<'a> SpanReading<'a> {
    fn new(store: &'a Store, release: Release) -> Self {
        Self {
            store,
            batch: store.batch(release.id),
            morphology: Morphology::without_forms(&release.language),
            release,
            texts: 0,
            without_spans: 0,
            types: BTreeMap::new(),
            splits: BTreeMap::new(),
            frames: HashMap::new(),
            frame_ids: HashSet::new(),
            lexunits: HashMap::new(),
            lexunit_ids: HashSet::new(),
            sentences: AssignedIds::new(SentenceId::next),
            sets: AssignedIds::new(AnnotationSetId::next),
            ids: HashSet::new(),
            documents: HashMap::new(),
            corpora: HashMap::new(),
            next_document: 1,
        }
    }

    fn add<R: std::io::BufRead>(
        &mut self,
        labelled: LabelledText,
        reader: &SpanReader<R>,
    ) -> Result<()> {
        let LabelledText { text, id, number: in_document, document, corpus, split, spans } =
            labelled;
        if let Some(id) = &id
            && !self.ids.insert(id.clone())
        {
            let expected = "an id that no earlier line has";
            return Err(reader.wrong(FaultCode::Repeated, "id", id, expected).into());
        }
        self.texts += 1;
        self.without_spans += u64::from(spans.is_empty());
        if let Some(split) = split {
            *self.splits.entry(split.to_owned()).or_default() += 1;
        }
        let name = document.as_ref().map(|document| document.name.as_str());
        let parts = [id.as_deref(), name, corpus.as_deref().or(split), Some(&text)];
        let key = parts.map(Option::unwrap_or_default).join("\0");
        let sentence =
            self.sentences.give(SentenceId::new(IdSpace::Imported, content_number(&key)));
        for span in &spans {
            self.add_span(sentence, &text, span)?;
            self.flush_if_full()?;
        }
        let corpus = self.corpus(corpus, split);
        let occurrences = self.places(sentence, in_document, id, document, corpus)?;
        let sentence = Sentence { id: sentence, xml_id: None, text, occurrences };
        self.release.counts.add(sentence.counts());
        self.batch.put_sentence(&sentence)?;
        self.flush_if_full()
    }

    /// Writes what was gathered, where that is much: one text may have very many spans.
    fn flush_if_full(&mut self) -> Result<()> {
        if self.batch.size() >= FLUSH {
            let batch = std::mem::replace(&mut self.batch, self.store.batch(self.release.id));
            self.store.write_unlisted(batch)?;
        }
        Ok(())
    }

    /// The corpus of a text: what the data calls it, else the part of the data, else the release.
    fn corpus(&mut self, name: Option<String>, split: Option<&'static str>) -> (CorpusId, String) {
        let Some(name) = name else {
            let id = match split {
                Some("train") => 1,
                Some("dev") => 2,
                Some("test") => 3,
                _ => 4,
            };
            return (CorpusId(id), split.unwrap_or(self.release.name.as_str()).to_owned());
        };
        let next = CorpusId(5 + self.corpora.len() as u32);
        (*self.corpora.entry(name.clone()).or_insert(next), name)
    }

    /// Where a text stands: in its document, and in one of its own that is called after its id.
    fn places(
        &mut self,
        sentence: SentenceId,
        number: Option<u32>,
        id: Option<String>,
        document: Option<Title>,
        (corpus, corpus_name): (CorpusId, String),
    ) -> Result<Vec<Occurrence>> {
        let place = |document| Occurrence {
            corpus: Some(corpus),
            document: Some(document),
            number,
            ..Occurrence::default()
        };
        let mut next = || {
            self.next_document += 1;
            DocumentId(self.next_document - 1)
        };
        let title = |name: &str| Title { name: name.to_owned(), description: None };
        let new = |id, document| {
            Document::titled(corpus, id, HeaderTitles { corpus: title(&corpus_name), document })
        };
        let mut places = Vec::new();
        // A part of the data without documents is one document.
        let document = match (document, &id) {
            (None, None) if corpus.0 < 4 => Some(title(&corpus_name)),
            (document, _) => document,
        };
        if let Some(name) = document {
            let document = self
                .documents
                .entry((corpus, name))
                .or_insert_with_key(|(_, title)| new(next(), title.clone()));
            document.sentences.push(sentence);
            places.push(place(document.id));
        }
        if let Some(name) = id {
            let document = Document { sentences: vec![sentence], ..new(next(), title(&name)) };
            places.push(place(document.id));
            self.release.counts.add(document.counts());
            self.batch.put_document(&document)?;
        }
        Ok(places)
    }

    fn add_span(&mut self, sentence: SentenceId, text: &str, span: &LabelledSpan) -> Result<()> {
        let frame = self.frame(&span.span_type)?;
        *self.types.entry(span.span_type.clone()).or_default() += 1;
        let covered = span.span.of(text).unwrap_or_default();
        let lu = self.lexunit(frame, covered, span)?;
        let (start, end) = (span.span.start, span.span.end);
        let key = format!("{sentence} {start} {end} {}", span.span_type);
        let id = self.sets.give(AnnotationSetId::new(IdSpace::Imported, content_number(&key)));
        self.batch.put_annotation_set(&AnnotationSet {
            status: STATUS.to_owned(),
            targets: vec![span.span],
            layers: vec![Layer::of_targets(&[span.span])],
            provenance: Provenance::Imported { file: self.release.source.clone() },
            ..AnnotationSet::placed(id, sentence, (frame, lu))
        })?;
        Ok(())
    }

    /// The frame of a type.
    fn frame(&mut self, name: &str) -> Result<FrameId> {
        // Composed and decomposed letters name one frame, which has the name that came first.
        let key = composed(name).into_owned();
        if let Some(id) = self.frames.get(&key) {
            return Ok(*id);
        }
        let mut id = FrameId(own_number(&key));
        while !self.frame_ids.insert(id) {
            id = FrameId(hashed_number(id.0.wrapping_add(1)));
        }
        self.batch.put_frame(&Frame { has_file: true, ..Frame::named(id, name) })?;
        self.frames.insert(key, id);
        Ok(id)
    }

    /// The LU of a span: the given lemma, else that of its text, with the given part of speech,
    /// else `x`. Without a rule for the release's language the text is its own lemma, in small
    /// letters.
    fn lexunit(&mut self, frame: FrameId, covered: &str, span: &LabelledSpan) -> Result<LuId> {
        let pos = span.pos.unwrap_or(Pos::Other);
        let lemma = match &span.lemma {
            Some(lemma) => lemma.clone(),
            None => self.morphology.lemmatize(&one_line(covered), pos, &|_, _| false).0,
        };
        let lemma = if lemma.is_empty() { "-".to_owned() } else { lemma };
        let name = format!("{lemma}.{}", fold(pos.as_str()));
        // Composed and decomposed letters name one LU, which has the name that came first.
        let key = (frame, composed(&name).into_owned());
        if let Some(id) = self.lexunits.get(&key) {
            return Ok(*id);
        }
        let mut id = LuId(own_number(&format!("{frame} {}", key.1)));
        while !self.lexunit_ids.insert(id) {
            id = LuId(hashed_number(id.0.wrapping_add(1)));
        }
        let words = (1..).zip(lemma.split_whitespace());
        let lexemes = words.map(|(order, word)| Lexeme {
            name: word.to_owned(),
            pos,
            order: Some(order),
            headword: None,
            break_before: None,
        });
        self.batch.put_lexunit(&LexUnit {
            lexemes: lexemes.collect(),
            status: STATUS.to_owned(),
            definition: span.definition.clone().unwrap_or_default(),
            ..LexUnit::named(frame, id, &name)
        })?;
        self.lexunits.insert(key, id);
        Ok(id)
    }

    /// Writes what is left and lists the release, with its sets in the index. Gives what became of
    /// the index, too.
    fn finish(self, index: &mut IndexWriter) -> Result<(SpanImport, Result<()>)> {
        let Self { store, mut batch, mut release, texts, without_spans, types, splits, .. } = self;
        for document in self.documents.values() {
            release.counts.add(document.counts());
            batch.put_document(document)?;
        }
        store.write_unlisted(batch)?;
        let lexunits = self.lexunits.len() as u64;
        release.counts.frames = self.frames.len() as u64;
        release.counts.lexunits = lexunits;
        let list = || Ok(store.list_release(&release)?);
        let indexed = reindex::list_release(store, index, release.id, list)?;
        Ok((SpanImport { release, texts, without_spans, types, lexunits, splits }, indexed))
    }
}

/// What a span covers without control characters, which no name may hold.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The low 56 bits of a hash, beyond the numbers that a store counts out.
pub(crate) fn content_number(key: &str) -> u64 {
    let hash = blake3::hash(key.as_bytes());
    let low = hash.as_bytes()[..7].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    if low <= u64::from(u32::MAX) { low | 1 << 55 } else { low }
}

/// A number of the store's own range, from a hash.
pub(super) fn own_number(key: &str) -> u32 {
    hashed_number((content_number(key) & u64::from(u32::MAX)) as u32)
}
