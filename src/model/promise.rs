//! What an edition promises of its sets: that at least a share of them is right.

use super::{AnnotationSetId, named};

named! {
    /// What a promise is kept in apart from the rest.
    pub enum PromiseGroups {
        /// Each round of generated sets.
        Round => "round",
        /// Sets of proposed LUs, and sets of LUs that the lexicon has.
        Lu => "lu",
    }
}

/// That at least a share of the sets of an edition is right: their targets evoke their frames, by
/// the mean of their judgements. Candidates are ranked by a score; judgements of a random sample
/// say how far down the ranking the promise is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Promise {
    /// The share, above 0 and below 1.
    pub precision: f64,
    /// How sure it is of each group, above 0 and below 1.
    pub confidence: f64,
    /// Name of the query field that ranks the candidates, the best first.
    pub rank: String,
    /// What it is kept in apart from the rest; `None` where all candidates are one group.
    pub by: Option<PromiseGroups>,
    /// Draws the sample.
    pub seed: u64,
    /// The groups, at least one.
    pub groups: Vec<PromiseGroup>,
}

/// Candidates of a promise among which it is kept by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct PromiseGroup {
    /// What they have in common, as a query: `round=2`; empty where the group is all.
    pub name: String,
    /// They as they were when the promise was made, in order of id.
    pub candidates: Vec<Candidate>,
    /// Which of them the edition holds; none before judgements are enough.
    pub cut: Option<Cut>,
}

/// A set that an edition may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The set.
    pub set: AnnotationSetId,
    /// What it is ranked by, in `[0, 1]`.
    pub score: f32,
}

/// How far down its ranking a group keeps the promise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// The least score.
    pub score: f32,
    /// Candidates with at least that score, those included that were judged wrong.
    pub sets: u64,
    /// Judgements that spoke for it.
    pub judged: u64,
    /// Of these, the sets that are right.
    pub right: u64,
    /// Lower bound of the share of right sets, at the promise's confidence.
    pub lower: f32,
}

impl Promise {
    /// Whether shares are shares, and candidates stand in order.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let is_share = |of: f64| of > 0.0 && of < 1.0;
        let in_order = |group: &PromiseGroup| {
            let is_score = |it: &Candidate| (0.0..=1.0).contains(&it.score);
            let most = group.candidates.len() as u64;
            group.candidates.is_sorted_by(|a, b| a.set < b.set)
                && group.cut.is_none_or(|cut| cut.sets <= most)
                && group.candidates.iter().all(is_score)
        };
        is_share(self.precision)
            && is_share(self.confidence)
            && !self.groups.is_empty()
            && self.groups.iter().all(in_order)
    }

    /// All candidates with the place of their group.
    pub fn candidates(&self) -> impl Iterator<Item = (usize, &Candidate)> {
        let groups = self.groups.iter().enumerate();
        groups.flat_map(|(at, group)| group.candidates.iter().map(move |it| (at, it)))
    }

    /// Whether it has this candidate.
    #[must_use]
    pub fn has_candidate(&self, set: AnnotationSetId) -> bool {
        let has = |group: &PromiseGroup| {
            group.candidates.binary_search_by_key(&set, |candidate| candidate.set).is_ok()
        };
        self.groups.iter().any(has)
    }
}
