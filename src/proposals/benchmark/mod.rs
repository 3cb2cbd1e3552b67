//! A benchmark of lexicon growth: frames with LUs that a system cannot see, and how many of them
//! it proposes.
//!
//! [`Questions`] say what is hidden. They come from one release (a share of its LUs, by chance),
//! from two (what the later one added), or from the experiment of [`scratch`](super::scratch).
//! [`Questions::write_store`] makes a store of what a system may see. A system's answer is a list
//! of LUs with scores, [`Answers`]; all systems are measured by [`Questions::measure`].
//!
//! [`Swords`] asks for words in place of others, in sentences, and needs no lexicon.

mod answers;
mod shuffle;
mod store;
mod swords;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

pub use answers::Answers;
pub use swords::{Substitutes, Swords, SwordsFigures, SwordsReading, SwordsTarget};

use super::scratch::{Plan, Sizes, Ties};
use super::{HiddenFigures, Key, Result, figures, key_of};
use crate::lexicon::Lexicon;
use crate::model::{Origin, PROPOSED};
use shuffle::Shuffler;

/// One of so many LUs of a frame is hidden.
const HIDDEN: usize = 5;
/// LUs of this status have gone from the lexicon.
const PROBLEM: &str = "Problem";

/// A frame of which some LUs are hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Name of the frame.
    pub frame: String,
    /// Names of the LUs that a system sees.
    pub visible: Vec<String>,
    /// Names of the LUs that it is asked for.
    pub hidden: Vec<String>,
}

/// Frames of which some LUs are hidden, in the order in which they are asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Questions {
    /// Name of the release that a system sees a part of.
    pub release: String,
    /// What was hidden, in a line.
    pub told: String,
    /// The frames.
    pub frames: Vec<Question>,
    /// What else is needed to make the store of an experiment from scratch.
    plan: Option<Plan>,
}

/// What is hidden by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// Frames that are drawn; all where there are fewer.
    pub frames: usize,
    /// Fewest LUs with exemplars of a frame that is drawn.
    pub least: usize,
    /// Where chance starts.
    pub seed: u64,
}

impl Default for Draw {
    /// As `training/judge/hidden.py` draws: the LUs that the shipped verifier never saw.
    fn default() -> Self {
        Self { frames: 100, least: 10, seed: 2026 }
    }
}

impl Questions {
    /// A fifth of the LUs with exemplars of frames that have enough of them, drawn by chance. A
    /// smaller part of the questions holds the frames that were drawn first.
    ///
    /// # Errors
    /// When the store fails.
    pub fn hidden(lexicon: &Lexicon<'_>, draw: Draw) -> Result<Self> {
        let units = units_of(lexicon)?;
        let mut exemplars: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for unit in units.iter().filter(|unit| unit.status != PROBLEM) {
            let sets = lexicon.set_counts(unit.place.0, unit.place.1)?.of(Origin::Exemplar);
            if sets > 0 {
                let of_frame = exemplars.entry(&unit.frame).or_default();
                *of_frame.entry(&unit.name).or_default() += usize::try_from(sets).unwrap_or(0);
            }
        }
        let mut chance = Shuffler::new(draw.seed);
        exemplars.retain(|_, names| names.len() >= draw.least.max(1));
        let mut drawn: Vec<&str> = exemplars.keys().copied().collect();
        chance.shuffle(&mut drawn);
        drawn.truncate(draw.frames);
        let mut hidden: BTreeMap<&str, BTreeSet<Key>> = BTreeMap::new();
        for (frame, sets) in exemplars.iter().filter(|(frame, _)| drawn.contains(frame)) {
            let mut names: Vec<&str> = sets.keys().copied().collect();
            chance.shuffle(&mut names);
            let count = ((2 * names.len() + HIDDEN) / (2 * HIDDEN)).max(1);
            // The script draws seeds of an expansion here.
            names[count..].iter().for_each(|name| chance.pass_over(sets[name]));
            chance.pass_over(names.len() - count);
            hidden.insert(frame, names[..count].iter().map(|name| key_of(name)).collect());
        }
        let of_frame = by_frame(&units);
        let question = |frame: &str| {
            let (hidden, visible): (Vec<&str>, Vec<&str>) =
                of_frame[frame].iter().partition(|name| hidden[frame].contains(&key_of(name)));
            Question::new(frame, &visible, &hidden)
        };
        let Draw { least, seed, .. } = draw;
        let told = format!(
            "a fifth of the LUs with exemplars of {} frames that have {least} or more, seed {seed}",
            drawn.len()
        );
        let frames = drawn.into_iter().map(question).collect();
        Ok(Self { release: lexicon.release().name.clone(), told, frames, plan: None })
    }

