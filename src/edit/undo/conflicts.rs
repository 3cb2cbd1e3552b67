//! What is in the way of taking back a commit.

use std::collections::{BTreeMap, BTreeSet};

use super::super::staged::{Judged, StagedRow, judged, named};
use super::super::{EditError, Result, Transaction};
use crate::model::{
    AnnotationSet, Decided, Document, Frame, FrameId, FrameRelation, LayerName, LexUnit,
    LinkSubject, Reference, Refers, SemType, Sentence, SentenceLayers,
};
use crate::store::{Action, Change, RowContent, RowId, Subject};
use crate::text::fold;

/// Records that a message names.
const NAMED: usize = 5;

/// What the before-images of a commit say.
#[derive(Default)]
pub(super) struct Seen {
    /// Records, and whether each will be there.
    pub(super) staged: Vec<(RowContent, bool)>,
    /// Other rows, but for layouts.
    pub(super) plain: u64,
    /// Whether layouts come back.
    pub(super) layouts: bool,
    /// Records that were changed since.
    pub(super) blocked: Vec<Blocked>,
    /// Rows that later commits of people wrote, once somebody has asked for them.
    pub(super) later: Option<BTreeSet<RowId>>,
}

/// A record that is in the way.
#[derive(Debug, Clone)]
pub(super) struct Blocked {
    pub(super) kind: &'static str,
    pub(super) id: String,
    pub(super) subject: Subject,
    /// The last commit that changed it.
    pub(super) by: Option<u64>,
}

/// What taking back does to what records name.
#[derive(Default)]
struct Effects {
    /// Records that go.
    gone: BTreeSet<Reference>,
    /// Names of FEs that frames lose, and whether they lose their own.
    respelled: BTreeMap<FrameId, (BTreeSet<String>, bool)>,
    /// LUs that get another status: decisions have sent sets to them.
    statuses: BTreeSet<Reference>,
    /// What returns, by what it names.
    back: BTreeMap<Reference, BTreeSet<Subject>>,
    /// Names that return, each with its frame or LU.
    names: Vec<(Subject, String)>,
    /// Whether layouts return that may spell names of frames.
    layouts: bool,
}

impl Effects {
    /// Whether something that was written since can be in the way.
    fn concern_others(&self) -> bool {
        !(self.gone.is_empty() && self.respelled.is_empty() && self.statuses.is_empty())
    }
}

/// Names of FEs, and the frame's own, that one version of a frame has and another has not.
fn lost(of: &Frame, without: &Frame) -> (BTreeSet<String>, bool) {
    let kept: BTreeSet<&str> = without.elements.iter().map(|fe| fe.name.as_str()).collect();
    let names = of.elements.iter().map(|fe| &fe.name).filter(|name| !kept.contains(name.as_str()));
    (names.cloned().collect(), of.name != without.name)
}

