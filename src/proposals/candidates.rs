//! Candidates: LUs that generated sets attest, ranked before a sentence of theirs is read.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::take;
use std::sync::Arc;

use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

use super::lemmas::{Direction, KnownLemmas};
use super::{Attestation, Key, Proposal, Proposals, Ranker, Refusal, Result, key_of, refusal};
use crate::database::DatabaseError;
use crate::model::{
    ACCEPTED, AnnotationSet, AnnotationSetId, Decision, Discovery, Evidence, FrameId, LuId,
    PROPOSED, ReleaseId, Verdict,
};
use crate::query::{Expression, Selection};
use crate::store::{LuEvidence, SetEvidence, SetRange};

/// A proposed LU by its release, frame and number.
type Place = (ReleaseId, FrameId, LuId);

/// What an LU's sets say, and their seeds where those are not kept.
#[derive(Default)]
pub(super) struct Gathered {
    sums: LuEvidence,
    seeds: Option<BTreeSet<AnnotationSetId>>,
}

impl Gathered {
    /// Takes a set, if an expansion wrote it, and how likely a verifier finds it that its target
    /// evokes the frame.
    fn take(&mut self, set: &AnnotationSet, evokes: Option<f32>) {
        if let Some(evidence) = SetEvidence::of(set, evokes) {
            self.seeds.get_or_insert_default().insert(evidence.seed);
            self.sums.add(&evidence);
        }
    }

    fn of_kept(sums: LuEvidence) -> Self {
        Self { sums, seeds: None }
    }
}

/// A proposal without its sentences.
pub(super) struct Candidate {
    place: Place,
    frame: Arc<str>,
    name: String,
    key: Key,
    gathered: Gathered,
    evidence: Evidence,
    score: f32,
    other_frames: Vec<FrameId>,
    decided: Option<Decision>,
    refused: Option<Refusal>,
    discovered: Option<Discovery>,
}

impl Candidate {
    /// What orders candidates of one score.
    fn names(&self) -> (&str, &str, LuId) {
        (&self.frame, &self.name, self.place.2)
    }
}

/// What the lexicons say of the releases that were asked for.
pub(super) type Lexicons<'v> = HashMap<ReleaseId, KnownLemmas<'v>>;

/// Candidates in order.
#[derive(Default)]
pub(super) struct Ranked {
    pub(super) proposals: Vec<Candidate>,
    pub(super) refused: Vec<Candidate>,
}

