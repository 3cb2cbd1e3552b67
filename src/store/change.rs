//! What commits touched: the rows of the family `change`, which the index and every follower of the
//! store catch up by.

use std::collections::VecDeque;

use super::SetLocation;
use super::record::{
    ChangeRecord, SubjectRecord, WrittenRecord, sentence_code, sentence_from, set_code, set_from,
};
use crate::model::named;
use crate::model::{
    AnnotationSetId, CorpusId, DocumentId, FrameId, LuId, RelationId, ReleaseId, SemTypeId,
    SentenceId,
};

/// One record that a commit touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Number of the commit.
    pub revision: u64,
    /// The record's release.
    pub release: ReleaseId,
    /// What was done to it.
    pub action: Action,
    /// The record.
    pub subject: Subject,
    /// Whether it is the last of its commit that is listed: what is listed of the commit is whole.
    pub is_last: bool,
}

named! {
    /// What a commit did to a record.
    pub enum Action {
        /// It was not there before.
        Added => "added",
        /// It was there and is another.
        Edited => "edited",
        /// It is there no more.
        Removed => "removed",
        /// It was added or edited; stores of format 1.0 do not say which.
        Written => "written",
    }
}

/// A record by its kind and number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// The release with everything in it.
    Release,
    /// A semantic type.
    SemType(SemTypeId),
    /// A frame with its FEs.
    Frame(FrameId),
    /// A frame relation.
    Relation(RelationId),
    /// An LU.
    LexUnit(FrameId, LuId),
    /// A document.
    Document(CorpusId, DocumentId),
    /// A sentence.
    Sentence(SentenceId),
    /// A set of sentence layers.
    SentenceLayers(SentenceId, AnnotationSetId),
    /// An annotation set, and where it is kept; where it was, when it was removed.
    Set(AnnotationSetId, SetLocation),
    /// A reviewer's judgement of a set.
    Judgement(AnnotationSetId, String),
    /// Decisions on an LU that an expansion proposed for a frame, by its name.
    Decision(FrameId, String),
    /// An edition.
    Edition(String),
}

impl Subject {
    /// What it is, as `changes` calls it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::SemType(_) => "semtype",
            Self::Frame(_) => "frame",
            Self::Relation(_) => "relation",
            Self::LexUnit(..) => "lu",
            Self::Document(..) => "document",
            Self::Sentence(_) => "sentence",
            Self::SentenceLayers(..) => "layers",
            Self::Set(..) => "set",
            Self::Judgement(..) => "judgement",
            Self::Decision(..) => "decision",
            Self::Edition(_) => "edition",
        }
    }

    /// Its id: of a document the corpus's and its own, of a judgement the set's, of a decision the
    /// LU's name, of an edition its name; `None` of a release.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        Some(match self {
            Self::Release => return None,
            Self::SemType(id) => id.to_string(),
            Self::Frame(id) => id.to_string(),
            Self::Relation(id) => id.to_string(),
            Self::LexUnit(_, id) => id.to_string(),
            Self::Document(corpus, id) => format!("{corpus}/{id}"),
            Self::Sentence(id) => id.to_string(),
            Self::SentenceLayers(_, id) | Self::Set(id, _) | Self::Judgement(id, _) => {
                id.to_string()
            }
            Self::Decision(_, name) | Self::Edition(name) => name.clone(),
        })
    }

    /// The frame of an LU, a set or a decision.
    #[must_use]
    pub fn frame(&self) -> Option<FrameId> {
        match self {
            Self::LexUnit(frame, _) | Self::Decision(frame, _) => Some(*frame),
            Self::Set(_, at) => Some(at.frame),
            _ => None,
        }
    }

    /// The LU of a set.
    #[must_use]
    pub fn lexunit(&self) -> Option<LuId> {
        match self {
            Self::Set(_, at) => Some(at.lu),
            _ => None,
        }
    }

    /// The sentence of a set or of layers.
    #[must_use]
    pub fn sentence(&self) -> Option<SentenceId> {
        match self {
            Self::Set(_, at) => Some(at.sentence),
            Self::SentenceLayers(sentence, _) => Some(*sentence),
            _ => None,
        }
    }

    /// Whose judgement it is.
    #[must_use]
    pub fn reviewer(&self) -> Option<&str> {
        match self {
            Self::Judgement(_, reviewer) => Some(reviewer),
            _ => None,
        }
    }
}

impl From<&Subject> for SubjectRecord {
    fn from(subject: &Subject) -> Self {
        match subject {
            Subject::Release => Self::Release,
            Subject::SemType(id) => Self::SemType(id.0),
            Subject::Frame(id) => Self::Frame(id.0),
            Subject::Relation(id) => Self::Relation(id.0),
            Subject::LexUnit(frame, lu) => Self::LexUnit(frame.0, lu.0),
            Subject::Document(corpus, document) => Self::Document(corpus.0, document.0),
            Subject::Sentence(id) => Self::Sentence(sentence_code(*id)),
            Subject::SentenceLayers(sentence, set) => {
                Self::SentenceLayers(sentence_code(*sentence), set_code(*set))
            }
            Subject::Set(set, SetLocation { frame, lu, sentence }) => {
                Self::Set(set_code(*set), frame.0, lu.0, sentence_code(*sentence))
            }
            Subject::Judgement(set, reviewer) => Self::Judgement(set_code(*set), reviewer.clone()),
            Subject::Decision(frame, name) => Self::Decision(frame.0, name.clone()),
            Subject::Edition(name) => Self::Edition(name.clone()),
        }
    }
}

