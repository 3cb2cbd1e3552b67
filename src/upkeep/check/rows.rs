//! Every row by itself, and what it refers to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::{CheckCode, CheckOptions, CheckReport, Findings};
use crate::database::Result;
use crate::model::{
    AnnotationSet, CorpusId, DocumentId, Extent, FeId, FeRelation, Frame, FrameElement, FrameId,
    FrameRelation, IdSpace, Layer, LexUnit, LuId, RecipeId, Reference, Refers, ReleaseId, SemType,
    Sentence, SentenceId, Span,
};
use crate::store::{
    NameKind, Recount, Row, RowContent, RowFault, RowFaultKind, SetLocation, Store, StoreError,
    Tallied,
};

/// Rows between two calls of `progress`.
const STEP: u64 = 4096;

/// Families that have one row for each set that evokes a frame.
const SET_FAMILIES: [&str; 3] = ["annotation", "set_location", "by_sentence"];

/// Goes over every row; gives the number of frame-evoking sets of the listed releases that can be
/// read.
pub(super) fn check(
    store: &Store,
    options: CheckOptions,
    report: &mut CheckReport,
    progress: &mut dyn FnMut(u64),
) -> Result<u64> {
    let listed: BTreeSet<ReleaseId> = store.releases()?.iter().map(|release| release.id).collect();
    let mut checker = Checker::new(store, options, report.revision, &mut report.findings);
    let mut of_release: BTreeMap<(ReleaseId, &'static str), u64> = BTreeMap::new();
    let mut tallied: BTreeMap<(Option<ReleaseId>, &'static str), Tallied> = BTreeMap::new();
    let (mut read, mut unreadable, mut unread) = (0, 0, BTreeSet::new());
    let mut recount = Recount::default();
    for row in store.rows()? {
        read += 1;
        if read % STEP == 0 {
            progress(read);
        }
        let (family, release) = match &row {
            Ok(row) => (row.family, row.release),
            Err(fault) => (fault.family, fault.release),
        };
        *report.rows.entry(family).or_default() += 1;
        if release.is_some_and(|release| !listed.contains(&release)) {
            report.unlisted_rows += 1;
            continue;
        }
        if let Some(release) = release {
            *of_release.entry((release, family)).or_default() += 1;
        }
        if matches!(&row, Err(fault) if fault.kind == RowFaultKind::Unreadable) {
            unread.insert(family);
        }
        if let Some(key) = key_of(&row).filter(|key| Store::is_tallied(family, key)) {
            tallied.entry((release, family)).or_default().add(key);
        }
        recount.add(&row);
        match row {
            Ok(row) => checker.row(&row),
            Err(fault) if fault.kind == RowFaultKind::Failed => {
                let RowFault { reason, .. } = *fault;
                return Err(StoreError::Engine { action: "reading rows", reason }.into());
            }
            Err(fault) => {
                unreadable += u64::from(fault.family == SET_FAMILIES[0]);
                checker.fault(&fault);
            }
        }
    }
    if let Some(failure) = checker.failure.take() {
        return Err(failure.into());
    }
    checker.compare_images();
    compare_tallies(store, &tallied, &unread, &mut report.findings)?;
    compare_sums(store, &listed, recount, &mut report.findings)?;
    let sets = compare_families(&listed, &of_release, &mut report.findings);
    Ok(sets.saturating_sub(unreadable))
}

fn key_of(row: &std::result::Result<Row, Box<RowFault>>) -> Option<&[u8]> {
    match row {
        Ok(row) => Some(&row.key),
        Err(fault) => fault.decoded_key(),
    }
}

/// Holds counts and evidence against the rows, if they are of the last commit.
fn compare_sums(
    store: &Store,
    listed: &BTreeSet<ReleaseId>,
    recount: Recount,
    findings: &mut Findings,
) -> Result<()> {
    if !store.are_sums_current()? {
        return Ok(());
    }
    let sure = recount.sure_of(listed.iter().copied());
    for difference in recount.differences() {
        findings.add(CheckCode::Counts, "count", difference);
    }
    for release in sure {
        for difference in store.evidence_differences(release)? {
            findings.add(CheckCode::Counts, "evidence", difference);
        }
    }
    Ok(())
}

/// Holds the rows that were found against those that commits have left.
fn compare_tallies(
    store: &Store,
    tallied: &BTreeMap<(Option<ReleaseId>, &'static str), Tallied>,
    unread: &BTreeSet<&'static str>,
    findings: &mut Findings,
) -> Result<()> {
    for ((release, family), expected) in store.tallied()? {
        let found = tallied.get(&(release, family)).copied().unwrap_or_default();
        if found != expected && !unread.contains(family) {
            let of = release.map_or_else(String::new, |release| format!("release {release}: "));
            let (found, expected) = (found.rows, expected.rows);
            let detail = format!("{of}{found} rows, and commits have left {expected}, or others");
            findings.add(CheckCode::Rows, family, detail);
        }
    }
    Ok(())
}

/// Holds the families that have a row for each set against each other; gives the number of sets.
fn compare_families(
    listed: &BTreeSet<ReleaseId>,
    of_release: &BTreeMap<(ReleaseId, &'static str), u64>,
    findings: &mut Findings,
) -> u64 {
    let count = |release, family| of_release.get(&(release, family)).copied().unwrap_or(0);
    for release in listed {
        let counts = SET_FAMILIES.map(|family| count(*release, family));
        if counts.iter().any(|count| *count != counts[0]) {
            let detail = format!("release {release}: {SET_FAMILIES:?} have {counts:?} rows");
            findings.add(CheckCode::Count, SET_FAMILIES[0], detail);
        }
    }
    listed.iter().map(|release| count(*release, SET_FAMILIES[0])).sum()
}

pub(super) struct Checker<'a> {
    pub(super) store: &'a Store,
    pub(super) options: CheckOptions,
    revision: u64,
    pub(super) findings: &'a mut Findings,
    recipes: BTreeSet<RecipeId>,
    /// Documents of every release: some hundreds.
    documents: HashSet<(ReleaseId, CorpusId, DocumentId)>,
    /// Numbers of LUs of every release: some ten thousand. Files name LUs by number alone.
    lexunits: HashSet<(ReleaseId, LuId)>,
    /// Frames that were looked up: some thousand.
    frames: HashMap<(ReleaseId, FrameId), Option<Rc<KnownFrame>>>,
    /// What the row before referred to: rows are in order of frame and LU.
    lexunit: Option<((ReleaseId, FrameId, LuId), bool)>,
    sentence: Option<SentenceSeen>,
    /// How many more before-images each commit says that it has than were found.
    images: BTreeMap<u64, i64>,
    /// What kept a record from being read that may be whole.
    failure: Option<StoreError>,
}

/// A sentence that was looked up, by its place; `None` where it is not there.
type SentenceSeen = ((ReleaseId, SentenceId), Option<Rc<Sentence>>);

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

impl<'a> Checker<'a> {
    fn new(
        store: &'a Store,
        options: CheckOptions,
        revision: u64,
        findings: &'a mut Findings,
    ) -> Self {
        // Families that cannot be read are found when the pass comes to them.
        let recipes = store.recipes().unwrap_or_default().into_iter().map(|(id, ..)| id).collect();
        let (mut documents, mut lexunits) = (HashSet::new(), HashSet::new());
        for release in store.releases().unwrap_or_default() {
            let rows = store.documents(release.id).into_iter().flatten().flatten();
            documents.extend(rows.map(|document| (release.id, document.corpus, document.id)));
            let rows = store.lexunit_names(release.id).into_iter().flatten().flatten();
            lexunits.extend(rows.map(|(_, lu, _)| (release.id, lu)));
        }
        Self {
            store,
            options,
            revision,
            findings,
            recipes,
            documents,
            lexunits,
            frames: HashMap::new(),
            images: BTreeMap::new(),
            lexunit: None,
            sentence: None,
            failure: None,
        }
    }

    fn fault(&mut self, fault: &RowFault) {
        let code = match fault.kind {
            RowFaultKind::Unreadable => CheckCode::Unreadable,
            RowFaultKind::Key => CheckCode::Key,
            _ => CheckCode::Record,
        };
        self.findings.add(code, fault.family, format!("{}: {}", fault.place(), fault.reason));
    }

    /// Holds the before-images that were found against those that commits say they have.
    fn compare_images(&mut self) {
        for (revision, missing) in std::mem::take(&mut self.images) {
            if missing != 0 {
                let detail = format!("commit {revision}: its record counts {missing:+} more");
                self.findings.add(CheckCode::Rows, "before", detail);
            }
        }
    }

    fn row(&mut self, row: &Row) {
        let mut at = RowPlace { family: row.family, name: String::new() };
        let Some(release) = row.release else {
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
            return;
        };
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
            _ if self.options.deep => self.derived_row(&mut at, release, &row.content),
            _ => {}
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
        let seen = self.sentence.as_ref().filter(|(key, _)| *key == sentence);
        let Some(sentence) = seen.and_then(|(_, sentence)| sentence.clone()) else { return };
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
            Reference::Listed(lu) => self.lexunits.contains(&(release, lu)),
            Reference::Document(corpus, id) => self.documents.contains(&(release, corpus, id)),
            Reference::Sentence(id) => {
                let key = (release, id);
                if self.sentence.as_ref().map(|(key, _)| *key) != Some(key) {
                    let Some(found) = self.read(store.sentence(release, id), at) else {
                        return true;
                    };
                    self.sentence = Some((key, found.map(Rc::new)));
                }
                matches!(self.sentence, Some((_, Some(_))))
            }
            Reference::Set(id) => self.finds(store.set_location(release, id), at),
            Reference::Recipe(id) => self.recipes.contains(&id),
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
