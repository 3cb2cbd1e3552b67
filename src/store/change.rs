//! What commits touched: the rows of the family `change`, which the index and every follower of the
//! store catch up by.

use std::collections::VecDeque;

use super::SetLocation;
use super::record::{self, ChangeRecord};
use crate::model::named;
use crate::model::{
    AnnotationSetId, CorpusId, DocumentId, FrameId, LuId, RelationId, ReleaseId, SemTypeId,
    SentenceId,
};

/// One record that a commit touched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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

impl Change {
    /// A record of a release as a commit would list it that adds it, and more: what who copies a
    /// release begins with.
    #[must_use]
    pub fn addition(revision: u64, release: ReleaseId, subject: Subject) -> Self {
        Self { revision, release, action: Action::Added, subject, is_last: false }
    }
}

named! {
    /// What a commit did to a record.
    #[non_exhaustive]
    pub enum Action {
        /// It was not there before.
        Added => "added",
        /// It was there and is another.
        Edited => "edited",
        /// It is there no more.
        Removed => "removed",
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
    /// A reviewer's judgement of a set: the reviewer, and the question, which is empty for that of
    /// the frame.
    Judgement(AnnotationSetId, String, String),
    /// What a verifier says of a set.
    Verification(AnnotationSetId),
    /// Decisions on an LU that an expansion proposed for a frame, by its name.
    Decision(FrameId, String),
    /// An edition.
    Edition(String),
}

named! {
    /// What kind of record a commit touched; see [`Subject`].
    #[allow(missing_docs, reason = "see Subject")]
    #[non_exhaustive]
    pub enum SubjectKind {
        Release => "release",
        SemType => "semtype",
        Frame => "frame",
        Relation => "relation",
        LexUnit => "lu",
        Document => "document",
        Sentence => "sentence",
        SentenceLayers => "layers",
        Set => "set",
        Judgement => "judgement",
        Verification => "verification",
        Decision => "decision",
        Edition => "edition",
    }
}

impl Subject {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> SubjectKind {
        match self {
            Self::Release => SubjectKind::Release,
            Self::SemType(_) => SubjectKind::SemType,
            Self::Frame(_) => SubjectKind::Frame,
            Self::Relation(_) => SubjectKind::Relation,
            Self::LexUnit(..) => SubjectKind::LexUnit,
            Self::Document(..) => SubjectKind::Document,
            Self::Sentence(_) => SubjectKind::Sentence,
            Self::SentenceLayers(..) => SubjectKind::SentenceLayers,
            Self::Set(..) => SubjectKind::Set,
            Self::Judgement(..) => SubjectKind::Judgement,
            Self::Verification(_) => SubjectKind::Verification,
            Self::Decision(..) => SubjectKind::Decision,
            Self::Edition(_) => SubjectKind::Edition,
        }
    }

    /// Its id: of a document the corpus's and its own, of a judgement and a verification the set's,
    /// of a decision the LU's name, of an edition its name; `None` of a release.
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
            Self::SentenceLayers(_, id)
            | Self::Set(id, _)
            | Self::Judgement(id, ..)
            | Self::Verification(id) => id.to_string(),
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
            Self::Judgement(_, reviewer, _) => Some(reviewer),
            _ => None,
        }
    }

    /// The question that a judgement answers; `None` for that of the frame.
    #[must_use]
    pub fn question(&self) -> Option<&str> {
        match self {
            Self::Judgement(.., question) => Some(question.as_str()).filter(|it| !it.is_empty()),
            _ => None,
        }
    }
}

impl Change {
    /// The record of an action on a subject; the revision stands in the key.
    pub(super) fn record(release: ReleaseId, action: Action, subject: &Subject) -> ChangeRecord {
        ChangeRecord { release, action, subject: subject.clone() }
    }

    /// Reads a row's value. What stands behind the row says whether it is the last of its commit.
    pub(super) fn decode(revision: u64, value: &[u8]) -> std::result::Result<Self, String> {
        let ChangeRecord { release, action, subject } = record::decode(value)?;
        Ok(Self { revision, release, action, subject, is_last: false })
    }
}

/// The changes of one release among those of all; otherwise as [`only`].
pub(crate) fn of_release<E>(
    changes: impl Iterator<Item = std::result::Result<Change, E>>,
    release: ReleaseId,
) -> impl Iterator<Item = std::result::Result<Change, E>> {
    only(changes, move |change| Ok(Some(change).filter(|change| change.release == release)))
}

/// What is kept of changes. The last one of a commit that is listed is marked as such, also where
/// the commit ends with another one.
pub(crate) fn only<E>(
    mut changes: impl Iterator<Item = std::result::Result<Change, E>>,
    mut keep: impl FnMut(Change) -> std::result::Result<Option<Change>, E>,
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
            match keep(change) {
                Ok(None) => {}
                Ok(Some(change)) => ready.extend(held.replace(Change { is_last: false, ..change })),
                Err(error) => return Some(Err(error)),
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
