//! A release as the files that it came in: FrameNet's XML, written so that an import of it makes an
//! equal store.
//!
//! Records say what stands in the files, layouts how; a frame with its LUs is in memory at a time.
//! A release that came without layouts has none: then its sentences stand in order of id.
//!
//! Sets that are not FrameNet's stand in the file of their LU, after its own, in subcorpora that
//! are called after their origin. Their provenance has no place in the format, and is counted as
//! lost.

mod directory;
mod files;
mod indexes;
mod lexunits;
mod listed;
mod names;
mod open;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;

use rayon::prelude::*;

use self::directory::Directory;
pub use self::files::FramenetFiles;
use self::listed::Listing;
use self::names::FileNames;
use crate::database::{Database, DatabaseError, Result};
use crate::framenet::{
    FrameFile, FullTextFile, ReadSentence, SemTypeNames, WarningLog, replace_not_xml,
    write_frame_file, write_fulltext_file,
};
use crate::model::{
    AnnotationSetId, CorpusId, Document, DocumentId, ForeignFile, Frame, FrameId, IdSpace, LexUnit,
    LuId, NumberKind, OWN_RANGE, Origin, PREDICTED, PROPOSED, Release, SentenceId, WrittenNumbers,
};
use crate::query::Expression;
use crate::search::Match;
use crate::store::Store;

/// What an export as FrameNet's XML wrote and left out.
#[derive(Debug, Clone)]
pub struct FramenetExport {
    /// The release.
    pub release: Release,
    /// Frame files.
    pub frames: u64,
    /// LU files.
    pub lu_files: u64,
    /// Full-text files.
    pub documents: u64,
    /// Sets that evoke frames.
    pub sets: u64,
    /// Sets of sentence layers, counted in every place that lists them.
    pub sentence_layer_sets: u64,
    /// Bytes of XML.
    pub bytes: u64,
    /// Files of the release that a partial export leaves out, by folder.
    pub left_out: BTreeMap<&'static str, u64>,
    /// What the format has no place for.
    pub lost: BTreeMap<FramenetLoss, u64>,
}

/// Something that FrameNet's XML has no place for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FramenetLoss {
    /// A generated or carried set: written as an exemplar, without seed, source and scores.
    Generated,
    /// A set from a file of another format: written as an exemplar, without the file's name.
    Imported,
    /// A set that a frame model predicted: written as an exemplar, without its file and the model's
    /// probabilities.
    Predicted,
    /// A set that a user made: written as an exemplar.
    User,
    /// A file of a release without layouts, whose order nobody kept.
    Order,
    /// A frame file that does not list its related frames: relations of it were edited, or format
    /// 1.0 imported it.
    RelatedFrames,
    /// A sentence that people added or an import brought, without sets, in no document: no file has
    /// it.
    Sentences,
    /// A judgement of a set.
    Judgements,
    /// What a verifier says of a set.
    Verifications,
    /// A proposed LU on which people decided.
    Decisions,
    /// A proposed LU that people rejected: not written, nor are its sets.
    Rejected,
    /// An edition.
    Editions,
    /// A character that XML does not have, as texts from elsewhere may hold: written as U+FFFD.
    Characters,
}

impl FramenetLoss {
    /// In a few words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generated => {
                "generated and carried sets written as exemplars, without seed, source, round, recipe, \
                 scores and flags: an import reads them as human"
            }
            Self::Imported => "imported sets written as exemplars, without the name of their file",
            Self::Predicted => {
                "predicted sets written as exemplars, without file, model and probabilities: an \
                 import reads them as human"
            }
            Self::User => "sets made by a user written as exemplars",
            Self::Order => {
                "files whose order the store does not know: LUs and sentences stand in order of id"
            }
            Self::RelatedFrames => {
                "frame files without their lists of related frames, which frRelation.xml has"
            }
            Self::Sentences => {
                "sentences without annotation in no document, which no file of a release has"
            }
            Self::Judgements => "judgements of annotation sets",
            Self::Verifications => "answers of a verifier to annotation sets",
            Self::Decisions => "proposed LUs without the decisions on them",
            Self::Rejected => "rejected LUs, with their sentences",
            Self::Editions => "editions",
            Self::Characters => "characters that XML does not have, written as U+FFFD",
        }
    }
}

