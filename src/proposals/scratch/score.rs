//! What was found of what is hidden.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Key, key_of};
use super::plan::{FramePlan, Plan};

/// An output of an expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Name of its frame.
    pub frame: String,
    /// Name of the LU that its trigger is a form of, as in `vet.v`.
    pub lu: String,
    /// Its round, from 1.
    pub round: u16,
}

/// Distinct LUs that were found, or wrongly proposed, or missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Hidden LUs that are proposed.
    pub found: usize,
    /// Proposals that are no hidden LU of their frame.
    pub wrong: usize,
    /// Hidden LUs that are not proposed.
    pub missed: usize,
}

impl Tally {
    /// Share of the proposals that are hidden LUs; `None` without a proposal.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        let proposals = self.found + self.wrong;
        (proposals > 0).then(|| self.found as f64 / proposals as f64)
    }

    /// Share of the hidden LUs that are proposed; `None` when nothing is hidden.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        let hidden = self.found + self.missed;
        (hidden > 0).then(|| self.found as f64 / hidden as f64)
    }

    fn add(&mut self, other: Self) {
        self.found += other.found;
        self.wrong += other.wrong;
        self.missed += other.missed;
    }
}

/// What is proposed up to and with a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundScore {
    /// The round.
    pub round: u16,
    /// Outputs up to and with it.
    pub outputs: usize,
    /// LUs by frame, lemma and part of speech, over all frames.
    pub with_pos: Tally,
    /// LUs by frame and lemma.
    pub without_pos: Tally,
}

/// What is proposed for a frame after the last round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameScore {
    /// Name of the frame.
    pub frame: String,
    /// LUs by lemma and part of speech.
    pub tally: Tally,
    /// Hidden LUs that are found, in order of name.
    pub found: Vec<String>,
}

/// What an expansion found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scores {
    /// Round by round, cumulative.
    pub rounds: Vec<RoundScore>,
    /// Frame by frame, the earliest frame first.
    pub frames: Vec<FrameScore>,
    /// Distinct LUs of outputs that were given themselves; they count neither as found nor as
    /// wrong.
    pub again: usize,
    /// Of the wrong ones, LUs that the frame has in the release, without exemplars.
    pub unannotated: usize,
}

impl Scores {
    /// What is proposed after the last round; `None` without any output.
    #[must_use]
    pub fn last(&self) -> Option<&RoundScore> {
        self.rounds.last()
    }
}

/// Names as keys, with part of speech or without.
struct Names<'a> {
    hidden: BTreeMap<Key, &'a str>,
    given: BTreeSet<Key>,
    unannotated: BTreeSet<Key>,
}

impl<'a> Names<'a> {
    fn of(frame: &'a FramePlan, key: impl Fn(&str) -> Key) -> Self {
        Self {
            hidden: frame.hidden.iter().map(|name| (key(name), name.as_str())).collect(),
            given: frame.seeds.iter().map(|seed| key(&seed.name)).collect(),
            unannotated: frame.unannotated.iter().map(|name| key(name)).collect(),
        }
    }

    /// Without part of speech an LU may be given and hidden at once, `copy.v` and `copy.n`: it is
    /// hidden then.
    fn tally(&self, proposed: &BTreeSet<Key>) -> Tally {
        let found = proposed.iter().filter(|key| self.hidden.contains_key(*key)).count();
        let is_wrong = |key: &&Key| !self.hidden.contains_key(*key) && !self.given.contains(*key);
        let wrong = proposed.iter().filter(is_wrong).count();
        Tally { found, wrong, missed: self.hidden.len() - found }
    }
}

fn without_pos(name: &str) -> Key {
    (key_of(name).0, key_of("").1)
}

