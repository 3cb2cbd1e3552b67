//! LUs that expansions propose, as reviewers meet them: one row for each (frame, `lemma.pos`),
//! ranked, and what is decided of it.
//!
//! An expansion writes sentences. A lexicographer does not read them one by one, but asks what they
//! say together: which words stand for which frame, how often, and how surely. [`Proposals`]
//! gathers that ([`Proposal`]), ranks it by a logistic model ([`Ranker`]), and carries out
//! decisions through [`Transaction::decide`](crate::edit::Transaction::decide). Pages and programs
//! use the same calls as the command line. Nearest LUs are found by word vectors, as in
//! Pennacchiotti, De Cao, Basili, Croce and Roth (2008).

mod error;
mod gathered;
mod hidden;
mod rank;
mod refusal;
pub mod scratch;
#[doc(hidden)]
pub mod train;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

pub use error::ProposalError;
use gathered::Gathered;
pub use hidden::{HiddenFigures, figures};
pub use rank::{Input, Ranker};
pub use refusal::Refusal;

use serde::Serialize;

use crate::database::{Database, DatabaseError};
use crate::edit::{Fate, HandedOver};
use crate::model::{
    ACCEPTED, AnnotationSetId, Decision, Evidence, FrameId, LuId, OWN_RANGE, PROPOSED, Pos,
    Positive, Release, ReleaseId, Reviewed, Span, Verdict, is_english,
};
use crate::query::{Expression, Selection};
use crate::text::{called, fold, plain_lemma};
use crate::vectors::{WordVectors, cosine, likeness};

type Result<T> = std::result::Result<T, ProposalError>;

/// Sentences that a proposal shows.
const SENTENCES: usize = 3;

/// LUs of the frame that a proposal shows.
const NEAREST: usize = 3;

/// An LU that an expansion proposes, with what speaks for it.
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
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Listed {
    /// The proposals, the likeliest first; of equal ones in order of frame and name.
    pub proposals: Vec<Proposal>,
    /// What no LU can be called, in the same order, each with the reason.
    pub refused: Vec<Proposal>,
}

/// The proposals of a database.
pub struct Proposals<'a> {
    database: &'a Database,
    vectors: Option<&'a WordVectors>,
    ranker: Ranker,
}

impl<'a> Proposals<'a> {
    /// The proposals of a database, ranked by a ranker; without word vectors nothing is told to be
    /// near.
    #[must_use]
    pub fn new(database: &'a Database, vectors: Option<&'a WordVectors>, ranker: Ranker) -> Self {
        Self { database, vectors, ranker }
    }

