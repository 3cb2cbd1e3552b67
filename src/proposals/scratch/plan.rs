//! What is given and what is hidden.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::super::{Result, key_of};
use crate::database::EditError;
use crate::lexicon::Lexicon;
use crate::model::{AnnotationSet, Frame, LexUnit, Origin, instant};

/// How much is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Frames.
    pub frames: usize,
    /// LUs of each frame.
    pub lus: usize,
    /// Annotation sets of each LU.
    pub sets: usize,
}

impl Default for Sizes {
    /// Those of Culkin et al. 2021.
    fn default() -> Self {
        Self { frames: 20, lus: 3, sets: 3 }
    }
}

/// What decides between records of one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The lower number.
    Id,
    /// Chance, by a seed.
    Random(u64),
}

impl Ties {
    /// Where a record of a number stands among those of its instant.
    fn place(self, number: u64) -> u64 {
        let Self::Random(seed) = self else { return number };
        let hash = blake3::hash(format!("scratch {seed} {number}").as_bytes());
        let mut low = [0; 8];
        low.copy_from_slice(&hash.as_bytes()[..8]);
        u64::from_be_bytes(low)
    }
}

/// An LU that is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeedUnit {
    /// Its number.
    pub id: u32,
    /// Its name, as in `cause.v`.
    pub name: String,
    /// The annotation sets that are given.
    pub sets: Vec<String>,
}

/// A frame of which some LUs are given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FramePlan {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Number of its LUs that have exemplars, given or not.
    pub annotated: usize,
    /// The LUs that are given, the earliest first.
    pub seeds: Vec<SeedUnit>,
    /// The other LUs that have exemplars, each name once: what is to be found.
    pub hidden: Vec<String>,
    /// The LUs that have none and are not given. Finding one counts as wrong, as in the paper.
    pub unannotated: Vec<String>,
}

impl FramePlan {
    /// Whether an LU of that name is given or hidden.
    fn has(&self, name: &str) -> bool {
        let given = self.seeds.iter().map(|seed| &seed.name);
        given.chain(&self.hidden).any(|known| key_of(known) == key_of(name))
    }
}

/// What is given and what is hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Name of the release.
    pub release: String,
    /// How much was asked for.
    pub sizes: Sizes,
    /// What decided between records of one instant.
    pub ties: Ties,
    /// Sets that were left out because models learned from their sentences.
    pub left_out: usize,
    /// The frames, the earliest first.
    pub frames: Vec<FramePlan>,
}

impl Plan {
    /// What is given of a release. Of a frame whose LUs with exemplars are too few (Communication
    /// has two in FrameNet 1.5) LUs with full text alone are given after them. Sets whose sentences
    /// are among `learned` are dropped from what is given, and no others take their place.
    ///
    /// # Errors
    /// When a frame, LU or set that counts has a date that is none, or the store fails.
    pub fn of(
        lexicon: &Lexicon<'_>,
        sizes: Sizes,
        ties: Ties,
        learned: &HashSet<String>,
    ) -> Result<Self> {
        let mut dated: Vec<((i64, u64), Frame, Vec<LexUnit>)> = Vec::new();
        for frame in lexicon.frames()? {
            let frame = frame?;
            let lus = lexicon.lus_of(frame.id)?.collect::<std::result::Result<Vec<_>, _>>()?;
            // A frame that only annotation names has no date.
            if frame.has_file && !lus.is_empty() {
                let place = ties.place(u64::from(frame.id.0));
                let when = when(&frame.created.date, "frame", &frame.name)?;
                dated.push(((when, place), frame, lus));
            }
        }
        dated.sort_by_key(|(key, ..)| *key);
        dated.truncate(sizes.frames);
        let mut plan = Self {
            release: lexicon.release().name.clone(),
            sizes,
            ties,
            left_out: 0,
            frames: Vec::with_capacity(dated.len()),
        };
        for (_, frame, lus) in dated {
            let frame = plan.frame(lexicon, &frame, lus, learned)?;
            plan.frames.push(frame);
        }
        Ok(plan)
    }

