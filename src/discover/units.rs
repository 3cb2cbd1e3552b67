//! The LUs of a frame with sentences that show them, and words put in their place.

use std::collections::BTreeMap;

use super::Result;
use crate::database::Database;
use crate::expand::Unit;
use crate::generate::{Placed, place, tag_of};
use crate::model::{
    AnnotationSetId, FrameId, LuId, Origin, PROPOSED, Pos, Release, ReleaseId, Span,
    is_same_language,
};
use crate::query::{Case, Pattern};
use crate::text::{Morphology, is_in_name, words};

/// A lemma in small letters, and its part of speech.
pub(super) type Key = (String, Pos);

/// Exemplars of an LU that are read to choose from.
const READ: usize = 24;
/// Exemplars of an LU that are used.
const USED: usize = 4;
/// Fewest and most words of a sentence that is used: short ones say little of the frame, long ones
/// take time.
const LENGTHS: std::ops::RangeInclusive<usize> = 5..=28;

/// An LU of a frame.
#[derive(Debug)]
pub(super) struct FrameUnit {
    pub(super) name: String,
    pub(super) unit: Unit,
    /// Sentences that show it.
    pub(super) exemplars: Vec<Exemplar>,
}

/// A sentence that shows an LU.
#[derive(Debug, Clone)]
pub(super) struct Exemplar {
    pub(super) set: AnnotationSetId,
    /// What the sentence's tags say of the LU there.
    tag: Option<String>,
    pub(super) text: String,
    pub(super) target: Span,
}

impl FrameUnit {
    /// One that nothing shows.
    pub(super) fn new(name: String) -> Self {
        let unit = Unit::new(&name);
        Self { name, unit, exemplars: Vec::new() }
    }

    pub(super) fn is_shown(&self) -> bool {
        !self.exemplars.is_empty()
    }
}

/// The LUs of a frame's lexicon, and the lemmas that expansions proposed for it.
pub(super) fn units_of(
    database: &Database,
    release: ReleaseId,
    frame: FrameId,
) -> Result<(Vec<FrameUnit>, Vec<Key>)> {
    let store = database.store();
    let (mut units, mut proposed) = (Vec::new(), Vec::new());
    for lu in store.lexunits_of(release, frame)? {
        let lu = lu?;
        let unit = Unit::of(&lu);
        if lu.status == PROPOSED {
            // What an earlier search proposed is no word of an expansion.
            let mut sets = store.annotation_sets_of_lexunit(release, frame, lu.id)?;
            if sets.next().is_some() {
                proposed.push(unit.key());
            }
            continue;
        }
        let exemplars = match unit.is_pattern {
            true => Vec::new(),
            false => exemplars_of(database, release, (frame, lu.id))?,
        };
        units.push(FrameUnit { name: lu.name, unit, exemplars });
    }
    Ok((units, proposed))
}

/// The LUs that a frame of that name has in other releases of the same language, each with the
/// release's name.
pub(super) fn elsewhere(
    database: &Database,
    release: &Release,
    frame: &str,
) -> Result<Vec<(Key, String)>> {
    let mut found = Vec::new();
    for other in database.releases()? {
        if other.id == release.id || !is_same_language(&other.language, &release.language) {
            continue;
        }
        let lexicon = database.lexicon(other.id)?;
        for there in lexicon.find_frames(&Pattern::exact(frame, Case::Sensitive))? {
            for lu in database.store().lexunits_of(other.id, there?.id)? {
                let lu = lu?;
                let unit = Unit::of(&lu);
                if lu.status != PROPOSED && !unit.is_pattern {
                    found.push((unit.key(), other.name.clone()));
                }
            }
        }
    }
    Ok(found)
}

/// Some sentences that people annotated with an LU, the shorter ones first.
fn exemplars_of(
    database: &Database,
    release: ReleaseId,
    (frame, lu): (FrameId, LuId),
) -> Result<Vec<Exemplar>> {
    let store = database.store();
    let mut found: BTreeMap<(usize, AnnotationSetId), Exemplar> = BTreeMap::new();
    let mut read = 0;
    for set in store.annotation_sets_but_generated(release, frame, Some(lu))? {
        let Some(set) = set? else { continue };
        let is_human = matches!(
            set.provenance.origin(),
            Origin::Exemplar | Origin::FullText | Origin::User | Origin::Imported
        );
        let [target] = set.targets[..] else { continue };
        if !is_human {
            continue;
        }
        let Some(sentence) = store.sentence(release, set.sentence)? else { continue };
        read += 1;
        let length = words(&sentence.text).len();
        let is_word = target.of(&sentence.text).is_some_and(|words| !words.trim().is_empty());
        if is_word && !is_in_name(&sentence.text, &[target]) {
            let outside = u8::from(!LENGTHS.contains(&length));
            let tag = tag_of(database, release, set.sentence, target)?;
            let exemplar = Exemplar { set: set.id, tag, text: sentence.text, target };
            found.insert((length + usize::from(outside) * 1_000, set.id), exemplar);
        }
        if read == READ {
            break;
        }
    }
    Ok(found.into_values().take(USED).collect())
}

/// A word in the place of an LU.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    pub(super) made_of: AnnotationSetId,
    pub(super) text: String,
    pub(super) target: Span,
}

/// Puts a word into sentences of LUs of its part of speech, of each LU once before one has another
/// turn; those of `first` come first.
pub(super) fn trials(
    (units, morphology): (&[FrameUnit], &Morphology),
    (name, first): (&str, &[usize]),
    most: usize,
) -> Vec<Trial> {
    if most == 0 {
        return Vec::new();
    }
    let unit = Unit::new(name);
    let is_alike = |at: &usize| units[*at].unit.pos == unit.pos && units[*at].is_shown();
    let rest = (0..units.len()).filter(|at| !first.contains(at));
    let order: Vec<usize> = first.iter().copied().chain(rest).filter(is_alike).collect();
    let mut trials = Vec::new();
    for turn in 0..USED {
        for at in &order {
            let sister = &units[*at];
            let Some(exemplar) = sister.exemplars.get(turn) else { continue };
            let of = (exemplar.text.as_str(), exemplar.target);
            let by = (sister.unit.lemma.as_str(), morphology);
            let placed = place(&unit, of, by, exemplar.tag.as_deref());
            if let Some(Placed { text, target }) = placed {
                trials.push(Trial { made_of: exemplar.set, text, target });
            }
            if trials.len() == most {
                return trials;
            }
        }
    }
    trials
}
