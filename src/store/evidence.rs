//! What the generated sets of an LU say together: sums that a set is added to and taken from.
//!
//! Scores are added as integers, so that the order in which sets come and go changes no sum: what
//! commits keep is what a reading of all sets gives, bit by bit.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::model::{AnnotationSet, AnnotationSetId, FrameId, LuId, Provenance, SentenceId, Span};
use crate::text::is_in_name;

/// Sets that a proposal shows.
pub(crate) const SHOWN: usize = 3;

/// Best sets that are kept: some may go before those that follow have to be looked for.
const HELD: usize = 8;

/// An answer above this says that the target evokes the frame rather than not.
const LIKELY: f32 = 0.5;

/// What 1 is in a sum, and the largest score that is added as it is.
pub(super) const ONE: f64 = (1_u128 << 64) as f64;
const LARGEST: f64 = (1_u64 << 30) as f64;

/// Whether the target of a set stands inside of a name, as codes in records.
pub(super) const IN_NAME: u8 = 1;
const NOT_IN_NAME: u8 = 0;
/// There is no such sentence.
pub(super) const NO_SENTENCE: u8 = 2;

/// What one generated set says for its LU.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SetEvidence {
    pub(crate) frame: FrameId,
    pub(crate) lu: LuId,
    pub(crate) set: AnnotationSetId,
    pub(crate) sentence: SentenceId,
    pub(crate) seed: AnnotationSetId,
    round: u16,
    paraphrase: Option<f32>,
    aligner: f32,
    p: Option<f32>,
    r: Option<f32>,
    fit: Option<f32>,
    unknown: bool,
    /// How likely a verifier finds it that the target evokes the frame.
    pub(crate) evokes: Option<f32>,
    targets: Vec<Span>,
}

impl SetEvidence {
    /// `None` for a set that no program generated.
    pub(crate) fn of(set: &AnnotationSet, evokes: Option<f32>) -> Option<Self> {
        let Provenance::Generated(made) = &set.provenance else { return None };
        Some(Self {
            frame: set.frame,
            lu: set.lu,
            set: set.id,
            sentence: set.sentence,
            seed: made.seed,
            round: made.round,
            paraphrase: made.paraphrase_score(),
            aligner: made.aligner,
            p: made.filter.map(|scores| scores.precision),
            r: made.filter.map(|scores| scores.recall),
            fit: made.fit.map(|fit| fit.probability),
            unknown: made.flags.unknown_word,
            evokes,
            targets: set.targets.clone(),
        })
    }
}

/// Scores that are added: their sum, in 64 bits behind the point, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Scores {
    pub(super) sum: i128,
    pub(super) count: u64,
}

impl Scores {
    fn change(&mut self, score: Option<f32>, is_gain: bool) -> Option<()> {
        let Some(score) = score else { return Some(()) };
        // What is no number counts as 0.
        let score = (f64::from(score).clamp(-LARGEST, LARGEST) * ONE) as i128;
        if is_gain {
            self.sum = self.sum.checked_add(score)?;
        } else {
            self.sum = self.sum.checked_sub(score)?;
        }
        step(&mut self.count, is_gain)
    }
}

/// One more or one less, where there is one.
fn step(count: &mut u64, is_gain: bool) -> Option<()> {
    *count = if is_gain { count.checked_add(1)? } else { count.checked_sub(1)? };
    Some(())
}

/// One of the best sets, with what ranks it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BestSet {
    pub(crate) set: AnnotationSetId,
    pub(crate) round: u16,
    pub(crate) aligner: f32,
    /// Score of the precision filter.
    pub(crate) p: Option<f32>,
    /// Whether its target stands inside of a name.
    pub(super) in_name: u8,
    /// What is still to be read, to know that.
    pub(super) unread: Option<(SentenceId, Vec<Span>)>,
}

impl BestSet {
    fn of(set: &SetEvidence) -> Self {
        let SetEvidence { set, round, aligner, p, .. } = *set;
        Self { set, round, aligner, p, in_name: NOT_IN_NAME, unread: None }
    }

    /// By the precision filter, then by the aligner, then the earlier round.
    fn order(&self, other: &Self) -> Ordering {
        let p = |of: &Self| of.p.unwrap_or(-1.0);
        let by_scores = p(other).total_cmp(&p(self));
        let by_scores = by_scores.then_with(|| other.aligner.total_cmp(&self.aligner));
        by_scores.then_with(|| (self.round, self.set).cmp(&(other.round, other.set)))
    }
}

/// Sums over the generated sets of an LU.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct LuEvidence {
    pub(super) sets: u64,
    /// Distinct seeds; whoever adds sets counts them.
    pub(crate) seeds: u64,
    pub(super) rounds: BTreeMap<u16, u64>,
    pub(super) paraphrase: Scores,
    pub(super) aligner: Scores,
    pub(super) p: Scores,
    pub(super) r: Scores,
    pub(super) fit: Scores,
    pub(super) evokes: Scores,
    /// Answers of a verifier above [`LIKELY`].
    pub(super) likely: u64,
    /// Sets with a word in their target that nobody is known to use.
    pub(super) unknown: u64,
    /// The best sets, the best first: so many of the best as are listed.
    pub(super) best: Vec<BestSet>,
}

impl LuEvidence {
    /// Adds a set.
    pub(crate) fn add(&mut self, set: &SetEvidence) {
        let is_complete = self.best.len() as u64 == self.sets;
        // Numbers of sets do not overflow.
        let _ = self.change(set, true);
        self.rank(set, is_complete);
    }

