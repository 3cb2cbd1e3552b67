//! Every row by itself, and what it refers to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::{CheckCode, CheckOptions, Findings};
use crate::model::{
    AnnotationSet, CorpusId, DocumentId, Extent, FeId, FeRelation, Frame, FrameElement, FrameId,
    FrameRelation, IdSpace, Layer, LexUnit, LuId, RecipeId, Reference, Refers, ReleaseId, SemType,
    Sentence, SentenceId, Span, SynsetId,
};
use crate::store::{
    NameKind, Row, RowContent, RowFault, RowFaultKind, SetLocation, Store, StoreError,
};

/// Most sentences that are kept.
const KEPT: usize = 1024;

pub(super) struct Checker<'a> {
    pub(super) store: &'a Store,
    pub(super) options: CheckOptions,
    revision: u64,
    known: &'a Known,
    pub(super) findings: Findings,
    /// Frames that were looked up.
    frames: HashMap<(ReleaseId, FrameId), Option<Rc<KnownFrame>>>,
    /// What the row before referred to: rows are in order of frame and LU.
    lexunit: Option<((ReleaseId, FrameId, LuId), bool)>,
    /// Sentences that were looked up for rows that follow each other; `None` where one is not
    /// there.
    sentences: HashMap<(ReleaseId, SentenceId), Option<Rc<Sentence>>>,
    /// How many more before-images each commit says that it has than were found.
    images: BTreeMap<u64, i64>,
    /// What kept a record from being read that may be whole.
    failure: Option<StoreError>,
}

/// What rows are held against of a frame.
pub(super) struct KnownFrame {
    name: String,
    has_file: bool,
    /// Its FEs' names.
    pub(super) elements: HashMap<FeId, String>,
}

impl From<Frame> for KnownFrame {
    fn from(frame: Frame) -> Self {
        let elements = frame.elements.into_iter().map(|fe| (fe.id, fe.name)).collect();
        Self { name: frame.name, has_file: frame.has_file, elements }
    }
}

/// What rows anywhere are held against.
pub(super) struct Known {
    recipes: BTreeSet<RecipeId>,
    /// Documents of every release: some hundreds.
    documents: HashSet<(ReleaseId, CorpusId, DocumentId)>,
    /// Numbers of LUs of every release: some ten thousand. Files name LUs by number alone.
    lexunits: HashSet<(ReleaseId, LuId)>,
    /// Numbers of synsets of every WordNet: some hundred thousand.
    synsets: HashSet<(ReleaseId, SynsetId)>,
}

