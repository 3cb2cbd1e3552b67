//! How far reviewers agree, and how they judge the controls of the paper's protocol.

use std::collections::BTreeMap;

use super::view::Example;
use super::{ACCEPTED, Question, Result, Role};
use crate::database::Database;
use crate::model::{AnnotationSetId, Judgement, ReleaseId, fleiss_kappa};

/// Judges of each item (Culkin et al. 2021, section 6.1).
const JUDGES: u32 = 3;

/// Disputed sets that are listed.
const LISTED: usize = 50;

/// What a role's items were given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RoleFigures {
    /// Items with a judgement.
    pub items: u64,
    /// Items whose mean score accepts them.
    pub accepted: u64,
    /// Items that two or more judged.
    pub shared: u64,
    /// Of these, items of which all said the same: accept or not.
    pub unanimous: u64,
    /// Items that three or more judged, as all of the paper were.
    pub by_three: u64,
    /// Of these, items whose mean score accepts them.
    pub accepted_by_three: u64,
    /// Fleiss' kappa of accepting.
    pub kappa: Option<f64>,
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
    pub question: Question,
    /// The frame that was asked for.
    pub frame: String,
    /// The sentence, its target in square brackets.
    pub shown: String,
    /// Scores by reviewer.
    pub scores: Vec<(String, u8)>,
    /// Points between the highest and the lowest score.
    pub spread: u8,
}

/// How far reviewers agree on a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OfQuestion {
    /// What was given, by what the items are.
    pub roles: BTreeMap<Role, RoleFigures>,
    /// The mean score of each item, 0 to 100.
    pub means: BTreeMap<Role, Vec<f64>>,
    votes: BTreeMap<Role, Vec<(u32, u32)>>,
}

impl OfQuestion {
    /// What outputs were given. How far reviewers agree is of these alone (Culkin et al. 2021,
    /// section 6.1, *Inter-annotator Agreement*): on controls, which are clear, everybody does.
    #[must_use]
    pub fn outputs(&self) -> RoleFigures {
        self.roles.get(&Role::Output).copied().unwrap_or_default()
    }

    /// Says how far decisions are more equal than by chance.
    fn set_kappa(&mut self) {
        for (role, votes) in &self.votes {
            self.roles.entry(*role).or_default().kappa = fleiss_kappa(votes);
        }
    }
}

/// How far reviewers agree.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Agreement {
    /// Reviewers, and how many answers each of them gave.
    pub reviewers: BTreeMap<String, u64>,
    /// Questions that were asked.
    pub questions: BTreeMap<Question, OfQuestion>,
    /// Items on which reviewers differ, those that differ most first.
    pub disputed: Vec<Disputed>,
}

/// Reads all judgements of a database. Answers to questions of someone's own count for their
/// reviewers alone.
///
/// # Errors
/// When the store fails.
pub fn agreement(database: &Database) -> Result<Agreement> {
    database.refresh()?;
    let mut all = Agreement::default();
    for release in database.releases()? {
        let mut of_set: Option<(AnnotationSetId, Vec<Judgement>)> = None;
        for row in database.store().all_judgements(release.id)? {
            let (set, judgement) = row?;
            match &mut of_set {
                Some((known, judgements)) if *known == set => judgements.push(judgement),
                slot => {
                    if let Some((set, judgements)) = slot.replace((set, vec![judgement])) {
                        all.take(database, (release.id, set), judgements)?;
                    }
                }
            }
        }
        if let Some((set, judgements)) = of_set {
            all.take(database, (release.id, set), judgements)?;
        }
    }
    for of_question in all.questions.values_mut() {
        of_question.set_kappa();
    }
    all.disputed.sort_by(|a, b| b.spread.cmp(&a.spread).then(a.set.cmp(&b.set)));
    all.disputed.truncate(LISTED);
    Ok(all)
}

impl Agreement {
    /// Counts one set's judgements, question by question.
    fn take(
        &mut self,
        database: &Database,
        (release, set): (ReleaseId, AnnotationSetId),
        judgements: Vec<Judgement>,
    ) -> Result<()> {
        let store = database.store();
        let Some(record) = store.annotation_set(release, set)? else { return Ok(()) };
        let frame = store.frame(release, record.frame)?.map_or(String::new(), |it| it.name);
        let mut by_question: BTreeMap<(Question, String), Vec<Judgement>> = BTreeMap::new();
        for judgement in judgements {
            *self.reviewers.entry(judgement.reviewer.clone()).or_default() += 1;
            if let Some((question, asked)) = Question::of_record(&judgement.question, &frame) {
                by_question.entry((question, asked.to_owned())).or_default().push(judgement);
            }
        }
        for ((question, asked), judgements) in by_question {
            let role = Role::of(record.provenance.origin(), &frame, &asked);
            let scores: Vec<u8> = judgements.iter().map(|judgement| judgement.score).collect();
            let spread = self.questions.entry(question).or_default().take(role, &scores);
            if spread == 0 {
                continue;
            }
            let shown = match judgements.iter().find_map(|it| it.shown.clone()) {
                Some(shown) => shown.text,
                None => Example::of(database, release, &record)?
                    .map_or(String::new(), |it| it.bracketed()),
            };
            let scores = judgements.into_iter().map(|it| (it.reviewer, it.score)).collect();
            self.disputed.push(Disputed {
                release,
                set,
                question,
                frame: asked,
                shown,
                scores,
                spread,
            });
        }
        Ok(())
    }
}

impl OfQuestion {
    /// Counts the scores of an item; gives how far they are apart.
    fn take(&mut self, role: Role, scores: &[u8]) -> u8 {
        let count = scores.len() as u32;
        let mean = scores.iter().copied().map(f64::from).sum::<f64>() / f64::from(count);
        let figures = self.roles.entry(role).or_default();
        figures.items += 1;
        figures.sum += mean;
        figures.accepted += u64::from(mean >= ACCEPTED);
        figures.by_three += u64::from(count >= JUDGES);
        figures.accepted_by_three += u64::from(count >= JUDGES && mean >= ACCEPTED);
        self.means.entry(role).or_default().push(mean);
        if count < 2 {
            return 0;
        }
        let yes = scores.iter().filter(|score| f64::from(**score) >= ACCEPTED).count() as u32;
        let is_unanimous = yes == 0 || yes == count;
        figures.shared += 1;
        figures.unanimous += u64::from(is_unanimous);
        self.votes.entry(role).or_default().push((yes, count));
        scores.iter().max().unwrap_or(&0) - scores.iter().min().unwrap_or(&0)
    }
}
