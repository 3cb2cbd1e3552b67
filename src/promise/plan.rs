//! The candidates of one group in the order of their scores, and where they may be cut.
//!
//! Cuts are tried from a strict one on, and the first that is not won ends the trial: so the error
//! of all of a trial is that of one (fixed sequence testing; Angelopoulos et al. 2021, *Learn then
//! Test*, section 3.2). A second trial begins at a wider cut, and they share the error. Where
//! scores promise too much, few sets stand above the best cut: a cut whose judged sets alone keep
//! the promise is won by what is known, which costs no error. Candidates are asked about in one
//! random order. Each cut takes the unbroken beginning of that order among its own sets: a simple
//! random sample of them, whatever was asked when and why.

use super::bets::{Bets, lower_bound};
use crate::database::Result;
use crate::model::{AnnotationSetId, Candidate, Cut, PromiseGroup};

/// Fewest sets of a cut: fewer right ones in a row say nothing at the usual promises.
const FEWEST: usize = 30;

/// Cuts of a ranking, at equal distances.
const CUTS: usize = 40;

/// Parts of the first cut that the scores speak for, at which stricter ones lie.
const PARTS: usize = 20;

/// The first part at which one lies.
const STRICTEST: usize = 2;

/// Where trials begin, as a share of that cut, and what each may spend of the error.
const TRIALS: [(f64, f64); 2] = [(0.3, 0.7), (0.6, 0.3)];

/// How far above the promise the mean score of the first cut lies, as a share of what is there.
const ROOM: f64 = 0.3;

/// Judgements that the scores count as when a cut's share of right sets is guessed.
const BELIEF: f64 = 20.0;

/// Most that scores are believed, and most that is hoped: how far above the promise, as a share of
/// what is there.
const BELIEVED: f64 = 0.7;

/// What of the best cut is worth being asked for: the rest takes more judgements than it is worth.
const WORTH: f64 = 0.9;

/// Standard errors by which a share may lie above what judgements say of it.
const HOPE: f64 = 1.75;

/// Judgements that a question for a cut costs beside what it needs.
const COST: f64 = 5.0;

/// Whether a set is right; none where nobody has judged it.
pub type Answer<'a> = &'a dyn Fn(AnnotationSetId) -> Result<Option<bool>>;

/// The candidates of a group, ranked, with the order in which they are asked about.
#[derive(Debug)]
pub struct Plan {
    /// The best first.
    ranked: Vec<Candidate>,
    /// Ranks in the order of asking.
    order: Vec<u32>,
    cuts: Vec<Place>,
    trials: Vec<Trial>,
    promised: f64,
    alpha: f64,
}

/// Cuts that are tried one after the other.
#[derive(Debug, Clone, Copy)]
struct Trial {
    /// The first of them.
    first: usize,
    /// The error that they may spend together.
    alpha: f64,
}

/// Where a ranking may be cut.
#[derive(Debug, Clone, Copy)]
struct Place {
    sets: usize,
    mean_score: f64,
}

/// What judgements say of the cuts of a group.
#[derive(Debug)]
pub struct Assessment {
    cuts: Vec<Judged>,
    /// Which cuts are won.
    won: Vec<bool>,
    /// The cut that is to be asked about.
    wanted: usize,
    /// Judgements that are still worth making, about.
    pub left: u64,
    /// Judgements that count for some cut.
    pub judged: u64,
    /// Of these, right sets.
    pub right: u64,
}

/// What judgements say of a cut.
#[derive(Debug)]
struct Judged {
    bets: Bets,
    /// Whether the beginning of its order has ended.
    is_ended: bool,
}

impl Assessment {
    /// Whether the cut of so many sets is won.
    pub(super) fn is_won(&self, plan: &Plan, sets: usize) -> bool {
        plan.cuts.iter().zip(&self.won).any(|(cut, is_won)| *is_won && cut.sets == sets)
    }

    /// The widest cut that is won.
    fn widest(&self) -> Option<usize> {
        self.won.iter().rposition(|is_won| *is_won)
    }
}

