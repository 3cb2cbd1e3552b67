//! What a release's lexicon says of lemmas, and what was decided of proposals.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Key, Near, Result, key_of};
use crate::database::Database;
use crate::model::{
    ACCEPTED, AnnotationSetId, Decision, Discovery, FrameId, LuId, PROPOSED, Release, ReleaseId,
    is_english,
};
use crate::store::StoreError;
use crate::vectors::{WordVectors, cosine, likeness};

/// LUs of the frame that a proposal shows.
const NEAREST: usize = 3;

/// An LU by its frame and number.
pub(super) type Place = (FrameId, LuId);

/// What became of a proposal, by the status of its LU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Proposed,
    Accepted,
    /// Somebody added it, or gave it a status of their own.
    Other,
}

impl Standing {
    fn of(status: &str) -> Self {
        match status {
            PROPOSED => Self::Proposed,
            ACCEPTED => Self::Accepted,
            _ => Self::Other,
        }
    }
}

/// An LU and its vector.
pub(super) struct Direction {
    lu: String,
    vector: Vec<f32>,
}

impl AsRef<[f32]> for Direction {
    fn as_ref(&self) -> &[f32] {
        &self.vector
    }
}

/// What a release's lexicon says of lemmas.
#[derive(Default)]
pub(crate) struct KnownLemmas<'v> {
    pub(super) release: String,
    pub(super) language: String,
    pub(super) is_english: bool,
    /// The release, if it is still listed.
    of: Option<Release>,
    /// Word vectors that were made for its language; those of another say nothing.
    pub(super) vectors: Option<&'v WordVectors>,
    /// Whether a verifier was asked about one of its sets.
    is_verified: bool,
    frames: HashMap<FrameId, Arc<str>>,
    /// Names of LUs of the store's own range.
    names: HashMap<Place, String>,
    /// LUs that are proposed, and whose lemma the lexicon of the frame lacks.
    proposed: HashSet<Place>,
    /// LUs of the lexicon that were proposals.
    accepted: HashSet<Place>,
    /// Frames of the lexicon's own LUs by lemma and part of speech.
    having: HashMap<Key, Vec<FrameId>>,
    /// Names of a frame's own LUs, in order.
    units: HashMap<FrameId, Vec<String>>,
    /// Vectors of those that have one, of the frames that were asked for.
    directions: HashMap<FrameId, Vec<Direction>>,
    /// What searches found, of LUs of the store's own range.
    discovered: HashMap<Place, Discovery>,
    /// Decisions that stand; `None` where one cannot be read, which is nothing to the others.
    decisions: Option<HashMap<FrameId, HashMap<String, Decision>>>,
}

