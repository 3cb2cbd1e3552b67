//! The paper's protocol: outputs in triples with two controls, beside examples by people.
//!
//! What is drawn depends on the seed and on the sets alone, so all judges of a study see the same
//! triples with the same examples. The order of triples, and of the three sentences of each, is a
//! judge's own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::view::{EXAMPLES, Example, Place, is_of_people};
use super::{Item, Result};
use crate::database::Database;
use crate::model::{AnnotationSet, AnnotationSetId, FrameId, LuId, ReleaseId};
use crate::search::Matches;
use crate::text::fold;

/// Human sets that are looked at for one control, or for one example.
const LOOKED_AT: usize = 200;

/// The paper's protocol (Culkin et al. 2021, section 6.1): for each output a sentence that people
/// annotated in the frame and one that they annotated in another, side by side in random order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Outputs to be judged.
    pub outputs: usize,
    /// Draws the sample; all judges of a study take the same.
    pub seed: u64,
}

/// Where each item of a study stands.
pub(super) type Study = HashMap<Item, Arc<Place>>;

/// Draws outputs with their controls and examples, triple by triple in an order of the reviewer's
/// own.
pub(super) fn draw(
    database: &Database,
    outputs: Matches<'_>,
    reviewer: &str,
    protocol: Protocol,
) -> Result<Vec<(Item, Arc<Place>)>> {
    let Protocol { outputs: size, seed } = protocol;
    // The outputs whose hashes are least: a sample without a second pass, in memory for itself
    // alone.
    let mut sample: BTreeMap<u64, (Item, LuId)> = BTreeMap::new();
    let mut first = None;
    for found in outputs {
        let found = found?;
        let set = found.set();
        let item = Item { release: found.release(), set: set.id, frame: set.frame };
        let named = label(item, *first.get_or_insert(item.release));
        sample.insert(drawn(seed, &format!("output {named}")), (item, set.lu));
        if sample.len() > size {
            sample.pop_last();
        }
    }
    let Some(first) = first else { return Ok(Vec::new()) };
    let (mut triples, mut taken) = (Vec::new(), HashSet::new());
    for (output, lu) in sample.into_values() {
        let Item { release, frame, .. } = output;
        let salt = drawn(seed, &format!("control {}", label(output, first)));
        let mut controls = Controls { database, release, salt, taken: &mut taken };
        let found = [controls.inside(frame, Some(lu))?, controls.outside(frame)?];
        let mut items = vec![output];
        items.extend(found.into_iter().flatten().map(|set| Item { release, set, frame }));
        triples.push((output, items));
    }
    let texts = shown_texts(database, &triples)?;
    let of_reviewer = |item: Item| drawn(seed, &format!("order {reviewer} {}", label(item, first)));
    triples.sort_by_key(|(output, _)| of_reviewer(*output));
    let of = triples.len();
    let mut study = Vec::new();
    for (number, (output, mut items)) in triples.into_iter().enumerate() {
        let salt = drawn(seed, &format!("examples {}", label(output, first)));
        let examples = examples(database, &items, (&texts, salt))?;
        // Not by the key of the triple: the output would always be the first of it.
        items.sort_by_key(|item| drawn(of_reviewer(output), &label(*item, first)));
        let place = Arc::new(Place { number, of, items: items.clone(), examples });
        study.extend(items.into_iter().map(|item| (item, Arc::clone(&place))));
    }
    Ok(study)
}

/// What an item is drawn by. Releases share ids, so the number of all but the first stands with
/// the set's: a study of one release draws the same, whatever else the store has.
fn label(item: Item, first: ReleaseId) -> String {
    let Item { release, set, .. } = item;
    if release == first { set.to_string() } else { format!("{set} of {release}") }
}

/// The texts of all items, and of what their outputs grew from: no example shows one of them.
fn shown_texts(database: &Database, triples: &[(Item, Vec<Item>)]) -> Result<HashSet<String>> {
    let store = database.store();
    let mut texts = HashSet::new();
    for item in triples.iter().flat_map(|(_, items)| items) {
        let Some(set) = store.annotation_set(item.release, item.set)? else { continue };
        let mut sentences = vec![set.sentence];
        let grown = [set.provenance.grown_from(), set.provenance.source()];
        for before in grown.into_iter().flatten() {
            let before = store.annotation_set(item.release, before)?;
            sentences.extend(before.map(|set| set.sentence));
        }
        for sentence in sentences {
            let sentence = store.sentence(item.release, sentence)?;
            texts.extend(sentence.map(|sentence| fold(sentence.text.trim())));
        }
    }
    Ok(texts)
}

