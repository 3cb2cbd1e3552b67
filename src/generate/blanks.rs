//! Which spans of a sentence are written anew.
//!
//! An FE whose words may no longer go with another LU of the frame is a *blank* (Cui and
//! Swayamdipta 2024, section 3.1): it is core, and either is no Agent and no Self_mover, or its
//! phrase type is that of a prepositional phrase. Agents and Self_movers are FEs of that name and
//! those that inherit from one, over FE relations of all types.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::database::{Database, DatabaseError};
use crate::model::{
    AnnotationSet, CoreType, Extent, FeId, FeStatus, Frame, LayerName, Pos, ReleaseId, Span, named,
};
use crate::text::Morphology;

/// Names of the FEs that are said of people whatever the LU.
const ACTORS: [&str; 2] = ["Agent", "Self_mover"];

/// The FEs that are Agents or Self_movers, by themselves or by ancestry, and how the words of their
/// release are inflected.
#[derive(Debug, Default)]
pub(crate) struct Actors {
    elements: HashSet<FeId>,
    pub(super) morphology: Morphology,
}

impl Actors {
    /// Those of a release.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) fn of(database: &Database, release: ReleaseId) -> Result<Self, DatabaseError> {
        let (mut children, mut open) = (HashMap::<FeId, Vec<FeId>>::new(), Vec::new());
        for frame in database.store().frames(release)? {
            let elements = frame?.elements.into_iter();
            open.extend(elements.filter(|fe| ACTORS.contains(&fe.name.as_str())).map(|fe| fe.id));
        }
        for relation in database.store().relations(release)? {
            for pair in relation?.elements {
                children.entry(pair.parent).or_default().push(pair.child);
            }
        }
        let mut actors = HashSet::new();
        while let Some(fe) = open.pop() {
            if actors.insert(fe) {
                open.extend(children.get(&fe).into_iter().flatten());
            }
        }
        Ok(Self { elements: actors, morphology: database.morphology(release)? })
    }
}

/// A span to be written anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blank {
    /// The FE.
    pub fe: FeId,
    /// Its name.
    pub name: String,
    /// Where its words stand.
    pub span: Span,
}

named! {
    /// Why an FE of a sentence is not written anew.
    pub enum NotBlank {
        /// It has no words.
        Null => "null-instantiation",
        /// It is not core.
        NotCore => "not-core",
        /// It is an Agent or a Self_mover, and no prepositional phrase.
        Actor => "actor",
        /// It covers the target, or a part of it.
        OverTarget => "over-target",
        /// It shares words with another FE.
        Overlapping => "overlapping",
    }
}

/// The blanks of a set's sentence in order of text, with how many FEs are kept by reason. FE layers
/// behind the first describe the sentence a second time and are not counted.
pub(crate) fn blanks(
    set: &AnnotationSet,
    frame: &Frame,
    actors: &Actors,
) -> (Vec<Blank>, BTreeMap<NotBlank, u64>) {
    let of = |name| set.layers.iter().filter(move |layer| layer.name == name && layer.rank <= 1);
    let labels = || of(LayerName::Fe).flat_map(|layer| &layer.labels);
    let phrases: Vec<(Span, &str)> = of(LayerName::Pt)
        .flat_map(|layer| &layer.labels)
        .filter_map(|label| Some((label.extent.span()?, label.name.as_str())))
        .collect();
    let (mut found, mut kept) = (Vec::<Blank>::new(), BTreeMap::new());
    for label in labels() {
        let Extent::Overt(span) = label.extent else {
            let is_null = matches!(label.extent, Extent::Null(_));
            *kept.entry(NotBlank::Null).or_default() += u64::from(is_null);
            continue;
        };
        let element = label.fe.and_then(|id| frame.fe(id)).or(frame.fe_by_name(&label.name));
        let core = element.filter(|fe| fe.core_type == CoreType::Core);
        let is_pp = phrases.iter().any(|(at, phrase)| *at == span && phrase.starts_with("PP"));
        let shared = labels().filter_map(|other| other.extent.span()).filter(|o| o.overlaps(span));
        let reason = match core {
            None => Some(NotBlank::NotCore),
            Some(fe) if actors.elements.contains(&fe.id) && !is_pp => Some(NotBlank::Actor),
            _ if set.targets.iter().any(|target| target.overlaps(span)) => {
                Some(NotBlank::OverTarget)
            }
            _ if shared.count() > 1 => Some(NotBlank::Overlapping),
            _ => None,
        };
        match (reason, core) {
            (None, Some(fe)) => found.push(Blank { fe: fe.id, name: fe.name.clone(), span }),
            (reason, _) => *kept.entry(reason.unwrap_or(NotBlank::NotCore)).or_default() += 1,
        }
    }
    found.sort_by_key(|blank| blank.span);
    kept.retain(|_, count| *count > 0);
    (found, kept)
}

/// What the annotation sets of a part of speech have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Annotated sets of people.
    pub sets: u64,
    /// FEs with words.
    pub elements: u64,
    /// Those of them that are core.
    pub core: u64,
    /// Those of these that are candidates for other words.
    pub candidates: u64,
}

impl Census {
    /// FEs, core FEs and candidates of a set, on average.
    #[must_use]
    pub fn means(&self) -> [f64; 3] {
        let mean = |count: u64| count as f64 / self.sets.max(1) as f64;
        [mean(self.elements), mean(self.core), mean(self.candidates)]
    }
}

/// What the annotated sets of a release have, by part of speech of their LUs: table 3 of Cui and
/// Swayamdipta (2024).
///
/// # Errors
/// When the store fails.
pub fn census(
    database: &Database,
    release: ReleaseId,
) -> Result<BTreeMap<Pos, Census>, DatabaseError> {
    let (store, actors) = (database.store(), Actors::of(database, release)?);
    let mut census: BTreeMap<Pos, Census> = BTreeMap::new();
    for frame in store.frames(release)? {
        let frame = frame?;
        let mut parts = HashMap::new();
        for lu in store.lexunits_of(release, frame.id)? {
            let lu = lu?;
            parts.insert(lu.id, Pos::of_lu_name(&lu.name));
        }
        for set in store.annotation_sets_of_frame(release, frame.id)? {
            let set = set?;
            let is_human = !set.provenance.origin().is_of_written_text();
            let (true, FeStatus::Annotated) = (is_human, set.fe_status) else { continue };
            let of = census.entry(parts.get(&set.lu).copied().unwrap_or(Pos::Other)).or_default();
            let (found, kept) = blanks(&set, &frame, &actors);
            let kept = |reason| kept.get(&reason).copied().unwrap_or(0);
            let core =
                kept(NotBlank::Actor) + kept(NotBlank::OverTarget) + kept(NotBlank::Overlapping);
            of.sets += 1;
            of.candidates += found.len() as u64;
            of.core += core + found.len() as u64;
            of.elements += kept(NotBlank::NotCore) + core + found.len() as u64;
        }
    }
    Ok(census)
}
