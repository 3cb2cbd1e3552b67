//! What models predict for sentences, as a release of its own: sets of the origin `predicted`.
//!
//! Frames and LUs that are predicted are copied from the lexicon that the models asked, with their
//! numbers. Sentences and sets get numbers by place and content, so the same predictions get the
//! same numbers. Models name an LU by its name alone. Of several LUs of one name in a frame the one
//! with most annotation is taken, and counted. Rows are written as an import writes them: in
//! bounded batches, unlisted until one last commit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::ImportOptions;
use super::assigned_ids::AssignedIds;
use super::import::check_release_name;
use super::import_spans::{content_number, one_line, own_number};
use crate::database::{Database, Result, Taken, reindex};
use crate::index::IndexWriter;
use crate::lexicon::Lexicon;
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Counted, Document, DocumentId, Extent, FeId,
    FeStatus, Frame, FrameId, HeaderTitles, IdSpace, Label, Layer, LayerName, LexUnit, LuId,
    Occurrence, PREDICTED, Pos, Prediction, Provenance, Release, Sentence, SentenceId, Span, Title,
    hashed_number,
};
use crate::store::Batch;
use crate::text::Morphology;

/// Bytes of rows gathered before they are written.
const FLUSH: usize = 4 << 20;

/// The one corpus of a release of predictions, and its one document.
const PLACE: (CorpusId, DocumentId) = (CorpusId(1), DocumentId(1));

/// A target as models see it.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedTarget {
    /// Where its pieces stand, in bytes, in order; one or more.
    pub pieces: Vec<Span>,
    /// Name of its frame.
    pub frame: String,
    /// Name of its LU; `None` where the lexicon has none of the form.
    pub lexunit: Option<String>,
    /// File, probability and runners-up.
    pub prediction: Prediction,
    /// Names and places of its FEs, in order; `None` where nobody looked for them.
    pub elements: Option<Vec<(String, Span)>>,
}

/// Predictions that are in the store.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PredictionReport {
    /// Their release.
    pub release: Release,
    /// LUs that share their name with others of their frame, in order of frame and name.
    pub ambiguous: Vec<AmbiguousLexUnit>,
}

/// An LU that was taken of several that have its name in its frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmbiguousLexUnit {
    /// Name of the frame.
    pub frame: String,
    /// Name of the LUs.
    pub lexunit: String,
    /// The LUs that have the name; the first of them was taken. Most annotation sets of people come
    /// first, then low numbers.
    pub ids: Vec<LuId>,
    /// Targets that got it.
    pub targets: u64,
}

impl Database {
    /// Begins a release of predictions, with the frames and LUs of a lexicon. Other threads cannot
    /// write until it is [finished](Predictions::finish); dropped before that, it leaves nothing.
    ///
    /// # Errors
    /// When a release of the name is there already, the name is none, or the handle is a reader's.
    pub fn predictions<'a>(
        &'a self,
        name: &str,
        lexicon: &'a Lexicon<'a>,
        source: &Path,
    ) -> Result<Predictions<'a>> {
        check_release_name(name)?;
        let mut index = self.lock_writer()?;
        reindex::catch_up(&self.store, &mut index)?;
        let options = ImportOptions {
            language: Some(lexicon.release().language.clone()),
            ..ImportOptions::default()
        };
        let release = self.new_release(name.to_owned(), source, 0, &options)?;
        let title = |name: &str| Title { name: name.to_owned(), description: None };
        let titles = HeaderTitles {
            corpus: title(&release.name),
            document: title(&source.display().to_string()),
        };
        Ok(Predictions {
            database: self,
            index,
            lexicon,
            morphology: lexicon.morphology()?,
            batch: self.store.batch(release.id),
            release,
            document: Document::titled(PLACE.0, PLACE.1, titles),
            frames: HashMap::new(),
            lexunits: HashMap::new(),
            ambiguous: BTreeMap::new(),
            lexunit_ids: HashSet::new(),
            sentences: AssignedIds::new(SentenceId::next),
            sets: AssignedIds::new(AnnotationSetId::next),
        })
    }
}