/// What a part of the work wrote.
#[derive(Default)]
struct Tally {
    frames: u64,
    lu_files: u64,
    documents: u64,
    sets: u64,
    sentence_layer_sets: u64,
    bytes: u64,
    left_out: BTreeMap<&'static str, u64>,
    lost: BTreeMap<FramenetLoss, u64>,
    /// Every LU that a file was written for.
    lexunits: HashMap<(FrameId, LuId), Annotation>,
    written_frames: HashSet<FrameId>,
    written_documents: HashSet<(CorpusId, DocumentId)>,
}

/// Whether the file of an LU holds annotation.
#[derive(Clone, Copy, Default)]
struct Annotation {
    any: bool,
    /// Of sets that no release gives.
    own: bool,
}

impl Tally {
    fn lose(&mut self, loss: FramenetLoss) {
        *self.lost.entry(loss).or_default() += 1;
    }

    fn leave_out(&mut self, folder: &'static str) {
        *self.left_out.entry(folder).or_default() += 1;
    }

    fn merge(mut self, other: Self) -> Self {
        self.frames += other.frames;
        self.lu_files += other.lu_files;
        self.documents += other.documents;
        self.sets += other.sets;
        self.sentence_layer_sets += other.sentence_layer_sets;
        self.bytes += other.bytes;
        for (folder, count) in other.left_out {
            *self.left_out.entry(folder).or_default() += count;
        }
        for (loss, count) in other.lost {
            *self.lost.entry(loss).or_default() += count;
        }
        self.lexunits.extend(other.lexunits);
        self.written_frames.extend(other.written_frames);
        self.written_documents.extend(other.written_documents);
        self
    }
}

/// The sets of a partial export, with the frames and LUs that they evoke.
struct Wanted {
    sets: HashSet<AnnotationSetId>,
    lexunits: HashSet<(FrameId, LuId)>,
    frames: HashSet<FrameId>,
}

type Sink<'a> = Box<dyn Fn(&str, &str) -> Result<u64> + Send + Sync + 'a>;

/// What every file of the export needs to know.
struct Exporter<'a> {
    store: &'a Store,
    release: Release,
    /// Takes the name and the content of a file; says how many bytes it has.
    sink: Sink<'a>,
    /// Whether sets and LUs that are not the release's own are left out.
    only_given: bool,
    /// `None` for the whole release.
    wanted: Option<Wanted>,
    /// What fresh numbers are written as.
    numbers: WrittenNumbers,
    sem_types: SemTypeNames,
    frames: BTreeMap<FrameId, String>,
    lexunits: HashMap<(FrameId, LuId), String>,
    /// What each file is called.
    files: FileNames,
    /// Frames of the LUs of a number.
    frames_of: HashMap<LuId, Vec<FrameId>>,
    documents: BTreeMap<(CorpusId, DocumentId), Document>,
    /// Proposed LUs that people rejected.
    rejected: HashSet<(FrameId, LuId)>,
    /// Frames that have relations.
    related: HashSet<FrameId>,
    /// Sets that the files of LUs list, where it was asked for them.
    listed: Mutex<HashMap<LuId, HashSet<AnnotationSetId>>>,
}

/// Frames exported together, and full texts: enough for all cores, few enough to report on.
const CHUNK: usize = 16;

