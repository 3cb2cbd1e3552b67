//! Edits by people: checked one by one, committed together.
//!
//! A [`Transaction`] keeps what it is told in memory; the store is read for checks and written
//! once, by [`Transaction::commit`]. So dropping one writes nothing, and a refused edit leaves the
//! transaction as it was before it. After every edit the release would be whole: what a record
//! refers to is there, and spans lie in their texts.
//!
//! **Ids.** A record that is added gets an id of the store's own range. Sentences and sets get one
//! of [`IdSpace::Imported`](crate::model::IdSpace), other records a number from
//! [`OWN_RANGE`](crate::model::OWN_RANGE) on. They are counted in `meta`. No committed one is given
//! again, even if its record is gone.
//!
//! **FrameNet's own records** may be edited; they keep their ids, and the list of changes says so.
//! Sets that are added are [`Provenance::User`] or [`Provenance::Imported`]. What a record of a
//! release has that no edit would be allowed to make (FrameNet has labels of FEs that their frame
//! lacks) may stay as it is.
//!
//! **Several at once.** Transactions do not lock each other out. The one that commits second fails
//! with [`EditError::Conflict`] when the first has changed a record that it read, edited or counted
//! on not being there; what does not meet commits.

mod cascade;
mod check;
mod expansions;
mod frame;
mod governance;
mod layouts;
mod passage;
mod repair;
mod script;
mod staged;
mod together;
mod undo;
mod unreadable;

use std::cell::RefCell;
use std::collections::BTreeSet;

pub use expansions::Removed;
pub use governance::{Fate, HandedOver};
#[doc(hidden)]
pub use passage::CarriedElements;
#[doc(hidden)]
pub use repair::RepairReport;
#[doc(hidden)]
pub use script::scores_in;
pub use script::{Done, Script};
use staged::{Judged, Staged, StagedRow, absent, named};
use undo::Undoing;
pub use undo::Undone;

use crate::database::{Database, DatabaseError, EditError, LookupError, ReleaseRef, Result};
use crate::model::{
    AnnotationSet, AnnotationSetId, CorpusId, Document, DocumentId, EVOKES, Frame, FrameId,
    FrameRelation, Judgement, LexUnit, LuId, Provenance, RelationId, ReleaseId, SemType, SemTypeId,
    Sentence, SentenceId, SentenceLayers, recorded_question,
};
use crate::store::{Change, NameKind, Subject};

/// What becomes of the records that refer to one that is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Removal {
    /// There must be none: the removal is refused with [`EditError::InUse`].
    #[default]
    Alone,
    /// They are removed, too, or what refers is taken out of them.
    Cascade,
}

/// Edits of one release, to be committed together.
///
/// ```
/// use fnstore::database::Database;
/// use fnstore::edit::Removal;
/// use fnstore::transfer::ImportOptions;
/// use fnstore::model::{FrameId, LexUnit, LuId};
///
/// # let store = tempfile::tempdir()?;
/// # let database = Database::open_writer(store.path())?;
/// # let mini = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/mini-framenet");
/// # let release = database.import(mini.as_ref(), &ImportOptions::default(), &mut |_| {})?.release;
/// let mut edits = database.transaction(release.id)?;
/// let frame = FrameId(102);
/// let lu = edits.add_lexunit(LexUnit::named(frame, LuId(0), "peruse.v"))?;
/// assert_eq!(edits.lexunit(frame, lu)?.map(|lu| lu.name), Some("peruse.v".to_owned()));
/// let in_use = edits.remove_lexunit(frame, LuId(1001), Removal::Alone).unwrap_err();
/// assert!(in_use.to_string().contains("annotation sets"), "{in_use}");
/// let revision = edits.commit()?;
/// assert_eq!(database.changes(revision - 1)?.count(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Transaction<'a> {
    database: &'a Database,
    release: ReleaseId,
    /// The store's revision that the first edit was checked against.
    began: u64,
    staged: Staged,
    /// What the edits count on: another commit must not change it.
    basis: RefCell<Basis>,
    others: Others,
    undoing: Undoing,
    note: String,
    /// Who edits, where that is not who makes the handle's commits.
    by: Option<String>,
}