impl Known {
    pub(super) fn new(store: &Store) -> Self {
        // Families that cannot be read are found when the pass comes to them.
        let recipes = store.recipes().unwrap_or_default().into_iter().map(|(id, ..)| id).collect();
        let (mut documents, mut lexunits) = (HashSet::new(), HashSet::new());
        for release in store.releases().unwrap_or_default() {
            let rows = store.documents(release.id).into_iter().flatten().flatten();
            documents.extend(rows.map(|document| (release.id, document.corpus, document.id)));
            let rows = store.lexunit_names(release.id).into_iter().flatten().flatten();
            lexunits.extend(rows.map(|(_, lu, _)| (release.id, lu)));
        }
        let synsets = store.synset_ids().into_iter().flatten().flatten().collect();
        Self { recipes, documents, lexunits, synsets }
    }
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        store: &'a Store,
        options: CheckOptions,
        revision: u64,
        known: &'a Known,
    ) -> Self {
        Self {
            store,
            options,
            revision,
            known,
            findings: Findings::default(),
            frames: HashMap::new(),
            images: BTreeMap::new(),
            lexunit: None,
            sentences: HashMap::new(),
            failure: None,
        }
    }

    /// What was found, the missing before-images of each commit, and what kept a record from being
    /// read.
    pub(super) fn into_findings(self) -> (Findings, BTreeMap<u64, i64>, Option<StoreError>) {
        (self.findings, self.images, self.failure)
    }

    /// Reads the sentences of sets together. One that cannot be read is told of with its set.
    pub(super) fn read_sentences<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) {
        self.sentences.clear();
        let of_set = |row: &Row| match &row.content {
            RowContent::Set(set) => Some((row.release?, set.sentence)),
            RowContent::SentenceLayers(set) => Some((row.release?, set.sentence)),
            _ => None,
        };
        let mut ids: Vec<_> = rows.filter_map(of_set).collect();
        ids.sort_unstable();
        ids.dedup();
        if let Ok(found) = self.store.sentences_of(&ids) {
            self.sentences.extend(ids.into_iter().zip(found.into_iter().map(|of| of.map(Rc::new))));
        }
    }

    pub(super) fn fault(&mut self, fault: &RowFault) {
        let code = match fault.kind {
            RowFaultKind::Unreadable => CheckCode::Unreadable,
            RowFaultKind::Key => CheckCode::Key,
            _ => CheckCode::Record,
        };
        self.findings.add(code, fault.family, format!("{}: {}", fault.place(), fault.reason));
    }

    pub(super) fn row(&mut self, row: &Row) {
        let mut at = RowPlace { family: row.family, name: String::new() };
        let Some(release) = row.release else { return self.row_of_store(row) };
        match &row.content {
            RowContent::Frame(frame) => {
                at.name = format!("frame {} `{}`", frame.id, frame.name);
                self.frame_row(&at, release, frame);
            }
            RowContent::Relation(relation) => {
                at.name = format!("relation {}", relation.id);
                self.relation_row(&at, release, relation);
            }
            RowContent::SemType(sem_type) => {
                at.name = format!("semantic type {} `{}`", sem_type.id, sem_type.name);
                self.sem_type_row(&at, release, sem_type);
            }
            RowContent::LexUnit(lexunit) => {
                at.name = format!("LU {} `{}`", lexunit.id, lexunit.name);
                self.lexunit_row(&at, release, lexunit);
            }
            RowContent::Document(document) => {
                at.name = format!("document {} `{}`", document.id, document.name);
                self.refers(&at, release, document);
            }
            RowContent::Sentence(sentence) => {
                at.name = format!("sentence {}", sentence.id);
                self.refers(&at, release, sentence);
            }
            RowContent::Set(set) => {
                at.name = format!("set {}", set.id);
                self.set_row(&at, release, set);
            }
            RowContent::SentenceLayers(set) => {
                at.name = format!("set {}", set.id);
                self.refers(&at, release, set);
                self.spans(&at, (release, set.sentence), &[], &set.layers);
            }
            RowContent::Synset(synset) => {
                at.name = format!("synset {} `{}`", synset.id, synset.written);
                let targets = synset.relations.iter().map(|relation| relation.target);
                self.synsets(&at, release, targets);
            }
            RowContent::Word(word) => {
                at.name = format!("word `{}`", word.lemma);
                self.synsets(&at, release, word.senses.iter().copied());
            }
            _ if self.options.deep => self.derived_row(&mut at, release, &row.content),
            _ => {}
        }
    }

    /// A row of no release.
    fn row_of_store(&mut self, row: &Row) {
        match &row.content {
            RowContent::Change(change) if change.revision > self.revision => {
                let detail =
                    format!("revision {}, the store's is {}", change.revision, self.revision);
                self.findings.add(CheckCode::Revision, row.family, detail);
            }
            RowContent::Commit(commit) => {
                *self.images.entry(commit.revision).or_default() +=
                    i64::from(commit.images.unwrap_or_default());
            }
            RowContent::Before(revision) => *self.images.entry(*revision).or_default() -= 1,
            _ => {}
        }
    }

    /// The synsets that a row of a WordNet names are there.
    fn synsets(
        &mut self,
        at: &RowPlace,
        release: ReleaseId,
        synsets: impl Iterator<Item = SynsetId>,
    ) {
        for id in synsets.filter(|id| !self.known.synsets.contains(&(release, *id))) {
            let detail = format!("{}: synset {id}", at.name);
            self.findings.add(CheckCode::SynsetMissing, at.family, detail);
        }
    }

    fn sem_type_row(&mut self, at: &RowPlace, release: ReleaseId, sem_type: &SemType) {
        self.refers(at, release, sem_type);
        self.has_name(at, release, NameKind::SemType, &sem_type.name, (0, sem_type.id.0));
    }

    /// What a record names is there. Sets, and the sentences of documents, are looked for by a deep
    /// check alone.
    fn refers(&mut self, at: &RowPlace, release: ReleaseId, record: &impl Refers) {
        for (field, reference) in record.references() {
            let is_costly = matches!(reference, Reference::Set(_)) || field == "sentences";
            if self.options.deep || !is_costly {
                self.expect(at, release, (field, reference));
            }
        }
    }

    fn frame_row(&mut self, at: &RowPlace, release: ReleaseId, frame: &Frame) {
        self.refers(at, release, frame);
        let of_elements = |list: fn(&FrameElement) -> &[FeId], what: &'static str| {
            frame.elements.iter().flat_map(list).map(move |fe| (*fe, what))
        };
        let named = frame.core_sets.iter().flatten().map(|fe| (*fe, "core set with FE"));
        let named = named.chain(of_elements(|fe| &fe.requires, "requires FE"));
        let ids: HashSet<FeId> = frame.elements.iter().map(|fe| fe.id).collect();
        for (fe, what) in named.chain(of_elements(|fe| &fe.excludes, "excludes FE")) {
            if !ids.contains(&fe) {
                let detail = format!("{}: {what} {fe}", at.name);
                self.findings.add(CheckCode::ElementMissing, at.family, detail);
            }
        }
        self.has_name(at, release, NameKind::Frame, &frame.name, (0, frame.id.0));
        for fe in &frame.elements {
            let id = (frame.id.0, fe.id.0);
            self.has_name(at, release, NameKind::FrameElement, &fe.name, id);
        }
    }

    /// A relation's frames, and the FEs that it maps. A frame that a release only names has no FEs.
    fn relation_row(&mut self, at: &RowPlace, release: ReleaseId, relation: &FrameRelation) {
        let parent: fn(&FeRelation) -> FeId = |pair| pair.parent;
        let child: fn(&FeRelation) -> FeId = |pair| pair.child;
        self.refers(at, release, relation);
        for (frame, element) in [(relation.parent, parent), (relation.child, child)] {
            let Some(frame) = self.frame_of(release, frame, at) else { continue };
            for fe in relation.elements.iter().map(element) {
                if frame.has_file && !frame.elements.contains_key(&fe) {
                    let detail = format!("{}: FE {fe} of frame `{}`", at.name, frame.name);
                    self.findings.add(CheckCode::ElementMissing, at.family, detail);
                }
            }
        }
    }

    fn lexunit_row(&mut self, at: &RowPlace, release: ReleaseId, lexunit: &LexUnit) {
        self.refers(at, release, lexunit);
        let id = (lexunit.frame.0, lexunit.id.0);
        self.has_name(at, release, NameKind::LexUnit, &lexunit.name, id);
    }

    fn set_row(&mut self, at: &RowPlace, release: ReleaseId, set: &AnnotationSet) {
        self.refers(at, release, set);
        self.spans(at, (release, set.sentence), &set.targets, &set.layers);
        self.elements(at, release, set);
        if self.options.deep {
            self.found_by_id_and_sentence(at, release, set);
        }
    }

    /// The rows that lead to a set.
    pub(super) fn found_by_id_and_sentence(
        &mut self,
        at: &RowPlace,
        release: ReleaseId,
        set: &AnnotationSet,
    ) {
        let expected = SetLocation { frame: set.frame, lu: set.lu, sentence: set.sentence };
        if let Some(location) = self.read(self.store.set_location(release, set.id), at)
            && location != Some(expected)
        {
            let detail = format!("{}: located at {location:?}, kept at {expected:?}", at.name);
            self.findings.add(CheckCode::Location, at.family, detail);
        }
        if let Some(false) = self.read(self.store.is_in_sentence(release, set.sentence, set.id), at)
        {
            let detail = format!("{}: sentence {} does not list it", at.name, set.sentence);
            self.findings.add(CheckCode::BySentence, at.family, detail);
        }
    }

    /// FE labels with FEs of the set's frame. FrameNet's own sets have some without (`W-fe-unknown`
    /// of the import report), which are kept as they are, also in what grew from them.
    fn elements(&mut self, at: &RowPlace, release: ReleaseId, set: &AnnotationSet) {
        if set.id.space() != IdSpace::Imported {
            return;
        }
        let Some(frame) = self.frame_of(release, set.frame, at) else { return };
        let labels = set.fe_layers().flat_map(|layer| &layer.labels);
        let missing: Vec<String> = labels
            .filter_map(|label| Some((label, label.fe?)))
            .filter(|(_, fe)| !frame.elements.contains_key(fe))
            .map(|(label, fe)| format!("{}: FE {fe} `{}`", at.name, label.name))
            .collect();
        for detail in missing {
            self.findings.add(CheckCode::ElementMissing, at.family, detail);
        }
    }

    /// Spans that lie in the text of the sentence that was looked up, between characters.
    fn spans(
        &mut self,
        at: &RowPlace,
        sentence: (ReleaseId, SentenceId),
        targets: &[Span],
        layers: &[Layer],
    ) {
        let Some(sentence) = self.sentences.get(&sentence).cloned().flatten() else { return };
        let text = &sentence.text;
        let labels = layers.iter().flat_map(|layer| &layer.labels);
        let overt = labels.filter_map(|label| match &label.extent {
            Extent::Overt(span) => Some(*span),
            Extent::Null(_) | Extent::None => None,
        });
        for span in targets.iter().copied().chain(overt) {
            if span.of(text).is_none() {
                let detail =
                    format!("{}: {}..{} of {} bytes", at.name, span.start, span.end, text.len());
                self.findings.add(CheckCode::Span, at.family, detail);
            }
        }
    }

    fn frame_of(
        &mut self,
        release: ReleaseId,
        frame: FrameId,
        at: &RowPlace,
    ) -> Option<Rc<KnownFrame>> {
        self.look_up_frame(release, frame, at)?
    }

    /// The frame of that number; `None`, and a finding, when it cannot be read.
    pub(super) fn look_up_frame(
        &mut self,
        release: ReleaseId,
        frame: FrameId,
        at: &RowPlace,
    ) -> Option<Option<Rc<KnownFrame>>> {
        let key = (release, frame);
        if let Some(known) = self.frames.get(&key) {
            return Some(known.clone());
        }
        let found = self.read(self.store.frame(release, frame), at)?;
        let found = found.map(|frame| Rc::new(KnownFrame::from(frame)));
        self.frames.insert(key, found.clone());
        Some(found)
    }

    /// Something that a row names is there.
    pub(super) fn expect(
        &mut self,
        at: &RowPlace,
        release: ReleaseId,
        (field, reference): (&'static str, Reference),
    ) {
        if self.is_there(at, release, reference) {
            return;
        }
        let (code, what) = missing(field, reference);
        self.findings.add(code, at.family, format!("{}: {what}", at.name));
    }

    /// Whether something is there, or cannot be read, which is a finding of its own.
    fn is_there(&mut self, at: &RowPlace, release: ReleaseId, reference: Reference) -> bool {
        let store = self.store;
        match reference {
            Reference::SemType(id) => self.finds(store.sem_type(release, id), at),
            Reference::Frame(id) => !matches!(self.look_up_frame(release, id, at), Some(None)),
            Reference::LexUnit(frame, lu) => {
                let key = (release, frame, lu);
                if self.lexunit.as_ref().map(|(key, _)| *key) != Some(key) {
                    let Some(found) = self.read(store.lexunit(release, frame, lu), at) else {
                        return true;
                    };
                    self.lexunit = Some((key, found.is_some()));
                }
                matches!(self.lexunit, Some((_, true)))
            }
            Reference::Listed(lu) => self.known.lexunits.contains(&(release, lu)),
            Reference::Document(corpus, id) => {
                self.known.documents.contains(&(release, corpus, id))
            }
            Reference::Sentence(id) => {
                let key = (release, id);
                if let Some(known) = self.sentences.get(&key) {
                    return known.is_some();
                }
                let Some(found) = self.read(store.sentence(release, id), at) else {
                    return true;
                };
                let is_there = found.is_some();
                if self.sentences.len() >= KEPT {
                    self.sentences.clear();
                }
                self.sentences.insert(key, found.map(Rc::new));
                is_there
            }
            Reference::Set(id) => self.finds(store.set_location(release, id), at),
            Reference::Recipe(id) => self.known.recipes.contains(&id),
        }
    }

    /// Whether something was found, or could not be read.
    pub(super) fn finds<T>(
        &mut self,
        found: std::result::Result<Option<T>, StoreError>,
        at: &RowPlace,
    ) -> bool {
        !matches!(self.read(found, at), Some(None))
    }

    /// What was read; `None` and a finding when it cannot be.
    pub(super) fn read<T>(
        &mut self,
        outcome: std::result::Result<T, StoreError>,
        at: &RowPlace,
    ) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(error) if !error.is_damage() => {
                self.failure.get_or_insert(error);
                None
            }
            Err(error) => {
                self.findings.add(
                    CheckCode::Unreadable,
                    at.family,
                    format!("{}: {error}", at.name),
                );
                None
            }
        }
    }
}