impl Plan {
    pub fn new(group: &PromiseGroup, (promised, alpha): (f64, f64), seed: u64) -> Self {
        let mut ranked = group.candidates.clone();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.set.cmp(&b.set)));
        let number = |rank: &u32| drawn(seed, ranked[*rank as usize].set);
        let mut order: Vec<u32> = (0..ranked.len() as u32).collect();
        order.sort_by_cached_key(number);
        let (cuts, spoken_for) = places(&ranked, promised);
        let mut trials: Vec<Trial> = Vec::new();
        for (share, spent) in TRIALS {
            let least = (share * spoken_for as f64) as usize;
            let first = cuts.partition_point(|cut| cut.sets < least);
            match trials.last_mut() {
                Some(trial) if trial.first == first => trial.alpha += spent * alpha,
                _ => trials.push(Trial { first, alpha: spent * alpha }),
            }
        }
        Self { ranked, order, cuts, trials, promised, alpha }
    }

    /// Counts judgements.
    ///
    /// # Errors
    /// When an answer cannot be had.
    pub fn assess(&self, answer: Answer<'_>) -> Result<Assessment> {
        let begin =
            |place: &Place| Judged { bets: Bets::new(place.sets, self.promised), is_ended: false };
        let mut cuts: Vec<Judged> = self.cuts.iter().map(begin).collect();
        let (mut judged, mut right) = (0, 0);
        for rank in &self.order {
            let rank = *rank as usize;
            let first = self.cuts.partition_point(|place| place.sets <= rank);
            if cuts[first..].iter().all(|cut| cut.is_ended) {
                // Stricter cuts may be open: their sets come later in the order.
                if cuts.iter().all(|cut| cut.is_ended) {
                    break;
                }
                continue;
            }
            let said = answer(self.ranked[rank].set)?;
            judged += u64::from(said.is_some());
            right += u64::from(said == Some(true));
            for cut in cuts[first..].iter_mut().filter(|cut| !cut.is_ended) {
                match said {
                    Some(is_right) => cut.bets.take(is_right),
                    None => cut.is_ended = true,
                }
            }
        }
        let end = |trial: &Trial| {
            let tried = cuts[trial.first..].iter();
            trial.first + tried.take_while(|cut| cut.bets.are_won(trial.alpha)).count()
        };
        let ends: Vec<usize> = self.trials.iter().map(end).collect();
        let is_won = |(at, cut): (usize, &Judged)| {
            let mut of_trials = self.trials.iter().zip(&ends);
            // What is known for sure costs no error.
            cut.bets.are_won(0.0) || of_trials.any(|(trial, end)| (trial.first..*end).contains(&at))
        };
        let won = cuts.iter().enumerate().map(is_won).collect();
        let mut all = Assessment { cuts, won, wanted: 0, left: 0, judged, right };
        self.set_wanted(&mut all, &ends);
        Ok(all)
    }

    /// Decides which cut is asked about next, and how much there is to ask; `ends` are the cuts
    /// that the trials have come to.
    fn set_wanted(&self, all: &mut Assessment, ends: &[usize]) {
        let widest = all.widest();
        let is_open = |cut: usize| {
            cut < self.cuts.len() && widest.is_none_or(|widest| cut > widest) && {
                self.unjudged(&all.cuts[cut], cut) > 0 && !self.is_lost(&all.cuts[cut], cut)
            }
        };
        let is_hoped = |cut: usize| self.hoped(cut, &all.cuts[cut]) > self.promised;
        // Before a cut is won, what a trial needs is worth being asked.
        let is_worth = |end: usize| is_open(end) && (widest.is_none() || is_hoped(end));
        let mut trials = self.trials.iter().zip(ends);
        if let Some((trial, end)) = trials.find(|(_, end)| is_worth(**end)) {
            return self.ask_for(all, (*end, trial.alpha));
        }
        // No trial wins more. Where few sets stand above the best cut, it can be known for sure.
        let behind = ends.iter().copied().max().unwrap_or(0).min(self.cuts.len());
        let known = (0..behind).rev().find(|cut| is_open(*cut) && is_hoped(*cut));
        if let Some(cut) = known {
            let (of, sets) = (&all.cuts[cut], self.cuts[cut].sets as f64);
            let lacks = self.promised * sets - of.bets.right() as f64;
            all.left = (lacks / self.hoped(cut, of)).ceil().max(1.0) as u64;
            all.wanted = cut;
        }
    }

    /// Asks for what a trial needs, which has come to a cut.
    fn ask_for(&self, all: &mut Assessment, (next, alpha): (usize, f64)) {
        let kept = all.widest().map_or(0, |cut| self.cuts[cut].sets);
        let first = &all.cuts[next];
        all.wanted = next;
        // The goal is what judgements do not speak against; what speaks for a cut is asked about
        // before that.
        let open = || (next..self.cuts.len()).map(|cut| (cut, &all.cuts[cut]));
        let is_hoped = |(cut, of): &(usize, &Judged)| self.hoped(*cut, of) > self.promised;
        let hoped = open().rfind(is_hoped);
        let Some((most, _)) = hoped else {
            // Nothing speaks for a cut: the next of the trial decides.
            all.left = self.unjudged(first, next) as u64;
            return;
        };
        let goal = (self.cuts[most].sets as f64 * WORTH).ceil() as usize;
        if kept >= goal {
            return;
        }
        let best = |share: &dyn Fn(usize, &Judged) -> f64| {
            // What each judgement wins, in sets.
            let worth = |(cut, of): (usize, &Judged)| {
                let needs = self.needs(of, cut, (share(cut, of), alpha));
                (self.cuts[cut].sets - kept) as f64 / (needs + COST)
            };
            let likely = open().filter(|(cut, of)| share(*cut, of) > self.promised);
            let best = likely.max_by(|a, b| worth(*a).total_cmp(&worth(*b)));
            best.map(|(cut, _)| cut).filter(|_| share(next, first) > self.promised)
        };
        let likely = best(&|cut, of| self.likely(cut, of));
        let hoped = || best(&|cut, of| self.hoped(cut, of));
        let wanted = likely.or_else(hoped).unwrap_or(next);
        let to_goal = open().filter(|(cut, _)| *cut == next || self.cuts[*cut].sets <= goal);
        let needs = to_goal.map(|(cut, of)| self.needs(of, cut, (self.hoped(cut, of), alpha)));
        all.left = needs.fold(0.0, f64::max).ceil().max(1.0) as u64;
        all.wanted = wanted;
    }

    /// Whether a cut breaks the promise for certain.
    fn is_lost(&self, of: &Judged, cut: usize) -> bool {
        let wrong = of.bets.judged() - of.bets.right();
        wrong as f64 > (1.0 - self.promised) * self.cuts[cut].sets as f64
    }

    /// The share of right sets up to a cut, by judgements and, as far as these are few, by scores.
    fn likely(&self, cut: usize, of: &Judged) -> f64 {
        let believed = self.cuts[cut].mean_score.min(self.most_believed());
        (of.bets.right() as f64 + believed * BELIEF) / (of.bets.judged() as f64 + BELIEF)
    }

    /// The highest share that judgements hardly speak against.
    fn hoped(&self, cut: usize, of: &Judged) -> f64 {
        let (share, judged) = (self.likely(cut, of), of.bets.judged() as f64);
        let left = 1.0 - judged / self.cuts[cut].sets as f64;
        share + HOPE * (left * share * (1.0 - share) / (judged + BELIEF)).sqrt()
    }

    /// Judgements that a cut needs if a share is right, and so much error may be spent, about: what
    /// the logarithm of the wealth lacks, by what each judgement adds to it; all where none adds
    /// anything.
    fn needs(&self, of: &Judged, cut: usize, (share, alpha): (f64, f64)) -> f64 {
        let unjudged = self.unjudged(of, cut) as f64;
        if share <= self.promised {
            return unjudged;
        }
        let lacks = (-alpha.ln() - of.bets.now()).max(0.0);
        (lacks / divergence(share.min(self.most_believed()), self.promised)).min(unjudged)
    }

    fn most_believed(&self) -> f64 {
        self.promised + BELIEVED * (1.0 - self.promised)
    }

    fn unjudged(&self, of: &Judged, cut: usize) -> usize {
        self.cuts[cut].sets - of.bets.judged() as usize
    }

    /// The next set that is worth being asked about, and that is open.
    pub fn next(
        &self,
        of: &Assessment,
        mut is_open: impl FnMut(AnnotationSetId) -> Result<bool>,
    ) -> Result<Option<AnnotationSetId>> {
        let Some(place) = self.cuts.get(of.wanted).filter(|_| of.left > 0) else {
            return Ok(None);
        };
        let sets = place.sets;
        // Where all of them are asked about, those behind the cut speak for a wider one.
        for sets in [sets, self.ranked.len()] {
            for rank in self.order.iter().filter(|rank| (**rank as usize) < sets) {
                let set = self.ranked[*rank as usize].set;
                if is_open(set)? {
                    return Ok(Some(set));
                }
            }
        }
        Ok(None)
    }

    /// The cut that keeps the promise; `None` where judgements are not enough for any.
    pub fn cut(&self, of: &Assessment, answer: Answer<'_>) -> Result<Option<Cut>> {
        let Some(last) = of.widest() else { return Ok(None) };
        let sets = self.cuts[last].sets;
        let judged = self.beginning(sets, answer)?;
        Ok(Some(Cut {
            score: self.ranked[sets - 1].score,
            sets: sets as u64,
            judged: judged.len() as u64,
            right: judged.iter().filter(|is_right| **is_right).count() as u64,
            lower: lower_bound(&judged, sets, self.alpha) as f32,
        }))
    }

    /// Lower bound of the share of right sets up to a cut by itself; 0 of no sets.
    pub(super) fn lower_bound(&self, judged: &[bool], sets: usize) -> f64 {
        if sets == 0 { 0.0 } else { lower_bound(judged, sets, self.alpha) }
    }

    /// The judgements that speak for a cut, in the order of asking.
    pub(super) fn beginning(&self, sets: usize, answer: Answer<'_>) -> Result<Vec<bool>> {
        let mut judged = Vec::new();
        for rank in self.order.iter().filter(|rank| (**rank as usize) < sets) {
            match answer(self.ranked[*rank as usize].set)? {
                Some(is_right) => judged.push(is_right),
                None => break,
            }
        }
        Ok(judged)
    }

    /// The candidates up to a cut, the best first.
    pub fn up_to(&self, cut: &Cut) -> &[Candidate] {
        &self.ranked[..(cut.sets as usize).min(self.ranked.len())]
    }
}