    /// Takes a set away that was added; `None` where that cannot be.
    pub(super) fn remove(&mut self, set: &SetEvidence) -> Option<()> {
        self.change(set, false)?;
        self.best.retain(|best| best.set != set.set);
        Some(())
    }

    fn change(&mut self, set: &SetEvidence, is_gain: bool) -> Option<()> {
        step(&mut self.sets, is_gain)?;
        let of_round = self.rounds.entry(set.round).or_default();
        step(of_round, is_gain)?;
        if *of_round == 0 {
            self.rounds.remove(&set.round);
        }
        self.paraphrase.change(set.paraphrase, is_gain)?;
        self.aligner.change(Some(set.aligner), is_gain)?;
        self.p.change(set.p, is_gain)?;
        self.r.change(set.r, is_gain)?;
        self.fit.change(set.fit, is_gain)?;
        self.evokes.change(set.evokes, is_gain)?;
        if set.evokes.is_some_and(|evokes| evokes > LIKELY) {
            step(&mut self.likely, is_gain)?;
        }
        if set.unknown {
            step(&mut self.unknown, is_gain)?;
        }
        Some(())
    }

    /// Behind the last one that is listed others may stand, unless all are listed.
    fn rank(&mut self, set: &SetEvidence, is_complete: bool) {
        let mut best = BestSet::of(set);
        let place = self.best.partition_point(|other| other.order(&best).is_le());
        if place < self.best.len() || is_complete {
            best.unread = Some((set.sentence, set.targets.clone()));
            self.best.insert(place, best);
            self.best.truncate(HELD);
        }
    }

    /// Whether so many best sets went that others have to be looked for.
    pub(super) fn lacks_best(&self) -> bool {
        (self.best.len() as u64) < self.sets.min(SHOWN as u64)
    }

    /// Lists the best of all sets, of which there are as many as were counted.
    pub(super) fn rank_all<S: Borrow<SetEvidence>, E>(
        &mut self,
        sets: impl Iterator<Item = Result<S, E>>,
    ) -> Result<(), E> {
        self.best.clear();
        for (ranked, set) in sets.enumerate() {
            let is_complete = self.best.len() == ranked;
            self.rank(set?.borrow(), is_complete);
        }
        Ok(())
    }

    /// Reads of the best sets whether their targets stand inside of names; `text` gives the text of
    /// a sentence.
    pub(crate) fn read_names<E>(
        &mut self,
        mut text: impl FnMut(SentenceId) -> Result<Option<String>, E>,
    ) -> Result<(), E> {
        for best in &mut self.best {
            if let Some((sentence, targets)) = best.unread.take() {
                best.in_name = match text(sentence)? {
                    Some(text) if is_in_name(&text, &targets) => IN_NAME,
                    Some(_) => NOT_IN_NAME,
                    None => NO_SENTENCE,
                };
            }
        }
        Ok(())
    }

    /// Whether commits could have kept this where all sets say `made`: they list fewer of the best.
    pub(super) fn stands_for(&self, made: &Self) -> bool {
        let rest = |of: &Self| Self { best: Vec::new(), ..of.clone() };
        !self.lacks_best() && made.best.starts_with(&self.best) && rest(self) == rest(made)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sets == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::IdSpace;

    fn set(
        number: u64,
        (round, aligner, p, evokes): (u16, f32, Option<f32>, Option<f32>),
    ) -> SetEvidence {
        SetEvidence {
            frame: FrameId(1),
            lu: LuId(1),
            set: AnnotationSetId::new(IdSpace::Generated, number),
            sentence: SentenceId::new(IdSpace::Generated, number),
            seed: AnnotationSetId::new(IdSpace::Exemplar, number % 3),
            round,
            paraphrase: p,
            aligner,
            p,
            r: None,
            fit: evokes,
            unknown: round == 2,
            evokes,
            targets: Vec::new(),
        }
    }

    fn scores() -> impl Strategy<Value = (u16, f32, Option<f32>, Option<f32>)> {
        let score = || (0..5_u8).prop_map(|score| f32::from(score) * 0.173);
        (0..40_u16, score(), prop::option::of(score()), prop::option::of(score()))
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_sets_that_are_there(
            scores in prop::collection::vec(scores(), 1..40),
            gone in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        ) {
            let mut there: Vec<SetEvidence> =
                (0..).zip(scores).map(|(number, scores)| set(number, scores)).collect();
            let mut changed = LuEvidence::default();
            there.iter().for_each(|set| changed.add(set));
            for which in gone {
                if there.is_empty() {
                    break;
                }
                let set = there.remove(which.index(there.len()));
                prop_assert_eq!(changed.remove(&set), Some(()));
                if changed.lacks_best() {
                    changed.rank_all(there.iter().map(Ok::<_, ()>)).unwrap();
                }
            }
            let mut made = LuEvidence::default();
            there.iter().rev().for_each(|set| made.add(set));
            let shown = changed.best.len().min(SHOWN);
            prop_assert_eq!(shown, made.best.len().min(SHOWN));
            prop_assert_eq!(&changed.best[..shown], &made.best[..shown]);
            changed.best.clear();
            made.best.clear();
            prop_assert_eq!(changed, made);
        }
    }

    #[test]
    fn a_set_that_was_not_added_cannot_be_taken_away() {
        let mut sums = LuEvidence::default();
        sums.add(&set(1, (1, 0.5, None, None)));
        assert_eq!(sums.remove(&set(2, (2, 0.5, None, None))), None);
    }
}