/// Records whose names may be those of others.
#[derive(Debug, Clone, Default)]
struct Others {
    is_allowed: bool,
    allowed: BTreeSet<Subject>,
}

impl Others {
    /// Takes note of what is now added or edited.
    fn note(&mut self, subject: Subject) {
        if self.is_allowed {
            self.allowed.insert(subject);
        }
    }

    /// Takes note of a record whose name may be another's, whatever is allowed otherwise.
    fn allow(&mut self, subject: Subject) {
        self.allowed.insert(subject);
    }

    fn has(&self, subject: &Subject) -> bool {
        self.allowed.contains(subject)
    }
}

/// What edits were checked against.
#[derive(Debug, Clone, Default)]
struct Basis {
    /// Records that were read, found or not.
    records: BTreeSet<Subject>,
    sets: BTreeSet<AnnotationSetId>,
    scopes: BTreeSet<ReadScope>,
}

/// Records that were all looked at: that there are no others was counted on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ReadScope {
    /// All of the release.
    Release,
    Relations,
    Documents,
    /// LUs and sets of a frame.
    Frame(FrameId),
    /// Sets of an LU.
    LexUnit(FrameId, LuId),
    /// Sets of a sentence.
    Sentence(SentenceId),
    /// Judgements of a set.
    Judgements(AnnotationSetId),
}

impl Basis {
    fn counts_on(&self, change: &Change) -> bool {
        let looked_at = |scope| self.scopes.contains(&scope);
        if looked_at(ReadScope::Release) {
            return true;
        }
        match &change.subject {
            Subject::Set(set, at) => {
                self.sets.contains(set)
                    || looked_at(ReadScope::Frame(at.frame))
                    || looked_at(ReadScope::LexUnit(at.frame, at.lu))
                    || looked_at(ReadScope::Sentence(at.sentence))
            }
            Subject::LexUnit(frame, _) if looked_at(ReadScope::Frame(*frame)) => true,
            Subject::Relation(_) if looked_at(ReadScope::Relations) => true,
            Subject::Document(..) if looked_at(ReadScope::Documents) => true,
            Subject::Judgement(set, ..) if looked_at(ReadScope::Judgements(*set)) => true,
            other => self.records.contains(other),
        }
    }
}

impl Database {
    /// Starts a transaction on a release, by its name or its number.
    ///
    /// # Errors
    /// When the handle is a reader's, or there is no such release.
    pub fn transaction<'r>(&self, release: impl Into<ReleaseRef<'r>>) -> Result<Transaction<'_>> {
        self.require_writable()?;
        let began = self.store.revision()?;
        let release = self.release(release)?.id;
        let (staged, basis, others, undoing, note, by) = Default::default();
        Ok(Transaction { database: self, release, began, staged, basis, others, undoing, note, by })
    }
}