impl<'a> Proposals<'a> {
    /// The candidates of [`Proposals::list_apart`], in order.
    pub(super) fn ranked(
        &self,
        expression: &Expression,
        with_decided: bool,
    ) -> Result<(Lexicons<'a>, Ranked)> {
        // Both of one state, unless somebody commits at this moment.
        self.database.refresh()?;
        let kept = || self.database.evidence_found(expression);
        let (kept, mut lexicons) = rayon::join(kept, || self.surely_asked());
        let mut gathered: Vec<(Place, Gathered)> = match kept? {
            Some(kept) => {
                kept.into_iter().map(|(place, sums)| (place, Gathered::of_kept(sums))).collect()
            }
            None => self.gather(&mut lexicons, expression, with_decided)?.into_iter().collect(),
        };
        gathered.sort_by_key(|(place, _)| *place);
        for of_release in gathered.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            self.lexicon(&mut lexicons, of_release[0].0.0)?;
        }
        // Nothing that is read above needs the vectors, which may take as long.
        let vectors = self.vectors.get();
        let lexicons: Lexicons<'a> = lexicons
            .into_iter()
            .map(|(release, lexicon)| (release, lexicon.with_vectors(self.database, vectors)))
            .collect();
        let ranked = self.rank(&lexicons, gathered, with_decided)?;
        Ok((lexicons, ranked))
    }

    /// Ranks what was gathered, frame by frame on all cores.
    fn rank(
        &self,
        lexicons: &Lexicons<'a>,
        mut gathered: Vec<(Place, Gathered)>,
        with_decided: bool,
    ) -> Result<Ranked> {
        gathered.retain(|((release, frame, lu), _)| {
            let (lexicon, at) = (&lexicons[release], (*frame, *lu));
            lexicon.is_proposed(at) || with_decided && lexicon.is_accepted(at)
        });
        let of_frame = |of: &mut [(Place, Gathered)]| {
            let (release, frame, _) = of[0].0;
            let lexicon = &lexicons[&release];
            let directions = lexicon.directions(frame);
            let one = |(place, sums): &mut (Place, Gathered)| {
                self.candidate(lexicon, &directions, *place, take(sums))
            };
            of.iter_mut().map(one).collect::<Result<Vec<Candidate>>>()
        };
        let is_of_one = |(a, _): &(Place, _), (b, _): &(Place, _)| (a.0, a.1) == (b.0, b.1);
        let frames = gathered.par_chunk_by_mut(is_of_one);
        let candidates: Vec<Vec<Candidate>> = frames.map(of_frame).collect::<Result<_>>()?;
        let mut ranked = Ranked::default();
        for candidate in candidates.into_iter().flatten() {
            // Where sets came after a move or merge, there is something to decide again.
            let is_closed = candidate.decided.as_ref().is_some_and(|decision| {
                matches!(decision.verdict, Verdict::Accept | Verdict::Reject)
                    || candidate.evidence.sets == 0
            });
            // Of an LU under a search's number that the search did not find, nothing speaks.
            if candidate.evidence.sets == 0 && candidate.discovered.is_none() {
                continue;
            }
            if candidate.refused.is_some() && candidate.decided.is_none() {
                ranked.refused.push(candidate);
            } else if with_decided || !is_closed {
                ranked.proposals.push(candidate);
            }
        }
        for candidates in [&mut ranked.proposals, &mut ranked.refused] {
            candidates.sort_by(|a, b| {
                b.score.total_cmp(&a.score).then_with(|| a.names().cmp(&b.names()))
            });
        }
        Ok(ranked)
    }

    /// The lexicon of the only release, which nearly all calls need: it is read beside the
    /// evidence. What fails here fails again where it is needed.
    fn surely_asked(&self) -> Lexicons<'a> {
        let releases = self.database.releases().unwrap_or_default();
        let [release] = releases.as_slice() else { return Lexicons::default() };
        let read = KnownLemmas::read(self.database, release.id);
        read.ok().map(|known| (release.id, known)).into_iter().collect()
    }

    fn lexicon<'l>(
        &self,
        lexicons: &'l mut Lexicons<'a>,
        release: ReleaseId,
    ) -> Result<&'l mut KnownLemmas<'a>> {
        match lexicons.entry(release) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(KnownLemmas::read(self.database, release)?)),
        }
    }

    /// What the sets say for which an expression holds, LU by LU.
    fn gather(
        &self,
        lexicons: &mut Lexicons<'a>,
        expression: &Expression,
        with_decided: bool,
    ) -> Result<BTreeMap<Place, Gathered>> {
        let mut gathered: BTreeMap<Place, Gathered> = BTreeMap::new();
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
            let lexicon = self.lexicon(lexicons, release)?;
            let at = (set.frame, set.lu);
            if lexicon.is_proposed(at) || with_decided && lexicon.is_accepted(at) {
                let evokes = lexicon.evokes(self.database, (release, set.id))?;
                gathered.entry((release, set.frame, set.lu)).or_default().take(set, evokes);
            }
        }
        for ((release, ..), gathered) in &mut gathered {
            self.end(*release, gathered)?;
        }
        for (place, _) in self.database.discovered(expression)? {
            self.lexicon(lexicons, place.0)?;
            gathered.entry(place).or_default();
        }
        Ok(gathered)
    }

    /// What all generated sets of an LU say.
    pub(super) fn gathered(
        &self,
        lexicon: &KnownLemmas<'_>,
        (release, frame, lu): Place,
    ) -> Result<Gathered> {
        let store = self.database.store();
        if let Some(kept) = store.kept_evidence(SetRange::LexUnit(release, frame, lu))? {
            let sums = kept.into_iter().next().map(|(_, sums)| sums);
            return Ok(Gathered::of_kept(sums.unwrap_or_default()));
        }
        let mut gathered = Gathered::default();
        for set in store.annotation_sets_of_lexunit(release, frame, lu)? {
            let set = set?;
            gathered.take(&set, lexicon.evokes(self.database, (release, set.id))?);
        }
        self.end(release, &mut gathered)?;
        Ok(gathered)
    }

    /// Counts the seeds, and reads whether the best targets stand inside of names.
    fn end(&self, release: ReleaseId, gathered: &mut Gathered) -> Result<()> {
        let Gathered { sums, seeds } = gathered;
        sums.seeds = seeds.as_ref().map_or(0, BTreeSet::len) as u64;
        sums.read_names(|sentence| {
            let sentence = self.database.store().sentence(release, sentence)?;
            Ok(sentence.map(|sentence| sentence.text))
        })
    }

    /// Ranks what the sets of an LU say, whose frame's LUs have those directions.
    pub(super) fn candidate(
        &self,
        lexicon: &KnownLemmas<'_>,
        of_frame: &[Direction],
        place: Place,
        gathered: Gathered,
    ) -> Result<Candidate> {
        let (release, frame, lu) = place;
        let name = lexicon.name_of((frame, lu));
        let key = key_of(&name);
        let other_frames = lexicon.frames_of(&key, frame);
        let mut evidence = gathered.sums.evidence();
        evidence.frames = other_frames.len() as u32;
        evidence.likeness = lexicon.likeness(of_frame, &key);
        evidence.words = key.0.split(' ').count() as u32;
        let refused = refused(lexicon, &key, (&evidence, &gathered.sums.in_names()));
        let discovered = lexicon.discovered((frame, lu)).filter(|found| found.name == name);
        let score = score(&self.ranker, &evidence, discovered);
        Ok(Candidate {
            place,
            frame: lexicon.name(frame),
            decided: lexicon.decided(self.database, release, (frame, &name))?,
            name,
            key,
            gathered,
            score,
            evidence,
            other_frames,
            refused,
            discovered: discovered.cloned(),
        })
    }

    /// The first candidates with their sentences.
    pub(super) fn filled_in(
        &self,
        lexicons: &mut Lexicons<'a>,
        candidates: Vec<Candidate>,
        limit: usize,
    ) -> Result<Vec<Proposal>> {
        let first = candidates.into_iter().take(limit);
        let filled = first.map(|candidate| {
            let lexicon = self.lexicon(lexicons, candidate.place.0)?;
            self.fill_in(lexicon, candidate)
        });
        filled.collect()
    }

    /// A candidate with its sentences, and what its lemma is like.
    pub(super) fn fill_in(
        &self,
        lexicon: &mut KnownLemmas<'_>,
        candidate: Candidate,
    ) -> Result<Proposal> {
        let store = self.database.store();
        let (release, frame, lu) = candidate.place;
        let Gathered { sums, seeds } = candidate.gathered;
        let mut sentences = Vec::new();
        for best in sums.best() {
            let Some(row) = store.annotation_set(release, best.set)? else { continue };
            let sentence = store.sentence(release, row.sentence)?;
            let Some(text) = sentence.map(|sentence| sentence.text) else { continue };
            sentences.push(Attestation {
                set: best.set,
                trigger: row.trigger(&text),
                text,
                targets: row.targets,
                round: best.round,
                aligner: best.aligner,
                p: best.p,
            });
        }
        Ok(Proposal {
            release,
            release_name: lexicon.release.clone(),
            language: lexicon.language.clone(),
            frame,
            frame_name: candidate.frame.to_string(),
            lu,
            evidence: candidate.evidence,
            score: candidate.score,
            seeds: match seeds {
                Some(seeds) => seeds.into_iter().collect(),
                None => store.kept_seeds(release, (frame, lu))?,
            },
            rounds: sums.rounds(),
            sentences,
            other_frames: candidate
                .other_frames
                .iter()
                .map(|of| lexicon.name(*of).to_string())
                .collect(),
            nearest: lexicon.nearest(frame, &candidate.key),
            name: candidate.name,
            decided: candidate.decided,
            refused: candidate.refused,
            discovered: candidate.discovered,
        })
    }
}

/// How likely a proposal is to be accepted: by what its sets say, or by what a search found of it.
/// The evidence stays that of the sets: a ranker is trained on it.
fn score(ranker: &Ranker, evidence: &Evidence, discovered: Option<&Discovery>) -> f32 {
    let Some(discovered) = discovered else { return ranker.score(evidence) };
    let by_sets = if evidence.sets > 0 { ranker.score(evidence) } else { 0.0 };
    by_sets.max(discovered.score)
}

/// Why a word is no proposal.
fn refused(
    lexicon: &KnownLemmas<'_>,
    key: &Key,
    (evidence, in_names): (&Evidence, &[bool]),
) -> Option<Refusal> {
    if let Some(refused) = refusal::of_name(key, lexicon.is_english) {
        return Some(refused);
    }
    if refusal::is_part_of_name(key.1, in_names, lexicon.is_english) {
        return Some(Refusal::PartOfName);
    }
    let is_unknown = evidence.unknown >= 1.0 && lexicon.vectors?.of(&key.0).is_none();
    is_unknown.then_some(Refusal::NoWord)
}