    fn frame(
        &mut self,
        lexicon: &Lexicon<'_>,
        frame: &Frame,
        lus: Vec<LexUnit>,
        learned: &HashSet<String>,
    ) -> Result<FramePlan> {
        // LUs with exemplars first, then those with full text, then those with nothing.
        let mut units = Vec::new();
        for lu in lus {
            let (sets, kind) = annotation(lexicon, &lu)?;
            let place = self.ties.place(u64::from(lu.id.0));
            let when = when(&lu.created.date, "LU", &lu.name)?;
            units.push((kind, when, place, lu, sets));
        }
        units.sort_by_key(|(kind, when, place, ..)| (*kind, *when, *place));
        let mut planned = FramePlan {
            id: frame.id.0,
            name: frame.name.clone(),
            annotated: units.iter().filter(|unit| unit.0 == Kind::Exemplars).count(),
            seeds: Vec::new(),
            hidden: Vec::new(),
            unannotated: Vec::new(),
        };
        for (kind, _, _, lu, sets) in units {
            if planned.seeds.len() < self.sizes.lus && kind != Kind::Nothing {
                let sets = self.earliest(sets, learned)?;
                planned.seeds.push(SeedUnit { id: lu.id.0, name: lu.name, sets });
            } else if planned.has(&lu.name) {
                // A second LU of a name cannot be told from the first.
            } else if kind == Kind::Exemplars {
                planned.hidden.push(lu.name);
            } else {
                planned.unannotated.push(lu.name);
            }
        }
        Ok(planned)
    }

    /// The sets of an LU that are given.
    fn earliest(
        &mut self,
        sets: Vec<AnnotationSet>,
        learned: &HashSet<String>,
    ) -> Result<Vec<String>> {
        let mut dated = Vec::with_capacity(sets.len());
        for set in sets {
            let when = when(&set.created, "annotation set", &set.id.to_string())?;
            dated.push((when, self.ties.place(set.id.bits()), set));
        }
        dated.sort_by_key(|(when, place, _)| (*when, *place));
        dated.truncate(self.sizes.sets);
        let before = dated.len();
        dated.retain(|(.., set)| !learned.contains(&set.sentence.to_string()));
        self.left_out += before - dated.len();
        Ok(dated.into_iter().map(|(.., set)| set.id.to_string()).collect())
    }

    /// Number of LUs with exemplars, those that are given among them.
    #[must_use]
    pub fn annotated(&self) -> usize {
        self.frames.iter().map(|frame| frame.annotated).sum()
    }

    /// The LUs that are given.
    pub fn seeds(&self) -> impl Iterator<Item = (&FramePlan, &SeedUnit)> {
        self.frames.iter().flat_map(|frame| frame.seeds.iter().map(move |seed| (frame, seed)))
    }

    /// Number of sets that are given.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.seeds().map(|(_, seed)| seed.sets.len()).sum()
    }

    /// Number of LUs that are to be found.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.frames.iter().map(|frame| frame.hidden.len()).sum()
    }
}

/// What annotation an LU has, the best kind first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Exemplars,
    FullText,
    Nothing,
}

/// The sets of an LU that people annotated: its exemplars, or, without any, those in full text.
fn annotation(lexicon: &Lexicon<'_>, lu: &LexUnit) -> Result<(Vec<AnnotationSet>, Kind)> {
    let (mut exemplars, mut in_texts) = (Vec::new(), Vec::new());
    for set in lexicon.annotation_sets_of_lu(lu.frame, lu.id)? {
        let set = set?;
        if set.status == "UNANN" || set.targets.is_empty() {
            continue;
        }
        match set.provenance.origin() {
            Origin::Exemplar => exemplars.push(set),
            Origin::FullText => in_texts.push(set),
            _ => {}
        }
    }
    Ok(match (exemplars.is_empty(), in_texts.is_empty()) {
        (false, _) => (exemplars, Kind::Exemplars),
        (true, false) => (in_texts, Kind::FullText),
        (true, true) => (Vec::new(), Kind::Nothing),
    })
}

