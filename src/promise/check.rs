//! Whether judgements bear out what an edition promises.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::plans;
use crate::database::{Database, Result};
use crate::model::{AnnotationSetId, Edition, Fraction, Judgement, ReleaseId, Share, named};

named! {
    /// What judgements say of a promise.
    pub enum PromiseVerdict {
        /// It is kept.
        Kept => "kept",
        /// It is broken.
        Broken => "broken",
        /// Neither is shown.
        Open => "open",
    }
}

/// How a promise fares in a group, as JSON; see `schema/edition-check.schema.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PromiseCheck {
    /// Name of the edition.
    pub edition: String,
    /// What the group's sets have in common, as a query; empty where there is one group.
    pub group: String,
    /// Sets whose judgements count.
    pub judged: u64,
    /// Of these, right ones.
    pub right: u64,
    /// Lower end of the interval of the share of right sets.
    pub lower: Fraction,
    /// Upper end.
    pub upper: Fraction,
    /// What they say.
    pub verdict: PromiseVerdict,
}

impl Database {
    /// Whether the judgements that are there now bear out what an edition holds, group by group:
    /// those that spoke for it may be others. Nothing is shown of a group without a cut.
    ///
    /// # Errors
    /// When the store fails.
    pub fn check_promise(
        &self,
        release: ReleaseId,
        edition: &Edition,
    ) -> Result<Vec<PromiseCheck>> {
        let Some(promise) = &edition.promise else { return Ok(Vec::new()) };
        let mut checks = Vec::new();
        for (group, plan) in promise.groups.iter().zip(plans(promise)) {
            let answer = |set| self.is_right(release, set);
            let kept = group.cut.map_or(0, |cut| cut.sets as usize);
            let judged = plan.beginning(kept, &answer)?;
            let right = judged.iter().filter(|is_right| **is_right).count();
            let wrong = judged.len() - right;
            let verdict = match () {
                () if kept == 0 => PromiseVerdict::Open,
                () if wrong as f64 > (1.0 - promise.precision) * kept as f64 => {
                    PromiseVerdict::Broken
                }
                // A wider cut may be won, and this one not.
                () if plan.assess(&answer)?.is_won(&plan, kept) => PromiseVerdict::Kept,
                () => PromiseVerdict::Open,
            };
            checks.push(PromiseCheck {
                edition: edition.name.clone(),
                group: group.name.clone(),
                judged: judged.len() as u64,
                right: right as u64,
                lower: plan.lower_bound(&judged, kept),
                upper: if kept == 0 { 1.0 } else { 1.0 - wrong as f64 / kept as f64 },
                verdict,
            });
        }
        Ok(checks)
    }
}

/// Whether scores of a random sample of an edition's sets bear out its promise, by Wilson's
/// interval at 95 %, group by group; and how many judged sets are none of the edition.
#[must_use]
pub fn check_promise_by(
    edition: &Edition,
    scores: &[(AnnotationSetId, u8)],
) -> (Vec<PromiseCheck>, u64) {
    let Some(promise) = &edition.promise else { return (Vec::new(), scores.len() as u64) };
    let mut of_set: BTreeMap<AnnotationSetId, Vec<u8>> = BTreeMap::new();
    for (set, score) in scores {
        of_set.entry(*set).or_default().push(*score);
    }
    let groups: HashMap<_, _> = promise.candidates().map(|(at, it)| (it.set, at)).collect();
    let (mut shares, mut others) = (vec![Share::default(); promise.groups.len()], 0);
    for (set, scores) in of_set {
        let group = groups.get(&set).filter(|_| edition.place_of(set).is_some());
        let Some(share) = group.and_then(|at| shares.get_mut(*at)) else {
            others += 1;
            continue;
        };
        let mean = scores.iter().copied().map(f64::from).sum::<f64>() / scores.len() as f64;
        share.of += 1;
        share.hits += u64::from(mean >= Judgement::ACCEPTED);
    }
    let check = |(group, share): (&String, Share)| {
        let (lower, upper) = share.interval();
        let verdict = match () {
            () if lower >= promise.precision => PromiseVerdict::Kept,
            () if upper < promise.precision => PromiseVerdict::Broken,
            () => PromiseVerdict::Open,
        };
        let (edition, group) = (edition.name.clone(), group.clone());
        PromiseCheck { edition, group, judged: share.of, right: share.hits, lower, upper, verdict }
    };
    let names = promise.groups.iter().map(|group| &group.name);
    let judged = names.zip(shares).filter(|(_, share)| share.of > 0).map(check);
    (judged.collect(), others)
}