impl Database {
    /// Writes a release as FrameNet's XML into `dir`, which must be empty or not there.
    ///
    /// An expression that names no more than releases exports all of the release: an import of it
    /// makes an equal store. Any other exports a part: the sets for which it holds, the files of
    /// their LUs, frames and documents, and the relations between these frames. Valence tables stay
    /// FrameNet's own and whole. `progress` is told how many frames and documents are done, and of
    /// how many.
    ///
    /// All or nothing: the files lie beside `dir` until all are written. `None` when nothing
    /// matches.
    ///
    /// # Errors
    /// When `dir` holds something or cannot be written, the expression names what there is not, or
    /// the store fails.
    pub fn export_framenet(
        &self,
        release: &Release,
        expression: &Expression,
        dir: &Path,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Option<FramenetExport>> {
        let directory = Directory::create(dir)?;
        let wanted = self.wanted(release, expression)?;
        if wanted.as_ref().is_some_and(|wanted| wanted.sets.is_empty()) {
            return Ok(None);
        }
        let sink = Box::new(|name: &str, content: &str| directory.write(name, content));
        let exporter = Exporter::new(&self.store, release, sink, wanted)?;
        let frames: Vec<FrameId> = exporter.frames.keys().copied().collect();
        let documents: Vec<&Document> =
            exporter.documents.values().filter(|document| has_file(document)).collect();
        let of = frames.len() + documents.len();
        let mut tally = Tally::default();
        let mut done = 0;
        for chunk in frames.chunks(CHUNK) {
            tally = tally.merge(in_parallel(chunk, |frame, tally| exporter.frame(*frame, tally))?);
            done += chunk.len();
            progress(done, of);
        }
        for chunk in documents.chunks(CHUNK) {
            tally = tally.merge(in_parallel(chunk, |row, tally| exporter.document(row, tally))?);
            done += chunk.len();
            progress(done, of);
        }
        exporter.top_files(&mut tally)?;
        exporter.lose_sentences(&mut tally)?;
        exporter.lose_verdicts(&mut tally)?;
        drop(exporter);
        directory.publish()?;
        Ok(Some(FramenetExport {
            release: release.clone(),
            frames: tally.frames,
            lu_files: tally.lu_files,
            documents: tally.documents,
            sets: tally.sets,
            sentence_layer_sets: tally.sentence_layer_sets,
            bytes: tally.bytes,
            left_out: tally.left_out,
            lost: tally.lost,
        }))
    }

    /// The sets that an expression stands for; `None` for all.
    fn wanted(&self, release: &Release, expression: &Expression) -> Result<Option<Wanted>> {
        self.refresh()?;
        if super::names_only_releases(expression) {
            return Ok(None);
        }
        let mut wanted =
            Wanted { sets: HashSet::new(), lexunits: HashSet::new(), frames: HashSet::new() };
        let add = |some: &mut Vec<_>, found: Match<'_>| {
            let set = found.set();
            some.extend((found.release() == release.id).then_some((set.id, set.frame, set.lu)));
            Ok(None)
        };
        self.fold_matches(expression, Vec::new, add, |some| {
            for (set, frame, lu) in some {
                wanted.sets.insert(set);
                wanted.lexunits.insert((frame, lu));
                wanted.frames.insert(frame);
            }
            Ok::<_, DatabaseError>(())
        })?;
        Ok(Some(wanted))
    }
}

/// Works on all items by all cores.
fn in_parallel<T: Sync>(
    items: &[T],
    work: impl Fn(&T, &mut Tally) -> Result<()> + Sync,
) -> Result<Tally> {
    let tallies = items.par_iter().map(|item| {
        let mut tally = Tally::default();
        work(item, &mut tally).map(|()| tally)
    });
    tallies.try_reduce(Tally::default, |a, b| Ok(a.merge(b)))
}