/// Sets of the frame that people annotated, one of an LU, whose triggers are those of no candidate
/// and whose texts are shown nowhere in the study.
fn examples(
    database: &Database,
    items: &[Item],
    (texts, salt): (&HashSet<String>, u64),
) -> Result<Vec<AnnotationSetId>> {
    let store = database.store();
    let Some(Item { release, frame, .. }) = items.first().copied() else { return Ok(Vec::new()) };
    let mut triggers: HashSet<String> = HashSet::new();
    for item in items {
        let set = store.annotation_set(release, item.set)?;
        let example = set.map(|set| Example::of(database, release, &set)).transpose()?;
        triggers.extend(example.flatten().map(|example| example.trigger()));
    }
    let mut found = Vec::new();
    for lu in units(database, (release, frame), salt, None)? {
        for set in of_unit(database, (release, frame, lu), salt)? {
            let Some(example) = Example::of(database, release, &set)? else { continue };
            let is_new = !texts.contains(&fold(example.text.trim()));
            if is_new && triggers.insert(example.trigger()) {
                found.push(set.id);
                break;
            }
        }
        if found.len() == EXAMPLES {
            break;
        }
    }
    Ok(found)
}

/// The LUs of a frame, without one, in the order that they are drawn in.
fn units(
    database: &Database,
    (release, frame): (ReleaseId, FrameId),
    salt: u64,
    without: Option<LuId>,
) -> Result<Vec<LuId>> {
    let mut units = Vec::new();
    for lu in database.store().lexunits_of(release, frame)? {
        let lu = lu?.id;
        if Some(lu) != without {
            units.push(lu);
        }
    }
    units.sort_by_key(|lu| drawn(salt, &lu.to_string()));
    Ok(units)
}

/// The first sets of an LU that people annotated and that have a target, in the order that they are
/// drawn in.
fn of_unit(
    database: &Database,
    (release, frame, lu): (ReleaseId, FrameId, LuId),
    salt: u64,
) -> Result<Vec<AnnotationSet>> {
    let mut sets = Vec::new();
    let all = database.store().annotation_sets_of_lexunit(release, frame, lu)?;
    for set in all.take(LOOKED_AT) {
        let set = set?;
        if is_of_people(&set) && !set.targets.is_empty() {
            sets.push(set);
        }
    }
    sets.sort_by_key(|set| drawn(salt, &set.id.to_string()));
    Ok(sets)
}

/// What people annotated, to stand beside an output.
struct Controls<'a> {
    database: &'a Database,
    release: ReleaseId,
    salt: u64,
    /// Those of earlier outputs: no set is shown twice.
    taken: &'a mut HashSet<(ReleaseId, AnnotationSetId)>,
}

impl Controls<'_> {
    /// A human set of a frame other than the one given.
    fn outside(&mut self, frame: FrameId) -> Result<Option<AnnotationSetId>> {
        let mut others = Vec::new();
        for row in self.database.store().frame_names(self.release)? {
            let (other, _) = row?;
            if other != frame {
                others.push(other);
            }
        }
        others.sort_by_key(|frame| drawn(self.salt, &frame.to_string()));
        for other in others {
            if let Some(set) = self.inside(other, None)? {
                return Ok(Some(set));
            }
        }
        Ok(None)
    }

    /// A set of a frame that people annotated, not of the LU that is left out.
    fn inside(&mut self, frame: FrameId, without: Option<LuId>) -> Result<Option<AnnotationSetId>> {
        let (database, release, salt) = (self.database, self.release, self.salt);
        for lu in units(database, (release, frame), salt, without)? {
            let sets = of_unit(database, (release, frame, lu), salt)?;
            let free = sets.iter().find(|set| !self.taken.contains(&(release, set.id)));
            if let Some(set) = free.map(|set| set.id) {
                self.taken.insert((release, set));
                return Ok(Some(set));
            }
        }
        Ok(None)
    }
}

/// A number that a seed and a text always give.
fn drawn(seed: u64, text: &str) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(&seed.to_be_bytes()).update(text.as_bytes());
    let mut bytes = [0; 8];
    hash.finalize_xof().fill(&mut bytes);
    u64::from_be_bytes(bytes)
}