impl<'v> KnownLemmas<'v> {
    pub(crate) fn read(database: &Database, release: ReleaseId) -> Result<Self> {
        let store = database.store();
        let listed = database.releases()?.into_iter().find(|of| of.id == release);
        let mut lexicon = Self {
            is_english: listed.as_ref().is_some_and(|of| is_english(&of.language)),
            is_verified: store.all_verifications(release)?.next().is_some(),
            language: listed.as_ref().map_or_else(String::new, |of| of.language.clone()),
            release: listed.as_ref().map_or_else(String::new, |of| of.name.clone()),
            of: listed,
            decisions: decisions(database, release)?,
            discovered: discovered(database, release)?,
            ..Self::default()
        };
        for row in store.frame_names(release)? {
            let (frame, name) = row?;
            lexicon.frames.insert(frame, name.into());
        }
        // An LU of the store's own range was proposed, or someone added or accepted it.
        let own = || {
            store.own_lexunits(release, |lu| {
                ((lu.frame, lu.id), (Standing::of(&lu.status), lu.name))
            })
        };
        let named = || {
            let rows = store.lexunit_names(release)?;
            rows.map(|row| row.map(|(frame, lu, name)| (frame, lu, key_of(&name), name))).collect()
        };
        let (own, named): (_, std::result::Result<Vec<_>, StoreError>) = rayon::join(own, named);
        let mut own: HashMap<Place, (Standing, String)> = own?.into_iter().collect();
        let mut proposed = Vec::new();
        for (frame, lu, key, name) in named? {
            match own.remove(&(frame, lu)) {
                Some((Standing::Proposed, own)) => {
                    proposed.push((frame, lu, key));
                    lexicon.names.insert((frame, lu), own);
                    continue;
                }
                Some((Standing::Accepted, own)) => {
                    lexicon.accepted.insert((frame, lu));
                    lexicon.names.insert((frame, lu), own);
                }
                Some((Standing::Other, _)) | None => {}
            }
            let frames = lexicon.having.entry(key).or_default();
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

    /// Takes word vectors, unless they were made for another language.
    pub(crate) fn with_vectors(
        self,
        database: &Database,
        vectors: Option<&'v WordVectors>,
    ) -> Self {
        let release = self.of.as_ref();
        let is_told = |known: &&WordVectors| {
            release.is_some_and(|of| database.check_language(known.declared(), of).is_ok())
        };
        Self { vectors: vectors.filter(is_told), ..self }
    }

    /// The word vectors that were made for its language.
    pub(crate) fn vectors(&self) -> Option<&'v WordVectors> {
        self.vectors
    }

    /// Whether the lexicon of a frame has a lemma, or somebody rejected it there.
    pub(crate) fn has(&self, key: &Key, frame: FrameId) -> bool {
        let is_rejected = |name: &String| key_of(name) == *key;
        let decided = self.decisions.as_ref().and_then(|of| of.get(&frame));
        self.having.get(key).is_some_and(|of| of.contains(&frame))
            || decided.is_some_and(|of| of.keys().any(is_rejected))
    }

    /// Whether some frame's lexicon has a lemma.
    pub(crate) fn knows(&self, key: &Key) -> bool {
        self.having.contains_key(key)
    }

    /// Other frames that have an LU of a lemma, those first whose LUs are most like it; of equal
    /// ones, and without vectors, in order of name.
    pub(crate) fn likest_frames_of(&self, key: &Key, beside: FrameId) -> Vec<FrameId> {
        let alike = |frame: FrameId| {
            let mut directions = self.directions(frame);
            directions.retain(|of| key_of(&of.lu) != *key);
            self.likeness(&directions, key).unwrap_or(0.0)
        };
        let frames = self.frames_of(key, beside).into_iter();
        let mut frames: Vec<(f32, FrameId)> = frames.map(|of| (alike(of), of)).collect();
        // Stable: they stand in order of name.
        frames.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        frames.into_iter().map(|(_, frame)| frame).collect()
    }

    /// Whether an LU is proposed, and the lexicon of its frame lacks its lemma.
    pub(super) fn is_proposed(&self, place: Place) -> bool {
        self.proposed.contains(&place)
    }

    /// What a search found of an LU.
    pub(super) fn discovered(&self, place: Place) -> Option<&Discovery> {
        self.discovered.get(&place)
    }

    /// Whether an LU of the lexicon was proposed once.
    pub(super) fn is_accepted(&self, place: Place) -> bool {
        self.accepted.contains(&place)
    }

    /// The name of an LU that is or was proposed.
    pub(super) fn name_of(&self, place: Place) -> String {
        self.names.get(&place).cloned().unwrap_or_else(|| place.1.to_string())
    }

    /// How likely a verifier finds it that a set's target evokes its frame.
    pub(super) fn evokes(
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

    /// The decision that stands on a name in a frame.
    pub(super) fn decided(
        &self,
        database: &Database,
        release: ReleaseId,
        (frame, name): (FrameId, &str),
    ) -> Result<Option<Decision>> {
        if let Some(decisions) = &self.decisions {
            return Ok(decisions.get(&frame).and_then(|of| of.get(name)).cloned());
        }
        let decided = database.store().decisions(release, frame, name)?;
        Ok(decided.and_then(|decided| decided.standing().cloned()))
    }

    pub(crate) fn name(&self, frame: FrameId) -> Arc<str> {
        self.frames.get(&frame).cloned().unwrap_or_else(|| frame.to_string().into())
    }

    /// Other frames that have an LU of a lemma, in order of name.
    pub(crate) fn frames_of(&self, key: &Key, beside: FrameId) -> Vec<FrameId> {
        let frames = self.having.get(key).into_iter().flatten().copied();
        let mut frames: Vec<FrameId> = frames.filter(|frame| *frame != beside).collect();
        frames.sort_by_cached_key(|frame| self.name(*frame));
        frames
    }

    /// The LUs of a frame that have a vector.
    pub(super) fn directions(&self, frame: FrameId) -> Vec<Direction> {
        let units = self.units.get(&frame).into_iter().flatten();
        let direction = |lu: &String| {
            let vector = self.vectors?.of(&key_of(lu).0)?;
            Some(Direction { lu: lu.clone(), vector })
        };
        units.filter_map(direction).collect()
    }

    /// How much a lemma is like the LUs of a frame.
    pub(super) fn likeness(&self, of_frame: &[Direction], (lemma, _): &Key) -> Option<f32> {
        let own = self.vectors?.of(lemma)?;
        (!of_frame.is_empty()).then(|| likeness(&own, of_frame))
    }

    /// The LUs of a frame that are most like a lemma.
    pub(super) fn nearest(&mut self, frame: FrameId, (lemma, _): &Key) -> Vec<Near> {
        let own = self.vectors.and_then(|vectors| vectors.of(lemma));
        let Some(own) = own else { return Vec::new() };
        if !self.directions.contains_key(&frame) {
            self.directions.insert(frame, self.directions(frame));
        }
        let near = |of: &Direction| Near { lu: of.lu.clone(), cosine: cosine(&own, &of.vector) };
        let mut nearest: Vec<Near> = self.directions[&frame].iter().map(near).collect();
        nearest.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then_with(|| a.lu.cmp(&b.lu)));
        // A frame may have two LUs of one name.
        nearest.dedup_by(|a, b| a.lu == b.lu);
        nearest.truncate(NEAREST);
        nearest
    }
}

/// What searches of a release found, by LU.
fn discovered(database: &Database, release: ReleaseId) -> Result<HashMap<Place, Discovery>> {
    let rows = database.store().discoveries(release)?;
    let place = |found: Discovery| ((found.frame, found.lu), found);
    let found = rows.map(|row| row.map(place)).collect::<std::result::Result<_, StoreError>>();
    Ok(found?)
}

/// The decisions of a release that stand, by frame and name; `None` where one cannot be read.
fn decisions(
    database: &Database,
    release: ReleaseId,
) -> Result<Option<HashMap<FrameId, HashMap<String, Decision>>>> {
    let mut decisions: HashMap<FrameId, HashMap<String, Decision>> = HashMap::new();
    for decided in database.store().all_decisions(release)? {
        let decided = match decided {
            Err(StoreError::Damaged { .. }) => return Ok(None),
            decided => decided?,
        };
        if let Some(standing) = decided.standing().cloned() {
            decisions.entry(decided.frame).or_default().insert(decided.name, standing);
        }
    }
    Ok(Some(decisions))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::Pos;

    #[test]
    fn of_other_frames_those_with_lus_like_a_lemma_come_first() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/word-vectors");
        let vectors = WordVectors::open(&models).unwrap();
        let key = ("inspect".to_owned(), Pos::Verb);
        let [roaming, checking] = [FrameId(1), FrameId(2)];
        let mut lexicon = KnownLemmas::default();
        lexicon.frames.extend([(roaming, "A_roaming".into()), (checking, "B_checking".into())]);
        lexicon.having.insert(key.clone(), vec![checking, FrameId(3), roaming]);
        let units = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        lexicon.units.insert(roaming, units(["inspect.v", "wander.v"]));
        lexicon.units.insert(checking, units(["inspect.v", "examine.v"]));
        let frames = |of: &KnownLemmas<'_>| of.likest_frames_of(&key, FrameId(3));
        assert_eq!(frames(&lexicon), [roaming, checking], "by name, without vectors");
        lexicon.vectors = Some(&vectors);
        assert_eq!(frames(&lexicon), [checking, roaming]);
    }
}