impl TryFrom<SubjectRecord> for Subject {
    type Error = String;

    fn try_from(record: SubjectRecord) -> std::result::Result<Self, String> {
        Ok(match record {
            SubjectRecord::Release => Self::Release,
            SubjectRecord::SemType(id) => Self::SemType(SemTypeId(id)),
            SubjectRecord::Frame(id) => Self::Frame(FrameId(id)),
            SubjectRecord::Relation(id) => Self::Relation(RelationId(id)),
            SubjectRecord::LexUnit(frame, lu) => Self::LexUnit(FrameId(frame), LuId(lu)),
            SubjectRecord::Document(corpus, id) => Self::Document(CorpusId(corpus), DocumentId(id)),
            SubjectRecord::Sentence(id) => Self::Sentence(sentence_from(id)?),
            SubjectRecord::SentenceLayers(sentence, set) => {
                Self::SentenceLayers(sentence_from(sentence)?, set_from(set)?)
            }
            SubjectRecord::Set(set, frame, lu, sentence) => {
                let sentence = sentence_from(sentence)?;
                let location = SetLocation { frame: FrameId(frame), lu: LuId(lu), sentence };
                Self::Set(set_from(set)?, location)
            }
            SubjectRecord::Judgement(set, reviewer) => Self::Judgement(set_from(set)?, reviewer),
            SubjectRecord::Decision(frame, name) => Self::Decision(FrameId(frame), name),
            SubjectRecord::Edition(name) => Self::Edition(name),
        })
    }
}

impl Change {
    /// The record of an action on a subject; the revision stands in the key.
    pub(super) fn record(release: ReleaseId, action: Action, subject: &Subject) -> ChangeRecord {
        ChangeRecord { release: release.0, action: action as u8, subject: subject.into() }
    }

    /// Reads a row's value, of format 1.0 or later. What stands behind the row says whether it is
    /// the last of its commit.
    pub(super) fn decode(revision: u64, value: &[u8]) -> std::result::Result<Self, String> {
        match super::record::decode_change(value)? {
            Ok(ChangeRecord { release, action, subject }) => {
                let known = Action::ALL.get(usize::from(action)).copied();
                let action = known.ok_or_else(|| format!("action {action}"))?;
                Ok(Self {
                    revision,
                    release: ReleaseId(release),
                    action,
                    subject: subject.try_into()?,
                    is_last: false,
                })
            }
            Err(written) => Self::of_format_1_0(revision, written),
        }
    }

    fn of_format_1_0(revision: u64, record: WrittenRecord) -> std::result::Result<Self, String> {
        let (release, action, subject) = match record {
            WrittenRecord::ReleaseAdded(release) => (release, Action::Added, Subject::Release),
            WrittenRecord::SetWritten(release, frame, lu, sentence, set) => {
                let sentence =
                    SentenceId::from_bits(sentence).ok_or(format!("sentence {sentence}"))?;
                let set = AnnotationSetId::from_bits(set).ok_or(format!("set {set}"))?;
                let location = SetLocation { frame: FrameId(frame), lu: LuId(lu), sentence };
                (release, Action::Written, Subject::Set(set, location))
            }
            WrittenRecord::LexUnitWritten(release, frame, lu) => {
                (release, Action::Written, Subject::LexUnit(FrameId(frame), LuId(lu)))
            }
        };
        Ok(Self { revision, release: ReleaseId(release), action, subject, is_last: false })
    }
}

/// The changes of one release among those of all. The last one of a commit that is listed is marked
/// as such, also where the commit ends with another release's.
pub(crate) fn of_release<E>(
    mut changes: impl Iterator<Item = std::result::Result<Change, E>>,
    release: ReleaseId,
) -> impl Iterator<Item = std::result::Result<Change, E>> {
    // Held until it is known whether another one of its commit comes.
    let (mut held, mut ready) = (None, VecDeque::new());
    std::iter::from_fn(move || {
        loop {
            if let Some(change) = ready.pop_front() {
                return Some(Ok(change));
            }
            let change = match changes.next()? {
                Ok(change) => change,
                Err(error) => return Some(Err(error)),
            };
            let is_end = change.is_last;
            if change.release == release {
                ready.extend(held.replace(Change { is_last: false, ..change }));
            }
            if is_end {
                ready.extend(held.take().map(|change| Change { is_last: true, ..change }));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes of frames: revision, release, frame; the last of each revision is marked.
    fn changes(of: &[(u64, u16, u32)]) -> Vec<Change> {
        let change = |at: usize| {
            let (revision, release, frame) = of[at];
            let is_last = of.get(at + 1).is_none_or(|next| next.0 != revision);
            let (release, subject) = (ReleaseId(release), Subject::Frame(FrameId(frame)));
            Change { revision, release, action: Action::Added, subject, is_last }
        };
        (0..of.len()).map(change).collect()
    }

    #[test]
    fn the_last_of_a_commit_is_marked_among_those_of_one_release() {
        let all = changes(&[(1, 1, 1), (1, 2, 2), (1, 1, 3), (1, 2, 4), (2, 2, 5), (3, 1, 6)]);
        let of = |release| -> Vec<(u64, bool)> {
            let all = all.iter().cloned().map(Ok::<_, ()>);
            let found = of_release(all, ReleaseId(release)).map(Result::unwrap);
            found.map(|change| (change.revision, change.is_last)).collect()
        };
        assert_eq!(of(1), [(1, false), (1, true), (3, true)]);
        assert_eq!(of(2), [(1, false), (1, true), (2, true)]);
        assert_eq!(of(3), []);
    }
}
