//! What two releases differ in: frames, FEs, LUs, relations between frames, and annotation.
//!
//! Records are compared by name, since numbers of two releases need not mean the same. Annotation
//! sets have no names and are compared by id, which FrameNet keeps from release to release.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::Lexicon;
use crate::database::{Database, Result};
use crate::model::{AnnotationSet, FrameId, LuId, Positive, SemTypeId, named};
use crate::text::composed;

named! {
    /// What a difference is one of.
    pub enum Compared {
        /// A frame.
        Frame => "frame",
        /// A frame element.
        Fe => "fe",
        /// A lexical unit.
        Lu => "lu",
        /// A relation between two frames.
        Relation => "relation",
        /// Annotation sets of an LU.
        Annotation => "annotation",
    }
}

named! {
    /// Which release has it.
    pub enum Change {
        /// The second release alone.
        Added => "added",
        /// The first release alone.
        Removed => "removed",
        /// Both, and not the same.
        Changed => "changed",
    }
}

/// A difference of two releases; as JSON, `schema/difference.schema.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What differs.
    pub kind: Compared,
    /// Whether the second release alone has it, the first alone, or both differ.
    pub change: Change,
    /// The frame; of a relation the sub frame.
    pub frame: String,
    /// Name of the frame, FE or LU; of a relation its type and the super frame, as in `Using
    /// Motion`; of annotation the LU.
    pub name: String,
    /// What of it changed, as in `definition`; null where the whole is new or gone, and of
    /// annotation.
    pub property: Option<&'static str>,
    /// What the first release has.
    pub before: Option<String>,
    /// What the second release has.
    pub after: Option<String>,
    /// Number of annotation sets; 1 of all else.
    pub count: Positive,
}

