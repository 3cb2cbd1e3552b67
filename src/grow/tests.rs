//! The loop over toy stages: a seed is a number, of which so many rounds are wanted.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::Duration;

use super::*;
use crate::database::{Database, JournalWrite, Write};
use crate::engine::GoesOn;
use crate::model::{
    AnnotationSetId, FeStatus, FrameId, Generation, IdSpace, LuId, RecipeId, ReleaseId, Span,
};
use crate::store::JournalEntry;

const RELEASE: ReleaseId = ReleaseId(1);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Problem {
    Stopped,
    Broken,
    Sink,
}

impl From<CommitError> for Problem {
    fn from(_: CommitError) -> Self {
        Self::Sink
    }
}

struct Count {
    seed: u64,
    wanted: u16,
    round: u16,
    tries: u16,
    sets: Vec<AnnotationSetId>,
}

impl Work for Count {
    type Accepted = Vec<Generated>;
    type Reason = &'static str;

    fn release(&self) -> ReleaseId {
        RELEASE
    }

    fn written(&mut self, _: &Vec<Generated>, ids: &[AnnotationSetId]) -> Option<&'static str> {
        self.round += 1;
        self.sets.extend(ids);
        (self.seed == 13).then_some("unlucky")
    }

    fn is_through(&self) -> bool {
        self.round >= self.wanted
    }

    fn journal(&self, end: Option<&'static str>) -> Vec<JournalWrite> {
        let (seed, end) = (set_id(self.seed), end.map(str::to_owned));
        let entry = JournalEntry { round: self.round, end, chain: self.sets.clone() };
        vec![JournalWrite { seed, target: 0, recipe: RecipeId(1), entry }]
    }
}

fn set_id(seed: u64) -> AnnotationSetId {
    AnnotationSetId::new(IdSpace::Exemplar, seed)
}

/// Proposes a sentence a round, of at most three seeds at once.
#[derive(Default)]
struct Toy {
    queue: VecDeque<Count>,
    /// Outputs after which the budget is used up.
    budget: Option<usize>,
    breaks_at: Option<u64>,
    /// Whether its steps take so long that somebody is asked within them.
    is_slow: bool,
    closed: usize,
    stored: usize,
}

impl Proposer for Toy {
    type Shared = ();
    type Seed = (u64, u16);
    type Work = Count;
    type Outputs = String;
    type Error = Problem;

    fn has_room(&self) -> bool {
        self.queue.len() < 3
    }

    fn under_way(&self) -> usize {
        self.queue.len()
    }

    fn begin(
        &mut self,
        _: &mut (),
        (seed, wanted): (u64, u16),
        _: &mut GoesOn<'_>,
    ) -> Result<Begun<Count>, Problem> {
        let work = Count { seed, wanted, round: 0, tries: 0, sets: Vec::new() };
        Ok(match seed {
            0 => Begun::Gone,
            1 => Begun::Ended(Finish { work, reason: Some("odd"), with_round: false }),
            _ => {
                self.queue.push_back(work);
                Begun::UnderWay
            }
        })
    }

    fn next(
        &mut self,
        _: &mut (),
        goes_on: &mut GoesOn<'_>,
    ) -> Result<Proposed<Count, String>, Problem> {
        if self.is_slow {
            std::thread::sleep(Duration::from_millis(110));
        }
        if goes_on().is_break() {
            return Err(Problem::Stopped);
        }
        match &mut self.budget {
            Some(0) => return Ok(Proposed::OutOfBudget),
            Some(left) => *left -= 1,
            None => {}
        }
        let Some(work) = self.queue.pop_front() else { return Ok(Proposed::Nothing) };
        if self.breaks_at == Some(work.seed) {
            return Err(Problem::Broken);
        }
        let text = format!("{} {} {}", work.seed, work.round, work.tries);
        Ok(Proposed::Outputs(work, text))
    }

    fn again(
        &mut self,
        _: &mut (),
        mut work: Count,
        why: Why<&'static str>,
    ) -> Result<Option<Finish<Count>>, Problem> {
        match why {
            Why::Refused(reason) => {
                return Ok(Some(Finish { work, reason: Some(reason), with_round: true }));
            }
            Why::Improvable => work.tries += 1,
            Why::Accepted => work.tries = 0,
        }
        self.queue.push_back(work);
        Ok(None)
    }

    fn close(&mut self, _: &Count) {
        self.closed += 1;
    }

    fn stored(&mut self, _: &mut ()) {
        self.stored += 1;
    }

    fn is_stopped(error: &Problem) -> bool {
        *error == Problem::Stopped
    }
}

/// Accepts every second try of a seed, none of seed 7.
struct SecondTry;

