//! Proposed LUs on a terminal: one row each, the marked one with what speaks for it.

use crossterm::event::KeyCode;
use fnstore::proposals::Proposal;

use super::list::marked;
use super::screen::{BOLD, DIM, PLAIN, Screen};
use crate::cli::store::proposals::decide::DecisionRequest;
use crate::cli::store::proposals::listed::answers;
use crate::cli::store::review::Review;

const KEYS: &str =
    "j k move  a accept  r reject  m to another frame  M into another LU  u undo  s back  q quit";

/// Rows of a terminal that hold no proposals: keys, what was said, and what speaks for the marked
/// one.
const AROUND: usize = 9;

/// What a name is asked for.
#[derive(Clone, Copy)]
enum For {
    Move,
    Merge,
}

/// The proposals that were open when they were asked for.
pub(super) struct Proposed {
    found: Vec<Proposal>,
    at: usize,
    /// What became of each.
    done: Vec<Option<String>>,
    /// Those that were decided on here, the last one at the end.
    settled: Vec<usize>,
    asked: Option<(For, String)>,
}

impl Proposed {
    pub(super) fn find(review: &Review) -> anyhow::Result<Self> {
        let found = review.proposals(usize::MAX)?.proposals;
        let done = vec![None; found.len()];
        Ok(Self { found, at: 0, done, settled: Vec::new(), asked: None })
    }

    /// Whether a name is being written.
    pub(super) fn is_asking(&self) -> bool {
        self.asked.is_some()
    }

    /// Does what a key asks for; gives what is to be said.
    pub(super) fn key(&mut self, review: &Review, code: KeyCode) -> anyhow::Result<String> {
        if let Some((what, mut name)) = self.asked.take() {
            match code {
                KeyCode::Esc => return Ok(String::new()),
                KeyCode::Enter => {
                    let name = name.trim().to_owned();
                    let verdict = match what {
                        For::Move => DecisionRequest::Move(name),
                        For::Merge => DecisionRequest::Merge(name),
                    };
                    return self.decide(review, &verdict);
                }
                KeyCode::Char(letter) => name.push(letter),
                KeyCode::Backspace => drop(name.pop()),
                _ => {}
            }
            self.asked = Some((what, name));
            return Ok(String::new());
        }
        match code {
            KeyCode::Char('j') | KeyCode::Down => self.step(true),
            KeyCode::Char('k') | KeyCode::Up => self.step(false),
            KeyCode::Char('a') => return self.decide(review, &DecisionRequest::Accept),
            KeyCode::Char('r') => return self.decide(review, &DecisionRequest::Reject),
            KeyCode::Char('m') if !self.found.is_empty() => {
                self.asked = Some((For::Move, String::new()));
            }
            KeyCode::Char('M') if !self.found.is_empty() => {
                self.asked = Some((For::Merge, String::new()));
            }
            KeyCode::Char('u') => {
                self.at = self.settled.pop().unwrap_or(self.at);
                return self.decide(review, &DecisionRequest::Undo);
            }
            _ => return Ok(KEYS.to_owned()),
        }
        Ok(String::new())
    }

    fn step(&mut self, forward: bool) {
        let last = self.found.len().saturating_sub(1);
        self.at = if forward { (self.at + 1).min(last) } else { self.at.saturating_sub(1) };
    }

    fn decide(&mut self, review: &Review, verdict: &DecisionRequest) -> anyhow::Result<String> {
        let Some(of) = self.found.get(self.at) else { return Ok("nothing is proposed".to_owned()) };
        let names = (of.release_name.clone(), of.frame_name.clone(), of.name.clone());
        let said = review.propose(names, verdict)?;
        if matches!(verdict, DecisionRequest::Undo) {
            self.done[self.at] = None;
        } else {
            self.done[self.at] = Some(said.clone());
            self.settled.push(self.at);
            self.step(true);
        }
        Ok(said)
    }

    pub(super) fn draw(&self, screen: &mut Screen, rows: usize, said: &str) {
        screen.row(&[("proposals  ", BOLD), (&self.found.len().to_string(), DIM)]);
        screen.row(&[(KEYS, DIM)]);
        match &self.asked {
            Some((what, name)) => {
                let label = match what {
                    For::Move => "move to frame: ",
                    For::Merge => "merge into: ",
                };
                screen.row(&[(label, BOLD), (name, PLAIN), ("_", DIM)]);
            }
            None => screen.row(&[(said, BOLD)]),
        }
        if let Some(of) = self.found.get(self.at) {
            evidence(screen, of);
        }
        let shown = rows.saturating_sub(AROUND).max(1);
        let from = (self.at + 1).saturating_sub(shown);
        for (number, of) in self.found.iter().enumerate().skip(from).take(shown) {
            let here = if number == self.at { "> " } else { "  " };
            let score = format!("{:.2}  ", of.score);
            let frame = format!(" in {}  ", of.frame_name);
            let done = self.done[number].as_deref().unwrap_or_default();
            screen.row(&[
                (here, BOLD),
                (&score, DIM),
                (&of.name, BOLD),
                (&frame, PLAIN),
                (done, DIM),
            ]);
        }
    }
}

/// What speaks for a proposal: figures, what is near, its best sentences.
fn evidence(screen: &mut Screen, of: &Proposal) {
    let near: Vec<&str> = of.nearest.iter().map(|near| near.lu.as_str()).collect();
    let mut facts = format!(
        "sentences {}  seeds {}  aligner {:.2}",
        of.evidence.sets, of.evidence.seeds, of.evidence.aligner
    );
    if let Some(fit) = of.evidence.frame_fit {
        facts.push_str(&format!("  frame fit {fit:.2}"));
    }
    if let Some(answers) =
        answers(of.evidence.evokes, of.evidence.evokes_share, of.evidence.verified)
    {
        facts.push_str(&format!("  {answers}"));
    }
    if !near.is_empty() {
        facts.push_str(&format!("  near {}", near.join(", ")));
    }
    if !of.other_frames.is_empty() {
        facts.push_str(&format!("  also in {}", of.other_frames.join(", ")));
    }
    screen.row(&[(&facts, DIM)]);
    for sentence in &of.sentences {
        let mut pieces = vec![("- ", DIM)];
        pieces.extend(marked(&sentence.text, &sentence.targets));
        screen.row(&pieces);
    }
    screen.blank();
}