    /// What frames of a release have in a later one beside their own LUs, in a random order of
    /// frames.
    ///
    /// # Errors
    /// When the store fails.
    pub fn later(lexicon: &Lexicon<'_>, later: &Lexicon<'_>, seed: u64) -> Result<Self> {
        let (own, others) = (units_of(lexicon)?, units_of(later)?);
        let (own, others) =
            (by_frame(&own), by_frame(others.iter().filter(|of| of.status != PROBLEM)));
        let mut frames = Vec::new();
        for (frame, visible) in own {
            let known: BTreeSet<Key> = visible.iter().map(|name| key_of(name)).collect();
            let there = others.get(frame).into_iter().flatten().copied();
            let added: Vec<&str> = there.filter(|name| !known.contains(&key_of(name))).collect();
            if !added.is_empty() {
                frames.push(Question::new(frame, &visible.into_iter().collect::<Vec<_>>(), &added));
            }
        }
        Shuffler::new(seed).shuffle(&mut frames);
        let told = format!("what {} adds to frames, seed {seed}", later.release().name);
        Ok(Self { release: lexicon.release().name.clone(), told, frames, plan: None })
    }

    /// The experiment from scratch: of the 20 earliest frames three LUs are seen, each with three
    /// sets.
    ///
    /// # Errors
    /// When a date is none, or the store fails.
    pub fn scratch(lexicon: &Lexicon<'_>) -> Result<Self> {
        let plan = Plan::of(lexicon, Sizes::default(), Ties::Id, &Default::default())?;
        let frames = plan.frames.iter().filter(|of| !of.seeds.is_empty() && !of.hidden.is_empty());
        let frames = frames.map(|of| {
            let visible: Vec<&str> = of.seeds.iter().map(|seed| seed.name.as_str()).collect();
            let hidden: Vec<&str> = of.hidden.iter().map(String::as_str).collect();
            Question::new(&of.name, &visible, &hidden)
        });
        let told = "all but the three earliest LUs of the 20 earliest frames".to_owned();
        let frames = frames.collect();
        Ok(Self { release: plan.release.clone(), told, frames, plan: Some(plan) })
    }

    /// The hidden LUs, or those that a system sees, as a list that `proposals eval` reads: a line
    /// of what was hidden, then frame and LU, parted by a tab.
    #[must_use]
    pub fn list(&self, is_hidden: bool) -> String {
        let mut list = format!(
            "# {} of {}: {}\n",
            if is_hidden { "hidden" } else { "visible" },
            self.release,
            self.told
        );
        for Question { frame, visible, hidden } in &self.frames {
            for name in if is_hidden { hidden } else { visible } {
                writeln!(list, "{frame}\t{name}").expect("a string takes everything");
            }
        }
        list
    }

    /// What a system finds of the first frames. What its frame has already does not count, nor does
    /// what it says twice. Of equal scores what it says first is first.
    #[must_use]
    pub fn measure(&self, frames: usize, answers: &Answers) -> HiddenFigures {
        let (mut ranked, mut hidden) = (Vec::new(), Vec::new());
        for question in self.frames.iter().take(frames) {
            let mut known: BTreeSet<Key> = question.visible.iter().map(|of| key_of(of)).collect();
            let mut of_frame: Vec<_> =
                answers.lus.iter().filter(|of| of.frame == question.frame).collect();
            of_frame.sort_by(|a, b| b.score.total_cmp(&a.score));
            let new = of_frame.into_iter().filter(|of| known.insert(key_of(&of.lu)));
            ranked.extend(new.map(|of| (of.frame.clone(), of.lu.clone())));
            let names = question.hidden.iter();
            hidden.extend(names.map(|name| (question.frame.clone(), name.clone())));
        }
        figures(&ranked, &hidden).1
    }
}