/// The instant of a date; what has none, as only annotation names it, comes last.
fn when(date: &str, kind: &'static str, name: &str) -> Result<i64> {
    if date.is_empty() {
        return Ok(i64::MAX);
    }
    let expected = "a date as FrameNet writes it, as in `02/07/2001 04:11:40 PST Wed`";
    let refuse = || EditError::Value {
        field: format!("date of {kind} `{name}`"),
        value: date.to_owned(),
        expected: expected.to_owned(),
    };
    Ok(instant(date).ok_or_else(refuse).map_err(crate::database::DatabaseError::from)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::database::Database;
    use crate::transfer::ImportOptions;

    fn with_mini<T>(ask: impl FnOnce(&Database, &Lexicon<'_>) -> T) -> T {
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open_writer(dir.path()).unwrap();
        let release = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mini-framenet");
        database.import(&release, &ImportOptions::default(), &mut |_| {}).unwrap();
        ask(&database, &database.lexicon("mini-framenet").unwrap())
    }

    fn mini(sizes: [usize; 3], ties: Ties, learned: &[&str]) -> Plan {
        let [frames, lus, sets] = sizes;
        let learned = learned.iter().map(|sentence| (*sentence).to_owned()).collect();
        with_mini(|_, lexicon| {
            Plan::of(lexicon, Sizes { frames, lus, sets }, ties, &learned).unwrap()
        })
    }

    fn seeds_of(plan: &Plan) -> Vec<(&str, &str, Vec<&str>)> {
        plan.seeds()
            .map(|(frame, seed)| {
                let sets = seed.sets.iter().map(String::as_str).collect();
                (frame.name.as_str(), seed.name.as_str(), sets)
            })
            .collect()
    }

    #[test]
    fn the_earliest_are_given_and_the_others_with_exemplars_hidden() {
        // All dates of the mini lexicon are one: numbers decide. Happening, the first frame, has no
        // LU.
        let plan = mini([2, 2, 2], Ties::Id, &[]);
        assert_eq!(
            seeds_of(&plan),
            [
                ("Checking", "check.v", vec!["x7002", "x7004"]),
                ("Checking", "inspect.v", vec!["x7020", "x7022"]),
                ("Repairing", "repair.v", vec!["x7048", "x7050"]),
                // Its other set has no target.
                ("Repairing", "mend.v", vec!["x7052"]),
            ]
        );
        // There is a second `check.v`, with an exemplar of its own.
        assert_eq!(plan.frames[0].hidden, ["examine.v", "audit.v", "inspection.n", "look over.v"]);
        assert_eq!(plan.frames[0].unannotated, ["verify.v", "proof.v"]);
        assert_eq!(plan.frames[1].hidden, ["patch.v"]);
        assert_eq!((plan.annotated(), plan.hidden(), plan.sets(), plan.left_out), (10, 5, 7, 0));
    }

    #[test]
    fn sets_that_models_learned_from_are_dropped_and_not_replaced() {
        let sentence = with_mini(|_, lexicon| {
            let set = crate::model::AnnotationSetId::of_written("x7020").unwrap();
            lexicon.annotation_set(set).unwrap().unwrap().sentence.to_string()
        });
        let plan = mini([1, 2, 2], Ties::Id, &[&sentence]);
        // `check.v` and `inspect.v` have a set each in that sentence.
        let expected = [("check.v", vec!["x7004"]), ("inspect.v", vec!["x7022"])];
        assert_eq!(seeds_of(&plan), expected.map(|(name, sets)| ("Checking", name, sets)));
        assert_eq!((plan.sets(), plan.left_out), (2, 2));
    }

    #[test]
    fn chance_decides_between_records_of_one_instant_by_its_seed() {
        let plans = [1, 2, 3, 4, 5].map(|seed| mini([3, 1, 1], Ties::Random(seed), &[]));
        assert_eq!(plans[0], mini([3, 1, 1], Ties::Random(1), &[]));
        let by_id = mini([3, 1, 1], Ties::Id, &[]);
        assert!(plans.iter().any(|plan| seeds_of(plan) != seeds_of(&by_id)));
        for plan in plans {
            assert_eq!((plan.frames.len(), plan.sets()), (3, 3));
            assert!(plan.hidden() > 0);
        }
    }

    #[test]
    fn the_new_store_holds_what_is_given_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("store");
        let sizes = Sizes { frames: 3, lus: 1, sets: 2 };
        let plan = with_mini(|database, lexicon| {
            let plan = Plan::of(lexicon, sizes, Ties::Id, &HashSet::new()).unwrap();
            plan.write_store(database, &place).unwrap();
            plan
        });
        let database = Database::open(&place).unwrap();
        let lexicon = database.lexicon("mini-framenet").unwrap();
        let lus: Vec<String> = lexicon.lus().unwrap().map(|lu| lu.unwrap().name).collect();
        assert_eq!(lus, ["check.v", "repair.v", "wander.v"]);
        let mut sets: Vec<String> =
            lexicon.annotation_sets().unwrap().map(|set| set.unwrap().id.to_string()).collect();
        sets.sort();
        let mut expected: Vec<&String> = plan.seeds().flat_map(|(_, seed)| &seed.sets).collect();
        expected.sort();
        assert_eq!(sets.iter().collect::<Vec<_>>(), expected);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    }
}
