//! What reviewers decide on, one set after another: the queue, what is shown, decisions and undo,
//! and how far reviewers agree.
//!
//! Nothing here knows a browser or a terminal. A [`Session`] belongs to one reviewer. It reads
//! beside a writer, and opens the store for writing only while it writes. Judgements are the
//! store's own ([`Judgement`]), with the question, what was shown, and the time taken, so filters
//! train on them.

mod agreement;
mod answers;
mod decide;
mod elements;
mod queue;
mod session;
mod span;
mod spread;
mod triples;
mod view;

#[doc(hidden)]
pub use agreement::{Agreement, Disputed, OfQuestion, RoleFigures, agreement};
pub use decide::Decision;
#[doc(hidden)]
pub use decide::Retargeted;
pub use session::{Counts, Saved, Session, Undone};
#[doc(hidden)]
pub use span::whole_words;
pub use span::{SpanEdit, Step};
pub use triples::Protocol;
#[doc(hidden)]
pub use view::{Example, Mark};
pub use view::{Triple, View};

use std::path::PathBuf;

use crate::database::DatabaseError;
use crate::model::{
    AnnotationSetId, EVOKES, FrameId, Judgement, MEANING, Origin, ReleaseId, coded, named,
};
use crate::store::StoreError;

type Result<T> = std::result::Result<T, ReviewError>;

/// Decisions that can be undone.
#[doc(hidden)]
pub const UNDO_DEPTH: usize = 100;

/// What a reviewer can say of an output's fluency; the note of a judgement lists it (Hu et al.
/// 2019, Table 2).
#[doc(hidden)]
pub const FLAGS: [&str; 2] = ["not fluent", "makes no sense"];

/// Least mean score of what is accepted (Culkin et al. 2021, section 6.1).
#[doc(hidden)]
pub const ACCEPTED: f64 = Judgement::ACCEPTED;

named! {
    /// What reviewers are asked.
    pub enum Question {
        /// Whether the target evokes the frame.
        Evokes => EVOKES,
        /// Whether the output says what its source says, apart from the marked words.
        Meaning => MEANING,
        /// How alike output and source are, and whether the output is fluent.
        ///
        /// (Hu et al. 2019, Table 2.)
        Similarity => "similarity",
        /// Whether the frame elements have the right spans and names.
        Elements => "elements",
    }
}

impl Question {
    /// The question as judgements record it: empty when it is asked of a set and its own frame.
    #[must_use]
    pub fn recorded(self, asked: &str, own: &str) -> String {
        match self {
            Self::Evokes if asked == own => String::new(),
            Self::Evokes => format!("{} {asked}", self.as_str()),
            _ => self.as_str().to_owned(),
        }
    }

    /// The question that a judgement of a set records, and the frame that was asked for; `None` for
    /// a question of someone's own.
    #[must_use]
    pub fn of_record<'a>(recorded: &'a str, own: &'a str) -> Option<(Self, &'a str)> {
        if recorded.is_empty() {
            return Some((Self::Evokes, own));
        }
        let (name, asked) = recorded.split_once(' ').unwrap_or((recorded, ""));
        match Self::parse(name)? {
            Self::Evokes => (!asked.is_empty()).then_some((Self::Evokes, asked)),
            question => asked.is_empty().then_some((question, own)),
        }
    }

    /// The question in words, of one frame or of each set's own.
    #[must_use]
    pub fn wording(self, frame: Option<&str>) -> String {
        match self {
            Self::Evokes => format!("Does the marked word evoke {}?", frame.unwrap_or("the frame")),
            Self::Meaning => {
                "Does the output say what its source says, apart from the marked words?".to_owned()
            }
            Self::Similarity => "How alike are output and source in meaning?".to_owned(),
            Self::Elements => {
                "Are all frame elements marked, each with the right words and name?".to_owned()
            }
        }
    }

    /// Whether it compares an output with its source.
    #[must_use]
    pub fn needs_source(self) -> bool {
        matches!(self, Self::Meaning | Self::Similarity)
    }
}

named! {
    /// What an item is in the paper's protocol; reviewers do not see it.
    pub enum Role {
        /// What is judged.
        Output => "output",
        /// Annotated by people in the frame that is asked for.
        InFrame => "in-frame control",
        /// Annotated by people in another frame.
        OutOfFrame => "out-of-frame control",
    }
}

impl Role {
    /// The role of a set when it is asked whether it evokes a frame.
    #[must_use]
    pub fn of(origin: Origin, evokes: &str, asked: &str) -> Self {
        match origin {
            Origin::Generated | Origin::Predicted | Origin::Carried => Self::Output,
            _ if evokes == asked => Self::InFrame,
            _ => Self::OutOfFrame,
        }
    }
}

/// Where the sets of a review come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The query, in the order of the store.
    Query,
    /// The query, drawn and shown as the paper does.
    Protocol(Protocol),
    /// The candidates of an edition: those whose judgements its promise needs most.
    Promise {
        /// Its release; the only one that has the edition where this is `None`.
        release: Option<String>,
        /// Its name.
        edition: String,
    },
}

/// A set that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Item {
    /// Its release.
    pub release: ReleaseId,
    /// The set.
    pub set: AnnotationSetId,
    /// The frame that is asked for; of an out-of-frame control not the set's own.
    pub frame: FrameId,
}

/// A review cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// There is no item of that number.
    #[error("there is no item {0} in this review; expected one that was shown")]
    NoItem(usize),
    /// There is no such set any more.
    #[error("`{0}` was deleted meanwhile; go on to the next one")]
    Gone(AnnotationSetId),
    /// Nothing is left to be undone.
    #[error(
        "there is nothing to undo; the last {UNDO_DEPTH} decisions of this session can be undone"
    )]
    NothingToUndo,
    /// Another program changed what is to be undone.
    #[error("`{0}` was changed meanwhile by someone else; what stands now was kept")]
    ChangedMeanwhile(AnnotationSetId),
    /// Nothing but judging is done in a blind review.
    #[error("spans are not edited in a blind review; expected a score")]
    Blind,
    /// The spans are none of the sentence.
    #[error("`targets` is {found}; expected {expected}")]
    Targets {
        /// What was given.
        found: String,
        /// What is right.
        expected: String,
    },
    /// The thread that reads ahead cannot be started.
    #[error("cannot start reading `{dir}`")]
    Thread {
        /// The store.
        dir: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The thread that reads ahead ended before it was through.
    #[error("reading ahead stopped before the end; try again")]
    Stopped,
}

coded!(ReviewError {
    Self::Database(error) => error.trouble(),
    Self::Thread { source, .. } => source.trouble(),
});

impl From<StoreError> for ReviewError {
    fn from(error: StoreError) -> Self {
        Self::Database(error.into())
    }
}
