//! How far reviewers agree, and how they judge the controls of the paper's protocol.

use std::collections::BTreeMap;

use super::{ACCEPTED, Result, Role};
use crate::database::Database;
use crate::model::{AnnotationSetId, Judgement, ReleaseId, fleiss_kappa};

/// Disputed sets that are listed.
const LISTED: usize = 50;

/// What a role's items were given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoleFigures {
    /// Items with a judgement.
    pub items: u64,
    /// Items whose mean score accepts them.
    pub accepted: u64,
    /// Sum of the items' means.
    sum: f64,
}

impl RoleFigures {
    /// Share of accepted items.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.accepted as f64 / self.items.max(1) as f64
    }

    /// Mean of the items' means.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum / self.items.max(1) as f64
    }
}

/// A set on which reviewers differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disputed {
    /// Its release.
    pub release: ReleaseId,
    /// The set.
    pub set: AnnotationSetId,
    /// The question.
    pub question: String,
    /// What was shown.
    pub shown: String,
    /// Scores by reviewer.
    pub scores: Vec<(String, u8)>,
    /// Points between the highest and the lowest score.
    pub spread: u8,
}

/// How far reviewers agree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Agreement {
    /// Reviewers, and how many sets each of them judged.
    pub reviewers: BTreeMap<String, u64>,
    /// By role; similarity counts as of outputs.
    pub roles: BTreeMap<Role, RoleFigures>,
    /// Items that two or more judged.
    pub shared: u64,
    /// Of these, items of which all said the same: accept or not.
    pub unanimous: u64,
    /// Fleiss' kappa of accepting.
    pub kappa: Option<f64>,
    /// Items on which reviewers differ, those that differ most first.
    pub disputed: Vec<Disputed>,
}

/// Reads all judgements of a database.
///
/// # Errors
/// When the store fails.
pub fn agreement(database: &Database) -> Result<Agreement> {
    database.refresh()?;
    let mut all = Agreement::default();
    let mut votes = Vec::new();
    for release in database.releases()? {
        let mut of_set: Option<(AnnotationSetId, Vec<Judgement>)> = None;
        for row in database.store().all_judgements(release.id)? {
            let (set, judgement) = row?;
            match &mut of_set {
                Some((known, judgements)) if *known == set => judgements.push(judgement),
                slot => {
                    if let Some((set, judgements)) = slot.replace((set, vec![judgement])) {
                        take(database, release.id, set, judgements, &mut all, &mut votes)?;
                    }
                }
            }
        }
        if let Some((set, judgements)) = of_set {
            take(database, release.id, set, judgements, &mut all, &mut votes)?;
        }
    }
    all.kappa = fleiss_kappa(&votes);
    all.disputed.sort_by(|a, b| b.spread.cmp(&a.spread).then(a.set.cmp(&b.set)));
    all.disputed.truncate(LISTED);
    Ok(all)
}

/// Counts one set's judgements, question by question.
fn take(
    database: &Database,
    release: ReleaseId,
    set: AnnotationSetId,
    judgements: Vec<Judgement>,
    all: &mut Agreement,
    votes: &mut Vec<(u32, u32)>,
) -> Result<()> {
    let Some(record) = database.store().annotation_set(release, set)? else { return Ok(()) };
    let frame = database.store().frame(release, record.frame)?.map_or(String::new(), |it| it.name);
    let mut by_question: BTreeMap<String, Vec<Judgement>> = BTreeMap::new();
    for judgement in judgements {
        *all.reviewers.entry(judgement.reviewer.clone()).or_default() += 1;
        let question = judgement.asked.as_ref().map(|asked| asked.question.clone());
        let question = question.unwrap_or_else(|| format!("evokes {frame}"));
        by_question.entry(question).or_default().push(judgement);
    }
    for (question, judgements) in by_question {
        let asked = question.strip_prefix("evokes ").unwrap_or(&frame);
        let role = Role::of(record.provenance.origin(), &frame, asked);
        let scores = || judgements.iter().map(|judgement| judgement.score);
        let count = judgements.len() as u32;
        let mean = scores().map(f64::from).sum::<f64>() / f64::from(count);
        let figures = all.roles.entry(role).or_default();
        figures.items += 1;
        figures.sum += mean;
        figures.accepted += u64::from(mean >= ACCEPTED);
        if count < 2 {
            continue;
        }
        let yes = scores().filter(|score| f64::from(*score) >= ACCEPTED).count() as u32;
        votes.push((yes, count));
        all.shared += 1;
        all.unanimous += u64::from(yes == 0 || yes == count);
        let spread = scores().max().unwrap_or(0) - scores().min().unwrap_or(0);
        if spread > 0 {
            let shown = judgements.iter().find_map(|it| Some(it.asked.as_ref()?.shown.clone()));
            let scores = judgements.into_iter().map(|it| (it.reviewer, it.score)).collect();
            let shown = shown.unwrap_or_default();
            all.disputed.push(Disputed { release, set, question, shown, scores, spread });
        }
    }
    Ok(())
}