impl Checker<Toy> for SecondTry {
    fn check(
        &mut self,
        _: &mut (),
        work: &mut Count,
        text: String,
        _: &mut GoesOn<'_>,
    ) -> Result<Verdict<Count>, Problem> {
        if work.tries == 0 {
            return Ok(Verdict::Improvable);
        }
        Ok(match work.seed {
            7 => Verdict::Refuse("seven"),
            _ => Verdict::Accept(vec![made(work, text)]),
        })
    }
}

fn made(work: &Count, text: String) -> Generated {
    let (seed, round) = (set_id(work.seed), work.round + 1);
    let generation =
        Generation { chain: work.sets.clone(), ..Generation::of_seed(seed, round, RecipeId(1)) };
    Generated {
        frame: FrameId(5),
        lu: LuId(9),
        proposed: None,
        text,
        targets: vec![Span::new(0, 1)],
        layers: Vec::new(),
        fe_status: FeStatus::Unknown,
        generation,
        verification: None,
        along: Vec::new(),
    }
}

/// Remembers all rows.
#[derive(Default)]
struct Remembered(Vec<Write>);

impl Sink for Remembered {
    type Error = CommitError;

    fn take(
        &mut self,
        _: &Database,
        release: ReleaseId,
        write: Write,
    ) -> Result<bool, CommitError> {
        assert_eq!(release, RELEASE);
        self.0.push(write);
        Ok(true)
    }
}

/// Writes down what it hears, and ends the loop after so many steps.
struct Heard {
    events: Vec<String>,
    steps: usize,
    stop: Stop,
    /// Whether it says so in the one step, and not in those after it.
    says_once: bool,
}

impl Observer<Count> for Heard {
    fn hear(&mut self, event: Event<'_, Count>) {
        self.events.push(match event {
            Event::Begun => "begun".to_owned(),
            Event::Accepted { accepted, is_last, .. } => {
                format!("{}{}", accepted[0].text, if is_last { ", last" } else { "" })
            }
            Event::Ended(Finish { work, reason, with_round }) => {
                format!("end of {}: {reason:?}, {with_round}", work.seed)
            }
            Event::Gone => "gone".to_owned(),
        });
    }

    fn goes_on(&mut self, _: usize) -> ControlFlow<Stop> {
        let is_over = self.steps == 0 && self.says_once;
        self.steps = self.steps.saturating_sub(1);
        match self.steps == 0 && !is_over {
            true => ControlFlow::Break(self.stop),
            false => ControlFlow::Continue(()),
        }
    }
}

/// What a loop over seeds did: how it ended, what was heard, what was committed.
fn grown(
    toy: &mut Toy,
    steps: usize,
    seeds: &[(u64, u16)],
) -> (Result<Ended, Problem>, Vec<String>, Vec<Write>) {
    grown_until(toy, (steps, Stop::Now, false), seeds)
}

/// As [`grown`], ended in a way after so many steps, which is said once or again and again.
fn grown_until(
    toy: &mut Toy,
    (steps, stop, says_once): (usize, Stop, bool),
    seeds: &[(u64, u16)],
) -> (Result<Ended, Problem>, Vec<String>, Vec<Write>) {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open_writer(folder.path()).unwrap();
    let sink = (Remembered::default(), ModelFiles::default());
    let mut writer = GeneratedWriter::new(&database, [7; 16], sink);
    let mut heard = Heard { events: Vec::new(), steps, stop, says_once };
    let stages = Augmentation {
        shared: &mut (),
        proposer: toy,
        checker: &mut SecondTry,
        writer: &mut writer,
        observer: &mut heard,
        is_ending: false,
    };
    let ended = stages.run(&mut seeds.iter().map(|seed| Ok(*seed)));
    (ended, heard.events, writer.into_sink().0)
}

/// How far each seed is by the last journal row of it, and why it ended.
fn journal(writes: &[Write]) -> Vec<(u64, u16, Option<String>)> {
    let rows = writes.iter().flat_map(|write| &write.journal);
    let last: std::collections::BTreeMap<u64, (u16, Option<String>)> =
        rows.map(|row| (row.seed.number(), (row.entry.round, row.entry.end.clone()))).collect();
    last.into_iter().map(|(seed, (round, end))| (seed, round, end)).collect()
}

#[test]
fn a_seed_goes_through_its_rounds_and_each_is_heard_of() {
    let mut toy = Toy::default();
    let (ended, events, writes) = grown(&mut toy, usize::MAX, &[(4, 2)]);
    assert_eq!(ended, Ok(Ended::Through));
    let expected = ["begun", "4 0 1", "4 1 1, last", "end of 4: None, true"];
    assert_eq!(events, expected);
    assert_eq!(journal(&writes), [(4, 2, None)]);
    let sets: Vec<_> = writes.iter().flat_map(|write| &write.sets).map(|set| set.id).collect();
    let of_journal = &writes.last().unwrap().journal.last().unwrap().entry.chain;
    assert_eq!(&sets, of_journal);
    assert_eq!((toy.closed, toy.stored), (1, 1));
}