/// Reading what the release will be.
impl Transaction<'_> {
    fn read<R: StagedRow>(&self, key: &R::Key) -> Result<Option<R>> {
        let row = self.staged.get::<R>(&self.database.store, self.release, key)?;
        if let Some(row) = &row {
            self.count_on(row.subject());
        }
        Ok(row)
    }

    fn count_on(&self, subject: Subject) {
        let mut basis = self.basis.borrow_mut();
        match subject {
            Subject::Set(set, _) => basis.sets.insert(set),
            subject => basis.records.insert(subject),
        };
    }

    fn look_at(&self, scope: ReadScope) {
        self.basis.borrow_mut().scopes.insert(scope);
    }

    /// How many records that the store has will be gone: what each kind is called, as in
    /// `annotation set`, and their number. Kinds without any are left out.
    #[must_use]
    pub fn removed(&self) -> Vec<(&'static str, u64)> {
        self.staged.removed()
    }

    /// The frame as it will be.
    ///
    /// # Errors
    /// When the store fails; so for every reading function here.
    pub fn frame(&self, frame: FrameId) -> Result<Option<Frame>> {
        self.read(&frame)
    }

    /// The LU as it will be.
    pub fn lexunit(&self, frame: FrameId, lu: LuId) -> Result<Option<LexUnit>> {
        self.read(&(frame, lu))
    }

    /// The relation as it will be.
    pub fn relation(&self, relation: RelationId) -> Result<Option<FrameRelation>> {
        self.read(&relation)
    }

    /// The semantic type as it will be.
    pub fn sem_type(&self, sem_type: SemTypeId) -> Result<Option<SemType>> {
        self.read(&sem_type)
    }

    /// The document as it will be.
    pub fn document(&self, corpus: CorpusId, document: DocumentId) -> Result<Option<Document>> {
        self.read(&(corpus, document))
    }

    /// The sentence as it will be.
    pub fn sentence(&self, sentence: SentenceId) -> Result<Option<Sentence>> {
        self.read(&sentence)
    }

    /// The annotation set as it will be.
    pub fn annotation_set(&self, set: AnnotationSetId) -> Result<Option<AnnotationSet>> {
        self.read(&set)
    }

    /// The judgements of a set as they will be, by reviewer and question.
    pub fn judgements(&self, set: AnnotationSetId) -> Result<Vec<Judgement>> {
        self.look_at(ReadScope::Judgements(set));
        let stored = self.database.store.judgements(self.release, set)?;
        let stored = stored.map(|row| Ok(Judged { set, judgement: row? }));
        let rows = self.staged.over(stored, |row: &Judged| row.set == set)?;
        let mut judgements: Vec<Judgement> = rows.into_iter().map(|row| row.judgement).collect();
        judgements.sort_by(|a, b| (&a.reviewer, &a.question).cmp(&(&b.reviewer, &b.question)));
        Ok(judgements)
    }

    /// The LUs of a frame as they will be.
    pub fn lexunits_of(&self, frame: FrameId) -> Result<Vec<LexUnit>> {
        self.look_at(ReadScope::Frame(frame));
        let stored = self.database.store.lexunits_of(self.release, frame)?;
        self.staged.over(stored, |lu: &LexUnit| lu.frame == frame)
    }

    fn sets_of_frame(&self, frame: FrameId) -> Result<Vec<AnnotationSet>> {
        self.look_at(ReadScope::Frame(frame));
        let stored = self.database.store.annotation_sets_of_frame(self.release, frame)?;
        self.staged.over(stored, |set: &AnnotationSet| set.frame == frame)
    }

    fn sets_of_lexunit(&self, frame: FrameId, lu: LuId) -> Result<Vec<AnnotationSet>> {
        self.look_at(ReadScope::LexUnit(frame, lu));
        let stored = self.database.store.annotation_sets_of_lexunit(self.release, frame, lu)?;
        self.staged.over(stored, |set: &AnnotationSet| (set.frame, set.lu) == (frame, lu))
    }

    fn sets_of_sentence(&self, sentence: SentenceId) -> Result<Vec<AnnotationSet>> {
        self.look_at(ReadScope::Sentence(sentence));
        let (store, release) = (&self.database.store, self.release);
        let stored = store.sets_of_sentence(release, sentence)?;
        let stored = stored.filter_map(|id| match id {
            Ok(id) => store.annotation_set(release, id).transpose(),
            Err(error) => Some(Err(error)),
        });
        self.staged.over(stored, |set: &AnnotationSet| set.sentence == sentence)
    }

    fn layers_of_sentence(&self, sentence: SentenceId) -> Result<Vec<SentenceLayers>> {
        let stored = self.database.store.sentence_layers(self.release, sentence)?;
        self.staged.over(stored, |layers: &SentenceLayers| layers.sentence == sentence)
    }

    fn all_relations(&self) -> Result<Vec<FrameRelation>> {
        self.look_at(ReadScope::Relations);
        self.staged.over(self.database.store.relations(self.release)?, |_| true)
    }

    fn all_documents(&self) -> Result<Vec<Document>> {
        self.look_at(ReadScope::Documents);
        self.staged.over(self.database.store.documents(self.release)?, |_| true)
    }
}