impl Transaction<'_> {
    /// What is in the way of taking back a commit whose records are staged: what has changed since
    /// it, what was written since and names what goes or is called otherwise, what comes back and
    /// names what went or is called otherwise since, and names that were taken since.
    pub(super) fn in_the_way(&mut self, revision: u64, seen: &Seen) -> Result<Vec<Blocked>> {
        let effects = self.effects(seen)?;
        let mut found = seen.blocked.clone();
        let mut last: BTreeMap<Subject, u64> = BTreeMap::new();
        let mut edited: BTreeMap<FrameId, u64> = BTreeMap::new();
        for change in self.database.store.changes_since(revision)? {
            let change = change?;
            if change.release != self.release || self.undoing.revisions.contains(&change.revision) {
                continue;
            }
            if let (Subject::Frame(frame), Action::Edited) = (&change.subject, change.action) {
                edited.entry(*frame).or_insert(change.revision);
            }
            found.extend(self.conflict_with(&effects, &change)?);
            let freed = place_free(change.subject);
            if found.iter().any(|it| it.subject == freed) {
                last.insert(freed, change.revision);
            }
        }
        found.extend(self.called_otherwise(&effects, &edited)?);
        for (itself, name) in &effects.names {
            found.extend(self.taken(revision, itself, name)?);
            self.others.allow(itself.clone());
        }
        for blocked in &mut found {
            blocked.by = last.get(&blocked.subject).copied().or(blocked.by);
        }
        Ok(found)
    }

    fn effects(&self, seen: &Seen) -> Result<Effects> {
        let mut effects = Effects { layouts: seen.layouts, ..Effects::default() };
        for (record, stays) in &seen.staged {
            let Some(subject) = subject(record) else { continue };
            match self.references_of(&subject)? {
                None => effects.gone.extend(references_to(&subject)),
                Some(named) => {
                    for of in named {
                        effects.back.entry(of).or_default().insert(subject.clone());
                    }
                }
            }
            match record {
                RowContent::Frame(row) if *stays => effects.names.push((subject, row.name.clone())),
                RowContent::LexUnit(row) if *stays => {
                    effects.names.push((subject, row.name.clone()));
                }
                _ => {}
            }
        }
        for (now, will) in self.staged.changed::<Frame>() {
            if let Some((now, will)) = now.zip(will) {
                let (elements, own) = lost(now, will);
                if own || !elements.is_empty() {
                    effects.respelled.insert(will.id, (elements, own));
                }
            }
        }
        for (now, will) in self.staged.changed::<LexUnit>() {
            if let Some((_, will)) = now.zip(will).filter(|(now, will)| now.status != will.status) {
                effects.statuses.insert(Reference::LexUnit(will.frame, will.id));
            }
        }
        Ok(effects)
    }

    /// What a later change has made that is in the way.
    fn conflict_with(&self, effects: &Effects, change: &Change) -> Result<Vec<Blocked>> {
        if change.action == Action::Removed {
            let named = references_to(&change.subject);
            let back = named.iter().filter_map(|it| effects.back.get(it)).flatten();
            let back: Vec<&Subject> = back.collect();
            if back.is_empty() || self.references_of(&change.subject)?.is_some() {
                return Ok(Vec::new());
            }
            return Ok(back.into_iter().map(|it| Blocked::of(it, Some(change.revision))).collect());
        }
        if !effects.concern_others() {
            return Ok(Vec::new());
        }
        let Some(named) = self.references_of(&change.subject)? else { return Ok(Vec::new()) };
        let is_decision = matches!(change.subject, Subject::Decision(..));
        let mut is_in_the_way = named.iter().any(|it| effects.gone.contains(it))
            || is_decision && named.iter().any(|it| effects.statuses.contains(it));
        for (frame, (elements, own)) in &effects.respelled {
            if !is_in_the_way && named.contains(&Reference::Frame(*frame)) {
                is_in_the_way = self.spells(&change.subject, elements, *own)?;
            }
        }
        Ok(is_in_the_way
            .then(|| Blocked::of(&change.subject, Some(change.revision)))
            .into_iter()
            .collect())
    }

    /// Whether a record spells one of these names of FEs, or a frame's own.
    fn spells(&self, subject: &Subject, elements: &BTreeSet<String>, own: bool) -> Result<bool> {
        Ok(match subject {
            Subject::Set(id, _) => self.stands::<AnnotationSet>(id)?.is_some_and(|set| {
                let of_elements = set.layers.iter().filter(|layer| layer.name == LayerName::Fe);
                let mut labels = of_elements.flat_map(|layer| &layer.labels);
                labels.any(|label| elements.contains(&label.name))
            }),
            Subject::LexUnit(frame, lu) => {
                let lu = self.stands::<LexUnit>(&(*frame, *lu))?;
                lu.and_then(|lu| lu.incorporated_fe).is_some_and(|fe| elements.contains(&fe))
            }
            Subject::Relation(_) => own || !elements.is_empty(),
            _ => false,
        })
    }

    /// Frames that were edited since, and that what comes back calls by what they are not called
    /// any more, or whose FEs it does; `edited` has the first commit that edited each.
    fn called_otherwise(
        &self,
        effects: &Effects,
        edited: &BTreeMap<FrameId, u64>,
    ) -> Result<Vec<Blocked>> {
        let mut found = Vec::new();
        for (frame, revision) in edited {
            let back = effects.back.get(&Reference::Frame(*frame));
            if back.is_none() && !effects.layouts {
                continue;
            }
            let Some(now) = self.stands::<Frame>(frame)? else { continue };
            let (elements, own) = match self.frame_before(*revision, *frame)? {
                Some(before) => lost(&before, &now),
                None => (now.elements.iter().map(|fe| fe.name.clone()).collect(), true),
            };
            let mut is_in_the_way = effects.layouts && own;
            for subject in back.into_iter().flatten() {
                is_in_the_way |= self.spells(subject, &elements, own)?;
            }
            if is_in_the_way {
                found.push(Blocked::of(&Subject::Frame(*frame), Some(*revision)));
            }
        }
        Ok(found)
    }

    /// A frame as it was before a commit that edited it.
    fn frame_before(&self, revision: u64, frame: FrameId) -> Result<Option<Frame>> {
        for image in self.database.store.images(revision)? {
            if let Some(value) = image.before.as_deref()
                && let RowContent::Frame(before) = image.row.content(value)?
                && before.id == frame
            {
                return Ok(Some(before));
            }
        }
        Ok(None)
    }

    /// Frames and LUs that have taken a name since that comes back. FrameNet has some of one name:
    /// those that had it before stay beside each other.
    fn taken(&self, revision: u64, itself: &Subject, name: &str) -> Result<Vec<Blocked>> {
        let others: Vec<Subject> = match itself {
            Subject::Frame(_) => {
                self.frames_folded(name)?.into_iter().map(Subject::Frame).collect()
            }
            Subject::LexUnit(frame, _) => {
                self.lexunits_called(*frame, name)?.iter().map(StagedRow::subject).collect()
            }
            _ => Vec::new(),
        };
        let mut found = Vec::new();
        for other in others.into_iter().filter(|other| other != itself) {
            if let Some(by) = self.took(revision, &other, name)? {
                found.push(Blocked::of(&other, Some(by)));
            }
        }
        Ok(found)
    }

    /// The commit since which a frame or an LU has a name, if it is a later one.
    fn took(&self, revision: u64, taker: &Subject, name: &str) -> Result<Option<u64>> {
        for change in self.database.store.changes_since(revision)? {
            let change = change?;
            if change.release != self.release || change.subject != *taker {
                continue;
            }
            let images = self.database.store.images(change.revision)?;
            let before = images.iter().find_map(|image| {
                let value = image.before.as_deref()?;
                match image.row.content(value).ok()? {
                    RowContent::Frame(frame) if frame.subject() == *taker => Some(frame.name),
                    RowContent::LexUnit(lu) if lu.subject() == *taker => Some(lu.name),
                    _ => None,
                }
            });
            if before.is_none_or(|before| fold(&before) != fold(name)) {
                return Ok(Some(change.revision));
            }
        }
        Ok(None)
    }

    /// A record as it will be; nothing is counted on, since nobody commits before this does.
    pub(super) fn stands<R: StagedRow>(&self, key: &R::Key) -> Result<Option<R>> {
        self.staged.get::<R>(&self.database.store, self.release, key)
    }

    /// What a record names, as it will be; `None` where it will not be there.
    fn references_of(&self, subject: &Subject) -> Result<Option<Vec<Reference>>> {
        fn of(record: Option<impl Refers>) -> Option<Vec<Reference>> {
            Some(record?.references().into_iter().map(|(_, reference)| reference).collect())
        }
        Ok(match subject {
            Subject::SemType(id) => of(self.stands::<SemType>(id)?),
            Subject::Frame(id) => of(self.stands::<Frame>(id)?),
            Subject::Relation(id) => of(self.stands::<FrameRelation>(id)?),
            Subject::LexUnit(frame, lu) => of(self.stands::<LexUnit>(&(*frame, *lu))?),
            Subject::Document(corpus, id) => of(self.stands::<Document>(&(*corpus, *id))?),
            Subject::Sentence(id) => of(self.stands::<Sentence>(id)?),
            Subject::SentenceLayers(sentence, set) => {
                of(self.stands::<SentenceLayers>(&(*sentence, *set))?)
            }
            Subject::Set(id, _) => of(self.stands::<AnnotationSet>(id)?),
            Subject::Judgement(set, by, question) => {
                let key = (*set, by.clone(), question.clone());
                self.stands::<Judged>(&key)?.map(|judged| vec![Reference::Set(judged.set)])
            }
            Subject::Decision(frame, name) => {
                let decided = self.stands::<Decided>(&(*frame, name.clone()))?;
                decided.map(|decided| {
                    let moved = decided.standing().and_then(|it| it.moved.as_ref());
                    let moved = moved.map(|to| Reference::LexUnit(to.frame, to.lu));
                    moved.into_iter().chain([Reference::Frame(decided.frame)]).collect()
                })
            }
            // An edition outlives its sets, and what a verifier says goes with its set.
            _ => None,
        })
    }
}