/// Holds the LUs of outputs against what a plan hides. LUs are compared by lemma and part of
/// speech, without regard to case; of each frame each LU counts once. Outputs of other frames do
/// not count.
#[must_use]
pub fn score(plan: &Plan, outputs: &[Output]) -> Scores {
    let last = outputs.iter().map(|output| output.round).max().unwrap_or(0);
    let mut rounds: Vec<RoundScore> = (1..=last)
        .map(|round| RoundScore {
            round,
            outputs: outputs.iter().filter(|output| output.round <= round).count(),
            with_pos: Tally::default(),
            without_pos: Tally::default(),
        })
        .collect();
    let mut scores = Scores { rounds: Vec::new(), frames: Vec::new(), again: 0, unannotated: 0 };
    for frame in &plan.frames {
        let of_frame: Vec<&Output> =
            outputs.iter().filter(|output| output.frame == frame.name).collect();
        let (full, bare) = (Names::of(frame, key_of), Names::of(frame, without_pos));
        for round in &mut rounds {
            let until = |key: fn(&str) -> Key| -> BTreeSet<Key> {
                let outputs = of_frame.iter().filter(|output| output.round <= round.round);
                outputs.map(|output| key(&output.lu)).collect()
            };
            round.with_pos.add(full.tally(&until(key_of)));
            round.without_pos.add(bare.tally(&until(without_pos)));
        }
        let all: BTreeSet<Key> = of_frame.iter().map(|output| key_of(&output.lu)).collect();
        scores.again += all.intersection(&full.given).count();
        scores.unannotated += all.intersection(&full.unannotated).count();
        let found = full.hidden.iter().filter(|(key, _)| all.contains(*key));
        let mut found: Vec<String> = found.map(|(_, name)| (*name).to_owned()).collect();
        found.sort();
        scores.frames.push(FrameScore {
            frame: frame.name.clone(),
            tally: full.tally(&all),
            found,
        });
    }
    scores.rounds = rounds;
    scores
}

#[cfg(test)]
mod tests {
    use super::super::plan::{SeedUnit, Sizes, Ties};
    use super::*;

    fn plan() -> Plan {
        let frame = |name: &str, given: &[&str], hidden: &[&str], unannotated: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let seed = |name: &&str| SeedUnit { id: 1, name: (*name).to_owned(), sets: vec![] };
            FramePlan {
                id: 1,
                name: name.to_owned(),
                annotated: given.len() + hidden.len(),
                seeds: given.iter().map(seed).collect(),
                hidden: names(hidden),
                unannotated: names(unannotated),
            }
        };
        Plan {
            release: "r".to_owned(),
            sizes: Sizes::default(),
            ties: Ties::Id,
            left_out: 0,
            frames: vec![
                frame("Checking", &["check.v"], &["lead_(to).v", "Audit.n", "vet.v"], &["test.v"]),
                frame("Roaming", &["roam.v", "copy.v"], &["copy.n"], &[]),
            ],
        }
    }

    #[test]
    fn lexical_units_count_once_a_frame_and_rounds_add_up() {
        let output = |(frame, lu, round): (&str, &str, u16)| Output {
            frame: frame.to_owned(),
            lu: lu.to_owned(),
            round,
        };
        let outputs = [
            ("Checking", "vet.v", 1),
            ("Checking", "vet.v", 2),
            ("Checking", "check.v", 1),
            ("Checking", "audit.v", 1),
            ("Checking", "test.v", 2),
            // What a name says in brackets does not count.
            ("Checking", "lead.v", 3),
            ("Roaming", "vet.v", 1),
            ("Roaming", "copy.v", 2),
            ("Elsewhere", "copy.n", 1),
        ];
        let scores = score(&plan(), &outputs.map(output));
        let tally = |found, wrong, missed| Tally { found, wrong, missed };
        let by_round: Vec<_> =
            scores.rounds.iter().map(|of| (of.outputs, of.with_pos, of.without_pos)).collect();
        assert_eq!(
            by_round,
            [
                (5, tally(1, 2, 3), tally(2, 1, 2)),
                (8, tally(1, 3, 3), tally(3, 2, 1)),
                (9, tally(2, 3, 2), tally(4, 2, 0)),
            ]
        );
        assert_eq!((scores.again, scores.unannotated), (2, 1));
        assert_eq!(scores.frames[0].tally, tally(2, 2, 1));
        assert_eq!(scores.frames[0].found, ["lead_(to).v", "vet.v"]);
        assert_eq!(scores.frames[1].tally, tally(0, 1, 1));
        let last = scores.last().unwrap().with_pos;
        assert_eq!((last.precision(), last.recall()), (Some(0.4), Some(0.5)));
    }

    #[test]
    fn without_outputs_everything_is_missed() {
        let scores = score(&plan(), &[]);
        assert_eq!(scores.last(), None);
        assert_eq!(scores.frames[0].tally, Tally { found: 0, wrong: 0, missed: 3 });
        assert_eq!(Tally::default().precision(), None);
        assert_eq!(Tally::default().recall(), None);
    }
}