/// Adding and editing. Every function checks the record first and changes nothing when it is wrong:
///
/// - `add_*` gives the record an id of its own; the one that stands in it is not looked at;
/// - `set_*` puts a record in place of the one that has its id, which must be there.
impl Transaction<'_> {
    /// A number of the store's own range that no such record of the release has: expansion takes
    /// numbers from names, and an imported file may bring those of another store.
    fn own_number<R: StagedRow>(&self, key: impl Fn(u32) -> R::Key) -> Result<u32> {
        loop {
            let number = self.database.store.own_number()?;
            if self.read::<R>(&key(number))?.is_none() {
                return Ok(number);
            }
        }
    }

    /// Whether what is added or renamed from now on may have a name that is taken: an LU that of
    /// another LU of its frame, a frame that of another one in other letter case. FrameNet 1.5 has
    /// frames with two LUs of one name; queries find both, and numbers tell them apart. By default
    /// such a name is refused.
    pub fn allow_another(&mut self, is_allowed: bool) {
        self.others.is_allowed = is_allowed;
    }

    fn put<R: StagedRow>(&mut self, row: R) -> Result<()> {
        self.require_edits_alone()?;
        self.count_on(row.subject());
        self.staged.set(&self.database.store, self.release, row.key(), Some(row))
    }

    fn delete<R: StagedRow>(&mut self, key: R::Key) -> Result<()> {
        self.require_edits_alone()?;
        if let Some(row) = self.read::<R>(&key)? {
            self.count_on(row.subject());
            self.staged.set::<R>(&self.database.store, self.release, key, None)?;
        }
        Ok(())
    }

    /// Adds a semantic type.
    ///
    /// # Errors
    /// [`EditError`] when a field is wrong or refers to what is not there; so for every function
    /// here.
    pub fn add_sem_type(&mut self, mut sem_type: SemType) -> Result<SemTypeId> {
        sem_type.id = SemTypeId(self.own_number::<SemType>(SemTypeId)?);
        self.check_sem_type(&sem_type)?;
        let id = sem_type.id;
        self.put(sem_type).map(|()| id)
    }

    /// Edits a semantic type.
    pub fn set_sem_type(&mut self, sem_type: SemType) -> Result<()> {
        if self.sem_type(sem_type.id)?.is_none() {
            return Err(absent::<SemType>(sem_type.id).into());
        }
        self.check_sem_type(&sem_type)?;
        self.put(sem_type)
    }

    /// Adds a relation between two frames; it takes their names, and those of mapped FEs, from
    /// them. Sides without a word get what other relations of its type call them.
    pub fn add_relation(&mut self, mut relation: FrameRelation) -> Result<RelationId> {
        self.complete_new_relation(&mut relation)?;
        relation.id = RelationId(self.own_number::<FrameRelation>(RelationId)?);
        self.complete_relation(&mut relation)?;
        let id = relation.id;
        self.put(relation).map(|()| id)
    }

    /// Edits a relation between two frames; otherwise as [`add_relation`](Self::add_relation).
    pub fn set_relation(&mut self, mut relation: FrameRelation) -> Result<()> {
        if self.relation(relation.id)?.is_none() {
            return Err(absent::<FrameRelation>(relation.id).into());
        }
        self.complete_relation(&mut relation)?;
        self.put(relation)
    }

    /// Adds an LU to its frame. Its name is no other LU's of the frame, in whatever letter case,
    /// but for one that an expansion proposed; see [`allow_another`](Self::allow_another).
    pub fn add_lexunit(&mut self, mut lu: LexUnit) -> Result<LuId> {
        let frame = lu.frame;
        lu.id = LuId(self.own_number::<LexUnit>(|number| (frame, LuId(number)))?);
        self.others.note(lu.subject());
        self.check_lexunit(&lu, None)?;
        let id = lu.id;
        self.put(lu).map(|()| id)
    }

    /// Edits an LU. Its frame stays: an LU of another frame is another LU.
    pub fn set_lexunit(&mut self, lu: LexUnit) -> Result<()> {
        let Some(before) = self.lexunit(lu.frame, lu.id)? else {
            return Err(absent::<LexUnit>(format_args!("{} of frame {}", lu.id, lu.frame)).into());
        };
        self.others.note(lu.subject());
        self.check_lexunit(&lu, Some(&before))?;
        self.put(lu)
    }

    /// Adds a document; its corpus is that of another document with the same number, else the one
    /// that is called so, else a new one with a number of its own.
    pub fn add_document(&mut self, mut document: Document) -> Result<(CorpusId, DocumentId)> {
        let documents = self.all_documents()?;
        let is_corpus = |id: CorpusId| documents.iter().any(|known| known.corpus == id);
        check::place_document(&mut document, &documents)?;
        if !is_corpus(document.corpus) {
            document.corpus = CorpusId(self.database.store.own_number()?);
            while is_corpus(document.corpus) {
                document.corpus = CorpusId(self.database.store.own_number()?);
            }
        }
        let corpus = document.corpus;
        let key = |number| (corpus, DocumentId(number));
        document.id = DocumentId(self.own_number::<Document>(key)?);
        self.check_document(&document)?;
        let key = document.key();
        self.put(document).map(|()| key)
    }

    /// Edits a document.
    pub fn set_document(&mut self, document: Document) -> Result<()> {
        let (corpus, id) = document.key();
        if self.document(corpus, id)?.is_none() {
            return Err(absent::<Document>(format_args!("{id} of corpus {corpus}")).into());
        }
        self.check_document(&document)?;
        self.put(document)
    }

    /// Adds a sentence.
    pub fn add_sentence(&mut self, mut sentence: Sentence) -> Result<SentenceId> {
        sentence.id = self.database.store.own_sentence(self.release)?;
        sentence.xml_id = None;
        self.check_sentence(&sentence)?;
        let id = sentence.id;
        self.put(sentence).map(|()| id)
    }

    /// Edits where a sentence is listed. Its text stays: spans count on it, and another text is
    /// another sentence.
    pub fn set_sentence(&mut self, sentence: Sentence) -> Result<()> {
        let Some(before) = self.sentence(sentence.id)? else {
            return Err(absent::<Sentence>(sentence.id).into());
        };
        check::same("text", &sentence.text, &before.text, "add another sentence instead")?;
        check::same_option("xml_id", sentence.xml_id, before.xml_id)?;
        self.check_sentence(&sentence)?;
        self.put(sentence)
    }

    /// Adds an annotation set. Its provenance is a user's or a file's; its Target layer is written
    /// from its targets. An FE label without a number gets that of the frame's FE of its name.
    pub fn add_annotation_set(&mut self, mut set: AnnotationSet) -> Result<AnnotationSetId> {
        if !matches!(set.provenance, Provenance::User | Provenance::Imported { .. }) {
            let origin = set.provenance.origin().as_str();
            return Err(EditError::value("provenance", origin, "`user` or `imported`").into());
        }
        set.id = self.database.store.own_annotation_set(self.release)?;
        set.xml_id = None;
        self.complete_annotation_set(&mut set, None)?;
        let id = set.id;
        self.put(set).map(|()| id)
    }

    /// Edits an annotation set, which may move to another LU or frame. Its sentence and its
    /// provenance stay; how likely a generated set's frame was is forgotten with the frame.
    /// Otherwise as [`add_annotation_set`](Self::add_annotation_set).
    pub fn set_annotation_set(&mut self, mut set: AnnotationSet) -> Result<()> {
        let Some(before) = self.annotation_set(set.id)? else {
            return Err(absent::<AnnotationSet>(set.id).into());
        };
        let instead = "add another set instead";
        check::same("sentence", &set.sentence, &before.sentence, instead)?;
        check::same_option("xml_id", set.xml_id, before.xml_id)?;
        if set.provenance != before.provenance {
            let origin = set.provenance.origin().as_str();
            return Err(EditError::value("provenance", origin, "what it was").into());
        }
        self.complete_annotation_set(&mut set, Some(&before))?;
        if let Provenance::Generated(made) = &mut set.provenance
            && set.frame != before.frame
        {
            made.fit = None;
        }
        self.put(set)
    }

    /// Puts a set back as it stood before an edit of its own: nothing is
    /// completed, and what the store once held is taken as it was.
    pub(crate) fn restore_annotation_set(&mut self, set: AnnotationSet) -> Result<()> {
        self.put(set)
    }

    /// Writes down what a reviewer says of a set, in place of what the same reviewer said to the
    /// same question before.
    pub fn set_judgement(&mut self, set: AnnotationSetId, mut judgement: Judgement) -> Result<()> {
        judgement.question = self.recorded_question(set, &judgement.question)?;
        check::name("reviewer", &judgement.reviewer)?;
        if !judgement.is_of_frame() {
            check::name("question", &judgement.question)?;
            self.check_asked_frame(&judgement.question)?;
        }
        if judgement.score > Judgement::BEST {
            return Err(EditError::value("score", judgement.score, "0 to 100").into());
        }
        self.put(Judged { set, judgement })
    }

    /// Refuses a question for a frame that is not there.
    fn check_asked_frame(&self, question: &str) -> Result<()> {
        let asked = question.strip_prefix(EVOKES).and_then(|rest| rest.strip_prefix(' '));
        let Some(asked) = asked.filter(|frame| !frame.is_empty()) else { return Ok(()) };
        if !self.frames_called(asked)?.is_empty() {
            return Ok(());
        }
        let near = match self.database.unknown(NameKind::Frame, asked)? {
            DatabaseError::Lookup(LookupError::UnknownName { nearest, .. }) => nearest,
            other => return Err(other),
        };
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let expected = format!("`{EVOKES}` and the name of a frame{near}");
        Err(EditError::value("question", question, expected).into())
    }

    /// A question of a set as its judgements record it.
    fn recorded_question(&self, set: AnnotationSetId, named: &str) -> Result<String> {
        let Some(set) = self.annotation_set(set)? else {
            return Err(absent::<AnnotationSet>(set).into());
        };
        let own = self.frame(set.frame)?.map_or(String::new(), |frame| frame.name);
        Ok(recorded_question(named, &own).to_owned())
    }

    /// Removes what a reviewer says of a set to a question, which is empty or `evokes` for that of
    /// the frame.
    pub fn remove_judgement(
        &mut self,
        set: AnnotationSetId,
        reviewer: &str,
        question: &str,
    ) -> Result<()> {
        let question = self.recorded_question(set, question)?;
        let key = (set, reviewer.to_owned(), question);
        if self.read::<Judged>(&key)?.is_none() {
            let expected = format!("someone who has judged `{set}` on the same question");
            return Err(EditError::value("reviewer", reviewer, expected).into());
        }
        self.delete::<Judged>(key)
    }

    /// Commits all edits, or none. Gives the new revision; the last one when nothing differs from
    /// what the store holds.
    ///
    /// # Errors
    /// [`EditError::Conflict`] when another commit has changed what this one counts on, or an
    /// [`EditError::Value`] when it has taken a name; when the release is gone, or the store fails.
    /// Nothing is written then. An index that could not follow is no failure: the edits are in, and
    /// [`Database::take_index_lag`] says why.
    pub fn commit(self) -> Result<u64> {
        let database = self.database;
        database.commit_together(&[self])
    }

    fn check_conflicts(&self) -> Result<()> {
        let basis = self.basis.borrow();
        for change in self.database.store.changes_since(self.began)? {
            let change = change?;
            if change.release == self.release && basis.counts_on(&change) {
                let (kind, id) = named(&change.subject);
                let (revision, began) = (change.revision, self.began);
                return Err(EditError::Conflict { kind, id, revision, began }.into());
            }
        }
        Ok(())
    }
}