    /// The proposals that the generated sets for which an expression holds attest, the likeliest
    /// first; of equal ones in order of frame and name. Evidence is of these sets alone. A proposal
    /// on which a decision stands is left out, unless its sets came after a move or merge, or
    /// `with_decided`. So is what is refused ([`Refusal`]). Only sets of proposed LUs are read.
    /// Memory for a few numbers of each LU, and one of each seed.
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
    pub fn list_apart(&self, expression: &Expression, with_decided: bool) -> Result<Listed> {
        let mut releases: HashMap<ReleaseId, KnownLemmas> = HashMap::new();
        let mut gathered: BTreeMap<(ReleaseId, FrameId, LuId), Gathered> = BTreeMap::new();
        // The status leads to the LUs by their keys, past the sets of all others.
        let mut proposed = format!("origin=generated (lu_status={PROPOSED}");
        if with_decided {
            proposed.push_str(&format!(" or lu_status={ACCEPTED}"));
        }
        let proposed = format!("{proposed})").parse().map_err(DatabaseError::from)?;
        let proposed = Expression::conjunction([expression.clone(), proposed]);
        for found in self.database.matches(&proposed, &Selection::default())? {
            let found = found?;
            let (release, set) = (found.release(), found.set());
            let lexicon = match releases.entry(release) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    place.insert(KnownLemmas::read(self.database, release, self.vectors)?)
                }
            };
            let of = (set.frame, set.lu);
            if lexicon.proposed.contains(&of) || with_decided && lexicon.accepted.contains(&of) {
                let evokes = lexicon.evokes(self.database, (release, set.id))?;
                gathered.entry((release, set.frame, set.lu)).or_default().take(set, evokes);
            }
        }
        let mut listed = Listed::default();
        for ((release, frame, lu), gathered) in gathered {
            let lexicon = &releases[&release];
            let proposal = self.proposal(lexicon, (release, frame, lu), gathered)?;
            // Where sets came after a move or merge, there is something to decide again.
            let is_closed = proposal.decided.as_ref().is_some_and(|decision| {
                matches!(decision.verdict, Verdict::Accept | Verdict::Reject)
            });
            if proposal.refused.is_some() && proposal.decided.is_none() {
                listed.refused.push(proposal);
            } else if with_decided || !is_closed {
                listed.proposals.push(proposal);
            }
        }
        for proposals in [&mut listed.proposals, &mut listed.refused] {
            proposals.sort_by(|a, b| {
                let names = |of: &Proposal| (of.frame_name.clone(), of.name.clone(), of.lu);
                b.score.total_cmp(&a.score).then_with(|| names(a).cmp(&names(b)))
            });
        }
        Ok(listed)
    }

    /// The proposal of a name in a frame, by all of its generated sets.
    ///
    /// # Errors
    /// When there is none, or the database fails.
    pub fn of(&self, release: ReleaseId, frame: FrameId, name: &str) -> Result<Proposal> {
        let lexicon = KnownLemmas::read(self.database, release, self.vectors)?;
        let store = self.database.store();
        let mut gathered = Gathered::default();
        let proposed = store.lexunits_of(release, frame)?;
        let mut proposed = proposed.collect::<std::result::Result<Vec<_>, _>>()?;
        proposed.retain(|lu| lexicon.proposed.contains(&(frame, lu.id)));
        let found = called(proposed, name, |lu| &lu.name).pop();
        let absent = || ProposalError::Absent { frame, name: name.to_owned() };
        let lu = found.ok_or_else(absent)?.id;
        for set in store.annotation_sets_of_lexunit(release, frame, lu)? {
            let set = set?;
            gathered.take(&set, lexicon.evokes(self.database, (release, set.id))?);
        }
        self.proposal(&lexicon, (release, frame, lu), gathered)
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

    fn proposal(
        &self,
        lexicon: &KnownLemmas,
        (release, frame, lu): (ReleaseId, FrameId, LuId),
        gathered: Gathered,
    ) -> Result<Proposal> {
        let store = self.database.store();
        let record = store.lexunit(release, frame, lu)?;
        let name = record.map_or_else(|| lu.to_string(), |lu| lu.name);
        let key = key_of(&name);
        let others = lexicon.frames_of(&key, frame);
        let mut evidence = gathered.evidence();
        evidence.frames = others.len() as u32;
        let (nearest, near) = self.nearest(lexicon, frame, &key);
        evidence.likeness = near;
        evidence.words = key.0.split(' ').count() as u32;
        let decided = store.decisions(release, frame, &name)?;
        let mut sentences = Vec::new();
        for &(set, round, aligner, p) in gathered.best() {
            let Some(row) = store.annotation_set(release, set)? else { continue };
            let sentence = store.sentence(release, row.sentence)?;
            let Some(text) = sentence.map(|sentence| sentence.text) else { continue };
            let trigger = row.trigger(&text);
            let targets = row.targets;
            sentences.push(Attestation { set, text, trigger, targets, round, aligner, p });
        }
        let refused = self.refusal(lexicon, &key, &evidence, &sentences);
        Ok(Proposal {
            release,
            release_name: lexicon.release.clone(),
            language: lexicon.language.clone(),
            frame,
            frame_name: lexicon.name(frame),
            lu,
            name,
            score: self.ranker.score(&evidence),
            evidence,
            seeds: gathered.seeds(),
            rounds: gathered.rounds(),
            sentences,
            other_frames: others.iter().map(|frame| lexicon.name(*frame)).collect(),
            nearest,
            decided: decided.and_then(|decided| decided.standing().cloned()),
            refused,
        })
    }

    /// Why a word is no proposal.
    fn refusal(
        &self,
        lexicon: &KnownLemmas,
        key: &Key,
        evidence: &Evidence,
        sentences: &[Attestation],
    ) -> Option<Refusal> {
        if let Some(refused) = refusal::of_name(key, lexicon.is_english) {
            return Some(refused);
        }
        if refusal::is_part_of_name(key.1, sentences, lexicon.is_english) {
            return Some(Refusal::PartOfName);
        }
        let vectors = self.vectors.filter(|_| lexicon.has_vectors)?;
        let is_unknown = evidence.unknown >= 1.0 && vectors.of(&key.0).is_none();
        is_unknown.then_some(Refusal::NoWord)
    }

    /// The LUs of a frame that are most like a lemma, and how much it is like all of them.
    fn nearest(
        &self,
        lexicon: &KnownLemmas,
        frame: FrameId,
        (lemma, _): &Key,
    ) -> (Vec<Near>, Option<f32>) {
        // Vectors of another language say nothing.
        let vectors = self.vectors.filter(|_| lexicon.has_vectors);
        let Some(vectors) = vectors else { return (Vec::new(), None) };
        let Some(own) = vectors.of(lemma) else { return (Vec::new(), None) };
        let units = lexicon.units.get(&frame).map_or(&[][..], Vec::as_slice);
        let known: Vec<(&String, Vec<f32>)> =
            units.iter().filter_map(|name| Some((name, vectors.of(&key_of(name).0)?))).collect();
        let others: Vec<&[f32]> = known.iter().map(|(_, vector)| vector.as_slice()).collect();
        let near = (!others.is_empty()).then(|| likeness(&own, &others));
        let near_lu = |(lu, vector): &(&String, Vec<f32>)| Near {
            lu: (*lu).clone(),
            cosine: cosine(&own, vector),
        };
        let mut nearest: Vec<Near> = known.iter().map(near_lu).collect();
        nearest.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then_with(|| a.lu.cmp(&b.lu)));
        // A frame may have two LUs of one name.
        nearest.dedup_by(|a, b| a.lu == b.lu);
        nearest.truncate(NEAREST);
        (nearest, near)
    }
}