/// The row being looked at.
pub(super) struct RowPlace {
    pub(super) family: &'static str,
    pub(super) name: String,
}

/// What is wrong where something is not there that a field names.
fn missing(field: &str, reference: Reference) -> (CheckCode, String) {
    match reference {
        Reference::SemType(id) => {
            let what = if field == "parents" { "super" } else { "semantic" };
            (CheckCode::SemTypeMissing, format!("{what} type {id}"))
        }
        Reference::Frame(id) => (CheckCode::FrameMissing, format!("frame {id}")),
        Reference::LexUnit(frame, lu) => {
            (CheckCode::LexUnitMissing, format!("LU {lu} of frame {frame}"))
        }
        Reference::Listed(lu) => (CheckCode::LexUnitMissing, format!("listed under LU {lu}")),
        Reference::Document(corpus, id) => {
            (CheckCode::DocumentMissing, format!("document {id} of corpus {corpus}"))
        }
        Reference::Sentence(id) => (CheckCode::SentenceMissing, format!("sentence {id}")),
        Reference::Set(id) => {
            let what = field.trim_start_matches("provenance.");
            let what = if what == "sets" { "valence table with" } else { what };
            (CheckCode::SetMissing, format!("{what} {id}"))
        }
        Reference::Recipe(id) => (CheckCode::RecipeMissing, format!("recipe {id}")),
    }
}