#[test]
fn seeds_that_end_early_say_why_and_those_that_are_gone_leave_no_row() {
    let seeds = [(0, 1), (1, 1), (7, 1), (13, 4)];
    let (ended, events, writes) = grown(&mut Toy::default(), usize::MAX, &seeds);
    assert_eq!(ended, Ok(Ended::Through));
    for event in [
        "gone",
        "end of 1: Some(\"odd\"), false",
        "end of 7: Some(\"seven\"), true",
        "end of 13: Some(\"unlucky\"), true",
    ] {
        assert!(events.iter().any(|heard| heard == event), "{event}: {events:?}");
    }
    let end = |reason: &str| Some(reason.to_owned());
    let expected = [(1, 0, end("odd")), (7, 0, end("seven")), (13, 1, end("unlucky"))];
    assert_eq!(journal(&writes), expected);
}

#[test]
fn outputs_do_not_depend_on_what_is_under_way_beside() {
    let texts = |seeds: &[(u64, u16)]| {
        let (_, _, writes) = grown(&mut Toy::default(), usize::MAX, seeds);
        let mut sets: Vec<_> = writes
            .iter()
            .flat_map(|write| write.sets.iter().zip(&write.sentences))
            .map(|(set, sentence)| (set.id, sentence.text.clone()))
            .collect();
        sets.sort();
        sets
    };
    let together = texts(&[(2, 3), (3, 1), (4, 2), (5, 2), (6, 1)]);
    let mut alone: Vec<_> =
        [(6, 1), (5, 2), (4, 2), (3, 1), (2, 3)].iter().flat_map(|seed| texts(&[*seed])).collect();
    alone.sort();
    assert_eq!(together, alone);
    assert_eq!(together.len(), 9);
}

#[test]
fn what_was_finished_is_committed_however_a_loop_ends() {
    let seeds = [(2, 1), (3, 1), (4, 1), (5, 1)];
    // Each seed takes two outputs.
    let mut poor = Toy { budget: Some(5), ..Toy::default() };
    let (ended, _, writes) = grown(&mut poor, usize::MAX, &seeds);
    assert_eq!((ended, journal(&writes).len()), (Ok(Ended::OutOfBudget), 2));
    let mut broken = Toy { breaks_at: Some(5), ..Toy::default() };
    let (ended, _, writes) = grown(&mut broken, usize::MAX, &seeds);
    assert_eq!(ended, Err(Problem::Broken));
    assert!(!journal(&writes).is_empty());
    // The first question, three seeds, four outputs.
    let (ended, _, writes) = grown(&mut Toy::default(), 8, &seeds);
    assert_eq!((ended, journal(&writes)), (Ok(Ended::Interrupted), vec![(2, 1, None)]));
    let (ended, events, writes) = grown(&mut Toy::default(), 1, &seeds);
    assert_eq!(ended, Ok(Ended::Interrupted));
    assert!(events.is_empty() && writes.is_empty());
}

#[test]
fn a_loop_that_ends_after_the_round_finishes_what_is_under_way_and_begins_nothing() {
    let seeds: Vec<(u64, u16)> = (2..=9).map(|seed| (seed, 3)).collect();
    for steps in 1..12 {
        let mut toy = Toy::default();
        let (ended, events, writes) =
            grown_until(&mut toy, (steps, Stop::AfterRound, false), &seeds);
        assert_eq!(ended, Ok(Ended::Interrupted));
        let begun = events.iter().filter(|event| *event == "begun").count();
        let rows = journal(&writes);
        assert!(rows.len() == begun, "each seed that began has its round: {events:?}");
        assert!(rows.iter().all(|(_, round, end)| *round > 0 || end.is_some()), "{rows:?}");
        assert_eq!(toy.under_way(), 0, "after {steps} steps");
        let mut at_once = Toy::default();
        let (_, sooner, _) = grown_until(&mut at_once, (steps, Stop::Now, false), &seeds);
        assert!(sooner.len() <= events.len(), "nothing is finished of what is dropped");
    }
}

#[test]
fn who_says_once_within_a_step_that_a_loop_ends_need_not_say_it_again() {
    for steps in 1..=4 {
        let mut toy = Toy { is_slow: true, ..Toy::default() };
        // The first question, the seed, within its first step, behind it.
        let asked = (steps, Stop::AfterRound, true);
        let (ended, events, _) = grown_until(&mut toy, asked, &[(4, 9)]);
        assert_eq!(ended, Ok(Ended::Interrupted), "asked {steps} times");
        assert!(!events.iter().any(|event| event == "4 1 1"), "no second round: {events:?}");
    }
}