impl<'a> Exporter<'a> {
    fn wants_set(&self, set: AnnotationSetId) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.sets.contains(&set))
    }

    /// Whether a set may be written: one that is the release's, or any.
    fn takes_origin(&self, origin: Origin) -> bool {
        !self.only_given || matches!(origin, Origin::Exemplar | Origin::FullText)
    }

    fn wants_lexunit(&self, lu: &LexUnit) -> bool {
        if self.only_given && [PROPOSED, PREDICTED].contains(&lu.status.as_str()) {
            return false;
        }
        self.wanted.as_ref().is_none_or(|wanted| wanted.lexunits.contains(&(lu.frame, lu.id)))
    }

    /// Writes a file; what XML has no character for is replaced and counted.
    fn write(&self, tally: &mut Tally, name: &str, mut content: String) -> Result<()> {
        for _ in 0..replace_not_xml(&mut content) {
            tally.lose(FramenetLoss::Characters);
        }
        tally.bytes += (self.sink)(name, &content)?;
        Ok(())
    }

    /// A number as its release writes it, for the name of a file.
    fn written(&self, kind: NumberKind, number: u32) -> String {
        let written = self.numbers.text(kind, number.into()).filter(|text| !text.is_empty());
        written.map_or(number.to_string(), str::to_owned)
    }

    /// Counts what people and models said of sets and of proposed LUs: no file has a place for it.
    fn lose_verdicts(&self, tally: &mut Tally) -> Result<()> {
        let wanted = self.wanted.as_ref();
        let is_wanted = |set| wanted.is_none_or(|wanted| wanted.sets.contains(&set));
        for row in self.store.all_judgements(self.release.id)? {
            if is_wanted(row?.0) {
                tally.lose(FramenetLoss::Judgements);
            }
        }
        for row in self.store.all_verifications(self.release.id)? {
            if is_wanted(row?.set) {
                tally.lose(FramenetLoss::Verifications);
            }
        }
        let has_frame = |frame| wanted.is_none_or(|wanted| wanted.frames.contains(&frame));
        for row in self.store.all_decisions(self.release.id)? {
            if has_frame(row?.frame) {
                tally.lose(FramenetLoss::Decisions);
            }
        }
        let is_whole = wanted.is_none();
        for edition in self.store.editions(self.release.id)?.filter(|_| is_whole) {
            edition.map(|_| tally.lose(FramenetLoss::Editions))?;
        }
        Ok(())
    }

    /// Counts the sentences that are written nowhere; those of a release stand in its files,
    /// generated ones have sets.
    fn lose_sentences(&self, tally: &mut Tally) -> Result<()> {
        if self.wanted.is_some() {
            return Ok(());
        }
        let written = self.documents.values().filter(|document| has_file(document));
        let written: HashSet<SentenceId> =
            written.flat_map(|document| &document.sentences).copied().collect();
        for sentence in self.store.sentences_from(self.release.id, IdSpace::Imported)? {
            let id = sentence?.id;
            if id.space() == IdSpace::Imported
                && !written.contains(&id)
                && self.store.sets_of_sentence(self.release.id, id)?.next().is_none()
            {
                tally.lose(FramenetLoss::Sentences);
            }
        }
        Ok(())
    }

    /// A frame's file, and those of its LUs.
    fn frame(&self, id: FrameId, tally: &mut Tally) -> Result<()> {
        let release = self.release.id;
        let Some(frame) = self.store.frame(release, id)? else { return Ok(()) };
        let mut lexunits = BTreeMap::new();
        for lu in self.store.lexunits_of(release, id)? {
            let lu = lu?;
            if !self.rejected.contains(&(id, lu.id)) {
                lexunits.insert(lu.id, lu);
            } else if self.wants_lexunit(&lu) {
                tally.lose(FramenetLoss::Rejected);
            }
        }
        let wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.frames.contains(&id));
        if frame.has_file && !wanted {
            tally.leave_out("frame");
        }
        for lu in lexunits.values() {
            self.lexunit_file(&frame, lu, tally)?;
        }
        if wanted && self.has_frame_file(&frame)? {
            self.frame_file(frame, lexunits, tally)?;
        }
        Ok(())
    }

    /// Whether a frame has a file: the release's, or one that the files of its LUs need.
    fn has_frame_file(&self, frame: &Frame) -> Result<bool> {
        if frame.has_file {
            return Ok(true);
        }
        for lu in self.store.lexunits_of(self.release.id, frame.id)? {
            let lu = lu?;
            if !self.rejected.contains(&(frame.id, lu.id)) && self.is_listed_in_frame(&lu)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the file of its frame lists an LU: as the release's did, or because its own file
    /// has sets that came later.
    fn is_listed_in_frame(&self, lu: &LexUnit) -> Result<bool> {
        let is_named_only = !lu.listing.frame_file && !lu.listing.lu_file;
        let is_listed =
            lu.listing.frame_file || lu.id.0 >= OWN_RANGE || is_named_only && self.has_sets(lu)?;
        Ok(is_listed && self.wants_lexunit(lu))
    }

    fn frame_file(
        &self,
        frame: Frame,
        mut lexunits: BTreeMap<LuId, LexUnit>,
        tally: &mut Tally,
    ) -> Result<()> {
        let layout = self.store.frame_layout(self.release.id, frame.id)?;
        if layout.is_none() && frame.id.0 < OWN_RANGE {
            tally.lose(FramenetLoss::Order);
        }
        let layout = layout.unwrap_or_default();
        if layout.relations.is_empty() && self.related.contains(&frame.id) {
            tally.lose(FramenetLoss::RelatedFrames);
        }
        let mut unlisted = HashSet::new();
        for lu in lexunits.values() {
            if !self.is_listed_in_frame(lu)? {
                unlisted.insert(lu.id);
            }
        }
        lexunits.retain(|id, _| !unlisted.contains(id));
        let mut listed: Vec<LexUnit> =
            layout.lexunits.iter().filter_map(|lu| lexunits.remove(lu)).collect();
        listed.extend(lexunits.into_values());
        let name = self.files.frame(frame.id);
        tally.frames += 1;
        tally.written_frames.insert(frame.id);
        let foreign = self.store.foreign(self.release.id, ForeignFile::Frame(frame.id))?;
        let file = FrameFile {
            file: name.clone(),
            frame,
            lexunits: listed,
            layout,
            sem_type_names: Vec::new(),
            warnings: WarningLog::default(),
            numbers: WrittenNumbers::default(),
            foreign,
        };
        let content = write_frame_file(&file, &self.sem_types, &self.numbers);
        self.write(tally, &name, content)
    }

    /// A full-text file; none when nothing of it is wanted.
    fn document(&self, document: &Document, tally: &mut Tally) -> Result<()> {
        let key = (document.corpus, document.id);
        let layout = self.store.document_layout(self.release.id, key.0, key.1)?;
        let layout = match layout {
            Some(layout) => layout,
            None => {
                if !document.file.is_empty() {
                    tally.lose(FramenetLoss::Order);
                }
                self.guessed_document(document)?
            }
        };
        let mut sentences: Vec<ReadSentence> = Vec::new();
        let mut listing = Listing::new(layout.odd_labels, None);
        for listed in &layout.sentences {
            sentences.extend(self.sentence(listed, &mut listing, tally)?);
        }
        if self.wanted.is_some() && sentences.is_empty() {
            tally.leave_out("fulltext");
            return Ok(());
        }
        let name = self.files.document(document.corpus, document.id);
        tally.documents += 1;
        tally.written_documents.insert(key);
        let file = FullTextFile {
            file: name.clone(),
            corpus: (document.corpus, document.corpus_title()),
            document: (document.id, document.title()),
            sentences,
            warnings: WarningLog::default(),
            numbers: WrittenNumbers::default(),
            foreign: self.store.foreign(self.release.id, ForeignFile::Document(key.0, key.1))?,
        };
        self.write(tally, &name, write_fulltext_file(&file, &self.numbers))
    }
}

/// Whether a document is full text, and no mere source of exemplars: a release's, or a user's.
fn has_file(document: &Document) -> bool {
    !document.file.is_empty() || document.id.0 >= OWN_RANGE
}

/// The loss that a set of this origin is, when it is one.
fn loss_of(origin: Origin) -> Option<FramenetLoss> {
    match origin {
        Origin::Exemplar | Origin::FullText => None,
        Origin::Imported => Some(FramenetLoss::Imported),
        Origin::User => Some(FramenetLoss::User),
        Origin::Generated | Origin::Carried => Some(FramenetLoss::Generated),
        Origin::Predicted => Some(FramenetLoss::Predicted),
    }
}
