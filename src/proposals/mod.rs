//! LUs that expansions and searches propose, as reviewers meet them: one row for each (frame,
//! `lemma.pos`), ranked, and what is decided of it.
//!
//! An expansion writes sentences. A lexicographer does not read them one by one, but asks what they
//! say together: which words stand for which frame, how often, and how surely. [`Proposals`]
//! gathers that ([`Proposal`]), ranks it by a logistic model ([`Ranker`]), and carries out
//! decisions through [`Transaction::decide`](crate::edit::Transaction::decide). Pages and programs
//! use the same calls as the command line. Nearest LUs are found by word vectors, as in
//! Pennacchiotti, De Cao, Basili, Croce and Roth (2008).

#[doc(hidden)]
pub mod benchmark;
mod candidates;
mod decisions;
mod error;
mod hidden;
mod lemmas;
mod rank;
mod record;
mod refusal;
#[doc(hidden)]
pub mod scratch;
#[doc(hidden)]
pub mod train;

use candidates::Ranked;
#[doc(hidden)]
pub use decisions::{DecisionRecord, decisions};
pub use error::ProposalError;
#[doc(hidden)]
pub use hidden::{HiddenFigures, HiddenRecord, figures};
pub(crate) use lemmas::KnownLemmas;
#[doc(hidden)]
pub use rank::Input;
pub use rank::Ranker;
#[doc(hidden)]
pub use record::DiscoveredRecord;
pub use refusal::Refusal;
pub(crate) use refusal::of_name as name_refusal;

#[doc(hidden)]
pub use crate::learn::FileError;
pub use crate::vectors::{VectorsError, WordVectors};

use serde::Serialize;

use crate::database::Database;
use crate::edit::{Fate, HandedOver};
use crate::model::{
    AnnotationSetId, Decision, Discovery, Evidence, FrameId, LuId, Pos, Positive, ReleaseId,
    Reviewed, Span, Verdict, is_english,
};
use crate::query::Expression;
use crate::text::{called_in_any_case, fold, plain_lemma};

type Result<T> = std::result::Result<T, ProposalError>;

/// An LU that an expansion or a search proposes, with what speaks for it; as JSON what
/// `fnstore proposals` prints.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Proposal {
    /// Its release.
    pub release: ReleaseId,
    /// Name of the release.
    pub release_name: String,
    /// Language of the release.
    pub language: String,
    /// Its frame.
    pub frame: FrameId,
    /// Name of the frame.
    pub frame_name: String,
    /// Its number.
    pub lu: LuId,
    /// Its name, as in `vet.v`.
    pub name: String,
    /// What its sets say.
    pub evidence: Evidence,
    /// How likely it is to be accepted, by the ranker: 0 to 1.
    pub score: f32,
    /// The human sets that its sets grew from, in order of id.
    pub seeds: Vec<AnnotationSetId>,
    /// The rounds that gave it, in order.
    pub rounds: Vec<u16>,
    /// Its best sentences, the best first.
    pub sentences: Vec<Attestation>,
    /// Names of other frames that have an LU of its lemma and part of speech, in order.
    pub other_frames: Vec<String>,
    /// The frame's LUs that are most like it, the most alike first.
    pub nearest: Vec<Near>,
    /// The decision that stands.
    pub decided: Option<Decision>,
    /// Why it is no proposal, although sets stand under it.
    pub refused: Option<Refusal>,
    /// What a search for new LUs found of it.
    pub discovered: Option<Discovery>,
}

/// An LU of the frame that is like a proposed one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Name of the LU.
    pub lu: String,
    /// Cosine of the word vectors.
    pub cosine: f32,
}

/// A sentence of a proposed LU.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attestation {
    /// The set.
    pub set: AnnotationSetId,
    /// The sentence.
    pub text: String,
    /// The target's text.
    pub trigger: String,
    /// The target's pieces, in bytes.
    #[serde(skip)]
    pub targets: Vec<Span>,
    /// Round of the set.
    pub round: Positive<u16>,
    /// Aligner score of the set.
    pub aligner: f32,
    /// Score of the precision filter.
    pub p: Option<f32>,
}

/// Lemma as running text in lower case, and part of speech, of an LU's name.
type Key = (String, Pos);

fn key_of(name: &str) -> Key {
    let lemma = name.rsplit_once('.').map_or(name, |(lemma, _)| lemma);
    (fold(&plain_lemma(lemma)), Pos::of_lu_name(name))
}

/// What generated sets propose.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Listed {
    /// The proposals, the likeliest first; of equal ones in order of frame and name.
    pub proposals: Vec<Proposal>,
    /// What no LU can be called, in the same order, each with the reason.
    pub refused: Vec<Proposal>,
}

/// The first of what generated sets propose.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Best {
    /// The proposals, the likeliest first.
    pub proposals: Vec<Proposal>,
    /// How many there are in all.
    pub all: usize,
    /// How many words are left out that no LU can be called.
    pub refused: usize,
}

/// The proposals of a database.
pub struct Proposals<'a> {
    database: &'a Database,
    vectors: Vectors<'a>,
    ranker: Ranker,
}

/// Word vectors, or how they are got once they are needed.
enum Vectors<'a> {
    Here(Option<&'a WordVectors>),
    Coming(&'a Coming<'a>),
}

/// Waits for word vectors that another thread reads.
#[doc(hidden)]
pub type Coming<'a> = dyn Fn() -> Option<&'a WordVectors> + Sync + 'a;

impl<'a> Vectors<'a> {
    fn get(&self) -> Option<&'a WordVectors> {
        match self {
            Self::Here(vectors) => *vectors,
            Self::Coming(get) => get(),
        }
    }
}