/// Whether what was written into such a row since an edit stays, where the edit is taken back.
pub(super) fn stays(row: &RowContent) -> bool {
    match row {
        RowContent::Layout(_) | RowContent::Verification(_) => true,
        RowContent::Discovery(search) => search.name.is_empty(),
        _ => false,
    }
}

/// Whether a row goes with a record, and is no record itself.
pub(super) fn is_plain(row: &RowContent) -> bool {
    matches!(
        row,
        RowContent::Journal { .. }
            | RowContent::Verification(_)
            | RowContent::Discovery(_)
            | RowContent::Links(_)
    )
}

impl Blocked {
    pub(super) fn of(subject: &Subject, by: Option<u64>) -> Self {
        let (kind, id) = named(subject);
        Self { kind, id, subject: place_free(subject.clone()), by }
    }

    /// A row that no subject names; none where what was written into it since stays.
    pub(super) fn by_row(row: &RowContent) -> Option<Self> {
        let (kind, id, subject) = match row {
            RowContent::Journal { seed, .. } => {
                ("journal", format!("of {seed}"), Subject::Verification(*seed))
            }
            RowContent::Discovery(found) => {
                ("discovery", found.name.clone(), Subject::LexUnit(found.frame, found.lu))
            }
            RowContent::Links(links) => match links.of {
                LinkSubject::LexUnit(lu) => {
                    ("links", format!("of {lu}"), Subject::LexUnit(links.frame, lu))
                }
                LinkSubject::Element(fe) => {
                    ("links", format!("of FE {fe}"), Subject::Frame(links.frame))
                }
            },
            _ => return None,
        };
        Some(Self { kind, id, subject, by: None })
    }