impl Question {
    fn new(frame: &str, visible: &[&str], hidden: &[&str]) -> Self {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self { frame: frame.to_owned(), visible: owned(visible), hidden: owned(hidden) }
    }
}

/// An LU of a lexicon.
struct Listed {
    frame: String,
    place: super::lemmas::Place,
    name: String,
    status: String,
}

/// The LUs of a release that nobody has merely proposed.
fn units_of(lexicon: &Lexicon<'_>) -> Result<Vec<Listed>> {
    let names: BTreeMap<_, _> = lexicon.frame_names()?.collect::<std::result::Result<_, _>>()?;
    let mut units = Vec::new();
    for lu in lexicon.lus()? {
        let lu = lu?;
        let Some(frame) = names.get(&lu.frame).filter(|_| lu.status != PROPOSED) else { continue };
        let (place, frame) = ((lu.frame, lu.id), frame.clone());
        units.push(Listed { frame, place, name: lu.name, status: lu.status });
    }
    Ok(units)
}

fn by_frame<'a>(
    units: impl IntoIterator<Item = &'a Listed>,
) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut frames: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for unit in units {
        frames.entry(&unit.frame).or_default().insert(&unit.name);
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions() -> Questions {
        let frames = vec![
            Question::new("Checking", &["check.v", "look_over.v"], &["vet.v", "Audit.n"]),
            Question::new("Roaming", &["roam.v"], &["stray.v"]),
        ];
        Questions { release: "r".to_owned(), told: "some".to_owned(), frames, plan: None }
    }

    fn answers(lus: &[(&str, &str, f64)]) -> Answers {
        Answers::new(lus.iter().map(|(frame, lu, score)| (*frame, *lu, *score)))
    }

    #[test]
    fn what_a_frame_has_is_passed_over_and_scores_rank() {
        let mut said = vec![
            ("Checking", "vet.v", 0.1),
            ("Checking", "look over.v", 0.9),
            ("Checking", "VET.v", 0.05),
            ("Roaming", "stray.v", -3.0),
            ("Elsewhere", "audit.n", 1.0),
        ];
        let figures = questions().measure(2, &answers(&said));
        assert_eq!((figures.hidden, figures.proposals, figures.found), (3, 2, 2));
        let words: Vec<String> = (0..10).map(|at| format!("w{at}.n")).collect();
        said.extend(words.iter().map(|word| ("Checking", word.as_str(), 0.5)));
        let figures = questions().measure(2, &answers(&said));
        assert_eq!((figures.proposals, figures.found, figures.found_at_10), (12, 2, 1));
        assert_eq!((figures.proposals_at_10, figures.precision_at_10()), (11, Some(1.0 / 11.0)));
        // Of the first frame alone.
        let figures = questions().measure(1, &answers(&said));
        assert_eq!((figures.hidden, figures.proposals, figures.found_at_50), (2, 11, 1));
        assert_eq!(questions().measure(0, &answers(&said)), HiddenFigures::default());
    }

    #[test]
    fn of_equal_scores_what_is_said_first_is_first() {
        let words: Vec<String> = (0..10).map(|at| format!("w{at}.n")).collect();
        let said: Vec<_> = words.iter().map(|word| ("Roaming", word.as_str(), 1.0)).collect();
        let last = [&said[..], &[("Roaming", "stray.v", 1.0)]].concat();
        let first = [&[("Roaming", "stray.v", 1.0)], &said[..]].concat();
        assert_eq!(questions().measure(2, &answers(&last)).found_at_10, 0);
        assert_eq!(questions().measure(2, &answers(&first)).found_at_10, 1);
    }

    #[test]
    fn a_list_says_what_it_is() {
        let list = questions().list(true);
        assert_eq!(
            list,
            "# hidden of r: some\nChecking\tvet.v\nChecking\tAudit.n\nRoaming\tstray.v\n"
        );
        assert!(questions().list(false).contains("Checking\tlook_over.v\n"));
    }
}