impl<'a> Proposals<'a> {
    /// The proposals of a database, ranked by a ranker; without word vectors nothing is told to be
    /// near.
    #[must_use]
    pub fn new(database: &'a Database, vectors: Option<&'a WordVectors>, ranker: Ranker) -> Self {
        Self { database, vectors: Vectors::Here(vectors), ranker }
    }

    /// As [`Proposals::new`], with word vectors that are asked for once the store is read.
    #[doc(hidden)]
    #[must_use]
    pub fn with_coming(database: &'a Database, vectors: &'a Coming<'a>, ranker: Ranker) -> Self {
        Self { database, vectors: Vectors::Coming(vectors), ranker }
    }

    /// The proposals that the generated sets for which an expression holds attest, the likeliest
    /// first; of equal ones in order of frame and name. Evidence is of these sets alone. A proposal
    /// on which a decision stands is left out, unless its sets came after a move or merge, or
    /// `with_decided`. So is what is refused ([`Refusal`]). Memory for a few numbers of each LU.
    ///
    /// An expression that asks for releases, frames and LUs alone is answered by the evidence that
    /// commits keep. For others the sets of proposed LUs are read, and one number of each seed is
    /// held.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn list(&self, expression: &Expression, with_decided: bool) -> Result<Vec<Proposal>> {
        Ok(self.list_apart(expression, with_decided)?.proposals)
    }

    /// As [`Proposals::list`], and beside it what is refused and nobody decided on.
    ///
    /// # Errors
    /// As [`Database::query`].
    #[doc(hidden)]
    pub fn list_apart(&self, expression: &Expression, with_decided: bool) -> Result<Listed> {
        let (mut lexicons, Ranked { proposals, refused }) =
            self.ranked(expression, with_decided)?;
        Ok(Listed {
            proposals: self.filled_in(&mut lexicons, proposals, usize::MAX)?,
            refused: self.filled_in(&mut lexicons, refused, usize::MAX)?,
        })
    }

    /// The first of [`Proposals::list`], so many of them, and how many there are: sentences are
    /// read of these alone.
    ///
    /// # Errors
    /// As [`Database::query`].
    pub fn best(&self, expression: &Expression, with_decided: bool, limit: usize) -> Result<Best> {
        let (mut lexicons, Ranked { proposals, refused }) =
            self.ranked(expression, with_decided)?;
        let (all, refused) = (proposals.len(), refused.len());
        Ok(Best { proposals: self.filled_in(&mut lexicons, proposals, limit)?, all, refused })
    }

    /// The proposal of a name in a frame, by all of its generated sets.
    ///
    /// # Errors
    /// When there is none, or the database fails.
    pub fn of(&self, release: ReleaseId, frame: FrameId, name: &str) -> Result<Proposal> {
        let lexicon = KnownLemmas::read(self.database, release)?;
        let mut lexicon = lexicon.with_vectors(self.database, self.vectors.get());
        let store = self.database.store();
        let proposed = store.lexunits_of(release, frame)?;
        let mut proposed = proposed.collect::<std::result::Result<Vec<_>, _>>()?;
        proposed.retain(|lu| lexicon.is_proposed((frame, lu.id)));
        let found = called_in_any_case(proposed, name, |lu| &lu.name).pop();
        let absent = || ProposalError::Absent { frame, name: name.to_owned() };
        let lu = found.ok_or_else(absent)?.id;
        let place = (release, frame, lu);
        let gathered = self.gathered(&lexicon, place)?;
        let directions = lexicon.directions(frame);
        let candidate = self.candidate(&lexicon, &directions, place, gathered)?;
        self.fill_in(&mut lexicon, candidate)
    }

    /// Decides on a proposal, and records who did, when, why, and on what evidence. All is
    /// committed or nothing. Gives what moved.
    ///
    /// # Errors
    /// When there is no such proposal, a decision stands, or the store cannot be written.
    pub fn decide(
        &self,
        release: ReleaseId,
        (frame, name): (FrameId, &str),
        fate: Fate,
        by: Reviewed,
    ) -> Result<HandedOver> {
        let is_new_lu = matches!(fate, Fate::Accept | Fate::Move(_));
        if is_new_lu && refusal::of_name(&key_of(name), self.is_english(release)?).is_some() {
            return Err(ProposalError::NoUnit { name: name.to_owned() });
        }
        let mut edits = self.database.transaction(release)?;
        let standing = edits.decisions(frame, name)?;
        // A decision that stands says more than that there is nothing to decide.
        let evidence = match self.of(release, frame, name) {
            Ok(proposal) => proposal.evidence,
            Err(_) if standing.is_some_and(|decided| decided.standing().is_some()) => {
                Evidence::default()
            }
            Err(error) => return Err(error),
        };
        let moved = edits.decide(frame, name, fate, by, evidence)?;
        edits.commit()?;
        Ok(moved)
    }

    /// Takes back the last standing decision on a proposal; the record stays, and says who took it
    /// back. Gives what had been decided, and what came back.
    ///
    /// # Errors
    /// When no decision stands, it cannot be undone, or the store cannot be written.
    pub fn undo(
        &self,
        release: ReleaseId,
        (frame, name): (FrameId, &str),
        undone: Reviewed,
    ) -> Result<(Verdict, HandedOver)> {
        let mut edits = self.database.transaction(release)?;
        let undone = edits.undo_decision(frame, name, undone)?;
        edits.commit()?;
        Ok(undone)
    }

    fn is_english(&self, release: ReleaseId) -> Result<bool> {
        let mut releases = self.database.releases()?.into_iter();
        Ok(releases.find(|of| of.id == release).is_some_and(|of| is_english(&of.language)))
    }
}