/// A record's place: its frame and its name.
type Place = (String, String);
/// What is compared of a record.
type Properties = Vec<(&'static str, String)>;

impl Database {
    /// The differences of two releases: frames, then FEs, LUs, relations and annotation, each in
    /// order of frame and name. The lexicons are held in memory, annotation is not.
    ///
    /// # Errors
    /// When there is no such release, or the store fails.
    pub fn differences(&self, before: &str, after: &str) -> Result<Vec<Difference>> {
        let (before, after) = (self.lexicon(before)?, self.lexicon(after)?);
        let (old, new) = (Names::read(&before)?, Names::read(&after)?);
        let mut all = Vec::new();
        compare(Compared::Frame, frames(&before, &old)?, frames(&after, &new)?, &mut all);
        compare(Compared::Fe, elements(&before, &old)?, elements(&after, &new)?, &mut all);
        compare(Compared::Lu, lexunits(&before, &old)?, lexunits(&after, &new)?, &mut all);
        compare(Compared::Relation, relations(&before)?, relations(&after)?, &mut all);
        annotation((&before, &old), (&after, &new), &mut all)?;
        Ok(all)
    }
}

/// Names of what records name by number.
struct Names {
    frames: HashMap<FrameId, String>,
    lexunits: HashMap<(FrameId, LuId), String>,
    sem_types: HashMap<SemTypeId, String>,
}

impl Names {
    fn read(lexicon: &Lexicon<'_>) -> Result<Self> {
        let mut names =
            Self { frames: HashMap::new(), lexunits: HashMap::new(), sem_types: HashMap::new() };
        for row in lexicon.frame_names()? {
            let (frame, name) = row?;
            names.frames.insert(frame, name);
        }
        for row in lexicon.lu_names()? {
            let (frame, lu, name) = row?;
            names.lexunits.insert((frame, lu), name);
        }
        for semtype in lexicon.semtypes()? {
            let semtype = semtype?;
            names.sem_types.insert(semtype.id, semtype.name);
        }
        Ok(names)
    }

    fn frame(&self, frame: FrameId) -> String {
        self.frames.get(&frame).cloned().unwrap_or_else(|| frame.to_string())
    }

    fn lexunit(&self, set: &AnnotationSet) -> Place {
        let name = self.lexunits.get(&(set.frame, set.lu));
        (self.frame(set.frame), name.cloned().unwrap_or_else(|| set.lu.to_string()))
    }

    fn types(&self, types: &[SemTypeId]) -> String {
        let name =
            |id: &SemTypeId| self.sem_types.get(id).cloned().unwrap_or_else(|| id.to_string());
        sorted(types.iter().map(name))
    }
}

/// The parts of a list without an order, in order of text.
fn sorted(parts: impl Iterator<Item = String>) -> String {
    let mut parts: Vec<String> = parts.collect();
    parts.sort();
    parts.join("; ")
}

fn frames(lexicon: &Lexicon<'_>, names: &Names) -> Result<Vec<(Place, Properties)>> {
    let mut found = Vec::new();
    for frame in lexicon.frames()? {
        let frame = frame?;
        let fe = |id| frame.fe(id).map_or(String::new(), |fe| fe.name.clone());
        let core_sets = frame
            .core_sets
            .iter()
            .map(|set| format!("{{{}}}", sorted(set.iter().map(|id| fe(*id)))));
        let properties = vec![
            ("definition", frame.definition.clone()),
            ("semantic types", names.types(&frame.sem_types)),
            ("core sets", sorted(core_sets)),
        ];
        found.push(((frame.name.clone(), frame.name.clone()), properties));
    }
    Ok(found)
}

fn elements(lexicon: &Lexicon<'_>, names: &Names) -> Result<Vec<(Place, Properties)>> {
    let mut found = Vec::new();
    for frame in lexicon.frames()? {
        let frame = frame?;
        let named =
            |ids: &[_]| sorted(ids.iter().filter_map(|id| Some(frame.fe(*id)?.name.clone())));
        for fe in &frame.elements {
            let properties = vec![
                ("core type", fe.core_type.as_str().to_owned()),
                ("definition", fe.definition.clone()),
                ("abbreviation", fe.abbreviation.clone()),
                ("semantic types", names.types(&fe.sem_types)),
                ("requires", named(&fe.requires)),
                ("excludes", named(&fe.excludes)),
            ];
            found.push(((frame.name.clone(), fe.name.clone()), properties));
        }
    }
    Ok(found)
}

fn lexunits(lexicon: &Lexicon<'_>, names: &Names) -> Result<Vec<(Place, Properties)>> {
    let mut found = Vec::new();
    for lu in lexicon.lus()? {
        let lu = lu?;
        let words = lu.lexemes.iter().map(|lexeme| format!("{}.{}", lexeme.name, lexeme.pos));
        let properties = vec![
            ("status", lu.status.clone()),
            ("definition", lu.definition.clone()),
            ("incorporated FE", lu.incorporated_fe.clone().unwrap_or_default()),
            ("lexemes", words.collect::<Vec<_>>().join(" ")),
            ("semantic types", names.types(&lu.sem_types)),
        ];
        found.push(((names.frame(lu.frame), lu.name), properties));
    }
    Ok(found)
}

fn relations(lexicon: &Lexicon<'_>) -> Result<Vec<(Place, Properties)>> {
    let mut found = Vec::new();
    for relation in lexicon.relations()? {
        let relation = relation?;
        let pairs = relation.elements.iter();
        let pairs = pairs.map(|pair| format!("{} > {}", pair.parent_name, pair.child_name));
        let name = format!("{} {}", relation.kind, relation.parent_name);
        found.push(((relation.child_name.clone(), name), vec![("FEs", sorted(pairs))]));
    }
    Ok(found)
}

/// Adds the differences of records; those of one place are paired in their order.
fn compare(
    kind: Compared,
    before: Vec<(Place, Properties)>,
    after: Vec<(Place, Properties)>,
    all: &mut Vec<Difference>,
) {
    let mut places: BTreeMap<Place, [Vec<(Place, Properties)>; 2]> = BTreeMap::new();
    for (side, records) in [before, after].into_iter().enumerate() {
        for (place, properties) in records {
            let key = (composed(&place.0).into_owned(), composed(&place.1).into_owned());
            places.entry(key).or_default()[side].push((place, properties));
        }
    }
    for [old, new] in places.into_values() {
        let shared = old.len().min(new.len());
        for ((place, old), (_, new)) in old.iter().zip(&new) {
            for ((property, before), (_, after)) in old.iter().zip(new) {
                if before != after {
                    let values = (Some(before.clone()), Some(after.clone()));
                    all.push(difference(kind, Change::Changed, place, Some(*property), values));
                }
            }
        }
        let removed = old[shared..].iter().map(|(place, _)| (Change::Removed, place));
        let added = new[shared..].iter().map(|(place, _)| (Change::Added, place));
        for (change, place) in removed.chain(added) {
            all.push(difference(kind, change, place, None, (None, None)));
        }
    }
}

fn difference(
    kind: Compared,
    change: Change,
    (frame, name): &Place,
    property: Option<&'static str>,
    (before, after): (Option<String>, Option<String>),
) -> Difference {
    let (frame, name) = (frame.clone(), name.clone());
    Difference { kind, change, frame, name, property, before, after, count: 1 }
}

/// Counts the sets of each LU that only one release has, or that are not the same: those of another
/// LU, target, layer, status or text. A changed set counts for the LU that it has in the second.
fn annotation(
    (before, old): (&Lexicon<'_>, &Names),
    (after, new): (&Lexicon<'_>, &Names),
    all: &mut Vec<Difference>,
) -> Result<()> {
    let mut counts: BTreeMap<(Place, Change), u64> = BTreeMap::new();
    for set in before.annotation_sets()? {
        let set = set?;
        let counted = match after.annotation_set(set.id)? {
            None => Some((old.lexunit(&set), Change::Removed)),
            Some(other) => {
                let is_same = old.lexunit(&set) == new.lexunit(&other)
                    && (&set.status, &set.targets, &set.layers)
                        == (&other.status, &other.targets, &other.layers)
                    && text(before, &set)? == text(after, &other)?;
                (!is_same).then(|| (new.lexunit(&other), Change::Changed))
            }
        };
        if let Some(counted) = counted {
            *counts.entry(counted).or_default() += 1;
        }
    }
    for set in after.annotation_sets()? {
        let set = set?;
        if before.annotation_set(set.id)?.is_none() {
            *counts.entry((new.lexunit(&set), Change::Added)).or_default() += 1;
        }
    }
    all.extend(counts.into_iter().map(|((place, change), count)| Difference {
        count,
        ..difference(Compared::Annotation, change, &place, None, (None, None))
    }));
    Ok(())
}

fn text(lexicon: &Lexicon<'_>, set: &AnnotationSet) -> Result<Option<String>> {
    Ok(lexicon.sentence(set.sentence)?.map(|sentence| sentence.text))
}