/// A release of predictions on its way into the store.
pub struct Predictions<'a> {
    database: &'a Database,
    index: Taken<'a, IndexWriter>,
    lexicon: &'a Lexicon<'a>,
    morphology: Morphology,
    batch: Batch<'a>,
    release: Release,
    document: Document,
    /// Frames that were written, by name.
    frames: HashMap<String, Frame>,
    lexunits: HashMap<(FrameId, String), LuId>,
    ambiguous: BTreeMap<(FrameId, String), AmbiguousLexUnit>,
    lexunit_ids: HashSet<LuId>,
    sentences: AssignedIds<SentenceId>,
    sets: AssignedIds<AnnotationSetId>,
}

impl Predictions<'_> {
    /// Adds a sentence with its targets.
    ///
    /// # Errors
    /// When the store fails.
    pub fn add(&mut self, text: &str, targets: Vec<PredictedTarget>) -> Result<()> {
        let id = self.sentences.give(SentenceId::new(IdSpace::Imported, content_number(text)));
        for target in targets {
            self.add_target(id, text, target)?;
        }
        self.document.sentences.push(id);
        let occurrence = Occurrence {
            corpus: Some(PLACE.0),
            document: Some(PLACE.1),
            number: u32::try_from(self.document.sentences.len()).ok(),
            ..Occurrence::default()
        };
        let text = text.to_owned();
        let sentence = Sentence { id, xml_id: None, text, occurrences: vec![occurrence] };
        self.release.counts.add(sentence.counts());
        self.batch.put_sentence(&sentence)?;
        if self.batch.size() >= FLUSH {
            let next = self.database.store.batch(self.release.id);
            self.database.store.write_unlisted(std::mem::replace(&mut self.batch, next))?;
        }
        Ok(())
    }

    fn add_target(
        &mut self,
        sentence: SentenceId,
        text: &str,
        target: PredictedTarget,
    ) -> Result<()> {
        let PredictedTarget { pieces, frame, lexunit, prediction, elements } = target;
        let words: Vec<&str> = pieces.iter().filter_map(|piece| piece.of(text)).collect();
        self.require_frame(&frame)?;
        let lu = self.lexunit(&frame, lexunit, &words.join(" "))?;
        let frame = &self.frames[&frame];
        let bounds = pieces.iter().map(|piece| format!("{} {}", piece.start, piece.end));
        let bounds: Vec<String> = bounds.collect();
        let key = format!("{sentence} {} {}", bounds.join(" "), frame.name);
        let id = self.sets.give(AnnotationSetId::new(IdSpace::Imported, content_number(&key)));
        let set = predicted_set((id, sentence), (frame, lu), (pieces, elements), prediction);
        self.batch.put_annotation_set(&set)?;
        Ok(())
    }

    /// Writes a frame unless it is there. What it says of semantic types stays in its own release,
    /// as those do.
    fn require_frame(&mut self, name: &str) -> Result<()> {
        if self.frames.contains_key(name) {
            return Ok(());
        }
        let known = self.lexicon.frame_by_name(name)?;
        let mut frame = known.unwrap_or_else(|| Frame::named(FrameId(own_number(name)), name));
        frame.sem_types.clear();
        frame.elements.iter_mut().for_each(|fe| fe.sem_types.clear());
        self.batch.put_frame(&frame)?;
        self.frames.insert(name.to_owned(), frame);
        Ok(())
    }

    /// The LU of a target: the lexicon's, else one that is called after the lemma of its words.
    fn lexunit(&mut self, frame: &str, name: Option<String>, words: &str) -> Result<LuId> {
        let frame_name = frame;
        let frame = self.frames[frame_name].id;
        let named = name.unwrap_or_else(|| {
            let lemma = self.morphology.lemmatize(&one_line(words), Pos::Other, &|_, _| false).0;
            format!("{}.x", if lemma.is_empty() { "-" } else { &lemma })
        });
        let key = (frame, named);
        if let Some(shared) = self.ambiguous.get_mut(&key) {
            shared.targets += 1;
        }
        if let Some(id) = self.lexunits.get(&key) {
            return Ok(*id);
        }
        let known = self.known_lexunits(&key)?;
        if known.len() > 1 {
            let (frame, lexunit) = (frame_name.to_owned(), key.1.clone());
            let ids = known.iter().map(|lu| lu.id).collect();
            let shared = AmbiguousLexUnit { frame, lexunit, ids, targets: 1 };
            self.ambiguous.insert(key.clone(), shared);
        }
        let known = known.into_iter().next();
        let wanted = known.as_ref().map(|lu| lu.id);
        let mut id = wanted.unwrap_or_else(|| LuId(own_number(&format!("{frame} {}", key.1))));
        while !self.lexunit_ids.insert(id) {
            id = LuId(hashed_number(id.0.wrapping_add(1)));
        }
        // An LU that the lexicon lacks has the status of the sets that name it.
        let status = known.as_ref().map_or(PREDICTED, |lu| lu.status.as_str()).to_owned();
        let (lexemes, definition) = known.map(|lu| (lu.lexemes, lu.definition)).unwrap_or_default();
        let own = LexUnit::named(frame, id, &key.1);
        self.batch.put_lexunit(&LexUnit { lexemes, definition, status, ..own })?;
        self.lexunits.insert(key, id);
        Ok(id)
    }

    /// The LUs of the lexicon that have a name in a frame: those with most annotation by people
    /// first.
    fn known_lexunits(&self, (frame, name): &(FrameId, String)) -> Result<Vec<LexUnit>> {
        let mut known = self.lexicon.lus_by_name(name)?;
        known.retain(|lu| lu.frame == *frame);
        if known.len() < 2 {
            return Ok(known);
        }
        let mut counted = Vec::with_capacity(known.len());
        for lu in known {
            let sets = self.lexicon.set_counts(*frame, lu.id)?;
            counted.push((Reverse(sets.exemplar + sets.fulltext + sets.imported + sets.user), lu));
        }
        counted.sort_by_key(|(sets, lu)| (*sets, lu.id));
        Ok(counted.into_iter().map(|(_, lu)| lu).collect())
    }

    /// Writes what is left and lists the release, with its sets in the index: who is killed before
    /// that leaves both as they were.
    ///
    /// # Errors
    /// When the store fails.
    pub fn finish(self) -> Result<PredictionReport> {
        let Self { database, mut index, mut batch, mut release, document, .. } = self;
        release.counts.add(document.counts());
        batch.put_document(&document)?;
        database.store.write_unlisted(batch)?;
        release.counts.frames = self.frames.len() as u64;
        release.counts.lexunits = self.lexunits.len() as u64;
        let list = || Ok(database.store.list_release(&release)?);
        let indexed = reindex::list_release(&database.store, &mut index, release.id, list)?;
        database.note_index(indexed);
        Ok(PredictionReport { release, ambiguous: self.ambiguous.into_values().collect() })
    }
}