/// What a release's lexicon says of lemmas.
#[derive(Default)]
struct KnownLemmas {
    release: String,
    language: String,
    is_english: bool,
    /// Whether there are word vectors that were made for its language.
    has_vectors: bool,
    /// Whether a verifier was asked about one of its sets.
    is_verified: bool,
    frames: HashMap<FrameId, String>,
    /// LUs that are proposed, and whose lemma the lexicon of the frame lacks.
    proposed: HashSet<(FrameId, LuId)>,
    /// LUs of the lexicon that were proposals.
    accepted: HashSet<(FrameId, LuId)>,
    /// Frames of the lexicon's own LUs by lemma and part of speech.
    having: HashMap<Key, Vec<FrameId>>,
    /// Names of a frame's own LUs, in order.
    units: HashMap<FrameId, Vec<String>>,
}

impl KnownLemmas {
    fn read(
        database: &Database,
        release: ReleaseId,
        vectors: Option<&WordVectors>,
    ) -> Result<Self> {
        let store = database.store();
        let listed = database.releases()?.into_iter().find(|of| of.id == release);
        let is_told = |of: &Release| {
            vectors.is_some_and(|known| database.check_language(known.declared(), of).is_ok())
        };
        let mut lexicon = Self {
            is_english: listed.as_ref().is_some_and(|of| is_english(&of.language)),
            is_verified: store.all_verifications(release)?.next().is_some(),
            has_vectors: listed.as_ref().is_some_and(is_told),
            language: listed.as_ref().map_or_else(String::new, |of| of.language.clone()),
            release: listed.map_or_else(String::new, |of| of.name),
            ..Self::default()
        };
        for row in store.frame_names(release)? {
            let (frame, name) = row?;
            lexicon.frames.insert(frame, name);
        }
        let mut proposed = Vec::new();
        for row in store.lexunit_names(release)? {
            let (frame, lu, name) = row?;
            // An LU of the store's own range was proposed, or someone added or accepted it.
            let own = (lu.0 >= OWN_RANGE).then(|| store.lexunit(release, frame, lu));
            let status = own.transpose()?.flatten().map(|lu| lu.status);
            match status.as_deref() {
                Some(PROPOSED) => {
                    proposed.push((frame, lu, key_of(&name)));
                    continue;
                }
                Some(ACCEPTED) => drop(lexicon.accepted.insert((frame, lu))),
                _ => {}
            }
            let frames = lexicon.having.entry(key_of(&name)).or_default();
            if !frames.contains(&frame) {
                frames.push(frame);
            }
            lexicon.units.entry(frame).or_default().push(name);
        }
        for (frame, lu, key) in proposed {
            let is_there = lexicon.having.get(&key).is_some_and(|of| of.contains(&frame));
            if !is_there {
                lexicon.proposed.insert((frame, lu));
            }
        }
        Ok(lexicon)
    }

    /// How likely a verifier finds it that a set's target evokes its frame.
    fn evokes(
        &self,
        database: &Database,
        (release, set): (ReleaseId, AnnotationSetId),
    ) -> Result<Option<f32>> {
        if !self.is_verified {
            return Ok(None);
        }
        let said = database.store().verification(release, set)?;
        Ok(said.and_then(|said| said.evokes))
    }

    fn name(&self, frame: FrameId) -> String {
        self.frames.get(&frame).cloned().unwrap_or_else(|| frame.to_string())
    }

    /// Other frames that have an LU of a lemma, in order of name.
    fn frames_of(&self, key: &Key, beside: FrameId) -> Vec<FrameId> {
        let frames = self.having.get(key).into_iter().flatten().copied();
        let mut frames: Vec<FrameId> = frames.filter(|frame| *frame != beside).collect();
        frames.sort_by_key(|frame| self.name(*frame));
        frames
    }
}