/// Where a ranking may be cut: at a first cut for which the scores speak, at parts of it, and at
/// equal distances behind it; and how many sets that first cut has. Sets of one score stay
/// together.
fn places(ranked: &[Candidate], promised: f64) -> (Vec<Place>, usize) {
    let count = ranked.len();
    let mut sums = vec![0.0];
    for candidate in ranked {
        sums.push(sums[sums.len() - 1] + f64::from(candidate.score));
    }
    let mean = |sets: usize| sums[sets] / sets as f64;
    let aim = promised + ROOM * (1.0 - promised);
    let spoken_for = (1..=count).rev().find(|sets| mean(*sets) >= aim).unwrap_or(count / 10);
    let stricter = (STRICTEST..PARTS).map(|part| spoken_for * part / PARTS);
    let step = count.div_ceil(CUTS).max(1);
    let behind = (spoken_for..count).step_by(step);
    let mut sets: Vec<usize> = stricter
        .chain(behind)
        .map(|sets| sets.max(FEWEST))
        .chain([count])
        .filter(|sets| *sets <= count && *sets > 0)
        .map(|sets| {
            let last = ranked[sets - 1].score;
            ranked.partition_point(|candidate| candidate.score >= last)
        })
        .collect();
    sets.sort_unstable();
    sets.dedup();
    let places = sets.into_iter().map(|sets| Place { sets, mean_score: mean(sets) }).collect();
    (places, spoken_for)
}