/// A set that models predict: where the pieces of its target stand, and its FEs by name, which are
/// `None` where nobody looked for them.
pub(crate) fn predicted_set(
    (id, sentence): (AnnotationSetId, SentenceId),
    (frame, lu): (&Frame, LuId),
    (pieces, elements): (Vec<Span>, Option<Vec<(String, Span)>>),
    prediction: Prediction,
) -> AnnotationSet {
    let label = |name: String, span, fe| Label {
        name,
        extent: Extent::Overt(span),
        fe,
        annotator: String::new(),
        colors: None,
    };
    let layer = |name, labels| Layer { name, rank: 1, labels };
    let target = |piece: &Span| label(LayerName::Target.to_string(), *piece, None);
    let mut layers = vec![layer(LayerName::Target, pieces.iter().map(target).collect())];
    let fe_status = if elements.is_some() { FeStatus::Carried } else { FeStatus::Unknown };
    let labels = elements.into_iter().flatten().map(|(name, span)| {
        // Of several FEs of one name the label stands for none in particular.
        let named: Vec<FeId> = frame.fes_by_name(&name).map(|fe| fe.id).collect();
        let fe = if let [only] = *named { Some(only) } else { None };
        label(name, span, fe)
    });
    let labels: Vec<Label> = labels.collect();
    if !labels.is_empty() {
        layers.push(layer(LayerName::Fe, labels));
    }
    AnnotationSet {
        status: PREDICTED.to_owned(),
        targets: pieces,
        fe_status,
        layers,
        provenance: Provenance::Predicted(Box::new(prediction)),
        ..AnnotationSet::placed(id, sentence, (frame.id, lu))
    }
}
