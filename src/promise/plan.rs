//! The candidates of one group in the order of their scores, and where they may be cut.
//!
//! Cuts are tried from the strictest on, and the first that is not won ends the trial: so the error
//! of all together is that of one (fixed sequence testing; Angelopoulos et al. 2021, *Learn then
//! Test*, section 3.2). Candidates are asked about in one random order. Each cut takes the unbroken
//! beginning of that order among its own sets: a simple random sample of them, whatever was asked
//! when and why.

use super::bets::{Bets, lower_bound};
use crate::database::Result;
use crate::model::{AnnotationSetId, Candidate, Cut, PromiseGroup};

/// Fewest sets of a cut: fewer right ones in a row say nothing at the usual promises.
const FEWEST: usize = 30;

/// Cuts of a ranking, at equal distances.
const CUTS: usize = 40;

/// Shares of the first cut that the scores speak for, at which stricter ones lie.
const STRICTER: [f64; 2] = [0.3, 0.6];

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
const HOPE: f64 = 1.5;

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
    promised: f64,
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
    /// Cuts that are won, from the strictest on.
    won: usize,
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
    /// The sets up to the widest cut that is won.
    pub(super) fn sets(&self, plan: &Plan) -> usize {
        self.won.checked_sub(1).map_or(0, |cut| plan.cuts[cut].sets)
    }
}

impl Plan {
    pub fn new(group: &PromiseGroup, (promised, alpha): (f64, f64), seed: u64) -> Self {
        let mut ranked = group.candidates.clone();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.set.cmp(&b.set)));
        let number = |rank: &u32| drawn(seed, ranked[*rank as usize].set);
        let mut order: Vec<u32> = (0..ranked.len() as u32).collect();
        order.sort_by_cached_key(number);
        let cuts = places(&ranked, promised);
        Self { ranked, order, cuts, promised, alpha }
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
        let won = cuts.iter().take_while(|cut| cut.bets.are_won(self.alpha)).count();
        let mut all = Assessment { cuts, won, wanted: won, left: 0, judged, right };
        self.set_wanted(&mut all);
        Ok(all)
    }

    /// Decides which cut is asked about next, and how much there is to ask.
    fn set_wanted(&self, all: &mut Assessment) {
        let (won, kept) = (all.won, all.won.checked_sub(1).map_or(0, |cut| self.cuts[cut].sets));
        let Some(first) = all.cuts.get(won) else { return };
        // The goal is what judgements do not speak against; what speaks for a cut is asked about
        // before that.
        let open = || (won..self.cuts.len()).map(|cut| (cut, &all.cuts[cut]));
        let is_hoped = |(cut, of): &(usize, &Judged)| self.hoped(*cut, of) > self.promised;
        let hoped = open().rfind(is_hoped);
        let Some((most, _)) = hoped else {
            // Nothing speaks for another cut. Before one is won, the strictest decides.
            all.left = if won == 0 { self.unjudged(first, won) as u64 } else { 0 };
            return;
        };
        let goal = (self.cuts[most].sets as f64 * WORTH) as usize;
        // Without the next one none behind it is won.
        if kept >= goal || self.unjudged(first, won) == 0 {
            return;
        }
        let best = |share: &dyn Fn(usize, &Judged) -> f64| {
            // What each judgement wins, in sets.
            let worth = |(cut, of): (usize, &Judged)| {
                let needs = self.needs(of, cut, share(cut, of));
                (self.cuts[cut].sets - kept) as f64 / (needs + COST)
            };
            let likely = open().filter(|(cut, of)| share(*cut, of) > self.promised);
            let best = likely.max_by(|a, b| worth(*a).total_cmp(&worth(*b)));
            best.map(|(cut, _)| cut).filter(|_| share(won, first) > self.promised)
        };
        let likely = best(&|cut, of| self.likely(cut, of));
        let hoped = || best(&|cut, of| self.hoped(cut, of));
        all.wanted = likely.or_else(hoped).unwrap_or(won);
        let to_goal = open().filter(|(cut, _)| *cut == won || self.cuts[*cut].sets <= goal);
        let needs = to_goal.map(|(cut, of)| self.needs(of, cut, self.hoped(cut, of)));
        all.left = needs.fold(0.0, f64::max).ceil().max(1.0) as u64;
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

    /// Judgements that a cut needs if a share is right, about: what the logarithm of the wealth
    /// lacks, by what each judgement adds to it; all where none adds anything.
    fn needs(&self, of: &Judged, cut: usize, share: f64) -> f64 {
        let unjudged = self.unjudged(of, cut) as f64;
        if share <= self.promised {
            return unjudged;
        }
        let lacks = (-self.alpha.ln() - of.bets.now()).max(0.0);
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
        let Some(last) = of.won.checked_sub(1) else { return Ok(None) };
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

/// Where a ranking may be cut: a first cut for which the scores speak, two stricter ones, and
/// others at equal distances behind it. Sets of one score stay together.
fn places(ranked: &[Candidate], promised: f64) -> Vec<Place> {
    let count = ranked.len();
    let mut sums = vec![0.0];
    for candidate in ranked {
        sums.push(sums[sums.len() - 1] + f64::from(candidate.score));
    }
    let mean = |sets: usize| sums[sets] / sets as f64;
    let aim = promised + ROOM * (1.0 - promised);
    let spoken_for = (1..=count).rev().find(|sets| mean(*sets) >= aim).unwrap_or(count / 10);
    let stricter = STRICTER.iter().map(|share| (spoken_for as f64 * share) as usize);
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
    sets.into_iter().map(|sets| Place { sets, mean_score: mean(sets) }).collect()
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