/// Kullback and Leibler's divergence of two shares, in nats: what a judgement adds to the wealth.
fn divergence(share: f64, from: f64) -> f64 {
    let part = |of: f64, from: f64| if of > 0.0 { of * (of / from).ln() } else { 0.0 };
    part(share, from) + part(1.0 - share, 1.0 - from)
}

/// Where a set stands in the order of asking: the first 8 bytes of the BLAKE3 hash of `promise`,
/// the seed and the id, big-endian. Samples of queries are drawn by another hash, so that one of
/// them can check what a promise has kept.
pub(super) fn drawn(seed: u64, set: AnnotationSetId) -> u64 {
    let mut hash = blake3::Hasher::new();
    hash.update(b"promise");
    hash.update(&seed.to_be_bytes());
    hash.update(&set.bits().to_be_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize().as_bytes()[..8]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::HashMap;

    use super::*;
    use crate::model::IdSpace;

    const PROMISED: f64 = 0.9;
    const ALPHA: f64 = 0.05;

    fn id(at: usize) -> AnnotationSetId {
        AnnotationSetId::new(IdSpace::Generated, at as u64)
    }

    /// A plan of so many candidates, whose scores fall from one to another.
    fn plan(count: usize, (from, to): (f32, f32)) -> Plan {
        let score = |at: usize| from + (to - from) * at as f32 / count as f32;
        let candidates = (0..count).map(|at| Candidate { set: id(at), score: score(at) }).collect();
        let group = PromiseGroup { name: String::new(), candidates, cut: None };
        Plan::new(&group, (PROMISED, ALPHA), 1)
    }

    /// Sets of the cut, and how many are asked about, where whoever is asked answers.
    fn asked(plan: &Plan, is_right: impl Fn(AnnotationSetId) -> bool) -> (u64, usize) {
        let judged: RefCell<HashMap<AnnotationSetId, bool>> = RefCell::default();
        let answer = |set| Ok(judged.borrow().get(&set).copied());
        loop {
            let all = plan.assess(&answer).unwrap();
            let is_open = |set| Ok(!judged.borrow().contains_key(&set));
            let Some(set) = plan.next(&all, is_open).unwrap() else {
                let cut = plan.cut(&all, &answer).unwrap();
                return (cut.map_or(0, |cut| cut.sets), judged.borrow().len());
            };
            judged.borrow_mut().insert(set, is_right(set));
        }
    }

    #[test]
    fn trials_share_the_error_and_begin_apart() {
        for count in [0, 1, 29, 30, 40, 300, 2_000] {
            for scores in [(1.0, 0.9), (1.0, 0.2), (0.97, 0.97), (0.3, 0.1)] {
                let trials = plan(count, scores).trials;
                let spent: f64 = trials.iter().map(|trial| trial.alpha).sum();
                assert!((spent - ALPHA).abs() < 1e-12, "{count} {scores:?}: {trials:?}");
                assert!(trials.is_sorted_by(|a, b| a.first < b.first), "{count} {scores:?}");
            }
        }
    }

    #[test]
    fn a_wider_cut_that_is_won_says_nothing_of_a_narrower_one() {
        let plan = plan(300, (1.0, 0.2));
        let narrow = plan.cuts[plan.trials[0].first].sets;
        let wrong = plan.ranked[..narrow].iter().take(narrow / 5).map(|of| of.set);
        let wrong: Vec<_> = wrong.collect();
        let all = plan.assess(&|set| Ok(Some(!wrong.contains(&set)))).unwrap();
        assert!(all.is_won(&plan, 300) && !all.is_won(&plan, narrow));
    }

    #[test]
    fn what_stands_above_is_kept_where_scores_promise_too_much() {
        // Nine of ten are promised far down, and a quarter is right.
        let plan = plan(400, (0.99, 0.95));
        let (sets, asked) = asked(&plan, |set| set.number() < 100);
        assert!((60..=111).contains(&sets), "{sets} after {asked}");
    }

    #[test]
    fn a_group_without_hope_is_given_up() {
        let (sets, asked) = asked(&plan(1_000, (0.99, 0.5)), |_| false);
        assert!(sets == 0 && asked < 150, "{asked}");
        assert_eq!(self::asked(&plan(0, (1.0, 1.0)), |_| true), (0, 0));
    }

    #[test]
    fn few_that_are_all_right_are_kept_whole() {
        for count in [1, 29, 30, 40] {
            let (sets, asked) = asked(&plan(count, (0.99, 0.9)), |_| true);
            assert!(sets == count as u64 && asked <= count, "{count}: {sets} after {asked}");
        }
    }
}