    /// The error for records that are in the way.
    pub(super) fn error(revision: u64, all: Vec<Self>) -> EditError {
        let mut records: Vec<_> = all.into_iter().map(|it| (it.kind, it.id, it.by)).collect();
        records.sort();
        records.dedup_by(|a, b| (a.0, &a.1) == (b.0, &b.1));
        let more = records.len().saturating_sub(NAMED) as u64;
        records.truncate(NAMED);
        EditError::ChangedSince { revision, records, more }
    }
}

/// A subject that is the same wherever its set is kept.
fn place_free(subject: Subject) -> Subject {
    match subject {
        Subject::Set(set, _) => Subject::Verification(set),
        other => other,
    }
}

/// How others name a record.
fn references_to(subject: &Subject) -> Vec<Reference> {
    match subject {
        Subject::SemType(id) => vec![Reference::SemType(*id)],
        Subject::Frame(id) => vec![Reference::Frame(*id)],
        Subject::LexUnit(frame, lu) => {
            vec![Reference::LexUnit(*frame, *lu), Reference::Listed(*lu)]
        }
        Subject::Document(corpus, id) => vec![Reference::Document(*corpus, *id)],
        Subject::Sentence(id) => vec![Reference::Sentence(*id)],
        Subject::Set(id, _) => vec![Reference::Set(*id)],
        _ => Vec::new(),
    }
}

/// Which record a row is; none for what belongs to others.
pub(super) fn subject(content: &RowContent) -> Option<Subject> {
    Some(match content {
        RowContent::SemType(row) => row.subject(),
        RowContent::Frame(row) => row.subject(),
        RowContent::Relation(row) => row.subject(),
        RowContent::LexUnit(row) => row.subject(),
        RowContent::Document(row) => row.subject(),
        RowContent::Sentence(row) => row.subject(),
        RowContent::SentenceLayers(row) => row.subject(),
        RowContent::Set(row) => row.subject(),
        RowContent::Judgement(set, judgement) => judged(*set, judgement),
        RowContent::Decisions(row) => row.subject(),
        RowContent::Edition(row) => row.subject(),
        _ => return None,
    })
}
